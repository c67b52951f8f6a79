use crate::config::Draft;

#[track_caller]
fn check(path: &str, value: f64, expected: Result<&str, &str>) {
    let config = Draft::new("CartPole-v1", "ppo").unwrap().finish().unwrap();
    match (config.tunable(path, value), expected) {
        (Ok(found), Ok(path)) => assert_eq!(found.path(), path),
        (Err(error), Err(message)) => {
            assert!(error.to_string().contains(message), "{error}");
        }
        (found, _) => panic!("{path}={value} gives {found:?}"),
    }
}

#[test]
fn tuning_has_its_own_bounds() {
    check("trainer.learning_rate", 1.0, Ok("trainer.learning_rate"));
    check("trainer.lr", 1e-9, Ok("trainer.learning_rate"));
    check("trainer.learning_rate", 0.0, Err("0 is not above 0 and at most 1"));
    check("trainer.learning_rate", f64::NAN, Err("NaN is not above 0"));
    check("trainer.ent_coef", 0.0, Ok("trainer.ent_coef"));
    check("trainer.ent_coef", 0.11, Err("not between 0 and 0.1"));
    check("trainer.clip_range", 0.3, Ok("trainer.clip_range"));
    check("trainer.clip_range", 0.31, Err("not between 0.05 and 0.3"));
    check("evaluation.every_steps", 1e7, Ok("evaluation.every_steps"));
    check("evaluation.every_steps", 999.0, Err("no whole number between 1000 and 10000000"));
    check("evaluation.every_steps", 1000.5, Err("no whole number"));
}

#[test]
fn the_rest_of_a_run_stays_as_it_is() {
    check("trainer.gamma", 0.9, Err("`trainer.gamma` cannot be changed while a run trains"));
    check("trainer.clip_rang", 0.2, Err("did you mean `trainer.clip_range`?"));
    let mut draft = Draft::new("CartPole-v1", "ppo").unwrap();
    draft.set("overrides_whitelist", serde_json::json!(["trainer.ent_coef"])).unwrap();
    let config = draft.finish().unwrap();
    assert!(config.tunable("trainer.ent_coef", 0.01).is_ok());
    let error = config.tunable("trainer.learning_rate", 0.01).unwrap_err().to_string();
    assert!(error.contains("not in the run's overrides_whitelist"), "{error}");
}
