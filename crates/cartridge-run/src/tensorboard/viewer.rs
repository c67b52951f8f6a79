//! TensorBoard itself, started for a run.
//!
//! It is another program, found on the `PATH`, and gets fixed arguments: a folder of ours, the
//! loopback address and a free port. One thread starts and ends them all, because a child dies with
//! the thread that started it, so that none outlives the lab.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cartridge_store::{RunId, StoreError};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::{Result, RunError};
use crate::lab::Lab;
use crate::supervisor::{WANDB_KEY, scrub_secrets};

/// The program.
const PROGRAM: &str = "tensorboard";

/// How many are at work at once; the one that was longest not asked for makes room.
const MAX_VIEWERS: usize = 4;

/// One that nobody has looked at for so long is ended.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(15);

/// How long it may take until it answers: it imports much.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of its last words that are told when it fails.
const LAST_WORDS: usize = 2_000;

/// How long the end of what a viewer says is waited for once it has ended.
const LAST_WORDS_PATIENCE: Duration = Duration::from_secs(1);

/// Where the program is, among the folders of `path` (the variable `PATH`).
pub fn find(path: Option<&OsStr>) -> Result<PathBuf> {
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    let is_program = |file: &PathBuf| {
        fs::metadata(file)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let mut programs =
        folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(PROGRAM));
    programs.find(is_program).ok_or(RunError::NoTensorBoard)
}

/// The command that shows what is below `folder` at `port`.
pub fn command(program: &Path, folder: &Path, port: u16) -> Command {
    let mut command = Command::new(program);
    command
        .arg("--logdir")
        .arg(folder)
        .args(["--host", "127.0.0.1", "--port"])
        .arg(port.to_string())
        // Its faster reader is one more process, which it does not always end.
        .arg("--load_fast=false");
    scrub_secrets(&mut command);
    command.env_remove(WANDB_KEY);
    command
}

/// A port that nobody uses now.
pub fn free_port() -> Result<u16> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|bound| bound.local_addr());
    let address =
        bound.map_err(|source| RunError::Spawn { program: PROGRAM.to_owned(), source })?;
    Ok(address.port())
}

/// The address for a browser.
pub fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/")
}

/// Those that are at work.
#[derive(Debug, Default)]
pub(crate) struct Viewers(Mutex<Option<Sender<Ask>>>);

/// Asks for the viewer of a run.
#[derive(Debug)]
struct Ask {
    run: RunId,
    starter: PathBuf,
    program: PathBuf,
    folder: PathBuf,
    answer: Sender<Result<u16>>,
}

impl Viewers {
    /// The port of the viewer of a run, which is started unless it is at work. It answers when this
    /// returns.
    pub(crate) fn open(
        &self,
        run: &RunId,
        starter: &Path,
        program: &Path,
        folder: &Path,
    ) -> Result<u16> {
        let (answer, answered) = mpsc::channel();
        {
            let mut keeper = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let keeper = keeper.get_or_insert_with(|| {
                let (sender, asked) = mpsc::channel();
                thread::spawn(move || keep(&asked));
                sender
            });
            let ask = Ask {
                run: run.clone(),
                starter: starter.to_owned(),
                program: program.to_owned(),
                folder: folder.to_owned(),
                answer,
            };
            keeper.send(ask).expect("the keeper lives as long as its sender");
        }
        answered.recv().expect("the keeper answers")
    }
}

impl Lab {
    /// The address at which TensorBoard shows a run, which is started for it unless it is at work.
    pub fn tensorboard(&self, id: &RunId) -> Result<String> {
        let folder = self.data.run(id);
        if !folder.manifest_path().exists() {
            return Err(StoreError::NoSuchRun(id.to_string()).into());
        }
        let program = find(std::env::var_os("PATH").as_deref())?;
        Ok(url(self.viewers.open(id, &self.launcher.program, &program, folder.path())?))
    }
}

/// One that is at work.
#[derive(Debug)]
struct Viewer {
    child: Child,
    port: u16,
    used_at: Instant,
    /// Who waits for it to answer.
    waiting: Vec<Sender<Result<u16>>>,
    deadline: Instant,
    last_words: Arc<Mutex<Vec<u8>>>,
    listener: Option<JoinHandle<()>>,
}

/// Starts, watches and ends viewers until nobody can ask any more.
fn keep(asked: &Receiver<Ask>) {
    let mut viewers: HashMap<RunId, Viewer> = HashMap::new();
    loop {
        let is_starting = viewers.values().any(|viewer| !viewer.waiting.is_empty());
        let pause = if is_starting { Duration::from_millis(50) } else { LOOK };
        match asked.recv_timeout(pause) {
            Ok(ask) => take(ask, &mut viewers),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        viewers.retain(|_, viewer| viewer.goes_on());
    }
    viewers.values_mut().for_each(Viewer::end);
}

fn take(ask: Ask, viewers: &mut HashMap<RunId, Viewer>) {
    let Ask { run, starter, program, folder, answer } = ask;
    if let Some(viewer) = viewers.get_mut(&run)
        && matches!(viewer.child.try_wait(), Ok(None))
    {
        viewer.used_at = Instant::now();
        viewer.waiting.push(answer);
        return;
    }
    if let Some(mut ended) = viewers.remove(&run) {
        ended.end();
    }
    if viewers.len() >= MAX_VIEWERS {
        let oldest = viewers.iter().min_by_key(|(_, viewer)| viewer.used_at);
        if let Some(oldest) = oldest.map(|(run, _)| run.clone())
            && let Some(mut oldest) = viewers.remove(&oldest)
        {
            oldest.end();
        }
    }
    match start(&starter, &program, &folder) {
        Ok(viewer) => _ = viewers.insert(run, Viewer { waiting: vec![answer], ..viewer }),
        // Whoever asked may have left.
        Err(error) => _ = answer.send(Err(error)),
    }
}

/// Starts one, by way of our own program, which sees to it that it dies with this process.
fn start(starter: &Path, program: &Path, folder: &Path) -> Result<Viewer> {
    let port = free_port()?;
    let shown = command(program, folder, port);
    let mut command = Command::new(starter);
    command.arg("start-trainer").arg("--supervisor").arg(std::process::id().to_string()).arg("--");
    command.arg(shown.get_program()).args(shown.get_args());
    scrub_secrets(&mut command);
    command.env_remove(WANDB_KEY);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let started = command.spawn();
    let mut child =
        started.map_err(|source| RunError::Spawn { program: PROGRAM.to_owned(), source })?;
    let last_words = Arc::default();
    let listener = child.stderr.take().map(|stderr| {
        let last_words = Arc::clone(&last_words);
        thread::spawn(move || listen(stderr, &last_words))
    });
    let (used_at, waiting) = (Instant::now(), Vec::new());
    let deadline = used_at + PATIENCE;
    Ok(Viewer { child, port, used_at, waiting, deadline, last_words, listener })
}

/// Keeps the end of what a viewer says.
fn listen(mut stderr: impl Read, last_words: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 4096];
    while let Ok(n_read @ 1..) = stderr.read(&mut chunk) {
        let mut kept = last_words.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..n_read]);
        let first = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..first);
    }
}

impl Viewer {
    /// Looks how it does and tells whoever waits for it; says whether it is to be kept.
    fn goes_on(&mut self) -> bool {
        if !matches!(self.child.try_wait(), Ok(None)) {
            let detail = self.last_words();
            return self.fail(&detail);
        }
        let now = Instant::now();
        if is_open(self.port) {
            self.waiting.drain(..).for_each(|answer| _ = answer.send(Ok(self.port)));
        } else if !self.waiting.is_empty() && now >= self.deadline {
            return self.fail("it does not answer");
        }
        if has_connections(self.port) {
            self.used_at = now;
        }
        if now.saturating_duration_since(self.used_at) < IDLE {
            return true;
        }
        self.end();
        false
    }

    /// The last line that it said.
    fn last_words(&self) -> String {
        // What it said last may still be on its way; a process that it left behind may hold the door.
        let deadline = Instant::now() + LAST_WORDS_PATIENCE;
        while self.listener.as_ref().is_some_and(|listener| !listener.is_finished())
            && Instant::now() < deadline
        {
            thread::sleep(Duration::from_millis(5));
        }
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&words);
        let last = words.lines().rev().find(|line| !line.trim().is_empty());
        last.unwrap_or("it ended without a word").trim().to_owned()
    }

    /// Tells whoever waits that there is nothing to wait for.
    fn fail(&mut self, detail: &str) -> bool {
        for answer in self.waiting.drain(..) {
            _ = answer.send(Err(RunError::TensorBoardFailed(detail.to_owned())));
        }
        self.end();
        false
    }

    fn end(&mut self) {
        // It leads a group of its own, with whatever it started.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            _ = kill_process_group(group, Signal::KILL);
        }
        _ = self.child.wait();
    }
}

/// Whether somebody answers at a port of this machine.
fn is_open(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok()
}

/// Whether somebody is connected to a port of this machine, where the system tells (Linux).
fn has_connections(port: u16) -> bool {
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, state) = (fields.next().unwrap_or_default(), fields.nth(1));
        // 01 is an established connection.
        state == Some("01") && local.ends_with(&format!(":{port:04X}"))
    })
}

#[cfg(test)]
mod tests;
