//! `cartridge audit`: who changed what, and whether the records are as they were written.

use cartridge_run::audit;
use cartridge_server::time::rfc3339;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// Tell who changed what, or verify the records
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    data: DataArgs,
    /// How many of the newest lines
    #[arg(long, value_name = "N", default_value_t = 100)]
    tail: usize,
    /// One JSON object per line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check the audit and the control lines of all runs; exit code 1 names the first bad line
    Verify {
        #[command(flatten)]
        data: DataArgs,
    },
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Some(Command::Verify { data }) => verify(data, args.json),
        None => list(args),
    }
}

fn list(args: &Args) -> anyhow::Result<Exit> {
    for line in audit::newest(&args.data.open_existing()?, args.tail)? {
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
