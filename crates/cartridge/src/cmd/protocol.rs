//! `cartridge protocol`: does a trainer speak the protocol?

use cartridge_run::protocol::check::{Class, LineReport, Options, Source, check};
use clap::Subcommand;

use super::exec::seconds;
use super::{printable, say, say_json};
use crate::exit::Exit;

/// Check how a trainer speaks the protocol (docs/protocol.md)
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckArgs),
}

/// Run any trainer and say line by line what is right, wrong or ignored
///
/// Exit code 0 when the trainer speaks the protocol well, 1 when not, and 7 when it does as far as
/// could be seen, but ended before everything was tried.
#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// Send pause, resume, checkpoint and stop, and look at what comes of them
    #[arg(long)]
    exercise: bool,
    /// Ask it to stop after so many seconds
    #[arg(long, value_name = "N", value_parser = seconds)]
    max_seconds: Option<f64>,
    /// Leave out the lines that are right, and those of the log
    #[arg(long)]
    quiet: bool,
    /// One JSON object per line, the summary last
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

pub(crate) fn run(Args { command: Command::Check(args) }: &Args) -> anyhow::Result<Exit> {
    let options = Options {
        command: args.command.clone(),
        exercise: args.exercise,
        max_seconds: args.max_seconds,
    };
    let summary = check(&options, |line| {
        if args.quiet && matches!(line.class, Class::Ok | Class::Log) {
            return;
        }
        if args.json { say_json(line) } else { say(&sentence(line)) }
    })?;
    if args.json {
        say_json(&summary);
    } else {
        let lines = &summary.lines;
        say("");
        let by_type: Vec<String> =
            lines.by_type.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        say(&format!("right    {:>8}  {}", lines.typed, by_type.join(", ")));
        say(&format!("log      {:>8}", lines.log));
        say(&format!("wrong    {:>8}", lines.wrong));
        say(&format!("unknown  {:>8}", lines.unknown));
        say(&format!("cut      {:>8}", lines.cut));
        say(&format!("numbers that are not finite: {}", lines.nonfinite));
        for exercise in &summary.exercise {
            let word = match exercise.ok {
                Some(true) => "ok",
                Some(false) => "FAILED",
                None => "-",
            };
            say(&format!("{:<11}{word:<8}{}", exercise.command, exercise.detail));
        }
        say(match (summary.problems.is_empty(), summary.not_tried.is_empty()) {
            (true, true) => "It speaks the protocol well.",
            (true, false) => "It speaks the protocol well as far as it was tried.",
            (false, _) => "It does not speak it well:",
        });
        for problem in &summary.problems {
            say(&format!("  {problem}"));
        }
        if !summary.not_tried.is_empty() {
            say("Not tried:");
        }
        for left_out in &summary.not_tried {
            say(&format!("  {left_out}"));
        }
    }
    Ok(match (summary.problems.is_empty(), summary.ok) {
        (false, _) => Exit::Failed,
        (true, false) => Exit::Unfinished,
        (true, true) => Exit::Ok,
    })
}

/// One line about one line.
fn sentence(line: &LineReport) -> String {
    let source = match line.source {
        Source::Stdout => "stdout",
        Source::Stderr => "stderr",
        Source::Socket => "socket",
    };
    let class = match line.class {
        Class::Ok => "ok",
        Class::Log => "log",
        Class::Wrong => "WRONG",
        Class::Unknown => "unknown",
        Class::Cut => "CUT",
    };
    let mut text = format!("{source}:{:<7} {class:<8}", line.line);
    let parts = [&line.kind, &line.reason, &line.text];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    text.push_str(&printable(&parts.join(": ")));
    text
}
