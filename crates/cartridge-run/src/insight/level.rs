//! What a return means: what random play reaches, and what counts as solved.
//!
//! Random play is measured (a test plays it again), each legal action alike, with the options as
//! they are by default. Where an environment names no return that counts as solved, a player that
//! is known to be good takes its place.

use serde_json::{Map, Value};

/// What a return means in an environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// What random play reaches.
    pub random: f64,
    /// From where on the task counts as solved.
    pub solved: f64,
    /// Who says so.
    pub source: &'static str,
}

/// Gymnasium's, for the environments that have one.
const THRESHOLD: &str = "the environment's reward threshold";

/// What is known of our environments with default options.
const LEVELS: [(&str, Level); 9] = [
    ("CartPole-v1", Level { random: 22.0, solved: 475.0, source: THRESHOLD }),
    ("LunarLander-v3", Level { random: -190.0, solved: 200.0, source: THRESHOLD }),
    ("BipedalWalker-v3", Level { random: -100.0, solved: 300.0, source: THRESHOLD }),
    ("BipedalWalkerHardcore-v3", Level { random: -106.0, solved: 300.0, source: THRESHOLD }),
    ("Acrobot-v1", Level { random: -498.0, solved: -100.0, source: THRESHOLD }),
    ("MountainCar-v0", Level { random: -200.0, solved: -110.0, source: THRESHOLD }),
    ("MountainCarContinuous-v0", Level { random: -33.0, solved: 90.0, source: THRESHOLD }),
    (
        "Pendulum-v1",
        Level { random: -1230.0, solved: -200.0, source: "what trained policies reach" },
    ),
    (
        "AsteroidProspector-v0",
        Level { random: -0.38, solved: 25.6, source: "the cautious scanner of `cartridge par`" },
    ),
];

impl Level {
    /// What is known of an environment with these options; nothing where they make it another task.
    pub fn of(env_id: &str, options: &Map<String, Value>) -> Option<Self> {
        let (_, level) = LEVELS.iter().find(|(id, _)| *id == env_id)?;
        let defaults = cartridge_games::registry::env_options(env_id).ok()?;
        // Continuous actions leave the task and its rewards as they are.
        let is_other = options
            .iter()
            .any(|(name, value)| name != "continuous" && defaults.get(name) != Some(value));
        (!is_other).then_some(*level)
    }

    /// From random play to solved.
    pub fn range(&self) -> f64 {
        self.solved - self.random
    }
}

#[cfg(test)]
mod tests {
    use cartridge_games::registry::{environments, make_env};

    use super::*;
    use crate::preview::{By, preview};

    /// Random play of every environment, again: within a fifth of the way to solved.
    #[test]
    fn random_play_reaches_what_the_table_says() {
        for (id, level) in LEVELS {
            let returns: Vec<f64> = (0..20)
                .map(|number| {
                    let episode = preview(id, &Map::new(), By::Chance, number).unwrap();
                    episode.frames.last().unwrap().total_reward
                })
                .collect();
            let mean = returns.iter().sum::<f64>() / returns.len() as f64;
            assert!((mean - level.random).abs() < 0.2 * level.range(), "{id}: {mean}");
        }
    }

    #[test]
    fn every_environment_has_a_level_and_thresholds_are_its_own() {
        for spec in environments() {
            make_env(spec.id, &Map::new()).unwrap();
            let level = Level::of(spec.id, &Map::new()).unwrap();
            assert!(level.range() > 0.0, "{}", spec.id);
            if let Some(threshold) = spec.reward_threshold {
                assert_eq!(level.solved, threshold, "{}", spec.id);
            }
        }
    }

    #[test]
    fn another_task_has_no_level() {
        let options = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        assert!(Level::of("LunarLander-v3", &options(r#"{"continuous":true}"#)).is_some());
        assert!(Level::of("LunarLander-v3", &options(r#"{"gravity":-3.0}"#)).is_none());
        assert!(Level::of("Elsewhere-v0", &Map::new()).is_none());
    }
}
