//! Threads that do the parts of a job together.
//!
//! A gradient step on a small network takes some ten microseconds, so threads are not woken for
//! each: they watch for the next job a little while before they sleep. Measured on two cores, a
//! job without work takes about a microsecond; waking a sleeping thread takes fifty.
//!
//! Each thread begins with its own share of the parts, the same in every job of that size, and
//! then helps the others. So what a part has written is near the thread that does it again: with
//! parts for whoever came first, Adam on two cores took twice as long as on one, for fetching its
//! moments from the other. Still, who does which part is left to chance; whatever must not be, has
//! a place per *part*.

#![expect(unsafe_code, reason = "lending a closure to threads that outlive the call")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

/// A few threads, the caller's among them.
#[derive(Debug)]
pub struct Team {
    board: Arc<Board>,
    workers: Vec<JoinHandle<()>>,
    threads: Vec<Thread>,
    trial: Trial,
}

/// Finds out by trying whether the caller alone is quicker than all threads.
///
/// Where cores have no cache in common, handing work of ten microseconds from one to the other takes
/// longer than doing it. Measured on two virtual cores of one machine, which are sometimes near each
/// other and sometimes far apart for minutes: DQN's gradient steps on CartPole-v1 make 11,000
/// environment steps a second together while they are near and 4,600 while they are far; alone they
/// make 8,000 always.
#[derive(Debug)]
struct Trial {
    is_alone: bool,
    stretch: Stretch,
    /// What was done in this stretch, and how long it took.
    n_done: usize,
    time: Duration,
    /// How much is done before the other way is tried again.
    patience: usize,
}

/// What the work of a while is for.
#[derive(Clone, Copy, Debug)]
enum Stretch {
    /// To get on.
    Work,
    /// To see how long it takes the present way.
    Measure,
    /// To see how long it takes the other way; beside it, how long it took the present one.
    Other(f64),
}

/// What the threads see of each other.
#[derive(Debug, Default)]
struct Board {
    /// For each thread's share of the parts: the number of the job in the high bits, and how many
    /// parts nobody has taken yet.
    open: Vec<AtomicU64>,
    /// How many parts the job has.
    n_parts: AtomicUsize,
    /// The job. It may be looked at by who has taken a part of it, until that part is done.
    job: AtomicPtr<Job<'static>>,
    /// How many parts are not done.
    unfinished: AtomicUsize,
    /// Whether a part ended with a panic.
    is_broken: AtomicBool,
    is_over: AtomicBool,
    /// Which threads sleep.
    asleep: Vec<AtomicBool>,
}

struct Job<'a>(&'a (dyn Fn(usize) + Sync));

/// Bits of an entry of [`Board::open`] that count parts.
const PART_BITS: u32 = 24;
const PARTS: u64 = (1 << PART_BITS) - 1;

/// How often a thread looks for a job before it sleeps: some tens of microseconds.
const N_LOOKS: u32 = 4_000;

/// How much is done to see how long it takes.
const TRIAL: usize = 256;

/// How much is done between two trials, at first and when nothing has come of many: trying the slower
/// way costs a few percent at first, and then next to nothing.
const PATIENCE: [usize; 2] = [8_192, 65_536];

/// A way must be so much quicker to be preferred to the present one.
const CLEARLY: f64 = 0.95;

impl Default for Trial {
    fn default() -> Self {
        let time = Duration::ZERO;
        Self { is_alone: false, stretch: Stretch::Measure, n_done: 0, time, patience: PATIENCE[0] }
    }
}

impl Trial {
    fn took(&mut self, n: usize, time: Duration) {
        self.n_done += n;
        self.time += time;
        let enough = if matches!(self.stretch, Stretch::Work) { self.patience } else { TRIAL };
        if self.n_done < enough {
            return;
        }
        let pace = self.time.as_secs_f64() / self.n_done as f64;
        (self.n_done, self.time) = (0, Duration::ZERO);
        self.stretch = match self.stretch {
            Stretch::Work => Stretch::Measure,
            Stretch::Measure => {
                self.is_alone = !self.is_alone;
                Stretch::Other(pace)
            }
            Stretch::Other(present) if pace < CLEARLY * present => {
                self.patience = PATIENCE[0];
                Stretch::Work
            }
            Stretch::Other(_) => {
                self.is_alone = !self.is_alone;
                self.patience = (2 * self.patience).min(PATIENCE[1]);
                Stretch::Work
            }
        };
    }
}

impl Team {
    /// A team of `n_threads`, at least one: the caller's.
    pub fn new(n_threads: usize) -> Self {
        let n_workers = n_threads.saturating_sub(1);
        let asleep = (0..n_workers).map(|_| AtomicBool::new(false)).collect();
        let open = (0..=n_workers).map(|_| AtomicU64::new(0)).collect();
        let board = Arc::new(Board { asleep, open, ..Board::default() });
        let start = |index| {
            let board = Arc::clone(&board);
            thread::spawn(move || board.work(index))
        };
        let workers: Vec<JoinHandle<()>> = (0..n_workers).map(start).collect();
        let threads = workers.iter().map(|worker| worker.thread().clone()).collect();
        Self { board, workers, threads, trial: Trial::default() }
    }

    /// How many threads there are, the caller's among them.
    pub fn n_threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Whether the next job is done by exactly two threads, unless one of them is held up.
    pub(crate) fn is_pair(&self) -> bool {
        self.workers.len() == 1 && !self.trial.is_alone
    }

    /// Hears that `n` pieces of work, each like the others, took so long. From this it decides whether
    /// the next are done by all threads or by the caller alone; a team that is never told uses all.
    pub fn took(&mut self, n: usize, time: Duration) {
        if !self.workers.is_empty() {
            self.trial.took(n, time);
        }
    }

    /// Calls `part` once with each number below `n_parts`, in any order, and returns when all are
    /// done.
    ///
    /// # Panics
    ///
    /// If a part does.
    pub fn run(&mut self, n_parts: usize, part: &(dyn Fn(usize) + Sync)) {
        if self.workers.is_empty() || self.trial.is_alone || n_parts <= 1 {
            return (0..n_parts).for_each(part);
        }
        assert!(n_parts as u64 <= PARTS, "no more parts than can be counted");
        let board = &*self.board;
        let job = Job(part);
        // The lifetime is forgotten here and kept below: nobody looks at the job without a part
        // of it, and this does not return before all parts are done.
        board.job.store((&raw const job).cast_mut().cast(), Ordering::Relaxed);
        board.unfinished.store(n_parts, Ordering::Relaxed);
        board.n_parts.store(n_parts, Ordering::Relaxed);
        for (share, open) in board.open.iter().enumerate() {
            let number = (open.load(Ordering::Relaxed) >> PART_BITS) + 1;
            let n = board.first_of(share + 1, n_parts) - board.first_of(share, n_parts);
            open.store(number << PART_BITS | n as u64, Ordering::SeqCst);
        }
        for (thread, asleep) in self.threads.iter().zip(&board.asleep) {
            if asleep.load(Ordering::SeqCst) {
                thread.unpark();
            }
        }
        while board.take_part(0) {}
        let mut n_looks = 0_u32;
        while board.unfinished.load(Ordering::Acquire) > 0 {
            n_looks += 1;
            // Whoever works may be waiting for this very core.
            if n_looks < N_LOOKS { std::hint::spin_loop() } else { thread::yield_now() }
        }
        assert!(!board.is_broken.load(Ordering::Relaxed), "a part of the job has panicked");
    }

    /// Calls `part` once for each of `parts`, in any order, with its number.
    ///
    /// # Panics
    ///
    /// If a part does.
    pub fn each<T: Send>(&mut self, parts: &mut [T], part: impl Fn(usize, &mut T) + Sync) {
        /// Where the parts lie, to be shared.
        struct Parts<T>(*mut T);
        // SAFETY: every part is used by one thread at a time, so it is enough that it may be sent.
        unsafe impl<T: Send> Sync for Parts<T> {}
        impl<T> Parts<T> {
            /// # Safety
            ///
            /// There is such a part, and nobody else has it.
            #[expect(clippy::mut_from_ref, reason = "each part is lent once")]
            unsafe fn lend(&self, index: usize) -> &mut T {
                // SAFETY: promised by the caller.
                unsafe { &mut *self.0.add(index) }
            }
        }
        let n_parts = parts.len();
        let parts = Parts(parts.as_mut_ptr());
        // SAFETY: each number below `n_parts` comes once, and the slice is borrowed until the end.
        self.run(n_parts, &|index| part(index, unsafe { parts.lend(index) }));
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.board.is_over.store(true, Ordering::SeqCst);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // A panic has been reported by the job that it was in.
            _ = worker.join();
        }
    }
}

impl Board {
    /// The first part of a share.
    fn first_of(&self, share: usize, n_parts: usize) -> usize {
        share * n_parts / self.open.len()
    }

    /// Takes a part of a share, if there is one, and returns its number.
    fn take_of(&self, share: usize) -> Option<usize> {
        let shared = &self.open[share];
        let mut open = shared.load(Ordering::Acquire);
        loop {
            let n_left = (open & PARTS) as usize;
            if n_left == 0 {
                return None;
            }
            // Fails when the part, or the whole job, has become another.
            match shared.compare_exchange_weak(open, open - 1, Ordering::AcqRel, Ordering::Acquire)
            {
                // The job is not over before this part is, so its number of parts stands.
                Ok(_) => {
                    let n_parts = self.n_parts.load(Ordering::Relaxed);
                    return Some(self.first_of(share, n_parts) + n_left - 1);
                }
                Err(now) => open = now,
            }
        }
    }

    /// Does one part, if there is one: of the thread's own share before those of others.
    fn take_part(&self, thread: usize) -> bool {
        let n_shares = self.open.len();
        let shares = (0..n_shares).map(|after| (thread + after) % n_shares);
        let Some(index) = shares.into_iter().find_map(|share| self.take_of(share)) else {
            return false;
        };
        // SAFETY: the job was put up before its parts, and whoever put it up waits until this
        // part is done; so it is there, and it is the one that the part belongs to.
        let job = unsafe { &*self.job.load(Ordering::Acquire) };
        if catch_unwind(AssertUnwindSafe(|| (job.0)(index))).is_err() {
            self.is_broken.store(true, Ordering::Relaxed);
        }
        self.unfinished.fetch_sub(1, Ordering::Release);
        true
    }

    /// The life of a thread.
    fn work(&self, index: usize) {
        let asleep = &self.asleep[index];
        let mut n_looks = 0_u32;
        while !self.is_over.load(Ordering::Relaxed) {
            if self.take_part(index + 1) {
                n_looks = 0;
            } else if n_looks < N_LOOKS {
                n_looks += 1;
                std::hint::spin_loop();
            } else {
                asleep.store(true, Ordering::SeqCst);
                // Whoever puts up a job after this sees that the thread sleeps.
                let is_idle = self.open.iter().all(|open| open.load(Ordering::SeqCst) & PARTS == 0);
                if is_idle && !self.is_over.load(Ordering::SeqCst) {
                    thread::park();
                }
                asleep.store(false, Ordering::SeqCst);
                n_looks = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn every_part_is_done_once() {
        for n_threads in [1, 2, 4] {
            let mut team = Team::new(n_threads);
            assert_eq!(team.n_threads(), n_threads);
            for n_parts in (0..200).chain([5_000]) {
                let counts: Vec<AtomicUsize> = (0..n_parts).map(|_| AtomicUsize::new(0)).collect();
                team.run(n_parts, &|index| {
                    counts[index].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn many_short_jobs_and_a_sleep_between() {
        let mut team = Team::new(3);
        for _ in 0..20 {
            let sum = Mutex::new(0);
            for _ in 0..500 {
                team.run(4, &|index| *sum.lock().unwrap() += index);
            }
            assert_eq!(*sum.lock().unwrap(), 3_000);
            // Long enough for everyone to fall asleep, or not: both must work.
            thread::yield_now();
        }
    }

    /// The ways that were taken for `n` pieces of work, in turn, and for how many each, where one
    /// takes `together` or `alone` microseconds.
    fn ways(trial: &mut Trial, n: usize, together: u64, alone: u64) -> Vec<(bool, usize)> {
        let mut ways: Vec<(bool, usize)> = Vec::new();
        for _ in 0..n {
            match ways.last_mut().filter(|(is_alone, _)| *is_alone == trial.is_alone) {
                Some((_, n)) => *n += 1,
                None => ways.push((trial.is_alone, 1)),
            }
            let time = if trial.is_alone { alone } else { together };
            trial.took(1, Duration::from_micros(time));
        }
        ways
    }

    #[test]
    fn the_quicker_way_is_found_and_found_again() {
        let trial = &mut Trial::default();
        // The cores are near: alone is tried, ever less often.
        let [first, second] = PATIENCE;
        let n = TRIAL + TRIAL + 2 * first + TRIAL + TRIAL + second;
        assert_eq!(
            ways(trial, n, 50, 70)[..4],
            [(false, TRIAL), (true, TRIAL), (false, 2 * first + TRIAL), (true, TRIAL)]
        );
        // They are moved apart: within a while the caller works alone.
        let found = ways(trial, 3 * second, 150, 70);
        let n_alone: usize = found.iter().filter(|(is_alone, _)| *is_alone).map(|(_, n)| n).sum();
        assert!(trial.is_alone && n_alone > second, "{found:?}");
        // And near again.
        ways(trial, 3 * second, 50, 70);
        assert!(!trial.is_alone);
        // A difference that may be chance changes nothing.
        ways(trial, 3 * second, 50, 49);
        assert!(!matches!(trial.stretch, Stretch::Work) || !trial.is_alone);
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let mut team = Team::new(2);
        let result = catch_unwind(AssertUnwindSafe(|| {
            team.run(8, &|index| assert_ne!(index, 5));
        }));
        assert!(result.is_err());
    }
}
