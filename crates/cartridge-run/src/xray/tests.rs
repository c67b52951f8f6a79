use std::fs;

use cartridge_games::ActionSpace;
use cartridge_games::registry::make_env;
use cartridge_learn::network::{Activation, Mlp};
use cartridge_store::EpisodeWriter;
use serde_json::{Map, Value, json};

use super::*;
use crate::checkpoint::tests::save_at;
use crate::episode::tests::{data, new_run, play};
use crate::evaluation::{KeptEvaluation, Subject};
use crate::human::{Record, Session};

/// Everything that a policy makes of an episode.
fn xray(data: &DataDir, run: &RunId, episode: u64) -> Result<Xray> {
    of_episode(data, &mut Archive::open(data, run)?, episode, 0..u64::MAX)
}

/// A policy that played greedily holds what it did for the best, at every step.
#[track_caller]
fn check(env_id: &str, kind: XrayKind, policy: &Policy) {
    let (_folder, data) = data();
    let options = Map::new();
    let subject = Subject::File { path: "policy".as_ref(), sha256: "", env_id, options: &options };
    let asked = KeptEvaluation { subject, step: 7, episodes: 2, seed: 3, is_deterministic: true };
    let (run, outcome) = asked.carry_out(&data, "0", policy).unwrap();
    let error = xray(&data, &run, 2).unwrap_err().to_string();
    assert!(error.contains("the policy that it measured is no longer here"), "{error}");

    let file = policy.to_safetensors();
    fs::write(data.run(&run).path().join("policy.safetensors"), file).unwrap();
    let found = xray(&data, &run, 2).unwrap();
    assert_eq!((found.policy.as_str(), found.is_exact), ("policy.safetensors", true));
    assert_eq!((found.kind, found.thoughts.len()), (kind, outcome.lengths[1] as usize));
    let mut archive = Archive::open(&data, &run).unwrap();
    let moments = archive.steps(2, 0..u64::MAX, false).unwrap();
    for ((moment, before), thought) in moments[1..].iter().zip(&moments).zip(&found.thoughts) {
        assert_eq!(thought.step, moment.step);
        let is_legal =
            |action: usize| before.legal.as_ref().is_none_or(|legal| legal.contains(&action));
        match kind {
            XrayKind::Gaussian => {
                assert_eq!(moment.action, Some(json!(thought.actions)), "{thought:?}");
                assert_eq!(thought.deviations.as_ref().unwrap().len(), thought.actions.len());
            }
            XrayKind::Values => {
                assert_eq!(moment.action, Some(json!(thought.best)), "{thought:?}");
                assert_eq!(
                    (thought.value, thought.entropy),
                    (thought.actions[thought.best.unwrap()], None)
                );
                for (action, value) in thought.actions.iter().enumerate() {
                    assert_eq!(value.is_some(), is_legal(action), "{thought:?}");
                }
            }
            XrayKind::Probabilities => {
                assert_eq!(moment.action, Some(json!(thought.best)), "{thought:?}");
                let sum: f64 = thought.actions.iter().flatten().sum();
                assert!((sum - 1.0).abs() < 1e-9, "{thought:?}");
                for (action, p) in thought.actions.iter().enumerate() {
                    assert_eq!(p.unwrap() > 0.0, is_legal(action), "{thought:?}");
                }
                let most = (thought.actions.len() as f64).ln();
                assert!((0.0..=most).contains(&thought.entropy.unwrap()), "{thought:?}");
            }
        }
        assert!(thought.value.is_some());
    }
    // A part is the same, and beyond the end is nothing.
    let part = of_episode(&data, &mut archive, 2, 2..4).unwrap();
    assert_eq!(part.thoughts, found.thoughts[1..3]);
    let last = found.thoughts.len() as u64;
    assert_eq!(of_episode(&data, &mut archive, 2, last + 1..last + 9).unwrap().thoughts, []);
}

#[test]
fn a_policy_holds_what_it_did_for_the_best() {
    let fresh = |env_id: &str| {
        let spec = make_env(env_id, &Map::new()).unwrap().spec();
        let rng = &mut fastrand::Rng::with_seed(1);
        let (seen, space) = (spec.observation, &spec.actions);
        let policy = Policy::actor_critic(seen, space, &[8], Activation::Tanh, -0.5, rng);
        let sizes = [seen, 8, space.size()];
        (policy, Policy::action_values(Mlp::new(&sizes, Activation::Relu, 1.0, rng)))
    };
    for env_id in ["CartPole-v1", "AsteroidProspector-v0"] {
        let (actor_critic, values) = fresh(env_id);
        check(env_id, XrayKind::Probabilities, &actor_critic);
        check(env_id, XrayKind::Values, &values);
    }
    check("Pendulum-v1", XrayKind::Gaussian, &fresh("Pendulum-v1").0);
}

#[test]
fn a_training_is_asked_by_the_newest_checkpoint_of_then() {
    let (_folder, data) = data();
    let (dir, run) = new_run(&data, RunKind::Train, "CartPole-v1", &json!({}));
    let mut env = make_env("CartPole-v1", &Map::new()).unwrap();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    for number in 1..=6 {
        // Episode `number` ends at that step of the run.
        let (head, body) = play(&mut *env, number);
        writer.add(&head, &body).unwrap();
    }
    drop(writer);
    let error = |episode| xray(&data, &run, episode).unwrap_err().to_string();
    assert!(error(1).contains("no checkpoint is left"), "{}", error(1));
    assert_eq!(error(9), format!("run `{run}` has no episode 9"));

    let (_, policy) = save_at(&dir, 2);
    save_at(&dir, 5);
    let asked = |episode| {
        let Xray { policy, policy_step, is_exact, .. } = xray(&data, &run, episode).unwrap();
        assert!(!is_exact);
        (policy, policy_step)
    };
    let [second, fifth] = [2, 5].map(|step| (format!("step_{step:09}"), Some(step)));
    assert_eq!([1, 2, 4].map(asked), [0; 3].map(|_| second.clone()));
    assert_eq!([5, 6].map(asked), [0; 2].map(|_| fifth.clone()));

    // It says what the policy says.
    let mut archive = Archive::open(&data, &run).unwrap();
    let seen = archive.steps(1, 0..1, false).unwrap().remove(0).observation.unwrap();
    let seen: Vec<f32> = serde_json::from_value(seen).unwrap();
    let first = &xray(&data, &run, 1).unwrap().thoughts[0];
    for (told, p) in first.actions.iter().zip(policy.probabilities(&seen)) {
        assert!((told.unwrap() - f64::from(p)).abs() < 1e-6, "{first:?}");
    }
    assert_eq!(first.value, Some(f64::from(policy.value(&seen))));

    // One that is damaged is passed over.
    fs::write(dir.checkpoints_path().join("step_000000005/weights.safetensors"), "x").unwrap();
    assert_eq!(asked(6), second);
}

#[test]
fn nobody_is_asked_where_there_is_no_policy() {
    let (_folder, data) = data();
    let record = Record::begin(&data, "0", "CartPole-v1", Map::new(), Some(5)).unwrap();
    let (mut session, mut journal) = Session::open(&data, &record.manifest.id).unwrap();
    session.step(&[1]);
    journal.keep(&session.take_news()).unwrap();
    let error = xray(&data, &record.manifest.id, 1).unwrap_err().to_string();
    assert!(error.contains("a person played it"), "{error}");

    let (dir, run) = new_run(&data, RunKind::External, "CartPole-v1", &json!({}));
    let mut env = make_env("CartPole-v1", &Map::new()).unwrap();
    let (head, body) = play(&mut *env, 1);
    EpisodeWriter::open(&dir).unwrap().add(&head, &body).unwrap();
    let error = xray(&data, &run, 1).unwrap_err().to_string();
    assert!(error.contains("its trainer is not ours"), "{error}");

    // Of another form: it was swapped.
    let (dir, run) = new_run(&data, RunKind::Eval, "CartPole-v1", &Value::Null);
    let (head, body) = play(&mut *env, 1);
    EpisodeWriter::open(&dir).unwrap().add(&head, &body).unwrap();
    let other = Policy::new(5, 2, &mut fastrand::Rng::with_seed(1));
    fs::write(dir.path().join("policy.safetensors"), other.to_safetensors()).unwrap();
    let error = xray(&data, &run, 1).unwrap_err().to_string();
    assert!(error.contains("of another form"), "{error}");
}

#[test]
fn numbers_are_those_of_the_books() {
    // A coin and an illegal third side: ln 2.
    let coin = of_logits(1, &[2.0, 2.0, 9.0], &[true, true, false], Some(3.0));
    assert_eq!(coin.actions, [Some(0.5), Some(0.5), Some(0.0)]);
    assert_eq!((coin.best, coin.value), (Some(0), Some(3.0)));
    assert!((coin.entropy.unwrap() - 2.0_f64.ln()).abs() < 1e-12);
    // The standard normal distribution has 1.4189 nats; means are held within their bounds.
    let spec = make_env("Pendulum-v1", &Map::new()).unwrap().spec();
    assert!(matches!(spec.actions, ActionSpace::Continuous { .. }));
    let normal = of_numbers(1, spec, &[99.0], &[0.0], None);
    assert!((normal.entropy.unwrap() - 1.418_938_533).abs() < 1e-9);
    assert_eq!((normal.actions, normal.deviations), (vec![Some(2.0)], Some(vec![1.0])));
    // What is not a number is told as nothing.
    let broken = of_values(1, &[f32::NAN, 1.0], &[true, true]);
    assert_eq!(broken.actions, [None, Some(1.0)]);
}
