use cartridge_learn::onnx::export::export_policy;
use cartridge_store::RunDir;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::model::{NewVersion, Source};
use crate::steer::By;

/// A policy with as many inputs and actions as are asked for, as an ONNX file.
fn onnx(n_inputs: usize, n_actions: usize, facts: &[(&str, &str)]) -> Vec<u8> {
    let policy = Policy::new(n_inputs, n_actions, &mut fastrand::Rng::with_seed(1));
    let facts = facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    export_policy(&policy, facts.collect())
}

/// A data folder with a run of CartPole that has a checkpoint, and a file for Connect 4.
struct Fixture {
    folder: TempDir,
    data: DataDir,
    run: String,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let (dir, run) = RunDir::create(&data, |id| {
            serde_json::from_value(json!({
                "format": 1, "id": id, "kind": "train", "name": "a run", "env_id": "CartPole-v1",
                "config": { "env": {} }, "created_at": 1.0, "cartridge_version": "0",
            }))
            .unwrap()
        })
        .unwrap();
        let policy = Policy::new(4, 2, &mut fastrand::Rng::with_seed(1));
        let place = dir.checkpoints_path().join("step_000000100");
        std::fs::create_dir_all(&place).unwrap();
        let manifest = json!({
            "format": 1, "step": 100, "env_id": "CartPole-v1", "weights_sha256": policy.sha256(),
        });
        std::fs::write(place.join("weights.safetensors"), policy.to_safetensors()).unwrap();
        std::fs::write(place.join("manifest.json"), manifest.to_string()).unwrap();
        checkpoint::point(&dir, checkpoint::Alias::Latest, "step_000000100").unwrap();
        let spec = AnyGame::start("connect4", &mut fastrand::Rng::with_seed(0)).unwrap().spec();
        let n_inputs = spec.planes.iter().product();
        std::fs::write(folder.path().join("four.onnx"), onnx(n_inputs, 7, &[])).unwrap();
        Self { folder, data, run: run.id.to_string() }
    }

    fn file(&self) -> String {
        self.folder.path().join("four.onnx").display().to_string()
    }

    fn find(&self, texts: &[&str], game: Option<&str>, door: Door) -> Result<Table> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        Table::find(&self.data, &texts, game, &Map::new(), None, door)
    }

    #[track_caller]
    fn check(&self, texts: &[&str], game: Option<&str>, keys: &[&str]) {
        let table = self.find(texts, game, Door::CommandLine).unwrap();
        let found: Vec<&str> =
            table.players.iter().map(|found| found.player.about.key.as_str()).collect();
        assert_eq!(found, keys);
    }

    #[track_caller]
    fn refuse(&self, texts: &[&str], game: Option<&str>, door: Door, words: &str) {
        let error = self.find(texts, game, door).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn players_are_known_by_what_never_changes() {
    let fixture = Fixture::new();
    let run = &fixture.run;
    fixture.check(
        &["random", "mcts:100"],
        Some("connect4"),
        &["builtin:random", "builtin:mcts:100"],
    );
    fixture.check(
        &["builtin:perfect", "Beginner"],
        Some("tictactoe"),
        &["builtin:perfect", "builtin:random"],
    );
    let key = format!("run:{run}@step_000000100");
    for text in [run.clone(), format!("run:{run}"), format!("{run}@100"), format!("{run}@latest")] {
        // The game is that of the run, also where the first is at home anywhere.
        fixture.check(&["random", &text], None, &["builtin:random", &key]);
    }
    let source = Source::Checkpoint {
        run: Box::new(fixture.data.run(&run.parse().unwrap()).manifest().unwrap()),
        which: None,
    };
    let new = NewVersion { name: "pole".to_owned(), source, notes: String::new() };
    model::add(&fixture.data, new, By::new("ada")).unwrap();
    fixture.check(&["model:pole", "model:pole@latest"], None, &["model:pole@1", "model:pole@1"]);
    fixture.check(
        &["oracle", "greedy_miner", "random"],
        Some("AsteroidProspector-v0"),
        &["builtin:oracle", "builtin:greedy_miner", "builtin:random"],
    );
    let table = fixture.find(&[&fixture.file(), "random"], Some("connect4"), Door::CommandLine);
    let file = &table.unwrap().players[0];
    assert!(file.player.about.key.starts_with("onnx:"), "{:?}", file.player.about);
    assert_eq!(file.player.about.name, "four.onnx, 200 simulations");
}

#[test]
fn who_cannot_play_is_told_why() {
    let fixture = Fixture::new();
    let run = fixture.run.as_str();
    let cli = Door::CommandLine;
    fixture.refuse(&["random", "random"], None, cli, "name the game");
    fixture.refuse(&["perfekt", "random"], Some("tictactoe"), cli, "did you mean");
    fixture.refuse(&["perfect", "random"], Some("othello"), cli, "nobody knows perfect play");
    fixture.refuse(&["rendom", "random"], Some("CartPole-v1"), cli, "did you mean `random`?");
    fixture.refuse(&[run, "random"], Some("connect4"), cli, "it is a player of CartPole-v1");
    fixture.refuse(&["r-000000", "random"], None, cli, "there is no run");
    fixture.refuse(&[&format!("{run}@7"), "random"], None, cli, "no checkpoint");
    fixture.refuse(&["model:nobody", "random"], Some("connect4"), cli, "there is no model");
    fixture.refuse(&["model:../x", "random"], Some("connect4"), cli, "there is no model");
    fixture.refuse(&["artifact:x", "random"], Some("connect4"), cli, "artifact:RUN/ARTIFACT");
    fixture.refuse(&["nowhere.onnx", "random"], Some("connect4"), cli, "there is no file");
    let file = fixture.file();
    fixture.refuse(&[&file, "random"], Some("tictactoe"), cli, "policy");
    // Over HTTP nothing is a path.
    fixture.refuse(&[&file, "random"], Some("connect4"), Door::Http, "no request takes a path");
    fixture.refuse(&["/etc/x.onnx", "random"], Some("connect4"), Door::Http, "no request takes");
}

#[test]
fn a_policy_plays_legal_moves_at_a_board() {
    let fixture = Fixture::new();
    let table = fixture.find(&[&fixture.file(), "random"], Some("connect4"), Door::CommandLine);
    let table = table.unwrap();
    let policy = &table.players[0];
    let mut rng = fastrand::Rng::with_seed(3);
    let mut game = AnyGame::start("connect4", &mut rng).unwrap();
    while let cartridge_games::game::Turn::Seat(_) = game.turn() {
        let action = policy.player.choose(&game, &mut rng).unwrap();
        assert!(game.legal_actions().contains(&action), "also when its favourite column is full");
        game.apply(action);
    }
    // It comes back from what is kept of it.
    let about = &policy.player.about;
    Player::restored("connect4", &Map::new(), about, policy.learnt.as_ref()).unwrap();
}

/// A run of Connect 4 with a network of ours.
fn board_run(data: &DataDir) -> RunId {
    let (dir, run) = RunDir::create(data, |id| {
        serde_json::from_value(json!({
            "format": 1, "id": id, "kind": "train", "name": "a run", "env_id": "connect4",
            "config": {}, "created_at": 1.0, "cartridge_version": "0",
        }))
        .unwrap()
    })
    .unwrap();
    let network = crate::thinker::tests::network("connect4", 1);
    let place = dir.checkpoints_path().join("step_000000100");
    std::fs::create_dir_all(&place).unwrap();
    let manifest = json!({
        "format": 2, "step": 100, "env_id": "connect4", "weights_sha256": network.sha256(),
    });
    std::fs::write(place.join("weights.safetensors"), network.to_safetensors()).unwrap();
    std::fs::write(place.join("manifest.json"), manifest.to_string()).unwrap();
    checkpoint::point(&dir, checkpoint::Alias::Latest, "step_000000100").unwrap();
    run.id
}

#[test]
fn networks_at_a_board_say_how_much_they_search() {
    let fixture = Fixture::new();
    let data = &fixture.data;
    let run = board_run(data);
    let key = format!("run:{run}@step_000000100");
    let folder = data.run(&run).checkpoints_path().join("step_000000100");
    let game = Some("connect4");
    for (text, n_simulations) in [
        (run.to_string(), 200),
        (format!("{run}:50"), 50),
        (format!("run:{run}@latest:0"), 0),
        (format!("{run}@100:master"), 1600),
        (format!("ckpt:{}", folder.display()), 200),
        (format!("ckpt:{}:7", folder.display()), 7),
    ] {
        fixture.check(
            &[&text, "random"],
            game,
            &[&format!("{key}:{n_simulations}"), "builtin:random"],
        );
    }
    let texts = [run.to_string(), format!("{run}:50"), "mcts:10".to_owned()];
    let find = |texts: &[String], n: Option<u32>, door: Door| {
        Table::find(data, texts, game, &Map::new(), n, door)
    };
    let table = find(&texts, Some(30), Door::CommandLine).unwrap();
    let about: Vec<&MatchPlayer> = table.players.iter().map(|it| &it.player.about).collect();
    assert_eq!(about[0].key, format!("{key}:30"), "what is usual holds for who does not say");
    assert_eq!(about[1].key, format!("{key}:50"));
    assert_eq!(about[2].key, "builtin:mcts:10");
    assert_eq!(about[1].name, format!("{run} at step 100, 50 simulations"));
    // It comes back from what is kept of it, and plays the same.
    let found = &table.players[1];
    let back = Player::restored("connect4", &Map::new(), about[1], found.learnt.as_ref()).unwrap();
    assert_eq!(back.thinker().unwrap().1, 50);
    let start = AnyGame::start("connect4", &mut fastrand::Rng::with_seed(0)).unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    let chosen = found.player.choose(&start, &mut rng).unwrap();
    assert_eq!(back.choose(&start, &mut rng).unwrap(), chosen);
    // What makes no sense.
    let refuse = |texts: &[&str], n: Option<u32>, door: Door, words: &str| {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let error = find(&texts, n, door).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let cli = Door::CommandLine;
    refuse(&[&format!("{run}:100001"), "random"], None, cli, "0 to 100000 simulations");
    refuse(&[&format!("{run}:10001"), "random"], None, Door::Http, "0 to 10000 simulations");
    refuse(&["random", "mcts:10"], Some(5), cli, "who have learnt, and there is none");
    let small = Some("tictactoe");
    fixture.refuse(&["shipped:5"], small, cli, "there is no shipped model of tictactoe");
    fixture.refuse(&["best:5"], small, cli, "there is no best model of tictactoe yet");
    refuse(&[&format!("ckpt:{}", folder.display()), "random"], None, Door::Http, "takes a path");
    refuse(&["ckpt:/nowhere", "random"], None, cli, "no folder of a checkpoint");
    refuse(&["onnx:/nowhere", "random"], None, cli, "there is no file `/nowhere`");
    refuse(&["onnx:/nowhere", "random"], None, Door::Http, "no request takes a path");
    fixture.refuse(&["best", "random"], None, cli, "name the game");
    fixture.refuse(&["best", "random"], Some("CartPole-v1"), cli, "CartPole-v1 is no board");
    fixture.refuse(&[&format!("{}:5", fixture.run), "random"], None, cli, "are for boards");
    check_built_in("connect4", &["best:5".to_owned(), "shipped".to_owned()]).unwrap();
    check_built_in("connect4", &["besst".to_owned()]).unwrap_err();
}

#[test]
fn best_is_what_was_promoted() {
    let fixture = Fixture::new();
    let data = &fixture.data;
    let run = board_run(data);
    let game = Some("connect4");
    let run = Box::new(data.run(&run).manifest().unwrap());
    let source = Source::Checkpoint { run, which: None };
    let (_, version) = model::promote(data, source.clone(), By::new("ada")).unwrap();
    assert_eq!((version.version, version.step), (1, 100));
    fixture.check(&["best", "best:9"], game, &["model:connect4@1:200", "model:connect4@1:9"]);
    let file = fixture.folder.path().join("models/connect4/best.onnx");
    let parsed = PolicyFile::open(&file).unwrap();
    assert_eq!(parsed.policy.metadata("env_id"), Some("connect4"));
    // Again: nothing is copied.
    assert_eq!(model::promote(data, source, By::new("ada")).unwrap().1.version, 1);
    // A file under another name becomes the best too.
    let source = Source::File { path: fixture.file().into(), env_id: Some("connect4".to_owned()) };
    let new = NewVersion { name: "four".to_owned(), source, notes: String::new() };
    let (model, version) = model::add(data, new, By::new("ada")).unwrap();
    let source = Source::Version { model: Box::new(model), version: Box::new(version) };
    assert_eq!(model::promote(data, source, By::new("ada")).unwrap().1.version, 2);
    fixture.check(&["best:1"], game, &["model:connect4@2:1"]);
    // Who is put away is not the best any more, until it is promoted again.
    model::archive(data, &"connect4".parse().unwrap(), true, By::new("ada")).unwrap();
    let shipped = fixture.find(&["shipped:1", "best:1"], game, Door::Http).unwrap().players;
    let keys = [0, 1].map(|at| shipped[at].player.about.key.as_str());
    assert!(keys[0].starts_with("shipped:") && keys[0].ends_with(":1"), "{keys:?}");
    assert_eq!(keys[1], keys[0], "then it is what the program brings along");
    fixture.check(&[keys[0]], game, &[keys[0]]);
    fixture.refuse(&["shipped:0123456789abcdef"], game, Door::Http, "brings another along");
    let (model, version) = model::resolve(data, "connect4@1").unwrap();
    let source = Source::Version { model: Box::new(model), version: Box::new(version) };
    model::promote(data, source, By::new("ada")).unwrap();
    fixture.check(&["best:1"], game, &["model:connect4@1:1"]);
    let run = data.run(&fixture.run.parse().unwrap()).manifest().unwrap();
    let source = Source::Checkpoint { run: Box::new(run), which: None };
    let error = model::promote(data, source, By::new("ada")).unwrap_err().to_string();
    assert!(error.contains("CartPole-v1 is no board game"), "{error}");
}

#[test]
fn returns_depend_on_the_seed_alone() {
    let fixture = Fixture::new();
    let table = fixture.find(&[&fixture.run, "random"], None, Door::CommandLine).unwrap();
    for found in &table.players {
        let returns = |seeds: &[u64]| {
            let player = &found.player;
            player.returns("CartPole-v1", &Map::new(), seeds, &mut || Ok(true)).unwrap().unwrap()
        };
        let both = returns(&[1, 2]);
        assert_eq!(both, [returns(&[1]), returns(&[2])].concat());
        let stopped = found.player.returns("CartPole-v1", &Map::new(), &[1], &mut || Ok(false));
        assert_eq!(stopped.unwrap(), None);
    }
}

#[test]
fn a_person_plays_against_a_model() {
    use crate::play::{NewPlay, Play, Side};
    let fixture = Fixture::new();
    let source = Source::File { path: fixture.file().into(), env_id: Some("connect4".to_owned()) };
    let new = NewVersion { name: "four".to_owned(), source, notes: String::new() };
    model::add(&fixture.data, new, By::new("ada")).unwrap();
    let (opponent, side) = ("model:four", Side::Second);
    let new = NewPlay { game: "connect4", opponent, door: Door::Http, side, seed: 1, owner: "ada" };
    let play = Play::begin(&fixture.data, "0.0.0", new).unwrap();
    assert_eq!((play.moves.len(), play.opponent.about.key.as_str()), (1, "model:four@1:200"));
    let said = "against four@1, 200 simulations";
    assert!(play.manifest.name.ends_with(said), "it says whom one plays");
    let action = play.game.legal_actions()[0];
    let play = Play::make_move(&fixture.data, &play.manifest.id, action.0, 1).unwrap();
    assert_eq!(play.moves.len(), 3, "and it answers");
    let elsewhere = NewPlay { game: "tictactoe", ..new };
    Play::begin(&fixture.data, "0.0.0", elsewhere).unwrap_err();
}
