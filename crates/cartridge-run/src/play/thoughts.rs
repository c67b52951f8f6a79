//! What a network makes of a person's game: of one position, or of a whole game that is over.
//!
//! The opponent's own network is asked, or else the best at the game. While the game goes on that is
//! help, and counts as a hint does.

use std::time::{Duration, Instant};

use cartridge_games::game::{Action, Seat, Turn};
use cartridge_games::registry::AnyGame;
use cartridge_store::{DataDir, Event, MatchPlayer, RunId};

use super::{Play, Table};
use crate::config::ConfigError;
use crate::error::{Result, RunError};
use crate::lab::Lab;
use crate::player::{Door, Player};
use crate::thinker::{MOST_SIMULATIONS_BY_REQUEST, Thinker, Thought};

/// Simulations for each position of a game that is gone through, where nobody says how many.
pub const REVIEW_SIMULATIONS: u32 = 50;

/// The most of them.
pub const MOST_REVIEW_SIMULATIONS: u32 = 400;

/// How long going through a game may take before the rest is judged without a search.
const REVIEW_TIME: Duration = Duration::from_secs(10);

/// A loss of value below this is no mistake: a few simulations are not that sure of anything.
const MISTAKE: f32 = 0.2;

/// What a network makes of a position of a game.
#[derive(Clone, Debug)]
pub struct Thoughts {
    /// Moves so far.
    pub ply: u32,
    /// The position.
    pub game: AnyGame,
    /// Who thinks.
    pub by: MatchPlayer,
    /// What it thinks; nothing at the end of the game.
    pub thought: Option<Thought>,
}

/// A game that is over, gone through.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// Who thinks.
    pub by: MatchPlayer,
    /// Every position, from the start to the end.
    pub points: Vec<Point>,
    /// The worst move of the game; none where nobody gave much away.
    pub mistake: Option<Mistake>,
    /// The person's worst move.
    pub own_mistake: Option<Mistake>,
}

/// What a position is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Moves so far.
    pub ply: u32,
    /// What it is worth to the person, from −1 to 1.
    pub value: f32,
    /// Whether that is the truth.
    pub is_known: bool,
    /// The simulations that it was judged with.
    pub n_simulations: u32,
}

/// A move that gave something away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mistake {
    /// Moves before it.
    pub ply: u32,
    /// Who made it.
    pub seat: Seat,
    /// What was played.
    pub action: Action,
    /// What would have been better.
    pub best: Action,
    /// What the position was worth to who moved, before it and after it.
    pub values: [f32; 2],
}

impl Play {
    /// What a network makes of the position after `ply` moves, or of the one that there is now. While
    /// the game goes on it counts as a hint, once for each position of the game.
    pub fn think(
        data: &DataDir,
        id: &RunId,
        ply: Option<u32>,
        n_simulations: Option<u32>,
    ) -> Result<(Self, Thoughts)> {
        let mut table = Table::sit_down(data, id)?;
        let play = &table.play;
        let now = play.moves.len() as u32;
        let thoughts = play.thoughts_at(data, ply.unwrap_or(now), n_simulations)?;
        if play.game.turn() != Turn::Over && !play.is_hinted {
            let thought = thoughts.thought.as_ref().expect("the game goes on");
            let (action, by) = (thought.action.0 as u32, thoughts.by.key.clone());
            table.record(Event::Hint { ply: now, action, by })?;
        }
        Ok((table.play, thoughts))
    }

    /// What a network makes of the position after `ply` moves of a game that is over.
    pub fn think_back(
        &self,
        data: &DataDir,
        ply: u32,
        n_simulations: Option<u32>,
    ) -> Result<Thoughts> {
        self.position(ply)?;
        self.check_over()?;
        self.thoughts_at(data, ply, n_simulations)
    }

    /// What the opponent thought when it made the move `ply`, if it is a network that can tell. It is
    /// what it did anyway, and so no help.
    pub fn opponent_thought(&self, data: &DataDir, ply: u32) -> Result<Option<Thought>> {
        let game = self.position(ply)?;
        let is_its_own = self.moves.get(ply as usize).is_some_and(|(seat, _)| *seat != self.seat);
        if !is_its_own {
            return Ok(None);
        }
        let player = self.opponent.seat(data, &self.manifest)?;
        let Some((thinker, n_simulations)) = player.thinker() else { return Ok(None) };
        thinker.think(&game, n_simulations).map(Some)
    }

    /// Goes through a game that is over: what every position was worth, and where most was given
    /// away.
    pub fn review(&self, data: &DataDir, n_simulations: Option<u32>) -> Result<Review> {
        self.check_over()?;
        let n_simulations = n_simulations.unwrap_or(REVIEW_SIMULATIONS);
        check_simulations(n_simulations, MOST_REVIEW_SIMULATIONS)?;
        let adviser = self.adviser(data)?;
        if !thinking(&adviser).0.has_value() {
            let detail = "its network puts out no `value`, so it cannot tell what positions are \
                          worth, and there is no other model of this game to ask";
            let player = adviser.about.name;
            return Err(RunError::BadPlayer { player, detail: detail.to_owned() });
        }
        let adviser = adviser.with_simulations(n_simulations)?;
        let (thinker, _) = thinking(&adviser);
        let began = Instant::now();
        let (mut points, mut best) = (Vec::new(), Vec::new());
        for ply in 0..=self.moves.len() as u32 {
            let game = self.position(ply)?;
            // A network of any size may be asked, so time decides how long it is.
            let n = if began.elapsed() < REVIEW_TIME { n_simulations } else { 0 };
            let point = match game.turn() {
                Turn::Over => Point {
                    ply,
                    value: game.score(self.seat).clamp(-1.0, 1.0),
                    is_known: true,
                    n_simulations: 0,
                },
                Turn::Seat(seat) => {
                    let thought = thinker.think(&game, n)?;
                    best.push(thought.action);
                    let value = thought.value.unwrap_or(0.0);
                    Point {
                        ply,
                        value: for_seat(value, seat == self.seat),
                        is_known: thought.proven.is_some(),
                        n_simulations: n,
                    }
                }
            };
            points.push(point);
        }
        let mistakes = self.mistakes(&points, &best);
        let worst = |mistakes: Vec<Mistake>| {
            let loss = |it: &Mistake| it.values[0] - it.values[1];
            mistakes.into_iter().reduce(|a, b| if loss(&b) > loss(&a) { b } else { a })
        };
        let own = mistakes.iter().copied().filter(|it| it.seat == self.seat).collect();
        let (mistake, own_mistake) = (worst(mistakes), worst(own));
        Ok(Review { by: adviser.about, points, mistake, own_mistake })
    }

    /// The moves that gave something away, with what would have been played instead.
    fn mistakes(&self, points: &[Point], best: &[Action]) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for ((&(seat, action), &best), pair) in self.moves.iter().zip(best).zip(points.windows(2)) {
            let value = |point: &Point| for_seat(point.value, seat == self.seat);
            let values = [value(&pair[0]), value(&pair[1])];
            if action != best && values[0] - values[1] >= MISTAKE {
                mistakes.push(Mistake { ply: pair[0].ply, seat, action, best, values });
            }
        }
        mistakes
    }

    fn check_over(&self) -> Result<()> {
        match self.game.turn() {
            Turn::Over => Ok(()),
            Turn::Seat(_) => Err(RunError::GameGoesOn),
        }
    }

    fn thoughts_at(
        &self,
        data: &DataDir,
        ply: u32,
        n_simulations: Option<u32>,
    ) -> Result<Thoughts> {
        let game = self.position(ply)?;
        let mut adviser = self.adviser(data)?;
        if let Some(n_simulations) = n_simulations {
            check_simulations(n_simulations, MOST_SIMULATIONS_BY_REQUEST)?;
            adviser = adviser.with_simulations(n_simulations)?;
        }
        let (thinker, n_simulations) = thinking(&adviser);
        let thought = match game.turn() {
            Turn::Over => None,
            Turn::Seat(_) => Some(thinker.think(&game, n_simulations)?),
        };
        Ok(Thoughts { ply, game, by: adviser.about, thought })
    }

    /// The network that is asked about this game: the opponent's own, or else the best at the game.
    fn adviser(&self, data: &DataDir) -> Result<Player> {
        let own = match self.opponent.builtin() {
            Some(_) => None,
            None => Some(self.opponent.seat(data, &self.manifest)?),
        };
        let has_value = |player: &Player| player.thinker().is_some_and(|(it, _)| it.has_value());
        match own {
            Some(own) if has_value(&own) => Ok(own),
            own => {
                let game = &self.manifest.env_id;
                let best = Player::learnt_at_board(data, game, "best", None, Door::Http);
                match (best, own) {
                    (Ok(best), _) => Ok(best.player),
                    (Err(_), Some(own)) => Ok(own),
                    (Err(error), None) => Err(error),
                }
            }
        }
    }
}

fn thinking(player: &Player) -> (&Thinker, u32) {
    let (thinker, n_simulations) = player.thinker().expect("whoever is asked has learnt");
    (thinker, n_simulations)
}

/// A value of who moves, for the person.
fn for_seat(value: f32, is_own: bool) -> f32 {
    // Adding zero turns a negative zero into a plain one.
    if is_own { value } else { -value + 0.0 }
}

fn check_simulations(n_simulations: u32, most: u32) -> Result<()> {
    if n_simulations <= most {
        return Ok(());
    }
    let detail = format!("there are 0 to {most} simulations, not {n_simulations}");
    Err(ConfigError::BadValue { key: "simulations".to_owned(), detail }.into())
}

impl Lab {
    /// See [`Play::think`]; by whose game it is.
    pub fn play_think(
        &self,
        who: &str,
        id: &RunId,
        ply: Option<u32>,
        n_simulations: Option<u32>,
    ) -> Result<(Play, Thoughts)> {
        self.check_player(who, id)?;
        Play::think(&self.data, id, ply, n_simulations)
    }

    /// See [`Play::think_back`].
    pub fn play_think_back(
        &self,
        id: &RunId,
        ply: u32,
        n_simulations: Option<u32>,
    ) -> Result<(Play, Thoughts)> {
        let play = self.play(id)?;
        let thoughts = play.think_back(&self.data, ply, n_simulations)?;
        Ok((play, thoughts))
    }

    /// See [`Play::review`].
    pub fn play_review(&self, id: &RunId, n_simulations: Option<u32>) -> Result<(Play, Review)> {
        let play = self.play(id)?;
        let review = play.review(&self.data, n_simulations)?;
        Ok((play, review))
    }
}

#[cfg(test)]
mod tests;
