use super::*;

fn check(line: &str, step: u64, expected: &[&str]) {
    let row = read(line).unwrap();
    assert_eq!(lines(&numbers(&row), step), expected, "{line}");
}

#[test]
fn a_row_is_said_in_the_protocol() {
    check(
        r#"{"_step":3,"_runtime":1.5,"global_step":70,"loss":0.5,"a":{"b":{"c":1},"d":"x"}}"#,
        70,
        &[r#"{"type":"metrics","step":70,"values":{"a.b.c":1.0,"loss":0.5}}"#],
    );
    check(
        r#"{"x":NaN,"y":-Infinity,"name":"NaN","t":{"_type":"histogram","values":[1]},"ok":true}"#,
        1,
        &[
            r#"{"type":"metrics","step":1,"values":{"x":null,"y":null},"nonfinite":{"x":"nan","y":"-inf"}}"#,
        ],
    );
    check(r#"{"_step":1,"image":{"_type":"image-file"},"":1}"#, 1, &[]);
}

#[test]
fn a_row_with_many_numbers_is_several_lines() {
    let row: Map<String, Value> = (0..1201).map(|n| (format!("m{n}"), n.into())).collect();
    assert_eq!(lines(&numbers(&row), 0).len(), 3);
}

#[test]
fn steps_are_whole() {
    let step_of = |line: &str| {
        let row = read(line).unwrap();
        (step(&row), global_step(&row))
    };
    assert_eq!(step_of(r#"{"_step":4}"#), (Some(4), None));
    assert_eq!(step_of(r#"{"_step":4.0,"global_step":12.0}"#), (Some(4), Some(12)));
    assert_eq!(step_of(r#"{"_step":NaN,"global_step":-1}"#), (None, None));
    for line in ["", "[]", "{", "7", "{\"a\":}"] {
        assert!(read(line).is_none(), "{line}");
    }
}

#[test]
fn what_is_looked_up_is_plain() {
    let row = read(r#"{"a.b":1,"c":{"d":NaN},"e":null}"#).unwrap();
    assert_eq!(lookup(&row, "a.b"), Some(1.into()));
    assert_eq!(lookup(&row, "c.d"), Some("NaN".into()));
    assert_eq!(lookup(&row, "e"), None);
    assert_eq!(lookup(&row, "c.x"), None);
}

#[test]
fn a_configuration_is_unwrapped() {
    let config = json!({ "_wandb": { "value": {} }, "lr": { "value": 0.1 }, "plain": 3 });
    assert_eq!(Value::Object(plain_config(&config)), json!({ "lr": 0.1, "plain": 3 }));
}
