//! Positions as people and programs write them: the moves that lead there, without spaces.
//!
//! | game | a move | a position |
//! |---|---|---|
//! | tic-tac-toe | the square, `1` to `9` by rows from the top left | `519` |
//! | Connect 4 | the column, `1` to `7` | `6146` |
//! | Othello | the square, `a1` to `h8`, or `pass` | `f5d6` |
//!
//! Nothing at all is the start.

use cartridge_games::game::{Action, Turn};
use cartridge_games::registry::AnyGame;

/// Why a text is no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadPosition(String);

/// The position to which `moves` lead from `start`.
pub fn read(start: &AnyGame, moves: &str) -> Result<AnyGame, BadPosition> {
    let mut game = start.clone();
    let mut rest = moves;
    let mut n_moves = 0;
    while !rest.is_empty() {
        let Some((action, length)) = first_move(&game, rest) else {
            let found: String = rest.chars().take(4).collect();
            return Err(BadPosition(format!(
                "`{found}` is no move, after {n_moves} that are; {}",
                how(&game)
            )));
        };
        let written = &rest[..length];
        if game.turn() == Turn::Over {
            return Err(BadPosition(format!(
                "the game is over after {n_moves} moves, before `{written}`"
            )));
        }
        let legal = game.legal_actions();
        if !legal.contains(&action) {
            let legal: Vec<String> = legal.iter().map(|action| write(&game, *action)).collect();
            return Err(BadPosition(format!(
                "`{written}` cannot be played after {n_moves} moves; {} can",
                legal.join(", ")
            )));
        }
        game.apply(action);
        rest = &rest[length..];
        n_moves += 1;
    }
    Ok(game)
}

/// A move as it is written.
pub fn write(game: &AnyGame, action: Action) -> String {
    match game {
        AnyGame::TicTacToe(_) | AnyGame::Connect4(_) => (action.0 + 1).to_string(),
        AnyGame::Othello(_) => game.action_name(action),
    }
}

/// The first move of a text that is not empty, legal or not, and the bytes that it takes.
fn first_move(game: &AnyGame, text: &str) -> Option<(Action, usize)> {
    let begins = |action: &Action| {
        let word = write(game, *action);
        let found = text.get(..word.len())?;
        found.eq_ignore_ascii_case(&word).then_some((*action, word.len()))
    };
    (0..game.spec().n_actions).map(Action).find_map(|action| begins(&action))
}

/// How moves are written.
fn how(game: &AnyGame) -> &'static str {
    match game {
        AnyGame::TicTacToe(_) => "write squares as 1 to 9, without spaces, such as `519`",
        AnyGame::Connect4(_) => "write columns as 1 to 7, without spaces, such as `6146`",
        AnyGame::Othello(_) => "write squares and `pass`, without spaces, such as `f5d6`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(game: &str, moves: &str, expected: Result<&[usize], &str>) {
        let start = AnyGame::start(game, &mut fastrand::Rng::with_seed(0)).unwrap();
        match (read(&start, moves), expected) {
            (Ok(found), Ok(actions)) => {
                let mut game = start;
                actions.iter().for_each(|&action| game.apply(Action(action)));
                assert_eq!(found, game);
            }
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
            (found, expected) => panic!("{found:?} and not {expected:?}"),
        }
    }

    #[test]
    fn positions_are_the_moves_that_lead_there() {
        check("connect4", "", Ok(&[]));
        check("connect4", "6146", Ok(&[5, 0, 3, 5]));
        check("tictactoe", "519", Ok(&[4, 0, 8]));
        // f5 is the sixth of the fifth row.
        check("othello", "f5d6", Ok(&[37, 43]));
        check("othello", "F5D6", Ok(&[37, 43]));
    }

    #[test]
    fn what_is_no_position_is_told_why() {
        check("connect4", "68", Err("`8` is no move, after 1 that are"));
        check("connect4", "6 1", Err("without spaces"));
        check("connect4", "6146 -1 0 0", Err("` -1 ` is no move"));
        check(
            "connect4",
            "1111111",
            Err("`1` cannot be played after 6 moves; 2, 3, 4, 5, 6, 7 can"),
        );
        check("connect4", "12121213", Err("the game is over after 7 moves, before `3`"));
        check("tictactoe", "0", Err("1 to 9"));
        check("othello", "f5f5", Err("`f5` cannot be played after 1 moves"));
        check("othello", "pass", Err("`pass` cannot be played"));
        check("othello", "é", Err("is no move"));
    }

    #[test]
    fn every_move_is_read_as_it_is_written() {
        for game in ["tictactoe", "connect4", "othello"] {
            let mut rng = fastrand::Rng::with_seed(4);
            let start = AnyGame::start(game, &mut rng).unwrap();
            for _ in 0..20 {
                let (mut position, mut text) = (start.clone(), String::new());
                while position.turn() != Turn::Over {
                    let legal = position.legal_actions();
                    let action = legal[rng.usize(..legal.len())];
                    text += &write(&position, action);
                    position.apply(action);
                }
                assert_eq!(read(&start, &text).unwrap(), position, "{text}");
            }
        }
    }
}
