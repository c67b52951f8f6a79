//! Which of the waiting runs can be started now.
//!
//! Runs are started in the order in which they were made; evaluations, which are short and waited
//! for, in a queue of their own. The first that does not fit waits, and
//! those behind it wait with it, so that a large one is not passed by for ever. One that asks for
//! more than the lab will ever have is refused when it is made ([`Limits::admit`]); where the
//! limits have become smaller since, it is started when nothing else is at work.

use cartridge_store::{DataDir, Manifest, RunId, RunKind, SupervisorEvent, SupervisorLine, jsonl};
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, Resources};
use crate::error::Result;
use crate::gpu;

/// How much may be at work at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Runs.
    pub runs: usize,
    /// CPU cores of all runs together.
    pub cpu: f64,
    /// Bytes of memory of all runs together.
    pub memory: u64,
    /// GPUs of all runs together.
    pub gpu: u32,
}

impl Limits {
    /// What this machine has: a run per core.
    pub fn of_machine() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { runs: cores, cpu: cores as f64, memory: machine_memory(), gpu: gpu::count() }
    }

    /// Refuses a run that asks for more than there will ever be.
    pub fn admit(&self, demand: &Demand) -> Result<(), ConfigError> {
        let refuse = |key: &str, asked: String, most: String, flag: &str| {
            Err(ConfigError::BadValue {
                key: key.to_owned(),
                detail: format!(
                    "the lab gives {most} to all runs together, and the run asks for {asked}; ask \
                     for less, or start the lab with a larger {flag}"
                ),
            })
        };
        let Demand { cpu, memory, gpu } = *demand;
        if cpu > self.cpu + SLACK {
            let [asked, most] = [cpu, self.cpu].map(|cores| format!("{cores} cores"));
            return refuse("resources.cpu", asked, most, "--max-cpu");
        }
        if memory > self.memory {
            let mebibytes = |bytes: u64| format!("{} MiB", bytes.div_ceil(1024 * 1024));
            let [asked, most] = [memory, self.memory].map(mebibytes);
            return refuse("resources.memory", asked, most, "--max-memory");
        }
        if gpu > self.gpu {
            let [asked, most] = [gpu, self.gpu].map(|gpus| match gpus {
                1 => "1 GPU".to_owned(),
                _ => format!("{gpus} GPUs"),
            });
            return refuse("resources.gpu", asked, most, "--gpus");
        }
        Ok(())
    }
}

/// Sums of cores may be off by this much.
const SLACK: f64 = 1e-9;

fn machine_memory() -> u64 {
    // Where the system does not tell, memory is no limit.
    memory_figure("MemTotal:").unwrap_or(u64::MAX)
}

/// A figure of the machine's memory in bytes, as Linux names it.
pub(crate) fn memory_figure(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// What one run needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// CPU cores.
    pub cpu: f64,
    /// Bytes of memory.
    pub memory: u64,
    /// GPUs.
    pub gpu: u32,
}

impl Demand {
    /// What the configuration of a run says, or what a run needs that says nothing.
    pub fn of(manifest: &Manifest) -> Self {
        let said = serde_json::from_value::<Resources>(manifest.config["resources"].clone());
        Self::of_resources(&said.unwrap_or_default())
    }

    /// What these resources come to.
    pub fn of_resources(resources: &Resources) -> Self {
        let usual = Resources::default();
        Self {
            cpu: resources.cpu_cores().or_else(|| usual.cpu_cores()).unwrap_or(1.0),
            memory: resources.memory_bytes().or_else(|| usual.memory_bytes()).unwrap_or(0),
            gpu: resources.gpu,
        }
    }
}

/// How many of those that are `waiting`, in their order, can be started beside those `at_work`.
pub fn n_startable(limits: &Limits, at_work: &[Demand], waiting: &[Demand]) -> usize {
    let fits = |all: &[Demand]| {
        all.len() <= limits.runs
            && all.iter().map(|demand| demand.cpu).sum::<f64>() <= limits.cpu + SLACK
            && all.iter().fold(0_u64, |sum, demand| sum.saturating_add(demand.memory))
                <= limits.memory
            && all.iter().map(|demand| u64::from(demand.gpu)).sum::<u64>() <= u64::from(limits.gpu)
    };
    let mut all = at_work.to_vec();
    let mut n = 0;
    for demand in waiting {
        all.push(*demand);
        if !fits(&all) && all.len() > 1 {
            break;
        }
        n += 1;
    }
    n
}

/// The place of a run among those that wait, from 1, as the files say; nothing when it does not.
pub fn place(data: &DataDir, id: &RunId) -> Result<Option<usize>> {
    let Some(own) = waits_since(data, id)? else { return Ok(None) };
    // Evaluations have a queue of their own.
    let is_evaluation =
        |id: &RunId| data.run(id).manifest().is_ok_and(|manifest| manifest.kind == RunKind::Eval);
    let kind = is_evaluation(id);
    let mut n_before = 0;
    for other in data.run_ids()? {
        // One that is being made or removed is not before us.
        if let Ok(Some(since)) = waits_since(data, &other)
            && (since, &other) < (own, id)
            && is_evaluation(&other) == kind
        {
            n_before += 1;
        }
    }
    Ok(Some(n_before + 1))
}

/// Since when a run waits to be started.
fn waits_since(data: &DataDir, id: &RunId) -> Result<Option<f64>> {
    // The last line of a supervisor is seldom longer, and one of somebody who waits never.
    const SPAN: u64 = 64 * 1024;
    let dir = data.run(id);
    let has_begun = std::fs::metadata(dir.supervisor_path()).is_ok_and(|file| file.len() > 0);
    if has_begun {
        let (lines, _) = jsonl::last_lines(&dir.supervisor_path(), SPAN)?;
        let last = lines.last().and_then(|line| serde_json::from_slice(&line.bytes).ok());
        let waits =
            |line: &SupervisorLine| matches!(line.event, SupervisorEvent::Queued).then_some(line.t);
        return Ok(last.as_ref().and_then(waits));
    }
    let manifest = dir.manifest()?;
    Ok(manifest.is_supervised().then_some(manifest.created_at))
}

#[cfg(test)]
mod tests;
