use serde_json::Map;

use super::*;
use crate::env::{ActionSpace, AnyAction};
use crate::registry::{environments, make_env};

fn batch(id: &str, n_lanes: usize) -> EnvBatch {
    let envs = (0..n_lanes).map(|_| make_env(id, &Map::new()).unwrap()).collect();
    EnvBatch::new(envs, 42, Stream::Train)
}

/// A legal action that depends on lane and time alone, so that it is the same in every split.
fn choose(spec: &EnvSpec, mask: &[bool], lane: usize, time: usize) -> AnyAction {
    let chance = 7 * lane + 13 * time;
    match spec.actions {
        ActionSpace::Discrete(_) => {
            let legal: Vec<usize> = (0..mask.len()).filter(|&action| mask[action]).collect();
            AnyAction::Discrete(Action(legal[chance % legal.len()]))
        }
        ActionSpace::Continuous { low, high } => {
            let part = (chance % 11) as f32 / 10.0;
            AnyAction::Continuous(low.iter().zip(high).map(|(a, b)| a + (b - a) * part).collect())
        }
    }
}

/// Takes `actions`, one per lane.
fn step_all(batch: &mut EnvBatch, actions: &[AnyAction], buffers: &mut OwnedBuffers) {
    let actions = || actions.iter().map(AnyAction::borrow);
    if batch.spec().actions.is_discrete() {
        let indices: Vec<Action> = actions().map(|action| Action(action.index())).collect();
        batch.step(EnvActions::Discrete(&indices), &mut buffers.borrow());
    } else {
        let numbers: Vec<f32> = actions().flat_map(EnvAction::numbers).copied().collect();
        batch.step(EnvActions::Continuous(&numbers), &mut buffers.borrow());
    }
}

/// What one lane sees, as bits, and what it earns.
type History = Vec<(Vec<u32>, u64, bool, bool, u32)>;

/// Steps a batch, whose first lane has the number `first`, and returns each lane's history.
fn histories(mut batch: EnvBatch, first: usize, n_steps: usize) -> Vec<History> {
    let (width, n_actions) = (batch.spec().observation, batch.spec().actions.size());
    let mut buffers = OwnedBuffers::new(&batch);
    let mut histories = vec![History::new(); batch.n_lanes()];
    batch.reset(&mut buffers.borrow());
    for time in 0..n_steps {
        let masks = buffers.masks.chunks(n_actions).enumerate();
        let actions: Vec<AnyAction> =
            masks.map(|(lane, mask)| choose(batch.spec(), mask, first + lane, time)).collect();
        step_all(&mut batch, &actions, &mut buffers);
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
        let whole = histories(batch(spec.id, 7), 0, 300);
        for n_parts in [1, 2, 3, 16] {
            let mut first = 0;
            let mut handles = Vec::new();
            for part in batch(spec.id, 7).split(n_parts) {
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
            let masks = buffers.masks.chunks(n_actions).enumerate();
            let actions: Vec<AnyAction> =
                masks.map(|(lane, mask)| choose(spec, mask, lane, time)).collect();
            step_all(&mut batch, &actions, &mut buffers);
            let step = env.step(actions[1].borrow(), &mut seen);
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
                assert_eq!(batch.env(1).episode_metrics(), env.episode_metrics());
                env.reset(Some(episode_seed(42, Stream::Train, 1, n_episodes)), &mut seen);
                assert_eq!(batch.seed(1), episode_seed(42, Stream::Train, 1, n_episodes));
            }
        }
    }
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
