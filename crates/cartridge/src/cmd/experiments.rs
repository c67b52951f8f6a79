//! `cartridge experiments`: templates of runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::audit::Marks;
use cartridge_run::config::parse_assignment;
use cartridge_run::experiment::{self, NewExperiment, Plan, PlannedRun, parse_seeds};
use cartridge_run::steer::By;
use cartridge_run::store::{DataDir, Experiment, ExperimentId, Manifest};
use serde_json::{Map, Value, json};

use super::train::TermArgs;
use super::{
    DataArgs, STOP_GRACE_SECONDS, VERSION, launcher, note, parse_id, printable, say, say_json, user,
};
use crate::exit::Exit;

/// Make, list and clone experiments: templates of runs that never change
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    New(NewArgs),
    List(ListArgs),
    Show(ShowArgs),
    Clone(CloneArgs),
    /// Put an experiment away: it is listed only when asked for
    Archive(ArchiveArgs),
    /// Bring an experiment back from the archive
    Unarchive(ArchiveArgs),
    Run(RunArgs),
}

/// Make an experiment
///
/// The configuration comes from --file, or from the environment and options; options count more.
#[derive(Debug, clap::Args)]
struct NewArgs {
    /// Id of the environment, such as CartPole-v1
    #[arg(value_parser = parse_id, required_unless_present = "file")]
    env: Option<String>,
    /// Its name for people
    #[arg(long)]
    name: String,
    #[command(flatten)]
    changes: ChangeArgs,
    /// A configuration as JSON: sections with settings, as `cartridge schema experiment` has them
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// What an experiment is to have.
#[derive(Debug, clap::Args)]
struct ChangeArgs {
    /// What it is for
    #[arg(long, default_value = "")]
    description: String,
    /// The algorithm: ppo or dqn
    #[arg(long)]
    algo: Option<String>,
    /// Settings that go well together: fast, stable, high_score, zoo or speed
    #[arg(long, value_name = "P")]
    preset: Option<String>,
    /// A setting by its full path, such as trainer.learning_rate=3e-4; a bare key is an option of
    /// the environment; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A setting that runs of it may change, by its full path; may be repeated. Without it: what
    /// can be tuned
    #[arg(long, value_name = "PATH")]
    allow: Vec<String>,
}

impl ChangeArgs {
    /// Lays them over a configuration.
    fn lay(&self, config: &mut Map<String, Value>) -> Result<(), RunError> {
        if let Some(algo) = &self.algo {
            config.insert("algo".to_owned(), algo.as_str().into());
        }
        for text in &self.set {
            let (path, value) = parse_assignment(text, "trainer.gamma=0.98")?;
            // Found by whoever reads it: said twice is an error, said here counts.
            if let Some((section, name)) = path.split_once('.')
                && let Some(Value::Object(values)) = config.get_mut(section)
            {
                values.insert(name.to_owned(), value);
            } else {
                config.insert(path.to_owned(), value);
            }
        }
        if !self.allow.is_empty() {
            config.insert("overrides_whitelist".to_owned(), self.allow.as_slice().into());
        }
        Ok(())
    }
}

/// List experiments, newest first
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only with this in their name, id, environment or hash
    #[arg(long, default_value = "")]
    query: String,
    /// Only those that were put away
    #[arg(long)]
    archived: bool,
    /// How many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// Show an experiment with its configuration and its runs
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Name of the experiment
    #[arg(value_name = "EXPERIMENT")]
    id: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Make an experiment that differs from another
#[derive(Debug, clap::Args)]
struct CloneArgs {
    /// Name of the experiment
    #[arg(value_name = "EXPERIMENT")]
    id: String,
    /// Its name for people; without it that of the original with "(copy)"
    #[arg(long, default_value = "")]
    name: String,
    #[command(flatten)]
    changes: ChangeArgs,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ArchiveArgs {
    /// Name of the experiment
    #[arg(value_name = "EXPERIMENT")]
    id: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Make runs of an experiment and start them, or show what would be made
///
/// They are started by the lab on the same data folder as soon as there is room, and all at once
/// where there is none; `train --experiment` follows them one after the other.
#[derive(Debug, clap::Args)]
struct RunArgs {
    /// Name of the experiment
    #[arg(value_name = "EXPERIMENT")]
    id: String,
    /// One run for each: 7, 1,2,9 or 1..5, which is 1, 2, 3, 4 and 5
    #[arg(long, value_name = "SEEDS", value_parser = SeedList::parse)]
    seeds: Option<SeedList>,
    /// A setting that is changed: one of those in the experiment's overrides_whitelist
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Show the manifests, what differs from the experiment, and the jobs; make nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    terms: TermArgs,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// Seeds that were written as one word.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeedList(pub(crate) Vec<u64>);

impl SeedList {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        parse_seeds(text).map(Self)
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::New(args) => new(args),
        Command::List(args) => list(args),
        Command::Show(args) => show(args),
        Command::Clone(args) => clone(args),
        Command::Archive(args) => archive(args, true),
        Command::Unarchive(args) => archive(args, false),
        Command::Run(args) => start(args),
    }
}

/// The experiment that somebody named.
pub(crate) fn find(data: &DataDir, id: &str) -> Result<Experiment, RunError> {
    let id: ExperimentId = id.parse().map_err(RunError::Store)?;
    Ok(Experiment::read(data, &id)?)
}

/// Settings from texts such as `trainer.gamma=0.98`.
pub(crate) fn overrides(texts: &[String]) -> Result<Map<String, Value>, RunError> {
    let parse = |text: &String| {
        let (path, value) = parse_assignment(text, "trainer.learning_rate=1e-4")?;
        Ok((path.to_owned(), value))
    };
    texts.iter().map(parse).collect()
}

fn new(args: &NewArgs) -> anyhow::Result<Exit> {
    let mut config: Map<String, Value> = match &args.file {
        Some(path) => {
            let text =
                std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
            serde_json::from_slice(&text)
                .with_context(|| format!("{} is no JSON object", path.display()))?
        }
        None => Map::new(),
    };
    if let Some(env) = &args.env {
        config.insert("env_id".to_owned(), env.as_str().into());
    }
    args.changes.lay(&mut config)?;
    let ChangeArgs { description, preset, .. } = &args.changes;
    let new = NewExperiment {
        name: args.name.clone(),
        description: description.clone(),
        preset: preset.clone(),
        config,
    };
    let data = args.data.open()?;
    let made = experiment::create(&data, VERSION, new, By::new(&user()))?;
    say_made(&made, args.json);
    Ok(Exit::Ok)
}

fn clone(args: &CloneArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let from = find(&data, &args.id)?;
    let mut config = Map::new();
    args.changes.lay(&mut config)?;
    let ChangeArgs { description, preset, .. } = &args.changes;
    let changes = NewExperiment {
        name: args.name.clone(),
        description: description.clone(),
        preset: preset.clone(),
        config,
    };
    let made = experiment::clone(&data, VERSION, &from, changes, By::new(&user()))?;
    say_made(&made, args.json);
    Ok(Exit::Ok)
}

fn say_made(made: &Experiment, json: bool) {
    match json {
        true => say_json(made),
        false => say(&format!("{}  {}", made.id, made.name)),
    }
}

/// The runs of each experiment, newest first.
fn runs_by_experiment(data: &DataDir) -> Result<BTreeMap<String, Vec<Manifest>>, RunError> {
    let mut runs: BTreeMap<String, Vec<Manifest>> = BTreeMap::new();
    for id in data.run_ids()? {
        // A folder without a manifest is being made, or was never finished.
        let Ok(manifest) = data.run(&id).manifest() else { continue };
        if let Some(experiment) = &manifest.experiment_id {
            runs.entry(experiment.clone()).or_default().push(manifest);
        }
    }
    for runs in runs.values_mut() {
        runs.sort_by(|a, b| b.created_at.total_cmp(&a.created_at));
    }
    Ok(runs)
}

fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let mut marks = Marks::default();
    marks.advance(&data)?;
    let query = args.query.to_lowercase();
    let runs = runs_by_experiment(&data)?;
    let is_wanted = |experiment: &Experiment| {
        let Experiment { id, name, sha256, .. } = experiment;
        let text = format!("{name} {id} {} {sha256}", experiment.env_id()).to_lowercase();
        marks.archived_experiments.contains(id) == args.archived && text.contains(&query)
    };
    let found = experiment::list(&data)?.into_iter().filter(is_wanted).take(args.limit);
    if !args.json {
        say(&format!(
            "{:<10}{:<26}{:<6}{:>5}  {:<14}{}",
            "ID", "ENVIRONMENT", "ALGO", "RUNS", "HASH", "NAME"
        ));
    }
    for experiment in found {
        let n_runs = runs.get(experiment.id.as_str()).map_or(0, Vec::len);
        let Experiment { id, name, sha256, created_at, created_by, cloned_from, .. } = &experiment;
        let (env_id, algo) = (experiment.env_id(), experiment.algo());
        if args.json {
            say_json(&json!({
                "id": id, "name": name, "env_id": env_id, "algo": algo, "sha256": sha256,
                "created_at": created_at, "created_by": created_by, "cloned_from": cloned_from,
                "n_runs": n_runs,
            }));
        } else {
            let (hash, name) = (&sha256[..12], printable(name));
            say(&format!("{id:<10}{env_id:<26}{algo:<6}{n_runs:>5}  {hash:<14}{name}"));
        }
    }
    Ok(Exit::Ok)
}

fn show(args: &ShowArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let experiment = find(&data, &args.id)?;
    let mut runs = runs_by_experiment(&data)?;
    let runs = runs.remove(experiment.id.as_str()).unwrap_or_default();
    if args.json {
        let mut shown = serde_json::to_value(&experiment)?;
        let ids: Vec<_> = runs.iter().map(|manifest| manifest.id.as_str()).collect();
        shown["runs"] = ids.into();
        say_json(&shown);
        return Ok(Exit::Ok);
    }
    say(&format!("{}  {}", experiment.id, experiment.name));
    if !experiment.description.is_empty() {
        say(&experiment.description);
    }
    say(&format!("sha256 {}", experiment.sha256));
    if let Some(from) = &experiment.cloned_from {
        say(&format!("cloned from {from}"));
    }
    say(&format!("{:#}", experiment.config));
    for manifest in runs {
        say(&format!("{}  {}", manifest.id, manifest.name));
    }
    Ok(Exit::Ok)
}

fn archive(args: &ArchiveArgs, is_archived: bool) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id = find(&data, &args.id)?.id;
    experiment::archive(&data, &id, is_archived, By::new(&user()))?;
    match args.json {
        true => say_json(&json!({ "id": id, "archived": is_archived })),
        false if is_archived => say(&format!("{id} is in the archive")),
        false => say(&format!("{id} is back from the archive")),
    }
    Ok(Exit::Ok)
}

fn start(args: &RunArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let experiment = find(&data, &args.id)?;
    let seeds = args.seeds.clone().unwrap_or_default().0;
    let plan = Plan::of_experiment(experiment, &overrides(&args.set)?, &seeds)?;
    let launcher = launcher(Duration::from_secs(STOP_GRACE_SECONDS))?;
    let terms = args.terms.terms(None);
    let lab = args.terms.admit(&data, &plan.demand())?;
    if args.dry_run {
        let planned = plan.preview(&data, &launcher, &terms);
        say_plan(&plan, &planned, args.json);
        return Ok(Exit::Ok);
    }
    let made = plan.make(&data, &launcher, &terms, By::new(&user()))?;
    for manifest in &made {
        if lab.is_none() {
            launcher.start(&data, &manifest.id, 1)?;
        }
        match args.json {
            true => say_json(&json!({ "run_id": manifest.id, "group": manifest.group })),
            false => say(&format!("{}  {}", manifest.id, manifest.name)),
        }
    }
    if let Some(lab) = lab {
        note(&format!("the lab at {} starts them as soon as there is room", lab.address));
    }
    Ok(Exit::Ok)
}

/// Shows what would be made, and which other names of settings were understood.
pub(crate) fn say_plan(plan: &Plan, planned: &[PlannedRun], json: bool) {
    if json {
        let with_aliases = |run: &PlannedRun| {
            let mut shown = serde_json::to_value(run).expect("a plan is plain data");
            shown["aliases"] = json!(plan.aliases);
            shown
        };
        planned.iter().for_each(|run| say_json(&with_aliases(run)));
        return;
    }
    for (given, path) in &plan.aliases {
        say(&format!("{given} means {path}"));
    }
    planned.iter().for_each(say_planned);
}

/// Shows a run that would be made.
fn say_planned(run: &PlannedRun) {
    let name = run.manifest["name"].as_str().unwrap_or_default();
    say(&format!("would make: {name}"));
    for change in &run.differences {
        say(&format!("  {}: {} -> {}", change.path, change.old, change.new));
    }
    say(&format!("  {}", run.job.command.join(" ")));
    let mebibytes = run.job.memory_bytes / (1024 * 1024);
    say(&format!(
        "  {} cores, {mebibytes} MiB, {} GPUs, {} threads",
        run.job.cpu, run.job.gpu, run.job.threads
    ));
}
