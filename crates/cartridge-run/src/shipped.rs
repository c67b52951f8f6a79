//! Models that the program brings along, so that there is somebody to play at first start.
//!
//! Each is an ONNX file of less than a megabyte in `models/`, made by `cartridge train`. How strong they
//! are was measured by matches before (`benches/shipped.sh`), so that it can be told at first start, too.

use cartridge_store::MatchLine;

use crate::error::Result;
use crate::ratings::{self, Ratings};

/// The games that have one, and its file.
const MODELS: &[(&str, &[u8])] = &[
    ("connect4", include_bytes!("../models/connect4.onnx")),
    ("othello", include_bytes!("../models/othello.onnx")),
];

/// What they have played, a match a line.
const MATCHES: &str = include_str!("../models/matches.jsonl");

/// The file of the model that the program brings along for `game`.
pub fn model(game: &str) -> Option<&'static [u8]> {
    MODELS.iter().find(|(known, _)| *known == game).map(|(_, file)| *file)
}

/// How strong the model of `game` was found to be before it was brought along.
pub fn ratings(game: &str) -> Result<Ratings> {
    ratings::ratings(&matches(), game, None)
}

fn matches() -> Vec<MatchLine> {
    let line = |line| serde_json::from_str(line).expect("a test reads every line");
    MATCHES.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cartridge_games::registry::AnyGame;
    use cartridge_store::MatchPlayer;

    use super::*;
    use crate::board_policy::BoardPolicy;
    use crate::policy_file::PolicyFile;
    use crate::thinker::{STRENGTHS, Thinker};

    #[test]
    fn what_is_brought_along_is_small_and_can_think() {
        for (game, file) in MODELS {
            assert!(file.len() < 1_000_000, "{game}: {} bytes", file.len());
            let start = AnyGame::start(game, &mut fastrand::Rng::with_seed(0)).unwrap();
            let parsed = PolicyFile::parse(Path::new(game), file).unwrap();
            assert_eq!(parsed.policy.metadata("env_id"), Some(*game));
            let thinker = Thinker::of_file(game, BoardPolicy::new(parsed, start.spec()).unwrap());
            assert!(thinker.has_value());
            assert_eq!(thinker.think(&start, 10).unwrap().n_simulations, 10);
        }
    }

    /// Positions of the golden files, with the score of every move, in which it gives nothing away.
    #[test]
    fn connect4_was_learnt() {
        let golden = [
            ("6146", [-1, 0, 0, 5, 18, 3, -1]),
            ("243335424257", [-15, -15, -15, -15, -15, 12, -15]),
            ("335662333565", [-12, -10, -12, -14, -12, -2, -12]),
            ("3246313", [-17, -17, -2, -17, -17, -17, -17]),
            ("274552224131661", [-9, -11, -12, 0, -11, -11, -11]),
            ("2531276566711153", [-2, 2, -1, 0, -1, 0, -12]),
        ];
        let start = AnyGame::start("connect4", &mut fastrand::Rng::with_seed(0)).unwrap();
        let file = PolicyFile::parse(Path::new("shipped"), model("connect4").unwrap()).unwrap();
        let policy = BoardPolicy::new(file, start.spec()).unwrap();
        let thinker = Thinker::of_file("shipped", policy);
        let is_right = |(moves, scores): &(&str, [i32; 7])| {
            let game = crate::notation::read(&start, moves).unwrap();
            let chosen = thinker.think(&game, 400).unwrap().action;
            let best = scores.iter().max().unwrap().signum();
            scores[chosen.0].signum() == best
        };
        let wrong: Vec<_> = golden.iter().filter(|it| !is_right(it)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn how_strong_they_are_is_known() {
        for (game, file) in MODELS {
            let sha256 = PolicyFile::parse(Path::new(game), file).unwrap().learnt_sha256();
            let rated = ratings(game).unwrap();
            assert_eq!((rated.groups.len(), rated.n_left_out), (1, 0), "{game}");
            let at = |n_simulations: u32| {
                let (key, sha256) = (format!("shipped:{n_simulations}"), Some(sha256.clone()));
                let known = rated.of(&MatchPlayer { key, name: String::new(), sha256 }).unwrap();
                assert_eq!(known.n_simulations, Some(n_simulations), "{game}: as it was measured");
                assert_eq!(known.anchor, ratings::ANCHOR);
                known.rating.rating
            };
            let all: Vec<f64> = STRENGTHS.iter().map(|it| at(it.n_simulations)).collect();
            assert!(all[0] < all[1] && all[1] < all[2], "{game}: thinking helps: {all:?}");
        }
    }

    #[test]
    fn nobody_else_is_there() {
        assert_eq!(model("tictactoe"), None);
        assert!(ratings("tictactoe").unwrap().groups.is_empty());
    }
}
