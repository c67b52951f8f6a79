use serde_json::json;

use super::*;

fn make(data: &DataDir) -> Experiment {
    Experiment::create(data, |id| Experiment {
        format: Experiment::FORMAT,
        id,
        name: "a template".to_owned(),
        description: String::new(),
        preset: None,
        given: Map::new(),
        config: json!({ "env_id": "CartPole-v1", "algo": "ppo" }),
        sha256: "00".to_owned(),
        created_at: 1.0,
        created_by: "test".to_owned(),
        cloned_from: None,
        cartridge_version: "0.0.0".to_owned(),
    })
    .unwrap()
}

#[test]
fn an_experiment_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    assert_eq!(ids(&data).unwrap(), []);
    let made = make(&data);
    assert_eq!(Experiment::read(&data, &made.id).unwrap(), made);
    assert_eq!(ids(&data).unwrap(), [made.id]);
}

#[test]
fn what_is_no_experiment_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let made = make(&data);
    let read = |id: &ExperimentId| Experiment::read(&data, id).unwrap_err().to_string();
    let other: ExperimentId = "e-000000".parse().unwrap();
    assert_eq!(read(&other), "there is no experiment `e-000000`");
    fs::write(path(&data, &other), "").unwrap();
    assert_eq!(read(&other), "there is no experiment `e-000000`");
    fs::copy(path(&data, &made.id), path(&data, &other)).unwrap();
    assert!(read(&other).ends_with(&format!("it is experiment {}; is this a copy?", made.id)));
    let newer = json!({ "format": 2 });
    let mut text = serde_json::to_value(&made).unwrap();
    text["format"] = newer["format"].clone();
    fs::write(path(&data, &made.id), text.to_string()).unwrap();
    assert!(read(&made.id).contains("has format 2, and this version knows formats up to 1"));
    for bad in ["e-00000", "../../etc", "e-00000I", "r-000000", ""] {
        assert!(bad.parse::<ExperimentId>().is_err(), "{bad}");
    }
}
