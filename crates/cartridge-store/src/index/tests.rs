use std::fs;

use rusqlite::types::ValueRef;
use serde_json::json;

use super::*;
use crate::experiments::Experiment;
use crate::records::Event;
use crate::run_dir::RunDir;
use crate::status::RunState;

const ALL: (u64, u64) = (0, u64::MAX);

fn of(kind: RunKind) -> RunFilter {
    RunFilter { kinds: vec![kind], ..RunFilter::default() }
}

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
            command: None,
            cwd: None,
            environment: Default::default(),
            limits: Default::default(),
            experiment_id: None,
            group: None,
            track: None,
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
    let (last_row, series) = index.series(&id, &[], 100, ALL).unwrap();
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
            index.series(&id, &[], 100, ALL).unwrap(),
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
    let mut index = Index::open(&fixture.data).unwrap();
    assert_eq!(index.feed_bounds().unwrap(), (1, 0));
    let (dir, id) = fixture.run(RunKind::Train, 1.0);
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
    let whole = index.runs(&of(RunKind::Train), 99, None).unwrap();
    assert_eq!(
        whole.iter().map(|run| run.manifest.created_at).collect::<Vec<_>>(),
        [3.0, 2.0, 2.0, 1.0]
    );
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let page = index.runs(&of(RunKind::Train), 1, cursor.as_ref()).unwrap();
        let Some(last) = page.last() else { break };
        cursor =
            Some(Cursor { created_at: last.manifest.created_at, id: last.manifest.id.clone() });
        pages.extend(page);
    }
    assert_eq!(pages, whole);
    assert_eq!(index.runs(&of(RunKind::Human), 99, None).unwrap().len(), 1);
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

/// Every table but the feed, row by row.
fn dump(index: &Index) -> Vec<String> {
    let columns = |table: &str| -> (Vec<String>, usize) {
        let statement = index.connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let n = names.len();
        (names, n)
    };
    let mut tables: Vec<String> = index
        .connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    tables.retain(|name| name != "feed");
    tables.sort();
    assert_eq!(tables, ["events", "experiments", "metric_chunks", "metric_rows", "runs"]);
    let mut lines = Vec::new();
    for table in tables {
        let (names, n) = columns(&table);
        let order: Vec<String> = (1..=n).map(|place| place.to_string()).collect();
        let query = format!("SELECT * FROM {table} ORDER BY {}", order.join(", "));
        let mut statement = index.connection.prepare(&query).unwrap();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells: Vec<String> = names
                .iter()
                .map(|name| match row.get_ref(name.as_str()).unwrap() {
                    ValueRef::Text(text) => format!("{name}={}", String::from_utf8_lossy(text)),
                    value => format!("{name}={value:?}"),
                })
                .collect();
            lines.push(format!("{table}: {}", cells.join(" ")));
        }
    }
    lines
}

/// What writers of a run do, in an order in which they can do it.
enum Write {
    Append(std::path::PathBuf, Vec<u8>),
    /// A writer opens the file again and cuts off what is no whole line.
    Reopen(std::path::PathBuf),
}

fn some_writes(rng: &mut fastrand::Rng, dir: &RunDir) -> Vec<Write> {
    let mut writes = Vec::new();
    let (mut row, mut step, mut episode) = (0_u64, 0_u64, 0_u64);
    let n_attempts = rng.u32(1..5);
    for attempt in 1..=n_attempts {
        let mut say = |path: std::path::PathBuf, record: serde_json::Value| {
            writes.push(Write::Append(path, format!("{record}\n").into_bytes()));
        };
        let t = 100.0 * f64::from(attempt);
        let event = |kind: serde_json::Value| {
            let mut line = json!({ "attempt": attempt, "t": t });
            line.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
            line
        };
        say(
            dir.supervisor_path(),
            event(json!({ "type": "started", "supervisor_pid": 1, "trainer_pid": 2 })),
        );
        if attempt > 1 && rng.u8(..) < 230 {
            row = rng.u64(0..=row);
            (step, episode) = (10 * row, row);
            say(
                dir.events_path(),
                event(
                    json!({ "type": "restored", "checkpoint": "c", "step": step, "row": row, "episode": episode }),
                ),
            );
        }
        say(
            dir.events_path(),
            event(json!({ "type": "training_started", "total_timesteps": 999 })),
        );
        for _ in 0..rng.u64(0..700) {
            (row, step, episode) = (row + 1, step + 10, episode + 1);
            let number = if rng.u8(..) < 20 { None } else { Some(rng.f64()) };
            let mut values = json!({ "a": rng.f64(), "time/fps": number });
            if rng.u8(..) < 9 {
                values["train/loss"] = json!(rng.f64());
            }
            let columns = json!({ "episode": [episode], "reward": [1.0], "length": [2],
                "timestep": [step], "seed": [3], "terminated": [true] });
            say(
                dir.metrics_path(),
                json!({ "attempt": attempt, "row": row, "t": t, "step": step,
                "values": values, "episodes": columns }),
            );
            match rng.u8(..) {
                0 => say(
                    dir.metrics_path(),
                    json!({ "attempt": attempt, "row": row, "t": t,
                    "step": step, "values": {} }),
                ),
                1 => say(dir.metrics_path(), json!("no row")),
                2 => say(dir.events_path(), json!({ "attempt": attempt, "type": "nothing" })),
                3 => say(
                    dir.events_path(),
                    event(json!({ "type": "checkpoint_saved", "step": step,
                    "name": "c", "weights_sha256": "f" })),
                ),
                4 if attempt > 1 => {
                    // The trainer that was replaced is not quite dead.
                    say(
                        dir.metrics_path(),
                        json!({ "attempt": attempt - 1, "row": row + 9, "t": t,
                        "step": step, "values": { "a": 5.0 } }),
                    );
                    say(
                        dir.events_path(),
                        json!({ "attempt": attempt - 1, "t": t,
                        "type": "warning", "message": "late" }),
                    );
                }
                5 => say(
                    dir.supervisor_path(),
                    event(json!({ "type": "heartbeat", "cpu_percent": null, "rss_bytes": 5 })),
                ),
                6 => say(
                    dir.control_path(),
                    json!({ "seq": 1, "run": "r-000000", "attempt": attempt,
                    "t": t, "by": "b", "command": "stop", "previous": "", "signature": "" }),
                ),
                _ => {}
            }
        }
        if rng.bool() {
            writes.push(Write::Append(dir.metrics_path(), b"{\"attempt\":1,\"row\":".to_vec()));
        }
        if attempt < n_attempts || rng.bool() {
            let line = event(json!({ "type": "exited", "code": 1, "signal": null, "log": ["x"] }));
            writes.push(Write::Append(dir.supervisor_path(), format!("{line}\n").into_bytes()));
        }
        writes.push(Write::Reopen(dir.metrics_path()));
    }
    writes
}

#[test]
fn an_index_made_anew_equals_the_one_that_was_there_all_along() {
    use std::io::Write as _;
    for seed in 0..40 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let fixture = Fixture::new();
        let mut index = Index::open(&fixture.data).unwrap();
        let mut ids = Vec::new();
        for n in 0..2 {
            let (dir, id) = fixture.run(RunKind::Train, f64::from(n));
            // Few looks at some, many at others.
            let patience = *rng.choice(&[3, 30, 300]).unwrap();
            let open = |path: &std::path::Path| {
                fs::File::options().append(true).create(true).open(path).unwrap()
            };
            for write in some_writes(&mut rng, &dir) {
                match write {
                    Write::Append(path, bytes) => {
                        // A line may be seen in two parts.
                        let cut = rng.usize(0..=bytes.len());
                        for part in [&bytes[..cut], &bytes[cut..]] {
                            open(&path).write_all(part).unwrap();
                            if rng.u32(..patience) == 0 {
                                let budget = *rng.choice(&[1, 300, 9_999, u64::MAX]).unwrap();
                                index.ingest_within(&fixture.data, &id, budget).unwrap();
                            }
                        }
                    }
                    Write::Reopen(path) => {
                        let text = fs::read(&path).unwrap_or_default();
                        let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |n| n + 1);
                        if path.exists() {
                            open(&path).set_len(end as u64).unwrap();
                        }
                    }
                }
            }
            while index.ingest_within(&fixture.data, &id, 5_000).unwrap().0.has_more {}
            ids.push(id);
        }
        let before = dump(&index);
        drop(index);
        Index::remove(&fixture.data).unwrap();
        let mut index = Index::open(&fixture.data).unwrap();
        for id in ids.iter().rev() {
            while index.ingest(&fixture.data, id).unwrap().0.has_more {}
        }
        let after = dump(&index);
        for (was, is) in before.iter().zip(&after) {
            assert_eq!(was, is, "seed {seed}");
        }
        assert_eq!(before.len(), after.len(), "seed {seed}");
    }
}

#[test]
fn a_file_that_was_cut_is_read_again() {
    let fixture = Fixture::new();
    let (dir, id) = fixture.run(RunKind::Train, 1.0);
    let mut index = Index::open(&fixture.data).unwrap();
    fs::write(dir.metrics_path(), metrics(&[1.0, 2.0, 3.0])).unwrap();
    index.ingest(&fixture.data, &id).unwrap();
    // As after a power failure: what was not durable is gone, and the trainer wrote on.
    fs::write(dir.metrics_path(), metrics(&[1.0, 2.5])).unwrap();
    index.ingest(&fixture.data, &id).unwrap();
    let (last_row, series) = index.series(&id, &[], 100, ALL).unwrap();
    assert_eq!((last_row, series[0].value.clone()), (2, vec![Some(1.0), Some(2.5)]));
}

#[test]
fn a_new_index_has_numbers_of_its_own() {
    let fixture = Fixture::new();
    let mut index = Index::open(&fixture.data).unwrap();
    let (_, id) = fixture.run(RunKind::Train, 1.0);
    assert_eq!(index.ingest(&fixture.data, &id).unwrap().1[0].seq, 1);
    drop(index);
    Index::remove(&fixture.data).unwrap();
    let mut index = Index::open(&fixture.data).unwrap();
    let (oldest, newest) = index.feed_bounds().unwrap();
    assert!(newest > 1 << 20 && newest < 1 << 52 && oldest == newest + 1, "{oldest} {newest}");
    assert_eq!(index.ingest(&fixture.data, &id).unwrap().1[0].seq, oldest);
}

#[test]
fn runs_are_found_by_kind_state_environment_and_text() {
    let fixture = Fixture::new();
    let mut index = Index::open(&fixture.data).unwrap();
    for kind in [RunKind::Train, RunKind::Eval, RunKind::Human] {
        let (_, id) = fixture.run(kind, 1.0);
        index.ingest(&fixture.data, &id).unwrap();
    }
    let check = |filter: RunFilter, n: usize| {
        assert_eq!(index.runs(&filter, 99, None).unwrap().len(), n, "{filter:?}");
    };
    let both = RunFilter { kinds: vec![RunKind::Train, RunKind::Eval], ..RunFilter::default() };
    check(both.clone(), 2);
    check(RunFilter { states: vec![RunState::Queued, RunState::Lost], ..both.clone() }, 2);
    check(RunFilter { states: vec![RunState::Lost], ..both.clone() }, 0);
    check(RunFilter { env_id: Some("CartPole-v1".to_owned()), ..both.clone() }, 2);
    check(RunFilter { env_id: Some("CartPole".to_owned()), ..both.clone() }, 0);
    check(RunFilter { text: Some("A RUN".to_owned()), ..both.clone() }, 2);
    check(RunFilter { text: Some("pole".to_owned()), ..both.clone() }, 2);
    check(RunFilter { text: Some("100%".to_owned()), ..both }, 0);
}

#[test]
fn a_checkpoint_empties_the_log() {
    let fixture = Fixture::new();
    let (dir, id) = fixture.run(RunKind::Train, 1.0);
    let mut index = Index::open(&fixture.data).unwrap();
    fs::write(dir.metrics_path(), metrics(&vec![0.5; 20_000])).unwrap();
    index.ingest(&fixture.data, &id).unwrap();
    assert!(index.wal_bytes() > 100_000, "{}", index.wal_bytes());
    // A reader that is in the way is not waited for.
    let reader = Index::open(&fixture.data).unwrap();
    let reading = reader.connection.unchecked_transaction().unwrap();
    reader.known().unwrap();
    index.publish_status(&id).unwrap();
    let outcome = index.checkpoint().unwrap();
    assert!(outcome.busy && outcome.log > 0, "{outcome:?}");
    drop(reading);
    let outcome = index.checkpoint().unwrap();
    assert!(!outcome.busy && outcome.wal_bytes > 0, "{outcome:?}");
    assert_eq!((outcome.log, outcome.checkpointed, index.wal_bytes()), (0, 0, 0));
    assert_eq!(reader.series(&id, &[], 9, ALL).unwrap().0, 20_000);
}

#[test]
fn a_full_disk_leaves_the_index_as_it_was() {
    let fixture = Fixture::new();
    let (dir, id) = fixture.run(RunKind::Train, 1.0);
    let mut index = Index::open(&fixture.data).unwrap();
    fs::write(dir.metrics_path(), metrics(&[1.0])).unwrap();
    index.ingest(&fixture.data, &id).unwrap();
    let before = dump(&index);
    let pages: u64 = index.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    index.connection.pragma_update(None, "max_page_count", pages).unwrap();
    fs::write(dir.metrics_path(), metrics(&vec![1.0; 20_000])).unwrap();
    for _ in 0..3 {
        let error = index.ingest(&fixture.data, &id).unwrap_err();
        assert!(error.is_index_unwritable() && !error.is_index_damage(), "{error}");
        assert_eq!(dump(&index), before);
    }
    index.connection.pragma_update(None, "max_page_count", 1_000_000).unwrap();
    index.ingest(&fixture.data, &id).unwrap();
    assert_eq!(index.series(&id, &[], 9, ALL).unwrap().0, 20_000);
}

fn experiment(data: &DataDir, name: &str, created_at: f64) -> Experiment {
    Experiment::create(data, |id| Experiment {
        format: Experiment::FORMAT,
        id,
        name: name.to_owned(),
        description: String::new(),
        preset: None,
        given: serde_json::Map::new(),
        config: json!({ "env_id": "CartPole-v1", "algo": "ppo" }),
        sha256: "abc".to_owned(),
        created_at,
        created_by: "test".to_owned(),
        cloned_from: None,
        cartridge_version: "0.0.0".to_owned(),
    })
    .unwrap()
}

#[test]
fn experiments_are_found_and_come_back() {
    let fixture = Fixture::new();
    let data = &fixture.data;
    let mut index = Index::open(data).unwrap();
    let made =
        [("Red", 1.0), ("Green", 2.0), ("Blue", 3.0)].map(|(name, t)| experiment(data, name, t));
    assert!(index.take_in_experiments(data).unwrap().is_empty());
    assert!(index.take_in_experiments(data).unwrap().is_empty(), "and again");
    let names = |index: &Index, filter: &ExperimentFilter, limit, after: Option<&Experiment>| {
        let after =
            after.map(|it| ExperimentCursor { created_at: it.created_at, id: it.id.clone() });
        let found = index.experiments(filter, limit, after.as_ref()).unwrap();
        found.into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    let all = ExperimentFilter::default();
    assert_eq!(names(&index, &all, 9, None), ["Blue", "Green", "Red"]);
    assert_eq!(names(&index, &all, 1, Some(&made[2])), ["Green"]);
    let text = ExperimentFilter { text: Some("RE".to_owned()), ..all.clone() };
    assert_eq!(names(&index, &text, 9, None), ["Green", "Red"]);
    let put_away = ExperimentFilter { put_away: [made[1].id.clone()].into(), ..all.clone() };
    assert_eq!(names(&index, &put_away, 9, None), ["Blue", "Red"]);
    let archived = ExperimentFilter { is_archived: true, ..put_away };
    assert_eq!(names(&index, &archived, 9, None), ["Green"]);
    assert_eq!(index.experiment(&made[0].id).unwrap(), made[0]);
    // A file that is damaged keeps out no other.
    let folder = crate::experiments::folder(data);
    fs::write(folder.join("e-000000.json"), "{}").unwrap();
    assert_eq!(index.take_in_experiments(data).unwrap().len(), 1);
    fs::remove_file(folder.join("e-000000.json")).unwrap();
    let before = dump(&index);
    drop(index);
    remove_database(&data.index_path()).unwrap();
    let mut index = Index::open(data).unwrap();
    index.take_in_experiments(data).unwrap();
    assert_eq!(dump(&index), before);
    fs::remove_file(folder.join(format!("{}.json", made[2].id))).unwrap();
    index.take_in_experiments(data).unwrap();
    assert_eq!(names(&index, &all, 9, None), ["Green", "Red"]);
}
