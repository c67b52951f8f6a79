use cartridge_store::ArtifactId;
use cartridge_store::artifacts::Base;
use serde_json::json;

use super::*;

fn artifact(kind: ArtifactKind, path: &str, at: f64, size_bytes: u64) -> Artifact {
    Artifact {
        id: ArtifactId::new(kind, Base::Run, path),
        kind,
        base: Base::Run,
        path: path.to_owned(),
        is_folder: false,
        n_files: 1,
        size_bytes,
        sha256: None,
        step: None,
        created_at: at,
        modified_at: at,
        milestone: false,
        pinned: false,
        shared: false,
    }
}

/// A run that has ended, with five videos and seven checkpoints of 10 bytes each.
fn facts(n: u32) -> RunFacts {
    let run: RunId = format!("r-{n:06}").parse().unwrap();
    let mut list = ArtifactList::new(run.clone());
    let at = f64::from(n) * 100.0;
    for n in 0..5 {
        let path = format!("videos/{n}.mp4");
        list.put(artifact(ArtifactKind::Video, &path, at + f64::from(n), 10));
    }
    for n in 1..=7 {
        let path = format!("checkpoints/step_{:09}", n * 100);
        list.put(artifact(ArtifactKind::Checkpoint, &path, at, 10));
    }
    list.put(artifact(ArtifactKind::Tensorboard, "runs/a", at, 10));
    list.put(artifact(ArtifactKind::Log, "log.txt", at, 10));
    RunFacts {
        evaluates: None,
        run,
        env_id: "CartPole-v1".to_owned(),
        experiment_id: None,
        agent: "ppo".to_owned(),
        created_at: at,
        is_at_work: false,
        is_pinned: false,
        is_counted: true,
        keep_videos: None,
        keep_checkpoints: None,
        milestone_every_steps: None,
        has_pins: false,
        kept_checkpoints: BTreeSet::from([
            "step_000000700".to_owned(),
            "step_000000100".to_owned(),
        ]),
        list,
    }
}

fn nothing() -> Limits {
    Limits::nothing()
}

/// The paths that go, in the order of the plan.
#[track_caller]
fn check(facts: &[RunFacts], limits: &Limits, expected: &[&str]) -> Plan {
    let plan = plan(facts, limits, 0);
    let going: Vec<&str> =
        plan.artifacts.iter().map(|doomed| doomed.artifact.path.as_str()).collect();
    assert_eq!(going, expected);
    assert_eq!(plan.freed_bytes, 10 * expected.len() as u64);
    plan
}

#[test]
fn the_newest_of_each_run_stay_with_what_is_pinned_or_pointed_to() {
    check(&[facts(1)], &nothing(), &[]);
    // The checkpoint at 100 is the best one.
    let gone = ["videos/0.mp4", "videos/1.mp4", "checkpoints/step_000000200"];
    check(&[facts(1)], &Limits::default(), &gone);
    let mut run = facts(1);
    run.list.artifacts.iter_mut().find(|a| a.path == "videos/0.mp4").unwrap().pinned = true;
    let two = |a: &&mut Artifact| a.path.ends_with("200");
    run.list.artifacts.iter_mut().find(two).unwrap().milestone = true;
    check(&[run], &Limits::default(), &["videos/1.mp4"]);
    // The run's own word comes first.
    let mut run = facts(1);
    run.keep_videos = Some(1);
    run.keep_checkpoints = Some(100);
    check(
        &[run],
        &Limits::default(),
        &["videos/0.mp4", "videos/1.mp4", "videos/2.mp4", "videos/3.mp4"],
    );
}

/// An evaluation of run 1 that has one film.
fn evaluation(n: u32) -> RunFacts {
    let mut evaluation = facts(n);
    let path = format!("videos/of_{n}.mp4");
    evaluation.list = ArtifactList::new(evaluation.run.clone());
    evaluation.list.put(artifact(ArtifactKind::Video, &path, f64::from(n), 10));
    evaluation.evaluates = Some("r-000001".parse().unwrap());
    evaluation
}

#[test]
fn films_of_the_evaluations_of_a_run_are_counted_together() {
    let limits = Limits { keep_videos: Some(3), ..nothing() };
    let all: Vec<RunFacts> = (2..7).map(evaluation).collect();
    let plan = check(&all, &limits, &["videos/of_3.mp4", "videos/of_2.mp4"]);
    assert_eq!(plan.artifacts[0].reason, "the newest 3 of the evaluations of r-000001 are kept");
    // The word of the run that is evaluated comes first, and its own films are apart.
    let mut subject = facts(1);
    subject.keep_videos = Some(4);
    let all: Vec<RunFacts> = all.into_iter().chain([subject]).collect();
    check(&all, &limits, &["videos/0.mp4", "videos/of_2.mp4"]);
}

#[test]
fn runs_at_work_and_pinned_runs_are_not_touched() {
    let mut at_work = facts(1);
    at_work.is_at_work = true;
    let mut pinned = facts(2);
    pinned.is_pinned = true;
    let limits = Limits {
        keep_videos: Some(0),
        keep_checkpoints: Some(0),
        keep_tensorboard_runs: Some(0),
        keep_runs_per_experiment: Some(0),
        keep_runs_per_agent: Some(0),
        milestone_every_steps: Some(1),
        max_bytes: Some(0),
    };
    let plan = check(&[at_work, pinned], &limits, &[]);
    assert_eq!((plan.runs, plan.over_bytes), (Vec::new(), 2 * 14 * 10));
}

#[test]
fn what_others_may_use_too_takes_no_place_of_ones_own() {
    let mut run = facts(1);
    for n in 0..3 {
        let shared = artifact(ArtifactKind::Video, &format!("videos/other-{n}.mp4"), 1e6, 10);
        run.list.put(Artifact { shared: true, ..shared });
    }
    let limits = Limits { keep_videos: Some(5), ..nothing() };
    check(&[run], &limits, &[]);
}

#[test]
fn a_run_with_a_pinned_checkpoint_stays_whole() {
    let mut runs = [facts(1), facts(2), facts(3)];
    runs[0].has_pins = true;
    let limits = Limits { keep_runs_per_agent: Some(1), ..nothing() };
    let plan = check(&runs, &limits, &[]);
    let gone: Vec<&RunId> = plan.runs.iter().map(|doomed| &doomed.run_id).collect();
    assert_eq!(gone, [&runs[1].run]);
}

#[test]
fn what_others_may_use_too_is_never_removed() {
    let mut run = facts(1);
    run.list.artifacts.iter_mut().for_each(|artifact| artifact.shared = true);
    check(&[run], &Limits { keep_videos: Some(0), max_bytes: Some(0), ..nothing() }, &[]);
}

#[test]
fn tensorboard_folders_are_counted_over_all_runs() {
    let limits = Limits { keep_tensorboard_runs: Some(2), ..nothing() };
    let plan = check(&[facts(1), facts(2), facts(3)], &limits, &["runs/a"]);
    assert_eq!(plan.artifacts[0].run_id.as_str(), "r-000001");
}

#[test]
fn the_oldest_runs_of_each_environment_and_agent_go() {
    let going = |limits: &Limits, all: &[RunFacts]| -> Vec<String> {
        plan(all, limits, 0).runs.into_iter().map(|run| run.run_id.to_string()).collect()
    };
    let mut all = vec![facts(1), facts(2), facts(3), facts(4)];
    all[0].env_id = "Acrobot-v1".to_owned();
    all[1].agent = "dqn".to_owned();
    let limits = Limits { keep_runs_per_experiment: Some(1), ..nothing() };
    assert_eq!(going(&limits, &all), ["r-000003", "r-000002"]);
    let limits = Limits { keep_runs_per_agent: Some(1), ..nothing() };
    assert_eq!(going(&limits, &all), ["r-000003"]);
    all[2].is_pinned = true;
    assert_eq!(going(&limits, &all), [""; 0]);

    // An experiment counts its own runs, whatever their environments.
    let mut all = vec![facts(1), facts(2), facts(3), facts(4)];
    for (idx, id) in [(0, "sweep"), (2, "sweep"), (3, "CartPole-v1")] {
        all[idx].experiment_id = Some(id.to_owned());
    }
    all[0].env_id = "Acrobot-v1".to_owned();
    let limits = Limits { keep_runs_per_experiment: Some(1), ..nothing() };
    assert_eq!(going(&limits, &all), ["r-000001"]);
    let reason = &plan(&all, &limits, 0).runs[0].reason;
    assert_eq!(reason, "the newest 1 runs of experiment sweep are kept");
}

#[test]
fn bytes_are_freed_from_the_oldest_until_everything_fits() {
    let all = [facts(2), facts(1)];
    let limits = |max_bytes| Limits { max_bytes: Some(max_bytes), ..nothing() };
    check(&all, &limits(280), &[]);
    let plan = check(&all, &limits(255), &["videos/0.mp4", "videos/1.mp4", "videos/2.mp4"]);
    assert!(plan.artifacts.iter().all(|doomed| doomed.run_id.as_str() == "r-000001"));
    assert_eq!(plan.over_bytes, 0);
    // Two logs and four checkpoints that are pointed to stay whatever the limit.
    assert_eq!(super::plan(&all, &limits(0), 0).over_bytes, 60);
}

#[test]
fn a_lab_without_a_file_has_the_defaults_and_unknown_keys_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    assert_eq!(LabConfig::read(&data).unwrap(), LabConfig::default());
    let read = |value: Value| {
        fs::write(data.path().join("lab.json"), value.to_string()).unwrap();
        LabConfig::read(&data).map_err(|error| error.to_string())
    };
    let read_limits = read(json!({ "retention": { "keep_videos": null, "max_bytes": 1000 } }));
    let limits = read_limits.unwrap().retention;
    assert_eq!((limits.keep_videos, limits.keep_checkpoints), (None, Some(5)));
    assert_eq!(limits.max_bytes, Some(1000));
    for (given, expected) in [
        (
            json!({ "retention": { "keep_vidoes": 3 } }),
            "unknown option `retention.keep_vidoes`; did you mean `retention.keep_videos`?",
        ),
        (json!({ "retentoin": {} }), "unknown option `retentoin`; did you mean `retention`?"),
        (
            json!({ "retention": { "keep_videos": -1 } }),
            "`retention.keep_videos`: invalid value: integer `-1`, expected a whole number, 0 or more",
        ),
    ] {
        assert_eq!(read(given).unwrap_err(), expected);
    }
    assert!(read(json!({ "format": 99 })).unwrap_err().contains("format 99"));
}

#[test]
fn what_is_no_artifact_counts_for_the_bytes_in_all() {
    let all = [facts(1)];
    let limits = Limits { max_bytes: Some(140), ..nothing() };
    assert_eq!(plan(&all, &limits, 0).artifacts.len(), 0);
    // Records, index and trash take 25 bytes: three films must go.
    let plan = plan(&all, &limits, 25);
    assert_eq!((plan.artifacts.len(), plan.freed_bytes, plan.over_bytes), (3, 30, 0));
}

#[test]
fn foreign_checkpoints_go_by_their_steps_and_milestones_stay() {
    let mut run = facts(1);
    run.list.artifacts.clear();
    run.kept_checkpoints = BTreeSet::from(["models/a/9.pt".to_owned()]);
    // Names tell nothing of the order; the last component is not the name.
    for (path, step) in
        [("models/z.pt", 100), ("models/a/9.pt", 250), ("final", 1000), ("models/b/9.pt", 400)]
    {
        let found = artifact(ArtifactKind::Checkpoint, path, 1.0, 10);
        run.list.put(Artifact { step: Some(step), ..found });
    }
    let limits = Limits { keep_checkpoints: Some(1), ..nothing() };
    check(&[run.clone()], &limits, &["models/z.pt", "models/b/9.pt"]);
    let limits = Limits { milestone_every_steps: Some(300), ..limits };
    check(&[run.clone()], &limits, &["models/z.pt"]);
    // What the run says itself comes first.
    run.milestone_every_steps = Some(0);
    check(&[run], &limits, &["models/z.pt", "models/b/9.pt"]);
}
