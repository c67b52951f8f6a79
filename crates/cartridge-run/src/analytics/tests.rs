use serde_json::json;

use super::*;

fn series(key: &str, points: &[(u64, f64)]) -> SeriesPoints {
    SeriesPoints {
        key: key.to_owned(),
        step: points.iter().map(|(step, _)| *step).collect(),
        t: vec![0.0; points.len()],
        value: points.iter().map(|(_, value)| Some(*value).filter(|it| it.is_finite())).collect(),
    }
}

/// The windows of 100 steps, with the mean return of each.
#[track_caller]
fn check(points: &[(u64, f64)], expected: &[(u64, f64)]) {
    let found = Windows::new("r-000000".to_owned(), 100, &[series(KEYS[0], points)]);
    let means =
        found.windows.iter().map(|window| (window.window_id, window.figures["return"].mean));
    assert_eq!(means.collect::<Vec<_>>(), expected);
}

#[test]
fn rows_fall_into_the_window_of_their_step() {
    check(&[], &[]);
    check(&[(0, 1.0), (1, 2.0), (100, 3.0), (101, 9.0)], &[(1, 2.0), (2, 9.0)]);
    // A window without rows is none, and what is not finite does not count.
    check(&[(50, 1.0), (350, f64::NAN), (450, 4.0), (500, 6.0)], &[(1, 1.0), (5, 5.0)]);
}

#[test]
fn windows_meet_without_gap_or_overlap() {
    let mut next = 0;
    for window in 1..50 {
        let (from, to) = steps_of(window, 7);
        assert_eq!(from, next);
        assert!((from..=to).all(|step| window_of(step, 7) == window));
        next = to + 1;
    }
    assert_eq!(steps_of(u64::MAX, 7).1, u64::MAX);
}

#[test]
fn the_newest_are_kept() {
    let points: Vec<(u64, f64)> = (1..=30).map(|n| (100 * n, n as f64)).collect();
    let mut found = Windows::new("r-000000".to_owned(), 100, &[series(KEYS[0], &points)]);
    assert!(!found.is_truncated);
    found.keep_newest(10);
    assert_eq!((found.windows.len(), found.windows[0].window_id), (10, 21));
    assert!(found.is_truncated);
}

#[test]
fn an_iteration_shows_all_that_was_measured_or_says_what_there_is() {
    let loss = series("train/loss", &[(110, 4.0), (150, 1.0), (200, 2.5)]);
    let found = Iteration::new("r-000000", 2, 100, 200, &[loss]).unwrap();
    assert_eq!((found.from_step, found.to_step), (101, 200));
    let expected = Figures { n: 3, mean: 2.5, min: 1.0, max: 4.0, last: 2.5 };
    assert_eq!(found.metrics[0].figures, expected);
    let error = Iteration::new("r-000000", 9, 100, 200, &[]).unwrap_err().to_string();
    assert_eq!(error, "run `r-000000` has nothing in window 9: it has windows 1 to 2");
}

#[test]
fn a_run_says_its_own_window() {
    let config = LabConfig::default();
    let mut manifest: Manifest = serde_json::from_value(json!({
        "format": 1, "id": "r-000000", "kind": "train", "name": "a run", "env_id": "CartPole-v1",
        "config": {}, "created_at": 1.0, "cartridge_version": "0.0.0",
    }))
    .unwrap();
    assert_eq!(window_steps(&manifest, &config), 100_000);
    manifest.config = json!({ "analytics": { "window_steps": 5_000 } });
    assert_eq!(window_steps(&manifest, &config), 5_000);
}

/// The state of each source: metrics, evaluations, episode metrics, heartbeat.
#[test]
fn sources_say_how_good_they_are() {
    let manifest: Manifest = serde_json::from_value(json!({
        "format": 1, "id": "r-000000", "kind": "train", "name": "a run",
        "env_id": "AsteroidProspector-v0", "config": { "evaluation": { "every_steps": 100 } },
        "created_at": 1.0, "cartridge_version": "0.0.0",
    }))
    .unwrap();
    let states = |status: &RunStatus, rows, is_late| -> String {
        let found = RunSummary::new(&manifest, status, rows, is_late, &LabConfig::default());
        let states: Vec<&str> = found.completeness.iter().map(|it| it.state.as_str()).collect();
        states.join(" ")
    };
    let mut status = RunStatus::default();
    assert_eq!(states(&status, Ok(vec![]), false), "missing missing missing missing");
    status.heartbeat_at = Some(1.0);
    assert_eq!(states(&status, Err("no".to_owned()), false), "error missing error ok");
    let values = BTreeMap::from([("episode/profit".to_owned(), Some(7.0))]);
    let rows = vec![MetricValues { row: 1, step: 500, t: 1.0, values }];
    status.step = 500;
    status.latest_eval = Some(
        serde_json::from_value(json!({
            "step": 450, "episodes": 5, "mean": 2.0, "std": 1.0, "ci95": [1.0, 3.0], "mean_length": 9.0,
        }))
        .unwrap(),
    );
    assert_eq!(states(&status, Ok(rows.clone()), false), "ok ok ok ok");
    status.step = 900;
    assert_eq!(states(&status, Ok(rows.clone()), true), "stale stale ok stale");
    let found = RunSummary::new(&manifest, &status, Ok(rows), false, &LabConfig::default());
    let kpi = |name: &str| found.kpis.iter().find(|kpi| kpi.name == name).unwrap().value;
    assert_eq!((kpi("profit"), kpi("evaluation"), kpi("survival")), (Some(7.0), Some(2.0), None));
}
