use std::fs;

use cartridge_learn::policy::Policy;
use cartridge_store::RunId;
use tempfile::TempDir;

use super::*;
use crate::checkpoint::Alias;
use crate::fsck;

/// A data folder with a run that has two checkpoints, the first of which is its best, and whose
/// parent was forked too.
struct Fixture {
    folder: TempDir,
    data: DataDir,
    run: Manifest,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let make = |parent: Value| {
            RunDir::create(&data, |id| {
                serde_json::from_value(json!({
                    "format": 1, "id": id, "kind": "train", "name": "a run",
                    "env_id": "CartPole-v1", "config": { "algo": "ppo", "env": {} },
                    "created_at": 1.0, "cartridge_version": "0", "parent": parent,
                    "experiment_id": "e-000000",
                }))
                .unwrap()
            })
            .unwrap()
        };
        let parent = |run: &str| json!({ "run": run, "checkpoint": "step_000000001", "step": 1 });
        let (_, first) = make(parent("r-000000"));
        let (dir, run) = make(parent(first.id.as_str()));
        for step in [100, 200] {
            let policy = Policy::new(4, 2, &mut fastrand::Rng::with_seed(step));
            let name = checkpoint::name_of(step);
            let folder = dir.checkpoints_path().join(&name);
            fs::create_dir_all(&folder).unwrap();
            let manifest = json!({
                "format": 1, "step": step, "env_id": "CartPole-v1",
                "weights_sha256": policy.sha256(),
            });
            fs::write(folder.join(WEIGHTS), policy.to_safetensors()).unwrap();
            fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
            checkpoint::point(&dir, Alias::Latest, &name).unwrap();
        }
        checkpoint::point(&dir, Alias::Best, "step_000000100").unwrap();
        Self { folder, data, run }
    }

    fn add(&self, name: &str, which: Option<&str>) -> Result<(Model, ModelVersion)> {
        self.add_by(name, which, By::new("ada"))
    }

    fn add_by(&self, name: &str, which: Option<&str>, by: By<'_>) -> Result<(Model, ModelVersion)> {
        let which = which.map(str::to_owned);
        let source = Source::Checkpoint { run: Box::new(self.run.clone()), which };
        add(&self.data, NewVersion { name: name.to_owned(), source, notes: String::new() }, by)
    }

    fn steps(&self, text: &str) -> Option<u64> {
        resolve(&self.data, text).ok().map(|(_, version)| version.step)
    }
}

#[test]
fn versions_are_copies_that_outlive_their_run() {
    let fixture = Fixture::new();
    let (_, first) = fixture.add("pole", None).unwrap();
    assert_eq!((first.version, first.step), (1, 100), "the best, where nobody says which");
    let (model, second) = fixture.add("pole", Some("latest")).unwrap();
    assert_eq!((second.version, second.step), (2, 200));
    assert_eq!(second.experiment_id.as_deref(), Some("e-000000"));
    let parents: Vec<&RunId> = second.parents.iter().map(|parent| &parent.run).collect();
    assert_eq!(parents.len(), 2);
    assert_eq!(parents[1].as_str(), "r-000000", "as far as it is known");
    fs::remove_dir_all(fixture.data.run(&fixture.run.id).path()).unwrap();
    let weights = read_file(&fixture.data, &model.name, &second, WEIGHTS).unwrap();
    assert_eq!(Policy::from_safetensors(&weights).unwrap().sha256(), second.sha256);
    let onnx = read_file(&fixture.data, &model.name, &second, ONNX).unwrap();
    let file = PolicyFile::parse(std::path::Path::new("policy.onnx"), &onnx).unwrap();
    assert_eq!(file.policy.metadata("env_id"), Some("CartPole-v1"));
}

#[test]
fn aliases_say_which_version() {
    let fixture = Fixture::new();
    fixture.add("pole", Some("100")).unwrap();
    let name = "pole".parse().unwrap();
    let best = fixture.folder.path().join("models/pole/best.onnx");
    let point = |word: &str, version: u32| {
        alias(&fixture.data, &name, word, version, By::new("ada")).map(|_| ())
    };
    point("best", 1).unwrap();
    let before = fs::read(&best).unwrap();
    fixture.add("pole", Some("200")).unwrap();
    for (text, expected) in [
        ("pole", Some(100)),
        ("pole@best", Some(100)),
        ("pole@latest", Some(200)),
        ("pole@2", Some(200)),
        ("pole@3", None),
        ("pole@nobody", None),
        ("nobody", None),
        ("../pole", None),
    ] {
        assert_eq!(fixture.steps(text), expected, "{text}");
    }
    point("best", 2).unwrap();
    assert_eq!(fixture.steps("pole"), Some(200));
    assert_ne!(fs::read(&best).unwrap(), before, "the file follows");
    for (word, version) in [("latest", 1), ("7", 1), ("a/b", 1), ("best", 3)] {
        point(word, version).unwrap_err();
    }
    let line = audit::newest(&fixture.data, 1).unwrap().pop().unwrap();
    assert_eq!((line.what, line.target.as_str()), (Deed::Alias, "model:pole"));
    assert_eq!((&line.old["best"], &line.new["best"]), (&json!(1), &json!(2)));
}

#[test]
fn a_request_that_is_made_again_makes_no_other_version() {
    let fixture = Fixture::new();
    let by = By { request: Some("a key"), ..By::new("ada") };
    let first = fixture.add_by("pole", None, by).unwrap();
    assert_eq!(fixture.add_by("pole", None, by).unwrap(), first);
    let other = By { who: "eve", ..by };
    assert_eq!(fixture.add_by("pole", None, other).unwrap().1.version, 2);
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let mut fixture = Fixture::new();
    for bad in ["", "Pole", "a/b", "..", "a.b"] {
        let error = fixture.add(bad, None).unwrap_err();
        assert!(matches!(error, RunError::Config(_)), "{bad}: {error}");
    }
    fixture.add("pole", Some("300")).unwrap_err();
    assert_eq!(ModelList::read(&fixture.data).unwrap().models, []);
    fixture.add("pole", None).unwrap();
    fixture.run.env_id = "MountainCar-v0".to_owned();
    let error = fixture.add("pole", None).unwrap_err().to_string();
    assert!(error.contains("is a model for CartPole-v1"), "{error}");
}

#[test]
fn what_was_put_away_comes_back_with_a_new_version() {
    let fixture = Fixture::new();
    fixture.add("pole", None).unwrap();
    let name = "pole".parse().unwrap();
    assert!(archive(&fixture.data, &name, true, By::new("ada")).unwrap().archived);
    assert!(!archive(&fixture.data, &name, false, By::new("ada")).unwrap().archived);
    assert!(archive(&fixture.data, &name, true, By::new("ada")).unwrap().archived);
    assert_eq!(fixture.steps("pole@1"), Some(100), "matches name it");
    assert!(!fixture.add("pole", None).unwrap().0.archived);
}

#[test]
fn fsck_finds_what_is_wrong_with_models() {
    let fixture = Fixture::new();
    fixture.add("pole", None).unwrap();
    alias(&fixture.data, &"pole".parse().unwrap(), "best", 1, By::new("ada")).unwrap();
    let faults = |repair: bool| {
        let found = fsck::check(&fixture.data, repair, 10.0).unwrap().findings.into_iter();
        let of_models = found.filter(|finding| finding.path.starts_with("models"));
        of_models.map(|it| (it.fault, it.path, it.repaired)).collect::<Vec<_>>()
    };
    assert_eq!(faults(false), []);
    let own = fixture.folder.path().join("models/pole");
    fs::create_dir(own.join(".2")).unwrap();
    fs::write(own.join("best.onnx"), "torn").unwrap();
    let path = |path: &str| path.to_owned();
    let expected = [
        (fsck::Fault::DamagedModel, path("models/pole/best.onnx"), true),
        (fsck::Fault::LeftOver, path("models/pole/.2"), true),
    ];
    assert_eq!(faults(true), expected);
    assert_eq!(faults(false), []);
    fs::write(own.join("1/policy.onnx"), "torn").unwrap();
    let expected = (fsck::Fault::DamagedModel, path("models/pole/1/policy.onnx"), false);
    assert_eq!(faults(true)[0], expected, "nobody else has a copy");
    fs::write(fixture.folder.path().join("models.json"), "{").unwrap();
    assert_eq!(faults(true)[0], (fsck::Fault::DamagedModels, path("models.json"), false));
}
