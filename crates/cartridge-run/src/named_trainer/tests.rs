use serde_json::json;

use super::*;

/// A trainer with an argument of each type.
fn whole() -> Value {
    json!({
        "title": "Cross entropy",
        "env_id": ["CartPole-v1", "Acrobot-v1"],
        "command": ["python", "train.py", "--fixed"],
        "folder": "loops",
        "arguments": {
            "steps": { "type": "integer", "default": 30000, "minimum": 1000, "maximum": 1e6 },
            "learning_rate": { "type": "number", "flag": "--lr", "minimum": 1e-7, "maximum": 1 },
            "tag": { "type": "string", "help": "For people." },
            "is_loud": { "type": "boolean", "flag": "--loud" },
            "kind": { "type": "choice", "choices": ["linear", "deep"], "default": "linear" },
        },
        "environment": { "OMP_NUM_THREADS": "1" },
        "resources": { "cpu": "500m", "memory": "1Gi" },
    })
}

/// [`whole`] with another value at a pointer; null takes it away.
fn with(pointer: &str, value: Value) -> Value {
    let mut trainer = whole();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = trainer.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Value::Null => _ = parent.remove(key),
        value => _ = parent.insert(key.to_owned(), value),
    }
    trainer
}

fn parse(trainer: &Value) -> Result<NamedTrainer, ConfigError> {
    Trainers::parse(&json!({ "cem": trainer })).map(|trainers| trainers.all[0].clone())
}

#[track_caller]
fn check_refused(pointer: &str, value: Value, expected: &str) {
    let error = parse(&with(pointer, value)).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    assert!(error.contains("trainers.cem"), "the whole path is named: {error}");
}

#[test]
fn a_section_that_is_wrong_is_refused_with_what_is_wrong() {
    assert!(parse(&whole()).is_ok());
    check_refused("/comand", json!([]), "`trainers.cem.comand`; did you mean `command`?");
    check_refused("/arguments/steps/minimun", json!(1), "did you mean `minimum`?");
    check_refused("/resources/cores", json!(1), "known are gpu, cpu, memory");
    check_refused("/command", Value::Null, "missing field `command`");
    check_refused("/command", json!([]), "at least one word");
    check_refused("/command", json!("python train.py"), "expected a sequence");
    check_refused("/command", json!(["a\0b"]), "zero byte");
    check_refused("/command", json!(vec!["x"; 101]), "more than 100");
    check_refused("/env_id", json!([]), "at least one environment");
    check_refused("/env_id", json!(3), "the id of an environment, or a list");
    check_refused("/title", json!("a\nb"), "control characters");
    check_refused("/environment/PATH", json!(1), "expected a string");
    check_refused("/environment/CARTRIDGE_TOKEN", json!("x"), "sets variables that begin with");
    check_refused("/environment/A=B", json!("x"), "letters, digits and `_`");
    check_refused("/resources/cpu", json!("many"), "write cores as");
    check_refused("/arguments/steps/type", json!("int"), "unknown variant `int`");
    check_refused("/arguments/steps/default", json!(10), "10 is below the minimum 1000");
    check_refused("/arguments/steps/default", json!(1.5), "expected a whole number");
    check_refused("/arguments/steps/minimum", json!(2e6), "above the maximum 1000000");
    check_refused("/arguments/steps/minimum", json!(0.5), "0.5 is no whole number");
    check_refused("/arguments/steps/required", json!(true), "it has a default");
    check_refused("/arguments/steps/choices", json!(["a"]), "only the type `choice`");
    check_refused("/arguments/tag/minimum", json!(1), "only numbers have bounds");
    check_refused("/arguments/kind/choices", json!([]), "at least one choice");
    check_refused("/arguments/kind/choices", json!(["linear", "linear"]), "there twice");
    check_refused("/arguments/kind/default", json!("dep"), "did you mean `deep`?");
    for flag in ["-x", "x", "--", "--=x", "--a=b", "---x", "--a b", "--ü"] {
        check_refused("/arguments/tag/flag", json!(flag), "is no flag");
    }
    check_refused("/arguments/tag/flag", json!("--lr"), "`learning_rate` has the flag --lr");
    check_refused("/arguments/tag/flag", json!("--no-loud"), "`tag` has the flag --no-loud");
    check_refused("/arguments/2nd", json!({ "type": "string" }), "begins with a letter");
    check_refused("/arguments/a b", json!({ "type": "string" }), "letters, digits and `_`");
    for id in ["", "a/b", "-x", "a b", &"x".repeat(65)] {
        let error = Trainers::parse(&json!({ id: whole() })).unwrap_err().to_string();
        assert!(error.contains("the name of a trainer"), "{error}");
    }
    let many: Map<String, Value> = (0..101).map(|n| (format!("t{n}"), whole())).collect();
    assert!(Trainers::parse(&many.into()).unwrap_err().to_string().contains("more than 100"));
}

/// The words that the trainer is given for `arguments`, after those that are always there.
#[track_caller]
fn check_words(arguments: &Value, expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let arguments = arguments.as_object().unwrap().clone();
    let wanted = Wanted { arguments, ..Wanted::default() };
    let external = parse(&whole()).unwrap().external(&data, wanted).unwrap();
    assert_eq!(external.command[..3], ["python", "train.py", "--fixed"]);
    assert_eq!(external.command[3..], *expected);
}

#[test]
fn every_value_is_one_word_with_its_flag() {
    check_words(&json!({}), &["--steps=30000", "--kind=linear"]);
    check_words(
        &json!({ "is_loud": true, "steps": 5e4, "learning_rate": 1e-5 }),
        &["--steps=50000", "--lr=0.00001", "--loud", "--kind=linear"],
    );
    check_words(&json!({ "is_loud": false }), &["--steps=30000", "--no-loud", "--kind=linear"]);
    for hostile in [
        "--config=/etc/passwd",
        "-x",
        "; rm -rf /",
        "$(id) `id` && id | id > out",
        "a b\"c'd\\",
        "{steps} %s ${HOME}",
        "@file",
        "",
        "été 🎛",
    ] {
        let word = format!("--tag={hostile}");
        check_words(&json!({ "tag": hostile }), &["--steps=30000", &word, "--kind=linear"]);
    }
}

#[track_caller]
fn check_wrong(arguments: &Value, expected: &str) {
    let arguments = arguments.as_object().unwrap();
    let error = parse(&whole()).unwrap().take(arguments).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_value_that_is_wrong_is_named_with_its_bound() {
    check_wrong(&json!({ "stepz": 1 }), "`arguments.stepz`; did you mean `steps`?");
    check_wrong(&json!({ "command": "rm" }), "`arguments.command`; there are steps, learning_rate");
    check_wrong(&json!({ "steps": 999 }), "`arguments.steps`: 999 is below the minimum 1000");
    check_wrong(&json!({ "steps": 1_000_001 }), "1000001 is above the maximum 1000000");
    check_wrong(&json!({ "steps": 1000.5 }), "expected a whole number");
    check_wrong(&json!({ "steps": "1000" }), "expected a whole number");
    check_wrong(&json!({ "steps": null }), "expected a whole number");
    check_wrong(&json!({ "learning_rate": 1.1 }), "1.1 is above the maximum 1");
    check_wrong(&json!({ "learning_rate": "0.1" }), "expected a number");
    check_wrong(&json!({ "is_loud": "yes" }), "expected true or false");
    check_wrong(&json!({ "kind": "liner" }), "did you mean `linear`?");
    check_wrong(&json!({ "kind": 1 }), "expected one of linear, deep");
    check_wrong(&json!({ "tag": ["a"] }), "expected text");
    check_wrong(&json!({ "tag": "x".repeat(LONGEST_TEXT + 1) }), "longer than 1000 characters");
    for control in ["a\nb", "a\0b", "\u{1b}[2J", "a\u{85}b"] {
        check_wrong(&json!({ "tag": control }), "control characters");
    }
    let strict = json!({ "type": "string", "required": true });
    let trainer = parse(&with("/arguments/tag", strict)).unwrap();
    let error = trainer.take(&Map::new()).unwrap_err().to_string();
    assert_eq!(error, "`arguments.tag`: it must be given");
}

#[test]
fn a_run_of_it_is_what_the_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let trainer = parse(&whole()).unwrap();
    let external = trainer.external(&data, Wanted::default()).unwrap();
    assert_eq!((external.env_id.as_str(), external.seed), ("CartPole-v1", None));
    assert_eq!(external.name, "CartPole-v1, Cross entropy");
    assert_eq!(external.cwd, data.path().join("loops"));
    assert_eq!(external.environment["OMP_NUM_THREADS"], "1");
    assert_eq!((external.resources.cpu.as_str(), external.resources.gpu), ("500m", 0));
    let started_as = external.started_as.unwrap();
    assert_eq!(started_as.trainer_id, "cem");
    let told = json!({ "steps": 30000, "kind": "linear" });
    assert_eq!(Value::from(started_as.arguments), told, "the defaults are kept with the run");

    let other =
        Wanted { env_id: Some("Acrobot-v1".to_owned()), seed: Some(7), ..Wanted::default() };
    let external = trainer.external(&data, other).unwrap();
    assert_eq!((external.env_id.as_str(), external.seed), ("Acrobot-v1", Some(7)));
    let wrong = Wanted { env_id: Some("Acrobot-v2".to_owned()), ..Wanted::default() };
    let error = trainer.external(&data, wrong).unwrap_err().to_string();
    assert!(error.contains("did you mean `Acrobot-v1`?"), "{error}");
    let wrong = Wanted { name: Some("a\nb".to_owned()), ..Wanted::default() };
    assert!(trainer.external(&data, wrong).is_err());
    assert!(
        parse(&with("/folder", Value::Null))
            .unwrap()
            .external(&data, Wanted::default())
            .unwrap()
            .cwd
            .starts_with(data.path())
    );
}

#[test]
fn arguments_are_typed_as_what_they_are() {
    let trainer = parse(&whole()).unwrap();
    let typed = ["steps=2000", "tag=12", "learning_rate=1e-3", "is_loud=true", "kind=deep"];
    let given = trainer.read_arguments(&typed.map(str::to_owned)).unwrap();
    let expected = json!({
        "steps": 2000, "tag": "12", "learning_rate": 1e-3, "is_loud": true, "kind": "deep",
    });
    assert_eq!(Value::from(given), expected);
    let given = trainer.read_arguments(&["tag= a=b ".to_owned()]).unwrap();
    assert_eq!(given["tag"], " a=b ");
    assert!(trainer.read_arguments(&["steps".to_owned()]).is_err());
}

#[test]
fn the_file_stays_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let file = json!({ "trainers": { "z": whole(), "a": whole() } });
    std::fs::write(folder.path().join("lab.json"), file.to_string()).unwrap();
    let trainers = Trainers::read(&data).unwrap();
    let ids: Vec<&str> = trainers.all().iter().map(|trainer| trainer.id.as_str()).collect();
    assert_eq!(ids, ["z", "a"], "in the order of the file");
    let names: Vec<&str> =
        trainers.all()[0].arguments.iter().map(|argument| argument.name.as_str()).collect();
    assert_eq!(names, ["steps", "learning_rate", "tag", "is_loud", "kind"]);
    let changes = json!({ "prices": { "gpu_hour": 2 } });
    let by = crate::steer::By::new("ada");
    crate::settings::change(&data, changes.as_object().unwrap(), by).unwrap();
    let text = std::fs::read_to_string(folder.path().join("lab.json")).unwrap();
    let after: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(after["trainers"].to_string(), file["trainers"].to_string());
    assert_eq!(Trainers::read(&data).unwrap(), trainers);
    // Who starts what is decided by whoever can write the file.
    let changes = json!({ "trainers": { "a": whole() } });
    let refused = crate::settings::change(&data, changes.as_object().unwrap(), by).unwrap_err();
    assert!(refused.to_string().contains("unknown option `trainers`"), "{refused}");

    let error = trainers.find("b").unwrap_err().to_string();
    assert!(error.contains("there is no trainer `b`"), "{error}");
    let error = Trainers::default().find("b").unwrap_err().to_string();
    assert!(error.contains("names none"), "{error}");
}
