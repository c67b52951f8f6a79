//! Where learning meets storage: runs, the processes that carry them, and the lab over them all.
//!
//! # Layout
//!
//! * [`config`]: what a run is told, from defaults, files and `--set`, checked and explained.
//! * [`tunable`]: what may be changed while a run trains.
//! * [`experiment`]: templates of runs, and the runs that are made from them; [`aggregate`]: what
//!   several runs come to.
//! * [`launch`]: from a configuration to a run folder with a supervisor at work on it.
//! * [`named_trainer`]: trainers that `lab.json` names, so that they can be started by name.
//! * [`queue`]: which of the waiting runs can be started now.
//! * [`supervisor`]: the detached process that starts, watches and ends one trainer.
//! * `descendants`: every process that a trainer has started, wherever it has gone.
//! * [`leftover`]: processes that an older attempt left behind.
//! * [`worker`]: the native trainer process; [`saturation`]: when it has nothing left to learn.
//! * [`actor`]: self-play for a learner that is somewhere else.
//! * `self_play`: the same for games that are learnt by playing against oneself.
//! * [`reproduce`]: a run made again from its manifest, and compared.
//! * [`protocol`]: the lines of foreign trainers; [`foreign`]: from those lines to a run's files.
//! * [`carried`]: runs that the calling process carries out itself.
//! * [`tensorboard`]: a run's metrics for TensorBoard, and its viewer.
//! * [`wandb`]: runs of `wandb` clients, kept here; [`track`]: our own runs, told to a W&B server.
//! * [`steer`], [`control`]: what can be done with a run, and the signed lines that ask its trainer.
//! * [`audit`]: who changed what, and what is pinned, archived and deleted.
//! * [`checkpoint`], [`evaluation`], [`preview`]: policies on disk, measured, and looked at.
//! * [`evaluation_job`]: evaluations as runs of their own.
//! * [`film`]: episodes as MP4 files; `camera`: those of a training's evaluations.
//! * [`policy_file`]: policies that other programs made, as ONNX files.
//! * [`model`]: named models with versions that outlive their runs.
//! * [`board_policy`]: policies of others at a board; [`thinker`]: networks that think there, alone or
//!   with a search; [`shipped`]: those that the program brings along.
//! * [`archive`]: a folder as one file.
//! * [`discovery`]: what runs have made: found, named and told.
//! * [`retention`], [`janitor`]: what is kept, and who sees to it.
//! * [`fsck`]: proof that lists and disk agree, and repairs.
//! * [`metrics`]: what was measured, by whatever name it is asked for.
//! * [`insight`]: what the numbers of a run say, with evidence; [`analytics`]: runs in windows of
//!   steps; [`report`]: all of a run on one page; [`cluster`]: what is at work on this machine, and what it costs.
//! * [`alert`]: what a person should know of now, from firing to its end.
//! * [`par`], [`throughput`]: what scripted players reach, and how fast environments step.
//! * [`opponent`], [`hint`]: players that need no training, and asked; [`player`]: all who can be
//!   compared.
//! * [`notation`]: positions as the moves that lead there.
//! * [`matches`], [`tournament`]: players compared; [`contest_job`]: as runs of their own.
//! * [`ratings`], [`leaderboard`]: how strong players are, and what trainings have reached.
//! * [`trace`]: an episode from its seed and actions, number by number.
//! * [`episode`]: any episode of any run, to be seen again.
//! * [`dataset`]: recorded episodes for other programs.
//! * [`xray`]: what a policy makes of each step of one; [`curve`]: what it earned, drawn.
//! * [`play`]: games of people against named opponents.
//! * [`human`]: environments that people play by keyboard.
//! * [`lab`]: what the server and the command line ask: one door to all of the above.
//! * [`token`], [`session`]: who may do what, and which browsers have left.
//! * [`secret`], [`clock`]: keys of this installation, and the one place that reads the time;
//!   [`time`]: Unix seconds as RFC 3339.
//!
//! **Invariant:** a run is a folder, and the lab only tails it. Killing and restarting the lab
//! changes nothing for a trainer.

pub mod actor;
pub mod aggregate;
pub mod alert;
pub mod analytics;
pub mod archive;
pub mod audit;
pub mod board_policy;
mod camera;
pub mod carried;
pub mod checkpoint;
pub mod clock;
pub mod cluster;
pub mod config;
pub mod contest_job;
pub mod control;
pub mod curve;
pub mod dataset;
mod descendants;
pub mod discovery;
pub mod episode;
pub mod error;
pub mod evaluation;
pub mod evaluation_job;
pub mod experiment;
pub mod film;
pub mod foreign;
pub mod fsck;
mod gpu;
pub mod hint;
pub mod human;
pub mod insight;
pub mod janitor;
pub mod lab;
pub mod launch;
pub mod leaderboard;
pub mod leftover;
mod lineage;
pub mod live;
pub mod matches;
pub mod metrics;
pub mod model;
pub mod named_trainer;
pub mod notation;
pub mod opponent;
pub mod par;
pub mod play;
pub mod player;
pub mod policy_file;
pub mod preview;
pub mod priority;
pub mod protocol;
pub mod queue;
pub mod ratings;
pub mod report;
pub mod reproduce;
mod reserve;
pub mod retention;
pub mod saturation;
pub mod secret;
mod self_play;
pub mod session;
pub mod settings;
pub mod shipped;
pub mod steer;
pub mod supervisor;
pub mod tensorboard;
pub mod thinker;
pub mod throughput;
pub mod time;
pub mod token;
pub mod tournament;
pub mod trace;
pub mod track;
pub mod tunable;
pub mod wandb;
pub mod worker;
pub mod xray;

pub use crate::config::{Algorithm, ConfigError, RunConfig};
pub use crate::error::{Result, RunError};
pub use crate::lab::Lab;

/// The games themselves, for the crates above this one.
pub use cartridge_games as games;
/// What policies in files say, for the crates above this one.
pub use cartridge_learn::onnx;
/// What learning computes with on this machine, for the crates above this one.
pub use cartridge_learn::{instruction_set, use_instruction_set};
/// What the store knows, for the crates above this one.
pub use cartridge_store as store;

/// The name of a metric for people; a metric that is not ours keeps its own.
pub fn metric_label(name: &str) -> String {
    // A name with another sign or scale is of something else to people.
    if let Some((metric, 1.0)) = cartridge_learn::metric::Metric::meant_by(name) {
        return metric.label().to_owned();
    }
    // What an environment measures itself: `episode/fuel_used`.
    match name.split_once('/') {
        Some(("episode", what)) => format!("Episode {}", what.replace('_', " ")),
        Some(("eval", what)) => format!("Evaluation {}", what.replace('_', " ")),
        _ => name.to_owned(),
    }
}
