//! Tournaments: every player against every other, or the first against the rest.
//!
//! All pairings play the same openings, or the episodes of the same seeds. They are spread over
//! threads, which changes the time that a tournament takes and nothing else: each pairing is a
//! match of its own, with its own line in the log of matches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use cartridge_games::registry::is_game;
use cartridge_store::data_dir::write_beside;
use cartridge_store::{
    DataDir, DoneReason, Event, GameRecord, MatchPlayer, MatchResult, RunDir, RunId, StoreError,
    match_log,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::carried::CarriedRun;
use crate::config::ConfigError;
use crate::error::Result;
use crate::matches::{self, MatchConfig, Played, Referee, SeedPlan, play_match};
use crate::player::Player;

/// The most players of a tournament.
pub const MAX_PLAYERS: usize = 64;

/// What was found, in the folder of the run.
const SUMMARY: &str = "tournament.json";

/// How often those who play are asked to end, when nobody reports.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Everybody meets everybody.
    RoundRobin,
    /// The first player meets everybody else.
    Gauntlet,
}

/// What to play.
#[derive(Clone, Debug)]
pub struct TournamentConfig {
    /// Id of the game or environment.
    pub game: String,
    /// Options of the environment.
    pub env: Map<String, Value>,
    /// The players.
    pub players: Vec<Player>,
    /// Who meets whom.
    pub kind: Kind,
    /// Which games each pairing plays.
    pub plan: SeedPlan,
    /// How many pairings are played at once.
    pub n_threads: usize,
}

/// A pairing, and how it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairing {
    /// Place of player A among the players, from 0.
    pub a: usize,
    /// Place of player B.
    pub b: usize,
    /// How it went for A.
    #[serde(flatten)]
    pub result: MatchResult,
    /// In an environment, how the returns compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<matches::Difference>,
}

/// Where a player stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Place of the player among the players, from 0.
    pub player: usize,
    /// Games that it played.
    pub games: u32,
    /// Games that it won.
    pub wins: u32,
    /// Games that it drew.
    pub draws: u32,
    /// Games that it lost.
    pub losses: u32,
    /// Its points: a win is 1, a draw a half.
    pub points: f64,
    /// Its share of the points that it could have.
    pub score: f64,
}

/// A tournament as its run keeps it: `tournament.json`, written again after each pairing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TournamentSummary {
    /// The run that is the tournament.
    pub run_id: RunId,
    /// Id of the game or environment.
    pub game: String,
    /// Options of the environment.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub env: Map<String, Value>,
    /// Who meets whom.
    pub kind: Kind,
    /// Which games each pairing plays.
    pub plan: SeedPlan,
    /// The players.
    pub players: Vec<MatchPlayer>,
    /// How many pairings there will be.
    pub n_pairings: usize,
    /// The pairings that have been played, in their order.
    pub pairings: Vec<Pairing>,
    /// Where the players stand, the best first.
    pub standings: Vec<Standing>,
}

impl TournamentSummary {
    /// What a run keeps, if it has come so far.
    pub fn read(dir: &RunDir) -> Result<Option<Self>> {
        let path = dir.path().join(SUMMARY);
        match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|error| StoreError::Damaged { path, detail: error.to_string() }.into()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(&path)(error).into()),
        }
    }

    /// The share of the points that each player took from each other, row by row; none where they
    /// have not met.
    pub fn cross_table(&self) -> Vec<Vec<Option<f64>>> {
        let n = self.players.len();
        let mut table = vec![vec![None; n]; n];
        for pairing in &self.pairings {
            table[pairing.a][pairing.b] = Some(pairing.result.score);
            table[pairing.b][pairing.a] = Some(1.0 - pairing.result.score);
        }
        table
    }
}

/// Complains about a number of players that no tournament has, before any is looked for.
pub fn check_count(n: usize) -> Result<()> {
    if (2..=MAX_PLAYERS).contains(&n) {
        return Ok(());
    }
    let detail = format!("a tournament has 2 to {MAX_PLAYERS} players, not {n}");
    Err(ConfigError::BadValue { key: "players".to_owned(), detail }.into())
}

/// `n` of them at even distances, 2 or more, the first and the last among them; all where there are
/// no more.
pub fn thin_out<T>(all: Vec<T>, n: usize) -> Vec<T> {
    let last = all.len().saturating_sub(1);
    let kept: BTreeSet<usize> = (0..n).map(|place| place * last / (n - 1)).collect();
    let is_kept = |place: &usize| last < n || kept.contains(place);
    all.into_iter().enumerate().filter(|(place, _)| is_kept(place)).map(|(_, it)| it).collect()
}

impl TournamentConfig {
    /// Complains about what makes no sense.
    pub fn check(&self) -> Result<()> {
        let bad = |key: &str, detail: String| {
            Err(ConfigError::BadValue { key: key.to_owned(), detail }.into())
        };
        check_count(self.players.len())?;
        for (place, player) in self.players.iter().enumerate() {
            let key = &player.about.key;
            if self.players[..place].iter().any(|other| other.about.key == *key) {
                return bad("players", format!("`{key}` is there twice"));
            }
        }
        Ok(())
    }

    /// Who meets whom, by place.
    pub fn pairings(&self) -> Vec<(usize, usize)> {
        let n = self.players.len();
        match self.kind {
            Kind::RoundRobin => (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect(),
            Kind::Gauntlet => (1..n).map(|b| (0, b)).collect(),
        }
    }

    /// Games in all.
    pub fn n_games(&self) -> u32 {
        self.plan.n_games(&self.game).saturating_mul(self.pairings().len() as u32)
    }

    /// The name for people.
    pub fn name(&self) -> Result<String> {
        let title = matches::title(&self.game, &self.env)?;
        let kind = match self.kind {
            Kind::RoundRobin => "round robin",
            Kind::Gauntlet => "gauntlet",
        };
        Ok(format!("{title}: {kind} of {} players", self.players.len()))
    }

    /// What the manifest of the tournament says of it.
    pub(crate) fn terms(&self) -> Value {
        let players: Vec<&MatchPlayer> = self.players.iter().map(|player| &player.about).collect();
        let mut terms = json!({
            "tournament": self.kind, "game": self.game, "players": players,
            "games": self.n_games(), "seed": self.plan.seed_base, "plan": self.plan,
            "threads": self.n_threads,
        });
        if !self.env.is_empty() {
            terms["env"] = Value::Object(self.env.clone());
        }
        terms
    }

    fn pairing(&self, a: usize, b: usize) -> MatchConfig {
        MatchConfig {
            game: self.game.clone(),
            env: self.env.clone(),
            a: self.players[a].clone(),
            b: self.players[b].clone(),
            plan: self.plan,
        }
    }
}

/// Who hears of a tournament as it goes on.
pub trait Desk {
    /// Something has happened.
    fn event(&mut self, event: Event) -> Result<()>;

    /// Whether to go on; asked several times a second.
    fn goes_on(&mut self) -> Result<bool>;
}

/// What those who play tell the desk.
enum News {
    Game(GameRecord),
    /// A pairing is over; whether all of it was played.
    Pairing(usize, Result<(Played, bool)>),
}

/// The referee of one pairing, on a thread of its own.
struct Table<'a> {
    pairing: u32,
    news: Sender<News>,
    stop: &'a AtomicBool,
}

impl Referee for Table<'_> {
    fn played(&mut self, record: GameRecord) -> Result<()> {
        // Nobody listens once something has gone wrong, and then the stop is set too.
        _ = self.news.send(News::Game(GameRecord { pairing: Some(self.pairing), ..record }));
        Ok(())
    }

    fn goes_on(&mut self) -> Result<bool> {
        Ok(!self.stop.load(Ordering::Relaxed))
    }
}

/// Plays a tournament, tells the desk, and keeps what comes out of it in the folder of the run. A
/// pairing that was begun and not finished counts as far as it came. Returns the summary, and
/// whether everything was played.
pub fn play(
    data: &DataDir,
    run: &RunId,
    version: &str,
    config: &TournamentConfig,
    desk: &mut dyn Desk,
) -> Result<(TournamentSummary, bool)> {
    let pairings = config.pairings();
    let mut summary = TournamentSummary {
        run_id: run.clone(),
        game: config.game.clone(),
        env: config.env.clone(),
        kind: config.kind,
        plan: config.plan,
        players: config.players.iter().map(|player| player.about.clone()).collect(),
        n_pairings: pairings.len(),
        pairings: Vec::new(),
        standings: Vec::new(),
    };
    desk.event(Event::MatchStarted { games: config.n_games() })?;
    let (stop, next) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut played: BTreeMap<usize, Pairing> = BTreeMap::new();
    let mut is_whole = true;
    let outcome = thread::scope(|scope| {
        let (sender, news) = mpsc::channel();
        for _ in 0..config.n_threads.clamp(1, pairings.len()) {
            let (sender, stop, next, pairings) = (sender.clone(), &stop, &next, &pairings);
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&(a, b)) = pairings.get(place) else { return };
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let news = sender.clone();
                    let mut table = Table { pairing: place as u32 + 1, news, stop };
                    let config = config.pairing(a, b);
                    let n_buckets = config.plan.count as usize;
                    let played = play_match(&config, &mut table)
                        .map(|played| (played.buckets.len() == n_buckets, played))
                        .map(|(is_whole, played)| (played, is_whole));
                    _ = sender.send(News::Pairing(place, played));
                }
            });
        }
        drop(sender);
        let mut work = || -> Result<()> {
            let mut n_games = 0;
            loop {
                match news.recv_timeout(LOOK_EVERY) {
                    Ok(News::Game(record)) => {
                        n_games += 1;
                        desk.event(Event::GamePlayed(GameRecord { game: n_games, ..record }))?;
                    }
                    Ok(News::Pairing(place, outcome)) => {
                        let (outcome, is_all) = outcome?;
                        is_whole &= is_all;
                        if outcome.buckets.is_empty() {
                            continue;
                        }
                        let (a, b) = pairings[place];
                        let id = format!("{run}/{}", place + 1);
                        let pair = config.pairing(a, b);
                        let line = matches::log_line(id, run, version, &pair, &outcome.buckets)?;
                        match_log::append(data, &line)?;
                        let Played { result, difference, .. } = outcome;
                        played.insert(place, Pairing { a, b, result, difference });
                        summary.pairings = played.values().cloned().collect();
                        summary.standings = standings(config, &summary.pairings);
                        write(data, &summary)?;
                        desk.event(Event::PairingComplete {
                            pairing: place as u32 + 1,
                            a: pair.a.about.name,
                            b: pair.b.about.name,
                            result,
                        })?;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                if !desk.goes_on()? {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        };
        let outcome = work();
        stop.store(true, Ordering::Relaxed);
        outcome
    });
    outcome?;
    is_whole &= played.len() == pairings.len();
    if let Some(first) = summary.standings.first() {
        let leader = summary.players[first.player].name.clone();
        let games = summary.standings.iter().map(|it| it.games).sum::<u32>() / 2;
        let players = summary.players.len() as u32;
        desk.event(Event::TournamentComplete { players, games, leader })?;
    }
    Ok((summary, is_whole))
}

fn write(data: &DataDir, summary: &TournamentSummary) -> Result<()> {
    let text = serde_json::to_vec(summary).expect("a summary is plain data");
    Ok(write_beside(&data.run(&summary.run_id).path().join(SUMMARY), &text)?)
}

/// Where the players stand, the best first.
fn standings(config: &TournamentConfig, pairings: &[Pairing]) -> Vec<Standing> {
    let mut standings: Vec<Standing> = (0..config.players.len())
        .map(|player| Standing {
            player,
            games: 0,
            wins: 0,
            draws: 0,
            losses: 0,
            points: 0.0,
            score: 0.0,
        })
        .collect();
    for Pairing { a, b, result: MatchResult { wins, draws, losses, .. }, .. } in pairings {
        for (player, won, lost) in [(*a, wins, losses), (*b, losses, wins)] {
            let standing = &mut standings[player];
            standing.games += wins + draws + losses;
            standing.wins += won;
            standing.draws += draws;
            standing.losses += lost;
        }
    }
    for standing in &mut standings {
        standing.points = f64::from(standing.wins) + 0.5 * f64::from(standing.draws);
        standing.score = standing.points / f64::from(standing.games.max(1));
    }
    standings.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.player.cmp(&b.player)));
    standings
}

/// A desk of the calling process.
struct Here<'a> {
    run: &'a mut CarriedRun,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u32),
}

impl Desk for Here<'_> {
    fn event(&mut self, event: Event) -> Result<()> {
        if let Event::GamePlayed(record) = &event {
            (self.progress)(record.game);
        }
        self.run.event(event)
    }

    fn goes_on(&mut self) -> Result<bool> {
        Ok(!self.stop.load(Ordering::Relaxed))
    }
}

/// Plays a tournament and keeps it as a run, with every game. It ends early once `stop` is set.
/// `progress` is called with the number of games so far. Returns the summary, and whether
/// everything was played.
pub fn keep_tournament(
    data: &DataDir,
    version: &str,
    config: &TournamentConfig,
    stop: &AtomicBool,
    mut progress: impl FnMut(u32),
) -> Result<(TournamentSummary, bool)> {
    config.check()?;
    let name = config.name()?;
    let mut run = CarriedRun::begin(data, version, name, &config.game, config.terms())?;
    let id = run.manifest.id.clone();
    let mut desk = Here { run: &mut run, stop, progress: &mut progress };
    match play(data, &id, version, config, &mut desk) {
        Ok((summary, is_whole)) => {
            run.finish(if is_whole { DoneReason::Completed } else { DoneReason::Stopped })?;
            Ok((summary, is_whole))
        }
        Err(error) => {
            run.fail(&error)?;
            Err(error)
        }
    }
}

/// Games of each pairing as a plan: an even number at a board, from both sides.
pub fn plan(game: &str, games_per_pair: u32, seed_base: u64) -> Result<SeedPlan> {
    let bad = |detail: String| {
        Err(ConfigError::BadValue { key: "games_per_pair".to_owned(), detail }.into())
    };
    if is_game(game) {
        if games_per_pair < 2 || !games_per_pair.is_multiple_of(2) {
            return bad("games come in pairs: an even number, from 2 on".to_owned());
        }
        let count = games_per_pair / 2;
        return Ok(SeedPlan { seed_base, count, both_sides: true, opening_plies: None });
    }
    if !(1..=matches::MAX_EPISODES).contains(&games_per_pair) {
        return bad(format!("1 to {} episodes", matches::MAX_EPISODES));
    }
    Ok(SeedPlan { seed_base, count: games_per_pair, both_sides: false, opening_plies: None })
}

#[cfg(test)]
mod tests;
