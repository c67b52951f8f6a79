//! `cartridge reproduce`: make a run again and compare.

use std::time::Instant;

use cartridge_run::RunError;
use cartridge_run::reproduce::{Outcome, Recorded, Reproduction};
use cartridge_run::store::RunId;
use indicatif::ProgressBar;
use serde::Serialize;

use super::{DataArgs, VERSION, note, progress_style, say, say_json};
use crate::exit::Exit;

/// Make a run again from its manifest and compare the weights
///
/// The run is trained anew in memory, with every change that was made while it trained, to the
/// step of the last weights that it recorded. Nothing is written. Exits with 0 where the weights
/// are the same to the last bit, with 1 where they are not.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of a run that has ended
    #[arg(value_name = "RUN")]
    id: String,
    /// Threads that learn; as many as the run had if it is not given
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(0..=256))]
    threads: Option<u32>,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The result.
#[derive(Debug, Serialize)]
struct Report {
    run_id: RunId,
    is_equal: bool,
    recorded: Recorded,
    reproduced: Outcome,
    /// Of this machine.
    instruction_set: &'static str,
    threads: usize,
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let run_id: RunId = args.id.parse().map_err(RunError::from)?;
    let data = args.data.open_existing()?;
    let reproduction = Reproduction::of(&data, &run_id, args.threads)?;
    let recorded = reproduction.recorded.clone();
    let threads = reproduction.n_threads();
    let instruction_set = cartridge_run::instruction_set();
    for remark in remarks(&recorded, instruction_set) {
        note(&remark);
    }
    let bar = if args.json { ProgressBar::hidden() } else { ProgressBar::new(recorded.step) };
    bar.set_style(progress_style("{bar:28} {percent:>3}%  {human_pos} steps  ETA {eta}"));
    let started = Instant::now();
    let reproduced = reproduction.train(&mut |step| bar.set_position(step.min(recorded.step)));
    let seconds = started.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let is_equal = reproduced.weights_sha256 == recorded.weights_sha256;
    if args.json {
        say_json(&Report {
            run_id,
            is_equal,
            recorded,
            reproduced,
            instruction_set,
            threads,
            seconds,
        });
    } else {
        let Outcome { step, weights_sha256, tunes } = &reproduced;
        let changes = match tunes {
            0 => String::new(),
            1 => ", one change of a setting made again".to_owned(),
            n => format!(", {n} changes of settings made again"),
        };
        say(&format!("{run_id}: {step} steps in {seconds:.1} s on {threads} threads{changes}"));
        say(&format!("recorded    {}", recorded.weights_sha256));
        say(&format!("reproduced  {weights_sha256}"));
        say(if is_equal { "the weights are the same" } else { "the weights are different" });
    }
    Ok(if is_equal { Exit::Ok } else { Exit::Failed })
}

/// What is different here from where the run was made, and whether that may change its weights.
fn remarks(recorded: &Recorded, here: &str) -> Vec<String> {
    let mut remarks = Vec::new();
    let others: Vec<&str> =
        recorded.instruction_sets.iter().map(String::as_str).filter(|set| *set != here).collect();
    if !others.is_empty() {
        let rounds_alike = here != "baseline" && !others.contains(&"baseline");
        let promise = if rounds_alike {
            "which round alike: the weights should be the same"
        } else {
            "which round differently: other weights are to be expected"
        };
        remarks.push(format!("made on {}, this machine has {here}, {promise}", others.join(", ")));
    }
    if recorded.cartridge_version != VERSION {
        let made_by = &recorded.cartridge_version;
        remarks.push(format!("made by version {made_by}, this is {VERSION}"));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(made_on: &[&str], version: &str, here: &str, expected: &[&str]) {
        let recorded = Recorded {
            step: 0,
            weights_sha256: String::new(),
            instruction_sets: made_on.iter().map(|&set| set.to_owned()).collect(),
            cartridge_version: version.to_owned(),
        };
        assert_eq!(remarks(&recorded, here), expected);
    }

    #[test]
    fn a_difference_of_machines_is_said() {
        check(&["avx2"], VERSION, "avx2", &[]);
        check(&[], VERSION, "baseline", &[]);
        let alike = "made on avx512, this machine has avx2, which round alike: the weights should be the same";
        check(&["avx2", "avx512"], VERSION, "avx2", &[alike]);
        let other = "made on avx2, this machine has baseline, which round differently: other weights are to be expected";
        check(&["avx2"], VERSION, "baseline", &[other]);
        check(
            &[],
            "0.0.0-old",
            "avx2",
            &[&format!("made by version 0.0.0-old, this is {VERSION}")],
        );
    }
}
