//! What is at work on this machine, and what it costs: the lab, and a supervisor and a trainer for
//! every run, as "pods".
//!
//! What trainers use is what their supervisors last measured; the lab and the supervisors are asked
//! of the system. Costs are an estimate: use times the prices in `data/lab.json`, as if a run had
//! always used what it uses now.

use std::collections::BTreeMap;
use std::io;

use cartridge_store::beneath::Beneath;
use cartridge_store::index::IndexedRun;
use cartridge_store::{
    DataDir, RunKind, RunState, RunStatus, SupervisorEvent, SupervisorLine, jsonl,
};
use serde::Serialize;

use crate::error::Result;
use crate::lab::Health;
use crate::queue::memory_figure;
use crate::retention::{LabConfig, Links, Prices};
use crate::steer;
use crate::supervisor::read_usage;

/// Runs whose pods are shown.
pub const MOST_RUNS: usize = 200;

/// How much of the end of a supervisor's file is searched for its process.
const SUPERVISOR_BYTES: u64 = 1 << 20;

/// What a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PodKind {
    /// This server.
    Lab,
    /// Looks after one run.
    Supervisor,
    /// Trains.
    Trainer,
}

impl PodKind {
    /// The word in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lab => "lab",
            Self::Supervisor => "supervisor",
            Self::Trainer => "trainer",
        }
    }
}

/// A process, or the group of processes of a trainer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pod {
    /// What it is, and of which run.
    pub name: String,
    /// What it is.
    pub kind: PodKind,
    /// The run that it works for.
    pub run_id: Option<String>,
    /// `fresh`, `stale` or `dead`.
    pub health: &'static str,
    /// Where its run is in its life.
    pub state: Option<RunState>,
    /// CPU use; 100 is one core. None for those of which the system tells only the sum so far.
    pub cpu_percent: Option<f64>,
    /// CPU seconds so far.
    pub cpu_seconds: Option<f64>,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Use of the busiest GPU, in percent.
    pub gpu_percent: Option<f64>,
    /// Memory on all GPUs.
    pub gpu_memory_bytes: Option<u64>,
    /// Environment steps a second.
    pub steps_per_sec: Option<f64>,
    /// Environment steps so far.
    pub step: Option<u64>,
    /// Where other tools show it.
    pub links: Vec<Link>,
}

/// An address in another tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// The tool.
    pub tool: &'static str,
    /// The address.
    pub url: String,
}

/// How many runs are where in their lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Jobs {
    /// At work.
    pub running: u64,
    /// In the queue.
    pub pending: u64,
    /// Done.
    pub succeeded: u64,
    /// Ended in an error, or lost.
    pub failed: u64,
    /// Ended because somebody asked.
    pub terminated: u64,
}

impl Jobs {
    fn of(counts: &[(RunState, u64)]) -> Self {
        let mut jobs = Self::default();
        for &(state, n) in counts {
            *match state {
                RunState::Queued => &mut jobs.pending,
                RunState::Starting | RunState::Running | RunState::Paused | RunState::Stopping => {
                    &mut jobs.running
                }
                RunState::Succeeded => &mut jobs.succeeded,
                RunState::Failed | RunState::Lost => &mut jobs.failed,
                RunState::Terminated => &mut jobs.terminated,
            } += n;
        }
        jobs
    }
}

/// What the runs at work cost, as an estimate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The currency, as `lab.json` names it.
    pub currency: String,
    /// An hour of what is used now.
    pub per_hour: f64,
    /// What the runs at work have come to since they were started.
    pub so_far: f64,
    /// Whether there are prices at all.
    pub is_priced: bool,
}

/// What is at work on this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cluster {
    /// The lab first, where there is one, then supervisor and trainer of every run.
    pub pods: Vec<Pod>,
    /// How many runs are where in their lives.
    pub jobs: Jobs,
    /// CPU cores of the machine.
    pub cores: usize,
    /// Bytes of its memory.
    pub memory_bytes: Option<u64>,
    /// Bytes of it that programs could still get.
    pub memory_free_bytes: Option<u64>,
    /// Bytes that are free for the data folder.
    pub disk_free_bytes: Option<u64>,
    /// Bytes of that disk.
    pub disk_bytes: Option<u64>,
    /// What the runs at work cost.
    pub cost: Cost,
}

/// What is at work on a data folder, read from its files alone: no lab is among the pods.
pub fn read(data: &DataDir) -> Result<Cluster> {
    let mut counts: BTreeMap<String, (RunState, u64)> = BTreeMap::new();
    let mut active = Vec::new();
    for id in data.run_ids()? {
        // A folder without a manifest is being made, or was never finished.
        let Ok(manifest) = data.run(&id).manifest() else { continue };
        if manifest.kind == RunKind::Human {
            continue;
        }
        let (manifest, status) = steer::look(data, &id)?;
        let state = status.state();
        counts.entry(format!("{state:?}")).or_insert((state, 0)).1 += 1;
        if state.is_active() && active.len() < MOST_RUNS {
            active.push((IndexedRun { manifest, status }, Health::Fresh));
        }
    }
    let counts: Vec<(RunState, u64)> = counts.into_values().collect();
    Ok(cluster(data, &counts, &active, &LabConfig::read(data)?))
}

pub(crate) fn cluster(
    data: &DataDir,
    counts: &[(RunState, u64)],
    active: &[(IndexedRun, Health)],
    config: &LabConfig,
) -> Cluster {
    let mut pods = Vec::new();
    let mut cost = Cost {
        currency: config.prices.currency.clone(),
        per_hour: 0.0,
        so_far: 0.0,
        is_priced: config.prices != Prices::default(),
    };
    let at_work = active.iter().filter(|(run, _)| {
        let state = run.status.state();
        state.is_active() && state != RunState::Queued
    });
    for (run, health) in at_work {
        let trainer = trainer_pod(run, *health, &config.links);
        let of_run = RunCost::new(&run.status, &config.prices);
        cost.per_hour += of_run.per_hour;
        cost.so_far += of_run.so_far;
        pods.push(supervisor_pod(data, run, *health));
        pods.push(trainer);
    }
    let disk = disk_space(data).ok();
    Cluster {
        pods,
        jobs: Jobs::of(counts),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: memory_figure("MemTotal:"),
        memory_free_bytes: memory_figure("MemAvailable:"),
        disk_free_bytes: disk.map(|(free, _)| free),
        disk_bytes: disk.map(|(_, whole)| whole),
        cost,
    }
}

/// This process.
pub(crate) fn lab_pod() -> Pod {
    let usage = own_usage();
    Pod {
        name: "lab".to_owned(),
        kind: PodKind::Lab,
        run_id: None,
        health: "fresh",
        state: None,
        cpu_percent: None,
        cpu_seconds: usage.map(|(seconds, _)| seconds),
        memory_bytes: usage.map(|(_, bytes)| bytes),
        gpu_percent: None,
        gpu_memory_bytes: None,
        steps_per_sec: None,
        step: None,
        links: Vec::new(),
    }
}

fn supervisor_pod(data: &DataDir, run: &IndexedRun, health: Health) -> Pod {
    let id = &run.manifest.id;
    let lines = jsonl::last_lines(&data.run(id).supervisor_path(), SUPERVISOR_BYTES);
    let lines = lines.map(|(lines, _)| lines).unwrap_or_default();
    let pid = lines.iter().rev().find_map(|line| {
        match serde_json::from_slice::<SupervisorLine>(&line.bytes).ok()?.event {
            SupervisorEvent::Started { supervisor_pid, .. } => Some(supervisor_pid),
            _ => None,
        }
    });
    // The process of that number may be another by now, unless somebody holds the run's lock.
    let pid = pid.filter(|_| data.run(id).is_supervised());
    let usage = pid.and_then(read_usage);
    Pod {
        name: format!("supervisor/{id}"),
        kind: PodKind::Supervisor,
        cpu_seconds: usage.map(|(seconds, _)| seconds),
        memory_bytes: usage.map(|(_, bytes)| bytes),
        ..run_pod(run, health)
    }
}

fn trainer_pod(run: &IndexedRun, health: Health, links: &Links) -> Pod {
    let status = &run.status;
    let id = run.manifest.id.as_str();
    Pod {
        name: format!("trainer/{id}"),
        kind: PodKind::Trainer,
        cpu_percent: status.cpu_percent,
        memory_bytes: status.rss_bytes,
        gpu_percent: status.gpu.map(|gpu| gpu.percent),
        gpu_memory_bytes: status.gpu.map(|gpu| gpu.memory_bytes),
        steps_per_sec: status.pace(),
        step: Some(status.step),
        links: links.filled_in(Some(id), None),
        ..run_pod(run, health)
    }
}

fn run_pod(run: &IndexedRun, health: Health) -> Pod {
    Pod {
        run_id: Some(run.manifest.id.to_string()),
        health: match health {
            Health::Fresh => "fresh",
            Health::Stale => "stale",
            Health::Dead => "dead",
        },
        state: Some(run.status.state()),
        cpu_seconds: None,
        memory_bytes: None,
        ..lab_pod()
    }
}

/// What one run costs, as an estimate: as if it had always used what was measured last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RunCost {
    /// An hour of what it uses; 0 once it has ended.
    pub per_hour: f64,
    /// What it has come to since it was started.
    pub so_far: f64,
}

impl RunCost {
    /// The cost of a run by these prices.
    pub fn new(status: &RunStatus, prices: &Prices) -> Self {
        const GIB: f64 = (1_u64 << 30) as f64;
        let memory = status.rss_bytes.unwrap_or(0) as f64 / GIB;
        let gpu = status.gpu.map_or(0.0, |_| 1.0);
        let rate = status.cpu_percent.unwrap_or(0.0) / 100.0 * prices.cpu_core_hour
            + memory * prices.memory_gib_hour
            + gpu * prices.gpu_hour;
        let hours = match (status.started_at, status.ended_at.or(status.heartbeat_at)) {
            (Some(from), Some(to)) => ((to - from) / 3600.0).max(0.0),
            _ => 0.0,
        };
        let per_hour = if status.state().is_active() { rate } else { 0.0 };
        Self { per_hour, so_far: rate * hours }
    }
}

impl Links {
    /// The addresses for a run, for a request, or for both. A tool whose address asks for what is
    /// not there has none, and what is no web address is none.
    pub fn filled_in(&self, run_id: Option<&str>, request_id: Option<&str>) -> Vec<Link> {
        let tools = [
            ("grafana", &self.grafana),
            ("tempo", &self.tempo),
            ("jaeger", &self.jaeger),
            ("loki", &self.loki),
        ];
        let mut links = Vec::new();
        for (tool, template) in tools {
            let Some(template) = template else { continue };
            let is_web = template.starts_with("https://") || template.starts_with("http://");
            let mut url = template.clone();
            let mut is_filled = false;
            for (mark, value) in [("{run_id}", run_id), ("{request_id}", request_id)] {
                if let Some(value) = value
                    && url.contains(mark)
                {
                    url = url.replace(mark, &escaped(value));
                    is_filled = true;
                }
            }
            if is_web && is_filled && !url.contains("{run_id}") && !url.contains("{request_id}") {
                links.push(Link { tool, url });
            }
        }
        links
    }
}

/// Text as a part of an address.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => out.push(byte.into()),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

/// CPU seconds so far and memory of this process, where the system tells.
pub fn own_usage() -> Option<(f64, u64)> {
    read_usage(std::process::id())
}

/// Bytes that are free for a data folder, and bytes of its disk.
pub(crate) fn disk_space(data: &DataDir) -> io::Result<(u64, u64)> {
    Beneath::open(data.path())?.space()
}

#[cfg(test)]
mod tests {
    use cartridge_store::GpuSample;

    use super::*;

    #[test]
    fn states_are_counted_as_jobs() {
        use RunState::{Failed, Lost, Paused, Queued, Running, Succeeded, Terminated};
        let counts = [
            (Queued, 2),
            (Running, 1),
            (Paused, 1),
            (Succeeded, 5),
            (Failed, 1),
            (Lost, 1),
            (Terminated, 3),
        ];
        let jobs = Jobs::of(&counts);
        let expected = Jobs { running: 2, pending: 2, succeeded: 5, failed: 2, terminated: 3 };
        assert_eq!(jobs, expected);
    }

    #[test]
    fn use_has_its_price() {
        let prices = Prices {
            currency: "EUR".to_owned(),
            cpu_core_hour: 0.1,
            memory_gib_hour: 0.01,
            gpu_hour: 2.0,
        };
        let mut status = RunStatus::default();
        (status.cpu_percent, status.rss_bytes) = (Some(150.0), Some(2 << 30));
        (status.started_at, status.heartbeat_at) = (Some(1_000.0), Some(8_200.0));
        let cost = RunCost::new(&status, &prices);
        assert!((cost.per_hour - 0.17).abs() < 1e-12 && (cost.so_far - 0.34).abs() < 1e-12);
        status.gpu = Some(GpuSample { percent: 10.0, memory_bytes: 1 });
        assert!((RunCost::new(&status, &prices).per_hour - 2.17).abs() < 1e-12);
        assert_eq!(RunCost::new(&status, &Prices::default()), RunCost::default());
    }

    #[track_caller]
    fn check(template: &str, run: Option<&str>, request: Option<&str>, expected: Option<&str>) {
        let links = Links { grafana: Some(template.to_owned()), ..Links::default() };
        let found = links.filled_in(run, request);
        assert_eq!(found.first().map(|link| link.url.as_str()), expected);
    }

    #[test]
    fn addresses_are_filled_in() {
        let run = Some("r-000000");
        check("https://g/d?run={run_id}", run, None, Some("https://g/d?run=r-000000"));
        check("https://g/d?run={run_id}", None, Some("ab"), None);
        check("https://g/t/{request_id}", None, Some("a b/"), Some("https://g/t/a%20b%2F"));
        check("https://g/{run_id}/{request_id}", run, None, None);
        check("https://g/", run, None, None);
        check("javascript:alert({run_id})", run, None, None);
    }
}
