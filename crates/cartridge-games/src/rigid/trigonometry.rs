//! Sine and cosine of an `f32`, equal to glibc's on x86-64, on every platform.
//!
//! The method is that of glibc 2.28 and later (Szabolcs Nagy and Wilco Dijkstra, ARM): reduce to
//! a quarter turn in doubles, then a polynomial in doubles, rounded once. glibc picks a copy with
//! or without fused multiply-add at run time. Over all 2^32 inputs the two differ in 34, all of
//! them beyond 17 radians; near zero they are the same, so the plain form serves, and beyond
//! [`PLAIN_LIMIT`] the fused form decides, as it does on every processor of the last ten years.

/// Below this angle the fused and the plain form agree everywhere.
pub(crate) const PLAIN_LIMIT: f32 = 16.0;

/// The cosine of the reduced angle, in powers of its square.
const COS: [f64; 5] = [
    1.0,
    f64::from_bits(0xbfdf_ffff_fd0c_621c),
    f64::from_bits(0x3fa5_5553_e106_8f19),
    f64::from_bits(0xbf56_c087_e89a_359d),
    f64::from_bits(0x3ef9_9343_027b_f8c3),
];
/// The sine of the reduced angle, without its first term.
const SIN: [f64; 3] = [
    f64::from_bits(0xbfc5_5554_5995_a603),
    f64::from_bits(0x3f81_1076_0523_0bc4),
    f64::from_bits(0xbf29_94eb_3774_cf24),
];
const QUARTER_TURN: f64 = std::f64::consts::FRAC_PI_2;
/// Quarter turns per radian, times 2^24.
const QUARTERS: f64 = f64::from_bits(0x4164_5f30_6dc9_c883);
/// Beyond this angle the reduction needs more digits.
const FAST_LIMIT: f32 = 120.0;
/// Below this the sine is the angle, whose sign counts even when it is zero.
const TINY: f32 = 1.0 / 4096.0;

/// The sine and cosine of `angle`.
#[inline(always)]
pub(crate) fn sin_cos(angle: f32) -> (f32, f32) {
    if angle.abs() < PLAIN_LIMIT { sin_cos_plain(angle) } else { sin_cos_fused(angle) }
}

/// The sine and cosine of an angle below [`PLAIN_LIMIT`], without branches.
#[inline(always)]
pub(crate) fn sin_cos_plain(angle: f32) -> (f32, f32) {
    let x = f64::from(angle);
    let (whole, quarters) = nearest_quarter(x);
    let reduced = x - whole * QUARTER_TURN;
    let (sin, cos) = turn(polynomials(reduced, reduced * reduced), quarters);
    (if angle.abs() < TINY { angle } else { sin }, cos)
}

/// The number of quarter turns nearest to `x`, which is below [`PLAIN_LIMIT`], twice: what glibc
/// has from `((x * QUARTERS) as i32 + (1 << 23)) >> 24`.
///
/// A conversion to integers is done one by one even where all else is done in vectors. Here a
/// number so large is added that no digits after the point are left, and its last bits are read.
/// Rounding towards zero, as the conversion does, moves negative numbers up by less than one.
#[inline(always)]
fn nearest_quarter(x: f64) -> (f64, i32) {
    const LARGE: f64 = (3_u64 << 51) as f64;
    const UNIT: f64 = 1.0 / (1 << 24) as f64;
    let fine = x * QUARTERS;
    let fine = if fine < 0.0 { fine + 1.0 } else { fine };
    let sum = fine * UNIT + LARGE;
    (sum - LARGE, sum.to_bits() as i32)
}

/// Sine and cosine of a reduced angle.
#[inline(always)]
fn polynomials(x: f64, x2: f64) -> (f32, f32) {
    let x3 = x * x2;
    let sin = (x + x3 * SIN[0]) + (x3 * x2) * (SIN[1] + x2 * SIN[2]);
    let x4 = x2 * x2;
    let cos = ((COS[0] + x2 * COS[1]) + x4 * COS[2]) + (x4 * x2) * (COS[3] + x2 * COS[4]);
    (sin as f32, cos as f32)
}

/// Sine and cosine after so many quarter turns more.
#[inline(always)]
fn turn((sin, cos): (f32, f32), quarters: i32) -> (f32, f32) {
    let (sin, cos) = if quarters & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let is_left = quarters & 2 != 0;
    let is_below = (quarters + 1) & 2 != 0;
    (if is_left { -sin } else { sin }, if is_below { -cos } else { cos })
}

/// As [`sin_cos_plain`], with every multiply-add fused: what glibc does on a processor that can.
#[cold]
fn sin_cos_fused(angle: f32) -> (f32, f32) {
    if !angle.is_finite() {
        return (f32::NAN, f32::NAN);
    }
    let (x, quarters) = if angle.abs() < FAST_LIMIT {
        let x = f64::from(angle);
        let quarters = ((x * QUARTERS) as i32 + 0x80_0000) >> 24;
        (f64::from(-quarters).mul_add(QUARTER_TURN, x), quarters)
    } else {
        reduce_large(angle)
    };
    let x2 = x * x;
    let x3 = x * x2;
    let sin = (x3 * x2).mul_add(x2.mul_add(SIN[2], SIN[1]), x3.mul_add(SIN[0], x));
    let x4 = x2 * x2;
    let cos = (x4 * x2)
        .mul_add(x2.mul_add(COS[4], COS[3]), x4.mul_add(COS[2], x2.mul_add(COS[1], COS[0])));
    turn((sin as f32, cos as f32), quarters)
}

/// A large angle without its full turns, and how many quarter turns were left out.
fn reduce_large(angle: f32) -> (f64, i32) {
    /// The binary digits of 4/π, 32 at a time, beginning every 8.
    const DIGITS: [u32; 24] = [
        0xa2, 0xa2f9, 0xa2f983, 0xa2f9836e, 0xf9836e4e, 0x836e4e44, 0x6e4e4415, 0x4e441529,
        0x441529fc, 0x1529fc27, 0x29fc2757, 0xfc2757d1, 0x2757d1f5, 0x57d1f534, 0xd1f534dd,
        0xf534ddc0, 0x34ddc0db, 0xddc0db62, 0xc0db6295, 0xdb629599, 0x6295993c, 0x95993c43,
        0x993c4390, 0x3c439041,
    ];
    /// π times 2^-63.
    const SCALE: f64 = f64::from_bits(0x3c19_21fb_5444_2d18);
    let bits = angle.to_bits();
    let first = ((bits >> 26) & 15) as usize;
    let mantissa = ((bits & 0xff_ffff) | 0x80_0000) << ((bits >> 23) & 7);
    let wide = |index: usize| u64::from(mantissa) * u64::from(DIGITS[index]);
    let high = u64::from(mantissa.wrapping_mul(DIGITS[first]));
    let product = ((wide(first + 8) >> 32) | (high << 32)).wrapping_add(wide(first + 4));
    let quarters = product.wrapping_add(1 << 61) >> 62;
    let x = product.wrapping_sub(quarters << 62) as i64 as f64 * SCALE;
    // The sine is odd and the cosine even, so the sign is that of a turn the other way.
    if angle < 0.0 { (-x, -(quarters as i32)) } else { (x, quarters as i32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the platform's sine and cosine; glibc rounds 0.4% of them differently from
    /// most others, so elsewhere they are only close.
    #[track_caller]
    fn check(bits: u32) {
        let angle = f32::from_bits(bits);
        let (sin, cos) = sin_cos(angle);
        if !angle.is_finite() {
            assert!(sin.is_nan() && cos.is_nan());
        } else if cfg!(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")) {
            let is_fused = is_fused();
            if angle.abs() < PLAIN_LIMIT || is_fused {
                assert_eq!(sin.to_bits(), angle.sin().to_bits(), "sin {angle}");
                assert_eq!(cos.to_bits(), angle.cos().to_bits(), "cos {angle}");
            }
        } else {
            assert!((sin - angle.sin()).abs() < 1e-6 && (cos - angle.cos()).abs() < 1e-6);
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_fused() -> bool {
        is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2")
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_fused() -> bool {
        false
    }

    #[test]
    fn equals_the_platform_on_a_sample() {
        check((-0.0_f32).to_bits());
        for step in 0..1_000_000_u32 {
            check(step.wrapping_mul(4_294_967));
            // Most angles of a walk are small.
            let small = (step as f32 - 5e5) * 1.3e-5;
            check(small.to_bits());
        }
    }

    #[test]
    fn finds_the_quarter_that_integers_give() {
        let check = |angle: f32| {
            let x = f64::from(angle);
            let quarters = ((x * QUARTERS) as i32 + (1 << 23)) >> 24;
            assert_eq!(nearest_quarter(x), (f64::from(quarters), quarters), "{angle}");
        };
        // They could differ where the next quarter begins.
        for odd in (-21_i32..21).step_by(2) {
            let middle = (f64::from(odd) * QUARTER_TURN / 2.0) as f32;
            for off in 0..1000 {
                check(f32::from_bits(middle.to_bits() + 500 - off));
            }
        }
        let all = 0..PLAIN_LIMIT.to_bits();
        let step = if std::env::var_os("RUN_SLOW_TESTS").is_some() { 1 } else { 997 };
        for angle in all.step_by(step).map(f32::from_bits) {
            check(angle);
            check(-angle);
        }
    }

    #[test]
    fn equals_the_platform_on_every_angle() {
        if std::env::var_os("RUN_SLOW_TESTS").is_none() {
            return;
        }
        (0..=u32::MAX).for_each(check);
    }
}
