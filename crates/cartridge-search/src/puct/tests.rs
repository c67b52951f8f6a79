use cartridge_games::Action;

use super::*;

/// An edge with a prior, visits and the sum of their scores.
fn edge(prior: f32, n_visits: u32, total: f64) -> Edge {
    Edge { n_visits, total, ..Edge::new(Action(0), prior.ln(), prior) }
}

/// Demands the place that is chosen in a position worth `mean`, with `c = 1` and no reduction.
#[track_caller]
fn check(edges: &[Edge], mean: f32, expected: usize) {
    let puct = Puct { exploration: 1.0, ..Puct::default() };
    assert_eq!(puct.select(edges, 1.0, mean, 0.0), expected);
    // The other seat sees the same in scores of the other sign.
    let mut mirrored = edges.to_vec();
    for edge in &mut mirrored {
        edge.total *= -1.0;
        edge.proven = edge.proven.map(|score| -score);
    }
    assert_eq!(puct.select(&mirrored, -1.0, mean, 0.0), expected);
}

#[test]
fn the_bound_is_as_in_the_paper() {
    // √8 · 0.5 / 5 = 0.283 and √8 · 0.25 / 4 = 0.177 and √8 · 0.25 / 2 = 0.354.
    let means =
        |a: f64, b: f64, c: f64| [edge(0.5, 4, 4.0 * a), edge(0.25, 3, 3.0 * b), edge(0.25, 1, c)];
    check(&means(0.0, 0.0, 0.0), 0.0, 2);
    check(&means(0.1, 0.0, 0.0), 0.0, 0);
    check(&means(0.06, 0.0, 0.0), 0.0, 2);
    check(&means(0.1, 0.3, 0.1), 0.0, 1);
}

#[test]
fn priors_decide_before_the_first_visit() {
    check(&[edge(0.2, 0, 0.0), edge(0.5, 0, 0.0), edge(0.3, 0, 0.0)], 0.4, 1);
}

#[test]
fn what_is_new_is_worth_a_little_less_than_the_position() {
    // √4 · 0.36 / 5 = 0.144 and √4 · 0.32 = 0.64: the visited one leads by 0.5 − 0.496.
    let edges = [edge(0.36, 4, 4.0 * 0.5), edge(0.32, 0, 0.0), edge(0.32, 0, 0.0)];
    check(&edges, 0.0, 0);
    check(&edges, 0.01, 1);
    let puct = Puct { exploration: 1.0, ..Puct::default() };
    // A reduction of 0.1 takes 0.1 · √0.36 = 0.06 from what is new.
    assert_eq!(puct.select(&edges, 1.0, 0.063, 0.1), 0);
    assert_eq!(puct.select(&edges, 1.0, 0.065, 0.1), 1);
}

#[test]
fn a_visit_under_way_counts_as_lost() {
    let mut edges = [edge(0.5, 2, 0.0), edge(0.5, 2, -0.2)];
    check(&edges, 0.0, 0);
    edges[0].n_outstanding = 1;
    check(&edges, 0.0, 1);
    assert!((edges[0].worth(1.0) + 1.0 / 3.0).abs() < 1e-6);
    assert!((edges[0].worth(-1.0) + 1.0 / 3.0).abs() < 1e-6);
}

#[test]
fn proven_scores_count_as_they_are() {
    let proven = |score, edge| Edge { proven: Some(score), ..edge };
    // What is lost is never tried, however good it looked.
    check(&[proven(-1, edge(0.98, 5, 5.0)), edge(0.02, 5, -4.9)], 0.0, 1);
    // A draw that looked like a win is a draw.
    check(&[proven(0, edge(0.5, 5, 5.0)), edge(0.5, 5, 0.5)], 0.0, 1);
    check(&[proven(0, edge(0.5, 5, -5.0)), edge(0.5, 5, -0.5)], 0.0, 0);
}

#[test]
fn exploration_grows_with_the_logarithm_of_the_visits() {
    let grown = Puct { exploration_growth: 0.5, exploration_base: 100.0, ..Puct::default() };
    let plain = Puct::default();
    assert_eq!(grown.factor(0), plain.factor(0));
    let expected = (1.5 + 0.5 * 5_f32.ln()) * 20.0;
    assert!((grown.factor(400) - expected).abs() < 1e-4, "{}", grown.factor(400));
    assert_eq!(plain.factor(400), 30.0);
}

#[test]
fn noise_is_mixed_in_once() {
    let puct =
        Puct { noise: Some(Noise { fraction: 0.25, ..Noise::default() }), ..Puct::default() };
    let mut edges = [edge(0.8, 0, 0.0), edge(0.2, 0, 0.0)];
    for noise in [[0.0, 1.0], [0.4, 0.6]] {
        puct.mix(&noise, &mut edges);
        for (edge, (prior, noise)) in edges.iter().zip([0.8, 0.2].into_iter().zip(noise)) {
            let expected = 0.75 * prior + 0.25 * noise;
            assert!((edge.prior - expected).abs() < 1e-6, "{edge:?}");
        }
    }
    Puct::default().mix(&[0.5, 0.5], &mut edges);
    assert!((edges[0].prior - 0.8).abs() < 1e-6);
}
