//! An episode from its seed and actions, number by number: what is compared with other programs.

use cartridge_games::env::{ActionSpace, AnyAction, Env, Step};
use cartridge_games::fastrand;
use cartridge_games::game::{Action, Seat, Turn};
use cartridge_games::numpy_random::NumpyRng;
use cartridge_games::registry::{AnyGame, is_game, make_env};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Result, RunError};

/// The actions of one episode.
#[derive(Debug)]
pub enum Actions {
    /// These; the trace ends with them if the episode does not end before.
    Given(Vec<AnyAction>),
    /// Random ones until the episode ends, from `numpy.random.default_rng(seed)`: the index of
    /// a legal action by `integers(n_legal)`, or the numbers by `uniform(low, high)`, rounded to
    /// single precision.
    Random {
        /// Seed of the actions; the episode has its own.
        seed: u64,
    },
}

/// A moment of an episode. Floats are written as doubles, which hold every single exactly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// What was done; nothing at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<AnyAction>,
    /// What is seen.
    pub observation: Vec<f64>,
    /// What it earned; in a game, for the seat that moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// Whether the task itself has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminated: Option<bool>,
    /// Whether the time limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// The actions that are legal next, where not all always are; none after the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal: Option<Vec<usize>>,
}

/// Plays `episodes` of the cartridge `id`, one after the other in one environment, and hands every
/// moment to `tell`. The first is reset with `seed`, the others without one.
pub fn trace(
    id: &str,
    options: &Map<String, Value>,
    seed: u64,
    episodes: Vec<Actions>,
    mut tell: impl FnMut(&Moment),
) -> Result<()> {
    let mut table = Table::new(id, options)?;
    for (episode, actions) in episodes.into_iter().enumerate() {
        let mut moment = table.reset((episode == 0).then_some(seed));
        tell(&moment);
        let mut source = Source::new(actions);
        for index in 0.. {
            if moment.terminated == Some(true) || moment.truncated == Some(true) {
                break;
            }
            let legal = moment.legal.as_deref();
            let Some(action) = source.next(&table.action_space(), legal) else { break };
            table.check(&action).map_err(|reason| RunError::BadAction {
                episode,
                index,
                reason,
            })?;
            moment = table.step(action);
            tell(&moment);
        }
    }
    Ok(())
}

/// Complains about options of the game `id`: games have none.
pub fn refuse_options(id: &str, options: &Map<String, Value>) -> Result<()> {
    match options.keys().next() {
        Some(option) => Err(RunError::GameOption { game: id.to_owned(), option: option.clone() }),
        None => Ok(()),
    }
}

/// What an episode is played in.
enum Table {
    Env(Box<dyn Env>),
    Board { game: AnyGame, rng: fastrand::Rng },
}

impl Table {
    fn new(id: &str, options: &Map<String, Value>) -> Result<Self> {
        if is_game(id) {
            refuse_options(id, options)?;
            let mut rng = fastrand::Rng::with_seed(0);
            return Ok(Self::Board { game: AnyGame::start(id, &mut rng)?, rng });
        }
        Ok(Self::Env(make_env(id, options)?))
    }

    fn action_space(&self) -> ActionSpace {
        match self {
            Self::Env(env) => env.spec().actions,
            Self::Board { game, .. } => ActionSpace::Discrete(game.spec().n_actions),
        }
    }

    fn reset(&mut self, seed: Option<u64>) -> Moment {
        match self {
            Self::Env(env) => {
                let mut observation = vec![0.0; env.spec().observation];
                env.reset(seed, &mut observation);
                Moment::new(&observation, legal_now(&**env))
            }
            Self::Board { game, rng } => {
                if let Some(seed) = seed {
                    *rng = fastrand::Rng::with_seed(seed);
                }
                *game = AnyGame::start(game.spec().id, rng).expect("it was started before");
                view(game)
            }
        }
    }

    /// Says why `action` cannot be taken now.
    fn check(&self, action: &AnyAction) -> Result<(), String> {
        let space = self.action_space();
        match (self, &space, action) {
            (Self::Board { game, .. }, _, AnyAction::Discrete(action))
                if !game.legal_actions().contains(action) =>
            {
                let legal: Vec<usize> = game.legal_actions().iter().map(|a| a.0).collect();
                Err(format!("{} is not legal here; legal are {legal:?}", action.0))
            }
            (_, ActionSpace::Discrete(n), AnyAction::Discrete(Action(index))) if index >= n => {
                Err(format!("{index} is not one of 0 to {}", n - 1))
            }
            (_, ActionSpace::Discrete(_), AnyAction::Discrete(_)) => Ok(()),
            (_, ActionSpace::Discrete(n), AnyAction::Continuous(_)) => {
                Err(format!("a list; write a whole number from 0 to {}", n - 1))
            }
            (_, ActionSpace::Continuous { low, .. }, AnyAction::Continuous(numbers)) => {
                if numbers.len() != low.len() {
                    return Err(format!("{} numbers instead of {}", numbers.len(), low.len()));
                }
                match numbers.iter().find(|x| !x.is_finite()) {
                    Some(number) => Err(format!("{number} is too large")),
                    None => Ok(()),
                }
            }
            (_, ActionSpace::Continuous { low, .. }, AnyAction::Discrete(Action(index))) => {
                Err(format!("{index}; write a list of {} numbers", low.len()))
            }
        }
    }

    fn step(&mut self, action: AnyAction) -> Moment {
        match self {
            Self::Env(env) => {
                let mut observation = vec![0.0; env.spec().observation];
                let Step { reward, terminated, truncated, .. } =
                    env.step(action.borrow(), &mut observation);
                let legal = legal_now(&**env);
                let is_end = terminated || truncated;
                Moment {
                    action: Some(action),
                    reward: Some(reward),
                    terminated: Some(terminated),
                    truncated: Some(truncated),
                    ..Moment::new(
                        &observation,
                        legal.map(|legal| if is_end { Vec::new() } else { legal }),
                    )
                }
            }
            Self::Board { game, .. } => {
                let Turn::Seat(seat) = game.turn() else { unreachable!("a move was legal") };
                let before = game.score(seat);
                game.apply(Action(action.borrow().index()));
                Moment {
                    action: Some(action),
                    reward: Some(f64::from(game.score(seat) - before)),
                    terminated: Some(game.turn() == Turn::Over),
                    truncated: Some(false),
                    ..view(game)
                }
            }
        }
    }
}

impl Moment {
    fn new(observation: &[f32], legal: Option<Vec<usize>>) -> Self {
        Self {
            action: None,
            observation: observation.iter().map(|&x| f64::from(x)).collect(),
            reward: None,
            terminated: None,
            truncated: None,
            legal,
        }
    }
}

/// What the seat to move sees, or at the end seat 0, as the engine has it.
fn view(game: &AnyGame) -> Moment {
    let seat = match game.turn() {
        Turn::Seat(seat) => seat,
        Turn::Over => Seat(0),
    };
    let mut observation = vec![0.0; game.spec().observation];
    game.observe(seat, &mut observation);
    Moment::new(&observation, Some(game.legal_actions().iter().map(|action| action.0).collect()))
}

fn legal_now(env: &dyn Env) -> Option<Vec<usize>> {
    let spec = env.spec();
    spec.is_masked.then(|| {
        let mut mask = vec![false; spec.actions.size()];
        env.legal_actions(&mut mask);
        (0..mask.len()).filter(|&index| mask[index]).collect()
    })
}

/// Where the next action comes from.
enum Source {
    Given(std::vec::IntoIter<AnyAction>),
    Random(NumpyRng),
}

impl Source {
    fn new(actions: Actions) -> Self {
        match actions {
            Actions::Given(actions) => Self::Given(actions.into_iter()),
            Actions::Random { seed } => Self::Random(NumpyRng::new(seed)),
        }
    }

    fn next(&mut self, space: &ActionSpace, legal: Option<&[usize]>) -> Option<AnyAction> {
        let rng = match self {
            Self::Given(actions) => return actions.next(),
            Self::Random(rng) => rng,
        };
        Some(match space {
            ActionSpace::Discrete(n) => {
                let choice = rng.integers(0, legal.map_or(*n, <[_]>::len) as i64) as usize;
                AnyAction::Discrete(Action(legal.map_or(choice, |legal| legal[choice])))
            }
            ActionSpace::Continuous { low, high } => {
                let bounds = low.iter().zip(*high);
                let draw = |(&low, &high)| rng.uniform(f64::from(low), f64::from(high)) as f32;
                AnyAction::Continuous(bounds.map(draw).collect())
            }
        })
    }
}

#[cfg(test)]
mod tests;
