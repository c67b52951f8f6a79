//! Choosing actions by PUCT: the mean score, plus what the prior promises and visits have not yet
//! tried.
//!
//! Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and
//! Go through self-play": the action with the greatest `Q + c · P · √N / (1 + n)`, where `P` is
//! its prior, `n` counts its visits and `N` those of all actions together. As there, `c` grows with
//! the logarithm of `N`, which can be turned off.
//!
//! An action that was never visited is held to be a little worse than the position (first-play
//! urgency; KataGo and Leela Chess Zero): by a reduction times the root of the prior that was
//! visited already.

use crate::policy::exp;
use crate::tree::Edge;

/// How PUCT explores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Puct {
    /// The constant `c`. Scores lie between −1 and 1.
    pub exploration: f32,
    /// How much `c` grows by the natural logarithm of `1 + N / exploration_base`; 0 for not at all.
    pub exploration_growth: f32,
    /// After how many visits the growth counts.
    pub exploration_base: f32,
    /// How much worse than the position a new action is held to be, when all others were visited.
    pub reduction: f32,
    /// The same at the root.
    pub root_reduction: f32,
    /// What is mixed into the priors of the root.
    pub noise: Option<Noise>,
}

/// Noise of the Dirichlet distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The parameter of each legal action times their number: with 10, the parameter is 10 divided
    /// by the number of legal actions. The paper has about that in each of its games.
    pub concentration: f32,
    /// The share of the noise in the prior, from 0 to 1.
    pub fraction: f32,
}

impl Default for Puct {
    /// For play: without noise.
    fn default() -> Self {
        Self {
            exploration: 1.5,
            exploration_growth: 0.0,
            exploration_base: 500.0,
            reduction: 0.2,
            root_reduction: 0.1,
            noise: None,
        }
    }
}

impl Default for Noise {
    fn default() -> Self {
        Self { concentration: 10.0, fraction: 0.25 }
    }
}

impl Puct {
    /// The place of the action to try next in a position that is not proven. `mean` is what the
    /// position is worth to the seat to move, for which `sign` stands.
    #[inline]
    pub(crate) fn select(&self, edges: &[Edge], sign: f32, mean: f32, reduction: f32) -> usize {
        let mut n = 0;
        let mut visited = 0.0;
        for edge in edges {
            n += edge.n_begun();
            visited += if edge.n_begun() > 0 { edge.prior } else { 0.0 };
        }
        let unvisited = (mean - reduction * visited.sqrt()).max(-1.0);
        let factor = self.factor(n);
        let (mut best, mut greatest) = (None, f32::NEG_INFINITY);
        for (place, edge) in edges.iter().enumerate() {
            let worth = if edge.n_begun() == 0 { unvisited } else { edge.worth(sign) };
            let bound = worth + factor * edge.prior / (1 + edge.n_begun()) as f32;
            if bound > greatest && !edge.is_lost(sign) {
                (best, greatest) = (Some(place), bound);
            }
        }
        best.expect("a position that is not proven has an action that is not lost")
    }

    /// What PUCT adds to the mean score of `edge`, when all have `n` visits together.
    pub(crate) fn urgency(&self, edge: &Edge, n: u32) -> f32 {
        self.factor(n) * edge.prior / (1 + edge.n_begun()) as f32
    }

    /// Makes the priors of the root what they are without noise, and mixes `noise` in.
    pub(crate) fn mix(&self, noise: &[f32], edges: &mut [Edge]) {
        let fraction = self.noise.map_or(0.0, |noise| noise.fraction);
        for (edge, noise) in edges.iter_mut().zip(noise) {
            edge.prior = (1.0 - fraction) * exp(edge.logit) + fraction * noise;
        }
    }

    /// The constant `c` times the root of `N`.
    fn factor(&self, n: u32) -> f32 {
        let n = n as f32;
        // Before the first visit, priors alone decide.
        let root = n.max(1.0).sqrt();
        if self.exploration_growth == 0.0 {
            return self.exploration * root;
        }
        let growth = (n / self.exploration_base).ln_1p();
        (self.exploration + self.exploration_growth * growth) * root
    }
}

#[cfg(test)]
mod tests;
