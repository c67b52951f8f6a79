use cartridge_games::cart_pole::{self, CartPole};
use cartridge_games::{ActionSpace, EnvAction, EnvSpec, Scene, Step};

use super::*;

fn cart_poles(n: usize) -> Vec<Box<dyn Env>> {
    (0..n).map(|_| Box::new(CartPole::new(cart_pole::Config::default())) as Box<dyn Env>).collect()
}

#[track_caller]
fn assert_close(values: &[f32], expected: &[f32]) {
    assert_eq!(values.len(), expected.len());
    for (x, y) in values.iter().zip(expected) {
        assert!((x - y).abs() < 1e-5, "{values:?} is not {expected:?}");
    }
}

/// Two lanes and three steps, worked by hand with gamma 0.5 and lambda 0.5. Lane 0 terminates at
/// its second step; lane 1 is truncated there, in a state worth 8.
#[test]
fn advantages_by_hand() {
    use End::{No, Terminated, Truncated};
    let rewards = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let values = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 10.0, 20.0];
    let ends = [No, No, Terminated, Truncated, No, No];
    let next_values = next_values(&values, &[8.0], &ends, 2);
    assert_eq!(next_values, [4.0, 5.0, 0.0, 8.0, 10.0, 20.0]);
    let steps =
        Steps { rewards: &rewards, values: &values, next_values: &next_values, ends: &ends };
    // Deltas: 1 + 2 - 2 = 1, 1 + 2.5 - 3 = 0.5; 1 - 4 = -3, 1 + 4 - 5 = 0; 1 + 5 - 6 = 0,
    // 1 + 10 - 7 = 4. Only the first step has a later one in its episode.
    let expected = [1.0 + 0.25 * -3.0, 0.5 + 0.25 * 0.0, -3.0, 0.0, 0.0, 4.0];
    assert_close(&advantages(&steps, 2, 0.5, 0.5), &expected);
}

#[test]
fn advantages_travel_within_an_episode() {
    let ends = [End::No; 3];
    let (rewards, values) = ([0.0, 0.0, 1.0], [0.0; 4]);
    let next_values = next_values(&values, &[], &ends, 1);
    let steps =
        Steps { rewards: &rewards, values: &values, next_values: &next_values, ends: &ends };
    assert_close(&advantages(&steps, 1, 0.9, 1.0), &[0.81, 0.9, 1.0]);
}

/// Compares loss, slope and clipping for a ratio, an advantage and a clip range of 0.2.
#[track_caller]
fn check_surrogate(ratio: f32, advantage: f32, loss: f32, slope: f32, is_clipped: bool) {
    let result = surrogate(ratio.ln(), advantage, 0.2);
    assert_close(&[result.loss, result.slope], &[loss, slope]);
    assert_eq!(result.is_clipped, is_clipped);
    assert!((result.approx_kl - (ratio - 1.0 - ratio.ln())).abs() < 1e-6);
}

#[test]
fn the_surrogate_is_clipped_on_the_hopeful_side_only() {
    check_surrogate(1.0, 2.0, -2.0, -2.0, false);
    check_surrogate(1.5, 2.0, -2.4, 0.0, true);
    check_surrogate(1.5, -2.0, 3.0, 3.0, true);
    check_surrogate(0.5, 2.0, -1.0, -1.0, true);
    check_surrogate(0.5, -2.0, 1.6, 0.0, true);
}

/// The gradient of one sample's loss against central differences, entropy included.
#[test]
fn the_logit_gradient_equals_finite_differences() {
    let (logits, action, old_log_prob) = ([0.3_f64, -0.4, 0.9], 2, -0.8_f64);
    let (advantage, ent_coef) = (1.7, 0.3);
    let loss = |logits: [f64; 3]| {
        let total: f64 = logits.iter().map(|x| x.exp()).sum();
        let log_probs = logits.map(|x| x - total.ln());
        let entropy: f64 = -log_probs.iter().map(|x| x.exp() * x).sum::<f64>();
        -(log_probs[action] - old_log_prob).exp() * advantage - ent_coef * entropy
    };
    let mut row = logits.map(|x| x as f32);
    log_softmax(&mut row);
    let surrogate = surrogate(row[action] - old_log_prob as f32, advantage as f32, 10.0);
    logit_gradient(&mut row, action, surrogate.slope, ent_coef as f32);
    for index in 0..3 {
        let at = |change: f64| {
            let mut logits = logits;
            logits[index] += change;
            loss(logits)
        };
        let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((f64::from(row[index]) - slope).abs() < 1e-5, "{} is not {slope}", row[index]);
    }
}

#[test]
fn entropy_of_even_odds_is_the_logarithm_of_two() {
    let entropy = logit_gradient(&mut [0.5_f32.ln(); 2], 0, 0.0, 0.0);
    assert!((entropy - 2.0_f32.ln()).abs() < 1e-6);
}

/// An action that is not legal changes nothing: the rest is as if it did not exist.
#[test]
fn a_masked_action_has_no_entropy_and_no_gradient() {
    let mut with = [0.3, 7.0, -0.4, 0.9];
    forbid(&mut with, &[true, false, true, true]);
    let mut without = [0.3, -0.4, 0.9];
    log_softmax(&mut with);
    log_softmax(&mut without);
    let entropy = logit_gradient(&mut with, 3, -1.7, 0.3);
    assert_close(&[entropy], &[logit_gradient(&mut without, 2, -1.7, 0.3)]);
    assert_close(&with, &[without[0], 0.0, without[1], without[2]]);
}

#[test]
fn a_masked_action_is_never_drawn() {
    let mut logits = [0.5_f32.ln(), 30.0, 0.5_f32.ln(), 30.0];
    forbid(&mut logits, &[true, false, true, false]);
    let rng = &mut fastrand::Rng::with_seed(0);
    for _ in 0..10_000 {
        let (action, log_prob) = sample(&logits, rng);
        assert!(action == 0 || action == 2, "{action}");
        assert!((log_prob - 0.5_f32.ln()).abs() < 1e-6);
    }
}

#[test]
fn normalizing_by_hand() {
    let mut values = [1.0, 2.0, 3.0];
    normalize(&mut values);
    assert_close(&values, &[-1.0, 0.0, 1.0]);
    let mut alone = [5.0];
    normalize(&mut alone);
    assert_eq!(alone, [5.0]);
}

#[test]
fn explained_variance_by_hand() {
    assert_eq!(explained_variance(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), Some(1.0));
    assert_eq!(explained_variance(&[5.0, 5.0, 5.0], &[1.0, 2.0, 3.0]), Some(0.0));
    assert_eq!(explained_variance(&[1.0, 2.0], &[4.0, 4.0]), None);
}

#[test]
fn samples_follow_the_probabilities() {
    let logits = [0.1_f32.ln(), 0.6_f32.ln(), 0.3_f32.ln()];
    let rng = &mut fastrand::Rng::with_seed(0);
    let mut counts = [0.0_f32; 3];
    for _ in 0..10_000 {
        let (action, log_prob) = sample(&logits, rng);
        counts[action] += 1e-4;
        assert!((log_prob - logits[action]).abs() < 1e-6);
    }
    assert!((counts[0] - 0.1).abs() < 0.02 && (counts[1] - 0.6).abs() < 0.02, "{counts:?}");
}

#[test]
fn unknown_settings_are_refused() {
    let config: Config = serde_json::from_str(r#"{"learning_rate": 0.001}"#).unwrap();
    assert_eq!(config, Config { learning_rate: 0.001, ..Config::default() });
    let error = serde_json::from_str::<Config>(r#"{"lr": 0.001}"#).unwrap_err();
    assert!(error.to_string().starts_with("unknown field `lr`"), "{error}");
}

/// Shows a sign and pays 1 for the action that matches it; every episode is one step.
#[derive(Debug)]
struct Signs {
    rng: fastrand::Rng,
    is_positive: bool,
}

static SIGNS: EnvSpec = EnvSpec {
    id: "signs",
    name: "Signs",
    version: 1,
    observation: 1,
    actions: ActionSpace::Discrete(2),
    max_steps: 1,
    is_masked: false,
    quit_action: None,
    reward_threshold: None,
    frames_per_second: 1,
    action_names: &["minus", "plus"],
    observation_names: &["sign"],
    controls: None,
};

impl Env for Signs {
    fn spec(&self) -> &'static EnvSpec {
        &SIGNS
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.rng = fastrand::Rng::with_seed(seed);
        }
        self.is_positive = self.rng.bool();
        observation[0] = if self.is_positive { 1.0 } else { -1.0 };
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        let action = action.index();
        observation[0] = 0.0;
        let reward = f64::from(u8::from((action == 1) == self.is_positive));
        Step { reward, terminated: true, truncated: false, ticks: 1, is_invalid: false }
    }

    fn scene(&self) -> Scene {
        Scene { view: [0.0, 0.0, 1.0, 1.0], shapes: Vec::new() }
    }
}

/// The best policy answers each sign with its action, and its value is 1 in both states.
#[test]
fn solves_a_task_with_a_known_answer() {
    let config = Config {
        n_envs: 4,
        n_steps: 64,
        learning_rate: 3e-3,
        total_timesteps: 8_192,
        ..Config::default()
    };
    let signs = || Signs { rng: fastrand::Rng::with_seed(0), is_positive: true };
    let envs = (0..4).map(|_| Box::new(signs()) as Box<dyn Env>).collect();
    let mut ppo = Ppo::new(envs, &config, 1);
    while !ppo.is_done() {
        ppo.update();
    }
    for (sign, action) in [(-1.0, 0), (1.0, 1)] {
        let probability = ppo.policy().probabilities(&[sign])[action];
        assert!(probability > 0.95, "{sign} is answered with probability {probability}");
        let value = ppo.policy().value(&[sign]);
        assert!((value - 1.0).abs() < 0.1, "{sign} is worth {value}");
    }
}

/// Shows which one of three actions is forbidden, pays 1 for the action after it, and lasts for
/// four steps. An action that is not legal is a fault of the learner.
#[derive(Debug)]
struct Forbidden {
    rng: fastrand::Rng,
    forbidden: usize,
    n_steps: u32,
}

static FORBIDDEN: EnvSpec = EnvSpec {
    id: "forbidden",
    observation: 3,
    actions: ActionSpace::Discrete(3),
    max_steps: 4,
    is_masked: true,
    action_names: &["0", "1", "2"],
    observation_names: &["not 0", "not 1", "not 2"],
    ..SIGNS
};

impl Forbidden {
    fn show(&mut self, observation: &mut [f32]) {
        self.forbidden = self.rng.usize(..3);
        observation.fill(0.0);
        observation[self.forbidden] = 1.0;
    }
}

impl Env for Forbidden {
    fn spec(&self) -> &'static EnvSpec {
        &FORBIDDEN
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.rng = fastrand::Rng::with_seed(seed);
        }
        self.n_steps = 0;
        self.show(observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        let action = action.index();
        assert_ne!(action, self.forbidden, "the mask was not used");
        let reward = f64::from(u8::from(action == (self.forbidden + 1) % 3));
        self.n_steps += 1;
        self.show(observation);
        let truncated = self.n_steps == FORBIDDEN.max_steps;
        Step { reward, terminated: false, truncated, ticks: 1, is_invalid: false }
    }

    fn legal_actions(&self, mask: &mut [bool]) {
        mask.fill(true);
        mask[self.forbidden] = false;
    }

    fn scene(&self) -> Scene {
        Scene { view: [0.0, 0.0, 1.0, 1.0], shapes: Vec::new() }
    }
}

fn forbidden(config: &Config) -> Ppo {
    let env = || Forbidden { rng: fastrand::Rng::with_seed(0), forbidden: 0, n_steps: 0 };
    let envs = (0..config.n_envs).map(|_| Box::new(env()) as Box<dyn Env>).collect();
    Ppo::new(envs, config, 3)
}

#[test]
fn a_masked_task_is_learnt_by_legal_actions_alone() {
    let config = Config {
        n_envs: 4,
        n_steps: 64,
        learning_rate: 3e-3,
        total_timesteps: 16_384,
        ..Config::default()
    };
    let mut ppo = forbidden(&config);
    while !ppo.is_done() {
        ppo.update();
    }
    for forbidden in 0..3 {
        let mut observation = [0.0; 3];
        observation[forbidden] = 1.0;
        let mut mask = [true; 3];
        mask[forbidden] = false;
        let mut action = [Action(9)];
        ppo.policy().greedy_legal(&observation, &mask, 1, &mut action);
        assert_eq!(action, [Action((forbidden + 1) % 3)]);
    }
}

/// When nothing is learnt the policy is the old one, sample by sample: masks in learning are
/// those in acting.
#[test]
fn masks_of_learning_are_masks_of_acting() {
    let config =
        Config { n_envs: 3, n_steps: 32, learning_rate: 0.0, ent_coef: 0.1, ..Config::default() };
    let mut ppo = forbidden(&config);
    for _ in 0..3 {
        let update = ppo.update();
        let scalar = |metric| update.scalars.iter().find(|(name, _)| *name == metric).unwrap().1;
        assert!(scalar(Metric::ApproxKl).abs() < 1e-6, "{update:?}");
        assert_eq!(scalar(Metric::ClipFraction), 0.0);
        // Two of three actions are legal.
        assert!((scalar(Metric::Entropy) - 2.0_f64.ln()).abs() < 0.01, "{update:?}");
    }
}

#[test]
fn the_same_seed_replays_exactly() {
    let run = |seed_base| {
        let config = Config { total_timesteps: 6_000, ..Config::default() };
        let mut ppo = Ppo::new(cart_poles(config.n_envs), &config, seed_base);
        let mut updates = Vec::new();
        while !ppo.is_done() {
            updates.push(ppo.update());
        }
        (ppo.policy().sha256(), updates)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5).0, run(6).0);
}

#[test]
fn episodes_are_counted_and_seeded_in_order() {
    let config = Config { n_envs: 3, n_steps: 100, total_timesteps: 901, ..Config::default() };
    let mut ppo = Ppo::new(cart_poles(3), &config, 9);
    let mut episodes = Vec::new();
    let mut steps = Vec::new();
    while !ppo.is_done() {
        let update = ppo.update();
        assert_eq!(update.step, ppo.step());
        steps.push(update.step);
        episodes.extend(update.episodes);
    }
    assert_eq!(steps, [300, 600, 900, 1200], "whole updates, the last one past the total");
    assert!(episodes.len() > 20);
    assert!(episodes.is_sorted_by_key(|end| (end.step, end.lane)));
    let mut n_resets = [0; 3];
    let mut last_steps = [0; 3];
    for (index, end) in episodes.iter().enumerate() {
        assert_eq!(end.episode, index as u64 + 1);
        let lane = end.lane as usize;
        assert_eq!(end.seed, episode_seed(9, Stream::Train, end.lane, n_resets[lane]));
        assert_eq!(end.step - last_steps[lane], 3 * u64::from(end.length));
        assert_eq!(end.reward, f64::from(end.length));
        assert!(end.terminated && !end.truncated);
        assert_eq!(play_again(end), (end.reward, end.length));
        n_resets[lane] += 1;
        last_steps[lane] = end.step;
    }
}

/// Return and length of an episode that is stepped again in a fresh world, to its end.
fn play_again(end: &EpisodeEnd) -> (f64, u32) {
    let mut env = cart_poles(1).remove(0);
    let mut observation = vec![0.0; env.spec().observation];
    env.reset(Some(end.seed), &mut observation);
    let (mut reward, mut length, mut is_over) = (0.0, 0, false);
    for action in end.actions.iter() {
        assert!(!is_over, "an action after the end");
        let step = env.step(action, &mut observation);
        reward += step.reward;
        length += 1;
        is_over = step.is_end();
    }
    assert!(is_over, "the actions lead to the end");
    (reward, length)
}

#[test]
fn an_update_reports_finite_numbers() {
    let config = Config::default();
    let mut ppo = Ppo::new(cart_poles(config.n_envs), &config, 1);
    let update = ppo.update();
    let names: Vec<&str> = update.scalars.iter().map(|(metric, _)| metric.name()).collect();
    assert_eq!(
        names,
        [
            "rollout/ep_rew_mean",
            "rollout/ep_len_mean",
            "train/learning_rate",
            "train/loss",
            "train/policy_gradient_loss",
            "train/value_loss",
            "train/entropy",
            "train/approx_kl",
            "train/clip_fraction",
            "train/grad_norm",
            "train/explained_variance",
        ]
    );
    assert!(update.scalars.iter().all(|(_, value)| value.is_finite()), "{:?}", update.scalars);
}

/// The mean return of the greedy policy over seeds that were never trained on.
fn evaluate(policy: &Policy, n_episodes: u64) -> f64 {
    let mut total = 0.0;
    for episode in 0..n_episodes {
        let mut env = CartPole::new(cart_pole::Config::default());
        let mut observation = [0.0; 4];
        env.reset(Some(episode_seed(0, Stream::Evaluation, 0, episode)), &mut observation);
        let mut actions = [Action(0)];
        loop {
            policy.greedy(&observation, 1, &mut actions);
            let step = env.step(actions[0].into(), &mut observation);
            total += step.reward;
            if step.is_end() {
                break;
            }
        }
    }
    total / n_episodes as f64
}

#[test]
fn learns_to_balance_the_pole() {
    let config = Config { total_timesteps: 100_000, ..Config::default() };
    let mut ppo = Ppo::new(cart_poles(config.n_envs), &config, 1);
    while !ppo.is_done() {
        ppo.update();
    }
    let mean = evaluate(ppo.policy(), 20);
    assert!(mean > 400.0, "the pole stands for {mean} steps on average");
}

#[test]
fn what_environments_measure_is_averaged_over_episodes() {
    let end = |metrics: Vec<(&'static str, f64)>| Recent { reward: 0.0, length: 1, metrics };
    assert_eq!(mean_metrics(&VecDeque::new()), []);
    let ends = [vec![("profit", 1.0), ("survival", 0.0)], vec![("profit", 4.0), ("survival", 1.0)]];
    let ends: VecDeque<Recent> = ends.into_iter().map(end).collect();
    assert_eq!(mean_metrics(&ends), [("profit", 2.5), ("survival", 0.5)]);
}

/// Everything that a later update depends on, through its file.
fn put_away_and_back(ppo: &Ppo, config: &Config, seed: u64, envs: Vec<Box<dyn Env>>) -> Ppo {
    let policy = Policy::from_safetensors(&ppo.policy().to_safetensors()).unwrap();
    let state = State::from_bytes(&ppo.state().to_bytes()).unwrap();
    assert_eq!(state, ppo.state());
    Ppo::restore(envs, config, seed, policy, &state).unwrap()
}

#[test]
fn an_interrupted_training_goes_on_as_if_it_had_not_been() {
    for id in ["CartPole-v1", "AsteroidProspector-v0"] {
        let make = || {
            let env = |_| cartridge_games::registry::make_env(id, &Default::default()).unwrap();
            (0..3).map(env).collect::<Vec<_>>()
        };
        let config = Config { n_envs: 3, n_steps: 40, n_epochs: 2, ..Config::default() };
        let mut whole = Ppo::new(make(), &config, 5);
        let mut parts = Ppo::new(make(), &config, 5);
        for update in 0..12 {
            if update == 4 {
                for ppo in [&mut whole, &mut parts] {
                    assert_eq!(ppo.tune(Knob::LearningRate, 1e-3), config.learning_rate);
                }
            }
            parts = put_away_and_back(&parts, &config, 5, make());
            let (expected, found) = (whole.update(), parts.update());
            // Also where a figure is not a number.
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{id}, update {update}");
            assert_eq!(parts.policy().sha256(), whole.policy().sha256());
        }
        assert!(whole.n_episodes > 0, "{id}");
    }
}

#[test]
fn a_state_of_another_training_is_refused() {
    let config = Config { n_envs: 2, n_steps: 20, ..Config::default() };
    let mut ppo = Ppo::new(cart_poles(2), &config, 5);
    ppo.update();
    let state = ppo.state();
    let restore = |envs, config: &Config, seed, policy: &Policy| {
        Ppo::restore(envs, config, seed, policy.clone(), &state)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let message = restore(cart_poles(2), &config, 6, ppo.policy());
    assert!(message.contains("other seeds"), "{message}");
    let three = Config { n_envs: 3, ..config.clone() };
    let message = restore(cart_poles(3), &three, 5, ppo.policy());
    assert!(message.contains("another number of environments"), "{message}");
    let other = Policy::new(7, 2, &mut fastrand::Rng::with_seed(1));
    let message = restore(cart_poles(2), &config, 5, &other);
    assert!(message.contains("does not fit the environment"), "{message}");
    let bytes = state.to_bytes();
    for cut in [0, 7, 9, 100, bytes.len() - 1] {
        assert!(State::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
}
