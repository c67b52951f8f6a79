//! Which of the waiting runs can be started now.
//!
//! Runs are started in the order in which they were made. The first that does not fit waits, and
//! those behind it wait with it, so that a large one is not passed by for ever; one that is larger
//! than the whole machine is started when nothing else is at work.

use cartridge_store::Manifest;

use crate::config::Resources;

/// How much may be at work at once.
#[derive(Clone, Copy, Debug, PartialEq)]
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
        Self { runs: cores, cpu: cores as f64, memory: machine_memory(), gpu: machine_gpus() }
    }
}

fn machine_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes =
        total.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    // Where the system does not tell, memory is no limit.
    kilobytes.map_or(u64::MAX, |kilobytes| kilobytes * 1024)
}

fn machine_gpus() -> u32 {
    std::fs::read_dir("/proc/driver/nvidia/gpus").map_or(0, |gpus| gpus.count() as u32)
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
        let resources = said.unwrap_or_default();
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
            && all.iter().map(|demand| demand.cpu).sum::<f64>() <= limits.cpu + 1e-9
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

#[cfg(test)]
mod tests;
