//! How the command ends: 0 ok, 1 failed, 2 usage, 3 not found, 4 conflict, 5 no key
//! for another server, 6 no lab, 7 not everything was tried.

use std::io::Write as _;
use std::process::{ExitCode, Termination};

use cartridge_run::store::StoreError;
use cartridge_run::{ConfigError, RunError};

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Ok = 0,
    /// It did not work.
    Failed = 1,
    /// What was typed makes no sense.
    Usage = 2,
    /// What was named does not exist.
    NotFound = 3,
    /// It cannot be done now.
    Conflict = 4,
    /// There is no key for a server that is to be told.
    Auth = 5,
    /// No lab is there to be asked.
    NoLab = 6,
    /// Nothing is wrong, and not everything was tried.
    Unfinished = 7,
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

/// Tells the user what went wrong and chooses the exit code.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Most of our messages quote their cause already.
        if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    // Nothing can be done about a closed standard error.
    _ = writeln!(std::io::stderr(), "error: {message}");
    match error.downcast_ref::<RunError>() {
        Some(RunError::Config(ConfigError::UnknownSchema { .. })) => Exit::NotFound,
        Some(
            RunError::Config(_)
            | RunError::Configs(_)
            | RunError::Registry(_)
            | RunError::GameOption { .. }
            | RunError::UnknownOpponent { .. }
            | RunError::UnknownLevel { .. }
            | RunError::BadPlayer { .. }
            | RunError::NoEnvironment(_)
            | RunError::BadAction { .. }
            | RunError::BadActions { .. }
            | RunError::BadDatasetName(_)
            | RunError::Wandb(_)
            | RunError::BadWandbServer(_)
            | RunError::BadToken { .. },
        ) => Exit::Usage,
        Some(
            RunError::Store(
                StoreError::NoSuchRun(_)
                | StoreError::NoSuchExperiment(_)
                | StoreError::NoSuchGroup(_)
                | StoreError::NoSuchModel(_)
                | StoreError::NoSuchVersion { .. }
                | StoreError::NoSuchArtifact(_)
                | StoreError::NoData(_),
            )
            | RunError::NoCheckpoint(_)
            | RunError::NoSuchCheckpoint { .. }
            | RunError::NothingToReproduce(_)
            | RunError::NoSuchEpisode { .. }
            | RunError::NoSuchWindow { .. }
            | RunError::NotRecorded { .. }
            | RunError::NoEvaluation(_)
            | RunError::NoVideo(_)
            | RunError::NoPictures { .. }
            | RunError::NoSuchStep { .. }
            | RunError::NoActions(_)
            | RunError::NoPolicyFile(_)
            | RunError::NoContest(_)
            | RunError::NoSuchToken(_)
            | RunError::NoSuchAlert(_)
            | RunError::NoSuchTrainer { .. }
            | RunError::NothingToExport { .. }
            | RunError::NoTensorBoard,
        ) => Exit::NotFound,
        Some(
            RunError::Ended { .. }
            | RunError::AlertOver(_)
            | RunError::NotNow { .. }
            | RunError::NothingLeft { .. }
            | RunError::NotTracked(_)
            | RunError::NoFork(_)
            | RunError::NoPolicy(_)
            | RunError::NobodyToAsk { .. }
            | RunError::NoState { .. }
            | RunError::CannotGoOn { .. }
            | RunError::DatasetExists(_)
            | RunError::LabRunning { .. }
            | RunError::Store(StoreError::InUse(_)),
        ) => Exit::Conflict,
        Some(RunError::NoWandbKey(_)) => Exit::Auth,
        _ => Exit::Failed,
    }
}
