//! One file per sub-command: `Args`, then `run`.

pub(crate) mod actor;
pub(crate) mod alerts;
pub(crate) mod analytics;
pub(crate) mod analyze;
pub(crate) mod artifacts;
pub(crate) mod audit;
pub(crate) mod bench;
pub(crate) mod cluster;
pub(crate) mod control;
pub(crate) mod engine;
pub(crate) mod episode;
pub(crate) mod episodes;
pub(crate) mod eval;
pub(crate) mod evals;
pub(crate) mod exec;
pub(crate) mod experiments;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod fsck;
pub(crate) mod games;
pub(crate) mod gc;
pub(crate) mod guard;
pub(crate) mod insights;
pub(crate) mod keep;
pub(crate) mod leaderboard;
pub(crate) mod league;
pub(crate) mod match_players;
pub(crate) mod metrics;
pub(crate) mod models;
pub(crate) mod onnx;
pub(crate) mod par;
pub(crate) mod play;
pub(crate) mod protocol;
pub(crate) mod ratings;
pub(crate) mod reindex;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod settings;
pub(crate) mod start_trainer;
pub(crate) mod supervise;
pub(crate) mod tensorboard;
pub(crate) mod token;
pub(crate) mod tournament;
pub(crate) mod trace;
pub(crate) mod track;
pub(crate) mod train;
pub(crate) mod trainers;
pub(crate) mod up;
pub(crate) mod url;
pub(crate) mod video;
pub(crate) mod wandb_relay;
pub(crate) mod worker;

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use cartridge_run::checkpoint;
use cartridge_run::config::parse_options;
use cartridge_run::games::fastrand::Rng;
use cartridge_run::games::registry::{
    AnyGame, environments, is_game, present_id, unknown_cartridge,
};
use cartridge_run::launch::Launcher;
use cartridge_run::store::{DataDir, RunDir, RunId};
use cartridge_run::{ConfigError, RunError};
use indicatif::ProgressStyle;
use serde_json::{Map, Value};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Exit;

/// Version of the product.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where the data is: the same on every command.
#[derive(Debug, clap::Args)]
pub(crate) struct DataArgs {
    /// Folder for everything the lab keeps
    #[arg(long, value_name = "DIR", default_value = "data", env = "CARTRIDGE_DATA")]
    data: PathBuf,
}

impl DataArgs {
    /// Opens the folder for work, making it if needed.
    pub(crate) fn open(&self) -> anyhow::Result<DataDir> {
        Ok(DataDir::open(&self.data).map_err(RunError::from)?)
    }

    /// Opens the folder as it is.
    pub(crate) fn open_existing(&self) -> anyhow::Result<DataDir> {
        Ok(DataDir::open_existing(&self.data).map_err(RunError::from)?)
    }

    /// Opens the folder as it is, whether or not it is there.
    pub(crate) fn look(&self) -> anyhow::Result<DataDir> {
        Ok(DataDir::look(&self.data).map_err(RunError::from)?)
    }
}

/// Reads the id of a cartridge; one that has been replaced is said and becomes the new one.
pub(crate) fn parse_id(id: &str) -> Result<String, std::convert::Infallible> {
    let (present, notice) = present_id(id);
    if let Some(notice) = notice {
        note(&notice);
    }
    Ok(present.to_owned())
}

/// Options of an environment: the same on every command that takes one.
#[derive(Debug, clap::Args)]
pub(crate) struct OptionArgs {
    /// An option of the environment, such as continuous=true; may be given again
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl OptionArgs {
    pub(crate) fn parse(&self) -> anyhow::Result<Map<String, Value>> {
        Ok(parse_options(&self.set).map_err(RunError::from)?)
    }
}

/// A checkpoint that somebody named.
pub(crate) struct Found {
    pub(crate) dir: RunDir,
    pub(crate) id: RunId,
    pub(crate) name: String,
}

/// Finds the checkpoint whose folder `text` is, or else that of the run `text` which `asked` means,
/// by default the newest.
pub(crate) fn find_checkpoint(
    data: &DataArgs,
    text: &str,
    asked: Option<&str>,
) -> anyhow::Result<Found> {
    if let Some((dir, id, name)) = checkpoint::at_path(Path::new(text)) {
        if asked.is_some() {
            let detail = format!("`{text}` is a checkpoint itself; name its run, {id}, to choose");
            return Err(RunError::from(ConfigError::BadValue {
                key: "--checkpoint".to_owned(),
                detail,
            })
            .into());
        }
        return Ok(Found { dir, id, name });
    }
    let asked = asked.unwrap_or("latest");
    let id: RunId = text.parse().map_err(RunError::from)?;
    let dir = data.open_existing()?.run(&id);
    // A run that is not there is told from one that has none.
    dir.manifest().map_err(RunError::from)?;
    if asked == "latest" && checkpoint::names(&dir)?.is_empty() {
        return Err(RunError::NoCheckpoint(id).into());
    }
    let name = checkpoint::find(&dir, &id, asked)?;
    Ok(Found { dir, id, name })
}

/// This program, to be started again as supervisor or worker.
pub(crate) fn launcher(stop_grace: Duration) -> anyhow::Result<Launcher> {
    let program = this_program()?;
    Ok(Launcher { program, version: VERSION.to_owned(), stop_grace, is_lab: false })
}

/// Time enough for the longest updates that make sense.
pub(crate) const STOP_GRACE_SECONDS: u64 = 60;

pub(crate) fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("finding this program")
}

/// Who asks, in what is recorded.
pub(crate) fn user() -> String {
    std::env::var("USER").unwrap_or_else(|_| "cli".to_owned())
}

/// How this program was called, for hints that can be typed as they stand.
pub(crate) fn program_name() -> String {
    std::env::args().next().unwrap_or_else(|| "cartridge".to_owned())
}

/// The starting position of a game.
pub(crate) fn start_game(id: &str, rng: &mut Rng) -> anyhow::Result<AnyGame> {
    Ok(AnyGame::start(id, rng).map_err(RunError::from)?)
}

/// Complains about a game that does not exist.
pub(crate) fn find_game(id: &str) -> anyhow::Result<()> {
    start_game(id, &mut rng(0)).map(|_| ())
}

/// Complains about an id that is neither a game nor an environment.
pub(crate) fn find_cartridge(id: &str) -> anyhow::Result<()> {
    if is_game(id) || environments().iter().any(|spec| spec.id == id) {
        return Ok(());
    }
    Err(RunError::Registry(unknown_cartridge(id)).into())
}

pub(crate) fn rng(seed: u64) -> Rng {
    Rng::with_seed(seed)
}

/// A seed that nobody chose.
pub(crate) fn random_seed() -> u64 {
    Rng::new().u64(..)
}

/// Becomes true at the first Ctrl-C or SIGTERM; a second one ends the process at once.
pub(crate) fn interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let again = 128 + signal;
        // In this order, so that the first signal does not count as the second.
        flag::register_conditional_shutdown(signal, again, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .context("listening for Ctrl-C")?;
    }
    Ok(stop)
}

/// How the bars of all commands look.
pub(crate) fn progress_style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("templates are fixed");
    style.progress_chars("━╸─")
}

/// Prints one line of the command's result.
pub(crate) fn say(line: &str) {
    or_end(writeln!(std::io::stdout(), "{line}"));
}

/// What a program that is not ours has said, so that it can do nothing to a terminal: control
/// characters as they are written in Rust.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown
}

/// Ends the command when standard output fails: a result that was cut off must not look whole.
/// A reader that went away is no error, it has seen enough.
#[expect(clippy::exit, reason = "no command has anything left to do without its output")]
pub(crate) fn or_end(written: std::io::Result<()>) {
    let Err(error) = written else { return };
    if error.kind() != ErrorKind::BrokenPipe {
        note(&format!("error: cannot write to standard output: {error}"));
        std::process::exit(Exit::Failed as i32);
    }
}

/// Prints one line for people beside the result.
pub(crate) fn note(line: &str) {
    _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints one JSON object as a line.
pub(crate) fn say_json(value: &impl serde::Serialize) {
    say(&serde_json::to_string(value).expect("results are plain data"));
}
