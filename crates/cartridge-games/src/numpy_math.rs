//! NumPy's arithmetic where it is not the plain one, bit for bit, on the x86-64 machines with
//! fused multiply-add for which it is built.
//!
//! Sine and cosine of a `float64` are libm's there, as they are Rust's here.

use std::hint::black_box;

/// `x ** 2` of a `float64` scalar: libm's `pow`, which rounds about one square in a thousand
/// otherwise than `x * x`.
pub fn square(x: f64) -> f64 {
    // A constant exponent would be compiled into `x * x`.
    x.powf(black_box(2.0))
}

/// `x ** 2` of a `float32` scalar: libm's `powf`.
pub fn square_f32(x: f32) -> f32 {
    x.powf(black_box(2.0))
}

/// `numpy.sin` of a `float32` within ±π/4.
///
/// # Panics
///
/// If `x` is beyond that.
pub fn sin_f32(x: f32) -> f32 {
    let square = small_square(x);
    let factor = polynomial(square, [2.840_409_7e-6, -1.985_649_1e-4, 8.333_397e-3, -0.166_666_67]);
    factor.mul_add(square, 0.0).mul_add(x, x)
}

/// `numpy.cos` of a `float32` within ±π/4.
///
/// # Panics
///
/// If `x` is beyond that.
pub fn cos_f32(x: f32) -> f32 {
    polynomial(small_square(x), [2.437_226_6e-5, -1.388_652e-3, 4.166_662e-2, -0.5, 1.0])
}

/// `x * x`, for angles that need no reduction.
fn small_square(x: f32) -> f32 {
    assert!(x.abs() <= std::f32::consts::FRAC_PI_4, "{x} is beyond a quarter of pi");
    x * x
}

/// Horner's scheme, from the highest power down.
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    coefficients.into_iter().reduce(|sum, next| sum.mul_add(x, next)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // What NumPy 2.4.6 gives where the plain operation gives the neighbouring number.

    #[test]
    fn squares() {
        let (x, y) = (3.8384679307547636_f64, 0.13095374_f32);
        assert_eq!((square(x), x * x), (14.733836055432755, 14.733836055432757));
        assert_eq!((square_f32(y), y * y), (0.017148884, 0.017148882));
    }

    #[test]
    fn angles_of_one_word() {
        let (x, y) = (-0.08591409_f32, 0.08205318_f32);
        assert_eq!((sin_f32(x), f64::from(x).sin() as f32), (-0.08580843, -0.08580844));
        assert_eq!((cos_f32(y), f64::from(y).cos() as f32), (0.99663556, 0.9966355));
    }
}
