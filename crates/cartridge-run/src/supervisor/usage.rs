//! What processes use of the machine, where the system tells (Linux).

use std::time::Instant;

use cartridge_store::GpuSample;

use crate::gpu::Nvml;

/// CPU, memory and GPU of a process group, sampled.
pub(super) struct Usage {
    group: u32,
    nvml: Option<Nvml>,
    last: Option<(Instant, f64)>,
}

/// What a process group uses now.
#[derive(Default)]
pub(super) struct Sample {
    /// Percent of one core since the last sample.
    pub(super) cpu_percent: Option<f64>,
    pub(super) rss_bytes: Option<u64>,
    pub(super) gpu: Option<GpuSample>,
}

impl Usage {
    pub(super) fn new(group: u32, nvml: Option<Nvml>) -> Self {
        let mut usage = Self { group, nvml, last: None };
        usage.sample();
        usage
    }

    pub(super) fn sample(&mut self) -> Sample {
        let now = Instant::now();
        let members = group_usage(self.group);
        if members.is_empty() {
            return Sample::default();
        }
        let cpu_seconds: f64 = members.iter().map(|member| member.cpu_seconds).sum();
        let rss_bytes = members.iter().map(|member| member.rss_bytes).sum();
        let cpu_percent = self.last.map(|(then, before)| {
            // A member that has ended takes its time along unless somebody waited for it.
            100.0 * (cpu_seconds - before).max(0.0) / (now - then).as_secs_f64().max(1e-3)
        });
        self.last = Some((now, cpu_seconds));
        let pids: Vec<u32> = members.iter().map(|member| member.pid).collect();
        let gpu = self.nvml.as_ref().and_then(|nvml| nvml.sample(&pids));
        Sample { cpu_percent, rss_bytes: Some(rss_bytes), gpu }
    }
}

/// What a process uses.
pub(super) struct ProcessUsage {
    pid: u32,
    group: u32,
    /// CPU seconds so far, with those of children that have ended.
    cpu_seconds: f64,
    rss_bytes: u64,
}

/// What the processes of a group use, where the system tells (Linux).
pub(super) fn group_usage(group: u32) -> Vec<ProcessUsage> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(process_usage)
        .filter(|usage| usage.group == group)
        .collect()
}

fn process_usage(pid: u32) -> Option<ProcessUsage> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets, which may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |idx: usize| fields.get(idx)?.parse::<u64>().ok();
    let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    Some(ProcessUsage {
        pid,
        group: u32::try_from(number(2)?).ok()?,
        cpu_seconds: ticks as f64 / ticks_per_second as f64,
        rss_bytes: number(21)? * rustix::param::page_size() as u64,
    })
}

/// CPU seconds so far and resident bytes of one process, where the system tells (Linux).
pub(crate) fn read_usage(pid: u32) -> Option<(f64, u64)> {
    let usage = process_usage(pid)?;
    Some((usage.cpu_seconds, usage.rss_bytes))
}
