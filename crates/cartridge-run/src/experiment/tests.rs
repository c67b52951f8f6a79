use std::fs;
use std::time::Duration;

use super::*;

struct Fixture {
    data: DataDir,
    launcher: Launcher,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::open(folder.path()).unwrap();
        let launcher = Launcher {
            program: "/bin/true".into(),
            version: "0.0.0".to_owned(),
            stop_grace: Duration::from_secs(60),
            is_lab: false,
        };
        Self { data, launcher, _folder: folder }
    }

    fn create(&self, config: Value) -> Result<Experiment> {
        let Value::Object(config) = config else { panic!("a configuration is an object") };
        let new = NewExperiment { name: "a template".to_owned(), config, ..Default::default() };
        create(&self.data, "0.0.0", new, By::new("test"))
    }

    fn n_runs(&self) -> usize {
        self.data.run_ids().unwrap().len()
    }
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { panic!("{value} is no object") };
    fields
}

/// The pointers and messages of a refused configuration.
fn problems(error: &RunError) -> Vec<(String, String)> {
    let said = |error: &ConfigError| (error.pointer(), error.to_string());
    match error {
        RunError::Config(error) => vec![said(error)],
        RunError::Configs(errors) => errors.iter().map(said).collect(),
        other => panic!("{other}"),
    }
}

#[test]
fn a_template_is_kept_as_given_and_as_resolved() {
    let fixture = Fixture::new();
    let given = json!({ "env_id": "CartPole-v1", "trainer": { "lr": 1e-3 }, "n_timesteps": 1e4 });
    let made = fixture.create(given.clone()).unwrap();
    assert_eq!(Value::Object(made.given.clone()), given);
    assert_eq!(made.config["trainer"]["learning_rate"], 1e-3);
    assert_eq!(made.config["trainer"]["total_timesteps"], 10_000);
    assert_eq!(made.config["trainer"]["gamma"], 0.99, "every setting is there");
    assert_eq!(Experiment::read(&fixture.data, &made.id).unwrap(), made);
    let line = audit::newest(&fixture.data, 1).unwrap().remove(0);
    assert_eq!((line.target.as_str(), line.what), (made.id.as_str(), Deed::Create));
    assert_eq!(line.new["sha256"], made.sha256.as_str());
}

#[test]
fn the_hash_is_of_what_it_comes_to() {
    let fixture = Fixture::new();
    let hash = |config| fixture.create(config).unwrap().sha256;
    let plain = hash(json!({ "env_id": "CartPole-v1" }));
    assert_eq!(plain, hash(json!({ "algo": "ppo", "env_id": "CartPole-v1" })));
    assert_eq!(plain, hash(json!({ "env_id": "CartPole-v1", "trainer.gamma": 0.99 })));
    assert_ne!(plain, hash(json!({ "env_id": "CartPole-v1", "trainer.gamma": 0.98 })));
    // By an independent program: printf '{"a":[1,{"b":null,"c":0.5}],"d":"x"}' | sha256sum
    let order = json!({ "d": "x", "a": [1, { "c": 0.5, "b": null }] });
    let expected = "b1fa9bcebc80bb4cb2bb791985a258b08d8c15ad444a662568251f4a4387046d";
    assert_eq!(content_hash(&order), expected);
}

#[test]
fn every_bad_field_is_named() {
    let fixture = Fixture::new();
    let error = fixture.create(json!({
        "env_id": "LunarLander-v3",
        "env": { "gravity": -20, "wind": true },
        "trainer": { "lr": 2, "gamma": "high", "n_epochs": 0 },
        "simulation": { "n_envs": 5000 },
        "overrides_whitelist": ["trainer.lr", "trainer.gama"],
    }));
    let mut found: Vec<String> =
        problems(&error.unwrap_err()).into_iter().map(|(pointer, _)| pointer).collect();
    found.sort();
    assert_eq!(
        found,
        [
            "/env/gravity",
            "/env/wind",
            "/overrides_whitelist/1",
            "/simulation/n_envs",
            "/trainer/gamma",
            "/trainer/lr",
            "/trainer/n_epochs"
        ]
    );
    let twice =
        json!({ "env_id": "CartPole-v1", "trainer": { "lr": 1e-3, "learning_rate": 1e-4 } });
    let (pointer, message) = problems(&fixture.create(twice).unwrap_err()).remove(0);
    assert_eq!(pointer, "/trainer/learning_rate");
    assert!(message.contains("also given as `trainer.lr`"), "{message}");
    let (pointer, _) = problems(&fixture.create(json!({})).unwrap_err()).remove(0);
    assert_eq!(pointer, "/env_id");
    assert_eq!(list(&fixture.data).unwrap(), [], "nothing was made");
}

#[test]
fn a_clone_changes_what_was_given() {
    let fixture = Fixture::new();
    let from = fixture
        .create(json!({ "env_id": "CartPole-v1", "trainer": { "lr": 1e-3, "gamma": 0.9 } }))
        .unwrap();
    let config = object(json!({ "trainer.learning_rate": 5e-4, "algo": "dqn" }));
    let changes = NewExperiment { name: "another".to_owned(), config, ..Default::default() };
    let made = clone(&fixture.data, "0.0.0", &from, changes, By::new("test")).unwrap();
    assert_eq!(made.cloned_from, Some(from.id.clone()));
    assert_eq!(made.algo(), "dqn");
    assert_eq!(made.config["trainer"]["learning_rate"], 5e-4);
    assert_eq!(made.config["trainer"]["gamma"], 0.9);
    assert_eq!(Experiment::read(&fixture.data, &from.id).unwrap(), from, "it stays as it is");
    // What DQN does not have is named.
    let config = object(json!({ "trainer.clip_range": 0.1 }));
    let changes = NewExperiment { config, ..Default::default() };
    let error = clone(&fixture.data, "0.0.0", &made, changes, By::new("test")).unwrap_err();
    assert_eq!(problems(&error)[0].0, "/trainer/clip_range");
}

#[test]
fn runs_change_only_what_the_template_allows() {
    let fixture = Fixture::new();
    let template = fixture.create(json!({ "env_id": "CartPole-v1" })).unwrap();
    let plan = |overrides: Value, seeds: &[u64]| {
        Plan::of_experiment(template.clone(), &object(overrides), seeds)
    };
    let error = plan(json!({ "trainer": { "gamma": 0.9 } }), &[]).unwrap_err();
    let (pointer, message) = problems(&error).remove(0);
    assert_eq!(pointer, "/trainer/gamma");
    assert!(message.contains("its overrides_whitelist has trainer.learning_rate"), "{message}");
    let error = plan(json!({ "seed": 7 }), &[]).unwrap_err();
    assert!(problems(&error)[0].1.contains("give `seeds` instead"));
    // Within the bounds that the experiment itself has.
    let error = plan(json!({ "trainer.lr": 2 }), &[]).unwrap_err();
    assert_eq!(problems(&error)[0].0, "/trainer/lr");
    for seeds in [vec![1, 1], (0..101).collect::<Vec<u64>>(), vec![u64::MAX]] {
        let error = plan(json!({}), &seeds).unwrap_err();
        assert_eq!(problems(&error)[0].0, "/seeds");
    }
    let planned = plan(json!({ "trainer.lr": 1e-3 }), &[7]).unwrap();
    assert_eq!(planned.aliases["trainer.lr"], "trainer.learning_rate");
    assert_eq!(planned.configs.len(), 1);
}

#[test]
fn a_preview_makes_nothing_and_says_what_would_be() {
    let fixture = Fixture::new();
    let template = fixture.create(json!({ "env_id": "CartPole-v1" })).unwrap();
    let id = template.id.clone();
    let overrides = object(json!({ "trainer.lr": 1e-3 }));
    let plan = Plan::of_experiment(template, &overrides, &[5, 6]).unwrap();
    let before: Vec<_> =
        fs::read_dir(fixture.data.path()).unwrap().map(|it| it.unwrap().path()).collect();
    let terms = Terms::default();
    let planned = plan.preview(&fixture.data, &fixture.launcher, &terms);
    let after: Vec<_> =
        fs::read_dir(fixture.data.path()).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!((after, fixture.n_runs()), (before, 0));
    let changes = |run: &PlannedRun| -> Vec<(String, Value, Value)> {
        let all = run.differences.iter();
        all.map(|change| (change.path.clone(), change.old.clone(), change.new.clone())).collect()
    };
    assert_eq!(
        changes(&planned[1]),
        [
            ("trainer.learning_rate".to_owned(), json!(3e-4), json!(1e-3)),
            ("seeds.seed_base".to_owned(), json!(42), json!(6)),
        ]
    );
    assert_eq!(planned[0].job.command[1], "worker");
    // What is made then is what was shown.
    let made = plan.make(&fixture.data, &fixture.launcher, &terms, By::new("test")).unwrap();
    assert_eq!(fixture.n_runs(), 2);
    assert_eq!(made[0].group, made[1].group);
    assert!(made[0].group.is_some());
    for (manifest, planned) in made.iter().zip(&planned) {
        assert_eq!(manifest.experiment_id.as_deref(), Some(id.as_str()));
        assert_eq!(manifest.config, planned.manifest["config"]);
        assert_eq!(manifest.name, planned.manifest["name"]);
    }
}

#[test]
fn seeds_are_read() {
    assert_eq!(parse_seeds("1..5"), Ok(vec![1, 2, 3, 4, 5]));
    assert_eq!(parse_seeds("3,9, 12..13"), Ok(vec![3, 9, 12, 13]));
    for bad in ["", "a", "5..1", "1..", "0..1000000", "-1"] {
        assert!(parse_seeds(bad).is_err(), "{bad}");
    }
}
