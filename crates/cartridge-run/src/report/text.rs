//! A report as text.

use std::fmt::Write as _;

use serde_json::Value;

use super::Report;
use crate::insight::{figure, small_figure};
use crate::time::rfc3339;

pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    let mut say = |line: String| _ = writeln!(out, "{line}");
    say(format!("{} ({})", one_line(&report.name), report.run_id));
    let (step, episodes) = (grouped(report.step), grouped(report.episodes));
    say(format!("{}, step {step}, {episodes} episodes", report.state));
    for (what, value) in facts(report) {
        say(format!("{what:<16} {}", one_line(&value)));
    }
    say(String::new());
    say(one_line(&report.insights.summary));
    say("\nINSIGHTS".to_owned());
    for insight in &report.insights.insights {
        say(format!("  {}: {}", insight.severity.as_str(), one_line(&insight.sentence)));
        say(format!("    {}", one_line(&insight.detail)));
        if let Some(suggestion) = &insight.suggestion {
            say(format!("    {suggestion}"));
        }
    }
    say("\nEVALUATIONS".to_owned());
    for evaluation in &report.evaluations {
        let [low, high] = evaluation.ci95.map(figure);
        say(format!(
            "  step {:>12}  {} ({low} to {high}) over {} episodes",
            evaluation.step,
            figure(evaluation.mean),
            evaluation.episodes
        ));
    }
    say("\nMETRICS".to_owned());
    for chart in &report.charts {
        let values: Vec<f64> = chart.value.iter().flatten().copied().collect();
        let (Some(first), Some(last)) = (values.first(), values.last()) else { continue };
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let [first, last, least, greatest] = [*first, *last, least, greatest].map(small_figure);
        say(format!("  {:<24} {first} -> {last}, {least} to {greatest}", one_line(&chart.label)));
    }
    say("\nCHANGES".to_owned());
    for change in &report.changes {
        let mut line = format!("  {} {} {}", moment(change.t), one_line(&change.who), change.what);
        if !change.old.is_null() || !change.new.is_null() {
            line += &one_line(&format!(": {} -> {}", value(&change.old), value(&change.new)));
        }
        say(line);
    }
    say("\nWARNINGS".to_owned());
    for warning in &report.warnings {
        say(format!("  {} {}", moment(warning.t), one_line(&warning.message)));
    }
    say("\nCONFIGURATION".to_owned());
    say(format!("{:#}", report.config));
    out
}

/// What is known of the run besides its numbers.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let lineage = &report.lineage;
    let resources = &report.resources;
    let join = |runs: &[cartridge_store::RunId]| -> Option<String> {
        let names: Vec<&str> = runs.iter().map(cartridge_store::RunId::as_str).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let made: u64 = resources.artifact_bytes.values().sum();
    let parent = lineage.parent.as_ref().zip(lineage.parent_step);
    [
        ("environment", Some(report.env_id.clone())),
        ("made", Some(moment(report.created_at))),
        ("started", report.started_at.map(moment)),
        ("ended", report.ended_at.map(moment)),
        ("failure", report.failure.clone()),
        ("forked from", parent.map(|(run, step)| format!("{run} at step {}", grouped(step)))),
        ("forks", join(&lineage.children)),
        ("experiment", lineage.experiment_id.clone()),
        ("group", lineage.group.clone()),
        ("time", resources.seconds.map(duration)),
        ("attempts", Some(resources.attempts.to_string())),
        ("steps per second", resources.steps_per_sec.map(|pace| grouped(pace as u64))),
        ("CPU", resources.cpu_percent.map(|percent| format!("{percent:.0}%"))),
        ("memory", resources.memory_bytes.map(size)),
        ("GPU", resources.gpu_percent.map(|percent| format!("{percent:.0}%"))),
        ("artifacts", (made > 0).then(|| size(made))),
        ("weights", report.weights_sha256.clone()),
        ("version", Some(report.cartridge_version.clone())),
    ]
    .into_iter()
    .filter_map(|(what, value)| Some((what, value?)))
    .collect()
}

/// A whole number with its thousands apart: `100,352`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// When, to the second, in UTC.
pub(super) fn moment(t: f64) -> String {
    let text = rfc3339(t);
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    format!("{date} {}", time.split('.').next().unwrap_or_default())
}

/// What was set: nothing where there was nothing.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, _) => format!("{seconds:.1} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn size(bytes: u64) -> String {
    let mut amount = bytes as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
        if amount < 1024.0 {
            return if unit == "bytes" {
                format!("{bytes} bytes")
            } else {
                format!("{amount:.1} {unit}")
            };
        }
        amount /= 1024.0;
    }
    format!("{amount:.1} TiB")
}

/// Text without what would move a terminal's cursor.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
