use serde_json::json;

use super::setting::aliases;
use super::*;

/// Builds a configuration from assignments and compares the error, or one value.
#[track_caller]
fn check(assignments: &[&str], expected: Result<(&str, Value), &str>) {
    let build = || {
        let mut draft = Draft::new("CartPole-v1", "ppo")?;
        for assignment in assignments {
            draft.set_text(assignment)?;
        }
        draft.finish()
    };
    match (build(), expected) {
        (Ok(config), Ok((pointer, value))) => {
            let config = serde_json::to_value(config).unwrap();
            assert_eq!(config.pointer(pointer), Some(&value));
        }
        (Err(error), Err(message)) => assert_eq!(error.to_string(), message),
        (got, expected) => panic!("{got:?} is not {expected:?}"),
    }
}

#[test]
fn values_are_laid_over_the_defaults() {
    check(&[], Ok(("/trainer/learning_rate", json!(3e-4))));
    check(&[], Ok(("/trainer/total_timesteps", json!(1_000_000))));
    check(&["trainer.gamma=0.98"], Ok(("/trainer/gamma", json!(0.98))));
    check(&["trainer.total_timesteps=2e6"], Ok(("/trainer/total_timesteps", json!(2_000_000))));
    check(&["simulation.n_envs = 4"], Ok(("/simulation/n_envs", json!(4))));
    check(&["trainer.max_grad_norm=1"], Ok(("/trainer/max_grad_norm", json!(1.0))));
}

#[test]
fn aliases_are_understood() {
    check(&["trainer.lr=0.001"], Ok(("/trainer/learning_rate", json!(0.001))));
    check(&["simulation.parallel_envs=4"], Ok(("/simulation/n_envs", json!(4))));
    check(&["n_timesteps=5000"], Ok(("/trainer/total_timesteps", json!(5_000))));
    check(&["trainer.clip_coef=0.1"], Ok(("/trainer/clip_range", json!(0.1))));
    check(&["simulation.horizon=200"], Ok(("/env", json!({ "max_episode_steps": 200 }))));
    check(&["simulation.horizon=200", "simulation.horizon=null"], Ok(("/env", json!({}))));
    check(
        &["simulation.horizon=501"],
        Err(
            "`env.max_episode_steps`: `max_episode_steps` is 501, but must be a whole number from 1 to its own limit of 500",
        ),
    );
}

/// CleanRL's `clip_vloss` is yes or no, and then as far as `clip_coef`, whichever is said first.
#[test]
fn values_are_clipped_as_in_other_libraries() {
    let path = "/trainer/clip_range_vf";
    check(&["trainer.clip_vloss=true", "trainer.clip_coef=0.1"], Ok((path, json!(0.1))));
    check(&["trainer.clip_range=lin_0.3", "trainer.clip_vloss=true"], Ok((path, json!(0.3))));
    check(&["trainer.clip_vloss=false"], Ok((path, Value::Null)));
    check(&["trainer.clip_range_vf=0.7"], Ok((path, json!(0.7))));
}

/// Somewhere that an algorithm learns.
fn usual_place(algo: Algorithm) -> &'static str {
    if algo.learns_games() { "connect4" } else { "CartPole-v1" }
}

#[test]
fn every_alias_leads_to_a_key() {
    let configs = Algorithm::ALL.map(|algo| {
        let draft = Draft::new(usual_place(algo), algo.id()).unwrap();
        serde_json::to_value(draft.finish().unwrap()).unwrap()
    });
    for (alias, key) in aliases() {
        let pointer = format!("/{}", key.replace('.', "/"));
        // Options that nobody gives are not written down.
        let is_option = setting::options_of("CartPole-v1").iter().any(|option| option.path == key);
        let is_known = is_option || configs.iter().any(|config| config.pointer(&pointer).is_some());
        assert!(is_known, "{alias} leads to {key}");
    }
}

/// Every preset makes a configuration, and says so where it has none for an environment.
#[test]
fn presets_are_whole() {
    for algo in Algorithm::ALL {
        for preset in Preset::ALL {
            let envs = ["CartPole-v1", "LunarLander-v3", "BipedalWalker-v3", "Pendulum-v1"];
            let games = ["tictactoe", "connect4", "othello"];
            for env in if algo.learns_games() { &games[..] } else { &envs } {
                let mut draft = Draft::new(env, algo.id()).unwrap();
                match preset.settings(algo, env) {
                    Some(_) => draft.apply(preset.id()).unwrap(),
                    None => {
                        let error = draft.apply(preset.id()).unwrap_err().to_string();
                        assert!(error.starts_with("there is no preset"), "{error}");
                        continue;
                    }
                }
                let finished = draft.finish();
                let is_wrong = matches!(finished, Err(ConfigError::WrongActions { .. }));
                assert!(finished.is_ok() || is_wrong, "{algo:?} {preset:?} {env}: {finished:?}");
            }
        }
    }
    let mut draft = Draft::new("CartPole-v1", "ppo").unwrap();
    draft.apply("zoo").unwrap();
    draft.set_text("trainer.gamma=0.9").unwrap();
    let config = serde_json::to_value(draft.finish().unwrap()).unwrap();
    assert_eq!(config["trainer"]["learning_rate"], "lin_0.001");
    assert_eq!(config["trainer"]["gamma"], 0.9, "what is said counts more");
    let mut draft = Draft::new("CartPole-v1", "ppo").unwrap();
    let error = draft.apply("fsat").unwrap_err().to_string();
    assert_eq!(error, "there is no preset `fsat`; did you mean `fast`?");
}

#[test]
fn games_and_environments_are_learnt_by_different_algorithms() {
    let error = |env: &str, algo: &str| Draft::new(env, algo).unwrap_err().to_string();
    assert_eq!(
        error("connect4", "ppo"),
        "PPO does not learn `connect4`; it is a game of two, which `alphazero` learns"
    );
    assert!(
        error("CartPole-v1", "alphazero").starts_with("AlphaZero does not learn `CartPole-v1`")
    );
    let build = |setting: &str| {
        let mut draft = Draft::new("connect4", "alphazero").unwrap();
        draft.set_text(setting).and_then(|()| draft.finish()).map_err(|error| error.to_string())
    };
    let config = build("trainer.num_simulations=100").unwrap();
    let settings = config.self_play().unwrap();
    assert_eq!(settings.self_play.n_simulations, [100, 64]);
    assert_eq!((settings.n_lanes, settings.n_games, settings.steps_per_update), (4, 64, 8_192));
    assert_eq!(
        settings,
        cartridge_learn::alphazero::Config {
            self_play: settings.self_play,
            ..cartridge_learn::alphazero::Config::new(
                cartridge_learn::board_net::Preset::Small.config(),
                3_000_000
            )
        },
        "the defaults are the learner's"
    );
    for (setting, detail) in [
        ("simulation.n_envs=100", "100 is above 64 and no multiple of it"),
        ("capture_video=true", "games are not filmed"),
        ("seeds.per_episode=seed_base+episode_idx", "games of self-play have no seeds"),
        ("wind=1", "unknown option `wind`"),
    ] {
        let error = build(setting).unwrap_err();
        assert!(error.contains(detail), "{setting}: {error}");
    }
}

#[test]
fn an_early_stop_needs_to_know_what_is_to_be_had() {
    let build = |env: &str| {
        let mut draft = Draft::new(env, "ppo").unwrap();
        draft.set("trainer.early_stop", true.into()).unwrap();
        draft.finish().map(|config| config.trainer.early_stop()).map_err(|error| error.to_string())
    };
    assert_eq!(build("CartPole-v1"), Ok(true));
    assert_eq!(build("Acrobot-v1"), Ok(true));
    let message = "`trainer.early_stop`: Pendulum-v1 has no return from which it counts as solved, so nobody can say when to stop; leave it off";
    assert_eq!(build("Pendulum-v1"), Err(message.to_owned()));
}

#[test]
fn unknown_words_name_the_nearest() {
    check(
        &["trainer.learning_rat=1"],
        Err("unknown option `trainer.learning_rat`; did you mean `trainer.learning_rate`?"),
    );
    check(&["trainr.gamma=1"], Err("unknown option `trainr.gamma`; did you mean `trainer.gamma`?"));
    check(
        &["foobarbaz=1"],
        Err(
            "environment `CartPole-v1` has no option `foobarbaz`; its options are: `sutton_barto_reward`, `max_episode_steps`",
        ),
    );
    check(
        &["trainer.gamma"],
        Err("`trainer.gamma`: write it as key=value, such as trainer.gamma=0.98"),
    );
    let unknown = |env: &str, algo: &str| Draft::new(env, algo).unwrap_err().to_string();
    assert_eq!(
        unknown("CartPol-v1", "ppo"),
        "unknown environment `CartPol-v1`; did you mean `CartPole-v1`?"
    );
    assert_eq!(unknown("CartPole-v1", "ppoo"), "unknown algorithm `ppoo`; did you mean `ppo`?");
}

#[test]
fn values_have_types_and_bounds() {
    check(
        &["trainer.gamma=high"],
        Err("`trainer.gamma`: invalid type: string \"high\", expected a number"),
    );
    check(
        &["trainer.n_epochs=1.5"],
        Err(
            "`trainer.n_epochs`: invalid type: floating point `1.5`, expected a whole number, 0 or more",
        ),
    );
    check(&["trainer.gamma=1"], Err("`trainer.gamma`: 1 is not between 0.8 and 0.9999"));
    check(
        &["trainer.total_timesteps=100"],
        Err("`trainer.total_timesteps`: 100 is not between 5000 and 1000000000"),
    );
    check(
        &["seeds.seed_base=-1"],
        Err("`seeds.seed_base`: invalid value: integer `-1`, expected a whole number, 0 or more"),
    );
    let too_large = "seeds.seed_base=9223372036854775808";
    check(
        &[too_large],
        Err("`seeds.seed_base`: 9223372036854775808 is not between 0 and 9223372036854775807"),
    );
    check(
        &["simulation.n_envs=1", "simulation.n_steps=16", "trainer.batch_size=64"],
        Err(
            "`trainer.batch_size`: 64 is more than the 16 steps gathered for one update (simulation.n_envs times simulation.n_steps)",
        ),
    );
}

#[test]
fn problems_point_at_the_key() {
    let mut draft = Draft::new("CartPole-v1", "ppo").unwrap();
    assert_eq!(draft.set_text("trainer.gama=1").unwrap_err().pointer(), "/trainer/gama");
    assert_eq!(draft.set_text("wind=1").unwrap_err().pointer(), "/env/wind");
}

#[test]
fn a_stored_configuration_reads_back() {
    let config = Draft::new("CartPole-v1", "PPO").unwrap().finish().unwrap();
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<RunConfig>(&text).unwrap(), config);
}

/// The rows of a table of `docs/training.md`: setting and default.
fn documented(heading: &str) -> Vec<(String, Value)> {
    let page = include_str!("../../../../docs/training.md");
    let table = page.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
    table
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let default = serde_json::from_str(cells[2])
                .or_else(|_| serde_json::from_str(&cells[2].replace(',', "")))
                .unwrap_or_else(|_| Value::from(cells[2]));
            (cells[1].trim_matches('`').to_owned(), default)
        })
        .collect()
}

#[test]
fn every_setting_of_an_algorithm_is_documented_with_its_default() {
    for algo in Algorithm::ALL {
        let config = Draft::new(usual_place(algo), algo.id()).unwrap().finish().unwrap();
        let config = serde_json::to_value(config).unwrap();
        let mut settings = std::collections::BTreeMap::new();
        for section in ["trainer", "simulation"] {
            for (name, value) in config[section].as_object().unwrap() {
                settings.insert(format!("{section}.{name}"), value.clone());
            }
        }
        let rows = documented(&format!("| {} | default", algo.name()));
        assert_eq!(rows.len(), settings.len(), "{}", algo.name());
        for (path, default) in rows {
            let actual = settings.remove(&path).unwrap_or_else(|| panic!("there is no {path}"));
            // 1 and 1.0 are the same to people.
            let is_same =
                actual == default || actual.as_f64().is_some_and(|x| Some(x) == default.as_f64());
            assert!(is_same, "{path}: {default} is documented, {actual} is so");
        }
        for (path, default) in documented("| both | default") {
            let Some(actual) = config.pointer(&format!("/{}", path.replace('.', "/"))) else {
                assert_eq!(path, "env.*");
                continue;
            };
            let differs = ["evaluation.every_steps", "evaluation.episodes"].contains(&&*path)
                || path == "retention.checkpoint_every_steps";
            if differs && algo.learns_games() {
                continue;
            }
            assert_eq!(*actual, default, "{path}");
        }
    }
}

#[test]
fn every_alias_and_metric_is_documented() {
    let page = include_str!("../../../../docs/training.md");
    let metrics = cartridge_learn::metric::Metric::ALL.iter().flat_map(|metric| metric.names());
    let names = aliases().map(|(alias, _)| alias).chain(metrics.map(|(name, _)| name));
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "{name} is missing");
    }
}
