use std::fs;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const SILENCE_S: f64 = 15.0;

fn sample(attempt: u32, t: f64, cpu_percent: f64) -> ResourceSample {
    ResourceSample { attempt, t, cpu_percent: Some(cpu_percent), rss_bytes: Some(1_000), gpu: None }
}

/// A run folder whose supervisor wrote these lines.
fn folder(lines: &str) -> (tempfile::TempDir, RunDir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    fs::write(dir.supervisor_path(), lines).unwrap();
    (folder, dir)
}

fn beat(attempt: u32, t: f64, cpu_percent: f64) -> String {
    let beat = json!({ "attempt": attempt, "t": t, "type": "heartbeat",
        "cpu_percent": cpu_percent, "rss_bytes": 1_000 });
    format!("{beat}\n")
}

/// The times of what was measured.
fn times(dir: &RunDir, stretch: (f64, f64)) -> Vec<f64> {
    samples(dir, stretch).unwrap().iter().map(|sample| sample.t).collect()
}

#[test]
fn all_attempts_are_read_and_nothing_else() {
    let lines = [
        json!({ "attempt": 1, "t": 1.0, "type": "queued" }).to_string() + "\n",
        json!({ "attempt": 1, "t": 2.0, "type": "started", "supervisor_pid": 1, "trainer_pid": 2 })
            .to_string()
            + "\n",
        beat(1, 3.0, 50.0),
        "no JSON\n\n{}\n[1,2]\n\u{fffd}\n".to_owned(),
        json!({ "attempt": 1, "t": 4.0, "type": "heartbeat", "cpu_percent": "much" }).to_string()
            + "\n",
        json!({ "attempt": 1, "t": 5.0, "type": "heartbeat", "cpu_percent": null,
            "rss_bytes": null })
        .to_string()
            + "\n",
        json!({ "attempt": 1, "t": 8.0, "type": "heartbeat", "cpu_percent": 150.5,
            "rss_bytes": 2_000, "gpu": { "percent": 90.0, "memory_bytes": 7 },
            "lines": { "typed": 3, "by_type": { "metric": 3 } } })
        .to_string()
            + "\n",
        json!({ "attempt": 1, "t": 9.0, "type": "exited", "code": 1, "signal": null, "log": [] })
            .to_string()
            + "\n",
        // The clock was set back meanwhile.
        beat(2, 7.0, 10.0),
        beat(2, 12.0, 20.0),
    ];
    let torn = r#"{"attempt":2,"t":17.0,"type":"heartbeat","cpu_percent":99.0"#;
    let (_folder, dir) = folder(&(lines.concat() + torn));
    let gpu = Some(GpuSample { percent: 90.0, memory_bytes: 7 });
    let eighth = ResourceSample { rss_bytes: Some(2_000), gpu, ..sample(1, 8.0, 150.5) };
    assert_eq!(
        samples(&dir, ALWAYS).unwrap(),
        [sample(1, 3.0, 50.0), sample(2, 7.0, 10.0), eighth, sample(2, 12.0, 20.0)]
    );
    assert_eq!(times(&dir, (7.0, 8.0)), [7.0, 8.0]);
    assert_eq!(times(&dir, (8.0, 7.0)).len(), 0);
    assert_eq!(times(&dir, (f64::NAN, f64::NAN)).len(), 0);
}

#[test]
fn without_a_supervisor_there_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(samples(&RunDir::new(folder.path()), ALWAYS).unwrap(), []);
    let (_folder, dir) = self::folder("");
    assert_eq!(samples(&dir, (5.0, 6.0)).unwrap(), []);
}

#[test]
fn what_is_new_is_found_near_the_end() {
    let n = 20_000;
    let lines: String = (0..n).map(|n| beat(1, f64::from(n), 1.0)).collect();
    let length = lines.len() as u64;
    let (_folder, dir) = folder(&lines);
    let path = dir.supervisor_path();
    assert!(begin(&path, f64::from(n - 3)) > length - END_BYTES, "no more is read than the end");
    assert!((1..length / 2).contains(&begin(&path, f64::from(n / 2))), "nor the half");
    assert_eq!(begin(&path, 0.0), 0);
    for from in [0, 1, 77, n / 2, n - 500, n - 1, n, n + 5] {
        let expected: Vec<f64> = (from..n).map(f64::from).collect();
        assert_eq!(times(&dir, (f64::from(from), f64::INFINITY)), expected, "from {from}");
    }
    // Where nothing can be read at the places that are tried, all is read.
    let (_folder, dir) = folder(&(lines + &"x\n".repeat(100_000)));
    assert_eq!(times(&dir, (f64::from(n - 2), f64::INFINITY)).len(), 2);
}

#[test]
fn few_samples_stay_as_they_are() {
    assert_eq!(condense(&[], 500, SILENCE_S), []);
    let all: Vec<ResourceSample> =
        (0..4).map(|n| sample(1, 5.0 * f64::from(n), f64::from(n))).collect();
    assert_eq!(condense(&all, 4, SILENCE_S), all);
    assert_eq!(condense(&all[..1], 2, SILENCE_S), all[..1]);
}

#[test]
fn breaks_have_a_row_without_figures() {
    let all = [
        sample(1, 0.0, 1.0),
        sample(1, 5.0, 2.0),
        // The machine slept.
        sample(1, 65.0, 3.0),
        // Another attempt, at once.
        sample(2, 67.0, 4.0),
    ];
    let rows = condense(&all, 16, SILENCE_S);
    let told: Vec<_> = rows.iter().map(|row| (row.t, row.cpu_percent)).collect();
    assert_eq!(
        told,
        [
            (0.0, Some(1.0)),
            (5.0, Some(2.0)),
            (35.0, None),
            (65.0, Some(3.0)),
            (66.0, None),
            (67.0, Some(4.0))
        ]
    );
    assert!(!rows[2].is_measured());
}

#[test]
fn a_spike_survives_and_the_newest_is_told_as_it_is() {
    let mut all: Vec<ResourceSample> =
        (0..100_000).map(|n| sample(1, 5.0 * f64::from(n), 50.0)).collect();
    all[31_415].cpu_percent = Some(800.0);
    all[27_182].rss_bytes = Some(9_000);
    all[16_180].gpu = Some(GpuSample { percent: 3.0, memory_bytes: 5 });
    all[99_998].cpu_percent = Some(70.0);
    all[99_999].cpu_percent = Some(20.0);
    let rows = condense(&all, 500, SILENCE_S);
    assert!((400..=500).contains(&rows.len()), "{}", rows.len());
    let n_of = |is: fn(&ResourceSample) -> bool| rows.iter().filter(|row| is(row)).count();
    assert_eq!(n_of(|row| row.cpu_percent == Some(800.0)), 1);
    assert_eq!(n_of(|row| row.rss_bytes == Some(9_000)), 1);
    assert_eq!(n_of(|row| row.gpu.is_some()), 1);
    assert_eq!(rows.last(), all.last());
}

#[test]
fn the_longest_of_too_many_breaks_stay() {
    // A trainer that is started again every minute, and one night without it.
    let mut all: Vec<ResourceSample> =
        (0..1_000).map(|n| sample(n, 60.0 * f64::from(n), 1.0)).collect();
    all[400..].iter_mut().for_each(|sample| sample.t += 30_000.0);
    let rows = condense(&all, 20, SILENCE_S);
    let breaks: Vec<f64> = rows.iter().filter(|row| !row.is_measured()).map(|row| row.t).collect();
    assert!(rows.len() <= 20 && breaks.len() == 5, "{} {breaks:?}", rows.len());
    assert!(breaks.contains(&(399.0 * 60.0 + 15_030.0)), "{breaks:?}");
}

proptest! {
    #[test]
    fn there_are_never_too_many_rows_and_nothing_great_is_lost(
        steps in prop::collection::vec((0_u32..40, 0_u32..3, 0_u32..1_000), 0..300),
        most in 0_usize..400,
    ) {
        let (mut t, mut attempt) = (0.0, 1);
        let samples: Vec<ResourceSample> = steps
            .into_iter()
            .map(|(seconds, another, percent)| {
                t += f64::from(seconds);
                attempt += u32::from(another == 0);
                sample(attempt, t, f64::from(percent))
            })
            .collect();
        let rows = condense(&samples, most, SILENCE_S);
        prop_assert!(rows.len() <= most.max(2), "{} of {most}", rows.len());
        prop_assert!(rows.windows(2).all(|pair| pair[0].t <= pair[1].t));
        prop_assert_eq!(rows.last(), samples.last());
        let greatest = |of: &[ResourceSample]| {
            of.iter().filter_map(|sample| sample.cpu_percent).fold(-1.0, f64::max)
        };
        prop_assert_eq!(greatest(&rows), greatest(&samples));
    }
}
