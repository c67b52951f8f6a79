use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn data() -> (tempfile::TempDir, DataDir) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    (folder, data)
}

#[test]
fn a_token_opens_until_it_ends_or_is_taken_back() {
    let (_folder, data) = data();
    let tokens = Tokens::open(&data).unwrap();
    let by = By::new("test");
    let (token, secret) = make(&data, "ci", Role::Operator, Some(60.0), by, 1000.0).unwrap();
    assert_eq!(tokens.find(&secret, 1059.0), Some(token.clone()));
    assert_eq!(tokens.find(&secret, 1060.0), None, "it has ended");
    for wrong in ["", "-", &token.id, &secret[1..], &secret[..secret.len() - 1], &token.hash] {
        assert_eq!(tokens.find(wrong, 1000.0), None, "{wrong}");
    }
    let (second, other) = make(&data, "wall", Role::Viewer, None, by, 1001.0).unwrap();
    assert_eq!(tokens.find(&other, 1e12).map(|token| token.role), Some(Role::Viewer));
    assert_eq!(list(&data).unwrap(), [token.clone(), second]);
    revoke(&data, &token.id, by, 1002.0).unwrap();
    assert_eq!(tokens.find(&secret, 1002.0), None, "it was taken back");
    assert!(matches!(revoke(&data, &token.id, by, 1.0), Err(RunError::NoSuchToken(_))));
    revoke(&data, "wall", by, 1003.0).unwrap();
    assert_eq!(tokens.find(&other, 1003.0), None, "it was taken back by its name");
    let deeds: Vec<Deed> =
        audit::newest(&data, 9).unwrap().into_iter().map(|line| line.what).collect();
    assert_eq!(deeds, [Deed::Grant, Deed::Grant, Deed::Revoke, Deed::Revoke]);
}

#[test]
fn the_file_holds_no_secret_and_is_for_its_owner_alone() {
    let (folder, data) = data();
    let (_, secret) = make(&data, "ci", Role::Admin, None, By::new("test"), 1.0).unwrap();
    let mode = fs::metadata(path(&data)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let random = secret.rsplit('-').next().unwrap();
    for entry in fs::read_dir(folder.path()).unwrap().flatten() {
        let text = fs::read(entry.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains(random), "{}", entry.path().display());
    }
}

#[test]
fn names_are_plain_and_their_own() {
    let (_folder, data) = data();
    make(&data, "ci", Role::Viewer, None, By::new("test"), 1.0).unwrap();
    let long = "x".repeat(41);
    for name in ["", "  ", "ci", " ci ", "admin", "a\nb", "<b>", "=1+1", &long] {
        let made = make(&data, name, Role::Viewer, None, By::new("test"), 1.0);
        assert!(matches!(made, Err(RunError::BadToken { field: "name", .. })), "{name:?}");
    }
    for lifetime in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let made = make(&data, "b", Role::Viewer, Some(lifetime), By::new("test"), 1.0);
        assert!(matches!(made, Err(RunError::BadToken { field: "expires_in_s", .. })));
    }
}

#[test]
fn a_file_that_cannot_be_read_opens_nothing() {
    let (_folder, data) = data();
    let tokens = Tokens::open(&data).unwrap();
    let (_, secret) = make(&data, "ci", Role::Admin, None, By::new("test"), 1.0).unwrap();
    assert!(tokens.find(&secret, 1.0).is_some());
    write_secret_beside(&path(&data), b"{").unwrap();
    assert_eq!(tokens.find(&secret, 1.0), None);
    assert!(Tokens::open(&data).is_err());
    write_secret_beside(&path(&data), br#"{"format":2,"tokens":[]}"#).unwrap();
    assert!(matches!(list(&data), Err(RunError::Store(StoreError::NewerFormat { .. }))));
}

#[test]
fn the_key_of_a_wandb_client_is_one_that_all_clients_take() {
    let (_folder, data) = data();
    let tokens = Tokens::open(&data).unwrap();
    let (token, key) = make(&data, "w", Role::Wandb, None, By::new("test"), 1.0).unwrap();
    let is_hex = key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    assert!(key.len() == 40 && is_hex, "{key}");
    assert_eq!(tokens.find(&key, 2.0), Some(token.clone()));
    for wrong in [&key[..39], &key[1..], &format!("{key}0"), "", "é".repeat(20).as_str()] {
        assert_eq!(tokens.find(wrong, 2.0), None, "{wrong}");
    }
    assert!(Role::Wandb < Role::Viewer, "it may do nothing that the lab's roles may");
}
