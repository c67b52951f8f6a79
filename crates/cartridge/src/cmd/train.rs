//! `cartridge train`: train an agent, with or without a lab.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use cartridge_run::config::{Draft, Resolved};
use cartridge_run::experiment::Plan;
use cartridge_run::lab::{self, Presence};
use cartridge_run::launch::{Launcher, Terms};
use cartridge_run::queue::{self, Demand};
use cartridge_run::retention::LabConfig;
use cartridge_run::steer::{self, By, Turn};
use cartridge_run::store::{
    Command, DataDir, ExperimentId, Follower, Limits, Manifest, News, Restart, RunDir, RunId,
    RunState, RunStatus, jsonl,
};
use cartridge_run::supervisor::HEARTBEAT;
use cartridge_run::track::account::Account;
use cartridge_run::{Algorithm, ConfigError, RunError};
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::json;
use signal_hook::consts::SIGINT;

use super::{
    DataArgs, STOP_GRACE_SECONDS, launcher, note, parse_id, progress_style, say, say_json, user,
};
use crate::cmd::control::ask;
use crate::cmd::experiments::{SeedList, find, overrides, say_plan};
use crate::exit::Exit;

/// Train an agent in an environment, or at a game
///
/// The run is an ordinary one: a lab on the same data folder shows it live, and it goes on if
/// this command is closed. The first Ctrl-C stops the run after a last checkpoint, the second
/// leaves it to itself. While a lab is at work on the data folder, the run waits in its queue until
/// there is room; Ctrl-C takes a run that waits back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the environment or game, such as CartPole-v1 or connect4; an experiment has its own
    #[arg(value_parser = parse_id, required_unless_present = "experiment")]
    env: Option<String>,
    /// The algorithm: ppo or dqn in environments, ppo unless it is said; alphazero at games
    #[arg(long)]
    algo: Option<String>,
    /// Settings that go well together: fast, stable, high_score, zoo (RL-Zoo's) or speed (ours)
    #[arg(long, value_name = "P")]
    preset: Option<String>,
    /// Environment steps to train for (trainer.total_timesteps)
    #[arg(long, value_name = "N")]
    steps: Option<String>,
    /// The number that decides the whole run (seeds.seed_base)
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Several runs, one for each: 1,2,9 or 1..5, which is 1, 2, 3, 4 and 5. They are a group
    #[arg(long, value_name = "SEEDS", conflicts_with = "seed", value_parser = SeedList::parse)]
    seeds: Option<SeedList>,
    /// Threads that learn (resources.threads); 0 for as many as there are cores, up to 4
    #[arg(long, value_name = "T")]
    threads: Option<u32>,
    /// End when the returns have reached what is to be had and no longer rise (trainer.early_stop)
    #[arg(long)]
    early_stop: bool,
    /// Film evaluations as MP4 files below videos/ of the run (evaluation.capture_video); the newest
    /// are kept
    #[arg(long)]
    capture_video: bool,
    /// Any other setting by its full path, such as trainer.learning_rate=3e-4; a bare key is an
    /// option of the environment; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Tell a W&B server of the run as well: the one in WANDB_BASE_URL, or W&B's own, with the key in
    /// WANDB_API_KEY or that of `wandb login`
    #[arg(long)]
    track: bool,
    /// The project there; otherwise WANDB_PROJECT, or cartridge
    #[arg(long, value_name = "P", requires = "track")]
    wandb_project: Option<String>,
    /// Whose project it is; otherwise WANDB_ENTITY, or that of the key
    #[arg(long, value_name = "E", requires = "track")]
    wandb_entity: Option<String>,
    #[command(flatten)]
    experiment: ExperimentArgs,
    #[command(flatten)]
    terms: TermArgs,
    /// Show what would be made and how it would be started; make nothing
    #[arg(long)]
    dry_run: bool,
    /// Start the run and return at once
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per line, the result last
    #[arg(long)]
    json: bool,
}

/// What holds for a run whatever it trains: the same for our trainers and for those of others.
#[derive(Debug, clap::Args)]
pub(crate) struct TermArgs {
    /// Start the run again from its last checkpoint when it fails, at most so often. The lab does
    /// it (`cartridge up`); without one only this command does, and only as long as it is open
    #[arg(long, value_name = "N", default_value_t = 0)]
    restarts: u32,
    /// Seconds before it is started again for the first time; twice as long before every further
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds)]
    restart_backoff: f64,
    /// End it after so many seconds, with a last checkpoint
    #[arg(long, value_name = "SECONDS", value_parser = super::exec::seconds)]
    max_seconds: Option<f64>,
    /// Start it at once, past the queue of a lab on the same data folder
    #[arg(long)]
    now: bool,
}

/// The experiment that a run belongs to.
#[derive(Debug, clap::Args)]
pub(crate) struct ExperimentArgs {
    /// The experiment that it belongs to, by which old runs are counted: the name of one that
    /// `cartridge experiments` has made, from which the configuration is then taken, or any word
    #[arg(long, value_name = "ID", value_parser = experiment_id)]
    pub(crate) experiment: Option<String>,
}

impl TermArgs {
    pub(crate) fn terms(&self, experiment_id: Option<String>) -> Terms {
        let restart = Restart { max: self.restarts, backoff_s: self.restart_backoff };
        Terms {
            restart: (self.restarts > 0).then_some(restart),
            limits: Limits { max_seconds: self.max_seconds, ..Limits::default() },
            experiment_id,
            group: None,
            track: None,
        }
    }

    /// The lab in whose queue the run will wait, if there is one that has room for it at all.
    pub(crate) fn admit(
        &self,
        data: &DataDir,
        demand: &Demand,
    ) -> anyhow::Result<Option<Presence>> {
        let lab = lab::presence(data).filter(|_| !self.now);
        if let Some(lab) = &lab {
            lab.limits.admit(demand).map_err(RunError::from)?;
        }
        Ok(lab)
    }
}

/// Letters, digits and signs that are the same in a file name and in a URL.
fn experiment_id(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if (1..=64).contains(&text.len()) && text.bytes().all(is_plain) && !text.starts_with('.') {
        Ok(text.to_owned())
    } else {
        Err("write it with up to 64 letters, digits, `-`, `_` and `.`".to_owned())
    }
}

/// The result.
#[derive(Debug, Serialize)]
struct Report {
    run_id: RunId,
    state: RunState,
    steps: u64,
    seconds: f64,
    steps_per_sec: f64,
    eval_mean: Option<f64>,
    weights_sha256: Option<String>,
    checkpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wandb_url: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    // Checked before anything is made, so that a misspelt word leaves nothing behind.
    let plan = plan(args)?;
    let mut terms = args.terms.terms(args.experiment.experiment.clone());
    let launcher = launcher(Duration::from_secs(STOP_GRACE_SECONDS))?;
    let data = args.data.open()?;
    let account = Account::from_environment();
    if args.track {
        let config = LabConfig::read(&data)?;
        let (entity, project) = (args.wandb_entity.as_deref(), args.wandb_project.as_deref());
        terms.track = Some(account.server(&config, entity, project)?);
    }
    let lab = args.terms.admit(&data, &plan.demand())?;
    if let Some(lab) = lab.as_ref().filter(|_| args.track && account.has_own_key()) {
        note(&format!(
            "the lab at {} starts this run, and needs WANDB_API_KEY in its own environment; --now starts it from here",
            lab.address
        ));
    }
    plan.configs[0].warnings().iter().for_each(|warning| note(warning));
    if args.dry_run {
        let planned = plan.preview(&data, &launcher, &terms);
        say_plan(&plan, &planned, args.json);
        return Ok(Exit::Ok);
    }
    let interrupts = count_interrupts()?;
    let made = plan.make(&data, &launcher, &terms, By::new(&user()))?;
    let mut outcome = Exit::Ok;
    for (manifest, config) in made.iter().zip(&plan.configs) {
        if interrupts.load(Ordering::Relaxed) > 0 {
            // Those that come after one that was stopped are taken back.
            ask(&data, &manifest.id, Command::Stop)?;
            outcome = Exit::Failed;
            continue;
        }
        hand_over(&data, &launcher, manifest, lab.as_ref(), args.detach, args.json)?;
        if args.detach {
            continue;
        }
        let total = Some(config.trainer.total_timesteps());
        let mut watcher = Watcher::new(args.json, total, data.run(&manifest.id));
        watcher.is_handed_over = lab.is_some();
        let ended = follow(&data, &launcher, manifest, watcher, &interrupts)?;
        if ended != Exit::Ok {
            outcome = ended;
        }
    }
    Ok(outcome)
}

/// What is to be made.
fn plan(args: &Args) -> anyhow::Result<Plan> {
    let seeds = match (&args.seeds, args.seed) {
        (Some(seeds), _) => seeds.0.clone(),
        (None, Some(seed)) => vec![seed],
        (None, None) => Vec::new(),
    };
    let template = args.experiment.experiment.as_deref();
    let Some(id) = template.filter(|id| id.parse::<ExperimentId>().is_ok()) else {
        return Ok(Plan::of_resolved(config(args).map_err(RunError::from)?, &seeds)?);
    };
    let of_experiment = [
        ("ENV", args.env.is_some()),
        ("--algo", args.algo.is_some()),
        ("--preset", args.preset.is_some()),
        ("--steps", args.steps.is_some()),
        ("--threads", args.threads.is_some()),
        ("--early-stop", args.early_stop),
        ("--capture-video", args.capture_video),
    ];
    if let Some((word, _)) = of_experiment.iter().find(|(_, is_given)| *is_given) {
        let detail = format!(
            "experiment {id} has it; leave it out, change what its overrides_whitelist allows with --set, or clone the experiment"
        );
        let error = ConfigError::BadValue { key: (*word).to_owned(), detail };
        return Err(RunError::from(error).into());
    }
    let experiment = find(&args.data.open_existing()?, id)?;
    Ok(Plan::of_experiment(experiment, &overrides(&args.set)?, &seeds)?)
}

/// Starts a run that was made, or leaves it to the lab whose queue it waits in, and says so.
pub(crate) fn hand_over(
    data: &DataDir,
    launcher: &Launcher,
    manifest: &Manifest,
    lab: Option<&Presence>,
    is_detached: bool,
    json: bool,
) -> anyhow::Result<()> {
    if lab.is_none() {
        launcher.start(data, &manifest.id, 1)?;
    }
    match (is_detached, json) {
        (true, true) => say_json(&json!({ "run_id": manifest.id })),
        (true, false) => say(manifest.id.as_str()),
        (false, _) => note(&format!("{}: {}", manifest.id, manifest.name)),
    }
    if is_detached && lab.is_none() && manifest.restart.is_some() {
        note(
            "nobody is there to start it again when it fails: keep `cartridge up` running for that",
        );
    }
    if let (Some(lab), true) = (lab, is_detached) {
        note(&format!("the lab at {} starts it as soon as there is room", lab.address));
    }
    Ok(())
}

/// Counts how often Ctrl-C is pressed.
pub(crate) fn count_interrupts() -> anyhow::Result<Arc<AtomicUsize>> {
    let interrupts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&interrupts);
    let mut signals =
        signal_hook::iterator::Signals::new([SIGINT]).context("listening for Ctrl-C")?;
    thread::spawn(move || {
        signals.forever().for_each(|_| _ = counter.fetch_add(1, Ordering::Relaxed));
    });
    Ok(interrupts)
}

/// Shows a run until it has ended, or until the second Ctrl-C.
pub(crate) fn follow(
    data: &DataDir,
    launcher: &Launcher,
    manifest: &Manifest,
    mut watcher: Watcher,
    interrupts: &AtomicUsize,
) -> anyhow::Result<Exit> {
    let mut is_stopping = false;
    let mut waiting = Waiting { looked_at: Instant::now(), said: None };
    loop {
        let news = watcher.look()?;
        let state = watcher.follower.status.state();
        if state == RunState::Queued && watcher.waits_for_a_lab() {
            watcher.last_heard = Instant::now();
            waiting.tell(data, &manifest.id, &watcher)?;
        }
        let is_silent = watcher.silence() > 2 * HEARTBEAT;
        if let Some(wait) = watcher.restart_wait(manifest, is_silent) {
            watcher.bar.suspend(|| {
                note(&format!("{} failed; it is started again in {wait:.0?}", manifest.id));
            });
            watcher.start_again(data, launcher, manifest, wait, interrupts)?;
            continue;
        }
        if state.is_final() {
            break;
        }
        if is_silent {
            anyhow::bail!(
                "the supervisor of {} fell silent; see {}",
                manifest.id,
                watcher.dir.path().display()
            );
        }
        match interrupts.load(Ordering::Relaxed) {
            0 => {}
            1 if !is_stopping => {
                is_stopping = true;
                watcher.bar.suspend(|| match state {
                    RunState::Queued => note("taking it back from the queue"),
                    _ => note(
                        "stopping after a last checkpoint; Ctrl-C again leaves the run to itself",
                    ),
                });
                ask(data, &manifest.id, Command::Stop)?;
            }
            1 => {}
            _ => {
                watcher.bar.abandon();
                if !is_stopping {
                    // Both came at once: the first still means stop.
                    ask(data, &manifest.id, Command::Stop)?;
                }
                note(&format!(
                    "{} goes on; end it with `cartridge stop {}`",
                    manifest.id, manifest.id
                ));
                return Ok(Exit::Failed);
            }
        }
        if !news.changed {
            thread::sleep(Duration::from_millis(100));
        }
    }
    watcher.finish(&manifest.id)
}

/// How often a run that waits is looked for in the queue.
const QUEUE_LOOK: Duration = Duration::from_secs(1);

/// What was said of a run in the queue of a lab. One that is started within a moment is not spoken
/// of.
#[derive(Debug)]
struct Waiting {
    looked_at: Instant,
    said: Option<String>,
}

impl Waiting {
    /// Says where the run stands whenever that has changed.
    fn tell(&mut self, data: &DataDir, id: &RunId, watcher: &Watcher) -> anyhow::Result<()> {
        if self.looked_at.elapsed() < QUEUE_LOOK {
            return Ok(());
        }
        self.looked_at = Instant::now();
        let what_to_do = format!("Ctrl-C takes it back, `cartridge start {id}` starts it at once");
        let word = match (lab::presence(data), queue::place(data, id)?) {
            // It has just been started.
            (_, None) => return Ok(()),
            (Some(Presence { address, .. }), Some(place)) => {
                format!(
                    "{id} waits in the queue of the lab at {address}, at place {place}; {what_to_do}"
                )
            }
            (None, _) => format!("the lab is gone, and {id} waits for the next; {what_to_do}"),
        };
        if self.said.as_ref() != Some(&word) {
            watcher.bar.suspend(|| note(&word));
            self.said = Some(word);
        }
        Ok(())
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "write seconds between 0 and 86400".to_owned())
}

fn config(args: &Args) -> Result<Resolved, ConfigError> {
    let Some(env) = &args.env else {
        let detail = "name one, such as CartPole-v1: only an experiment that was made has its own";
        return Err(ConfigError::BadValue { key: "ENV".to_owned(), detail: detail.to_owned() });
    };
    let mut draft =
        Draft::new(env, args.algo.as_deref().unwrap_or_else(|| Algorithm::usual(env).id()))?;
    if let Some(preset) = &args.preset {
        draft.apply(preset)?;
    }
    if let Some(threads) = args.threads {
        draft.set("resources.threads", threads.into())?;
    }
    if args.capture_video {
        draft.set("evaluation.capture_video", true.into())?;
    }
    if args.early_stop {
        draft.set("trainer.early_stop", true.into())?;
    }
    for assignment in &args.set {
        draft.set_text(assignment)?;
    }
    if let Some(steps) = &args.steps {
        // People write 1_000_000 and 1e6.
        draft.set_text(&format!("trainer.total_timesteps={}", steps.replace(['_', ','], "")))?;
    }
    if let Some(seed) = args.seed {
        draft.set("seeds.seed_base", seed.into())?;
    }
    draft.resolve()
}

/// Follows the run's files and shows how it gets on.
pub(crate) struct Watcher {
    dir: RunDir,
    follower: Follower,
    bar: ProgressBar,
    json: bool,
    started: Instant,
    last_heard: Instant,
    total: Option<u64>,
    /// How far the trainer's own words have been shown.
    shown_log: Option<u64>,
    /// Whether a lab starts the run.
    pub(crate) is_handed_over: bool,
    /// The address at W&B that was shown.
    shown_page: Option<String>,
}

impl Watcher {
    /// Without a total nobody knows how far it will go, and the trainer's own words are shown.
    pub(crate) fn new(json: bool, total: Option<u64>, dir: RunDir) -> Self {
        let bar = match total {
            _ if json => ProgressBar::hidden(),
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::new_spinner(),
        };
        let template = match total {
            Some(_) => "{bar:28} {percent:>3}%  {human_pos} steps  {msg}",
            None => "{spinner} {human_pos} steps  {msg}",
        };
        bar.set_style(progress_style(template));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self {
            dir,
            follower: Follower::default(),
            bar,
            json,
            started: Instant::now(),
            last_heard: Instant::now(),
            total,
            shown_log: (total.is_none() && !json).then_some(0),
            is_handed_over: false,
            shown_page: None,
        }
    }

    /// Whether the run, as long as it is queued, waits for a lab and not for its supervisor.
    fn waits_for_a_lab(&self) -> bool {
        self.is_handed_over || self.follower.status.waits_since().is_some()
    }

    fn look(&mut self) -> anyhow::Result<News> {
        let news = self.follower.advance(&self.dir).map_err(RunError::from)?;
        let read = Instant::now();
        if news.supervisor_spoke {
            self.last_heard = read;
        }
        let status = &self.follower.status;
        if self.json {
            for line in &news.metrics {
                say_json(&json!({ "step": line.step, "metrics": line.values }));
            }
        }
        let page = status.wandb.as_ref().map(|page| &page.url);
        if page != self.shown_page.as_ref() {
            self.shown_page = page.cloned();
            self.bar.suspend(|| note(&format!("W&B: {}", page.map_or("", String::as_str))));
        }
        for (_, line) in &news.events {
            if line.event.level() != cartridge_run::store::Level::Info {
                self.bar.suspend(|| note(&line.event.message()));
            }
        }
        self.bar.set_position(status.step.min(self.total.unwrap_or(u64::MAX)));
        self.bar.set_message(progress(status, self.total));
        if let Some(shown) = self.shown_log {
            let lines = jsonl::read_lines(&self.dir.log_path(), shown, None);
            for line in lines.map_err(RunError::from)? {
                self.bar.suspend(|| note(&String::from_utf8_lossy(&line.bytes)));
                self.shown_log = Some(line.end);
            }
        }
        // Whoever reads what is printed here may take their time: that is no silence of the run.
        self.last_heard += read.elapsed();
        Ok(news)
    }

    fn silence(&self) -> Duration {
        self.last_heard.elapsed()
    }

    /// How long to wait before the run is started again, if it should be.
    fn restart_wait(&self, manifest: &Manifest, is_silent: bool) -> Option<Duration> {
        let status = &self.follower.status;
        let is_lost = is_silent && !self.dir.is_supervised();
        if status.state() != RunState::Failed && !is_lost {
            return None;
        }
        let seconds = manifest.restart.as_ref()?.wait_s(status.last_attempt())?;
        Some(Duration::from_secs_f64(seconds))
    }

    /// Waits and starts the run again, unless a lab has done so first.
    fn start_again(
        &mut self,
        data: &DataDir,
        launcher: &Launcher,
        manifest: &Manifest,
        wait: Duration,
        interrupts: &AtomicUsize,
    ) -> anyhow::Result<()> {
        let attempt = self.follower.status.last_attempt();
        let due = Instant::now() + wait;
        while Instant::now() < due && interrupts.load(Ordering::Relaxed) == 0 {
            thread::sleep(Duration::from_millis(100));
            self.look()?;
            if self.follower.status.last_attempt() > attempt {
                return Ok(());
            }
        }
        let (_, status) = steer::look(data, &manifest.id)?;
        if status.last_attempt() == attempt {
            let turn = if lab::presence(data).is_some() { Turn::InQueue } else { Turn::Now };
            match steer::resume(data, launcher, manifest, &status, turn, By::new(&user())) {
                // Somebody else was faster.
                Ok(()) | Err(RunError::NotNow { .. } | RunError::Ended { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.last_heard = Instant::now();
        // It says so within moments, or is given up as silent.
        while self.follower.status.last_attempt() == attempt && self.silence() < 2 * HEARTBEAT {
            thread::sleep(Duration::from_millis(20));
            self.look()?;
        }
        Ok(())
    }

    /// The result, and whether it is a good one.
    fn finish(mut self, id: &RunId) -> anyhow::Result<Exit> {
        // Whatever came between the exit and the last look.
        self.look()?;
        let status = &self.follower.status;
        let seconds = match (status.started_at, status.ended_at) {
            (Some(start), Some(end)) => end - start,
            _ => self.started.elapsed().as_secs_f64(),
        };
        let state = status.state();
        let latest =
            cartridge_run::checkpoint::named(&self.dir, cartridge_run::checkpoint::Alias::Latest);
        let report = Report {
            run_id: id.clone(),
            state,
            steps: status.step,
            seconds,
            steps_per_sec: status.step as f64 / seconds.max(1e-9),
            eval_mean: status.latest_eval.as_ref().map(|evaluation| evaluation.mean),
            weights_sha256: status.weights_sha256.clone(),
            checkpoint: latest
                .map(|name| self.dir.checkpoints_path().join(name))
                .or_else(|| foreign_checkpoint(&self.dir, status))
                .map(|path| path.display().to_string()),
            wandb_url: status.wandb.as_ref().map(|page| page.url.clone()),
        };
        self.bar.finish_and_clear();
        if self.json {
            say_json(&report);
        } else {
            summarise(&report, status);
        }
        Ok(if state == RunState::Failed { Exit::Failed } else { Exit::Ok })
    }
}

/// Where the checkpoint is that a foreign trainer has named last.
fn foreign_checkpoint(dir: &RunDir, status: &RunStatus) -> Option<PathBuf> {
    let named = cartridge_run::discovery::foreign_checkpoints(dir).ok()?;
    let (_, path) = named.into_iter().find(|(step, _)| Some(*step) == status.checkpoint_step)?;
    Some(dir.path().join(path))
}

/// Pace, return and time left, beside the bar.
fn progress(status: &RunStatus, total: Option<u64>) -> String {
    let mut parts = Vec::new();
    if let Some(pace) = status.steps_per_sec {
        parts.push(if pace < 1e4 {
            format!("{pace:.0} steps/s")
        } else {
            format!("{:.0}k steps/s", pace / 1e3)
        });
    }
    if let Some(reward) = status.mean_reward {
        parts.push(format!("return {reward:.1}"));
    }
    if let Some(evaluation) = &status.latest_eval {
        parts.push(format!("eval {:.1}", evaluation.mean));
    }
    if let (Some(pace), Some(total)) = (status.steps_per_sec.filter(|pace| *pace > 0.0), total) {
        let seconds = total.saturating_sub(status.step) as f64 / pace;
        parts.push(format!("ETA {}:{:02}", seconds as u64 / 60, seconds as u64 % 60));
    }
    parts.join("  ")
}

fn summarise(report: &Report, status: &RunStatus) {
    match status.failure() {
        Some(failure) => {
            note(&format!("{} failed: {}", report.run_id, failure.message));
            for line in failure.log {
                note(&format!("  {line}"));
            }
        }
        None if status.started_at.is_none() => {
            say(&format!("{} was taken back before it was started", report.run_id));
        }
        None => {
            if let Some(reason) = &status.end_reason {
                note(reason);
            }
            let word = if report.state == RunState::Succeeded { "done" } else { "stopped" };
            say(&format!(
                "{} {word}: {} steps in {:.1} s, {:.0} steps/s",
                report.run_id, report.steps, report.seconds, report.steps_per_sec
            ));
            if let Some(evaluation) = &status.latest_eval {
                let [low, high] = evaluation.ci95;
                say(&format!(
                    "evaluation: mean {:.1} over {} episodes (95% interval {low:.1} to {high:.1})",
                    evaluation.mean, evaluation.episodes
                ));
            }
            if let Some(checkpoint) = &report.checkpoint {
                say(&format!("checkpoint: {checkpoint}"));
            }
        }
    }
}
