use super::*;

fn head(row: u64) -> RowHead {
    RowHead { row, step: 1000 - row % 7, t: row as f64 / 3.0 }
}

#[test]
fn heads_come_back_as_they_were() {
    for rows in [vec![], vec![447], vec![448, 449, 700, 895], (896..1344).collect()] {
        let heads: Vec<RowHead> = rows.into_iter().map(head).collect();
        let chunk = heads.first().map_or(0, |head| head.row / CHUNK);
        assert_eq!(unpack_heads(chunk, &pack_heads(&heads)).unwrap(), heads);
    }
    let far = RowHead { row: (1 << 53) - 1, step: 1 << 53, t: -0.0 };
    assert_eq!(unpack_heads(far.row / CHUNK, &pack_heads(&[far])).unwrap(), [far]);
}

#[test]
fn cells_come_back_as_they_were() {
    let some = |row: u64| (row, (!row.is_multiple_of(5)).then_some(row as f64 * 0.1));
    for rows in [vec![1], vec![0, 1, 2, 9, 447], (448..896).collect()] {
        let cells: Vec<Cell> = rows.into_iter().map(some).collect();
        let packed = pack_cells(&cells);
        assert_eq!(unpack_cells(cells[0].0 / CHUNK, &packed).unwrap(), cells);
        assert!(packed.len() < 4000, "a chunk fits on a page: {}", packed.len());
    }
}

#[test]
fn summaries_come_back_as_they_were() {
    let mut summary = Summary::from(Point { head: head(64), value: Some(3.0) });
    summary.merge(&Point { head: head(65), value: None }.into());
    summary.merge(&Point { head: head(66), value: Some(-3.0) }.into());
    let lone = Summary::from(Point { head: head(700), value: None });
    let entries = [(1, summary), (10, lone)];
    assert_eq!(unpack_summaries(1, 0, &pack_summaries(1, &entries)).unwrap(), entries);
}

#[test]
fn a_summary_is_the_same_however_it_is_put_together() {
    let values = [Some(1.0), None, Some(1.0), Some(-2.0), None, Some(-2.0), Some(0.5)];
    let parts: Vec<Summary> =
        (0..).zip(values).map(|(row, value)| Point { head: head(row), value }.into()).collect();
    let fold = |parts: &[Summary]| {
        parts.iter().fold(Summary::default(), |mut all, part| {
            all.merge(part);
            all
        })
    };
    let whole = fold(&parts);
    for cut in 0..=parts.len() {
        let (a, b) = parts.split_at(cut);
        assert_eq!(fold(&[fold(a), fold(b)]), whole);
    }
    let rows: Vec<u64> = whole.points().iter().map(|point| point.head.row).collect();
    assert_eq!((rows, whole.finite, whole.absent), (vec![0, 1, 3], 5, 2));
}

#[test]
fn damaged_bytes_are_an_error() {
    let cells: Vec<Cell> = (0..9).map(|row| (row, Some(1.0))).collect();
    let packed = pack_cells(&cells);
    assert!(unpack_cells(0, &packed[..packed.len() - 1]).is_err());
    for seed in 0..1000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let bytes: Vec<u8> = (0..rng.usize(..60)).map(|_| rng.u8(..)).collect();
        // Whatever they say, they are read or refused.
        _ = unpack_cells(1, &bytes);
        _ = unpack_heads(1, &bytes);
        _ = unpack_summaries(1, 1, &bytes);
    }
}
