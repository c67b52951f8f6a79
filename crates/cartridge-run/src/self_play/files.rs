//! What other programs look for in the folder of a training by self-play: `models/latest.onnx`,
//! `models/model_step_000106496.onnx` and `stats.json`, each written beside and renamed.

use std::fs;

use cartridge_store::data_dir::write_beside;
use cartridge_store::{RunDir, StoreError};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Networks that are kept beside the milestones.
const KEPT: usize = 10;

/// `stats.json`: how a training stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stats {
    /// Moves of self-play so far.
    pub(crate) step: u64,
    /// Games that ended so far.
    pub(crate) games: u64,
    /// What is minimised.
    pub(crate) loss: Option<f64>,
    /// The part that moves the policy.
    pub(crate) policy_loss: Option<f64>,
    /// The part that moves the value.
    pub(crate) value_loss: Option<f64>,
    /// The learning rate.
    pub(crate) learning_rate: f64,
    /// Share of the points against the best, in the last evaluation.
    pub(crate) win_rate: Option<f64>,
    /// Rating above the fixed opponent, by the last evaluation.
    pub(crate) elo: Option<f64>,
}

/// Writes `stats.json`.
pub(crate) fn write_stats(dir: &RunDir, stats: &Stats) -> Result<()> {
    let text = serde_json::to_vec_pretty(stats).expect("numbers are plain data");
    Ok(write_beside(&dir.stats_path(), &text)?)
}

/// What `stats.json` says, if it can be read.
pub(crate) fn read_stats(dir: &RunDir) -> Option<Stats> {
    serde_json::from_slice(&fs::read(dir.stats_path()).ok()?).ok()
}

/// Writes the network after `step` moves as the newest, and removes older ones beyond those that are
/// kept: the newest, and the first at or after each multiple of `milestone_every` steps.
pub(crate) fn write_model(
    dir: &RunDir,
    step: u64,
    onnx: &[u8],
    milestone_every: u64,
) -> Result<()> {
    let folder = dir.models_path();
    fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
    write_beside(&folder.join(name_of(step)), onnx)?;
    write_beside(&folder.join("latest.onnx"), onnx)?;
    let entries = fs::read_dir(&folder).map_err(StoreError::io(&folder))?;
    let mut steps: Vec<u64> =
        entries.filter_map(|entry| step_of(entry.ok()?.file_name().to_str()?)).collect();
    steps.sort_unstable();
    for stale in stale(&steps, milestone_every) {
        let path = folder.join(name_of(stale));
        fs::remove_file(&path).map_err(StoreError::io(&path))?;
    }
    Ok(())
}

/// Removes the networks after `step`, because the run goes on from there, and what a crash left of
/// files that were about to be renamed.
pub(crate) fn forget_after(dir: &RunDir, step: u64) {
    for folder in [dir.models_path(), dir.path().to_owned()] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_half = ["stats.json.new-", ".onnx.new-"].iter().any(|part| name.contains(part));
            if is_half || step_of(&name).is_some_and(|at| at > step) {
                _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn name_of(step: u64) -> String {
    format!("model_step_{step:06}.onnx")
}

fn step_of(name: &str) -> Option<u64> {
    name.strip_prefix("model_step_")?.strip_suffix(".onnx")?.parse().ok()
}

/// Those of ascending steps that need not be kept.
fn stale(steps: &[u64], milestone_every: u64) -> Vec<u64> {
    let old = &steps[..steps.len().saturating_sub(KEPT)];
    let is_milestone = |place: usize| {
        let before = place.checked_sub(1).map_or(0, |before| steps[before]);
        milestone_every > 0 && steps[place] / milestone_every > before / milestone_every
    };
    let stale = old.iter().enumerate().filter(|(place, _)| !is_milestone(*place));
    stale.map(|(_, step)| *step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_and_the_milestones_are_kept() {
        let steps: Vec<u64> = (1..=14).map(|n| n * 300).collect();
        assert_eq!(stale(&steps, 0), [300, 600, 900, 1_200]);
        assert_eq!(stale(&steps, 1_000), [300, 600, 900]);
        assert_eq!(stale(&steps[..9], 1_000), Vec::<u64>::new());
        assert_eq!(step_of(&name_of(1_234_567)), Some(1_234_567));
        assert_eq!(step_of("latest.onnx"), None);
    }

    #[test]
    fn files_are_there_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let dir = RunDir::new(folder.path());
        for step in 1..=12 {
            write_model(&dir, step * 10, &step.to_le_bytes(), 0).unwrap();
        }
        let names = || {
            let entries = fs::read_dir(dir.models_path()).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names().len(), 11, "{:?}", names());
        assert_eq!(fs::read(dir.models_path().join("latest.onnx")).unwrap(), 12_u64.to_le_bytes());
        fs::write(dir.models_path().join("latest.onnx.new-1a"), "half").unwrap();
        fs::write(dir.path().join("stats.json.new-2b"), "half").unwrap();
        forget_after(&dir, 50);
        assert!(!dir.path().join("stats.json.new-2b").exists());
        assert_eq!(
            names(),
            [
                "latest.onnx",
                "model_step_000030.onnx",
                "model_step_000040.onnx",
                "model_step_000050.onnx",
            ]
        );
        write_stats(&dir, &Stats { step: 7, ..Stats::default() }).unwrap();
        let stats: serde_json::Value =
            serde_json::from_slice(&fs::read(dir.stats_path()).unwrap()).unwrap();
        assert_eq!((&stats["step"], &stats["elo"]), (&7.into(), &serde_json::Value::Null));
    }
}
