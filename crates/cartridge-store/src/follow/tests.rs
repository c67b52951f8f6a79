use std::fs;

use super::*;
use crate::error::StoreError;

fn metric_line(row: u64, n_episodes: u64) -> String {
    let numbers: Vec<u64> = (1..=n_episodes).map(|n| (row - 1) * n_episodes + n).collect();
    let line = MetricLine {
        attempt: 1,
        row,
        t: row as f64,
        step: 100 * row,
        values: [("time/fps".to_owned(), Some(5.0))].into(),
        episodes: Episodes {
            reward: numbers.iter().map(|&n| Some(n as f64)).collect(),
            length: vec![1; numbers.len()],
            timestep: numbers.clone(),
            seed: numbers.iter().copied().map(Some).collect(),
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
    let line =
        |attempt| EventLine { attempt, t: 1.0, event: Event::Warning { message: String::new() } };
    let text = |attempt| serde_json::to_string(&line(attempt)).unwrap() + "\n";
    fs::write(dir.events_path(), text(1) + &text(2) + &text(1) + &text(2)).unwrap();
    let mut follower = Follower::default();
    let news = follower.advance(&dir).unwrap();
    assert_eq!(news.events, [(1, line(1)), (2, line(2)), (3, line(2))]);
    assert_eq!(follower.status.refused_lines, 1);
}

#[test]
fn rows_after_a_restored_checkpoint_are_superseded() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    let again = |row| metric_line(row, 2).replace("\"attempt\":1", "\"attempt\":2");
    let restored = "{\"attempt\":2,\"t\":1.0,\"type\":\"restored\",\"checkpoint\":\"c\",\
                    \"step\":200,\"row\":2,\"episode\":4}\n";
    let first: String = (1..=4).map(|row| metric_line(row, 2)).collect();
    // The old trainer writes one more row after it was replaced.
    let second = again(3) + &metric_line(5, 2) + &again(4);
    let rows = |news: &News| news.metrics.iter().map(|line| line.row).collect::<Vec<_>>();
    let mut live = Follower::default();
    fs::write(dir.metrics_path(), &first).unwrap();
    assert_eq!(rows(&live.advance(&dir).unwrap()), [1, 2, 3, 4]);
    fs::write(dir.events_path(), restored).unwrap();
    let news = live.advance(&dir).unwrap();
    assert_eq!((news.last_kept_row, live.last_row, live.status.step), (Some(2), 2, 200));
    fs::write(dir.metrics_path(), first + &second).unwrap();
    let news = live.advance(&dir).unwrap();
    assert_eq!((rows(&news), news.last_kept_row), (vec![3, 4], None));
    // All at once it is the same.
    let mut late = Follower::default();
    let news = late.advance(&dir).unwrap();
    assert_eq!((rows(&news), news.last_kept_row), (vec![1, 2, 3, 4], None));
    assert_eq!(late, live);
}

#[test]
fn a_look_reads_no_more_than_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    let content: String = (1..=100).map(|row| metric_line(row, 2)).collect();
    fs::write(dir.metrics_path(), &content).unwrap();
    let line = content.len() as u64 / 100;
    for budget in [0, 1, line, 10 * line] {
        let mut follower = Follower::default();
        let mut n_looks = 0;
        while {
            let before = follower.metrics_end;
            let news = follower.advance_within(&dir, budget).unwrap();
            assert!(follower.metrics_end - before <= budget.max(4 * line), "{budget}");
            assert!(!news.metrics.is_empty());
            n_looks += 1;
            news.has_more
        } {}
        assert_eq!(follower.last_row, 100);
        assert!(n_looks >= 10, "{n_looks}");
    }
}

#[test]
fn a_file_that_was_cut_and_grew_again_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    fs::write(dir.metrics_path(), metric_line(1, 2) + &metric_line(2, 2)).unwrap();
    let mut follower = Follower::default();
    follower.advance(&dir).unwrap();
    for content in [metric_line(1, 2), metric_line(1, 2) + &metric_line(2, 9)] {
        fs::write(dir.metrics_path(), content).unwrap();
        assert!(matches!(follower.clone().advance(&dir), Err(StoreError::Rewound(_))));
    }
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

#[test]
fn rows_that_were_written_anew_are_shown_once() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    // It got to row 4, was started again from row 2, and got to row 5.
    let row = |attempt: u32, row: u64| {
        let mut line: MetricLine = serde_json::from_str(&metric_line(row, 2)).unwrap();
        line.attempt = attempt;
        serde_json::to_string(&line).unwrap() + "\n"
    };
    let content: String =
        (1..=4).map(|n| row(1, n)).chain((3..=5).map(|n| row(2, n))).chain([row(1, 5)]).collect();
    fs::write(dir.metrics_path(), content).unwrap();
    let rows = metrics_in(&dir, (0, u64::MAX)).unwrap();
    let rows: Vec<(u32, u64)> = rows.iter().map(|line| (line.attempt, line.row)).collect();
    assert_eq!(rows, [(1, 1), (1, 2), (2, 3), (2, 4), (2, 5)]);
    assert_eq!(latest_episodes(&dir, 99).unwrap().episode, (1..=10).collect::<Vec<_>>());
    let mut told = ToldEpisodes::default();
    told.refresh(&dir).unwrap();
    assert_eq!(told.into_episodes().episode, (1..=10).collect::<Vec<_>>());
    let latest: Vec<u64> = latest_rows(&dir, 3).unwrap().iter().map(|line| line.row).collect();
    assert_eq!(latest, [3, 4, 5]);
}

#[test]
fn told_episodes_are_read_on_and_anew() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    let mut told = ToldEpisodes::default();
    let mut check = |content: &str, expected: u64| {
        fs::write(dir.metrics_path(), content).unwrap();
        told.refresh(&dir).unwrap();
        let mut fresh = ToldEpisodes::default();
        fresh.refresh(&dir).unwrap();
        for told in [told.clone(), fresh] {
            assert_eq!(told.into_episodes().episode, (1..=expected).collect::<Vec<_>>());
        }
    };
    check("", 0);
    let first = metric_line(1, 2);
    check(&first, 2);
    // Half a line does not count, and then it does.
    let second = metric_line(2, 2);
    check(&format!("{first}{}", &second[..20]), 2);
    check(&format!("{first}{second}"), 4);
    // The file was cut, and has grown again.
    check("{}", 0);
    check(&format!("{{}}\n{first}"), 2);
}
