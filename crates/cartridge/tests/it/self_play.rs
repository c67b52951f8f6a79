//! Trainings by self-play, from the start to their files, their crashes and their forks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cartridge_run::store::Replay;
use serde_json::{Value, json};

use crate::support::{
    LabProcess, ask, events, kill, lines, result, run, text, wait_for, wait_for_attempt,
    wait_for_event, wait_for_exit,
};

/// Settings under which a training takes seconds and saves often.
const SMALL: [&str; 22] = [
    "--set",
    "simulation.n_envs=16",
    "--set",
    "simulation.n_steps=16",
    "--set",
    "trainer.network=tiny",
    "--set",
    "trainer.least_window=1000",
    "--set",
    "trainer.batch_size=32",
    "--set",
    "trainer.learning_starts=256",
    "--set",
    "retention.checkpoint_every_steps=1000",
    "--set",
    "evaluation.every_steps=4000",
    "--set",
    "evaluation.episodes=4",
    "--set",
    "evaluation.final_episodes=4",
    "--set",
    "evaluation.simulations=8",
];

/// Begins a training and returns its run.
fn begin(data: &Path, game: &str, steps: &str, threads: &str) -> String {
    begin_with(data, game, steps, threads, &[])
}

/// Begins a training with other settings too.
fn begin_with(data: &Path, game: &str, steps: &str, threads: &str, settings: &[&str]) -> String {
    let first = ["train", game, "--steps", steps, "--seed", "3", "--threads", threads];
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    let args = first.into_iter().chain(SMALL).chain(settings).chain(["--detach"]);
    let args: Vec<&str> = args.collect();
    ask(data, &args)["run_id"].as_str().unwrap().to_owned()
}

fn final_weights(data: &Path, id: &str, attempt: u64) -> Value {
    wait_for("the end", || {
        let last = lines(data, id, "supervisor.jsonl").pop()?;
        (last["type"] == "exited" && last["attempt"] == attempt).then_some(())
    });
    let done = events(data, id, "done").pop();
    done.unwrap_or_else(|| panic!("{:?}", lines(data, id, "events.jsonl").pop()))["weights_sha256"]
        .clone()
}

/// What networks were found to be worth, by step; of rows that an attempt has written again the last.
fn measured_rows(data: &Path, id: &str) -> BTreeMap<u64, BTreeMap<String, Value>> {
    let mut found = BTreeMap::new();
    for row in lines(data, id, "metrics.jsonl") {
        let values = row["values"].as_object().unwrap().clone();
        let is_measure =
            |name: &str| ["solver/", "arena/"].iter().any(|group| name.starts_with(group));
        let values = values.into_iter().filter(|(name, _)| is_measure(name));
        let at: &mut BTreeMap<_, _> = found.entry(row["step"].as_u64().unwrap()).or_default();
        at.extend(values);
    }
    found.retain(|_, values| !values.is_empty());
    found
}

#[test]
fn an_evaluation_that_a_kill_cut_off_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    // Long enough to be cut off, and at a step at which nothing else is saved.
    let long = [
        "--set",
        "evaluation.every_steps=3300",
        "--set",
        "evaluation.episodes=200",
        "--set",
        "evaluation.simulations=32",
    ];
    let first = ["train", "connect4", "--steps", "5000", "--seed", "3", "--threads", "1"];
    let args: Vec<&str> = first.into_iter().chain(SMALL).chain(long).chain(["--detach"]).collect();
    let id = ask(data, &args)["run_id"].as_str().unwrap().to_owned();
    let (supervisor, trainer) = wait_for_attempt(data, &id, 1);
    wait_for_event(data, &id, "evaluation_started");
    kill("-KILL", trainer);
    wait_for_exit(data, &id);
    wait_for("the supervisor to end", || (!crate::support::is_alive(supervisor)).then_some(()));
    assert!(events(data, &id, "evaluation_complete").is_empty(), "it was too short to be cut off");
    assert_eq!(ask(data, &["resume", &id])["attempt"], 2);
    let dir = data.join("runs").join(&id);
    wait_for_event(data, &id, "restored");
    wait_for("the network for other programs", || {
        let saved = fs::read(dir.join("checkpoints/step_000003328/policy.onnx")).ok()?;
        (fs::read(dir.join("models/latest.onnx")).ok()? == saved).then_some(())
    });
    final_weights(data, &id, 2);
    let steps: Vec<Value> =
        events(data, &id, "evaluation_complete").into_iter().map(|it| it["step"].clone()).collect();
    assert_eq!(steps, [json!(3328), json!(5000)]);
    // The first has nobody to play against but the fixed opponent, as if nothing had happened.
    let measured = measured_rows(data, &id);
    assert!(!measured[&3328].contains_key("arena/score_best"), "{measured:?}");
    assert!(measured[&5000].contains_key("arena/score_best"), "{measured:?}");
}

#[test]
fn killed_and_resumed_equals_uninterrupted() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let plain = begin(data, "connect4", "16000", "1");
    let whole = final_weights(data, &plain, 1);
    let id = begin(data, "connect4", "16000", "2");
    for n in 1..=2 {
        let (supervisor, trainer) = wait_for_attempt(data, &id, n);
        wait_for("some rows of this attempt", || {
            let rows = lines(data, &id, "metrics.jsonl");
            (rows.iter().filter(|row| row["attempt"] == n).count() >= 12).then_some(())
        });
        kill("-KILL", trainer);
        wait_for_exit(data, &id);
        wait_for("the supervisor to end", || (!crate::support::is_alive(supervisor)).then_some(()));
        assert_eq!(ask(data, &["resume", &id])["attempt"], n + 1);
    }
    assert_eq!(final_weights(data, &id, 3), whole);
    assert_eq!(events(data, &id, "restored").len(), 2);
    // The same networks were held against perfect play, in all and by set, and against each other,
    // with the same results.
    let [of_plain, of_killed] = [&plain, &id].map(|id| measured_rows(data, id));
    assert_eq!(of_plain, of_killed);
    let last = &of_plain[&16_000];
    let n_examined = of_plain.values().filter(|it| it.contains_key("solver/value_error")).count();
    assert_eq!((n_examined, last.len()), (17, 18), "{of_plain:?}");
    let stats = |id: &str| fs::read_to_string(data.join("runs").join(id).join("stats.json"));
    assert_eq!(stats(&plain).unwrap(), stats(&id).unwrap());
    assert!(last.contains_key("solver/value_error_hard_l1_r3"), "{last:?}");
    // Who has learnt so little does not take the place of the network that the program brings along.
    let matches = fs::read_to_string(data.join("matches.jsonl")).unwrap();
    assert_eq!(matches.matches("/champion\"").count(), 2, "{matches}");
    assert!(matches.contains("\"shipped:") && events(data, &id, "promoted").is_empty());
    let output = run(data, &["reproduce", &id, "--json", "--data", "."]);
    assert_eq!((output.status.code(), &result(&output)["is_equal"]), (Some(0), &json!(true)));
    // What no checkpoint learns from any more has left the replay.
    let replay = Replay::open_to_read(data.join("runs").join(&id).join("replay.db")).unwrap();
    let (last, n_kept) = (replay.last().unwrap(), replay.count().unwrap());
    assert!(n_kept < last, "{n_kept} of {last}");
    assert_eq!(replay.game(1).unwrap(), None);
    assert!(
        replay.game(last + 1 - n_kept).unwrap().is_some(),
        "those that are kept are the newest"
    );
    // All games are there once, in their order, and what was learnt from them is no list of ours.
    let episodes = ask(data, &["episodes", &id, "--limit", "1"]);
    let rows = lines(data, &id, "metrics.jsonl");
    let last = rows.iter().rev().find_map(|row| row["episodes"]["episode"].as_array()?.last());
    assert_eq!(episodes["episode"], *last.unwrap());
    let output = run(data, &["fsck", "--data", "."]);
    assert!(output.status.success(), "{}", text(&output.stdout));

    // A fork goes on with the games that its parent has played.
    let args = ["fork", &id, "--checkpoint", "15000", "--set", "trainer.learning_rate=0.001"];
    let output = run(data, &[&args[..], &["--data", "."]].concat());
    assert!(!output.status.success(), "there is no such checkpoint: {}", text(&output.stdout));
    let checkpoints = fs::read_dir(data.join("runs").join(&id).join("checkpoints")).unwrap();
    let mut names: Vec<String> = checkpoints
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("step_") && name != "step_000016000")
        .collect();
    names.sort();
    let args = ["fork", &id, "--checkpoint", names.last().unwrap()];
    let fork = ask(data, &args)["run_id"].as_str().unwrap().to_owned();
    assert_eq!(final_weights(data, &fork, 1), whole, "with nothing changed it is the same again");
}

#[test]
fn a_training_leaves_what_others_look_for() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = begin(data, "tictactoe", "9000", "1");
    final_weights(data, &id, 1);
    let dir = data.join("runs").join(&id);
    let stats: Value = serde_json::from_slice(&fs::read(dir.join("stats.json")).unwrap()).unwrap();
    assert_eq!(stats["step"], 9000);
    for name in ["loss", "policy_loss", "value_loss", "learning_rate", "games", "elo", "win_rate"] {
        assert!(stats[name].is_number(), "{name}: {stats}");
    }
    let latest = fs::read(dir.join("models/latest.onnx")).unwrap();
    assert_eq!(latest, fs::read(dir.join("models/model_step_009000.onnx")).unwrap());
    assert_eq!(latest, fs::read(dir.join("checkpoints/step_000009000/policy.onnx")).unwrap());
    // Where nobody is the best at a game, the first who has learnt it is; then they must win.
    let promoted = events(data, &id, "promoted");
    assert_eq!(promoted[0]["player"], "model:tictactoe@1", "{promoted:?}");
    let best = fs::read(data.join("models/tictactoe/best.onnx")).unwrap();
    let again = begin(data, "tictactoe", "9000", "2");
    final_weights(data, &again, 1);
    assert!(events(data, &again, "promoted").is_empty(), "it is the same network");
    assert_eq!(best, fs::read(data.join("models/tictactoe/best.onnx")).unwrap());
    // Evaluations are games by which checkpoints are rated.
    let matches = fs::read_to_string(data.join("matches.jsonl")).unwrap();
    assert!(matches.contains(&format!("run:{id}@step_000009000:8")), "{matches}");
    // A league rates all checkpoints that are kept, above the opponent that never changes.
    let kept = fs::read_dir(dir.join("checkpoints")).unwrap();
    let n_kept = kept
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("step_"))
        .count();
    assert!(n_kept >= 5, "{n_kept}");
    let league = ask(data, &["league", &id, "--games", "2"]);
    assert_eq!(league["anchor"], "builtin:perfect");
    let rated = league["players"].as_array().unwrap();
    assert_eq!(rated.len(), n_kept + 1, "{league}");
    for rating in rated {
        let key = rating["player"]["key"].as_str().unwrap();
        let is_of_run = key.starts_with(&format!("run:{id}@step_")) && key.ends_with(":8");
        assert!(is_of_run || key == "builtin:perfect", "{league}");
        assert!(rating["games"].as_u64() >= Some(2 * n_kept as u64), "{league}");
        assert!(rating["rating"].as_f64() <= Some(0.0), "nobody beats perfect play: {league}");
    }
    // Any of them can be asked about a position.
    fs::write(data.join("positions.txt"), "\n5\n512\n").unwrap();
    let asked = |game: &str, model: &str| {
        let args = ["analyze", game, "--model", model, "--positions", "positions.txt"];
        let more = ["--simulations", "20", "--json", "--data", "."];
        let output = run(data, &[&args[..], &more].concat());
        assert!(output.status.success(), "{model}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let of_run = asked("tictactoe", &format!("run:{id}@9000"));
    assert_eq!(of_run.lines().count(), 3, "{of_run}");
    let place = format!("ckpt:runs/{id}/checkpoints/step_000009000");
    assert_eq!(asked("tictactoe", &place), of_run);
    assert_eq!(asked("tictactoe", "best"), asked("tictactoe", &format!("run:{id}@best")));
    // Where there is no best of the lab, the network that the program brings along is asked.
    let shipped = asked("connect4", "shipped");
    assert_eq!(asked("connect4", "best"), shipped);
    assert_ne!(shipped, of_run);
    let solver = lines(data, &id, "metrics.jsonl")
        .into_iter()
        .filter_map(|row| row["values"]["solver/value_error"].as_f64());
    let solver: Vec<f64> = solver.collect();
    assert!(solver.len() >= 3 && solver.last() < solver.first(), "{solver:?}");

    // The games can be seen again, with what the searches found.
    let lab = LabProcess::start(data, 0);
    let (status, page) =
        lab.get(&format!("/api/runs/{id}/episodes?sort=length&order=desc&limit=1"));
    assert_eq!(status, 200, "{page}");
    let episode = &page["episodes"][0];
    let number = &episode["episode"];
    let (status, replay) = lab.get(&format!("/api/runs/{id}/episodes/{number}?from=0&to=20"));
    assert_eq!((status, &replay["matches"]), (200, &json!(true)), "{replay}");
    let (status, xray) = lab.get(&format!("/api/runs/{id}/episodes/{number}/xray?from=1&to=20"));
    assert_eq!(status, 200, "{xray}");
    assert_eq!(xray["kind"], "probabilities");
    // Of the newest game the searches are kept: those of all moves but the opening's, which were
    // drawn by chance.
    let (_, page) = lab.get(&format!("/api/runs/{id}/episodes?tail=1"));
    let number = &page["episodes"][0]["episode"];
    let (_, xray) = lab.get(&format!("/api/runs/{id}/episodes/{number}/xray"));
    assert_eq!(xray["exact"], true, "{xray}");
    let searched = xray["steps"].as_array().unwrap().iter().map(|step| &step["searched"]);
    let searched: Vec<bool> = searched.map(|it| it.as_bool().unwrap()).collect();
    assert!(searched.is_sorted() && searched.ends_with(&[true]), "{searched:?}");
    // Games are among what can be trained on, for who asks for them.
    let listed = |path: &str| {
        let (_, list) = lab.get(path);
        let all = list["environments"].as_array().unwrap().clone();
        all.into_iter().find(|env| env["id"] == "tictactoe")
    };
    assert_eq!(listed("/api/environments"), None);
    let game = listed("/api/environments?games=true").unwrap();
    assert_eq!((&game["is_game"], &game["algorithms"]), (&json!(true), &json!(["alphazero"])));
    assert_eq!(game["action_names"][4], "centre");
    let (status, preview) = lab.get(&format!("/api/runs/{id}/preview"));
    assert_eq!((status, &preview["policy"]["step"]), (200, &json!(9000)), "{preview}");
    assert_eq!(preview["terminated"], true, "a game is played to its end");
    let all = format!("run:{id}@all:0");
    let wanted = json!({
        "game": "tictactoe", "players": [all, "perfect"], "kind": "gauntlet", "games_per_pair": 2,
    });
    let (status, job) = lab.post("/api/tournaments", &wanted);
    assert_eq!(status, 202, "{job}");
    let name = format!("Tic-tac-toe: gauntlet of {} players", n_kept + 1);
    assert_eq!(job["name"], name.as_str(), "{job}");
    let (status, problem) = lab.post(&format!("/api/runs/{id}/evaluate"), &json!({}));
    assert_eq!(status, 409, "{problem}");
}

#[test]
fn an_actor_plays_with_the_network_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = begin(data, "tictactoe", "5000", "1");
    wait_for_event(data, &id, "done");
    let model = data.join("runs").join(&id).join("models/latest.onnx");
    let model = model.to_str().unwrap();
    let args = ["actor", "tictactoe", "--model", model, "--replay", "games.db", "--games", "300"];
    let output = run(data, &[&args[..], &["--simulations", "8", "--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = result(&output);
    assert!(report["games"].as_u64().unwrap() >= 300, "{report}");
    assert_eq!((&report["last_id"], &report["networks"]), (&report["games"], &json!(1)));
    // It appends to what is there.
    let output = run(data, &[&args[..], &["--simulations", "8", "--json"]].concat());
    let again = result(&output);
    assert!(again["last_id"].as_u64() > report["last_id"].as_u64());
    assert_ne!(again["seed"], report["seed"], "other games, unless a seed says otherwise");
    // A file that is no network is told of at once.
    let args = ["actor", "tictactoe", "--model", "games.db", "--replay", "other.db"];
    let output = run(data, &args);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
}

#[test]
fn a_pause_changes_no_bit_of_a_training_by_self_play() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let plain = begin(data, "connect4", "8000", "1");
    let whole = final_weights(data, &plain, 1);
    let id = begin(data, "connect4", "8000", "1");
    wait_for_event(data, &id, "training_started");
    ask(data, &["pause", &id]);
    let at = wait_for_event(data, &id, "paused")["step"].as_u64();
    assert!(at > Some(0) && at < Some(8000), "{at:?}");
    ask(data, &["resume", &id]);
    assert_eq!(final_weights(data, &id, 1), whole);
    assert_eq!(measured_rows(data, &id), measured_rows(data, &plain));
}

/// The step of the best checkpoint of a training, and at which steps it was measured.
fn best_and_measured(data: &Path, settings: &[&str]) -> (String, Vec<u64>) {
    let id = begin_with(data, "tictactoe", "9000", "1", settings);
    final_weights(data, &id, 1);
    let best = data.join("runs").join(&id).join("checkpoints/best");
    let steps = events(data, &id, "evaluation_complete").into_iter();
    let steps = steps.map(|event| event["step"].as_u64().unwrap()).collect();
    (fs::read_to_string(best).unwrap().trim().to_owned(), steps)
}

#[test]
fn the_best_checkpoint_is_who_wins_enough() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let name = |step: u64| format!("step_{step:09}");
    // Nobody takes more than all of the points, so the first to be measured stays the best.
    let (best, steps) =
        best_and_measured(data, &["trainer.promotion=arena", "trainer.promote_above=1"]);
    assert!(steps.len() >= 3 && steps.is_sorted(), "{steps:?}");
    assert_eq!(best, name(steps[0]));
    // Whoever learns takes some of them.
    let (best, steps) =
        best_and_measured(data, &["trainer.promotion=arena", "trainer.promote_above=0"]);
    assert_eq!(best, name(*steps.last().unwrap()));
    // Whoever comes last is the best, whatever it takes.
    let (best, steps) =
        best_and_measured(data, &["trainer.promotion=continuous", "trainer.promote_above=1"]);
    assert_eq!(best, name(*steps.last().unwrap()));
}

#[test]
fn who_beats_the_best_of_the_lab_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    // By their policies alone, so that it matters what was learnt.
    let settings = ["evaluation.simulations=0", "evaluation.final_episodes=40"];
    // The first one never begins to learn.
    let waiting = [&settings[..], &["trainer.learning_starts=9000"]].concat();
    let early = begin_with(data, "tictactoe", "5000", "1", &waiting);
    final_weights(data, &early, 1);
    assert_eq!(events(data, &early, "promoted")[0]["player"], "model:tictactoe@1");
    let best = || fs::read(data.join("models/tictactoe/best.onnx")).unwrap();
    let before = best();
    let late = begin_with(data, "tictactoe", "16000", "1", &settings);
    final_weights(data, &late, 1);
    let promoted = events(data, &late, "promoted");
    assert_eq!(promoted[0]["player"], "model:tictactoe@2", "{promoted:?}");
    let [beaten, share] = [0, 1].map(|at| promoted[0]["against"][at].clone());
    assert_eq!(beaten, "tictactoe@1, policy alone", "{promoted:?}");
    assert!(share.as_f64() > Some(0.55), "{promoted:?}");
    assert_ne!(best(), before);
    let matches = fs::read_to_string(data.join("matches.jsonl")).unwrap();
    let line = matches.lines().find(|line| line.contains("/champion\"")).unwrap();
    assert!(line.contains("\"model:tictactoe@1:0\""), "{line}");
}

#[test]
fn milestones_stay_and_are_rated() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let settings = ["retention.milestone_every_steps=3000", "retention.keep_checkpoints=2"];
    let id = begin_with(data, "tictactoe", "9000", "1", &settings);
    final_weights(data, &id, 1);
    let kept = fs::read_dir(data.join("runs").join(&id).join("checkpoints")).unwrap();
    let mut kept: Vec<String> = kept
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("step_"))
        .collect();
    kept.sort();
    // The first at or after each 3,000 moves, of updates of 256, and the newest.
    for milestone in ["step_000003072", "step_000006144", "step_000009000"] {
        assert!(kept.iter().any(|name| name == milestone), "{kept:?}");
    }
    assert!(kept.len() <= 5 && !kept.contains(&"step_000001024".to_owned()), "{kept:?}");
    let league = ask(data, &["league", &id, "--games", "2"]);
    let rated = league["players"].as_array().unwrap().iter();
    let rated: Vec<&str> = rated.map(|it| it["player"]["key"].as_str().unwrap()).collect();
    for name in &kept {
        assert!(rated.contains(&format!("run:{id}@{name}:8").as_str()), "{rated:?}");
    }
}
