use super::*;

#[test]
fn powers_of_e_are_exact_enough() {
    for step in -8700..=8800 {
        let x = step as f32 / 100.0;
        let exact = f64::from(x).exp();
        let error = (f64::from(exp(x)) - exact).abs() / exact;
        assert!(error < 3e-7, "exp({x}) is off by {error}");
    }
    assert_eq!([exp(0.0), exp(-100.0), exp(f32::NEG_INFINITY)], [1.0, 0.0, 0.0]);
}

#[test]
fn logits_become_probabilities() {
    let mut numbers = [1_f32.ln(), 3_f32.ln(), 4_f32.ln(), f32::NEG_INFINITY];
    let log_sum = softmax(&mut numbers);
    assert!((log_sum - 8_f32.ln()).abs() < 1e-6, "{log_sum}");
    for (number, expected) in numbers.into_iter().zip([0.125, 0.375, 0.5, 0.0]) {
        assert!((number - expected).abs() < 1e-6, "{numbers:?}");
    }
}

/// How often each place is chosen of 100,000 times.
fn counts(weights: &[f32], temperature: f32) -> Vec<u32> {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut counts = vec![0; weights.len()];
    for _ in 0..100_000 {
        counts[sample(weights, temperature, &mut rng).unwrap()] += 1;
    }
    counts
}

#[test]
fn choices_follow_the_weights() {
    #[track_caller]
    fn check(weights: &[f32], temperature: f32, expected: &[u32]) {
        let counts = counts(weights, temperature);
        // Five standard deviations of a count are below 800.
        let is_near = counts.iter().zip(expected).all(|(a, b)| a.abs_diff(*b) < 800);
        assert!(is_near, "{counts:?}, not {expected:?}");
    }
    check(&[1.0, 0.0, 3.0], 1.0, &[25_000, 0, 75_000]);
    check(&[1.0, 0.0, 3.0], 0.5, &[10_000, 0, 90_000]);
    check(&[30.0, 10.0], 1e6, &[50_000, 50_000]);
    assert_eq!(counts(&[1.0, 0.0, 3.0], 1.0)[1], 0);
    assert_eq!(counts(&[1.0, 3.0, 3.0], 0.0), [0, 100_000, 0]);
    assert_eq!(counts(&[1e-30, 1e30], 0.01), [0, 100_000]);
    assert_eq!(sample(&[0.0, 0.0], 1.0, &mut fastrand::Rng::with_seed(1)), None);
}

/// Mean and variance.
fn moments(numbers: impl Iterator<Item = f32> + Clone) -> (f64, f64) {
    let n = numbers.clone().count() as f64;
    let mean = numbers.clone().map(f64::from).sum::<f64>() / n;
    (mean, numbers.map(|x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n)
}

#[test]
fn gumbel_numbers_have_their_mean_and_variance() {
    let mut numbers = vec![0.0; 100_000];
    gumbel(&mut numbers, &mut fastrand::Rng::with_seed(2));
    let (mean, variance) = moments(numbers.iter().copied());
    assert!((mean - 0.577_216).abs() < 0.02, "{mean}");
    assert!((variance - std::f64::consts::PI.powi(2) / 6.0).abs() < 0.05, "{variance}");
}

/// The variance of a share of `k` with parameter `a` each is `(k − 1) / (k² (k a + 1))`.
#[test]
fn dirichlet_shares_have_their_mean_and_variance() {
    let mut rng = fastrand::Rng::with_seed(3);
    for concentration in [0.03, 0.3, 1.4, 5.0] {
        let mut all = Vec::new();
        for _ in 0..20_000 {
            let mut shares = [0.0; 7];
            dirichlet(concentration, &mut shares, &mut rng);
            assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{shares:?}");
            all.push(shares);
        }
        for place in [0, 6] {
            let (mean, variance) = moments(all.iter().map(|shares| shares[place]));
            assert!((mean - 1.0 / 7.0).abs() < 0.01, "{concentration}: {mean}");
            let expected = 6.0 / (49.0 * (7.0 * concentration + 1.0));
            assert!((variance / expected - 1.0).abs() < 0.1, "{concentration}: {variance}");
        }
    }
}
