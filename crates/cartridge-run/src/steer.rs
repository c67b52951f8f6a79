//! What can be done with a run, and when: the same for the lab and for the command line.
//!
//! Everything here leaves a line in the audit, by which a lab hears of what others did.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use cartridge_store::data_dir::sync_parent;
use cartridge_store::jsonl::{self, Appender};
use cartridge_store::{
    Command, DataDir, Follower, Manifest, Parent, RunDir, RunId, RunKind, RunState, RunStatus,
    StoreError, SupervisorEvent, SupervisorLine,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::audit::{self, Deed, Entry};
use crate::checkpoint::{self, Origin};
use crate::clock::unix_now;
use crate::config::{ConfigError, Draft, RunConfig};
use crate::control;
use crate::error::{Result, RunError};
use crate::experiment::content_hash;
use crate::foreign::checkpoints::History;
use crate::lab::address_of;
use crate::launch::{External, Launcher, Terms};
use crate::leftover::kill_leftovers;
use crate::secret;
use crate::supervisor::{self, LOST_AFTER};
use crate::token::Role;
use crate::tunable::{self, Tunable};

/// How long a deleted run can be brought back.
pub const UNDO_S: f64 = 7.0 * 86_400.0;

/// What can be done with a lost run whose supervisor hangs.
const SILENT: &str = "its supervisor is silent and still there; `terminate` ends it";

/// Who does something.
#[derive(Clone, Copy, Debug)]
pub struct By<'a> {
    /// Their name.
    pub who: &'a str,
    /// What they may do; whoever writes the folder itself needs no role.
    pub role: Option<Role>,
    /// The key that the client gave the request.
    pub request: Option<&'a str>,
    /// The number that the lab gave the request.
    pub request_id: Option<&'a str>,
}

impl<'a> By<'a> {
    /// Somebody whose requests have no keys.
    pub fn new(who: &'a str) -> Self {
        Self { who, role: None, request: None, request_id: None }
    }
}

/// When a new attempt is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// When the lab has room for it, after those that wait already.
    InQueue,
    /// At once.
    Now,
}

/// Reads how a run is doing from its files alone, as anybody without a lab does.
pub fn look(data: &DataDir, id: &RunId) -> Result<(Manifest, RunStatus)> {
    let dir = data.run(id);
    let manifest = dir.manifest()?;
    let mut follower = Follower::default();
    follower.advance(&dir)?;
    notice_loss(&dir, &mut follower);
    Ok((manifest, follower.status))
}

/// A run that has begun and not ended must have a supervisor, and one that speaks.
pub fn notice_loss(dir: &RunDir, follower: &mut Follower) {
    let state = follower.status.state();
    let has_begun = follower.status.attempt > 0 && state != RunState::Queued;
    if !has_begun || state.is_final() {
        return;
    }
    let silence = follower.status.heartbeat_at.map(|last| unix_now() - last);
    let is_silent = silence.is_some_and(|silence| silence > LOST_AFTER.as_secs_f64());
    if is_silent || !dir.is_supervised() {
        follower.status.lost = true;
        follower.status.lost_log = supervisor::last_lines(dir);
        // It may have ended in this very moment.
        _ = follower.advance(dir);
    }
}

pub(crate) fn record(
    data: &DataDir,
    by: By<'_>,
    what: Deed,
    target: &RunId,
    old: Value,
    new: Value,
) -> Result<()> {
    audit::record(data, Entry { old, new, ..Entry::new(by, what, target) }, unix_now())?;
    tracing::info!(run = %target, by = by.who, "{}", what.as_str());
    Ok(())
}

/// What the audit says of a run that was made. All of it is in the manifest, which never changes.
fn made(manifest: &Manifest) -> Value {
    let mut made = json!({
        "name": manifest.name,
        "env_id": manifest.env_id,
        "config_sha256": content_hash(&manifest.config),
    });
    // Whoever reads the audit should not have to look for what a program was told.
    for key in ["trainer_id", "arguments"] {
        if let Some(value) = manifest.config.get(key) {
            made[key] = value.clone();
        }
    }
    made
}

/// Makes a training, which is queued until it is started.
pub fn create(
    data: &DataDir,
    launcher: &Launcher,
    config: &RunConfig,
    terms: Terms,
    by: By<'_>,
) -> Result<Manifest> {
    let (_, manifest) = launcher.create(data, config, terms)?;
    record(data, by, Deed::Create, &manifest.id, Value::Null, made(&manifest))?;
    Ok(manifest)
}

/// Makes a run with a trainer that is not ours.
pub fn create_external(
    data: &DataDir,
    launcher: &Launcher,
    external: External,
    by: By<'_>,
) -> Result<Manifest> {
    let (_, manifest) = launcher.create_external(data, external)?;
    record(data, by, Deed::Create, &manifest.id, Value::Null, made(&manifest))?;
    Ok(manifest)
}

/// Asks a run for something, with a signed line. Asking for what is so already does nothing.
pub fn ask(
    data: &DataDir,
    manifest: &Manifest,
    status: &RunStatus,
    command: Command,
    by: By<'_>,
) -> Result<()> {
    let id = &manifest.id;
    let state = status.state();
    if state == RunState::Lost && command.is_end() {
        // A supervisor that comes back can still stop; to be killed, it must be asked for.
        if command == Command::Terminate && end_lost(data, status, id)? {
            return record(data, by, Deed::Terminate, id, json!(state), json!("terminated"));
        }
        if data.run(id).is_supervised() {
            return Err(RunError::NotNow { id: id.clone(), state, hint: SILENT });
        }
    }
    if is_so(manifest, status, &command)? {
        return Ok(());
    }
    if command.is_end() && status.state() == RunState::Queued && end_unstarted(data, id)? {
        let deed = if command == Command::Stop { Deed::Stop } else { Deed::Terminate };
        return record(data, by, deed, id, json!("queued"), json!("terminated"));
    }
    let was = json!(status.state());
    let (deed, old, new) = match &command {
        Command::Stop => (Deed::Stop, was, json!("stopping")),
        Command::Pause => (Deed::Pause, was, json!("paused")),
        Command::Resume => (Deed::Resume, json!("paused"), json!("running")),
        Command::Terminate => (Deed::Terminate, was, json!("terminated")),
        Command::Checkpoint => (Deed::Checkpoint, Value::Null, Value::Null),
        Command::Tune { path, value } => {
            let (path, old) = setting_of(manifest, status, path);
            (Deed::Tune, json!({ &path: old }), json!({ &path: value }))
        }
        // Who watches changes nothing about the run.
        Command::Watch { .. } => return issue(data, id, status, command, by),
    };
    let is_end = command.is_end();
    match issue(data, id, status, command, by) {
        // A disk that takes no more must not keep a run from being ended: it may be what fills it.
        Err(RunError::Store(error)) if is_end && error.disk_trouble().is_some() => {
            let is_signalled = signal_supervisor(&data.run(id), id, Signal::TERM)?;
            if is_signalled { Ok(()) } else { Err(error.into()) }
        }
        issued => issued.and_then(|()| record(data, by, deed, id, old, new)),
    }
}

/// The full path of a setting that may be tuned, and what it is now; null where a foreign trainer
/// never said.
pub fn setting_of(manifest: &Manifest, status: &RunStatus, path: &str) -> (String, Value) {
    // A foreign trainer has names of its own.
    let named = Tunable::named(path).map(|tunable| tunable.path().to_owned());
    let path = named.unwrap_or_else(|_| path.to_owned());
    let made = manifest.config.pointer(&format!("/{}", path.replace('.', "/")));
    let old = status.tuned.get(&path).map(|value| json!(value));
    let args = status.trainer.as_ref().map(|trainer| &trainer.args);
    let said = args.and_then(|args| tunable::said_in(args, &path)).map(Value::from);
    let old = old.or_else(|| made.cloned()).or(said).unwrap_or_default();
    (path, old)
}

/// The process that supervises a run, as far as it can be seen from here.
fn supervisor_of(dir: &RunDir, id: &RunId) -> Result<Option<Pid>> {
    let lines = jsonl::read_lines(&dir.supervisor_path(), 0, None)?;
    let newest =
        lines.iter().rev().find_map(|line| {
            match serde_json::from_slice::<SupervisorLine>(&line.bytes).ok()?.event {
                SupervisorEvent::Started { supervisor_pid, .. } => Some(supervisor_pid),
                _ => None,
            }
        });
    let Some(pid) = newest else { return Ok(None) };
    // Its number may have become another's.
    let told = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = told.split(|&byte| byte == 0);
    let is_its = words.any(|word| word == id.as_str().as_bytes());
    Ok(i32::try_from(pid).ok().and_then(Pid::from_raw).filter(|_| is_its))
}

/// Ends the supervisor of a run, and with it its trainer; says whether there was one.
fn signal_supervisor(dir: &RunDir, id: &RunId, signal: Signal) -> Result<bool> {
    let pid = supervisor_of(dir, id)?;
    Ok(pid.is_some_and(|pid| kill_process(pid, signal).is_ok()))
}

/// Whether a supervisor is at work on a run. One that was killed a moment ago has its file until the
/// system has put it away, which is waited for.
pub fn is_at_work(dir: &RunDir, id: &RunId) -> Result<bool> {
    let until = Instant::now() + LEAVING;
    while dir.is_supervised() {
        // Only Linux tells what a process was started with.
        let is_seen = !cfg!(target_os = "linux") || supervisor_of(dir, id)?.is_some();
        if is_seen || Instant::now() > until {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}

/// Ends what is left of a lost run: a supervisor that is silent and still there, and its trainer.
/// Returns whether there was anything.
fn end_lost(data: &DataDir, status: &RunStatus, id: &RunId) -> Result<bool> {
    let (dir, attempt) = (data.run(id), status.last_attempt());
    let was_there = dir.is_supervised() && signal_supervisor(&dir, id, Signal::KILL)?;
    let n_killed = kill_leftovers(&dir, id, attempt + 1);
    if !was_there && n_killed == 0 {
        return Ok(false);
    }
    let mut journal = Appender::open(dir.supervisor_path())?;
    let reason = "It was lost: what was left of it has been ended".to_owned();
    journal.append(&SupervisorLine {
        attempt,
        t: unix_now(),
        event: SupervisorEvent::Exited {
            code: None,
            signal: Some(Signal::KILL.as_raw()),
            forced: true,
            log: Vec::new(),
            reason: Some(reason),
            lines: None,
        },
    })?;
    journal.sync()?;
    Ok(true)
}

fn issue(
    data: &DataDir,
    id: &RunId,
    status: &RunStatus,
    command: Command,
    by: By<'_>,
) -> Result<()> {
    let key = secret::control_key(data)?;
    let attempt = status.last_attempt().max(1);
    control::issue(&data.run(id), &key, id, attempt, command, by.who, unix_now())?;
    Ok(())
}

/// Ends a run that has not been started; says whether that was in time.
fn end_unstarted(data: &DataDir, id: &RunId) -> Result<bool> {
    let dir = data.run(id);
    // Whoever holds this file decides: a supervisor that comes later finds that the attempt is over.
    let Ok(mut journal) = Appender::open(dir.supervisor_path()) else { return Ok(false) };
    let mut follower = Follower::default();
    follower.advance(&dir)?;
    if follower.status.state() != RunState::Queued {
        return Ok(false);
    }
    journal.append(&SupervisorLine {
        attempt: follower.status.next_attempt(),
        t: unix_now(),
        event: SupervisorEvent::Exited {
            code: None,
            signal: None,
            forced: true,
            log: vec!["ended before it was started".to_owned()],
            reason: None,
            lines: None,
        },
    })?;
    journal.sync()?;
    Ok(true)
}

/// Whether what `command` asks for is so already; fails when it cannot be asked now.
fn is_so(manifest: &Manifest, status: &RunStatus, command: &Command) -> Result<bool> {
    let id = &manifest.id;
    let is_job = manifest.kind == RunKind::Eval && manifest.is_supervised();
    if !is_job {
        check_kind(manifest)?;
    }
    let state = status.state();
    if !state.is_active() {
        return Err(RunError::Ended { id: id.clone(), state });
    }
    let not_now = |hint| Err(RunError::NotNow { id: id.clone(), state, hint });
    if is_job && !command.is_end() {
        return not_now("an evaluation can only be ended, with stop or terminate");
    }
    if manifest.kind == RunKind::External {
        if !offers(status, command) {
            return not_now("its trainer does not offer that in the `capabilities` of its config");
        }
        if let Command::Tune { path, value } = command {
            check_foreign_tune(path, *value)?;
        }
    } else if let Command::Tune { path, value } = command {
        config_of(manifest)?.tunable(path, *value)?;
    }
    match (command, state) {
        (Command::Stop, _) => Ok(state == RunState::Stopping),
        (Command::Terminate, _) => Ok(false),
        (_, RunState::Stopping) => not_now("it is about to end"),
        (_, RunState::Queued) => not_now("it waits to be started; `start` does so at once"),
        (Command::Pause, _) => Ok(state == RunState::Paused),
        (Command::Resume, RunState::Paused) => Ok(false),
        (Command::Resume, _) => not_now("it is at work already"),
        (Command::Checkpoint | Command::Tune { .. } | Command::Watch { .. }, _) => Ok(false),
    }
}

/// Settings that we know have our bounds; what else may be tuned, and how far, only the trainer
/// knows, and it may refuse.
fn check_foreign_tune(path: &str, value: f64) -> Result<()> {
    if let Ok(tunable) = Tunable::named(path) {
        tunable.check(value)?;
    } else if !value.is_finite() {
        let detail = format!("{value} is no number that a setting can have");
        return Err(ConfigError::BadValue { key: path.to_owned(), detail }.into());
    }
    Ok(())
}

/// Complains about runs without a trainer: neither a person's game nor an evaluation has one.
fn check_kind(manifest: &Manifest) -> Result<()> {
    match manifest.kind {
        RunKind::Train | RunKind::External => Ok(()),
        RunKind::Eval | RunKind::Human => {
            Err(StoreError::NoSuchRun(manifest.id.to_string()).into())
        }
    }
}

/// Whether a foreign trainer can do what `command` asks. It can always be ended: by signals, if it
/// does not listen.
pub fn offers(status: &RunStatus, command: &Command) -> bool {
    let word = match command {
        Command::Stop | Command::Terminate | Command::Watch { .. } => return true,
        Command::Pause => "pause",
        Command::Resume => "resume",
        Command::Checkpoint => "checkpoint",
        Command::Tune { .. } => "tune",
    };
    says(status, word)
}

/// Whether a foreign trainer can go on from a checkpoint that it did not save itself.
pub fn offers_restore(status: &RunStatus) -> bool {
    says(status, "restore")
}

/// Whether a foreign trainer has `word` among its capabilities.
pub fn says(status: &RunStatus, word: &str) -> bool {
    let said = status.trainer.as_ref().and_then(|trainer| trainer.capabilities.as_ref());
    said.is_some_and(|words| words.iter().any(|offered| offered == word))
}

/// Lets a run go on: one that is paused steps again, one that has ended before its last step gets
/// a new attempt from its last checkpoint, at its turn.
pub fn resume(
    data: &DataDir,
    launcher: &Launcher,
    manifest: &Manifest,
    status: &RunStatus,
    turn: Turn,
    by: By<'_>,
) -> Result<()> {
    let id = &manifest.id;
    let state = status.state();
    if manifest.kind == RunKind::Eval && manifest.is_supervised() {
        let hint = "an evaluation does not go on; ask for another, with `cartridge evals start`";
        return Err(RunError::NotNow { id: id.clone(), state, hint });
    }
    check_kind(manifest)?;
    match state {
        RunState::Failed | RunState::Lost | RunState::Terminated => {}
        // Its supervisor ended before its first line, or the lab that it waited for is gone.
        RunState::Queued if turn == Turn::Now || address_of(data).is_none() => {
            return start(data, launcher, manifest, status, by);
        }
        RunState::Succeeded => return Err(RunError::Ended { id: id.clone(), state }),
        _ => return ask(data, manifest, status, Command::Resume, by),
    }
    start_again(data, launcher, manifest, status, turn, by)
}

/// Gives a run that has ended a new attempt, however it ended.
pub(crate) fn start_again(
    data: &DataDir,
    launcher: &Launcher,
    manifest: &Manifest,
    status: &RunStatus,
    turn: Turn,
    by: By<'_>,
) -> Result<()> {
    let (id, state) = (&manifest.id, status.state());
    if is_still_supervised(&data.run(id), state) {
        // By the supervisor of a new attempt, if somebody else has resumed it meanwhile.
        if look(data, id)?.1.last_attempt() > status.last_attempt() {
            return Ok(());
        }
        return Err(RunError::NotNow { id: id.clone(), state, hint: SILENT });
    }
    let attempt = status.last_attempt() + 1;
    // Of several who ask at once, one puts it there.
    if !put_in_queue(data, id, attempt)? {
        return Ok(());
    }
    record(data, by, Deed::Resume, id, json!(state), json!({ "attempt": attempt }))?;
    match turn {
        Turn::Now => launcher.start(data, id, attempt),
        Turn::InQueue => Ok(()),
    }
}

/// How long a supervisor may take to be gone after it has recorded the end of its trainer, or was
/// killed.
const LEAVING: Duration = Duration::from_secs(3);

/// Whether a run has a supervisor. One that has recorded the end is about to leave, and is waited
/// for.
fn is_still_supervised(dir: &RunDir, state: RunState) -> bool {
    let until = Instant::now() + LEAVING;
    while dir.is_supervised() {
        if state == RunState::Lost || Instant::now() > until {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Puts an attempt of a run that has ended into the queue; says whether it was not there.
fn put_in_queue(data: &DataDir, id: &RunId, attempt: u32) -> Result<bool> {
    let path = data.run(id).supervisor_path();
    // Held by the supervisor of that very attempt where somebody else was faster.
    let journal = Appender::open(&path);
    let known = jsonl::read_lines(&path, 0, None)?;
    let mut known = known.iter().filter_map(|line| {
        serde_json::from_slice::<SupervisorLine>(&line.bytes).ok().map(|line| line.attempt)
    });
    if known.any(|known| known >= attempt) {
        return Ok(false);
    }
    let mut journal = journal?;
    let event = SupervisorEvent::Queued;
    journal.append(&SupervisorLine { attempt, t: unix_now(), event })?;
    journal.sync()?;
    Ok(true)
}

/// Starts a run that waits in the queue, past those before it and past the limits of the lab.
pub fn start(
    data: &DataDir,
    launcher: &Launcher,
    manifest: &Manifest,
    status: &RunStatus,
    by: By<'_>,
) -> Result<()> {
    if !manifest.is_supervised() {
        check_kind(manifest)?;
    }
    let (id, state) = (&manifest.id, status.state());
    let hint = match state {
        RunState::Queued => {
            let attempt = status.next_attempt();
            record(data, by, Deed::Start, id, json!(state), json!({ "attempt": attempt }))?;
            return launcher.start(data, id, attempt);
        }
        RunState::Succeeded => return Err(RunError::Ended { id: id.clone(), state }),
        RunState::Failed | RunState::Terminated | RunState::Lost => {
            "it does not wait to be started; `resume` starts it again from its last checkpoint"
        }
        RunState::Paused => "it has been started; `resume` lets it go on",
        RunState::Starting | RunState::Running | RunState::Stopping => {
            "it has been started already"
        }
    };
    Err(RunError::NotNow { id: id.clone(), state, hint })
}

/// Makes a run that goes on from a checkpoint of another, with some settings changed: those that
/// the parent's `overrides_whitelist` names.
pub fn fork(
    data: &DataDir,
    launcher: &Launcher,
    parent: &Manifest,
    at: &str,
    overrides: &[(String, Value)],
    by: By<'_>,
) -> Result<Manifest> {
    check_kind(parent)?;
    if parent.kind == RunKind::External {
        return fork_external(data, launcher, parent, at, overrides, by);
    }
    let dir = data.run(&parent.id);
    let name = checkpoint::find(&dir, &parent.id, at)?;
    let old = config_of(parent)?;
    let whole = Origin::load(&dir, &parent.id, &name, &old)?;
    let mut draft = Draft::of(&old);
    // What was tuned until then is part of what the fork goes on from.
    for (path, value) in whole.settings() {
        draft.set(path, value)?;
    }
    for (path, value) in overrides {
        let given = path;
        let path = crate::config::canonical(given, Some(old.algo));
        if !old.overrides_whitelist.iter().any(|allowed| allowed == path) {
            let hint =
                format!("its overrides_whitelist has {}", old.overrides_whitelist.join(", "));
            return Err(ConfigError::NotForkable { key: path.to_owned(), hint }.into());
        }
        draft.set(given, value.clone())?;
    }
    let config = draft.finish()?;
    let step = whole.step();
    if step >= config.trainer.total_timesteps() {
        return Err(RunError::NothingLeft { run: parent.id.clone(), name, step });
    }
    let origin = Parent { run: parent.id.clone(), checkpoint: name, step };
    // It is not started again by itself unless somebody says so; its other terms are the parent's.
    let experiment_id = parent.experiment_id.clone();
    let terms =
        Terms { restart: None, limits: parent.limits, experiment_id, group: None, track: None };
    let (_, manifest) = launcher.create_fork(data, &config, origin.clone(), whole, terms)?;
    let new: serde_json::Map<String, Value> = overrides.iter().cloned().collect();
    record(data, by, Deed::Fork, &manifest.id, json!(origin), Value::Object(new))?;
    Ok(manifest)
}

/// [`fork`] of a trainer that is not ours: the same program is started with a copy of the
/// checkpoint, and is told the settings that are changed: those that its `overrides_whitelist`
/// names.
fn fork_external(
    data: &DataDir,
    launcher: &Launcher,
    parent: &Manifest,
    at: &str,
    overrides: &[(String, Value)],
    by: By<'_>,
) -> Result<Manifest> {
    let (_, status) = look(data, &parent.id)?;
    if !offers_restore(&status) {
        return Err(RunError::NoFork(parent.id.clone()));
    }
    let allowed = status.trainer.and_then(|trainer| trainer.overrides_whitelist);
    let allowed = allowed.unwrap_or_default();
    let dir = data.run(&parent.id);
    let history = History::read(&dir)?;
    let checkpoint = history.find(&dir, &parent.id, at)?;
    if parent.limits.max_steps.is_some_and(|most| checkpoint.step >= most) {
        let (run, name, step) = (parent.id.clone(), checkpoint.name, checkpoint.step);
        return Err(RunError::NothingLeft { run, name, step });
    }
    // What the parent was told, then what was tuned until then, then what is changed now.
    let mut settings = parent.config["overrides"].as_object().cloned().unwrap_or_default();
    let tuned = history.tuned_until(checkpoint.step);
    settings.extend(tuned.into_iter().map(|(path, value)| (path, json!(value))));
    for (path, value) in overrides {
        if !allowed.iter().any(|allowed| allowed == path) {
            let hint = match allowed.as_slice() {
                [] => "its trainer names none in `overrides_whitelist`".to_owned(),
                _ => format!("its trainer's overrides_whitelist has {}", allowed.join(", ")),
            };
            return Err(ConfigError::NotForkable { key: path.clone(), hint }.into());
        }
        if let Some(number) = value.as_f64() {
            check_foreign_tune(path, number)?;
        }
        settings.insert(path.clone(), value.clone());
    }
    let (_, manifest) = launcher.create_external_fork(data, parent, &checkpoint, settings)?;
    let new: serde_json::Map<String, Value> = overrides.iter().cloned().collect();
    record(data, by, Deed::Fork, &manifest.id, json!(manifest.parent), Value::Object(new))?;
    Ok(manifest)
}

/// Puts a run away, or brings it back, in lists.
pub fn archive(data: &DataDir, id: &RunId, is_archived: bool, by: By<'_>) -> Result<()> {
    data.run(id).manifest()?;
    let deed = if is_archived { Deed::Archive } else { Deed::Unarchive };
    record(data, by, deed, id, Value::Null, Value::Null)
}

/// Keeps a run, or one of its checkpoints, from whatever makes room.
pub fn pin(
    data: &DataDir,
    id: &RunId,
    checkpoint: Option<&str>,
    is_pinned: bool,
    by: By<'_>,
) -> Result<()> {
    let dir = data.run(id);
    let find = match dir.manifest()?.kind {
        RunKind::External => checkpoint::find_foreign,
        _ => checkpoint::find,
    };
    let name = match checkpoint {
        Some(text) if is_pinned => Value::from(find(&dir, id, text)?),
        // One that is gone can be let go of all the same.
        Some(text) => Value::from(find(&dir, id, text).unwrap_or_else(|_| text.to_owned())),
        None => Value::Null,
    };
    match is_pinned {
        true => record(data, by, Deed::Pin, id, Value::Null, name),
        false => record(data, by, Deed::Unpin, id, name, Value::Null),
    }
}

/// Where deleted runs wait for their end.
pub fn trash(data: &DataDir, id: &RunId) -> PathBuf {
    data.path().join("trash").join(id.as_str())
}

/// Moves a run that is not at work to the trash, from which it can be brought back for a week.
pub fn delete(data: &DataDir, manifest: &Manifest, status: &RunStatus, by: By<'_>) -> Result<()> {
    let id = &manifest.id;
    let state = status.state();
    let dir = data.run(id);
    let is_at_work = manifest.kind != RunKind::Human && state.is_active();
    if is_at_work || is_still_supervised(&dir, state) {
        let hint = "end it first, with stop or terminate";
        return Err(RunError::NotNow { id: id.clone(), state, hint });
    }
    let place = trash(data, id);
    let folder = data.path().join("trash");
    fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
    // Said first: a line too many is put right by `restore`, a folder that moved in silence by
    // nobody.
    record(data, by, Deed::Delete, id, Value::Null, Value::Null)?;
    fs::rename(dir.path(), &place).map_err(StoreError::io(&place))?;
    sync_parent(&place)?;
    Ok(sync_parent(dir.path())?)
}

/// Brings a run back from the trash.
pub fn restore(data: &DataDir, id: &RunId, by: By<'_>) -> Result<Manifest> {
    let (place, dir) = (trash(data, id), data.run(id));
    if !place.is_dir() {
        return Err(StoreError::NoSuchRun(id.to_string()).into());
    }
    fs::rename(&place, dir.path()).map_err(StoreError::io(dir.path()))?;
    sync_parent(dir.path())?;
    sync_parent(&place)?;
    record(data, by, Deed::Restore, id, Value::Null, Value::Null)?;
    Ok(dir.manifest()?)
}

/// Removes a run from the trash for good.
pub fn purge(data: &DataDir, id: &RunId, by: By<'_>) -> Result<()> {
    let place = trash(data, id);
    if place.is_dir() {
        fs::remove_dir_all(&place).map_err(StoreError::io(&place))?;
    }
    record(data, by, Deed::Purge, id, Value::Null, Value::Null)
}

/// The configuration of a training.
pub fn config_of(manifest: &Manifest) -> Result<RunConfig> {
    serde_json::from_value(manifest.config.clone()).map_err(|error| {
        let path = std::path::Path::new(manifest.id.as_str()).join("run.json");
        StoreError::Damaged { path, detail: error.to_string() }.into()
    })
}
