use super::*;
use crate::config::Draft;

#[test]
fn what_is_due_is_due_once() {
    let mut next = 1_000;
    let due: Vec<u64> =
        (0..=40).map(|k| 128 * k).filter(|&step| is_due(step, 1_000, &mut next)).collect();
    // The first multiple of 128 at or after each thousand.
    assert_eq!(due, [1_024, 2_048, 3_072, 4_096, 5_120]);
}

#[test]
fn a_long_update_skips_what_it_passed() {
    let mut next = 1_000;
    assert!(is_due(5_500, 1_000, &mut next));
    assert!(!is_due(5_900, 1_000, &mut next));
    assert!(is_due(6_000, 1_000, &mut next));
}

#[test]
fn a_slow_training_is_saved_by_the_clock_too() {
    let draft = Draft::new("tictactoe", "alphazero").unwrap();
    let mut schedule = Schedule::new(&draft.finish().unwrap());
    let every = schedule.checkpoint_every;
    let at = |seconds| schedule.saved_at + Duration::from_secs(seconds);
    let times = [0, 1, 59, 61, 62, 110, 169, 170].map(at);
    let steps = [1, 2, 3, 4, 5, every, every + 1, every + 2];
    let due: Vec<bool> = std::iter::zip(steps, times)
        .map(|(step, now)| schedule.checkpoint_is_due(step, now))
        .collect();
    // The first, a minute after it, by the steps, and a minute after that.
    assert_eq!(due, [true, false, false, true, false, true, false, true]);
}
