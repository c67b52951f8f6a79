use std::fs;

use serde_json::json;

use super::*;
use crate::records::Event;
use crate::run_dir::RunDir;
use crate::status::RunState;

struct Fixture {
    data: DataDir,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { data: DataDir::open(folder.path()).unwrap(), _folder: folder }
    }

    fn run(&self, kind: RunKind, created_at: f64) -> (RunDir, RunId) {
        let (dir, manifest) = RunDir::create(&self.data, |id| Manifest {
            format: Manifest::FORMAT,
            id,
            kind,
            name: "a run".to_owned(),
            env_id: "CartPole-v1".to_owned(),
            config: json!({}),
            created_at,
            cartridge_version: "0.0.0".to_owned(),
            parent: None,
            restart: None,
        })
        .unwrap();
        (dir, manifest.id)
    }
}

/// `metrics.jsonl` with one metric `m` whose values are `values`.
fn metrics(values: &[f64]) -> String {
    let line = |(idx, value): (usize, &f64)| json!({ "attempt": 1, "row": idx + 1, "t": idx, "step": 10 * (idx + 1), "values": { "m": value } });
    values.iter().enumerate().map(|pair| format!("{}\n", line(pair))).collect()
}

#[test]
fn ingesting_twice_adds_nothing() {
    let fixture = Fixture::new();
    let (dir, id) = fixture.run(RunKind::Train, 1.0);
    fs::write(dir.metrics_path(), metrics(&[1.0, 2.0])).unwrap();
    let mut index = Index::open(&fixture.data).unwrap();
    let (_, first) = index.ingest(&fixture.data, &id).unwrap();
    assert_eq!(first.len(), 1);
    let (_, second) = index.ingest(&fixture.data, &id).unwrap();
    assert_eq!(second, []);
    let (last_row, series) = index.series(&id, &[], 100).unwrap();
    assert_eq!((last_row, series[0].value.clone()), (2, vec![Some(1.0), Some(2.0)]));
}

#[test]
fn a_new_index_over_old_files_equals_the_old_one() {
    let fixture = Fixture::new();
    let (dir, id) = fixture.run(RunKind::Train, 1.0);
    let mut index = Index::open(&fixture.data).unwrap();
    // Taken in bit by bit ...
    for n in 0..5 {
        fs::write(dir.metrics_path(), metrics(&[1.0, 5.0, 2.0, 4.0][..n.min(4)])).unwrap();
        let event = |k| EventLine {
            attempt: 1,
            t: f64::from(k),
            event: Event::TrainingStarted { total_timesteps: 9 },
        };
        let lines: String =
            (0..n as u32).map(|k| serde_json::to_string(&event(k)).unwrap() + "\n").collect();
        fs::write(dir.events_path(), lines).unwrap();
        index.ingest(&fixture.data, &id).unwrap();
    }
    let read = |index: &Index| {
        (
            index.run(&id).unwrap(),
            index.series(&id, &[], 100).unwrap(),
            index.events(&id, 100).unwrap(),
        )
    };
    let before = read(&index);
    drop(index);
    // ... and at once, after the index was lost.
    remove_database(&fixture.data.index_path()).unwrap();
    let mut index = Index::open(&fixture.data).unwrap();
    index.ingest(&fixture.data, &id).unwrap();
    assert_eq!(read(&index), before);
}

#[test]
fn the_feed_is_one_sequence_without_gaps() {
    let fixture = Fixture::new();
    let (dir, id) = fixture.run(RunKind::Train, 1.0);
    let mut index = Index::open(&fixture.data).unwrap();
    let mut heard = Vec::new();
    for n in 1..=4 {
        fs::write(dir.metrics_path(), metrics(&vec![1.0; n])).unwrap();
        heard.extend(index.ingest(&fixture.data, &id).unwrap().1);
    }
    assert_eq!(heard.iter().map(|row| row.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(index.feed_after(0, 99).unwrap(), heard);
    assert_eq!(index.feed_after(2, 1).unwrap(), heard[2..3]);
    assert_eq!(index.feed_bounds().unwrap(), (1, 4));
    // The rows of the feed lead back to the same lines.
    let FeedItem::Metrics(start, end) = heard[3].item else { panic!("metrics arrived") };
    assert_eq!(crate::follow::metrics_in(&dir, (start, end)).unwrap()[0].row, 4);
}

#[test]
fn pages_of_runs_meet_without_overlap() {
    let fixture = Fixture::new();
    let mut index = Index::open(&fixture.data).unwrap();
    // Two were made in the same moment.
    for created_at in [1.0, 2.0, 2.0, 3.0] {
        let (_, id) = fixture.run(RunKind::Train, created_at);
        index.ingest(&fixture.data, &id).unwrap();
    }
    let (_, human) = fixture.run(RunKind::Human, 9.0);
    index.ingest(&fixture.data, &human).unwrap();
    let whole = index.runs(&[RunKind::Train], 99, None).unwrap();
    assert_eq!(
        whole.iter().map(|run| run.manifest.created_at).collect::<Vec<_>>(),
        [3.0, 2.0, 2.0, 1.0]
    );
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let page = index.runs(&[RunKind::Train], 1, cursor.as_ref()).unwrap();
        let Some(last) = page.last() else { break };
        cursor =
            Some(Cursor { created_at: last.manifest.created_at, id: last.manifest.id.clone() });
        pages.extend(page);
    }
    assert_eq!(pages, whole);
    assert_eq!(index.runs(&[RunKind::Human], 99, None).unwrap().len(), 1);
}

#[test]
fn a_spike_of_one_point_survives_thinning() {
    let n = 10_000;
    let mut value: Vec<Option<f64>> = (0..n).map(|idx| Some(f64::from(idx % 7))).collect();
    value[6_543] = Some(1e6);
    value[1_234] = None;
    value[6_544] = None;
    let points = SeriesPoints {
        key: "m".to_owned(),
        step: (0..n as u64).collect(),
        t: (0..n).map(f64::from).collect(),
        value,
    };
    let thin = points.thinned(100);
    assert!(thin.value.len() <= 102, "{}", thin.value.len());
    assert!(thin.value.contains(&Some(1e6)));
    assert!(thin.step.is_sorted());
    assert_eq!((thin.step[0], *thin.step.last().unwrap()), (0, 9_999));
    assert_eq!(points.thinned(20_000), points);
}

#[test]
fn lost_is_remembered_and_forgotten() {
    let fixture = Fixture::new();
    let (_, id) = fixture.run(RunKind::Train, 1.0);
    let mut index = Index::open(&fixture.data).unwrap();
    index.ingest(&fixture.data, &id).unwrap();
    assert_eq!(index.mark_lost(&id).unwrap().len(), 1);
    assert_eq!(index.run(&id).unwrap().status.state(), RunState::Lost);
    assert_eq!(index.active().unwrap().len(), 1, "it may come back");
}

#[test]
fn a_newer_index_is_refused() {
    let fixture = Fixture::new();
    let index = Index::open(&fixture.data).unwrap();
    index.connection.pragma_update(None, "user_version", 99).unwrap();
    drop(index);
    assert!(matches!(Index::open(&fixture.data), Err(StoreError::NewerFormat { found: 99, .. })));
}

#[test]
fn a_damaged_index_is_made_anew() {
    let fixture = Fixture::new();
    let (_, id) = fixture.run(RunKind::Train, 1.0);
    fs::write(fixture.data.index_path(), "this is no database".repeat(1000)).unwrap();
    let mut index = Index::open(&fixture.data).unwrap();
    index.ingest(&fixture.data, &id).unwrap();
    assert_eq!(index.known().unwrap(), [id].into());
}
