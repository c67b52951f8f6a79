//! The product of two matrices, tile by tile, finished while the tile is in registers.

use super::vector::Vector;
use super::{Matrix, tanh_of};

/// A matrix to be multiplied by from the right.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Right<'a> {
    /// Its rows lie one after the other.
    Rows(Matrix<'a>),
    /// Cut into panels.
    Panels(&'a Panels),
}

/// A matrix cut into panels as wide as a tile, each of which lies in one piece. Rows that are a
/// power of two apart would push each other out of the cache: with 256 columns a product takes
/// twice as long without panels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panels {
    /// Panel after panel, row after row within each; the last columns are filled up with zeros.
    values: Vec<f32>,
    n_rows: usize,
    n_columns: usize,
}

impl Right<'_> {
    fn n_rows(&self) -> usize {
        match self {
            Self::Rows(matrix) => matrix.n_rows,
            Self::Panels(panels) => panels.n_rows,
        }
    }

    fn n_columns(&self) -> usize {
        match self {
            Self::Rows(matrix) => matrix.n_columns,
            Self::Panels(panels) => panels.n_columns,
        }
    }
}

/// Cuts `matrix`, in either layout, into panels of `VECTORS` vectors, and the columns that are
/// left into panels of one.
#[inline(always)]
pub(super) fn pack<V: Vector, const VECTORS: usize>(matrix: Matrix<'_>, panels: &mut Panels) {
    let Matrix { values, n_rows, n_columns, is_transposed } = matrix;
    let n_filled = n_columns.next_multiple_of(V::LANES);
    panels.values.resize(n_rows * n_filled, 0.0);
    (panels.n_rows, panels.n_columns) = (n_rows, n_columns);
    let mut column = 0;
    while column < n_columns {
        let width = panel_width::<V, VECTORS>(n_columns - column);
        let n = width.min(n_columns - column);
        let panel = &mut panels.values[column * n_rows..(column + width) * n_rows];
        if is_transposed {
            // In blocks, because one of the two sides is in strides.
            for first in (0..n_rows).step_by(BLOCK) {
                let n_block = BLOCK.min(n_rows - first);
                for j in 0..n {
                    let source = &values[(column + j) * n_rows + first..][..n_block];
                    for (i, x) in source.iter().enumerate() {
                        panel[(first + i) * width + j] = *x;
                    }
                }
            }
            if n < width {
                panel.chunks_exact_mut(width).for_each(|row| row[n..].fill(0.0));
            }
        } else {
            for (row, source) in panel.chunks_exact_mut(width).zip(values.chunks_exact(n_columns)) {
                row[..n].copy_from_slice(&source[column..column + n]);
                row[n..].fill(0.0);
            }
        }
        column += width;
    }
}

/// Rows that are turned at once.
const BLOCK: usize = 16;

/// Columns of the next panel when so many are left.
#[inline(always)]
fn panel_width<V: Vector, const VECTORS: usize>(n_left: usize) -> usize {
    if n_left >= VECTORS * V::LANES { VECTORS * V::LANES } else { V::LANES }
}

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
    b: Right<'_>,
    finish: Finish<'_>,
    out: &mut [f32],
) {
    let (n_rows, n_columns) = (b.n_rows(), b.n_columns());
    assert_eq!(a.n_columns, n_rows, "the matrices fit each other");
    assert_eq!(out.len(), a.n_rows * n_columns, "the product fits its place");
    assert!(finish.fits(a.n_rows, n_columns), "the finish fits the product");
    assert_eq!(a.values.len(), a.n_rows * a.n_columns);
    match b {
        Right::Rows(rows) => {
            assert!(!rows.is_transposed, "rows of the second lie one after the other");
            assert_eq!(rows.values.len(), n_rows * n_columns);
        }
        Right::Panels(panels) => {
            assert_eq!(panels.values.len(), n_rows * n_columns.next_multiple_of(V::LANES));
        }
    }
    let mut column = 0;
    while column < n_columns {
        let width = panel_width::<V, VECTORS>(n_columns - column);
        // SAFETY: the sizes were checked above; the instruction set is the caller's.
        unsafe {
            let panel = match b {
                Right::Rows(rows) => (rows.values.as_ptr().add(column), n_columns),
                Right::Panels(panels) => (panels.values.as_ptr().add(column * n_rows), width),
            };
            let place = Place { column, n_columns };
            if width > V::LANES {
                rows::<V, ROWS, VECTORS>(a, panel, finish, out, place, V::LANES);
            } else {
                let n = width.min(n_columns - column);
                rows::<V, ROWS, 1>(a, panel, finish, out, place, n);
            }
        }
        column += width;
    }
}

/// Where a panel's product goes.
#[derive(Clone, Copy)]
struct Place {
    /// Its first column.
    column: usize,
    /// Of the whole product.
    n_columns: usize,
}

/// The columns of a panel of all rows: whole vectors, or one of `width` numbers.
#[inline(always)]
unsafe fn rows<V: Vector, const ROWS: usize, const VECTORS: usize>(
    a: Matrix<'_>,
    panel: (*const f32, usize),
    finish: Finish<'_>,
    out: &mut [f32],
    place: Place,
    width: usize,
) {
    let mut row = 0;
    // SAFETY: the tiles lie within the matrices.
    unsafe {
        while row + ROWS <= a.n_rows {
            tile::<V, ROWS, VECTORS>(a, panel, finish, out, place, [row, width]);
            row += ROWS;
        }
        if ROWS > 4 && row + 4 <= a.n_rows {
            tile::<V, 4, VECTORS>(a, panel, finish, out, place, [row, width]);
            row += 4;
        }
        while row < a.n_rows {
            tile::<V, 1, VECTORS>(a, panel, finish, out, place, [row, width]);
            row += 1;
        }
    }
}

#[inline(always)]
unsafe fn tile<V: Vector, const ROWS: usize, const VECTORS: usize>(
    a: Matrix<'_>,
    (panel, panel_stride): (*const f32, usize),
    finish: Finish<'_>,
    out: &mut [f32],
    Place { column, n_columns }: Place,
    [row, width]: [usize; 2],
) {
    let is_whole = width == V::LANES;
    let (row_stride, k_stride) = if a.is_transposed { (1, a.n_rows) } else { (a.n_columns, 1) };
    // SAFETY: `a` has the rows from `row` on, and the panel, `out` and `finish` the columns from
    // `column` on: as many vectors as there are, or one of `width` numbers.
    unsafe {
        let mut sums = [[V::splat(0.0); VECTORS]; ROWS];
        let mut left = a.values.as_ptr().add(row * row_stride);
        let mut right = panel;
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
            right = right.wrapping_add(panel_stride);
        }
        for (i, sums) in sums.into_iter().enumerate() {
            for (j, sum) in sums.into_iter().enumerate() {
                let at_column = column + j * V::LANES;
                let at = (row + i) * n_columns + at_column;
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
