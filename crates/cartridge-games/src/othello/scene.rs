//! The picture of an Othello board, one unit per square, with the place to pass below it.

use super::{N_SQUARES, Othello, PASS, SIDE};
use crate::game::{Action, Game as _, Seat, Spot, Turn};
use crate::scene::{Paint, Scene, Shape};

const MARGIN: f32 = 0.12;
/// Height of the strip below the board.
const STRIP: f32 = 0.8;
const LINE_WIDTH: f32 = 0.03;
const RADIUS: f32 = 0.4;
const INNER_RADIUS: f32 = 0.25;
const INNER_WIDTH: f32 = 0.04;
const LAST_RADIUS: f32 = 0.09;
/// The small marks between the squares that every Othello board has.
const DOT_RADIUS: f32 = 0.06;
const TEXT_SIZE: f32 = 0.36;
/// Left, bottom, right and top of the place to pass.
const PASS_BOX: [f32; 4] = [3.0, -STRIP, 5.0, -0.2];

pub(super) fn draw(game: &Othello) -> Scene {
    let side = SIDE as f32;
    let view = [-MARGIN, -STRIP - MARGIN, side + MARGIN, side + MARGIN];
    let mut shapes = vec![
        Shape::rectangle([view[0], view[1]], [view[2], view[3]], Paint::Hole),
        Shape::rectangle([0.0, 0.0], [side, side], Paint::Board),
    ];
    for at in 0..=SIDE {
        let at = at as f32;
        for ends in [[[at, 0.0], [at, side]], [[0.0, at], [side, at]]] {
            shapes.push(Shape::line(ends, Paint::BoardLine, LINE_WIDTH));
        }
    }
    for at in [[2.0, 2.0], [2.0, 6.0], [6.0, 2.0], [6.0, 6.0]] {
        shapes.push(Shape::disc(at, DOT_RADIUS, Paint::BoardLine));
    }
    for square in 0..N_SQUARES {
        let at = middle(square);
        match game.owner(square) {
            Some(Seat(0)) => shapes.push(Shape::disc(at, RADIUS, Paint::DiscA)),
            Some(_) => {
                shapes.push(Shape::disc(at, RADIUS, Paint::DiscB));
                shapes.push(Shape::ring(at, INNER_RADIUS, Paint::DiscBRing, INNER_WIDTH));
            }
            None => {}
        }
    }
    if let Some(square) = game.last {
        // The accent is the first player's colour too, so the mark is a hole in the disc.
        shapes.push(Shape::disc(middle(square.into()), LAST_RADIUS, Paint::Hole));
    }
    draw_pass(game, &mut shapes);
    Scene { view, shapes }
}

/// The place to pass: bright when it is time to.
fn draw_pass(game: &Othello, shapes: &mut Vec<Shape>) {
    let must_pass = game.turn() != Turn::Over && game.squares == 0;
    let paint = if must_pass { Paint::Accent } else { Paint::BoardLine };
    let [x0, y0, x1, y1] = PASS_BOX;
    let corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]];
    shapes.push(Shape::line(corners, paint, LINE_WIDTH));
    let at = [(x0 + x1) / 2.0, (y0 + y1) / 2.0];
    shapes.push(Shape::text(at, "pass", TEXT_SIZE, paint));
}

/// The square of a square, or the place to pass.
pub(super) fn spot(action: usize) -> Spot {
    let [x0, y0, x1, y1] = if action == PASS {
        PASS_BOX
    } else {
        let [x, y] = middle(action);
        [x - 0.5, y - 0.5, x + 0.5, y + 0.5]
    };
    let action = Action(action);
    Spot { action, label: Othello::action_name(action), x0, y0, x1, y1 }
}

/// Square 0 is at the top left and y points up.
fn middle(square: usize) -> [f32; 2] {
    [(square % SIDE) as f32 + 0.5, (SIDE - 1 - square / SIDE) as f32 + 0.5]
}
