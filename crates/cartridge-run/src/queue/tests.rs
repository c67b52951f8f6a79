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

#[test]
fn what_the_lab_will_never_have_is_refused_with_the_reason() {
    #[track_caller]
    fn check(demand: (f64, u64, u32), expected: Option<&str>) {
        let (cpu, memory, gpu) = demand;
        let limits = Limits { runs: 3, cpu: 4.0, memory: 8 * 1024 * 1024, gpu: 1 };
        let said = limits.admit(&Demand { cpu, memory, gpu }).err().map(|error| error.to_string());
        match (said, expected) {
            (None, None) => {}
            (Some(said), Some(expected)) => assert!(said.contains(expected), "{said}"),
            other => panic!("{other:?}"),
        }
    }
    check((4.0, 8 * 1024 * 1024, 1), None);
    check((4.5, 0, 0), Some("gives 4 cores to all runs together, and the run asks for 4.5 cores"));
    check((1.0, 9 * 1024 * 1024, 0), Some("gives 8 MiB to all runs together"));
    check((1.0, 0, 2), Some("gives 1 GPU to all runs together, and the run asks for 2 GPUs"));
}
