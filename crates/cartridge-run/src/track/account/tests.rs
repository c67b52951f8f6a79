use super::*;

const PUBLIC: &str = "https://api.wandb.ai";
const OTHER: &str = "http://wandb.example:8080";

fn account(base_url: Option<&str>, key: Option<&str>, netrc: Option<&Path>) -> Account {
    Account {
        base_url: base_url.map(str::to_owned),
        key: key.map(str::to_owned),
        netrc: netrc.map(Path::to_owned),
        ..Account::default()
    }
}

#[test]
fn a_key_is_for_one_server() {
    let (here, there) = (
        WandbSource::default(),
        WandbSource { base_url: OTHER.to_owned(), ..WandbSource::default() },
    );
    #[track_caller]
    fn check(account: &Account, source: &WandbSource, base_url: &str, key: Option<&str>) {
        assert_eq!(account.key(base_url, source).as_deref(), key);
    }
    let plain = account(None, Some("k"), None);
    check(&plain, &here, PUBLIC, Some("k"));
    check(&plain, &here, OTHER, None);
    // What `lab.json` names is what the key of the lab is for.
    check(&plain, &there, OTHER, Some("k"));
    check(&plain, &there, PUBLIC, None);
    // The environment goes before it, with or without a slash.
    let named = account(Some("https://api.wandb.ai/"), Some("k"), None);
    check(&named, &there, PUBLIC, Some("k"));
    check(&named, &there, OTHER, None);
    assert!(!format!("{plain:?}").contains("\"k\""));
}

#[test]
fn logins_are_found_by_their_host() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("netrc");
    let text = "# machine wandb.example password no\nmachine a.example login user password one\n\
                machine wandb.example\n  login user\n  password two\ndefault login x password three\n";
    fs::write(&path, text).unwrap();
    let account = account(None, None, Some(&path));
    let source = WandbSource::default();
    assert_eq!(account.key(OTHER, &source).as_deref(), Some("two"));
    assert_eq!(account.key("https://a.example", &source).as_deref(), Some("one"));
    assert_eq!(account.key(PUBLIC, &source), None);
    assert_eq!(password(&folder.path().join("none"), "a.example"), None);
}

#[test]
fn a_server_needs_a_key_and_an_address() {
    let lab = LabConfig::default();
    let keyless = account(None, None, None).server(&lab, None, None).unwrap_err().to_string();
    for word in [PUBLIC, "WANDB_API_KEY", "wandb login", "WANDB_BASE_URL"] {
        assert!(keyless.contains(word), "{keyless}");
    }
    for bad in
        ["", "api.wandb.ai", "ftp://x", "http://", "https://me:key@x", "http://x y", "http://x?a"]
    {
        let refused = account(Some(bad), Some("k"), None).server(&lab, None, None);
        assert!(matches!(refused, Err(RunError::BadWandbServer(_))), "{bad}");
    }
    let good = account(None, Some("k"), None);
    let server = good.server(&lab, Some("me"), None).unwrap();
    assert_eq!((server.entity.as_deref(), server.project.as_str()), (Some("me"), PROJECT));
    assert!(matches!(good.server(&lab, None, Some("a/b")), Err(RunError::Wandb(_))));
    let said = Account { project: Some("p".to_owned()), entity: Some("e".to_owned()), ..good };
    let server = said.server(&lab, None, None).unwrap();
    assert_eq!((server.entity.as_deref(), server.project.as_str()), (Some("e"), "p"));
}

#[test]
fn pages_are_where_people_look() {
    #[track_caller]
    fn check(base_url: &str, page: &str) {
        assert_eq!(page_address(base_url), page);
    }
    check(PUBLIC, "https://wandb.ai");
    check("https://api.team.example", "https://app.team.example");
    check("http://127.0.0.1:8080", "http://127.0.0.1:8080");
}
