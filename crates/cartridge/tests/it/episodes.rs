//! Episodes of real trainings, seen again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cartridge_run::episode::Archive;
use cartridge_run::store::episodes::{Order, Sort};
use cartridge_run::store::{DataDir, EpisodeBody, EpisodeReader, RunDir};
use serde_json::{Value, json};

use crate::support::{LabProcess, kill, pids, result, run, text, wait_for};

/// Trains for a while and returns the name of the run.
fn train(folder: &Path, env_id: &str, steps: &str) -> String {
    let args = ["train", env_id, "--algo", "ppo", "--seed", "1", "--data", "data", "--json"];
    let output = run(folder, &[&args[..], &["--steps", steps]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    result(&output)["run_id"].as_str().unwrap().to_owned()
}

/// The episodes that `metrics.jsonl` mentions: return and length by number.
fn mentioned(dir: &RunDir) -> BTreeMap<u64, (f64, u64)> {
    let mut all = BTreeMap::new();
    for line in fs::read_to_string(dir.metrics_path()).unwrap().lines() {
        // The last line may be half-written.
        let Ok(row) = serde_json::from_str::<Value>(line) else { continue };
        let column = |name: &str| row["episodes"][name].as_array().cloned().unwrap_or_default();
        let figures = column("reward").into_iter().zip(column("length"));
        for (episode, (reward, length)) in column("episode").into_iter().zip(figures) {
            let figures = (reward.as_f64().unwrap(), length.as_u64().unwrap());
            all.insert(episode.as_u64().unwrap(), figures);
        }
    }
    all
}

/// Every episode that was mentioned is there, and stepping it again gives what was said of it.
#[track_caller]
fn check(env_id: &str, steps: &str) {
    let folder = tempfile::tempdir().unwrap();
    let id = train(folder.path(), env_id, steps);
    let data = DataDir::open_existing(folder.path().join("data")).unwrap();
    let id = id.parse().unwrap();
    let dir = data.run(&id);
    let mentioned = mentioned(&dir);
    assert!(mentioned.len() > 10, "{}", mentioned.len());

    let mut archive = Archive::open(&data, &id).unwrap();
    let page = archive.page(Sort::Number, Order::Ascending, 0, usize::MAX).unwrap();
    assert_eq!((page.total, page.n_damaged), (mentioned.len() as u64, 0));
    let rows = fs::read_to_string(dir.metrics_path()).unwrap();
    let first_row: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    let first_update = first_row["step"].as_u64().unwrap();
    let mut n_steps = 0;
    for head in page.heads {
        let replay = archive.replay(head.episode).unwrap();
        assert!(replay.matches, "{env_id}: {head:?}");
        assert_eq!((head.reward, u64::from(head.length)), mentioned[&head.episode]);
        n_steps += u64::from(head.length);
        // The first update has no checkpoint to have come from.
        assert_eq!(head.checkpoint_step.is_some(), head.step > first_update, "{head:?}");
        assert!(head.checkpoint_step <= Some(head.step));
    }
    let n_bytes: u64 = fs::read_dir(dir.episodes_path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    let per_step = n_bytes as f64 / n_steps as f64;
    assert!(per_step <= 1.5, "{env_id}: {per_step} bytes per step");
    assert_eq!(EpisodeReader::open(&dir).unwrap().verify().unwrap(), []);
}

#[test]
fn episodes_of_a_training_are_computed_again() {
    check("CartPole-v1", "20000");
    check("LunarLander-v3", "20000");
}

#[test]
fn any_episode_of_any_run_is_found_by_its_number() {
    // Once, only the newest 4,096 steps of all runs together could be seen again.
    let folder = tempfile::tempdir().unwrap();
    let older = train(folder.path(), "CartPole-v1", "10000");
    let newer = train(folder.path(), "CartPole-v1", "10000");
    let lab = LabProcess::start(&folder.path().join("data"), 0);
    for id in [&older, &newer] {
        let (status, list) = lab.get(&format!("/api/runs/{id}/episodes?sort=number&limit=10000"));
        assert_eq!(status, 200, "{list}");
        let episodes = list["episodes"].as_array().unwrap();
        assert_eq!(list["total"], episodes.len());
        for row in [&episodes[0], &episodes[episodes.len() / 2], episodes.last().unwrap()] {
            let path = format!("/api/runs/{id}/episodes/{}", row["episode"]);
            let (status, shown) = lab.get(&format!("{path}?scenes=true"));
            assert_eq!(status, 200, "{shown}");
            assert_eq!((&shown["episode"], &shown["matches"]), (row, &json!(true)));
            let steps = shown["steps"].as_array().unwrap();
            assert_eq!(json!(steps.len() - 1), row["length"]);
            let total: f64 = steps.iter().filter_map(|step| step["reward"].as_f64()).sum();
            assert_eq!(json!(total), row["reward"]);
            assert!(steps.iter().all(|step| step["scene"].is_object()));
            assert_eq!(steps.last().unwrap()["terminated"], row["terminated"]);
            let (_, part) = lab.get(&format!("{path}?from=3&to=5"));
            let numbers = |steps: &[Value]| steps.iter().map(|it| it["step"].clone()).collect();
            assert_eq!(Value::Array(numbers(part["steps"].as_array().unwrap())), json!([3, 4]));
        }
    }
    let best = lab.get(&format!("/api/runs/{older}/episodes?sort=return&limit=2")).1;
    let rewards: Vec<f64> = best["episodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["reward"].as_f64())
        .collect();
    assert!(rewards[0] >= rewards[1] && rewards[0] > 30.0, "{rewards:?}");
    let tail = lab.get(&format!("/api/runs/{older}/episodes?tail=3")).1;
    assert_eq!(tail["episodes"].as_array().unwrap().len(), 3);
    let refused = |path: &str| {
        let (status, problem) = lab.get(&format!("/api/runs/{older}/episodes{path}"));
        (status, problem["code"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(refused("/999999"), (404, "no_such_episode".to_owned()));
    assert_eq!(refused("?tail=3&sort=return"), (400, "malformed".to_owned()));
    assert_eq!(refused("/one").0, 400);

    // The command line says the same.
    let list =
        run(folder.path(), &["episodes", &older, "--sort", "return", "--limit", "1", "--json"]);
    assert_eq!(result(&list)["episode"], best["episodes"][0]["episode"]);
    let missing = run(folder.path(), &["episode", &older, "999999"]);
    assert_eq!(missing.status.code(), Some(3));
}

#[test]
fn an_evaluation_records_its_episodes() {
    let folder = tempfile::tempdir().unwrap();
    let id = train(folder.path(), "CartPole-v1", "5000");
    let output = run(folder.path(), &["eval", &id, "--episodes", "5", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let data = DataDir::open_existing(folder.path().join("data")).unwrap();
    let ids = data.run_ids().unwrap();
    let eval = ids.into_iter().find(|other| other.as_str() != id).unwrap();
    let mut archive = Archive::open(&data, &eval).unwrap();
    let returns = result(&output)["returns"].as_array().unwrap().clone();
    assert_eq!(returns.len(), 5);
    for (number, reward) in (1..).zip(returns) {
        let replay = archive.replay(number).unwrap();
        assert!(replay.matches);
        assert_eq!(json!(replay.head.reward), reward);
    }
}

#[test]
fn no_row_of_metrics_speaks_of_an_episode_that_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(folder.path(), 0);
    let endless =
        json!({ "env_id": "CartPole-v1", "algorithm": "ppo", "total_timesteps": 1_000_000_000 });
    for round in 0..5 {
        let id = lab.start_run(&endless);
        let (supervisor, trainer) = pids(folder.path(), &id);
        let dir = RunDir::new(folder.path().join("runs").join(&id));
        wait_for("some rows", || {
            let text = fs::read_to_string(dir.metrics_path()).ok()?;
            (text.lines().count() > 3 * (round + 1)).then_some(())
        });
        kill("-KILL", trainer);
        wait_for("the supervisor to end", || (!crate::support::is_alive(supervisor)).then_some(()));
        let mut reader = EpisodeReader::open(&dir).unwrap();
        for (episode, (reward, length)) in mentioned(&dir) {
            let head = reader.head(episode).unwrap().unwrap();
            assert_eq!((head.reward, u64::from(head.length)), (reward, length));
            let body = reader.body(episode).unwrap().unwrap();
            assert!(
                matches!(body, EpisodeBody::Discrete(actions) if actions.len() as u64 == length)
            );
        }
    }
}
