//! How fast environments step, and nothing else: no network, no learning. ([`training`] measures
//! those.)
//!
//! Lanes are split over threads; each thread steps its part of an [`EnvBatch`] with actions drawn
//! uniformly from the legal ones, except the one that ends the episode by choice. The rate is
//! looked at ten times a second. A *step* is a decision; ticks are counted apart.

pub mod training;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cartridge_games::batch::{EnvActions, EnvBatch, OwnedBuffers};
use cartridge_games::env::{ActionSpace, EnvSpec};
use cartridge_games::game::Action;
use cartridge_games::registry::make_env;
use cartridge_games::seeds::Stream;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::Result;
use crate::supervisor::read_usage;

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// Id of the environment.
    pub env: String,
    /// Options of the environment.
    pub options: Map<String, Value>,
    /// Environments side by side.
    pub envs: usize,
    /// Threads they are split over; no more are started than there are environments.
    pub threads: usize,
    /// How long is measured, in seconds.
    pub seconds: f64,
    /// Decides episodes and actions.
    pub seed: u64,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// Decisions per second, over all threads.
    pub steps_per_sec: Rate,
    /// Ticks per second, over all threads.
    pub ticks_per_sec: Rate,
    /// Where the threads' time went.
    pub phases: Phases,
    /// Of one processor.
    pub cpu_percent: f64,
    /// Greatest resident memory of the process so far.
    pub rss_mb: f64,
    /// Episodes that ended.
    pub episodes: u64,
    /// Threads that were started.
    pub threads: usize,
}

/// A rate per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Over the whole time.
    pub mean: f64,
    /// Half of the tenths of a second were faster.
    pub p50: f64,
    /// One in twenty of the tenths of a second was faster.
    pub p95: f64,
}

/// Where the time went, by the name of each part, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Phases(pub Vec<(&'static str, Spent)>);

/// The time that a part took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spent {
    /// In all, over the threads that were measured.
    pub seconds: f64,
    /// Of the time of all parts.
    pub share: f64,
}

impl Phases {
    fn new(seconds: &[(&'static str, f64)]) -> Self {
        let all: f64 = seconds.iter().map(|(_, seconds)| seconds).sum();
        let spent = |&(name, seconds)| (name, Spent { seconds, share: seconds / all.max(1e-12) });
        Self(seconds.iter().map(spent).collect())
    }

    /// The share of a part; 0 where there is no such part.
    pub fn share(&self, name: &str) -> f64 {
        self.0.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, spent)| spent.share)
    }
}

impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// Time to get going that is not measured.
const WARM_UP: Duration = Duration::from_millis(200);
const WINDOW: Duration = Duration::from_millis(100);

/// What a thread has done so far. Written by that thread alone, read by the one that measures.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter {
    steps: AtomicU64,
    ticks: AtomicU64,
    episodes: AtomicU64,
    act_nanoseconds: AtomicU64,
    step_nanoseconds: AtomicU64,
}

/// The sum over all threads at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    steps: u64,
    ticks: u64,
    episodes: u64,
    act_nanoseconds: u64,
    step_nanoseconds: u64,
}

/// Steps environments as `plan` says and measures how fast.
pub fn measure(plan: &Plan) -> Result<Throughput> {
    let envs: Result<Vec<_>, _> =
        (0..plan.envs).map(|_| make_env(&plan.env, &plan.options)).collect();
    let parts = EnvBatch::new(envs?, plan.seed, Stream::Train).split(plan.threads);
    let counters: Vec<Counter> = parts.iter().map(|_| Counter::default()).collect();
    let is_over = AtomicBool::new(false);
    let pid = std::process::id();
    let cpu_seconds = || read_usage(pid).map_or(0.0, |(seconds, _)| seconds);

    let mut readings = Vec::new();
    let mut cpu = 0.0;
    thread::scope(|scope| {
        for (index, (part, counter)) in parts.into_iter().zip(&counters).enumerate() {
            let seed = plan.seed.wrapping_add(index as u64);
            let is_over = &is_over;
            scope.spawn(move || drive(part, seed, counter, is_over));
        }
        thread::sleep(WARM_UP);
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        readings.push((Duration::ZERO, Reading::of(&counters)));
        while start.elapsed().as_secs_f64() < plan.seconds {
            thread::sleep(WINDOW);
            let reading = Reading::of(&counters);
            readings.push((start.elapsed(), reading));
        }
        cpu = (cpu_seconds() - cpu_start) / start.elapsed().as_secs_f64();
        is_over.store(true, Ordering::Relaxed);
    });

    let (_, first) = readings[0];
    let (_, last) = readings[readings.len() - 1];
    let act = (last.act_nanoseconds - first.act_nanoseconds) as f64 * 1e-9;
    let step = (last.step_nanoseconds - first.step_nanoseconds) as f64 * 1e-9;
    Ok(Throughput {
        steps_per_sec: rate(&readings, |reading| reading.steps),
        ticks_per_sec: rate(&readings, |reading| reading.ticks),
        phases: Phases::new(&[("act", act), ("step", step)]),
        cpu_percent: 100.0 * cpu,
        rss_mb: peak_memory_mb().unwrap_or(0.0),
        episodes: last.episodes - first.episodes,
        threads: counters.len(),
    })
}

/// Steps a part of the batch until the time is over.
fn drive(mut batch: EnvBatch, seed: u64, counter: &Counter, is_over: &AtomicBool) {
    let spec = batch.spec();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut buffers = OwnedBuffers::new(&batch);
    let mut choices = Choices::new(spec, batch.n_lanes());
    let mut total = Reading::default();
    batch.reset(&mut buffers.borrow());
    let mut before = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        choices.draw(spec, &buffers.masks, &mut rng);
        let between = Instant::now();
        batch.step(choices.actions(), &mut buffers.borrow());
        let after = Instant::now();

        total.steps += batch.n_lanes() as u64;
        total.ticks += buffers.ticks.iter().map(|&ticks| u64::from(ticks)).sum::<u64>();
        let ends = buffers.terminated.iter().zip(&buffers.truncated);
        total.episodes += ends.filter(|&(&one, &other)| one || other).count() as u64;
        total.act_nanoseconds += (between - before).as_nanos() as u64;
        total.step_nanoseconds += (after - between).as_nanos() as u64;
        counter.publish(&total);
        before = after;
    }
}

/// What every lane does next, drawn at random.
enum Choices {
    Discrete(Vec<Action>),
    Continuous { numbers: Vec<f32>, low: &'static [f32], high: &'static [f32] },
}

impl Choices {
    fn new(spec: &EnvSpec, n_lanes: usize) -> Self {
        match spec.actions {
            ActionSpace::Discrete(_) => Self::Discrete(vec![Action(0); n_lanes]),
            ActionSpace::Continuous { low, high } => {
                Self::Continuous { numbers: vec![0.0; n_lanes * low.len()], low, high }
            }
        }
    }

    fn draw(&mut self, spec: &EnvSpec, masks: &[bool], rng: &mut fastrand::Rng) {
        match self {
            Self::Discrete(actions) => {
                let masks = masks.chunks_exact(spec.actions.size());
                for (action, mask) in actions.iter_mut().zip(masks) {
                    *action = draw(mask, spec, rng);
                }
            }
            Self::Continuous { numbers, low, high } => {
                for numbers in numbers.chunks_exact_mut(low.len()) {
                    for (x, (low, high)) in numbers.iter_mut().zip(low.iter().zip(*high)) {
                        *x = low + (high - low) * rng.f32();
                    }
                }
            }
        }
    }

    fn actions(&self) -> EnvActions<'_> {
        match self {
            Self::Discrete(actions) => EnvActions::Discrete(actions),
            Self::Continuous { numbers, .. } => EnvActions::Continuous(numbers),
        }
    }
}

/// A legal action, all with equal chance, except the one that quits.
fn draw(mask: &[bool], spec: &EnvSpec, rng: &mut fastrand::Rng) -> Action {
    if !spec.is_masked && spec.quit_action.is_none() {
        return Action(rng.usize(..mask.len()));
    }
    let is_quit = |action: usize| spec.quit_action == Some(action);
    let n_legal = mask.iter().map(|&is_legal| usize::from(is_legal)).sum::<usize>()
        - spec.quit_action.map_or(0, |quit| usize::from(mask[quit]));
    let mut left = rng.usize(..n_legal);
    for (action, &is_legal) in mask.iter().enumerate() {
        if is_legal && !is_quit(action) {
            if left == 0 {
                return Action(action);
            }
            left -= 1;
        }
    }
    unreachable!("as many were counted")
}

impl Counter {
    fn publish(&self, total: &Reading) {
        self.steps.store(total.steps, Ordering::Relaxed);
        self.ticks.store(total.ticks, Ordering::Relaxed);
        self.episodes.store(total.episodes, Ordering::Relaxed);
        self.act_nanoseconds.store(total.act_nanoseconds, Ordering::Relaxed);
        self.step_nanoseconds.store(total.step_nanoseconds, Ordering::Relaxed);
    }
}

impl Reading {
    fn of(counters: &[Counter]) -> Self {
        let sum = |field: fn(&Counter) -> &AtomicU64| {
            counters.iter().map(|counter| field(counter).load(Ordering::Relaxed)).sum()
        };
        Self {
            steps: sum(|counter| &counter.steps),
            ticks: sum(|counter| &counter.ticks),
            episodes: sum(|counter| &counter.episodes),
            act_nanoseconds: sum(|counter| &counter.act_nanoseconds),
            step_nanoseconds: sum(|counter| &counter.step_nanoseconds),
        }
    }
}

/// Mean and quantiles of a count between readings.
fn rate<R: Copy>(readings: &[(Duration, R)], count: fn(&R) -> u64) -> Rate {
    let speed = |(from, a): (Duration, R), (to, b): (Duration, R)| {
        (count(&b) - count(&a)) as f64 / (to - from).as_secs_f64()
    };
    let mut windows: Vec<f64> = readings.windows(2).map(|pair| speed(pair[0], pair[1])).collect();
    windows.sort_by(f64::total_cmp);
    Rate {
        mean: speed(readings[0], readings[readings.len() - 1]),
        p50: quantile(&windows, 0.5),
        p95: quantile(&windows, 0.95),
    }
}

/// The smallest of the sorted values that at least a `share` of them do not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// Greatest resident memory of this process.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

#[cfg(test)]
mod tests;
