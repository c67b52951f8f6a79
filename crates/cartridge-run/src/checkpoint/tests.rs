use std::path::PathBuf;

use cartridge_store::{ArtifactKind, ArtifactList};

use super::*;

fn policy(seed: u64) -> Policy {
    Policy::new(4, 2, &mut fastrand::Rng::with_seed(seed))
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
    let saved = policy(1);
    let name = save(&fixture.dir, "CartPole-v1", 5_000, &saved).unwrap();
    assert_eq!(name, "step_000005000");
    let (manifest, loaded) = load(&fixture.dir, &fixture.run, Alias::Latest).unwrap();
    assert_eq!((manifest.step, loaded.sha256()), (5_000, saved.sha256()));
    assert!(matches!(
        load(&fixture.dir, &fixture.run, Alias::Best),
        Err(RunError::NoCheckpoint(_))
    ));
}

#[test]
fn old_checkpoints_go_and_the_best_stays() {
    let fixture = Fixture::new();
    let keep_two = Retention {
        checkpoint_every_steps: 1000,
        keep_checkpoints: 2,
        keep_videos: 3,
        shard_target_mb: 128,
        milestone_every_steps: 0,
    };
    for step in 1..=5 {
        let name = save(&fixture.dir, "CartPole-v1", step, &policy(step)).unwrap();
        if step == 2 {
            point(&fixture.dir, Alias::Best, &name).unwrap();
        }
        prune(&fixture.dir, &keep_two).unwrap();
    }
    let expected = ["best", "latest", "step_000000002", "step_000000004", "step_000000005"];
    assert_eq!(fixture.names(), expected);
    // The list of artifacts says the same, and how many there have been.
    let list = ArtifactList::read(&fixture.dir).unwrap().unwrap();
    assert_eq!(list.kept(ArtifactKind::Checkpoint), (3, 5));
}

#[test]
fn a_crash_while_saving_leaves_the_last_one() {
    let fixture = Fixture::new();
    save(&fixture.dir, "CartPole-v1", 1, &policy(1)).unwrap();
    // The next one was begun and not finished.
    let half: PathBuf = fixture.dir.checkpoints_path().join(".step_000000002");
    fs::create_dir(&half).unwrap();
    fs::write(half.join(WEIGHTS), b"half").unwrap();
    assert_eq!(load(&fixture.dir, &fixture.run, Alias::Latest).unwrap().0.step, 1);
    save(&fixture.dir, "CartPole-v1", 2, &policy(2)).unwrap();
    assert_eq!(load(&fixture.dir, &fixture.run, Alias::Latest).unwrap().0.step, 2);
}

#[test]
fn changed_weights_are_noticed() {
    let fixture = Fixture::new();
    let name = save(&fixture.dir, "CartPole-v1", 1, &policy(1)).unwrap();
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
    save(&fixture.dir, "CartPole-v1", 1, &policy(1)).unwrap();
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
