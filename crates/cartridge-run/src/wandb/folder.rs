//! What a `wandb` client has sent, as it is kept in its run's folder.
//!
//! | file in `wandb/run-<time>-<id>/` | holds |
//! |---|---|
//! | `card.json` | what the client says of the run: names, tags, configuration, how it ended |
//! | `history.jsonl` | rows of metrics, as they came |
//! | `events.jsonl` | system metrics, as they came |
//! | `console.jsonl` | what was printed: pieces of lines, of which later ones overwrite earlier ones |
//! | `files/` | files, and the summary |
//! | `beat` | when the client was last heard: its time of change |
//! | `stop` | is there when the client is to stop; written by the relay |
//! | `over` | is there when the relay has had its last look |
//!
//! The lab writes all of it but the last two. A line counts from its newline on, so the number of lines
//! in a file is the offset at which the next may be appended, whatever a crash came between.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cartridge_store::beneath::{Beneath, Draft, EntryKind, HALF, is_plain};
use cartridge_store::data_dir::write_beside;
use cartridge_store::jsonl::Appender;
use cartridge_store::{RunDir, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Key, MOST_FILE_BYTES, MOST_FILES, MOST_RUN_BYTES, row};
use crate::clock::unix_now;
use crate::error::{Result, RunError};
use crate::time::rfc3339;

/// The summary, as clients call it in posts and among files.
pub const SUMMARY: &str = "wandb-summary.json";

/// Names of files in a post.
const HISTORY: &str = "wandb-history.jsonl";
const EVENTS: &str = "wandb-events.jsonl";
const CONSOLE: &str = "output.log";

/// Lines of console that are kept.
const MOST_CONSOLE_LINES: u64 = 1_000_000;

/// The deepest folder of files that is listed.
const MOST_DEPTH: usize = 12;

/// What a client says of its run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The name for people.
    pub display_name: Option<String>,
    /// What it is compared with.
    pub group: Option<String>,
    /// What it does.
    pub job_type: Option<String>,
    /// For finding it again.
    #[serde(default)]
    pub tags: Vec<String>,
    /// For people.
    pub notes: Option<String>,
    /// For people, of old.
    pub description: Option<String>,
    /// The script.
    pub program: Option<String>,
    /// The machine.
    pub host: Option<String>,
    /// The state of its repository.
    pub commit: Option<String>,
    /// The configuration, each value wrapped as W&B does.
    #[serde(default)]
    pub config: Value,
    /// Who made it: the name of a token.
    #[serde(default)]
    pub by: String,
    /// The exit code with which it ended, once it has.
    pub exit_code: Option<i64>,
    /// Whether it was begun again after its end and has not been heard since.
    #[serde(default)]
    pub is_reopened: bool,
}

/// What a client posts.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Post {
    /// Lines by file.
    #[serde(default)]
    pub files: BTreeMap<String, Chunk>,
    /// Whether these are the last.
    #[serde(default)]
    pub complete: Option<bool>,
    /// How the script ended.
    #[serde(default, rename = "exitcode")]
    pub exit_code: Option<i64>,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// The number of the first.
    pub offset: u64,
    /// The lines.
    pub content: Vec<String>,
}

/// The folder of a client's run.
#[derive(Clone, Debug, PartialEq)]
pub struct Folder {
    path: PathBuf,
}

/// A file that a client has sent.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptFile {
    /// Its path.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// When it came, in Unix seconds.
    pub modified_at: f64,
}

impl Folder {
    /// The name of the folder for a run of `key` that begins now.
    pub fn name(key: &Key, now: f64) -> String {
        let digits: String = rfc3339(now).chars().filter(char::is_ascii_digit).take(14).collect();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
        let id: String = key.id.chars().map(plain).collect();
        format!("run-{}_{}-{id}", &digits[..8], &digits[8..])
    }

    /// Makes the folder, with its card, in the folder of a run.
    pub fn make(dir: &RunDir, name: &str, card: &Card) -> cartridge_store::Result<Self> {
        let folder = Self { path: dir.path().join("wandb").join(name) };
        let files = folder.path.join("files");
        fs::create_dir_all(&files).map_err(StoreError::io(&files))?;
        fs::write(folder.beat_path(), b"").map_err(StoreError::io(&folder.path))?;
        write_card(&folder, card)?;
        Ok(folder)
    }

    /// The folder in that of a run, unless it was removed to make room.
    pub fn find(dir: &RunDir) -> Result<Self> {
        let entries = fs::read_dir(dir.path().join("wandb")).into_iter().flatten().flatten();
        let found = entries.map(|entry| entry.path()).find(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("run-")) && path.join("card.json").is_file()
        });
        let name = || dir.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.map(|path| Self { path }).ok_or_else(|| RunError::NoWandbRun(name()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn card_path(&self) -> PathBuf {
        self.path.join("card.json")
    }

    pub(super) fn history_path(&self) -> PathBuf {
        self.path.join("history.jsonl")
    }

    pub(super) fn events_path(&self) -> PathBuf {
        self.path.join("events.jsonl")
    }

    pub(super) fn console_path(&self) -> PathBuf {
        self.path.join("console.jsonl")
    }

    fn beat_path(&self) -> PathBuf {
        self.path.join("beat")
    }

    fn stop_path(&self) -> PathBuf {
        self.path.join("stop")
    }

    fn over_path(&self) -> PathBuf {
        self.path.join("over")
    }

    /// What the client says of the run.
    pub fn card(&self) -> Result<Card> {
        let path = self.card_path();
        let text = fs::read(&path).map_err(StoreError::io(&path))?;
        let card = serde_json::from_slice(&text);
        Ok(card.map_err(|error| StoreError::Damaged { path, detail: error.to_string() })?)
    }

    /// Keeps what the client says of the run.
    pub fn write_card(&self, card: &Card) -> Result<()> {
        Ok(write_card(self, card)?)
    }

    /// When the client was last heard.
    pub fn heard_at(&self) -> Option<SystemTime> {
        fs::metadata(self.beat_path()).ok()?.modified().ok()
    }

    /// Notes that the client was heard.
    pub fn beat(&self) -> Result<()> {
        let path = self.beat_path();
        let time = UNIX_EPOCH + Duration::from_secs_f64(unix_now());
        let touched = File::options().create(true).append(true).open(&path);
        let touched = touched.and_then(|file| file.set_modified(time));
        Ok(touched.map_err(StoreError::io(&path))?)
    }

    /// Whether the client is to stop.
    pub fn is_to_stop(&self) -> bool {
        self.stop_path().exists()
    }

    /// Says whether the client is to stop.
    pub fn set_to_stop(&self, is_to_stop: bool) -> Result<()> {
        mark(&self.stop_path(), is_to_stop)
    }

    /// Whether the relay has had its last look.
    pub fn is_over(&self) -> bool {
        self.over_path().exists()
    }

    /// Says whether the relay has its last look.
    pub fn set_over(&self, is_over: bool) -> Result<()> {
        mark(&self.over_path(), is_over)
    }

    fn beneath(&self) -> Result<Beneath> {
        let path = self.path.join("files");
        Ok(Beneath::open(&path).map_err(StoreError::io(&path))?)
    }

    /// The files, sorted by name.
    pub fn files(&self) -> Result<Vec<KeptFile>> {
        let mut files = Vec::new();
        let walked = walk(&self.beneath()?, "", 0, &mut files);
        walked.map_err(StoreError::io(&self.path))?;
        files.sort_by(|a: &KeptFile, b| a.name.cmp(&b.name));
        Ok(files)
    }

    /// A file to be read, and its size.
    pub fn open_file(&self, name: &str) -> Result<(File, u64)> {
        let missing = |_| RunError::NoWandbFile(name.chars().take(80).collect());
        let file = self.beneath()?.file(name).map_err(missing)?;
        let size_bytes = file.metadata().map_err(missing)?.len();
        Ok((file, size_bytes))
    }

    /// A file to be written, and how large it may become.
    pub fn begin_file(&self, name: &str) -> Result<(Draft, u64)> {
        check_file_name(name)?;
        let files = self.files()?;
        if files.len() >= MOST_FILES && files.iter().all(|file| file.name != name) {
            return Err(RunError::WandbFull(format!("{MOST_FILES} files")));
        }
        let left = MOST_RUN_BYTES.saturating_sub(self.size_bytes()?).min(MOST_FILE_BYTES);
        let draft = self.beneath()?.begin(name);
        // What a name cannot be says the system; what a disk cannot do says it too, otherwise.
        let draft = draft.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory => {
                RunError::Wandb(format!("this cannot be the name of a file: {error}"))
            }
            _ => StoreError::io(&self.path)(error).into(),
        });
        Ok((draft?, left))
    }

    /// How much is kept.
    pub fn size_bytes(&self) -> Result<u64> {
        let streams = [self.history_path(), self.events_path(), self.console_path()];
        let streams: u64 =
            streams.iter().filter_map(|path| Some(fs::metadata(path).ok()?.len())).sum();
        Ok(streams + self.files()?.iter().map(|file| file.size_bytes).sum::<u64>())
    }

    /// The summary, as the client wrote it last.
    pub fn summary(&self) -> Value {
        let mut text = String::new();
        let read = self.beneath().ok().and_then(|files| {
            files.file(SUMMARY).ok()?.take(64 * 1024 * 1024).read_to_string(&mut text).ok()
        });
        let summary = read.and_then(|_| row::read(&text)).unwrap_or_default();
        let words =
            summary.keys().filter_map(|name| Some((name.clone(), row::lookup(&summary, name)?)));
        Value::Object(words.collect())
    }

    /// Keeps a summary.
    pub fn write_summary(&self, summary: &Value) -> Result<()> {
        let path = self.path.join("files").join(SUMMARY);
        Ok(write_beside(&path, summary.to_string().as_bytes())?)
    }

    /// Lines `from` (the first is 0) and after of what was printed, at most `most` of them, and how
    /// many there are.
    pub fn console(&self, from: usize, most: usize) -> Result<(Vec<String>, usize)> {
        let mut lines: Vec<String> = Vec::new();
        for line in text_lines(&self.console_path())? {
            if let Ok(chunk) = serde_json::from_str::<Chunk>(&line) {
                overwrite(&mut lines, chunk);
            }
        }
        let n_lines = lines.len();
        Ok((lines.into_iter().skip(from).take(most).collect(), n_lines))
    }

    /// Lines of the system metrics as they came, at most `most` of them, evenly picked.
    pub fn events(&self, most: usize) -> Result<Vec<String>> {
        let lines = text_lines(&self.events_path())?;
        let all: Vec<usize> = (0..lines.len()).collect();
        Ok(pick(&all, most).map(|idx| lines[idx].clone()).collect())
    }

    /// The last line of the system metrics.
    pub fn last_events(&self) -> Result<Option<String>> {
        Ok(text_lines(&self.events_path())?.pop())
    }
}

/// Puts an empty file where it is to be, or takes it away.
fn mark(path: &Path, is_there: bool) -> Result<()> {
    let done = match is_there {
        true => fs::write(path, b""),
        false => match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        },
    };
    Ok(done.map_err(StoreError::io(path))?)
}

fn write_card(folder: &Folder, card: &Card) -> cartridge_store::Result<()> {
    let text = serde_json::to_vec_pretty(card).expect("a card is plain data");
    write_beside(&folder.card_path(), &text)
}

/// Complains about what cannot be the name of a file.
pub fn check_file_name(name: &str) -> Result<()> {
    if is_plain(name) && name.len() <= 512 && !name.split('/').any(|step| step.starts_with(HALF)) {
        return Ok(());
    }
    let name: String = name.chars().take(80).collect();
    Err(RunError::Wandb(format!("`{name}` cannot be the name of a file of a run")))
}

fn walk(folder: &Beneath, before: &str, depth: usize, files: &mut Vec<KeptFile>) -> io::Result<()> {
    for entry in folder.entries()? {
        let name = format!("{before}{}", entry.name);
        match entry.kind {
            EntryKind::File if !entry.name.starts_with(HALF) => files.push(KeptFile {
                name,
                size_bytes: entry.size_bytes,
                modified_at: entry.modified_at,
            }),
            EntryKind::Folder if depth < MOST_DEPTH => {
                walk(&folder.folder(&entry.name)?, &format!("{name}/"), depth + 1, files)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Puts a piece of the console into its place.
fn overwrite(lines: &mut Vec<String>, Chunk { offset, content }: Chunk) {
    let Ok(mut at) = usize::try_from(offset.min(MOST_CONSOLE_LINES)) else { return };
    if lines.len() < at {
        lines.resize(at, String::new());
    }
    for line in content {
        if at as u64 >= MOST_CONSOLE_LINES {
            return;
        }
        match lines.get_mut(at) {
            Some(old) => *old = line,
            None => lines.push(line),
        }
        at += 1;
    }
}

/// A line of the console as clients write it, `ERROR 2026-01-01T00:00:00.000000 text`, in parts.
pub fn split_line(line: &str) -> (Option<&str>, Option<&str>, &str) {
    let (level, rest) = match line.split_once(' ') {
        Some((word @ ("ERROR" | "WARN" | "INFO" | "DEBUG"), rest)) => (Some(word), rest),
        _ => (None, line),
    };
    let is_time =
        |word: &str| word.len() >= 19 && word.as_bytes()[4] == b'-' && word.as_bytes()[10] == b'T';
    match rest.split_once(' ') {
        Some((time, text)) if is_time(time) => (level, Some(time), text),
        _ => (None, None, line),
    }
}

/// The whole lines of a file, which may be as long as clients make them.
fn text_lines(path: &Path) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    each_line(path, |line, _| lines.push(String::from_utf8_lossy(line).into_owned()))?;
    Ok(lines)
}

/// Hands every whole line of a file to `take`, with the offset after it.
fn each_line(path: &Path, mut take: impl FnMut(&[u8], u64)) -> Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StoreError::io(path)(error).into()),
    };
    let (mut reader, mut line, mut end) =
        (BufReader::with_capacity(256 * 1024, file), Vec::new(), 0);
    loop {
        line.clear();
        let n_read = reader.read_until(b'\n', &mut line).map_err(StoreError::io(path))?;
        // A half line is still being written, or was cut by a crash.
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            return Ok(());
        }
        end += n_read as u64;
        take(&line, end);
    }
}

/// Where a row of metrics is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    /// Its number, by W&B's count.
    step: i64,
    /// The offset after it.
    end: u64,
}

/// What is known of a metric.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    n_numbers: u64,
    n_others: u64,
}

/// Names of metrics that are told; a script that makes up a name per row must not fill the memory.
const MOST_NAMES: usize = 10_000;

/// The lines that are kept of one run, counted. Whoever holds it is the one who appends.
#[derive(Debug)]
pub struct Ledger {
    folder: Folder,
    places: Vec<Place>,
    names: BTreeMap<String, Seen>,
    n_events: u64,
    /// What was appended last to the console.
    last_console: Option<Chunk>,
    /// What is kept in all.
    size_bytes: u64,
    /// Whether more may be in the files than is counted.
    is_stale: bool,
}

impl Ledger {
    /// Counts what is there.
    pub fn open(folder: Folder) -> Result<Self> {
        let size_bytes = folder.size_bytes()?;
        let mut ledger = Self {
            folder,
            places: Vec::new(),
            names: BTreeMap::new(),
            n_events: 0,
            last_console: None,
            size_bytes,
            is_stale: false,
        };
        let path = ledger.folder.history_path();
        each_line(&path, |line, end| ledger.note(&String::from_utf8_lossy(line), end))?;
        let mut n_events = 0;
        each_line(&ledger.folder.events_path(), |_, _| n_events += 1)?;
        ledger.n_events = n_events;
        let mut last = None;
        each_line(&ledger.folder.console_path(), |line, _| last = Some(line.to_vec()))?;
        ledger.last_console = last.and_then(|line| serde_json::from_slice(&line).ok());
        Ok(ledger)
    }

    /// The folder that it counts.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Whether the files still are as long as when they were counted.
    pub fn is_current(&self) -> bool {
        let length = fs::metadata(self.folder.history_path()).map_or(0, |file| file.len());
        length == self.places.last().map_or(0, |place| place.end)
    }

    /// Rows of metrics.
    pub fn n_rows(&self) -> usize {
        self.places.len()
    }

    /// Lines of system metrics.
    pub fn n_events(&self) -> u64 {
        self.n_events
    }

    /// The number of the last row, by W&B's count.
    pub fn last_step(&self) -> Option<i64> {
        self.places.iter().map(|place| place.step).max()
    }

    fn first_step(&self) -> Option<i64> {
        self.places.iter().map(|place| place.step).min()
    }

    fn note(&mut self, line: &str, end: u64) {
        let row = row::read(line).unwrap_or_default();
        let before = self.places.last().map_or(-1, |place| place.step);
        let step = row::step(&row).unwrap_or(before + 1);
        self.places.push(Place { step, end });
        let numbers = row::numbers(&row);
        for name in row.keys().filter(|name| !numbers.contains_key(*name)) {
            if let Some(seen) = self.seen(name) {
                seen.n_others += 1;
            }
        }
        for name in numbers.keys() {
            if let Some(seen) = self.seen(name) {
                seen.n_numbers += 1;
            }
        }
    }

    fn seen(&mut self, name: &str) -> Option<&mut Seen> {
        if !self.names.contains_key(name) {
            if self.names.len() >= MOST_NAMES {
                return None;
            }
            self.names.insert(name.to_owned(), Seen::default());
        }
        self.names.get_mut(name)
    }

    /// The names of the metrics, as W&B tells them.
    pub fn keys(&self) -> Value {
        let told = self.names.iter().map(|(name, seen)| {
            let (kind, count) = match seen.n_numbers {
                0 => ("unknown", seen.n_others),
                count => ("number", count),
            };
            (name.clone(), json!({ "typeCounts": [{ "type": kind, "count": count }] }))
        });
        let keys: Map<String, Value> = told.collect();
        json!({ "lastStep": self.last_step().unwrap_or(-1), "keys": keys, "sets": [] })
    }

    /// Appends what is new in a post, durably; says whether anything was. Lines that are there
    /// already are passed over, and lines that leave a gap are refused.
    pub fn append(&mut self, post: &Post) -> Result<bool> {
        if self.is_stale || !self.is_current() {
            *self = Self::open(self.folder.clone())?;
        }
        // What the disk has taken before it refused the rest is found out by counting again.
        self.is_stale = true;
        let is_new = self.append_new(post);
        self.is_stale = !matches!(is_new, Ok(_) | Err(RunError::WandbGap { .. }));
        is_new
    }

    fn append_new(&mut self, post: &Post) -> Result<bool> {
        let history = self.new_lines(post, HISTORY, self.places.len() as u64)?;
        let events = self.new_lines(post, EVENTS, self.n_events)?;
        let console = post.files.get(CONSOLE).filter(|chunk| {
            !chunk.content.is_empty() && self.last_console.as_ref() != Some(*chunk)
        });
        let summary = post.files.get(SUMMARY).and_then(|chunk| chunk.content.last());
        let lines = history.iter().chain(&events).chain(summary);
        let printed = console.into_iter().flat_map(|chunk| &chunk.content);
        let n_bytes: usize = lines.chain(printed).map(|line| line.len() + 1).sum();
        if self.size_bytes + n_bytes as u64 > MOST_RUN_BYTES {
            return Err(RunError::WandbFull(format!("{MOST_RUN_BYTES} bytes")));
        }
        let is_new = !history.is_empty() || !events.is_empty() || console.is_some();
        let mut end = self.places.last().map_or(0, |place| place.end);
        append_lines(&self.folder.history_path(), &history)?;
        for line in &history {
            end += line.len() as u64 + 1;
            self.note(line, end);
        }
        append_lines(&self.folder.events_path(), &events)?;
        self.n_events += events.len() as u64;
        if let Some(chunk) = console {
            let line = serde_json::to_string(chunk).expect("lines are plain data");
            append_lines(&self.folder.console_path(), &[line])?;
            self.last_console = Some(chunk.clone());
        }
        if let Some(summary) = summary {
            write_beside(&self.folder.path.join("files").join(SUMMARY), summary.as_bytes())?;
        }
        self.size_bytes += n_bytes as u64;
        let known = [HISTORY, EVENTS, CONSOLE, SUMMARY];
        for name in post.files.keys().filter(|name| !known.contains(&name.as_str())) {
            let name: String = name.chars().take(80).collect();
            tracing::warn!(file = name, "a wandb client posts lines of a file that is not kept");
        }
        Ok(is_new)
    }

    /// The lines of a post that are not there yet.
    fn new_lines(&self, post: &Post, name: &'static str, known: u64) -> Result<Vec<String>> {
        let Some(chunk) = post.files.get(name) else { return Ok(Vec::new()) };
        let Some(n_old) = known.checked_sub(chunk.offset) else {
            return Err(RunError::WandbGap { file: name, known, offset: chunk.offset });
        };
        let new = chunk.content.iter().skip(usize::try_from(n_old).unwrap_or(usize::MAX));
        // A line is one line here, too.
        Ok(new.map(|line| line.trim_end_matches(['\r', '\n']).replace(['\r', '\n'], " ")).collect())
    }

    /// Rows from `min_step` on and before `max_step`, as they came, at most `most` of them, evenly
    /// picked where there are more.
    pub fn rows(&self, min_step: i64, max_step: i64, most: usize) -> Result<Vec<String>> {
        let within = |place: &Place| (min_step..max_step).contains(&place.step);
        let found: Vec<usize> =
            (0..self.places.len()).filter(|idx| within(&self.places[*idx])).collect();
        self.read(pick(&found, most))
    }

    fn read(&self, rows: impl Iterator<Item = usize>) -> Result<Vec<String>> {
        let path = self.folder.history_path();
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return Ok(Vec::new());
        }
        let file = File::open(&path).map_err(StoreError::io(&path))?;
        rows.map(|idx| {
            let start = idx.checked_sub(1).map_or(0, |before| self.places[before].end);
            let mut line = vec![0; (self.places[idx].end - start - 1) as usize];
            file.read_exact_at(&mut line, start).map_err(StoreError::io(&path))?;
            Ok(String::from_utf8_lossy(&line).into_owned())
        })
        .collect()
    }

    /// The rows that have all of `keys`, with these alone, within steps of which both are meant;
    /// at most `most` of them, evenly picked.
    pub fn sample(&self, keys: &[String], steps: (i64, i64), most: usize) -> Result<Vec<Value>> {
        let has = |row: &Map<String, Value>| {
            let found = keys.iter().map(|key| Some((key.clone(), row::lookup(row, key)?)));
            found.collect::<Option<Map<String, Value>>>()
        };
        let rows = self.rows(steps.0, steps.1.saturating_add(1), usize::MAX)?;
        let rows: Vec<Value> =
            rows.iter().filter_map(|line| Some(Value::Object(has(&row::read(line)?)?))).collect();
        let all: Vec<usize> = (0..rows.len()).collect();
        Ok(pick(&all, most).map(|idx| rows[idx].clone()).collect())
    }

    /// Where rows begin that are in no file of another kind, as W&B tells it: at the first.
    pub fn live_steps(&self) -> Value {
        self.first_step().map_or_else(|| json!([]), |step| json!([{ "_step": step }]))
    }
}

/// At most `most` of these, evenly picked, the first and the last among them.
fn pick(all: &[usize], most: usize) -> impl Iterator<Item = usize> {
    let n = all.len().min(most);
    let last = all.len().saturating_sub(1);
    let at = move |idx: usize| if n > 1 { idx * last / (n - 1) } else { last };
    (0..n).map(move |idx| all[at(idx)])
}

fn append_lines(path: &Path, lines: &[String]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut bytes = lines.join("\n").into_bytes();
    bytes.push(b'\n');
    let mut appender = Appender::open(path)?;
    appender.append_lines(&bytes)?;
    Ok(appender.sync()?)
}

#[cfg(test)]
mod tests;
