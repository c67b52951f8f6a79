//! What can go wrong with a run.

use cartridge_games::registry::RegistryError;
use cartridge_learn::onnx::OnnxError;
use cartridge_learn::policy::PolicyError;
use cartridge_store::{RunId, RunState, StoreError};

use crate::config::ConfigError;

/// Every way in which making, steering or reading a run can fail.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Several things are wrong with the configuration.
    #[error("{}", in_lines(.0))]
    Configs(Vec<ConfigError>),
    /// A checkpoint is whole, but what it goes on from is not all there.
    #[error(
        "cannot go on from {}: {detail}; `cartridge fsck` names what is damaged, and an older or newer checkpoint may do",
        path.display()
    )]
    CannotGoOn {
        /// The checkpoint.
        path: std::path::PathBuf,
        /// What is missing.
        detail: String,
    },
    /// What a `wandb` client asks for cannot be.
    #[error("{0}")]
    Wandb(String),
    /// A `wandb` client says that it has sent lines which are not here.
    #[error(
        "lines {known} to {} of {file} are missing, so what comes after them is not taken",
        offset.saturating_sub(1)
    )]
    WandbGap {
        /// The file, in the client's words.
        file: &'static str,
        /// Lines that are here.
        known: u64,
        /// The first that was sent.
        offset: u64,
    },
    /// A `wandb` client has sent as much as may be kept.
    #[error("a run of a wandb client may have no more than {0}")]
    WandbFull(String),
    /// There is no such run of a `wandb` client.
    #[error("there is no run `{0}` of a wandb client")]
    NoWandbRun(String),
    /// There is no such file.
    #[error("this run has no file `{0}`")]
    NoWandbFile(String),
    /// A W&B server is to be told of a run, and nothing opens it.
    #[error(
        "there is no key for the W&B server {0}: set WANDB_API_KEY, or log in with `wandb login`, which writes ~/.netrc; another server is named by WANDB_BASE_URL"
    )]
    NoWandbKey(String),
    /// What names the W&B server is no address of one.
    #[error("`{0}` is no W&B server: write WANDB_BASE_URL like https://api.wandb.ai")]
    BadWandbServer(String),
    /// Nobody asked for a run to be told to a W&B server.
    #[error("{0} was not made with --track, so W&B is not told of it")]
    NotTracked(RunId),
    /// There is no such game.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The data folder failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A policy of a game is measured otherwise.
    #[error(
        "`{0}` is a game of two, in which a policy is measured by games and not by returns\n\
         hint: cartridge match {0} RUN club"
    )]
    MeasuredByGames(String),
    /// A training by self-play cannot begin, or go on.
    #[error(transparent)]
    SelfPlay(#[from] cartridge_learn::alphazero::BeginError),
    /// The weights in a checkpoint cannot be used.
    #[error("checkpoint {name} of run `{run}`: {source}")]
    Policy {
        /// The run.
        run: RunId,
        /// Folder of the checkpoint.
        name: String,
        /// What is wrong with it.
        source: PolicyError,
    },
    /// An ONNX file cannot be used.
    #[error("{file}: {source}")]
    Onnx {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: OnnxError,
    },
    /// A policy's file does not exist.
    #[error("there is no file `{0}`")]
    NoPolicyFile(String),
    /// Nobody said where a policy is to act.
    #[error("{0} does not say for which environment it is\nhint: say it with --env")]
    NoEnvironment(String),
    /// Something is where episodes are to be written.
    #[error("{} is there already\nhint: say another place with --output", .0.display())]
    DatasetExists(std::path::PathBuf),
    /// A folder's name cannot be that of a dataset.
    #[error(
        "`{}` is no name for a Minari dataset\n\
         hint: letters, digits, `-` and `_`, and a version at the end: --output cartpole-expert-v0",
        .0.display()
    )]
    BadDatasetName(std::path::PathBuf),
    /// No episode can be written.
    #[error("no episode of run `{run}` can be written: {reason}")]
    NothingToExport {
        /// The run.
        run: RunId,
        /// Why not the first of them.
        reason: String,
    },
    /// An episode comes out otherwise than it was recorded.
    #[error(
        "episode {episode} of run `{run}` comes out otherwise than it was recorded: the environment has changed since"
    )]
    UnlikeRecorded {
        /// The run.
        run: RunId,
        /// The episode.
        episode: u64,
    },
    /// TensorBoard is not installed.
    #[error(
        "there is no program `tensorboard` on the PATH of the lab\n\
         hint: pip install tensorboard, in the environment from which `cartridge up` is started"
    )]
    NoTensorBoard,
    /// TensorBoard was started and does not work.
    #[error("tensorboard was started and failed: {0}")]
    TensorBoardFailed(String),
    /// The run has no policy of ours that could be measured.
    #[error(
        "run `{0}` is no training of ours, so there is no policy to evaluate\nhint: `cartridge eval FILE.onnx` measures a policy from elsewhere"
    )]
    NoPolicy(RunId),
    /// No policy of ours can say what it makes of an episode.
    #[error("nobody can be asked about episode {episode} of run `{run}`: {reason}")]
    NobodyToAsk {
        /// The run.
        run: RunId,
        /// The episode.
        episode: u64,
        /// Why not.
        reason: String,
    },
    /// Stepping an episode again gives something else than was recorded.
    #[error(
        "episode {episode} of run `{run}` does not replay to what was recorded: the environment has changed since, so a film would show something else"
    )]
    ReplayDiffers {
        /// The run.
        run: RunId,
        /// The episode.
        episode: u64,
    },
    /// The run has not been evaluated.
    #[error(
        "run `{0}` has no evaluation yet\nhint: `cartridge eval {0}`, or POST /api/runs/{0}/evaluate"
    )]
    NoEvaluation(RunId),
    /// None of the run's evaluations has a film.
    #[error(
        "run `{0}` has no video of an evaluation\nhint: ask for one with \"video\": true in POST /api/runs/{0}/evaluate, or train with --capture-video"
    )]
    NoVideo(RunId),
    /// A film could not be made.
    #[error(transparent)]
    Film(#[from] cartridge_media::film::FilmError),
    /// There are no pictures of an episode, because its trainer is not ours.
    #[error(
        "episode {episode} of run `{run}` was told by a trainer of its own, so there are no pictures of it"
    )]
    NoPictures {
        /// The run.
        run: RunId,
        /// What was asked for.
        episode: u64,
    },
    /// The episode is shorter.
    #[error("episode {episode} of run `{run}` has {n_steps} steps, so nothing is at step {step}")]
    NoSuchStep {
        /// The run.
        run: RunId,
        /// The episode.
        episode: u64,
        /// What was asked for.
        step: u64,
        /// How long it is.
        n_steps: u64,
    },
    /// The run has no checkpoint yet.
    #[error("run `{0}` has no checkpoint yet")]
    NoCheckpoint(RunId),
    /// A training that was only measured came to a number that is not finite.
    #[error(
        "the training diverged at step {step}: nothing that is measured from there on means anything\nhint: try a lower learning rate"
    )]
    Diverged {
        /// Environment steps so far.
        step: u64,
    },
    /// The run has no weights that could be compared.
    #[error(
        "run `{0}` has recorded no weights of our own training: there is nothing to compare with"
    )]
    NothingToReproduce(RunId),
    /// There is no such alert.
    #[error("there is no alert `{0}`\nhint: `cartridge alerts list` has their names")]
    NoSuchAlert(String),
    /// The alert is over.
    #[error("alert `{0}` is over already; nothing is left to take note of")]
    AlertOver(String),
    /// No trainer has this name.
    #[error("there is no trainer `{id}`; {hint}")]
    NoSuchTrainer {
        /// What was asked for.
        id: String,
        /// What may have been meant.
        hint: String,
    },
    /// The run has no such checkpoint.
    #[error("run `{run}` has no checkpoint `{name}`")]
    NoSuchCheckpoint {
        /// The run.
        run: RunId,
        /// What was asked for.
        name: String,
    },
    /// The checkpoint holds a policy and not the rest of its learner.
    #[error(
        "checkpoint {name} of run `{run}` was made by an older version and holds only the policy: nothing can go on from it"
    )]
    NoState {
        /// The run.
        run: RunId,
        /// Folder of the checkpoint.
        name: String,
    },
    /// The trainer of the run is not ours, and does not offer to go on from a checkpoint.
    #[error(
        "run `{0}` has a trainer of its own that does not offer to go on from a checkpoint\nhint: it does so with `restore` in the `capabilities` of its config; see docs/protocol.md"
    )]
    NoFork(RunId),
    /// A fork would have nothing to do.
    #[error(
        "checkpoint {name} of run `{run}` is at step {step}, where the run ends: nothing is left to train\nhint: choose an earlier one with --checkpoint"
    )]
    NothingLeft {
        /// The run.
        run: RunId,
        /// Folder of the checkpoint.
        name: String,
        /// Its steps.
        step: u64,
    },
    /// A run has no rows in this window.
    #[error("run `{run}` has nothing in window {window}: it has windows 1 to {last}")]
    NoSuchWindow {
        /// The run.
        run: String,
        /// The window that was asked for.
        window: u64,
        /// The newest.
        last: u64,
    },
    /// The run has no such episode.
    #[error("run `{run}` has no episode {episode}")]
    NoSuchEpisode {
        /// The run.
        run: RunId,
        /// What was asked for.
        episode: u64,
    },
    /// Nothing but figures is known of the episode.
    #[error(
        "what was recorded of episode {episode} of run `{run}` is not there: the folder `episodes` of the run is missing\n\
         hint: bring it back from a backup; the figures of the episode are in the list"
    )]
    NotRecorded {
        /// The run.
        run: RunId,
        /// What was asked for.
        episode: u64,
    },
    /// What was recorded cannot be stepped again.
    #[error("episode {episode} of run `{run}` cannot be stepped again: {reason}")]
    BadEpisode {
        /// The run.
        run: RunId,
        /// What was asked for.
        episode: u64,
        /// Why not.
        reason: String,
    },
    /// What was recorded is not what was written.
    #[error(
        "episode {episode} of run `{run}` cannot be read: {} is damaged, {detail}; all that lies elsewhere stays readable\n\
         hint: bring the file back from a backup; `cartridge fsck` names everything that is damaged",
        segment.display()
    )]
    DamagedEpisode {
        /// The run.
        run: RunId,
        /// What was asked for.
        episode: u64,
        /// The file, below the run's folder.
        segment: std::path::PathBuf,
        /// What was found.
        detail: String,
    },
    /// What a run must learn from again is not what was written.
    #[error(
        "run `{run}` cannot go on from here: it learns again from the episodes that ended after step {first_step}, and episode {episode} is one of them: {} is damaged, {detail}\n\
         hint: bring the file back from a backup, or go on from a checkpoint that does not need it: `cartridge fork {run} --checkpoint STEP`",
        segment.display()
    )]
    DamagedPast {
        /// The run.
        run: RunId,
        /// The newest episode that cannot be read.
        episode: u64,
        /// The file, below the run's folder.
        segment: std::path::PathBuf,
        /// What was found.
        detail: String,
        /// Episodes that ended after this step are needed.
        first_step: u64,
    },
    /// The run has ended, so it cannot be controlled.
    #[error("run `{id}` has already ended ({})", state_word(*.state))]
    Ended {
        /// The run.
        id: RunId,
        /// How it ended.
        state: RunState,
    },
    /// The run is not in a state for this.
    #[error("run `{id}` is {}: {hint}", state_word(*.state))]
    NotNow {
        /// The run.
        id: RunId,
        /// Where it is in its life.
        state: RunState,
        /// What can be done instead.
        hint: &'static str,
    },
    /// A process could not be started.
    #[error("cannot start `{program}`: {source}")]
    Spawn {
        /// What should have been started.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// An option was given to a game.
    #[error("game `{game}` has no option `{option}`; board games have none")]
    GameOption {
        /// Id of the game.
        game: String,
        /// What was given.
        option: String,
    },
    /// The game has no such opponent.
    #[error("`{game}` has no opponent `{opponent}`; {hint}")]
    UnknownOpponent {
        /// Id of the game.
        game: String,
        /// What was asked for.
        opponent: String,
        /// What may have been meant.
        hint: String,
    },
    /// The game has no such level.
    #[error("`{game}` has no level `{level}`; {hint}")]
    UnknownLevel {
        /// Id of the game.
        game: String,
        /// What was asked for.
        level: String,
        /// What may have been meant.
        hint: String,
    },
    /// Somebody who cannot play here.
    #[error("player `{player}`: {detail}")]
    BadPlayer {
        /// What was asked for.
        player: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The run is no match and no tournament.
    #[error("run `{0}` is neither a match nor a tournament")]
    NoContest(RunId),
    /// The action cannot be played now.
    #[error("action {action} is not legal here; legal are {legal:?}")]
    IllegalMove {
        /// What was asked for.
        action: usize,
        /// What can be played.
        legal: Vec<usize>,
    },
    /// A file of actions does not exist.
    #[error("there is no file `{0}`")]
    NoActions(String),
    /// A file is no list of actions.
    #[error(
        "{file} is no list of actions: {reason}\n\
         hint: it holds one JSON array, such as [0, 1, 1] or [[0.5, -1.0], [0.0, 0.25]]"
    )]
    BadActions {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An action of a list cannot be taken.
    #[error("action {index}: {reason}")]
    BadAction {
        /// Which list, from 0.
        episode: usize,
        /// Its place in the list, from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The game went on since the client looked.
    #[error("the game is at ply {current}, not {given}")]
    StaleMove {
        /// Where the game is.
        current: u32,
        /// Where the client thought it was.
        given: u32,
    },
    /// The game is another's.
    #[error("this is a game of {owner}'s: you can look at it, and begin one of your own")]
    NotYours {
        /// Whose it is.
        owner: String,
    },
    /// The person has not moved yet.
    #[error("there is no move of yours to take back")]
    NothingToUndo,
    /// The game has not come that far.
    #[error(
        "the game has {n_moves} moves, so there is no position after {ply}; ask for 0 to {n_moves}"
    )]
    NoSuchPly {
        /// What was asked for.
        ply: u32,
        /// How many moves there are.
        n_moves: u32,
    },
    /// Looking at what was best is for afterwards.
    #[error("the game goes on, and looking at what is best would be help; ask for a hint instead")]
    GameGoesOn,
    /// Nobody can move any more.
    #[error("the game is over, so there is no move to hint at")]
    NothingToHint,
    /// A token cannot be made as asked.
    #[error("{detail}")]
    BadToken {
        /// The field that is wrong.
        field: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// There is no such token.
    #[error("there is no token `{0}`; `cartridge token list` shows those that there are")]
    NoSuchToken(String),
    /// Another lab works on this data folder.
    #[error(
        "another lab is already at work on {data}{at}\n\
         hint: use that one, end it, or choose another folder with --data"
    )]
    LabRunning {
        /// The data folder.
        data: String,
        /// ` at http://...`, where it is known.
        at: String,
    },
}

/// The crate's result.
pub type Result<T, E = RunError> = std::result::Result<T, E>;

impl RunError {
    /// One or more things that are wrong with a configuration.
    pub fn of_config(mut errors: Vec<ConfigError>) -> Self {
        match errors.len() {
            1 => Self::Config(errors.remove(0)),
            _ => Self::Configs(errors),
        }
    }
}

fn in_lines(errors: &[ConfigError]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn state_word(state: RunState) -> &'static str {
    match state {
        RunState::Queued => "queued",
        RunState::Starting => "starting",
        RunState::Running => "running",
        RunState::Paused => "paused",
        RunState::Stopping => "stopping",
        RunState::Succeeded => "succeeded",
        RunState::Failed => "failed",
        RunState::Terminated => "terminated",
        RunState::Lost => "lost",
    }
}
