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
fn lines_of_a_replaced_attempt_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    fs::write(
        dir.supervisor_path(),
        "{\"attempt\":2,\"t\":1.0,\"type\":\"started\",\"supervisor_pid\":1,\"trainer_pid\":2}\n",
    )
    .unwrap();
    let line =
        |attempt| EventLine { attempt, t: 1.0, event: Event::Warning { message: String::new() } };
    let text = |attempt| serde_json::to_string(&line(attempt)).unwrap() + "\n";
    fs::write(dir.events_path(), text(1) + &text(2)).unwrap();
    let mut follower = Follower::default();
    assert_eq!(follower.advance(&dir).unwrap().events, [(1, line(2))]);
    assert_eq!(follower.status.refused_lines, 1);
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
