use cartridge_games::registry::make_env;
use cartridge_games::{EnvAction, EnvSpec, Scene, Step, episode_seed};

use super::lesson::huber;
use super::*;

fn make(id: &str, n_envs: usize) -> Vec<Box<dyn Env>> {
    (0..n_envs).map(|_| make_env(id, &Default::default()).unwrap()).collect()
}

/// Small and quick, with learning from the first update on.
fn small() -> Config {
    Config { net_arch: vec![16], batch_size: 8, gradient_steps: 1, ..Config::default() }
}

#[test]
fn huber_by_hand() {
    for (error, loss) in
        [(0.0, 0.0), (0.5, 0.125), (-0.5, 0.125), (1.0, 0.5), (3.0, 2.5), (-2.0, 1.5)]
    {
        assert_eq!(huber(error), loss, "{error}");
    }
}

#[test]
fn the_best_legal_action() {
    #[track_caller]
    fn check(values: &[f32], mask: Option<&[bool]>, expected: usize) {
        assert_eq!(best_action(values, mask), expected);
    }
    check(&[1.0, 3.0, 3.0], None, 1);
    check(&[1.0, 3.0, 2.0], Some(&[true, false, true]), 2);
    check(&[1.0, 3.0, 1.0], Some(&[true, false, true]), 0);
    check(&[-1.0, -3.0, -2.0], Some(&[false, true, true]), 2);
    check(&[f32::NEG_INFINITY, 0.0], Some(&[true, false]), 0);
    check(&[1.0, 3.0], Some(&[false, false]), 0);
}

#[test]
fn exploration_falls_in_a_line() {
    let config = Config {
        exploration_initial_eps: 1.0,
        exploration_final_eps: 0.5,
        exploration_fraction: 0.25,
        total_timesteps: 1000,
        ..Config::default()
    };
    for (step, eps) in [(0, 1.0), (50, 0.9), (125, 0.75), (250, 0.5), (251, 0.5), (5000, 0.5)] {
        assert!((config.exploration(step) - eps).abs() < 1e-12, "{step}");
    }
    let at_once = Config { exploration_fraction: 0.0, ..config };
    assert_eq!(at_once.exploration(0), 0.5);
}

#[test]
fn a_target_follows_by_tau() {
    let network = |weight: f32, bias: f32| {
        let mut network = Mlp::zeros(&[1, 1], Activation::Relu);
        network.change(|parameters| parameters.copy_from_slice(&[weight, bias]));
        network
    };
    let mut target = network(1.0, -2.0);
    let team = &mut Team::new(1);
    follow(&mut target, &network(3.0, 2.0), 0.25, team);
    assert_eq!(target.parameters(), [1.5, -1.0]);
    follow(&mut target, &network(0.3, 0.7), 1.0, team);
    assert_eq!(target.parameters(), [0.3, 0.7]);
}

/// A network without hidden layers: of each action, its slope and what it is worth at zero.
fn lines(slopes: [f32; 2], biases: [f32; 2]) -> Mlp {
    let mut network = Mlp::zeros(&[1, 2], Activation::Relu);
    let [a, b] = [slopes, biases];
    network.change(|parameters| parameters.copy_from_slice(&[a[0], a[1], b[0], b[1]]));
    network
}

/// The gradient of what a shard has learnt.
fn gradient(network: &Mlp, shard: &mut Shard) -> Vec<f32> {
    let mut gradient = vec![f32::NAN; network.parameters().len()];
    let mut parts = [(&shard.judged[0].samples.observations[..], &mut shard.work)];
    network.gradient_together(&mut Team::new(1), &mut parts, &mut gradient);
    gradient
}

/// One step from 1 to 2 with action 1 and reward 3, which may end there.
#[track_caller]
fn check_lesson(config: &Config, is_masked: bool, end: End, expected_target: f32) {
    let shape = Shape { n_lanes: 1, n_observation: 1, n_actions: 2, is_masked };
    let mut replay = Replay::new(shape, 10, 0);
    replay.write_seen(0, 0, &[1.0], &[true, true]);
    replay.write_seen(1, 0, &[2.0], &[!is_masked, true]);
    replay.write(0, 0, 1, 3.0, end);
    if end == End::Truncated {
        replay.write_cut(0, 0, &[4.0], &[true, true]);
    }
    replay.advance();
    // At 2 the network prefers action 0 (6 over 5), and the target network values them with 5 and
    // 21; at 4 with 7 and 41.
    let network = lines([2.0, 1.0], [2.0, 3.0]);
    let target = lines([1.0, 10.0], [3.0, 1.0]);
    let lesson = Lesson {
        config,
        replay: &replay,
        network: &network,
        target: &target,
        worths: None,
        n_samples: 2,
    };
    let mut shard = Shard::default();
    shard.judge(&lesson, 1, |_| &[0]);
    shard.learn(&lesson, 0, &[0.5]);
    // Action 1 was expected to be worth 4.
    let error = 4.0 - expected_target;
    assert_eq!(shard.errors, [error]);
    assert_eq!((shard.values, shard.loss), (4.0, f64::from(0.5 * huber(error))));
    // Half the weight in a minibatch of two.
    let slope = 0.25 * error.clamp(-1.0, 1.0);
    assert_eq!(gradient(&network, &mut shard), [0.0, slope, 0.0, slope]);
}

#[test]
fn targets_by_hand() {
    let plain = Config { gamma: 0.5, ..Config::default() };
    let double = Config { double_q: true, ..plain.clone() };
    check_lesson(&plain, false, End::No, 3.0 + 0.5 * 21.0);
    check_lesson(&double, false, End::No, 3.0 + 0.5 * 5.0);
    check_lesson(&plain, true, End::No, 3.0 + 0.5 * 21.0);
    check_lesson(&double, true, End::No, 3.0 + 0.5 * 21.0);
    check_lesson(&plain, false, End::Terminated, 3.0);
    check_lesson(&double, true, End::Terminated, 3.0);
    check_lesson(&plain, false, End::Truncated, 3.0 + 0.5 * 41.0);
    check_lesson(&double, true, End::Truncated, 3.0 + 0.5 * 7.0);
}

#[test]
fn the_gradient_equals_finite_differences() {
    for double_q in [false, true] {
        let config = Config {
            net_arch: vec![5, 4],
            // Smooth, so that differences say something.
            activation: Activation::Tanh,
            double_q,
            learning_starts: 1_000_000,
            n_steps: 2,
            ..small()
        };
        let mut dqn = Dqn::new(make("CartPole-v1", 1), &config, 3, Team::new(1));
        dqn.update();
        let transitions: Vec<u64> = (0..20).map(|at| at * 17).collect();
        let weights: Vec<f32> = (0..20).map(|at| 0.3 + 0.05 * at as f32).collect();
        let learn = |network: &Mlp| {
            let Dqn { config, replay, target, .. } = &dqn;
            let lesson = Lesson { config, replay, network, target, worths: None, n_samples: 20 };
            let mut shard = Shard::default();
            shard.judge(&lesson, 1, |_| &transitions);
            shard.learn(&lesson, 0, &weights);
            shard
        };
        let gradient = gradient(&dqn.network, &mut learn(&dqn.network));
        assert!(gradient.iter().any(|x| x.abs() > 0.01));
        for (index, &slope) in gradient.iter().enumerate() {
            let loss = |change: f32| {
                let mut network = dqn.network.clone();
                network.change(|parameters| parameters[index] += change);
                learn(&network).loss / 20.0
            };
            let expected = (loss(5e-3) - loss(-5e-3)) / 1e-2;
            assert!((f64::from(slope) - expected).abs() < 2e-4, "{index}: {slope}, {expected}");
        }
    }
}

#[test]
fn minibatches_judged_together_are_learnt_from_one_by_one() {
    let config = Config { batch_size: 40, learning_starts: 1_000_000, ..small() };
    let [together, apart] = [&[3, 1, N_AHEAD][..], &[1; 4 + N_AHEAD]].map(|rounds| {
        let mut dqn = Dqn::new(make("CartPole-v1", 1), &config, 3, Team::new(2));
        dqn.update();
        let mut tally = Tally::default();
        rounds.iter().for_each(|&n| dqn.learn(n, &mut tally));
        (dqn.network.parameters().to_vec(), tally.n, tally.loss, dqn.n_gradient_steps)
    });
    assert_eq!(together, apart);
}

#[test]
fn what_the_target_thought_is_remembered_to_the_last_bit() {
    // A small ring, so that places are used again; a target that follows often and by halves.
    let config = Config {
        batch_size: 40,
        buffer_size: 300,
        learning_starts: 50,
        target_update_interval: 60,
        tau: 0.5,
        n_envs: 3,
        ..small()
    };
    for (env_id, prioritized_replay) in
        [("CartPole-v1", false), ("CartPole-v1", true), ("AsteroidProspector-v0", false)]
    {
        let config = Config { prioritized_replay, ..config.clone() };
        let [remembering, asking] = [true, false].map(|is_remembering| {
            let mut dqn = Dqn::new(make(env_id, 3), &config, 3, Team::new(2));
            dqn.worths = dqn.worths.filter(|_| is_remembering);
            (0..3).for_each(|_| drop(dqn.update()));
            let known = |worths: &Worths| {
                (0..dqn.replay.n_slots()).filter(|&slot| worths.get(slot).is_some()).count()
            };
            let n_known = dqn.worths.as_ref().map_or(0, known);
            assert_eq!(n_known > 0, is_remembering, "{n_known}");
            (dqn.network.parameters().to_vec(), dqn.n_gradient_steps)
        });
        assert!(remembering == asking, "{env_id}, prioritized: {prioritized_replay}");
    }
}

#[test]
fn values_are_forgotten_with_their_target_and_their_transition() {
    let mut worths = Worths::new();
    worths.set(2, 1.0);
    assert_eq!(worths.get(2), None, "nothing is there yet");
    (0..4).for_each(|slot| worths.begin(slot));
    worths.set(2, -1.5);
    worths.set(3, f32::NAN);
    assert_eq!(worths.get(2), Some(-1.5));
    assert!(worths.get(3).is_some_and(f32::is_nan));
    assert_eq!(worths.get(1), None);
    worths.begin(2);
    assert_eq!(worths.get(2), None);
    worths.set(2, 0.0);
    worths.forget();
    assert_eq!((worths.get(2), worths.get(3)), (None, None));
}

#[test]
fn shards_make_up_the_minibatch() {
    // Three whole ones and a part of one; weights differ, and errors are noted.
    let config =
        Config { batch_size: 100, prioritized_replay: true, learning_starts: 1_000_000, ..small() };
    let mut dqn = Dqn::new(make("CartPole-v1", 1), &config, 3, Team::new(2));
    dqn.update();
    for transition in dqn.replay.transitions() {
        let priority = 0.5 + (transition % 7) as f32;
        let slot = dqn.replay.slot(transition);
        dqn.priorities.as_mut().unwrap().set(slot, priority);
    }
    let before = dqn.network.clone();
    let mut tally = Tally::default();
    dqn.learn(1, &mut tally);
    let Dqn { config, replay, target, learner, priorities, .. } = &dqn;
    let lesson = Lesson { config, replay, network: &before, target, worths: None, n_samples: 100 };
    let mut whole = Shard::default();
    whole.judge(&lesson, 1, |_| &learner.drawn);
    whole.learn(&lesson, 0, &learner.weights);
    assert_eq!(learner.gradient, gradient(&before, &mut whole), "the same bits, however it is cut");
    assert!((tally.loss - whole.loss / 100.0).abs() < 1e-9);
    assert!((tally.values - whole.values / 100.0).abs() < 1e-9);
    assert!(whole.errors.iter().all(|&error| error != 0.0));
    // The last of equals counts.
    for (index, &transition) in learner.drawn.iter().enumerate() {
        if !learner.drawn[index + 1..].contains(&transition) {
            let found = priorities.as_ref().unwrap().get(replay.slot(transition));
            let expected = priorities::priority(whole.errors[index], 0.6, 1e-6);
            assert!((found - expected).abs() < 1e-5, "{found}, {expected}");
        }
    }
}

#[test]
fn unknown_settings_are_refused() {
    let config: Config = serde_json::from_str(r#"{"learning_rate": "lin_0.001"}"#).unwrap();
    let expected = Config { learning_rate: Schedule::Linear(0.001), ..Config::default() };
    assert_eq!(config, expected);
    let error = serde_json::from_str::<Config>(r#"{"train_frequency": 4}"#).unwrap_err();
    assert!(error.to_string().starts_with("unknown field `train_frequency`"), "{error}");
}

/// Three places in a row. Action 1 goes right, and beyond the last place earns 1 and ends; action
/// 0 goes left, which is not legal in the first place. After four steps the time is over, which
/// nobody sees coming.
#[derive(Debug)]
struct Corridor {
    place: usize,
    n_steps: u32,
}

static CORRIDOR: EnvSpec = EnvSpec {
    id: "corridor",
    name: "Corridor",
    version: 1,
    observation: 3,
    actions: ActionSpace::Discrete(2),
    max_steps: 4,
    is_masked: true,
    quit_action: None,
    reward_threshold: None,
    frames_per_second: 1,
    action_names: &["left", "right"],
    observation_names: &["first", "second", "third"],
    controls: None,
};

impl Corridor {
    fn show(&self, observation: &mut [f32]) {
        observation.fill(0.0);
        observation[self.place.min(2)] = 1.0;
    }
}

impl Env for Corridor {
    fn spec(&self) -> &'static EnvSpec {
        &CORRIDOR
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        self.place = seed.unwrap_or(0) as usize % 3;
        self.n_steps = 0;
        self.show(observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        match action.index() {
            0 => self.place = self.place.checked_sub(1).expect("the mask was used"),
            _ => self.place += 1,
        }
        self.n_steps += 1;
        self.show(observation);
        let terminated = self.place == 3;
        Step {
            reward: f64::from(u8::from(terminated)),
            terminated,
            truncated: self.n_steps == CORRIDOR.max_steps,
            ticks: 1,
            is_invalid: false,
        }
    }

    fn legal_actions(&self, mask: &mut [bool]) {
        mask.copy_from_slice(&[self.place > 0, true]);
    }

    fn scene(&self) -> Scene {
        Scene { view: [0.0, 0.0, 1.0, 1.0], shapes: Vec::new() }
    }
}

fn corridors(n_envs: usize) -> Vec<Box<dyn Env>> {
    let corridor = || Corridor { place: 0, n_steps: 0 };
    (0..n_envs).map(|_| Box::new(corridor()) as Box<dyn Env>).collect()
}

/// With gamma 1/2 going right is worth 1/4, 1/2 and 1, and going left from the second and third
/// place half of what going right is worth one place before. Time has no part in it, because an
/// episode that was only truncated goes on in the values.
#[test]
fn solves_a_task_with_known_values() {
    let plain = Config {
        n_envs: 4,
        net_arch: vec![32],
        learning_rate: Schedule::Linear(5e-3),
        gamma: 0.5,
        exploration_final_eps: 0.5,
        target_update_interval: 64,
        total_timesteps: 12_000,
        ..Config::default()
    };
    let variants = [
        plain.clone(),
        Config { double_q: true, tau: 0.5, ..plain.clone() },
        Config { prioritized_replay: true, buffer_size: 2000, ..plain.clone() },
        Config { batch_size: 70, gradient_steps: 2, ..plain },
    ];
    for config in variants {
        let mut dqn = Dqn::new(corridors(4), &config, 1, Team::new(1));
        while !dqn.is_done() {
            dqn.update();
        }
        let observations = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut work = Workspace::default();
        let values = dqn.q_network().forward(observations.as_flattened(), 3, &mut work);
        for (found, expected) in values[1..].iter().zip([0.25, 0.125, 0.5, 0.25, 1.0]) {
            assert!((found - expected).abs() < 0.03, "{values:?} with {config:?}");
        }
    }
}

/// Gradient steps after the first update.
#[track_caller]
fn check_gradient_steps(config: &Config, expected: f64) {
    let envs = make("CartPole-v1", config.n_envs);
    let mut dqn = Dqn::new(envs, config, 1, Team::new(1));
    let update = dqn.update();
    assert_eq!(update.step, config.steps_per_update() as u64);
    assert_eq!(update.scalar(Metric::Updates), Some(expected));
    assert_eq!(update.scalar(Metric::Loss).is_some(), expected > 0.0);
}

#[test]
fn learning_follows_the_steps_as_in_stable_baselines() {
    let slow = Config { train_freq: 256, gradient_steps: 12, learning_starts: 1000, ..small() };
    // After 256, 512, 768 and 1024 steps; only the last is beyond the start.
    check_gradient_steps(&slow, 12.0);
    check_gradient_steps(&Config { learning_starts: 1024, ..slow.clone() }, 0.0);
    check_gradient_steps(&Config { learning_starts: 0, ..slow }, 48.0);
    // 86 times four steps of three environments, as many gradient steps each time.
    let all = Config { n_envs: 3, gradient_steps: -1, learning_starts: 0, ..small() };
    check_gradient_steps(&all, 86.0 * 12.0);
    let intervals = |target_update_interval, n_envs| {
        Config { target_update_interval, n_envs, ..Config::default() }.target_interval()
    };
    assert_eq!([intervals(10, 1), intervals(10, 3), intervals(2, 5)], [10, 3, 1]);
}

#[test]
fn the_last_update_ends_with_the_training() {
    let config = Config { total_timesteps: 1030, learning_starts: 2000, ..small() };
    let mut dqn = Dqn::new(make("CartPole-v1", 1), &config, 1, Team::new(1));
    assert_eq!((dqn.update().step, dqn.is_done()), (1024, false));
    assert_eq!((dqn.update().step, dqn.is_done()), (1032, true));
}

#[test]
fn the_target_follows_in_its_time() {
    let config = Config { learning_starts: 0, target_update_interval: 1024, ..small() };
    let mut dqn = Dqn::new(make("CartPole-v1", 1), &config, 1, Team::new(1));
    let before = dqn.target.parameters().to_vec();
    let mut almost = None;
    // The last steps of the update come before its last learning, so the target has what the
    // network was one gradient step earlier.
    for round in 0..256 {
        for _ in 0..4 {
            assert_eq!(dqn.target.parameters(), before, "not before its time");
            dqn.act();
            dqn.advance(&mut Vec::new());
        }
        if round == 255 {
            almost = Some(dqn.network.parameters().to_vec());
        }
        dqn.learn(1, &mut Tally::default());
    }
    assert_eq!(Some(dqn.target.parameters()), almost.as_deref());
    assert_ne!(dqn.target.parameters(), dqn.network.parameters());
}

#[test]
fn an_update_reports_finite_numbers() {
    let mut dqn = Dqn::new(make("CartPole-v1", 1), &small(), 1, Team::new(1));
    let update = dqn.update();
    let names: Vec<&str> = update.scalars.iter().map(|(metric, _)| metric.name()).collect();
    assert_eq!(
        names,
        [
            "rollout/ep_rew_mean",
            "rollout/ep_len_mean",
            "rollout/exploration_rate",
            "train/learning_rate",
            "train/n_updates",
            "train/loss",
            "train/q_values",
            "train/grad_norm",
        ]
    );
    assert!(update.scalars.iter().all(|(_, value)| value.is_finite()), "{:?}", update.scalars);
}

#[test]
fn episodes_are_counted_and_seeded_in_order() {
    let config = Config { n_envs: 3, total_timesteps: 3000, ..small() };
    let mut dqn = Dqn::new(make("CartPole-v1", 3), &config, 9, Team::new(1));
    let mut episodes = Vec::new();
    while !dqn.is_done() {
        episodes.extend(dqn.update().episodes);
    }
    assert!(episodes.len() > 50);
    assert!(episodes.is_sorted_by_key(|end| (end.step, end.lane)));
    let mut n_resets = [0; 3];
    let mut last_steps = [0; 3];
    for (index, end) in episodes.iter().enumerate() {
        assert_eq!(end.episode, index as u64 + 1);
        let lane = end.lane as usize;
        assert_eq!(end.seed, episode_seed(9, Stream::Train, end.lane, n_resets[lane]));
        assert_eq!(end.step - last_steps[lane], 3 * u64::from(end.length));
        assert_eq!(end.reward, f64::from(end.length));
        assert_eq!(end.actions.len(), end.length as usize);
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
        total_timesteps: 3000,
        ..small()
    };
    let mut dqn = Dqn::new(make("CartPole-v1", 3), &config, 9, Team::new(1));
    let mut episodes = Vec::new();
    while !dqn.is_done() {
        episodes.extend(dqn.update().episodes);
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

/// Pays what it is told to in its 1100th step, which belongs to the second update.
#[derive(Debug)]
struct Breaks(Corridor, u32, f64);

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
        let reward = if self.1 == 1100 { self.2 } else { step.reward };
        Step { reward, ..step }
    }

    fn legal_actions(&self, mask: &mut [bool]) {
        self.0.legal_actions(mask);
    }

    fn scene(&self) -> Scene {
        self.0.scene()
    }
}

#[test]
fn a_broken_number_leaves_the_weights_whole_and_is_kept() {
    for broken in [f64::NAN, f64::INFINITY] {
        // A ring of 40 steps, so that the step is drawn before it is written over.
        let config =
            Config { batch_size: 50, buffer_size: 40, prioritized_replay: true, ..small() };
        let env = Breaks(Corridor { place: 0, n_steps: 0 }, 0, broken);
        let mut dqn = Dqn::new(vec![Box::new(env)], &config, 1, Team::new(2));
        assert!(dqn.update().scalars.iter().all(|(_, value)| value.is_finite()));
        assert_eq!(dqn.fault(), None);
        let update = dqn.update();
        assert!(!update.scalar(Metric::Loss).unwrap().is_finite());
        assert_eq!(update.step, dqn.step(), "nothing is played with what is broken");
        let fault = dqn.fault().unwrap();
        assert!(fault.step == dqn.step() && (1100..1140).contains(&fault.step));
        assert_eq!(fault.update, 2);
        assert!(dqn.network.parameters().iter().all(|x| x.is_finite()));
        let before = Policy::from_safetensors(&fault.weights).unwrap();
        assert_eq!(before.sha256(), dqn.policy().sha256());
        let file = fault.to_bytes();
        let file = safetensors::SafeTensors::deserialize(&file).unwrap();
        for (name, width) in [
            ("observations", 3),
            ("actions", 1),
            ("discounts", 1),
            ("next_observations", 3),
            ("next_masks", 2),
            ("targets", 1),
            ("weights", 1),
        ] {
            assert_eq!(file.tensor(name).unwrap().shape(), [50, width], "{name}");
        }
        let column = |name: &str| -> Vec<f32> {
            let numbers = file.tensor(name).unwrap().data().as_chunks::<4>().0;
            numbers.iter().map(|&x| f32::from_le_bytes(x)).collect()
        };
        // What was kept is enough to break the loss again, and to see which samples did.
        let [actions, returns, targets, weights] =
            ["actions", "returns", "targets", "weights"].map(column);
        let mut work = Workspace::default();
        let values = before.actor.forward(&column("observations"), fault.n_samples, &mut work);
        let loss = |sample: usize| {
            let error = values[sample * 2 + actions[sample] as usize] - targets[sample];
            weights[sample] * huber(error)
        };
        let is_broken = |sample: &usize| !loss(*sample).is_finite();
        let broken: Vec<usize> = (0..fault.n_samples).filter(is_broken).collect();
        assert!(!broken.is_empty(), "it is among the samples");
        assert!(broken.iter().all(|&sample| !returns[sample].is_finite()), "by that reward alone");
    }
}

/// The bits of a network.
fn bits(network: &Mlp) -> Vec<u32> {
    network.parameters().iter().map(|x| x.to_bits()).collect()
}

#[test]
fn the_same_seed_replays_exactly_on_any_number_of_threads() {
    let run = |seed_base, n_threads, (net_arch, prioritized_replay): (&[usize], bool)| {
        let config = Config {
            net_arch: net_arch.to_vec(),
            // Three whole shards and a part of one.
            batch_size: 100,
            prioritized_replay,
            total_timesteps: 2_500,
            ..small()
        };
        let envs = make("CartPole-v1", 1);
        let mut dqn = Dqn::new(envs, &config, seed_base, Team::new(n_threads));
        let mut updates = Vec::new();
        while !dqn.is_done() {
            updates.push(dqn.update());
        }
        (bits(dqn.q_network()), updates)
    };
    // Two threads keep halves of a network that is wide.
    let wide = [128, 128];
    for kind in [(&[16][..], false), (&[16], true), (&wide, false), (&wide, true)] {
        let alone = run(5, 1, kind);
        for n_threads in [1, 2, 4] {
            assert_eq!(run(5, n_threads, kind), alone, "{kind:?}, {n_threads} threads");
        }
        assert_ne!(run(6, 1, kind).0, alone.0);
    }
}

/// What is recorded of an episode.
fn record(end: &EpisodeEnd) -> RecordedEpisode {
    RecordedEpisode {
        lane: end.lane,
        seed: end.seed,
        actions: end.actions.clone(),
        end_step: end.step,
    }
}

/// A training that is put away through its file before every update, beside one that is not.
#[track_caller]
fn check_interrupted(envs: fn() -> Vec<Box<dyn Env>>, config: &Config, n_updates: usize) {
    let mut whole = Dqn::new(envs(), config, 5, Team::new(1));
    let mut parts = Dqn::new(envs(), config, 5, Team::new(1));
    let mut recorded = Vec::new();
    for update in 0..n_updates {
        if update == 2 {
            for dqn in [&mut whole, &mut parts] {
                assert_eq!(dqn.tune_learning_rate(2e-3), config.learning_rate.start());
            }
        }
        let state = State::from_bytes(&parts.state().to_bytes()).unwrap();
        assert_eq!(state, parts.state());
        // In any order, with episodes that are not needed.
        let episodes = recorded.iter().rev().cloned();
        let network = parts.network.clone();
        let team = Team::new(1 + update % 2);
        parts = Dqn::restore(envs(), config, 5, team, network, &state, episodes).unwrap();
        assert_eq!(parts.replay, whole.replay, "update {update}");
        assert_eq!(parts.priorities, whole.priorities, "update {update}");
        let (expected, found) = (whole.update(), parts.update());
        // As text, so that what is not a number equals itself.
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "update {update}");
        assert_eq!(bits(parts.q_network()), bits(whole.q_network()), "update {update}");
        recorded.extend(expected.episodes.iter().map(record));
    }
    assert!(whole.n_episodes > 0 && whole.n_gradient_steps > 0);
}

#[test]
fn an_interrupted_training_goes_on_as_if_it_had_not_been() {
    let plain = Config { n_envs: 3, total_timesteps: 10_000, ..small() };
    check_interrupted(|| make("CartPole-v1", 3), &plain, 6);
    // Every other part on two threads, which keep halves of it.
    let wide = Config { net_arch: vec![128, 128], ..plain.clone() };
    check_interrupted(|| make("CartPole-v1", 3), &wide, 6);
    // A ring that is written over in every update.
    let short = Config { buffer_size: 700, n_steps: 3, ..plain.clone() };
    check_interrupted(|| make("CartPole-v1", 3), &short, 6);
    check_interrupted(|| corridors(3), &short, 4);
    let in_order = Config { episode_seeds: EpisodeSeeds::InOrder, ..short.clone() };
    check_interrupted(|| make("CartPole-v1", 3), &in_order, 6);
    // Every episode is truncated, some of them in the ring and some not.
    let prioritized = Config { prioritized_replay: true, ..short.clone() };
    check_interrupted(|| make("MountainCar-v0", 3), &prioritized, 6);
    // Solved together while training, one by one while the ring is filled.
    check_interrupted(|| make("LunarLander-v3", 3), &short, 4);
    let masked = Config { prioritized_replay: true, double_q: true, ..plain };
    check_interrupted(|| make("AsteroidProspector-v0", 3), &masked, 3);
}

#[test]
fn the_greatest_priority_outlives_its_transition() {
    let config = Config { prioritized_replay: true, ..small() };
    let mut dqn = Dqn::new(make("CartPole-v1", 1), &config, 5, Team::new(1));
    let episodes: Vec<RecordedEpisode> = dqn.update().episodes.iter().map(record).collect();
    let tree = dqn.priorities.as_mut().unwrap();
    tree.set(3, 50.0);
    dqn.replay.transitions().for_each(|at| tree.set(dqn.replay.slot(at), 0.25));
    let (envs, network, state) = (make("CartPole-v1", 1), dqn.network.clone(), dqn.state());
    let episodes = episodes.into_iter();
    let restored = Dqn::restore(envs, &config, 5, Team::new(1), network, &state, episodes).unwrap();
    assert_eq!(restored.priorities, dqn.priorities);
    assert_eq!(restored.priorities.unwrap().greatest(), 50.0);
}

#[test]
fn a_state_of_another_training_is_refused() {
    let config = Config { n_envs: 2, buffer_size: 600, ..small() };
    let mut dqn = Dqn::new(make("CartPole-v1", 2), &config, 5, Team::new(1));
    let episodes: Vec<RecordedEpisode> = dqn.update().episodes.iter().map(record).collect();
    let state = dqn.state();
    assert_eq!(state.first_step_needed(&config), 1024 - 600);
    let restore = |config: &Config, seed, episodes: &[RecordedEpisode]| {
        let envs = make("CartPole-v1", config.n_envs);
        let network = dqn.network.clone();
        let episodes = episodes.iter().cloned();
        Dqn::restore(envs, config, seed, Team::new(1), network, &state, episodes)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let check = |result: Result<(), String>, expected: &str| {
        let message = result.unwrap_err();
        assert!(message.contains(expected), "{message}");
    };
    restore(&config, 5, &episodes).unwrap();
    check(restore(&config, 6, &episodes), "other seeds");
    let three = Config { n_envs: 3, ..config.clone() };
    check(restore(&three, 5, &episodes), "another number of environments");
    let wide = Config { net_arch: vec![17], ..config.clone() };
    check(restore(&wide, 5, &episodes), "its network does not fit");
    let prioritized = Config { prioritized_replay: true, ..config.clone() };
    check(restore(&prioritized, 5, &episodes), "prioritised replay");

    // Only what is in the ring is needed, and all of that.
    let is_needed =
        |episode: &&RecordedEpisode| episode.end_step > state.first_step_needed(&config);
    let needed: Vec<RecordedEpisode> = episodes.iter().filter(is_needed).cloned().collect();
    assert!(needed.len() < episodes.len());
    restore(&config, 5, &needed).unwrap();
    check(restore(&config, 5, &needed[1..]), "are in no recorded episode");
    let mut twice = needed.clone();
    twice.push(needed[1].clone());
    check(restore(&config, 5, &twice), "two episodes of lane");
    let mut other = needed.clone();
    other[3].actions = Actions::Discrete(vec![0; 3]);
    check(restore(&config, 5, &other), "has not ended after its last action");
    other[3].actions = Actions::Discrete(vec![7]);
    check(restore(&config, 5, &other), "cannot go on");
    other[3].lane = 8;
    check(restore(&config, 5, &other), "is of another number of environments");

    let bytes = state.to_bytes();
    for cut in [0, 7, 9, 100, bytes.len() - 1] {
        assert!(State::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
}

/// The mean return of the best actions over seeds that were never trained on.
fn evaluate(network: &Mlp, n_episodes: u64) -> f64 {
    let mut env = make("CartPole-v1", 1).remove(0);
    let (mut total, mut work) = (0.0, Workspace::default());
    for episode in 0..n_episodes {
        let mut observation = [0.0; 4];
        env.reset(Some(episode_seed(0, Stream::Evaluation, 0, episode)), &mut observation);
        loop {
            let values = network.forward(&observation, 1, &mut work);
            let step = env.step(Action(best_action(values, None)).into(), &mut observation);
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
    let config = Config {
        learning_rate: Schedule::Linear(2e-3),
        buffer_size: 100_000,
        learning_starts: 1000,
        batch_size: 64,
        tau: 0.05,
        n_envs: 4,
        train_freq: 2,
        gradient_steps: 8,
        n_steps: 5,
        target_update_interval: 8,
        exploration_fraction: 0.16,
        exploration_final_eps: 0.04,
        double_q: true,
        total_timesteps: 25_000,
        ..Config::default()
    };
    let mut dqn = Dqn::new(make("CartPole-v1", 4), &config, 1, Team::new(1));
    while !dqn.is_done() {
        dqn.update();
    }
    let mean = evaluate(dqn.q_network(), 20);
    assert!(mean > 400.0, "the pole stands for {mean} steps on average");
}
