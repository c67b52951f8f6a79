//! The picture of a Connect 4 board, one unit per cell with a margin, and where to click on it.

use super::{Connect4, N_COLUMNS, N_ROWS, STRIDE};
use crate::game::{Action, Game as _, Seat, Spot};
use crate::scene::{Paint, Scene, Shape};

const MARGIN: f32 = 0.12;
const RADIUS: f32 = 0.4;
/// The thin ring that keeps a disc or a hole clear of the board.
const RIM_WIDTH: f32 = 0.03;
/// The ring inside a disc of the second player.
const INNER_RADIUS: f32 = 0.25;
const INNER_WIDTH: f32 = 0.04;
const LAST_RADIUS: f32 = 0.09;
const WIN_WIDTH: f32 = 0.09;

pub(super) fn draw(game: &Connect4) -> Scene {
    let (width, height) = (N_COLUMNS as f32, N_ROWS as f32);
    let view = [-MARGIN, -MARGIN, width + MARGIN, height + MARGIN];
    let mut shapes = vec![Shape::rectangle([view[0], view[1]], [view[2], view[3]], Paint::Board)];
    for row in 0..N_ROWS {
        for column in 0..N_COLUMNS {
            let at = middle(row, column);
            match game.owner(row, column) {
                Some(Seat(0)) => shapes.push(Shape::disc(at, RADIUS, Paint::DiscA)),
                Some(_) => {
                    shapes.push(Shape::disc(at, RADIUS, Paint::DiscB));
                    shapes.push(Shape::ring(at, INNER_RADIUS, Paint::DiscBRing, INNER_WIDTH));
                }
                None => shapes.push(Shape::disc(at, RADIUS, Paint::Hole)),
            }
            shapes.push(Shape::ring(at, RADIUS, Paint::BoardLine, RIM_WIDTH));
        }
    }
    if let Some(bit) = game.last {
        // The accent is the first player's colour too, so the mark is a hole in the disc.
        let at = middle(usize::from(bit) % STRIDE, usize::from(bit) / STRIDE);
        shapes.push(Shape::disc(at, LAST_RADIUS, Paint::Hole));
    }
    for ends in game.won_fours() {
        // For the same reason the line over a win is edged.
        let ends = ends.map(|[row, column]| middle(row, column));
        shapes.push(Shape::line(ends, Paint::Hole, 2.0 * WIN_WIDTH));
        shapes.push(Shape::line(ends, Paint::Accent, WIN_WIDTH));
    }
    Scene { view, shapes }
}

/// The whole column.
pub(super) fn spot(column: usize) -> Spot {
    Spot {
        action: Action(column),
        label: Connect4::action_name(Action(column)),
        x0: column as f32,
        y0: 0.0,
        x1: column as f32 + 1.0,
        y1: N_ROWS as f32,
    }
}

/// Row 0 is at the bottom and y points up.
fn middle(row: usize, column: usize) -> [f32; 2] {
    [column as f32 + 0.5, row as f32 + 0.5]
}
