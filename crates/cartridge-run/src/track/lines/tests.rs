use std::collections::BTreeMap;

use cartridge_store::Episodes;
use cartridge_store::jsonl::Appender;

use super::*;

fn row(attempt: u32, row: u64, step: u64, value: Option<f64>) -> MetricLine {
    MetricLine {
        attempt,
        row,
        t: 1000.0 + step as f64,
        step,
        values: BTreeMap::from([("train/loss".to_owned(), value)]),
        episodes: Episodes::default(),
    }
}

fn read_all(source: &mut impl Source, from: u64) -> Vec<String> {
    let mut lines = Vec::new();
    while source.read(from, &mut lines).unwrap() {}
    lines
}

#[test]
fn a_row_is_a_line_with_its_window() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.jsonl");
    let mut file = Appender::open(&path).unwrap();
    let mut history = History::new(path, 1000.0, 10);
    assert_eq!(history.summary(), None);
    file.append(&row(1, 1, 10, Some(0.5))).unwrap();
    file.append(&row(1, 2, 11, None)).unwrap();
    assert_eq!(
        read_all(&mut history, 0),
        [
            r#"{"_step":0,"_timestamp":1010.0,"_runtime":10.0,"global_step":10,"window_id":1,"train/loss":0.5}"#,
            r#"{"_step":1,"_timestamp":1011.0,"_runtime":11.0,"global_step":11,"window_id":2,"train/loss":NaN}"#,
        ]
    );
    assert_eq!(
        history.summary().unwrap(),
        r#"{"_runtime":11.0,"_step":1,"_timestamp":1011.0,"global_step":11,"train/loss":NaN,"window_id":2,"_wandb":{"runtime":11.0}}"#
    );
    // Nothing new, then a line that is told when it is whole.
    assert_eq!(read_all(&mut history, 0), Vec::<String>::new());
    file.append(&row(1, 3, 20, Some(1.0))).unwrap();
    assert_eq!(read_all(&mut history, 0).len(), 1);
}

#[test]
fn what_is_written_anew_is_not_told_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.jsonl");
    let mut file = Appender::open(&path).unwrap();
    // A fork, whose rows go on from those of its parent, that is started again from row 42.
    for (attempt, number) in [(1, 41), (1, 42), (1, 43), (1, 44), (2, 43), (2, 44), (2, 45)] {
        file.append(&row(attempt, number, number, Some(f64::from(attempt)))).unwrap();
    }
    let whole = read_all(&mut History::new(path.clone(), 0.0, 10), 0);
    let losses: Vec<&str> =
        whole.iter().map(|line| &line[line.len() - 4..line.len() - 1]).collect();
    assert_eq!(losses, ["1.0", "1.0", "1.0", "1.0", "2.0"]);
    for (place, line) in whole.iter().enumerate() {
        assert!(line.starts_with(&format!("{{\"_step\":{place},")), "{line}");
    }
    // From wherever the server stands, the rest is the same to the letter.
    for from in 0..=6 {
        let rest = read_all(&mut History::new(path.clone(), 0.0, 10), from);
        assert_eq!(rest, whole[usize::try_from(from).unwrap().min(5)..]);
    }
}

#[test]
fn beats_without_a_sample_are_no_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("supervisor.jsonl");
    let mut file = Appender::open(&path).unwrap();
    let beat = |cpu_percent, rss_bytes| SupervisorLine {
        attempt: 1,
        t: 12.0,
        event: SupervisorEvent::Heartbeat { cpu_percent, rss_bytes, gpu: None, lines: None },
    };
    for line in [beat(None, None), beat(Some(50.0), Some(3 << 20)), beat(None, Some(1 << 20))] {
        file.append(&line).unwrap();
    }
    let told = read_all(&mut Beats::new(path.clone(), 10.0), 0);
    assert_eq!(
        told,
        [
            r#"{"_timestamp":12.0,"_runtime":2.0,"system.cpu":50.0,"system.proc.memory.rssMB":3.0,"_wandb":true}"#,
            r#"{"_timestamp":12.0,"_runtime":2.0,"system.proc.memory.rssMB":1.0,"_wandb":true}"#,
        ]
    );
    assert_eq!(read_all(&mut Beats::new(path, 10.0), 1), told[1..]);
}
