//! The picture of a tic-tac-toe board, three units wide with a margin, and where to click on it.

use super::{N_CELLS, NAMES, TicTacToe};
use crate::game::{Action, Seat, Spot};
use crate::scene::{Paint, Scene, Shape};

const MARGIN: f32 = 0.1;
const LINE_WIDTH: f32 = 0.04;
const MARK_WIDTH: f32 = 0.16;
/// From the middle of a cell to the end of a mark, along an axis.
const MARK_SIZE: f32 = 0.26;
const RING_WIDTH: f32 = 0.03;
/// How far the line over a win reaches beyond the middles of its outer cells, as a share.
const OVERSHOOT: f32 = 0.18;

pub(super) fn draw(game: &TicTacToe) -> Scene {
    let (low, high) = (-MARGIN, 3.0 + MARGIN);
    let mut shapes = vec![Shape::rectangle([low, low], [high, high], Paint::Hole)];
    for line in game.won_lines() {
        for spot in line.map(spot) {
            shapes.push(Shape::rectangle([spot.x0, spot.y0], [spot.x1, spot.y1], Paint::Board));
        }
    }
    for at in [1.0, 2.0] {
        for ends in [[[at, 0.0], [at, 3.0]], [[0.0, at], [3.0, at]]] {
            shapes.push(Shape::line(ends, Paint::BoardLine, LINE_WIDTH));
        }
    }
    for cell in 0..N_CELLS {
        let [x, y] = middle(cell);
        match game.owner(cell) {
            Some(Seat(0)) => {
                for rise in [-MARK_SIZE, MARK_SIZE] {
                    let ends = [[x - MARK_SIZE, y - rise], [x + MARK_SIZE, y + rise]];
                    shapes.push(Shape::line(ends, Paint::DiscA, MARK_WIDTH));
                }
            }
            Some(_) => {
                // The thin ring keeps the mark clear of a light board.
                for (paint, width) in [(Paint::DiscB, MARK_WIDTH), (Paint::DiscBRing, RING_WIDTH)] {
                    shapes.push(Shape::ring([x, y], MARK_SIZE, paint, width));
                }
            }
            None => {}
        }
    }
    for [first, _, last] in game.won_lines() {
        let ([x0, y0], [x1, y1]) = (middle(first), middle(last));
        let (dx, dy) = (OVERSHOOT * (x1 - x0), OVERSHOOT * (y1 - y0));
        let ends = [[x0 - dx, y0 - dy], [x1 + dx, y1 + dy]];
        shapes.push(Shape::line(ends, Paint::Accent, LINE_WIDTH * 2.0));
    }
    Scene { view: [low, low, high, high], shapes }
}

/// The square of a cell.
pub(super) fn spot(cell: usize) -> Spot {
    let [x, y] = middle(cell);
    Spot {
        action: Action(cell),
        label: NAMES[cell].to_owned(),
        x0: x - 0.5,
        y0: y - 0.5,
        x1: x + 0.5,
        y1: y + 0.5,
    }
}

/// Cell 0 is at the top left and y points up.
fn middle(cell: usize) -> [f32; 2] {
    [(cell % 3) as f32 + 0.5, 2.5 - (cell / 3) as f32]
}
