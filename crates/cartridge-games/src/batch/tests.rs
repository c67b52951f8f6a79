use serde_json::Map;

use super::*;
use crate::env::AnyAction;
use crate::registry::{environments, make_env};

fn batch(id: &str, n_lanes: usize) -> EnvBatch {
    let envs = (0..n_lanes).map(|_| make_env(id, &Map::new()).unwrap()).collect();
    EnvBatch::new(envs, 42, Stream::Train)
}

/// The actions of every lane of a batch.
enum Chosen {
    Discrete(Vec<Action>),
    Continuous(Vec<f32>),
}

impl Chosen {
    /// Legal actions that depend on lane and time alone, so that they are the same in every split.
    fn new(spec: &EnvSpec, masks: &[bool], first: usize, time: usize) -> Self {
        let masks = masks.chunks(spec.actions.size()).enumerate();
        let actions = masks.map(|(lane, mask)| {
            let seed = 1_000_003 * (first + lane) + time;
            spec.actions.sample(mask, &mut fastrand::Rng::with_seed(seed as u64))
        });
        let (mut chosen, mut numbers) = (Vec::new(), Vec::new());
        for action in actions {
            match action {
                AnyAction::Discrete(action) => chosen.push(action),
                AnyAction::Continuous(all) => numbers.extend(all),
            }
        }
        if spec.actions.is_discrete() { Self::Discrete(chosen) } else { Self::Continuous(numbers) }
    }

    fn all(&self) -> EnvActions<'_> {
        match self {
            Self::Discrete(actions) => EnvActions::Discrete(actions),
            Self::Continuous(numbers) => EnvActions::Continuous(numbers),
        }
    }

    fn of(&self, lane: usize, size: usize) -> EnvAction<'_> {
        match self {
            Self::Discrete(actions) => EnvAction::Discrete(actions[lane]),
            Self::Continuous(numbers) => EnvAction::Continuous(&numbers[lane * size..][..size]),
        }
    }
}

/// What one lane sees, as bits, and what it earns.
type History = Vec<(Vec<u32>, u64, bool, bool, u32)>;

/// Steps a batch, whose first lane has the number `first`, and returns each lane's history.
fn histories(mut batch: EnvBatch, first: usize, n_steps: usize) -> Vec<History> {
    let width = batch.spec().observation;
    let mut buffers = OwnedBuffers::new(&batch);
    let mut histories = vec![History::new(); batch.n_lanes()];
    batch.reset(&mut buffers.borrow());
    for time in 0..n_steps {
        let actions = Chosen::new(batch.spec(), &buffers.masks, first, time);
        batch.step(actions.all(), &mut buffers.borrow());
        for (lane, history) in histories.iter_mut().enumerate() {
            let seen = &buffers.observations[lane * width..(lane + 1) * width];
            history.push((
                seen.iter().map(|x| x.to_bits()).collect(),
                buffers.rewards[lane].to_bits(),
                buffers.terminated[lane],
                buffers.truncated[lane],
                buffers.ticks[lane],
            ));
        }
    }
    histories
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for spec in environments() {
        // Of mechanisms two full groups and a part of one are solved side by side.
        let is_mechanism = make_env(spec.id, &Map::new()).unwrap().mechanism().is_some();
        let n_lanes = if is_mechanism { 67 } else { 7 };
        let whole = histories(batch(spec.id, n_lanes), 0, 300);
        for n_parts in [1, 2, 3, 16] {
            let mut first = 0;
            let mut handles = Vec::new();
            for part in batch(spec.id, n_lanes).split(n_parts) {
                let n_lanes = part.n_lanes();
                handles.push(std::thread::spawn(move || histories(part, first, 300)));
                first += n_lanes;
            }
            let parts = handles.into_iter().flat_map(|handle| handle.join().unwrap());
            assert_eq!(parts.collect::<Vec<_>>(), whole, "{} in {n_parts} parts", spec.id);
        }
    }
}

/// Steps a batch beside environments that are driven one by one.
#[test]
fn a_batch_is_its_environments() {
    for spec in environments() {
        let mut batch = batch(spec.id, 3);
        let (width, n_actions) = (spec.observation, spec.actions.size());
        let mut buffers = OwnedBuffers::new(&batch);
        batch.reset(&mut buffers.borrow());
        let mut env = make_env(spec.id, &Map::new()).unwrap();
        let mut seen = vec![0.0; width];
        let mut mask = vec![false; n_actions];
        let mut n_episodes = 0;
        env.reset(Some(episode_seed(42, Stream::Train, 1, 0)), &mut seen);
        for time in 0.. {
            env.legal_actions(&mut mask);
            assert_eq!(buffers.observations[width..2 * width], seen);
            assert_eq!(buffers.masks[n_actions..2 * n_actions], mask);
            let actions = Chosen::new(spec, &buffers.masks, 0, time);
            batch.step(actions.all(), &mut buffers.borrow());
            let step = env.step(actions.of(1, n_actions), &mut seen);
            assert_eq!((buffers.rewards[1], buffers.ticks[1]), (step.reward, step.ticks));
            assert_eq!(
                (buffers.terminated[1], buffers.truncated[1]),
                (step.terminated, step.truncated)
            );
            if step.is_end() {
                n_episodes += 1;
                if n_episodes > 5 {
                    break;
                }
                assert_eq!(batch.last_observation(1), seen);
                env.legal_actions(&mut mask);
                assert_eq!(batch.last_mask(1), mask);
                assert_eq!(batch.n_resets(1), n_episodes + 1);
                assert_eq!(batch.env(1).episode_metrics(), env.episode_metrics());
                env.reset(Some(episode_seed(42, Stream::Train, 1, n_episodes)), &mut seen);
                assert_eq!(batch.seed(1), episode_seed(42, Stream::Train, 1, n_episodes));
            }
        }
    }
}

#[test]
fn lanes_are_put_back_into_their_episodes() {
    for spec in environments() {
        let (width, n_actions) = (spec.observation, spec.actions.size());
        let (mut whole, mut parts) = (batch(spec.id, 3), batch(spec.id, 3));
        let mut buffers = OwnedBuffers::new(&whole);
        let mut other = buffers.clone();
        let mut episodes: Vec<(Actions, f64)> = vec![(Actions::new(&spec.actions), 0.0); 3];
        whole.reset(&mut buffers.borrow());
        parts.reset(&mut other.borrow());
        for time in 0..300 {
            if time % 70 == 0 {
                let mut again = batch(spec.id, 3);
                for (lane, (actions, reward)) in episodes.iter().enumerate() {
                    let observation = &mut other.observations[lane * width..][..width];
                    let mask = &mut other.masks[lane * n_actions..][..n_actions];
                    let n_before = parts.n_resets(lane) - 1;
                    let found = again.resume(
                        lane,
                        (n_before, parts.seed(lane)),
                        actions,
                        observation,
                        mask,
                    );
                    assert_eq!(found, Some(*reward), "{} at {time}", spec.id);
                }
                parts = again;
                assert_eq!(other, buffers, "{} at {time}", spec.id);
            }
            let actions = Chosen::new(spec, &buffers.masks, 0, time);
            whole.step(actions.all(), &mut buffers.borrow());
            parts.step(actions.all(), &mut other.borrow());
            assert_eq!(other, buffers, "{} at {time}", spec.id);
            for (lane, (taken, reward)) in episodes.iter_mut().enumerate() {
                taken.push(actions.of(lane, n_actions));
                *reward += buffers.rewards[lane];
                if buffers.terminated[lane] || buffers.truncated[lane] {
                    assert_eq!(parts.last_seed(lane), whole.last_seed(lane));
                    (*taken, *reward) = (Actions::new(&spec.actions), 0.0);
                }
            }
            assert_eq!(parts.seed(2), whole.seed(2));
        }
    }
}

#[test]
#[should_panic(expected = "a batch is of one kind")]
fn landers_with_other_actions_are_of_another_kind() {
    let continuous = Map::from_iter([("continuous".to_owned(), true.into())]);
    let envs =
        [Map::new(), continuous].map(|options| make_env("LunarLander-v3", &options).unwrap());
    EnvBatch::new(envs.into(), 42, Stream::Train);
}

#[test]
#[should_panic(expected = "one action per lane")]
fn every_lane_needs_an_action() {
    let mut batch = batch("CartPole-v1", 2);
    let mut buffers = OwnedBuffers::new(&batch);
    batch.reset(&mut buffers.borrow());
    batch.step(EnvActions::Discrete(&[Action(0)]), &mut buffers.borrow());
}

#[test]
#[should_panic(expected = "size of observations")]
fn buffers_have_their_size() {
    let mut batch = batch("CartPole-v1", 2);
    let mut buffers = OwnedBuffers::new(&batch);
    buffers.observations.pop();
    batch.reset(&mut buffers.borrow());
}
