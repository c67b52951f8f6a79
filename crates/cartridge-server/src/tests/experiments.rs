use super::*;

async fn make(lab: &TestLab, name: &str, config: Value) -> Value {
    let body = json!({ "name": name, "config": config });
    let (status, made) = lab.ask("POST", "/api/experiments", Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    made
}

#[tokio::test]
async fn schemas_are_listed_and_served() {
    let lab = TestLab::new();
    let (status, list) = lab.ask("GET", "/api/schemas", None).await;
    assert_eq!(status, StatusCode::OK);
    for entry in list["schemas"].as_array().unwrap() {
        let (status, schema) = lab.ask("GET", entry["href"].as_str().unwrap(), None).await;
        assert_eq!(status, StatusCode::OK, "{entry}");
        assert!(schema.is_object(), "{entry}");
    }
    let (_, schema) = lab.ask("GET", "/api/schemas/ppo:LunarLander-v3", None).await;
    let rate = &schema["properties"]["trainer"]["properties"]["learning_rate"];
    insta::assert_json_snapshot!("schema_of_the_learning_rate", rate);
    let options = &schema["properties"]["env"];
    insta::assert_json_snapshot!("schema_of_the_lander", options);
    let answer = lab.ask("GET", "/api/schemas/ppp", None).await;
    check_problem(answer, (404, "no_such_schema", &[]));
}

#[tokio::test]
async fn experiments_are_made_found_cloned_and_put_away() {
    let lab = TestLab::new();
    let red =
        make(&lab, "Red", json!({ "env_id": "CartPole-v1", "trainer": { "lr": 1e-3 } })).await;
    let same =
        make(&lab, "The same", json!({ "env_id": "CartPole-v1", "learning_rate": 1e-3 })).await;
    assert_eq!(red["sha256"], same["sha256"]);
    assert_ne!(red["id"], same["id"]);
    let id = red["id"].as_str().unwrap();
    let (status, shown) = lab.ask("GET", &format!("/api/experiments/{id}"), None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(shown["config"]["trainer"]["learning_rate"], 1e-3);
    assert_eq!(shown["given"]["trainer"], json!({ "lr": 1e-3 }));
    assert_eq!((&shown["runs"], &shown["n_runs"]), (&json!([]), &json!(0)));
    let body = json!({ "name": "Blue", "changes": { "trainer": { "gamma": 0.9 } } });
    let address = format!("/api/experiments/{id}/clone");
    let (status, blue) = lab.ask("POST", &address, Some(body)).await;
    assert_eq!((status, &blue["cloned_from"]), (StatusCode::CREATED, &json!(id)));
    let names = async |query: &str| {
        let (status, page) = lab.ask("GET", &format!("/api/experiments{query}"), None).await;
        assert_eq!(status, StatusCode::OK, "{page}");
        let names = page["experiments"].as_array().unwrap().iter();
        let names: Vec<String> = names.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
        (names, page["next"].as_str().map(str::to_owned))
    };
    assert_eq!(names("").await.0, ["Blue", "The same", "Red"]);
    assert_eq!(names("?query=RED").await.0, ["Red"]);
    let (first, next) = names("?limit=2").await;
    assert_eq!(first, ["Blue", "The same"]);
    assert_eq!(
        names(&format!("?limit=2&after={}", next.unwrap())).await,
        (vec!["Red".to_owned()], None)
    );
    for (deed, archived) in [("archive", true), ("unarchive", false)] {
        let address = format!("/api/experiments/{id}/{deed}");
        let (status, answer) = lab.ask("POST", &address, None).await;
        assert_eq!((status, &answer["archived"]), (StatusCode::OK, &json!(archived)));
        assert_eq!(names("").await.0.contains(&"Red".to_owned()), !archived);
        assert_eq!(names("?archived=true").await.0, if archived { vec!["Red"] } else { vec![] });
    }
    // Nothing changes one.
    for method in ["PUT", "PATCH", "DELETE"] {
        let (status, _) = lab.ask(method, &format!("/api/experiments/{id}"), Some(json!({}))).await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
    let (_, audit) = lab.ask("GET", "/api/audit", None).await;
    assert!(audit.to_string().contains(id), "{audit}");
}

#[tokio::test]
async fn a_bad_experiment_is_answered_with_every_field() {
    let lab = TestLab::new();
    let check = async |body: Value, pointers: &[&str]| {
        let answer = lab.ask("POST", "/api/experiments", Some(body)).await;
        check_problem(answer, (422, "invalid_config", pointers));
    };
    let config = json!({
        "env_id": "CartPole-v1",
        "trainer": { "lr": 2, "gama": 1 },
        "simulation": { "n_envs": 0 },
    });
    check(
        json!({ "name": "", "config": config }),
        &["/name", "/config/trainer/gama", "/config/trainer/lr", "/config/simulation/n_envs"],
    )
    .await;
    check(json!({ "name": "x", "config": {} }), &["/config/env_id"]).await;
    check(
        json!({ "name": "x", "preset": "fsat", "config": { "env_id": "CartPole-v1" } }),
        &["/preset"],
    )
    .await;
    let continuous = json!({ "env_id": "Pendulum-v1", "algo": "dqn" });
    check(json!({ "name": "x", "config": continuous }), &["/config/algo"]).await;
    let (_, page) = lab.ask("GET", "/api/experiments", None).await;
    assert_eq!(page["experiments"], json!([]));
    let answer = lab.ask("GET", "/api/experiments/e-000000", None).await;
    check_problem(answer, (404, "no_such_experiment", &[]));
    let answer = lab.ask("GET", "/api/groups/g-000000", None).await;
    check_problem(answer, (404, "no_such_group", &[]));
}

#[tokio::test]
async fn a_dry_run_says_everything_and_makes_nothing() {
    let lab = TestLab::new();
    let made = make(&lab, "Red", json!({ "env_id": "CartPole-v1" })).await;
    let body = json!({
        "experiment_id": made["id"],
        "overrides": { "trainer": { "lr": 0.001 } },
        "seeds": { "seed_base": 7, "count": 2 },
        "dry_run": true,
    });
    let (status, preview) = lab.ask("POST", "/api/runs", Some(body)).await;
    assert_eq!(status, StatusCode::OK, "{preview}");
    assert_eq!(preview["aliases"], json!({ "trainer.lr": "trainer.learning_rate" }));
    let second = &preview["runs"][1];
    assert_eq!(
        second["differences"],
        json!([
            { "path": "trainer.learning_rate", "old": 0.0003, "new": 0.001 },
            { "path": "seeds.seed_base", "old": 42, "new": 8 },
        ])
    );
    assert_eq!(second["manifest"]["config"]["seeds"]["seed_base"], 8);
    assert_eq!(second["manifest"]["experiment_id"], made["id"]);
    let command: Vec<&str> = second["job"]["command"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    assert_eq!(command[..2], ["/nonexistent/cartridge", "worker"]);
    assert_eq!(command[4..], ["--run", "RUN", "--attempt", "1"]);
    let short = json!({ "env_id": "CartPole-v1", "seeds": [3], "dry_run": true });
    let (status, preview) = lab.ask("POST", "/api/runs", Some(short)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(preview["runs"][0]["differences"][0]["path"], "seeds.seed_base");
    let runs = lab.state.lab.data().path().join("runs");
    assert_eq!(std::fs::read_dir(runs).unwrap().count(), 0, "no folder was made");
    let (_, page) = lab.ask("GET", "/api/runs", None).await;
    assert_eq!(page["runs"], json!([]));
    let (_, audit) = lab.ask("GET", "/api/audit", None).await;
    let lines = audit["lines"].as_array().unwrap();
    let deeds: Vec<&Value> = lines.iter().map(|line| &line["what"]).collect();
    assert_eq!(deeds, ["create"], "the template alone is a change");
}

#[tokio::test]
async fn a_template_is_looked_at_before_it_is_made() {
    let lab = TestLab::new();
    let body = |name: &str| {
        json!({ "name": name, "preset": "fast", "dry_run": true, "seeds": [3, 4],
            "config": { "env_id": "CartPole-v1", "trainer": { "lr": 0.001 } } })
    };
    let (status, preview) = lab.ask("POST", "/api/experiments", Some(body(""))).await;
    assert_eq!(status, StatusCode::OK, "{preview}");
    assert_eq!(preview["config"]["trainer"]["learning_rate"], 0.001);
    assert_eq!(preview["runs"].as_array().unwrap().len(), 2);
    let changed = preview["runs"][0]["differences"].as_array().unwrap().iter();
    let changed: Vec<&str> = changed.map(|change| change["path"].as_str().unwrap()).collect();
    assert!(changed.contains(&"trainer.learning_rate"), "{changed:?}");
    assert_eq!(preview["same_as"], json!([]));
    let (_, page) = lab.ask("GET", "/api/experiments", None).await;
    assert_eq!(page["experiments"], json!([]), "nothing was made");
    let (_, audit) = lab.ask("GET", "/api/audit", None).await;
    assert_eq!(audit["lines"], json!([]), "and nothing recorded");
    // The same in earnest has the hash that was told, and is found by it.
    let mut real = body("Red");
    real["dry_run"] = false.into();
    let answer = lab.ask("POST", "/api/experiments", Some(real.clone())).await;
    check_problem(answer, (422, "invalid_field", &["/seeds"]));
    real.as_object_mut().unwrap().remove("seeds");
    let (_, made) = lab.ask("POST", "/api/experiments", Some(real)).await;
    assert_eq!(made["sha256"], preview["sha256"]);
    let (_, preview) = lab.ask("POST", "/api/experiments", Some(body("Blue"))).await;
    assert_eq!(preview["same_as"], json!([made["id"]]));
    // What is wrong is named as when it is made.
    let bad = json!({ "name": "", "dry_run": true,
        "config": { "env_id": "CartPole-v1", "trainer": { "gamma": 2 } } });
    let answer = lab.ask("POST", "/api/experiments", Some(bad)).await;
    check_problem(answer, (422, "invalid_config", &["/config/trainer/gamma"]));
    // A terminal that lists templates obeys no name.
    let answer = lab.ask("POST", "/api/experiments", Some(body("\u{1b}[31mRed\nBlue"))).await;
    check_problem(answer, (422, "invalid_config", &["/name"]));
}

#[tokio::test]
async fn the_short_form_takes_presets_and_any_setting() {
    let lab = TestLab::new();
    let ask = async |more: Value| {
        let mut body = json!({ "env_id": "LunarLander-v3", "dry_run": true });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        lab.ask("POST", "/api/runs", Some(body)).await
    };
    let (status, preview) = ask(json!({
        "preset": "zoo", "overrides": { "trainer.gamma": 0.98, "env": { "gravity": -9.0 } },
    }))
    .await;
    assert_eq!(status, StatusCode::OK, "{preview}");
    let config = &preview["runs"][0]["manifest"]["config"];
    assert_eq!(
        (&config["trainer"]["gamma"], &config["env"]["gravity"]),
        (&json!(0.98), &json!(-9.0))
    );
    assert_eq!(config["trainer"]["gae_lambda"], 0.98, "as RL-Zoo has it");
    for (more, pointer) in [
        (json!({ "preset": "fastest" }), "/preset"),
        (json!({ "overrides": { "trainer.gamma": 2 } }), "/overrides/trainer/gamma"),
        (json!({ "overrides": { "trainer.gama": 0.9 } }), "/overrides/trainer/gama"),
        (json!({ "overrides": { "env.gravitation": 1 } }), "/overrides/env/gravitation"),
        (json!({ "learning_rate": 5 }), "/learning_rate"),
    ] {
        check_problem(ask(more).await, (422, "invalid_field", &[pointer]));
    }
}

#[tokio::test]
async fn runs_of_an_experiment_change_only_what_it_allows() {
    let lab = TestLab::new();
    let made = make(&lab, "Red", json!({ "env_id": "CartPole-v1" })).await;
    let check = async |mut body: Value, code: &str, pointers: &[&str]| {
        body["experiment_id"] = body.get("experiment_id").unwrap_or(&made["id"]).clone();
        let answer = lab.ask("POST", "/api/runs", Some(body)).await;
        check_problem(answer, (422, code, pointers));
    };
    let refused = json!({ "overrides": { "trainer.gamma": 0.9, "env.sutton_barto_reward": true } });
    check(
        refused,
        "invalid_config",
        &["/overrides/trainer/gamma", "/overrides/env/sutton_barto_reward"],
    )
    .await;
    check(
        json!({ "overrides": { "trainer.lr": 2 } }),
        "invalid_config",
        &["/overrides/trainer/lr"],
    )
    .await;
    check(json!({ "seeds": [] }), "invalid_config", &["/seeds"]).await;
    check(json!({ "seeds": [1, 1] }), "invalid_config", &["/seeds"]).await;
    check(json!({ "seeds": { "seed_base": 1, "count": 101 } }), "invalid_config", &["/seeds"])
        .await;
    let body = json!({ "experiment_id": made["id"], "seeds": { "seed_base": -1, "count": 2 } });
    let (_, problem) = lab.ask("POST", "/api/runs", Some(body)).await;
    let detail = problem["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.starts_with("seeds are a list of whole numbers from 0"), "{detail}");
    check(json!({ "env_id": "CartPole-v1" }), "invalid_field", &["/env_id"]).await;
    check(json!({ "seed": 1 }), "invalid_field", &["/seed"]).await;
    let answer = lab.ask("POST", "/api/runs", Some(json!({ "seeds": [1] }))).await;
    check_problem(answer, (422, "invalid_field", &["/env_id"]));
    let answer = lab.ask("POST", "/api/runs", Some(json!({ "experiment_id": "e-000000" }))).await;
    check_problem(answer, (404, "no_such_experiment", &[]));
}
