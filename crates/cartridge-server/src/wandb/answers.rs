//! What each field of a query is answered with, and what mutations do.

use std::sync::Arc;

use axum::http::StatusCode;
use cartridge_run::clock::unix_now;
use cartridge_run::lab::{CardChange, WandbRun};
use cartridge_run::steer::By;
use cartridge_run::store::{RunId, StoreError};
use cartridge_run::wandb::folder::{KeptFile, check_file_name, split_line};
use cartridge_run::wandb::{ENTITY, Key, PROJECT, encoded, row};
use cartridge_run::{Lab, RunError};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::FILES;
use super::filter::{self, Subject};
use super::graphql::{Answer, Arguments};
use crate::auth::{Auth, Principal};
use crate::time::rfc3339;

/// Runs or files on one page, and lines of console.
const MOST_PER_PAGE: usize = 1_000;
const MOST_LINES: usize = 10_000;

/// Rows of metrics in one answer, and bytes of them.
const MOST_ROWS: usize = 100_000;

/// Files that are announced at once.
const MOST_ANNOUNCED: usize = 500;

/// What is asked, by whom, and where they have found us.
pub(super) struct World<'a> {
    pub(super) lab: &'a Lab,
    pub(super) auth: &'a Auth,
    pub(super) principal: &'a Principal,
    pub(super) by: By<'a>,
    /// The lab's own address, without a path.
    pub(super) here: &'a str,
}

/// Something of which fields can be asked.
pub(super) enum Node {
    Query,
    Mutation,
    Project { entity: String, name: String, created_at: f64 },
    Run(Arc<WandbRun>),
    Runs(Page),
    Edge(Arc<WandbRun>),
    Upserted { run: Arc<WandbRun>, inserted: bool },
}

/// Some of the runs.
pub(super) struct Page {
    runs: Vec<Arc<WandbRun>>,
    has_next: bool,
}

impl Node {
    pub(super) fn root(is_mutation: bool) -> Self {
        if is_mutation { Self::Mutation } else { Self::Query }
    }
}

/// The status of an answer that is an error: one by which a client knows whether to try again.
pub(super) fn status_of(error: &RunError) -> StatusCode {
    match error {
        RunError::Store(StoreError::NoSuchRun(_)) => StatusCode::OK,
        RunError::Store(error) if error.disk_trouble().is_some() => {
            StatusCode::INSUFFICIENT_STORAGE
        }
        RunError::Store(_) | RunError::Spawn { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::OK,
    }
}

type Answered = Result<Answer<Node>, RunError>;

fn plain(value: impl Into<Value>) -> Answered {
    Ok(Answer::Plain(value.into()))
}

fn refused(message: impl Into<String>) -> RunError {
    RunError::Wandb(message.into())
}

/// Text that holds JSON, which is how W&B has what has no type.
fn in_text(value: &Value) -> Value {
    Value::String(value.to_string())
}

impl World<'_> {
    /// Answers a field of a node.
    pub(super) fn field(&self, node: &Node, name: &str, given: &Arguments) -> Answered {
        match node {
            Node::Query => self.query(name, given),
            Node::Mutation => self.mutation(name, given),
            Node::Project { entity, name: of, created_at } => match name {
                "run" | "bucket" | "runs" | "runCount" => {
                    self.project_runs(entity, of, name, given)
                }
                name => {
                    let fields = project(entity, of, *created_at);
                    plain(fields.get(name).cloned().unwrap_or_default())
                }
            },
            Node::Run(run) => self.run(run, name, given),
            Node::Edge(run) => match name {
                "node" => Ok(Answer::Node(Node::Run(Arc::clone(run)))),
                "cursor" => plain(run.id.as_str()),
                _ => Ok(Answer::NULL),
            },
            Node::Upserted { run, inserted } => match name {
                "bucket" => Ok(Answer::Node(Node::Run(Arc::clone(run)))),
                "inserted" => plain(*inserted),
                _ => Ok(Answer::NULL),
            },
            Node::Runs(page) => match name {
                "edges" => {
                    let edges =
                        page.runs.iter().map(|run| Answer::Node(Node::Edge(Arc::clone(run))));
                    Ok(Answer::List(edges.collect()))
                }
                "pageInfo" => {
                    plain(page_info(page.runs.last().map(|run| run.id.as_str()), page.has_next))
                }
                "totalCount" => plain(page.runs.len()),
                _ => Ok(Answer::NULL),
            },
        }
    }

    fn query(&self, name: &str, given: &Arguments) -> Answered {
        match name {
            "viewer" => plain(self.viewer()),
            "serverInfo" => plain(json!({
                "cliVersionInfo": { "min_cli_version": "0.0.1", "max_cli_version": "9999.0.0" },
                "latestLocalVersionInfo": null,
                "features": [],
                "exposesExplicitRunUpdates": null,
            })),
            "project" | "model" => {
                let entity = given.text("entityName").filter(|name| !name.is_empty());
                let entity = entity.unwrap_or(ENTITY).to_owned();
                let name = given.text("name").unwrap_or(PROJECT).to_owned();
                let found = self.lab.wandb_projects(&entity)?.get(&name).copied();
                Ok(match found {
                    Some(created_at) => Answer::Node(Node::Project { entity, name, created_at }),
                    None => Answer::NULL,
                })
            }
            "models" | "projects" => {
                let entity = given.text("entityName").unwrap_or(ENTITY);
                let projects = self.lab.wandb_projects(entity)?;
                let edges: Vec<Value> = projects
                    .iter()
                    .map(|(name, at)| json!({ "node": project(entity, name, *at), "cursor": name }))
                    .collect();
                plain(json!({ "edges": edges, "pageInfo": page_info(None, false) }))
            }
            "entity" => {
                let name = given.text("name").unwrap_or(ENTITY);
                plain(json!({ "id": name, "name": name, "organization": null, "isTeam": false }))
            }
            // Who asks what there is gets no names, and does without.
            "__type" => plain(json!({
                "name": given.get("name"), "fields": [], "inputFields": [], "enumValues": [],
            })),
            "__typename" => plain("Query"),
            _ => Ok(Answer::NULL),
        }
    }

    fn viewer(&self) -> Value {
        let name = &self.principal.name;
        json!({
            "id": self.principal.token_id,
            "entity": ENTITY,
            "defaultEntity": { "id": ENTITY, "name": ENTITY },
            "username": name,
            "name": name,
            "email": null,
            "admin": false,
            "deletedAt": null,
            "flags": "{}",
            "apiKeys": { "edges": [] },
            "teams": { "edges": [{ "node": { "id": ENTITY, "name": ENTITY } }] },
        })
    }

    fn project_runs(
        &self,
        entity: &str,
        project_name: &str,
        name: &str,
        given: &Arguments,
    ) -> Answered {
        match name {
            "run" | "bucket" => {
                let id = given.text("name").unwrap_or_default();
                let key = Key::new(Some(entity), Some(project_name), id)?;
                match self.lab.wandb_find(&key) {
                    Ok(id) => Ok(self.node(&id)?),
                    Err(RunError::NoWandbRun(_)) => Ok(Answer::NULL),
                    Err(error) => Err(error),
                }
            }
            "runCount" => plain(self.passing(entity, project_name, given.get("filters"))?.len()),
            _ => {
                let mut runs = self.passing(entity, project_name, given.get("filters"))?;
                self.sort(&mut runs, given.text("order").unwrap_or_default())?;
                let after = given.text("after").filter(|after| !after.is_empty());
                let from = match after {
                    Some(after) => runs
                        .iter()
                        .position(|run| run.id.as_str() == after)
                        .map_or(runs.len(), |at| at + 1),
                    None => 0,
                };
                let most = page_size(given, "first", 50);
                let has_next = runs.len() > from + most;
                let runs = runs.into_iter().skip(from).take(most).collect();
                Ok(Answer::Node(Node::Runs(Page { runs, has_next })))
            }
        }
    }

    fn node(&self, id: &RunId) -> Answered {
        Ok(Answer::Node(Node::Run(Arc::new(self.lab.wandb_run(id)?))))
    }

    /// The runs of a project that pass a filter, the oldest first.
    fn passing(
        &self,
        entity: &str,
        project: &str,
        filters: &Value,
    ) -> Result<Vec<Arc<WandbRun>>, RunError> {
        let filters = match filters {
            Value::String(text) if text.trim().is_empty() => Value::Null,
            Value::String(text) => serde_json::from_str(text)
                .map_err(|error| refused(format!("the filter is no JSON: {error}")))?,
            other => other.clone(),
        };
        let mut passing = Vec::new();
        for run in self.lab.wandb_runs(entity, project)? {
            let is_in = filter::passes(&filters, &Asked { world: self, run: &run });
            if is_in.map_err(refused)? {
                passing.push(Arc::new(run));
            }
        }
        Ok(passing)
    }

    fn sort(&self, runs: &mut Vec<Arc<WandbRun>>, order: &str) -> Result<(), RunError> {
        let (is_down, name) = match order.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, order.strip_prefix('+').unwrap_or(order)),
        };
        if !matches!(name, "" | "created_at" | "createdAt") {
            let value = |run: &WandbRun| {
                let value = Asked { world: self, run }.field(name);
                value.ok_or_else(|| refused(format!("runs cannot be ordered by `{name}`")))
            };
            let mut keyed = Vec::new();
            for run in runs.iter() {
                keyed.push((value(run)?, Arc::clone(run)));
            }
            keyed.sort_by(|(a, _), (b, _)| match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => a.to_string().cmp(&b.to_string()),
            });
            *runs = keyed.into_iter().map(|(_, run)| run).collect();
        }
        if is_down {
            runs.reverse();
        }
        Ok(())
    }

    fn run(&self, run: &Arc<WandbRun>, name: &str, given: &Arguments) -> Answered {
        let WandbRun { id, key, card, folder, .. } = run.as_ref();
        match name {
            "history" => {
                let min = given.whole("minStep").unwrap_or(i64::MIN);
                let max = given.whole("maxStep").unwrap_or(i64::MAX);
                let most = row_count(given.whole("samples"), 500);
                plain(self.ledger(id, |ledger| ledger.rows(min, max, most))?)
            }
            "sampledHistory" => {
                let specs = given.get("specs").as_array().cloned().unwrap_or_default();
                let sampled = specs.iter().take(1_000).map(|spec| self.sample(id, spec));
                plain(sampled.collect::<Result<Vec<Value>, RunError>>()?)
            }
            "parquetHistory" => {
                let live = self.ledger(id, |ledger| Ok(ledger.live_steps()))?;
                plain(json!({ "parquetUrls": [], "liveData": live }))
            }
            "historyKeys" => plain(self.ledger(id, |ledger| Ok(ledger.keys()))?),
            "historyLineCount" => plain(self.ledger(id, |ledger| Ok(ledger.n_rows()))?),
            "eventsLineCount" => plain(self.ledger(id, |ledger| Ok(ledger.n_events()))?),
            "historyTail" => {
                let last = self.ledger(id, |ledger| match ledger.last_step() {
                    Some(step) => ledger.rows(step, step.saturating_add(1), 1),
                    None => Ok(Vec::new()),
                })?;
                plain(in_text(&json!(last)))
            }
            "eventsTail" => {
                let last: Vec<String> = folder.last_events()?.into_iter().collect();
                plain(in_text(&json!(last)))
            }
            "events" => {
                let most = row_count(given.whole("samples"), 500);
                plain(folder.events(most)?)
            }
            "logLineCount" => plain(folder.console(0, 0)?.1),
            "logLines" => plain(log_lines(run, given)?),
            "files" => plain(self.files(run, given)?),
            "fileCount" => plain(folder.files()?.len()),
            "state" => plain(self.lab.wandb_state(run)),
            "stopped" => plain(folder.is_to_stop()),
            "summaryMetrics" => plain(in_text(&folder.summary())),
            "systemMetrics" => {
                let last = folder.last_events()?.and_then(|line| row::read(&line));
                plain(in_text(&row::in_words(&Value::Object(last.unwrap_or_default()))))
            }
            "config" => plain(in_text(&or_object(&card.config))),
            "wandbConfig" => plain(in_text(&wandb_config(&card.config, given.get("keys")))),
            "project" => {
                let (entity, name) = (key.entity.clone(), key.project.clone());
                Ok(Answer::Node(Node::Project { entity, name, created_at: run.created_at }))
            }
            name => plain(self.fixed(run, name)),
        }
    }

    /// Fields of a run that need no reading.
    fn fixed(&self, run: &WandbRun, name: &str) -> Value {
        let WandbRun { id, key, card, created_at, folder } = run;
        match name {
            "id" => id.as_str().into(),
            "name" => key.id.as_str().into(),
            "displayName" => card.display_name.as_deref().unwrap_or(&key.id).into(),
            "projectId" => internal_id(&key.entity, &key.project).into(),
            "tags" => card.tags.clone().into(),
            "group" => card.group.clone().into(),
            "jobType" => card.job_type.clone().into(),
            "notes" => card.notes.clone().into(),
            "description" => card.description.clone().into(),
            "commit" => card.commit.clone().into(),
            "host" => card.host.clone().into(),
            "jobProgram" | "program" => card.program.clone().into(),
            "readOnly" => false.into(),
            "createdAt" => rfc3339(*created_at).into(),
            "heartbeatAt" => {
                let heard = folder.heard_at();
                let age = heard.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
                rfc3339(age.map_or(*created_at, |age| age.as_secs_f64())).into()
            }
            "user" => json!({ "id": card.by, "name": card.by, "username": card.by }),
            "__typename" => "Run".into(),
            _ => Value::Null,
        }
    }

    fn ledger<T>(
        &self,
        id: &RunId,
        ask: impl FnOnce(&cartridge_run::wandb::folder::Ledger) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let ledger = self.lab.wandb_ledger(id)?;
        let ledger = ledger.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        ask(&ledger)
    }

    fn sample(&self, id: &RunId, spec: &Value) -> Result<Value, RunError> {
        let spec: Value = match spec {
            Value::String(text) => serde_json::from_str(text)
                .map_err(|error| refused(format!("a spec of history is no JSON: {error}")))?,
            other => other.clone(),
        };
        let keys: Vec<String> = spec["keys"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|key| key.as_str().map(str::to_owned))
            .collect();
        let steps = (
            spec["minStep"].as_i64().unwrap_or(i64::MIN),
            spec["maxStep"].as_i64().unwrap_or(i64::MAX),
        );
        let most = row_count(spec["samples"].as_i64(), 500);
        Ok(self.ledger(id, |ledger| ledger.sample(&keys, steps, most))?.into())
    }

    fn files(&self, run: &WandbRun, given: &Arguments) -> Result<Value, RunError> {
        let wanted: Vec<&str> =
            given.get("names").as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let pattern = given.text("pattern").filter(|pattern| !pattern.is_empty());
        let is_wanted = |file: &KeptFile| {
            (wanted.is_empty() || wanted.contains(&file.name.as_str()))
                && pattern.is_none_or(|pattern| is_like(&file.name, pattern))
        };
        let files: Vec<KeptFile> = run.folder.files()?.into_iter().filter(is_wanted).collect();
        let after = given.text("after").unwrap_or_default();
        let from = files.partition_point(|file| file.name.as_str() <= after);
        let most = page_size(given, "first", 50);
        let edges: Vec<Value> = files[from..]
            .iter()
            .take(most)
            .map(|file| {
                let url = self.address("GET", &run.id, &file.name);
                json!({
                    "cursor": file.name,
                    "node": {
                        "id": format!("{}/{}", run.id, file.name),
                        "name": file.name,
                        "url": url,
                        "directUrl": url,
                        "sizeBytes": file.size_bytes,
                        "mimetype": "application/octet-stream",
                        "updatedAt": rfc3339(file.modified_at),
                        "md5": null,
                    },
                })
            })
            .collect();
        let last = edges.last().and_then(|edge| edge["cursor"].as_str());
        let has_next = files.len() > from + edges.len();
        let page_info = page_info(last, has_next);
        Ok(json!({ "edges": edges, "pageInfo": page_info }))
    }

    /// A signed address for a file of a run.
    fn address(&self, method: &str, id: &RunId, name: &str) -> String {
        let name: Vec<String> = name.split('/').map(encoded).collect();
        let path = format!("{FILES}{id}/{}", name.join("/"));
        format!("{}{}", self.here, self.auth.sign_address(method, &path, self.principal))
    }

    fn mutation(&self, name: &str, given: &Arguments) -> Answered {
        let input = given.get("input");
        match name {
            "upsertBucket" => {
                let (run, inserted) = self.upsert(input)?;
                let run = Arc::new(run);
                Ok(Answer::Node(Node::Upserted { run, inserted }))
            }
            "upsertModel" => {
                let entity = input["entityName"].as_str().unwrap_or(ENTITY);
                let name = input["name"].as_str().unwrap_or(PROJECT);
                let made = project(entity, name, unix_now());
                plain(json!({ "model": made, "project": made, "inserted": false }))
            }
            "createRunFiles" => plain(self.announce(input)?),
            "markRunFilesUploaded" => plain(json!({ "success": true })),
            "stopRun" => {
                let id = input["id"].as_str().unwrap_or_default().parse()?;
                self.lab.wandb_stop(&id, self.by)?;
                plain(json!({ "success": true }))
            }
            "__typename" => plain("Mutation"),
            other => {
                let other: String = other.chars().take(80).collect();
                Err(refused(format!("this lab does not know the mutation `{other}`")))
            }
        }
    }

    fn upsert(&self, input: &Value) -> Result<(WandbRun, bool), RunError> {
        let text = |name: &str| input[name].as_str().map(str::to_owned);
        let json = |name: &str| match &input[name] {
            Value::String(text) => match row::read(text) {
                Some(fields) => Ok(Some(row::in_words(&Value::Object(fields)))),
                None => Err(refused(format!("`{name}` is no JSON object"))),
            },
            Value::Object(fields) => Ok(Some(Value::Object(fields.clone()))),
            _ => Ok(None),
        };
        let tags = input["tags"].as_array().map(|tags| {
            tags.iter().filter_map(|tag| tag.as_str().map(str::to_owned)).take(1_000).collect()
        });
        let change = CardChange {
            display_name: text("displayName"),
            group: text("groupName"),
            job_type: text("jobType"),
            tags,
            notes: text("notes"),
            description: text("description"),
            program: text("jobProgram"),
            host: text("host"),
            commit: text("commit"),
            config: json("config")?,
            summary: json("summaryMetrics")?,
        };
        let named = text("id").map(|id| id.parse::<RunId>()).transpose()?;
        let Some(name) = text("name") else {
            let id = named.ok_or_else(|| refused("a run needs a name"))?;
            return Ok((self.lab.wandb_update(&id, change)?, false));
        };
        let (entity, project) = (text("entityName"), text("modelName"));
        let key = Key::new(entity.as_deref(), project.as_deref(), &name)?;
        self.lab.wandb_upsert(&key, named.as_ref(), change, self.by)
    }

    /// Addresses for files that a client is about to send.
    fn announce(&self, input: &Value) -> Result<Value, RunError> {
        let text = |name: &str| input[name].as_str();
        let name = text("runName").unwrap_or_default();
        let key = Key::new(text("entityName"), text("projectName"), name)?;
        let id = self.lab.wandb_find(&key)?;
        let names = input["files"].as_array().cloned().unwrap_or_default();
        if names.len() > MOST_ANNOUNCED {
            return Err(refused(format!("at most {MOST_ANNOUNCED} files are announced at once")));
        }
        let mut files = Vec::new();
        for name in names.iter().filter_map(Value::as_str) {
            check_file_name(name)?;
            files.push(json!({ "name": name, "uploadUrl": self.address("PUT", &id, name) }));
        }
        Ok(json!({ "runID": id, "uploadHeaders": [], "files": files }))
    }
}

/// A run as a filter sees it.
struct Asked<'a> {
    world: &'a World<'a>,
    run: &'a WandbRun,
}

impl Subject for Asked<'_> {
    fn field(&self, name: &str) -> Option<Value> {
        let field = |name: &str| self.world.fixed(self.run, name);
        Some(match name {
            "state" => self.world.lab.wandb_state(self.run).into(),
            "name" | "tags" | "group" | "jobType" | "displayName" | "createdAt" | "heartbeatAt"
            | "notes" | "description" | "host" | "commit" => field(name),
            "display_name" => field("displayName"),
            "job_type" => field("jobType"),
            "created_at" => field("createdAt"),
            "heartbeat_at" => field("heartbeatAt"),
            "username" | "user" => self.run.card.by.as_str().into(),
            name => {
                if let Some(name) = name.strip_prefix("config.") {
                    return Some(filter::within(&row::plain_config(&self.run.card.config), name));
                }
                let name = name
                    .strip_prefix("summary_metrics.")
                    .or_else(|| name.strip_prefix("summaryMetrics."))?;
                let summary = self.run.folder.summary();
                let none = Map::new();
                filter::within(summary.as_object().unwrap_or(&none), name)
            }
        })
    }
}

fn project(entity: &str, name: &str, created_at: f64) -> Value {
    json!({
        "createdAt": rfc3339(created_at),
        "id": internal_id(entity, name).to_string(),
        "internalId": internal_id(entity, name).to_string(),
        "name": name,
        "entityName": entity,
        "entity": { "id": entity, "name": entity },
        "readOnly": false,
        "isBenchmark": false,
        "__typename": "Project",
    })
}

/// A number for a project: W&B has one, and clients want to see it.
fn internal_id(entity: &str, name: &str) -> u32 {
    let digest = Sha256::digest(format!("{entity}/{name}"));
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]) >> 1
}

fn page_info(end: Option<&str>, has_next: bool) -> Value {
    json!({ "__typename": "PageInfo", "endCursor": end, "hasNextPage": has_next })
}

fn page_size(given: &Arguments, name: &str, usual: usize) -> usize {
    let asked = given.whole(name).and_then(|asked| usize::try_from(asked).ok());
    asked.unwrap_or(usual).clamp(1, MOST_PER_PAGE)
}

fn row_count(asked: Option<i64>, usual: usize) -> usize {
    asked.and_then(|asked| usize::try_from(asked).ok()).unwrap_or(usual).min(MOST_ROWS)
}

fn or_object(value: &Value) -> Value {
    if value.is_object() { value.clone() } else { json!({}) }
}

/// What W&B keeps for itself in a configuration, of which a client that goes on asks.
fn wandb_config(config: &Value, keys: &Value) -> Value {
    let own = &config["_wandb"]["value"];
    let keys = keys.as_array().into_iter().flatten().filter_map(Value::as_str);
    let found = keys.filter_map(|key| Some((key.to_owned(), own.get(key)?.clone())));
    Value::Object(found.collect())
}

fn log_lines(run: &WandbRun, given: &Arguments) -> Result<Value, RunError> {
    let n_lines = run.folder.console(0, 0)?.1;
    let count = |name: &str| given.whole(name).and_then(|count| usize::try_from(count).ok());
    let (from, most) = match (count("last"), given.text("after")) {
        (Some(last), _) => {
            let last = last.min(MOST_LINES);
            (n_lines.saturating_sub(last), last)
        }
        (None, after) => {
            let after = after.and_then(|after| after.parse::<usize>().ok());
            (after.map_or(0, |after| after + 1), count("first").unwrap_or(1_000).min(MOST_LINES))
        }
    };
    let (lines, _) = run.folder.console(from, most)?;
    let edges: Vec<Value> = lines
        .iter()
        .enumerate()
        .map(|(idx, line)| {
            let (level, timestamp, text) = split_line(line);
            json!({
                "cursor": (from + idx).to_string(),
                "node": {
                    "number": from + idx,
                    "timestamp": timestamp,
                    "level": level,
                    "label": null,
                    "line": text,
                },
            })
        })
        .collect();
    let has_next = n_lines > from + edges.len();
    let last = edges.last().and_then(|edge| edge["cursor"].as_str());
    let page_info = page_info(last, has_next);
    Ok(json!({ "edges": edges, "pageInfo": page_info }))
}

/// Whether a name is like a pattern of SQL: `%` stands for anything, `_` for one character.
fn is_like(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    // Which beginnings of the name the pattern so far can be.
    let mut can = vec![false; name.len() + 1];
    can[0] = true;
    for sign in pattern.iter().take(512) {
        let mut next = vec![false; name.len() + 1];
        for idx in 0..=name.len() {
            next[idx] = match sign {
                '%' => can[idx] || (idx > 0 && next[idx - 1]),
                _ if idx == 0 => false,
                '_' => can[idx - 1],
                sign => can[idx - 1] && name[idx - 1] == *sign,
            };
        }
        can = next;
    }
    can[name.len()]
}

#[cfg(test)]
mod tests;
