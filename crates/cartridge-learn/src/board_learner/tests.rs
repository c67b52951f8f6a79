use super::*;
use crate::board_net::{Config as NetConfig, Preset, Shape};

const SHAPE: Shape = Shape { n_planes: 2, n_rows: 4, n_columns: 5, n_actions: 5 };

/// A batch of its own.
struct Examples {
    planes: Vec<f32>,
    policies: Vec<f32>,
    legal: Vec<bool>,
    values: Vec<f32>,
    weights: Vec<f32>,
}

impl Examples {
    /// Something to learn: on boards with stones here and there, the column with the most of the
    /// first plane's should be chosen among the legal ones, and the value says whose stones are more.
    fn new(n: usize, seed: u64) -> Self {
        let rng = &mut fastrand::Rng::with_seed(seed);
        let Shape { n_rows, n_columns, n_actions, .. } = SHAPE;
        let mut all = Self {
            planes: vec![],
            policies: vec![],
            legal: vec![],
            values: vec![],
            weights: vec![],
        };
        for _ in 0..n {
            let stones: Vec<u8> = (0..SHAPE.n_cells()).map(|_| rng.u8(..3)).collect();
            let plane = |owner: u8| stones.iter().map(move |&x| f32::from(x == owner));
            all.planes.extend(plane(1).chain(plane(2)));
            let mut legal: Vec<bool> = (0..n_actions).map(|_| rng.u8(..4) > 0).collect();
            legal[rng.usize(..n_actions)] = true;
            let count = |column: usize| {
                (0..n_rows).filter(|row| stones[row * n_columns + column] == 1).count()
            };
            let most = (0..n_actions).filter(|&at| legal[at]).map(count).max().unwrap();
            let best: Vec<f32> = (0..n_actions)
                .map(|at| f32::from(u8::from(legal[at] && count(at) == most)))
                .collect();
            let n_best: f32 = best.iter().sum();
            all.policies.extend(best.iter().map(|x| x / n_best));
            all.legal.extend(legal);
            let lead: f32 = plane(1).sum::<f32>() - plane(2).sum::<f32>();
            all.values.push((lead * 0.1).clamp(-1.0, 1.0));
            all.weights.push(0.5 + rng.f32());
        }
        all
    }

    fn batch(&self) -> Batch<'_> {
        Batch {
            planes: &self.planes,
            policies: &self.policies,
            legal: Some(&self.legal),
            values: &self.values,
            weights: Some(&self.weights),
        }
    }
}

/// A network in which nothing is zero, so that every gradient is there.
fn network(config: &NetConfig) -> BoardNet {
    let rng = &mut fastrand::Rng::with_seed(1);
    let mut network = BoardNet::new(SHAPE, config, rng).unwrap();
    network.change(|all| all.iter_mut().for_each(|x| *x += 0.2 * (rng.f32() - 0.5)));
    network
}

/// The loss of a batch as the documentation says it.
fn loss(network: &BoardNet, batch: Batch<'_>, value_weight: f64) -> f64 {
    let (n, n_actions) = (batch.values.len(), SHAPE.n_actions);
    let (mut logits, mut values) = (vec![0.0; n * n_actions], vec![0.0; n]);
    network.infer(&mut Workspace::default(), batch.planes, &mut logits, &mut values);
    let mut sum = 0.0;
    for index in 0..n {
        let actions = index * n_actions..(index + 1) * n_actions;
        let is_legal = |at: usize| batch.legal.is_none_or(|legal| legal[at]);
        let weight = |at: usize| f64::from(logits[at]).exp();
        let all: f64 = actions.clone().filter(|&at| is_legal(at)).map(weight).sum();
        let of_policy = actions
            .filter(|&at| batch.policies[at] > 0.0)
            .map(|at| -f64::from(batch.policies[at]) * (weight(at) / all).ln());
        let error = f64::from(values[index]) - f64::from(batch.values[index]);
        let of_position = of_policy.sum::<f64>() + value_weight * error * error;
        sum += batch.weights.map_or(1.0, |weights| f64::from(weights[index])) * of_position;
    }
    sum / n as f64
}

/// The gradient of a batch, against central differences of the loss.
#[track_caller]
fn check_gradient(config: &NetConfig, has_mask: bool) {
    let examples = Examples::new(SHARD + 5, 2);
    let mut batch = examples.batch();
    if !has_mask {
        (batch.legal, batch.weights) = (None, None);
    }
    let settings = Config { value_weight: 0.7, ..Config::default() };
    let mut learner = BoardLearner::new(network(config), settings);
    let losses = learner.find_gradient(&mut Team::new(1), batch);
    let whole = losses.policy_loss + 0.7 * losses.value_loss;
    let expected = loss(learner.network(), batch, 0.7);
    assert!((whole - expected).abs() < 1e-5, "{whole} is not {expected}");

    let gradient = learner.gradient.clone();
    let rng = &mut fastrand::Rng::with_seed(3);
    let step = 2e-3_f32;
    let norm = global_norm(&[&gradient]);
    // Along random directions in each layer, because single differences drown in rounding.
    let layers: Vec<_> = learner.network().weights().collect();
    let ends: Vec<usize> =
        layers.iter().skip(1).map(|weights| weights.start).chain([gradient.len()]).collect();
    for (weights, end) in layers.iter().zip(ends) {
        for place in [weights.clone(), weights.end..end] {
            let direction: Vec<f32> = place.clone().map(|_| rng.f32() * 2.0 - 1.0).collect();
            let length = direction.iter().map(|x| x * x).sum::<f32>().sqrt();
            let mut moved = learner.network().clone();
            let mut at = |distance: f32| {
                moved.change(|all| {
                    let from = &learner.network().parameters()[place.clone()];
                    for ((x, from), along) in
                        all[place.clone()].iter_mut().zip(from).zip(&direction)
                    {
                        *x = from + distance * along / length;
                    }
                });
                loss(&moved, batch, 0.7)
            };
            let found = (at(step) - at(-step)) / (2.0 * f64::from(step));
            let expected: f32 =
                gradient[place.clone()].iter().zip(&direction).map(|(x, y)| x * y / length).sum();
            let error = (found - f64::from(expected)).abs();
            assert!(
                error < 3e-3 * f64::from(norm),
                "{config:?}, {place:?}: {expected} is not {found}; the norm is {norm}"
            );
        }
    }
}

#[test]
fn the_gradient_equals_finite_differences() {
    check_gradient(&NetConfig::residual(2, 16), true);
    check_gradient(&NetConfig::residual(1, 32), false);
    check_gradient(&NetConfig::residual(0, 16), true);
    check_gradient(&NetConfig::mlp(&[20, 30]), true);
    check_gradient(&NetConfig::mlp(&[20]), false);
}

/// Worked by hand: probabilities 1/4 and 3/4, targets 1 and 0.
#[test]
fn the_loss_of_a_policy_by_hand() {
    let mut x = [0.25, 0.75];
    let logs = [0.25_f32.ln(), 0.75_f32.ln()];
    let found = policy_loss(&mut x, |action| logs[action], &[1.0, 0.0]);
    assert_eq!(x, [-0.75, 0.75]);
    assert!((found.cross_entropy - 4.0_f64.ln()).abs() < 1e-6);
    assert!((found.divergence - 4.0_f64.ln()).abs() < 1e-6);
    assert!((found.entropy - 0.562_335).abs() < 1e-5);
    // A policy that is the target diverges by nothing, and has no slope.
    let mut x = [0.25, 0.75];
    let found = policy_loss(&mut x, |action| logs[action], &[0.25, 0.75]);
    assert!(x == [0.0, 0.0] && found.divergence.abs() < 1e-7);
    assert_eq!(found.cross_entropy, found.entropy);
}

fn train(learner: &mut BoardLearner, team: &mut Team, steps: std::ops::Range<u64>) -> Losses {
    let mut last = Losses::default();
    for step in steps {
        let examples = Examples::new(3 * SHARD + 7, 100 + step);
        last = learner.train_step(team, examples.batch(), 3e-3).unwrap();
    }
    last
}

/// Both kinds of networks see which column has the most stones, and who has more.
#[test]
fn networks_learn_what_can_be_seen() {
    for config in [NetConfig::residual(1, 16), NetConfig::mlp(&[64])] {
        let rng = &mut fastrand::Rng::with_seed(4);
        let network = BoardNet::new(SHAPE, &config, rng).unwrap();
        let mut learner = BoardLearner::new(network, Config::default());
        let team = &mut Team::new(1);
        let first = train(&mut learner, team, 0..1);
        let last = train(&mut learner, team, 1..300);
        assert!(first.divergence > 0.5 && last.divergence < 0.2, "{config:?}: {first:?} {last:?}");
        assert!(first.value_loss > 0.05 && last.value_loss < 0.02, "{config:?}: {last:?}");
        assert!(last.entropy < first.entropy, "{config:?}: {first:?} {last:?}");
    }
}

#[test]
fn threads_change_nothing() {
    for config in [NetConfig::residual(2, 16), NetConfig::mlp(&[30, 20])] {
        let weights = [1, 2, 4].map(|n_threads| {
            let mut learner = BoardLearner::new(network(&config), Config::default());
            let losses = train(&mut learner, &mut Team::new(n_threads), 0..3);
            (learner.network().parameters().to_vec(), losses)
        });
        assert!(weights.iter().all(|found| *found == weights[0]), "{config:?}");
    }
}

#[test]
fn interrupted_equals_uninterrupted() {
    let config = NetConfig::residual(1, 16);
    let (settings, team) = (Config::default(), &mut Team::new(2));
    let mut whole = BoardLearner::new(network(&config), settings);
    train(&mut whole, team, 0..4);

    let mut before = BoardLearner::new(network(&config), settings);
    train(&mut before, team, 0..2);
    let state = State::from_bytes(&before.state().to_bytes()).unwrap();
    assert_eq!((state.n_updates(), &state), (2, &before.state()));
    let mut after = BoardLearner::restore(before.network().clone(), settings, &state).unwrap();
    train(&mut after, team, 2..4);
    assert_eq!(after.network().parameters(), whole.network().parameters());
    assert_eq!(after.state(), whole.state());

    let other = network(&Preset::Tiny.config());
    let error = BoardLearner::restore(other, settings, &state).unwrap_err().to_string();
    assert!(error.contains("do not fit the network"), "{error}");
    assert!(State::from_bytes(b"nothing").is_err());
}

/// Weights shrink, biases do not: without a gradient nothing else moves them.
#[test]
fn weights_decay_and_biases_do_not() {
    let settings = Config { weight_decay: 0.5, value_weight: 0.0, ..Config::default() };
    let mut learner = BoardLearner::new(network(&NetConfig::mlp(&[8])), settings);
    let before = learner.network().clone();
    let mut examples = Examples::new(4, 5);
    examples.weights.fill(0.0);
    learner.train_step(&mut Team::new(1), examples.batch(), 0.1).unwrap();
    let mut is_weight = vec![false; before.n_parameters()];
    before.weights().for_each(|place| is_weight[place].fill(true));
    for ((x, y), is_weight) in
        before.parameters().iter().zip(learner.network().parameters()).zip(is_weight)
    {
        assert_eq!(*y, if is_weight { x * 0.95 } else { *x });
    }
}

#[test]
fn a_gradient_that_is_not_finite_changes_nothing() {
    let mut learner = BoardLearner::new(network(&NetConfig::residual(1, 16)), Config::default());
    let (before, state) = (learner.network().parameters().to_vec(), learner.state());
    let mut examples = Examples::new(3, 6);
    examples.values[1] = f32::NAN;
    let error = learner.train_step(&mut Team::new(1), examples.batch(), 0.1).unwrap_err();
    assert_eq!(error.to_string(), "the gradient of step 1 is not finite");
    assert_eq!((learner.network().parameters(), learner.state()), (&before[..], state));
}
