//! What recording episodes costs, and how fast they are found again: `benches/episodes.sh`.
//!
//! The first argument is a data folder with trainings to be measured. One JSON line per figure.

#![expect(clippy::print_stdout, reason = "that is what it is for")]
#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on should panic")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use cartridge_run::episode::Archive;
use cartridge_run::games::env::Env;
use cartridge_run::games::fastrand::Rng;
use cartridge_run::games::registry::make_env;
use cartridge_run::store::{
    DataDir, EpisodeBody, EpisodeHead, EpisodeReader, EpisodeWriter, Manifest, RunDir, RunKind,
    StepRecord,
};
use serde_json::{Map, Value, json};

fn main() {
    // Cargo adds an argument of its own.
    let data = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    if let Some(data) = data {
        let data = DataDir::open_existing(data).unwrap();
        for id in data.run_ids().unwrap() {
            let dir = data.run(&id);
            if dir.manifest().unwrap().kind == RunKind::Train {
                sizes(&dir);
            }
        }
    }
    recording(22);
    recording(400);
    foreign(1);
    foreign(64);
    native("LunarLander-v3");
    native("BipedalWalkerHardcore-v3");
}

fn say(figures: &Value) {
    println!("{figures}");
}

fn head(episode: u64, length: u32) -> EpisodeHead {
    EpisodeHead {
        episode,
        attempt: 1,
        lane: 0,
        seed: Some(episode * 1_234_567 % (1 << 31)),
        reward: f64::from(length),
        length,
        step: 10 * episode,
        terminated: true,
        truncated: false,
        checkpoint_step: Some(2048),
        t: 1.7e9,
        foreign_id: None,
    }
}

fn temporary() -> (tempfile::TempDir, RunDir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::new(folder.path());
    (folder, dir)
}

fn folder_bytes(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).unwrap();
    entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

/// Bytes per step of a real training, and what other ways to keep its actions would take.
fn sizes(dir: &RunDir) {
    let mut reader = EpisodeReader::open(dir).unwrap();
    let (mut n_steps, mut bytes) = (0, Vec::new());
    for n in 1..=reader.last_episode() {
        let Some(EpisodeBody::Discrete(actions)) = reader.body(n).unwrap() else { continue };
        n_steps += actions.len();
        bytes.extend(actions.iter().map(|action| *action as u8));
    }
    let segment = std::fs::read(dir.episodes_path().join("000001.seg")).unwrap();
    let lz4 = |bytes: &[u8]| -> usize {
        bytes.chunks(64 * 1024).map(|part| lz4_flex::block::compress(part).len()).sum()
    };
    let per_step = |n_bytes: usize| n_bytes as f64 / n_steps as f64;
    say(&json!({
        "what": "size of a training",
        "env": dir.manifest().unwrap().env_id,
        "episodes": reader.n_episodes(),
        "steps": n_steps,
        "bytes_per_step": per_step(folder_bytes(&dir.episodes_path()) as usize),
        "segments_per_step": per_step(segment.len()),
        "segments_with_lz4_per_step": per_step(lz4(&segment)),
        "a_byte_per_action_with_lz4_per_step": per_step(lz4(&bytes)),
    }));
}

/// What recording adds to a step of training: updates of 2,048 steps, made durable every 50.
fn recording(length: u32) {
    let (_folder, dir) = temporary();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let mut rng = Rng::with_seed(1);
    let n_updates = 2_000;
    let mut episode = 0;
    let (mut adding, mut syncing) = (Duration::ZERO, Duration::ZERO);
    let mut n_steps = 0_u64;
    for update in 0..n_updates {
        let bodies: Vec<EpisodeBody> = (0..2048 / length)
            .map(|_| EpisodeBody::Discrete((0..length).map(|_| rng.u32(..2)).collect()))
            .collect();
        let started = Instant::now();
        for body in &bodies {
            episode += 1;
            writer.add(&head(episode, length), body).unwrap();
        }
        writer.flush().unwrap();
        adding += started.elapsed();
        n_steps += bodies.len() as u64 * u64::from(length);
        if update % 50 == 49 {
            let started = Instant::now();
            writer.sync().unwrap();
            syncing += started.elapsed();
        }
    }
    say(&json!({
        "what": "recording",
        "episode_length": length,
        "ns_per_step": adding.as_nanos() as f64 / n_steps as f64,
        "ms_per_sync": syncing.as_secs_f64() * 1e3 / f64::from(n_updates / 50),
        "bytes_per_step": folder_bytes(&dir.episodes_path()) as f64 / n_steps as f64,
    }));
}

/// A foreign episode of 100,000 steps beside others: written, opened, and looked into.
fn foreign(n_lanes: u64) {
    const N_STEPS: u64 = 100_000;
    let (_folder, dir) = temporary();
    let mut rng = Rng::with_seed(2);
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let started = Instant::now();
    let mut made = Duration::ZERO;
    for number in 0..N_STEPS {
        for lane in 0..n_lanes {
            let making = Instant::now();
            let obs: Vec<f64> = (0..8).map(|_| f64::from(rng.f32())).collect();
            let step = StepRecord {
                action: json!(rng.u32(..4)),
                reward: rng.f64(),
                terminated: false,
                truncated: false,
                obs: Some(json!(obs)),
                t: Some(1.7e9 + number as f64),
            };
            made += making.elapsed();
            writer.step(1, &format!("lane-{lane}"), &step).unwrap();
        }
        if number % 20_000 == 0 {
            writer.sync().unwrap();
        }
    }
    for lane in 0..n_lanes {
        let named = Some(format!("lane-{lane}"));
        let head = EpisodeHead { foreign_id: named, ..head(lane + 1, N_STEPS as u32) };
        writer.end(&head).unwrap();
    }
    writer.sync().unwrap();
    let written = started.elapsed() - made;

    let started = Instant::now();
    let mut reader = EpisodeReader::open(&dir).unwrap();
    let opened = started.elapsed();
    let mut seeks = Vec::new();
    for _ in 0..300 {
        let from = rng.u64(..N_STEPS - 100);
        let started = Instant::now();
        let steps = reader.steps(1, from..from + 100).unwrap().unwrap();
        seeks.push(started.elapsed());
        assert_eq!(steps.len(), 100);
    }
    let n_all = (N_STEPS * n_lanes) as f64;
    say(&json!({
        "what": "100 steps of a foreign episode of 100,000",
        "side_by_side": n_lanes,
        "open_ms": opened.as_secs_f64() * 1e3,
        "seek_ms": spread(seeks),
        "written_per_second": n_all / written.as_secs_f64(),
        "bytes_per_step": folder_bytes(&dir.episodes_path()) as f64 / n_all,
    }));
}

/// The longest episodes of our own: computed once, then any moment of them with its picture.
fn native(env_id: &str) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let manifest = |id| Manifest {
        config: json!({ "env": {} }),
        ..serde_json::from_value(json!({
            "format": Manifest::FORMAT, "id": id, "kind": "train", "name": "a measurement",
            "env_id": env_id, "config": {}, "created_at": 0.0, "cartridge_version": "0",
        }))
        .unwrap()
    };
    let (dir, manifest) = RunDir::create(&data, manifest).unwrap();
    let mut env = make_env(env_id, &Map::new()).unwrap();
    let mut writer = EpisodeWriter::open(&dir).unwrap();
    let (mut longest, mut longest_episode) = (0, 1);
    for episode in 1..=300 {
        let (head, body) = play(&mut *env, episode);
        if head.length > longest {
            (longest, longest_episode) = (head.length, episode);
        }
        writer.add(&head, &body).unwrap();
    }
    writer.sync().unwrap();
    let mut archive = Archive::open(&data, &manifest.id).unwrap();
    let started = Instant::now();
    assert!(archive.replay(longest_episode).unwrap().matches);
    let opened = started.elapsed();
    let mut rng = Rng::with_seed(3);
    let mut seeks = Vec::new();
    for _ in 0..300 {
        // From the end back to anywhere: the farthest that there is to go.
        black_box(archive.steps(longest_episode, u64::from(longest)..u64::MAX, true).unwrap());
        let at = rng.u64(..u64::from(longest));
        let started = Instant::now();
        black_box(archive.steps(longest_episode, at..at + 1, true).unwrap());
        seeks.push(started.elapsed());
    }
    say(&json!({
        "what": "a picture of an episode of ours",
        "env": env_id,
        "steps": longest,
        "open_ms": opened.as_secs_f64() * 1e3,
        "seek_ms": spread(seeks),
    }));
}

fn play(env: &mut dyn Env, episode: u64) -> (EpisodeHead, EpisodeBody) {
    use cartridge_run::games::env::Actions;
    let spec = env.spec();
    let mut rng = Rng::with_seed(episode);
    let head = head(episode, 0);
    let mut observation = vec![0.0; spec.observation];
    let mask = vec![true; spec.actions.size()];
    let mut actions = Actions::new(&spec.actions);
    env.reset(head.seed, &mut observation);
    let mut reward = 0.0;
    loop {
        let action = spec.actions.sample(&mask, &mut rng);
        actions.push(action.borrow());
        let step = env.step(action.borrow(), &mut observation);
        reward += step.reward;
        if step.is_end() {
            let (terminated, truncated) = (step.terminated, step.truncated);
            let length = actions.len() as u32;
            let body = match actions {
                Actions::Discrete(actions) => EpisodeBody::Discrete(actions),
                Actions::Continuous { width, numbers } => {
                    EpisodeBody::Continuous { width, actions: numbers }
                }
            };
            return (EpisodeHead { length, reward, terminated, truncated, ..head }, body);
        }
    }
}

fn spread(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    json!({ "p50": at(50), "p99": at(99), "max": at(100) })
}
