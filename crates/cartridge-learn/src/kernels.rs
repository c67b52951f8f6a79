//! Dense arithmetic in `f32`, compiled three times.
//!
//! Each kernel is one generic body, inlined into a copy per instruction set, and [`Isa`] picks the
//! copy at run time. Products are written for registers of any width ([`vector`]); the rest are
//! plain loops that the compiler vectorises. Every sum runs over its index in sequence with one
//! fused multiply-add per term, whatever the tile, so AVX2 and AVX-512 give the same bits. The
//! baseline has no fused multiply-add and rounds differently.

#![expect(unsafe_code, reason = "registers, and functions that need a detected CPU feature")]

mod product;
mod vector;
mod winograd;

use std::ops::Range;
use std::sync::OnceLock;

pub(crate) use self::product::{Finish, Panels, Right, Sieve, Start};
use self::vector::Vector;
pub(crate) use self::winograd::{Board, CHANNELS, Ending, Filters, Gate, Scratch, WINDOW};

/// The instruction set to run on. Only a detected one can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Isa(Level);

/// What this process computes with, from its first use on.
static CHOSEN: OnceLock<Isa> = OnceLock::new();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The instruction set that was chosen, or the best of this processor.
    pub(crate) fn detect() -> Self {
        *CHOSEN.get_or_init(|| Self::available().last().expect("the baseline is always there"))
    }

    /// Takes the instruction set of this name instead of the best; says why not where that cannot be.
    pub(crate) fn choose(name: &str) -> Result<(), String> {
        let Some(isa) = Self::available().find(|isa| isa.name() == name) else {
            let names: Vec<&str> = Self::available().map(Self::name).collect();
            return Err(format!(
                "`{name}` is not an instruction set of this processor; it has {}",
                names.join(", ")
            ));
        };
        match *CHOSEN.get_or_init(|| isa) == isa {
            true => Ok(()),
            false => Err("another instruction set is in use already".to_owned()),
        }
    }

    /// Every instruction set of this processor, the best last.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        Level::ALL.iter().copied().filter(|level| level.is_detected()).map(Self)
    }

    /// The word for it in what runs record.
    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            Level::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        }
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
    /// A register.
    type Vector: Vector;
}

struct Baseline;
#[cfg(target_arch = "x86_64")]
struct Avx2;
#[cfg(target_arch = "x86_64")]
struct Avx512;

impl Target for Baseline {
    const LEVEL: Level = Level::Baseline;
    type Vector = [f32; 4];
}
#[cfg(target_arch = "x86_64")]
impl Target for Avx2 {
    const LEVEL: Level = Level::Avx2;
    type Vector = std::arch::x86_64::__m256;
}
#[cfg(target_arch = "x86_64")]
impl Target for Avx512 {
    const LEVEL: Level = Level::Avx512;
    type Vector = std::arch::x86_64::__m512;
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
    /// Writes the sum of the products of all pairs into `out`.
    fn multiply(
        pairs: &[(Matrix<'_>, Right<'_>)],
        finish: Finish<'_>,
        out: &mut [f32]
    ) = multiply_body;

    /// As [`multiply`], going on with sums that were begun elsewhere.
    fn multiply_on(
        pairs: &[(Matrix<'_>, Right<'_>)],
        start: Start<'_>,
        finish: Finish<'_>,
        out: &mut [f32]
    ) = multiply_on_body;

    /// Writes the product of `a` and `b` into `out`, leaving out what is zero on the left. The bits
    /// are those of [`multiply_on`], unless a number on the right is not finite and meets nothing
    /// but zeros.
    fn multiply_sifted(
        a: Matrix<'_>,
        b: Right<'_>,
        start: Start<'_>,
        finish: Finish<'_>,
        sieve: &mut Sieve,
        out: &mut [f32]
    ) = multiply_sifted_body;

    /// Makes room for panels of a matrix of this size.
    fn resize_panels(n_rows: usize, n_columns: usize, panels: &mut Panels) = resize_panels_body;

    /// Fills the panel that begins at `column` of `matrix`.
    fn pack_panel(matrix: Matrix<'_>, column: usize, panel: &mut [f32]) = pack_panel_body;

    /// Slides windows of three by three over boards: writes into `out` what `filters` make of
    /// `inputs`, both with the channels of a cell side by side.
    fn convolve(
        board: Board,
        inputs: &[f32],
        filters: &Filters,
        ending: Ending<'_>,
        scratch: &mut Scratch,
        out: &mut [f32]
    ) = convolve_body;

    /// Overwrites `gradient` with that of the weights of [`convolve`], where what the loss changes
    /// with its sums is `deltas`.
    fn convolution_gradient(
        board: Board,
        inputs: &[f32],
        deltas: &[f32],
        sizes: [usize; 2],
        scratch: &mut Scratch,
        gradient: &mut [f32]
    ) = convolution_gradient_body;

    /// Takes the weights of windows, a row of outputs for each input for each part of the window,
    /// to where [`convolve`] multiplies them.
    fn transform_weights(weights: &[f32], transformed: &mut [f32]) = transform_weights_body;

    /// Adds `values` to `sums`, element by element.
    fn add(values: &[f32], sums: &mut [f32]) = add_body;

    /// Adds the sum of the sizes in each column of `matrix` to `out`.
    fn add_sizes(matrix: Matrix<'_>, out: &mut [f32]) = add_sizes_body;

    /// Adds the sum of each column of `matrix` to `out`.
    fn sum_rows(matrix: Matrix<'_>, out: &mut [f32]) = sum_rows_body;

    /// Replaces every number by its exponential, to within 1e-6; below -87 there is nothing left.
    /// None may be above 88.
    fn exp(values: &mut [f32]) = exp_body;

    /// Adds the squares of all of `matrix` to `sum`.
    fn add_squares(matrix: Matrix<'_>, sum: &mut f32) = add_squares_body;

    /// One step of Adam on every parameter.
    fn adam(
        step: AdamStep,
        gradient: &[f32],
        parameters: &mut [f32],
        first: &mut [f32],
        second: &mut [f32]
    ) = adam_body;
}

/// Cuts `matrix` into panels.
pub(crate) fn pack(isa: Isa, matrix: Matrix<'_>, panels: &mut Panels) {
    resize_panels(isa, matrix.n_rows, matrix.n_columns, panels);
    for (column, panel) in panels.each_mut() {
        pack_panel(isa, matrix, column, panel);
    }
}

/// Cuts some columns of `matrix`, whose rows lie in one piece each, into panels.
pub(crate) fn pack_columns(isa: Isa, matrix: Matrix<'_>, columns: &[u32], panels: &mut Panels) {
    resize_panels(isa, matrix.n_rows, columns.len(), panels);
    for (first, panel) in panels.each_mut() {
        let width = panel.len() / matrix.n_rows;
        let columns = &columns[first..columns.len().min(first + width)];
        let rows = matrix.values.chunks_exact(matrix.row_stride);
        for (to, row) in panel.chunks_exact_mut(width).zip(rows) {
            let (to, filled) = to.split_at_mut(columns.len());
            for (to, &column) in to.iter_mut().zip(columns) {
                *to = row[column as usize];
            }
            filled.fill(0.0);
        }
    }
}

/// A matrix to be read: its rows lie in one piece each, or its columns do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    values: &'a [f32],
    n_rows: usize,
    n_columns: usize,
    /// How far rows are apart, and columns.
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix whose rows lie one after the other in `values`.
    pub(crate) fn new(values: &'a [f32], n_rows: usize, n_columns: usize) -> Self {
        assert_eq!(values.len(), n_rows * n_columns, "{n_rows} rows of {n_columns}");
        Self { values, n_rows, n_columns, row_stride: n_columns, column_stride: 1 }
    }

    /// The same elements with rows and columns exchanged; nothing is copied.
    pub(crate) fn transposed(self) -> Self {
        Self {
            n_rows: self.n_columns,
            n_columns: self.n_rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// How many rows there are.
    pub(crate) fn n_rows(self) -> usize {
        self.n_rows
    }

    /// One row.
    pub(crate) fn row(values: &'a [f32]) -> Self {
        Self::new(values, 1, values.len())
    }

    /// Some of the columns, of rows that lie in one piece each.
    pub(crate) fn columns(self, columns: Range<usize>) -> Self {
        assert!(columns.end <= self.n_columns, "a matrix of {} columns", self.n_columns);
        let values = self.values.get(columns.start * self.column_stride..).unwrap_or_default();
        Self { values, n_columns: columns.len(), ..self }
    }

    /// Some of the rows.
    pub(crate) fn rows(self, rows: Range<usize>) -> Self {
        assert!(rows.end <= self.n_rows, "a matrix of {} rows", self.n_rows);
        let values = self.values.get(rows.start * self.row_stride..).unwrap_or_default();
        Self { values, n_rows: rows.len(), ..self }
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

/// Vectors of a tile and a panel.
const VECTORS: usize = 2;
/// The same with AVX-512. Tiles are lower so that more of their columns are zero in all rows.
#[cfg(target_arch = "x86_64")]
const VECTORS_AVX512: usize = 4;

/// A tile takes most of the registers: 12 sums of 16 with AVX2, 16 of 32 with AVX-512.
#[inline(always)]
fn multiply_on_body<T: Target>(
    pairs: &[(Matrix<'_>, Right<'_>)],
    start: Start<'_>,
    finish: Finish<'_>,
    out: &mut [f32],
) {
    match T::LEVEL {
        Level::Baseline => product::multiply::<T::Vector, 4, VECTORS, 1>(pairs, start, finish, out),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => product::multiply::<T::Vector, 6, VECTORS, 1>(pairs, start, finish, out),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => {
            product::multiply::<T::Vector, 4, VECTORS_AVX512, 2>(pairs, start, finish, out);
        }
    }
}

#[inline(always)]
fn multiply_body<T: Target>(
    pairs: &[(Matrix<'_>, Right<'_>)],
    finish: Finish<'_>,
    out: &mut [f32],
) {
    multiply_on_body::<T>(pairs, None, finish, out);
}

/// Tiles are as in [`multiply_on_body`].
#[inline(always)]
fn multiply_sifted_body<T: Target>(
    a: Matrix<'_>,
    b: Right<'_>,
    start: Start<'_>,
    finish: Finish<'_>,
    sieve: &mut Sieve,
    out: &mut [f32],
) {
    match T::LEVEL {
        Level::Baseline => {
            product::multiply_sifted::<T::Vector, 4, VECTORS, 1>(a, b, start, finish, sieve, out);
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => {
            product::multiply_sifted::<T::Vector, 6, VECTORS, 1>(a, b, start, finish, sieve, out);
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => {
            product::multiply_sifted::<T::Vector, 4, VECTORS_AVX512, 2>(
                a, b, start, finish, sieve, out,
            );
        }
    }
}

#[inline(always)]
fn resize_panels_body<T: Target>(n_rows: usize, n_columns: usize, panels: &mut Panels) {
    match T::LEVEL {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => panels.resize::<T::Vector, VECTORS_AVX512>(n_rows, n_columns),
        _ => panels.resize::<T::Vector, VECTORS>(n_rows, n_columns),
    }
}

#[inline(always)]
fn pack_panel_body<T: Target>(matrix: Matrix<'_>, column: usize, panel: &mut [f32]) {
    product::pack_panel::<T::Vector>(matrix, column, panel);
}

#[inline(always)]
fn convolve_body<T: Target>(
    board: Board,
    inputs: &[f32],
    filters: &Filters,
    ending: Ending<'_>,
    scratch: &mut Scratch,
    out: &mut [f32],
) {
    winograd::convolve::<T>(board, inputs, filters, ending, scratch, out);
}

#[inline(always)]
fn convolution_gradient_body<T: Target>(
    board: Board,
    inputs: &[f32],
    deltas: &[f32],
    sizes: [usize; 2],
    scratch: &mut Scratch,
    gradient: &mut [f32],
) {
    winograd::gradient::<T>(board, inputs, deltas, sizes, scratch, gradient);
}

#[inline(always)]
fn transform_weights_body<T: Target>(weights: &[f32], transformed: &mut [f32]) {
    winograd::transform_weights(weights, transformed);
}

#[inline(always)]
fn add_body<T: Target>(values: &[f32], sums: &mut [f32]) {
    for (sum, x) in sums.iter_mut().zip(values) {
        *sum += x;
    }
}

#[inline(always)]
fn sum_rows_body<T: Target>(matrix: Matrix<'_>, out: &mut [f32]) {
    assert_eq!(matrix.row_stride, matrix.n_columns, "rows lie one after the other");
    for row in matrix.values.chunks_exact(matrix.n_columns) {
        for (sum, x) in out.iter_mut().zip(row) {
            *sum += x;
        }
    }
}

#[inline(always)]
fn add_sizes_body<T: Target>(matrix: Matrix<'_>, out: &mut [f32]) {
    assert_eq!(matrix.row_stride, matrix.n_columns, "rows lie one after the other");
    for row in matrix.values.chunks_exact(matrix.n_columns) {
        for (sum, x) in out.iter_mut().zip(row) {
            *sum += x.abs();
        }
    }
}

/// Powers of e in two parts, `power` and `minus_one`, so that `exp(x) = power * (1 + minus_one)`,
/// and `minus_one` was not formed by subtracting neighbours of one. `x` is from -87 to 88.
///
/// # Safety
///
/// The processor has the vector's instructions.
#[inline(always)]
unsafe fn exp_parts<V: Vector>(x: V) -> (V, V) {
    // Adding this rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // SAFETY: promised by the caller.
    unsafe {
        let shifted = x.multiply_add(V::splat(std::f32::consts::LOG2_E), V::splat(ROUND));
        let whole = shifted.add(V::splat(-ROUND));
        let part = whole.multiply_add(V::splat(-LN_2_HIGH), x);
        let part = whole.multiply_add(V::splat(-LN_2_LOW), part);
        // exp(part) - 1 by Taylor's series; |part| <= ln(2) / 2 leaves an error below 2e-8.
        let mut sum = V::splat(1.0 / 5040.0);
        for factor in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0] {
            sum = sum.multiply_add(part, V::splat(factor));
        }
        (shifted.power_of_two(), sum.multiply(part))
    }
}

/// The hyperbolic tangent, to within 1e-6: with `m = exp(-2|x|) - 1`, it is `-m / (2 + m)` with
/// the sign of `x`.
///
/// # Safety
///
/// As for [`exp_parts`].
#[inline(always)]
unsafe fn tanh_of<V: Vector>(x: V) -> V {
    // SAFETY: promised by the caller.
    unsafe {
        let size = x.negative_size();
        let (power, minus_one) = exp_parts(size.add(size).at_least(-40.0));
        let m = power.multiply_add(minus_one, power.add(V::splat(-1.0)));
        m.divide(m.add(V::splat(2.0))).with_sign(x)
    }
}

#[inline(always)]
fn exp_body<T: Target>(values: &mut [f32]) {
    let lanes = T::Vector::LANES;
    let whole = values.len() / lanes * lanes;
    // SAFETY: within the slice, on the instruction set of the target.
    unsafe {
        for at in (0..whole).step_by(lanes) {
            let place = values.as_mut_ptr().add(at);
            exp_of(T::Vector::load(place)).store(place);
        }
        let place = values.as_mut_ptr().add(whole);
        let rest = values.len() - whole;
        exp_of(T::Vector::load_first(place, rest)).store_first(place, rest);
    }
}

/// # Safety
///
/// As for [`exp_parts`].
#[inline(always)]
unsafe fn exp_of<V: Vector>(x: V) -> V {
    const LEAST: f32 = -87.0;
    // SAFETY: promised by the caller.
    unsafe {
        let (power, minus_one) = exp_parts(x.at_least(LEAST));
        let exp = power.multiply_add(minus_one, power);
        exp.where_not_below(x, LEAST)
    }
}

/// Sixteen partial sums, so that the order of additions is the same on every instruction set.
#[inline(always)]
fn add_squares_body<T: Target>(matrix: Matrix<'_>, sum: &mut f32) {
    const N: usize = 16;
    let mut sums = [0.0; N];
    for row in 0..matrix.n_rows {
        let chunks = matrix.values[row * matrix.row_stride..][..matrix.n_columns].chunks_exact(N);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (sum, x) in sums.iter_mut().zip(chunk) {
                *sum += x * x;
            }
        }
        for (sum, x) in sums.iter_mut().zip(rest) {
            *sum += x * x;
        }
    }
    *sum += sums.iter().sum::<f32>();
}

/// A moment, or zero where it is too small to move anything. What a dead unit has left would sink
/// below the smallest normal number and stay there, and with such numbers some processors take a
/// hundred times as long.
#[inline(always)]
fn or_zero(moment: f32) -> f32 {
    const LEAST: f32 = 1e-30;
    if moment.abs() < LEAST { 0.0 } else { moment }
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
        *first = or_zero(step.decay_first * *first + (1.0 - step.decay_first) * slope);
        *second =
            or_zero(step.decay_second * *second + (1.0 - step.decay_second) * (slope * slope));
        *x -= step.step_size * *first / (second.sqrt() * step.second_scale + step.epsilon);
    }
}

#[cfg(test)]
mod tests;
