use super::*;

const LIMITS: Limits = Limits { runs: 3, cpu: 4.0, memory: 1_000, gpu: 1 };

#[track_caller]
fn check(at_work: &[(f64, u64, u32)], waiting: &[(f64, u64, u32)], expected: usize) {
    let demands = |all: &[(f64, u64, u32)]| {
        all.iter().map(|&(cpu, memory, gpu)| Demand { cpu, memory, gpu }).collect::<Vec<_>>()
    };
    assert_eq!(n_startable(&LIMITS, &demands(at_work), &demands(waiting)), expected);
}

#[test]
fn runs_start_in_order_within_every_limit() {
    let small = (1.0, 100, 0);
    check(&[], &[small; 5], 3);
    check(&[small], &[small; 5], 2);
    check(&[small; 3], &[small], 0);
    check(&[small; 4], &[small], 0);
    check(&[], &[], 0);
    check(&[(3.0, 100, 0)], &[small, small], 1);
    check(&[(1.0, 950, 0)], &[small], 0);
    check(&[(1.0, 100, 1)], &[(1.0, 100, 1)], 0);
    check(&[], &[(0.5, 0, 0), (3.5, 0, 0), (0.5, 0, 0)], 2);
}

#[test]
fn a_large_run_is_not_passed_by_and_the_largest_runs_alone() {
    let (small, large) = ((1.0, 100, 0), (4.0, 100, 0));
    check(&[small], &[large, small], 0);
    check(&[], &[large, small], 1);
    check(&[], &[(64.0, 100, 0), small], 1);
    check(&[(64.0, 100, 0)], &[small], 0);
}
