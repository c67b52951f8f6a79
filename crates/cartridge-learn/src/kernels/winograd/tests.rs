use super::super::{Level, convolution_gradient, convolve};
use super::*;

fn random(n: usize, seed: u64) -> Vec<f32> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..n).map(|_| rng.f32() * 2.0 - 1.0).collect()
}

/// Each window of each board: the number of the cell in the middle, the part of the window, and the
/// number of the cell that is seen through it.
fn seen(board: Board, n: usize) -> impl Iterator<Item = [usize; 3]> {
    let Board { n_rows, n_columns } = board;
    let cells = (0..n).flat_map(move |index| {
        (0..board.n_cells()).map(move |cell| [index, cell / n_columns, cell % n_columns])
    });
    cells.flat_map(move |[index, row, column]| {
        (0..WINDOW).filter_map(move |part| {
            let y = (row + part / 3).checked_sub(1).filter(|&y| y < n_rows)?;
            let x = (column + part % 3).checked_sub(1).filter(|&x| x < n_columns)?;
            let number = |row: usize, column: usize| (index * n_rows + row) * n_columns + column;
            Some([number(row, column), part, number(y, x)])
        })
    })
}

/// A convolution, its way back to the inputs and the gradient of its weights, in doubles and straight
/// from the definition.
fn naive(
    board: Board,
    [n, n_inputs, n_outputs]: [usize; 3],
    [inputs, weights, deltas]: [&[f32]; 3],
) -> [Vec<f64>; 3] {
    let n_cells = n * board.n_cells();
    let mut outputs = vec![0.0; n_cells * n_outputs];
    let mut back = vec![0.0; n_cells * n_inputs];
    let mut gradient = vec![0.0; weights.len()];
    for [middle, part, cell] in seen(board, n) {
        for i in 0..n_inputs {
            for o in 0..n_outputs {
                let weight = (part * n_inputs + i) * n_outputs + o;
                let (from, to) = (cell * n_inputs + i, middle * n_outputs + o);
                let [x, w, d] = [inputs[from], weights[weight], deltas[to]].map(f64::from);
                outputs[to] += w * x;
                back[from] += w * d;
                gradient[weight] += x * d;
            }
        }
    }
    [outputs, back, gradient]
}

#[track_caller]
fn check_close(what: &str, found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (index, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((f64::from(*x) - y).abs() < tolerance, "{what}, {index}: {x} is not {y}");
    }
}

/// Compares `n` boards of every instruction set with the definition, and those that fuse with each
/// other.
#[track_caller]
fn check(n_rows: usize, n_columns: usize, sizes: [usize; 3]) {
    let board = Board { n_rows, n_columns };
    let [n, n_inputs, n_outputs] = sizes;
    let n_cells = n * board.n_cells();
    let inputs = random(n_cells * n_inputs, 1);
    let deltas = random(n_cells * n_outputs, 2);
    let weights: Vec<f32> =
        random(WINDOW * n_inputs * n_outputs, 3).iter().map(|x| x * 0.1).collect();
    let bias = random(n_outputs, 4);
    let [outputs, back, gradient] = naive(board, sizes, [&inputs, &weights, &deltas]);
    let mut fused = None;
    for isa in Isa::available() {
        // With something left from before.
        let mut scratch = Scratch {
            inputs: vec![f32::NAN; 1 << 16],
            outputs: vec![f32::NAN; 1 << 16],
            sums: vec![f32::NAN; 99],
        };
        let (mut filters, mut turned) = (Filters::default(), Filters::default());
        filters.fill(isa, &weights, [n_inputs, n_outputs]);
        turned.fill_turned(isa, &weights, [n_inputs, n_outputs]);
        let ones = vec![1.0; outputs.len().max(back.len())];
        let open = |n: usize| Ending { bias: None, skip: None, gate: Gate::Slope(&ones[..n]) };
        let mut found = [
            vec![f32::NAN; outputs.len()],
            vec![f32::NAN; outputs.len()],
            vec![f32::NAN; back.len()],
            vec![f32::NAN; back.len()],
            vec![f32::NAN; gradient.len()],
        ];
        convolve(isa, board, &inputs, &filters, open(outputs.len()), &mut scratch, &mut found[0]);
        let ending = Ending { bias: Some(&bias), skip: Some(&deltas), gate: Gate::Relu };
        convolve(isa, board, &inputs, &filters, ending, &mut scratch, &mut found[1]);
        convolve(isa, board, &deltas, &turned, open(back.len()), &mut scratch, &mut found[2]);
        let ending = Ending { bias: None, skip: None, gate: Gate::Slope(&inputs) };
        convolve(isa, board, &deltas, &turned, ending, &mut scratch, &mut found[3]);
        let sizes = [n_inputs, n_outputs];
        convolution_gradient(isa, board, &inputs, &deltas, sizes, &mut scratch, &mut found[4]);

        check_close("outputs", &found[0], &outputs, 1e-5);
        let ended = outputs
            .iter()
            .enumerate()
            .map(|(at, x)| (x + f64::from(bias[at % n_outputs]) + f64::from(deltas[at])).max(0.0));
        check_close("ended", &found[1], &ended.collect::<Vec<f64>>(), 1e-5);
        check_close("back", &found[2], &back, 1e-5);
        let gated = back.iter().zip(&inputs).map(|(x, gate)| if *gate > 0.0 { *x } else { 0.0 });
        check_close("gated", &found[3], &gated.collect::<Vec<f64>>(), 1e-5);
        check_close("gradient", &found[4], &gradient, 1e-4);
        if isa.0 != Level::Baseline {
            let fused = fused.get_or_insert_with(|| found.clone());
            assert_eq!(*fused, found, "the same bits on {isa:?}");
        }
    }
}

#[test]
fn windows_see_what_the_definition_says() {
    check(3, 3, [5, 16, 16]);
    check(6, 7, [3, 32, 32]);
    check(6, 7, [2, 16, 48]);
    check(8, 8, [2, 64, 64]);
    check(1, 1, [2, 16, 16]);
    check(1, 5, [2, 16, 16]);
    check(19, 19, [1, 16, 32]);
    check(6, 7, [17, 16, 16]);
}

/// A board becomes the same, to the bit, whatever is beside it.
#[test]
fn a_board_does_not_see_the_others() {
    for board in [Board { n_rows: 3, n_columns: 3 }, Board { n_rows: 6, n_columns: 7 }] {
        let (n, size) = (7, board.n_cells() * 32);
        let (inputs, weights) = (random(n * size, 1), random(WINDOW * 32 * 32, 2));
        for isa in Isa::available() {
            let (mut filters, mut scratch) = (Filters::default(), Scratch::default());
            filters.fill(isa, &weights, [32, 32]);
            let ending = Ending { bias: None, skip: None, gate: Gate::Relu };
            let mut run = |inputs: &[f32]| {
                let mut out = vec![f32::NAN; inputs.len()];
                convolve(isa, board, inputs, &filters, ending, &mut scratch, &mut out);
                out
            };
            let together = run(&inputs);
            let alone: Vec<f32> = inputs.chunks_exact(size).flat_map(&mut run).collect();
            assert_eq!(together, alone, "{board:?} on {isa:?}");
        }
    }
}
