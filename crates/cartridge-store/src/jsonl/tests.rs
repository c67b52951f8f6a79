use serde_json::json;

use super::*;

fn texts(path: &Path, offset: u64) -> Vec<String> {
    let lines = read_lines(path, offset, None).unwrap();
    lines.into_iter().map(|line| String::from_utf8(line.bytes).unwrap()).collect()
}

#[test]
fn a_line_counts_from_its_newline_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    assert_eq!(texts(&path, 0), [""; 0], "a file that is not there has no lines");
    std::fs::write(&path, "{\"a\":1}\n{\"a\":2}\n{\"a\"").unwrap();
    let lines = read_lines(&path, 0, None).unwrap();
    assert_eq!(lines.iter().map(|line| line.end).collect::<Vec<_>>(), [8, 16]);
    assert_eq!(texts(&path, 8), ["{\"a\":2}"]);
    assert_eq!(texts(&path, 16), [""; 0]);
    assert_eq!(read_lines(&path, 0, Some(8)).unwrap().len(), 1);
    assert_eq!(read_lines(&path, 99, None).unwrap(), []);
}

#[test]
fn a_torn_line_is_cut_off_at_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    let content = b"{\"a\":1}\n{\"a\":2}\n";
    for length in 0..=content.len() {
        std::fs::write(&path, &content[..length]).unwrap();
        let mut appender = Appender::open(&path).unwrap();
        appender.append(&json!({ "a": 3 })).unwrap();
        let n_whole = content[..length].iter().filter(|&&byte| byte == b'\n').count();
        let lines = texts(&path, 0);
        assert_eq!(lines.len(), n_whole + 1, "cut at {length}");
        assert_eq!(lines.last().unwrap(), "{\"a\":3}");
    }
}

#[test]
fn there_is_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    let first = Appender::open(&path).unwrap();
    assert!(Appender::open(&path).is_err());
    drop(first);
    Appender::open(&path).unwrap();
}

#[test]
fn the_tail_of_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.txt");
    assert_eq!(tail_text(&path, 5).unwrap(), (Vec::new(), false));
    std::fs::write(&path, b"one\ntwo \xff\nthree").unwrap();
    assert_eq!(
        tail_text(&path, 5).unwrap(),
        (vec!["one".into(), "two \u{fffd}".into(), "three".into()], false)
    );
    assert_eq!(tail_text(&path, 1).unwrap(), (vec!["three".into()], true));
    let long: String = (0..400_000).map(|n| format!("{n}\n")).collect();
    std::fs::write(&path, long).unwrap();
    let (lines, truncated) = tail_text(&path, 2).unwrap();
    assert_eq!((lines, truncated), (vec!["399998".to_owned(), "399999".to_owned()], true));
}

#[test]
fn the_tail_of_a_text_that_was_turned_over() {
    #[track_caller]
    fn check(newest: Option<&str>, older: Option<&str>, n_lines: usize, expected: (&str, bool)) {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().join("log.txt"), folder.path().join("log.1.txt")];
        for (path, text) in paths.iter().zip([newest, older]) {
            if let Some(text) = text {
                std::fs::write(path, text).unwrap();
            }
        }
        let (lines, truncated) = tail_turned(&paths[0], &paths[1], n_lines).unwrap();
        assert_eq!((lines.join(" ").as_str(), truncated), expected);
    }
    check(None, None, 5, ("", false));
    check(Some("c\nd\n"), None, 5, ("c d", false));
    check(Some("c\nd\n"), Some("a\nb\n"), 5, ("a b c d", false));
    check(Some("c\nd\n"), Some("a\nb\n"), 3, ("b c d", true));
    check(Some("c\nd\n"), Some("a\nb\n"), 2, ("c d", true));
    check(Some("c\nd\n"), Some("a\nb\n"), 1, ("d", true));
    check(None, Some("a\nb\n"), 5, ("a b", false));
}
