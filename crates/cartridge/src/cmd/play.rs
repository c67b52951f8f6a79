//! `cartridge play`: a game in the terminal.

use std::io::{BufRead as _, Write as _};

use cartridge_run::RunError;
use cartridge_run::games::game::{Action, Seat};
use cartridge_run::games::registry::AnyGame;
use cartridge_run::opponent::Opponent;
use cartridge_run::play::thoughts::{Review, Thoughts};
use cartridge_run::play::{self, NewPlay, Outcome, Play};
use cartridge_run::player::{Door, is_learnt};
use cartridge_run::ratings::{self, Known};
use cartridge_run::shipped;
use cartridge_run::store::{DataDir, MatchLog, RunId};
use cartridge_run::token::ADMIN;

use super::{DataArgs, analyze, say};
use crate::exit::Exit;

/// Play a board game in the terminal
///
/// Moves are typed by name (`d3`, `column 4`, `top left`) or by number. `hint` asks perfect play
/// where it is known and else the strongest level, `think` what a network makes of the position, `undo` takes back your last move and the answer to it, `moves` lists what was played and what can
/// be, `quit` ends. When it is over, `back`, `next` and the number of a move go through it, with what
/// a network makes of each position. The game is kept as a run, and can be gone on with on the play
/// page.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of the game
    game: String,
    /// Level of the opponent, such as `club`: `cartridge games show GAME` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "opponent")]
    level: Option<String>,
    /// Id of the opponent, such as `builtin:mcts:1000`, or what was learnt, with its simulations or a
    /// strength: `best:200`, `shipped:club`, `model:four@best`, `run:r-7f3k2m:50`, `ckpt:FOLDER`,
    /// `onnx:FILE`; by default the strongest that is built in
    #[arg(long, value_name = "ID")]
    opponent: Option<String>,
    /// Your side
    #[arg(long, value_enum, default_value_t = Side::First)]
    side: Side,
    /// Show what a network makes of each of the opponent's moves: its policy, visits and scores. That
    /// is help, and counts as hints
    #[arg(long)]
    think: bool,
    /// Decides what the opponent leaves to chance
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Side {
    First,
    Second,
    Random,
}

/// What a line means.
#[derive(Debug, PartialEq, Eq)]
enum Input {
    Move(Action),
    Hint,
    Think,
    Undo,
    Moves,
    Help,
    Quit,
    Unknown,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    super::find_game(&args.game)?;
    let opponent = match (&args.level, &args.opponent) {
        (Some(level), _) => Opponent::at_level(&args.game, level)?.to_string(),
        (None, Some(id)) if is_learnt(id) => id.clone(),
        (None, Some(id)) => Opponent::find(&args.game, id)?.to_string(),
        (None, None) => Opponent::strongest(&args.game).to_string(),
    };
    let data = args.data.open()?;
    let new = NewPlay {
        game: &args.game,
        opponent: &opponent,
        door: Door::CommandLine,
        side: match args.side {
            Side::First => play::Side::First,
            Side::Second => play::Side::Second,
            Side::Random => play::Side::Random,
        },
        seed: args.seed.unwrap_or_else(super::random_seed),
        // Whoever writes the folder could as well read the lab's token.
        owner: ADMIN,
    };
    let mut play = Play::begin(&data, super::VERSION, new)?;
    let id = play.manifest.id.clone();
    let level = play.opponent.builtin().and_then(|opponent| opponent.level(&args.game));
    let level = level.map_or("", |level| level.name);
    let at_level = if level.is_empty() { String::new() } else { format!(" ({level})") };
    say(&format!(
        "{} against {}{at_level}. You play {}.\nrun {id}\n",
        play.game.spec().name,
        play.opponent.about.name,
        mark(play.seat)
    ));
    if let Some(strength) = strength(&data, &play, &opponent)? {
        say(&format!("{strength}\n"));
    }
    let start = super::start_game(&args.game, &mut super::rng(new.seed))?;
    say(&start.to_string());
    tell_answers(&data, &mut play, start, 0, args.think)?;
    let mut lines = std::io::stdin().lock().split(b'\n');
    while play.outcome().is_none() {
        ask("your move (undo, hint, moves, help, quit): ");
        let Some(line) = lines.next().transpose()? else { break };
        // Whatever is no text is no move either, and is asked for again.
        let line = String::from_utf8_lossy(&line);
        // Every command asks the files, as the lab does: the game may be open in a browser too.
        match parse(&line, &play.game) {
            Input::Move(action) => {
                let (mut after, ply) = (play.game.clone(), play.moves.len());
                after.apply(action);
                say(&format!("\n{after}"));
                play = match Play::make_move(&data, &id, action.0, ply as u32) {
                    Err(RunError::StaleMove { .. }) => reload(&data, &id)?,
                    moved => moved?,
                };
                tell_answers(&data, &mut play, after, ply + 1, args.think)?;
            }
            Input::Hint => {
                let (now, hint) = Play::hint(&data, &id, None)?;
                play = now;
                say(&hint.sentence(&play.game));
            }
            Input::Think => think(&data, &mut play, None)?,
            Input::Undo => match Play::take_back(&data, &id, None) {
                Ok(earlier) => {
                    play = earlier;
                    say(&format!("Taken back.\n\n{}", play.game));
                }
                Err(error @ RunError::NothingToUndo) => say(&format!("Sorry: {error}.")),
                Err(error) => return Err(error.into()),
            },
            Input::Moves => {
                if !play.moves.is_empty() {
                    say(&played(&play));
                }
                say(&legal(&play.game));
            }
            Input::Help => say(HELP),
            Input::Quit => break,
            Input::Unknown => {
                say(&format!("`{}` cannot be played here. {}", line.trim(), legal(&play.game)));
            }
        }
    }
    let result = match play.outcome() {
        Some(Outcome::Win) => "You win",
        Some(Outcome::Loss) => "You lose",
        Some(Outcome::Draw) => "A draw",
        None => {
            say(&format!("\nThe game is kept as run {id}: go on with it on the play page."));
            return Ok(Exit::Ok);
        }
    };
    let help = play.help().map_or_else(String::new, |help| format!(", {help}"));
    say(&format!("{result}{help}.\nrun {id}"));
    look_back(&data, &play, lines)?;
    Ok(Exit::Ok)
}

/// How strong a network was found to be, or how to find out; nothing of who is built in, whose level
/// says it.
fn strength(data: &DataDir, play: &Play, written: &str) -> anyhow::Result<Option<String>> {
    let (game, rival) = (&play.manifest.env_id, &play.opponent);
    if rival.builtin().is_some() {
        return Ok(None);
    }
    let here = ratings::ratings(&MatchLog::read(data)?.lines, game, None)?.of(&rival.about);
    let known = match here {
        Some(known) => Some(known),
        None => shipped::ratings(game)?.of(&rival.about),
    };
    Ok(Some(match known {
        Some(Known { rating, anchor, n_simulations }) => {
            let with = match n_simulations {
                n if n == rival.n_simulations => String::new(),
                None | Some(0) => ", by its policy alone".to_owned(),
                Some(n) => format!(", with {n} simulations"),
            };
            let (elo, error) = (rating.rating, rating.standard_error);
            format!("It is rated {elo:.0} ± {error:.0} above {anchor}{with}.")
        }
        None => format!("It is not rated yet; `cartridge match {game} {written} random` does it."),
    }))
}

const HELP: &str = "
d3, 4, top left   play a move, by its name or its number
undo, u           take back your last move and the answer to it
hint, h           ask perfect play, or else the strongest level
think, t          ask a network what it makes of the position; counts as a hint
moves, m          list what was played and what can be
help, ?           show this
quit, q           leave; the game is kept
";

const HELP_AFTERWARDS: &str = "
back, b           show the position a move earlier
next, n           show the position a move later
0, 1, 2           show the position after so many moves
moves, m          list what was played
help, ?           show this
quit, q           leave; the game is kept
";

/// Goes through a game that is over, for as long as somebody asks.
fn look_back(
    data: &DataDir,
    play: &Play,
    lines: impl Iterator<Item = std::io::Result<Vec<u8>>>,
) -> anyhow::Result<()> {
    let end = play.moves.len() as u32;
    let (mut ply, mut review) = (end, None);
    ask("look back (back, next, moves, help, quit): ");
    for line in lines {
        let line = line?;
        let word = String::from_utf8_lossy(&line).trim().to_lowercase();
        let wanted = match &word[..] {
            "back" | "b" => Some(ply.saturating_sub(1)),
            "next" | "n" => Some((ply + 1).min(end)),
            "moves" | "m" => {
                say(&played(play));
                None
            }
            "" | "quit" | "q" | "exit" => break,
            "help" | "?" => {
                say(HELP_AFTERWARDS);
                None
            }
            number => match number.parse() {
                Ok(number) if number <= end => Some(number),
                _ => {
                    say(&format!("`{number}` is no move of this game: there are 0 to {end}."));
                    None
                }
            },
        };
        if let Some(wanted) = wanted {
            ply = wanted;
            // Judged once, when somebody wants to know; nobody may have learnt this game.
            let review = review.get_or_insert_with(|| play.review(data, None).ok());
            say(&format!("\n{}\n\n{}", judged(play, review.as_ref(), ply), play.position(ply)?));
        }
        ask("look back (back, next, moves, help, quit): ");
    }
    Ok(())
}

/// What led to a position of a game that is over, and what it is worth.
fn judged(play: &Play, review: Option<&Review>, ply: u32) -> String {
    let end = play.moves.len();
    let mut text = match ply.checked_sub(1).and_then(|at| play.moves.get(at as usize)) {
        None => "The start".to_owned(),
        Some(&(seat, action)) => {
            let who = if seat == play.seat { "you" } else { &play.opponent.about.name };
            format!("Move {ply} of {end}, {who}: {}", play.game.action_name(action))
        }
    };
    let Some(review) = review else { return text };
    if let Some(point) = review.points.get(ply as usize) {
        let sure = if point.is_known { ", proven" } else { "" };
        text += &format!(" (value {:+.2} for you{sure})", point.value);
    }
    let mistakes = [review.mistake, review.own_mistake].into_iter().flatten();
    if let Some(mistake) = mistakes.into_iter().find(|mistake| mistake.ply + 1 == ply) {
        let whose = if mistake.seat == play.seat { "your biggest" } else { "the biggest" };
        let better = play.game.action_name(mistake.best);
        text += &format!(", {whose} mistake: {better} was better");
    }
    text
}

/// The moves so far.
fn played(play: &Play) -> String {
    let name = |(at, (_, action)): (usize, &(Seat, Action))| {
        format!("{} {}", at + 1, play.game.action_name(*action))
    };
    let names: Vec<String> = play.moves.iter().enumerate().map(name).collect();
    format!("Played: {}.", names.join(", "))
}

/// The game after it was gone on with elsewhere.
fn reload(data: &DataDir, id: &RunId) -> anyhow::Result<Play> {
    let play = Play::load(data, id)?;
    say(&format!("The game has gone on elsewhere.\n\n{}", play.game));
    Ok(play)
}

/// Shows the opponent's moves from `ply` on, with the board after each; a network says how it finds
/// the game, and with `is_thinking` why.
fn tell_answers(
    data: &DataDir,
    play: &mut Play,
    mut game: AnyGame,
    ply: usize,
    is_thinking: bool,
) -> anyhow::Result<()> {
    let name = play.opponent.about.name.clone();
    for (ply, (_, action)) in play.moves.clone().into_iter().enumerate().skip(ply) {
        let value = play.opponent_thought(data, ply as u32)?.and_then(|thought| thought.value);
        let value = value.map_or_else(String::new, |value| format!(" (value {value:+.2} for it)"));
        if is_thinking {
            think(data, play, Some(ply as u32))?;
        }
        game.apply(action);
        say(&format!("{name}: {}{value}\n\n{game}", game.action_name(action)));
    }
    Ok(())
}

/// Shows what a network makes of the position after `ply` moves, or of the one that there is now.
fn think(data: &DataDir, play: &mut Play, ply: Option<u32>) -> anyhow::Result<()> {
    let (now, thoughts) = match Play::think(data, &play.manifest.id, ply, None) {
        // Nobody may have learnt this game.
        Err(error @ RunError::BadPlayer { .. }) => {
            say(&format!("Sorry: {error}."));
            return Ok(());
        }
        thought => thought?,
    };
    *play = now;
    let Thoughts { game, by, thought, .. } = thoughts;
    if let Some(thought) = thought {
        say(&format!("{}, of what it would play:", by.name));
        analyze::facts(&game, &thought).iter().for_each(|fact| say(fact));
    }
    Ok(())
}

fn ask(question: &str) {
    let mut out = std::io::stdout();
    let written = write!(out, "{question}");
    super::or_end(written.and_then(|()| out.flush()));
}

/// A legal move by its name or by its number from 1, or a word that we know.
fn parse(line: &str, game: &AnyGame) -> Input {
    let word = line.trim().to_lowercase();
    match &word[..] {
        "hint" | "h" => return Input::Hint,
        "think" | "t" => return Input::Think,
        "undo" | "u" => return Input::Undo,
        "moves" | "m" => return Input::Moves,
        "help" | "?" => return Input::Help,
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
