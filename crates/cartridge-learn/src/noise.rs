//! Random numbers that are looked up instead of drawn: each belongs to a lane and a step, so that
//! it does not matter which thread needs it first.

/// The numbers of one training.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noise {
    key: u64,
}

/// Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators": the odd number
/// nearest to two to the 64th over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Noise {
    pub(crate) fn new(seed_base: u64) -> Self {
        Self { key: mix(seed_base ^ 0x6e6f_6973_6500_0000) }
    }

    /// 64 random bits.
    pub(crate) fn bits(self, lane: u64, step: u64) -> u64 {
        let lane = mix(self.key.wrapping_add((lane + 1).wrapping_mul(GOLDEN)));
        mix(lane.wrapping_add((step + 1).wrapping_mul(GOLDEN)))
    }

    /// A number from 0 to 1, without 1.
    pub(crate) fn uniform(self, lane: u64, step: u64) -> f32 {
        // As many bits as a number has.
        (self.bits(lane, step) >> 40) as f32 / (1 << 24) as f32
    }

    /// Fills `numbers` with standard normal ones, by the method of Box and Muller.
    pub(crate) fn normals(self, lane: u64, step: u64, numbers: &mut [f32]) {
        let mut bits = self.bits(lane, step);
        for pair in numbers.chunks_mut(2) {
            let [a, b] = [bits >> 32, bits & 0xffff_ffff].map(|x| x as f64 / 4_294_967_296.0);
            let radius = (-2.0 * (1.0 - a).ln()).sqrt();
            let (sine, cosine) = (std::f64::consts::TAU * b).sin_cos();
            for (number, x) in pair.iter_mut().zip([radius * cosine, radius * sine]) {
                *number = x as f32;
            }
            bits = mix(bits.wrapping_add(GOLDEN));
        }
    }
}

/// The finalizer of SplitMix64.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_numbers_are_even_along_lanes_and_steps() {
        let noise = Noise::new(7);
        for [n_lanes, n_steps] in [[1, 100_000], [100_000, 1], [300, 333]] {
            let mut counts = [0_u32; 10];
            for lane in 0..n_lanes {
                for step in 0..n_steps {
                    let x = noise.uniform(lane, step);
                    assert!((0.0..1.0).contains(&x));
                    counts[(x * 10.0) as usize] += 1;
                }
            }
            // Five standard deviations of a count of 10,000 are 475.
            assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
        }
        assert_ne!(Noise::new(7).bits(0, 0), Noise::new(8).bits(0, 0));
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let noise = Noise::new(3);
        let mut all = Vec::new();
        for step in 0..20_000 {
            let mut numbers = [0.0; 5];
            noise.normals(2, step, &mut numbers);
            all.extend(numbers.map(f64::from));
        }
        let n = all.len() as f64;
        let moment = |power: i32| all.iter().map(|x| x.powi(power)).sum::<f64>() / n;
        assert!(moment(1).abs() < 0.02 && (moment(2) - 1.0).abs() < 0.03, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.2, "{}", moment(4));
        // Neighbours in a step do not go together.
        let product: f64 = all.chunks(5).map(|x| x[0] * x[1] + x[2] * x[4]).sum();
        assert!((product / n).abs() < 0.01, "{product}");
    }
}
