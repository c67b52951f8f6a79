//! `cartridge evals`: evaluations as jobs: started, listed, looked at and cancelled, with or without
//! a lab.

use std::time::Duration;

use cartridge_run::RunError;
use cartridge_run::contest_job;
use cartridge_run::evaluation_job::{self, Summary, Wanted, WantedEpisodes};
use cartridge_run::lab;
use cartridge_run::matches::MatchSummary;
use cartridge_run::steer::{self, By};
use cartridge_run::store::{
    Command, DataDir, Evaluated, Evaluation, Manifest, MatchResult, RunId, RunKind, RunState,
};
use cartridge_run::tournament::TournamentSummary;
use serde::Serialize;

use super::{DataArgs, STOP_GRACE_SECONDS, control, launcher, say, say_json, user};
use crate::exit::Exit;

/// Evaluations that are carried out in the background: start, list, show, cancel
///
/// Matches and tournaments are among them. `cartridge eval` measures a policy here and now. Examples:
///   cartridge evals start r-7f3k2m --episodes 20 --video
///   cartridge evals list
///   cartridge evals show r-9c2d4e --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Start(StartArgs),
    List(ListArgs),
    Show(ShowArgs),
    Cancel(CancelArgs),
}

/// Measure a checkpoint of a run in the background; training goes on beside it
#[derive(Debug, clap::Args)]
struct StartArgs {
    /// Name of the run
    run: String,
    /// How many episodes
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=i64::from(evaluation_job::MAX_EPISODES)))]
    episodes: u32,
    /// What the seeds of the episodes follow from
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The seeds themselves, separated by commas, one for each episode
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["seed", "episodes"])]
    seeds: Vec<u64>,
    /// Let chance choose as in training, instead of always taking the best action
    #[arg(long)]
    stochastic: bool,
    /// Make a film of it
    #[arg(long)]
    video: bool,
    /// Which checkpoint: latest, best, a folder, or a number of steps
    #[arg(long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// List evaluations, matches and tournaments, newest first
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only those of this run
    run: Option<String>,
    /// Only evaluations of policies, only matches, or only tournaments
    #[arg(long, value_enum)]
    kind: Option<KindArg>,
    /// How many
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// Show an evaluation, a match or a tournament, or the newest evaluation of a run that has a result
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Name of the evaluation, or of a run
    run: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output, with every episode
    #[arg(long)]
    json: bool,
}

/// Ask an evaluation to end, whether it waits or is at work
#[derive(Debug, clap::Args)]
struct CancelArgs {
    /// Name of the evaluation
    run: String,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
enum KindArg {
    /// A policy is measured
    Policy,
    /// Two players are compared
    Match,
    /// Several players are compared
    Tournament,
}

impl From<Evaluated> for KindArg {
    fn from(what: Evaluated) -> Self {
        match what {
            Evaluated::Policy => Self::Policy,
            Evaluated::Match => Self::Match,
            Evaluated::Tournament => Self::Tournament,
        }
    }
}

impl From<KindArg> for Evaluated {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Policy => Self::Policy,
            KindArg::Match => Self::Match,
            KindArg::Tournament => Self::Tournament,
        }
    }
}

/// An evaluation in one line.
#[derive(Debug, Serialize)]
struct Row {
    run_id: RunId,
    kind: KindArg,
    /// What it was asked to do.
    name: String,
    evaluates: Option<RunId>,
    state: RunState,
    env_id: String,
    step: u64,
    /// Episodes of a policy, or games.
    episodes: u64,
    episodes_done: u64,
    result: Option<Evaluation>,
    /// How a match went, for the player that it tells of.
    match_result: Option<MatchResult>,
    video: Option<String>,
}

impl Row {
    fn of(data: &DataDir, manifest: Manifest) -> Result<Self, RunError> {
        let (_, status) = steer::look(data, &manifest.id)?;
        let dir = data.run(&manifest.id);
        // A film that was made room for is no longer there.
        let video = Summary::read(&dir)?.and_then(|summary| summary.video);
        let video = video.filter(|path| dir.path().join(path).is_file());
        let kind = KindArg::from(manifest.evaluated().unwrap_or(Evaluated::Policy));
        let count = if kind == KindArg::Policy { "episodes" } else { "games" };
        Ok(Self {
            kind,
            evaluates: manifest.evaluates(),
            state: status.state(),
            step: manifest.config["step"].as_u64().unwrap_or(0),
            episodes: manifest.config[count].as_u64().unwrap_or(0),
            episodes_done: status.episodes,
            result: status.latest_eval,
            match_result: status.match_result.filter(|_| kind == KindArg::Match),
            name: manifest.name,
            video,
            env_id: manifest.env_id,
            run_id: manifest.id,
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.action {
        Action::Start(args) => start(args),
        Action::List(args) => list(args),
        Action::Show(args) => show(args),
        Action::Cancel(args) => cancel(args),
    }
}

fn start(args: &StartArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let subject = data.run(&id).manifest().map_err(RunError::from)?;
    let launcher = launcher(Duration::from_secs(STOP_GRACE_SECONDS))?;
    let wanted = Wanted {
        episodes: if args.seeds.is_empty() {
            WantedEpisodes::Derived { episodes: args.episodes, seed: args.seed }
        } else {
            WantedEpisodes::Given(args.seeds.clone())
        },
        is_deterministic: !args.stochastic,
        with_video: args.video,
        checkpoint: args.checkpoint.clone(),
    };
    // A lab that is at work here starts it at its turn.
    let has_lab = lab::presence(&data).is_some();
    let made = evaluation_job::create(&data, &launcher, &subject, wanted, By::new(&user()))?;
    if !has_lab {
        launcher.start(&data, &made.id, 1)?;
    }
    if args.json {
        say_json(&serde_json::json!({ "run_id": made.id, "evaluates": id }));
    } else {
        let what = if has_lab { "waits for its turn" } else { "is started" };
        say(&format!("{} {what}; `cartridge evals show {}` tells how it goes", made.id, made.id));
    }
    Ok(Exit::Ok)
}

fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let of: Option<RunId> =
        args.run.as_deref().map(str::parse).transpose().map_err(RunError::from)?;
    if let Some(id) = &of {
        data.run(id).manifest().map_err(RunError::from)?;
    }
    let found = evaluation_job::list(&data, of.as_ref(), args.kind.map(Into::into))?;
    if !args.json {
        say(&format!(
            "{:<10}{:<12}{:<24}{:<12}{:>14}{:>12}  {}",
            "EVAL", "KIND", "GAME", "STATE", "PLAYED", "RESULT", "WHAT"
        ));
    }
    for manifest in found.into_iter().take(args.limit) {
        let row = Row::of(&data, manifest)?;
        if args.json {
            say_json(&row);
            continue;
        }
        let [kind, state] = [serde_json::to_value(row.kind)?, serde_json::to_value(row.state)?];
        let mean = row.result.as_ref().map(|result| format!("{:.1}", result.mean));
        let score = row.match_result.as_ref().map(|result| format!("{:.1}%", 100.0 * result.score));
        let film = row.video.map_or_else(String::new, |video| format!(", {video}"));
        say(&format!(
            "{:<10}{:<12}{:<24}{:<12}{:>14}{:>12}  {}{film}",
            row.run_id.as_str(),
            kind.as_str().unwrap_or_default(),
            row.env_id,
            state.as_str().unwrap_or_default(),
            format!("{}/{}", row.episodes_done, row.episodes),
            mean.or(score).as_deref().unwrap_or("-"),
            row.name,
        ));
    }
    Ok(Exit::Ok)
}

fn show(args: &ShowArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let mut manifest = data.run(&id).manifest().map_err(RunError::from)?;
    if manifest.kind != RunKind::Eval {
        let mut all = evaluation_job::list(&data, Some(&id), None)?.into_iter();
        let has_result =
            |found: &Manifest| Summary::read(&data.run(&found.id)).is_ok_and(|it| it.is_some());
        manifest = all.find(has_result).ok_or_else(|| RunError::NoEvaluation(id.clone()))?;
    }
    if contest_job::is_contest(&manifest) {
        return show_contest(&data, &manifest, args.json);
    }
    let summary = Summary::read(&data.run(&manifest.id))?;
    let row = Row::of(&data, manifest)?;
    if args.json {
        let mut all = serde_json::to_value(&row)?;
        all["summary"] = serde_json::to_value(&summary)?;
        say_json(&all);
        return Ok(Exit::Ok);
    }
    let state = serde_json::to_value(row.state).unwrap_or_default();
    let state = state.as_str().unwrap_or_default().to_owned();
    let of = row.evaluates.as_ref().map_or_else(String::new, |run| format!(" of {run}"));
    say(&format!(
        "{}{of} at step {}: {state}, {} of {} episodes of {}",
        row.run_id, row.step, row.episodes_done, row.episodes, row.env_id
    ));
    if let Some(summary) = summary {
        let Evaluation { mean, std, ci95: [low, high], mean_length, .. } = summary.result;
        say(&format!("mean return  {mean:.1}  (95% interval {low:.1} to {high:.1}, std {std:.1})"));
        say(&format!(
            "mean length  {mean_length:.1}  ({} ended, {} ran out of time)",
            summary.terminated, summary.truncated
        ));
    }
    if let Some(video) = row.video {
        say(&format!("video        {}", data.run(&row.run_id).path().join(video).display()));
    }
    Ok(Exit::Ok)
}

/// Shows how a match or tournament went, as far as it has.
fn show_contest(data: &DataDir, manifest: &Manifest, as_json: bool) -> anyhow::Result<Exit> {
    let (dir, (_, status)) = (data.run(&manifest.id), steer::look(data, &manifest.id)?);
    let (state, games) = (status.state(), &manifest.config["games"]);
    let tournament = match contest_job::is_tournament(manifest) {
        true => TournamentSummary::read(&dir)?,
        false => None,
    };
    let played = MatchSummary::read(&dir)?;
    if as_json {
        say_json(&serde_json::json!({
            "run_id": manifest.id, "name": manifest.name, "state": state, "games": games,
            "games_done": status.episodes, "result": status.match_result,
            "match": played, "tournament": tournament,
        }));
        return Ok(Exit::Ok);
    }
    let state = serde_json::to_value(state).unwrap_or_default();
    let state = state.as_str().unwrap_or_default();
    say(&format!(
        "{}: {}, {state}, {} of {games} games",
        manifest.id, manifest.name, status.episodes
    ));
    if let Some(summary) = tournament {
        super::tournament::tell(&summary);
    }
    if let Some(result) = status.match_result {
        let MatchResult { wins, draws, losses, score, score_ci95: [low, high], .. } = result;
        say(&format!(
            "wins {wins}, draws {draws}, losses {losses}; score {:.1}% (95% interval {:.1}% to {:.1}%)",
            100.0 * score,
            100.0 * low,
            100.0 * high
        ));
    }
    Ok(Exit::Ok)
}

fn cancel(args: &CancelArgs) -> anyhow::Result<Exit> {
    let data = args.data.open_existing()?;
    let id: RunId = args.run.parse().map_err(RunError::from)?;
    let state = control::ask(&data, &id, Command::Stop)?;
    if args.json {
        say_json(&serde_json::json!({ "run_id": id, "state": state }));
    } else {
        say(&format!("{id} is being cancelled"));
    }
    Ok(Exit::Ok)
}
