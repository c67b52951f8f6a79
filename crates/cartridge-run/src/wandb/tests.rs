use super::*;

#[test]
fn names_are_no_paths() {
    let key = Key::new(None, Some(""), "abc").unwrap();
    assert_eq!((key.entity.as_str(), key.project.as_str()), (ENTITY, PROJECT));
    let long = "x".repeat(MOST_NAME + 1);
    for name in ["", ".", "..", "a/b", "..\\x", "a\nb", "a\0b", &long] {
        assert!(Key::new(None, None, name).is_err(), "{name:?}");
        if !name.is_empty() {
            assert!(Key::new(Some(name), None, "abc").is_err(), "{name:?}");
            assert!(Key::new(None, Some(name), "abc").is_err(), "{name:?}");
        }
    }
    Key::new(Some("a team"), Some("größe"), "CartPole-v1__ppo__1").unwrap();
}
