//! `cartridge match`: compare two players.

use cartridge_run::matches::{KeptMatch, MatchConfig, keep_match};
use cartridge_run::opponent::Opponent;
use cartridge_run::store::{MatchResult, RunId};
use serde::Serialize;

use super::{DataArgs, note, say, say_json};
use crate::exit::Exit;

/// Let two players play each other: pairs of games from the same random opening, sides swapped
///
/// The match is kept as a run, with every game. Ctrl-C ends it after the pair that is being played,
/// a second one at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the game
    game: String,
    /// Id of the player whose result is reported, such as `builtin:mcts:1000`
    a: String,
    /// Id of the other player
    b: String,
    /// How many games, an even number
    #[arg(long, default_value = "100", value_parser = parse_games)]
    games: u32,
    /// Chooses the openings and every move that is left to chance
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The result.
#[derive(Debug, Serialize)]
struct Report<'a> {
    game: &'a str,
    a: Opponent,
    b: Opponent,
    games: u32,
    seed: u64,
    #[serde(flatten)]
    result: MatchResult,
    run_id: RunId,
}

fn parse_games(text: &str) -> Result<u32, String> {
    match text.replace('_', "").parse() {
        Ok(games @ 2..=1_000_000) if games % 2 == 0 => Ok(games),
        _ => Err("games come in pairs: an even number from 2 to 1000000".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    super::find_game(&args.game)?;
    let a = Opponent::find(&args.game, &args.a)?;
    let b = Opponent::find(&args.game, &args.b)?;
    let n_pairs = args.games / 2;
    let config = MatchConfig { game: args.game.clone(), a, b, n_pairs, seed: args.seed };
    let data = args.data.open()?;
    let stop = super::interrupted()?;
    let bar = indicatif::ProgressBar::new(u64::from(args.games));
    let kept = keep_match(&data, super::VERSION, &config, &stop, |games| {
        bar.set_position(u64::from(games));
    })?;
    bar.finish_and_clear();
    let KeptMatch { run_id, result, n_games, is_whole } = kept;
    if !is_whole {
        note(&format!("stopped after {n_games} of {} games", args.games));
    }
    if args.json {
        let (game, games, seed) = (&args.game[..], n_games, args.seed);
        say_json(&Report { game, a, b, games, seed, result, run_id });
        return Ok(Exit::Ok);
    }
    let MatchResult { wins, draws, losses, score, score_ci95: [low, high], .. } = result;
    say(&format!("{} against {}, {} games of {}", a.name(), b.name(), n_games, args.game));
    say(&format!("wins {wins}, draws {draws}, losses {losses}"));
    say(&format!(
        "score  {:.1}%  (95% interval {:.1}% to {:.1}%)",
        100.0 * score,
        100.0 * low,
        100.0 * high
    ));
    let elo =
        |elo: Option<f64>, none: &str| elo.map_or(none.to_owned(), |elo| format!("{elo:+.0}"));
    let unbounded = if score > 0.5 { "above all" } else { "below all" };
    let [low, high] = result.elo_ci95;
    say(&format!(
        "Elo    {}  (95% interval {} to {})",
        elo(result.elo, unbounded),
        elo(low, "-inf"),
        elo(high, "+inf")
    ));
    say(&format!("run {run_id}"));
    Ok(Exit::Ok)
}
