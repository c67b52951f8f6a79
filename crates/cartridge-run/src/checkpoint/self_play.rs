//! Checkpoints of trainings by self-play: the same folders with networks that look at boards.

use cartridge_learn::alphazero::State;
use cartridge_learn::board_net::BoardNet;
use cartridge_learn::onnx::board::export_board_net;
use cartridge_learn::report::Knob;
use cartridge_store::{Replay, RunDir, RunId, StoreError};
use serde_json::Value;

use super::{
    Alias, CheckpointManifest, FORMAT, ONNX, Part, Progress, STATE, WEIGHTS, facts, load_board_net,
    name_of, point, read_part, write,
};
use crate::config::RunConfig;
use crate::error::{Result, RunError};
use crate::tunable::Tunable;

/// The games that are under way, and all numbers beside those of the learner.
const GAMES: &str = "games.json";

/// Everything that a training by self-play goes on from, beside its games in `replay.db`.
#[derive(Debug)]
pub struct WholeSelfPlay {
    /// Folder of the checkpoint.
    pub name: String,
    /// The network.
    pub network: BoardNet,
    /// The rest of the learner.
    pub state: State,
    /// Where the run stood.
    pub progress: Progress,
}

impl WholeSelfPlay {
    /// The settings that may have been tuned, as they were.
    pub fn settings(&self) -> Vec<(&'static str, Value)> {
        let learning_rate = serde_json::to_value(self.state.learning_rate());
        vec![
            (
                Tunable::Learner(Knob::LearningRate).path(),
                learning_rate.expect("a setting is plain data"),
            ),
            (Tunable::EvaluationEvery.path(), Value::from(self.progress.evaluate_every)),
        ]
    }
}

/// Puts what a fork goes on from into its folder, with the games that it learns from.
pub(super) fn plant(
    whole: WholeSelfPlay,
    from: &RunDir,
    dir: &RunDir,
    config: &RunConfig,
) -> Result<()> {
    let WholeSelfPlay { network, mut state, progress, .. } = whole;
    let replay = Replay::open_to_read(from.replay_path())?;
    let n_found = replay.up_to(state.n_games(), state.n_window_games())?.len();
    if n_found < state.n_window_games() {
        let detail = "the games that it learnt from are no longer kept; fork from the newest \
                      checkpoint"
            .to_owned();
        return Err(RunError::CannotGoOn { path: from.replay_path(), detail });
    }
    replay.copy_to(&dir.replay_path(), state.n_games())?;
    state.tune_learning_rate(config.trainer.learning_rate());
    let progress = progress.of_fork(config, state.step());
    save_self_play(dir, &config.env_id, &network, &state, progress)?;
    Ok(())
}

/// Writes a checkpoint, points `latest` to it, and returns its folder name and the network as an ONNX
/// file.
pub fn save_self_play(
    dir: &RunDir,
    game: &str,
    network: &BoardNet,
    state: &State,
    progress: Progress,
) -> Result<(String, Vec<u8>)> {
    let (step, weights_sha256) = (state.step(), network.sha256());
    let name = name_of(step);
    let onnx = network_to_onnx(dir, game, network, step)?;
    let [games, learner] = state.to_bytes();
    let contents = vec![
        (WEIGHTS, network.to_safetensors()),
        (ONNX, onnx.clone()),
        (STATE, learner),
        (GAMES, games),
    ];
    let manifest = CheckpointManifest {
        format: FORMAT,
        step,
        env_id: game.to_owned(),
        weights_sha256,
        progress: Some(progress),
        parts: contents.iter().map(|(file, content)| Part::of(file, content)).collect(),
    };
    write(dir, &name, &manifest, contents)?;
    point(dir, Alias::Latest, &name)?;
    Ok((name, onnx))
}

/// The network of a run's checkpoint as an ONNX file, with what it is of.
pub fn network_to_onnx(dir: &RunDir, game: &str, network: &BoardNet, step: u64) -> Result<Vec<u8>> {
    Ok(export_board_net(network, facts(dir, game, network.sha256(), step)?))
}

/// Reads all of a checkpoint, and checks every file of it.
pub fn load_self_play(dir: &RunDir, run: &RunId, name: &str) -> Result<WholeSelfPlay> {
    let (manifest, network) = load_board_net(dir, run, name)?;
    let no_state = || RunError::NoState { run: run.clone(), name: name.to_owned() };
    let progress = manifest.progress.clone().ok_or_else(no_state)?;
    let games = part(dir, run, name, &manifest, GAMES)?;
    let learner = part(dir, run, name, &manifest, STATE)?;
    let state = State::from_bytes([&games, &learner]).map_err(|error| StoreError::Damaged {
        path: dir.checkpoints_path().join(name).join(STATE),
        detail: error.to_string(),
    })?;
    Ok(WholeSelfPlay { name: name.to_owned(), network, state, progress })
}

/// A file of a checkpoint, as its manifest says that it is.
fn part(
    dir: &RunDir,
    run: &RunId,
    name: &str,
    manifest: &CheckpointManifest,
    file: &str,
) -> Result<Vec<u8>> {
    let found = manifest.parts.iter().find(|part| part.file == file);
    let missing = || RunError::NoState { run: run.clone(), name: name.to_owned() };
    read_part(dir, name, found.ok_or_else(missing)?)
}
