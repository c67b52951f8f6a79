//! What can be asked of a run, and when.

use cartridge_store::{Command, DataDir, Follower, Manifest, RunDir, RunId, RunKind, RunState};
use cartridge_store::{RunStatus, StoreError};

use crate::clock::unix_now;
use crate::config::RunConfig;
use crate::error::{Result, RunError};
use crate::{control, secret};

/// Reads how a run is doing from its files alone, as anybody without a lab does.
pub fn look(data: &DataDir, id: &RunId) -> Result<(Manifest, RunStatus)> {
    let dir = data.run(id);
    let manifest = dir.manifest()?;
    let mut follower = Follower::default();
    follower.advance(&dir)?;
    notice_loss(&dir, &mut follower);
    Ok((manifest, follower.status))
}

/// A run that has begun and not ended must have a supervisor.
pub fn notice_loss(dir: &RunDir, follower: &mut Follower) {
    let has_begun = follower.status.attempt > 0;
    if has_begun && !follower.status.state().is_final() && !dir.is_supervised() {
        follower.status.lost = true;
        // It may have ended in this very moment.
        _ = follower.advance(dir);
    }
}

/// Asks a run for something, with a signed line. Asking for what is so already does nothing.
pub fn ask(
    data: &DataDir,
    manifest: &Manifest,
    status: &RunStatus,
    command: Command,
    by: &str,
) -> Result<()> {
    if is_so(manifest, status, &command)? {
        return Ok(());
    }
    let id = &manifest.id;
    let key = secret::control_key(data)?;
    let attempt = status.attempt.max(1);
    tracing::info!(run = %id, by, command = command.name(), "asked");
    control::issue(&data.run(id), &key, id, attempt, command, by, unix_now())?;
    Ok(())
}

/// Whether what `command` asks for is so already; fails when it cannot be asked now.
fn is_so(manifest: &Manifest, status: &RunStatus, command: &Command) -> Result<bool> {
    let id = &manifest.id;
    if !matches!(manifest.kind, RunKind::Train | RunKind::External) {
        // Neither a person's game nor an evaluation has a trainer that could be asked.
        return Err(StoreError::NoSuchRun(id.to_string()).into());
    }
    let state = status.state();
    if !state.is_active() {
        return Err(RunError::Ended { id: id.clone(), state });
    }
    let not_now = |hint| Err(RunError::NotNow { id: id.clone(), state, hint });
    if manifest.kind == RunKind::External {
        // What may be tuned, and how far, only the trainer knows: it may refuse.
        if !offers(status, command) {
            return not_now("its trainer does not offer that in the `capabilities` of its config");
        }
    } else if let Command::Tune { path, value } = command {
        config_of(manifest)?.tunable(path, *value)?;
    }
    match (command, state) {
        (Command::Stop, _) => Ok(state == RunState::Stopping),
        (Command::Terminate, _) => Ok(false),
        (_, RunState::Stopping) => not_now("it is about to end"),
        (_, RunState::Queued) => not_now("it has not started yet"),
        (Command::Pause, _) => Ok(state == RunState::Paused),
        (Command::Resume, RunState::Paused) => Ok(false),
        (Command::Resume, _) => not_now("it is at work already"),
        (Command::Checkpoint | Command::Tune { .. } | Command::Watch { .. }, _) => Ok(false),
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
    let said = status.trainer.as_ref().and_then(|trainer| trainer.capabilities.as_ref());
    said.is_some_and(|words| words.iter().any(|offered| offered == word))
}

/// The configuration of a training.
pub fn config_of(manifest: &Manifest) -> Result<RunConfig> {
    serde_json::from_value(manifest.config.clone()).map_err(|error| {
        let path = std::path::Path::new(manifest.id.as_str()).join("run.json");
        StoreError::Damaged { path, detail: error.to_string() }.into()
    })
}
