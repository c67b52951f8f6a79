//! Which seed an episode gets: a stored contract, so these numbers never change.

use serde::{Deserialize, Serialize};

/// What an episode is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Learning.
    Train,
    /// Measuring a policy.
    Evaluation,
    /// Showing a policy.
    Preview,
}

/// How the episodes of a training get their seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EpisodeSeeds {
    /// By [`episode_seed`].
    #[default]
    #[serde(rename = "hash")]
    Hash,
    /// The run's `seed_base`, the next number, and so on, in the order in which episodes begin: by
    /// step, then by lane.
    #[serde(rename = "seed_base+episode_idx")]
    InOrder,
}

impl EpisodeSeeds {
    /// Whether the episode of training that `lane` begins after `episode` others can have this
    /// seed.
    pub fn fits(self, seed_base: u64, lane: u32, episode: u64, seed: u64) -> bool {
        match self {
            Self::Hash => episode_seed(seed_base, Stream::Train, lane, episode) == seed,
            // How many the other lanes have begun is not known here.
            Self::InOrder => seed >= seed_base.wrapping_add(episode),
        }
    }
}

/// The seed of an episode: a 32-bit hash of the run's `seed_base`, the `stream`, the `lane` and
/// that lane's count of episodes from 0.
///
/// It depends on nothing else, so it is the same however lanes are spread over threads. Bit 31
/// is 0 in training and 1 otherwise, so evaluation never meets a seed that was trained on.
pub fn episode_seed(seed_base: u64, stream: Stream, lane: u32, episode: u64) -> u64 {
    let number = match stream {
        Stream::Train => 0,
        Stream::Evaluation => 1,
        Stream::Preview => 2,
    };
    let hash = [number, u64::from(lane), episode]
        .into_iter()
        .fold(mix(seed_base), |hash, word| mix(hash ^ word));
    let unseen = u64::from(stream != Stream::Train);
    (hash >> 33) | (unseen << 31)
}

/// One step of SplitMix64 (Steele, Lea and Flood 2014): a bijection that scatters its input.
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn seeds_are_pinned() {
        let seeds = [
            episode_seed(42, Stream::Train, 0, 0),
            episode_seed(42, Stream::Train, 0, 1),
            episode_seed(42, Stream::Train, 1, 0),
            episode_seed(43, Stream::Train, 0, 0),
            episode_seed(42, Stream::Evaluation, 0, 0),
            episode_seed(42, Stream::Preview, 0, 0),
            episode_seed(u64::MAX, Stream::Train, u32::MAX, u64::MAX),
        ];
        assert_eq!(
            seeds,
            [
                1_622_185_206,
                904_446_787,
                1_020_665_227,
                1_040_904_510,
                2_670_004_587,
                3_028_242_967,
                1_350_238_738
            ]
        );
    }

    #[test]
    fn evaluation_never_meets_a_training_seed() {
        for episode in 0..1000 {
            assert!(episode_seed(7, Stream::Train, 3, episode) < 1 << 31);
            for stream in [Stream::Evaluation, Stream::Preview] {
                assert!((1 << 31..1 << 32).contains(&episode_seed(7, stream, 3, episode)));
            }
        }
    }

    #[test]
    fn lanes_and_episodes_differ() {
        let seeds: BTreeSet<u64> = (0..64)
            .flat_map(|lane| (0..64).map(move |episode| (lane, episode)))
            .map(|(lane, episode)| episode_seed(0, Stream::Train, lane, episode))
            .collect();
        assert_eq!(seeds.len(), 64 * 64);
    }
}
