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

/// CleanRL says whether the learning rate falls, and how many batches there are, in any order.
#[test]
fn words_of_cleanrl_that_say_something_of_a_setting() {
    let rate = "/trainer/learning_rate";
    check(&["trainer.anneal_lr=True"], Ok((rate, json!("lin_0.0003"))));
    check(
        &["trainer.anneal_lr=true", "trainer.learning_rate=2.5e-4"],
        Ok((rate, json!("lin_0.00025"))),
    );
    check(&["trainer.lr=cos_0.001", "trainer.anneal_lr=true"], Ok((rate, json!("cos_0.001"))));
    check(&["trainer.anneal_lr=False"], Ok((rate, json!(3e-4))));
    check(&["trainer.lr=lin_0.001", "trainer.anneal_lr=false"], Ok((rate, json!(0.001))));
    check(&["trainer.anneal_lr=0.5"], Err("`trainer.anneal_lr`: 0.5 is neither true nor false"));
    let size = "/trainer/batch_size";
    check(&["trainer.num_minibatches=4"], Ok((size, json!(512))));
    check(
        &["trainer.num_minibatches=4", "trainer.num_envs=4", "trainer.num_steps=128"],
        Ok((size, json!(128))),
    );
    check(&["trainer.num_minibatches=4", "trainer.batch_size=32"], Ok((size, json!(32))));
    check(&["trainer.batch_size=32", "trainer.num_minibatches=4"], Ok((size, json!(512))));
    check(
        &["trainer.num_minibatches=3"],
        Err(
            "`trainer.num_minibatches`: 3 batches of the same size cannot be made; 2048 steps are gathered for one update (simulation.n_envs times simulation.n_steps): take another number, or set trainer.batch_size instead",
        ),
    );
    check(
        &["trainer.num_minibatches=256"],
        Err(
            "`trainer.num_minibatches`: 256 batches have a wrong size, 8 is not between 16 and 65536; 2048 steps are gathered for one update (simulation.n_envs times simulation.n_steps): take another number, or set trainer.batch_size instead",
        ),
    );
    check(
        &["trainer.num_minibatches=0"],
        Err("`trainer.num_minibatches`: 0 is no whole number, 1 or more"),
    );
    check(
        &["trainer.num_minibatch=4"],
        Err("unknown option `trainer.num_minibatch`; did you mean `trainer.num_minibatches`?"),
    );
    check(&["trainer.norm_adv=False"], Ok(("/trainer/normalize_advantage", json!(false))));
    check(&["trainer.target_kl=None"], Ok(("/trainer/target_kl", Value::Null)));
    let mut dqn = Draft::new("CartPole-v1", "dqn").unwrap();
    assert!(dqn.set_text("trainer.num_minibatches=4").is_err(), "DQN has no epochs");
}

/// Stable-Baselines3's `n_steps` is another thing with DQN.
#[test]
fn a_word_means_what_the_algorithm_has() {
    let build = |algo: &str| {
        let mut draft = Draft::new("CartPole-v1", algo).unwrap();
        draft.set_text("trainer.n_steps=16").unwrap();
        draft.set_text("trainer.n_envs=4").unwrap();
        let Resolved { config, aliases } = draft.resolve().unwrap();
        (serde_json::to_value(config).unwrap(), serde_json::to_value(aliases).unwrap())
    };
    let (ppo, aliases) = build("ppo");
    assert_eq!(ppo["simulation"], json!({ "n_envs": 4, "n_steps": 16 }));
    assert_eq!(
        aliases,
        json!({ "trainer.n_envs": "simulation.n_envs", "trainer.n_steps": "simulation.n_steps" })
    );
    let (dqn, aliases) = build("dqn");
    assert_eq!((&dqn["trainer"]["n_steps"], &dqn["simulation"]["n_envs"]), (&json!(16), &json!(4)));
    assert_eq!(aliases, json!({ "trainer.n_envs": "simulation.n_envs" }));
}

/// As the API reads them: each word fills a place, and is named where it fills one twice.
#[test]
fn words_beside_each_other() {
    let resolve = |trainer: Value| {
        let given = json!({ "env_id": "CartPole-v1", "trainer": trainer });
        Resolved::new(given.as_object().unwrap(), None)
    };
    let resolved =
        resolve(json!({ "anneal_lr": true, "learning_rate": 1e-3, "num_minibatches": 8 })).unwrap();
    assert_eq!(
        serde_json::to_value(&resolved.aliases).unwrap(),
        json!({
            "trainer.anneal_lr": "trainer.learning_rate",
            "trainer.num_minibatches": "trainer.batch_size",
        })
    );
    let config = serde_json::to_value(&resolved.config).unwrap();
    assert_eq!(config["trainer"]["learning_rate"], "lin_0.001");
    assert_eq!(config["trainer"]["batch_size"], 256);
    let errors = resolve(json!({ "batch_size": 64, "num_minibatches": 8 })).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "`trainer.num_minibatches`: it is also given as `trainer.batch_size`; say it once"
    );
}

#[test]
fn uneven_batches_are_warned_of() {
    let warnings = |setting: &str| {
        let mut draft = Draft::new("CartPole-v1", "ppo").unwrap();
        draft.set_text(setting).unwrap();
        draft.finish().unwrap().warnings()
    };
    assert_eq!(warnings("trainer.batch_size=64"), [""; 0]);
    assert_eq!(
        warnings("trainer.batch_size=100"),
        [
            "trainer.batch_size 100 does not divide the 2048 steps gathered for one update (simulation.n_envs times simulation.n_steps): the last batch of an epoch has 48"
        ]
    );
}

#[test]
fn exploration_that_is_not_here_is_warned_of() {
    let warnings = |preset: &str, settings: &[&str]| {
        let mut draft = Draft::new("Pendulum-v1", "ppo").unwrap();
        draft.apply(preset).unwrap();
        settings.iter().for_each(|setting| draft.set_text(setting).unwrap());
        draft.finish().unwrap().warnings().join("; ")
    };
    assert!(warnings("zoo", &[]).contains("(use_sde, generalised state-dependent exploration)"));
    assert!(warnings("zoo", &["trainer.total_timesteps=50000"]).contains("use_sde"));
    assert_eq!(warnings("zoo", &["trainer.gamma=0.95"]), "", "those are somebody's own");
    assert_eq!(warnings("fast", &[]), "");
}

/// RL-Zoo normalises both in one word.
#[test]
fn one_word_normalises_observations_and_rewards() {
    let [observation, reward] = ["/trainer/normalize_observation", "/trainer/normalize_reward"];
    for path in [observation, reward] {
        check(&["normalize=true"], Ok((path, json!(true))));
        check(&["trainer.normalize=True"], Ok((path, json!(true))));
        check(&["trainer.norm_obs=true", "trainer.normalize=false"], Ok((path, json!(false))));
    }
    check(&["trainer.normalize=true", "trainer.norm_reward=false"], Ok((reward, json!(false))));
    check(
        &["trainer.normalize=1"],
        Err(
            "`trainer.normalize`: 1 is neither true nor false; for one alone set trainer.normalize_observation or trainer.normalize_reward",
        ),
    );
    // Written side by side, in any order, the word for one counts more.
    let given =
        json!({ "env_id": "CartPole-v1", "normalize": true, "trainer": { "norm_reward": false } });
    let resolved = Resolved::new(given.as_object().unwrap(), None).unwrap();
    let config = serde_json::to_value(&resolved.config).unwrap();
    assert_eq!(
        (config.pointer(observation), config.pointer(reward)),
        (Some(&json!(true)), Some(&json!(false)))
    );
    assert_eq!(
        resolved.aliases["normalize"],
        "trainer.normalize_observation and trainer.normalize_reward"
    );
    let mut dqn = Draft::new("CartPole-v1", "dqn").unwrap();
    assert!(dqn.set_text("trainer.normalize=true").is_err(), "DQN does not normalise");
}

/// The bounds of experiments and of tuning, as they were agreed: at each end, and beyond.
#[test]
fn bounds_are_those_that_were_agreed() {
    let (rate, steps) = ([1e-7, 1e-6, 1.0, 1.1], [4_999.0, 5e3, 1e9, 1e9 + 1.0]);
    let (gamma, envs) = ([0.79, 0.8, 0.9999, 1.0], [0.0, 1.0, 4_096.0, 4_097.0]);
    let batch = [15.0, 16.0, 65_536.0, 65_537.0];
    for (algo, path, [below, least, greatest, above]) in [
        ("ppo", "trainer.learning_rate", rate),
        ("dqn", "trainer.learning_rate", rate),
        ("ppo", "trainer.total_timesteps", steps),
        ("dqn", "trainer.total_timesteps", steps),
        ("ppo", "trainer.batch_size", batch),
        ("dqn", "trainer.batch_size", batch),
        ("ppo", "simulation.n_steps", [15.0, 16.0, 8_192.0, 8_193.0]),
        ("dqn", "trainer.n_steps", [0.0, 1.0, 20.0, 21.0]),
        ("ppo", "trainer.gamma", gamma),
        ("dqn", "trainer.gamma", gamma),
        ("dqn", "trainer.buffer_size", [511.0, 512.0, 2e6, 2e6 + 1.0]),
        ("dqn", "trainer.exploration_fraction", [-0.1, 0.0, 1.0, 1.1]),
        ("dqn", "trainer.exploration_final_eps", [-0.1, 0.0, 0.5, 0.6]),
        ("ppo", "simulation.n_envs", envs),
        ("dqn", "simulation.n_envs", envs),
    ] {
        let finish = |value: f64| {
            let mut draft = Draft::new("CartPole-v1", algo).unwrap();
            draft.set(path, json!(value)).unwrap();
            draft.finish()
        };
        // At its ends by itself: a batch, say, may not be larger than what is gathered besides.
        let within = setting::setting(path).unwrap();
        for value in [least, greatest] {
            let is_whole = f64::fract(value) == 0.0;
            let value = if is_whole { json!(value as u64) } else { json!(value) };
            assert_eq!(within.check(&value), Ok(()), "{algo} {path} {value}");
        }
        for value in [below, above] {
            let refused = finish(value).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("`{path}`")), "{algo} {path} {value}: {refused}");
        }
    }
    // Beyond what numbers with a point can count.
    let seed = "/seeds/seed_base";
    check(&["seeds.seed_base=0"], Ok((seed, json!(0))));
    check(&["seeds.seed_base=9223372036854775807"], Ok((seed, json!(i64::MAX))));
    for wrong in ["-1", "9223372036854775808"] {
        let mut draft = Draft::new("CartPole-v1", "ppo").unwrap();
        draft.set_text(&format!("seeds.seed_base={wrong}")).unwrap();
        assert!(
            draft.finish().unwrap_err().to_string().starts_with("`seeds.seed_base`"),
            "{wrong}"
        );
    }
    for (path, low, high, is_low_open) in [
        ("trainer.learning_rate", 0.0, 1.0, true),
        ("trainer.ent_coef", 0.0, 0.1, false),
        ("trainer.clip_range", 0.05, 0.3, false),
        ("evaluation.every_steps", 1e3, 1e7, false),
    ] {
        let tuning = setting::setting(path).unwrap().tuning.unwrap();
        assert_eq!((tuning.low, tuning.high), (low, high), "{path}");
        assert_eq!((tuning.is_low_open, tuning.is_high_open), (is_low_open, false), "{path}");
    }
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

/// Compares what a preset comes to with a table of values by full path. `rest` is whether everything
/// else of the trainer is to be as by default.
#[track_caller]
fn check_preset(algo: &str, env: &str, preset: &str, rest: bool, expected: &[(&str, Value)]) {
    let finish = |draft: Draft| serde_json::to_value(draft.finish().unwrap()).unwrap();
    let mut draft = Draft::new(env, algo).unwrap();
    let defaults = finish(draft.clone());
    draft.apply(preset).unwrap();
    let config = finish(draft);
    let is_same = |a: &Value, b: &Value| a == b || (a.is_number() && a.as_f64() == b.as_f64());
    for (path, value) in expected {
        let found = &config.pointer(&format!("/{}", path.replace('.', "/"))).unwrap();
        assert!(is_same(found, value), "{algo} {env} {preset}: {path} is {found}, not {value}");
    }
    if rest {
        for (name, value) in config["trainer"].as_object().unwrap() {
            let path = format!("trainer.{name}");
            let is_listed = expected.iter().any(|(listed, _)| *listed == path);
            let default = &defaults["trainer"][name];
            assert!(is_listed || value == default, "{algo} {env} {preset}: {path} is {value}");
        }
    }
}

/// RL-Zoo's `hyperparams/ppo.yml` and `dqn.yml`, value by value; what it does not say is as
/// Stable-Baselines3 has it.
#[test]
fn zoo_presets_have_the_values_of_rl_zoo() {
    type Row = (&'static str, [f64; 7], Vec<(&'static str, Value)>);
    let ppo: [Row; 6] = [
        // Environments, steps, steps of a rollout, batch, lambda, gamma, epochs; then what only some say.
        (
            "CartPole-v1",
            [8.0, 1e5, 32.0, 256.0, 0.8, 0.98, 20.0],
            vec![
                ("trainer.learning_rate", json!("lin_0.001")),
                ("trainer.clip_range", json!("lin_0.2")),
            ],
        ),
        (
            "LunarLander-v3",
            [16.0, 1e6, 1024.0, 64.0, 0.98, 0.999, 4.0],
            vec![("trainer.ent_coef", json!(0.01))],
        ),
        (
            "BipedalWalker-v3",
            [32.0, 5e6, 2048.0, 64.0, 0.95, 0.999, 10.0],
            vec![
                ("trainer.learning_rate", json!(3e-4)),
                ("trainer.clip_range", json!(0.18)),
                ("trainer.normalize_observation", json!(true)),
                ("trainer.normalize_reward", json!(true)),
            ],
        ),
        (
            "Acrobot-v1",
            [16.0, 1e6, 256.0, 64.0, 0.94, 0.99, 4.0],
            vec![
                ("trainer.normalize_observation", json!(true)),
                ("trainer.normalize_reward", json!(true)),
            ],
        ),
        (
            "MountainCar-v0",
            [16.0, 1e6, 16.0, 64.0, 0.98, 0.99, 4.0],
            vec![
                ("trainer.normalize_observation", json!(true)),
                ("trainer.normalize_reward", json!(true)),
            ],
        ),
        (
            "Pendulum-v1",
            [4.0, 1e5, 1024.0, 64.0, 0.95, 0.9, 10.0],
            vec![("trainer.learning_rate", json!(1e-3)), ("trainer.clip_range", json!(0.2))],
        ),
    ];
    for (env, numbers, more) in ppo {
        let names = [
            "simulation.n_envs",
            "trainer.total_timesteps",
            "simulation.n_steps",
            "trainer.batch_size",
            "trainer.gae_lambda",
            "trainer.gamma",
            "trainer.n_epochs",
        ];
        let mut expected: Vec<(&str, Value)> =
            names.into_iter().zip(numbers.map(Value::from)).collect();
        expected.extend(more.iter().cloned());
        let is_said = |path: &str| more.iter().any(|(listed, _)| *listed == path);
        for (path, default) in [
            ("trainer.ent_coef", 0.0),
            ("trainer.learning_rate", 3e-4),
            ("trainer.clip_range", 0.2),
        ] {
            if !is_said(path) {
                expected.push((path, default.into()));
            }
        }
        check_preset("ppo", env, "zoo", true, &expected);
    }
    // Steps, learning rate, batch, buffer, start, gamma, target, train_freq, gradient steps,
    // exploration and its end.
    let lander = [1e5, 6.3e-4, 128.0, 5e4, 0.0, 0.99, 250.0, 4.0, -1.0, 0.12, 0.1];
    for (env, numbers) in [
        ("CartPole-v1", [5e4, 2.3e-3, 64.0, 1e5, 1e3, 0.99, 10.0, 256.0, 128.0, 0.16, 0.04]),
        ("LunarLander-v3", lander),
        ("Acrobot-v1", lander),
        ("MountainCar-v0", [1.2e5, 4e-3, 128.0, 1e4, 1e3, 0.98, 600.0, 16.0, 8.0, 0.2, 0.07]),
    ] {
        let names = [
            "trainer.total_timesteps",
            "trainer.learning_rate",
            "trainer.batch_size",
            "trainer.buffer_size",
            "trainer.learning_starts",
            "trainer.gamma",
            "trainer.target_update_interval",
            "trainer.train_freq",
            "trainer.gradient_steps",
            "trainer.exploration_fraction",
            "trainer.exploration_final_eps",
        ];
        let mut expected: Vec<(&str, Value)> =
            names.into_iter().zip(numbers.map(Value::from)).collect();
        expected.push(("trainer.net_arch", json!([256, 256])));
        expected.push(("simulation.n_envs", json!(1)));
        check_preset("dqn", env, "zoo", true, &expected);
    }
}

/// What the general presets are by definition; the rest of them was searched.
#[test]
fn general_presets_have_the_values_of_their_definition() {
    let names = |algo: &str| match algo {
        "ppo" => &["learning_rate", "total_timesteps", "batch_size", "gamma"][..],
        _ => &[
            "learning_rate",
            "total_timesteps",
            "batch_size",
            "gamma",
            "buffer_size",
            "exploration_fraction",
            "exploration_final_eps",
        ],
    };
    let ppo: [(&str, &[f64], u64); 3] = [
        ("fast", &[4e-4, 2e5, 64.0, 0.98], 1024),
        ("stable", &[3e-4, 1e6, 64.0, 0.99], 2048),
        ("high_score", &[1e-4, 3e6, 256.0, 0.995], 4096),
    ];
    let dqn: [(&str, &[f64]); 3] = [
        ("fast", &[5e-4, 2e5, 64.0, 0.98, 5e4, 0.2, 0.05]),
        ("stable", &[3e-4, 1e6, 64.0, 0.99, 1e5, 0.1, 0.02]),
        ("high_score", &[1e-4, 3e6, 128.0, 0.995, 3e5, 0.05, 0.01]),
    ];
    let ppo = ppo.map(|(preset, numbers, n_steps)| ("ppo", preset, numbers, Some(n_steps)));
    let dqn = dqn.map(|(preset, numbers)| ("dqn", preset, numbers, None));
    for (algo, preset, numbers, n_steps) in ppo.into_iter().chain(dqn) {
        let paths: Vec<String> = names(algo).iter().map(|name| format!("trainer.{name}")).collect();
        let mut expected: Vec<(&str, Value)> = paths
            .iter()
            .map(String::as_str)
            .zip(numbers.iter().copied().map(Value::from))
            .collect();
        expected.extend(n_steps.map(|n_steps| ("simulation.n_steps", n_steps.into())));
        if (algo, preset) == ("dqn", "fast") {
            // It begins with the rate of the definition, and falls.
            expected[0].1 = json!("lin_0.0005");
        }
        for env in ["CartPole-v1", "LunarLander-v3"] {
            check_preset(algo, env, preset, false, &expected);
        }
    }
}

/// The names of CleanRL, RL-Zoo and older files, each with a value that is not the default.
#[test]
fn every_alias_sets_its_setting() {
    for (algo, alias, value, path) in [
        ("ppo", "trainer.lr", json!(0.002), "trainer.learning_rate"),
        ("ppo", "trainer.num_envs", json!(3), "simulation.n_envs"),
        ("ppo", "trainer.n_envs", json!(3), "simulation.n_envs"),
        ("ppo", "simulation.num_envs", json!(3), "simulation.n_envs"),
        ("ppo", "simulation.parallel_envs", json!(3), "simulation.n_envs"),
        ("dqn", "trainer.num_envs", json!(3), "simulation.n_envs"),
        ("ppo", "trainer.num_steps", json!(128), "simulation.n_steps"),
        ("ppo", "trainer.n_steps", json!(128), "simulation.n_steps"),
        ("ppo", "simulation.num_steps", json!(128), "simulation.n_steps"),
        ("ppo", "simulation.rollout_len", json!(128), "simulation.n_steps"),
        ("ppo", "simulation.rollout_steps", json!(128), "simulation.n_steps"),
        ("ppo", "simulation.num_workers", json!(3), "resources.threads"),
        ("ppo", "trainer.minibatch_size", json!(32), "trainer.batch_size"),
        ("ppo", "trainer.update_epochs", json!(4), "trainer.n_epochs"),
        ("ppo", "trainer.clip_coef", json!(0.1), "trainer.clip_range"),
        ("ppo", "trainer.clip_vloss", json!(0.3), "trainer.clip_range_vf"),
        ("ppo", "trainer.norm_adv", json!(false), "trainer.normalize_advantage"),
        ("ppo", "trainer.norm_obs", json!(true), "trainer.normalize_observation"),
        ("ppo", "trainer.norm_reward", json!(true), "trainer.normalize_reward"),
        ("ppo", "trainer.entropy_coef", json!(0.01), "trainer.ent_coef"),
        ("dqn", "trainer.start_e", json!(0.9), "trainer.exploration_initial_eps"),
        ("dqn", "trainer.end_e", json!(0.01), "trainer.exploration_final_eps"),
        ("dqn", "trainer.target_network_frequency", json!(500), "trainer.target_update_interval"),
        ("dqn", "trainer.train_frequency", json!(10), "trainer.train_freq"),
        ("ppo", "n_timesteps", json!(50_000), "trainer.total_timesteps"),
        ("ppo", "total_timesteps", json!(50_000), "trainer.total_timesteps"),
        ("ppo", "trainer.n_timesteps", json!(50_000), "trainer.total_timesteps"),
    ] {
        let mut draft = Draft::new("CartPole-v1", algo).unwrap();
        let pointer = format!("/{}", path.replace('.', "/"));
        assert_ne!(draft.value.pointer(&pointer), Some(&value), "{alias} is tried in vain");
        draft.set(alias, value.clone()).unwrap();
        let Resolved { config, aliases } = draft.resolve().unwrap();
        let config = serde_json::to_value(config).unwrap();
        assert_eq!(config.pointer(&pointer), Some(&value), "{alias} with {algo}");
        assert_eq!(aliases.get(alias).map(String::as_str), Some(path));
    }
}

#[test]
fn presets_of_games_are_parts_and_multiples_of_their_usual_training() {
    #[track_caller]
    fn check(game: &str, network: &str, moves: [u64; 3]) {
        for (preset, moves) in ["fast", "stable", "high_score"].into_iter().zip(moves) {
            let mut draft = Draft::new(game, "alphazero").unwrap();
            draft.apply(preset).unwrap();
            let config = draft.finish().unwrap();
            assert_eq!(config.trainer.total_timesteps(), moves, "{preset}");
            let trainer = serde_json::to_value(&config.trainer).unwrap();
            assert_eq!(trainer["network"], network);
        }
    }
    check("tictactoe", "tiny", [500_000, 3_000_000, 12_000_000]);
    check("connect4", "mlp", [3_000_000, 18_000_000, 72_000_000]);
    check("othello", "mlp", [2_000_000, 12_000_000, 48_000_000]);
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
                cartridge_learn::board_net::Preset::Mlp.config(),
                18_000_000
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
