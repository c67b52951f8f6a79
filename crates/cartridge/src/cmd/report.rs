//! `cartridge report`: all of a run on one page.

use std::path::PathBuf;

use anyhow::Context as _;
use cartridge_run::store::RunId;
use cartridge_run::{RunError, report};

use super::{DataArgs, note, say};
use crate::exit::Exit;

/// Report all of a run: configuration, charts, insights, evaluations, lineage, changes
///
/// Examples:
///   cartridge report r-7f3k2m                              as text
///   cartridge report r-7f3k2m --format html -o run.html    a page that needs nothing else
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Name of the run
    run: String,
    /// How it is told
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write it to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For programs
    Json,
    /// For terminals and mails
    Text,
    /// A page with charts that needs nothing else
    Html,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let report = report::read(&args.data.open_existing()?, &id)?;
    let text = match if args.json { Format::Json } else { args.format } {
        Format::Json => serde_json::to_string(&report)?,
        Format::Text => report.to_text(),
        Format::Html => report.to_html(),
    };
    match &args.output {
        None => say(text.trim_end()),
        Some(path) => {
            let place = path.display();
            std::fs::write(path, text).with_context(|| format!("writing the report to {place}"))?;
            note(&format!("wrote {place}"));
        }
    }
    Ok(Exit::Ok)
}
