//! `cartridge actor`: self-play for a learner that is somewhere else.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cartridge_run::actor::{SelfPlayActor, Terms};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{note, say, say_json};
use crate::exit::Exit;

/// How often it looks for a network that is not there yet.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// It tells how it gets on this often.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// Play games against itself for a learner that is somewhere else
///
/// Plays with the network in an ONNX file, notices when the file is replaced, and appends its games
/// to a SQLite file (`docs/alphazero.md` has the form of both), so that a learner in any language can
/// sit on the other side. It plays as `cartridge train GAME` does at the end of a training. Ctrl-C ends
/// it after the games of the moment are written; games that are not over are left out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the game, such as connect4
    game: String,
    /// The ONNX file with the network, which may come later, and be replaced at any time
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// The SQLite file that games are appended to; it is made if it is not there
    #[arg(long, value_name = "FILE")]
    replay: PathBuf,
    /// End after so many games
    #[arg(long, value_name = "N")]
    games: Option<u64>,
    /// Simulations of a thorough search, and a fifth of them in a fast one
    /// [default: what a training of the game ends with]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    simulations: Option<u32>,
    /// Threads that play
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// The number that all chance follows from [default: another one each time, so that actors
    /// beside each other, and after each other, play different games]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let seed = args.seed.unwrap_or_else(super::random_seed);
    let mut actor = SelfPlayActor::new(Terms {
        game: args.game.clone(),
        model: args.model.clone(),
        replay: args.replay.clone(),
        n_simulations: args.simulations,
        n_threads: args.threads as usize,
        seed,
    })?;
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&is_over))?;
    }
    let began = Instant::now();
    let (mut n_games, mut n_plies, mut n_networks) = (0, 0, 0_u64);
    let mut told = None::<Instant>;
    let tell = |n_games: u64, n_plies: u64, n_networks: u64, last: u64| {
        let seconds = began.elapsed().as_secs_f64();
        if args.json {
            say_json(&json!({
                "games": n_games, "moves": n_plies, "networks": n_networks, "last_id": last, "seed": seed,
                "seconds": seconds, "games_per_sec": n_games as f64 / seconds.max(1e-9),
            }));
        } else {
            let pace = n_games as f64 / seconds.max(1e-9);
            say(&format!(
                "{n_games} games, {n_plies} moves, {pace:.1} games/s, {n_networks} networks"
            ));
        }
    };
    let mut is_waiting = false;
    let mut last = 0;
    while !is_over.load(Ordering::Relaxed) && args.games.is_none_or(|most| n_games < most) {
        let Some(round) = actor.play()? else {
            if !is_waiting {
                note(&format!("waiting for {}", args.model.display()));
                is_waiting = true;
            }
            thread::sleep(LOOK_EVERY);
            continue;
        };
        n_games += round.n_games;
        n_plies += round.n_plies;
        n_networks += u64::from(round.is_new_network);
        last = round.last;
        if let Some(warning) = round.warning {
            note(&format!("warning: {warning}"));
        }
        if told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            told = Some(Instant::now());
            tell(n_games, n_plies, n_networks, last);
        }
    }
    tell(n_games, n_plies, n_networks, last);
    Ok(Exit::Ok)
}
