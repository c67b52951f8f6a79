use std::fs;
use std::os::unix::fs::symlink;

use cartridge_store::{DataDir, RunKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const NOW: f64 = 2e9;

/// A run folder and a working folder beside it.
struct Fixture {
    folder: TempDir,
    dir: RunDir,
    subject: Subject,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let data = DataDir::open(folder.path().join("data")).unwrap();
        let (dir, manifest) = RunDir::create(&data, |id| {
            serde_json::from_value(json!({
                "format": 1, "id": id, "kind": RunKind::Train, "name": "a run",
                "env_id": "CartPole-v1", "config": {}, "created_at": 1.0, "cartridge_version": "0",
            }))
            .unwrap()
        })
        .unwrap();
        let subject = Subject::ended(&manifest, 1, NOW);
        Self { folder, dir, subject }
    }

    /// Declares the working folder, as the manifest of a foreign trainer does.
    fn at_work_in(self) -> Self {
        let path = self.dir.manifest_path();
        let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        manifest["cwd"] = json!(self.folder.path().join("work"));
        fs::write(&path, manifest.to_string()).unwrap();
        self
    }

    fn write(&self, path: &str, content: &[u8]) -> &Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn write_work(&self, path: &str, content: &[u8]) -> &Self {
        let path = self.folder.path().join("work").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn look(&self) -> Delta {
        look(&self.dir, &self.subject, NOW, u64::MAX).unwrap()
    }

    fn list(&self) -> ArtifactList {
        ArtifactList::read(&self.dir).unwrap().unwrap()
    }

    fn events(&self) -> Vec<Event> {
        let lines = jsonl::read_lines(&self.dir.events_path(), 0, None).unwrap();
        let parse =
            |line: &jsonl::Line| serde_json::from_slice::<EventLine>(&line.bytes).unwrap().event;
        lines.iter().map(parse).collect()
    }

    fn id(&self, path: &str) -> ArtifactId {
        let list = self.list();
        list.artifacts.iter().find(|artifact| artifact.path == path).unwrap().id.clone()
    }
}

/// What a look at the fixture finds, in order: kind and path.
#[track_caller]
fn check(fixture: &Fixture, expected: &[(&str, &str)]) {
    fixture.look();
    let list = fixture.list();
    let found: Vec<(&str, &str)> = list
        .artifacts
        .iter()
        .map(|artifact| (artifact.kind.as_str(), artifact.path.as_str()))
        .collect();
    let mut sorted = expected.to_vec();
    sorted.sort_unstable();
    let mut found_sorted = found.clone();
    found_sorted.sort_unstable();
    assert_eq!(found_sorted, sorted);
}

#[test]
fn everything_in_the_run_folder_has_a_name() {
    let fixture = Fixture::new();
    fixture
        .write("events.jsonl", b"")
        .write("metrics.jsonl", b"{}\n")
        .write("log.txt", b"hello")
        .write("episodes/000001.seg", b"x")
        .write("checkpoints/step_000000100/weights.safetensors", b"w")
        .write("checkpoints/.step_000000200/weights.safetensors", b"half")
        .write("checkpoints/latest", b"step_000000100")
        .write("videos/CartPole__1/rl-video-episode-0.mp4", b"film")
        .write("videos/CartPole__1/rl-video-episode-0.meta.json", b"{}")
        .write("videos/anim.GIF", b"gif")
        .write("eval/latest.mp4", b"film")
        .write("eval/result.json", b"{}")
        .write("runs/CartPole__1/events.out.tfevents.1.host", b"tb")
        .write("runs/nothing/readme", b"")
        .write("wandb/run-20260101-abc/files/config.yaml", b"")
        .write("artifacts.json.new-0123", b"half")
        .write("replay.db", b"sqlite");
    symlink("/etc/passwd", fixture.dir.path().join("videos/passwd.mp4")).unwrap();
    symlink("/etc", fixture.dir.path().join("runs/etc")).unwrap();
    fs::hard_link("/proc/self/environ", fixture.dir.path().join("videos/hard.mp4")).unwrap_err();
    check(
        &fixture,
        &[
            ("log", "log.txt"),
            ("episodes", "episodes"),
            ("checkpoint", "checkpoints/step_000000100"),
            ("video", "videos/CartPole__1/rl-video-episode-0.mp4"),
            ("other", "videos/CartPole__1/rl-video-episode-0.meta.json"),
            ("video", "videos/anim.GIF"),
            ("video", "eval/latest.mp4"),
            ("eval", "eval/result.json"),
            ("tensorboard", "runs/CartPole__1"),
            ("other", "runs/nothing"),
            ("wandb", "wandb/run-20260101-abc"),
            ("other", "replay.db"),
        ],
    );
    let list = fixture.list();
    assert_eq!(list.complete_attempt, Some(1));
    assert!(list.artifacts.iter().all(|artifact| artifact.sha256.is_some()));
}

#[test]
fn a_working_folder_gives_what_trainers_commonly_leave_and_nothing_else() {
    let fixture = Fixture::new().at_work_in();
    let run = fixture.subject.run.to_string();
    fixture
        .write_work(&format!("videos/{run}/0.mp4"), b"film")
        .write_work("videos/CartPole__1__1700000000/0.mp4", b"film")
        .write_work(&format!("runs/{run}/events.out.tfevents.1"), b"tb")
        .write_work("runs/no-events/x", b"")
        .write_work("wandb/run-1-a/run-a.wandb", b"w")
        .write_work("wandb/run-2-b/run-b.wandb", b"w")
        .write_work("train.py", b"print()")
        .write_work(".env", b"SECRET=1")
        .write_work("checkpoints/step_000000001/w", b"");
    symlink("run-2-b", fixture.folder.path().join("work/wandb/latest-run")).unwrap();
    check(
        &fixture,
        &[
            ("video", &format!("videos/{run}/0.mp4")),
            ("video", "videos/CartPole__1__1700000000/0.mp4"),
            ("tensorboard", &format!("runs/{run}")),
            ("wandb", "wandb/run-2-b"),
        ],
    );
    // What does not bear the run's name may be another's.
    let list = fixture.list();
    let shared = |path: &str| list.get(&fixture.id(path)).unwrap().shared;
    assert!(!shared(&format!("videos/{run}/0.mp4")));
    assert!(shared("videos/CartPole__1__1700000000/0.mp4") && shared("wandb/run-2-b"));
}

#[test]
fn what_was_written_before_the_run_is_not_the_runs() {
    let mut fixture = Fixture::new().at_work_in();
    fixture.write_work("videos/old/0.mp4", b"film");
    fixture.subject.began_at = NOW;
    assert_eq!(fixture.look().new, []);
}

#[test]
fn a_latest_run_that_leaves_its_folder_is_not_followed() {
    for target in ["../..", "/etc", "../videos", "run-1-a/../../x", "latest-run", "run-none", ".."]
    {
        let fixture = Fixture::new().at_work_in();
        fixture.write_work("wandb/run-1-a/x", b"x").write_work("x/run-3/y", b"y");
        symlink(target, fixture.folder.path().join("work/wandb/latest-run")).unwrap();
        assert_eq!(fixture.look().new, [], "{target}");
    }
    // An absolute link to a run beside it is what some versions write.
    let fixture = Fixture::new().at_work_in();
    fixture.write_work("wandb/run-1-a/x", b"x");
    let wandb = fixture.folder.path().join("work/wandb");
    symlink(wandb.join("run-1-a"), wandb.join("latest-run")).unwrap();
    assert_eq!(fixture.look().new.len(), 1);
    // A run folder that is itself a link is none.
    let fixture = Fixture::new().at_work_in();
    fixture.write_work("wandb/x", b"x");
    let wandb = fixture.folder.path().join("work/wandb");
    symlink("/etc", wandb.join("run-1")).unwrap();
    symlink("run-1", wandb.join("latest-run")).unwrap();
    assert_eq!(fixture.look().new, []);
}

#[test]
fn news_are_told_once_and_only_what_is_news() {
    let fixture = Fixture::new();
    fixture.write("log.txt", b"hello").write("videos/a/0.mp4", b"film");
    assert_eq!(fixture.look().new.len(), 2);
    let message = |event: &Event| event.message();
    let told: Vec<String> = fixture.events().iter().map(message).collect();
    assert_eq!(told, ["Video available: videos/a/0.mp4"]);
    // Nothing new: nothing is said or written.
    let before = fs::metadata(fixture.dir.path().join("artifacts.json")).unwrap();
    assert_eq!(fixture.look(), Delta::default());
    let after = fs::metadata(fixture.dir.path().join("artifacts.json")).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    fs::remove_file(fixture.dir.path().join("videos/a/0.mp4")).unwrap();
    assert_eq!(fixture.look().gone.len(), 1);
    let told: Vec<String> = fixture.events().iter().map(message).collect();
    assert_eq!(told[1..], ["Video videos/a/0.mp4 pruned, 0 of 1 kept: it is no longer on disk"]);
}

#[test]
fn while_a_trainer_holds_its_events_news_wait_in_the_list() {
    let mut fixture = Fixture::new();
    fixture.subject.is_at_work = true;
    fixture.write("videos/a/0.mp4", b"film").write("log.txt", b"hello");
    let held = Appender::open(fixture.dir.events_path()).unwrap();
    fixture.look();
    assert_eq!(fixture.events(), []);
    assert_eq!(fixture.list().untold.len(), 1);
    // What grows is hashed at the end only.
    assert_eq!(fixture.list().get(&fixture.id("log.txt")).unwrap().sha256, None);
    drop(held);
    fixture.subject.is_at_work = false;
    fixture.look();
    assert_eq!(fixture.events().len(), 1);
    assert!(fixture.list().untold.is_empty());
    assert!(fixture.list().get(&fixture.id("log.txt")).unwrap().sha256.is_some());
}

#[test]
fn a_film_that_is_still_written_is_left_for_later() {
    let mut fixture = Fixture::new();
    fixture.subject.is_at_work = true;
    fixture.write("videos/a/0.mp4", b"half");
    let now = fs::metadata(fixture.dir.path().join("videos/a/0.mp4")).unwrap();
    let now = now.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    assert_eq!(look(&fixture.dir, &fixture.subject, now + 0.5, 99).unwrap().new, []);
    assert_eq!(look(&fixture.dir, &fixture.subject, now + 9.0, 99).unwrap().new.len(), 1);
}

#[test]
fn what_is_too_large_to_hash_now_is_hashed_later() {
    let fixture = Fixture::new();
    fixture.write("videos/a/0.mp4", &[0; 1000]).write("videos/a/1.mp4", &[0; 100]);
    let delta = look(&fixture.dir, &fixture.subject, NOW, 500).unwrap();
    assert!(delta.is_unfinished && delta.new.len() == 2);
    assert_eq!(fixture.list().complete_attempt, None);
    assert!(!fixture.look().is_unfinished);
    assert_eq!(fixture.list().complete_attempt, Some(1));
    assert!(fixture.list().artifacts.iter().all(|artifact| artifact.sha256.is_some()));
}

#[test]
fn pruning_removes_the_file_and_says_so_but_never_what_is_pinned_or_shared() {
    let fixture = Fixture::new().at_work_in();
    for n in 0..5 {
        fixture.write(&format!("videos/a/{n}.mp4"), b"film");
    }
    fixture.write_work("videos/b/9.mp4", b"film");
    fixture.look();
    let mut locked = Locked::open(&fixture.dir, &fixture.subject.run).unwrap();
    locked.list.artifacts.iter_mut().find(|a| a.path == "videos/a/1.mp4").unwrap().pinned = true;
    locked.save().unwrap();
    drop(locked);
    let wanted: Vec<_> = ["videos/a/0.mp4", "videos/a/1.mp4", "videos/b/9.mp4"]
        .map(|path| (fixture.id(path), "a test".to_owned()))
        .to_vec();
    let pruned = prune(&fixture.dir, &fixture.subject, &wanted, NOW).unwrap();
    assert_eq!(pruned.len(), 1);
    assert_eq!((pruned[0].kept, pruned[0].total), (5, 6));
    assert!(!fixture.dir.path().join("videos/a/0.mp4").exists());
    assert!(fixture.dir.path().join("videos/a/1.mp4").exists());
    assert!(fixture.folder.path().join("work/videos/b/9.mp4").exists());
    let told = fixture.events().last().unwrap().message();
    assert_eq!(told, "Video videos/a/0.mp4 pruned, 5 of 6 kept: a test");
}

#[test]
fn a_removal_that_a_crash_cut_short_is_done_again_and_told_once() {
    let fixture = Fixture::new();
    for n in 0..3 {
        fixture.write(&format!("videos/a/{n}.mp4"), b"film");
    }
    fixture.look();
    // The crash comes after the list is durable and before the file goes.
    let id = fixture.id("videos/a/0.mp4");
    let mut locked = Locked::open(&fixture.dir, &fixture.subject.run).unwrap();
    locked.list.drop(&id);
    locked.save().unwrap();
    assert_eq!(locked.list.kept(ArtifactKind::Video), (2, 3));
    drop(locked);
    assert_eq!(fixture.look().new.len(), 1);
    assert_eq!(fixture.list().kept(ArtifactKind::Video), (3, 3));
    prune(&fixture.dir, &fixture.subject, &[(id, "a test".to_owned())], NOW).unwrap();
    assert_eq!(fixture.list().kept(ArtifactKind::Video), (2, 3));
    // The crash comes after the event and before the list forgets that it was untold.
    let mut locked = Locked::open(&fixture.dir, &fixture.subject.run).unwrap();
    let last = jsonl::read_lines(&fixture.dir.events_path(), 0, None).unwrap().pop().unwrap();
    locked.list.untold.push(serde_json::from_slice(&last.bytes).unwrap());
    locked.save().unwrap();
    drop(locked);
    let n_events = fixture.events().len();
    fixture.look();
    assert_eq!(fixture.events().len(), n_events);
    assert!(fixture.list().untold.is_empty());
}

#[test]
fn what_a_trainer_names_is_its_own_and_never_outside_its_folders() {
    let fixture = Fixture::new().at_work_in();
    let work = fixture.folder.path().join("work").canonicalize().unwrap();
    fixture
        .write_work("videos/CartPole__1/0.mp4", b"film")
        .write_work("out/tb/events.out.tfevents.1", b"tb")
        .write_work("models/final.zip", b"zip");
    fs::write(fixture.folder.path().join("secret.mp4"), b"secret").unwrap();
    symlink("../secret.mp4", work.join("link.mp4")).unwrap();
    let mut events = Appender::open(fixture.dir.events_path()).unwrap();
    for named in [
        json!({ "video": "videos/CartPole__1/0.mp4", "wandb_url": "https://wandb.ai/x/y/runs/z" }),
        json!({ "tensorboard": work.join("out/tb/"), "model": "models/final.zip" }),
        json!({ "video": "../secret.mp4", "a": "/etc/passwd", "b": "link.mp4", "c": "/", "d": "" }),
        json!({ "e": fixture.dir.manifest_path(), "f": "..", "g": "https://example.com/x" }),
    ] {
        let line = json!({
            "attempt": 1, "t": 1.0, "type": "artifacts_named", "artifacts": named,
        });
        events.append(&line).unwrap();
    }
    drop(events);
    check(
        &fixture,
        &[
            ("video", "videos/CartPole__1/0.mp4"),
            ("tensorboard", "out/tb"),
            ("other", "models/final.zip"),
        ],
    );
    let list = fixture.list();
    assert!(list.artifacts.iter().all(|artifact| !artifact.shared));
    assert_eq!(list.wandb_url.as_deref(), Some("https://wandb.ai/x/y/runs/z"));
}

#[test]
fn what_a_trainer_names_as_a_checkpoint_is_one_wherever_it_lies() {
    let fixture = Fixture::new();
    fixture
        .write("checkpoints/epoch-1.pt", b"1")
        .write("checkpoints/notes.md", b"n")
        .write("models/deep/two.pt", b"2")
        .write("models/deep/other.txt", b"o")
        .write("models/readme", b"r")
        .write("runs/a/events.out.tfevents.1", b"tb")
        .write("runs/a/three.pt", b"3")
        .write("four/weights", b"4")
        .write("frame.json", b"{}")
        .write("frame.new", b"{}")
        .write("log.txt", b"hello");
    // A look before the trainer has said a word.
    fixture.look();
    let mut events = Appender::open(fixture.dir.events_path()).unwrap();
    let mut save = |step: u64, path: &str| {
        let mut line = json!({ "attempt": 1, "t": 1.0, "type": "checkpoint_saved", "step": step });
        match path.strip_prefix("checkpoints/") {
            Some(name) => line["name"] = json!(name),
            None => (line["name"], line["path"]) = (json!(path), json!(path)),
        }
        events.append(&line).unwrap();
    };
    save(10, "checkpoints/epoch-1.pt");
    save(20, "models/deep/two.pt");
    save(30, "runs/a/three.pt");
    save(40, "four");
    save(50, "gone.pt");
    // The run itself is nobody's checkpoint, nor is what holds others.
    for place in ["run.json", "log.txt", "episodes", "checkpoints", "models", "../x", "frame.json"]
    {
        save(60, place);
    }
    drop(events);
    let expected = [
        ("checkpoint", "checkpoints/epoch-1.pt"),
        ("other", "checkpoints/notes.md"),
        ("checkpoint", "models/deep/two.pt"),
        ("other", "models/deep/other.txt"),
        ("other", "models/readme"),
        ("tensorboard", "runs/a"),
        ("checkpoint", "runs/a/three.pt"),
        ("checkpoint", "four"),
        ("log", "log.txt"),
    ];
    check(&fixture, &expected);
    let steps: Vec<(u64, String)> = foreign_checkpoints(&fixture.dir).unwrap();
    let steps: Vec<u64> = steps.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [10, 20, 30, 40]);
    let list = fixture.list();
    let of = |path: &str| list.artifacts.iter().find(|it| it.path == path).unwrap().step;
    assert_eq!((of("models/deep/two.pt"), of("log.txt")), (Some(20), None));
    // Events may grow too long to be read again: the list remembers.
    fs::write(fixture.dir.events_path(), b"").unwrap();
    check(&fixture, &expected);
    assert_eq!(fixture.look(), Delta::default());
    // One of them goes alone, and the folder around it is known for what is left.
    let id = fixture.id("runs/a/three.pt");
    prune(&fixture.dir, &fixture.subject, &[(id, "room".to_owned())], NOW).unwrap();
    assert!(!fixture.dir.path().join("runs/a/three.pt").exists());
    let list = fixture.list();
    let around = list.artifacts.iter().find(|it| it.path == "runs/a").unwrap();
    assert_eq!((around.size_bytes, around.n_files, &around.sha256), (2, 1, &None));
    fixture.look();
    assert!(fixture.list().artifacts.iter().all(|it| it.sha256.is_some()));
}
