//! `cartridge bench throughput`: steps per second, and where the time goes.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use cartridge_run::config::{Draft, parse_options};
use cartridge_run::games::registry::is_game;
use cartridge_run::store::data_dir::write_beside;
use cartridge_run::throughput::training::{
    CpuSeconds, Extent, RecordingCost, TrainingThroughput, compare_recording, measure_training,
};
use cartridge_run::throughput::{Phases, Plan, Rate, Throughput, measure};
use cartridge_run::{ConfigError, RunConfig, RunError};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use super::{parse_rate, parse_seconds};
use crate::cmd::{note, parse_id, say, say_json};
use crate::exit::Exit;

/// Step environments for a while, or train in them, and count
///
/// `env-only` takes random legal actions. `rollout` lets a policy act and learns nothing. `trainer`
/// trains as a run does: it records every episode, writes metrics and checkpoints, and leaves out
/// only evaluations, which `trainer+eval` has too. What is written goes to the system's folder for
/// temporary files and is removed. Without a preset PPO has 64 environments, 128 steps, batches of
/// 1,024 and 4 epochs. Exits with 1 when the target is missed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the environment
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    env: String,
    /// What is measured
    #[arg(long, value_enum, default_value_t = Mode::EnvOnly)]
    mode: Mode,
    /// The algorithm, where something acts: ppo, the default, or dqn
    #[arg(long, value_name = "ALGO")]
    algo: Option<String>,
    /// Settings that go well together, as of `cartridge train`
    #[arg(long, value_name = "P")]
    preset: Option<String>,
    /// Environments side by side; 64 unless a preset says otherwise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    envs: Option<u32>,
    /// Threads; all processors if it is not given, and no more than 4 where something acts
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// How long
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = parse_seconds)]
    seconds: f64,
    /// Decides episodes and actions
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A setting by its full path, such as trainer.batch_size=512, where something acts; a bare key
    /// is an option of the environment; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The rate to reach
    #[arg(long, visible_alias = "target", value_name = "N", default_value_t = 100_000.0, value_parser = parse_rate)]
    target_steps_per_sec: f64,
    /// Exit with 1 when the target is missed, which is always so
    #[arg(long, hide = true)]
    enforce_target: bool,
    /// With --mode trainer: train for as long again, in turns with recording and without, and compare
    /// the processor time that the same updates take
    #[arg(long)]
    compare_recording: bool,
    /// Also write the result to a file in this folder, named after environment and mode
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// The name of that file, without .json, where settings make it another measurement
    #[arg(long, value_name = "NAME", requires = "report", value_parser = parse_report_name)]
    report_name: Option<String>,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    /// Environments, with random legal actions
    EnvOnly,
    /// A policy that acts and does not learn
    Rollout,
    /// A training without evaluations
    Trainer,
    /// A training with evaluations
    #[value(name = "trainer+eval")]
    #[serde(rename = "trainer+eval")]
    TrainerEval,
}

impl Mode {
    /// The word on the command line.
    fn word(self) -> &'static str {
        match self {
            Self::EnvOnly => "env-only",
            Self::Rollout => "rollout",
            Self::Trainer => "trainer",
            Self::TrainerEval => "trainer+eval",
        }
    }
}

/// The result.
#[derive(Debug, Serialize)]
struct Report {
    mode: Mode,
    env: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    algo: Option<String>,
    steps_per_sec: Rate,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticks_per_sec: Option<Rate>,
    phases: Phases,
    cpu_percent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    recording_percent: Option<f64>,
    #[serde(flatten)]
    recording: Option<RecordingCost>,
    rss_mb: f64,
    episodes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    updates: Option<u64>,
    target_steps_per_sec: f64,
    target_met: bool,
    config: Value,
}

/// Turns of each kind with `--compare-recording`.
const ROUNDS: usize = 20;

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    if args.compare_recording && args.mode != Mode::Trainer {
        let detail = "it compares trainings; say --mode trainer".to_owned();
        let key = "--compare-recording".to_owned();
        return Err(RunError::from(ConfigError::BadValue { key, detail }).into());
    }
    let report = match args.mode {
        Mode::EnvOnly => step(args)?,
        Mode::Rollout => train(args, Extent::Rollout)?,
        Mode::Trainer => train(args, Extent::Trainer)?,
        Mode::TrainerEval => train(args, Extent::TrainerAndEvaluation)?,
    };
    if let Some(folder) = &args.report {
        keep(folder, args.report_name.as_deref(), &report)?;
    }
    if args.json {
        say_json(&report);
    } else {
        summarise(&report);
    }
    if !report.target_met {
        note(&format!(
            "{:.0} steps/s is below the target of {:.0}",
            report.steps_per_sec.mean, args.target_steps_per_sec
        ));
    }
    Ok(if report.target_met { Exit::Ok } else { Exit::Failed })
}

/// Environments alone.
fn step(args: &Args) -> anyhow::Result<Report> {
    for (option, is_given) in [("--algo", args.algo.is_some()), ("--preset", args.preset.is_some())]
    {
        if is_given {
            let detail = "nothing learns where environments are measured alone; \
                          say --mode rollout, trainer or trainer+eval";
            let (key, detail) = (option.to_owned(), detail.to_owned());
            return Err(RunError::from(ConfigError::BadValue { key, detail }).into());
        }
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut plan = Plan {
        env: args.env.clone(),
        options: parse_options(&args.set).map_err(RunError::from)?,
        envs: args.envs.unwrap_or(64) as usize,
        threads: args.threads.map_or(processors, |threads| threads as usize),
        seconds: args.seconds,
        seed: args.seed,
    };
    let Throughput { steps_per_sec, ticks_per_sec, phases, cpu_percent, rss_mb, episodes, threads } =
        measure(&plan)?;
    // What is reported is what ran.
    plan.threads = threads;
    Ok(Report {
        mode: args.mode,
        env: args.env.clone(),
        algo: None,
        steps_per_sec,
        ticks_per_sec: Some(ticks_per_sec),
        phases,
        cpu_percent,
        recording_percent: None,
        recording: None,
        rss_mb,
        episodes,
        updates: None,
        target_steps_per_sec: args.target_steps_per_sec,
        target_met: steps_per_sec.mean >= args.target_steps_per_sec,
        config: serde_json::to_value(&plan).expect("a plan is plain data"),
    })
}

/// A training, or the part of it that acts.
fn train(args: &Args, extent: Extent) -> anyhow::Result<Report> {
    let config = config(args).map_err(RunError::from)?;
    let found = measure_training(&config, extent, args.seconds)?;
    let recording = match args.compare_recording {
        true => Some(compare_recording(&config, args.seconds, ROUNDS)?),
        false => None,
    };
    let TrainingThroughput {
        steps_per_sec, phases, cpu_percent, rss_mb, episodes, updates, ..
    } = found;
    Ok(Report {
        mode: args.mode,
        env: config.env_id.clone(),
        algo: Some(config.algo.id().to_owned()),
        steps_per_sec,
        ticks_per_sec: None,
        phases,
        cpu_percent,
        recording_percent: (extent != Extent::Rollout).then_some(found.recording_percent),
        recording,
        rss_mb,
        episodes,
        updates: Some(updates),
        target_steps_per_sec: args.target_steps_per_sec,
        target_met: steps_per_sec.mean >= args.target_steps_per_sec,
        config: described(&config, args.preset.as_deref(), args.seconds),
    })
}

fn config(args: &Args) -> Result<RunConfig, ConfigError> {
    let algo = args.algo.as_deref().unwrap_or("ppo");
    let mut draft = Draft::new(&args.env, algo)?;
    if is_game(&args.env) {
        let detail = "self-play is measured by its runs: see self_play/ among their metrics";
        return Err(ConfigError::BadValue { key: "env".to_owned(), detail: detail.to_owned() });
    }
    match &args.preset {
        Some(preset) => draft.apply(preset)?,
        None => measured_settings(&mut draft, algo)?,
    }
    if let Some(n_envs) = args.envs {
        draft.set("simulation.n_envs", n_envs.into())?;
    }
    if let Some(threads) = args.threads {
        draft.set("resources.threads", threads.into())?;
    }
    draft.set("seeds.seed_base", args.seed.into())?;
    for assignment in &args.set {
        draft.set_text(assignment)?;
    }
    draft.finish()
}

/// The settings under which speeds are compared.
pub(super) fn measured_settings(draft: &mut Draft, algo: &str) -> Result<(), ConfigError> {
    // DQN has no steps per update: its own defaults are what others measure.
    if !algo.eq_ignore_ascii_case("ppo") {
        return Ok(());
    }
    for (path, value) in [
        ("simulation.n_envs", json!(64)),
        ("simulation.n_steps", json!(128)),
        ("trainer.batch_size", json!(1024)),
        ("trainer.n_epochs", json!(4)),
        ("trainer.net_arch", json!([64, 64])),
    ] {
        draft.set(path, value)?;
    }
    Ok(())
}

/// The configuration as the report has it: with what ran, and on what.
pub(super) fn described(config: &RunConfig, preset: Option<&str>, seconds: f64) -> Value {
    let mut described = serde_json::to_value(config).expect("a configuration is plain data");
    described["preset"] = json!(preset);
    described["seconds"] = json!(seconds);
    described["threads"] = json!(config.n_threads());
    described["instruction_set"] = json!(cartridge_run::instruction_set());
    described
}

/// Letters, digits and what stands in the names of environments and modes.
fn parse_report_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
    match text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("not a name of letters, digits, `-`, `_`, `+` and `.`".to_owned()),
    }
}

/// Writes the report under `name`, or as `CartPole-v1-trainer.json` or `CartPole-v1-dqn-trainer.json`.
fn keep(folder: &Path, name: Option<&str>, report: &Report) -> anyhow::Result<()> {
    let algo = match report.algo.as_deref() {
        None | Some("ppo") => String::new(),
        Some(algo) => format!("-{algo}"),
    };
    // A whole path, because the folder of the file is made durable too.
    let folder = std::path::absolute(folder).context("finding the folder of the report")?;
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("making the folder {}", folder.display()))?;
    let usual = format!("{}{algo}-{}", report.env, report.mode.word());
    let path = folder.join(format!("{}.json", name.unwrap_or(&usual)));
    let text = serde_json::to_string_pretty(report).expect("results are plain data") + "\n";
    write_beside(&path, text.as_bytes()).map_err(RunError::from)?;
    Ok(())
}

fn summarise(report: &Report) {
    let Report { env, config, mode, steps_per_sec: Rate { mean, p50, p95 }, .. } = report;
    let envs = config.get("envs").unwrap_or(&config["simulation"]["n_envs"]);
    let threads = &config["threads"];
    say(&format!("{env}, {}: {envs} environments on {threads} threads", mode.word()));
    say(&format!("steps/s  {mean:.0}  (p50 {p50:.0}, p95 {p95:.0})"));
    if let Some(ticks) = report.ticks_per_sec {
        say(&format!("ticks/s  {:.0}", ticks.mean));
    }
    let parts = report.phases.0.iter().filter(|(_, spent)| spent.seconds > 0.0);
    let parts: Vec<String> =
        parts.map(|(name, spent)| format!("{name} {:.1}%", 100.0 * spent.share)).collect();
    say(&format!("time     {}", parts.join(", ")));
    let Report { cpu_percent, rss_mb, episodes, .. } = report;
    say(&format!("CPU {cpu_percent:.0}%, {rss_mb:.0} MB, {episodes} episodes"));
    if let Some(percent) = report.recording_percent {
        say(&format!("recording adds {percent:.1}% to the CPU time"));
    }
    if let Some(RecordingCost {
        percent, ci95: [low, high], cpu_seconds_per_million_steps, ..
    }) = report.recording
    {
        let CpuSeconds { recorded, unrecorded } = cpu_seconds_per_million_steps;
        say(&format!(
            "beside the same without recording {percent:.1}% ({low:.1} to {high:.1}); {recorded:.2} and {unrecorded:.2} CPU seconds per million steps"
        ));
    }
}
