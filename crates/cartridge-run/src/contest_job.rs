//! Matches and tournaments as runs of their own: asked for, queued, carried out by a supervised
//! process, followed and cancelled like evaluations ([`crate::evaluation_job`]).
//!
//! Such a run holds a copy of what its players have learnt, in `players/`, so that it does not
//! matter what becomes of them while it waits.

use std::fs;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use cartridge_store::data_dir::write_beside;
use cartridge_store::jsonl::Appender;
use cartridge_store::{
    Command, DataDir, DoneReason, Evaluated, Event, EventLine, GameRecord, Manifest, MatchPlayer,
    RunDir, RunId, RunKind, StoreError,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::audit::Deed;
use crate::clock::unix_now;
use crate::config::Resources;
use crate::error::{Result, RunError};
use crate::launch::Launcher;
use crate::matches::{self, MatchConfig, Referee, SeedPlan, play_match};
use crate::player::{Found, Learnt, Player, Table};
use crate::priority;
use crate::steer::{self, By};
use crate::tournament::{self, Desk, Kind, TournamentConfig};
use crate::worker;

/// Where the copies of what the players have learnt are, in the run's own folder.
const PLAYERS: &str = "players";

/// Events are durable at the latest after this time.
const GROUP_COMMIT: Duration = Duration::from_millis(1000);

/// What is to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contest {
    /// Two players.
    Match,
    /// Several.
    Tournament {
        /// Who meets whom.
        kind: Kind,
        /// How many pairings are played at once.
        n_threads: usize,
    },
}

/// What such a run is told: the configuration in its manifest, as far as it is needed to play.
#[derive(Debug, Deserialize)]
struct Job {
    game: String,
    #[serde(default)]
    env: Map<String, Value>,
    players: Vec<MatchPlayer>,
    /// The file of each player that has learnt something.
    files: Vec<Option<String>>,
    plan: SeedPlan,
    #[serde(default)]
    tournament: Option<Kind>,
    #[serde(default)]
    threads: usize,
}

/// Whether a run is a match or a tournament.
pub fn is_contest(manifest: &Manifest) -> bool {
    matches!(manifest.evaluated(), Some(Evaluated::Match | Evaluated::Tournament))
}

/// Whether a run is a tournament.
pub fn is_tournament(manifest: &Manifest) -> bool {
    manifest.evaluated() == Some(Evaluated::Tournament)
}

/// What a contest needs of the machine.
pub fn resources(contest: Contest) -> Resources {
    let n_threads = match contest {
        Contest::Match => 1,
        Contest::Tournament { n_threads, .. } => n_threads.max(1),
    };
    Resources { cpu: n_threads.to_string(), ..Resources::default() }
}

/// Makes the folder of a match or tournament, which is queued until it is started.
pub fn create(
    data: &DataDir,
    launcher: &Launcher,
    table: &Table,
    plan: SeedPlan,
    contest: Contest,
    by: By<'_>,
) -> Result<Manifest> {
    let players: Vec<Player> = table.players.iter().map(|found| found.player.clone()).collect();
    let (name, mut terms) = match contest {
        Contest::Match => {
            let [a, b] = <[Player; 2]>::try_from(players).expect("a match has two players");
            let (game, env) = (table.game.clone(), table.env.clone());
            let config = MatchConfig { game, env, a, b, plan };
            (matches::match_name(&config)?, matches::terms(&config))
        }
        Contest::Tournament { kind, n_threads } => {
            let (game, env) = (table.game.clone(), table.env.clone());
            let config = TournamentConfig { game, env, players, kind, plan, n_threads };
            config.check()?;
            (config.name()?, config.terms())
        }
    };
    let file = |(place, found): (usize, &Found)| {
        found.learnt.as_ref().map(|learnt| format!("{place}.{}", learnt.kind))
    };
    let files: Vec<Option<String>> = table.players.iter().enumerate().map(file).collect();
    let new = json!({ "game": table.game, "players": terms["players"], "games": terms["games"] });
    terms["job"] = json!(true);
    terms["files"] = json!(files);
    terms["resources"] = json!(resources(contest));
    let prepare = |dir: &RunDir| {
        let folder = dir.path().join(PLAYERS);
        fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        for (file, found) in files.iter().zip(&table.players) {
            if let (Some(file), Some(learnt)) = (file, &found.learnt) {
                write_beside(&folder.join(file), &learnt.bytes)?;
            }
        }
        Ok(())
    };
    let (_, manifest) = RunDir::create_prepared(data, prepare, |id| Manifest {
        format: Manifest::FORMAT,
        id,
        kind: RunKind::Eval,
        name,
        env_id: table.game.clone(),
        config: terms,
        created_at: unix_now(),
        cartridge_version: launcher.version.clone(),
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
    steer::record(data, by, Deed::Evaluate, &manifest.id, Value::Null, new)?;
    Ok(manifest)
}

/// Carries out a match or tournament: the process that its supervisor started. Returns whether it
/// ended well.
pub fn work(data: &DataDir, id: &RunId, attempt: u32) -> Result<bool> {
    let dir = data.run(id);
    let manifest = dir.manifest()?;
    let damaged = |detail: String| -> RunError {
        StoreError::Damaged { path: dir.manifest_path(), detail }.into()
    };
    let job: Job = serde_json::from_value(manifest.config.clone())
        .map_err(|error| damaged(error.to_string()))?;
    priority::stand_back();
    let mut players = Vec::new();
    for (place, about) in job.players.iter().enumerate() {
        let file = job.files.get(place).and_then(Option::as_deref);
        let learnt = file.map(|file| Learnt::read(&dir.path().join(PLAYERS).join(file)));
        let learnt = learnt.transpose()?;
        players.push(Player::restored(&job.game, &job.env, about, learnt.as_ref())?);
    }
    let mut court = Court {
        events: Appender::open(dir.events_path())?,
        attempt,
        last_sync: Instant::now(),
        control: worker::listen(),
        end: None,
    };
    let version = &manifest.cartridge_version;
    let Job { game, env, plan, tournament, threads: n_threads, .. } = job;
    let is_whole = if let Some(kind) = tournament {
        let config = TournamentConfig { game, env, players, kind, plan, n_threads };
        tournament::play(data, id, version, &config, &mut court)?.1
    } else {
        let [a, b] = <[Player; 2]>::try_from(players)
            .map_err(|players| damaged(format!("a match of {} players", players.len())))?;
        let config = MatchConfig { game, env, a, b, plan };
        court.record(Event::MatchStarted { games: plan.n_games(&config.game) })?;
        let played = play_match(&config, &mut court)?;
        let is_whole = played.buckets.len() == plan.count as usize;
        let complete = matches::conclude(data, id, version, &config, played)?;
        court.record(complete)?;
        is_whole
    };
    let usual = if is_whole { DoneReason::Completed } else { DoneReason::Stopped };
    let reason = court.end.unwrap_or(usual);
    let (weights_sha256, checkpoint) = (String::new(), String::new());
    court.record(Event::Done { reason, step: 0, weights_sha256, checkpoint })?;
    court.events.sync()?;
    Ok(true)
}

/// A match or tournament in progress, under a supervisor.
struct Court {
    events: Appender,
    attempt: u32,
    last_sync: Instant,
    control: Receiver<worker::Heard>,
    /// Why it is to end before its time.
    end: Option<DoneReason>,
}

impl Court {
    fn record(&mut self, event: Event) -> Result<()> {
        self.events.append(&EventLine { attempt: self.attempt, t: unix_now(), event })?;
        if self.last_sync.elapsed() >= GROUP_COMMIT {
            self.last_sync = Instant::now();
            self.events.sync()?;
        }
        Ok(())
    }

    /// Does what was asked since the last look; a contest can only be ended.
    fn obey(&mut self) -> Result<bool> {
        loop {
            match self.control.try_recv() {
                Ok(worker::Heard::Warning { warning }) => {
                    self.record(Event::Warning { message: warning })?;
                }
                Ok(worker::Heard::Control(line)) if line.command == Command::Stop => {
                    self.end = Some(DoneReason::Stopped);
                    self.record(if line.seq == 0 {
                        // The supervisor's own: a limit is reached, and `by` says which.
                        Event::Warning { message: line.by }
                    } else {
                        let (control, command) = (line.seq, line.command);
                        Event::ControlAck { control, command, step: 0 }
                    })?;
                }
                Ok(worker::Heard::Control(_)) => {}
                Err(TryRecvError::Empty) => return Ok(self.end.is_none()),
                Err(TryRecvError::Disconnected) => {
                    self.end.get_or_insert(DoneReason::Orphaned);
                    return Ok(false);
                }
            }
        }
    }
}

impl Referee for Court {
    fn played(&mut self, record: GameRecord) -> Result<()> {
        self.record(Event::GamePlayed(record))
    }

    fn goes_on(&mut self) -> Result<bool> {
        self.obey()
    }
}

impl Desk for Court {
    fn event(&mut self, event: Event) -> Result<()> {
        self.record(event)
    }

    fn goes_on(&mut self) -> Result<bool> {
        self.obey()
    }
}
