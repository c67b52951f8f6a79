//! The door for `wandb` clients, without a client: who may use it, and what it refuses.

use cartridge_run::token::Role;

use super::*;

const UPSERT: &str = "mutation UpsertBucket($name: String, $id: String, $display: String) {
    upsertBucket(input: {name: $name, id: $id, modelName: \"p\", displayName: $display, config: \"{}\"}) {
        bucket { id name displayName historyLineCount project { name entity { name } } } inserted } }";

impl TestLab {
    /// Sends a query with `Authorization` as given.
    async fn query(
        &self,
        authorization: &str,
        query: &str,
        variables: Value,
    ) -> (StatusCode, Value) {
        let body = json!({ "query": query, "variables": variables });
        self.at_door(authorization, "/graphql", body).await
    }

    async fn at_door(&self, authorization: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let request = bare("POST", path)
            .header("authorization", authorization)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap();
        read(self.send(request).await).await
    }

    /// A run of a client, and what its client says who it is.
    async fn wandb_run(&self) -> (String, String) {
        let own = basic(&self.token(Role::Wandb, None));
        let variables = json!({ "name": "abc", "display": "one" });
        let (status, answer) = self.query(&own, UPSERT, variables).await;
        assert_eq!(status, StatusCode::OK);
        let bucket = &answer["data"]["upsertBucket"]["bucket"];
        (own, bucket["id"].as_str().unwrap().to_owned())
    }

    async fn post(&self, own: &str, body: Value) -> (StatusCode, Value) {
        self.at_door(own, "/files/lab/p/abc/file_stream", body).await
    }
}

fn basic(key: &str) -> String {
    format!("Basic {}", data_encoding::BASE64.encode(format!("api:{key}").as_bytes()))
}

#[tokio::test]
async fn the_door_has_its_own_locks() {
    let lab = TestLab::new();
    let viewer = "query Viewer { viewer { entity username } }";
    for role in [Role::Wandb, Role::Operator, Role::Admin] {
        let key = lab.token(role, None);
        for own in [basic(&key), format!("Bearer {key}")] {
            let (status, answer) = lab.query(&own, viewer, json!({})).await;
            assert_eq!(status, StatusCode::OK, "{role}");
            assert_eq!(answer["data"]["viewer"]["entity"], "lab");
        }
    }
    let looks = lab.token(Role::Viewer, None);
    check_problem(lab.query(&basic(&looks), viewer, json!({})).await, (403, "role_too_low", &[]));
    for path in ["/graphql", "/files/lab/p/abc/file_stream", "/files/", "/wandb/files/r-000000/x"] {
        let (status, _) =
            read(lab.send(bare("POST", path).body(Body::empty()).unwrap()).await).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
        for wrong in
            [basic("wrong"), basic(&"0".repeat(40)), "Basic ???".to_owned(), "Digest x".to_owned()]
        {
            let (status, answer) = lab.at_door(&wrong, path, json!({})).await;
            assert!(answer["error"].is_string(), "in the words of clients: {answer}");
            assert_eq!(answer["errors"][0]["message"], answer["error"]);
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{path} {wrong}");
        }
        // The login of a browser is no way in.
        let cookie = lab.state.auth.login_cookie(&lab.state.auth.owner());
        let request = bare("POST", path).header("cookie", cookie.split(';').next().unwrap());
        let (status, _) = read(lab.send(request.body(Body::empty()).unwrap()).await).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path} with a cookie");
    }
    // Basic is for this door alone.
    let operator = lab.token(Role::Operator, None);
    let request = bare("GET", "/api/runs").header("authorization", basic(&operator));
    let (status, _) = read(lab.send(request.body(Body::empty()).unwrap()).await).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn what_clients_tell_of_themselves_is_dropped() {
    let lab = TestLab::new();
    let told = |path: &str, body: Vec<u8>| {
        let request = bare("POST", path).header("content-type", "application/x-protobuf");
        lab.send(request.body(Body::from(body)).unwrap())
    };
    for path in ["/sdk/otel/v1/metrics", "/sdk/what/ever"] {
        let response = told(path, vec![10, 200]).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert!(response.headers().get("set-cookie").is_none());
    }
    let response = told("/sdk/otel/v1/metrics", vec![0; 1024 * 1024 + 1]).await;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let (status, answer) = lab.at_door("Basic ???", "/sdk/x", json!({})).await;
    assert_eq!((status, answer), (StatusCode::OK, json!({})));
    // It leads nowhere else, and nowhere with another name.
    for (path, method) in [("/api/sdk/x", "POST"), ("/sdk/x", "DELETE")] {
        let status = lab.send(bare(method, path).body(Body::empty()).unwrap()).await.status();
        assert!(!status.is_success(), "{method} {path}: {status}");
    }
    let foreign = bare("POST", "/sdk/x").header("origin", "https://elsewhere.example");
    let status = lab.send(foreign.body(Body::empty()).unwrap()).await.status();
    assert_eq!(status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_address_that_a_client_prints_leads_to_the_run() {
    let lab = TestLab::new();
    let (_, id) = lab.wandb_run().await;
    let cookie = lab.state.auth.login_cookie(&lab.state.auth.owner());
    let cookie = cookie.split(';').next().unwrap();
    let follow = |path: &str, cookie: Option<&str>| {
        let request = bare("GET", path).header("cookie", cookie.unwrap_or_default());
        lab.send(request.body(Body::empty()).unwrap())
    };
    let response = follow("/lab/p/runs/abc", Some(cookie)).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    assert_eq!(response.headers()["location"], format!("/runs/{id}"));
    // Who is not logged in does not learn whether there is such a run.
    let (known, unknown) =
        (follow("/lab/p/runs/abc", None).await, follow("/lab/p/runs/x", None).await);
    assert_eq!((known.status(), unknown.status()), (StatusCode::OK, StatusCode::OK));
    for path in
        ["/lab/p/runs/x", "/lab/other/runs/abc", "/lab/p/runs/abc/more", "/lab/p/runs/..%2F"]
    {
        let response = follow(path, Some(cookie)).await;
        assert!(response.headers().get("location").is_none(), "{path}");
    }
    let status = follow("/api/p/runs/abc", Some(cookie)).await.status();
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_run_is_made_once_and_kept_by_offsets() {
    let lab = TestLab::new();
    let (own, id) = lab.wandb_run().await;
    let again = lab.query(&own, UPSERT, json!({ "name": "abc", "id": id })).await.1;
    assert_eq!(again["data"]["upsertBucket"]["bucket"]["id"], json!(id));
    assert_eq!(again["data"]["upsertBucket"]["inserted"], false);
    let deeds: Vec<_> =
        lab.audit().into_iter().filter(|line| line.what.as_str() == "create").collect();
    assert_eq!(deeds.len(), 1);
    assert_eq!(deeds[0].role, Some(Role::Wandb));
    let rows = |offset: u64, n: u64| {
        let content: Vec<String> =
            (offset..offset + n).map(|step| json!({ "_step": step }).to_string()).collect();
        json!({ "files": { "wandb-history.jsonl": { "offset": offset, "content": content } } })
    };
    for (offset, n, expected) in [(0, 3, 200), (0, 3, 200), (2, 2, 200), (5, 1, 503), (4, 1, 200)] {
        let (status, answer) = lab.post(&own, rows(offset, n)).await;
        assert_eq!(status.as_u16(), expected, "{offset} {n} {answer}");
    }
    let count =
        "{ project(name: \"p\") { run(name: \"abc\") { historyLineCount history(samples: 9) } } }";
    let run = lab.query(&own, count, json!({})).await.1["data"]["project"]["run"].clone();
    assert_eq!(run["historyLineCount"], 5);
    assert_eq!(run["history"][4], "{\"_step\":4}");
    let (status, _) = lab.at_door(&own, "/files/lab/p/other/file_stream", json!({})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    for body in
        [json!(7), json!({ "files": { "wandb-history.jsonl": { "offset": -1, "content": [] } } })]
    {
        assert_eq!(lab.post(&own, body).await.0, StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn unknown_fields_are_null_and_unknown_mutations_are_named() {
    let lab = TestLab::new();
    let own = basic(&lab.token(Role::Wandb, None));
    let query =
        "query { somethingNew { a } viewer { somethingNewer } project(name: \"none\") { id } }";
    let (status, answer) = lab.query(&own, query, json!({})).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        answer,
        json!({ "data": { "somethingNew": null, "viewer": { "somethingNewer": null }, "project": null } })
    );
    let mutation = "mutation CreateArtifact { createArtifact(input: {}) { artifact { id } } }";
    let (_, answer) = lab.query(&own, mutation, json!({})).await;
    assert!(
        answer["errors"][0]["message"].as_str().unwrap().contains("`createArtifact`"),
        "{answer}"
    );
    for (name, query) in [("../x", UPSERT), ("", UPSERT), ("a/b", UPSERT)] {
        let (_, answer) = lab.query(&own, query, json!({ "name": name, "display": "x" })).await;
        assert!(answer["errors"][0]["message"].is_string(), "{name} {answer}");
    }
    assert!(lab.state.lab.data().run_ids().unwrap_or_default().is_empty());
}

const CREATE: &str = "mutation CreateRunFiles($files: [String!]!) {
    createRunFiles(input: {projectName: \"p\", runName: \"abc\", files: $files}) { files { name uploadUrl } } }";

#[tokio::test]
async fn files_come_and_go_by_signed_addresses() {
    let lab = TestLab::new();
    let (own, id) = lab.wandb_run().await;
    let names = json!({ "files": ["media/a b.txt"] });
    let (_, answer) = lab.query(&own, CREATE, names).await;
    let url = answer["data"]["createRunFiles"]["files"][0]["uploadUrl"].as_str().unwrap();
    let path = url.strip_prefix("http://127.0.0.1:8080").unwrap().to_owned();
    let send = async |method: &str, path: &str, body: &'static str| {
        let request = bare(method, path).body(Body::from(body)).unwrap();
        lab.send(request).await
    };
    assert_eq!(send("PUT", &path, "weights").await.status(), StatusCode::OK);
    let list = "{ project(name: \"p\") { run(name: \"abc\") { fileCount files(first: 9) { edges { node { name sizeBytes url } } } } } }";
    let run = lab.query(&own, list, json!({})).await.1["data"]["project"]["run"].clone();
    let node = &run["files"]["edges"][0]["node"];
    assert_eq!((&node["name"], &node["sizeBytes"]), (&json!("media/a b.txt"), &json!(7)));
    let back = node["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:8080").unwrap();
    let answer = send("GET", back, "").await;
    assert_eq!(answer.headers()["content-security-policy"], "sandbox");
    assert_eq!(answer.headers()["content-disposition"], "attachment");
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(bytes, "weights");
    // An address is good for what it was signed for, and nothing else.
    let other = path.replace("a%20b", "c");
    let later = path.replace("expires=1", "expires=2");
    let unsigned = format!("/wandb/files/{id}/media/a%20b.txt");
    for (method, path) in [
        ("GET", path.as_str()),
        ("PUT", back),
        ("PUT", &other),
        ("PUT", &later),
        ("GET", &unsigned),
    ] {
        assert_eq!(
            send(method, path, "x").await.status(),
            StatusCode::UNAUTHORIZED,
            "{method} {path}"
        );
    }
    for name in ["../x", "/etc/passwd", "a/../../b", "a\\b", ".", "a//b"] {
        let (_, answer) = lab.query(&own, CREATE, json!({ "files": [name] })).await;
        assert!(answer["errors"][0]["message"].is_string(), "{name} {answer}");
    }
    // It is worth no more than the key of whoever asked for it.
    for token in cartridge_run::token::list(lab.state.lab.data()).unwrap() {
        let by = cartridge_run::steer::By::new("test");
        cartridge_run::token::revoke(lab.state.lab.data(), &token.id, by, 1.0).unwrap();
    }
    assert_eq!(send("PUT", &path, "x").await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn too_much_is_refused() {
    let lab = TestLab::new();
    let (own, _) = lab.wandb_run().await;
    let long = "x".repeat(17 * 1024 * 1024);
    let (status, _) = lab.query(&own, &long, json!({})).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let many: Vec<String> = (0..501).map(|n| n.to_string()).collect();
    let (_, answer) = lab.query(&own, CREATE, json!({ "files": many })).await;
    assert!(answer["errors"][0]["message"].as_str().unwrap().contains("500"), "{answer}");
}
