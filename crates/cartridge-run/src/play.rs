//! Games of people against named opponents.
//!
//! A game is a run of kind `human`: its manifest says what is played against whom, and its
//! `events.jsonl` holds what was done: moves, moves taken back, hints. Lines are only ever added,
//! so the whole history stays; the game as it stands is folded from them. Nothing is kept in memory
//! between two requests, so any number of games go on side by side, a restart of the lab changes
//! none of them, and a game begun in a terminal can be gone on with in the browser. What an opponent
//! has learnt is copied into the folder of the game. [`thoughts`] has what a network makes of it.
//!
//! A game belongs to who began it: everybody may look at it, and nobody else plays in it. Games of a
//! terminal belong to whoever holds the lab's own token, since both can write its folder.

pub mod thoughts;

use cartridge_games::game::{Action, Seat, Turn};
use cartridge_games::registry::{AnyGame, is_game};
use cartridge_store::data_dir::write_beside;
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{
    DataDir, Event, EventLine, Manifest, MatchPlayer, RunDir, RunId, RunKind, StoreError,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::unix_now;
use crate::error::{Result, RunError};
use crate::hint::Hint;
use crate::lab::Lab;
use crate::opponent::Opponent;
use crate::player::{Door, Found, Learnt, Origin, Player, simulations_in};
use crate::steer::By;
use crate::token::{ADMIN, Role};

/// What the manifest of a game keeps as its configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Terms {
    game: String,
    /// Key of the opponent, which always plays the same.
    opponent: String,
    /// The person's seat.
    seat: usize,
    /// Decides every choice of the opponent.
    seed: u64,
    /// Who began it; nobody said in older games, and in a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// What else is known of an opponent that was learnt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    learnt: Option<Kept>,
}

/// An opponent that was learnt, as its game keeps it: so that it does not matter what becomes of its
/// run or model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// Its name for people.
    name: String,
    /// Hash of what it has learnt.
    sha256: Option<String>,
    /// The copy of it in the folder of the game.
    file: String,
    /// Where it was learnt.
    #[serde(flatten)]
    origin: Origin,
}

/// Whom a person plays.
#[derive(Clone, Debug, PartialEq)]
pub struct Rival {
    /// Who it is.
    pub about: MatchPlayer,
    /// The simulations of its search, where it is a network.
    pub n_simulations: Option<u32>,
    /// Where it was learnt, as far as that is known.
    pub origin: Origin,
    /// The copy of it in the folder of the game.
    file: Option<String>,
}

impl Rival {
    fn new(terms: &Terms) -> Self {
        let key = terms.opponent.clone();
        let n_simulations = simulations_in(&key);
        if let Some(Kept { name, sha256, file, origin }) = terms.learnt.clone() {
            let about = MatchPlayer { key, name, sha256 };
            return Self { about, n_simulations, origin, file: Some(file) };
        }
        let builtin: Option<Opponent> = key.parse().ok();
        // Games of older versions name a model, and keep nothing of it.
        let name = match builtin {
            Some(opponent) => opponent.name(),
            None => key.strip_prefix("model:").unwrap_or(&key).to_owned(),
        };
        let about = MatchPlayer { key, name, sha256: None };
        Self { about, n_simulations, origin: Origin::default(), file: None }
    }

    /// The built-in opponent that it is, if it is one.
    pub fn builtin(&self) -> Option<Opponent> {
        self.about.key.parse().ok()
    }

    /// The player, ready to play.
    fn seat(&self, data: &DataDir, run: &Manifest) -> Result<Player> {
        let game = &run.env_id;
        if let Some(opponent) = self.builtin() {
            return Ok(Player::opponent(opponent));
        }
        let Some(file) = &self.file else {
            // Models played by their policy alone then.
            let text = format!("{}:0", self.about.key);
            return Ok(Player::at_board(data, game, &text, Door::Http)?.player);
        };
        let learnt = Learnt::read(&data.run(&run.id).path().join(file))?;
        Player::restored(game, &Map::new(), &self.about, Some(&learnt))
    }
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

/// A game to be set up.
#[derive(Clone, Copy, Debug)]
pub struct NewPlay<'a> {
    /// Id of the game.
    pub game: &'a str,
    /// Who is played: the id of an opponent, or what was learnt, as [`crate::player`] has it.
    pub opponent: &'a str,
    /// Where that was written.
    pub door: Door,
    /// The side that the person wants.
    pub side: Side,
    /// Decides every choice that is left to chance.
    pub seed: u64,
    /// Whose game it is, by the name of their token.
    pub owner: &'a str,
}

/// A game in progress, or at its end.
#[derive(Clone, Debug)]
pub struct Play {
    /// The run that holds it.
    pub manifest: Manifest,
    /// The position.
    pub game: AnyGame,
    /// Whose game it is, by the name of their token.
    pub owner: String,
    /// The person's seat.
    pub seat: Seat,
    /// Whom the person plays.
    pub opponent: Rival,
    /// The moves so far: who, and what. Those that were taken back are not among them.
    pub moves: Vec<(Seat, Action)>,
    /// How often the person took a move back.
    pub n_take_backs: u32,
    /// How many hints the person was given.
    pub n_hints: u32,
    /// Decides how it starts, and every choice of the opponent.
    pub(crate) seed: u64,
    /// Whether the last thing that happened is a hint, so that asking again is not another one.
    is_hinted: bool,
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
    /// Sets up a new game; an opponent that moves first has moved. `version` is the product's.
    pub fn begin(data: &DataDir, version: &str, new: NewPlay<'_>) -> Result<Self> {
        let NewPlay { game, opponent, door, side, seed, owner } = new;
        let position = start(game, seed)?;
        let Found { player, learnt, origin } = Player::at_board(data, game, opponent, door)?;
        let seat = match side {
            Side::First => 0,
            Side::Second => 1,
            Side::Random => fastrand::Rng::with_seed(seed).usize(..2),
        };
        let MatchPlayer { key, name, sha256 } = player.about;
        let kept = learnt.as_ref().map(|learnt| {
            let (name, file) = (name.clone(), format!("opponent.{}", learnt.kind));
            Kept { name, sha256, file, origin }
        });
        let owner = (owner != ADMIN).then(|| owner.to_owned());
        let terms = Terms { game: game.to_owned(), opponent: key, seat, seed, owner, learnt: kept };
        let prepare = |dir: &RunDir| match (&terms.learnt, &learnt) {
            (Some(kept), Some(learnt)) => write_beside(&dir.path().join(&kept.file), &learnt.bytes),
            _ => Ok(()),
        };
        let (_, manifest) = RunDir::create_prepared(data, prepare, |id| Manifest {
            format: Manifest::FORMAT,
            id,
            kind: RunKind::Human,
            name: format!("{} against {}", position.spec().name, name),
            env_id: game.to_owned(),
            config: serde_json::to_value(&terms).expect("the terms are plain data"),
            created_at: unix_now(),
            cartridge_version: version.to_owned(),
            parent: None,
            restart: None,
            command: None,
            cwd: None,
            environment: Default::default(),
            limits: Default::default(),
            experiment_id: None,
            group: None,
            track: None,
        })?;
        Self::load(data, &manifest.id)
    }

    /// A game as it stands, with the opponent's answer if a crash left it out.
    pub fn load(data: &DataDir, id: &RunId) -> Result<Self> {
        let play = Self::replay(data, id)?;
        match play.game.turn() {
            Turn::Seat(seat) if seat != play.seat => Ok(Table::sit_down(data, id)?.play),
            _ => Ok(play),
        }
    }

    /// Plays the person's action at `ply`, and the opponent's answer.
    pub fn make_move(data: &DataDir, id: &RunId, action: usize, ply: u32) -> Result<Self> {
        let mut table = Table::sit_down(data, id)?;
        table.play.check_ply(Some(ply))?;
        let legal = table.play.game.legal_actions();
        if !legal.contains(&Action(action)) {
            let legal = legal.into_iter().map(|action| action.0).collect();
            return Err(RunError::IllegalMove { action, legal });
        }
        table.play_action(table.play.seat, Action(action))?;
        table.answer()?;
        Ok(table.play)
    }

    /// Takes back the person's last move and what was answered to it. With a `ply` it is refused
    /// when the game has gone on since.
    pub fn take_back(data: &DataDir, id: &RunId, ply: Option<u32>) -> Result<Self> {
        let mut table = Table::sit_down(data, id)?;
        table.play.check_ply(ply)?;
        let own = table.play.moves.iter().rposition(|&(seat, _)| seat == table.play.seat);
        let ply = own.ok_or(RunError::NothingToUndo)? as u32;
        table.record(Event::Undo { ply })?;
        Ok(table.play)
    }

    /// What a strong player would do in the person's place. With a `ply` it is refused when the
    /// game has gone on since. Asking again in the same position counts as one hint.
    pub fn hint(data: &DataDir, id: &RunId, ply: Option<u32>) -> Result<(Self, Hint)> {
        let mut table = Table::sit_down(data, id)?;
        table.play.check_ply(ply)?;
        if table.play.game.turn() == Turn::Over {
            return Err(RunError::NothingToHint);
        }
        let hint = Hint::new(&table.play.game, &mut table.play.rng());
        if !table.play.is_hinted {
            table.record(Event::Hint {
                ply: table.play.moves.len() as u32,
                action: hint.action.0 as u32,
                by: hint.by.to_string(),
            })?;
        }
        Ok((table.play, hint))
    }

    /// The position after `ply` moves, from 0, the start, to all of them.
    pub fn position(&self, ply: u32) -> Result<AnyGame> {
        let moves = self.moves.get(..ply as usize);
        let moves = moves.ok_or(RunError::NoSuchPly { ply, n_moves: self.moves.len() as u32 })?;
        let mut game = start(&self.manifest.env_id, self.seed)?;
        for &(_, action) in moves {
            game.apply(action);
        }
        Ok(game)
    }

    /// What a strong player would have done after `ply` moves, whoever's turn it was; nothing at
    /// the end. It is for games that are over: before, it would be help that nobody counts.
    pub fn look_back(&self, ply: u32) -> Result<Option<Hint>> {
        let game = self.position(ply)?;
        if self.game.turn() != Turn::Over {
            return Err(RunError::GameGoesOn);
        }
        let is_end = game.turn() == Turn::Over;
        Ok((!is_end).then(|| Hint::new(&game, &mut self.rng_at(ply))))
    }

    /// How it ended, once it has.
    pub fn outcome(&self) -> Option<Outcome> {
        let score = self.game.score(self.seat);
        (self.game.turn() == Turn::Over).then(|| match score.total_cmp(&0.0) {
            std::cmp::Ordering::Greater => Outcome::Win,
            std::cmp::Ordering::Less => Outcome::Loss,
            std::cmp::Ordering::Equal => Outcome::Draw,
        })
    }

    /// The help that the person took: `with 2 take-backs, 1 hint`.
    pub fn help(&self) -> Option<String> {
        let count = |n: u32, what: &str| match n {
            0 => None,
            1 => Some(format!("1 {what}")),
            _ => Some(format!("{n} {what}s")),
        };
        let help = [count(self.n_take_backs, "take-back"), count(self.n_hints, "hint")];
        let help: Vec<String> = help.into_iter().flatten().collect();
        (!help.is_empty()).then(|| format!("with {}", help.join(", ")))
    }

    fn check_ply(&self, ply: Option<u32>) -> Result<()> {
        let current = self.moves.len() as u32;
        match ply {
            Some(given) if given != current => Err(RunError::StaleMove { current, given }),
            _ => Ok(()),
        }
    }

    /// Chance depends on the game and the ply alone: a game can be repeated, and taking a move
    /// back does not make the opponent think of another answer.
    fn rng(&self) -> fastrand::Rng {
        self.rng_at(self.moves.len() as u32)
    }

    fn rng_at(&self, ply: u32) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed.wrapping_add(u64::from(ply)))
    }

    /// A game as its files have it.
    pub(crate) fn replay(data: &DataDir, id: &RunId) -> Result<Self> {
        let dir = data.run(id);
        let manifest = dir.manifest()?;
        if !is_play(&manifest) {
            return Err(StoreError::NoSuchRun(id.to_string()).into());
        }
        let damaged = |detail: String| StoreError::Damaged { path: dir.events_path(), detail };
        let terms: Terms = serde_json::from_value(manifest.config.clone())
            .map_err(|error| damaged(error.to_string()))?;
        let mut play = Self {
            owner: owner_of(&manifest).to_owned(),
            manifest,
            game: start(&terms.game, terms.seed)?,
            seat: Seat(terms.seat),
            opponent: Rival::new(&terms),
            moves: Vec::new(),
            n_take_backs: 0,
            n_hints: 0,
            seed: terms.seed,
            is_hinted: false,
        };
        for line in jsonl::read_lines(&dir.events_path(), 0, None)? {
            let line: EventLine =
                serde_json::from_slice(&line.bytes).map_err(|error| damaged(error.to_string()))?;
            play.apply(&line.event).map_err(damaged)?;
        }
        Ok(play)
    }

    /// Takes in what happened, or says why it cannot have.
    fn apply(&mut self, event: &Event) -> Result<(), String> {
        match *event {
            Event::Move { ply, seat, action } => {
                let action = Action(action as usize);
                if ply as usize != self.moves.len() || !self.game.legal_actions().contains(&action)
                {
                    return Err(format!("move {ply} cannot be played"));
                }
                self.game.apply(action);
                self.moves.push((Seat(seat as usize), action));
            }
            Event::Undo { ply } => {
                if ply as usize >= self.moves.len() {
                    return Err(format!("there is no move {ply} to take back"));
                }
                self.moves.truncate(ply as usize);
                self.game = start(&self.manifest.env_id, self.seed).map_err(|e| e.to_string())?;
                for &(_, action) in &self.moves {
                    self.game.apply(action);
                }
                self.n_take_backs += 1;
            }
            Event::Hint { .. } => self.n_hints += 1,
            _ => return Ok(()),
        }
        self.is_hinted = matches!(event, Event::Hint { .. });
        Ok(())
    }
}

/// A game that is held: until it is dropped nobody else, in this process or in another, does
/// anything in it. A slow opponent at one table holds up no other.
struct Table {
    events: Appender,
    play: Play,
    data: DataDir,
    /// The opponent, once it has had to move.
    player: Option<Player>,
}

impl Table {
    /// Waits until the game is free and lets the opponent move if it is its turn.
    fn sit_down(data: &DataDir, id: &RunId) -> Result<Self> {
        // Read once before, so that what is no game is not written to.
        Play::replay(data, id)?;
        let events = Appender::open_in_turn(data.run(id).events_path())?;
        let play = Play::replay(data, id)?;
        let mut table = Self { events, play, data: data.clone(), player: None };
        table.answer()?;
        Ok(table)
    }

    /// Keeps what happens, durably, and does it.
    fn record(&mut self, event: Event) -> Result<()> {
        let line = EventLine { attempt: 1, t: unix_now(), event };
        self.events.append(&line)?;
        self.events.sync()?;
        self.play.apply(&line.event).expect("it was checked before");
        Ok(())
    }

    fn play_action(&mut self, Seat(seat): Seat, Action(action): Action) -> Result<()> {
        let ply = self.play.moves.len() as u32;
        self.record(Event::Move { ply, seat: seat as u32, action: action as u32 })
    }

    /// Lets the opponent move for as long as it is its turn.
    fn answer(&mut self) -> Result<()> {
        while let Turn::Seat(seat) = self.play.game.turn()
            && seat != self.play.seat
        {
            let player = match self.player.take() {
                Some(player) => player,
                None => self.play.opponent.seat(&self.data, &self.play.manifest)?,
            };
            let action = player.choose(&self.play.game, &mut self.play.rng())?;
            self.player = Some(player);
            self.play_action(seat, action)?;
        }
        Ok(())
    }
}

impl Lab {
    /// See [`Play::begin`].
    pub fn new_play(&self, owner: &str, game: &str, opponent: &str, side: Side) -> Result<Play> {
        // A browser reads no more than 53 bits of a number, and a game is found again by its seed.
        let (door, seed) = (Door::Http, u64::from(fastrand::u32(..)));
        let new = NewPlay { game, opponent, door, side, seed, owner };
        let play = Play::begin(&self.data, &self.launcher.version, new)?;
        self.adopt(&play.manifest.id)?;
        Ok(play)
    }

    /// See [`Play::load`].
    pub fn play(&self, id: &RunId) -> Result<Play> {
        Play::load(&self.data, id)
    }

    /// See [`Play::make_move`]; by whose game it is.
    pub fn play_move(&self, who: &str, id: &RunId, action: usize, ply: u32) -> Result<Play> {
        self.check_player(who, id)?;
        Play::make_move(&self.data, id, action, ply)
    }

    /// See [`Play::take_back`]; by whose game it is.
    pub fn play_undo(&self, who: &str, id: &RunId, ply: Option<u32>) -> Result<Play> {
        self.check_player(who, id)?;
        Play::take_back(&self.data, id, ply)
    }

    /// See [`Play::hint`]; by whose game it is.
    pub fn play_hint(&self, who: &str, id: &RunId, ply: Option<u32>) -> Result<(Play, Hint)> {
        self.check_player(who, id)?;
        Play::hint(&self.data, id, ply)
    }

    /// The newest games of somebody, or of all, newest first. One that cannot be read does not hide
    /// the others.
    pub fn plays(&self, of: Option<&str>, limit: usize) -> Result<Vec<Play>> {
        let is_wanted = |manifest: &Manifest| {
            is_game(&manifest.env_id) && of.is_none_or(|who| owner_of(manifest) == who)
        };
        let mut plays = Vec::new();
        for manifest in self.human_runs(limit, is_wanted)? {
            // Only read, so that a list does not wait for an opponent that thinks.
            match Play::replay(&self.data, &manifest.id) {
                Ok(play) => plays.push(play),
                Err(error) => tracing::warn!(run = %manifest.id, %error, "cannot read a game"),
            }
        }
        Ok(plays)
    }

    /// Complains where the game is another's. What is no game is complained about elsewhere.
    pub(crate) fn check_player(&self, who: &str, id: &RunId) -> Result<()> {
        let manifest = self.data.run(id).manifest()?;
        let owner = owner_of(&manifest);
        if is_play(&manifest) && owner != who {
            return Err(RunError::NotYours { owner: owner.to_owned() });
        }
        Ok(())
    }
}

/// Whether a run is a game of a person.
pub(crate) fn is_play(manifest: &Manifest) -> bool {
    manifest.kind == RunKind::Human && is_game(&manifest.env_id)
}

/// Whose game a run is.
fn owner_of(manifest: &Manifest) -> &str {
    manifest.config.get("owner").and_then(Value::as_str).unwrap_or(ADMIN)
}

/// Complains where somebody wants to throw another's game away. Admins may, and whoever writes the
/// folder itself.
pub(crate) fn check_delete(manifest: &Manifest, by: By<'_>) -> Result<()> {
    let owner = owner_of(manifest);
    if is_play(manifest) && by.role.is_some_and(|role| role != Role::Admin) && by.who != owner {
        return Err(RunError::NotYours { owner: owner.to_owned() });
    }
    Ok(())
}

fn start(game: &str, seed: u64) -> Result<AnyGame> {
    Ok(AnyGame::start(game, &mut fastrand::Rng::with_seed(seed))?)
}

#[cfg(test)]
mod tests;
