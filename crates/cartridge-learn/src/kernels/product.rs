//! The product of two matrices, tile by tile, finished while the tile is in registers.

use super::vector::Vector;
use super::{Matrix, tanh_of};

/// What is done to a product before it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finish<'a> {
    /// Nothing.
    Plain,
    /// A number is added to every element of a column.
    Bias(&'a [f32]),
    /// As [`Self::Bias`], then the hyperbolic tangent.
    BiasTanh(&'a [f32]),
    /// As [`Self::Bias`], then nothing below zero.
    BiasRelu(&'a [f32]),
    /// Multiplied by the slope of the hyperbolic tangent where its results were these, element by
    /// element.
    TanhSlope(&'a [f32]),
    /// Kept only where these are above zero, element by element.
    ReluSlope(&'a [f32]),
}

impl Finish<'_> {
    /// Whether it has as many numbers as a product of this size needs.
    fn fits(&self, n_rows: usize, n_columns: usize) -> bool {
        match self {
            Self::Plain => true,
            Self::Bias(bias) | Self::BiasTanh(bias) | Self::BiasRelu(bias) => {
                bias.len() == n_columns
            }
            Self::TanhSlope(outputs) | Self::ReluSlope(outputs) => {
                outputs.len() == n_rows * n_columns
            }
        }
    }
}

/// Writes the product of `a` and `b` into `out`, in tiles of `ROWS` rows and `VECTORS` vectors.
/// Every element is the sum over `k` in sequence, whatever its tile.
#[inline(always)]
pub(super) fn multiply<V: Vector, const ROWS: usize, const VECTORS: usize>(
    a: Matrix<'_>,
    b: Matrix<'_>,
    finish: Finish<'_>,
    out: &mut [f32],
) {
    assert_eq!(a.n_columns, b.n_rows, "the matrices fit each other");
    assert_eq!(out.len(), a.n_rows * b.n_columns, "the product fits its place");
    assert!(!b.is_transposed, "the rows of the second lie one after the other");
    assert!(finish.fits(a.n_rows, b.n_columns), "the finish fits the product");
    assert_eq!(a.values.len(), a.n_rows * a.n_columns);
    assert_eq!(b.values.len(), b.n_rows * b.n_columns);
    let mut column = 0;
    while column < b.n_columns {
        let left = b.n_columns - column;
        // SAFETY: the sizes were checked above; the instruction set is the caller's.
        unsafe {
            if left >= VECTORS * V::LANES {
                rows::<V, ROWS, VECTORS>(a, b, finish, out, column, V::LANES);
                column += VECTORS * V::LANES;
            } else {
                let width = left.min(V::LANES);
                rows::<V, ROWS, 1>(a, b, finish, out, column, width);
                column += width;
            }
        }
    }
}

/// The columns from `column` on of all rows: whole vectors, or one of `width` numbers.
#[inline(always)]
unsafe fn rows<V: Vector, const ROWS: usize, const VECTORS: usize>(
    a: Matrix<'_>,
    b: Matrix<'_>,
    finish: Finish<'_>,
    out: &mut [f32],
    column: usize,
    width: usize,
) {
    let mut row = 0;
    // SAFETY: the tiles lie within the matrices.
    unsafe {
        while row + ROWS <= a.n_rows {
            tile::<V, ROWS, VECTORS>(a, b, finish, out, [row, column, width]);
            row += ROWS;
        }
        if ROWS > 4 && row + 4 <= a.n_rows {
            tile::<V, 4, VECTORS>(a, b, finish, out, [row, column, width]);
            row += 4;
        }
        while row < a.n_rows {
            tile::<V, 1, VECTORS>(a, b, finish, out, [row, column, width]);
            row += 1;
        }
    }
}

#[inline(always)]
unsafe fn tile<V: Vector, const ROWS: usize, const VECTORS: usize>(
    a: Matrix<'_>,
    b: Matrix<'_>,
    finish: Finish<'_>,
    out: &mut [f32],
    [row, column, width]: [usize; 3],
) {
    let is_whole = width == V::LANES;
    let (row_stride, k_stride) = if a.is_transposed { (1, a.n_rows) } else { (a.n_columns, 1) };
    // SAFETY: `a` has the rows from `row` on, and `b`, `out` and `finish` the columns from
    // `column` on: as many vectors as there are, or one of `width` numbers.
    unsafe {
        let mut sums = [[V::splat(0.0); VECTORS]; ROWS];
        let mut left = a.values.as_ptr().add(row * row_stride);
        let mut right = b.values.as_ptr().add(column);
        for _ in 0..a.n_columns {
            let mut line = [V::splat(0.0); VECTORS];
            for (j, slot) in line.iter_mut().enumerate() {
                *slot = if is_whole {
                    V::load(right.add(j * V::LANES))
                } else {
                    V::load_first(right, width)
                };
            }
            for (i, sums) in sums.iter_mut().enumerate() {
                let x = V::splat(*left.add(i * row_stride));
                for (sum, line) in sums.iter_mut().zip(line) {
                    *sum = x.multiply_add(line, *sum);
                }
            }
            left = left.wrapping_add(k_stride);
            right = right.wrapping_add(b.n_columns);
        }
        for (i, sums) in sums.into_iter().enumerate() {
            for (j, sum) in sums.into_iter().enumerate() {
                let at_column = column + j * V::LANES;
                let at = (row + i) * b.n_columns + at_column;
                let load = |from: &[f32], at: usize| {
                    let from = from.as_ptr().add(at);
                    if is_whole { V::load(from) } else { V::load_first(from, width) }
                };
                let sum = match finish {
                    Finish::Plain => sum,
                    Finish::Bias(bias) => sum.add(load(bias, at_column)),
                    Finish::BiasTanh(bias) => tanh_of(sum.add(load(bias, at_column))),
                    Finish::BiasRelu(bias) => sum.add(load(bias, at_column)).rectify(),
                    Finish::TanhSlope(outputs) => {
                        let y = load(outputs, at);
                        let slope = y.multiply(V::splat(-1.0)).multiply_add(y, V::splat(1.0));
                        sum.multiply(slope)
                    }
                    Finish::ReluSlope(outputs) => sum.where_positive(load(outputs, at)),
                };
                let to = out.as_mut_ptr().add(at);
                if is_whole { sum.store(to) } else { sum.store_first(to, width) }
            }
        }
    }
}
