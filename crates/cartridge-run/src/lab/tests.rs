mod alerts;

use std::path::PathBuf;

use cartridge_store::{Command, Manifest, RunDir, jsonl};
use serde_json::json;

use super::*;
use crate::steer::By;

fn open(data: &DataDir) -> Result<Lab> {
    let launcher = Launcher {
        program: PathBuf::from("/nonexistent"),
        version: "0.0.0".to_owned(),
        stop_grace: std::time::Duration::ZERO,
        is_lab: false,
    };
    Lab::open(data.clone(), launcher, Limits::of_machine())
}

fn make_run(data: &DataDir) -> (RunDir, RunId) {
    let (dir, manifest) = RunDir::create(data, |id| Manifest {
        format: Manifest::FORMAT,
        id,
        kind: RunKind::Train,
        name: "a run".to_owned(),
        env_id: "CartPole-v1".to_owned(),
        config: json!({ "env": {} }),
        created_at: 1.0,
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

fn started() -> &'static str {
    "{\"attempt\":1,\"t\":1.0,\"type\":\"started\",\"supervisor_pid\":1,\"trainer_pid\":2}\n"
}

#[test]
fn there_is_one_lab_per_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let lab = open(&data).unwrap();
    lab.announce("http://127.0.0.1:1").unwrap();
    let message = open(&data).unwrap_err().to_string();
    assert!(
        message.contains("another lab is already at work")
            && message.contains("http://127.0.0.1:1"),
        "{message}"
    );
    drop(lab);
    open(&data).unwrap();
}

#[test]
fn runs_that_others_made_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    // A folder that is still being made is no run yet, and no error.
    std::fs::create_dir(folder.path().join("runs/r-0a0a0a")).unwrap();
    let lab = open(&data).unwrap();
    let view = lab.run(&id).unwrap();
    assert_eq!((view.run.status.state(), view.health), (RunState::Starting, Health::Fresh));
    let listed: Vec<RunId> =
        lab.runs(9, None).unwrap().into_iter().map(|view| view.run.manifest.id).collect();
    assert_eq!(listed, [id]);
    // What was made since the last look is found by whoever asks for it.
    let (_, later) = make_run(&data);
    assert_eq!(lab.run(&later).unwrap().run.manifest.id, later);
    assert!(lab.run(&"r-0a0a0a".parse().unwrap()).is_err());
    // It has printed nothing yet, which is no error.
    assert_eq!(lab.log(&later, 10).unwrap(), (vec![], false));
}

#[test]
fn a_silent_supervisor_is_lost_by_the_clock_that_never_jumps() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    let lab = open(&data).unwrap();
    // As if it had last been heard two heartbeats ago; what its lines say of the time is 1970.
    let long_ago = Instant::now().checked_sub(LOST_AFTER).unwrap();
    held(&lab.watch).pulses.insert(id.clone(), Pulse { heard: long_ago, health: Health::Fresh });
    let messages = lab.tick().unwrap().messages;
    let FeedNews::Progress(view, _) = &messages[0].news else { panic!("{messages:?}") };
    assert_eq!((view.run.status.state(), view.health), (RunState::Lost, Health::Dead));
    assert_eq!(lab.tick().unwrap().messages, [], "it is said once");
    assert!(matches!(
        lab.ask(&id, Command::Stop, By::new("test")),
        Err(RunError::Ended { state: RunState::Lost, .. })
    ));
    // It speaks again.
    let beat = "{\"attempt\":1,\"t\":2.0,\"type\":\"heartbeat\",\"cpu_percent\":null,\"rss_bytes\":null}\n";
    std::fs::write(dir.supervisor_path(), format!("{}{beat}", started())).unwrap();
    held(&lab.watch).last_discovery = None;
    lab.tick().unwrap();
    assert_eq!(lab.run(&id).unwrap().run.status.state(), RunState::Starting);
}

#[test]
fn a_stopped_clock_in_the_files_says_nothing_about_life() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    let lab = open(&data).unwrap();
    let mut journal = started().to_owned();
    // The supervisor's clock stands still, jumps far ahead, and goes back beyond its beginning.
    for t in ["1.0", "1.0", "9e15", "-5.0", "1.0"] {
        std::fs::write(dir.supervisor_path(), &journal).unwrap();
        lab.ingest_now(&id).unwrap();
        let view = lab.run(&id).unwrap();
        assert_eq!((view.health, view.run.status.lost), (Health::Fresh, false), "{t}");
        // It has been silent for long by our own clock, whatever the files say.
        let long_ago = Instant::now().checked_sub(LOST_AFTER).unwrap();
        held(&lab.watch).pulses.get_mut(&id).unwrap().heard = long_ago;
        lab.ingest_now(&id).unwrap();
        assert_eq!(lab.run(&id).unwrap().run.status.state(), RunState::Lost, "{t}");
        journal += &format!(
            "{{\"attempt\":1,\"t\":{t},\"type\":\"heartbeat\",\"cpu_percent\":null,\"rss_bytes\":null}}\n"
        );
    }
}

#[test]
fn a_stop_is_signed_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    let lab = open(&data).unwrap();
    for _ in 0..2 {
        assert_eq!(
            lab.ask(&id, Command::Stop, By::new("test")).unwrap().run.status.state(),
            RunState::Stopping
        );
    }
    let lines = jsonl::read_lines(&dir.control_path(), 0, None).unwrap();
    assert_eq!(lines.len(), 1, "asking again adds nothing");
}

#[test]
fn a_reader_of_the_feed_resumes_or_is_reset() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, _) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    let lab = open(&data).unwrap();
    let FeedPosition::Reset(newest) = lab.feed_position(None).unwrap() else {
        panic!("a new reader starts afresh")
    };
    assert!(newest > 0);
    assert_eq!(lab.feed_position(Some(newest)).unwrap(), FeedPosition::Known(newest));
    let page = lab.feed_after(0, 99).unwrap();
    assert_eq!(page.upto, newest);
    // The feed of an index that found runs begins at a number of its own.
    let before = page.messages[0].seq - 1;
    assert_eq!(lab.feed_position(Some(before)).unwrap(), FeedPosition::Known(before));
    assert_eq!(lab.feed_position(Some(0)).unwrap(), FeedPosition::Reset(newest));
    assert_eq!(
        lab.feed_position(Some(newest + 1)).unwrap(),
        FeedPosition::Reset(newest),
        "from another life"
    );
}

#[test]
fn a_lost_run_is_dead_for_a_new_lab_too() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    let lab = open(&data).unwrap();
    held(&lab.writer).mark_lost(&id).unwrap();
    drop(lab);
    let view = open(&data).unwrap().run(&id).unwrap();
    assert_eq!((view.run.status.state(), view.health), (RunState::Lost, Health::Dead));
}

#[test]
fn a_late_heartbeat_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    let lab = open(&data).unwrap();
    let late = Instant::now().checked_sub(STALE_AFTER).unwrap();
    held(&lab.watch).pulses.insert(id.clone(), Pulse { heard: late, health: Health::Fresh });
    let messages = lab.tick().unwrap().messages;
    let FeedNews::Progress(view, _) = &messages[0].news else { panic!("{messages:?}") };
    assert_eq!(view.health, Health::Stale);
    assert_eq!(lab.tick().unwrap().messages, [], "it is said once");
}

#[test]
fn what_happens_between_two_ticks_is_told_at_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    let lab = open(&data).unwrap();
    let FeedPosition::Reset(before) = lab.feed_position(None).unwrap() else {
        panic!("a new reader")
    };
    lab.ask(&id, Command::Stop, By::new("test")).unwrap();
    let page = lab.tick().unwrap();
    let seqs: Vec<u64> = page.messages.iter().map(|message| message.seq).collect();
    assert_eq!(seqs, [before + 1], "no number is left out");
    assert_eq!((page.after, page.upto), (before, before + 1));
}

/// Overwrites all of a file from `offset` on.
fn scribble(path: &std::path::Path, offset: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    assert!(bytes.len() > offset, "{} bytes", bytes.len());
    bytes[offset..].fill(0xA5);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn an_index_that_is_damaged_inside_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    let row = json!({ "attempt": 1, "row": 1, "t": 0, "step": 1, "values": { "m": 1.0 } });
    std::fs::write(dir.metrics_path(), format!("{row}\n")).unwrap();
    // Every page after the first, then only the last ones, which no tick looks at.
    for first_page in [1, 4, 6] {
        drop(open(&data).unwrap());
        scribble(&data.index_path(), 4096 * first_page);
        let lab = open(&data).unwrap();
        // A question may meet the damage first; the tick after it has mended it.
        _ = (lab.runs(9, None), lab.series(&id, &[], 9, (0, u64::MAX)), lab.feed_after(0, 99));
        lab.tick().unwrap();
        assert_eq!(lab.runs(9, None).unwrap()[0].run.manifest.id, id, "from page {first_page} on");
        assert_eq!(
            lab.series(&id, &[], 9, (0, u64::MAX)).unwrap().0,
            1,
            "from page {first_page} on"
        );
    }
}

#[test]
fn a_run_whose_folder_is_gone_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    let lab = open(&data).unwrap();
    assert_eq!(lab.runs(9, None).unwrap().len(), 1);
    std::fs::remove_dir_all(dir.path()).unwrap();
    held(&lab.watch).last_discovery = None;
    let told = lab.tick().unwrap().messages;
    assert_eq!(lab.runs(9, None).unwrap(), []);
    assert!(lab.run(&id).is_err());
    let page = lab.feed_after(0, 99).unwrap();
    let [FeedMessage { seq, run_id, news: FeedNews::Deleted, .. }] = &page.messages[..] else {
        panic!("nothing else is left to tell: {page:?}")
    };
    assert_eq!((page.upto, run_id.as_ref()), (*seq, Some(&id)));
    assert_eq!(told, page.messages, "it is told once, with the number that it keeps");
}

#[test]
fn a_copied_folder_is_not_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    let copy = folder.path().join("runs/r-zzzzzz");
    std::fs::create_dir(&copy).unwrap();
    std::fs::copy(dir.manifest_path(), copy.join("run.json")).unwrap();
    let listed: Vec<RunId> = open(&data)
        .unwrap()
        .runs(9, None)
        .unwrap()
        .into_iter()
        .map(|view| view.run.manifest.id)
        .collect();
    assert_eq!(listed, [id]);
}

#[test]
fn the_address_is_known_while_the_lab_lives() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    assert_eq!(address_of(&data), None);
    let lab = open(&data).unwrap();
    lab.announce("http://127.0.0.1:1").unwrap();
    assert_eq!(address_of(&data).as_deref(), Some("http://127.0.0.1:1"));
    drop(lab);
    assert_eq!(address_of(&data), None);
}

/// `metrics.jsonl` with rows `from` to `to`.
fn rows(from: u64, to: u64) -> String {
    let line = |row| json!({ "attempt": 1, "row": row, "t": row, "step": row, "values": { "m": 0.5, "n": row } });
    (from..=to).map(|row| format!("{}\n", line(row))).collect()
}

fn last_row(lab: &Lab, id: &RunId) -> u64 {
    lab.series(id, &[], 9, (0, u64::MAX)).unwrap().0
}

#[test]
fn a_flood_in_one_run_does_not_delay_another() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (flooded, flooded_id) = make_run(&data);
    let (quiet, quiet_id) = make_run(&data);
    for dir in [&flooded, &quiet] {
        std::fs::write(dir.supervisor_path(), started()).unwrap();
    }
    let lab = open(&data).unwrap();
    let n = 400_000;
    std::fs::write(flooded.metrics_path(), rows(1, n)).unwrap();
    std::fs::write(quiet.metrics_path(), rows(1, 3)).unwrap();
    let mut longest = Duration::ZERO;
    let mut n_ticks = 0;
    while {
        let began = Instant::now();
        lab.tick_unheard().unwrap();
        longest = longest.max(began.elapsed());
        n_ticks += 1;
        // The first tick may have no time left for it on a busy machine; the next begins with it.
        assert!(n_ticks < 2 || last_row(&lab, &quiet_id) == 3, "after two ticks");
        lab.is_behind()
    } {}
    assert_eq!(last_row(&lab, &flooded_id), n);
    assert!(n_ticks > 1, "one tick took it all");
    // A bound for a busy machine; alone it stays close to the time that a tick has.
    assert!(longest < 8 * TICK_TIME, "a tick took {longest:?}");
}

#[test]
fn runs_that_the_first_look_had_no_time_for_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let lab = open(&data).unwrap();
    for _ in 0..20 {
        make_run(&data);
    }
    held(&lab.watch).last_discovery = None;
    let mut seen = Vec::new();
    for _ in 0..30 {
        lab.take_in(Duration::ZERO).unwrap();
        seen.push(lab.runs(99, None).unwrap().len());
    }
    assert_eq!((seen[0], seen[18], seen[29]), (1, 19, 20), "one in each tick: {seen:?}");
    assert!(!lab.is_behind() || held(&lab.watch).left.len() < 20);
}

#[test]
fn an_unchanged_folder_is_not_listed_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    make_run(&data);
    let lab = open(&data).unwrap();
    let is_due = || lab.is_listing_due(&mut held(&lab.watch));
    assert!(is_due(), "once more after a change");
    assert!(!is_due() && !is_due());
    // A folder without a manifest may become a run without any change of the folder above.
    std::fs::create_dir(folder.path().join("runs/r-0a0a0a")).unwrap();
    assert!(is_due());
    held(&lab.watch).last_discovery = None;
    lab.tick().unwrap();
    assert!(is_due() && !is_due());
}

#[test]
fn one_damaged_run_does_not_silence_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (damaged, damaged_id) = make_run(&data);
    let (sound, sound_id) = make_run(&data);
    let lab = open(&data).unwrap();
    // A folder where a file should be.
    std::fs::create_dir(damaged.metrics_path()).unwrap();
    std::fs::write(sound.metrics_path(), rows(1, 5)).unwrap();
    lab.tick().unwrap();
    assert_eq!(last_row(&lab, &sound_id), 5);
    assert!(held(&lab.watch).damaged.contains(&damaged_id));
    std::fs::remove_dir(damaged.metrics_path()).unwrap();
    std::fs::write(damaged.metrics_path(), rows(1, 7)).unwrap();
    held(&lab.watch).last_discovery = None;
    lab.tick().unwrap();
    assert_eq!(last_row(&lab, &damaged_id), 7, "it is tried again");
}

#[test]
fn the_write_ahead_log_stays_short_under_load() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    let lab = open(&data).unwrap();
    let wal = folder.path().join("cartridge.db-wal");
    let n = 600_000;
    std::fs::write(dir.metrics_path(), rows(1, n)).unwrap();
    while last_row(&lab, &id) < n {
        lab.tick_unheard().unwrap();
        let bytes = std::fs::metadata(&wal).unwrap().len();
        assert!(bytes < 2 * MOST_WAL_BYTES, "{bytes}");
    }
    held(&lab.watch).last_housekeeping = Instant::now().checked_sub(HOUSEKEEPING);
    lab.tick_unheard().unwrap();
    assert_eq!(std::fs::metadata(&wal).unwrap().len(), 0);
}

#[test]
fn an_index_made_anew_shows_the_same_runs() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), started()).unwrap();
    std::fs::write(dir.metrics_path(), rows(1, 500)).unwrap();
    let lab = open(&data).unwrap();
    assert!(matches!(reindex(&data), Err(RunError::LabRunning { .. })));
    let long_ago = Instant::now().checked_sub(LOST_AFTER).unwrap();
    held(&lab.watch).pulses.insert(id.clone(), Pulse { heard: long_ago, health: Health::Fresh });
    lab.tick().unwrap();
    let read = |lab: &Lab| (lab.run(&id).unwrap().run, lab.metrics_tail(&id, &[], 999).unwrap());
    let before = read(&lab);
    assert_eq!((before.0.status.state(), before.1.len()), (RunState::Lost, 500));
    drop(lab);
    std::fs::create_dir(folder.path().join("runs/r-0a0a0a")).unwrap();
    assert_eq!(reindex(&data).unwrap(), Reindexed { n_runs: 1, left_out: Vec::new() });
    assert_eq!(read(&open(&data).unwrap()), before);
}

#[test]
fn an_ended_run_that_is_started_again_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let exited =
        "{\"attempt\":1,\"t\":2.0,\"type\":\"exited\",\"code\":1,\"signal\":null,\"log\":[]}\n";
    let mut ids = Vec::new();
    for _ in 0..3 {
        let (dir, id) = make_run(&data);
        std::fs::write(dir.supervisor_path(), format!("{}{exited}", started())).unwrap();
        ids.push((dir, id));
    }
    let lab = open(&data).unwrap();
    let (dir, id) = &ids[1];
    assert_eq!(lab.run(id).unwrap().run.status.state(), RunState::Failed);
    let again = started().replace("\"attempt\":1", "\"attempt\":2");
    std::fs::write(dir.supervisor_path(), format!("{}{exited}{again}", started())).unwrap();
    held(&lab.watch).last_discovery = None;
    lab.tick().unwrap();
    assert_eq!(lab.run(id).unwrap().run.status.state(), RunState::Starting);
}
