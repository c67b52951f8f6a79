//! Run folders on disk, and the SQLite index over them.
//!
//! # Layout
//!
//! * [`data_dir`]: the data folder: opened, checked and created once, at the edge.
//! * `migrate`: data of older versions, brought up to date.
//! * [`run_dir`]: one run's folder and the files in it.
//! * [`records`]: what a line of each file says.
//! * [`jsonl`]: appending whole lines, and reading only whole lines.
//! * [`status`]: the lines of a run folded into how the run is doing.
//! * [`resources`]: what a run's trainer used of the machine over time.
//! * [`follow`]: what is new in a run's files since the last look.
//! * [`answers`]: what requests were answered, so that asking again changes nothing.
//! * [`artifacts`]: what a run has made, listed by id in `artifacts.json`.
//! * [`beneath`]: files below a folder, and never outside it.
//! * [`match_log`]: every match that was played.
//! * [`models`]: named models and their files.
//! * [`event_file`]: TensorBoard's event files, as they are written and read.
//! * [`episodes`]: every episode of a run, in compressed segments.
//! * [`replay`]: games of self-play to be learnt from, in SQLite.
//! * [`index`]: the SQLite index and the feed; the only other place with SQL.
//!
//! **Invariants:** files are the truth and are only appended to (or written beside and renamed);
//! the index can be deleted and comes back from them. A line that was cut short by a crash is not
//! a line yet. No clock is read here: times come in with the records.

pub mod answers;
pub mod artifacts;
pub mod beneath;
pub mod data_dir;
pub mod episodes;
pub mod error;
pub mod event_file;
pub mod experiments;
pub mod follow;
pub mod index;
pub mod jsonl;
pub mod match_log;
mod migrate;
pub mod models;
pub mod records;
pub mod replay;
pub mod resources;
pub mod run_dir;
pub mod status;

pub use crate::answers::{Answer, Answers};
pub use crate::artifacts::{Artifact, ArtifactId, ArtifactKind, ArtifactList};
pub use crate::data_dir::DataDir;
pub use crate::episodes::{EpisodeBody, EpisodeHead, EpisodeReader, EpisodeWriter, StepRecord};
pub use crate::error::{DiskTrouble, Result, StoreError};
pub use crate::experiments::{Experiment, ExperimentId, GroupId};
pub use crate::follow::{Follower, News};
pub use crate::index::{FeedItem, Index, MetricValues, RunFilter, SeriesPoints};
pub use crate::match_log::{MatchLine, MatchLog, MatchPlayer};
pub use crate::models::{Model, ModelFile, ModelList, ModelName, ModelVersion};
pub use crate::records::{
    ArtifactNote, Command, ControlLine, DoneReason, Episodes, Evaluated, Evaluation, Event,
    EventLine, GameRecord, GpuSample, Level, Limits, LineCounts, Manifest, MatchResult, MetricLine,
    Parent, Played, Pruned, Restart, RestoredFrom, RunKind, SupervisorEvent, SupervisorLine, Track,
    TrainerConfig, WandbPage,
};
pub use crate::replay::Replay;
pub use crate::resources::ResourceSample;
pub use crate::run_dir::{RunDir, RunId};
pub use crate::status::{Activity, Failure, RunState, RunStatus};
