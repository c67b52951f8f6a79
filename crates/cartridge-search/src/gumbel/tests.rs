use cartridge_games::Action;

use super::*;

/// An edge with a prior, visits and their mean score.
fn edge(prior: f32, n_visits: u32, mean: f64) -> Edge {
    let total = f64::from(n_visits) * mean;
    Edge { n_visits, total, ..Edge::new(Action(0), prior.ln(), prior) }
}

fn plain() -> Gumbel {
    Gumbel { value_scale: 1.0, is_random: false, ..Gumbel::default() }
}

#[track_caller]
fn assert_near(numbers: &[f32], expected: &[f32]) {
    let is_near = |(a, b): (&f32, &f32)| a == b || (a - b).abs() < 1e-4;
    assert!(numbers.iter().zip(expected).all(is_near), "{numbers:?}, not {expected:?}");
    assert_eq!(numbers.len(), expected.len());
}

/// Mixed value: `(0.2 + 4 · (0.5 · 0.6 + 0.25 · −0.3) / 0.75) / 5 = (0.2 + 1.2) / 5 = 0.28`;
/// σ has the factor `50 + 3`.
#[test]
fn values_are_completed_by_the_mixed_value() {
    let edges = [edge(0.5, 3, 0.6), edge(0.25, 1, -0.3), edge(0.25, 0, 0.0)];
    let mut logits = Vec::new();
    plain().improve(&edges, 1.0, 0.2, &mut logits);
    let sigma = |q: f32| 53.0 * (q + 1.0) / 2.0;
    let expected =
        [0.5_f32.ln() + sigma(0.6), 0.25_f32.ln() + sigma(-0.3), 0.25_f32.ln() + sigma(0.28)];
    assert_near(&logits, &expected);
    // The other seat sees the same in scores of the other sign.
    let mirrored = edges.map(|edge| Edge { total: -edge.total, ..edge });
    plain().improve(&mirrored, -1.0, 0.2, &mut logits);
    assert_near(&logits, &expected);
}

#[test]
fn without_visits_the_policy_stays() {
    let edges = [edge(0.7, 0, 0.0), edge(0.2, 0, 0.0), edge(0.1, 0, 0.0)];
    let mut policy = Vec::new();
    plain().improve(&edges, 1.0, -0.4, &mut policy);
    softmax(&mut policy);
    assert_near(&policy, &[0.7, 0.2, 0.1]);
}

#[test]
fn proven_scores_count_as_they_are() {
    let proven = |score, edge| Edge { proven: Some(score), ..edge };
    let edges = [proven(-1, edge(0.5, 3, 0.9)), proven(0, edge(0.25, 1, 0.9)), edge(0.25, 0, 0.0)];
    let mut logits = Vec::new();
    plain().improve(&edges, 1.0, 0.0, &mut logits);
    assert_eq!(logits[0], f32::NEG_INFINITY);
    assert_near(&logits[1..2], &[0.25_f32.ln() + 53.0 / 2.0]);
    // Where all is lost, all are alike.
    let lost = [proven(-1, edge(0.75, 1, -1.0)), proven(-1, edge(0.25, 0, 0.0))];
    plain().improve(&lost, 1.0, 0.0, &mut logits);
    softmax(&mut logits);
    assert_near(&logits, &[0.75, 0.25]);
}

#[test]
fn below_the_root_visits_follow_the_improved_policy() {
    let gumbel = Gumbel { value_scale: 0.0, ..plain() };
    let mut policy = Vec::new();
    // Without a say of the scores the improved policy is the prior. Shares are of 1 + visits.
    let mut edges = [edge(0.5, 0, 0.0), edge(0.3, 0, 0.0), edge(0.2, 0, 0.0)];
    let mut counts = [0; 3];
    for _ in 0..100 {
        let place = gumbel.select(&edges, 1.0, 0.0, &mut policy);
        edges[place].n_visits += 1;
        counts[place] += 1;
    }
    assert_eq!(counts, [50, 30, 20]);
}

/// Visits of each action after a search of `n_simulations` in which the scores are the priors.
fn visits(n_actions: usize, n_considered: u32, n_simulations: u32) -> Vec<u32> {
    let priors = (0..n_actions).map(|place| (n_actions - place) as f32);
    let mut edges: Vec<Edge> = priors.map(|prior| edge(prior, 0, 0.0)).collect();
    let scores: Vec<f32> = edges.iter().map(|edge| edge.logit).collect();
    let config = Gumbel { n_considered, ..plain() };
    let mut halving = Halving::default();
    halving.begin(&config, n_simulations, &edges, 1.0, &scores);
    for _ in 0..n_simulations {
        let place = loop {
            match halving.next(&edges, 1.0) {
                Some(place) => break place,
                None => halving.halve(&edges, 1.0, &scores),
            }
        };
        halving.count(place);
        edges[place].n_visits += 1;
    }
    assert_eq!(halving.best(&edges, 1.0, &scores), Some(0));
    edges.iter().map(|edge| edge.n_visits).collect()
}

#[test]
fn simulations_are_shared_by_sequential_halving() {
    // Two rounds of four: one visit each, then two each for the better half.
    assert_eq!(visits(7, 4, 8), [3, 3, 1, 1, 0, 0, 0]);
    // Four rounds of 16: 1, 2, 4 and 8 each, as in the paper's figure for 16 actions.
    let expected: Vec<u32> = [[15; 2].as_slice(), &[7; 2], &[3; 4], &[1; 8]].concat();
    assert_eq!(visits(16, 16, 64), expected);
    // Never more actions than simulations, and every simulation is used.
    assert_eq!(visits(7, 16, 2), [1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(visits(7, 16, 1), [1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(visits(1, 16, 5), [5]);
    for n_simulations in 1..100 {
        assert_eq!(visits(7, 5, n_simulations).iter().sum::<u32>(), n_simulations);
    }
}

#[test]
fn others_step_in_for_what_is_lost() {
    let mut edges: Vec<Edge> = (0..6).map(|place| edge((6 - place) as f32, 0, 0.0)).collect();
    let scores: Vec<f32> = edges.iter().map(|edge| edge.logit).collect();
    edges[0].proven = Some(-1);
    let mut halving = Halving::default();
    halving.begin(&Gumbel { n_considered: 2, ..plain() }, 8, &edges, 1.0, &scores);
    let mut seen = Vec::new();
    for simulation in 0..8 {
        if simulation == 1 {
            edges[1].proven = Some(-1);
        }
        let place = loop {
            match halving.next(&edges, 1.0) {
                Some(place) => break place,
                None => halving.halve(&edges, 1.0, &scores),
            }
        };
        halving.count(place);
        seen.push(place);
    }
    // The quota of 4 for two actions; then the third and, in its place, the fourth.
    assert_eq!(seen, [1, 2, 2, 2, 2, 2, 3, 2]);
    assert_eq!(halving.best(&edges, 1.0, &scores), Some(2));
}
