use cartridge_games::cart_pole::{self, CartPole};
use cartridge_games::{ActionSpace, EnvAction, EnvSpec, Scene, Step, Stream, episode_seed};

use super::*;

fn cart_poles(n: usize) -> Vec<Box<dyn Env>> {
    (0..n).map(|_| Box::new(CartPole::new(cart_pole::Config::default())) as Box<dyn Env>).collect()
}

#[test]
fn unknown_settings_are_refused() {
    let config: Config = serde_json::from_str(r#"{"learning_rate": 0.001}"#).unwrap();
    assert_eq!(config, Config { learning_rate: 0.001.into(), ..Config::default() });
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
        learning_rate: 3e-3.into(),
        total_timesteps: 8_192,
        ..Config::default()
    };
    let signs = || Signs { rng: fastrand::Rng::with_seed(0), is_positive: true };
    let envs = (0..4).map(|_| Box::new(signs()) as Box<dyn Env>).collect();
    let mut ppo = Ppo::new(envs, &config, 1, Team::new(2));
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
    Ppo::new(envs, config, 3, Team::new(2))
}

#[test]
fn a_masked_task_is_learnt_by_legal_actions_alone() {
    let config = Config {
        n_envs: 4,
        n_steps: 64,
        learning_rate: 3e-3.into(),
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
        let choices = ppo.policy().choose(&observation, &mask, 1);
        assert_eq!(choices.get(0).index(), (forbidden + 1) % 3);
    }
}

/// When nothing is learnt the policy is the old one, sample by sample: masks in learning are
/// those in acting.
#[test]
fn masks_of_learning_are_masks_of_acting() {
    let config = Config {
        n_envs: 3,
        n_steps: 32,
        learning_rate: 0.0.into(),
        ent_coef: 0.1.into(),
        ..Config::default()
    };
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
        let mut ppo = Ppo::new(cart_poles(config.n_envs), &config, seed_base, Team::new(2));
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
    let mut ppo = Ppo::new(cart_poles(3), &config, 9, Team::new(2));
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

/// Seeds that count up, in the order in which episodes began: by step, then by lane.
#[test]
fn seeds_can_be_given_in_order() {
    let config = Config {
        episode_seeds: EpisodeSeeds::InOrder,
        n_envs: 3,
        n_steps: 100,
        total_timesteps: 901,
        ..Config::default()
    };
    let mut ppo = Ppo::new(cart_poles(3), &config, 9, Team::new(2));
    let mut episodes = Vec::new();
    while !ppo.is_done() {
        episodes.extend(ppo.update().episodes);
    }
    let began = |end: &EpisodeEnd| (end.step - 3 * u64::from(end.length), end.lane);
    episodes.sort_by_key(began);
    let seeds: Vec<u64> = episodes.iter().map(|end| end.seed).collect();
    assert!(seeds.is_sorted_by(|a, b| a < b), "{seeds:?}");
    // Those that have not ended are missing.
    assert_eq!(seeds[0], 9);
    let n_begun = seeds[seeds.len() - 1] - 8;
    assert!((0..=3).contains(&(n_begun - seeds.len() as u64)), "{seeds:?}");
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
    let mut ppo = Ppo::new(cart_poles(config.n_envs), &config, 1, Team::new(2));
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
            "train/old_approx_kl",
            "train/clip_fraction",
            "train/clip_range",
            "train/grad_norm",
            "train/n_updates",
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
        loop {
            let choices = policy.choose(&observation, &[true; 2], 1);
            let step = env.step(choices.get(0), &mut observation);
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
    let mut ppo = Ppo::new(cart_poles(config.n_envs), &config, 1, Team::new(2));
    while !ppo.is_done() {
        ppo.update();
    }
    let mean = evaluate(ppo.policy(), 20);
    assert!(mean > 400.0, "the pole stands for {mean} steps on average");
}

/// Everything that a later update depends on, through its file, and with other threads.
fn put_away_and_back(ppo: &Ppo, config: &Config, envs: Vec<Box<dyn Env>>, n_threads: usize) -> Ppo {
    let policy = Policy::from_safetensors(&ppo.policy().to_safetensors()).unwrap();
    let state = State::from_bytes(&ppo.state().to_bytes()).unwrap();
    assert_eq!(state, ppo.state());
    Ppo::restore(envs, config, 5, Team::new(n_threads), policy, &state).unwrap()
}

/// Environments of each kind of actions, with every setting that leaves something behind.
fn kinds() -> [(&'static str, Config); 4] {
    let config = Config {
        n_envs: 5,
        n_steps: 40,
        n_epochs: 2,
        batch_size: 150,
        learning_rate: Schedule::Linear(1e-3),
        clip_range: Schedule::Linear(0.2),
        clip_range_vf: Some(0.2),
        ent_coef: 0.01.into(),
        total_timesteps: 4_000,
        ..Config::default()
    };
    let normalized =
        Config { normalize_observation: true, normalize_reward: true, ..config.clone() };
    let relu = Config { activation: Activation::Relu, net_arch: vec![32, 16], ..config.clone() };
    let in_order = Config { episode_seeds: EpisodeSeeds::InOrder, ..config.clone() };
    [
        ("CartPole-v1", relu),
        ("CartPole-v1", in_order),
        ("AsteroidProspector-v0", config),
        ("Pendulum-v1", normalized),
    ]
}

fn envs(id: &str, n: usize) -> Vec<Box<dyn Env>> {
    (0..n).map(|_| cartridge_games::registry::make_env(id, &Default::default()).unwrap()).collect()
}

#[test]
fn an_interrupted_training_goes_on_as_if_it_had_not_been() {
    for (id, config) in kinds() {
        let make = || envs(id, config.n_envs);
        let mut whole = Ppo::new(make(), &config, 5, Team::new(1));
        let mut parts = Ppo::new(make(), &config, 5, Team::new(2));
        for update in 0..12 {
            if update == 4 {
                let old = config.learning_rate.at(whole.done());
                for ppo in [&mut whole, &mut parts] {
                    assert_eq!(ppo.tune(Knob::LearningRate, 1e-3), old);
                }
            }
            parts = put_away_and_back(&parts, &config, make(), 1 + update % 3);
            let (expected, found) = (whole.update(), parts.update());
            // Also where a figure is not a number.
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{id}, update {update}");
            assert_eq!(parts.policy().sha256(), whole.policy().sha256());
        }
        assert!(whole.n_episodes > 0, "{id}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for (id, config) in kinds() {
        let hashes = [1, 2, 4].map(|n_threads| {
            let mut ppo = Ppo::new(envs(id, config.n_envs), &config, 5, Team::new(n_threads));
            let updates: Vec<Update> = (0..6).map(|_| ppo.update()).collect();
            (ppo.policy().sha256(), format!("{updates:?}"))
        });
        assert_eq!(hashes[0], hashes[1], "{id}");
        assert_eq!(hashes[0], hashes[2], "{id}");
    }
}

#[test]
fn a_state_of_another_training_is_refused() {
    let config = Config { n_envs: 2, n_steps: 20, ..Config::default() };
    let mut ppo = Ppo::new(cart_poles(2), &config, 5, Team::new(1));
    ppo.update();
    let state = ppo.state();
    let restore = |envs, config: &Config, seed, policy: &Policy| {
        let restored = Ppo::restore(envs, config, seed, Team::new(1), policy.clone(), &state);
        restored.map(|_| ()).unwrap_err().to_string()
    };
    let message = restore(cart_poles(2), &config, 6, ppo.policy());
    assert!(message.contains("other seeds"), "{message}");
    let three = Config { n_envs: 3, ..config.clone() };
    let message = restore(cart_poles(3), &three, 5, ppo.policy());
    assert!(message.contains("another number of environments"), "{message}");
    let normalized = Config { normalize_reward: true, ..config.clone() };
    let message = restore(cart_poles(2), &normalized, 5, ppo.policy());
    assert!(message.contains("normalises something else"), "{message}");
    let other = Policy::new(7, 2, &mut fastrand::Rng::with_seed(1));
    let message = restore(cart_poles(2), &config, 5, &other);
    assert!(message.contains("does not fit the environment"), "{message}");
    let bytes = state.to_bytes();
    for cut in [0, 7, 9, 100, bytes.len() - 1] {
        assert!(State::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
}

/// Pays most for a number that is nine tenths of what is shown, and lasts for one step.
#[derive(Debug)]
struct Aim {
    rng: fastrand::Rng,
    shown: f32,
}

static AIM: EnvSpec = EnvSpec {
    id: "aim",
    actions: ActionSpace::Continuous { low: &[-1.0], high: &[1.0] },
    action_names: &["aim"],
    observation_names: &["shown"],
    ..SIGNS
};

impl Env for Aim {
    fn spec(&self) -> &'static EnvSpec {
        &AIM
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        if let Some(seed) = seed {
            self.rng = fastrand::Rng::with_seed(seed);
        }
        // Far from what networks like, unless it is normalised.
        self.shown = self.rng.f32() * 2.0 - 1.0;
        observation[0] = 500.0 + 100.0 * self.shown;
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        let number = action.numbers()[0];
        assert!((-1.0..=1.0).contains(&number), "numbers are held within bounds");
        let distance = f64::from(number - 0.9 * self.shown);
        observation[0] = 500.0;
        let reward = -1000.0 * distance * distance;
        Step { reward, terminated: true, truncated: false, ticks: 1, is_invalid: false }
    }

    fn scene(&self) -> Scene {
        Scene { view: [0.0, 0.0, 1.0, 1.0], shapes: Vec::new() }
    }
}

#[test]
fn numbers_are_learnt_with_everything_normalised() {
    let config = Config {
        n_envs: 8,
        n_steps: 64,
        learning_rate: 1e-3.into(),
        total_timesteps: 40_000,
        normalize_observation: true,
        normalize_reward: true,
        log_std_init: -0.5,
        ..Config::default()
    };
    let aim = || Aim { rng: fastrand::Rng::with_seed(0), shown: 0.0 };
    let envs = (0..8).map(|_| Box::new(aim()) as Box<dyn Env>).collect();
    let mut ppo = Ppo::new(envs, &config, 1, Team::new(2));
    let mut last = None;
    while !ppo.is_done() {
        last = Some(ppo.update());
    }
    for shown in [-0.8, 0.0, 0.8] {
        let chosen = ppo.policy().choose(&[500.0 + 100.0 * shown], &[], 1);
        let number = chosen.get(0).numbers()[0];
        assert!((number - 0.9 * shown).abs() < 0.1, "{shown} is answered with {number}");
    }
    let last = last.unwrap();
    let deviation = last.scalar(Metric::ActionDeviation).unwrap();
    assert!(deviation < 0.3, "it has become sure of itself: {deviation}");
    // An episode is one step, so what is expected is what is paid, in the environment's own unit.
    let paid = last.scalar(Metric::EpisodeReward).unwrap();
    let expected: f32 =
        [400.0, 450.0, 500.0, 550.0, 600.0].map(|x| ppo.policy().value(&[x])).iter().sum();
    let ratio = f64::from(expected / 5.0) / paid;
    assert!((0.5..2.0).contains(&ratio), "{} is expected, {paid} is paid", expected / 5.0);
    assert!(ppo.policy().value_scale().unwrap() > 5.0, "which is not that of learning");
}

#[test]
fn an_update_ends_when_the_policy_has_moved_far_enough() {
    let config = Config { learning_rate: 1e-2.into(), ..Config::default() };
    let measure = |target_kl| {
        let config = Config { target_kl, ..config.clone() };
        let mut ppo = Ppo::new(cart_poles(config.n_envs), &config, 1, Team::new(1));
        let update = ppo.update();
        (ppo.optimizers.actor.n_updates, update.scalar(Metric::Updates).unwrap())
    };
    assert_eq!(measure(None), (320, 10.0), "ten epochs of 32 minibatches");
    let (n_steps, n_epochs) = measure(Some(0.01));
    assert!((1..320).contains(&n_steps));
    // The epoch in which it ended counts.
    assert_eq!(n_epochs, f64::from(n_steps / 32 + 1));
}

/// Pays a number that is not one, in the third update.
#[derive(Debug)]
struct Breaks(CartPole, u32);

impl Env for Breaks {
    fn spec(&self) -> &'static EnvSpec {
        self.0.spec()
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        self.0.reset(seed, observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        self.1 += 1;
        let step = self.0.step(action, observation);
        let reward = if self.1 == 70 { f64::NAN } else { step.reward };
        Step { reward, ..step }
    }

    fn scene(&self) -> Scene {
        self.0.scene()
    }
}

#[test]
fn a_broken_number_leaves_the_weights_whole_and_is_kept() {
    let config = Config { n_envs: 2, n_steps: 32, ..Config::default() };
    let breaks = || Breaks(CartPole::new(cart_pole::Config::default()), 0);
    let envs = (0..2).map(|_| Box::new(breaks()) as Box<dyn Env>).collect();
    let mut ppo = Ppo::new(envs, &config, 1, Team::new(2));
    for _ in 0..2 {
        assert!(ppo.update().scalars.iter().all(|(_, value)| value.is_finite()));
        assert_eq!(ppo.fault(), None);
    }
    let before = ppo.policy().sha256();
    let update = ppo.update();
    assert!(update.scalar(Metric::Loss).unwrap().is_nan());
    assert_eq!(ppo.policy().sha256(), before, "no step was made with it");
    let fault = ppo.fault().unwrap();
    assert_eq!((fault.update, fault.step, fault.n_samples), (3, 192, 64));
    assert_eq!(Policy::from_safetensors(&fault.weights).unwrap().sha256(), before);
    let file = fault.to_bytes();
    let file = safetensors::SafeTensors::deserialize(&file).unwrap();
    assert_eq!(file.tensor("observations").unwrap().shape(), [64, 4]);
    let column = |name: &str| -> Vec<f32> {
        let numbers = file.tensor(name).unwrap().data().as_chunks::<4>().0;
        numbers.iter().map(|&x| f32::from_le_bytes(x)).collect()
    };
    assert!(column("returns").iter().any(|x| x.is_nan()), "it is among the samples");

    // What was kept is enough to break the same step again, and to see what broke it.
    let mut again =
        Ppo::new(cart_poles(2), &serde_json::from_str(&fault.config).unwrap(), 9, Team::new(1));
    again.policy = Policy::from_safetensors(&fault.weights).unwrap();
    again.step = fault.step;
    again.rollout.observations = column("observations");
    again.rollout.actions = column("actions").iter().map(|&x| x as u32).collect();
    again.rollout.log_probs = column("log_probs");
    again.rollout.values = column("values");
    again.rollout.advantages = column("advantages");
    again.rollout.returns = column("returns");
    let batch: Vec<usize> = (0..fault.n_samples).collect();
    let (tally, refusal) = again.learn_from(&batch, 0.2);
    assert!(tally.policy_loss.is_nan() && matches!(refusal, Some(Refusal::Broken)));
    assert_eq!(again.policy.sha256(), before);
    let Rollout { advantages, returns, .. } = &mut again.rollout;
    advantages.iter_mut().chain(returns).filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
    let (tally, refusal) = again.learn_from(&batch, 0.2);
    assert!(tally.gradient_norm.is_finite() && refusal.is_none(), "without it the step is made");
}

/// An action that has become as good as impossible, and was worth it: the loss and its slope are
/// clipped, the divergence is not.
#[test]
fn an_infinite_divergence_is_a_fault_and_no_reason_to_stop_early() {
    for target_kl in [None, Some(0.01)] {
        let config = Config {
            n_envs: 2,
            n_steps: 16,
            target_kl,
            normalize_advantage: false,
            ..Config::default()
        };
        let mut ppo = Ppo::new(cart_poles(2), &config, 1, Team::new(1));
        ppo.update();
        ppo.rollout.log_probs.fill(-1e30);
        ppo.rollout.advantages.fill(1.0);
        let before = ppo.policy().sha256();
        let update = ppo.learn();
        let found = |metric| update.iter().find(|(name, _)| *name == metric).unwrap().1;
        assert!(found(Metric::Loss).is_finite(), "{target_kl:?}");
        assert_eq!(found(Metric::ApproxKl), f64::INFINITY, "{target_kl:?}");
        assert!(ppo.fault().is_some(), "{target_kl:?}");
        assert_eq!(ppo.policy().sha256(), before, "{target_kl:?}");
    }
}
