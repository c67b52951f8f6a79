//! Models that the program brings along, so that there is somebody to play at first start.
//!
//! Each is an ONNX file of less than a megabyte in `models/`, made by `cartridge train`.

/// The games that have one, and its file.
const MODELS: &[(&str, &[u8])] = &[];

/// The file of the model that the program brings along for `game`.
pub fn model(game: &str) -> Option<&'static [u8]> {
    MODELS.iter().find(|(known, _)| *known == game).map(|(_, file)| *file)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cartridge_games::registry::AnyGame;

    use super::*;
    use crate::board_policy::BoardPolicy;
    use crate::policy_file::PolicyFile;
    use crate::thinker::Thinker;

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

    #[test]
    fn nobody_else_is_there() {
        assert_eq!(model("chess"), None);
    }
}
