//! Finding episodes again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::{Range, RangeInclusive};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::batch::{self, Body};
use super::block::{
    Entry, FILE_HEADER_BYTES, FileHeader, FileKind, HEADER_BYTES, Header, Kind, RECORD_BYTES, Scan,
    scan,
};
use super::steps::{self, Place, Places};
use super::{
    EpisodeBody, EpisodeHead, FORMAT, StepRecord, compare_returns, segment_name, segments,
};
use crate::error::{Result, StoreError};
use crate::follow::latest_episodes;
use crate::run_dir::RunDir;

/// What episodes are listed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Their number, which is the order in which they ended.
    #[default]
    Number,
    /// The sum of their rewards.
    Return,
    /// Their steps.
    Length,
    /// When they ended.
    Time,
}

/// Which end of a list comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The smallest.
    #[default]
    Ascending,
    /// The largest.
    Descending,
}

/// A part of a list of episodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Episodes in all, with those that cannot be read.
    pub total: u64,
    /// Those of all that cannot be read, because a block of theirs was changed or cut, or of which
    /// not all steps can. It does not depend on the part that was asked for.
    pub n_damaged: u64,
    /// The part.
    pub heads: Vec<EpisodeHead>,
}

/// A place where a file is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// Where it begins.
    pub offset: u64,
    /// The episodes that cannot be read, where it is known.
    pub episodes: Option<(u64, u64)>,
    /// Foreign episodes of which some steps cannot be read, in order.
    pub steps_of: Vec<u64>,
}

impl Damage {
    fn at(path: impl Into<PathBuf>, offset: u64) -> Self {
        Self { path: path.into(), offset, episodes: None, steps_of: Vec::new() }
    }
}

/// A foreign episode that has not ended, or never will.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfinished {
    /// Which start of the trainer played it.
    pub attempt: u32,
    /// What the trainer calls it.
    pub foreign_id: String,
    /// Its steps that were written.
    pub n_steps: u64,
    places: Places,
}

/// What a sort needs of an episode.
#[derive(Clone, Copy, Debug)]
struct Brief {
    episode: u64,
    reward: f64,
    length: u32,
    t: f64,
    entry: u32,
}

/// Reads the episodes of a run, also while they are being written: it sees what was written when
/// it was opened or refreshed last.
#[derive(Debug)]
pub struct EpisodeReader {
    dir: RunDir,
    folder: PathBuf,
    events_path: PathBuf,
    events_end: u64,
    /// What each file was at the last look: what has not changed is not read again.
    seen: Vec<Stamp>,
    entries: Vec<Entry>,
    damage: Vec<Damage>,
    /// The last episode that the figures of the run tell of, where something is damaged and nobody
    /// is writing.
    last_told: u64,
    /// Attempts that went on from a checkpoint, and the last episode that belongs to it.
    restored: BTreeMap<u32, u64>,
    /// For each entry, how many of its episodes count: none, all, or (decoded) some.
    n_live: Vec<u32>,
    briefs: Option<Vec<Brief>>,
    /// Blocks of steps that were looked at, and whether they are what was written.
    sound: HashMap<(u32, u64), bool>,
    /// Blocks of episodes that were looked at, and how many of theirs are damaged: segment, offset,
    /// checksum, and the last episode that counts.
    checked: HashMap<(u32, u64, u32, u64), u64>,
    files: HashMap<u32, File>,
}

/// What a file looked like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    /// Number of the segment; 0 of what is none.
    segment: u32,
    length: u64,
    /// When it was written, in seconds and nanoseconds.
    modified: (i64, i64),
}

impl Stamp {
    fn of(segment: u32, path: &Path) -> Self {
        let found = std::fs::metadata(path).ok();
        let length = found.as_ref().map_or(0, std::fs::Metadata::len);
        let modified = found.map_or((0, 0), |found| (found.mtime(), found.mtime_nsec()));
        Self { segment, length, modified }
    }
}

impl EpisodeReader {
    /// Opens the episodes of a run; one that has none is no error.
    pub fn open(dir: &RunDir) -> Result<Self> {
        let mut reader = Self {
            dir: dir.clone(),
            folder: dir.episodes_path(),
            events_path: dir.events_path(),
            events_end: 0,
            seen: Vec::new(),
            entries: Vec::new(),
            damage: Vec::new(),
            last_told: 0,
            restored: BTreeMap::new(),
            n_live: Vec::new(),
            briefs: None,
            sound: HashMap::new(),
            checked: HashMap::new(),
            files: HashMap::new(),
        };
        reader.refresh()?;
        Ok(reader)
    }

    /// Sees what was written since.
    pub fn refresh(&mut self) -> Result<()> {
        let seen = self.stamps()?;
        if seen == self.seen {
            return Ok(());
        }
        if !has_only_grown(&self.seen, &seen) {
            self.checked.clear();
        }
        self.files.clear();
        self.sound.clear();
        let Found { entries, damage, .. } = find(&self.folder)?;
        let (restored, events_end) = restored_since(&self.events_path, self.events_end)?;
        self.events_end = events_end;
        self.damage = damage;
        self.last_told = 0;
        // While somebody writes, what has not come yet is no damage.
        if !self.damage.is_empty() && !self.dir.is_supervised() {
            let told = latest_episodes(&self.dir, 1)?;
            self.last_told = told.episode.last().copied().unwrap_or(0);
        }
        // Stamps of before the files were read: what grew in the meantime is seen the next time.
        self.seen = seen;
        if entries == self.entries && restored.is_empty() {
            return Ok(());
        }
        self.restored.extend(restored);
        self.entries = entries;
        self.briefs = None;
        self.n_live.clear();
        for index in 0..self.entries.len() {
            let n_live = self.count_live(index)?;
            self.n_live.push(n_live);
        }
        Ok(())
    }

    /// How many episodes there are, without those that a later attempt has replaced.
    pub fn n_episodes(&self) -> u64 {
        self.n_live.iter().map(|n| u64::from(*n)).sum()
    }

    /// The largest number of an episode; 0 when there is none.
    pub fn last_episode(&self) -> u64 {
        let live = self.entries.iter().zip(&self.n_live).filter(|(_, n)| **n > 0);
        live.map(|(entry, _)| entry.header.last.min(self.limit(entry.header.attempt)))
            .max()
            .unwrap_or(0)
    }

    /// Episodes that were played and are in no block that is left, although nobody has removed them:
    /// their block was cut, or it is no longer known as one. In order.
    fn missing(&self) -> Vec<RangeInclusive<u64>> {
        if self.damage.is_empty() {
            return Vec::new();
        }
        let live = self.entries.iter().zip(&self.n_live).filter(|(_, n)| **n > 0);
        let mut kept: Vec<(u64, u64)> = live
            .map(|(Entry { header, .. }, _)| {
                (header.first, header.last.min(self.limit(header.attempt)))
            })
            .collect();
        kept.sort_unstable();
        let cut = || self.damage.iter().filter_map(|damage| damage.episodes);
        let ends = kept.iter().map(|(_, last)| *last).chain(cut().map(|(_, last)| last));
        let last = ends.chain([self.last_told]).max().unwrap_or(0);
        // What is older than all that is there may have been removed.
        let firsts = kept.iter().map(|(first, _)| *first).chain(cut().map(|(first, _)| first));
        let mut due = firsts.min().unwrap_or(1);
        let mut missing = Vec::new();
        for (first, last) in kept {
            if first > due {
                missing.push(due..=first - 1);
            }
            due = due.max(last + 1);
        }
        if last >= due {
            missing.push(due..=last);
        }
        missing
    }

    /// Complains where episode `n` is in no block and should be.
    fn check_missing(&self, n: u64) -> Result<()> {
        if !self.missing().iter().any(|numbers| numbers.contains(&n)) {
            return Ok(());
        }
        let holds = |damage: &&Damage| {
            damage.episodes.is_some_and(|(first, last)| (first..=last).contains(&n))
        };
        let named = self.damage.iter().find(holds).or(self.damage.first());
        let Damage { path, offset, episodes, .. } = named.expect("something is missing by it");
        let detail = match episodes {
            Some((first, last)) => {
                format!("the block at {offset} with episodes {first} to {last} is cut off")
            }
            None => format!("it cannot be read from byte {offset} on"),
        };
        Err(StoreError::Damaged { path: path.clone(), detail })
    }

    /// A part of the list of all episodes. Damaged ones are counted; those of which not even the
    /// figures can be read are left out.
    pub fn heads(&mut self, sort: Sort, order: Order, offset: u64, limit: usize) -> Result<Page> {
        let heads = self.sorted_heads(sort, order, offset, limit)?;
        let n_missing: u64 = self.missing().iter().map(|it| it.end() - it.start() + 1).sum();
        let total = self.n_episodes() + n_missing;
        Ok(Page { total, n_damaged: self.n_damaged()?, heads })
    }

    /// How many of all episodes cannot be read, or not all of their steps. Every block is read once.
    pub fn n_damaged(&mut self) -> Result<u64> {
        let missing = self.missing();
        let mut n_damaged = missing.iter().map(|it| it.end() - it.start() + 1).sum();
        for index in 0..self.entries.len() {
            if self.n_live[index] == 0 {
                continue;
            }
            let Entry { segment, offset, header } = self.entries[index];
            let key = (segment, offset, header.crc, self.limit(header.attempt));
            n_damaged += match self.checked.get(&key) {
                Some(n) => *n,
                None => {
                    let n = self.n_damaged_in(index)?;
                    self.checked.insert(key, n);
                    n
                }
            };
        }
        Ok(n_damaged)
    }

    /// How many episodes of a block cannot be read, or not all of their steps.
    fn n_damaged_in(&mut self, index: usize) -> Result<u64> {
        let header = self.entries[index].header;
        let limit = self.limit(header.attempt);
        let block = self.block(index)?;
        let episodes =
            block.as_ref().and_then(|block| batch::decode(block, header.attempt, header.n));
        let (Some(block), Some(episodes)) = (block, episodes) else {
            return Ok(u64::from(self.n_live[index]));
        };
        let mut n_damaged = 0;
        for (_, place) in episodes.iter().filter(|(head, _)| head.episode <= limit) {
            let is_whole = match place.body(&block) {
                Some(Body::Steps(places)) => self.are_sound(&places)?,
                Some(Body::Actions(_)) => true,
                None => false,
            };
            n_damaged += u64::from(!is_whole);
        }
        Ok(n_damaged)
    }

    /// How many of some episodes cannot be read, or not all of their steps.
    pub fn n_damaged_among(&mut self, numbers: &[u64]) -> Result<u64> {
        let mut by_block: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        let mut n_damaged = 0;
        for &n in numbers {
            match self.find(n) {
                Some(index) => _ = by_block.entry(index).or_default().insert(n),
                // A block whose header was changed is not found, and leaves a gap.
                None if !self.damage.is_empty() => n_damaged += 1,
                None => {}
            }
        }
        for (index, wanted) in by_block {
            let header = self.entries[index].header;
            let block = self.block(index)?;
            let episodes =
                block.as_ref().and_then(|block| batch::decode(block, header.attempt, header.n));
            let (Some(block), Some(episodes)) = (block, episodes) else {
                n_damaged += wanted.len() as u64;
                continue;
            };
            for (head, place) in episodes {
                if wanted.contains(&head.episode) {
                    let is_whole = match place.body(&block) {
                        Some(Body::Steps(places)) => self.are_sound(&places)?,
                        Some(Body::Actions(_)) => true,
                        None => false,
                    };
                    n_damaged += u64::from(!is_whole);
                }
            }
        }
        Ok(n_damaged)
    }

    /// Whether all blocks that hold these steps are what was written; each is looked at once.
    fn are_sound(&mut self, places: &Places) -> Result<bool> {
        for place in &places.places {
            let at = (place.segment, place.offset);
            let is_sound = match self.sound.get(&at) {
                Some(is_sound) => *is_sound,
                None => {
                    let key = |entry: &Entry| (entry.segment, entry.offset);
                    let found = self.entries.binary_search_by_key(&at, key).ok();
                    let block = match found {
                        Some(index) => self.block(index)?,
                        None => None,
                    };
                    self.sound.insert(at, block.is_some());
                    block.is_some()
                }
            };
            if !is_sound {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn sorted_heads(
        &mut self,
        sort: Sort,
        order: Order,
        offset: u64,
        limit: usize,
    ) -> Result<Vec<EpisodeHead>> {
        if sort == Sort::Number {
            return self.heads_by_number(order, offset, limit);
        }
        if self.briefs.is_none() {
            self.briefs = Some(self.read_briefs()?);
        }
        let briefs = self.briefs.as_mut().expect("they were just read");
        briefs.sort_unstable_by(|a, b| {
            let by = match sort {
                Sort::Return => {
                    return compare_returns(a.reward, b.reward, order)
                        .then(a.episode.cmp(&b.episode));
                }
                Sort::Length => a.length.cmp(&b.length),
                // Episodes that ended at the same time ended in their order.
                Sort::Time => a.t.total_cmp(&b.t).then(a.episode.cmp(&b.episode)),
                Sort::Number => std::cmp::Ordering::Equal,
            };
            let by = if order == Order::Descending { by.reverse() } else { by };
            by.then(a.episode.cmp(&b.episode))
        });
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let chosen: Vec<Brief> = briefs.iter().skip(skip).take(limit).copied().collect();
        let mut blocks: HashMap<u32, HashMap<u64, EpisodeHead>> = HashMap::new();
        let mut heads = Vec::with_capacity(chosen.len());
        for brief in chosen {
            if let std::collections::hash_map::Entry::Vacant(vacant) = blocks.entry(brief.entry) {
                let read = self.live_heads(brief.entry as usize)?.unwrap_or_default();
                vacant.insert(read.into_iter().map(|head| (head.episode, head)).collect());
            }
            let block = blocks.get_mut(&brief.entry).expect("it was just read");
            heads.extend(block.remove(&brief.episode));
        }
        Ok(heads)
    }

    /// The head of episode `n`; nothing when there is no such episode.
    pub fn head(&mut self, n: u64) -> Result<Option<EpisodeHead>> {
        let Some(index) = self.find(n) else { return self.check_missing(n).map(|()| None) };
        let heads = self.live_heads(index)?.ok_or_else(|| self.damaged(index))?;
        Ok(heads.into_iter().find(|head| head.episode == n))
    }

    /// What was done in episode `n`; nothing when there is no such episode.
    pub fn body(&mut self, n: u64) -> Result<Option<EpisodeBody>> {
        Ok(match self.stored_body(n)? {
            None => None,
            Some(Body::Actions(body)) => Some(body),
            Some(Body::Steps(places)) => {
                let steps = self.steps_at(&places, 0..places.n_steps())?;
                Some(EpisodeBody::Steps(steps))
            }
        })
    }

    /// How many steps of a foreign episode were kept; nothing when there is no such episode or it
    /// has actions instead.
    pub fn n_steps(&mut self, n: u64) -> Result<Option<u64>> {
        Ok(match self.stored_body(n)? {
            Some(Body::Steps(places)) => Some(places.n_steps()),
            _ => None,
        })
    }

    /// The steps `range` of the foreign episode `n`, as far as there are any: only the blocks that
    /// hold them are read. Nothing when there is no such episode or it has actions instead.
    pub fn steps(&mut self, n: u64, range: Range<u64>) -> Result<Option<Vec<StepRecord>>> {
        match self.stored_body(n)? {
            Some(Body::Steps(places)) => Ok(Some(self.steps_at(&places, range)?)),
            _ => Ok(None),
        }
    }

    /// Foreign episodes without an end: being played, or cut off by a crash.
    pub fn unfinished(&mut self) -> Result<Vec<Unfinished>> {
        let mut found: BTreeMap<u64, Unfinished> = BTreeMap::new();
        let mut finished = BTreeSet::new();
        for index in 0..self.entries.len() {
            let Entry { segment, offset, header } = self.entries[index];
            let Some(block) = self.block(index)? else { continue };
            if header.kind == Kind::EPISODES {
                let episodes = batch::decode(&block, header.attempt, header.n).unwrap_or_default();
                for (_, place) in episodes {
                    if let Some(Body::Steps(places)) = place.body(&block) {
                        finished.insert(places.serial);
                    }
                }
            } else if header.kind == Kind::STEPS {
                let Some((stretches, _)) = steps::decode(&block, header.n) else { continue };
                for (index, stretch) in stretches.into_iter().enumerate() {
                    let episode = found.entry(stretch.serial).or_insert_with(|| Unfinished {
                        attempt: header.attempt,
                        foreign_id: stretch.foreign_id.clone(),
                        n_steps: 0,
                        places: Places { serial: stretch.serial, ..Places::default() },
                    });
                    // A stretch that is missing before it would shift the steps.
                    if episode.n_steps == stretch.first {
                        episode.n_steps += u64::from(stretch.n);
                        let (index, n) = (index as u32, stretch.n);
                        episode.places.places.push(Place { segment, offset, index, n });
                    }
                }
            }
        }
        found.retain(|serial, _| !finished.contains(serial));
        Ok(found.into_values().collect())
    }

    /// The steps `range` of an unfinished episode, as far as there are any.
    pub fn unfinished_steps(
        &mut self,
        episode: &Unfinished,
        range: Range<u64>,
    ) -> Result<Vec<StepRecord>> {
        self.steps_at(&episode.places, range)
    }

    /// Reads everything, and says where it is not what was written. What a crash has left at the
    /// end of a segment is damage too, until the writer opens the run again.
    pub fn verify(&mut self) -> Result<Vec<Damage>> {
        let mut damage = self.damage.clone();
        for index in 0..self.entries.len() {
            let Entry { segment, offset, header } = self.entries[index];
            let is_good = self.block(index)?.is_some_and(|block| match header.kind {
                Kind::EPISODES => batch::decode(&block, header.attempt, header.n)
                    .is_some_and(|all| all.iter().all(|(_, place)| place.body(&block).is_some())),
                Kind::STEPS => steps::decode(&block, header.n).is_some(),
                _ => true,
            });
            let is_intact = self.header_is_intact(index)?;
            if !is_good || !is_intact {
                let episodes = (header.kind == Kind::EPISODES && !is_good)
                    .then_some((header.first, header.last));
                let path = self.folder.join(segment_name(segment));
                damage.push(Damage { episodes, ..Damage::at(path, offset) });
            }
        }
        // One place is named once, with the episodes where they are known.
        damage.sort_by(|a, b| {
            let key = |damage: &Damage| (damage.path.clone(), damage.offset);
            key(a).cmp(&key(b)).then(b.episodes.cmp(&a.episodes))
        });
        damage.dedup_by(|a, b| (&a.path, a.offset) == (&b.path, b.offset));
        if !damage.is_empty() {
            let steps = self.episodes_by_steps()?;
            for (segment, offset, episode) in steps {
                let path = self.folder.join(segment_name(segment));
                let here = |damage: &&mut Damage| damage.offset == offset && damage.path == path;
                if let Some(damage) = damage.iter_mut().find(here)
                    && damage.steps_of.last() != Some(&episode)
                {
                    damage.steps_of.push(episode);
                }
            }
        }
        Ok(damage)
    }

    /// Where the steps of foreign episodes are: segment, offset and episode, by episode.
    fn episodes_by_steps(&mut self) -> Result<BTreeSet<(u32, u64, u64)>> {
        let mut all = BTreeSet::new();
        for index in 0..self.entries.len() {
            let header = self.entries[index].header;
            if header.kind != Kind::EPISODES {
                continue;
            }
            let Some(block) = self.block(index)? else { continue };
            let episodes = batch::decode(&block, header.attempt, header.n).unwrap_or_default();
            for (head, place) in episodes {
                if let Some(Body::Steps(places)) = place.body(&block) {
                    let places = places.places.into_iter();
                    all.extend(places.map(|place| (place.segment, place.offset, head.episode)));
                }
            }
        }
        Ok(all)
    }

    fn stamps(&self) -> Result<Vec<Stamp>> {
        let index = self.folder.join("index");
        let mut stamps = vec![Stamp::of(0, &self.events_path), Stamp::of(0, &index)];
        for segment in segments(&self.folder)? {
            stamps.push(Stamp::of(segment, &self.folder.join(segment_name(segment))));
        }
        Ok(stamps)
    }

    fn heads_by_number(
        &mut self,
        order: Order,
        offset: u64,
        limit: usize,
    ) -> Result<Vec<EpisodeHead>> {
        let mut places: Vec<usize> = (0..self.entries.len()).collect();
        places.retain(|&index| self.n_live[index] > 0);
        places.sort_by_key(|&index| self.entries[index].header.first);
        if order == Order::Descending {
            places.reverse();
        }
        let mut chosen = Vec::new();
        let mut skip = offset;
        for index in places {
            if chosen.len() >= limit {
                break;
            }
            let n_live = u64::from(self.n_live[index]);
            if skip >= n_live {
                skip -= n_live;
                continue;
            }
            let Some(mut heads) = self.live_heads(index)? else {
                skip = 0;
                continue;
            };
            if order == Order::Descending {
                heads.reverse();
            }
            let left = limit - chosen.len();
            chosen.extend(heads.into_iter().skip(skip as usize).take(left));
            skip = 0;
        }
        Ok(chosen)
    }

    fn read_briefs(&mut self) -> Result<Vec<Brief>> {
        let mut briefs = Vec::new();
        for index in 0..self.entries.len() {
            if self.n_live[index] == 0 {
                continue;
            }
            let heads = self.live_heads(index)?.unwrap_or_default();
            briefs.extend(heads.into_iter().map(|head| Brief {
                episode: head.episode,
                reward: head.reward,
                length: head.length,
                t: head.t,
                entry: index as u32,
            }));
        }
        Ok(briefs)
    }

    /// The block that holds episode `n`.
    fn find(&self, n: u64) -> Option<usize> {
        (0..self.entries.len()).rev().find(|&index| {
            let header = &self.entries[index].header;
            header.kind == Kind::EPISODES
                && (header.first..=header.last).contains(&n)
                && n <= self.limit(header.attempt)
        })
    }

    fn stored_body(&mut self, n: u64) -> Result<Option<Body>> {
        let Some(index) = self.find(n) else { return self.check_missing(n).map(|()| None) };
        let header = self.entries[index].header;
        let block = self.block(index)?.ok_or_else(|| self.damaged(index))?;
        let episodes = batch::decode(&block, header.attempt, header.n);
        let episodes = episodes.ok_or_else(|| self.damaged(index))?;
        let Some((_, place)) = episodes.into_iter().find(|(head, _)| head.episode == n) else {
            return Ok(None);
        };
        place.body(&block).map(Some).ok_or_else(|| self.damaged(index))
    }

    fn steps_at(&mut self, places: &Places, range: Range<u64>) -> Result<Vec<StepRecord>> {
        let mut all = Vec::new();
        let mut start = 0;
        for place in &places.places {
            let end = start + u64::from(place.n);
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to {
                let (from, to) = ((from - start) as usize, (to - start) as usize);
                all.extend(self.stretch(place, from, to)?);
            }
            start = end;
        }
        Ok(all)
    }

    fn stretch(&mut self, place: &Place, from: usize, to: usize) -> Result<Vec<StepRecord>> {
        let at = (place.segment, place.offset);
        let found = self.entries.binary_search_by_key(&at, |entry| (entry.segment, entry.offset));
        let Ok(index) = found else {
            return Err(StoreError::Damaged {
                path: self.folder.join(segment_name(place.segment)),
                detail: format!("the steps at {} are gone", place.offset),
            });
        };
        let header = self.entries[index].header;
        let steps = self.block(index)?.and_then(|block| {
            steps::read(&block, header.n, header.n_raw_bytes, place.index as usize, from, to)
        });
        steps.ok_or_else(|| self.damaged(index))
    }

    /// The last episode of an attempt that no later attempt has replaced.
    fn limit(&self, attempt: u32) -> u64 {
        let later = self.restored.range(attempt.saturating_add(1)..);
        later.map(|(_, &episode)| episode).min().unwrap_or(u64::MAX)
    }

    fn count_live(&mut self, index: usize) -> Result<u32> {
        let header = self.entries[index].header;
        let limit = self.limit(header.attempt);
        Ok(match header.kind {
            Kind::EPISODES if header.last <= limit => header.n,
            Kind::EPISODES if header.first <= limit => {
                let all = u32::try_from(limit - header.first + 1).unwrap_or(header.n);
                self.live_heads(index)?.map_or(all.min(header.n), |heads| heads.len() as u32)
            }
            _ => 0,
        })
    }

    /// The heads of a block that count; nothing where the block is damaged.
    fn live_heads(&mut self, index: usize) -> Result<Option<Vec<EpisodeHead>>> {
        let header = self.entries[index].header;
        let limit = self.limit(header.attempt);
        let Some(block) = self.block(index)? else { return Ok(None) };
        let episodes = batch::decode(&block, header.attempt, header.n);
        let live = |episodes: Vec<(EpisodeHead, _)>| {
            let heads = episodes.into_iter().map(|(head, _)| head);
            heads.filter(|head| head.episode <= limit).collect()
        };
        Ok(episodes.map(live))
    }

    /// What a block holds; nothing where it was changed or cut.
    fn block(&mut self, index: usize) -> Result<Option<Vec<u8>>> {
        let entry = self.entries[index];
        let path = self.folder.join(segment_name(entry.segment));
        match self.file(entry.segment)? {
            Some(file) => entry.read(file).map_err(StoreError::io(path)),
            None => Ok(None),
        }
    }

    fn header_is_intact(&mut self, index: usize) -> Result<bool> {
        let entry = self.entries[index];
        let path = self.folder.join(segment_name(entry.segment));
        let Some(file) = self.file(entry.segment)? else { return Ok(false) };
        let mut bytes = Vec::new();
        let mut file: &File = file;
        file.seek(SeekFrom::Start(entry.offset))
            .and_then(|_| file.take(HEADER_BYTES as u64).read_to_end(&mut bytes))
            .map_err(StoreError::io(path))?;
        Ok(Header::decode(&bytes) == Some(entry.header))
    }

    fn file(&mut self, segment: u32) -> Result<Option<&File>> {
        use std::collections::hash_map::Entry as Slot;
        let path = self.folder.join(segment_name(segment));
        Ok(Some(match self.files.entry(segment) {
            Slot::Occupied(slot) => slot.into_mut(),
            Slot::Vacant(slot) => match File::open(&path) {
                Ok(file) => slot.insert(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(StoreError::io(path)(error)),
            },
        }))
    }

    fn damaged(&self, index: usize) -> StoreError {
        let Entry { segment, offset, header } = self.entries[index];
        let detail = if header.kind == Kind::EPISODES {
            let Range { start, end } = header.first..header.last;
            format!("the block at {offset} with episodes {start} to {end} is not what was written")
        } else {
            format!("the steps at {offset} are not what was written")
        };
        StoreError::Damaged { path: self.folder.join(segment_name(segment)), detail }
    }
}

/// Whether all that was there is as it was, but for ends that were added to.
fn has_only_grown(before: &[Stamp], after: &[Stamp]) -> bool {
    before.iter().filter(|stamp| stamp.segment > 0).all(|old| {
        let new = after.iter().find(|new| new.segment == old.segment);
        new.is_some_and(|new| new == old || new.length > old.length)
    })
}

/// What is in the folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The blocks of all segments, in order.
    pub(super) entries: Vec<Entry>,
    /// The segments, in order, and where the last block of each ends.
    pub(super) segments: Vec<(u32, u64)>,
    pub(super) damage: Vec<Damage>,
}

/// Looks through the folder: what the index says, and blocks that it does not know.
pub(super) fn find(folder: &Path) -> Result<Found> {
    let index_path = folder.join("index");
    let index = match std::fs::read(&index_path) {
        Ok(index) => index,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(StoreError::io(&index_path)(error)),
    };
    let mut found = Found::default();
    let header = FileKind::Index.check(&index);
    if let FileHeader::Newer(format) = header {
        return Err(StoreError::NewerFormat { path: index_path, found: format, known: FORMAT });
    }
    let mut known: BTreeMap<u32, Vec<Entry>> = BTreeMap::new();
    if header == FileHeader::Good {
        let records = &index[FILE_HEADER_BYTES as usize..];
        for (place, record) in records.chunks_exact(RECORD_BYTES).enumerate() {
            match Entry::decode(record) {
                Some(entry) => known.entry(entry.segment).or_default().push(entry),
                None => found.damage.push(Damage::at(
                    &index_path,
                    FILE_HEADER_BYTES + (place * RECORD_BYTES) as u64,
                )),
            }
        }
    } else if !index.is_empty() {
        found.damage.push(Damage::at(index_path, 0));
    }
    for segment in segments(folder)? {
        let known = known.remove(&segment).unwrap_or_default();
        find_in(folder, segment, &known, &mut found)?;
    }
    Ok(found)
}

/// Looks through one segment, of which the index knows some blocks.
fn find_in(folder: &Path, segment: u32, known: &[Entry], found: &mut Found) -> Result<()> {
    let path = folder.join(segment_name(segment));
    let mut file = match File::open(&path) {
        Ok(file) => file,
        // Retention may have taken it in this moment.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StoreError::io(&path)(error)),
    };
    let mut read = |from: u64, to: Option<u64>| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        match to {
            Some(to) => (&mut file).take(to - from).read_to_end(&mut bytes)?,
            None => file.read_to_end(&mut bytes)?,
        };
        Ok(bytes)
    };
    let mut read = |from, to| read(from, to).map_err(StoreError::io(&path));
    match FileKind::Segment.check(&read(0, Some(FILE_HEADER_BYTES))?) {
        FileHeader::Good => {}
        FileHeader::Newer(found) => {
            return Err(StoreError::NewerFormat { path, found, known: FORMAT });
        }
        FileHeader::Damaged => {
            found.damage.push(Damage::at(&path, 0));
        }
    }
    let length = std::fs::metadata(&path).map_err(StoreError::io(&path))?.len();
    // Blocks that follow each other without a gap need not be looked for.
    let mut end = FILE_HEADER_BYTES;
    for entry in known {
        if entry.end() > length {
            let Header { kind, first, last, .. } = entry.header;
            let episodes = (kind == Kind::EPISODES).then_some((first, last));
            found.damage.push(Damage { episodes, ..Damage::at(&path, entry.offset) });
            continue;
        }
        if entry.offset < end {
            continue;
        }
        if entry.offset > end {
            let between = scan(segment, end, &read(end, Some(entry.offset))?);
            note(&path, &between, entry.offset, found);
            found.entries.extend(between.entries);
        }
        found.entries.push(*entry);
        end = entry.end();
    }
    let tail = scan(segment, end, &read(end, None)?);
    note(&path, &tail, length, found);
    found.entries.extend(&tail.entries);
    found.segments.push((segment, tail.end));
    Ok(())
}

/// Keeps in mind what is no block.
fn note(path: &Path, scan: &Scan, until: u64, found: &mut Found) {
    let tail = (scan.end < until).then_some(scan.end);
    let offsets = scan.gaps.iter().copied().chain(tail);
    found.damage.extend(offsets.map(|offset| Damage::at(path, offset)));
}

/// What `events.jsonl` says from `offset` on about attempts that went on from a checkpoint, and
/// where it ends. Lines that say nothing of it are not even parsed.
fn restored_since(path: &Path, offset: u64) -> Result<(BTreeMap<u32, u64>, u64)> {
    #[derive(Deserialize)]
    struct Restored {
        attempt: u32,
        #[serde(rename = "type")]
        kind: String,
        episode: u64,
    }
    let mut restored = BTreeMap::new();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((restored, offset)),
        Err(error) => return Err(StoreError::io(path)(error)),
    };
    let mut end = offset;
    let read = || {
        let mut reader = BufReader::with_capacity(64 * 1024, file);
        reader.seek(SeekFrom::Start(offset))?;
        let mut line = Vec::new();
        loop {
            line.clear();
            let n_read = reader.read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                return Ok(());
            }
            end += n_read as u64;
            let needle = b"\"restored\"";
            if !line.windows(needle.len()).any(|part| part == needle) {
                continue;
            }
            if let Ok(said) = serde_json::from_slice::<Restored>(&line)
                && said.kind == "restored"
            {
                restored.insert(said.attempt, said.episode);
            }
        }
    };
    read().map_err(StoreError::io(path))?;
    Ok((restored, end))
}
