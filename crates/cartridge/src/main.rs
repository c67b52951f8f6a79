//! The `cartridge` command: one file per sub-command.

mod cmd;
mod exit;
#[cfg(feature = "otel")]
mod otel;

use cartridge_run::store::Command as Ask;
use cartridge_run::use_instruction_set;
use clap::{Parser, Subcommand};

use crate::exit::Exit;

/// A reinforcement-learning lab in one binary: train an agent, watch it learn, play against it.
///
/// Examples:
///   cartridge up                              start the lab and print its URL
///   cartridge train CartPole-v1 --algo ppo    train an agent here, with a progress bar
///   cartridge eval r-7f3k2m --episodes 100    measure what a run has learnt
///   cartridge play connect4                   play in the terminal
#[derive(Debug, Parser)]
#[command(name = "cartridge", version, verbatim_doc_comment)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Up(cmd::up::Args),
    Train(cmd::train::Args),
    Exec(cmd::exec::Args),
    Trainers(cmd::trainers::Args),
    Eval(cmd::eval::Args),
    Evals(cmd::evals::Args),
    Export(cmd::export::Args),
    Reproduce(cmd::reproduce::Args),
    Par(cmd::par::Args),
    Bench(cmd::bench::Args),
    Trace(cmd::trace::Args),
    Games(cmd::games::Args),
    Engine(cmd::engine::Args),
    Match(cmd::match_players::Args),
    Tournament(cmd::tournament::Args),
    League(cmd::league::Args),
    Ratings(cmd::ratings::Args),
    Leaderboard(cmd::leaderboard::Args),
    Play(cmd::play::Args),
    Analyze(cmd::analyze::Args),
    Actor(cmd::actor::Args),
    Runs(cmd::runs::Args),
    Experiments(cmd::experiments::Args),
    Models(cmd::models::Args),
    Schema(cmd::schema::Args),
    Metrics(cmd::metrics::Args),
    Insights(cmd::insights::Args),
    Report(cmd::report::Args),
    Analytics(cmd::analytics::Args),
    Cluster(cmd::cluster::Args),
    Settings(cmd::settings::Args),
    Alerts(cmd::alerts::Args),
    Episodes(cmd::episodes::Args),
    Episode(cmd::episode::Args),
    Video(cmd::video::Args),
    Artifacts(cmd::artifacts::Args),
    Tensorboard(cmd::tensorboard::Args),
    Track(cmd::track::Args),
    /// Ask a run to save a checkpoint and end
    Stop(cmd::control::Args),
    /// Stop the stepping of a run; its process stays
    Pause(cmd::control::Args),
    Resume(cmd::control::ResumeArgs),
    /// Start a run that waits in the queue at once
    Start(cmd::control::Args),
    /// End a run's processes at once, without a checkpoint
    Terminate(cmd::control::Args),
    /// Ask a run to save a checkpoint and go on
    Checkpoint(cmd::control::Args),
    Tune(cmd::control::TuneArgs),
    Fork(cmd::fork::Args),
    /// Put a run away: it is listed only when asked for
    Archive(cmd::control::Args),
    /// Bring a run back from the archive
    Unarchive(cmd::control::Args),
    /// Move a run to the trash, from which it can be brought back for 7 days
    Delete(cmd::control::Args),
    /// Bring a run back from the trash
    Restore(cmd::control::Args),
    Pin(cmd::keep::PinArgs),
    /// Let go of a run, or of one of its checkpoints
    Unpin(cmd::keep::PinArgs),
    Audit(cmd::audit::Args),
    Token(cmd::token::Args),
    Reindex(cmd::reindex::Args),
    Gc(cmd::gc::Args),
    Fsck(cmd::fsck::Args),
    Onnx(cmd::onnx::Args),
    Protocol(cmd::protocol::Args),
    Url(cmd::url::Args),
    Supervise(cmd::supervise::Args),
    Worker(cmd::worker::Args),
    StartTrainer(cmd::start_trainer::Args),
    Guard(cmd::guard::Args),
    WandbRelay(cmd::wandb_relay::Args),
}

/// Names a lesser instruction set than the processor's best to compute with.
const ISA: &str = "CARTRIDGE_ISA";

fn main() -> Exit {
    if let Some(Err(reason)) = std::env::var(ISA).ok().map(|name| use_instruction_set(&name)) {
        exit::report(&anyhow::anyhow!("{ISA}: {reason}"));
        return Exit::Usage;
    }
    let outcome = match Cli::parse().command {
        Command::Up(args) => cmd::up::run(&args),
        Command::Train(args) => cmd::train::run(&args),
        Command::Exec(args) => cmd::exec::run(&args),
        Command::Trainers(args) => cmd::trainers::run(&args),
        Command::Eval(args) => cmd::eval::run(&args),
        Command::Evals(args) => cmd::evals::run(&args),
        Command::Export(args) => cmd::export::run(&args),
        Command::Reproduce(args) => cmd::reproduce::run(&args),
        Command::Par(args) => cmd::par::run(&args),
        Command::Bench(args) => cmd::bench::run(&args),
        Command::Trace(args) => cmd::trace::run(&args),
        Command::Games(args) => cmd::games::run(&args),
        Command::Engine(args) => cmd::engine::run(&args),
        Command::Match(args) => cmd::match_players::run(&args),
        Command::Tournament(args) => cmd::tournament::run(&args),
        Command::League(args) => cmd::league::run(&args),
        Command::Ratings(args) => cmd::ratings::run(&args),
        Command::Leaderboard(args) => cmd::leaderboard::run(&args),
        Command::Play(args) => cmd::play::run(&args),
        Command::Analyze(args) => cmd::analyze::run(&args),
        Command::Actor(args) => cmd::actor::run(&args),
        Command::Runs(args) => cmd::runs::run(&args),
        Command::Experiments(args) => cmd::experiments::run(&args),
        Command::Models(args) => cmd::models::run(&args),
        Command::Schema(args) => cmd::schema::run(&args),
        Command::Metrics(args) => cmd::metrics::run(&args),
        Command::Insights(args) => cmd::insights::run(&args),
        Command::Report(args) => cmd::report::run(&args),
        Command::Analytics(args) => cmd::analytics::run(&args),
        Command::Cluster(args) => cmd::cluster::run(&args),
        Command::Settings(args) => cmd::settings::run(&args),
        Command::Alerts(args) => cmd::alerts::run(&args),
        Command::Episodes(args) => cmd::episodes::run(&args),
        Command::Episode(args) => cmd::episode::run(&args),
        Command::Video(args) => cmd::video::run(&args),
        Command::Artifacts(args) => cmd::artifacts::run(&args),
        Command::Tensorboard(args) => cmd::tensorboard::run(&args),
        Command::Track(args) => cmd::track::run(&args),
        Command::Stop(args) => cmd::control::run(&args, Ask::Stop),
        Command::Pause(args) => cmd::control::run(&args, Ask::Pause),
        Command::Resume(args) => cmd::control::resume(&args),
        Command::Start(args) => cmd::control::start(&args),
        Command::Terminate(args) => cmd::control::run(&args, Ask::Terminate),
        Command::Checkpoint(args) => cmd::control::run(&args, Ask::Checkpoint),
        Command::Tune(args) => cmd::control::tune(&args),
        Command::Fork(args) => cmd::fork::run(&args),
        Command::Archive(args) => cmd::keep::archive(&args, true),
        Command::Unarchive(args) => cmd::keep::archive(&args, false),
        Command::Delete(args) => cmd::keep::delete(&args),
        Command::Restore(args) => cmd::keep::restore(&args),
        Command::Pin(args) => cmd::keep::pin(&args, true),
        Command::Unpin(args) => cmd::keep::pin(&args, false),
        Command::Audit(args) => cmd::audit::run(&args),
        Command::Token(args) => cmd::token::run(&args),
        Command::Reindex(args) => cmd::reindex::run(&args),
        Command::Gc(args) => cmd::gc::run(&args),
        Command::Fsck(args) => cmd::fsck::run(&args),
        Command::Onnx(args) => cmd::onnx::run(&args),
        Command::Protocol(args) => cmd::protocol::run(&args),
        Command::Url(args) => cmd::url::run(&args),
        Command::Supervise(args) => cmd::supervise::run(&args),
        Command::Worker(args) => cmd::worker::run(&args),
        Command::StartTrainer(args) => cmd::start_trainer::run(&args),
        Command::Guard(args) => cmd::guard::run(&args),
        Command::WandbRelay(args) => cmd::wandb_relay::run(&args),
    };
    outcome.unwrap_or_else(|error| exit::report(&error))
}
