//! Stands in a run for its `wandb` client.
//!
//! It reads what the lab keeps of the client ([`Folder`]) as that grows, says it in the protocol of
//! foreign trainers, and ends as the client did. It is started by the run's supervisor; a later
//! attempt tells everything anew, in the place of what the earlier ones told.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cartridge_store::{RunDir, StoreError};
use serde_json::{Map, Value, json};

use super::folder::{Chunk, Folder, split_line};
use super::row;
use crate::error::Result;

/// How often the folder is looked at.
const LOOK: Duration = Duration::from_millis(150);

/// The longest configuration that is told.
const MOST_CONFIG_BYTES: usize = 4 * 1024 * 1024;

/// The last returns and lengths whose mean is told.
const N_RECENT: usize = 100;

/// What CleanRL says of each episode that ends, and the mean that the lab shows of it.
const MEANS: [(&str, &str); 2] = [
    ("charts/episodic_return", "rollout/ep_rew_mean"),
    ("charts/episodic_length", "rollout/ep_len_mean"),
];

/// CleanRL's name for the pace, and ours.
const PACE: (&str, &str) = ("charts/SPS", "time/fps");

/// Keys of a configuration under which scripts keep what they train, and by which method.
pub(crate) const ENV_KEYS: [&str; 5] = ["env_id", "env", "env_name", "environment", "task"];
const ALGO_KEYS: [&str; 3] = ["algo", "algorithm", "exp_name"];

/// The first text in a configuration under one of these keys.
pub(crate) fn said_in(config: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| config.get(*key)?.as_str()).map(str::to_owned)
}

/// Tells what the client of the run in `dir` says, until it ends or has been silent for
/// `patience`; returns the code to exit with. Control lines come from `control`.
pub fn relay(
    dir: &RunDir,
    attempt: u32,
    patience: Duration,
    control: impl BufRead + Send + 'static,
    output: impl Write,
) -> Result<u8> {
    let mut relay = Relay::new(Folder::find(dir)?, attempt, output);
    relay.folder.set_over(false)?;
    let lines = read_lines(control);
    let mut heard = (relay.folder.heard_at(), Instant::now());
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => relay.obey(&line)?,
            Err(RecvTimeoutError::Timeout) => {}
            // Whoever started us is gone, and so is the one who hears us.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK),
        }
        relay.advance()?;
        if relay.exit_code.is_some()
            && let Some(code) = relay.end()?
        {
            return Ok(code);
        }
        let beat = relay.folder.heard_at();
        if beat != heard.0 {
            heard = (beat, Instant::now());
        } else if heard.1.elapsed() > patience {
            if let Some(code) = relay.end()? {
                return Ok(code);
            }
            let message = format!(
                "The wandb client has been silent for {} s; its run counts as crashed, and goes on \
                 when it is heard again",
                patience.as_secs()
            );
            relay.say(&json!({ "type": "log", "level": "error", "message": message }))?;
            relay.flush()?;
            return Ok(1);
        }
    }
}

fn read_lines(control: impl BufRead + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in control.lines().map_while(io::Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

struct Relay<W> {
    folder: Folder,
    output: W,
    history: Tail,
    events: Tail,
    console: Tail,
    printed: Printed,
    /// When the card was last changed, and the configuration that was told.
    card: Option<SystemTime>,
    config: Option<Value>,
    exit_code: Option<i64>,
    attempt: u32,
    /// The environment steps, and whether the script says them.
    step: u64,
    has_global_step: bool,
    recent: [VecDeque<f64>; 2],
    is_stopped: bool,
}

impl<W: Write> Relay<W> {
    fn new(folder: Folder, attempt: u32, output: W) -> Self {
        Self {
            history: Tail::new(folder.history_path()),
            events: Tail::new(folder.events_path()),
            console: Tail::new(folder.console_path()),
            folder,
            output,
            printed: Printed::default(),
            card: None,
            config: None,
            exit_code: None,
            attempt,
            step: 0,
            has_global_step: false,
            recent: [VecDeque::new(), VecDeque::new()],
            is_stopped: false,
        }
    }

    fn say(&mut self, line: &Value) -> Result<()> {
        self.say_text(&line.to_string())
    }

    fn say_text(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.output, "{line}").map_err(StoreError::io(Path::new("stdout")))?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.output.flush().map_err(StoreError::io(Path::new("stdout")))?)
    }

    fn obey(&mut self, line: &str) -> Result<()> {
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        if line["command"] == "stop" {
            // The lab tells the client at its next post.
            self.folder.set_to_stop(true)?;
            self.is_stopped = true;
        }
        if line["seq"].as_u64().is_some_and(|seq| seq > 0) {
            let is_done = matches!(line["command"].as_str(), Some("stop" | "terminate"));
            let mut ack = json!({ "type": "control_ack", "seq": line["seq"], "step": self.step });
            if !is_done {
                ack["ok"] = json!(false);
                ack["message"] = json!("a wandb client can only be stopped");
            }
            self.say(&ack)?;
            self.flush()?;
        }
        Ok(())
    }

    /// Tells what is new.
    fn advance(&mut self) -> Result<()> {
        // Read first: whatever was there when the end was noted is told before it.
        self.read_card()?;
        let is_over = self.exit_code.is_some();
        while let Some(line) = self.history.next()? {
            self.tell_row(&line)?;
        }
        while let Some(line) = self.events.next()? {
            self.tell_system(&line)?;
        }
        while let Some(line) = self.console.next()? {
            if let Ok(chunk) = serde_json::from_str(&line) {
                self.printed.add(chunk);
            }
        }
        for line in self.printed.take(is_over) {
            self.say(&json!({ "type": "log", "message": split_line(&line).2 }))?;
        }
        self.flush()
    }

    /// Looks for the last time; returns the code to exit with if the client has ended. Whatever
    /// comes after this is told by another attempt: the lab sees that we are about to go, or we see
    /// what it has kept.
    fn end(&mut self) -> Result<Option<u8>> {
        self.folder.set_over(true)?;
        self.advance()?;
        let Some(code) = self.exit_code else { return Ok(None) };
        let reason = if self.is_stopped { "stopped" } else { "completed" };
        self.say(&json!({ "type": "done", "reason": reason, "step": self.step }))?;
        self.flush()?;
        // A script that was asked to stop does not end well by its own account.
        Ok(Some(if self.is_stopped { 0 } else { as_exit(code) }))
    }

    fn read_card(&mut self) -> Result<()> {
        let path = self.folder.card_path();
        let changed = fs::metadata(&path).and_then(|card| card.modified()).ok();
        if self.config.is_some() && changed == self.card {
            return Ok(());
        }
        let card = self.folder.card()?;
        self.card = changed;
        self.exit_code = card.exit_code;
        if self.config.as_ref() == Some(&card.config) {
            return Ok(());
        }
        let is_first = self.config.is_none();
        let plain = row::plain_config(&card.config);
        let mut line = json!({
            "type": "config",
            "capabilities": ["stop"],
            "algo": said_in(&plain, &ALGO_KEYS),
            "env_id": said_in(&plain, &ENV_KEYS),
            "seed": plain.get("seed").and_then(Value::as_u64),
        });
        if is_first && self.attempt > 1 {
            line["restored"] = json!({ "path": "", "step": 0 });
        }
        let args = Value::Object(plain);
        if args.to_string().len() <= MOST_CONFIG_BYTES {
            line["args"] = args;
        } else {
            let message = "the configuration is too long to be shown; it is in card.json";
            self.say(&json!({ "type": "log", "level": "warning", "message": message }))?;
        }
        self.config = Some(card.config);
        self.say(&line)
    }

    fn tell_row(&mut self, line: &str) -> Result<()> {
        let Some(row) = row::read(line) else { return Ok(()) };
        if let Some(step) = row::global_step(&row) {
            self.has_global_step = true;
            self.step = step;
        } else if !self.has_global_step {
            self.step =
                row::step(&row).and_then(|step| u64::try_from(step).ok()).unwrap_or(self.step);
        }
        let mut numbers = row::numbers(&row);
        self.add_ours(&mut numbers);
        for line in row::lines(&numbers, self.step) {
            self.say_text(&line)?;
        }
        Ok(())
    }

    /// Adds what lists of runs show, where the script says it by episode or by another name.
    fn add_ours(&mut self, numbers: &mut BTreeMap<String, Result<f64, &'static str>>) {
        for ((said, ours), recent) in MEANS.iter().zip(&mut self.recent) {
            let Some(Ok(value)) = numbers.get(*said).copied() else { continue };
            recent.push_back(value);
            if recent.len() > N_RECENT {
                recent.pop_front();
            }
            let mean = recent.iter().sum::<f64>() / recent.len() as f64;
            numbers.entry((*ours).to_owned()).or_insert(Ok(mean));
        }
        if let Some(pace) = numbers.get(PACE.0).copied() {
            numbers.entry(PACE.1.to_owned()).or_insert(pace);
        }
    }

    fn tell_system(&mut self, line: &str) -> Result<()> {
        let Some(row) = row::read(line) else { return Ok(()) };
        let numbers = row::numbers(&row).into_iter().map(|(name, number)| {
            let name = name.strip_prefix("system.").unwrap_or(&name);
            (format!("system/{name}"), number)
        });
        for line in row::lines(&numbers.collect(), self.step) {
            self.say_text(&line)?;
        }
        Ok(())
    }
}

/// The exit code of a process for what a client calls its own.
fn as_exit(code: i64) -> u8 {
    match code {
        0 => 0,
        code => u8::try_from(code.rem_euclid(256)).ok().filter(|code| *code > 0).unwrap_or(1),
    }
}

/// The lines of a console that will not change any more: those before the last. Clients overwrite
/// lines, as progress bars do.
#[derive(Debug, Default)]
struct Printed {
    /// Lines from `n_told` on.
    open: VecDeque<String>,
    n_told: u64,
}

impl Printed {
    fn add(&mut self, Chunk { offset, content }: Chunk) {
        for (idx, line) in content.into_iter().enumerate() {
            let Some(at) = (offset + idx as u64).checked_sub(self.n_told) else { continue };
            let Ok(at) = usize::try_from(at) else { continue };
            // A gap is not filled line by line: it was never printed.
            if at >= self.open.len() {
                self.open.push_back(line);
            } else {
                self.open[at] = line;
            }
        }
    }

    fn take(&mut self, is_all: bool) -> Vec<String> {
        let n = if is_all { self.open.len() } else { self.open.len().saturating_sub(1) };
        self.n_told += n as u64;
        self.open.drain(..n).collect()
    }
}

/// The end of a file that grows.
#[derive(Debug)]
struct Tail {
    path: PathBuf,
    /// Where the next line begins.
    offset: u64,
    /// Open while there is more to read.
    reader: Option<BufReader<File>>,
}

impl Tail {
    fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, reader: None }
    }

    /// The next whole line, if there is one.
    fn next(&mut self) -> Result<Option<String>> {
        self.read().map_err(|error| StoreError::io(&self.path)(error).into())
    }

    fn read(&mut self) -> io::Result<Option<String>> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            closed => {
                let mut file = match File::open(&self.path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    file => file?,
                };
                if file.metadata()?.len() <= self.offset {
                    return Ok(None);
                }
                file.seek(SeekFrom::Start(self.offset))?;
                closed.insert(BufReader::with_capacity(256 * 1024, file))
            }
        };
        let mut line = Vec::new();
        let n_read = reader.read_until(b'\n', &mut line)?;
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            // A half line is read again when it is whole.
            self.reader = None;
            return Ok(None);
        }
        self.offset += n_read as u64;
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }
}

#[cfg(test)]
mod tests;
