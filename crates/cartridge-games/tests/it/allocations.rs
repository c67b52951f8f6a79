//! Counts what is allocated while a batch steps.

#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cartridge_games::batch::OwnedBuffers;
use cartridge_games::{
    Action, ActionSpace, EnvActions, EnvBatch, EnvSpec, Stream, environments, fastrand, make_env,
};
use serde_json::Map;

/// The system's allocator, and a count of what each thread asks of it.
struct Counting;

thread_local! {
    static N_ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn count() {
    N_ALLOCATIONS.with(|n| n.set(n.get() + 1));
}

/// Writes a random legal action for every lane into the buffer of the right kind.
fn choose(
    spec: &EnvSpec,
    masks: &[bool],
    actions: &mut [Action],
    numbers: &mut [f32],
    rng: &mut fastrand::Rng,
) {
    match spec.actions {
        ActionSpace::Discrete(n_actions) => {
            for (action, mask) in actions.iter_mut().zip(masks.chunks_exact(n_actions)) {
                let n_legal = mask.iter().filter(|&&is_legal| is_legal).count();
                let mut legal = (0..n_actions).filter(|&index| mask[index]);
                *action = Action(legal.nth(rng.usize(..n_legal)).expect("something is legal"));
            }
        }
        ActionSpace::Continuous { low, high } => {
            for lane in numbers.chunks_exact_mut(low.len()) {
                for (number, (low, high)) in lane.iter_mut().zip(low.iter().zip(high)) {
                    *number = low + (high - low) * rng.f32();
                }
            }
        }
    }
}

/// Steps a batch until `n_episodes` have ended, and returns how much was allocated.
fn step(batch: &mut EnvBatch, buffers: &mut OwnedBuffers, n_episodes: usize, seed: u64) -> usize {
    let spec = batch.spec();
    let mut actions = vec![Action(0); batch.n_lanes()];
    let mut numbers = vec![0.0; batch.n_lanes() * spec.actions.size()];
    let mut rng = fastrand::Rng::with_seed(seed);
    let (mut n_ended, before) = (0, N_ALLOCATIONS.get());
    while n_ended < n_episodes {
        choose(spec, &buffers.masks, &mut actions, &mut numbers, &mut rng);
        let chosen = match spec.actions {
            ActionSpace::Discrete(_) => EnvActions::Discrete(&actions),
            ActionSpace::Continuous { .. } => EnvActions::Continuous(&numbers),
        };
        batch.step(chosen, &mut buffers.borrow());
        let ends = buffers.terminated.iter().zip(&buffers.truncated);
        n_ended += ends.filter(|&(&terminated, &truncated)| terminated || truncated).count();
    }
    N_ALLOCATIONS.get() - before
}

#[test]
fn a_batch_that_is_warm_allocates_nothing() {
    for spec in environments() {
        // More than a group of mechanisms, and few enough to be stepped one by one.
        for n_lanes in [20, 2] {
            let envs = (0..n_lanes).map(|_| make_env(spec.id, &Map::new()).unwrap()).collect();
            let mut batch = EnvBatch::new(envs, 1, Stream::Train);
            let mut buffers = OwnedBuffers::new(&batch);
            batch.reset(&mut buffers.borrow());
            step(&mut batch, &mut buffers, 2 * n_lanes, 1);
            let n_allocations = step(&mut batch, &mut buffers, 6 * n_lanes, 2);
            assert_eq!(n_allocations, 0, "{} in {n_lanes} lanes", spec.id);
        }
    }
}

#[test]
fn what_is_allocated_is_counted() {
    let before = N_ALLOCATIONS.get();
    std::hint::black_box(vec![0_u8; std::hint::black_box(10)]);
    assert_eq!(N_ALLOCATIONS.get() - before, 1);
}
