//! Every process that a trainer has started, wherever it has gone.
//!
//! A process that makes a session of its own leaves the trainer's group, and a signal to the group
//! no longer reaches it. It stays a descendant of the supervisor, though: whose parent has died
//! becomes the child of the nearest process above that adopts ([`adopt`]), and not of the system's
//! first one. So the supervisor finds it by its parents, where the system tells them (Linux).

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// How long the end of killed processes is awaited.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// Makes this process the parent of those of its descendants whose own parent dies.
pub(crate) fn adopt() {
    // Where that cannot be had, those that leave the group are not found.
    #[cfg(target_os = "linux")]
    {
        _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
}

/// The descendants of this process but those that it looks after itself.
#[derive(Debug, Default)]
pub(crate) struct Descendants {
    /// Children that somebody waits for.
    own: Vec<u32>,
}

/// What the system tells of a process.
#[derive(Clone, Copy, Debug)]
struct Process {
    pid: u32,
    parent: u32,
    group: u32,
    is_zombie: bool,
}

impl Descendants {
    /// All but `own`: the first of them is the trainer, whose children count; the others, with all
    /// that is below them, are none of its.
    pub(crate) fn new(own: Vec<u32>) -> Self {
        Self { own }
    }

    /// Those that are there now, the trainer itself left out.
    fn now(&self) -> Vec<Process> {
        let known = processes();
        let mut children: BTreeMap<u32, Vec<Process>> = BTreeMap::new();
        for process in known {
            children.entry(process.parent).or_default().push(process);
        }
        let mut found = Vec::new();
        let mut parents = vec![std::process::id()];
        while let Some(parent) = parents.pop() {
            for process in children.remove(&parent).unwrap_or_default() {
                match self.own.iter().position(|own| *own == process.pid) {
                    Some(0) => parents.push(process.pid),
                    Some(_) => {}
                    None => {
                        parents.push(process.pid);
                        found.push(process);
                    }
                }
            }
        }
        found
    }

    /// Sends a signal to those that are not in `group`.
    pub(crate) fn signal_outside(&self, group: Pid, signal: Signal) {
        let group = group.as_raw_pid().unsigned_abs();
        let outside = self.now().into_iter().filter(|process| process.group != group);
        outside.filter(|process| !process.is_zombie).for_each(|process| send(process, signal));
    }

    /// Kills all of them, also those that they start meanwhile.
    pub(crate) fn end(&self) {
        let deadline = Instant::now() + KILL_WAIT;
        loop {
            let living = self.now().into_iter().filter(|process| !process.is_zombie);
            let n_living = living.map(|process| send(process, Signal::KILL)).count();
            self.reap();
            if n_living == 0 || Instant::now() >= deadline {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Lets go of those that were adopted and have ended: nobody else waits for them.
    pub(crate) fn reap(&self) {
        let ours = std::process::id();
        for process in self.now() {
            if process.is_zombie && process.parent == ours {
                _ = pid_of(process.pid).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
            }
        }
    }
}

fn pid_of(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

fn send(process: Process, signal: Signal) {
    // It may have ended in this very moment.
    _ = pid_of(process.pid).map(|pid| kill_process(pid, signal));
}

/// All processes of the machine.
fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(process).collect()
}

fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets, which may hold spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_zombie = fields.next()? == "Z";
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Process { pid, parent, group, is_zombie })
}
