//! A report as text.

use std::fmt::Write as _;

use super::Report;
use crate::insight::figure;
use crate::time::rfc3339;

pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    let mut say = |line: String| _ = writeln!(out, "{line}");
    say(format!("{} ({})", one_line(&report.name), report.run_id));
    say(format!("{}, step {}, {} episodes", report.state, report.step, report.episodes));
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
        let [first, last, least, greatest] = [*first, *last, least, greatest].map(figure);
        say(format!("  {:<24} {first} -> {last}, {least} to {greatest}", one_line(&chart.label)));
    }
    say("\nCHANGES".to_owned());
    for change in &report.changes {
        let (old, new) = (&change.old, &change.new);
        say(format!(
            "  {} {} {}: {old} -> {new}",
            rfc3339(change.t),
            one_line(&change.who),
            change.what
        ));
    }
    say("\nWARNINGS".to_owned());
    for warning in &report.warnings {
        say(format!("  {} {}", rfc3339(warning.t), one_line(&warning.message)));
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
        ("made", Some(rfc3339(report.created_at))),
        ("started", report.started_at.map(rfc3339)),
        ("ended", report.ended_at.map(rfc3339)),
        ("failure", report.failure.clone()),
        ("forked from", parent.map(|(run, step)| format!("{run} at step {step}"))),
        ("forks", join(&lineage.children)),
        ("experiment", lineage.experiment_id.clone()),
        ("group", lineage.group.clone()),
        ("seconds", resources.seconds.map(|seconds| format!("{seconds:.0}"))),
        ("attempts", Some(resources.attempts.to_string())),
        ("steps per second", resources.steps_per_sec.map(figure)),
        ("CPU", resources.cpu_percent.map(|percent| format!("{percent:.0}%"))),
        ("memory", resources.memory_bytes.map(|bytes| format!("{bytes} bytes"))),
        ("GPU", resources.gpu_percent.map(|percent| format!("{percent:.0}%"))),
        ("artifacts", (made > 0).then(|| format!("{made} bytes"))),
        ("weights", report.weights_sha256.clone()),
        ("version", Some(report.cartridge_version.clone())),
    ]
    .into_iter()
    .filter_map(|(what, value)| Some((what, value?)))
    .collect()
}

/// Text without what would move a terminal's cursor.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
