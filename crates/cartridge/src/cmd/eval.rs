//! `cartridge eval`: measure what a run has learnt, or a policy from elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cartridge_run::checkpoint;
use cartridge_run::evaluation::{Actor, KeptEvaluation, Outcome, Subject};
use cartridge_run::evaluation_job::film_of;
use cartridge_run::games::registry::is_game;
use cartridge_run::model;
use cartridge_run::policy_file::PolicyFile;
use cartridge_run::store::{DataDir, RunId};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{DataArgs, Found, OptionArgs, find_checkpoint, note, say, say_json};
use crate::exit::Exit;

/// Measure a policy over whole episodes, by default always taking its best action
///
/// The evaluation is kept as a run of its own, with every episode.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of a run, folder of a checkpoint, model:NAME[@VERSION], or an ONNX file that any program
    /// made
    #[arg(value_name = "RUN|CHECKPOINT|MODEL|FILE.onnx")]
    policy: String,
    /// How many episodes
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    episodes: u32,
    /// Chooses the episodes
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Measure the checkpoint with the best evaluation instead of the newest
    #[arg(long, conflicts_with = "checkpoint")]
    best: bool,
    /// Measure this checkpoint of the run: latest, best, a folder, or a number of steps
    #[arg(long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,
    /// Let chance choose as in training, instead of always taking the best action
    #[arg(long)]
    stochastic: bool,
    /// Also write a film of its first two minutes
    #[arg(long, value_name = "FILE.mp4")]
    video: Option<PathBuf>,
    /// Environment in which an ONNX file acts; ours name theirs
    #[arg(long, value_name = "ENV", value_parser = super::parse_id)]
    env: Option<String>,
    #[command(flatten)]
    options: OptionArgs,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The result.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    env_id: String,
    step: u64,
    mean: f64,
    std: f64,
    ci95: [f64; 2],
    mean_length: f64,
    returns: Vec<f64>,
    lengths: Vec<u32>,
    /// What each episode was reset with: `env.reset(seed=...)` begins the same in Gymnasium.
    seeds: Vec<u64>,
    terminated: u32,
    truncated: u32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metrics: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    video: Option<PathBuf>,
    /// The run that keeps this evaluation.
    eval_run_id: RunId,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match args.policy.strip_prefix("model:") {
        Some(model) => measure_model(args, model),
        None if args.policy.ends_with(".onnx") => measure_file(args),
        None => measure_run(args),
    }
}

fn measure_model(args: &Args, text: &str) -> anyhow::Result<Exit> {
    if args.best || args.checkpoint.is_some() || args.env.is_some() {
        note("error: a model is a version of its own, in its own environment");
        note("hint: say which version with model:NAME@VERSION or model:NAME@ALIAS");
        return Ok(Exit::Usage);
    }
    let data = args.data.open()?;
    let (model, version) = model::resolve(&data, text)?;
    let name = format!("model:{}@{}", model.name, version.version);
    let mut options = version.env.clone();
    options.extend(args.options.parse()?);
    let policy = model::actor(&data, &model, &version, &options)?;
    let subject = Subject::File {
        path: Path::new(&name),
        sha256: &version.sha256,
        env_id: &model.env_id,
        options: &options,
    };
    let about = About {
        run_id: version.run.clone(),
        file: Some(name.clone()),
        env_id: model.env_id.clone(),
        options: options.clone(),
        step: version.step,
    };
    measure(args, &data, subject, &*policy, about)
}

fn measure_run(args: &Args) -> anyhow::Result<Exit> {
    if args.env.is_some() || !args.options.parse()?.is_empty() {
        note("error: a run is measured in its own environment");
        note("hint: --env and --set are for ONNX files, whose names end in .onnx");
        return Ok(Exit::Usage);
    }
    let asked = args.checkpoint.as_deref().or(args.best.then_some("best"));
    let Found { dir, id, name } = find_checkpoint(&args.data, &args.policy, asked)?;
    let data = args.data.open()?;
    let manifest = dir.manifest().map_err(cartridge_run::RunError::from)?;
    if is_game(&manifest.env_id) {
        return Err(cartridge_run::RunError::MeasuredByGames(manifest.env_id).into());
    }
    let (checkpoint, policy) = checkpoint::load_named(&dir, &id, &name)?;
    let subject =
        Subject::Checkpoint { run: &manifest, name: &name, is_best: asked == Some("best") };
    let about = About {
        run_id: Some(id),
        file: None,
        env_id: manifest.env_id.clone(),
        options: manifest.config["env"].as_object().cloned().unwrap_or_default(),
        step: checkpoint.step,
    };
    measure(args, &data, subject, &policy, about)
}

fn measure_file(args: &Args) -> anyhow::Result<Exit> {
    if args.best || args.checkpoint.is_some() {
        note("error: a file is one policy and has no checkpoints to choose from");
        note("hint: --best and --checkpoint are for runs");
        return Ok(Exit::Usage);
    }
    let file = PolicyFile::open(Path::new(&args.policy))?;
    let (env_id, options) = file.environment(args.env.as_deref(), args.options.parse()?)?;
    // Before anything is made: a policy for another environment leaves nothing behind.
    file.check(&env_id, &options)?;
    let data = args.data.open()?;
    let subject = Subject::File {
        path: &file.path,
        sha256: &file.sha256,
        env_id: &env_id,
        options: &options,
    };
    let about = About {
        run_id: None,
        file: Some(args.policy.clone()),
        env_id: env_id.clone(),
        options: options.clone(),
        step: file.step(),
    };
    measure(args, &data, subject, &file, about)
}

/// What is measured, for the report.
struct About {
    run_id: Option<RunId>,
    file: Option<String>,
    env_id: String,
    options: Map<String, Value>,
    step: u64,
}

fn measure(
    args: &Args,
    data: &DataDir,
    subject: Subject<'_>,
    policy: &dyn Actor,
    about: About,
) -> anyhow::Result<Exit> {
    let About { run_id, file, env_id, options, step } = about;
    let kept = KeptEvaluation {
        subject,
        step,
        episodes: args.episodes,
        seed: args.seed,
        is_deterministic: !args.stochastic,
    };
    let (eval_run_id, outcome) = kept.carry_out(data, super::VERSION, policy)?;
    if let Some(path) = &args.video {
        let film = film_of(&env_id, &options, &outcome, &mut || true)?;
        super::video::write(path, &film.expect("nobody has ended it"))?;
    }
    let summary = outcome.summary(step);
    if args.json {
        let Outcome { returns, lengths, seeds, terminated, truncated, .. } = outcome;
        say_json(&Report {
            run_id,
            file,
            env_id,
            step,
            mean: summary.mean,
            std: summary.std,
            ci95: summary.ci95,
            mean_length: summary.mean_length,
            returns,
            lengths,
            seeds,
            terminated,
            truncated,
            metrics: summary.metrics,
            video: args.video.clone(),
            eval_run_id,
        });
    } else {
        let what = match (run_id, file) {
            (_, Some(file)) => file,
            (Some(id), None) => format!("{id} at step {step}"),
            (None, None) => String::new(),
        };
        say(&format!("{what}, {} episodes of {env_id}", args.episodes));
        let [low, high] = summary.ci95;
        say(&format!(
            "mean return  {:.1}  (95% interval {low:.1} to {high:.1}, std {:.1})",
            summary.mean, summary.std
        ));
        say(&format!(
            "mean length  {:.1}  ({} ended, {} ran out of time)",
            summary.mean_length, outcome.terminated, outcome.truncated
        ));
        for (name, mean) in &summary.metrics {
            say(&format!("mean {:<20}  {mean:.3}", name.replace('_', " ")));
        }
        if let Some(path) = &args.video {
            say(&format!("video {}", path.display()));
        }
        say(&format!("run {eval_run_id}"));
    }
    Ok(Exit::Ok)
}
