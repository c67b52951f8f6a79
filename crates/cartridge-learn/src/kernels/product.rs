//! The product of two matrices, tile by tile, finished while the tile is in registers.

use std::ops::Range;

use super::vector::{TURNED, Vector};
use super::{Matrix, tanh_of};
use crate::lines::Lines;

/// A matrix to be multiplied by from the right.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Right<'a> {
    /// Its rows lie one after the other.
    Rows(Matrix<'a>),
    /// Cut into panels.
    Panels(&'a Panels),
    /// Some rows and columns of what is cut into panels.
    Cut(Cut<'a>),
}

/// A matrix cut into panels as wide as a tile, each of which lies in one piece. Rows that are a
/// power of two apart would push each other out of the cache: with 256 columns a product takes
/// twice as long without panels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panels {
    /// Panel after panel, row after row within each; the last columns are filled up with zeros.
    values: Lines,
    n_rows: usize,
    n_columns: usize,
    /// Columns of a panel of several vectors, of one of half as many, and of one of a single vector.
    widths: [usize; 3],
}

impl Panels {
    /// Makes room for a matrix of this size.
    pub(super) fn resize<V: Vector, const VECTORS: usize>(&mut self, n_rows: usize, n: usize) {
        (self.n_rows, self.n_columns) = (n_rows, n);
        self.widths = widths::<V, VECTORS>();
        self.values.resize(n_rows * n.next_multiple_of(V::LANES));
    }

    /// Every panel with the number of its first column.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = (usize, &mut [f32])> {
        let Self { values, n_rows, n_columns, widths } = self;
        let (mut rest, mut column) = (&mut values[..], 0);
        std::iter::from_fn(move || {
            let first = column;
            let n_left = n_columns.checked_sub(first).filter(|&n| n > 0)?;
            column += panel_width(*widths, n_left);
            let size = (column - first) * *n_rows;
            Some((first, rest.split_off_mut(..size)?))
        })
    }

    /// Some of its rows and columns; of the columns, whole panels of the widest.
    pub(crate) fn cut(&self, rows: Range<usize>, columns: Range<usize>) -> Cut<'_> {
        assert!(rows.end <= self.n_rows && columns.end <= self.n_columns, "what there is");
        let is_whole = |column: usize| column.is_multiple_of(self.widths[0]);
        let ends_whole = is_whole(columns.end) || columns.end == self.n_columns;
        assert!(is_whole(columns.start) && ends_whole, "whole panels");
        Cut {
            panels: self,
            rows: (rows.start, rows.len()),
            columns: (columns.start, columns.len()),
        }
    }
}

/// Some rows and columns of [`Panels`]: the first, and how many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut<'a> {
    panels: &'a Panels,
    rows: (usize, usize),
    columns: (usize, usize),
}

impl Right<'_> {
    fn n_rows(&self) -> usize {
        match self {
            Self::Rows(matrix) => matrix.n_rows,
            Self::Panels(panels) => panels.n_rows,
            Self::Cut(cut) => cut.rows.1,
        }
    }

    fn n_columns(&self) -> usize {
        match self {
            Self::Rows(matrix) => matrix.n_columns,
            Self::Panels(panels) => panels.n_columns,
            Self::Cut(cut) => cut.columns.1,
        }
    }

    /// Where the panel from `column` on lies, and how far its rows are apart.
    ///
    /// # Safety
    ///
    /// There is such a column, and the panel before it ends there.
    #[inline(always)]
    unsafe fn panel(&self, column: usize, width: usize) -> (*const f32, usize) {
        // SAFETY: promised by the caller.
        unsafe {
            match self {
                Self::Rows(rows) => (rows.values.as_ptr().add(column), rows.row_stride),
                Self::Panels(panels) => (panels.values.as_ptr().add(column * panels.n_rows), width),
                Self::Cut(Cut { panels, rows, columns }) => {
                    let panel = (columns.0 + column) * panels.n_rows;
                    (panels.values.as_ptr().add(panel + rows.0 * width), width)
                }
            }
        }
    }

    /// Whether all its numbers are where [`Self::panel`] says.
    fn is_whole<V: Vector>(&self) -> bool {
        match self {
            Self::Rows(rows) => rows.column_stride == 1,
            Self::Panels(panels) | Self::Cut(Cut { panels, .. }) => {
                panels.values.len() == panels.n_rows * panels.n_columns.next_multiple_of(V::LANES)
            }
        }
    }
}

/// Fills the panel that begins at `column` of `matrix`, in either layout. The columns that are
/// missing in the last panel are filled with zeros.
#[inline(always)]
pub(super) fn pack_panel<V: Vector>(matrix: Matrix<'_>, column: usize, panel: &mut [f32]) {
    let Matrix { values, n_rows, n_columns, row_stride, column_stride } = matrix;
    let width = panel.len() / n_rows;
    let n = width.min(n_columns - column);
    if column_stride == 1 {
        for (index, row) in panel.chunks_exact_mut(width).enumerate() {
            row[..n].copy_from_slice(&values[index * row_stride + column..][..n]);
            row[n..].fill(0.0);
        }
        return;
    }
    assert_eq!(row_stride, 1, "rows or columns lie in one piece");
    let (n_turned, n_even) = (n / TURNED * TURNED, n_rows / TURNED * TURNED);
    let at = |row: usize, j: usize| (column + j) * column_stride + row;
    for row in (0..n_even).step_by(TURNED) {
        for j in (0..n_turned).step_by(TURNED) {
            let (from, to) =
                (&values[at(row, j)..=at(row + 7, j + 7)], &mut panel[row * width + j..]);
            assert!(to.len() > (TURNED - 1) * width + TURNED - 1);
            // SAFETY: both squares lie within the slices.
            unsafe { V::turn(from.as_ptr(), column_stride, to.as_mut_ptr(), width) };
        }
    }
    for (row, line) in panel.chunks_exact_mut(width).enumerate() {
        for j in if row < n_even { n_turned } else { 0 }..n {
            line[j] = values[at(row, j)];
        }
        line[n..].fill(0.0);
    }
}

/// Columns of panels, the widest first.
#[inline(always)]
fn widths<V: Vector, const VECTORS: usize>() -> [usize; 3] {
    [VECTORS * V::LANES, VECTORS / 2 * V::LANES, V::LANES]
}

/// Columns of the next panel when so many are left.
#[inline(always)]
fn panel_width(widths: [usize; 3], n_left: usize) -> usize {
    widths.into_iter().find(|&width| n_left >= width).unwrap_or(widths[2])
}

/// In which columns a matrix has anything but zeros: for some rows at a time, those of a tile.
/// After a rectifier many have none. A product that leaves them out has the same bits, because
/// every sum begins with zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sieve {
    columns: Vec<u32>,
    /// Where the columns of each tile end.
    ends: Vec<usize>,
}

impl Sieve {
    /// Adds a tile of `n` rows of `matrix`, which lie in one piece each, from `row` on.
    #[inline(always)]
    fn push<V: Vector>(&mut self, matrix: Matrix<'_>, row: usize, n: usize) {
        let n_columns = matrix.n_columns;
        let start = self.ends.last().copied().unwrap_or(0);
        // A vector may be written behind the last place.
        self.columns.resize(start + n_columns + V::LANES, 0);
        let line = |index: usize| &matrix.values[(row + index) * matrix.row_stride..][..n_columns];
        let places = &mut self.columns[start..];
        let mut n_kept = 0;
        let whole = n_columns / V::LANES * V::LANES;
        // SAFETY: the vectors lie within the lines, and there is a place for every column and a
        // vector more; the instruction set is the caller's.
        unsafe {
            for first in (0..whole).step_by(V::LANES) {
                let mut is_kept = 0;
                for index in 0..n {
                    is_kept |= V::load(line(index).as_ptr().add(first)).not_zero();
                }
                n_kept += V::list(is_kept, first as u32, places.as_mut_ptr().add(n_kept));
            }
        }
        for column in whole..n_columns {
            places[n_kept] = column as u32;
            n_kept += usize::from((0..n).any(|index| line(index)[column] != 0.0));
        }
        self.ends.push(start + n_kept);
    }

    /// The columns of a tile.
    fn tile(&self, index: usize) -> &[u32] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.columns[start..self.ends[index]]
    }
}

/// What the sums of a product begin with, element by element: zero, or what was summed up before.
pub(crate) type Start<'a> = Option<&'a [f32]>;

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
    /// Added to what is there.
    Sum,
}

impl Finish<'_> {
    /// Whether it has as many numbers as a product of this size needs.
    fn fits(&self, n_rows: usize, n_columns: usize) -> bool {
        match self {
            Self::Plain | Self::Sum => true,
            Self::Bias(bias) | Self::BiasTanh(bias) | Self::BiasRelu(bias) => {
                bias.len() == n_columns
            }
            Self::TanhSlope(outputs) | Self::ReluSlope(outputs) => {
                outputs.len() == n_rows * n_columns
            }
        }
    }
}

/// Writes the sum of the products of all pairs into `out`, in tiles of `ROWS` rows and `VECTORS`
/// vectors, `HALF` of them or one. Every element is the sum over `k` in sequence, from pair to pair, whatever its tile.
#[inline(always)]
pub(super) fn multiply<V: Vector, const ROWS: usize, const VECTORS: usize, const HALF: usize>(
    pairs: &[(Matrix<'_>, Right<'_>)],
    start: Start<'_>,
    finish: Finish<'_>,
    out: &mut [f32],
) {
    let (n_rows, n_columns) = (pairs[0].0.n_rows, pairs[0].1.n_columns());
    assert_eq!(out.len(), n_rows * n_columns, "the product fits its place");
    assert!(start.is_none_or(|start| start.len() == out.len()), "the start fits the product");
    assert!(finish.fits(n_rows, n_columns), "the finish fits the product");
    for (a, b) in pairs {
        assert_eq!(a.n_columns, b.n_rows(), "the matrices fit each other");
        assert_eq!([a.n_rows, b.n_columns()], [n_rows, n_columns], "all products are of one size");
        assert!(b.is_whole::<V>(), "rows of the second lie in one piece");
    }
    let mut column = 0;
    while column < n_columns {
        let n_left = n_columns - column;
        let width = panel_width(widths::<V, VECTORS>(), n_left);
        let place = Place { row: 0, column, n_columns, width: V::LANES.min(n_left) };
        // SAFETY: the sizes were checked above; the instruction set is the caller's.
        unsafe {
            if width == VECTORS * V::LANES {
                rows::<V, ROWS, VECTORS>(pairs, start, finish, out, place, n_rows);
            } else if width == HALF * V::LANES {
                rows::<V, ROWS, HALF>(pairs, start, finish, out, place, n_rows);
            } else {
                rows::<V, ROWS, 1>(pairs, start, finish, out, place, n_rows);
            }
        }
        column += width;
    }
}

/// Where a tile goes.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    column: usize,
    /// Of the whole product.
    n_columns: usize,
    /// Columns of each vector: all lanes, or fewer in the last.
    width: usize,
}

/// The columns of a panel of all rows: whole vectors, or one of some numbers.
#[inline(always)]
unsafe fn rows<V: Vector, const ROWS: usize, const VECTORS: usize>(
    pairs: &[(Matrix<'_>, Right<'_>)],
    start: Start<'_>,
    finish: Finish<'_>,
    out: &mut [f32],
    mut place: Place,
    n_rows: usize,
) {
    // SAFETY: the tiles lie within the matrices.
    unsafe {
        while place.row + ROWS <= n_rows {
            tile::<V, ROWS, VECTORS>(pairs, start, finish, out, place);
            place.row += ROWS;
        }
        if ROWS > 4 && place.row + 4 <= n_rows {
            tile::<V, 4, VECTORS>(pairs, start, finish, out, place);
            place.row += 4;
        }
        while place.row < n_rows {
            tile::<V, 1, VECTORS>(pairs, start, finish, out, place);
            place.row += 1;
        }
    }
}

#[inline(always)]
unsafe fn tile<V: Vector, const ROWS: usize, const VECTORS: usize>(
    pairs: &[(Matrix<'_>, Right<'_>)],
    start: Start<'_>,
    finish: Finish<'_>,
    out: &mut [f32],
    place: Place,
) {
    // SAFETY: every left matrix has the rows, and every right one, `start`, `out` and `finish` the
    // columns of this place.
    unsafe {
        let mut sums = first_sums::<V, ROWS, VECTORS>(start, place);
        for &(a, b) in pairs {
            add_products(a, b, place, 0..a.n_columns, &mut sums);
        }
        finish_tile(sums, finish, out, place);
    }
}

/// What the sums of a tile begin with.
#[inline(always)]
unsafe fn first_sums<V: Vector, const ROWS: usize, const VECTORS: usize>(
    start: Start<'_>,
    place: Place,
) -> [[V; VECTORS]; ROWS] {
    // SAFETY: `start` has the rows and columns of this place.
    unsafe {
        let mut sums = [[V::splat(0.0); VECTORS]; ROWS];
        let Some(start) = start else { return sums };
        let at =
            |row: usize| start.as_ptr().add((place.row + row) * place.n_columns + place.column);
        for (i, sums) in sums.iter_mut().enumerate() {
            for (j, sum) in sums.iter_mut().enumerate() {
                let from = at(i).add(j * V::LANES);
                *sum = match place.width == V::LANES {
                    true => V::load(from),
                    false => V::load_first(from, place.width),
                };
            }
        }
        // They were written by another thread, perhaps on a core that is far: the next are asked for
        // in time.
        if place.row + 2 * ROWS <= start.len() / place.n_columns {
            (0..ROWS).for_each(|i| {
                (0..VECTORS).for_each(|j| V::ask_for(at(ROWS + i).add(j * V::LANES)));
            });
        }
        sums
    }
}

/// Adds to a tile the products over these `k`.
#[inline(always)]
unsafe fn add_products<V: Vector, const ROWS: usize, const VECTORS: usize>(
    a: Matrix<'_>,
    b: Right<'_>,
    place: Place,
    ks: impl Iterator<Item = usize>,
    sums: &mut [[V; VECTORS]; ROWS],
) {
    let is_whole = place.width == V::LANES;
    // SAFETY: `a` has the rows and `b` the columns of this place, and both every `k`.
    unsafe {
        let left = a.values.as_ptr().add(place.row * a.row_stride);
        let (right, panel_stride) = b.panel(place.column, VECTORS * V::LANES);
        for k in ks {
            let (left, right) = (left.add(k * a.column_stride), right.add(k * panel_stride));
            let mut line = [V::splat(0.0); VECTORS];
            for (j, slot) in line.iter_mut().enumerate() {
                *slot = if is_whole {
                    V::load(right.add(j * V::LANES))
                } else {
                    V::load_first(right, place.width)
                };
            }
            for (i, sums) in sums.iter_mut().enumerate() {
                let x = V::splat(*left.add(i * a.row_stride));
                for (sum, line) in sums.iter_mut().zip(line) {
                    *sum = x.multiply_add(line, *sum);
                }
            }
        }
    }
}

/// As [`multiply`] of one pair, leaving out what is zero in all rows of a tile.
#[inline(always)]
pub(super) fn multiply_sifted<
    V: Vector,
    const ROWS: usize,
    const VECTORS: usize,
    const HALF: usize,
>(
    a: Matrix<'_>,
    b: Right<'_>,
    start: Start<'_>,
    finish: Finish<'_>,
    sieve: &mut Sieve,
    out: &mut [f32],
) {
    let n_columns = b.n_columns();
    assert_eq!(out.len(), a.n_rows * n_columns, "the product fits its place");
    assert!(start.is_none_or(|start| start.len() == out.len()), "the start fits the product");
    assert!(finish.fits(a.n_rows, n_columns), "the finish fits the product");
    assert_eq!(a.n_columns, b.n_rows(), "the matrices fit each other");
    assert_eq!(a.column_stride, 1, "rows of the first lie in one piece");
    assert!(b.is_whole::<V>(), "rows of the second lie in one piece");
    sieve.ends.clear();
    let n_tiled = a.n_rows / ROWS * ROWS;
    (0..n_tiled).step_by(ROWS).for_each(|row| sieve.push::<V>(a, row, ROWS));
    (n_tiled..a.n_rows).for_each(|row| sieve.push::<V>(a, row, 1));
    let mut column = 0;
    while column < n_columns {
        let n_left = n_columns - column;
        let panel = panel_width(widths::<V, VECTORS>(), n_left);
        for (index, row) in (0..n_tiled).step_by(ROWS).chain(n_tiled..a.n_rows).enumerate() {
            let width = V::LANES.min(n_left);
            let place = Place { row, column, n_columns, width };
            let ks = sieve.tile(index).iter().map(|&k| k as usize);
            // SAFETY: the sizes were checked above, and a sieve names columns that there are; the
            // instruction set is the caller's.
            unsafe {
                let is_tiled = row < n_tiled;
                if panel == VECTORS * V::LANES {
                    match is_tiled {
                        true => sifted::<V, ROWS, VECTORS>(a, b, start, finish, out, place, ks),
                        false => sifted::<V, 1, VECTORS>(a, b, start, finish, out, place, ks),
                    }
                } else if panel == HALF * V::LANES {
                    match is_tiled {
                        true => sifted::<V, ROWS, HALF>(a, b, start, finish, out, place, ks),
                        false => sifted::<V, 1, HALF>(a, b, start, finish, out, place, ks),
                    }
                } else {
                    match is_tiled {
                        true => sifted::<V, ROWS, 1>(a, b, start, finish, out, place, ks),
                        false => sifted::<V, 1, 1>(a, b, start, finish, out, place, ks),
                    }
                }
            }
        }
        column += panel;
    }
}

#[inline(always)]
unsafe fn sifted<V: Vector, const ROWS: usize, const VECTORS: usize>(
    a: Matrix<'_>,
    b: Right<'_>,
    start: Start<'_>,
    finish: Finish<'_>,
    out: &mut [f32],
    place: Place,
    ks: impl Iterator<Item = usize>,
) {
    // SAFETY: as for `tile`.
    unsafe {
        let mut sums = first_sums::<V, ROWS, VECTORS>(start, place);
        add_products(a, b, place, ks, &mut sums);
        finish_tile(sums, finish, out, place);
    }
}

/// Finishes a tile and writes it.
#[inline(always)]
unsafe fn finish_tile<V: Vector, const ROWS: usize, const VECTORS: usize>(
    sums: [[V; VECTORS]; ROWS],
    finish: Finish<'_>,
    out: &mut [f32],
    place: Place,
) {
    for (i, sums) in sums.into_iter().enumerate() {
        // SAFETY: promised by the caller.
        unsafe { finish_row(sums, finish, out, Place { row: place.row + i, ..place }) };
    }
}

/// Finishes a row of a tile and writes it.
#[inline(always)]
unsafe fn finish_row<V: Vector, const VECTORS: usize>(
    sums: [V; VECTORS],
    finish: Finish<'_>,
    out: &mut [f32],
    Place { row, column, n_columns, width }: Place,
) {
    let is_whole = width == V::LANES;
    // SAFETY: `out` and `finish` have this row, and the columns from `column` on: as many vectors
    // as there are, or one of `width` numbers.
    unsafe {
        for (j, sum) in sums.into_iter().enumerate() {
            let at_column = column + j * V::LANES;
            let at = row * n_columns + at_column;
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
                Finish::Sum => load(out, at).add(sum),
            };
            let to = out.as_mut_ptr().add(at);
            if is_whole { sum.store(to) } else { sum.store_first(to, width) }
        }
    }
}
