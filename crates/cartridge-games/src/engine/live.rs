//! The environments that were stepped last, each under the state that it is in.

use std::collections::HashMap;

use crate::env::Env;

/// As many environments as fit, the oldest forgotten first.
#[derive(Debug)]
pub(super) struct LiveEnvs {
    capacity: usize,
    n_put: u64,
    /// By the last eight bytes of their state, which scatter well.
    kept: HashMap<[u8; 8], Kept>,
}

#[derive(Debug)]
struct Kept {
    /// The whole state, because two may end alike and one of them may be made by an ill-wisher.
    state: Vec<u8>,
    env: Box<dyn Env>,
    /// How many came before.
    number: u64,
}

impl LiveEnvs {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, n_put: 0, kept: HashMap::new() }
    }

    /// Takes out the environment that is in `state`.
    pub(super) fn take(&mut self, state: &[u8]) -> Option<Box<dyn Env>> {
        let key = *state.last_chunk()?;
        self.kept.get(&key).filter(|kept| kept.state == state)?;
        self.kept.remove(&key).map(|kept| kept.env)
    }

    /// Keeps an environment that is in `state`.
    pub(super) fn put(&mut self, state: &[u8], env: Box<dyn Env>) {
        let Some(&key) = state.last_chunk() else { return };
        if self.kept.len() >= self.capacity && !self.kept.contains_key(&key) {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.number).map(|(key, _)| *key);
            oldest.map(|key| self.kept.remove(&key));
        }
        let number = self.n_put;
        self.n_put += 1;
        self.kept.insert(key, Kept { state: state.to_vec(), env, number });
    }
}
