use proptest::prelude::*;

use super::*;

/// One word for what became of a line.
fn verdict(line: &[u8]) -> String {
    match parse(line, 2) {
        Verdict::Typed(kind, _, 0) => kind.name().to_owned(),
        Verdict::Typed(kind, _, n) => format!("{} with {n} not finite", kind.name()),
        Verdict::Log => "log".to_owned(),
        Verdict::Wrong(kind, reason) => format!("wrong {}: {reason}", kind.name()),
        Verdict::Unknown(kind) => format!("unknown {kind}"),
    }
}

#[track_caller]
fn check(line: &str, expected: &str) {
    assert_eq!(verdict(line.as_bytes()), expected, "{line}");
}

#[test]
fn the_lines_of_the_contract_are_typed() {
    check(
        r#"{"type":"config","run_id":"...","algo":"ppo","env_id":"LunarLander-v3","seed":123,"args":{}}"#,
        "config",
    );
    check(
        r#"{"type":"step","episode_id":"...","step":42,"action":1,"reward":1.0,"terminated":false,"truncated":false,"obs":{},"t":1700.512}"#,
        "step",
    );
    check(
        r#"{"type":"episode","episode_id":"...","steps":512,"return":241.7,"t_end":1712.004}"#,
        "episode",
    );
    check(
        r#"{"type":"metric","name":"policy_loss","value":0.0042,"step":2048,"t":1712.100}"#,
        "metric",
    );
    check(
        r#"{"event":"artifacts","run_id":"...","video":"videos/run/episode0.mp4","tensorboard":"runs/run/","wandb_url":"https://..."}"#,
        "artifacts",
    );
}

#[test]
fn what_is_no_object_of_the_protocol_is_a_log_line() {
    for line in [
        "",
        "hello",
        "{",
        "{}",
        "[1, 2]",
        "null",
        r#"{"hello":"world"}"#,
        r#"{"type":5}"#,
        r#"{"type":null}"#,
        r#"{"event":"something else"}"#,
        r#"{"type":"metric","name":"half"#,
        r#"{"type":"metric","name":"a","value":1} trailing"#,
        r#"progress 50% {"type":"metric","name":"a","value":1}"#,
        // What Python prints of a dictionary.
        "{'type': 'metric', 'name': 'a', 'value': 1}",
        r#"{"type":"metric","name":"a","value":xNaN}"#,
    ] {
        check(line, "log");
    }
}

#[test]
fn a_line_of_a_known_type_that_cannot_be_used_says_why() {
    check(r#"{"type":"metric","value":1}"#, "wrong metric: missing field `name`");
    check(r#"{"type":"metric","name":"a"}"#, "wrong metric: missing field `value`");
    // What becomes of a NumPy scalar by `json.dumps(..., default=str)`.
    check(
        r#"{"type":"metric","name":"a","value":"0.5"}"#,
        "wrong metric: invalid type: string \"0.5\", expected a number",
    );
    check(
        r#"{"type":"metric","name":"a","value":null}"#,
        "wrong metric: `value` is null without `nonfinite` (nan, inf or -inf)",
    );
    check(
        r#"{"type":"metric","name":"a","value":1,"nonfinite":"nan"}"#,
        "wrong metric: `value` is finite, yet `nonfinite` is given",
    );
    check(
        r#"{"type":"metric","name":"","value":1}"#,
        "wrong metric: a metric's name has 1 to 256 bytes and no control characters",
    );
    check(
        r#"{"type":"metric","name":"a","value":1,"step":-1}"#,
        "wrong metric: invalid type: integer `-1`, expected a whole number from 0 to 9007199254740992",
    );
    check(
        r#"{"type":"metrics","values":{"a":"x"}}"#,
        "wrong metrics: invalid type: string \"x\", expected a number",
    );
    check(
        r#"{"type":"checkpoint","step":1,"path":"../../etc"}"#,
        "wrong checkpoint: `path` must be a plain path below the run's folder",
    );
    check(
        r#"{"type":"checkpoint","step":1,"path":"/etc"}"#,
        "wrong checkpoint: `path` must be a plain path below the run's folder",
    );
    check(r#"{"type":"frame","step":1}"#, "wrong frame: it needs one of `scene`, `jpeg` or `png`");
    check(r#"{"type":"artifacts"}"#, "wrong artifacts: it names no artifact");
    check(
        r#"{"type":"done","reason":"tired"}"#,
        "wrong done: unknown variant `tired`, expected `completed` or `stopped`",
    );
    assert_eq!(
        verdict(b"{\"type\":\"log\",\"message\":\"\xff\"}"),
        "wrong log: it holds bytes that are no UTF-8"
    );
}

#[test]
fn numbers_that_are_not_finite_where_none_may_be_are_named_in_plain_words() {
    check(
        r#"{"type":"metric","name":"a","value":1,"step":1e400}"#,
        "wrong metric: invalid value: a number that is too large or not finite, expected a whole number from 0 to 9007199254740992",
    );
    check(
        r#"{"type":"heartbeat","step":NaN}"#,
        "wrong heartbeat: invalid value: a number that is too large or not finite, expected a whole number from 0 to 9007199254740992",
    );
    check(
        r#"{"type":"episode","episode_id":NaN,"steps":1,"return":1}"#,
        "wrong episode: invalid type: a number that is too large or not finite, expected a name of up to 256 bytes, or a whole number",
    );
    check(
        r#"{"type":"log","message":-Infinity}"#,
        "wrong log: invalid type: a number that is too large or not finite, expected a string",
    );
    // No line, whatever field the word stands in, may speak of how it is marked on the way.
    for field in ["seed", "total_timesteps", "algo", "capabilities", "restored", "run_id"] {
        let line = format!(r#"{{"type":"config","{field}":1e400}}"#);
        assert!(!verdict(line.as_bytes()).contains("\\0"), "{}", verdict(line.as_bytes()));
    }
}

#[test]
fn pictures_are_pictures() {
    check(r#"{"type":"frame","jpeg":"/9j/4AAQSkZJRg=="}"#, "frame");
    check(r#"{"type":"frame","png":"iVBORw0KGgo="}"#, "frame");
    check(r#"{"type":"frame","jpeg":"no base64!"}"#, "wrong frame: `jpeg` is no base64");
    check(r#"{"type":"frame","jpeg":"/9j/4"}"#, "wrong frame: `jpeg` is no base64");
    check(r#"{"type":"frame","png":"===="}"#, "wrong frame: `png` is no base64");
    check(r#"{"type":"frame","jpeg":""}"#, "wrong frame: `jpeg` holds no picture of that format");
    check(
        r#"{"type":"frame","png":"/9j/4AAQSkZJRg=="}"#,
        "wrong frame: `png` holds no picture of that format",
    );
    let Verdict::Typed(_, Message::Frame(frame), 1) =
        parse(br#"{"type":"frame","scene":{"x":NaN}}"#, 1)
    else {
        panic!()
    };
    assert_eq!(frame.line, r#"{"type":"frame","scene":{"x":null}}"#);
}

#[test]
fn artifacts_are_not_named_from_outside() {
    check(r#"{"type":"artifacts","video":"videos/a..b/c.mp4"}"#, "artifacts");
    let reason = "wrong artifacts: an artifact is named by its path or address without `..`";
    check(r#"{"type":"artifacts","video":"../../../etc/passwd"}"#, reason);
    check(r#"{"type":"artifacts","video":"v.mp4","other":"videos/.."}"#, reason);
}

#[test]
fn lines_of_another_attempt_are_refused() {
    check(r#"{"type":"heartbeat","attempt":2}"#, "heartbeat");
    check(r#"{"type":"heartbeat","attempt":1}"#, "wrong heartbeat: it comes from another attempt");
    check(r#"{"type":"heartbeat","attempt":3}"#, "wrong heartbeat: it comes from another attempt");
}

#[test]
fn numbers_that_are_not_finite_survive() {
    check(
        r#"{"type":"metric","name":"a","value":null,"nonfinite":"nan"}"#,
        "metric with 1 not finite",
    );
    check(r#"{"type":"metric","name":"a","value":NaN,"step":1}"#, "metric with 1 not finite");
    check(r#"{"type":"metric","name":"NaN","value":-Infinity}"#, "metric with 1 not finite");
    check(
        r#"{"type":"metrics","values":{"a":NaN,"b":1,"c":null},"nonfinite":{"c":"-inf"}}"#,
        "metrics with 2 not finite",
    );
    check(
        r#"{"type":"step","episode_id":1,"step":1,"action":[NaN,1],"reward":Infinity,"obs":[[NaN]]}"#,
        "step with 3 not finite",
    );
    check(r#"{"type":"log","message":"loss is NaN \" NaN"}"#, "log");
    assert!(matches!(
        parse(br#"{"type":"log","message":"loss is NaN"}"#, 1),
        Verdict::Typed(Kind::Log, Message::Log(log), 0) if log.message == "loss is NaN"
    ));
    let Verdict::Typed(_, Message::Step(step), _) = parse(
        br#"{"type":"step","episode_id":"NaN","step":1,"action":NaN,"reward":1,"obs":{"NaN":NaN}}"#,
        1,
    ) else {
        panic!()
    };
    assert_eq!((step.episode_id.as_str(), &step.action), ("NaN", &Value::Null));
    assert_eq!(step.obs, Some(serde_json::json!({ "NaN": null })));
}

#[test]
fn whole_numbers_may_look_like_others() {
    check(r#"{"type":"metric","name":"a","value":1,"step":2048.0}"#, "metric");
    check(r#"{"type":"heartbeat","step":1e6}"#, "heartbeat");
}

#[test]
fn every_line_is_counted_in_exactly_one_class() {
    let mut tally = Tally::default();
    let lines: [&[u8]; 6] = [
        br#"{"type":"heartbeat"}"#,
        br#"{"type":"metric","name":"a","value":NaN}"#,
        br#"{"type":"metric"}"#,
        br#"{"type":"dance"}"#,
        b"hello",
        b"\xff",
    ];
    for line in lines {
        tally.count(&parse(line, 1));
    }
    tally.count_cut();
    let counts = tally.counts();
    assert_eq!(
        (counts.typed, counts.log, counts.wrong, counts.unknown, counts.cut, counts.nonfinite),
        (2, 2, 1, 1, 1, 1)
    );
    assert_eq!(counts.total(), 7);
    assert_eq!(counts.reasons["metric: missing field `name`"], 1);
}

#[test]
fn reasons_do_not_pile_up() {
    let mut tally = Tally::default();
    for idx in 0..10_000 {
        tally.count_wrong(Kind::Metric, &format!("reason {idx}"));
    }
    let counts = tally.counts();
    assert_eq!(counts.wrong, 10_000);
    assert!(counts.reasons.len() <= MAX_REASONS + 1);
    assert_eq!(counts.reasons.values().sum::<u64>(), 10_000);
}

/// Splits `bytes`, handed over in pieces, and checks that little is held meanwhile.
fn split(bytes: &[u8], piece: usize) -> Vec<(Vec<u8>, Option<u64>)> {
    let mut splitter = Splitter::default();
    let mut lines = Vec::new();
    let mut take = |line: RawLine<'_>| {
        lines.push(match line {
            RawLine::Whole(line) => (line.to_vec(), None),
            RawLine::Cut(line, length) => (line.to_vec(), Some(length)),
        });
    };
    for piece in bytes.chunks(piece.max(1)) {
        splitter.push(piece, &mut take);
        assert!(splitter.held.capacity() <= 2 * MAX_LINE_BYTES);
    }
    splitter.finish(&mut take);
    lines
}

#[test]
fn a_line_that_is_too_long_is_cut_and_said() {
    let mut bytes = vec![b'x'; MAX_LINE_BYTES];
    bytes.extend(b"\n");
    bytes.extend(vec![b'y'; MAX_LINE_BYTES + 1]);
    bytes.extend(b"\nlast");
    for piece in [1 << 16, bytes.len()] {
        let lines = split(&bytes, piece);
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[0].0.len(), lines[0].1), (MAX_LINE_BYTES, None));
        assert_eq!((lines[1].0.len(), lines[1].1), (KEPT_OF_CUT, Some(MAX_LINE_BYTES as u64 + 1)));
        assert_eq!(lines[2], (b"last".to_vec(), None));
    }
}

#[test]
fn control_lines_are_flat() {
    assert_eq!(
        control_for_trainer(3, &"pause".into(), "ann"),
        "{\"type\":\"control\",\"seq\":3,\"command\":\"pause\",\"by\":\"ann\"}\n"
    );
    let tune = serde_json::json!({ "tune": { "path": "trainer.learning_rate", "value": 0.001 } });
    assert_eq!(
        control_for_trainer(4, &tune, "ann"),
        "{\"type\":\"control\",\"seq\":4,\"command\":\"tune\",\
         \"path\":\"trainer.learning_rate\",\"value\":0.001,\"by\":\"ann\"}\n"
    );
}

/// The examples of a class in the documentation: blocks that begin with "```jsonl CLASS".
fn examples(class: &str) -> Vec<String> {
    let text = include_str!("../../../../docs/protocol.md");
    let mut found = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            is_inside = !is_inside && info == format!("jsonl {class}");
        } else if is_inside {
            found.push(line.to_owned());
        }
    }
    found
}

#[test]
fn the_examples_of_the_documentation_are_what_it_says() {
    let mut kinds = std::collections::BTreeSet::new();
    for line in examples("right") {
        let Verdict::Typed(kind, ..) = parse(line.as_bytes(), 1) else { panic!("{line}") };
        kinds.insert(kind.name());
    }
    assert_eq!(kinds.len(), Kind::ALL.len(), "there is an example of each type: {kinds:?}");
    for line in examples("tolerated") {
        assert!(matches!(parse(line.as_bytes(), 1), Verdict::Typed(_, _, 1..)), "{line}");
    }
    for line in examples("wrong") {
        assert!(matches!(parse(line.as_bytes(), 1), Verdict::Wrong(..)), "{line}");
    }
    for line in examples("unknown") {
        assert!(matches!(parse(line.as_bytes(), 1), Verdict::Unknown(_)), "{line}");
    }
    for line in examples("log") {
        assert_eq!(parse(line.as_bytes(), 1), Verdict::Log, "{line}");
    }
    for class in ["right", "tolerated", "wrong", "unknown", "log", "control"] {
        assert!(!examples(class).is_empty(), "{class}");
    }
}

/// Pieces of lines that are nearly right.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(br#"{"type":""#.to_vec()),
        (0..Kind::ALL.len()).prop_map(|idx| Kind::ALL[idx].name().as_bytes().to_vec()),
        Just(br#"","#.to_vec()),
        Just(br#""name":"a","#.to_vec()),
        Just(br#""value":"#.to_vec()),
        Just(b"NaN".to_vec()),
        Just(b"-Infinity".to_vec()),
        Just(b"1e400".to_vec()),
        Just(br#""step":18446744073709551616"#.to_vec()),
        Just(b"}\n".to_vec()),
        Just(b"\\".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"[[[[[[[[[[[[[[[[".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..16),
    ];
    proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(line in nearly()) {
        parse(&line, 1);
    }

    #[test]
    fn no_line_is_lost_or_changed(bytes in proptest::collection::vec(any::<u8>(), 0..2000), piece in 1usize..300) {
        // Newlines are rare among random bytes.
        let bytes: Vec<u8> = bytes.into_iter().map(|b| if b < 20 { b'\n' } else { b }).collect();
        let mut expected: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        if expected.last().is_some_and(Vec::is_empty) {
            expected.pop();
        }
        let lines: Vec<Vec<u8>> = split(&bytes, piece).into_iter().map(|(line, _)| line).collect();
        prop_assert_eq!(lines, expected);
    }
}

#[test]
fn a_trainer_that_ends_at_once_is_not_called_well_where_nothing_was_tried() {
    let line = r#"{"type":"metric","name":"a","value":1}"#;
    let options = |exercise| super::check::Options {
        command: vec!["echo".to_owned(), line.to_owned()],
        exercise,
        max_seconds: None,
    };
    let summary = super::check::check(&options(false), |_| ()).unwrap();
    assert!(summary.ok && summary.not_tried.is_empty());
    let summary = super::check::check(&options(true), |_| ()).unwrap();
    assert!(!summary.ok && summary.problems.is_empty(), "{summary:?}");
    assert_eq!(summary.not_tried.len(), 4);
    assert!(summary.not_tried[0].starts_with("pause: it ended first"), "{summary:?}");
}

#[test]
fn a_step_that_nobody_reaches_is_wrong() {
    let verdict = |step: &str| {
        let line = format!(r#"{{"type":"metric","name":"loss","value":1,"step":{step}}}"#);
        matches!(parse(line.as_bytes(), 1), Verdict::Typed(..))
    };
    assert!(verdict("9007199254740992") && verdict("2048.0"));
    for step in ["9007199254740993", "18446744073709551615", "1e30", "-1"] {
        assert!(!verdict(step), "{step}");
    }
}
