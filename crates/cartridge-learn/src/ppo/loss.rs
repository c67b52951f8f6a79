//! The loss of one sample, and how it changes with what the networks put out.

/// The clipped objective of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Surrogate {
    pub(super) loss: f32,
    /// How the loss changes with the logarithm of the action's probability.
    pub(super) slope: f32,
    pub(super) is_clipped: bool,
    /// A sample of the divergence from the old policy (Schulman 2020, "Approximating KL
    /// divergence").
    pub(super) approx_kl: f32,
    /// The same by the plainest estimate, which may be negative: minus the logarithm of the ratio.
    pub(super) old_approx_kl: f32,
}

pub(super) fn surrogate(log_ratio: f32, advantage: f32, clip_range: f32) -> Surrogate {
    let ratio = log_ratio.exp();
    let plain = ratio * advantage;
    let clipped = ratio.clamp(1.0 - clip_range, 1.0 + clip_range) * advantage;
    Surrogate {
        loss: -plain.min(clipped),
        slope: if plain <= clipped { -plain } else { 0.0 },
        is_clipped: (ratio - 1.0).abs() > clip_range,
        approx_kl: ratio - 1.0 - log_ratio,
        old_approx_kl: -log_ratio,
    }
}

/// Replaces the probabilities of one sample by the gradient of its loss with respect to its
/// logits, and returns the entropy. `slope` belongs to the logarithm of `action`'s probability;
/// `log_probs` gives the logarithm of each. What is not legal has no probability: it adds nothing
/// and gets no gradient.
pub(super) fn logit_gradient(
    probabilities: &mut [f32],
    log_prob: impl Fn(usize) -> f32,
    action: usize,
    slope: f32,
    ent_coef: f32,
) -> f32 {
    let mut entropy = 0.0;
    for (index, &probability) in probabilities.iter().enumerate() {
        if probability > 0.0 {
            entropy -= probability * log_prob(index);
        }
    }
    for (index, x) in probabilities.iter_mut().enumerate() {
        let probability = *x;
        if probability > 0.0 {
            let of_entropy = ent_coef * probability * (log_prob(index) + entropy);
            *x = of_entropy - slope * probability;
        }
        if index == action {
            *x += slope;
        }
    }
    entropy
}

/// Half the logarithm of two pi.
const HALF_LOG_TAU: f32 = 0.918_938_5;

/// The part of [`gaussian_log_prob`] that is the same for every sample.
pub(super) fn log_prob_scale(log_std: &[f32]) -> f32 {
    -log_std.iter().map(|x| x + HALF_LOG_TAU).sum::<f32>()
}

/// The logarithm of the density of `numbers`, each normally distributed about its mean.
pub(super) fn gaussian_log_prob(
    numbers: &[f32],
    means: &[f32],
    log_std: &[f32],
    scale: f32,
) -> f32 {
    let mut sum = scale;
    for ((x, mean), log_std) in numbers.iter().zip(means).zip(log_std) {
        let distance = (x - mean) * (-log_std).exp();
        sum -= 0.5 * distance * distance;
    }
    sum
}

/// The entropy of such numbers.
pub(super) fn gaussian_entropy(log_std: &[f32]) -> f32 {
    log_std.iter().map(|x| 0.5 + HALF_LOG_TAU + x).sum()
}

/// Replaces the means of one sample by the gradient of its loss with respect to them, and adds
/// that with respect to `log_std` to `log_std_gradient`. `slope` belongs to the logarithm of the
/// density.
pub(super) fn mean_gradient(
    means: &mut [f32],
    numbers: &[f32],
    log_std: &[f32],
    slope: f32,
    log_std_gradient: &mut [f32],
) {
    for (((mean, x), log_std), gradient) in
        means.iter_mut().zip(numbers).zip(log_std).zip(log_std_gradient)
    {
        let precision = (-log_std).exp();
        let distance = (x - *mean) * precision;
        *mean = slope * distance * precision;
        *gradient += slope * (distance * distance - 1.0);
    }
}

/// Squared error of a value, and twice the error: its slope. With a `clip_range` the value moves
/// no further than that from the old one, and beyond has no slope.
pub(super) fn value_error(value: f32, old: f32, target: f32, clip_range: Option<f32>) -> [f32; 2] {
    match clip_range {
        Some(range) if (value - old).abs() > range => {
            let error = old + (value - old).clamp(-range, range) - target;
            [error * error, 0.0]
        }
        _ => {
            let error = value - target;
            [error * error, 2.0 * error]
        }
    }
}

/// The share of the variance of `returns` that `values` explain: 1 is perfect, 0 is no better
/// than a constant. Nothing when the returns do not vary.
pub(super) fn explained_variance(values: &[f32], returns: &[f32]) -> Option<f64> {
    let variance = |values: &dyn Fn(usize) -> f64| {
        let n = returns.len();
        let mean = (0..n).map(values).sum::<f64>() / n as f64;
        (0..n).map(|at| (values(at) - mean) * (values(at) - mean)).sum::<f64>()
    };
    let total = variance(&|at| f64::from(returns[at]));
    let left = variance(&|at| f64::from(returns[at]) - f64::from(values[at]));
    (total > 0.0).then(|| 1.0 - left / total)
}

/// Mean, and one over the deviation as PyTorch's `std` counts it. One number alone stays as it
/// is.
pub(super) fn shift_and_scale(values: impl ExactSizeIterator<Item = f32> + Clone) -> [f32; 2] {
    let n = values.len() as f32;
    if n < 2.0 {
        return [0.0, 1.0];
    }
    let mean = values.clone().sum::<f32>() / n;
    let variance = values.map(|x| (x - mean) * (x - mean)).sum::<f32>() / (n - 1.0);
    [mean, 1.0 / (variance.sqrt() + 1e-8)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{forbid, softmax_rows};

    #[track_caller]
    fn assert_close(values: &[f32], expected: &[f32]) {
        assert_eq!(values.len(), expected.len());
        for (x, y) in values.iter().zip(expected) {
            assert!((x - y).abs() < 1e-5, "{values:?} is not {expected:?}");
        }
    }

    /// Compares loss, slope and clipping for a ratio, an advantage and a clip range of 0.2.
    #[track_caller]
    fn check_surrogate(ratio: f32, advantage: f32, loss: f32, slope: f32, is_clipped: bool) {
        let result = surrogate(ratio.ln(), advantage, 0.2);
        assert_close(&[result.loss, result.slope], &[loss, slope]);
        assert_eq!(result.is_clipped, is_clipped);
        assert!((result.approx_kl - (ratio - 1.0 - ratio.ln())).abs() < 1e-6);
        assert_eq!(result.old_approx_kl, -ratio.ln());
    }

    #[test]
    fn the_surrogate_is_clipped_on_the_hopeful_side_only() {
        check_surrogate(1.0, 2.0, -2.0, -2.0, false);
        check_surrogate(1.5, 2.0, -2.4, 0.0, true);
        check_surrogate(1.5, -2.0, 3.0, 3.0, true);
        check_surrogate(0.5, 2.0, -1.0, -1.0, true);
        check_surrogate(0.5, -2.0, 1.6, 0.0, true);
    }

    /// The gradient of a loss against central differences.
    #[track_caller]
    fn check_slopes<const N: usize>(at: [f64; N], loss: impl Fn([f64; N]) -> f64, found: [f32; N]) {
        for index in 0..N {
            let moved = |change: f64| {
                let mut x = at;
                x[index] += change;
                loss(x)
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!(
                (f64::from(found[index]) - slope).abs() < 1e-4,
                "{found:?}: {index} is {slope}"
            );
        }
    }

    /// Probabilities of logits, and their gradient for one sample.
    fn gradient_of(
        logits: &[f32],
        action: usize,
        slope: impl Fn(f32) -> f32,
        ent_coef: f32,
    ) -> (Vec<f32>, f32) {
        let mut row = logits.to_vec();
        let mut scales = Vec::new();
        softmax_rows(&mut row, logits.len(), &mut scales);
        let log_prob = |index: usize| scales[0].log_prob(logits[index]);
        let slope = slope(log_prob(action));
        let entropy = logit_gradient(&mut row, log_prob, action, slope, ent_coef);
        (row, entropy)
    }

    #[test]
    fn the_logit_gradient_equals_finite_differences() {
        let (logits, action, old_log_prob) = ([0.3_f64, -0.4, 0.9], 2, -0.8_f64);
        let (advantage, ent_coef) = (1.7, 0.3);
        let loss = |logits: [f64; 3]| {
            let total: f64 = logits.iter().map(|x| x.exp()).sum();
            let log_probs = logits.map(|x| x - total.ln());
            let entropy: f64 = -log_probs.iter().map(|x| x.exp() * x).sum::<f64>();
            -(log_probs[action] - old_log_prob).exp() * advantage - ent_coef * entropy
        };
        let slope =
            |log_prob: f32| surrogate(log_prob - old_log_prob as f32, advantage as f32, 10.0).slope;
        let (row, _) = gradient_of(&logits.map(|x| x as f32), action, slope, ent_coef as f32);
        check_slopes(logits, loss, [row[0], row[1], row[2]]);
    }

    #[test]
    fn entropy_of_even_odds_is_the_logarithm_of_two() {
        let (_, entropy) = gradient_of(&[7.0; 2], 0, |_| 0.0, 0.0);
        assert!((entropy - 2.0_f32.ln()).abs() < 1e-6);
    }

    /// An action that is not legal changes nothing: the rest is as if it did not exist.
    #[test]
    fn a_masked_action_has_no_entropy_and_no_gradient() {
        let mut logits = [0.3, 7.0, -0.4, 0.9];
        forbid(&mut logits, &[true, false, true, true]);
        let (with, entropy) = gradient_of(&logits, 3, |_| -1.7, 0.3);
        let (without, expected) = gradient_of(&[0.3, -0.4, 0.9], 2, |_| -1.7, 0.3);
        assert_close(&[entropy], &[expected]);
        assert_close(&with, &[without[0], 0.0, without[1], without[2]]);
    }

    #[test]
    fn gaussian_gradients_equal_finite_differences() {
        let (numbers, old_log_prob, advantage) = ([0.4_f32, -1.2], -2.0_f64, 1.3);
        let at = [0.1_f64, -0.5, 0.2, -0.3];
        // Means, then logarithms of deviations.
        let log_prob = |x: [f64; 4]| -> f64 {
            let one = |number: f32, mean: f64, log_std: f64| {
                let distance = (f64::from(number) - mean) / log_std.exp();
                -0.5 * distance * distance - log_std - 0.5 * std::f64::consts::TAU.ln()
            };
            one(numbers[0], x[0], x[2]) + one(numbers[1], x[1], x[3])
        };
        let mut means = [at[0] as f32, at[1] as f32];
        let log_std = [at[2] as f32, at[3] as f32];
        let found = gaussian_log_prob(&numbers, &means, &log_std, log_prob_scale(&log_std));
        assert!((f64::from(found) - log_prob(at)).abs() < 1e-5);
        let slope = surrogate(found - old_log_prob as f32, advantage as f32, 10.0).slope;
        let mut of_log_std = [0.0; 2];
        mean_gradient(&mut means, &numbers, &log_std, slope, &mut of_log_std);
        let loss = |x: [f64; 4]| -(log_prob(x) - old_log_prob).exp() * advantage;
        check_slopes(at, loss, [means[0], means[1], of_log_std[0], of_log_std[1]]);
        // Of one standard normal number: 1.4189.
        assert!((gaussian_entropy(&[0.0]) - 1.418_938_5).abs() < 1e-6);
    }

    #[test]
    fn values_move_within_their_range_only() {
        assert_eq!(value_error(3.0, 1.0, 2.0, None), [1.0, 2.0]);
        assert_eq!(value_error(1.25, 1.0, 2.0, Some(0.5)), [0.5625, -1.5]);
        assert_eq!(value_error(3.0, 1.0, 2.0, Some(0.5)), [0.25, 0.0]);
    }

    #[test]
    fn normalizing_by_hand() {
        let normalized = |values: &[f32]| {
            let [shift, scale] = shift_and_scale(values.iter().copied());
            values.iter().map(|x| (x - shift) * scale).collect::<Vec<f32>>()
        };
        assert_close(&normalized(&[1.0, 2.0, 3.0]), &[-1.0, 0.0, 1.0]);
        assert_eq!(normalized(&[5.0]), [5.0]);
    }

    #[test]
    fn explained_variance_by_hand() {
        assert_eq!(explained_variance(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), Some(1.0));
        assert_eq!(explained_variance(&[5.0, 5.0, 5.0], &[1.0, 2.0, 3.0]), Some(0.0));
        assert_eq!(explained_variance(&[1.0, 2.0], &[4.0, 4.0]), None);
    }
}
