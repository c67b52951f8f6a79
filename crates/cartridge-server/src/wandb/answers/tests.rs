use super::*;

#[test]
fn patterns_are_those_of_sql() {
    for (name, pattern) in
        [("a.json", "%.json"), ("a.json", "_.json"), ("a", "%"), ("", "%"), ("a%b", "a%b")]
    {
        assert!(is_like(name, pattern), "{name} {pattern}");
    }
    for (name, pattern) in [("a.json", "%.jso"), ("ab.json", "_.json"), ("a", ""), ("a", "b")] {
        assert!(!is_like(name, pattern), "{name} {pattern}");
    }
}

#[test]
fn names_stand_in_addresses() {
    assert_eq!(encoded("a b&c?é/%"), "a%20b%26c%3F%C3%A9%2F%25");
}
