//! Episodes that are cut off sooner than their environment would.
//!
//! It is Gymnasium's `max_episode_steps`. An option of every environment, and not a setting of the
//! learner, because an episode must follow from its options, seed and actions alone.

use serde_json::{Map, Value};

use crate::env::{Env, EnvAction, EnvSpec, Impact, Island, Mechanism, Step};
use crate::game::Seat;
use crate::scene::Scene;

/// The option of every environment that sets it.
pub const MAX_EPISODE_STEPS: &str = "max_episode_steps";

/// An environment whose episodes end after fewer ticks than its own limit.
#[derive(Debug)]
struct TimeLimit {
    env: Box<dyn Env>,
    max_steps: u32,
    n_ticks: u32,
}

/// The limit among `options`, and the options without it.
pub(crate) fn take(options: &Map<String, Value>) -> (Option<&Value>, Map<String, Value>) {
    let others = options.iter().filter(|(name, _)| *name != MAX_EPISODE_STEPS);
    let others = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    (options.get(MAX_EPISODE_STEPS), others)
}

/// Lets the episodes of `env` end after so many ticks; says what is wrong with the number.
pub(crate) fn limit(env: Box<dyn Env>, limit: Option<&Value>) -> Result<Box<dyn Env>, String> {
    let own = env.spec().max_steps;
    let Some(limit) = limit else { return Ok(env) };
    let wanted = limit.as_u64().or_else(|| {
        let number = limit.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0)?;
        Some(number as u64)
    });
    match wanted {
        Some(wanted) if wanted == u64::from(own) => Ok(env),
        Some(wanted @ 1..) if wanted < u64::from(own) => {
            Ok(Box::new(TimeLimit { env, max_steps: wanted as u32, n_ticks: 0 }))
        }
        _ => Err(format!(
            "`{MAX_EPISODE_STEPS}` is {limit}, but must be a whole number from 1 to its own limit of {own}"
        )),
    }
}

impl TimeLimit {
    fn count(&mut self, mut step: Step) -> Step {
        self.n_ticks = self.n_ticks.saturating_add(step.ticks);
        if self.n_ticks >= self.max_steps {
            if !step.is_end() {
                self.env.cut_off();
            }
            step.truncated = true;
        }
        step
    }

    fn inner(&mut self) -> &mut dyn Mechanism {
        self.env.mechanism().expect("it was asked whether it is one")
    }
}

impl Env for TimeLimit {
    fn spec(&self) -> &'static EnvSpec {
        self.env.spec()
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        self.n_ticks = 0;
        self.env.reset(seed, observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        assert!(self.n_ticks < self.max_steps, "the episode has ended; reset first");
        let step = self.env.step(action, observation);
        self.count(step)
    }

    fn legal_actions(&self, mask: &mut [bool]) {
        self.env.legal_actions(mask);
    }

    fn episode_metrics(&self) -> Vec<(&'static str, f64)> {
        self.env.episode_metrics()
    }

    fn mechanism(&mut self) -> Option<&mut dyn Mechanism> {
        self.env.mechanism().is_some().then_some(self)
    }

    fn scene(&self) -> Scene {
        self.env.scene()
    }

    fn pieces(&self) -> Option<Vec<Vec<Seat>>> {
        self.env.pieces()
    }
}

impl Mechanism for TimeLimit {
    fn begin_step(&mut self, action: EnvAction<'_>) {
        assert!(self.n_ticks < self.max_steps, "the episode has ended; reset first");
        self.inner().begin_step(action);
    }

    fn island(&mut self) -> Option<&mut Island> {
        self.inner().island()
    }

    fn next_impact(&mut self) -> Option<&mut Impact> {
        self.inner().next_impact()
    }

    fn impact(&mut self) -> &mut Impact {
        self.inner().impact()
    }

    fn end_step(&mut self, observation: &mut [f32]) -> Step {
        let step = self.inner().end_step(observation);
        self.count(step)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::batch::{EnvActions, EnvBatch, OwnedBuffers};
    use crate::game::Action;
    use crate::registry::{environments, make_env};
    use crate::seeds::Stream;

    fn options(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn shortened(id: &str, steps: u32) -> Box<dyn Env> {
        make_env(id, &options(&json!({ MAX_EPISODE_STEPS: steps }))).unwrap()
    }

    #[test]
    fn an_episode_is_its_beginning_and_ends_at_the_limit() {
        for spec in environments() {
            let (mut whole, mut short) =
                (make_env(spec.id, &Map::new()).unwrap(), shortened(spec.id, 5));
            let mut seen = [vec![0.0; spec.observation], vec![0.0; spec.observation]];
            for seed in [3, 4] {
                whole.reset(Some(seed), &mut seen[0]);
                short.reset(Some(seed), &mut seen[1]);
                assert_eq!(seen[0], seen[1]);
                let rng = &mut fastrand::Rng::with_seed(seed);
                let (mut n_ticks, mut is_over) = (0, false);
                while !is_over {
                    let mut mask = vec![true; spec.actions.size()];
                    whole.legal_actions(&mut mask);
                    if let Some(quit) = spec.quit_action {
                        mask[quit] = false;
                    }
                    let action = spec.actions.sample(&mask, rng);
                    let expected = whole.step(action.borrow(), &mut seen[0]);
                    let found = short.step(action.borrow(), &mut seen[1]);
                    n_ticks += found.ticks;
                    assert_eq!(seen[0], seen[1]);
                    assert_eq!(found.truncated, n_ticks >= 5, "{}", spec.id);
                    assert_eq!(Step { truncated: expected.truncated, ..found }, expected);
                    is_over = found.is_end();
                }
            }
        }
    }

    /// The prospector tells what an episode came to, however it ended.
    #[test]
    fn what_was_measured_is_told_of_a_shorter_episode_too() {
        let mut env = shortened("AsteroidProspector-v0", 3);
        let mut seen = vec![0.0; env.spec().observation];
        env.reset(Some(1), &mut seen);
        assert_eq!(env.episode_metrics(), []);
        let mut n_steps = 0;
        while !env.step(Action(0).into(), &mut seen).is_end() {
            n_steps += 1;
            assert!(n_steps < 3);
        }
        assert!(!env.episode_metrics().is_empty());
    }

    /// Landers are solved side by side, shortened ones too, with the same bits.
    #[test]
    fn a_batch_of_shortened_mechanisms_plays_what_they_play_alone() {
        const N: usize = 8;
        const LIMIT: u32 = 30;
        let envs = || (0..N).map(|_| shortened("LunarLander-v3", LIMIT)).collect::<Vec<_>>();
        let mut batch = EnvBatch::new(envs(), 7, Stream::Train);
        let mut buffers = OwnedBuffers::new(&batch);
        batch.reset(&mut buffers.borrow());
        let mut alone = envs();
        let mut seen = vec![0.0; batch.spec().observation];
        for (lane, env) in alone.iter_mut().enumerate() {
            env.reset(Some(batch.seed(lane)), &mut seen);
        }
        let actions = [Action(2); N];
        for number in 1..=LIMIT {
            batch.step(EnvActions::Discrete(&actions), &mut buffers.borrow());
            for (lane, env) in alone.iter_mut().enumerate() {
                let step = env.step(Action(2).into(), &mut seen);
                assert_eq!(buffers.rewards[lane], step.reward);
                assert_eq!(
                    (buffers.truncated[lane], step.truncated),
                    (number == LIMIT, number == LIMIT)
                );
            }
        }
        assert_eq!(seen, batch.last_observation(N - 1));
        assert!((0..N).all(|lane| batch.n_resets(lane) == 2));
    }

    #[test]
    fn a_limit_is_a_whole_number_up_to_the_environments_own() {
        for good in [json!(1), json!(499), json!(500), json!(500.0)] {
            make_env("CartPole-v1", &options(&json!({ MAX_EPISODE_STEPS: good }))).unwrap();
        }
        for bad in [json!(0), json!(501), json!(2.5), json!("many"), json!(null), json!(-1)] {
            let error =
                make_env("CartPole-v1", &options(&json!({ MAX_EPISODE_STEPS: bad.clone() })));
            let expected = format!(
                "bad options for environment `CartPole-v1`: `max_episode_steps` is {bad}, but must be \
                 a whole number from 1 to its own limit of 500"
            );
            assert_eq!(error.unwrap_err().to_string(), expected);
        }
    }
}
