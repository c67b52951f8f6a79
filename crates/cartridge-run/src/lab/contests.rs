//! Matches, tournaments, ratings and leaderboards, through the lab.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cartridge_store::{MatchLine, MatchLog, MatchPlayer, RunFilter, RunId, RunKind};
use serde_json::{Map, Value};

use super::evaluations::Depth;
use super::{EvaluationView, Lab, RunView, held};
use crate::contest_job::{self, Contest};
use crate::error::{Result, RunError};
use crate::leaderboard::{self, Asked, Leaderboard};
use crate::matches::{MatchSummary, SeedPlan};
use crate::player::{self, Door, Table};
use crate::queue::Demand;
use crate::ratings::{self, Known, Moment, Ratings, SeedScore};
use crate::shipped;
use crate::steer::By;
use crate::tournament::{self, Kind, TournamentSummary};

/// A match to be made.
#[derive(Clone, Debug)]
pub struct NewMatch {
    /// The player whose result is told.
    pub a: String,
    /// The other.
    pub b: String,
    /// Id of the game or environment; that of the players without.
    pub game: Option<String>,
    /// Options of the environment; those of the players without.
    pub env: Map<String, Value>,
    /// How many games.
    pub n_games: Option<u32>,
    /// What the seeds follow from.
    pub seed_base: u64,
    /// How many seeds.
    pub count: Option<u32>,
    /// Whether each opening is played from both sides.
    pub both_sides: Option<bool>,
    /// Random moves of an opening.
    pub opening_plies: Option<u32>,
    /// What those who have learnt search with at a board where they do not say.
    pub simulations: Option<u32>,
}

/// A tournament to be made.
#[derive(Clone, Debug)]
pub struct NewTournament {
    /// Id of the game or environment.
    pub game: String,
    /// Options of the environment; those of the players without.
    pub env: Map<String, Value>,
    /// The players.
    pub players: Vec<String>,
    /// Who meets whom.
    pub kind: Kind,
    /// Games of each pairing.
    pub games_per_pair: u32,
    /// What the seeds follow from.
    pub seed: u64,
    /// How many pairings are played at once.
    pub n_threads: usize,
    /// What those who have learnt search with at a board where they do not say.
    pub simulations: Option<u32>,
}

/// A run of kind `eval`, with what it found.
#[derive(Clone, Debug, PartialEq)]
pub enum ContestView {
    /// A policy was measured.
    Policy(Box<EvaluationView>),
    /// Two players were compared.
    Match(Box<RunView>, Option<Box<MatchSummary>>),
    /// Several players were compared.
    Tournament(Box<RunView>, Option<Box<TournamentSummary>>),
}

/// Ratings that are kept until the next match, by game and anchor.
const RATINGS_KEPT: usize = 32;

/// Histories that are kept until the next match, which are larger.
const HISTORIES_KEPT: usize = 4;

/// The game, the player, the anchor and the length of a history.
type HistoryKey = (String, Option<String>, Option<String>, usize);

/// The log of matches as far as it was read, and what was made of it since it last grew: every game
/// of every match is gone through for that, which is too much for each request.
#[derive(Debug, Default)]
pub(super) struct Matches {
    log: MatchLog,
    ratings: HashMap<(String, Option<String>), Ratings>,
    histories: Vec<(HistoryKey, Vec<Moment>)>,
}

impl Lab {
    /// Makes a match, which is started as soon as there is room. A request that was made before, by
    /// its key, gives the match that it made.
    pub fn start_match(&self, new: NewMatch, by: By<'_>) -> Result<RunView> {
        let NewMatch { a, b, game, env, n_games, seed_base, count, both_sides, .. } = new;
        let (game, simulations) = (game.as_deref(), new.simulations);
        let table = Table::find(&self.data, &[a, b], game, &env, simulations, Door::Http)?;
        let plan = SeedPlan::new(&table.game, n_games, seed_base, count, both_sides)?
            .with_opening(&table.game, new.opening_plies)?;
        self.start_contest(&table, plan, Contest::Match, by)
    }

    /// Makes a tournament, as [`Self::start_match`] makes a match.
    pub fn start_tournament(&self, new: NewTournament, by: By<'_>) -> Result<RunView> {
        let NewTournament {
            game,
            env,
            players,
            kind,
            games_per_pair,
            seed,
            n_threads,
            simulations,
        } = new;
        let players = player::spread(&self.data, &players)?;
        tournament::check_count(players.len())?;
        let table = Table::find(&self.data, &players, Some(&game), &env, simulations, Door::Http)?;
        let plan = tournament::plan(&table.game, games_per_pair, seed)?;
        self.start_contest(&table, plan, Contest::Tournament { kind, n_threads }, by)
    }

    fn start_contest(
        &self,
        table: &Table,
        plan: SeedPlan,
        contest: Contest,
        by: By<'_>,
    ) -> Result<RunView> {
        self.limits.admit(&Demand::of_resources(&contest_job::resources(contest)))?;
        self.make(by, || contest_job::create(&self.data, &self.launcher, table, plan, contest, by))
    }

    /// What an evaluation, match or tournament found so far.
    pub fn contest(&self, id: &RunId) -> Result<ContestView> {
        let view = self.run(id)?;
        let (manifest, dir) = (&view.run.manifest, self.data.run(id));
        if manifest.kind != RunKind::Eval {
            return Err(RunError::NoContest(id.clone()));
        }
        Ok(if contest_job::is_tournament(manifest) {
            let summary = TournamentSummary::read(&dir)?;
            ContestView::Tournament(Box::new(view), summary.map(Box::new))
        } else if contest_job::is_contest(manifest) {
            let summary = MatchSummary::read(&dir)?;
            ContestView::Match(Box::new(view), summary.map(Box::new))
        } else {
            ContestView::Policy(Box::new(self.evaluation(view, Depth::Episodes)?))
        })
    }

    /// The newest matches that have ended, newest first: at a game, of a player, and before the one
    /// that is named.
    pub fn matches(
        &self,
        game: Option<&str>,
        player: Option<&str>,
        limit: usize,
        before: Option<&str>,
    ) -> Result<Vec<MatchLine>> {
        self.with_matches(|matches| {
            let newest = matches.log.lines.iter().rev();
            let mut has_begun = before.is_none();
            let wanted = newest.filter(|line| {
                let is_after = has_begun;
                has_begun |= before == Some(line.id.as_str());
                is_after
                    && game.is_none_or(|game| line.game == game)
                    && player.is_none_or(|key| line.a.key == key || line.b.key == key)
            });
            Ok(wanted.take(limit).cloned().collect())
        })
    }

    /// How strong the players of a game are.
    pub fn ratings(&self, game: &str, anchor: Option<&str>) -> Result<Ratings> {
        let key = (game.to_owned(), anchor.map(str::to_owned));
        self.with_matches(|matches| {
            if let Some(known) = matches.ratings.get(&key) {
                return Ok(known.clone());
            }
            let made = ratings::ratings(&matches.log.lines, game, anchor)?;
            if matches.ratings.len() >= RATINGS_KEPT {
                matches.ratings.clear();
            }
            matches.ratings.insert(key, made.clone());
            Ok(made)
        })
    }

    /// How strong a player of a game is, by what was played here or else by what its network had played
    /// before it was brought along; nothing where neither it nor its network has played.
    pub fn rating(&self, game: &str, player: &MatchPlayer) -> Result<Option<Known>> {
        match self.ratings(game, None)?.of(player) {
            Some(known) => Ok(Some(known)),
            None => Ok(shipped::ratings(game)?.of(player)),
        }
    }

    /// Where the players stood after each of the newest matches, oldest first.
    pub fn rating_history(
        &self,
        game: &str,
        player: Option<&str>,
        anchor: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Moment>> {
        let key = (game.to_owned(), player.map(str::to_owned), anchor.map(str::to_owned), limit);
        self.with_matches(|matches| {
            if let Some((_, known)) = matches.histories.iter().find(|(known, _)| *known == key) {
                return Ok(known.clone());
            }
            let made = ratings::history(&matches.log.lines, game, player, anchor, limit)?;
            matches.histories.truncate(HISTORIES_KEPT - 1);
            matches.histories.insert(0, (key, made.clone()));
            Ok(made)
        })
    }

    /// How a player of a game did seed by seed, over all of its matches.
    pub fn seed_scores(&self, game: &str, player: &str) -> Result<Vec<SeedScore>> {
        self.with_matches(|matches| ratings::by_seed(&matches.log.lines, game, player))
    }

    fn with_matches<T>(&self, ask: impl FnOnce(&mut Matches) -> Result<T>) -> Result<T> {
        let mut matches = held(&self.matches);
        if matches.log.advance(&self.data)? {
            matches.ratings.clear();
            matches.histories.clear();
        }
        ask(&mut matches)
    }

    /// What trainings had reached in an environment a little while ago, if that was asked for then.
    /// Once in a while one of those who ask is told to look again: whoever gets `true`.
    pub fn kept_leaderboard(&self, env_id: &str) -> Option<(Arc<Leaderboard>, bool)> {
        const FRESH: Duration = Duration::from_secs(1);
        const STALE: Duration = Duration::from_secs(60);
        let mut boards = held(&self.boards);
        let (at, board) = boards.get_mut(env_id)?;
        let age = at.elapsed();
        if age > STALE {
            return None;
        }
        let is_due = age > FRESH;
        if is_due {
            *at = Instant::now();
        }
        Some((Arc::clone(board), is_due))
    }

    /// What trainings have reached in an environment.
    pub fn leaderboard(&self, env_id: &str) -> Result<Arc<Leaderboard>> {
        let of_kind = |kind: RunKind| RunFilter {
            kinds: vec![kind],
            env_id: Some(env_id.to_owned()),
            ..RunFilter::default()
        };
        let newest = |kind| self.find_runs(&of_kind(kind), leaderboard::MOST_RUNS, None, false);
        let mut asked = Asked::default();
        for RunView { run, .. } in newest(RunKind::Eval)? {
            asked.take(&run.manifest, &run.status);
        }
        let trainings = newest(RunKind::Train)?.into_iter();
        let trainings = trainings.map(|it| (it.run.manifest, it.run.status.latest_eval));
        let board = Arc::new(leaderboard::leaderboard(env_id, trainings, asked)?);
        held(&self.boards).insert(env_id.to_owned(), (Instant::now(), Arc::clone(&board)));
        Ok(board)
    }
}
