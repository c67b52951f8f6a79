//! What a run that learns from its past must find again when it goes on.
//!
//! DQN's replay buffer is made of recorded episodes. A fork learns from those of the run that it
//! comes from, which may be gone when it goes on; so it has its own copy of them, in `inherited/`,
//! written when it is made.

use cartridge_learn::dqn::RecordedEpisode;
use cartridge_learn::learner::{Config, State};
use cartridge_store::follow::latest_episodes;
use cartridge_store::{
    EpisodeBody, EpisodeHead, EpisodeReader, EpisodeWriter, Result as StoreResult, RunDir,
    StoreError,
};

use crate::episode::actions_of;
use crate::error::{Result, RunError};

/// Where a fork has the episodes that it did not play itself.
pub(crate) const INHERITED: &str = "inherited";

/// The episodes of a run up to a state that ended after step `first`, in the order in which they
/// ended.
pub(crate) fn recorded(dir: &RunDir, state: &State, first: u64) -> Result<Vec<RecordedEpisode>> {
    let episodes = needed(dir, state, first)?.into_iter();
    Ok(episodes
        .filter_map(|(head, body)| {
            let (lane, end_step) = (head.lane, head.step);
            Some(RecordedEpisode { lane, seed: head.seed?, actions: actions_of(body)?, end_step })
        })
        .collect())
}

/// Copies the episodes that whoever goes on from `state` learns from.
pub(crate) fn inherit(from: &RunDir, to: &RunDir, config: &Config, state: &State) -> Result<()> {
    let Some(first) = state.first_step_needed(config) else { return Ok(()) };
    let place = RunDir::new(to.path().join(INHERITED));
    let mut writer = EpisodeWriter::open(&place)?;
    for (head, body) in needed(from, state, first)? {
        writer.add(&head, &body)?;
    }
    writer.flush()?;
    Ok(writer.sync()?)
}

/// What goes on equals what was not interrupted, so an episode that cannot be read is passed over
/// only where it is known to have ended too early to matter.
fn needed(dir: &RunDir, state: &State, first: u64) -> Result<Vec<(EpisodeHead, EpisodeBody)>> {
    let inherited = RunDir::new(dir.path().join(INHERITED));
    let mut readers = vec![EpisodeReader::open(dir)?];
    if inherited.path().is_dir() {
        readers.push(EpisodeReader::open(&inherited)?);
    }
    let mut episodes = Vec::new();
    'episodes: for n in (1..=state.n_episodes()).rev() {
        for reader in &mut readers {
            match read(reader, n) {
                Ok(None) => {}
                Ok(Some((head, _))) if head.step <= first => break 'episodes,
                Ok(Some(episode)) => {
                    episodes.push(episode);
                    continue 'episodes;
                }
                Err(StoreError::Damaged { .. })
                    if end_of(dir, n)?.is_some_and(|end| end <= first) =>
                {
                    break 'episodes;
                }
                Err(StoreError::Damaged { path, detail }) => {
                    return Err(RunError::DamagedPast {
                        run: dir.id()?,
                        episode: n,
                        segment: path.strip_prefix(dir.path()).unwrap_or(&path).to_owned(),
                        detail,
                        first_step: first,
                    });
                }
                Err(error) => return Err(error.into()),
            }
        }
        // Older ones may be gone, and whoever needs this one says so.
        break;
    }
    episodes.reverse();
    Ok(episodes)
}

fn read(reader: &mut EpisodeReader, n: u64) -> StoreResult<Option<(EpisodeHead, EpisodeBody)>> {
    let Some(head) = reader.head(n)? else { return Ok(None) };
    Ok(reader.body(n)?.map(|body| (head, body)))
}

/// Steps of the run at the end of episode `n`, as its figures tell: they are in another file.
fn end_of(dir: &RunDir, n: u64) -> Result<Option<u64>> {
    let figures = latest_episodes(dir, usize::MAX)?;
    let place = figures.episode.iter().position(|episode| *episode == n);
    Ok(place.and_then(|place| figures.timestep.get(place).copied()))
}
