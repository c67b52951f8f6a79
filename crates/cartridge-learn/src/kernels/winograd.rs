//! Windows of three by three that slide over boards, with as many cells after as before.
//!
//! By the minimal filtering of Winograd as Lavin and Gray use it (2016, "Fast algorithms for
//! convolutional neural networks", F(2×2, 3×3)): a board is cut into tiles of two by two cells, each
//! seen with its rim as four by four, and these are taken to sixteen *places* where the convolution
//! is a product of matrices for each, `tiles × inputs` by `inputs × outputs`. That takes 16
//! multiplications for four cells instead of 36. Its constants are ones and halves, so it rounds
//! hardly worse than the definition: to within 2e-6 where that gives numbers about one.
//!
//! Measured in CPU time on one core of a busy AMD EPYC with AVX-512, 64 boards of 6×7, in GFLOP/s of
//! the definition (with 32 channels, with 64): a direct kernel that left out the rim 139 and 142, this
//! 171 and 195, tiles of four by four 184 and 217 but with seven to ten times the error.
//!
//! Cells have their channels side by side, and there are whole registers of them.

use super::product::{Finish, Panels, Right};
use super::vector::Vector;
use super::{Isa, Matrix, Target, multiply_body, pack, transform_weights as transform_weights_on};

/// Numbers of channels are multiples of this: a register on any processor.
pub(crate) const CHANNELS: usize = 16;

/// Numbers that a tile with its rim becomes.
const PLACES: usize = 16;
/// Of an axis.
const SIDE: usize = 4;
/// Cells of a tile along an axis.
const TILE: usize = 2;
/// Parts of a window.
pub(crate) const WINDOW: usize = 9;

/// Tiles that are multiplied at once: so many that a product takes whole tiles of its own, and so
/// few that they stay in the first cache.
const N_ROWS: usize = 12;
/// The same for gradients, which sum over them.
const N_GRADIENT_ROWS: usize = 96;

/// How large a board is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Board {
    pub(crate) n_rows: usize,
    pub(crate) n_columns: usize,
}

impl Board {
    /// How many cells it has.
    pub(crate) fn n_cells(self) -> usize {
        self.n_rows * self.n_columns
    }

    fn n_tiles(self) -> usize {
        self.n_rows.div_ceil(TILE) * self.n_columns.div_ceil(TILE)
    }

    /// The first row and column of each tile, in the order of their numbers.
    fn tiles(self) -> impl Iterator<Item = [usize; 2]> {
        let rows = (0..self.n_rows).step_by(TILE);
        rows.flat_map(move |row| (0..self.n_columns).step_by(TILE).map(move |column| [row, column]))
    }

    /// The number of a cell of a tile or its rim, if it is on the board.
    fn cell(self, row: Option<usize>, column: Option<usize>) -> Option<usize> {
        let row = row.filter(|&row| row < self.n_rows)?;
        let column = column.filter(|&column| column < self.n_columns)?;
        Some(row * self.n_columns + column)
    }
}

/// The weights of windows, ready to be multiplied by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters {
    n_inputs: usize,
    n_outputs: usize,
    /// For each place.
    places: Vec<Panels>,
}

impl Filters {
    /// Takes in `weights`: for each part of the window, a row of outputs for each input.
    pub(crate) fn fill(&mut self, isa: Isa, weights: &[f32], [n_inputs, n_outputs]: [usize; 2]) {
        let transformed = transformed(isa, weights, n_inputs * n_outputs);
        (self.n_inputs, self.n_outputs) = (n_inputs, n_outputs);
        self.places.resize_with(PLACES, Panels::default);
        let matrices = transformed.chunks_exact(n_inputs * n_outputs);
        for (panels, matrix) in self.places.iter_mut().zip(matrices) {
            pack(isa, Matrix::new(matrix, n_inputs, n_outputs), panels);
        }
    }

    /// The same for the way back: windows are turned round, and inputs and outputs exchanged. Turned
    /// round, the first place of an axis and the last are exchanged, and the two between stay.
    pub(crate) fn fill_turned(
        &mut self,
        isa: Isa,
        weights: &[f32],
        [n_inputs, n_outputs]: [usize; 2],
    ) {
        let transformed = transformed(isa, weights, n_inputs * n_outputs);
        (self.n_inputs, self.n_outputs) = (n_outputs, n_inputs);
        self.places.resize_with(PLACES, Panels::default);
        let turned = |at: usize| [3, 1, 2, 0][at];
        for (place, panels) in self.places.iter_mut().enumerate() {
            let from = turned(place / SIDE) * SIDE + turned(place % SIDE);
            let matrix = &transformed[from * n_inputs * n_outputs..][..n_inputs * n_outputs];
            pack(isa, Matrix::new(matrix, n_inputs, n_outputs).transposed(), panels);
        }
    }
}

fn transformed(isa: Isa, weights: &[f32], n: usize) -> Vec<f32> {
    assert_eq!(weights.len(), WINDOW * n, "weights for every part of the window");
    let mut transformed = vec![0.0; PLACES * n];
    transform_weights_on(isa, weights, &mut transformed);
    transformed
}

/// Room for what is between the steps of a convolution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    inputs: Vec<f32>,
    outputs: Vec<f32>,
    sums: Vec<f32>,
}

/// What is done to the sums of a convolution before they are written: these are added, and then comes
/// the gate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending<'a> {
    /// A number for each channel.
    pub(crate) bias: Option<&'a [f32]>,
    /// A number for each number.
    pub(crate) skip: Option<&'a [f32]>,
    pub(crate) gate: Gate<'a>,
}

/// What is let through.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gate<'a> {
    /// What is above zero.
    Relu,
    /// Where these are above zero, number by number.
    Slope(&'a [f32]),
}

/// How numbers of tiles lie: place by place, tile by tile, channel by channel.
#[derive(Clone, Copy)]
struct Spread {
    n_tiles: usize,
    n_channels: usize,
}

impl Spread {
    /// How far places are apart: not by a power of two, which would push each other out of the cache.
    fn stride(self) -> usize {
        self.n_tiles * self.n_channels + CHANNELS
    }

    fn place(self, place: usize) -> std::ops::Range<usize> {
        let start = place * self.stride();
        start..start + self.n_tiles * self.n_channels
    }

    fn resize(self, values: &mut Vec<f32>) {
        // What is there is overwritten, so that it only grows.
        values.resize(values.len().max(PLACES * self.stride()), 0.0);
    }
}

#[inline(always)]
pub(super) fn convolve<T: Target>(
    board: Board,
    inputs: &[f32],
    filters: &Filters,
    ending: Ending<'_>,
    scratch: &mut Scratch,
    out: &mut [f32],
) {
    let Filters { n_inputs, n_outputs, places } = filters;
    let n = n_boards(board, inputs, *n_inputs);
    assert_eq!(n, n_boards(board, out, *n_outputs), "as many boards after as before");
    assert!(ending.bias.is_none_or(|bias| bias.len() == *n_outputs), "a bias for each channel");
    assert!(ending.skip.is_none_or(|skip| skip.len() == out.len()), "a number for each number");
    assert!(!matches!(ending.gate, Gate::Slope(gate) if gate.len() != out.len()));
    let n_together = (N_ROWS / board.n_tiles()).max(1);
    for first in (0..n).step_by(n_together) {
        let boards = first..n.min(first + n_together);
        let n_tiles = boards.len() * board.n_tiles();
        let seen = Spread { n_tiles, n_channels: *n_inputs };
        let made = Spread { n_tiles, n_channels: *n_outputs };
        seen.resize(&mut scratch.inputs);
        made.resize(&mut scratch.outputs);
        let cells = boards.start * board.n_cells()..boards.end * board.n_cells();
        let some = &inputs[cells.start * n_inputs..cells.end * n_inputs];
        // SAFETY: the sizes were checked above; the instruction set is the caller's.
        unsafe { spread_inputs::<T::Vector>(board, some, seen, &mut scratch.inputs) };
        for (place, panels) in places.iter().enumerate() {
            let some = Matrix::new(&scratch.inputs[seen.place(place)], n_tiles, *n_inputs);
            let out = &mut scratch.outputs[made.place(place)];
            multiply_body::<T>(&[(some, Right::Panels(panels))], Finish::Plain, out);
        }
        // SAFETY: as above.
        unsafe {
            gather_outputs::<T::Vector>(board, &scratch.outputs, made, ending, out, boards.start);
        };
    }
}

#[inline(always)]
pub(super) fn gradient<T: Target>(
    board: Board,
    inputs: &[f32],
    deltas: &[f32],
    [n_inputs, n_outputs]: [usize; 2],
    scratch: &mut Scratch,
    gradient: &mut [f32],
) {
    let n = n_boards(board, inputs, n_inputs);
    assert_eq!(n, n_boards(board, deltas, n_outputs), "as many boards after as before");
    assert_eq!(gradient.len(), WINDOW * n_inputs * n_outputs, "a number for each weight");
    let n_weights = n_inputs * n_outputs;
    scratch.sums.clear();
    scratch.sums.resize(PLACES * n_weights, 0.0);
    let n_together = (N_GRADIENT_ROWS / board.n_tiles()).max(1);
    for first in (0..n).step_by(n_together) {
        let boards = first..n.min(first + n_together);
        let n_tiles = boards.len() * board.n_tiles();
        let seen = Spread { n_tiles, n_channels: n_inputs };
        let made = Spread { n_tiles, n_channels: n_outputs };
        seen.resize(&mut scratch.inputs);
        made.resize(&mut scratch.outputs);
        let cells = boards.start * board.n_cells()..boards.end * board.n_cells();
        let inputs = &inputs[cells.start * n_inputs..cells.end * n_inputs];
        let deltas = &deltas[cells.start * n_outputs..cells.end * n_outputs];
        // SAFETY: the sizes were checked above; the instruction set is the caller's.
        unsafe {
            spread_inputs::<T::Vector>(board, inputs, seen, &mut scratch.inputs);
            spread_deltas::<T::Vector>(board, deltas, made, &mut scratch.outputs);
        }
        for (place, sums) in scratch.sums.chunks_exact_mut(n_weights).enumerate() {
            let inputs = Matrix::new(&scratch.inputs[seen.place(place)], n_tiles, n_inputs);
            let deltas = Matrix::new(&scratch.outputs[made.place(place)], n_tiles, n_outputs);
            multiply_body::<T>(&[(inputs.transposed(), Right::Rows(deltas))], Finish::Sum, sums);
        }
    }
    gather_weights(&scratch.sums, gradient);
}

/// How many boards there are numbers for.
fn n_boards(board: Board, values: &[f32], n_channels: usize) -> usize {
    assert!(n_channels > 0 && n_channels.is_multiple_of(CHANNELS), "whole registers of channels");
    let size = board.n_cells() * n_channels;
    assert!(values.len().is_multiple_of(size), "whole boards");
    values.len() / size
}

/// A line of four through the rim and the tile, to four places.
#[inline(always)]
unsafe fn spread_line<V: Vector>([a, b, c, d]: [V; SIDE]) -> [V; SIDE] {
    // SAFETY: promised by the caller.
    unsafe { [a.subtract(c), b.add(c), c.subtract(b), b.subtract(d)] }
}

/// A line of four places, to the two cells of a tile.
#[inline(always)]
unsafe fn gather_line<V: Vector>([a, b, c, d]: [V; SIDE]) -> [V; TILE] {
    // SAFETY: promised by the caller.
    unsafe { [a.add(b).add(c), b.subtract(c).subtract(d)] }
}

/// The way back of [`gather_line`]: what the loss changes with the places.
#[inline(always)]
unsafe fn spread_delta<V: Vector>([a, b]: [V; TILE]) -> [V; SIDE] {
    // SAFETY: promised by the caller.
    unsafe { [a, a.add(b), a.subtract(b), V::splat(0.0).subtract(b)] }
}

/// Rows as columns.
#[inline(always)]
fn turned<X: Copy, const N: usize, const M: usize>(lines: [[X; N]; M]) -> [[X; M]; N] {
    let mut turned = [[lines[0][0]; M]; N];
    for (i, line) in turned.iter_mut().enumerate() {
        for (j, x) in line.iter_mut().enumerate() {
            *x = lines[j][i];
        }
    }
    turned
}

/// The numbers of the cells of a tile, with its rim if `N` is [`SIDE`], by columns. The first is
/// that of `row` and `column`, if it is on the board, and what is beyond the board is none.
#[inline(always)]
fn cells<const N: usize>(
    board: Board,
    [row, column]: [Option<usize>; 2],
) -> [[Option<usize>; N]; N] {
    // One before the first is the rim's.
    let along =
        |first: Option<usize>, step: usize| first.map_or(step.checked_sub(1), |at| Some(at + step));
    let mut cells = [[None; N]; N];
    for (x, line) in cells.iter_mut().enumerate() {
        for (y, cell) in line.iter_mut().enumerate() {
            *cell = board.cell(along(row, y), along(column, x));
        }
    }
    cells
}

/// A register of some channels of a cell; beyond the board is zero.
///
/// # Safety
///
/// The cell has these channels, and the instruction set is the vector's.
#[inline(always)]
unsafe fn load<V: Vector>(
    values: &[f32],
    cell: Option<usize>,
    n_channels: usize,
    channel: usize,
) -> V {
    // SAFETY: promised by the caller.
    unsafe {
        match cell {
            Some(cell) => V::load(values.as_ptr().add(cell * n_channels + channel)),
            None => V::splat(0.0),
        }
    }
}

/// Takes every tile of some boards, with its rim, to its places.
///
/// # Safety
///
/// The instruction set is the vector's, and there is room.
#[inline(always)]
unsafe fn spread_inputs<V: Vector>(board: Board, inputs: &[f32], spread: Spread, out: &mut [f32]) {
    let n_channels = spread.n_channels;
    let boards = inputs.chunks_exact(board.n_cells() * n_channels);
    for (index, inputs) in boards.enumerate() {
        for (tile, [row, column]) in board.tiles().enumerate() {
            let at = (index * board.n_tiles() + tile) * n_channels;
            let cells: [[_; SIDE]; SIDE] =
                cells(board, [row.checked_sub(1), column.checked_sub(1)]);
            for channel in (0..n_channels).step_by(V::LANES) {
                // SAFETY: cells are on the board, and tiles have their room.
                unsafe {
                    let mut columns = [[V::splat(0.0); SIDE]; SIDE];
                    for (numbers, cells) in columns.iter_mut().zip(&cells) {
                        for (number, &cell) in numbers.iter_mut().zip(cells) {
                            *number = load(inputs, cell, n_channels, channel);
                        }
                        *numbers = spread_line(*numbers);
                    }
                    for (y, row) in turned(columns).into_iter().enumerate() {
                        store_places(spread_line(row), y, spread, &mut out[at + channel..]);
                    }
                }
            }
        }
    }
}

/// Takes what the loss changes with the cells of every tile to its places.
///
/// # Safety
///
/// As for [`spread_inputs`].
#[inline(always)]
unsafe fn spread_deltas<V: Vector>(board: Board, deltas: &[f32], spread: Spread, out: &mut [f32]) {
    let n_channels = spread.n_channels;
    let boards = deltas.chunks_exact(board.n_cells() * n_channels);
    for (index, deltas) in boards.enumerate() {
        for (tile, [row, column]) in board.tiles().enumerate() {
            let at = (index * board.n_tiles() + tile) * n_channels;
            let cells: [[_; TILE]; TILE] = cells(board, [Some(row), Some(column)]);
            for channel in (0..n_channels).step_by(V::LANES) {
                // SAFETY: as in `spread_inputs`.
                unsafe {
                    let mut columns = [[V::splat(0.0); SIDE]; TILE];
                    for (numbers, cells) in columns.iter_mut().zip(&cells) {
                        *numbers = spread_delta([
                            load(deltas, cells[0], n_channels, channel),
                            load(deltas, cells[1], n_channels, channel),
                        ]);
                    }
                    for (y, row) in turned(columns).into_iter().enumerate() {
                        store_places(spread_delta(row), y, spread, &mut out[at + channel..]);
                    }
                }
            }
        }
    }
}

/// Writes the places of a line.
///
/// # Safety
///
/// As for [`spread_inputs`].
#[inline(always)]
unsafe fn store_places<V: Vector>(row: [V; SIDE], y: usize, spread: Spread, out: &mut [f32]) {
    for (x, numbers) in row.into_iter().enumerate() {
        // SAFETY: promised by the caller.
        unsafe { numbers.store(out.as_mut_ptr().add((y * SIDE + x) * spread.stride())) };
    }
}

/// Takes the places of every tile back to its cells, finishes them, and writes them into `out`, which
/// begins with board 0; the tiles begin with board `first`.
///
/// # Safety
///
/// As for [`spread_inputs`].
#[inline(always)]
unsafe fn gather_outputs<V: Vector>(
    board: Board,
    products: &[f32],
    spread: Spread,
    ending: Ending<'_>,
    out: &mut [f32],
    first: usize,
) {
    let n_channels = spread.n_channels;
    for index in 0..spread.n_tiles / board.n_tiles() {
        let start = (first + index) * board.n_cells();
        for (tile, [row, column]) in board.tiles().enumerate() {
            let at = (index * board.n_tiles() + tile) * n_channels;
            let cells: [[_; TILE]; TILE] = cells(board, [Some(row), Some(column)]);
            for channel in (0..n_channels).step_by(V::LANES) {
                // SAFETY: cells are on the board, and tiles have their room.
                unsafe {
                    let from = products.as_ptr().add(at + channel);
                    let mut rows = [[V::splat(0.0); TILE]; SIDE];
                    for (y, row) in rows.iter_mut().enumerate() {
                        let mut line = [V::splat(0.0); SIDE];
                        for (x, numbers) in line.iter_mut().enumerate() {
                            *numbers = V::load(from.add((y * SIDE + x) * spread.stride()));
                        }
                        *row = gather_line(line);
                    }
                    for (column, cells) in turned(rows).into_iter().zip(&cells) {
                        for (sum, cell) in gather_line(column).into_iter().zip(cells) {
                            if let Some(cell) = cell {
                                let at = (start + cell) * n_channels + channel;
                                finish(sum, ending, at, channel).store(out.as_mut_ptr().add(at));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// # Safety
///
/// What the ending has reaches as far as `at` and a register more.
#[inline(always)]
unsafe fn finish<V: Vector>(mut sum: V, ending: Ending<'_>, at: usize, channel: usize) -> V {
    // SAFETY: promised by the caller.
    unsafe {
        if let Some(bias) = ending.bias {
            sum = sum.add(V::load(bias.as_ptr().add(channel)));
        }
        if let Some(skip) = ending.skip {
            sum = sum.add(V::load(skip.as_ptr().add(at)));
        }
        match ending.gate {
            Gate::Relu => sum.rectify(),
            Gate::Slope(gate) => sum.where_positive(V::load(gate.as_ptr().add(at))),
        }
    }
}

/// A line of three weights, to four places.
#[inline(always)]
fn spread_weights([a, b, c]: [f32; 3]) -> [f32; SIDE] {
    [a, 0.5 * (a + b + c), 0.5 * (a - b + c), c]
}

/// The way back of [`spread_weights`].
#[inline(always)]
fn gather_weight([a, b, c, d]: [f32; SIDE]) -> [f32; 3] {
    [a + 0.5 * (b + c), 0.5 * (b - c), 0.5 * (b + c) + d]
}

/// Splits numbers into as many parts of one length.
#[inline(always)]
fn parts<const N: usize>(values: &[f32]) -> [&[f32]; N] {
    let n = values.len() / N;
    std::array::from_fn(|index| &values[index * n..(index + 1) * n])
}

#[inline(always)]
pub(super) fn transform_weights(weights: &[f32], transformed: &mut [f32]) {
    let windows: [&[f32]; WINDOW] = parts(weights);
    let n = transformed.len() / PLACES;
    for at in 0..n {
        let mut rows = [[0.0; SIDE]; 3];
        for (y, row) in rows.iter_mut().enumerate() {
            *row = spread_weights([
                windows[3 * y][at],
                windows[3 * y + 1][at],
                windows[3 * y + 2][at],
            ]);
        }
        for (x, column) in turned(rows).into_iter().enumerate() {
            for (y, number) in spread_weights(column).into_iter().enumerate() {
                transformed[(y * SIDE + x) * n + at] = number;
            }
        }
    }
}

/// The way back of [`transform_weights`]: what the loss changes with the weights.
#[inline(always)]
fn gather_weights(sums: &[f32], gradient: &mut [f32]) {
    let places: [&[f32]; PLACES] = parts(sums);
    let n = gradient.len() / WINDOW;
    for at in 0..n {
        let mut rows = [[0.0; 3]; SIDE];
        for (y, row) in rows.iter_mut().enumerate() {
            let line = &places[y * SIDE..(y + 1) * SIDE];
            *row = gather_weight([line[0][at], line[1][at], line[2][at], line[3][at]]);
        }
        for (x, column) in turned(rows).into_iter().enumerate() {
            for (y, number) in gather_weight(column).into_iter().enumerate() {
                gradient[(y * 3 + x) * n + at] = number;
            }
        }
    }
}

#[cfg(test)]
mod tests;
