//! Dense arithmetic in `f32`: plain loops that the compiler vectorises, compiled three times.
//!
//! Each kernel is one generic body, inlined into a copy per instruction set, and [`Isa`] picks the
//! copy at run time. Every sum runs over its index in sequence with one fused multiply-add per
//! term, whatever the tile, so AVX2 and AVX-512 give the same bits. The baseline has no fused
//! multiply-add and rounds differently.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calling a function that needs a detected CPU feature")
)]

/// The instruction set to run on. Only a detected one can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Isa(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The best instruction set of this processor.
    pub(crate) fn detect() -> Self {
        Self::available().last().expect("the baseline is always there")
    }

    /// Every instruction set of this processor, the best last.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        Level::ALL.iter().copied().filter(|level| level.is_detected()).map(Self)
    }
}

impl Level {
    /// Every level that this program was compiled for, the best last.
    const ALL: &'static [Self] = &[
        Self::Baseline,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
    ];

    /// Whether this processor has every feature that the copies of this level are compiled with.
    fn is_detected(self) -> bool {
        match self {
            Self::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Self::Avx2.is_detected() && is_x86_feature_detected!("avx512f"),
        }
    }
}

/// What a kernel's body may know of the instruction set it is compiled for.
trait Target {
    const LEVEL: Level;

    /// `a * b + c`, fused where the processor can.
    #[inline(always)]
    fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
        if Self::LEVEL == Level::Baseline { a * b + c } else { a.mul_add(b, c) }
    }
}

struct Baseline;
#[cfg(target_arch = "x86_64")]
struct Avx2;
#[cfg(target_arch = "x86_64")]
struct Avx512;

impl Target for Baseline {
    const LEVEL: Level = Level::Baseline;
}
#[cfg(target_arch = "x86_64")]
impl Target for Avx2 {
    const LEVEL: Level = Level::Avx2;
}
#[cfg(target_arch = "x86_64")]
impl Target for Avx512 {
    const LEVEL: Level = Level::Avx512;
}

/// Defines kernels that take an [`Isa`] and run their generic body in the copy compiled for it.
macro_rules! kernels {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) = $body:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(isa: Isa, $($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($argument: $type),*) {
                $body::<Avx2>($($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,avx512f")]
            fn avx512($($argument: $type),*) {
                $body::<Avx512>($($argument),*);
            }
            match isa.0 {
                Level::Baseline => $body::<Baseline>($($argument),*),
                // SAFETY: an `Isa` of this level exists only where its features were detected.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { avx2($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { avx512($($argument),*) },
            }
        }
    )*};
}

kernels! {
    /// Writes the product of `a` and `b` into `out`, plus `bias` on every row where there is one.
    /// `scratch` is overwritten.
    fn multiply(
        a: Matrix<'_>,
        b: Matrix<'_>,
        bias: Option<&[f32]>,
        out: &mut [f32],
        scratch: &mut Vec<f32>
    ) = multiply_body;

    /// Writes the sum of each column of `matrix` into `out`.
    fn sum_rows(matrix: Matrix<'_>, out: &mut [f32]) = sum_rows_body;

    /// Replaces every element by its hyperbolic tangent, to within 1e-6.
    fn tanh(values: &mut [f32]) = tanh_body;

    /// Takes `gradient` back through a hyperbolic tangent whose results were `outputs`.
    fn tanh_backward(outputs: &[f32], gradient: &mut [f32]) = tanh_backward_body;

    /// Adds the squares of `values` to `sum`.
    fn add_squares(values: &[f32], sum: &mut f32) = add_squares_body;

    /// One step of Adam on every parameter.
    fn adam(
        step: AdamStep,
        gradient: &[f32],
        parameters: &mut [f32],
        first: &mut [f32],
        second: &mut [f32]
    ) = adam_body;
}

/// A matrix to be read: its rows lie one after the other, or its columns do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    values: &'a [f32],
    n_rows: usize,
    n_columns: usize,
    is_transposed: bool,
}

impl<'a> Matrix<'a> {
    /// A matrix whose rows lie one after the other in `values`.
    pub(crate) fn new(values: &'a [f32], n_rows: usize, n_columns: usize) -> Self {
        assert_eq!(values.len(), n_rows * n_columns, "{n_rows} rows of {n_columns}");
        Self { values, n_rows, n_columns, is_transposed: false }
    }

    /// The same elements with rows and columns exchanged; nothing is copied.
    pub(crate) fn transposed(self) -> Self {
        Self {
            n_rows: self.n_columns,
            n_columns: self.n_rows,
            is_transposed: !self.is_transposed,
            ..self
        }
    }
}

/// The numbers of a step of Adam that are the same for every parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdamStep {
    /// The gradient is multiplied by this first.
    pub(crate) scale: f32,
    /// Decay of the first moment.
    pub(crate) decay_first: f32,
    /// Decay of the second moment.
    pub(crate) decay_second: f32,
    /// Learning rate, corrected for the bias of the first moment.
    pub(crate) step_size: f32,
    /// One over the square root of the bias correction of the second moment.
    pub(crate) second_scale: f32,
    /// Added to the denominator.
    pub(crate) epsilon: f32,
}

/// Tiles of `out` are kept in registers. A tile must be small enough for the compiler to unroll
/// it whole: 8 by 32 would suit AVX-512, but stays in memory, and training is eight times slower
/// (11k instead of 84k steps a second of Cart Pole).
#[inline(always)]
fn multiply_body<T: Target>(
    a: Matrix<'_>,
    b: Matrix<'_>,
    bias: Option<&[f32]>,
    out: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    if T::LEVEL == Level::Baseline {
        multiply_panels::<T, 4, 8>(a, b, bias, out, scratch);
    } else {
        multiply_panels::<T, 4, 16>(a, b, bias, out, scratch);
    }
}

/// Numbers in a cache line.
const LINE: usize = 16;

/// Cuts `b` into panels of `WIDTH` columns and `a` into blocks of `HEIGHT` rows.
#[inline(always)]
fn multiply_panels<T: Target, const HEIGHT: usize, const WIDTH: usize>(
    a: Matrix<'_>,
    b: Matrix<'_>,
    bias: Option<&[f32]>,
    out: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    assert_eq!(a.n_columns, b.n_rows, "the matrices fit each other");
    assert_eq!(out.len(), a.n_rows * b.n_columns, "the product fits its place");
    // On a cache line of its own: a row of the panel that lies across two is read half as fast,
    // and where the allocator puts it changes with everything that was allocated before.
    let n_needed = b.n_rows * WIDTH;
    if scratch.len() < n_needed + LINE {
        scratch.resize(n_needed + LINE, 0.0);
    }
    let start = scratch.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
    let panel = &mut scratch[start..start + n_needed];
    for column in (0..b.n_columns).step_by(WIDTH) {
        let width = WIDTH.min(b.n_columns - column);
        pack::<WIDTH>(b, column, width, panel);
        let mut bias_here = [0.0; WIDTH];
        if let Some(bias) = bias {
            bias_here[..width].copy_from_slice(&bias[column..column + width]);
        }
        let mut row = 0;
        while row + HEIGHT <= a.n_rows {
            let tile = multiply_tile::<T, HEIGHT, WIDTH>(a, row, panel);
            store(&tile, &bias_here, out, b.n_columns, row, column, width);
            row += HEIGHT;
        }
        while row < a.n_rows {
            let tile = multiply_tile::<T, 1, WIDTH>(a, row, panel);
            store(&tile, &bias_here, out, b.n_columns, row, column, width);
            row += 1;
        }
    }
}

/// Copies `width` columns of `b` into rows of `WIDTH`, with zeros to the right.
#[inline(always)]
fn pack<const WIDTH: usize>(b: Matrix<'_>, column: usize, width: usize, panel: &mut [f32]) {
    let rows = panel.chunks_exact_mut(WIDTH);
    if b.is_transposed {
        let columns = &b.values[column * b.n_rows..(column + width) * b.n_rows];
        for (index, row) in rows.enumerate() {
            row[width..].fill(0.0);
            for (x, column) in row.iter_mut().zip(columns.chunks_exact(b.n_rows)) {
                *x = column[index];
            }
        }
    } else {
        for (row, source) in rows.zip(b.values.chunks_exact(b.n_columns)) {
            if width == WIDTH {
                // A length that the compiler knows: a move instead of a call.
                row.copy_from_slice(&source[column..column + WIDTH]);
            } else {
                row[..width].copy_from_slice(&source[column..column + width]);
                row[width..].fill(0.0);
            }
        }
    }
}

/// The product of `HEIGHT` rows of `a` and a panel.
#[inline(always)]
fn multiply_tile<T: Target, const HEIGHT: usize, const WIDTH: usize>(
    a: Matrix<'_>,
    row: usize,
    panel: &[f32],
) -> [[f32; WIDTH]; HEIGHT] {
    let mut tile = [[0.0; WIDTH]; HEIGHT];
    if a.is_transposed {
        for (b, a) in panel.chunks_exact(WIDTH).zip(a.values.chunks_exact(a.n_rows)) {
            let a = &a[row..row + HEIGHT];
            for i in 0..HEIGHT {
                for j in 0..WIDTH {
                    tile[i][j] = T::multiply_add(a[i], b[j], tile[i][j]);
                }
            }
        }
    } else {
        let n = a.n_columns;
        let rows: [&[f32]; HEIGHT] =
            std::array::from_fn(|i| &a.values[(row + i) * n..(row + i + 1) * n]);
        for (index, b) in panel.chunks_exact(WIDTH).enumerate().take(n) {
            for i in 0..HEIGHT {
                for j in 0..WIDTH {
                    tile[i][j] = T::multiply_add(rows[i][index], b[j], tile[i][j]);
                }
            }
        }
    }
    tile
}

#[inline(always)]
fn store<const HEIGHT: usize, const WIDTH: usize>(
    tile: &[[f32; WIDTH]; HEIGHT],
    bias: &[f32; WIDTH],
    out: &mut [f32],
    n_columns: usize,
    row: usize,
    column: usize,
    width: usize,
) {
    for (i, sums) in tile.iter().enumerate() {
        let at = (row + i) * n_columns + column;
        if width == WIDTH {
            for (x, (sum, bias)) in out[at..at + WIDTH].iter_mut().zip(sums.iter().zip(bias)) {
                *x = sum + bias;
            }
        } else {
            for (x, (sum, bias)) in out[at..at + width].iter_mut().zip(sums.iter().zip(bias)) {
                *x = sum + bias;
            }
        }
    }
}

#[inline(always)]
fn sum_rows_body<T: Target>(matrix: Matrix<'_>, out: &mut [f32]) {
    assert!(!matrix.is_transposed, "rows lie one after the other");
    out.fill(0.0);
    for row in matrix.values.chunks_exact(matrix.n_columns) {
        for (sum, x) in out.iter_mut().zip(row) {
            *sum += x;
        }
    }
}

/// With `m = exp(-2|x|) - 1`, the result is `-m / (2 + m)` with the sign of `x`; accurate near
/// zero because `m` is never formed by subtracting neighbours of one.
#[inline(always)]
fn tanh_body<T: Target>(values: &mut [f32]) {
    // Adding this rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    for x in values {
        // Not `max`, which would turn a broken number into a sound one.
        let y = -2.0 * x.abs();
        let y = if y < -40.0 { -40.0 } else { y };
        let shifted = T::multiply_add(y, std::f32::consts::LOG2_E, ROUND);
        let whole = shifted - ROUND;
        let part = T::multiply_add(-whole, LN_2_LOW, T::multiply_add(-whole, LN_2_HIGH, y));
        // exp(part) - 1 by Taylor's series; |part| <= ln(2) / 2 leaves an error below 2e-8.
        let mut sum = 1.0 / 5040.0;
        for factor in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0] {
            sum = T::multiply_add(sum, part, factor);
        }
        let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
        let minus_one = T::multiply_add(power, sum * part, power - 1.0);
        *x = (-minus_one / (2.0 + minus_one)).copysign(*x);
    }
}

#[inline(always)]
fn tanh_backward_body<T: Target>(outputs: &[f32], gradient: &mut [f32]) {
    for (slope, y) in gradient.iter_mut().zip(outputs) {
        *slope *= 1.0 - y * y;
    }
}

/// Sixteen partial sums, so that the order of additions is the same on every instruction set.
#[inline(always)]
fn add_squares_body<T: Target>(values: &[f32], sum: &mut f32) {
    const N: usize = 16;
    let mut sums = [0.0; N];
    let chunks = values.chunks_exact(N);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += x * x;
        }
    }
    for (sum, x) in sums.iter_mut().zip(rest) {
        *sum += x * x;
    }
    *sum += sums.iter().sum::<f32>();
}

#[inline(always)]
fn adam_body<T: Target>(
    step: AdamStep,
    gradient: &[f32],
    parameters: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    let moments = first.iter_mut().zip(second);
    for ((x, slope), (first, second)) in parameters.iter_mut().zip(gradient).zip(moments) {
        let slope = slope * step.scale;
        *first = step.decay_first * *first + (1.0 - step.decay_first) * slope;
        *second = step.decay_second * *second + (1.0 - step.decay_second) * (slope * slope);
        *x -= step.step_size * *first / (second.sqrt() * step.second_scale + step.epsilon);
    }
}

#[cfg(test)]
mod tests;
