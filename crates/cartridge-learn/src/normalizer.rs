//! Observations and rewards in a size that networks like, as Stable-Baselines3's `VecNormalize`.
//!
//! Statistics are those of all that was seen, in doubles. One difference: they are renewed after
//! each rollout instead of each step, so that lanes need not wait for each other.

use serde::{Deserialize, Serialize};

/// Added to a variance before its root is taken.
const EPSILON: f64 = 1e-8;

/// What is beyond this many deviations counts as this many.
pub(crate) const CLIP: f32 = 10.0;

/// How observations are changed before a network sees them: `(x - mean) * scale`, cut at
/// [`CLIP`].
#[derive(Clone, Debug, PartialEq)]
pub struct Normalizer {
    /// What is subtracted from each element.
    pub mean: Vec<f32>,
    /// What each is multiplied by then.
    pub scale: Vec<f32>,
}

impl Normalizer {
    /// One that changes nothing but what is beyond the cut.
    pub fn identity(n: usize) -> Self {
        Self { mean: vec![0.0; n], scale: vec![1.0; n] }
    }

    /// Where numbers are cut.
    pub fn clip(&self) -> f32 {
        CLIP
    }

    /// Changes rows of observations.
    pub fn apply(&self, observations: &mut [f32]) {
        for row in observations.chunks_exact_mut(self.mean.len()) {
            for ((x, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                *x = ((*x - mean) * scale).clamp(-CLIP, CLIP);
            }
        }
    }
}

/// Count, mean and variance of each element of what was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Statistics {
    count: f64,
    mean: Vec<f64>,
    /// Sum of squared distances from the mean.
    squares: Vec<f64>,
}

/// Sums of a part of what was seen, relative to a point near the mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    count: f64,
    sum: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    /// Begins anew, with rows of `n` elements.
    pub(crate) fn clear(&mut self, n: usize) {
        self.count = 0.0;
        for sums in [&mut self.sum, &mut self.squares] {
            sums.clear();
            sums.resize(n, 0.0);
        }
    }

    /// Takes in a row.
    pub(crate) fn add(&mut self, row: &[f32], center: &Statistics) {
        self.count += 1.0;
        let sums = self.sum.iter_mut().zip(&mut self.squares);
        for ((x, center), (sum, square)) in row.iter().zip(&center.mean).zip(sums) {
            let distance = f64::from(*x) - center;
            *sum += distance;
            *square += distance * distance;
        }
    }
}

impl Statistics {
    /// Of nothing yet.
    pub(crate) fn new(n: usize) -> Self {
        Self { count: 0.0, mean: vec![0.0; n], squares: vec![0.0; n] }
    }

    /// How many elements a row has.
    pub(crate) fn len(&self) -> usize {
        self.mean.len()
    }

    /// Takes in parts whose sums are relative to the mean of `self`, in their order.
    pub(crate) fn merge<'a>(&mut self, parts: impl Iterator<Item = &'a Sums>) {
        let n = self.len();
        let (mut count, mut sum, mut squares) = (0.0, vec![0.0; n], vec![0.0; n]);
        for part in parts {
            count += part.count;
            for at in 0..n {
                sum[at] += part.sum[at];
                squares[at] += part.squares[at];
            }
        }
        if count == 0.0 {
            return;
        }
        let total = self.count + count;
        for at in 0..n {
            // Both parts are relative to the old mean; the new one lies `shift` from it.
            let shift = sum[at] / total;
            self.squares[at] = (self.squares[at] + squares[at] - shift * shift * total).max(0.0);
            self.mean[at] += shift;
        }
        self.count = total;
    }

    /// One over the deviation of an element; 1 before anything was seen.
    pub(crate) fn scale(&self, at: usize) -> f64 {
        if self.count == 0.0 {
            return 1.0;
        }
        (self.squares[at] / self.count + EPSILON).sqrt().recip()
    }

    /// The change that gives what was seen mean 0 and deviation 1.
    pub(crate) fn normalizer(&self) -> Normalizer {
        Normalizer {
            mean: self.mean.iter().map(|&x| x as f32).collect(),
            scale: (0..self.len()).map(|at| self.scale(at) as f32).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in two parts and two rounds; the whole is known.
    #[test]
    fn parts_make_the_whole() {
        let rows: Vec<[f32; 2]> = (0..40).map(|i| [i as f32, 1000.0 + (i % 3) as f32]).collect();
        let mut statistics = Statistics::new(2);
        for round in rows.chunks(20) {
            let mut parts = vec![Sums::default(); 2];
            for (part, rows) in parts.iter_mut().zip(round.chunks(13)) {
                part.clear(2);
                rows.iter().for_each(|row| part.add(row, &statistics));
            }
            statistics.merge(parts.iter());
        }
        let normalizer = statistics.normalizer();
        let mut all = rows.concat();
        normalizer.apply(&mut all);
        for column in 0..2 {
            let values: Vec<f64> = all.iter().skip(column).step_by(2).map(|&x| x.into()).collect();
            let mean = values.iter().sum::<f64>() / 40.0;
            let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 40.0;
            assert!(mean.abs() < 1e-4 && (variance - 1.0).abs() < 1e-4, "{mean} {variance}");
        }
        let mut far = [1e9, -1e9];
        normalizer.apply(&mut far);
        assert_eq!(far, [CLIP, -CLIP]);
    }

    #[test]
    fn nothing_seen_changes_nothing() {
        assert_eq!(Statistics::new(3).normalizer(), Normalizer::identity(3));
        let mut statistics = Statistics::new(3);
        statistics.merge([].iter());
        assert_eq!(statistics, Statistics::new(3));
    }
}
