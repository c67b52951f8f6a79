use serde_json::json;

use super::*;
use crate::records::RunKind;

pub(crate) fn manifest(id: RunId) -> Manifest {
    Manifest {
        format: Manifest::FORMAT,
        id,
        kind: RunKind::Train,
        name: "Cart Pole, PPO, seed 1".to_owned(),
        env_id: "CartPole-v1".to_owned(),
        config: json!({ "trainer": { "total_timesteps": 1000 } }),
        created_at: 1_700_000_000.125,
        cartridge_version: "0.0.0".to_owned(),
        parent: None,
        restart: None,
        command: None,
        cwd: None,
        environment: Default::default(),
        limits: Default::default(),
        experiment_id: None,
        group: None,
        track: None,
    }
}

#[test]
fn a_manifest_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, made) = RunDir::create(&data, manifest).unwrap();
    assert_eq!(dir.manifest().unwrap(), made);
    assert_eq!(data.run_ids().unwrap(), [made.id]);
}

#[test]
fn a_newer_manifest_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, _) = RunDir::create(&data, |id| Manifest { format: 9, ..manifest(id) }).unwrap();
    assert!(matches!(dir.manifest(), Err(StoreError::NewerFormat { found: 9, .. })));
}

#[test]
fn only_our_own_names_are_names() {
    for _ in 0..100 {
        let id = RunId::random();
        assert_eq!(id.as_str().parse::<RunId>().unwrap(), id);
    }
    let foreign = [
        "",
        "r-",
        "r-12345",
        "r-1234567",
        "r-12345A",
        "r-12345i",
        "x-123456",
        "../../x",
        "r-../..",
        "r-1234\0a",
    ];
    for name in foreign {
        assert!(name.parse::<RunId>().is_err(), "{name}");
    }
}

#[test]
fn names_fill_their_column() {
    let run: RunId = "r-7f3k2m".parse().unwrap();
    let experiment: crate::ExperimentId = "e-7f3k2m".parse().unwrap();
    assert_eq!(format!("{run:<10}|{experiment:>10}|{run}"), "r-7f3k2m  |  e-7f3k2m|r-7f3k2m");
}
