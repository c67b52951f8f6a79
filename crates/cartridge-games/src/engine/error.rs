//! What may go wrong at the engine's door.

use super::state::VERSION;

/// Why the engine did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// No game or environment has this id.
    #[error("unknown cartridge `{id}`; {hint}")]
    UnknownCartridge {
        /// What was asked for.
        id: String,
        /// What may have been meant.
        hint: String,
    },
    /// The cartridge does not take these options.
    #[error("{0}")]
    BadOptions(String),
    /// The hint is nothing that the cartridge can begin with.
    #[error("the hint cannot be used: {0}")]
    BadHint(String),
    /// The bytes were never a state.
    #[error(
        "these {n_bytes} bytes are not a state: {reason}; give a state back as it was given out"
    )]
    NotAState {
        /// How many there are.
        n_bytes: usize,
        /// How that can be seen.
        reason: String,
    },
    /// The bytes were a state and have changed since.
    #[error("the state is damaged: its checksum is wrong; give a state back as it was given out")]
    Damaged,
    /// The state is written in a way that this engine does not read.
    #[error(
        "the state is in encoding {found}, and this engine reads encoding {VERSION}; reset to \
         begin anew, or step it by the version of Cartridge that made it"
    )]
    OtherEncoding {
        /// The encoding that it claims.
        found: u16,
    },
    /// The state belongs to another game or environment.
    #[error("the state is one of `{found}`, and not of `{expected}`; ask `{found}` to step it")]
    OtherCartridge {
        /// Whose state it is.
        found: String,
        /// Who was asked to step it.
        expected: &'static str,
    },
    /// The rules have changed since.
    #[error(
        "the state is from version {found} of `{id}`, and this is version {expected}; reset to \
         begin anew, or step it by the version of Cartridge that made it"
    )]
    OtherVersion {
        /// The cartridge.
        id: &'static str,
        /// The version that made the state.
        found: u32,
        /// The version that was asked to step it.
        expected: u32,
    },
    /// The state was made with other options.
    #[error("the state was made by `{id}` with other options; give the options of its reset")]
    OtherOptions {
        /// The cartridge.
        id: &'static str,
    },
    /// The rules cannot lead to what the state says.
    #[error("the state is impossible: {0}; give a state back as it was given out")]
    ImpossibleState(String),
    /// The bytes are not an action.
    #[error("bad action: {0}")]
    BadAction(String),
    /// The action may not be played in this position.
    #[error("action {action} is not legal here; legal are {legal:?}")]
    IllegalAction {
        /// What was to be played.
        action: usize,
        /// What may be.
        legal: Vec<usize>,
    },
    /// There is nothing left to do.
    #[error("it has ended, so no action can be taken; reset to begin anew")]
    Over,
}
