use cartridge_learn::onnx::board::export_board_net;
use tempfile::TempDir;

use super::*;
use crate::model::{self, NewVersion, Source};
use crate::play::{NewPlay, Side};
use crate::steer::By;
use crate::thinker::tests::network;

/// A data folder with the model `four` of Connect 4.
struct Fixture {
    folder: TempDir,
    data: DataDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let path = folder.path().join("four.onnx");
        let facts = [("env_id", "connect4"), ("run_id", "r-7f3k2m"), ("step", "700")];
        let facts = facts.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        std::fs::write(&path, export_board_net(&network("connect4", 2), facts)).unwrap();
        let source = Source::File { path, env_id: None };
        let new = NewVersion { name: "four".to_owned(), source, notes: String::new() };
        model::add(&data, new, By::new("ada")).unwrap();
        Self { folder, data }
    }

    fn begin(&self, opponent: &str) -> Play {
        let (door, side) = (Door::Http, Side::First);
        let new = NewPlay { game: "connect4", opponent, door, side, seed: 1, owner: "ada" };
        Play::begin(&self.data, "0.0.0", new).unwrap()
    }

    /// Plays columns, and with the first legal one to the end.
    fn finish(&self, play: &Play) -> Play {
        let mut play = Play::load(&self.data, &play.manifest.id).unwrap();
        while play.outcome().is_none() {
            let action = play.game.legal_actions()[0].0;
            let ply = play.moves.len() as u32;
            play = Play::make_move(&self.data, &play.manifest.id, action, ply).unwrap();
        }
        play
    }

    fn promote(&self) {
        let (model, version) = model::resolve(&self.data, "four").unwrap();
        let source = Source::Version { model: Box::new(model), version: Box::new(version) };
        model::promote(&self.data, source, By::new("ada")).unwrap();
    }
}

#[test]
fn thoughts_in_a_game_that_goes_on_count_as_hints() {
    let fixture = Fixture::new();
    let data = &fixture.data;
    let play = fixture.begin("model:four:30");
    let id = play.manifest.id.clone();
    let think = |ply, n| Play::think(data, &id, ply, n);
    let (now, thoughts) = think(None, None).unwrap();
    assert_eq!((now.n_hints, thoughts.ply), (1, 0));
    assert_eq!(thoughts.by.key, "model:four@1:30", "the opponent's own");
    let thought = thoughts.thought.unwrap();
    assert_eq!(thought.n_simulations, 30);
    assert_eq!(thought.actions.iter().map(|it| it.n_visits).sum::<u32>(), 30);
    let (now, thoughts) = think(Some(0), Some(7)).unwrap();
    assert_eq!(now.n_hints, 1, "asking again is no other");
    assert_eq!(thoughts.by.key, "model:four@1:7", "it says how much it thought");
    assert_eq!(thoughts.by.name, "four@1, 7 simulations");
    let moved = Play::make_move(data, &id, 3, 0).unwrap();
    // What it did is what it thought then.
    let own = moved.opponent_thought(data, 1).unwrap().unwrap();
    assert_eq!(own.action, moved.moves[1].1);
    assert_eq!(moved.opponent_thought(data, 0).unwrap(), None, "that was the person");
    let (now, thoughts) = think(Some(1), None).unwrap();
    assert_eq!((now.n_hints, thoughts.thought.unwrap().action), (2, moved.moves[1].1));
    assert!(matches!(think(Some(3), None), Err(RunError::NoSuchPly { .. })));
    assert!(think(None, Some(10_001)).unwrap_err().to_string().contains("0 to 10000"));
    assert!(matches!(now.think_back(data, 0, None), Err(RunError::GameGoesOn)));
    assert!(matches!(now.review(data, None), Err(RunError::GameGoesOn)));
    let over = fixture.finish(&now);
    let n_hints = over.n_hints;
    let (over, end) = think(None, None).unwrap();
    assert_eq!((over.n_hints, end.thought), (n_hints, None), "nobody needs help any more");
    let back = over.think_back(data, 0, Some(0)).unwrap().thought.unwrap();
    assert_eq!((back.n_simulations, back.line.len()), (0, 1));
}

#[test]
fn a_game_stays_with_its_opponent() {
    let fixture = Fixture::new();
    let play = fixture.begin("model:four:master");
    let rival = &play.opponent;
    assert_eq!((rival.n_simulations, rival.builtin()), (Some(1600), None));
    assert_eq!(rival.origin.step, Some(700));
    std::fs::remove_dir_all(fixture.folder.path().join("models")).unwrap();
    std::fs::remove_file(fixture.folder.path().join("models.json")).unwrap();
    let moved = Play::make_move(&fixture.data, &play.manifest.id, 3, 0).unwrap();
    assert_eq!(moved.moves.len(), 2, "it has a copy of it");
    assert_eq!(moved.opponent, play.opponent);
}

#[test]
fn the_best_is_asked_where_the_opponent_is_built_in() {
    let fixture = Fixture::new();
    let play = fixture.begin("builtin:random");
    let ask = |play: &Play| Play::think(&fixture.data, &play.manifest.id, None, Some(5));
    assert!(ask(&play).unwrap().1.by.key.starts_with("shipped:"), "what is brought along");
    fixture.promote();
    assert_eq!(ask(&play).unwrap().1.by.key, "model:connect4@1:5");
    let (opponent, door, side) = ("builtin:random", Door::Http, Side::First);
    let new = NewPlay { game: "tictactoe", opponent, door, side, seed: 1, owner: "ada" };
    let small = Play::begin(&fixture.data, "0.0.0", new).unwrap();
    let error = ask(&small).unwrap_err().to_string();
    assert!(error.contains("there is no best model of tictactoe yet"), "{error}");
    assert_eq!(Play::load(&fixture.data, &small.manifest.id).unwrap().n_hints, 0);
}

#[test]
fn a_review_tells_every_position_and_the_worst_move() {
    let fixture = Fixture::new();
    fixture.promote();
    let play = fixture.begin("builtin:random");
    let id = play.manifest.id.clone();
    let over = fixture.finish(&play);
    let review = over.review(&fixture.data, Some(20)).unwrap();
    assert_eq!(review.points.len(), over.moves.len() + 1);
    let last = review.points.last().unwrap();
    assert_eq!((last.value, last.is_known), (over.game.score(over.seat), true));
    // Whoever could win at once is known to.
    let before = review.points[over.moves.len() - 1];
    let winner = over.moves.last().unwrap().0;
    let expected = if winner == over.seat { 1.0 } else { -1.0 };
    assert_eq!((before.value, before.is_known), (expected, true));
    assert_eq!(over.review(&fixture.data, Some(20)).unwrap(), review);
    let error = over.review(&fixture.data, Some(401)).unwrap_err().to_string();
    assert!(error.contains("0 to 400"), "{error}");
    assert_eq!(Play::load(&fixture.data, &id).unwrap().n_hints, 0, "it is over");
    // By hand: the second point falls by 1.5 for the other seat, the fourth by 0.5 for the person.
    let points = [0.0, 0.0, 1.5, 1.0, 0.5].map(|value| Point {
        ply: 0,
        value,
        is_known: false,
        n_simulations: 0,
    });
    let points: Vec<Point> =
        points.into_iter().enumerate().map(|(ply, it)| Point { ply: ply as u32, ..it }).collect();
    let other = [Action(99); 4];
    let mut short = over.clone();
    short.moves = [0, 1, 0, 1].map(|seat| (Seat(seat), Action(0))).to_vec();
    let mistakes = short.mistakes(&points, &other);
    let told: Vec<(u32, [f32; 2])> = mistakes.iter().map(|it| (it.ply, it.values)).collect();
    assert_eq!(told, [(1, [0.0, -1.5]), (2, [1.5, 1.0])]);
    assert_eq!(short.mistakes(&points, &[Action(0); 4]), [], "what is best is no mistake");
}
