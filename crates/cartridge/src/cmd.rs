//! One file per sub-command: `Args`, then `run`.

pub(crate) mod eval;
pub(crate) mod games;
pub(crate) mod match_players;
pub(crate) mod play;
pub(crate) mod runs;
pub(crate) mod stop;
pub(crate) mod supervise;
pub(crate) mod train;
pub(crate) mod up;
pub(crate) mod url;
pub(crate) mod worker;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::games::fastrand::Rng;
use cartridge_run::games::registry::AnyGame;
use cartridge_run::launch::Launcher;
use cartridge_run::store::DataDir;

/// Version of the product.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where the data is: the same on every command.
#[derive(Debug, clap::Args)]
pub(crate) struct DataArgs {
    /// Folder for everything the lab keeps; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "data", env = "CARTRIDGE_DATA")]
    data: PathBuf,
}

impl DataArgs {
    pub(crate) fn open(&self) -> anyhow::Result<DataDir> {
        Ok(DataDir::open(&self.data).map_err(RunError::from)?)
    }
}

/// This program, to be started again as supervisor or worker.
pub(crate) fn launcher() -> anyhow::Result<Launcher> {
    Ok(Launcher { program: this_program()?, version: VERSION.to_owned() })
}

pub(crate) fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("finding this program")
}

/// The starting position of a game.
pub(crate) fn start_game(id: &str, rng: &mut Rng) -> anyhow::Result<AnyGame> {
    Ok(AnyGame::start(id, rng).map_err(RunError::from)?)
}

/// Complains about a game that does not exist.
pub(crate) fn find_game(id: &str) -> anyhow::Result<()> {
    start_game(id, &mut rng(0)).map(|_| ())
}

pub(crate) fn rng(seed: u64) -> Rng {
    Rng::with_seed(seed)
}

/// A seed that nobody chose.
pub(crate) fn random_seed() -> u64 {
    Rng::new().u64(..)
}

/// Prints one line of the command's result. A reader that went away is no error.
pub(crate) fn say(line: &str) {
    _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints one line for people beside the result.
pub(crate) fn note(line: &str) {
    _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints one JSON object as a line.
pub(crate) fn say_json(value: &impl serde::Serialize) {
    say(&serde_json::to_string(value).expect("results are plain data"));
}
