//! Games of people against named opponents.
//!
//! A game is a run of kind `human`: its manifest says what is played against whom, and its
//! `events.jsonl` holds the moves. Nothing is kept in memory between two requests, so any number
//! of games go on side by side and a restart of the lab changes none of them.

use std::sync::{Arc, Mutex};

use cartridge_games::game::{Action, Seat, Turn};
use cartridge_games::registry::AnyGame;
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{Event, EventLine, Manifest, RunDir, RunId, RunKind, StoreError};
use serde::{Deserialize, Serialize};

use crate::clock::unix_now;
use crate::error::{Result, RunError};
use crate::lab::{Lab, held};
use crate::opponent::Opponent;

/// What the manifest of a game keeps as its configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Terms {
    game: String,
    opponent: Opponent,
    /// The person's seat.
    seat: usize,
    /// Decides every choice of the opponent.
    seed: u64,
}

/// The side that a person wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Moves first.
    First,
    /// Moves second.
    Second,
    /// Either, by chance.
    Random,
}

/// A game in progress, or at its end.
#[derive(Clone, Debug)]
pub struct Play {
    /// The run that holds it.
    pub manifest: Manifest,
    /// The position.
    pub game: AnyGame,
    /// The person's seat.
    pub seat: Seat,
    /// Whom the person plays.
    pub opponent: Opponent,
    /// The moves so far: who, and what.
    pub moves: Vec<(Seat, Action)>,
    seed: u64,
}

/// How a game ended for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The person won.
    Win,
    /// The opponent won.
    Loss,
    /// Nobody won.
    Draw,
}

impl Play {
    /// How it ended, once it has.
    pub fn outcome(&self) -> Option<Outcome> {
        let score = self.game.score(self.seat);
        (self.game.turn() == Turn::Over).then(|| match score.total_cmp(&0.0) {
            std::cmp::Ordering::Greater => Outcome::Win,
            std::cmp::Ordering::Less => Outcome::Loss,
            std::cmp::Ordering::Equal => Outcome::Draw,
        })
    }

    /// Plays an action on the board and keeps it, durably.
    fn record(&mut self, dir: &RunDir, seat: Seat, action: Action) -> Result<()> {
        let mut appender = Appender::open(dir.events_path())?;
        let event = Event::Move {
            ply: self.moves.len() as u32,
            seat: seat.0 as u32,
            action: action.0 as u32,
        };
        appender.append(&EventLine { attempt: 1, t: unix_now(), event })?;
        appender.sync()?;
        self.game.apply(action);
        self.moves.push((seat, action));
        Ok(())
    }

    /// Lets the opponent move for as long as it is its turn.
    fn answer(&mut self, dir: &RunDir) -> Result<()> {
        while let Turn::Seat(seat) = self.game.turn()
            && seat != self.seat
        {
            // The choice depends on the game and the ply alone, so a game can be repeated.
            let mut rng = fastrand::Rng::with_seed(self.seed.wrapping_add(self.moves.len() as u64));
            let action = self.opponent.choose(&self.game, &mut rng);
            self.record(dir, seat, action)?;
        }
        Ok(())
    }
}

impl Lab {
    /// Sets up a new game; an opponent that moves first has moved.
    pub fn new_play(&self, game: &str, opponent: &str, side: Side) -> Result<Play> {
        let seed = fastrand::u64(..);
        let position = start(game, seed)?;
        let opponent = Opponent::find(game, opponent)?;
        let seat = match side {
            Side::First => 0,
            Side::Second => 1,
            Side::Random => fastrand::usize(..2),
        };
        let terms = Terms { game: game.to_owned(), opponent, seat, seed };
        let (dir, manifest) = cartridge_store::RunDir::create(&self.data, |id| Manifest {
            format: Manifest::FORMAT,
            id,
            kind: RunKind::Human,
            name: format!("{} against {}", position.spec().name, opponent.name()),
            env_id: game.to_owned(),
            config: serde_json::to_value(&terms).expect("the terms are plain data"),
            created_at: unix_now(),
            cartridge_version: self.launcher.version.clone(),
        })?;
        let table = self.table(&manifest.id);
        let _seat = held(&table);
        self.adopt(&manifest.id)?;
        let mut play =
            Play { manifest, game: position, seat: Seat(seat), opponent, moves: Vec::new(), seed };
        play.answer(&dir)?;
        Ok(play)
    }

    /// A game as it stands.
    pub fn play(&self, id: &RunId) -> Result<Play> {
        let table = self.table(id);
        let _seat = held(&table);
        self.load(id)
    }

    /// Plays the person's action at `ply`, and the opponent's answer.
    pub fn play_move(&self, id: &RunId, action: usize, ply: u32) -> Result<Play> {
        let table = self.table(id);
        let _seat = held(&table);
        let mut play = self.load(id)?;
        let current = play.moves.len() as u32;
        if ply != current {
            return Err(RunError::StaleMove { current, given: ply });
        }
        let legal = play.game.legal_actions();
        if !legal.contains(&Action(action)) {
            let legal = legal.into_iter().map(|action| action.0).collect();
            return Err(RunError::IllegalMove { action, legal });
        }
        let dir = self.data.run(id);
        let seat = play.seat;
        play.record(&dir, seat, Action(action))?;
        play.answer(&dir)?;
        Ok(play)
    }

    /// The newest games, newest first. One that cannot be read does not hide the others.
    pub fn plays(&self, limit: usize) -> Result<Vec<Play>> {
        let mut plays = Vec::new();
        for run in self.human_runs(limit)? {
            // Only read, so that a list does not wait for an opponent that thinks.
            match self.replay(&run.manifest.id) {
                Ok(play) => plays.push(play),
                Err(error) => tracing::warn!(run = %run.manifest.id, %error, "cannot read a game"),
            }
        }
        Ok(plays)
    }

    /// The table of a game.
    fn table(&self, id: &RunId) -> Arc<Mutex<()>> {
        let mut tables = held(&self.tables);
        // Tables that nobody sits at are cleared away.
        tables.retain(|_, table| Arc::strong_count(table) > 1);
        Arc::clone(tables.entry(id.clone()).or_default())
    }

    /// A game as its files have it. An answer that a crash left out is made up for.
    fn load(&self, id: &RunId) -> Result<Play> {
        let mut play = self.replay(id)?;
        play.answer(&self.data.run(id))?;
        Ok(play)
    }

    /// Replays a game from its files.
    fn replay(&self, id: &RunId) -> Result<Play> {
        let dir = self.data.run(id);
        let manifest = dir.manifest()?;
        if manifest.kind != RunKind::Human {
            return Err(StoreError::NoSuchRun(id.to_string()).into());
        }
        let damaged = |detail: String| StoreError::Damaged { path: dir.events_path(), detail };
        let terms: Terms = serde_json::from_value(manifest.config.clone())
            .map_err(|error| damaged(error.to_string()))?;
        let mut game = start(&terms.game, terms.seed)?;
        let mut moves = Vec::new();
        for line in jsonl::read_lines(&dir.events_path(), 0, None)? {
            let line: EventLine =
                serde_json::from_slice(&line.bytes).map_err(|error| damaged(error.to_string()))?;
            let Event::Move { ply, seat, action } = line.event else { continue };
            let action = Action(action as usize);
            if ply as usize != moves.len() || !game.legal_actions().contains(&action) {
                return Err(damaged(format!("move {ply} cannot be played")).into());
            }
            game.apply(action);
            moves.push((Seat(seat as usize), action));
        }
        Ok(Play {
            manifest,
            game,
            seat: Seat(terms.seat),
            opponent: terms.opponent,
            moves,
            seed: terms.seed,
        })
    }
}

fn start(game: &str, seed: u64) -> Result<AnyGame> {
    Ok(AnyGame::start(game, &mut fastrand::Rng::with_seed(seed))?)
}

#[cfg(test)]
mod tests;
