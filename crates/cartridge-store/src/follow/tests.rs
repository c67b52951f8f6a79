use std::fs;

use super::*;
use crate::records::Event;

fn metric_line(row: u64, n_episodes: u64) -> String {
    let numbers: Vec<u64> = (1..=n_episodes).map(|n| (row - 1) * n_episodes + n).collect();
    let line = MetricLine {
        attempt: 1,
        row,
        t: row as f64,
        step: 100 * row,
        values: [("time/fps".to_owned(), Some(5.0))].into(),
        episodes: Episodes {
            reward: numbers.iter().map(|&n| n as f64).collect(),
            length: vec![1; numbers.len()],
            timestep: numbers.clone(),
            seed: numbers.clone(),
            terminated: vec![true; numbers.len()],
            episode: numbers,
        },
    };
    serde_json::to_string(&line).unwrap() + "\n"
}

#[test]
fn everything_is_read_once_wherever_the_file_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    let content: String = (1..=3).map(|row| metric_line(row, 2)).collect();
    for cut in 0..=content.len() {
        let mut follower = Follower::default();
        let mut rows = Vec::new();
        for length in [cut, content.len()] {
            fs::write(dir.metrics_path(), &content[..length]).unwrap();
            let news = follower.advance(&dir).unwrap();
            assert_eq!(metrics_in(&dir, news.metrics_range).unwrap(), news.metrics);
            rows.extend(news.metrics.iter().map(|line| line.row));
        }
        assert_eq!(rows, [1, 2, 3], "cut at {cut}");
        assert_eq!(follower.status.refused_lines, 0);
        assert_eq!((follower.status.step, follower.status.episodes), (300, 6));
    }
}

#[test]
fn garbage_is_counted_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    let good = r#"{"attempt":1,"t":1.0,"type":"warning","message":"hot"}"#;
    let garbage = "\n{}\nnull\n\u{0}\u{1}\n[1,2]\n{\"attempt\":1,\"t\":1.0,\"type\":\"no_such\"}\n";
    fs::write(dir.events_path(), format!("{good}{garbage}{good}\n")).unwrap();
    let mut follower = Follower::default();
    let news = follower.advance(&dir).unwrap();
    let seqs: Vec<u64> = news.events.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(seqs, [1, 2]);
    assert_eq!(follower.status.refused_lines, 5);
}

#[test]
fn lines_of_a_revived_attempt_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    let line =
        |attempt| EventLine { attempt, t: 1.0, event: Event::Warning { message: String::new() } };
    let text = |attempt| serde_json::to_string(&line(attempt)).unwrap() + "\n";
    fs::write(dir.events_path(), text(1) + &text(2) + &text(1) + &text(2)).unwrap();
    let mut follower = Follower::default();
    let attempts: Vec<u32> =
        follower.advance(&dir).unwrap().events.iter().map(|(_, line)| line.attempt).collect();
    assert_eq!(attempts, [1, 2, 2]);
    assert_eq!(follower.status.refused_lines, 1);
}

/// A run that got to row 4, was started again from row 2, and got to row 3 and then to row 5;
/// read in any steps it says the same.
#[test]
fn what_was_written_anew_is_superseded() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    let row = |attempt: u32, row: u64| {
        let mut line: MetricLine = serde_json::from_str(&metric_line(row, 2)).unwrap();
        line.attempt = attempt;
        line.values.insert("time/fps".to_owned(), Some(f64::from(attempt) * 100.0 + row as f64));
        serde_json::to_string(&line).unwrap() + "\n"
    };
    let restored = EventLine {
        attempt: 2,
        t: 1.0,
        event: Event::Restored { checkpoint: "c".to_owned(), step: 200, row: 2, episode: 4 },
    };
    let restored = serde_json::to_string(&restored).unwrap() + "\n";
    let before: String = (1..=4).map(|n| row(1, n)).collect();
    let (third, rest) = (row(2, 3), row(2, 4) + &row(2, 5));
    // What is in metrics.jsonl and events.jsonl at each look.
    let states = [
        (before.clone(), String::new()),
        (before.clone(), restored.clone()),
        (before.clone() + &third, restored.clone()),
        (before + &third + &rest, restored),
    ];
    let mut whole = Follower::default();
    for looks in 0..8_u32 {
        let mut follower = Follower::default();
        let mut kept: Vec<(u32, u64)> = Vec::new();
        for (at, (metrics, events)) in states.iter().enumerate() {
            if at < 3 && looks & (1 << at) == 0 {
                continue;
            }
            fs::write(dir.metrics_path(), metrics).unwrap();
            fs::write(dir.events_path(), events).unwrap();
            let news = follower.advance(&dir).unwrap();
            if let Some(row) = news.restored {
                kept.retain(|(_, kept)| *kept <= row);
            }
            kept.extend(news.metrics.iter().map(|line| (line.attempt, line.row)));
            if at == 1 {
                assert_eq!(follower.status.steps_per_sec, Some(102.0), "of the row it built on");
                assert_eq!((follower.status.step, follower.status.episodes), (200, 4));
            }
        }
        assert_eq!(kept, [(1, 1), (1, 2), (2, 3), (2, 4), (2, 5)], "looks {looks:b}");
        assert_eq!((follower.last_row, follower.status.step), (5, 500));
        if looks == 0 {
            whole = follower;
        } else {
            assert_eq!(follower, whole, "looks {looks:b}");
        }
    }
    let rows: Vec<u64> = metrics_in(&dir, (0, u64::MAX)).unwrap().iter().map(|l| l.row).collect();
    assert_eq!(rows, [1, 2, 3, 4, 5]);
    assert_eq!(latest_episodes(&dir, 99).unwrap().episode, (1..=10).collect::<Vec<_>>());
}

#[test]
fn the_latest_episodes_come_from_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    assert_eq!(latest_episodes(&dir, 5).unwrap(), Episodes::default());
    // More than the first look at the end of the file takes in.
    let content: String = (1..=5_000).map(|row| metric_line(row, 3)).collect();
    assert!(content.len() > 1024 * 1024);
    fs::write(dir.metrics_path(), content).unwrap();
    for n in [1, 100, 9_000] {
        let episodes = latest_episodes(&dir, n).unwrap();
        assert_eq!(episodes.len(), Some(n));
        assert_eq!(episodes.episode.last(), Some(&15_000));
        assert!(episodes.episode.is_sorted());
    }
    assert_eq!(latest_episodes(&dir, 99_999).unwrap().len(), Some(15_000));
}
