//! Networks at boards as whole processes: analysed, compared, promoted.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

use cartridge_games::registry::AnyGame;
use cartridge_learn::board_net::{BoardNet, Config, Shape};
use cartridge_learn::onnx::board::export_board_net;
use serde_json::{Value, json};

use crate::support::{cartridge, result, run, text, wait_for};

/// Positions near the end with the score of every move, from the golden files.
const GOLDEN: [&str; 8] = [
    "2252576253462244111563365343671351441 x x x x x -1 -2",
    "7422341735647741166133573473242566 -3 1 x x -4 1 x",
    "23163416124767223154467471272416755633 x x 0 x -2 x x",
    "71255763773133525731261364622167124446454 x x x x 0 x x",
    "65214673556155731566316327373221417 x -2 x -1 x x -2",
    "52677675164321472411331752454 -1 0 0 0 -4 0 0",
    "3135151421347443544172316522225776773566 x x x x x 0 x",
    "562154564361751726662253737734213275114 x x -1 0 x x x",
];

/// A file with a network that has learnt nothing.
fn network(folder: &Path, game: &str) -> String {
    let spec = AnyGame::start(game, &mut cartridge_games::fastrand::Rng::with_seed(0));
    let mut rng = cartridge_games::fastrand::Rng::with_seed(1);
    let shape = Shape::of(spec.unwrap().spec());
    let network = BoardNet::new(shape, &Config::residual(1, 16), &mut rng).unwrap();
    let bytes = export_board_net(&network, vec![("env_id".to_owned(), game.to_owned())]);
    let file = folder.join(format!("{game}.onnx"));
    fs::write(&file, bytes).unwrap();
    format!("onnx:{}", file.display())
}

#[test]
fn positions_are_analysed_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let model = network(folder.path(), "connect4");
    let positions: Vec<&str> = GOLDEN.iter().map(|line| line.split(' ').next().unwrap()).collect();
    fs::write(folder.path().join("positions.txt"), positions.join("\n")).unwrap();
    let args = ["analyze", "connect4", "--model", &model, "--positions", "positions.txt"];
    let output = run(folder.path(), &[&args[..], &["--simulations", "3000", "--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answers: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), GOLDEN.len());
    for (line, answer) in GOLDEN.iter().zip(&answers) {
        let mut words = line.split(' ');
        assert_eq!(answer["position"].as_str(), words.next());
        let scores: Vec<Option<i32>> = words.map(|word| word.parse().ok()).collect();
        let best = scores.iter().flatten().max().unwrap().signum();
        let column: usize = answer["move"].as_str().unwrap().parse().unwrap();
        assert_eq!(scores[column - 1].unwrap().signum(), best, "{answer}");
        if answer["position"].as_str().unwrap().len() > 33 {
            assert_eq!(answer["value"], json!(f64::from(best)), "so near the end all is proved");
        }
        let legal: Vec<String> =
            (1..=7).filter(|c| scores[c - 1].is_some()).map(|c: usize| c.to_string()).collect();
        let told: Vec<&String> = answer["policy"].as_object().unwrap().keys().collect();
        assert_eq!(told, legal.iter().collect::<Vec<_>>());
        assert_eq!(answer["pv"][0], answer["move"]);
    }
    assert!(!folder.path().join("data").exists(), "whoever only asks makes no data folder");
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let folder = tempfile::tempdir().unwrap();
    let model = network(folder.path(), "othello");
    let args = ["analyze", "othello", "--model", &model, "--simulations", "20", "--json"];
    let mut child = cartridge(&args)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |question: &str| -> Value {
        writeln!(questions, "{question}").unwrap();
        questions.flush().unwrap();
        serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap()
    };
    let start = ask("");
    assert_eq!(
        (&start["position"], &start["turn"], &start["simulations"]),
        (&json!(""), &json!(0), &json!(20))
    );
    let visits: u64 =
        start["visits"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(visits, 20);
    // A game against itself goes on from whatever was answered.
    let mut moves = String::new();
    for ply in 0..6 {
        let answer = ask(&moves);
        assert_eq!(answer["turn"], json!(ply % 2));
        moves += answer["move"].as_str().unwrap();
    }
    assert!(ask("a1")["error"].as_str().unwrap().contains("cannot be played after 0 moves"));
    let mut again = ask("");
    assert_eq!(again["evaluations"], json!(0), "what was judged before is known");
    for what in ["evaluations", "cache_hits"] {
        again[what] = start[what].clone();
    }
    assert_eq!(again, start, "and the same is answered the same");
    drop(questions);
    assert_eq!(child.wait().unwrap().code(), Some(1), "one line was wrong");
}

#[test]
fn what_cannot_be_analysed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let model = network(folder.path(), "connect4");
    fs::write(folder.path().join("positions.txt"), "1212121\nx\n44\n").unwrap();
    let args = ["analyze", "connect4", "--model", &model, "--positions", "positions.txt"];
    let output = run(folder.path(), &[&args[..], &["--simulations", "0", "--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout);
    let answers: Vec<Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[0]["error"], json!("the game is over in this position"));
    assert!(answers[1]["error"].as_str().unwrap().contains("`x` is no move"), "{told}");
    assert_eq!(
        (&answers[2]["simulations"], answers[2]["pv"].as_array().unwrap().len()),
        (&json!(0), 1)
    );
    let told = run(folder.path(), &args);
    let shown = text(&told.stdout);
    assert!(shown.contains("VISITS") && shown.contains("move "), "{shown}");
    for (model, code, words) in [
        ("mcts:100", 2, "that is no network"),
        ("run:r-000000", 3, "there is no run"),
        ("onnx:nowhere", 3, "there is no file `nowhere`"),
    ] {
        let output = run(folder.path(), &["analyze", "connect4", "--model", model]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    }
}

#[test]
fn a_network_is_compared_and_promoted() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let model = network(data, "connect4");
    let json_of = |args: &[&str]| {
        let output = run(data, &[args, &["--json", "--data", "."]].concat());
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        result(&output)
    };
    let with = format!("{model}:20");
    let played =
        json_of(&["match", "connect4", &with, &model, "--simulations", "5", "--games", "4"]);
    let (a, b) = (played["a"].as_str().unwrap(), played["b"].as_str().unwrap());
    assert!(a.starts_with("onnx:") && a.ends_with(":20"), "{a}");
    assert_eq!(b, a.replace(":20", ":5"));
    json_of(&["models", "add", "four", "connect4.onnx"]);
    let promoted = json_of(&["models", "promote", "four@1"]);
    assert_eq!(promoted["player"], json!("model:connect4@1"));
    assert!(data.join("models/connect4/best.onnx").exists());
    let players = "best:0,best,builtin:random";
    let args =
        ["tournament", "connect4", "--players", players, "--simulations", "9", "--games", "2"];
    let tournament = json_of(&args);
    let keys: Vec<&str> = tournament["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["key"].as_str().unwrap())
        .collect();
    assert_eq!(keys, ["model:connect4@1:0", "model:connect4@1:9", "builtin:random"]);
    // In the background, from a copy of the network.
    let made = json_of(&["match", "connect4", "best:30", "random", "--games", "2", "--detach"]);
    let summary = data.join("runs").join(made["run_id"].as_str().unwrap()).join("match.json");
    let summary: Value =
        wait_for("the match", || serde_json::from_slice(&fs::read(&summary).ok()?).ok());
    assert_eq!(summary["a"]["key"], json!("model:connect4@1:30"));
    let checked = run(data, &["fsck", "--data", "."]);
    assert!(checked.status.success(), "{}", text(&checked.stdout));
}

#[test]
fn a_person_plays_a_network_in_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let play = |args: &[&str], moves: &str| -> String {
        let mut child = cartridge(&[&["play"], args, &["--data", ".", "--seed", "1"]].concat())
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(moves.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        text(&output.stdout)
    };
    let told = play(&["connect4", "--opponent", "shipped:casual"], "4\nthink\nquit\n");
    assert!(told.contains("against Shipped model, 25 simulations"), "{told}");
    assert!(told.contains(" for it)"), "it says how it finds the game: {told}");
    assert_eq!(told.matches("VISITS").count(), 1, "{told}");
    let told = play(&["connect4", "--opponent", "shipped:casual", "--think"], "4\nquit\n");
    assert_eq!(told.matches("VISITS").count(), 1, "{told}");
    assert!(told.contains("Shipped model, 25 simulations, of what it would play:"), "{told}");
    // A game to its end, gone through afterwards: whoever puts discs down in order loses, and one of
    // the moves gave most away. What is typed after the end are numbers of moves.
    let in_order: String = (0..42).map(|at| format!("{}\n", at % 7 + 1)).collect();
    let numbers: String = (0..=42).map(|ply| format!("{ply}\n")).collect();
    let told = play(&["connect4", "--opponent", "shipped:0"], &(in_order + &numbers));
    assert!(told.contains("It is rated ") && told.contains(" above builtin:random."), "{told}");
    assert!(told.contains("You lose.") && told.contains("look back"), "{told}");
    let marked: HashSet<&str> =
        told.lines().filter(|line| line.contains("biggest mistake: column ")).collect();
    assert_eq!(marked.len(), 1, "{marked:?}");
    assert!(marked.iter().all(|line| line.contains(", you: ")), "{marked:?}");
    let unknown = network(folder.path(), "connect4");
    let told = play(&["connect4", "--opponent", &unknown], "quit\n");
    assert!(told.contains("It is not rated yet; `cartridge match connect4 onnx:"), "{told}");
    // Once it has met somebody here, it is known how strong it is, at other strengths too.
    let args = ["match", "connect4", "shipped:8", "random", "--games", "4", "--data", "."];
    assert!(run(folder.path(), &args).status.success());
    let told = play(&["connect4", "--opponent", "shipped:0"], "quit\n");
    assert!(told.contains(" above builtin:random, with 8 simulations."), "{told}");
    // Nobody has learnt this game, and the game goes on.
    let told = play(&["tictactoe"], "think\n5\nquit\n");
    assert!(told.contains("Sorry: player `best`: there is no best model of tictactoe"), "{told}");
    assert!(told.contains("The game is kept"), "{told}");
}

#[test]
fn the_network_that_is_brought_along_has_learnt_othello() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["match", "othello", "shipped:50", "alphabeta:1", "--games", "4", "--seed", "1"];
    let output = run(folder.path(), &[&args[..], &["--json", "--data", "."]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let played = result(&output);
    assert_eq!((&played["wins"], &played["losses"]), (&json!(4), &json!(0)), "{played}");
}
