//! A training that is told to a W&B server as well (`cartridge train --track`).
//!
//! `metrics.jsonl` stays the truth. A thread of the run's supervisor reads it as it grows and posts
//! its rows ([`teller`]), in the words of W&B's own client. Whatever the server does, the training
//! does not notice: nothing here is waited for but the end, and that only for [`END_PATIENCE`].
//!
//! * [`account`]: which server, and the key that opens it, from the environment.
//! * [`client`]: the HTTP of it, which the lab's pages about W&B use too.
//! * [`lines`]: rows as W&B's lines. Line `n` is the same whenever it is made, so what is sent again
//!   adds nothing, and where to go on is what the server says that it has.
//!
//! The key is in no file, no log and no answer, and goes to the server that it is for and no other.

pub mod account;
pub mod client;
pub(crate) mod lines;
pub(crate) mod teller;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use cartridge_store::jsonl::Appender;
use cartridge_store::{
    DataDir, Manifest, RunDir, RunId, RunState, SupervisorEvent, SupervisorLine, Track, WandbPage,
};
use serde_json::Value;

use self::account::Account;
use self::teller::Teller;
use crate::clock::unix_now;
use crate::error::{Result, RunError};
use crate::retention::LabConfig;
use crate::steer;

/// The project of runs for which nobody names one.
pub const PROJECT: &str = "cartridge";

/// How long a training that has ended waits for the server to take the rest.
pub const END_PATIENCE: Duration = Duration::from_secs(30);

/// How long a server may take when somebody waits for it by hand.
const SEND_PATIENCE: Duration = Duration::from_secs(600);

/// How much longer than it promises a teller may take before it is left behind.
const GRACE: Duration = Duration::from_secs(5);

/// A W&B server that is to be told of runs, and in which project.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The server.
    pub base_url: String,
    /// Whose project; nothing where the server is to choose.
    pub entity: Option<String>,
    /// The project.
    pub project: String,
    /// Environment steps of a window, for runs that do not say so themselves.
    pub window_steps: u64,
}

impl Server {
    /// Where a run with this configuration is told. Its id there is its name here, and a little
    /// more, because labs that share a project know nothing of each other.
    pub(crate) fn track(self, id: &RunId, config: &Value) -> Track {
        let own = config["analytics"]["window_steps"].as_u64();
        let more = RunId::random();
        let more = more.as_str().rsplit('-').next().unwrap_or_default();
        Track {
            id: format!("{id}-{more}"),
            base_url: self.base_url,
            entity: self.entity,
            project: self.project,
            window_steps: own.unwrap_or(self.window_steps).max(1),
        }
    }
}

/// What a teller has to say.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    /// Where the run is there.
    Page(WandbPage),
    /// Something that a person should know.
    Warning(String),
}

/// The thread that tells of a run, from outside.
#[derive(Debug)]
pub(crate) struct Tracker {
    news: Receiver<Told>,
    end: Sender<i32>,
    run: RunId,
}

impl Tracker {
    /// Begins to tell of a run, if that is wanted.
    pub(crate) fn start(data: &DataDir, manifest: &Manifest) -> Option<Self> {
        let track = manifest.track.clone()?;
        let (tell, news) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let run = manifest.id.clone();
        match key_for(data, &track) {
            Ok(key) => {
                let (dir, manifest) = (data.run(&run), manifest.clone());
                thread::spawn(move || {
                    Teller::new(dir, &manifest, track, &key, tell).run(&ended, END_PATIENCE);
                });
            }
            Err(error) => {
                let warning = format!("W&B is not told of this run: {error}");
                _ = tell.send(Told::Warning(format!("{warning}; {}", what_to_do(&run))));
            }
        }
        Some(Self { news, end, run })
    }

    /// What is new.
    pub(crate) fn news(&self) -> Vec<Told> {
        self.news.try_iter().collect()
    }

    /// Tells how the training has ended and hands over what comes until everything is told, or the
    /// patience is at its end. `take` is called about ten times a second.
    pub(crate) fn finish(self, exit_code: i32, mut take: impl FnMut(Option<Told>)) {
        _ = self.end.send(exit_code);
        let deadline = Instant::now() + END_PATIENCE + GRACE;
        while Instant::now() < deadline {
            match self.news.recv_timeout(Duration::from_millis(100)) {
                Ok(told) => take(Some(told)),
                Err(RecvTimeoutError::Timeout) => take(None),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        take(Some(Told::Warning(unfinished(&self.run))));
    }
}

/// What is said of a run that the server has not heard to its end.
pub(crate) fn unfinished(run: &RunId) -> String {
    format!("The W&B server has not got all of this run; {}", what_to_do(run))
}

fn what_to_do(run: &RunId) -> String {
    format!("`cartridge track {run}` sends the rest")
}

fn key_for(data: &DataDir, track: &Track) -> Result<String> {
    let account = Account::from_environment();
    let source = LabConfig::read(data)?.wandb;
    account
        .key(&track.base_url, &source)
        .ok_or_else(|| RunError::NoWandbKey(track.base_url.clone()))
}

/// What came of sending the rest of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// Where the run is there, if the server ever said so.
    pub page: Option<WandbPage>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// Whether the server has all of it now.
    pub is_complete: bool,
}

/// Tells a W&B server what it has not heard of a run that has ended, and waits for it.
pub fn send_rest(data: &DataDir, id: &RunId) -> Result<Sent> {
    let (manifest, status) = steer::look(data, id)?;
    let track = manifest.track.clone().ok_or_else(|| RunError::NotTracked(id.clone()))?;
    let dir = data.run(id);
    let state = status.state();
    if dir.is_supervised() || !(state.is_final() || state == RunState::Lost) {
        let hint = "its supervisor tells W&B of it";
        return Err(RunError::NotNow { id: id.clone(), state, hint });
    }
    let key = key_for(data, &track)?;
    let (tell, news) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    let exit_code = match (state, status.failure()) {
        (RunState::Lost, _) => 1,
        (_, Some(failure)) => failure.exit_code.filter(|code| *code != 0).unwrap_or(1),
        (_, None) => 0,
    };
    _ = end.send(exit_code);
    let teller = Teller::new(data.run(id), &manifest, track, &key, tell);
    let is_complete = teller.run(&ended, SEND_PATIENCE);
    let (mut page, mut warnings) = (status.wandb.clone(), Vec::new());
    for told in news.try_iter() {
        match told {
            Told::Page(new) => {
                if page.as_ref() != Some(&new) {
                    note_page(&dir, status.last_attempt(), &new)?;
                }
                page = Some(new);
            }
            Told::Warning(warning) => warnings.push(warning),
        }
    }
    Ok(Sent { page, warnings, is_complete })
}

/// Records where a run is there, in the place of its supervisor.
fn note_page(dir: &RunDir, attempt: u32, page: &WandbPage) -> Result<()> {
    let mut journal = Appender::open(dir.supervisor_path())?;
    let event = SupervisorEvent::Tracked(page.clone());
    journal.append(&SupervisorLine { attempt: attempt.max(1), t: unix_now(), event })?;
    Ok(journal.sync()?)
}

#[cfg(test)]
mod tests;
