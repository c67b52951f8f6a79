//! Runs made again, to the last bit.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{
    ask, cartridge, events, kill, lines, result, run, text, train, wait_for, wait_for_attempt,
    wait_for_event, wait_for_exit,
};

/// Makes a run again and returns the exit code with the result.
fn reproduce(data: &Path, id: &str, threads: &str) -> (Option<i32>, Value) {
    let args = ["reproduce", id, "--threads", threads, "--json", "--data", "."];
    let output = run(data, &args);
    assert!(!output.stdout.is_empty(), "{}", text(&output.stderr));
    (output.status.code(), result(&output))
}

#[track_caller]
fn check_equal(data: &Path, id: &str, threads: &str) -> Value {
    let (code, report) = reproduce(data, id, threads);
    assert_eq!((code, &report["is_equal"]), (Some(0), &json!(true)), "{report}");
    let done = events(data, id, "done").pop().unwrap();
    assert_eq!(report["reproduced"]["weights_sha256"], done["weights_sha256"]);
    assert_eq!(report["reproduced"]["step"], done["step"]);
    assert_eq!(report["recorded"]["instruction_sets"], json!([report["instruction_set"]]));
    report
}

#[test]
fn a_run_that_was_tuned_killed_and_resumed_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &["--steps", "100000", "--seed", "3", "--threads", "1"]);
    wait_for_event(data, &id, "training_started");
    ask(data, &["tune", &id, "trainer.learning_rate=0.002"]);
    wait_for_event(data, &id, "tune_applied");
    let (_, trainer) = wait_for_attempt(data, &id, 1);
    kill("-KILL", trainer);
    wait_for_exit(data, &id);
    ask(data, &["resume", &id]);
    wait_for("the end", || {
        let last = lines(data, &id, "supervisor.jsonl").pop()?;
        (last["type"] == "exited" && last["attempt"] == 2).then_some(())
    });
    let report = check_equal(data, &id, "2");
    assert_eq!((&report["reproduced"]["tunes"], &report["threads"]), (&json!(1), &json!(2)));
    assert_eq!(check_equal(data, &id, "1")["threads"], 1);

    // A change that was not recorded is a different run.
    let path = data.join("runs").join(&id).join("events.jsonl");
    let recorded = fs::read_to_string(&path).unwrap();
    let rest: Vec<&str> = recorded.lines().filter(|line| !line.contains("tune_applied")).collect();
    fs::write(&path, rest.join("\n") + "\n").unwrap();
    let (code, report) = reproduce(data, &id, "1");
    assert_eq!((code, &report["is_equal"]), (Some(1), &json!(false)));
}

#[test]
fn dqn_and_a_fork_of_it_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let settings = ["--algo", "dqn", "--steps", "12000", "--set", "trainer.learning_starts=500"];
    let id = train(data, &settings);
    wait_for_exit(data, &id);
    check_equal(data, &id, "1");
    check_equal(data, &id, "2");
    let first = events(data, &id, "checkpoint_saved").remove(0);
    let args = ["fork", &id, "--checkpoint", first["name"].as_str().unwrap()];
    let fork = ask(data, &[&args[..], &["--set", "trainer.learning_rate=0.001"]].concat());
    let fork = fork["run_id"].as_str().unwrap().to_owned();
    wait_for_exit(data, &fork);
    check_equal(data, &fork, "1");
}

/// Whole trainings under AVX2 and under AVX-512, and with neither: the first two are the same to the
/// bit. On a processor without AVX-512 there is nothing to compare, and the test says so.
#[test]
fn instruction_sets_with_fused_arithmetic_give_the_same_weights() {
    let folder = tempfile::tempdir().unwrap();
    let trainings: [&[&str]; 4] = [
        &["LunarLander-v3", "--algo", "ppo", "--steps", "20000"],
        &[
            "BipedalWalker-v3",
            "--algo",
            "ppo",
            "--preset",
            "zoo",
            "--steps",
            "70000",
            "--set",
            "trainer.n_epochs=1",
        ],
        &["CartPole-v1", "--algo", "dqn", "--preset", "zoo", "--steps", "5000"],
        &["connect4", "--steps", "17000", "--set", "trainer.learning_starts=64"],
    ];
    for training in trainings {
        let weights = |isa: &str| {
            let mut args = vec!["train"];
            args.extend(training);
            args.extend(["--set", "evaluation.final_episodes=1", "--json", "--data", "."]);
            let mut command = cartridge(&args);
            command.current_dir(folder.path()).env("CARTRIDGE_ISA", isa);
            let output = command.output().unwrap();
            (output.status.success(), output)
        };
        let hash = |isa: &str| {
            let (is_good, output) = weights(isa);
            assert!(is_good, "{}", text(&output.stderr));
            result(&output)["weights_sha256"].as_str().unwrap().to_owned()
        };
        let (_, refused) = weights("avx1024");
        assert_eq!(refused.status.code(), Some(2));
        let here = text(&refused.stderr);
        assert!(here.contains("`avx1024` is not an instruction set of this processor"), "{here}");
        if !here.contains("avx512") {
            eprintln!("{training:?}: there is no AVX-512 to compare with");
            continue;
        }
        let fused = hash("avx512");
        assert_eq!(hash("avx2"), fused, "{training:?}");
        assert_ne!(hash("baseline"), fused, "{training:?}: the choice counts");
    }
}

/// The weights of three small trainings, by hash, so that a machine compares itself with others: whoever
/// has fused arithmetic (AVX2 with FMA, or AVX-512) and glibc gets them to the bit. A change that is
/// meant to change what is learnt changes them too.
#[test]
fn weights_are_those_of_other_machines() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        eprintln!("bits are promised for Linux on x86-64 with glibc");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let ppo = ["LunarLander-v3", "--algo", "ppo", "--set", "trainer.clip_range_vf=0.2"];
    let dqn = ["LunarLander-v3", "--algo", "dqn", "--set", "trainer.net_arch=[32,32]"];
    // Its third update is the first that learns.
    let board = ["connect4", "--threads", "2", "--set", "trainer.total_timesteps=40000"];
    for (training, expected) in [
        (ppo, "a2d1bcc12de7e4fc022cf703523e670af87661891a068ae80768bd54a4727dba"),
        (dqn, "3e5468db01be9036ef169f277236457fad84973d253471cb0d70ed0b281375fd"),
        (board, "b1586ac7feea11fda3b0f36c3365a34ed935578e27cb5792853709d1520da5e7"),
    ] {
        let mut args = vec!["train"];
        args.extend(training);
        args.extend(if training == board { &[][..] } else { &["--steps", "5000"] });
        args.extend(["--seed", "7", "--set", "evaluation.final_episodes=1"]);
        args.extend(["--json", "--data", "."]);
        for isa in [Some("avx2"), None] {
            let mut command = cartridge(&args);
            command.current_dir(folder.path());
            command.envs(isa.map(|isa| ("CARTRIDGE_ISA", isa)));
            let output = command.output().unwrap();
            if isa.is_some() && output.status.code() == Some(2) {
                eprintln!("there is no AVX2 with FMA to compare: {}", text(&output.stderr));
                return;
            }
            assert!(output.status.success(), "{}", text(&output.stderr));
            let found = result(&output);
            assert_eq!(found["weights_sha256"], expected, "{training:?} {isa:?}");
            // How far values may move is told where it is bounded.
            let id = found["run_id"].as_str().unwrap();
            let asked = ["metrics", id, "--keys", "train/clip_range_vf", "--data", "."];
            let told = text(&run(folder.path(), &asked).stdout);
            assert_eq!(told.contains("train/clip_range_vf 0.2"), training == ppo, "{told}");
        }
    }
}

/// The metadata of a safetensors file.
fn metadata(path: &Path) -> Value {
    let file = fs::read(path).unwrap();
    let n = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&file[8..8 + n]).unwrap();
    header["__metadata__"].clone()
}

/// With the largest learning rate there is, and a bonus for deviation, that deviation grows by a
/// factor of e in every gradient step until it is no number any more.
#[test]
fn a_run_that_breaks_keeps_what_broke_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let settings = ["--set", "trainer.learning_rate=1", "--set", "trainer.ent_coef=0.1"];
    let args =
        ["train", "Pendulum-v1", "--steps", "100000", "--seed", "1", "--json", "--data", "."];
    let output = run(data, &[&args[..], &settings].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let report = result(&output);
    assert_eq!(report["state"], "failed");
    let id = report["run_id"].as_str().unwrap();
    let message = events(data, id, "error").pop().unwrap()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("try a lower learning rate"), "{message}");
    assert!(message.contains("weights are in fault/"), "{message}");

    let fault = data.join("runs").join(id).join("fault");
    let about = metadata(&fault.join("batch.safetensors"));
    let number = |name: &str| about[name].as_str().unwrap().parse::<u64>().unwrap();
    let last = lines(data, id, "metrics.jsonl").pop().unwrap();
    assert_eq!(number("step"), last["step"].as_u64().unwrap());
    assert_eq!(number("update") * 2048, number("step"));
    let config: Value = serde_json::from_str(about["config"].as_str().unwrap()).unwrap();
    assert_eq!(config["learning_rate"], 1.0);
    assert_eq!(
        metadata(&fault.join("weights.safetensors"))["policy"],
        r#"{"head":"gaussian","activation":"tanh"}"#
    );
}

#[test]
fn what_was_stopped_is_made_again_to_where_it_got_and_what_goes_on_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let id = train(data, &["--steps", "1e9"]);
    wait_for_event(data, &id, "training_started");
    let args = ["reproduce", &id, "--data", "."];
    let output = run(data, &args);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    ask(data, &["stop", &id]);
    wait_for_exit(data, &id);
    check_equal(data, &id, "1");
    // Some follow from the rows, and are found all the same.
    let keys =
        "time/total_timesteps,time/iterations,time/time_elapsed,time/episodes,train/n_updates";
    let row = ask(data, &["metrics", &id, "--keys", keys, "--tail", "1"]);
    let value = |key: &str| row["metrics"][key].as_f64().unwrap();
    assert_eq!(value("time/total_timesteps"), row["step"].as_f64().unwrap());
    assert_eq!(value("time/iterations"), row["step"].as_f64().unwrap() / 2048.0);
    assert_eq!(value("train/n_updates"), 10.0 * value("time/iterations"));
    assert!(value("time/time_elapsed") > 0.0 && value("time/episodes") > 0.0, "{row}");
    // Metrics are found by any library's name.
    let keys = ["--keys", "losses/entropy,train/entropy_loss", "--tail", "2"];
    let row = ask(data, &[&["metrics", &id][..], &keys[..]].concat());
    let entropy = row["metrics"]["losses/entropy"].as_f64().unwrap();
    assert_eq!(row["metrics"]["train/entropy_loss"], -entropy);
    // CleanRL's two of single episodes have all of them, at their own steps.
    let keys = ["--keys", "charts/episodic_return,charts/episodic_length", "--tail", "0"];
    let output = run(data, &[&["metrics", &id, "--json", "--data", "."][..], &keys[..]].concat());
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len() as f64, value("time/episodes"));
    // Every step of CartPole earns 1.
    let earned = |line: &Value| line["metrics"]["charts/episodic_return"].as_f64().unwrap();
    assert!(lines.iter().all(|line| line["metrics"]["charts/episodic_length"] == earned(line)));
    assert!(lines.is_sorted_by_key(|line| line["step"].as_u64().unwrap()));
    let output = run(data, &["reproduce", "r-222222", "--data", "."]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}
