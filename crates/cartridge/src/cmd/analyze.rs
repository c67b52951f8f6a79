//! `cartridge analyze`: what a network makes of positions.

use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use cartridge_run::RunError;
use cartridge_run::games::game::{Action, Seat, Turn};
use cartridge_run::games::registry::AnyGame;
use cartridge_run::notation;
use cartridge_run::player::{Door, Player};
use cartridge_run::thinker::{Considered, MOST_SIMULATIONS, Thinker, Thought};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{DataArgs, note, printable, say, say_json};
use crate::exit::Exit;

/// Ask a network what it makes of positions, one a line
///
/// A position is the moves that lead to it, without spaces: columns at Connect 4 (`6146`), squares
/// at Othello (`f5d6`, `pass`) and at tic-tac-toe (`519`); the empty line is the start. Each is
/// answered at once, so another program can play against a network through a pipe. A line that is no
/// position, or one where the game is over, is answered with what is wrong, and the command ends
/// with 1. Example:
///   echo 6146 | cartridge analyze connect4 --model best --simulations 600 --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Id of the game
    game: String,
    /// Who is asked: `best`, `shipped`, `model:NAME`, `run:RUN`, `ckpt:FOLDER` or `onnx:FILE`, each
    /// with `:K` at its end for its simulations
    #[arg(long, value_name = "MODEL", default_value = "best")]
    model: String,
    /// How many simulations it searches with where the model does not say; 0 is its policy alone
    /// [default: 200]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=i64::from(MOST_SIMULATIONS)))]
    simulations: Option<u32>,
    /// File with the positions; `-` for standard input
    #[arg(long, value_name = "FILE", default_value = "-")]
    positions: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// One JSON object per position
    #[arg(long)]
    json: bool,
}

/// What was found, in one line.
#[derive(Debug, Serialize)]
struct Report<'a> {
    position: &'a str,
    /// The seat to move, from 0.
    turn: usize,
    #[serde(rename = "move")]
    best: String,
    /// For the seat to move, −1 to 1.
    value: Option<f32>,
    /// Its exact score, where the search has proved it.
    proven: Option<f32>,
    /// Probabilities of the network alone, by move.
    policy: Map<String, Value>,
    visits: Map<String, Value>,
    /// Mean scores for the seat to move; null where there are none.
    q: Map<String, Value>,
    /// What the search adds to them because of the priors.
    u: Map<String, Value>,
    pv: Vec<String>,
    simulations: u32,
    evaluations: u64,
    cache_hits: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let start = super::start_game(&args.game, &mut super::rng(0))?;
    let data = args.data.look()?;
    let found = Player::learnt_at_board(
        &data,
        &args.game,
        &args.model,
        args.simulations,
        Door::CommandLine,
    )?;
    let (thinker, n_simulations) =
        found.player.thinker().expect("a player at a board that has learnt thinks");
    if !args.json {
        say(&format!("{}, {}", found.player.about.name, found.player.about.key));
    }
    let mut lines: Box<dyn BufRead> = if args.positions.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        let path = &args.positions;
        let file = File::open(path).with_context(|| format!("reading {}", path.display()))?;
        Box::new(BufReader::new(file))
    };
    let mut exit = Exit::Ok;
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).context("reading positions")? == 0 {
            return Ok(exit);
        }
        // Whatever is no text is no position either.
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        match look(thinker, n_simulations, &start, text) {
            Ok((game, thought)) if args.json => say_json(&report(text, &game, &thought)),
            Ok((game, thought)) => tell(text, &game, &thought),
            Err(error) => {
                exit = Exit::Failed;
                if args.json {
                    say_json(&json!({ "position": text, "error": error }));
                } else {
                    note(&format!("error: {}: {}", printable(text), printable(&error)));
                }
            }
        }
        // Whoever waits for the answer before the next question must not wait for ever.
        super::or_end(std::io::stdout().flush());
    }
}

/// What a network makes of the position that is written so.
fn look(
    thinker: &Arc<Thinker>,
    n_simulations: u32,
    start: &AnyGame,
    text: &str,
) -> Result<(AnyGame, Thought), String> {
    let game = notation::read(start, text).map_err(|error| error.to_string())?;
    if game.turn() == Turn::Over {
        return Err("the game is over in this position".to_owned());
    }
    let thought =
        thinker.think(&game, n_simulations).map_err(|error: RunError| error.to_string())?;
    Ok((game, thought))
}

fn report<'a>(position: &'a str, game: &AnyGame, thought: &Thought) -> Report<'a> {
    let by_move = |number: &dyn Fn(&Considered) -> Value| {
        let entry = |it: &Considered| (notation::write(game, it.action), number(it));
        thought.actions.iter().map(entry).collect()
    };
    Report {
        position,
        turn: seat(game),
        best: notation::write(game, thought.action),
        value: thought.value,
        proven: thought.proven,
        policy: by_move(&|it| json!(it.prior)),
        visits: by_move(&|it| json!(it.n_visits)),
        q: by_move(&|it| json!(it.mean)),
        u: by_move(&|it| json!(it.urgency)),
        pv: line(game, &thought.line),
        simulations: thought.n_simulations,
        evaluations: thought.statistics.n_evaluations,
        cache_hits: thought.statistics.n_cache_hits,
    }
}

fn seat(game: &AnyGame) -> usize {
    match game.turn() {
        Turn::Seat(Seat(seat)) => seat,
        Turn::Over => 0,
    }
}

fn line(game: &AnyGame, line: &[Action]) -> Vec<String> {
    line.iter().map(|action| notation::write(game, *action)).collect()
}

/// Prints what was found for people.
fn tell(position: &str, game: &AnyGame, thought: &Thought) {
    let position = if position.is_empty() { "the start" } else { position };
    say(&format!("\n{position}\n{game}"));
    for fact in facts(game, thought) {
        say(&fact);
    }
}

/// What a network makes of a position, in lines for people; the most visited moves come first.
pub(super) fn facts(game: &AnyGame, thought: &Thought) -> Vec<String> {
    let signed = |number: Option<f32>| match number {
        Some(number) => format!("{number:+.3}"),
        None => "-".to_owned(),
    };
    let proven = match thought.proven {
        Some(score) if score > 0.0 => ", a proven win",
        Some(score) if score < 0.0 => ", a proven loss",
        Some(_) => ", a proven draw",
        None => "",
    };
    let mut lines = vec![format!(
        "move {}, value {}{proven}, line {}",
        notation::write(game, thought.action),
        signed(thought.value),
        line(game, &thought.line).join(" ")
    )];
    let mut actions = thought.actions.clone();
    actions.sort_by(|a, b| b.n_visits.cmp(&a.n_visits).then(b.prior.total_cmp(&a.prior)));
    lines.push(format!("{:>6}{:>9}{:>9}{:>9}{:>9}", "MOVE", "PRIOR", "VISITS", "Q", "U"));
    for it in actions {
        lines.push(format!(
            "{:>6}{:>8.1}%{:>9}{:>9}{:>9}",
            notation::write(game, it.action),
            100.0 * it.prior,
            it.n_visits,
            signed(it.proven.or(it.mean)),
            it.urgency.map_or("-".to_owned(), |urgency| format!("{urgency:.3}")),
        ));
    }
    lines
}
