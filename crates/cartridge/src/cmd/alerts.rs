//! `cartridge alerts`: what a person should know of now.

use cartridge_run::alert::{self, Alert, Book, State};
use cartridge_run::clock::unix_now;
use cartridge_run::steer::By;
use cartridge_run::time::rfc3339;

use super::{DataArgs, note, printable, say, say_json, user};
use crate::exit::Exit;

/// List alerts, and take note of them
///
/// A lab at work on the data folder raises them: a run that failed or fell silent, numbers that are
/// not finite, returns that collapsed, a lab that answers slowly, a disk that is nearly full.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List alerts, newest first: those that are not over, unless more is asked for
    List {
        /// Only those in this state
        #[arg(long, value_enum)]
        state: Option<Wanted>,
        /// Also those that are over
        #[arg(long, conflicts_with = "state")]
        all: bool,
        /// How many, at most
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: usize,
        #[command(flatten)]
        common: Common,
    },
    /// Take note of an alert: it stays until what it tells of is over
    Ack {
        /// Name of the alert, as in the list
        id: String,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Wanted {
    Firing,
    Acknowledged,
    Resolved,
}

#[derive(Debug, clap::Args)]
struct Common {
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List { state, all, limit, common } => list(*state, *all, *limit, common),
        Command::Ack { id, common } => acknowledge(id, common),
    }
}

fn list(state: Option<Wanted>, all: bool, limit: usize, common: &Common) -> anyhow::Result<Exit> {
    let book = Book::read(&common.data.open_existing()?)?;
    let state = state.map(|state| match state {
        Wanted::Firing => State::Firing,
        Wanted::Acknowledged => State::Acknowledged,
        Wanted::Resolved => State::Resolved,
    });
    let is_wanted = |alert: &&Alert| match state {
        Some(state) => alert.state == state,
        None => all || alert.is_open(),
    };
    let mut found = book.newest().filter(is_wanted).take(limit).peekable();
    if found.peek().is_none() {
        note("no alerts");
    }
    for alert in found {
        if common.json {
            say_json(alert);
        } else {
            show(alert);
        }
    }
    Ok(Exit::Ok)
}

fn show(alert: &Alert) {
    let state = alert.state.as_str();
    say(&format!("{:<8} {state:<12} {}", alert.id, printable(&alert.cause.sentence)));
    let about = alert.cause.run_id.as_ref().map_or("the lab", |id| id.as_str());
    let mut when = format!("since {}", rfc3339(alert.triggered_at));
    if let (Some(at), Some(why)) = (alert.resolved_at, &alert.resolved_reason) {
        when += &format!(" until {}: {why}", rfc3339(at));
    } else if let Some(by) = &alert.acknowledged_by {
        when += &format!(", {by} knows");
    }
    say(&format!("         {}, {about}, {when}", alert.cause.kind.as_str()));
    if alert.is_open() {
        say(&format!("         {}", alert.cause.suggestion));
    }
}

fn acknowledge(id: &str, common: &Common) -> anyhow::Result<Exit> {
    let data = common.data.open_existing()?;
    let mut book = Book::read(&data)?;
    let (alert, _) = alert::acknowledge(&mut book, &data, id, By::new(&user()), unix_now())?;
    if common.json {
        say_json(&alert);
    } else {
        show(&alert);
    }
    Ok(Exit::Ok)
}
