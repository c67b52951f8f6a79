use super::*;
use crate::records::Command;

fn event(event: Event) -> EventLine {
    EventLine { attempt: 1, t: 10.0, event }
}

fn supervisor(event: SupervisorEvent) -> SupervisorLine {
    SupervisorLine { attempt: 1, t: 10.0, event }
}

fn started() -> SupervisorLine {
    supervisor(SupervisorEvent::Started { supervisor_pid: 1, trainer_pid: 2 })
}

fn exited(code: Option<i32>, signal: Option<i32>) -> SupervisorLine {
    supervisor(SupervisorEvent::Exited {
        code,
        signal,
        forced: false,
        log: vec!["the last words".to_owned()],
        reason: None,
        lines: None,
    })
}

fn done(reason: DoneReason) -> EventLine {
    event(Event::Done {
        reason,
        step: 100,
        weights_sha256: "ab".to_owned(),
        checkpoint: "c".to_owned(),
    })
}

fn stop() -> ControlLine {
    ControlLine {
        seq: 1,
        run: "r-000000".parse().unwrap(),
        attempt: 1,
        t: 10.0,
        by: "test".to_owned(),
        command: Command::Stop,
        expires_s: None,
        previous: String::new(),
        signature: String::new(),
    }
}

/// Folds the files in both orders and compares the state.
#[track_caller]
fn check(
    events: &[EventLine],
    supervisor: &[SupervisorLine],
    control: &[ControlLine],
    expected: RunState,
) {
    let mut forwards = RunStatus::default();
    events.iter().for_each(|line| forwards.apply_event(line));
    supervisor.iter().for_each(|line| forwards.apply_supervisor(line));
    control.iter().zip(1..).for_each(|(line, place)| forwards.apply_control(place, line));
    let mut backwards = RunStatus::default();
    control.iter().zip(1..).for_each(|(line, place)| backwards.apply_control(place, line));
    supervisor.iter().for_each(|line| backwards.apply_supervisor(line));
    events.iter().for_each(|line| backwards.apply_event(line));
    assert_eq!(forwards.state(), expected);
    assert_eq!(forwards, backwards, "the order of the files does not matter");
}

#[test]
fn the_life_of_a_run() {
    let training = [event(Event::TrainingStarted { total_timesteps: 100 })];
    check(&[], &[], &[], RunState::Queued);
    check(&[], &[started()], &[], RunState::Starting);
    check(&training, &[started()], &[], RunState::Running);
    check(&training, &[started()], &[stop()], RunState::Stopping);
    let saturated = [training[0].clone(), done(DoneReason::Saturated)];
    check(&saturated, &[started(), exited(Some(0), None)], &[], RunState::Succeeded);
    let completed = [training[0].clone(), done(DoneReason::Completed)];
    check(&completed, &[started()], &[], RunState::Running);
    check(&completed, &[started(), exited(Some(0), None)], &[], RunState::Succeeded);
    let stopped = [training[0].clone(), done(DoneReason::Stopped)];
    check(&stopped, &[started(), exited(Some(0), None)], &[stop()], RunState::Terminated);
    check(&training, &[started(), exited(Some(1), None)], &[], RunState::Failed);
    check(&training, &[started(), exited(None, Some(9))], &[stop()], RunState::Failed);
    check(&training, &[started(), exited(Some(0), None)], &[], RunState::Failed);
}

#[test]
fn a_failure_says_why() {
    let mut status = RunStatus::default();
    status.apply_supervisor(&started());
    status.apply_supervisor(&exited(None, Some(9)));
    let failure = status.failure().unwrap();
    assert_eq!(failure.message, "the trainer was ended by signal 9");
    assert_eq!(failure.log, ["the last words"]);
    status.apply_event(&event(Event::Error { message: "train/loss became NaN".to_owned() }));
    assert_eq!(status.failure().unwrap().message, "train/loss became NaN");
}

#[test]
fn a_lost_run_comes_back_when_its_supervisor_speaks() {
    let mut status = RunStatus::default();
    status.apply_supervisor(&started());
    status.lost = true;
    assert_eq!(status.state(), RunState::Lost);
    status.apply_supervisor(&supervisor(SupervisorEvent::Heartbeat {
        cpu_percent: None,
        rss_bytes: None,
        gpu: None,
        lines: None,
    }));
    assert_eq!(status.state(), RunState::Starting);
}

#[test]
fn the_best_evaluation_stays() {
    let evaluation = |step, mean| {
        event(Event::EvaluationComplete(Evaluation {
            step,
            episodes: 10,
            mean,
            std: 0.0,
            ci95: [mean, mean],
            mean_length: mean,
            metrics: Default::default(),
        }))
    };
    let mut status = RunStatus::default();
    for (step, mean) in [(1, 10.0), (2, 50.0), (3, 20.0)] {
        status.apply_event(&evaluation(step, mean));
    }
    assert_eq!(status.best_eval.unwrap().step, 2);
    assert_eq!(status.latest_eval.unwrap().step, 3);
}

#[test]
fn a_refused_stop_is_no_stop() {
    let training = [event(Event::TrainingStarted { total_timesteps: 100 })];
    let refused =
        |line| supervisor(SupervisorEvent::ControlRefused { line, reason: "forged".to_owned() });
    check(&training, &[started(), refused(1)], &[stop()], RunState::Running);
    check(&training, &[started(), refused(1)], &[stop(), stop()], RunState::Stopping);
    check(&training, &[started(), refused(1), refused(2)], &[stop(), stop()], RunState::Running);
}

#[test]
fn a_trainer_that_had_to_be_killed_was_terminated() {
    let killed = supervisor(SupervisorEvent::Exited {
        code: None,
        signal: Some(9),
        forced: true,
        log: Vec::new(),
        reason: None,
        lines: None,
    });
    check(&[], &[started(), killed], &[stop()], RunState::Terminated);
}

#[test]
fn a_pause_is_what_the_trainer_says() {
    let mut events = vec![event(Event::TrainingStarted { total_timesteps: 100 })];
    events.push(event(Event::Paused { step: 10 }));
    check(&events, &[started()], &[], RunState::Paused);
    let mut status = RunStatus { steps_per_sec: Some(70_000.0), ..RunStatus::default() };
    assert_eq!(status.pace(), Some(70_000.0));
    status.apply_supervisor(&started());
    events.iter().for_each(|line| status.apply_event(line));
    assert_eq!(status.pace(), Some(0.0));
    check(&events, &[started()], &[stop()], RunState::Stopping);
    check(&events, &[started(), exited(None, Some(9))], &[], RunState::Failed);
    events.push(event(Event::Resumed { step: 10 }));
    check(&events, &[started()], &[], RunState::Running);
}

#[test]
fn steps_have_a_time_and_a_heartbeat_is_none() {
    let mut status = RunStatus::default();
    status.apply_supervisor(&started());
    assert_eq!(status.stepped_at, None);
    let mut line = MetricLine {
        attempt: 1,
        row: 1,
        t: 12.0,
        step: 100,
        values: BTreeMap::new(),
        episodes: Default::default(),
    };
    status.apply_metrics(&line);
    (line.row, line.t, line.step) = (2, 15.0, 200);
    status.apply_metrics(&line);
    let (gpu, lines) = (None, None);
    let beat = SupervisorEvent::Heartbeat { cpu_percent: None, rss_bytes: None, gpu, lines };
    status.apply_supervisor(&SupervisorLine { attempt: 1, t: 20.0, event: beat });
    assert_eq!((status.stepped_at, status.heartbeat_at), (Some(15.0), Some(20.0)));
}

#[test]
fn the_newest_attempt_wins() {
    let again = SupervisorLine { attempt: 2, ..started() };
    let training = event(Event::TrainingStarted { total_timesteps: 100 });
    let error = event(Event::Error { message: "it broke".to_owned() });
    let later = |line: &EventLine| EventLine { attempt: 2, ..line.clone() };
    let first = [started(), exited(Some(1), None)];
    check(&[training.clone(), error.clone()], &first, &[stop()], RunState::Failed);
    let both = [started(), exited(Some(1), None), again.clone()];
    // The stop was meant for the first attempt.
    check(&[training.clone(), error.clone()], &both, &[stop()], RunState::Starting);
    let events = [training.clone(), error, later(&training)];
    check(&events, &both, &[stop()], RunState::Running);
    let stop_again = ControlLine { attempt: 2, ..stop() };
    check(&events, &both, &[stop(), stop_again], RunState::Stopping);
    let ended = [
        started(),
        exited(Some(1), None),
        again,
        SupervisorLine { attempt: 2, ..exited(Some(0), None) },
    ];
    let events = [training.clone(), later(&training), later(&done(DoneReason::Completed))];
    check(&events, &ended, &[stop()], RunState::Succeeded);
}

#[test]
fn an_attempt_that_waits_is_queued_until_it_is_started_or_taken_back() {
    let second = |event| SupervisorLine { attempt: 2, t: 20.0, event };
    let training = [event(Event::TrainingStarted { total_timesteps: 100 })];
    let mut journal = vec![started(), exited(Some(1), None), second(SupervisorEvent::Queued)];
    check(&training, &journal, &[], RunState::Queued);
    let mut status = RunStatus::default();
    journal.iter().for_each(|line| status.apply_supervisor(line));
    assert_eq!((status.next_attempt(), status.waits_since()), (2, Some(20.0)));
    assert_eq!(RunStatus::default().next_attempt(), 1);

    let mut taken_back = journal.clone();
    let SupervisorLine { event: exit, .. } = exited(None, None);
    let SupervisorEvent::Exited { code, signal, log, reason, lines, .. } = exit else {
        unreachable!("it is an exit")
    };
    let exit = SupervisorEvent::Exited { code, signal, forced: true, log, reason, lines };
    taken_back.push(second(exit));
    check(&training, &taken_back, &[], RunState::Terminated);
    journal.push(second(SupervisorEvent::Started { supervisor_pid: 1, trainer_pid: 2 }));
    check(&training, &journal, &[], RunState::Starting);
}

#[test]
fn a_loss_says_why_where_that_is_known() {
    let mut status = RunStatus { lost: true, ..RunStatus::default() };
    assert_eq!(status.failure().unwrap().message, "the supervisor of this run fell silent");
    status.lost_reason = Some("disk full".to_owned());
    assert_eq!(status.failure().unwrap().message, "the supervisor of this run is gone: disk full");
}
