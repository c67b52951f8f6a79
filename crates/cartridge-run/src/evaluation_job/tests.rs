use cartridge_store::{EpisodeReader, EventLine, jsonl};
use tempfile::TempDir;

use super::*;
use crate::audit;

fn launcher() -> Launcher {
    Launcher {
        program: PathBuf::from("/nonexistent"),
        version: "0.0.0".to_owned(),
        stop_grace: Duration::ZERO,
        is_lab: false,
    }
}

/// A training that has one checkpoint, and nothing else.
fn trained() -> (TempDir, DataDir, Manifest) {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path()).unwrap();
    let draft = crate::config::Draft::new("CartPole-v1", "ppo").unwrap();
    let config = draft.finish().unwrap();
    let (dir, manifest) =
        launcher().create(&data, &config, crate::launch::Terms::default()).unwrap();
    let team = cartridge_learn::team::Team::new(1);
    let envs = crate::worker::make_envs(&config).unwrap();
    let learner = cartridge_learn::learner::Learner::new(envs, &config.learner(), 42, team);
    let progress = checkpoint::Progress {
        row: 0,
        episode: 0,
        next_checkpoint: 1,
        evaluate_every: 1,
        next_evaluation: 1,
        best: None,
    };
    checkpoint::save(&dir, "CartPole-v1", &learner.policy(), &learner.state(), progress).unwrap();
    (folder, data, manifest)
}

fn wanted(episodes: u32) -> Wanted {
    Wanted {
        episodes: WantedEpisodes::Derived { episodes, seed: 7 },
        is_deterministic: true,
        with_video: false,
        checkpoint: None,
    }
}

fn make(data: &DataDir, run: &Manifest, wanted: Wanted) -> Result<Manifest> {
    create(data, &launcher(), run, wanted, By::new("somebody"))
}

#[test]
fn an_evaluation_is_a_run_with_its_policy_and_a_line_in_the_audit() {
    let (_folder, data, run) = trained();
    let made = make(&data, &run, wanted(5)).unwrap();
    assert_eq!(made.evaluates().as_ref(), Some(&run.id));
    assert!(made.is_supervised());
    assert_eq!(Job::of(&made).unwrap().checkpoint, "step_000000000");
    assert_eq!(crate::queue::place(&data, &made.id).unwrap(), Some(1), "not after the training");
    let line = audit::newest(&data, 1).unwrap().pop().unwrap();
    assert_eq!(
        (line.what, line.target, line.who.as_str()),
        (Deed::Evaluate, made.id.to_string(), "somebody")
    );
    assert_eq!(line.old["run"], run.id.as_str());
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_to_do() {
    let (_folder, data, run) = trained();
    #[track_caller]
    fn check(found: Result<Manifest>, expected: &str) {
        let message = found.unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    check(make(&data, &run, wanted(0)), "`episodes`: an evaluation has 1 to 10000 episodes, not 0");
    let none = Wanted { episodes: WantedEpisodes::Given(Vec::new()), ..wanted(1) };
    check(make(&data, &run, none), "`seeds`");
    let other = Wanted { checkpoint: Some("step_5".to_owned()), ..wanted(1) };
    check(make(&data, &run, other), "has no checkpoint `step_5`");
    let made = make(&data, &run, wanted(1)).unwrap();
    check(make(&data, &made, wanted(1)), "is no training of ours");
    fs::remove_dir_all(data.run(&run.id).checkpoints_path()).unwrap();
    check(make(&data, &run, wanted(1)), "has no checkpoint yet");
}

/// Carries out a job as its process does, whose supervisor stays.
fn carry_out(data: &DataDir, id: &RunId) {
    let dir = data.run(id);
    let manifest = dir.manifest().unwrap();
    let job = Job::of(&manifest).unwrap();
    let bytes = fs::read(dir.path().join(POLICY)).unwrap();
    let policy = Policy::from_safetensors(&bytes).unwrap();
    let mut journal = Journal::open(&dir, 1, SHARD_MB).unwrap();
    journal.after_checkpoint(job.step, &job.checkpoint);
    let (_supervisor, control) = std::sync::mpsc::channel();
    let bench = Bench {
        dir,
        manifest,
        job,
        journal,
        control,
        n_recorded: 0,
        ended: BTreeSet::new(),
        told_at: Instant::now(),
        end: None,
    };
    assert!(bench.carry_out(&policy).unwrap());
}

fn events(dir: &RunDir) -> Vec<Event> {
    let lines = jsonl::read_lines(&dir.events_path(), 0, None).unwrap();
    let parse =
        |line: &jsonl::Line| serde_json::from_slice::<EventLine>(&line.bytes).unwrap().event;
    lines.iter().map(parse).collect()
}

#[test]
fn every_episode_is_recorded_and_the_summary_has_all_of_them() {
    let (_folder, data, run) = trained();
    let made = make(&data, &run, Wanted { with_video: true, ..wanted(40) }).unwrap();
    // What becomes of the training meanwhile does not matter.
    fs::remove_dir_all(data.run(&run.id).path()).unwrap();
    carry_out(&data, &made.id);
    let dir = data.run(&made.id);
    let summary = Summary::read(&dir).unwrap().unwrap();
    assert_eq!(summary.returns.len(), 40);
    assert_eq!(summary.terminated + summary.truncated, 40);
    assert_eq!(summary.evaluates, Some(run.id.clone()));
    assert_eq!(summary.result.mean, summary.returns.iter().sum::<f64>() / 40.0);
    assert_eq!(summary.seeds, Manner::greedy(40, 7).seeds);
    let mut episodes = EpisodeReader::open(&dir).unwrap();
    for (place, number) in (1..=40).enumerate() {
        let head = episodes.head(number).unwrap().unwrap();
        assert_eq!((head.reward, head.seed), (summary.returns[place], Some(summary.seeds[place])));
    }
    let film = fs::read(dir.path().join(summary.video.unwrap())).unwrap();
    assert_eq!(&film[4..8], b"ftyp");
    let events = events(&dir);
    assert!(matches!(events[0], Event::EvaluationComplete(_)), "{events:?}");
    assert!(matches!(events[1], Event::Done { reason: DoneReason::Completed, .. }), "{events:?}");
}

#[test]
fn given_seeds_are_taken_as_they_are_and_chance_repeats_itself() {
    let (_folder, data, run) = trained();
    let by_chance = Wanted {
        episodes: WantedEpisodes::Given(vec![3, 1, 4]),
        is_deterministic: false,
        ..wanted(1)
    };
    let measure = |wanted: &Wanted| {
        let made = make(&data, &run, wanted.clone()).unwrap();
        carry_out(&data, &made.id);
        Summary::read(&data.run(&made.id)).unwrap().unwrap()
    };
    let first = measure(&by_chance);
    assert_eq!(first.seeds, [3, 1, 4]);
    assert_eq!(first.returns, measure(&by_chance).returns);
    let greedy = Wanted { is_deterministic: true, ..by_chance };
    assert_ne!(first.returns, measure(&greedy).returns);
}
