//! Par: what scripted players reach in an environment, so that a learner's return means something.

use std::thread;

use cartridge_games::asteroid_prospector::bots::Bot;
use cartridge_games::asteroid_prospector::{self, EpisodeMetrics};
use cartridge_games::registry::make_env;
use cartridge_games::seeds::{Stream, episode_seed};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::evaluation::spread;

/// The par of an environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Par {
    /// Id of the environment.
    pub env: String,
    /// The options that were given.
    pub options: Map<String, Value>,
    /// Episodes of each player; all play the same.
    pub seeds: u32,
    /// The players, from the least to the most capable.
    pub players: Vec<Row>,
    /// What should hold under the default options and does not; empty when all is well, and under
    /// other options, of which nothing is promised.
    pub broken: Vec<String>,
}

/// Means over a player's episodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Id of the player.
    pub player: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Mean return.
    pub mean: f64,
    /// Its 95% interval.
    pub ci95: [f64; 2],
    /// Credits at the end minus credits at the start.
    pub profit: f64,
    /// Share of episodes that the ship came through.
    pub survival: f64,
    /// Actions taken.
    pub decisions: f64,
    /// Ticks that they took.
    pub ticks: f64,
}

/// A return that counts as nothing.
const ABOUT_ZERO: f64 = 0.01;
/// How many times a greedy miner's return a careful trader must earn.
const CAREFUL: f64 = 3.0;

/// Lets every scripted player play the same `n_seeds` episodes. Nothing when the environment has
/// no such players.
pub fn par(env_id: &str, options: &Map<String, Value>, n_seeds: u32) -> Result<Option<Par>> {
    make_env(env_id, options)?;
    if env_id != asteroid_prospector::SPEC.id {
        return Ok(None);
    }
    let config: asteroid_prospector::Config =
        serde_json::from_value(Value::Object(options.clone())).expect("an environment took them");
    let players: Vec<Row> = Bot::ALL.map(|bot| row(bot, &play(bot, config, n_seeds))).into();
    let is_default = config == asteroid_prospector::Config::default();
    let broken = if is_default { broken(&players) } else { Vec::new() };
    let (env, options) = (env_id.to_owned(), options.clone());
    Ok(Some(Par { env, options, seeds: n_seeds, players, broken }))
}

/// The episodes of one player, in order of their seeds, spread over the processors.
fn play(bot: Bot, config: asteroid_prospector::Config, n_seeds: u32) -> Vec<EpisodeMetrics> {
    let n_threads = thread::available_parallelism().map_or(1, usize::from);
    let seeds: Vec<u64> =
        (0..n_seeds).map(|n| episode_seed(0, Stream::Evaluation, 0, n.into())).collect();
    thread::scope(|scope| {
        let chunks = seeds.chunks(seeds.len().div_ceil(n_threads).max(1));
        let play = |chunk: &[u64]| -> Vec<EpisodeMetrics> {
            chunk.iter().map(|&seed| bot.play(config, seed)).collect()
        };
        let handles: Vec<_> = chunks.map(|chunk| scope.spawn(move || play(chunk))).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("bots do not panic")).collect()
    })
}

fn row(bot: Bot, episodes: &[EpisodeMetrics]) -> Row {
    let returns: Vec<f64> = episodes.iter().map(|episode| episode.total_reward).collect();
    let (mean, _, ci95) = spread(&returns);
    let mean_of = |value: fn(&EpisodeMetrics) -> f64| {
        episodes.iter().map(value).sum::<f64>() / episodes.len() as f64
    };
    Row {
        player: bot.id(),
        name: bot.name(),
        mean,
        ci95,
        profit: mean_of(|episode| episode.profit),
        survival: mean_of(|episode| episode.survival),
        decisions: mean_of(|episode| episode.decisions.into()),
        ticks: mean_of(|episode| episode.ticks.into()),
    }
}

/// What should hold between the players and does not. Intervals are compared, not means, so that
/// what holds is no accident of the seeds.
fn broken(players: &[Row]) -> Vec<String> {
    let find = |bot: Bot| players.iter().find(|row| row.player == bot.id());
    let row = |bot: Bot| find(bot).expect("every player has a row");
    let (low, high) = (|bot: Bot| row(bot).ci95[0], |bot: Bot| row(bot).ci95[1]);
    let mut broken = Vec::new();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            broken.push(what);
        }
    };
    for idle in [Bot::CashOut, Bot::Hold] {
        let is_nothing = row(idle).mean.abs() <= ABOUT_ZERO;
        expect(is_nothing, format!("{} is worth about 0", idle.name()));
    }
    expect(high(Bot::Random) < 0.0, "random play loses".to_owned());
    expect(low(Bot::GreedyMiner) > 0.0, "greedy mining earns something".to_owned());
    for careful in [Bot::CautiousScanner, Bot::MarketTimer] {
        let is_better = low(careful) > high(Bot::GreedyMiner);
        expect(is_better, format!("the {} beats the greedy miner", careful.name()));
        let is_worse = high(careful) < low(Bot::Oracle);
        expect(is_worse, format!("the oracle beats the {}", careful.name()));
    }
    let is_careful_rich = low(Bot::MarketTimer) >= CAREFUL * high(Bot::GreedyMiner);
    expect(is_careful_rich, format!("the market timer earns {CAREFUL} times as much as greed"));
    broken
}

#[cfg(test)]
mod tests;
