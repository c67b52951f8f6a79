use cartridge_learn::onnx::export::export_policy;
use cartridge_learn::policy::Policy;

use super::*;
use crate::evaluation::evaluate;

fn policy(n_observation: usize, n_actions: usize) -> Policy {
    Policy::new(n_observation, n_actions, &mut fastrand::Rng::with_seed(1))
}

/// The file of a policy, with what it says of itself.
fn write(folder: &Path, policy: &Policy, facts: &[(&str, &str)]) -> PathBuf {
    let facts = facts.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let path = folder.join("policy.onnx");
    std::fs::write(&path, export_policy(policy, facts)).unwrap();
    path
}

#[test]
fn a_file_plays_as_the_policy_that_it_was_made_from() {
    let folder = tempfile::tempdir().unwrap();
    let check = |env_id: &str, policy: &Policy| {
        let file = PolicyFile::open(&write(folder.path(), policy, &[])).unwrap();
        file.check(env_id, &Map::new()).unwrap();
        let ours = evaluate(policy, env_id, &Map::new(), 40, 7).unwrap();
        assert_eq!(evaluate(&file, env_id, &Map::new(), 40, 7).unwrap(), ours);
    };
    check("CartPole-v1", &policy(4, 2));
    check("Acrobot-v1", &policy(6, 3));
    // Only what is legal.
    check("AsteroidProspector-v0", &policy(260, 69));
}

#[test]
fn the_file_may_say_where_it_acts() {
    let folder = tempfile::tempdir().unwrap();
    let facts =
        [("env_id", "LunarLander-v2"), ("env", r#"{"gravity": -9.0, "enable_wind": true}"#)];
    let file = PolicyFile::open(&write(folder.path(), &policy(8, 4), &facts)).unwrap();
    let given = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
    let check = |env_id, options: &str, expected: (&str, &str)| {
        let found = file.environment(env_id, given(options)).unwrap();
        assert_eq!(found, (expected.0.to_owned(), given(expected.1)));
    };
    check(None, "{}", ("LunarLander-v3", r#"{"gravity": -9.0, "enable_wind": true}"#));
    check(
        None,
        r#"{"gravity": -5.0}"#,
        ("LunarLander-v3", r#"{"gravity": -5.0, "enable_wind": true}"#),
    );
    check(Some("CartPole-v1"), "{}", ("CartPole-v1", "{}"));
    let file = PolicyFile::open(&write(folder.path(), &policy(8, 4), &[])).unwrap();
    let error = file.environment(None, Map::new()).unwrap_err();
    assert!(error.to_string().ends_with("hint: say it with --env"), "{error}");
}

#[test]
fn what_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let check = |path: &Path, expected: &str| {
        let error = PolicyFile::open(path).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    };
    check(&folder.path().join("none.onnx"), "there is no file");
    check(folder.path(), "it is not a plain file");
    let path = folder.path().join("text.onnx");
    std::fs::write(&path, "import torch").unwrap();
    check(&path, "text.onnx: not an ONNX model");
    let file = PolicyFile::open(&write(folder.path(), &policy(4, 2), &[])).unwrap();
    let error = file.check("LunarLander-v3", &Map::new()).unwrap_err().to_string();
    assert!(error.contains("[batch, 4]") && error.contains("[batch, 8]"), "{error}");
}
