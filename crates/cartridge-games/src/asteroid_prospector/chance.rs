//! Random numbers of the belt: small, fast, and the same on every machine.

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chance {
    state: u64,
}

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = self.state;
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// In `[0, 1)`.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// In `[low, high)`.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number below `n`; the bias of at most `n / 2^64` shows nowhere.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// A whole number from `low` to `high`, both included.
    pub(super) fn whole(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub(super) fn is_true(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Mean 0 and deviation 1: eight uniform 16-bit numbers added up.
    ///
    /// Nearly normal (the tails end at 4.9), without logarithms or cosines, because the market
    /// draws six of these per step.
    pub(super) fn normal(&mut self) -> f64 {
        let quarters = |bits: u64| {
            let pairs = (bits & 0x0000_ffff_0000_ffff) + ((bits >> 16) & 0x0000_ffff_0000_ffff);
            (pairs & 0xffff_ffff) + (pairs >> 32)
        };
        let sum = quarters(self.next_u64()) + quarters(self.next_u64());
        // Each number has mean 65535/2 and variance (65536^2 - 1)/12.
        const MEAN: f64 = 4.0 * 65535.0;
        const SCALE: f64 = 1.0 / 53_509.919_921_450_08;
        (sum as f64 - MEAN) * SCALE
    }

    /// A composition of `N` parts that add up to 1, all equally likely: Dirichlet(1).
    pub(super) fn composition<const N: usize>(&mut self) -> [f64; N] {
        let parts = [(); N].map(|()| -(1.0 - self.unit()).ln());
        let total: f64 = parts.iter().sum();
        parts.map(|part| part / total)
    }

    /// Beta(3, 2): the third smallest of four uniform numbers.
    pub(super) fn beta_3_2(&mut self) -> f64 {
        let mut draws = [(); 4].map(|()| self.unit());
        draws.sort_unstable_by(f64::total_cmp);
        draws[2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and deviation of many draws.
    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        const N: usize = 100_000;
        let draws: Vec<f64> = (0..N).map(|_| draw()).collect();
        let mean = draws.iter().sum::<f64>() / N as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / N as f64;
        (mean, variance.sqrt())
    }

    #[track_caller]
    fn check((mean, deviation): (f64, f64), expected: (f64, f64)) {
        let near = |x: f64, y: f64| (x - y).abs() < 0.01;
        assert!(near(mean, expected.0) && near(deviation, expected.1), "{mean} {deviation}");
    }

    #[test]
    fn draws_have_their_moments() {
        let mut chance = Chance::new(1);
        check(moments(|| chance.unit()), (0.5, (1.0_f64 / 12.0).sqrt()));
        check(moments(|| chance.normal()), (0.0, 1.0));
        check(moments(|| chance.beta_3_2()), (0.6, 0.2));
        // One part of Dirichlet(1, ..., 1) of six is Beta(1, 5).
        check(moments(|| chance.composition::<6>()[3]), (1.0 / 6.0, (5.0_f64 / 252.0).sqrt()));
        check(moments(|| chance.whole(1, 3) as f64), (2.0, (2.0_f64 / 3.0).sqrt()));
    }

    #[test]
    fn numbers_are_pinned() {
        // The reference implementation's first outputs for seed 1234567.
        let mut chance = Chance::new(1_234_567);
        let numbers = [(); 3].map(|()| chance.next_u64());
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
