//! The command line, as a person types it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{LabProcess, cartridge, kill, result, run, text, wait_for};

/// Runs a command that must be refused and compares its exit code and message.
#[track_caller]
fn check_refused(args: &[&str], code: i32, message: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), args);
    assert_eq!(text(&output.stderr).trim(), message);
    assert_eq!(output.status.code(), Some(code));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is created");
}

#[test]
fn unknown_words_are_usage_errors_that_name_the_nearest() {
    check_refused(
        &["train", "CartPol-v1"],
        2,
        "error: unknown environment `CartPol-v1`; did you mean `CartPole-v1`?",
    );
    check_refused(
        &["train", "CartPole-v1", "--algo", "pp"],
        2,
        "error: unknown algorithm `pp`; did you mean `ppo`?",
    );
    check_refused(
        &["train", "CartPole-v1", "--set", "trainer.lerning_rate=1e-3"],
        2,
        "error: unknown option `trainer.lerning_rate`; did you mean `trainer.learning_rate`?",
    );
    check_refused(
        &["train", "CartPole-v1", "--set", "sutton_barto_rewards=true"],
        2,
        "error: environment `CartPole-v1` has no option `sutton_barto_rewards`; did you mean `sutton_barto_reward`?",
    );
    check_refused(
        &["train", "CartPole-v1", "--steps", "12"],
        2,
        "error: `trainer.total_timesteps`: 12 is not between 5000 and 1000000000",
    );
    check_refused(
        &["train", "BipedalWalker-v3", "--set", "keep_world=true"],
        2,
        "error: `env.keep_world`: it is for comparing traces with Gymnasium, and no run is made with it: an episode would not follow from its seed and actions",
    );
}

#[test]
fn unknown_games_and_players_are_usage_errors() {
    check_refused(
        &["games", "show", "conect4"],
        2,
        "error: unknown game or environment `conect4`; did you mean `connect4`?",
    );
    check_refused(
        &["games", "show", "CartPole"],
        2,
        "error: unknown game or environment `CartPole`; did you mean `CartPole-v1`?",
    );
    check_refused(
        &["play", "conect4"],
        2,
        "error: unknown game `conect4`; did you mean `connect4`?",
    );
    check_refused(
        &["play", "connect4", "--level", "expret"],
        2,
        "error: `connect4` has no level `expret`; did you mean `expert`?",
    );
    check_refused(
        &["match", "connect4", "builtin:perfekt", "builtin:random"],
        2,
        "error: `connect4` has no opponent `builtin:perfekt`; did you mean `builtin:perfect`?",
    );
    check_refused(
        &["play", "othello", "--opponent", "builtin:mcts"],
        2,
        "error: `othello` has no opponent `builtin:mcts`; say the simulations, 1 to 100000, as in `builtin:mcts:1000`",
    );
}

#[test]
fn games_are_listed_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let shown = |args: &[&str]| text(&run(folder.path(), args).stdout);
    insta::assert_snapshot!("games", shown(&["games"]));
    insta::assert_snapshot!("games_show_othello", shown(&["games", "show", "othello"]));
    insta::assert_snapshot!("games_show_cart_pole", shown(&["games", "show", "CartPole-v1"]));
    let lines = shown(&["games", "--json"]);
    let rows: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (id, kind) in
        [("tictactoe", "board_game"), ("othello", "board_game"), ("CartPole-v1", "environment")]
    {
        assert!(rows.iter().any(|row| row["id"] == id && row["kind"] == kind), "{lines}");
        let whole = result(&run(folder.path(), &["games", "show", id, "--json"]));
        assert_eq!((&whole["id"], &whole["kind"]), (&id.into(), &kind.into()), "{whole}");
    }
    let prospector =
        result(&run(folder.path(), &["games", "show", "AsteroidProspector-v0", "--json"]));
    assert_eq!(prospector["options"]["reward"], "worth");
    assert_eq!(prospector["observation_names"].as_array().unwrap().len(), 260);

    // Options change what is shown, and games have none.
    let args = ["games", "show", "LunarLander-v3", "--set", "continuous=true"];
    insta::assert_snapshot!("games_show_continuous_lander", shown(&args));
    check_refused(
        &["games", "show", "connect4", "--set", "a=1"],
        2,
        "error: game `connect4` has no option `a`; board games have none",
    );
}

#[test]
fn a_match_reports_score_and_elo() {
    let folder = tempfile::tempdir().unwrap();
    let args =
        ["match", "connect4", "builtin:mcts:200", "builtin:random", "--games", "20", "--json"];
    let report = result(&run(folder.path(), &args));
    assert_eq!(report["games"], 20);
    let counts = ["wins", "draws", "losses"].map(|key| report[key].as_u64().unwrap());
    assert_eq!(counts.iter().sum::<u64>(), 20);
    assert!(report["score"].as_f64().unwrap() > 0.8, "{report}");
    assert!(report["elo_ci95"][0].as_f64().unwrap() > 0.0, "{report}");
    let mut again = result(&run(folder.path(), &args));
    assert_ne!(report["run_id"], again["run_id"]);
    again["run_id"] = report["run_id"].clone();
    assert_eq!(report, again, "the same seed, the same match");

    // It is kept, with every game.
    let id = report["run_id"].as_str().unwrap();
    let events = fs::read_to_string(folder.path().join("data/runs").join(id).join("events.jsonl"));
    let events: Vec<serde_json::Value> =
        events.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let games: Vec<_> = events.iter().filter(|event| event["type"] == "game_played").collect();
    assert_eq!(games.len(), 20);
    assert_eq!(games[0]["opening"], games[1]["opening"], "a pair begins alike");
    assert_eq!((&games[0]["seat"], &games[1]["seat"]), (&0.into(), &1.into()));
    assert_eq!(events.last().unwrap()["type"], "done");
    let listed = run(folder.path(), &["runs", "--json"]);
    let row: serde_json::Value =
        text(&listed.stdout).lines().find(|line| line.contains(id)).unwrap().parse().unwrap();
    assert_eq!((&row["kind"], &row["state"]), (&"eval".into(), &"succeeded".into()), "{row}");

    // A lab shows what it is and how it went.
    let lab = LabProcess::start(&folder.path().join("data"), 0);
    let shown = lab.wait_for_run(id, "the lab to find the match", |run| run["id"] == id);
    assert_eq!((&shown["kind"], &shown["state"]), (&"eval".into(), &"succeeded".into()), "{shown}");
    assert_eq!(shown["match_result"]["wins"], report["wins"], "{shown}");
    assert_eq!(shown["capabilities"], serde_json::json!(["delete"]));
    assert_eq!(lab.get("/api/runs").1["runs"].as_array().unwrap().len(), 2);
}

/// A long match, once its first games are on disk.
fn long_match(folder: &Path) -> (std::process::Child, std::path::PathBuf) {
    let args = ["match", "tictactoe", "builtin:random", "builtin:random", "--games", "1000000"];
    let child = cartridge(&[&args[..], &["--json"]].concat())
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let runs = folder.join("data/runs");
    let events = wait_for("the first games", || {
        let events = fs::read_dir(&runs).ok()?.next()?.ok()?.path().join("events.jsonl");
        fs::metadata(&events).ok().filter(|metadata| metadata.len() > 2_000).map(|_| events)
    });
    (child, events)
}

#[test]
fn an_interrupted_match_reads_well() {
    let state = |folder: &Path| result(&run(folder, &["runs", "--json"]))["state"].clone();
    let folder = tempfile::tempdir().unwrap();
    let (child, _) = long_match(folder.path());
    assert_eq!(state(folder.path()), "running");
    kill("-INT", child.id().into());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report = result(&output);
    let games = report["games"].as_u64().unwrap();
    assert!(games > 0 && games < 1_000_000 && games.is_multiple_of(2), "{report}");
    assert_eq!(state(folder.path()), "terminated");

    let folder = tempfile::tempdir().unwrap();
    let (mut child, _) = long_match(folder.path());
    kill("-KILL", child.id().into());
    child.wait().unwrap();
    assert_eq!(state(folder.path()), "lost");
}

#[test]
fn a_game_is_played_in_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["play", "tictactoe", "--level", "beginner", "--seed", "3"];
    let printed =
        typed(folder.path(), &args, "centre\nh\nnowhere\nu\nundo\n1\nmoves\nhelp\nquit\n");
    let (id, printed) = without_run_id(&printed);
    insta::assert_snapshot!("play_tictactoe", printed);

    // What was typed is a run like one of the play page, and a lab can go on with it.
    let lab = LabProcess::start(&folder.path().join("data"), 0);
    let play = lab.get(&format!("/api/play/{id}")).1;
    assert_eq!((&play["turn"], &play["ply"]), (&"you".into(), &2.into()), "{play}");
    assert_eq!(play["help"], "with 1 take-back, 1 hint");
    wait_for("the lab to find the game", || {
        let plays = lab.get("/api/play").1;
        plays["plays"].as_array()?.iter().find(|row| row["id"] == id).map(|_| ())
    });
}

#[test]
fn the_end_of_a_game_in_the_terminal_says_how_it_came_about() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["play", "tictactoe", "--level", "beginner", "--seed", "3", "--side", "second"];
    // Whatever is played, nine numbers end the game.
    let numbers = "hint\n1\nundo\n".to_owned() + &"1\n2\n3\n4\n5\n6\n7\n8\n9\n".repeat(2);
    let then = "back\nmoves\n0\nback\nnext\n77\nq\nnext\n";
    let printed = typed(folder.path(), &args, &(numbers + then));
    let (id, _) = without_run_id(&printed);
    let (_, end) = printed.split_once(", with 1 take-back, 1 hint.\n").expect(&printed);
    assert!(end.starts_with(&format!("run {id}\nlook back")), "{printed}");
    // The game can be gone through, from its end to its start and to its first move.
    let (_, end) = end.rsplit_once("\nMove ").expect(&printed);
    let n_moves: usize = end.split(' ').nth(2).unwrap().trim_end_matches(',').parse().unwrap();
    assert!(end.starts_with(&format!("1 of {n_moves}, Random mover: ")), "{printed}");
    assert_eq!(printed.matches("\nThe start").count(), 2, "{printed}");
    assert!(printed.contains(&format!("\nMove {} of {n_moves}, ", n_moves - 1)), "{printed}");
    assert!(printed.contains("Played: 1 "), "{printed}");
    assert!(end.contains(&format!("`77` is no move of this game: there are 0 to {n_moves}.")));
}

#[test]
fn what_is_no_text_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["play", "tictactoe", "--level", "beginner", "--seed", "3"];
    let printed = typed(folder.path(), &args, b"\xff\xfe\r\ncentre\r\nquit\n");
    assert!(printed.contains("cannot be played here. You can play: "), "{printed}");
    assert!(printed.contains("Random mover: "), "{printed}");
}

/// Types lines into a command and returns what it printed.
fn typed(folder: &Path, args: &[&str], lines: impl AsRef<[u8]>) -> String {
    use std::io::Write as _;
    let mut child = cartridge(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended before it read everything.
    _ = child.stdin.take().unwrap().write_all(lines.as_ref());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    text(&output.stdout)
}

/// The first name of a run in `text`, and the text with `r-??????` in its place.
fn without_run_id(text: &str) -> (String, String) {
    let start = text.find("r-").expect("a run is named");
    let id = text[start..start + 8].to_owned();
    let rest = text.replace(&id, "r-??????");
    (id, rest)
}

#[test]
fn what_does_not_exist_is_not_found_and_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let check = |args: &[&str], message: &str| {
        let output = run(folder.path(), args);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr).lines().next(), Some(message));
    };
    for args in [&["eval", "r-000000"][..], &["stop", "r-000000"], &["runs"], &["url"]] {
        check(args, "error: data holds no runs");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is created");
    fs::create_dir_all(folder.path().join("data/runs")).unwrap();
    for args in [&["eval", "r-000000"][..], &["stop", "r-000000"]] {
        check(args, "error: there is no run `r-000000`");
    }
    let url = run(folder.path(), &["url"]);
    assert_eq!(url.status.code(), Some(6), "{}", text(&url.stderr));
}

#[test]
fn help_shows_the_options() {
    let help = |args: &[&str]| text(&cartridge(args).output().unwrap().stdout);
    insta::assert_snapshot!("help", help(&["--help"]));
    insta::assert_snapshot!("help_up", help(&["up", "--help"]));
    insta::assert_snapshot!("help_engine_serve", help(&["engine", "serve", "--help"]));
    insta::assert_snapshot!("help_train", help(&["train", "--help"]));
}

#[test]
fn par_prints_every_player_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["par", "AsteroidProspector-v0", "--seeds", "60", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let par = result(&output);
    let players = par["players"].as_array().unwrap();
    let names: Vec<&str> = players.iter().map(|row| row["player"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "cash_out",
            "hold",
            "random",
            "greedy_miner",
            "cautious_scanner",
            "market_timer",
            "oracle"
        ]
    );
    // Under the published reward idling is best, so nothing is asserted of the order.
    let published = ["--seeds", "2", "--set", "reward=published", "--json"];
    let output = run(folder.path(), &[&["par", "AsteroidProspector-v0"][..], &published].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(result(&output)["options"]["reward"], "published");
    check_refused(&["par", "CartPole-v1"], 2, "error: `CartPole-v1` has no scripted players");
}

#[test]
fn a_masked_environment_can_be_trained() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["train", "AsteroidProspector-v0", "--steps", "6000", "--seed", "7", "--json"];
    let short = ["--set", "evaluation.final_episodes=2", "--set", "evaluation.episodes=1"];
    let train = || result(&run(folder.path(), &[&args[..], &short[..]].concat()));
    let report = train();
    assert_eq!(report["state"], "succeeded", "{report}");
    assert!(report["eval_mean"].is_f64(), "{report}");
    // What the environment measures itself is among the metrics and in evaluations.
    let id = report["run_id"].as_str().unwrap();
    let metrics = folder.path().join("data/runs").join(id).join("metrics.jsonl");
    let metrics = fs::read_to_string(metrics).unwrap();
    assert!(metrics.contains(r#""episode/profit":"#) && metrics.contains(r#""eval/profit":"#));
    let eval = result(&run(folder.path(), &["eval", id, "--episodes", "3", "--json"]));
    assert!(eval["metrics"]["survival"].is_f64(), "{eval}");
    assert_eq!(train()["weights_sha256"], report["weights_sha256"]);
}

#[test]
fn a_trace_prints_one_line_for_the_reset_and_one_per_step() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("actions.json");
    let actions = file.to_str().unwrap();
    fs::write(&file, "[1, 0, 1]").unwrap();
    let trace = ["trace", "CartPole-v1", "--seed", "0", "--actions", actions, "--json"];
    let output = run(folder.path(), &trace);
    let lines = text(&output.stdout);
    let first = r#"{"observation":[0.013696168549358845,-0.023021329194307327,-0.04590264707803726,-0.04834723472595215]}"#;
    assert_eq!(lines.lines().next(), Some(first));
    assert_eq!(lines.lines().count(), 4);

    // Nonsense in the file is explained, and what comes before it is still shown.
    for (nonsense, message) in [
        ("[1, 2]", "error: action 1: 2 is not one of 0 to 1\n"),
        (
            "[1, ",
            "no list of actions: EOF while parsing a value at line 1 column 4\nhint: it holds",
        ),
        (r#"{"actions": []}"#, "no list of actions: invalid type: map, expected a sequence"),
        ("[0.5]", "no list of actions: an action is a whole number from 0 or a list of numbers"),
        ("[null]", "no list of actions: an action is a whole number from 0 or a list of numbers"),
    ] {
        fs::write(&file, nonsense).unwrap();
        let output = run(folder.path(), &trace);
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(2));
    }
    fs::write(&file, b"[0, \"\xff\"]").unwrap();
    assert_eq!(run(folder.path(), &trace).status.code(), Some(2));

    // With several files it is said which one is meant.
    fs::write(&file, "[1]").unwrap();
    fs::write(folder.path().join("other.json"), "[1, 2]").unwrap();
    let output = run(folder.path(), &[&trace[..], &["--actions", "other.json"]].concat());
    let message = "error: other.json: action 1: 2 is not one of 0 to 1\n";
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), (message, Some(2)));
    check_refused(
        &["trace", "CartPole-v1", "--actions", "nowhere.json"],
        3,
        "error: there is no file `nowhere.json`",
    );
    check_refused(
        &["trace", "CartPole-v1", "--policy", "random", "--set", "sutton_barto=true"],
        2,
        "error: environment `CartPole-v1` has no option `sutton_barto`; its options are: `sutton_barto_reward`, `max_episode_steps`",
    );
    check_refused(
        &["trace", "connect4", "--policy", "random", "--set", "a=1"],
        2,
        "error: game `connect4` has no option `a`; board games have none",
    );
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    for args in [
        &["trace", "CartPole-v1", "--policy", "random", "--json"][..],
        &["games"],
        &["games", "show", "connect4"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = cartridge(args).stdout(full).output().unwrap();
        let message = "error: cannot write to standard output: No space left on device";
        assert!(text(&output.stderr).starts_with(message), "{}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{args:?}");
    }
    // A reader that has seen enough is none.
    let mut child = cartridge(&["trace", "Pendulum-v1", "--policy", "random", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn bench_measures_and_enforces_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let bench = |target: &str| {
        let args = ["bench", "throughput", "--env", "CartPole-v1", "--mode", "env-only", "--envs"];
        let more = ["3", "--threads", "500", "--seconds", "0.2", "--json", "--enforce-target"];
        let target = ["--target-steps-per-sec", target];
        let output = run(folder.path(), &[&args[..], &more[..], &target[..]].concat());
        (output.status.code(), result(&output))
    };
    let (code, report) = bench("1");
    assert_eq!((code, report["target_met"].as_bool()), (Some(0), Some(true)));
    assert_eq!((&report["mode"], &report["env"]), (&"env-only".into(), &"CartPole-v1".into()));
    assert_eq!((&report["config"]["envs"], &report["config"]["threads"]), (&3.into(), &3.into()));
    for key in ["steps_per_sec", "ticks_per_sec"] {
        assert!(["mean", "p50", "p95"].iter().all(|kind| report[key][kind].is_f64()), "{report}");
    }
    let (code, report) = bench("1e15");
    assert_eq!((code, report["target_met"].as_bool()), (Some(1), Some(false)));
    let nan = ["bench", "throughput", "--env", "CartPole-v1", "--target-steps-per-sec", "nan"];
    let output = run(folder.path(), &nan);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("not a number of 0 or more"), "{}", text(&output.stderr));
    for option in [["--algo", "dqn"], ["--preset", "zoo"]] {
        let args = ["bench", "throughput", "--env", "CartPole-v1"];
        let output = run(folder.path(), &[&args[..], &option].concat());
        assert_eq!(output.status.code(), Some(2), "nothing learns: {option:?}");
        assert!(text(&output.stderr).contains(option[0]), "{}", text(&output.stderr));
    }
}

#[test]
fn bench_measures_trainings_and_keeps_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let bench = |mode: &str, more: &[&str]| {
        let args = ["bench", "throughput", "--env", "CartPole-v1", "--mode", mode, "--threads"];
        let rest = ["1", "--seconds", "0.2", "--target", "1", "--json", "--report", "reports"];
        let output = run(folder.path(), &[&args[..], &rest[..], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        result(&output)
    };
    let report = bench("trainer", &[]);
    let simulation = &report["config"]["simulation"];
    assert_eq!((&simulation["n_envs"], &simulation["n_steps"]), (&64.into(), &128.into()));
    let trainer = &report["config"]["trainer"];
    assert_eq!((&trainer["batch_size"], &trainer["n_epochs"]), (&1024.into(), &4.into()));
    let phases = report["phases"].as_object().unwrap();
    let share: f64 = phases.values().map(|spent| spent["share"].as_f64().unwrap()).sum();
    assert!((share - 1.0).abs() < 1e-6, "{report}");
    bench("rollout", &["--set", "trainer.net_arch=[16]"]);
    let report = bench("trainer+eval", &["--algo", "dqn", "--preset", "speed"]);
    assert_eq!((&report["algo"], &report["config"]["preset"]), (&"dqn".into(), &"speed".into()));
    let mut kept: Vec<String> = std::fs::read_dir(folder.path().join("reports"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    kept.sort();
    let expected = ["dqn-trainer+eval", "rollout", "trainer"];
    assert_eq!(kept, expected.map(|name| format!("CartPole-v1-{name}.json")));

    let args = ["bench", "matrix", "CartPole-v1", "--envs", "4,8", "--n-steps", "32", "--json"];
    let more = ["--batch-sizes", "64,256", "--seconds", "0.1", "--threads", "1"];
    let output = run(folder.path(), &[&args[..], &more[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    // Four environments do not fill a batch of 256.
    assert_eq!(text(&output.stdout).lines().count(), 3, "{}", text(&output.stdout));
    assert!(result(&output)["steps_per_sec"]["mean"].is_f64());
    // What several are tried of is not said by the way.
    let output = run(folder.path(), &[&args[..3], &["--set", "trainer.num_envs=4"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("say which with --envs"), "{}", text(&output.stderr));
}

#[test]
fn a_run_without_a_lab_learns_and_repeats_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let train = || {
        let args =
            ["train", "CartPole-v1", "--algo", "ppo", "--steps", "40_000", "--seed", "7", "--json"];
        let output = run(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        result(&output)
    };
    let report = train();
    assert_eq!(
        (report["state"].as_str(), report["steps"].as_u64()),
        (Some("succeeded"), Some(40_960))
    );
    assert!(report["eval_mean"].as_f64().unwrap() >= 300.0, "{report}");
    assert!(Path::new(report["checkpoint"].as_str().unwrap()).join("weights.safetensors").exists());
    assert_eq!(train()["weights_sha256"], report["weights_sha256"]);

    let id = report["run_id"].as_str().unwrap();
    let eval = run(folder.path(), &["eval", id, "--episodes", "20", "--json"]);
    let eval = result(&eval);
    let returns = eval["returns"].as_array().unwrap();
    let mean = returns.iter().map(|value| value.as_f64().unwrap()).sum::<f64>() / 20.0;
    assert_eq!(returns.len(), 20);
    assert!((eval["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    let kept = eval["eval_run_id"].as_str().unwrap();
    let rows = text(&run(folder.path(), &["runs", "--json"]).stdout);
    let row: serde_json::Value =
        rows.lines().find(|line| line.contains(kept)).unwrap().parse().unwrap();
    assert_eq!((&row["kind"], &row["state"]), (&"eval".into(), &"succeeded".into()), "{row}");
    assert_eq!(row["best_eval"], eval["mean"]);
    let listed = text(&run(folder.path(), &["runs"]).stdout);
    assert!(listed.contains(id) && listed.contains("succeeded"), "{listed}");
}

#[test]
fn a_policy_goes_out_as_onnx_and_plays_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |args: &[&str]| {
        let output = run(folder.path(), &[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        result(&output)
    };
    let report = ask(&["train", "CartPole-v1", "--steps", "8000", "--seed", "7"]);
    let (id, checkpoint) = (&report["run_id"], report["checkpoint"].as_str().unwrap());
    let id = id.as_str().unwrap();
    let exported = ask(&["export", id, "--onnx", "best.onnx"]);
    assert_eq!(exported["weights_sha256"], report["weights_sha256"]);
    let beside = fs::read(folder.path().join(checkpoint).join("policy.onnx")).unwrap();
    assert_eq!(fs::read(folder.path().join("best.onnx")).unwrap(), beside);

    // The run, its checkpoint and the file: the same episodes with the same returns.
    let short = ["--episodes", "10", "--seed", "3"];
    let eval = |args: &[&str]| ask(&[&["eval"], args, &short].concat());
    let ours = eval(&[id]);
    assert_eq!(ours["seeds"].as_array().unwrap().len(), 10);
    for args in [&[checkpoint][..], &["best.onnx"], &["best.onnx", "--env", "CartPole-v1"]] {
        let theirs = eval(args);
        for key in ["returns", "lengths", "seeds", "mean", "step", "env_id"] {
            assert_eq!(theirs[key], ours[key], "{args:?}: {key}");
        }
    }
    // Where there is nothing to choose from, nothing is chosen in silence.
    for args in [
        &["eval", checkpoint, "--best"][..],
        &["eval", checkpoint, "--checkpoint", "latest"],
        &["export", checkpoint, "--checkpoint", "best", "--onnx", "other.onnx"],
        &["eval", "best.onnx", "--best"],
        &["eval", "best.onnx", "--checkpoint", "latest"],
    ] {
        let output = run(folder.path(), args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("checkpoint"), "{args:?}: {said}");
    }
    let file = eval(&["best.onnx"]);
    let kept = file["eval_run_id"].as_str().unwrap();
    let episodes = text(&run(folder.path(), &["episodes", kept, "--json"]).stdout);
    assert_eq!(episodes.lines().count(), 10);

    // What a file says can be looked at number by number.
    fs::write(folder.path().join("seen.json"), "[[0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4]]").unwrap();
    let output = run(folder.path(), &["onnx", "run", "best.onnx", "--observations", "seen.json"]);
    let lines = text(&output.stdout);
    assert_eq!(lines.lines().count(), 2, "{}", text(&output.stderr));
    assert!(lines.starts_with(r#"{"actor":["#) && lines.contains(r#""value":"#), "{lines}");

    let refused = |args: &[&str], code: i32, message: &str| {
        let output = run(folder.path(), &[&["eval"], args].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    };
    refused(&["best.onnx", "--env", "LunarLander-v3"], 1, "an observation has 8 numbers");
    refused(&["best.onnx", "--env", "CartPole"], 2, "unknown environment");
    refused(&["none.onnx", "--env", "CartPole-v1"], 3, "there is no file `none.onnx`");
    refused(&[id, "--env", "CartPole-v1"], 2, "in its own environment");
    refused(&[id, "--checkpoint", "77"], 3, "has no checkpoint `77`");
}

#[test]
fn ctrl_c_stops_the_run_after_a_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let child = cartridge(&["train", "CartPole-v1", "--steps", "1e9", "--json"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let runs = folder.path().join("data/runs");
    wait_for("the first metrics", || {
        let run = fs::read_dir(&runs).ok()?.next()?.ok()?.path();
        fs::metadata(run.join("metrics.jsonl")).ok().filter(|metadata| metadata.len() > 0)
    });
    kill("-INT", child.id().into());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report = result(&output);
    assert_eq!(report["state"], "terminated");
    let checkpoint = report["checkpoint"].as_str().unwrap();
    assert!(
        checkpoint.ends_with(&format!("step_{:09}", report["steps"].as_u64().unwrap())),
        "{report}"
    );
}

#[test]
fn a_data_folder_that_cannot_be_used_is_said_at_start() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data"), "a file").unwrap();
    let output = run(folder.path(), &["up", "--port", "0"]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(
        message.contains("cannot write to the data folder") && message.contains("hint: "),
        "{message}"
    );

    let output = run(folder.path(), &["up", "--port", "0", "--data", "/proc/data"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("cannot write to the data folder"),
        "{}",
        text(&output.stderr)
    );
}

/// Runs a script on a disk of this size, in a name space of its own: `$DISK` is its folder, and
/// `$CARTRIDGE` the program. Nothing where that is not allowed.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn on_a_disk_of(size: &str, script: &str) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("mount -t tmpfs -o size={size} none $DISK && {script}");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .env("DISK", folder.path())
        .env("CARTRIDGE", env!("CARGO_BIN_EXE_cartridge"))
        .output()
        .ok()?;
    let message = text(&output.stderr);
    if message.contains("unshare") || message.contains("mount:") {
        eprintln!("skipped: no name space of one's own is allowed here");
        return None;
    }
    Some(output)
}

#[test]
fn a_full_disk_is_said_at_start() {
    let start = "exec $CARTRIDGE up --port 0 --data $DISK";
    let Some(output) = on_a_disk_of("16k", start) else { return };
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("the disk is full; free some space"), "{message}");
}

#[test]
fn a_disk_that_is_full_to_the_last_byte_can_be_tidied() {
    let script = r#"set -e
        $CARTRIDGE train CartPole-v1 --steps 10000 --set retention.checkpoint_every_steps=2000 \
            --set evaluation.final_episodes=1 --data $DISK --json > $DISK/said
        $CARTRIDGE gc --data $DISK
        echo '{"format": 1, "retention": {"max_bytes": 1}}' > $DISK/lab.json
        ls $DISK/runs/*/checkpoints | grep -c step_
        cat /dev/zero > $DISK/filler 2> /dev/null || true
        $CARTRIDGE gc --data $DISK
        ls $DISK/runs/*/checkpoints | grep -c step_
        $CARTRIDGE fsck --data $DISK"#;
    let Some(output) = on_a_disk_of("80m", script) else { return };
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    let counts: Vec<u32> = said.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(counts.len() == 2 && counts[1] < counts[0], "{said}{}", text(&output.stderr));
}

#[test]
fn the_token_is_made_at_the_first_start_and_only_the_owner_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let lab = crate::support::LabProcess::start(folder.path(), 0);
    let mode = fs::metadata(folder.path().join("token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(lab.interrupt(), Some(0), "Ctrl-C ends it cleanly");
}
