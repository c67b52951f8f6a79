use std::io::Read as _;

use super::*;

fn version(version: u32) -> ModelVersion {
    ModelVersion {
        version,
        run: None,
        checkpoint: None,
        step: 10,
        sha256: "00".to_owned(),
        algo: String::new(),
        env: Map::new(),
        experiment_id: None,
        config_sha256: None,
        parents: Vec::new(),
        notes: String::new(),
        created_at: 1.0,
        created_by: "ada".to_owned(),
        request: None,
        files: Vec::new(),
    }
}

fn model(name: &str) -> Model {
    Model {
        name: name.parse().unwrap(),
        env_id: "CartPole-v1".to_owned(),
        notes: String::new(),
        created_at: 1.0,
        created_by: "ada".to_owned(),
        archived: false,
        versions: vec![version(1), version(2)],
        aliases: BTreeMap::from([(LATEST.to_owned(), 2)]),
    }
}

#[test]
fn names_are_never_paths() {
    #[track_caller]
    fn check(text: &str, is_name: bool) {
        assert_eq!(text.parse::<ModelName>().is_ok(), is_name, "{text:?}");
    }
    check("lander", true);
    check("4-in-a-row_2", true);
    check(&"a".repeat(64), true);
    for bad in ["", ".", "..", "a/b", "a.b", "A", "-a", "a b", "a\0", "ä", &"a".repeat(65)] {
        check(bad, false);
    }
}

#[test]
fn a_version_is_found_by_number_and_alias() {
    let mut model = model("lander");
    #[track_caller]
    fn check(model: &Model, which: Option<&str>, expected: Option<u32>) {
        assert_eq!(model.version(which).ok().map(|it| it.version), expected, "{which:?}");
    }
    check(&model, None, Some(2));
    check(&model, Some("latest"), Some(2));
    check(&model, Some("1"), Some(1));
    check(&model, Some("best"), None);
    check(&model, Some("3"), None);
    model.aliases.insert(BEST.to_owned(), 1);
    // Whoever does not say which gets the best, and not whatever came last.
    check(&model, None, Some(1));
    assert_eq!(model.aliases_of(2).collect::<Vec<_>>(), [LATEST]);
}

#[test]
fn the_list_and_its_files_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    assert_eq!(ModelList::read(&data).unwrap().models, []);
    let mut locked = LockedModels::open(&data).unwrap();
    let name: ModelName = "lander".parse().unwrap();
    // What a crash left is in nobody's way.
    fs::create_dir_all(folder.path().join("models/lander/1")).unwrap();
    let files = locked.write_files(&name, 1, &[("policy.onnx", b"onnx")]).unwrap();
    assert_eq!(files[0].bytes, 4);
    locked.list.models.push(model("lander"));
    locked.save().unwrap();
    drop(locked);
    assert_eq!(ModelList::read(&data).unwrap().models, [model("lander")]);
    let mut text = String::new();
    open_file(&data, &name, 1, "policy.onnx").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "onnx");
    assert!(open_file(&data, &name, 1, "../../../token").is_err());
}

#[test]
fn a_later_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    fs::write(list_path(&data), r#"{"format": 2, "models": "elsewhere"}"#).unwrap();
    let error = ModelList::read(&data).unwrap_err();
    assert!(matches!(error, StoreError::NewerFormat { found: 2, known: 1, .. }), "{error}");
    assert!(LockedModels::open(&data).is_err(), "nobody writes over it");
}
