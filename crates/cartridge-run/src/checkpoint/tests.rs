use std::path::PathBuf;

use cartridge_games::registry::make_env;
use cartridge_learn::ppo::{self, Ppo};
use cartridge_learn::team::Team;
use cartridge_store::{ArtifactKind, ArtifactList};

use super::*;

fn policy(seed: u64) -> Policy {
    Policy::new(4, 2, &mut fastrand::Rng::with_seed(seed))
}

/// A learner that has made as many updates of two steps.
fn learner(n_updates: u64) -> Ppo {
    let config = ppo::Config { n_envs: 1, n_steps: 1, n_epochs: 1, ..ppo::Config::default() };
    let env = make_env("CartPole-v1", &Default::default()).unwrap();
    let mut ppo = Ppo::new(vec![env], &config, 1, Team::new(1));
    (0..n_updates).for_each(|_| _ = ppo.update());
    ppo
}

fn progress() -> Progress {
    Progress {
        row: 7,
        episode: 3,
        next_checkpoint: 100,
        evaluate_every: 50,
        next_evaluation: 50,
        best: Some((1.5, 10)),
    }
}

/// Saves a checkpoint after `step` steps.
pub(crate) fn save_at(dir: &RunDir, step: u64) -> (String, Policy) {
    let ppo = learner(step);
    let name =
        save(dir, "CartPole-v1", ppo.policy(), &State::Ppo(ppo.state()), progress()).unwrap();
    (name, ppo.policy().clone())
}

struct Fixture {
    dir: RunDir,
    run: RunId,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = RunDir::new(folder.path().join("r-000000"));
        fs::create_dir(dir.path()).unwrap();
        Self { dir, run: "r-000000".parse().unwrap(), _folder: folder }
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.checkpoints_path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_policy_survives_the_disk() {
    let fixture = Fixture::new();
    let (name, saved) = save_at(&fixture.dir, 5);
    assert_eq!(name, "step_000000005");
    let (manifest, loaded) = load(&fixture.dir, &fixture.run, Alias::Latest).unwrap();
    assert_eq!((manifest.step, loaded.sha256()), (5, saved.sha256()));
    assert!(matches!(
        load(&fixture.dir, &fixture.run, Alias::Best),
        Err(RunError::NoCheckpoint(_))
    ));
}

#[test]
fn old_checkpoints_go_and_the_best_and_the_pinned_stay() {
    let fixture = Fixture::new();
    let keep_two = Retention {
        checkpoint_every_steps: 1000,
        keep_checkpoints: 2,
        keep_videos: 3,
        shard_target_mb: 128,
        milestone_every_steps: 0,
    };
    for step in 1..=5 {
        let (name, _) = save_at(&fixture.dir, step);
        if step == 2 {
            point(&fixture.dir, Alias::Best, &name).unwrap();
        }
        prune(&fixture.dir, &keep_two, &["step_000000001".to_owned()].into()).unwrap();
    }
    let steps = [1, 2, 4, 5].map(name_of);
    let expected: Vec<String> =
        ["best", "latest"].map(str::to_owned).into_iter().chain(steps).collect();
    assert_eq!(fixture.names(), expected);
    // The list of artifacts says the same, and how many there have been.
    let list = ArtifactList::read(&fixture.dir).unwrap().unwrap();
    assert_eq!(list.kept(ArtifactKind::Checkpoint), (4, 5));
}

#[test]
fn a_crash_while_saving_leaves_the_last_one() {
    let fixture = Fixture::new();
    save_at(&fixture.dir, 1);
    // The next one was begun and not finished.
    let half: PathBuf = fixture.dir.checkpoints_path().join(".step_000000002");
    fs::create_dir(&half).unwrap();
    fs::write(half.join(WEIGHTS), b"half").unwrap();
    assert_eq!(load(&fixture.dir, &fixture.run, Alias::Latest).unwrap().0.step, 1);
    save_at(&fixture.dir, 2);
    assert_eq!(load(&fixture.dir, &fixture.run, Alias::Latest).unwrap().0.step, 2);
}

#[test]
fn changed_weights_are_noticed() {
    let fixture = Fixture::new();
    let (name, _) = save_at(&fixture.dir, 1);
    let path = fixture.dir.checkpoints_path().join(name).join(WEIGHTS);
    fs::write(&path, policy(2).to_safetensors()).unwrap();
    let message = load(&fixture.dir, &fixture.run, Alias::Latest).unwrap_err().to_string();
    assert!(message.contains("is damaged"), "{message}");
    let bytes = fs::read(&path).unwrap();
    for cut in [0, 7, 8, 100, bytes.len() - 1] {
        fs::write(&path, &bytes[..cut]).unwrap();
        assert!(load(&fixture.dir, &fixture.run, Alias::Latest).is_err(), "cut at {cut}");
    }
}

#[test]
fn an_alias_is_never_a_path() {
    let fixture = Fixture::new();
    save_at(&fixture.dir, 1);
    for evil in ["../../../token", "/etc/passwd", "step_../..", ""] {
        fs::write(fixture.dir.checkpoints_path().join("latest"), evil).unwrap();
        assert_eq!(named(&fixture.dir, Alias::Latest), None, "{evil}");
    }
}

#[test]
fn a_milestone_is_the_first_checkpoint_past_a_multiple() {
    let check = |names: &[&str], every: u64, expected: bool| {
        let names: Vec<String> = names.iter().map(|name| format!("step_{name}")).collect();
        assert_eq!(is_milestone(&names, every), expected, "{names:?} every {every}");
    };
    check(&["000000900", "000001000"], 1000, true);
    check(&["000000900", "000001100"], 1000, true);
    check(&["000001100", "000001900"], 1000, false);
    check(&["000000100"], 1000, false);
    check(&["000000900", "000001000"], 0, false);
}

#[test]
fn a_run_goes_on_from_a_whole_checkpoint_only() {
    let fixture = Fixture::new();
    let (name, _) = save_at(&fixture.dir, 3);
    let whole = load_whole(&fixture.dir, &fixture.run, &name).unwrap();
    assert_eq!((whole.progress, whole.state.step()), (progress(), 3));
    let path = fixture.dir.checkpoints_path().join(&name).join(STATE);
    let bytes = fs::read(&path).unwrap();
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    for bad in [&changed[..], &bytes[..bytes.len() - 1], b""] {
        fs::write(&path, bad).unwrap();
        let message = load_whole(&fixture.dir, &fixture.run, &name).unwrap_err().to_string();
        assert!(message.contains("is not the file that the manifest names"), "{message}");
    }
    // One of the first format can be looked at, and not gone on from.
    let path = fixture.dir.checkpoints_path().join(&name).join(MANIFEST);
    let mut old: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    old["format"] = 1.into();
    old.as_object_mut().unwrap().retain(|key, _| key != "progress" && key != "parts");
    fs::write(&path, old.to_string()).unwrap();
    load_named(&fixture.dir, &fixture.run, &name).unwrap();
    let error = load_whole(&fixture.dir, &fixture.run, &name).unwrap_err();
    assert!(matches!(error, RunError::NoState { .. }), "{error}");
}

#[test]
fn a_checkpoint_has_several_names() {
    let fixture = Fixture::new();
    save_at(&fixture.dir, 2);
    save_at(&fixture.dir, 3);
    for (text, expected) in [("latest", 3), ("2", 2), ("step_000000002", 2), ("0_3", 3)] {
        assert_eq!(find(&fixture.dir, &fixture.run, text).unwrap(), name_of(expected), "{text}");
    }
    for text in ["best", "4", "../x", "step_000000009", ""] {
        let error = find(&fixture.dir, &fixture.run, text).unwrap_err();
        assert!(matches!(error, RunError::NoSuchCheckpoint { .. }), "{text}: {error}");
    }
    forget_after(&fixture.dir, Some(&name_of(2))).unwrap();
    assert_eq!(names(&fixture.dir).unwrap(), [name_of(2)]);
    forget_after(&fixture.dir, None).unwrap();
    assert_eq!(names(&fixture.dir).unwrap(), [""; 0]);
}
