//! The eight symmetries of a square board: four turns, each as it is or mirrored.

/// Number of symmetries, the identity included.
pub(crate) const N_SYMMETRIES: usize = 8;

/// Where `symmetry` takes the cell `index` of a board with `side` × `side` cells, numbered by rows.
///
/// Bit 0 mirrors left and right, bit 1 mirrors top and bottom, and bit 2 then swaps rows and
/// columns; together that is every turn and every mirror.
pub(crate) fn transform(symmetry: usize, side: usize, index: usize) -> usize {
    assert!(symmetry < N_SYMMETRIES, "symmetry {symmetry} is not below {N_SYMMETRIES}");
    let (mut row, mut column) = (index / side, index % side);
    if symmetry & 1 != 0 {
        column = side - 1 - column;
    }
    if symmetry & 2 != 0 {
        row = side - 1 - row;
    }
    if symmetry & 4 != 0 {
        (row, column) = (column, row);
    }
    row * side + column
}

/// Where `symmetry` takes a set of cells.
pub(crate) fn transform_set(symmetry: usize, side: usize, cells: u64) -> u64 {
    if side == 8 {
        return transform_bytes(symmetry, cells);
    }
    (0..side * side)
        .filter(|&index| cells >> index & 1 != 0)
        .fold(0, |moved, index| moved | 1 << transform(symmetry, side, index))
}

/// The same on a board whose rows are bytes, where cells move many at once.
fn transform_bytes(symmetry: usize, mut cells: u64) -> u64 {
    assert!(symmetry < N_SYMMETRIES, "symmetry {symmetry} is not below {N_SYMMETRIES}");
    if symmetry & 1 != 0 {
        // Turning the whole round turns the rows and their order; the order is put right.
        cells = cells.reverse_bits().swap_bytes();
    }
    if symmetry & 2 != 0 {
        cells = cells.swap_bytes();
    }
    if symmetry & 4 != 0 {
        // Swaps the corners off the diagonal in squares of 2, then of 4, then of 8 cells (Warren
        // 2013, "Hacker's Delight", 7-3).
        let steps =
            [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)];
        for (shift, corners) in steps {
            let differ = (cells ^ (cells >> shift)) & corners;
            cells ^= differ ^ (differ << shift);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eight_are_different() {
        let mut images: Vec<[usize; 9]> = (0..N_SYMMETRIES)
            .map(|symmetry| std::array::from_fn(|index| transform(symmetry, 3, index)))
            .collect();
        assert_eq!(images[0], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(images[1], [2, 1, 0, 5, 4, 3, 8, 7, 6]);
        assert_eq!(images[2], [6, 7, 8, 3, 4, 5, 0, 1, 2]);
        assert_eq!(images[4], [0, 3, 6, 1, 4, 7, 2, 5, 8]);
        images.sort_unstable();
        assert!(images.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_set_moves_with_its_cells() {
        assert_eq!(transform_set(1, 3, 0b001), 0b100);
        assert_eq!(transform_set(4, 8, 1 << 7), 1 << 56);
        for symmetry in 0..N_SYMMETRIES {
            for side in [3, 8] {
                for index in 0..side * side {
                    let expected = 1 << transform(symmetry, side, index);
                    assert_eq!(transform_set(symmetry, side, 1 << index), expected);
                }
                let [a, b] = [0x1234_5678_9abc_def0, 0x0f1e_2d3c_4b5a_6978]
                    .map(|cells: u64| if side == 8 { cells } else { cells & 0x1ff });
                let both = transform_set(symmetry, side, a) | transform_set(symmetry, side, b);
                assert_eq!(transform_set(symmetry, side, a | b), both);
            }
        }
    }
}
