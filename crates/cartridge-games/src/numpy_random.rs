//! NumPy's random numbers: `numpy.random.default_rng(seed)`, bit for bit.
//!
//! A seed is spread by `SeedSequence` (O'Neill's seed_seq, as NumPy fixed it) over the state of
//! PCG64, the XSL-RR 128/64 generator (O'Neill 2014).

/// A generator equal to `numpy.random.default_rng(seed)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumpyRng {
    state: u128,
    increment: u128,
    /// The upper half of a draw whose lower half an integer took.
    kept: Option<u32>,
}

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl NumpyRng {
    /// The generator that NumPy makes from `seed`.
    pub fn new(seed: u64) -> Self {
        let [s0, s1, s2, s3] = seed_words(seed).map(u128::from);
        let increment = (((s2 << 64) | s3) << 1) | 1;
        let mut rng = Self { state: 0, increment, kept: None };
        rng.advance();
        rng.state = rng.state.wrapping_add((s0 << 64) | s1);
        rng.advance();
        rng
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.advance();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// A double in `[0, 1)`, as `Generator.random()`.
    pub fn random(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A double in `[low, high)`, as `Generator.uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random()
    }

    /// A whole number in `low..high`, as `Generator.integers(low, high)`.
    ///
    /// Half of a draw is kept for the next whole number, whatever is drawn in between; a range of
    /// one number draws nothing.
    ///
    /// # Panics
    ///
    /// If the range is empty or holds 2³² numbers or more.
    pub fn integers(&mut self, low: i64, high: i64) -> i64 {
        let n = high.checked_sub(low).and_then(|n| u32::try_from(n).ok());
        let n = n.filter(|&n| n > 0).expect("a range of 1 to 2^32 - 1 numbers");
        if n == 1 {
            return low;
        }
        // Lemire 2019: the upper half of a product is uniform once the lower half is not among
        // the few values that would favour some numbers.
        let unfair = n.wrapping_neg() % n;
        loop {
            let product = u64::from(self.next_u32()) * u64::from(n);
            if product as u32 >= unfair {
                return low + (product >> 32) as i64;
            }
        }
    }

    fn next_u32(&mut self) -> u32 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let both = self.next_u64();
        self.kept = Some((both >> 32) as u32);
        both as u32
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }
}

/// `SeedSequence(seed).generate_state(4, numpy.uint64)`.
fn seed_words(seed: u64) -> [u64; 4] {
    // A 64-bit seed has at most two words of entropy; the rest of the pool is hashed zeros.
    let mut hash = Hash { constant: 0x43b0_d7e5, multiplier: 0x931e_8875 };
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(|word| hash.of(word));
    for source in 0..4 {
        for target in 0..4 {
            if source != target {
                pool[target] = mix(pool[target], hash.of(pool[source]));
            }
        }
    }
    let mut hash = Hash { constant: 0x8b51_f9dd, multiplier: 0x58f3_8ded };
    let mut halves = pool.into_iter().cycle().map(|word| u64::from(hash.of(word)));
    let mut half = || halves.next().expect("a cycle has no end");
    [(); 4].map(|()| half() | (half() << 32))
}

/// The hash of `SeedSequence`, whose constant changes with every word.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn of(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ (word >> 16)
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let mixed = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
    mixed ^ (mixed >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with what NumPy 2.4.6 gives for `SeedSequence(seed).generate_state(4, uint64)`
    /// and `default_rng(seed).bit_generator.random_raw(3)`.
    #[track_caller]
    fn check(seed: u64, words: [u64; 4], raw: [u64; 3]) {
        assert_eq!(seed_words(seed), words);
        let mut rng = NumpyRng::new(seed);
        assert_eq!([(); 3].map(|()| rng.next_u64()), raw);
    }

    #[test]
    fn seed_zero() {
        check(
            0,
            [0xdb2cd7e7b0f478be, 0xabf4641a2c71ba49, 0x20c6ed6d9d7b8d41, 0x2c4099de223c39d4],
            [0xa30febcfd9c2825f, 0x4510bdf882d9d721, 0x0a7d3da94ecde8b8],
        );
    }

    #[test]
    fn a_seed_of_one_word() {
        check(
            42,
            [0x9f1e2e6dcd540ab7, 0xd57873dc79fb94b6, 0x7d282a1b64d420b7, 0x336579714692d5ff],
            [0xc621fbcd16d92688, 0x705a5661a791ffc1, 0xdbcd12c26eda1624],
        );
    }

    #[test]
    fn seeds_of_two_words() {
        check(
            (1 << 32) + 5,
            [0xf9c15bd6e249d9ac, 0xb2021b4036320ed7, 0x9388b47fe6dcf739, 0x5eeba8d9ad6439e1],
            [0xc6323ec321deb8d1, 0x78814821c73a0583, 0xb22536d8e0ec17c0],
        );
        check(
            (1 << 63) - 1,
            [0x07bddccf9b1009fe, 0x57427703c5f0b45b, 0xb9094b0b99e1a27f, 0x2b9a03bb82aca987],
            [0x2ceb59116fb27514, 0x784d3e7d390dc57c, 0xd335a7689ce43488],
        );
    }

    #[test]
    fn integers_keep_half_a_draw() {
        let mut rng = NumpyRng::new(7);
        let ranges =
            [(0, 4), (5, 10), (4, 5), (-9999, 9999), (0, 3_000_000_000), (0, 3_000_000_000)];
        let drawn = ranges.map(|(low, high)| rng.integers(low, high));
        assert_eq!(drawn, [3, 8, 4, 3683, 2_691_641_402, 1_734_877_356]);
        assert_eq!(rng.random(), 0.225_207_189_990_591_86);
        assert_eq!(rng.integers(0, 69), 53);
        assert_eq!(rng.random(), 0.300_166_284_911_225_43);
    }

    #[test]
    fn integers_that_would_favour_some_are_drawn_again() {
        let mut rng = NumpyRng::new(11);
        let sum: i64 = (0..1000).map(|_| rng.integers(0, 3_000_000_000)).sum();
        assert_eq!(sum, 1_503_614_886_592);
    }

    #[test]
    fn doubles() {
        let mut rng = NumpyRng::new(42);
        let random = [(); 3].map(|()| rng.random());
        assert_eq!(random, [0.7739560485559633, 0.4388784397520523, 0.8585979199113825]);
        let uniform = [(); 4].map(|()| rng.uniform(-0.05, 0.05));
        assert_eq!(
            uniform,
            [
                0.019736802905936393,
                -0.04058226521123505,
                0.047562235163675595,
                0.026113970199035302
            ]
        );
    }
}
