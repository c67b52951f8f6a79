use serde_json::json;

use super::*;

#[test]
fn the_id_there_begins_with_the_name_here_and_the_window_is_the_runs_own() {
    let server = Server {
        base_url: "https://api.wandb.ai".to_owned(),
        entity: None,
        project: PROJECT.to_owned(),
        window_steps: 100,
    };
    let id: RunId = "r-000001".parse().unwrap();
    let one = server.clone().track(&id, &json!({}));
    let two = server.track(&id, &json!({ "analytics": { "window_steps": 7 } }));
    assert!(one.id.starts_with("r-000001-") && one.id.len() == 15, "{}", one.id);
    assert_ne!(one.id, two.id);
    assert_eq!((one.window_steps, two.window_steps), (100, 7));
}
