//! What the theatre shows of an episode beside its steps.

use cartridge_run::store::{EpisodeBody, EpisodeHead, EpisodeWriter, RunDir, StepRecord};

use super::artifacts::{bytes, ended_run, fetch};
use super::*;

/// What is known of an episode of Cart Pole that was left before its end.
fn head(episode: u64, seed: u64, length: u32) -> EpisodeHead {
    EpisodeHead {
        episode,
        attempt: 1,
        lane: 0,
        seed: Some(seed),
        reward: f64::from(length),
        length,
        step: 100 * episode,
        terminated: false,
        truncated: false,
        checkpoint_step: None,
        t: 1.0,
        foreign_id: None,
    }
}

/// A run with three episodes of five steps and the seeds 7, 8 and 7, of which the third is said to
/// have earned something else, and one that a trainer of its own told.
fn run_with_episodes(lab: &TestLab) -> cartridge_run::store::RunId {
    let (id, folder) = ended_run(lab, &[]);
    let mut writer = EpisodeWriter::open(&RunDir::new(&folder)).unwrap();
    let body = EpisodeBody::Discrete(vec![1; 5]);
    for (episode, seed) in [(1, 7), (2, 8), (3, 7)] {
        let mut head = head(episode, seed, 5);
        head.reward += if episode == 3 { 1.0 } else { 0.0 };
        writer.add(&head, &body).unwrap();
    }
    for reward in [1.0, f64::NAN, -2.0] {
        let (action, terminated, truncated) = (json!(1), false, false);
        let step = StepRecord { action, reward, terminated, truncated, obs: None, t: None };
        writer.step(1, "told", &step).unwrap();
    }
    writer.end(&EpisodeHead { foreign_id: Some("told".to_owned()), ..head(4, 9, 3) }).unwrap();
    writer.sync().unwrap();
    id
}

/// Asking for `path` below the episodes of a run is refused with this status and code.
#[track_caller]
fn check_refused(answer: &(StatusCode, Value), status: u16, code: &str) {
    assert_eq!((answer.0.as_u16(), &answer.1["code"]), (status, &json!(code)), "{}", answer.1);
}

#[tokio::test]
async fn an_episode_is_drawn() {
    let lab = TestLab::new();
    let id = run_with_episodes(&lab);
    let ask =
        async |path: &str| lab.ask("GET", &format!("/api/runs/{id}/episodes/{path}"), None).await;
    assert_eq!(
        ask("1/curve?points=3").await.1,
        json!({
            "run_id": id, "episode": 1, "n_steps": 5,
            "step": [2, 4, 5], "total": [2.0, 4.0, 5.0],
            "low": [1.0, 1.0, 1.0], "high": [1.0, 1.0, 1.0],
        })
    );
    let told = ask("4/curve").await.1;
    assert_eq!(
        (&told["total"], &told["low"]),
        (&json!([1.0, 1.0, -1.0]), &json!([1.0, null, -2.0]))
    );
    check_refused(&ask("9/curve").await, 404, "no_such_episode");
    check_refused(&ask("1/curve?points=many").await, 422, "invalid_field");
    // As many points as there are steps at the most, and never fewer than two.
    assert_eq!(ask("1/curve?points=0").await.1["step"], json!([3, 5]));
}

#[tokio::test]
async fn a_stretch_of_an_episode_is_filmed() {
    let lab = TestLab::new();
    let id = run_with_episodes(&lab);
    let film =
        async |path: &str| fetch(&lab, &format!("/api/runs/{id}/episodes/{path}"), None).await;
    let answer = film("1/film.mp4?from=1&to=4").await;
    assert_eq!(answer.status(), StatusCode::OK);
    let headers = answer.headers().clone();
    assert_eq!(headers["content-type"], "video/mp4");
    let name = format!("attachment; filename=\"{id}-episode-1-1-4.mp4\"");
    assert_eq!(headers["content-disposition"], name.as_str());
    let file = bytes(answer).await;
    assert_eq!(&file[4..8], b"ftyp");
    // The rest of it is another film.
    assert_ne!(bytes(film("1/film.mp4").await).await, file);

    let refused = async |path: &str| read(film(path).await).await;
    check_refused(&refused("1/film.mp4?from=3&to=3").await, 400, "malformed");
    check_refused(&refused("1/film.mp4?from=60").await, 404, "no_such_step");
    check_refused(&refused("9/film.mp4").await, 404, "no_such_episode");
    check_refused(&refused("3/film.mp4").await, 409, "replay_differs");
    check_refused(&refused("4/film.mp4").await, 404, "no_pictures");
}

#[tokio::test]
async fn without_a_policy_there_is_no_xray() {
    let lab = TestLab::new();
    let id = run_with_episodes(&lab);
    let ask =
        async |path: &str| lab.ask("GET", &format!("/api/runs/{id}/episodes/{path}"), None).await;
    let answer = ask("1/xray").await;
    check_refused(&answer, 409, "no_policy");
    assert!(answer.1["detail"].as_str().unwrap().contains("no checkpoint is left"), "{}", answer.1);
    check_refused(&ask("9/xray").await, 404, "no_such_episode");
}

#[tokio::test]
async fn episodes_are_found_by_their_seed() {
    let lab = TestLab::new();
    let id = run_with_episodes(&lab);
    for (query, numbers, total) in [
        ("seed=7", json!([1, 3]), 2),
        ("seed=7&sort=return", json!([3, 1]), 2),
        ("seed=7&sort=return&limit=1&offset=1", json!([1]), 2),
        ("seed=99", json!([]), 0),
    ] {
        let path = format!("/api/runs/{id}/episodes?{query}");
        let (_, list) = lab.ask("GET", &path, None).await;
        let found = list["episodes"].as_array().unwrap().iter().map(|it| it["episode"].clone());
        assert_eq!((Value::from_iter(found), &list["total"]), (numbers, &json!(total)), "{query}");
    }
}
