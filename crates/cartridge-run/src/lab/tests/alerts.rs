//! Alerts, from what is in the files to what readers of the feed hear.

use super::*;
use crate::alert::watch::{Latency, Watch};
use crate::alert::{Kind, News, State};
use crate::clock::unix_now;

fn look(lab: &Lab, watch: &mut Watch) -> Vec<(&'static str, Kind, State)> {
    // As if the last look at the numbers had been long ago.
    watch.looked.clear();
    let news = lab.look_for_alerts(watch, Latency::default()).unwrap();
    let told = |news: News| (news.name, news.alert.cause.kind, news.alert.state);
    news.into_iter().map(told).collect()
}

/// What readers of the feed hear of alerts.
fn heard(lab: &Lab) -> Vec<(bool, Kind)> {
    let messages = lab.tick().unwrap().messages;
    let alerts = messages.into_iter().filter_map(|message| match message.news {
        FeedNews::Alert { alert, is_new } => Some((is_new, alert.cause.kind)),
        _ => None,
    });
    alerts.collect()
}

fn supervised(lines: &[serde_json::Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn exited(code: i32) -> serde_json::Value {
    json!({ "attempt": 1, "t": unix_now(), "type": "exited", "code": code, "signal": null, "log": [] })
}

fn begun() -> serde_json::Value {
    json!({ "attempt": 1, "t": unix_now(), "type": "started", "supervisor_pid": 1, "trainer_pid": 2 })
}

#[test]
fn a_run_that_fails_is_told_until_it_is_put_away() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), supervised(&[begun(), exited(3)])).unwrap();
    let mut watch = Watch::default();
    {
        let lab = open(&data).unwrap();
        let fired = [("AlertTriggered", Kind::RunFailed, State::Firing)];
        assert_eq!(look(&lab, &mut watch), fired);
        assert_eq!(heard(&lab), [(true, Kind::RunFailed)]);
        // It is said once, also by the next lab.
        assert_eq!(look(&lab, &mut watch), []);
    }
    let lab = open(&data).unwrap();
    assert_eq!(look(&lab, &mut watch), []);
    let alert = lab.acknowledge_alert("al-1", By::new("Ada")).unwrap();
    assert_eq!(alert.cause.sentence, "a run has failed: the trainer ended with exit code 3");
    assert_eq!(heard(&lab), [(false, Kind::RunFailed)]);
    let known = [("AlertChanged", Kind::RunFailed, State::Acknowledged)];
    assert_eq!(look(&lab, &mut watch), known);
    lab.archive_run(&id, true, By::new("Ada")).unwrap();
    lab.tick().unwrap();
    let over = [("AlertChanged", Kind::RunFailed, State::Resolved)];
    assert_eq!(look(&lab, &mut watch), over);
    let list = lab.alerts(None, 9).unwrap();
    assert_eq!((list.n_firing, list.n_acknowledged), (0, 0));
    assert_eq!(list.alerts[0].resolved_reason.as_deref(), Some("the run was archived"));
}

#[test]
fn what_failed_long_ago_is_history() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, _) = make_run(&data);
    let mut ended = exited(3);
    ended["t"] = json!(unix_now() - 100_000.0);
    std::fs::write(dir.supervisor_path(), supervised(&[begun(), ended])).unwrap();
    let lab = open(&data).unwrap();
    assert_eq!(look(&lab, &mut Watch::default()), []);
}

#[test]
fn a_supervisor_that_falls_silent_is_told_and_heard_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, id) = make_run(&data);
    std::fs::write(dir.supervisor_path(), supervised(&[begun()])).unwrap();
    let (lab, mut watch) = (open(&data).unwrap(), Watch::default());
    assert_eq!(look(&lab, &mut watch), []);
    for silence in [STALE_AFTER, LOST_AFTER] {
        let long_ago = Instant::now().checked_sub(silence).unwrap();
        let pulse = Pulse { heard: long_ago, health: Health::Fresh };
        held(&lab.watch).pulses.insert(id.clone(), pulse);
        lab.tick().unwrap();
        let told = look(&lab, &mut watch);
        // Lost is another alert than late, which is then over.
        let over = ("AlertChanged", Kind::HeartbeatStale, State::Resolved);
        let fired = ("AlertTriggered", Kind::HeartbeatStale, State::Firing);
        assert_eq!(told, if silence == STALE_AFTER { vec![fired] } else { vec![over, fired] });
        assert_eq!(look(&lab, &mut watch), []);
    }
    let beat = json!({ "attempt": 1, "t": unix_now(), "type": "heartbeat",
                       "cpu_percent": null, "rss_bytes": null });
    std::fs::write(dir.supervisor_path(), supervised(&[begun(), beat])).unwrap();
    held(&lab.watch).last_discovery = None;
    lab.tick().unwrap();
    let over = [("AlertChanged", Kind::HeartbeatStale, State::Resolved)];
    assert_eq!(look(&lab, &mut watch), over);
    let alert = &lab.alerts(Some(State::Resolved), 9).unwrap().alerts[0];
    assert_eq!(alert.resolved_reason.as_deref(), Some("its supervisor was heard again"));
}

/// 200 rows of metrics whose returns are what the curve says, and whose losses are not finite.
fn broken(curve: impl Fn(u64) -> f64) -> String {
    let row = |row: u64| {
        json!({ "attempt": 1, "row": row, "t": row, "step": 1_000 * row,
                "values": { "rollout/ep_rew_mean": curve(row), "train/loss": null } })
    };
    supervised(&(1..=200).map(row).collect::<Vec<_>>())
}

#[test]
fn numbers_that_go_wrong_are_told_while_it_trains() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let (dir, _) = make_run(&data);
    std::fs::write(dir.supervisor_path(), supervised(&[begun()])).unwrap();
    let fall = |row| if row < 150 { 480.0 } else { 60.0 };
    std::fs::write(dir.metrics_path(), broken(fall)).unwrap();
    let (lab, mut watch) = (open(&data).unwrap(), Watch::default());
    lab.tick().unwrap();
    let mut told = look(&lab, &mut watch);
    told.sort_by_key(|(_, kind, _)| *kind);
    let fired = |kind| ("AlertTriggered", kind, State::Firing);
    assert_eq!(told, [fired(Kind::NotFinite), fired(Kind::RewardCollapse)]);
    assert_eq!(look(&lab, &mut watch), []);
    // It ends badly: what it had learnt is lost for good, and what broke it stays told.
    std::fs::write(dir.supervisor_path(), supervised(&[begun(), exited(1)])).unwrap();
    lab.tick().unwrap();
    let mut told = look(&lab, &mut watch);
    told.sort_by_key(|(_, kind, _)| *kind);
    assert_eq!(
        told,
        [("AlertChanged", Kind::RewardCollapse, State::Resolved), fired(Kind::RunFailed)]
    );
}

#[test]
fn a_lab_that_answers_slowly_and_a_full_disk_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let limits =
        json!({ "alerts": { "disk_free_bytes": 900_000_000_000_000_000_u64, "api_p95_ms": 50.0 } });
    std::fs::write(folder.path().join("lab.json"), limits.to_string()).unwrap();
    let (lab, mut watch) = (open(&data).unwrap(), Watch::default());
    let answers = |n: u64| Latency { bounds: vec![0.1, 1.0], counts: vec![0, n], n };
    lab.look_for_alerts(&mut watch, answers(0)).unwrap();
    lab.look_for_alerts(&mut watch, answers(100)).unwrap();
    let mut open: Vec<Kind> = lab
        .alerts(Some(State::Firing), 9)
        .unwrap()
        .alerts
        .iter()
        .map(|alert| alert.cause.kind)
        .collect();
    open.sort();
    assert_eq!(open, [Kind::ApiLatency, Kind::Disk]);
    // Whoever wants to know of neither says so, and what was said is over.
    let limits = json!({ "alerts": { "disk_free_bytes": null, "api_p95_ms": null } });
    std::fs::write(folder.path().join("lab.json"), limits.to_string()).unwrap();
    lab.look_for_alerts(&mut watch, answers(200)).unwrap();
    assert_eq!(lab.alerts(Some(State::Firing), 9).unwrap().alerts, []);
    // Those who listen hear of alerts that are about no run.
    assert_eq!(heard(&lab).len(), 4);
}
