//! Tells a W&B server of one run, from where the server stands to the run's end.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use cartridge_store::{
    Manifest, RunDir, RunId, StoreError, SupervisorEvent, SupervisorLine, Track, WandbPage, jsonl,
};
use serde_json::{Map, Value, json};

use super::account::page_address;
use super::client::{Client, Setback, Trouble};
use super::lines::{Beats, History, Source};
use super::{Told, unfinished, what_to_do};
use crate::wandb::encoded;
use crate::wandb::row::GLOBAL_STEP;

/// What one request may take in all.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How often new rows are looked for: W&B allows two posts a second and run.
const LOOK: Duration = Duration::from_secs(2);

/// The pause between two posts of which the second has been waiting.
const NEXT: Duration = Duration::from_millis(500);

/// A run from which nothing came for so long is said to be alive.
const BEAT: Duration = Duration::from_secs(30);

/// The pause after the first setback; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause that is our own idea.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// After so many setbacks in a row the server is asked anew what it has.
const ASK_ANEW: u32 = 3;

const RESUME: &str = "query RunResumeStatus($project: String, $entity: String, $name: String!) { \
    model(name: $project, entityName: $entity) { id name entity { id name } \
    bucket(name: $name, missingOk: true) { id name historyLineCount eventsLineCount } } }";

const UPSERT: &str = "mutation UpsertBucket($id: String, $name: String, $project: String, \
    $entity: String, $groupName: String, $displayName: String, $config: JSONString, \
    $jobType: String, $tags: [String!]) { upsertBucket(input: {id: $id, name: $name, \
    groupName: $groupName, modelName: $project, entityName: $entity, displayName: $displayName, \
    config: $config, jobType: $jobType, tags: $tags}) { bucket { id name displayName \
    project { id name entity { id name } } historyLineCount } inserted } }";

/// What is under way to the server, and where it goes.
#[derive(Debug)]
struct Talk {
    /// Where posts go.
    address: String,
    history: Stream<History>,
    beats: Stream<Beats>,
}

/// Lines of one of W&B's files.
#[derive(Debug)]
struct Stream<S> {
    source: S,
    /// Lines that the server has.
    n_taken: u64,
    /// Lines after those, which it may have or not.
    pending: Vec<String>,
}

impl<S: Source> Stream<S> {
    /// Reads the next lines; says whether there may be more after them. What was sent and not
    /// acknowledged is sent again as it was.
    fn fill(&mut self) -> cartridge_store::Result<bool> {
        let mut has_more = true;
        while self.pending.is_empty() && has_more {
            has_more = self.source.read(self.n_taken, &mut self.pending)?;
        }
        Ok(has_more)
    }

    fn new(source: S, n_taken: u64) -> Self {
        Self { source, n_taken, pending: Vec::new() }
    }

    /// The server has what was pending.
    fn taken(&mut self) {
        self.n_taken += self.pending.len() as u64;
        self.pending.clear();
    }

    fn chunk(&self) -> Value {
        json!({ "offset": self.n_taken, "content": self.pending })
    }
}

/// Why a round did not come far.
#[derive(Debug)]
enum Obstacle {
    /// The server's doing.
    Server(Setback),
    /// The run's files cannot be read.
    Files(StoreError),
}

impl<E: Into<Setback>> From<E> for Obstacle {
    fn from(error: E) -> Self {
        Self::Server(error.into())
    }
}

/// How far one round came.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Round {
    /// There is more to be told.
    More,
    /// Everything that there is was told.
    Even,
    /// The end was told.
    Ended,
}

/// Tells of a run.
#[derive(Debug)]
pub(crate) struct Teller {
    dir: RunDir,
    run: RunId,
    track: Track,
    introduction: Map<String, Value>,
    client: Client,
    tell: Sender<Told>,
    talk: Option<Talk>,
    /// When the server last took something.
    posted_at: Instant,
    n_setbacks: u32,
    /// Kinds of trouble that were told.
    told: BTreeSet<&'static str>,
}

impl Teller {
    pub(crate) fn new(
        dir: RunDir,
        manifest: &Manifest,
        track: Track,
        key: &str,
        tell: Sender<Told>,
    ) -> Self {
        Self {
            dir,
            run: manifest.id.clone(),
            introduction: introduction(manifest, &track),
            track,
            client: Client::new(key, TIMEOUT),
            tell,
            talk: None,
            posted_at: Instant::now(),
            n_setbacks: 0,
            told: BTreeSet::new(),
        }
    }

    /// Tells until the end has come by `ended` and is told as well, for which the server has
    /// `patience`; says whether the server has taken everything. Where `ended` is closed without an
    /// end, whoever wanted this is gone.
    pub(crate) fn run(mut self, ended: &Receiver<i32>, patience: Duration) -> bool {
        let mut end: Option<(i32, Instant)> = None;
        let (mut pause, mut not_before) = (Duration::ZERO, Instant::now());
        loop {
            match &end {
                None => match ended.recv_timeout(pause) {
                    Ok(code) => {
                        end = Some((code, Instant::now() + patience));
                        self.n_setbacks = 0;
                        // What the server has asked for is still kept.
                        thread::sleep(until(not_before).min(patience));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return false,
                },
                Some((_, deadline)) => thread::sleep(pause.min(until(*deadline))),
            }
            if let Some((_, deadline)) = &end
                && until(*deadline).is_zero()
            {
                _ = self.tell.send(Told::Warning(unfinished(&self.run)));
                return false;
            }
            let round = self.advance(end);
            not_before = Instant::now();
            pause = match round {
                Ok(Round::Ended) => return true,
                Ok(round) => {
                    self.n_setbacks = 0;
                    match (round, end) {
                        (_, Some(_)) => Duration::ZERO,
                        (Round::More, None) => NEXT,
                        _ => LOOK,
                    }
                }
                Err(Obstacle::Server(setback)) => {
                    let Some(pause) = self.set_back(&setback) else { return false };
                    not_before += setback.wait.unwrap_or_default();
                    pause
                }
                Err(Obstacle::Files(error)) => {
                    self.give_up(&error.to_string());
                    return false;
                }
            };
        }
    }

    /// Tells of trouble once for each kind; returns how long to wait, unless there is no use.
    fn set_back(&mut self, setback: &Setback) -> Option<Duration> {
        let trouble = &setback.trouble;
        self.n_setbacks += 1;
        if self.n_setbacks.is_multiple_of(ASK_ANEW) {
            self.talk = None;
        }
        if !trouble.is_passing() {
            self.give_up(&trouble.to_string());
            return None;
        }
        if self.told.insert(trouble.code()) {
            let server = &self.track.base_url;
            let warning = format!("W&B at {server} is told later: {trouble}. The training goes on");
            _ = self.tell.send(Told::Warning(warning));
        }
        let own = FIRST_PAUSE * 2_u32.saturating_pow((self.n_setbacks - 1).min(16));
        Some(setback.wait.unwrap_or(own.min(LONGEST_PAUSE)))
    }

    fn give_up(&self, why: &str) {
        let rest = what_to_do(&self.run);
        let warning = format!("W&B is told no more of this run: {why}; {rest}");
        _ = self.tell.send(Told::Warning(warning));
    }

    /// Tells the next that there is to tell.
    fn advance(&mut self, end: Option<(i32, Instant)>) -> Result<Round, Obstacle> {
        let client = match end {
            Some((_, deadline)) => self.client.within(until(deadline)),
            None => self.client.clone(),
        };
        let mut talk = match self.talk.take() {
            Some(talk) => talk,
            None => self.greet(&client)?,
        };
        let posted = self.post(&client, &mut talk, end.map(|(code, _)| code));
        self.talk = Some(talk);
        posted
    }

    /// Says who the run is and hears what the server has of it.
    fn greet(&self, client: &Client) -> Result<Talk, Setback> {
        let Track { base_url, entity, project, id, window_steps } = &self.track;
        let asked = json!({ "project": project, "entity": entity, "name": id });
        let known = client.query(base_url, RESUME, &asked)?.body["model"]["bucket"].take();
        let mut said = Value::Object(self.introduction.clone());
        // By its own name for the run, the server knows that it goes on.
        said["id"] = known["id"].clone();
        let answer = client.query(base_url, UPSERT, &said)?.body;
        let bucket = &answer["upsertBucket"]["bucket"];
        let word = |value: &Value| {
            let missing = || Trouble::Malformed("it does not name the run's project".to_owned());
            value.as_str().filter(|name| !name.is_empty()).map(str::to_owned).ok_or_else(missing)
        };
        let project = word(&bucket["project"]["name"])?;
        let entity = word(&bucket["project"]["entity"]["name"])?;
        let folder = format!("{}/{}", encoded(&entity), encoded(&project));
        let url = format!("{}/{folder}/runs/{}", page_address(base_url), encoded(id));
        let address = format!("{base_url}/files/{folder}/{}/file_stream", encoded(id));
        let page = WandbPage { id: id.clone(), url, entity, project, base_url: base_url.clone() };
        _ = self.tell.send(Told::Page(page));
        let count = |name: &str| known[name].as_u64().unwrap_or(0);
        let began_at = self.began_at();
        let history = History::new(self.dir.metrics_path(), began_at, *window_steps);
        let beats = Beats::new(self.dir.supervisor_path(), began_at);
        Ok(Talk {
            address,
            history: Stream::new(history, count("historyLineCount")),
            beats: Stream::new(beats, count("eventsLineCount")),
        })
    }

    /// When the run's first trainer was started.
    fn began_at(&self) -> f64 {
        let lines = jsonl::read_lines(&self.dir.supervisor_path(), 0, None).unwrap_or_default();
        let started = lines.iter().find_map(|line| {
            let line: SupervisorLine = serde_json::from_slice(&line.bytes).ok()?;
            matches!(line.event, SupervisorEvent::Started { .. }).then_some(line.t)
        });
        started.unwrap_or(0.0)
    }

    fn post(
        &mut self,
        client: &Client,
        talk: &mut Talk,
        exit_code: Option<i32>,
    ) -> Result<Round, Obstacle> {
        let Talk { address, history, beats } = talk;
        let has_more =
            history.fill().map_err(Obstacle::Files)? | beats.fill().map_err(Obstacle::Files)?;
        let mut files = Map::new();
        if !history.pending.is_empty() {
            files.insert("wandb-history.jsonl".to_owned(), history.chunk());
            if let Some(summary) = history.source.summary() {
                let summary = json!({ "offset": 0, "content": [summary] });
                files.insert("wandb-summary.json".to_owned(), summary);
            }
        }
        if !beats.pending.is_empty() {
            files.insert("wandb-events.jsonl".to_owned(), beats.chunk());
        }
        let is_end = exit_code.is_some() && !has_more;
        if files.is_empty() && !is_end && self.posted_at.elapsed() < BEAT {
            return Ok(if has_more { Round::More } else { Round::Even });
        }
        let mut body = Map::new();
        if !files.is_empty() {
            body.insert("files".to_owned(), files.into());
        }
        if let Some(exit_code) = exit_code.filter(|_| is_end) {
            body.insert("complete".to_owned(), true.into());
            body.insert("exitcode".to_owned(), exit_code.into());
        }
        let reply = client.post(address, Value::Object(body).to_string())?;
        if !reply.body.is_object() {
            return Err(Trouble::Malformed("it is no object".to_owned()).into());
        }
        history.taken();
        beats.taken();
        self.posted_at = Instant::now();
        Ok(match (is_end, has_more) {
            (true, _) => Round::Ended,
            (false, true) => Round::More,
            (false, false) => Round::Even,
        })
    }
}

/// What the server is told of a run before anything else.
fn introduction(manifest: &Manifest, track: &Track) -> Map<String, Value> {
    let mut config = Map::new();
    for (name, value) in manifest.config.as_object().into_iter().flatten() {
        config.insert(name.clone(), json!({ "value": value }));
    }
    let analytics = json!({ "value": { "window_steps": track.window_steps } });
    config.insert("analytics".to_owned(), analytics);
    config.insert("run_id".to_owned(), json!({ "value": manifest.id }));
    config.insert("cartridge_version".to_owned(), json!({ "value": manifest.cartridge_version }));
    // That charts have environment steps below them: `define_metric("*", step_metric=...)`.
    let steps = json!([
        { "1": GLOBAL_STEP, "6": [3], "7": [] },
        { "2": "*", "5": 1, "6": [1], "7": [] },
    ]);
    config.insert("_wandb".to_owned(), json!({ "value": { "m": steps } }));
    let group = manifest.group.as_ref().map(ToString::to_string);
    let said = json!({
        "name": track.id,
        "project": track.project,
        "entity": track.entity,
        "displayName": manifest.name,
        "groupName": group.or_else(|| manifest.experiment_id.clone()),
        "jobType": "train",
        "tags": [manifest.env_id, manifest.config["algo"].as_str().unwrap_or("train")],
        "config": Value::Object(config).to_string(),
    });
    match said {
        Value::Object(said) => said,
        _ => Map::new(),
    }
}

fn until(instant: Instant) -> Duration {
    instant.saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests;
