//! Probabilities over actions: from logits, with noise, and as a choice.

/// A choice by weights that need not add up to 1: their power of `1 / temperature` is the chance.
///
/// A temperature of 0 takes the first of the greatest. `None` when no weight is above zero.
pub fn sample(weights: &[f32], temperature: f32, rng: &mut fastrand::Rng) -> Option<usize> {
    let greatest = weights.iter().copied().fold(0.0, f32::max);
    if greatest <= 0.0 {
        return None;
    }
    if temperature <= 0.0 {
        return weights.iter().position(|&weight| weight == greatest);
    }
    // Shares of the greatest lie between 0 and 1, so that no power overflows.
    let chance =
        |weight: f32| f64::from(weight.max(0.0) / greatest).powf(f64::from(1.0 / temperature));
    let sum: f64 = weights.iter().map(|&weight| chance(weight)).sum();
    let mut left = rng.f64() * sum;
    let mut chosen = None;
    for (place, &weight) in weights.iter().enumerate() {
        if weight <= 0.0 {
            continue;
        }
        chosen = Some(place);
        left -= chance(weight);
        if left < 0.0 {
            break;
        }
    }
    chosen
}

/// Fills `out` with standard Gumbel numbers.
pub(crate) fn gumbel(out: &mut [f32], rng: &mut fastrand::Rng) {
    for number in out {
        *number = -(-open(rng).ln()).ln() as f32;
    }
}

/// Fills `out` with a draw from the symmetric Dirichlet distribution of this `concentration`.
pub(crate) fn dirichlet(concentration: f64, out: &mut [f32], rng: &mut fastrand::Rng) {
    // In logarithms, because with a small concentration all may be too small for a number.
    for number in out.iter_mut() {
        *number = log_gamma(concentration, rng) as f32;
    }
    softmax(out);
}

/// The logarithm of a draw from the gamma distribution.
///
/// Marsaglia and Tsang 2000, "A simple method for generating gamma variables"; a shape below 1 is
/// drawn with one more and scaled down, as they say.
fn log_gamma(shape: f64, rng: &mut fastrand::Rng) -> f64 {
    if shape < 1.0 {
        return log_gamma(shape + 1.0, rng) + open(rng).ln() / shape;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = normal(rng);
        let cube = (1.0 + c * normal).powi(3);
        if cube > 0.0 && open(rng).ln() < normal * normal / 2.0 + d * (1.0 - cube + cube.ln()) {
            return (d * cube).ln();
        }
    }
}

/// A standard normal number, by the method of Box and Muller.
fn normal(rng: &mut fastrand::Rng) -> f64 {
    (-2.0 * open(rng).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// A number between 0 and 1, without both.
fn open(rng: &mut fastrand::Rng) -> f64 {
    rng.f64().max(f64::MIN_POSITIVE)
}

/// Turns logits into probabilities and returns the logarithm of the sum that they were divided by.
pub(crate) fn softmax(numbers: &mut [f32]) -> f32 {
    let greatest = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for number in numbers.iter_mut() {
        *number = exp(*number - greatest);
        sum += *number;
    }
    let scale = 1.0 / sum;
    for number in numbers {
        *number *= scale;
    }
    greatest + sum.ln()
}

/// The power of e, to within 3e-7 of itself, and 0 below −87: several times as fast as the
/// system's, and the same on every system.
#[inline]
pub(crate) fn exp(x: f32) -> f32 {
    /// Adding it and taking it away rounds to a whole number.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts, of which the first has few digits, so that multiples of it are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let clamped = x.clamp(-87.0, 88.0);
    let whole = clamped * std::f32::consts::LOG2_E + ROUND - ROUND;
    let part = clamped - whole * LN_2[0] - whole * LN_2[1];
    // Taylor's series; |part| <= ln(2) / 2 leaves an error of 1.2e-7.
    let series = [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let power = series.into_iter().fold(1.0 / 720.0, |sum, factor| sum * part + factor);
    let scale = f32::from_bits(((whole as i32 + 127) << 23) as u32);
    if x < -87.0 { 0.0 } else { power * scale }
}

#[cfg(test)]
mod tests;
