use fastrand::Rng;

use super::super::Index;
use super::*;

const ALL: (u64, u64) = (0, u64::MAX);

fn line(row: u64, values: &[(&str, Option<f64>)]) -> MetricLine {
    MetricLine {
        attempt: 1,
        row,
        t: row as f64 * 0.25,
        step: row * 10,
        values: values.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect(),
        episodes: crate::records::Episodes::default(),
    }
}

/// Every table with metrics, row by row.
fn dump(index: &Index) -> Vec<(u64, String, u64, Vec<u8>)> {
    let mut statement = index
        .connection
        .prepare(
            "SELECT level, key, chunk, data FROM metric_chunks
             UNION ALL SELECT 9, least_step || '-' || greatest_step, chunk, heads FROM metric_rows
             ORDER BY 1, 2, 3",
        )
        .unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap();
    rows.map(Result::unwrap).collect()
}

fn some_lines(rng: &mut Rng, n: u64) -> Vec<MetricLine> {
    let mut row = 0;
    (0..n)
        .map(|_| {
            row += if rng.u8(..) < 8 { rng.u64(1..3000) } else { 1 };
            let mut values = vec![("a", Some(rng.f64()))];
            if rng.u8(..) < 250 {
                values.push(("b", (rng.u8(..) < 250).then(|| rng.f64())));
            }
            if rng.u8(..) < 4 {
                values.push(("seldom", Some(rng.f64())));
            }
            line(row, &values)
        })
        .collect()
}

#[test]
fn the_tables_depend_on_the_rows_alone() {
    let id: RunId = "r-000000".parse().unwrap();
    for seed in 0..20 {
        let mut rng = Rng::with_seed(seed);
        let lines = some_lines(&mut rng, 6000);
        let whole = Index::empty().unwrap();
        RunSeries::new(&whole.connection, &id).append(&lines).unwrap();
        let pieces = Index::empty().unwrap();
        let series = RunSeries::new(&pieces.connection, &id);
        let mut done = 0;
        while done < lines.len() {
            // Rows that are dropped again leave nothing behind.
            let ahead = rng.usize(done..=lines.len());
            series.append(&lines[done..ahead]).unwrap();
            let kept = rng.usize(done..=ahead);
            let last = if kept == 0 { 0 } else { lines[kept - 1].row };
            if kept < ahead {
                series.truncate(last + rng.u64(0..lines[kept].row - last)).unwrap();
            }
            done = kept;
        }
        assert_eq!(dump(&pieces), dump(&whole), "seed {seed}");
        series.truncate(0).unwrap();
        assert_eq!(dump(&pieces), []);
    }
}

#[test]
fn charts_equal_those_of_a_plain_scan() {
    let id: RunId = "r-000000".parse().unwrap();
    for seed in 0..10 {
        let mut rng = Rng::with_seed(seed);
        let lines = some_lines(&mut rng, 20_000);
        let index = Index::empty().unwrap();
        let series = RunSeries::new(&index.connection, &id);
        series.append(&lines).unwrap();
        assert_eq!(series.keys().unwrap(), ["a", "b", "seldom"]);
        for _ in 0..20 {
            let key = *rng.choice(&["a", "b", "seldom"]).unwrap();
            let most = rng.usize(2..3000);
            let (from, to) = match rng.u8(..4) {
                0 => ALL,
                _ => (rng.u64(..lines[19_999].step), rng.u64(..lines[19_999].step)),
            };
            let wanted: Vec<(u64, f64, Option<f64>)> = lines
                .iter()
                .filter(|line| (from..=to).contains(&line.step))
                .filter_map(|line| Some((line.step, line.t, *line.values.get(key)?)))
                .collect();
            let rows = series.rows_between(from, to).unwrap().unwrap_or((1, 0));
            let found = series.points(key, most, (from, to), rows).unwrap();
            let points: Vec<(u64, f64, Option<f64>)> = (found.step.into_iter())
                .zip(found.t)
                .zip(found.value)
                .map(|((step, t), value)| (step, t, value))
                .collect();
            if wanted.len() <= most {
                assert_eq!(points, wanted);
                continue;
            }
            assert!(points.len() <= most + 2, "{} of {most}", points.len());
            assert!(points.is_sorted_by(|a, b| a.0 < b.0));
            assert_eq!((points[0], points.last()), (wanted[0], wanted.last()));
            let values = |points: &[(u64, f64, Option<f64>)]| {
                let mut values: Vec<f64> = points.iter().filter_map(|point| point.2).collect();
                values.sort_by(f64::total_cmp);
                (values[0], values[values.len() - 1])
            };
            assert_eq!(values(&points), values(&wanted), "the extremes survive");
            assert!(points.iter().all(|point| wanted.contains(point)));
            let has_gap = |points: &[(u64, f64, Option<f64>)]| points.iter().any(|p| p.2.is_none());
            assert_eq!(has_gap(&points), has_gap(&wanted), "absences stay explicit");
        }
    }
}

#[test]
fn a_spike_of_one_point_survives() {
    let id: RunId = "r-000000".parse().unwrap();
    let index = Index::empty().unwrap();
    let series = RunSeries::new(&index.connection, &id);
    let value = |row| match row {
        70_000 => 1e6,
        90_001 => -1e6,
        row => (row % 7) as f64,
    };
    let lines: Vec<MetricLine> =
        (1..=100_000).map(|row| line(row, &[("m", Some(value(row)))])).collect();
    series.append(&lines).unwrap();
    for most in [2, 3, 10, 100, 1000, 10_000] {
        let points = series.points("m", most, ALL, (0, MAX_ROW)).unwrap();
        assert!(points.value.contains(&Some(1e6)) && points.value.contains(&Some(-1e6)), "{most}");
        assert!(points.value.len() <= most + 2, "{} of {most}", points.value.len());
        assert!(points.value.len() >= most / 3, "{} of {most}", points.value.len());
    }
}

#[test]
fn the_tail_has_whole_rows() {
    let id: RunId = "r-000000".parse().unwrap();
    let index = Index::empty().unwrap();
    let series = RunSeries::new(&index.connection, &id);
    let lines = some_lines(&mut Rng::with_seed(1), 2000);
    series.append(&lines).unwrap();
    let keys = series.keys().unwrap();
    for n in [0, 1, 449, 2000, 9999] {
        let tail = series.tail(&keys, n).unwrap();
        assert_eq!(tail.len(), n.min(2000));
        for (found, line) in tail.iter().rev().zip(lines.iter().rev()) {
            assert_eq!((found.row, found.step, &found.values), (line.row, line.step, &line.values));
        }
    }
    assert_eq!(series.newest("a").unwrap(), lines[1999].values["a"]);
    assert_eq!(series.newest("none").unwrap(), None);
}

#[test]
fn a_thinned_series_keeps_its_ends_and_its_spikes() {
    let n = 10_000;
    let value = |place: u64| match place {
        777 => Some(1e9),
        778 => Some(-1e9),
        5_000 => None,
        _ => Some((place % 10) as f64),
    };
    let whole = SeriesPoints {
        key: "m".to_owned(),
        step: (0..n).map(|place| 3 * place).collect(),
        t: (0..n).map(|place| place as f64).collect(),
        value: (0..n).map(value).collect(),
    };
    let mut same = whole.clone();
    same.thin(10_000);
    assert_eq!(same, whole);
    for most in [2, 9, 100, 5_000] {
        let mut thin = whole.clone();
        thin.thin(most);
        assert!(thin.step.len() <= most + 3, "{} of {most}", thin.step.len());
        assert_eq!((thin.step[0], thin.step.last()), (0, Some(&29_997)));
        assert!(thin.step.is_sorted_by(|a, b| a < b));
        for kept in [Some(1e9), Some(-1e9), None] {
            assert!(thin.value.contains(&kept), "{most}");
        }
        for ((step, t), found) in thin.step.iter().zip(&thin.t).zip(&thin.value) {
            assert_eq!((*t, *found), ((step / 3) as f64, value(step / 3)));
        }
    }
}
