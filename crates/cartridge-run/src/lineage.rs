//! What a run that learns from its past must find again when it goes on.
//!
//! DQN's replay buffer is made of recorded episodes. A fork learns from those of the run that it
//! comes from, which may be gone when it goes on; so it has its own copy of them, in `inherited/`,
//! written when it is made.

use cartridge_learn::dqn::RecordedEpisode;
use cartridge_learn::learner::{Config, State};
use cartridge_store::{EpisodeBody, EpisodeHead, EpisodeReader, EpisodeWriter, RunDir};

use crate::episode::actions_of;
use crate::error::Result;

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

fn needed(dir: &RunDir, state: &State, first: u64) -> Result<Vec<(EpisodeHead, EpisodeBody)>> {
    let inherited = RunDir::new(dir.path().join(INHERITED));
    let mut readers = vec![EpisodeReader::open(dir)?];
    if inherited.path().is_dir() {
        readers.push(EpisodeReader::open(&inherited)?);
    }
    let mut episodes = Vec::new();
    'episodes: for n in (1..=state.n_episodes()).rev() {
        for reader in &mut readers {
            let Some(head) = reader.head(n)? else { continue };
            if head.step <= first {
                break 'episodes;
            }
            episodes.extend(reader.body(n)?.map(|body| (head, body)));
            continue 'episodes;
        }
        // Older ones may be gone, and whoever needs this one says so.
        break;
    }
    episodes.reverse();
    Ok(episodes)
}
