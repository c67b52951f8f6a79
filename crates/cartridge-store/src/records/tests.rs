use super::*;

/// Reads a line of `events.jsonl` and compares its sentence.
#[track_caller]
fn check(line: &str, expected: &str) {
    let read: EventLine = serde_json::from_str(line).unwrap();
    assert_eq!(read.event.message(), expected);
    let again: EventLine = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
    assert_eq!(again, read);
}

#[test]
fn stored_lines_are_read_and_said() {
    check(
        r#"{"attempt":1,"t":1.5,"type":"environment_initialized","env_id":"CartPole-v1","n_envs":8}"#,
        "CartPole-v1 ready, 8 side by side",
    );
    check(
        r#"{"attempt":1,"t":1.5,"type":"training_started","total_timesteps":1000000}"#,
        "Training started: 1,000,000 steps",
    );
    check(
        r#"{"attempt":1,"t":1.5,"type":"checkpoint_saved","step":999,"name":"step_000000999","weights_sha256":"ab"}"#,
        "Checkpoint saved at step 999",
    );
    check(
        r#"{"attempt":1,"t":1.5,"type":"evaluation_started","step":5000,"episodes":10}"#,
        "Evaluation started: 10 episodes",
    );
    check(
        r#"{"attempt":1,"t":1.5,"type":"evaluation_started","step":5000,"episodes":1}"#,
        "Evaluation started: 1 episode",
    );
    check(
        r#"{"attempt":1,"t":1.5,"type":"evaluation_started","step":5000,"episodes":10000}"#,
        "Evaluation started: 10,000 episodes",
    );
    check(
        r#"{"attempt":1,"t":1.5,"type":"evaluation_complete","step":5000,"episodes":10,"mean":481.5,"std":9.0,"ci95":[475.5,487.5],"mean_length":481.5}"#,
        "Evaluation complete: 481.5 ± 6.0 over 10 episodes",
    );
    check(
        r#"{"attempt":1,"t":1.5,"type":"control_ack","control":1,"command":"stop","step":12345}"#,
        "Stop took effect at step 12,345",
    );
    check(
        r#"{"attempt":1,"t":1.5,"type":"done","reason":"completed","step":5000,"weights_sha256":"ab","checkpoint":"c"}"#,
        "Training complete: 5,000 steps",
    );
}

#[test]
fn columns_of_unequal_length_are_noticed() {
    let mut episodes = Episodes { episode: vec![1], ..Episodes::default() };
    assert_eq!(episodes.len(), None);
    episodes.append(Episodes {
        reward: vec![Some(1.0)],
        length: vec![1],
        timestep: vec![1],
        ..Episodes::default()
    });
    episodes.append(Episodes {
        seed: vec![Some(1)],
        terminated: vec![true],
        ..Episodes::default()
    });
    assert_eq!(episodes.len(), Some(1));
    episodes.keep_last(0);
    assert_eq!(episodes, Episodes::default());
}
