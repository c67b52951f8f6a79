use super::*;
use crate::config::setting::SETTINGS;

/// A draft in which a value of one setting is not kept out by the values of others.
fn roomy(algo: Algorithm, env_id: &str, path: &str) -> Draft {
    let mut draft = Draft::new(env_id, algo.id()).unwrap();
    if path == "trainer.batch_size" && algo == Algorithm::Ppo {
        draft.set("simulation.n_steps", 8_192.into()).unwrap();
    }
    draft
}

#[track_caller]
fn check(algo: Algorithm, env_id: &str, path: &str, value: &Value, is_taken: bool) {
    let mut draft = roomy(algo, env_id, path);
    let outcome = draft.set(path, value.clone()).and_then(|()| draft.finish());
    match (outcome, is_taken) {
        (Ok(_), true) => {}
        (Err(error), false) => {
            let pointer = format!("/{}", path.replace('.', "/"));
            assert_eq!(error.pointer(), pointer, "{error}");
        }
        (outcome, _) => panic!("{} {env_id} {path}={value}: {outcome:?}", algo.id()),
    }
}

/// Values at the bounds that a schema states, and just outside.
fn edges(schema: &Value) -> (Vec<Value>, Vec<Value>) {
    let bounds = if schema.get("anyOf").is_some() { &schema["anyOf"][1] } else { schema };
    let bound = |names: [&str; 2]| {
        let found = names.iter().find_map(|name| Some((bounds.get(*name)?, *name)));
        found.map(|(value, name)| (value.clone(), name.starts_with("exclusive")))
    };
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    let is_whole = schema["type"] == "integer";
    for (names, sign) in
        [(["minimum", "exclusiveMinimum"], -1.0), (["maximum", "exclusiveMaximum"], 1.0)]
    {
        let Some((value, is_open)) = bound(names) else { continue };
        if is_whole {
            let beyond = value.as_i64().and_then(|value| value.checked_add(sign as i64));
            // The next whole number after the last of a signed one.
            outside.push(beyond.map_or(json!(i64::MAX as u64 + 1), Value::from));
            inside.push(value);
            continue;
        }
        let number = value.as_f64().unwrap();
        let next = |up: bool| if up { number.next_up() } else { number.next_down() };
        let (edge, beyond) =
            if is_open { (next(sign < 0.0), number) } else { (number, next(sign > 0.0)) };
        inside.push(json!(edge));
        outside.push(json!(beyond));
    }
    (inside, outside)
}

/// Every algorithm with everything that it learns.
fn learnt() -> Vec<(Algorithm, &'static str)> {
    let of_env = |env: &&'static cartridge_games::env::EnvSpec| {
        let algorithms = Algorithm::ALL.into_iter().filter(|algo| algo.learns(&env.actions));
        algorithms.map(|algo| (algo, env.id)).collect::<Vec<_>>()
    };
    let of_games = games().iter().map(|game| (Algorithm::AlphaZero, game.id));
    environments().iter().flat_map(of_env).chain(of_games).collect()
}

#[test]
fn the_bounds_of_a_schema_are_those_of_the_server() {
    let mut n_checked = 0;
    for (algo, id) in learnt() {
        let schema = schema(&format!("{}:{id}", algo.id())).unwrap();
        for (section, _) in SECTIONS {
            let fields = schema["properties"][section]["properties"].as_object().unwrap();
            for (name, field) in fields {
                let path = format!("{section}.{name}");
                let (inside, outside) = edges(field);
                inside.iter().for_each(|value| check(algo, id, &path, value, true));
                outside.iter().for_each(|value| check(algo, id, &path, value, false));
                n_checked += inside.len() + outside.len();
                let is_taken = |word: &Value| {
                    // Of episodes' seeds, games of self-play have one kind.
                    path != "seeds.per_episode" || !algo.learns_games() || word == "hash"
                };
                if let Some(words) = field["enum"].as_array() {
                    words.iter().for_each(|word| check(algo, id, &path, word, is_taken(word)));
                    check(algo, id, &path, &json!("no such word"), false);
                }
                if field["default"] != Value::Null {
                    check(algo, id, &path, &field["default"], true);
                }
            }
        }
    }
    assert!(n_checked > 1000, "{n_checked}");
}

#[test]
fn the_bounds_of_tuning_are_those_of_the_server() {
    for algo in Algorithm::ALL {
        let config = Draft::new(any_env(algo), algo.id()).unwrap().finish().unwrap();
        let schema = schema(algo.id()).unwrap();
        let mut tunable = Vec::new();
        for (section, _) in SECTIONS.into_iter().skip(1) {
            for (name, field) in schema["properties"][section]["properties"].as_object().unwrap() {
                let path = format!("{section}.{name}");
                let bounds = &field["x-tunable"];
                if bounds == &json!(false) {
                    assert!(config.tunable(&path, 0.1).is_err(), "{path}");
                    continue;
                }
                let (inside, outside) = edges(bounds);
                for (values, is_taken) in [(inside, true), (outside, false)] {
                    assert_eq!(values.len(), 2);
                    for value in values {
                        let taken = config.tunable(&path, value.as_f64().unwrap());
                        assert_eq!(taken.is_ok(), is_taken, "{path}={value}");
                    }
                }
                tunable.push(path);
            }
        }
        let expected: &[&str] = match algo {
            Algorithm::Ppo => &[
                "trainer.clip_range",
                "trainer.ent_coef",
                "trainer.learning_rate",
                "evaluation.every_steps",
            ],
            Algorithm::Dqn | Algorithm::AlphaZero => {
                &["trainer.learning_rate", "evaluation.every_steps"]
            }
        };
        tunable.sort_by_key(|path| expected.iter().position(|expected| expected == path));
        assert_eq!(tunable, expected);
    }
}

/// Every setting of every configuration has its row in the table, and the other way round.
#[test]
fn the_table_is_whole() {
    for (algo, id) in learnt() {
        let mut config = Draft::new(id, algo.id()).unwrap().value;
        config["env"] = run_options(id).unwrap_or_default().into();
        let mut paths = Vec::new();
        for (section, values) in config.as_object().unwrap() {
            match values.as_object() {
                Some(values) => {
                    paths.extend(values.keys().map(|name| format!("{section}.{name}")));
                }
                None if ["env_id", "algo"].contains(&section.as_str()) => {}
                None => paths.push(section.clone()),
            }
        }
        paths.sort();
        let mut known: Vec<&str> = settings_of(algo, id).map(|setting| setting.path).collect();
        known.sort_unstable();
        assert_eq!(paths, known, "{} {id}", algo.id());
    }
}

#[test]
fn every_setting_is_explained() {
    for name in names().iter().filter(|name| name.name != "presets") {
        let schema = schema(&name.name).unwrap();
        assert_eq!(schema["$schema"], DIALECT);
        assert_eq!(schema["type"], "object", "{}", name.name);
    }
    for setting in SETTINGS {
        assert!(setting.title.len() > 1 && setting.help.ends_with('.'), "{}", setting.path);
    }
    let error = schema("env:CartPol-v1").unwrap_err().to_string();
    assert_eq!(error, "there is no schema `env:CartPol-v1`; did you mean `env:CartPole-v1`?");
}

#[test]
fn presets_say_what_they_change() {
    let all = schema("presets").unwrap();
    let fast = &all["presets"][0];
    assert_eq!(fast["id"], "fast");
    assert_eq!(fast["for"][0]["env_id"], Value::Null);
    let of_lander = schema("ppo:LunarLander-v3").unwrap();
    let ids: Vec<&str> = of_lander["x-presets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|preset| preset["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["fast", "stable", "high_score", "zoo", "speed"]);
    let zoo = &of_lander["x-presets"][3]["changes"];
    let gamma = zoo.as_array().unwrap().iter().find(|change| change["path"] == "trainer.gamma");
    assert_eq!(gamma.unwrap(), &json!({ "path": "trainer.gamma", "old": 0.99, "new": 0.999 }));
}
