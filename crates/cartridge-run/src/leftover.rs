//! Processes that an older attempt of a run left behind.
//!
//! A trainer knows its run by its environment, and so does everything that it starts. So they are
//! found again whatever their numbers are now, and no other process is ever taken for one.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::thread;
use std::time::{Duration, Instant};

use cartridge_store::{RunDir, RunId};
use rustix::process::{Pid, Signal, kill_process};

/// How long a trainer whose supervisor is gone may take to save and end.
const GRACE: Duration = Duration::from_secs(5);

/// How long the end of a killed process is awaited.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// Sees to it that nothing of the attempts before `attempt` is left; returns how many processes
/// had to be killed. A trainer that notices by itself that its supervisor is gone gets the time to
/// save.
pub fn end_leftovers(dir: &RunDir, id: &RunId, attempt: u32) -> usize {
    wait_while(GRACE, || !leftovers(dir, id, attempt).is_empty());
    kill_leftovers(dir, id, attempt)
}

/// [`end_leftovers`] for those that have had their time.
pub fn kill_leftovers(dir: &RunDir, id: &RunId, attempt: u32) -> usize {
    let left = leftovers(dir, id, attempt);
    for pid in &left {
        // It may have ended in this very moment.
        _ = kill_process(*pid, Signal::KILL);
    }
    wait_while(KILL_WAIT, || !leftovers(dir, id, attempt).is_empty());
    left.len()
}

fn wait_while(limit: Duration, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + limit;
    while is_so() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
}

/// The processes of attempts before `attempt`, where the system tells (Linux).
fn leftovers(dir: &RunDir, id: &RunId, attempt: u32) -> Vec<Pid> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_left = |pid: &u32| {
        // Those of other users cannot be read, and are not ours; a zombie has none.
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        *pid != own && is_of(&environment, dir, id, attempt)
    };
    numbers.filter(is_left).filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).collect()
}

/// Whether an environment is that of an attempt of the run before `attempt`.
fn is_of(environment: &[u8], dir: &RunDir, id: &RunId, attempt: u32) -> bool {
    let value = |name: &str| {
        environment
            .split(|&byte| byte == 0)
            .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    };
    let number =
        value("CARTRIDGE_ATTEMPT").and_then(|text| str::from_utf8(text).ok()?.parse().ok());
    value("CARTRIDGE_RUN_ID") == Some(id.as_str().as_bytes())
        // A copy of the data folder has runs of the same names.
        && value("CARTRIDGE_RUN_DIR") == Some(dir.path().as_os_str().as_bytes())
        && number.is_some_and(|number: u32| number < attempt)
}

#[cfg(test)]
mod tests;
