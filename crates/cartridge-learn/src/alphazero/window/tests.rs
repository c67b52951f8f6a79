use cartridge_games::connect4::Connect4;

use super::super::record::{End, SHARE_ONE};
use super::*;

/// A game that ended when the second seat had moved, with all of one policy on one action each.
fn game(actions: &[usize], score: i16) -> PlayedGame {
    let ply =
        |action: &usize| Ply { policy: vec![(*action as u16, SHARE_ONE)], value: 0, is_full: true };
    PlayedGame {
        actions: actions.iter().copied().map(Action).collect(),
        n_opening: 0,
        plies: actions.iter().map(ply).collect(),
        score,
        end: End::Proven,
    }
}

/// What is drawn, many times: planes as text, policy and value.
fn drawn(window: &Window<Connect4>) -> Vec<(Vec<f32>, Vec<f32>, f32)> {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut all: Vec<(Vec<f32>, Vec<f32>, f32)> = Vec::new();
    for _ in 0..500 {
        let (mut planes, mut policy, mut legal, mut value) =
            (vec![0.0; 84], vec![0.0; 7], vec![false; 7], 0.0);
        let slot =
            Slot { planes: &mut planes, policy: &mut policy, legal: &mut legal, value: &mut value };
        window.draw(&mut rng, slot);
        assert_eq!(legal, [true; 7]);
        if !all.iter().any(|known| known.0 == planes) {
            all.push((planes, policy, value));
        }
    }
    all
}

#[test]
fn a_position_that_is_met_again_gets_the_mean() {
    let mut window = Window::new(0.0);
    // The second mirrors the first, and ended differently.
    assert_eq!(window.add(&game(&[0, 3], VALUE_ONE)), Ok(2));
    assert_eq!(window.add(&game(&[6, 2], -VALUE_ONE)), Ok(2));
    assert_eq!((window.n_positions(), window.n_different()), (4, 2));
    let drawn = drawn(&window);
    // The empty board is its own mirror image; the other has two.
    assert_eq!(drawn.len(), 3);
    for (planes, policy, value) in drawn {
        assert_eq!(value, 0.0);
        let first = planes[42..].iter().position(|stone| *stone > 0.0);
        match first {
            None => {
                // Whoever played at the left and at the right: the entry has one of its images.
                assert_eq!(policy[0] + policy[6], 1.0);
            }
            // Next to the centre away from the first disc: mirrored with the board that it was on.
            Some(place) => {
                let other = if place % 7 == 0 { 4 } else { 2 };
                assert_eq!((policy[3], policy[other]), (0.5, 0.5), "{policy:?}");
            }
        }
    }
}

#[test]
fn values_are_those_of_the_seat_to_move() {
    for (mix, expected) in [(0.0, 1.0), (0.25, 0.75), (1.0, 0.0)] {
        let mut window = Window::<Connect4>::new(mix);
        window.add(&game(&[0, 3], VALUE_ONE)).unwrap();
        for (planes, _, value) in drawn(&window) {
            let is_second = planes[42..].iter().any(|stone| *stone > 0.0);
            let expected = if is_second { -expected } else { expected };
            assert!((value - expected).abs() < 1e-4, "{value} for {expected}");
        }
    }
}

#[test]
fn what_was_forgotten_leaves_nothing() {
    let mut window = Window::<Connect4>::new(0.5);
    let mut fresh = Window::<Connect4>::new(0.5);
    let games = [
        game(&[0, 3, 1], VALUE_ONE),
        game(&[0, 3, 2], 0),
        game(&[6, 3, 5], -VALUE_ONE),
        game(&[4, 4], VALUE_ONE),
    ];
    games.iter().for_each(|game| assert!(window.add(game).is_ok()));
    window.shrink(5);
    games[2..].iter().for_each(|game| assert!(fresh.add(game).is_ok()));
    assert_eq!(window.n_positions(), fresh.n_positions());
    assert_eq!(window.n_different(), fresh.n_different());
    assert_eq!(drawn(&window), drawn(&fresh));
    // The last game always stays.
    window.shrink(0);
    assert_eq!(window.n_positions(), 2);
}

#[test]
fn fast_searches_are_not_learnt_from() {
    let mut window = Window::<Connect4>::new(0.5);
    let mut game = game(&[0, 3, 1], VALUE_ONE);
    game.plies[1].is_full = false;
    assert_eq!(window.add(&game), Ok(2));
    assert_eq!(window.n_positions(), 2);
}
