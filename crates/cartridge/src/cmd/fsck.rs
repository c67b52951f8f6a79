//! `cartridge fsck`: prove that lists and disk agree.

use cartridge_run::clock::unix_now;
use cartridge_run::fsck::{self, Report};
use serde_json::json;

use super::{DataArgs, say, say_json};
use crate::exit::Exit;

/// Check the data folder: lists against files, hashes, torn lines, what crashes left behind
///
/// Ends with 1 when something is wrong and was not mended. Nothing that you could want is thrown
/// away by a repair.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,
    /// Mend what can be mended; needs a data folder without a lab at work
    #[arg(long)]
    repair: bool,
    /// One JSON object per finding, and the counts last
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let report = fsck::check(&data, args.repair, unix_now())?;
    let Report { findings, n_runs, n_at_work, n_artifacts, n_lines } = &report;
    let n_repaired = findings.iter().filter(|finding| finding.repaired).count();
    if args.json {
        findings.iter().for_each(say_json);
        say_json(&json!({
            "ok": !report.is_bad(), "findings": findings.len(), "repaired": n_repaired,
            "runs": n_runs, "at_work": n_at_work, "artifacts": n_artifacts, "lines": n_lines,
        }));
    } else {
        for finding in findings {
            let mark = if finding.repaired { "repaired" } else { "wrong" };
            say(&format!("{mark}: {}: {}", finding.path, finding.detail));
            if !finding.repaired {
                say(&format!("  hint: {}", finding.hint));
            }
        }
        let left_alone = if *n_at_work > 0 {
            format!(", {n_at_work} at work left alone")
        } else {
            String::new()
        };
        say(&format!(
            "{n_runs} runs{left_alone}, {n_artifacts} artifacts, {n_lines} lines: {}",
            match (findings.len(), findings.len() - n_repaired) {
                (0, _) => "all is well".to_owned(),
                (n, 0) => format!("{n} faults, all repaired"),
                (n, left) => format!("{n} faults, {left} not repaired"),
            }
        ));
    }
    Ok(if report.is_bad() { Exit::Failed } else { Exit::Ok })
}
