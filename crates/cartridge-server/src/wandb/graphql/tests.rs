use serde_json::json;

use super::*;

/// Answers with the names of the fields and their arguments.
fn echo(query: &str, variables: &Value) -> Result<Value, String> {
    let document = Document::parse(query)?;
    let operation = document.operation(None)?;
    let mut resolve = |depth: &usize, name: &str, arguments: &Arguments| match name {
        "node" => Ok(Answer::Node(depth + 1)),
        "nodes" => Ok(Answer::List(vec![Answer::Node(depth + 1), Answer::Node(depth + 2)])),
        "plain" => Ok(Answer::Plain(json!({ "a": 1, "b": [{ "c": 2, "d": 3 }] }))),
        "wrong" => Err("it is wrong".to_owned()),
        "depth" => Ok(Answer::Plain((*depth).into())),
        _ => Ok(Answer::Plain(Value::Object(arguments.0.clone()))),
    };
    document.answer(operation, variables, &0, &mut resolve)
}

#[track_caller]
fn check(query: &str, variables: &Value, expected: Value) {
    assert_eq!(echo(query, variables), Ok(expected), "{query}");
}

#[test]
fn what_is_selected_is_answered_and_nothing_else() {
    check("{ depth }", &json!({}), json!({ "depth": 0 }));
    check(
        "query Q { node { depth node { deep: depth } } nodes { depth } }",
        &json!({}),
        json!({ "node": { "depth": 1, "node": { "deep": 2 } }, "nodes": [{ "depth": 1 }, { "depth": 2 }] }),
    );
    check(
        "#graphql\nquery { plain { b { c } a unknown } all: plain }",
        &json!({}),
        json!({
            "plain": { "b": [{ "c": 2 }], "a": 1, "unknown": null },
            "all": { "a": 1, "b": [{ "c": 2, "d": 3 }] },
        }),
    );
}

#[test]
fn arguments_are_literals_variables_and_defaults() {
    check(
        r#"query Q($a: String!, $n: Int = 50, $l: [JSONString!]! = [], $none: Int) {
            x(a: $a, n: $n, l: $l, none: $none, o: {k: [1, -2.5e1, true, null, WORD, "q\"\u00e9"]})
        }"#,
        &json!({ "a": "é" }),
        json!({ "x": {
            "a": "é", "n": 50, "l": [], "none": null,
            "o": { "k": [1, -25.0, true, null, "WORD", "q\"é"] },
        } }),
    );
    check(
        "mutation M($on: Boolean!) { a @include(if: $on) b @skip(if: $on) ... @include(if: $on) { c } }",
        &json!({ "on": false }),
        json!({ "b": {} }),
    );
}

#[test]
fn fragments_are_merged() {
    check(
        "query { node { ...A ... on Run { ...B } } } fragment A on Run { depth node { a: depth } }
         fragment B on Run { node { b: depth } }",
        &json!({}),
        json!({ "node": { "depth": 1, "node": { "a": 2, "b": 2 } } }),
    );
    assert_eq!(echo("{ ...Nothing }", &json!({})), Err("no fragment `Nothing`".to_owned()));
}

#[test]
fn operations_are_found_by_their_names() {
    let document = Document::parse("query A { a } mutation B { b }").unwrap();
    assert!(document.operation(Some("B")).unwrap().is_mutation);
    assert!(!document.operation(Some("A")).unwrap().is_mutation);
    assert!(document.operation(Some("C")).is_err() && document.operation(None).is_err());
}

#[test]
fn what_cannot_be_read_is_an_error_and_never_more() {
    let whole = r#"query Q($a: [S!] = ["x"]) { f(a: $a, o: {k: 1}) @include(if: true) { ...F } } fragment F on T { g }"#;
    Document::parse(whole).unwrap();
    for end in 0..whole.len() {
        // None of these is whole, and none may panic; some parts are queries of their own.
        _ = Document::parse(&whole[..end]);
        _ = Document::parse(&whole[end..]);
    }
    for query in [
        "{",
        "}",
        "{ a(",
        "query",
        "{ a(x: ) }",
        "{ \"a\" }",
        "{ a: }",
        "subscription { a }",
        "{ a(x: 1e) }",
        "~",
    ] {
        assert!(Document::parse(query).is_err(), "{query}");
    }
    assert_eq!(echo("{ node { wrong } }", &json!({})), Err("it is wrong".to_owned()));
}

#[test]
fn what_would_never_end_is_refused() {
    let deep = "{ node ".repeat(1000) + &"}".repeat(1000);
    assert!(Document::parse(&deep).is_err());
    let lists = format!("{{ a(x: {}1{}) }}", "[".repeat(1000), "]".repeat(1000));
    assert!(Document::parse(&lists).is_err());
    assert!(
        echo("{ ...A } fragment A on Q { ...B } fragment B on Q { ...A }", &json!({})).is_err()
    );
    let mut laughs = "{ ...A0 }".to_owned();
    for level in 0..30 {
        laughs += &format!(
            " fragment A{level} on Q {{ x: node {{ ...A{0} }} y: node {{ ...A{0} }} }}",
            level + 1
        );
    }
    laughs += " fragment A30 on Q { depth }";
    assert!(echo(&laughs, &json!({})).is_err());
    assert!(Document::parse(&("{".to_owned() + &"a ".repeat(MOST_TOKENS) + "}")).is_err());
}
