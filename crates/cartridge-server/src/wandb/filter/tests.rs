use serde_json::json;

use super::*;

struct Run(Value);

impl Subject for Run {
    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "state" | "tags" => Some(self.0[name].clone()),
            name => Some(within(self.0["config"].as_object()?, name.strip_prefix("config.")?)),
        }
    }
}

fn check(filter: &Value) -> Result<bool, String> {
    let config = json!({ "lr": 0.5, "net": { "size": 64 }, "env": "CartPole-v1" });
    passes(filter, &Run(json!({ "state": "finished", "tags": ["a", "b"], "config": config })))
}

#[test]
fn filters_find_what_they_say() {
    let passing = [
        json!({}),
        json!(null),
        json!({ "state": "finished" }),
        json!({ "tags": "a", "config.lr": 0.5 }),
        json!({ "tags": { "$in": ["x", "b"] } }),
        json!({ "config.net.size": { "$gte": 64, "$lt": 65 } }),
        json!({ "config.lr.value": { "$ne": 1 } }),
        json!({ "config.nothing": null }),
        json!({ "config.nothing": { "$exists": false } }),
        json!({ "$or": [{ "state": "failed" }, { "$and": [{ "config.env": "CartPole-v1" }] }] }),
        json!({ "$not": { "state": "failed" } }),
    ];
    for filter in passing {
        assert_eq!(check(&filter), Ok(true), "{filter}");
    }
    let failing = [
        json!({ "state": "running" }),
        json!({ "tags": { "$nin": ["a"] } }),
        json!({ "config.env": { "$gt": 3 } }),
        json!({ "$nor": [{ "state": "finished" }] }),
    ];
    for filter in failing {
        assert_eq!(check(&filter), Ok(false), "{filter}");
    }
    let wrong = [
        json!({ "color": 1 }),
        json!({ "$where": "1" }),
        json!({ "state": { "$regex": "f" } }),
        json!([]),
        json!({ "$and": {} }),
    ];
    for filter in wrong {
        assert!(check(&filter).is_err(), "{filter}");
    }
}

#[test]
fn a_deep_filter_is_refused() {
    let deep = (0..100).fold(json!({}), |inner, _| json!({ "$not": inner }));
    assert!(check(&deep).is_err());
}
