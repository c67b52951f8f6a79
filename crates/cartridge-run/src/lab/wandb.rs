//! What `wandb` clients ask of the lab; see [`crate::wandb`].

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cartridge_store::{Command, Manifest, RunId, RunState, StoreError};
use serde_json::{Value, json};

use super::{Lab, held};
use crate::audit::Deed;
use crate::error::{Result, RunError};
use crate::steer::{self, By, Turn};
use crate::wandb::folder::Ledger;
use crate::wandb::{Card, Folder, Key, MOST_RUNS, Post};

/// Runs whose lines are counted in memory; those that nobody uses are counted again later.
const MOST_LEDGERS: usize = 256;

/// How often folders of runs that nobody here has made are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// What the lab remembers of clients' runs. All of it is in the files.
#[derive(Debug, Default)]
pub(super) struct Door {
    /// The runs that were looked at, and what clients call them.
    known: HashMap<RunId, Option<(Key, f64)>>,
    looked_at: Option<Instant>,
    ledgers: HashMap<RunId, (Instant, Arc<Mutex<Ledger>>)>,
}

/// A run of a client.
#[derive(Clone, Debug)]
pub struct WandbRun {
    /// Its name in the lab.
    pub id: RunId,
    /// What the client calls it.
    pub key: Key,
    /// When it was made.
    pub created_at: f64,
    /// Where what came is kept.
    pub folder: Folder,
    /// What the client says of it.
    pub card: Card,
}

/// What a client says of its run; what it does not say stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardChange {
    /// The name for people.
    pub display_name: Option<String>,
    /// What it is compared with.
    pub group: Option<String>,
    /// What it does.
    pub job_type: Option<String>,
    /// For finding it again.
    pub tags: Option<Vec<String>>,
    /// For people.
    pub notes: Option<String>,
    /// For people, of old.
    pub description: Option<String>,
    /// The script.
    pub program: Option<String>,
    /// The machine.
    pub host: Option<String>,
    /// The state of its repository.
    pub commit: Option<String>,
    /// The whole configuration.
    pub config: Option<Value>,
    /// The whole summary.
    pub summary: Option<Value>,
}

impl CardChange {
    /// Whether a client says this that has just begun.
    fn is_introduction(&self) -> bool {
        self.display_name.is_some() || self.host.is_some() || self.program.is_some()
    }

    fn apply(self, card: &mut Card) {
        let said = [
            (self.display_name, &mut card.display_name),
            (self.group, &mut card.group),
            (self.job_type, &mut card.job_type),
            (self.notes, &mut card.notes),
            (self.description, &mut card.description),
            (self.program, &mut card.program),
            (self.host, &mut card.host),
            (self.commit, &mut card.commit),
        ];
        for (new, kept) in said {
            if new.is_some() {
                *kept = new;
            }
        }
        card.tags = self.tags.unwrap_or_else(|| std::mem::take(&mut card.tags));
        card.config = self.config.unwrap_or_else(|| card.config.take());
    }
}

impl Lab {
    /// From now on, runs of clients that are silent for this long count as crashed.
    pub fn set_wandb_patience(&self, patience: Duration) {
        self.wandb_patience_s.store(patience.as_secs(), Ordering::Relaxed);
    }

    /// Makes the run that a client calls `key`, or takes in what it says of it; says whether it is
    /// new. `named` is the run that the client believes it is, by its name in the lab.
    ///
    /// A client that begins with the key of a run that has ended, and does not know that run, gets
    /// a new one: from then on, the key means that.
    pub fn wandb_upsert(
        &self,
        key: &Key,
        named: Option<&RunId>,
        change: CardChange,
        by: By<'_>,
    ) -> Result<(WandbRun, bool)> {
        let mut door = held(&self.wandb);
        let found = self.wandb_lookup(&mut door, key)?;
        if let Some(id) = found {
            let is_over = self.wandb_is_over(&id)?;
            if !is_over || named.is_some() || !change.is_introduction() {
                drop(door);
                return Ok((self.wandb_change(&id, change, is_over && named.is_some())?, false));
            }
        }
        if door.known.values().flatten().count() >= MOST_RUNS {
            return Err(RunError::WandbFull(format!("{MOST_RUNS} runs beside it")));
        }
        let mut card = Card { by: by.who.to_owned(), ..Card::default() };
        change.apply(&mut card);
        let patience = Duration::from_secs(self.wandb_patience_s.load(Ordering::Relaxed));
        let (_, manifest) = self.launcher.create_wandb(&self.data, key, &card, patience)?;
        let id = manifest.id.clone();
        door.known.insert(id.clone(), Some((key.clone(), manifest.created_at)));
        drop(door);
        let new = json!({ "name": manifest.name, "env_id": manifest.env_id, "wandb": key });
        steer::record(&self.data, by, Deed::Create, &id, Value::Null, new)?;
        if let Err(error) = self.launcher.start(&self.data, &id, 1) {
            // What comes is kept all the same, and told later.
            tracing::error!(run = %id, %error, "a run of a wandb client cannot be told");
        }
        self.ingest_now(&id)?;
        Ok((self.wandb_run(&id)?, true))
    }

    /// Takes in what is said of a run, by its name in the lab.
    pub fn wandb_update(&self, id: &RunId, change: CardChange) -> Result<WandbRun> {
        self.wandb_change(id, change, false)
    }

    fn wandb_change(&self, id: &RunId, change: CardChange, is_reopened: bool) -> Result<WandbRun> {
        let ledger = self.wandb_ledger(id)?;
        let ledger = held(&ledger);
        let folder = ledger.folder();
        let before = folder.card()?;
        let mut card = before.clone();
        if let Some(summary) = &change.summary {
            folder.write_summary(summary)?;
        }
        change.apply(&mut card);
        if is_reopened {
            card.exit_code = None;
            card.is_reopened = true;
            folder.set_to_stop(false)?;
        }
        if card != before {
            folder.write_card(&card)?;
        }
        drop(ledger);
        self.wandb_run(id)
    }

    /// Keeps what a client posts; returns whether it is to stop. What is new is durable then.
    pub fn wandb_post(&self, key: &Key, post: &Post, by: By<'_>) -> Result<bool> {
        let id = self.wandb_find(key)?;
        let ledger = self.wandb_ledger(&id)?;
        let mut ledger = held(&ledger);
        let is_new = ledger.append(post)?;
        let folder = ledger.folder().clone();
        folder.beat()?;
        let mut card = folder.card()?;
        let was_complete = card.exit_code.is_some();
        let is_complete = post.complete == Some(true) && !was_complete;
        if is_complete {
            card.exit_code = Some(post.exit_code.unwrap_or(0));
            folder.write_card(&card)?;
        }
        let is_told = self.data.run(&id).is_supervised() && !folder.is_over();
        if !is_told && (is_new || is_complete || !was_complete) {
            // What came is kept, so it need not come again.
            if let Err(error) = self.wandb_tell(&id, &folder, &mut card, by) {
                tracing::error!(run = %id, %error, "a run of a wandb client cannot be told");
            }
        }
        drop(ledger);
        Ok(folder.is_to_stop() || self.wandb_is_ended_by_hand(&id, &card))
    }

    /// Starts what tells of a run, where nobody does: because it had ended, or because it was lost.
    fn wandb_tell(&self, id: &RunId, folder: &Folder, card: &mut Card, by: By<'_>) -> Result<()> {
        let (manifest, status) = steer::look(&self.data, id)?;
        match status.state() {
            RunState::Queued => self.launcher.start(&self.data, id, status.next_attempt())?,
            // Who ended it by hand means it.
            RunState::Terminated if !card.is_reopened => return Ok(()),
            state if state.is_final() || state == RunState::Lost || folder.is_over() => {
                let (data, launcher) = (&self.data, &self.launcher);
                steer::start_again(data, launcher, &manifest, &status, Turn::Now, by)?;
            }
            _ => return Ok(()),
        }
        if card.is_reopened {
            card.is_reopened = false;
            folder.write_card(card)?;
        }
        self.wake(id);
        self.ingest_now(id)
    }

    fn wandb_is_ended_by_hand(&self, id: &RunId, card: &Card) -> bool {
        let state = self.run(id).map(|view| view.run.status.state());
        matches!(state, Ok(RunState::Terminated)) && !card.is_reopened
    }

    /// Whether a run has ended, by its client's account or the lab's.
    fn wandb_is_over(&self, id: &RunId) -> Result<bool> {
        let card = Folder::find(&self.data.run(id))?.card()?;
        if card.is_reopened {
            return Ok(false);
        }
        let state = self.run(id)?.run.status.state();
        Ok(card.exit_code.is_some() || (state.is_final() && state != RunState::Lost))
    }

    /// Asks the client of a run to stop.
    pub fn wandb_stop(&self, id: &RunId, by: By<'_>) -> Result<()> {
        self.wandb_run(id)?;
        self.ask(id, Command::Stop, by).map(|_| ())
    }

    /// How a run stands, in W&B's words.
    pub fn wandb_state(&self, run: &WandbRun) -> &'static str {
        let state = self.run(&run.id).map(|view| view.run.status.state());
        match (run.card.exit_code, state) {
            (_, Ok(RunState::Terminated)) if !run.card.is_reopened => "killed",
            (Some(0), _) => "finished",
            (Some(_), _) => "failed",
            (None, Ok(RunState::Failed | RunState::Lost)) => "crashed",
            (None, _) => "running",
        }
    }

    /// The run that a client calls `key`.
    pub fn wandb_find(&self, key: &Key) -> Result<RunId> {
        let found = self.wandb_lookup(&mut held(&self.wandb), key)?;
        found.ok_or_else(|| RunError::NoWandbRun(key.id.clone()))
    }

    /// A run of a client, by its name in the lab.
    pub fn wandb_run(&self, id: &RunId) -> Result<WandbRun> {
        let dir = self.data.run(id);
        let manifest = dir.manifest()?;
        let key = key_of(&manifest).ok_or_else(|| RunError::NoWandbRun(id.to_string()))?;
        let folder = Folder::find(&dir)?;
        let card = folder.card()?;
        Ok(WandbRun { id: id.clone(), key, created_at: manifest.created_at, folder, card })
    }

    /// The runs of a project, the oldest first; of each key, the newest.
    pub fn wandb_runs(&self, entity: &str, project: &str) -> Result<Vec<WandbRun>> {
        let mut newest: BTreeMap<String, (f64, RunId)> = BTreeMap::new();
        {
            let mut door = held(&self.wandb);
            self.wandb_look(&mut door)?;
            for (id, known) in &door.known {
                let Some((key, at)) = known else { continue };
                if key.entity == entity && key.project == project {
                    let newest = newest.entry(key.id.clone()).or_insert((*at, id.clone()));
                    if *at > newest.0 {
                        *newest = (*at, id.clone());
                    }
                }
            }
        }
        let mut found: Vec<(f64, RunId)> = newest.into_values().collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        let mut runs = Vec::new();
        for (_, id) in found {
            match self.wandb_run(&id) {
                Ok(run) => runs.push(run),
                // It has been deleted, or removed to make room.
                Err(RunError::Store(StoreError::NoSuchRun(_)) | RunError::NoWandbRun(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    }

    /// The projects of an entity, and when the first run of each was made.
    pub fn wandb_projects(&self, entity: &str) -> Result<BTreeMap<String, f64>> {
        let mut door = held(&self.wandb);
        self.wandb_look(&mut door)?;
        let mut projects = BTreeMap::new();
        for (key, at) in door.known.values().flatten().filter(|(key, _)| key.entity == entity) {
            let first = projects.entry(key.project.clone()).or_insert(*at);
            *first = at.min(*first);
        }
        Ok(projects)
    }

    /// The lines of a run, counted.
    pub fn wandb_ledger(&self, id: &RunId) -> Result<Arc<Mutex<Ledger>>> {
        let mut door = held(&self.wandb);
        if let Some((used, ledger)) = door.ledgers.get_mut(id) {
            // One that is held is in use, and so is as it should be.
            if ledger.try_lock().map_or(true, |ledger| ledger.is_current()) {
                *used = Instant::now();
                return Ok(Arc::clone(ledger));
            }
        }
        let ledger = Arc::new(Mutex::new(Ledger::open(Folder::find(&self.data.run(id))?)?));
        door.ledgers.insert(id.clone(), (Instant::now(), Arc::clone(&ledger)));
        if door.ledgers.len() > MOST_LEDGERS {
            let idle =
                door.ledgers.iter().filter(|(_, (_, ledger))| Arc::strong_count(ledger) == 1);
            let oldest = idle.min_by_key(|(_, (used, _))| *used).map(|(id, _)| id.clone());
            oldest.and_then(|id| door.ledgers.remove(&id));
        }
        Ok(ledger)
    }

    fn wandb_lookup(&self, door: &mut Door, key: &Key) -> Result<Option<RunId>> {
        let found = |door: &Door| {
            let of_key = door.known.iter().filter_map(|(id, known)| {
                let (theirs, at) = known.as_ref()?;
                (theirs == key && Folder::find(&self.data.run(id)).is_ok()).then_some((*at, id))
            });
            of_key.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, id)| id.clone())
        };
        if let Some(id) = found(door) {
            return Ok(Some(id));
        }
        self.wandb_look(door)?;
        Ok(found(door))
    }

    /// Looks for runs that others have put into the folder: after a start, or out of the trash.
    fn wandb_look(&self, door: &mut Door) -> Result<()> {
        if door.looked_at.is_some_and(|at| at.elapsed() < LOOK) {
            return Ok(());
        }
        door.looked_at = Some(Instant::now());
        for id in self.data.run_ids()? {
            if door.known.contains_key(&id) {
                continue;
            }
            // One without a manifest is being made.
            if let Ok(manifest) = self.data.run(&id).manifest() {
                let known = key_of(&manifest).map(|key| (key, manifest.created_at));
                door.known.insert(id, known);
            }
        }
        Ok(())
    }
}

/// Whether a run is one of a client.
pub(super) fn is_of_client(manifest: &Manifest) -> bool {
    manifest.config.get("wandb").is_some()
}

/// What a client calls a run, if it is one of a client.
fn key_of(manifest: &Manifest) -> Option<Key> {
    serde_json::from_value(manifest.config.get("wandb")?.clone()).ok()
}
