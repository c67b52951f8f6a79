//! `cartridge audit`: who changed what, and whether the records are as they were written.

use std::io::Write as _;

use cartridge_run::audit::{self, AuditLine, Filter};
use cartridge_server::api::audit::{to_csv, to_json};
use cartridge_server::time::{parse_rfc3339, rfc3339};

use super::{DataArgs, or_end, say, say_json};
use crate::exit::Exit;

/// Tell who changed what, export it, or verify the records
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Tell who changed what
    List(ListArgs),
    /// Print the audit as a table for spreadsheets, or as JSON
    Export {
        #[command(flatten)]
        which: WhichArgs,
        /// The form: in a CSV file, what a spreadsheet would take for a formula begins with '
        #[arg(long, value_enum, default_value_t = Format::Csv)]
        format: Format,
    },
    /// Check the audit and the control lines of all runs; exit code 1 names the first bad line
    Verify {
        #[command(flatten)]
        data: DataArgs,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// How many of the newest lines
    #[arg(long, value_name = "N", default_value_t = 100, alias = "limit")]
    tail: usize,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct WhichArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Only by this user or token
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Only this deed, such as tune
    #[arg(long, value_name = "WHAT")]
    action: Option<String>,
    /// Only to this run, or whatever else has a name
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// Not before this time, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<f64>,
    /// Not after this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<f64>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Csv,
    Json,
}

fn time(text: &str) -> Result<f64, String> {
    parse_rfc3339(text).ok_or_else(|| "write a time as 2026-01-31T12:00:00Z".to_owned())
}

impl WhichArgs {
    fn find(&self, limit: usize) -> anyhow::Result<Vec<AuditLine>> {
        let filter = Filter {
            who: self.actor.clone(),
            what: self.action.clone(),
            target: self.run.clone(),
            from: self.from,
            to: self.to,
            before: None,
        };
        Ok(audit::find(&self.data.open_existing()?, &filter, limit)?)
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(Command::Verify { data, json }) => verify(data, *json),
        Some(Command::Export { which, format }) => {
            let lines = which.find(usize::MAX)?;
            match format {
                Format::Csv => or_end(write!(std::io::stdout(), "{}", to_csv(&lines))),
                Format::Json => say(&to_json(lines)),
            }
            Ok(Exit::Ok)
        }
        Some(Command::List(args)) => list(args),
        None => list(&args.list),
    }
}

fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    for line in args.which.find(args.tail)? {
        if args.json {
            say_json(&line);
            continue;
        }
        let change = match (&line.old, &line.new) {
            (old, new) if old.is_null() && new.is_null() => String::new(),
            (old, new) if old.is_null() => format!("  {new}"),
            (old, new) if new.is_null() => format!("  {old}"),
            (old, new) => format!("  {old} -> {new}"),
        };
        say(&format!(
            "{:>6}  {}  {:<10}{:<12}{}{change}",
            line.seq,
            rfc3339(line.t),
            line.who,
            line.what.as_str(),
            line.target
        ));
    }
    Ok(Exit::Ok)
}

fn verify(data: &DataArgs, json: bool) -> anyhow::Result<Exit> {
    let verdict = audit::verify(&data.open_existing()?)?;
    if json {
        say_json(&verdict);
    } else {
        for bad in &verdict.bad {
            say(&format!("{} line {}: {}", bad.file, bad.line, bad.reason));
        }
        say(&format!("{} lines are as they were written", verdict.n_good));
    }
    Ok(if verdict.bad.is_empty() { Exit::Ok } else { Exit::Failed })
}
