use std::path::Path;

use cartridge_learn::policy::Policy;
use cartridge_store::{ArtifactId, EpisodeBody, EpisodeHead, SupervisorEvent};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::clock::unix_now;

/// A data folder with one run that has ended and left everything in order.
struct Fixture {
    _folder: TempDir,
    data: DataDir,
    dir: RunDir,
    id: RunId,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let (dir, manifest) = RunDir::create(&data, |id| {
            serde_json::from_value(json!({
                "format": 1, "id": id, "kind": "train", "name": "a run", "env_id": "CartPole-v1",
                "config": {}, "created_at": 1.0, "cartridge_version": "0",
            }))
            .unwrap()
        })
        .unwrap();
        let fixture = Self { _folder: folder, data, dir, id: manifest.id.clone() };
        for step in [100, 200] {
            fixture.save_checkpoint(step);
        }
        checkpoint::point(&fixture.dir, Alias::Best, "step_000000100").unwrap();
        fixture.write("videos/a/0.mp4", b"film");
        fixture.write(
            "events.jsonl",
            b"{\"attempt\":1,\"t\":1.0,\"type\":\"training_started\",\"total_timesteps\":5000}\n",
        );
        fixture.write(
            "metrics.jsonl",
            b"{\"attempt\":1,\"row\":1,\"t\":1.0,\"step\":1,\"values\":{\"a\":1.0}}\n",
        );
        let event = SupervisorEvent::Exited {
            code: Some(0),
            signal: None,
            forced: false,
            log: Vec::new(),
            reason: None,
            lines: None,
        };
        let mut supervisor = Appender::open(fixture.dir.supervisor_path()).unwrap();
        supervisor.append(&cartridge_store::SupervisorLine { attempt: 1, t: 2.0, event }).unwrap();
        drop(supervisor);
        let subject = Subject::of(&fixture.dir, &manifest).unwrap();
        discovery::look(&fixture.dir, &subject, unix_now(), u64::MAX).unwrap();
        fixture
    }

    fn save_checkpoint(&self, step: u64) {
        let name = format!("step_{step:09}");
        let policy = Policy::new(4, 2, &mut fastrand::Rng::with_seed(step));
        let manifest = json!({
            "format": 1, "step": step, "env_id": "CartPole-v1", "weights_sha256": policy.sha256(),
        });
        self.write(&format!("checkpoints/{name}/weights.safetensors"), &policy.to_safetensors());
        self.write(&format!("checkpoints/{name}/manifest.json"), manifest.to_string().as_bytes());
        checkpoint::point(&self.dir, Alias::Latest, &name).unwrap();
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn append(&self, path: &str, content: &[u8]) {
        let mut all = fs::read(self.path(path)).unwrap_or_default();
        all.extend_from_slice(content);
        self.write(path, &all);
    }

    fn check(&self, repair: bool) -> Report {
        check(&self.data, repair, unix_now()).unwrap()
    }
}

/// Injects a fault; it must be found, left alone without being asked, mended, and gone.
#[track_caller]
fn found_and_mended(expected: &[Fault], inject: impl FnOnce(&Fixture)) -> Fixture {
    let fixture = Fixture::new();
    let clean = fixture.check(false);
    assert_eq!(clean.findings, [], "the fixture is in order");
    assert_eq!((clean.n_runs, clean.n_artifacts > 2, clean.n_lines), (1, true, 4));
    inject(&fixture);
    let faults = |report: &Report| {
        let mut faults: Vec<Fault> = report.findings.iter().map(|finding| finding.fault).collect();
        faults.sort();
        faults
    };
    let found = fixture.check(false);
    assert_eq!(faults(&found), expected, "{found:?}");
    assert!(found.is_bad() && found.findings.iter().all(|finding| !finding.hint.is_empty()));
    let again = fixture.check(false);
    assert_eq!(faults(&again), expected, "looking changes nothing");
    let mended = fixture.check(true);
    assert!(!mended.is_bad(), "{mended:?}");
    let after = fixture.check(false);
    assert_eq!(after.findings, [], "nothing is left");
    fixture
}

#[test]
fn a_torn_line_is_cut_off() {
    for file in ["events.jsonl", "metrics.jsonl", "supervisor.jsonl", "control.jsonl"] {
        let fixture =
            found_and_mended(&[Fault::TornLine], |f| f.append(file, b"{\"attempt\":1,\"t"));
        let text = fs::read_to_string(fixture.path(file)).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{file}");
    }
}

/// The log of matches: half a line is cut off, damaged ones are moved aside, and what is whole stays,
/// as does what a later version wrote.
#[test]
fn the_log_of_matches_is_checked_and_mended() {
    const GOOD: &str = "{\"format\":1,\"id\":\"a match\"}\n";
    const LATER: &str = "{\"format\":9,\"something\":\"new\"}\n";
    #[track_caller]
    fn check(content: &[u8], expected: &[Fault], left: &str, aside: &[u8]) {
        let fixture = found_and_mended(expected, |fixture| {
            fs::write(match_log::path(&fixture.data), content).unwrap();
        });
        assert_eq!(fs::read_to_string(match_log::path(&fixture.data)).unwrap(), left);
        let kept = fs::read(fixture.data.path().join("damaged-lines.txt")).unwrap_or_default();
        assert_eq!(kept, aside);
    }
    let torn = format!("{GOOD}{{\"format\":1,");
    check(torn.as_bytes(), &[Fault::TornLine], GOOD, b"");
    let damaged = [GOOD.as_bytes(), b"\xff\x00nonsense\n[1]\n", LATER.as_bytes()].concat();
    let left = format!("{GOOD}{LATER}");
    check(&damaged, &[Fault::DamagedLine], &left, b"\xff\x00nonsense\n[1]\n");
    let both = [&damaged[..], b"{\"format\""].concat();
    let expected = [Fault::TornLine, Fault::DamagedLine];
    let mut expected = expected.to_vec();
    expected.sort();
    check(&both, &expected, &left, b"\xff\x00nonsense\n[1]\n");
}

#[test]
fn damaged_lines_are_moved_aside_and_kept() {
    let good = b"{\"attempt\":1,\"t\":1.0,\"type\":\"warning\",\"message\":\"hm\"}\n";
    let fixture = found_and_mended(&[Fault::DamagedLine], |fixture| {
        fixture.append("events.jsonl", b"\xff\x00garbage\n");
        fixture.append("events.jsonl", good);
    });
    let text = fs::read_to_string(fixture.path("events.jsonl")).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("\"hm\"")).count(), 1);
    assert_eq!(fs::read(fixture.path("damaged-lines.txt")).unwrap(), b"\xff\x00garbage\n");
    // A line of a later version is not damaged.
    fixture.append("events.jsonl", b"{\"attempt\":1,\"t\":1.0,\"type\":\"something_new\"}\n");
    assert_eq!(fixture.check(false).findings, []);
}

#[test]
fn a_signed_file_is_never_rewritten() {
    // What is JSON and no control line cannot be read either.
    for garbage in ["garbage", "null", "{}", "[1]"] {
        let fixture = Fixture::new();
        let line = format!("{garbage}\n");
        fixture.append("control.jsonl", line.as_bytes());
        let report = fixture.check(true);
        assert_eq!(report.findings[0].fault, Fault::DamagedLine, "{garbage}");
        assert!(report.findings[0].detail.contains("the first is line 1"), "{report:?}");
        assert!(report.is_bad());
        assert_eq!(fs::read(fixture.path("control.jsonl")).unwrap(), line.as_bytes());
    }
}

#[test]
fn a_damaged_manifest_comes_back_from_the_index() {
    let fixture = Fixture::new();
    let before = fs::read(fixture.dir.manifest_path()).unwrap();
    Index::open(&fixture.data).unwrap().ingest(&fixture.data, &fixture.id).unwrap();
    fixture.write("run.json", b"{\"format\": 1, \"id");
    let report = fixture.check(false);
    assert_eq!(report.findings[0].fault, Fault::DamagedManifest);
    assert!(!fixture.check(true).is_bad());
    assert_eq!(fs::read(fixture.dir.manifest_path()).unwrap(), before);
    assert_eq!(fixture.check(false).findings, []);
    // Without a copy it cannot be mended, and says what to do.
    Index::remove(&fixture.data).unwrap();
    fixture.write("run.json", b"");
    let report = fixture.check(true);
    assert!(report.is_bad() && report.findings[0].hint.contains("backup"), "{report:?}");
}

#[test]
fn a_folder_that_never_became_a_run_is_removed() {
    let fixture = Fixture::new();
    let empty = fixture.data.run(&"r-zzzzzz".parse().unwrap());
    fs::create_dir(empty.path()).unwrap();
    fs::write(empty.path().join("run.json.new-0123456789abcdef"), b"{").unwrap();
    let report = fixture.check(false);
    assert_eq!(report.findings[0].fault, Fault::UnfinishedRun);
    assert!(!fixture.check(true).is_bad() && !empty.path().exists());
    assert_eq!(fixture.check(false).findings, []);
}

#[test]
fn a_damaged_checkpoint_is_set_aside() {
    // A bit of the weights, the manifest, a file that is gone.
    let flip = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    let faults = [Fault::DamagedCheckpoint, Fault::ChangedArtifact];
    let fixture = found_and_mended(&faults, |fixture| {
        flip(&fixture.path("checkpoints/step_000000200/weights.safetensors"));
    });
    assert!(fixture.path("damaged/step_000000200/weights.safetensors").exists());
    // `latest` was pointing there.
    assert_eq!(checkpoint::named(&fixture.dir, Alias::Latest).unwrap(), "step_000000100");
    found_and_mended(&faults, |fixture| {
        fixture.write("checkpoints/step_000000100/manifest.json", b"{");
    });
    found_and_mended(&faults, |fixture| {
        let path = fixture.path("checkpoints/step_000000200/weights.safetensors");
        fs::remove_file(path).unwrap();
    });
}

#[test]
fn a_torn_segment_is_cut_and_a_damaged_one_is_said() {
    let head = |episode| EpisodeHead {
        episode,
        attempt: 1,
        lane: 0,
        seed: Some(episode),
        reward: 1.0,
        length: 50,
        step: 50 * episode,
        terminated: true,
        truncated: false,
        checkpoint_step: None,
        t: 1.0,
        foreign_id: None,
    };
    let fixture = Fixture::new();
    let mut writer = EpisodeWriter::open(&fixture.dir).unwrap();
    for episode in 1..=20 {
        writer.add(&head(episode), &EpisodeBody::Discrete(vec![1; 50])).unwrap();
    }
    writer.sync().unwrap();
    drop(writer);
    assert!(!fixture.check(true).is_bad());
    assert_eq!(fixture.check(false).findings, []);
    let folder = fixture.path("episodes");
    let mut segments: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    segments.retain(|path| fs::metadata(path).unwrap().len() > 100);
    let whole = fs::read(&segments[0]).unwrap();
    // Half a block at the end.
    let torn = [&whole[..], &whole[whole.len() / 2..whole.len() - 3]].concat();
    fs::write(&segments[0], torn).unwrap();
    let report = fixture.check(false);
    assert!(report.findings.iter().any(|f| f.fault == Fault::DamagedEpisodes), "{report:?}");
    fixture.check(true);
    assert_eq!(fixture.check(false).findings, []);
    // A flipped bit in the middle cannot be mended, and says so.
    let mut flipped = whole;
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    fs::write(&segments[0], flipped).unwrap();
    let report = fixture.check(true);
    let found = report.findings.iter().find(|f| f.fault == Fault::DamagedEpisodes).unwrap();
    assert!(!found.repaired && found.hint.contains("backup"), "{found:?}");
}

#[test]
fn dangling_aliases_are_pointed_anew() {
    let fixture = found_and_mended(&[Fault::DanglingAlias, Fault::DanglingAlias], |fixture| {
        fixture.write("checkpoints/latest", b"step_000000999\n");
        fixture.write("checkpoints/best", b"../../../etc\n");
    });
    assert_eq!(checkpoint::named(&fixture.dir, Alias::Latest).unwrap(), "step_000000200");
    assert!(!fixture.path("checkpoints/best").exists());
}

#[test]
fn a_latest_that_is_gone_or_a_link_to_nowhere_is_pointed_anew() {
    let gone = |fixture: &Fixture| fs::remove_file(fixture.path("checkpoints/latest")).unwrap();
    let link = |fixture: &Fixture| {
        gone(fixture);
        let path = fixture.path("checkpoints/latest");
        std::os::unix::fs::symlink("step_000000999", path).unwrap();
    };
    for inject in [&gone as &dyn Fn(&Fixture), &link] {
        let fixture = found_and_mended(&[Fault::DanglingAlias], inject);
        assert_eq!(checkpoint::named(&fixture.dir, Alias::Latest).unwrap(), "step_000000200");
    }
}

#[test]
fn a_folder_of_episodes_that_is_gone_is_said() {
    let fixture = Fixture::new();
    fixture.append(
        "metrics.jsonl",
        b"{\"attempt\":1,\"row\":2,\"t\":1.0,\"step\":9,\"values\":{},\"episodes\":{\"episode\":[1],\"reward\":[9.0],\"length\":[9],\"timestep\":[9],\"seed\":[1],\"terminated\":[true]}}\n",
    );
    let report = fixture.check(true);
    let [found] = report.findings.as_slice() else { panic!("{report:?}") };
    assert_eq!((found.fault, found.repaired), (Fault::DamagedEpisodes, false));
    assert!(found.path.ends_with("/episodes") && found.detail.contains("missing"), "{found:?}");
}

#[test]
fn what_crashes_left_behind_is_removed() {
    let fixture = found_and_mended(&[Fault::LeftOver; 5], |fixture| {
        fixture.write("checkpoints/.step_000000300/weights.safetensors", b"half");
        fixture.write("checkpoints/latest.new-0123456789abcdef", b"step");
        fixture.write("artifacts.json.new-0123456789abcdef", b"{");
        fixture.write("checkpoints/.pruned-step_000000050/manifest.json", b"{}");
        fs::write(fixture.data.path().join(".probe-1-ThreadId(1)"), b".").unwrap();
    });
    assert!(!fixture.path("checkpoints/.step_000000300").exists());
}

#[test]
fn old_trash_is_removed_for_good() {
    let fixture = Fixture::new();
    let (manifest, status) = steer::look(&fixture.data, &fixture.id).unwrap();
    steer::delete(&fixture.data, &manifest, &status, By::new("test")).unwrap();
    assert_eq!(fixture.check(false).findings, []);
    let later = unix_now() + 8.0 * 86_400.0;
    let report = check(&fixture.data, false, later).unwrap();
    assert_eq!(report.findings[0].fault, Fault::OldTrash);
    assert!(!check(&fixture.data, true, later).unwrap().is_bad());
    assert!(!steer::trash(&fixture.data, &fixture.id).exists());
    assert_eq!(check(&fixture.data, false, later).unwrap().findings, []);
}

#[test]
fn the_list_and_the_disk_are_made_to_agree() {
    found_and_mended(&[Fault::MissingArtifact], |fixture| {
        fs::remove_file(fixture.path("videos/a/0.mp4")).unwrap();
    });
    found_and_mended(&[Fault::UnnamedArtifact], |f| f.write("videos/a/1.mp4", b"film"));
    found_and_mended(&[Fault::ChangedArtifact], |f| f.write("videos/a/0.mp4", b"falm"));
    found_and_mended(&[Fault::DamagedList], |f| f.write("artifacts.json", b"{\"format\":1,"));
    // A file that is a link by now is as good as gone.
    found_and_mended(&[Fault::MissingArtifact], |fixture| {
        fs::remove_file(fixture.path("videos/a/0.mp4")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", fixture.path("videos/a/0.mp4")).unwrap();
    });
}

#[test]
fn a_crash_anywhere_in_a_prune_is_found_and_mended() {
    let id = |fixture: &Fixture| -> ArtifactId {
        let list = ArtifactList::read(&fixture.dir).unwrap().unwrap();
        list.artifacts.iter().find(|artifact| artifact.path == "videos/a/0.mp4").unwrap().id.clone()
    };
    // After the list, before the file.
    found_and_mended(&[Fault::UnnamedArtifact], |fixture| {
        let mut locked = Locked::open(&fixture.dir, &fixture.id).unwrap();
        locked.list.drop(&id(fixture));
        locked.save().unwrap();
    });
    // After the file, before the event.
    found_and_mended(&[Fault::UntoldArtifact], |fixture| {
        let mut locked = Locked::open(&fixture.dir, &fixture.id).unwrap();
        locked.list.drop(&id(fixture));
        locked.list.untold.push(
            serde_json::from_value(json!({
                "attempt": 1, "t": 1.0, "type": "artifact_pruned", "id": "a-00000000",
                "kind": "video", "path": "videos/a/0.mp4", "size_bytes": 4, "kept": 0, "total": 1,
                "reason": "a test",
            }))
            .unwrap(),
        );
        locked.save().unwrap();
        fs::remove_file(fixture.path("videos/a/0.mp4")).unwrap();
    });
}

#[test]
fn a_run_at_work_is_left_alone_and_a_lab_keeps_repairs_away() {
    let fixture = Fixture::new();
    let started = json!({
        "attempt": 2, "t": 3.0, "type": "started", "supervisor_pid": 1, "trainer_pid": 2,
    });
    let mut supervisor = Appender::open(fixture.dir.supervisor_path()).unwrap();
    supervisor.append(&started).unwrap();
    fixture.write("checkpoints/.step_000000300/weights.safetensors", b"half");
    let report = fixture.check(true);
    // The exit of the first attempt is no end of the second.
    if report.n_at_work == 1 {
        assert_eq!(report.findings, []);
        assert!(fixture.path("checkpoints/.step_000000300").exists());
    }
    drop(supervisor);
    let _lab = lock_data(&fixture.data).unwrap();
    let refused = check(&fixture.data, true, unix_now());
    assert!(matches!(refused, Err(crate::RunError::LabRunning { .. })));
    check(&fixture.data, false, unix_now()).unwrap();
}
