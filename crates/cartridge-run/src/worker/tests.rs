use super::*;

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
