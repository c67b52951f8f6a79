//! `cartridge episodes`: the episodes of a run.

use cartridge_run::RunError;
use cartridge_run::episode::Archive;
use cartridge_run::store::EpisodeHead;
use cartridge_run::store::episodes::{Order, Sort};
use clap::ValueEnum;
use serde::Serialize;

use super::{DataArgs, note, say, say_json};
use crate::exit::Exit;

/// List the episodes of a run
///
/// Examples:
///   cartridge episodes r-7f3k2m                       the newest
///   cartridge episodes r-7f3k2m --sort return         the best
///   cartridge episodes r-7f3k2m --sort length --asc   the shortest
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// What they are sorted by, the largest first
    #[arg(long, value_enum, default_value_t = By::Number)]
    sort: By,
    /// The smallest first
    #[arg(long)]
    asc: bool,
    /// Only those that were reset with this number
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many of the list come before
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// What episodes are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The order in which they ended
    Number,
    /// The sum of their rewards
    Return,
    /// Their steps
    Length,
    /// When they ended
    Time,
}

/// An episode in one line.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) episode: u64,
    pub(crate) reward: f64,
    pub(crate) length: u32,
    pub(crate) timestep: u64,
    pub(crate) seed: Option<u64>,
    pub(crate) terminated: bool,
    pub(crate) truncated: bool,
    pub(crate) lane: u32,
    pub(crate) attempt: u32,
    pub(crate) checkpoint_step: Option<u64>,
    pub(crate) timestamp: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) episode_id: Option<String>,
}

impl From<EpisodeHead> for Row {
    fn from(head: EpisodeHead) -> Self {
        Self {
            episode: head.episode,
            reward: head.reward,
            length: head.length,
            timestep: head.step,
            seed: head.seed,
            terminated: head.terminated,
            truncated: head.truncated,
            lane: head.lane,
            attempt: head.attempt,
            checkpoint_step: head.checkpoint_step,
            timestamp: head.t,
            episode_id: head.foreign_id,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id = args.run.parse().map_err(RunError::from)?;
    let sort = match args.sort {
        By::Number => Sort::Number,
        By::Return => Sort::Return,
        By::Length => Sort::Length,
        By::Time => Sort::Time,
    };
    let order = if args.asc { Order::Ascending } else { Order::Descending };
    let (mut archive, offset, limit) = (Archive::open(&data, &id)?, args.offset, args.limit);
    let page = match args.seed {
        Some(seed) => archive.page_of_seed(seed, sort, order, offset, limit)?,
        None => archive.page(sort, order, offset, limit)?,
    };
    if !args.json {
        say(&format!(
            "{:>9}{:>14}{:>9}{:>12}{:>12}  END",
            "EPISODE", "RETURN", "LENGTH", "STEP", "SEED"
        ));
    }
    for row in page.heads.into_iter().map(Row::from) {
        if args.json {
            say_json(&row);
            continue;
        }
        let end = match (row.terminated, row.truncated) {
            (true, _) => "terminated",
            (false, true) => "truncated",
            (false, false) => "open",
        };
        let seed = row.seed.map_or_else(|| "-".to_owned(), |seed| seed.to_string());
        say(&format!(
            "{:>9}{:>14.2}{:>9}{:>12}{seed:>12}  {end}",
            row.episode, row.reward, row.length, row.timestep
        ));
    }
    if page.n_damaged > 0 && archive.is_unrecorded() {
        note("none of them can be seen again: the folder `episodes` of the run is missing");
    } else if page.n_damaged > 0 {
        note(&format!(
            "{} episodes of this run cannot be read: their file is damaged; see `cartridge fsck`",
            page.n_damaged
        ));
    }
    if !args.json {
        note(&format!("{} episodes in all", page.total));
    }
    Ok(Exit::Ok)
}
