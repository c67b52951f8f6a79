//! `cartridge models`: policies that are kept under a name, with or without a lab.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::model::{self, NewVersion, ONNX, Source, WEIGHTS};
use cartridge_run::steer::By;
use cartridge_run::store::{Model, ModelList, ModelVersion, RunId};
use serde_json::json;

use super::{DataArgs, note, printable, say, say_json, user};
use crate::exit::Exit;

/// Keep policies under a name, version by version: list, show, add, import, alias, promote, remove, download
///
/// A version is a copy, so it stays when its run goes. Examples:
///   cartridge models add lander r-7f3k2m
///   cartridge models import from-sb3.onnx --env LunarLander-v3 --name lander
///   cartridge models alias lander best 3
///   cartridge models promote r-9c2d4e         the lab's best at its board game from now on
///   cartridge match LunarLander-v3 model:lander@best model:lander@1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    List(ListArgs),
    Show(ShowArgs),
    Add(AddArgs),
    Import(ImportArgs),
    Alias(AliasArgs),
    Promote(PromoteArgs),
    /// Put a model away: it is listed only when asked for; its versions stay
    Remove(ShowArgs),
    /// Bring a model back that was put away
    Unarchive(ShowArgs),
    Download(DownloadArgs),
}

/// List models, by name
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only those of this environment or game
    #[arg(long, value_name = "ENV")]
    env: Option<String>,
    /// Only those that were put away
    #[arg(long)]
    archived: bool,
    /// How many
    #[arg(long, default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// Show a model with its versions and where they came from
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Name of the model
    name: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Keep a checkpoint of a run, or an ONNX file, as the next version of a model
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Name of the model: small letters, digits, `-` and `_`
    name: String,
    /// Name of a run, or an ONNX file that any program made
    #[arg(value_name = "RUN|FILE.onnx")]
    source: String,
    /// Which checkpoint of the run: best, latest, a folder, or a number of steps; without it the
    /// best, or else the newest
    #[arg(long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,
    /// An ONNX file that the run has made, by its id in `cartridge artifacts`
    #[arg(long, value_name = "ARTIFACT", conflicts_with = "checkpoint")]
    artifact: Option<String>,
    /// Environment or game that an ONNX file is for; ours name theirs
    #[arg(long, value_name = "ENV", value_parser = super::parse_id)]
    env: Option<String>,
    /// What there is to say of it
    #[arg(long, default_value = "")]
    notes: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Keep a policy that another program made, an ONNX file, as the next version of a model
///
/// From then on it is measured, rated, shown and played against like any other: model:NAME.
#[derive(Debug, clap::Args)]
struct ImportArgs {
    /// The file
    #[arg(value_name = "FILE.onnx")]
    file: PathBuf,
    /// Name of the model: small letters, digits, `-` and `_`
    #[arg(long)]
    name: String,
    /// Environment or game that it is for; ours name theirs
    #[arg(long, value_name = "ENV", value_parser = super::parse_id)]
    env: Option<String>,
    /// What there is to say of it
    #[arg(long, default_value = "")]
    notes: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Move an alias, such as `best`, to a version; `latest` moves by itself
#[derive(Debug, clap::Args)]
struct AliasArgs {
    /// Name of the model
    name: String,
    /// The alias
    alias: String,
    /// Number of the version
    version: u32,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Make a run or a model the best at its board game: `best` plays by it, and so does the play page
///
/// It becomes a version of the model that has the game's name, to which the alias `best` is moved;
/// `data/models/GAME/best.onnx` follows.
#[derive(Debug, clap::Args)]
struct PromoteArgs {
    /// Name of a run, or a model: NAME, NAME@VERSION, NAME@ALIAS
    #[arg(value_name = "RUN|NAME@VERSION")]
    source: String,
    /// Which checkpoint of the run: best, latest, a folder, or a number of steps; without it the
    /// best, or else the newest
    #[arg(long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Write the policy of a version to a file
#[derive(Debug, clap::Args)]
struct DownloadArgs {
    /// Name of the model, or NAME@VERSION, NAME@ALIAS
    model: String,
    /// Where to write it
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// The weights as safetensors, and not the policy as ONNX
    #[arg(long)]
    weights: bool,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.action {
        Action::List(args) => list(args),
        Action::Show(args) => show(args),
        Action::Add(args) => add(args),
        Action::Import(args) => import(args),
        Action::Alias(args) => alias(args),
        Action::Promote(args) => promote(args),
        Action::Remove(args) => archive(args, true),
        Action::Unarchive(args) => archive(args, false),
        Action::Download(args) => download(args),
    }
}

fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let list = ModelList::read(&data).map_err(RunError::from)?;
    let is_wanted = |model: &&Model| {
        model.archived == args.archived
            && args.env.as_deref().is_none_or(|env_id| model.env_id == env_id)
    };
    if !args.json {
        say(&format!(
            "{:<24}{:<24}{:>9}{:>12}  {:<12}{}",
            "MODEL", "ENVIRONMENT", "VERSIONS", "STEP", "RUN", "ALIASES"
        ));
    }
    for model in list.models.iter().filter(is_wanted).take(args.limit) {
        if args.json {
            say_json(model);
            continue;
        }
        let usual = model.version(None).map_err(RunError::from)?;
        let aliases: Vec<String> =
            model.aliases.iter().map(|(alias, version)| format!("{alias}={version}")).collect();
        say(&format!(
            "{:<24}{:<24}{:>9}{:>12}  {:<12}{}",
            model.name.as_str(),
            model.env_id,
            model.versions.len(),
            usual.step,
            usual.run.as_ref().map_or("-", RunId::as_str),
            aliases.join(" ")
        ));
    }
    Ok(Exit::Ok)
}

fn show(args: &ShowArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let name = args.name.parse().map_err(RunError::from)?;
    let list = ModelList::read(&data).map_err(RunError::from)?;
    tell(list.get(&name).map_err(RunError::from)?, args.json);
    Ok(Exit::Ok)
}

/// Prints a model with its versions.
fn tell(model: &Model, as_json: bool) {
    if as_json {
        return say_json(model);
    }
    let away = if model.archived { ", put away" } else { "" };
    say(&format!("{}: {}, by {}{away}", model.name, model.env_id, model.created_by));
    for version in model.versions.iter().rev() {
        let aliases: Vec<&str> = model.aliases_of(version.version).collect();
        let aliases =
            if aliases.is_empty() { String::new() } else { format!(" ({})", aliases.join(", ")) };
        say(&format!("  version {}{aliases}: {}", version.version, origin(version)));
        if !version.notes.is_empty() {
            say(&format!("    {}", printable(&version.notes)));
        }
        for parent in &version.parents {
            say(&format!("    forked from {} at step {}", parent.run, parent.step));
        }
    }
}

/// Where a version came from.
fn origin(version: &ModelVersion) -> String {
    let hash = version.sha256.get(..12).unwrap_or_default();
    let from = match (&version.run, &version.checkpoint) {
        (Some(run), Some(checkpoint)) => format!("{checkpoint} of {run}"),
        (Some(run), None) => run.to_string(),
        (None, _) => "a file".to_owned(),
    };
    let experiment =
        version.experiment_id.as_ref().map_or_else(String::new, |id| format!(", experiment {id}"));
    format!("{from}, step {}, sha256 {hash}{experiment}", version.step)
}

fn add(args: &AddArgs) -> anyhow::Result<Exit> {
    let data = args.data.open()?;
    let source = if args.source.ends_with(".onnx") {
        Source::File { path: PathBuf::from(&args.source), env_id: args.env.clone() }
    } else {
        if args.env.is_some() {
            note("error: a run is of its own environment");
            note("hint: --env is for ONNX files, whose names end in .onnx");
            return Ok(Exit::Usage);
        }
        let id: RunId = args.source.parse().map_err(RunError::from)?;
        let run = Box::new(data.run(&id).manifest().map_err(RunError::from)?);
        match &args.artifact {
            Some(artifact) => {
                Source::Artifact { run, artifact: artifact.parse().map_err(RunError::from)? }
            }
            None => Source::Checkpoint { run, which: args.checkpoint.clone() },
        }
    };
    let new = NewVersion { name: args.name.clone(), source, notes: args.notes.clone() };
    let (model, version) = model::add(&data, new, By::new(&user()))?;
    tell_made(&model, &version, args.json);
    Ok(Exit::Ok)
}

fn import(args: &ImportArgs) -> anyhow::Result<Exit> {
    let data = args.data.open()?;
    let source = Source::File { path: args.file.clone(), env_id: args.env.clone() };
    let new = NewVersion { name: args.name.clone(), source, notes: args.notes.clone() };
    let (model, version) = model::add(&data, new, By::new(&user()))?;
    tell_made(&model, &version, args.json);
    Ok(Exit::Ok)
}

fn promote(args: &PromoteArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let source = if let Ok(id) = args.source.parse::<RunId>() {
        let run = Box::new(data.run(&id).manifest().map_err(RunError::from)?);
        Source::Checkpoint { run, which: args.checkpoint.clone() }
    } else {
        if args.checkpoint.is_some() {
            note("error: a version of a model is one checkpoint");
            note("hint: --checkpoint is for runs; NAME@VERSION says which version");
            return Ok(Exit::Usage);
        }
        let (model, version) = model::resolve(&data, &args.source)?;
        Source::Version { model: Box::new(model), version: Box::new(version) }
    };
    let (model, version) = model::promote(&data, source, By::new(&user()))?;
    tell_made(&model, &version, args.json);
    Ok(Exit::Ok)
}

/// Prints the version that was made.
fn tell_made(model: &Model, version: &ModelVersion, as_json: bool) {
    if as_json {
        say_json(&json!({
            "name": model.name, "version": version.version, "env_id": model.env_id,
            "run_id": version.run, "step": version.step, "sha256": version.sha256,
            "player": format!("model:{}@{}", model.name, version.version),
        }));
    } else {
        say(&format!("{}@{}: {}", model.name, version.version, origin(version)));
    }
}

fn alias(args: &AliasArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let name = args.name.parse().map_err(RunError::from)?;
    let model = model::alias(&data, &name, &args.alias, args.version, By::new(&user()))?;
    tell(&model, args.json);
    Ok(Exit::Ok)
}

fn archive(args: &ShowArgs, is_archived: bool) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let name = args.name.parse().map_err(RunError::from)?;
    let model = model::archive(&data, &name, is_archived, By::new(&user()))?;
    tell(&model, args.json);
    Ok(Exit::Ok)
}

fn download(args: &DownloadArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let (model, version) = model::resolve(&data, &args.model)?;
    let file = if args.weights { WEIGHTS } else { ONNX };
    let content = model::read_file(&data, &model.name, &version, file)?;
    let path = args.output.display();
    File::create(&args.output)
        .and_then(|mut output| output.write_all(&content))
        .with_context(|| format!("writing {path}"))?;
    let (name, number) = (&model.name, version.version);
    if args.json {
        say_json(&json!({
            "name": name, "version": number, "file": args.output, "size_bytes": content.len(),
            "sha256": cartridge_run::store::models::sha256(&content),
        }));
    } else {
        say(&format!("{path}: {name}@{number}, {} bytes", content.len()));
    }
    Ok(Exit::Ok)
}
