//! `cartridge play`: a game in the terminal.

use std::io::{BufRead as _, Write as _};

use cartridge_run::games::game::{Action, Seat, Turn};
use cartridge_run::games::registry::AnyGame;
use cartridge_run::opponent::Opponent;

use super::say;
use crate::exit::Exit;

/// Play a board game in the terminal
///
/// Moves are typed by name (`d3`, `column 4`, `top left`) or by number. `hint` asks the strongest
/// player, `undo` takes your last move back, `moves` lists what can be played, `quit` ends.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the game
    game: String,
    /// Id of the opponent, such as `builtin:mcts:1000`; by default the strongest
    #[arg(long, value_name = "ID")]
    opponent: Option<String>,
    /// Your side
    #[arg(long, value_enum, default_value_t = Side::First)]
    side: Side,
    /// Decides what the opponent leaves to chance
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Side {
    First,
    Second,
}

/// What a line means.
#[derive(Debug, PartialEq, Eq)]
enum Input {
    Move(Action),
    Hint,
    Undo,
    Moves,
    Quit,
    Unknown,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    super::find_game(&args.game)?;
    let strongest = Opponent::offered(&args.game)[0];
    let opponent = match &args.opponent {
        Some(id) => Opponent::find(&args.game, id)?,
        None => strongest,
    };
    let mut rng = super::rng(args.seed.unwrap_or_else(super::random_seed));
    let you = Seat(if args.side == Side::First { 0 } else { 1 });
    let mut game = super::start_game(&args.game, &mut rng)?;
    // The positions in which you moved, to go back to.
    let mut before: Vec<AnyGame> = Vec::new();
    let mut lines = std::io::stdin().lock().lines();
    say(&format!("{} against {}. You play {}.", game.spec().name, opponent.name(), mark(you)));
    say(&format!("\n{game}"));
    while let Turn::Seat(seat) = game.turn() {
        if seat != you {
            let action = opponent.choose(&game, &mut rng);
            game.apply(action);
            say(&format!("{}: {}\n\n{game}", opponent.name(), game.action_name(action)));
            continue;
        }
        prompt();
        let Some(line) = lines.next().transpose()? else { return Ok(Exit::Ok) };
        match parse(&line, &game) {
            Input::Move(action) => {
                before.push(game.clone());
                game.apply(action);
                say(&format!("\n{game}"));
            }
            Input::Hint => {
                let action = strongest.choose(&game, &mut rng);
                say(&format!("{} would play {}.", strongest.name(), game.action_name(action)));
            }
            Input::Undo => match before.pop() {
                Some(earlier) => {
                    game = earlier;
                    say(&format!("\n{game}"));
                }
                None => say("There is no move to take back."),
            },
            Input::Moves => say(&legal(&game)),
            Input::Quit => return Ok(Exit::Ok),
            Input::Unknown => {
                say(&format!("`{}` cannot be played here. {}", line.trim(), legal(&game)));
            }
        }
    }
    let score = game.score(you);
    say(if score > 0.0 {
        "You win."
    } else if score < 0.0 {
        "You lose."
    } else {
        "A draw."
    });
    Ok(Exit::Ok)
}

fn prompt() {
    let mut out = std::io::stdout();
    // A reader that went away is no error.
    _ = write!(out, "your move (hint, undo, moves, quit): ");
    _ = out.flush();
}

/// A legal move by its name or by its number from 1, or a word that we know.
fn parse(line: &str, game: &AnyGame) -> Input {
    let word = line.trim().to_lowercase();
    match &word[..] {
        "hint" | "h" => return Input::Hint,
        "undo" | "u" => return Input::Undo,
        "moves" | "m" => return Input::Moves,
        "quit" | "q" | "exit" => return Input::Quit,
        _ => {}
    }
    let number = word.parse::<usize>().ok();
    let meant = |action: &Action| {
        game.action_name(*action).to_lowercase() == word || number == Some(action.0 + 1)
    };
    game.legal_actions().into_iter().find(meant).map_or(Input::Unknown, Input::Move)
}

fn legal(game: &AnyGame) -> String {
    let names = game.legal_actions().into_iter();
    let names: Vec<String> =
        names.map(|action| format!("{} ({})", game.action_name(action), action.0 + 1)).collect();
    format!("You can play: {}.", names.join(", "))
}

fn mark(Seat(seat): Seat) -> &'static str {
    if seat == 0 { "x and move first" } else { "o and move second" }
}
