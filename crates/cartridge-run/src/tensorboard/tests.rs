use std::collections::BTreeMap;

use cartridge_store::Episodes;
use cartridge_store::event_file::{EventReader, EventRecord, Told, WRITER};

use super::*;

fn row(step: u64, values: &[(&str, Option<f64>)], rewards: &[f64]) -> MetricLine {
    let n = rewards.len() as u64;
    MetricLine {
        attempt: 1,
        row: 1,
        t: 100.0,
        step,
        values: values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        episodes: Episodes {
            episode: (1..=n).collect(),
            reward: rewards.iter().map(|reward| Some(*reward)).collect(),
            length: vec![9; rewards.len()],
            timestep: (0..n).map(|place| step - n + place).collect(),
            seed: vec![None; rewards.len()],
            terminated: vec![true; rewards.len()],
        },
    }
}

/// The files in the folder of a run, and the events of each.
pub(crate) fn written(dir: &RunDir) -> Vec<(String, Vec<EventRecord>)> {
    let folder = EventFile::new(dir, 1).folder;
    let mut files: BTreeMap<String, Vec<EventRecord>> = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        let mut reader = EventReader::default();
        let events = files.entry(entry.file_name().into_string().unwrap()).or_default();
        reader.push(&fs::read(entry.path()).unwrap(), |event, _| events.push(event));
        assert_eq!(reader.damage(), None);
        assert_eq!(reader.position(), entry.metadata().unwrap().len());
    }
    files.into_iter().collect()
}

#[test]
fn a_row_is_one_event_and_every_episode_another() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path().join("r-abcdef"));
    fs::create_dir(dir.path()).unwrap();
    let mut records = Records::default();
    records.row(&row(2048, &[("train/loss", Some(0.5)), ("train/kl", None)], &[21.0, 500.0]));
    let mut file = EventFile::new(&dir, 3);
    file.append(&records.take());
    let [(name, events)] = written(&dir).try_into().unwrap();
    let parts: Vec<&str> = name.split('.').collect();
    assert_eq!(parts[..3], ["events", "out", "tfevents"]);
    assert_eq!(parts[4..], [host(), std::process::id().to_string(), "3".to_owned()]);
    assert_eq!(events[0].told, Told::Version { writer: Some(WRITER.to_owned()) });
    let told: Vec<(i64, Told)> = events[1..].iter().map(|e| (e.step, e.told.clone())).collect();
    let values = |values: &[(&str, f64)]| {
        Told::Scalars(values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
    };
    assert_eq!(
        told,
        [
            (2048, values(&[("train/loss", 0.5)])),
            (2046, values(&[("charts/episodic_return", 21.0), ("charts/episodic_length", 9.0)])),
            (2047, values(&[("charts/episodic_return", 500.0), ("charts/episodic_length", 9.0)])),
        ]
    );
}

#[test]
fn of_very_many_episodes_some_are_told_and_of_a_trainers_own_none() {
    let mut records = Records::default();
    let rewards: Vec<f64> = (0..1000).map(f64::from).collect();
    records.row(&row(5000, &[], &rewards));
    let mut events = Vec::new();
    EventReader::default().push(&records.take(), |event, _| events.push(event));
    assert_eq!(events.len(), MAX_EPISODES);
    let spread: Vec<i64> = events.windows(2).map(|two| two[1].step - two[0].step).collect();
    assert!(spread.iter().all(|&steps| steps == 10), "{spread:?}");
    records.row(&row(6000, &[("charts/episodic_return", Some(1.0))], &rewards));
    records.row(&row(7000, &[("losses/value_loss", Some(1.0))], &rewards));
    let mut events = Vec::new();
    EventReader::default().push(&records.take(), |event, _| events.push(event));
    assert_eq!(events.iter().map(|event| event.step).collect::<Vec<_>>(), [6000, 7000]);
}

#[test]
fn a_start_supersedes_what_comes_after_the_checkpoint() {
    let mut records = Records::default();
    records.restored(Some(400));
    records.restored(None);
    let mut events = Vec::new();
    EventReader::default().push(&records.take(), |event, _| events.push(event));
    let starts: Vec<(i64, Told)> = events.into_iter().map(|e| (e.step, e.told)).collect();
    assert_eq!(starts, [(401, Told::Start), (0, Told::Start)]);
}

#[test]
fn what_cannot_be_written_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let dir = RunDir::new(folder.path().join("r-abcdef"));
    fs::create_dir(dir.path()).unwrap();
    let mut records = Records::default();
    records.row(&row(1, &[("a", Some(1.0))], &[]));
    let records = records.take();
    // A file is in the way.
    fs::write(dir.path().join(SHELF), "").unwrap();
    EventFile::new(&dir, 1).append(&records);
    fs::remove_file(dir.path().join(SHELF)).unwrap();
    // A link leads out of the folder.
    std::os::unix::fs::symlink(&elsewhere, dir.path().join(SHELF)).unwrap();
    EventFile::new(&dir, 1).append(&records);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}
