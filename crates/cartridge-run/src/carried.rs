//! Runs that the calling process carries out itself: evaluations and matches of the command line.
//!
//! Such a run leaves the same folder as a training. The process is its own supervisor: it holds
//! `supervisor.jsonl` locked for as long as it lives, beats, and records its exit. So a lab on the
//! same data folder shows the run while it goes on, and one that was killed reads as lost.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cartridge_store::jsonl::Appender;
use cartridge_store::{
    DataDir, DoneReason, EpisodeBody, EpisodeHead, EpisodeWriter, Event, EventLine, Manifest,
    MetricLine, RunDir, RunKind, SupervisorEvent, SupervisorLine,
};
use serde_json::Value;

use crate::clock::unix_now;
use crate::error::{Result, RunError};
use crate::supervisor::HEARTBEAT;
use crate::tensorboard::{EventFile, Records};

/// Events are durable at the latest after this time.
const GROUP_COMMIT: Duration = Duration::from_millis(1000);

/// An evaluation that this process carries out.
#[derive(Debug)]
pub struct CarriedRun {
    /// What the run is.
    pub manifest: Manifest,
    dir: RunDir,
    events: Appender,
    last_sync: Instant,
    /// Ends the heartbeat, which then hands back what it writes to.
    end: Sender<()>,
    heart: JoinHandle<Appender>,
}

impl CarriedRun {
    /// Makes the folder of an evaluation. `version` is the product's.
    pub fn begin(
        data: &DataDir,
        version: &str,
        name: String,
        env_id: &str,
        config: Value,
    ) -> Result<Self> {
        let (dir, manifest) = RunDir::create(data, |id| Manifest {
            format: Manifest::FORMAT,
            id,
            kind: RunKind::Eval,
            name,
            env_id: env_id.to_owned(),
            config,
            created_at: unix_now(),
            cartridge_version: version.to_owned(),
            parent: None,
            restart: None,
            command: None,
            cwd: None,
            environment: Default::default(),
            limits: Default::default(),
            experiment_id: None,
            group: None,
            track: None,
        })?;
        let events = Appender::open(dir.events_path())?;
        let mut supervisor = Appender::open(dir.supervisor_path())?;
        let pid = std::process::id();
        write(&mut supervisor, SupervisorEvent::Started { supervisor_pid: pid, trainer_pid: pid })?;
        let (end, ended) = mpsc::channel();
        let heart = thread::spawn(move || {
            while ended.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
                // A disk that is full now may have room for the exit.
                _ = write(
                    &mut supervisor,
                    SupervisorEvent::Heartbeat {
                        cpu_percent: None,
                        rss_bytes: None,
                        gpu: None,
                        lines: None,
                    },
                );
            }
            supervisor
        });
        Ok(Self { manifest, dir, events, last_sync: Instant::now(), end, heart })
    }

    /// Records an event; it is durable within a second.
    pub fn event(&mut self, event: Event) -> Result<()> {
        self.events.append(&EventLine { attempt: 1, t: unix_now(), event })?;
        if self.last_sync.elapsed() >= GROUP_COMMIT {
            self.last_sync = Instant::now();
            self.events.sync()?;
        }
        Ok(())
    }

    /// Records what was done in every episode, before the row of figures that counts them.
    pub fn episodes(
        &mut self,
        episodes: impl Iterator<Item = (EpisodeHead, EpisodeBody)>,
    ) -> Result<()> {
        let mut writer = EpisodeWriter::open(&self.dir)?;
        for (head, body) in episodes {
            writer.add(&head, &body)?;
        }
        Ok(writer.sync()?)
    }

    /// Records the one row of figures that an evaluation has.
    pub fn metrics(&mut self, line: &MetricLine) -> Result<()> {
        let mut metrics = Appender::open(self.dir.metrics_path())?;
        metrics.append(line)?;
        let mut records = Records::default();
        records.row(line);
        EventFile::new(&self.dir, 1).append(&records.take());
        Ok(metrics.sync()?)
    }

    /// Records that it is done, and how.
    pub fn finish(mut self, reason: DoneReason) -> Result<()> {
        let (weights_sha256, checkpoint) = (String::new(), String::new());
        self.event(Event::Done { reason, step: 0, weights_sha256, checkpoint })?;
        self.exit(0, Vec::new())
    }

    /// Records that it failed.
    pub fn fail(mut self, error: &RunError) -> Result<()> {
        self.event(Event::Error { message: error.to_string() })?;
        self.exit(1, vec![error.to_string()])
    }

    fn exit(mut self, code: i32, log: Vec<String>) -> Result<()> {
        self.events.sync()?;
        _ = self.end.send(());
        let mut supervisor = self.heart.join().expect("the heartbeat does not panic");
        let exited = SupervisorEvent::Exited {
            code: Some(code),
            signal: None,
            forced: false,
            log,
            reason: None,
            lines: None,
        };
        write(&mut supervisor, exited)
    }
}

fn write(supervisor: &mut Appender, event: SupervisorEvent) -> Result<()> {
    supervisor.append(&SupervisorLine { attempt: 1, t: unix_now(), event })?;
    Ok(supervisor.sync()?)
}
