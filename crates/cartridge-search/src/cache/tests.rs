use cartridge_games::connect4::Connect4;
use cartridge_games::othello::Othello;
use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{Action, Turn, random_action};

use super::*;

/// Random positions that are not over.
fn positions<G: Game>(n: usize) -> Vec<G> {
    let mut rng = fastrand::Rng::with_seed(8);
    let mut positions = Vec::new();
    while positions.len() < n {
        let mut game = G::start(&mut rng);
        while game.turn() != Turn::Over {
            positions.push(game.clone());
            game.apply(random_action(&game, &mut rng));
        }
    }
    positions
}

/// Keeps an evaluation of each position, and demands it for every image of it.
#[track_caller]
fn check_symmetries<G: Game>() {
    let mut rng = fastrand::Rng::with_seed(9);
    let mut cache = Cache::new(1 << 12);
    for game in positions::<G>(200) {
        let logits: Vec<f32> = (0..G::SPEC.n_actions).map(|_| rng.f32()).collect();
        let canonical = cache.canonical(&game);
        let moved = |action| G::transform_action(canonical.symmetry.into(), action).0;
        // The logits of the position itself, as the evaluator sees it.
        let own: Vec<f32> = game.legal_actions().map(|action| logits[moved(action)]).collect();
        cache.keep(canonical.clone(), Evaluation { logits: &logits, value: 0.25 });
        for symmetry in 0..G::N_SYMMETRIES {
            let image = game.transform(symmetry);
            let seen = cache.canonical(&image);
            assert_eq!(seen.game, canonical.game, "{symmetry}\n{game}");
            let found = cache.find(&seen).unwrap();
            assert_eq!(found.value, 0.25);
            let is_itself = (1..G::N_SYMMETRIES).any(|other| game.transform(other) == game);
            if is_itself {
                // Its actions have equals, and it does not matter which of them is which.
                continue;
            }
            for (action, own) in game.legal_actions().zip(&own) {
                let there = G::transform_action(symmetry, action);
                let Action(kept) = G::transform_action(seen.symmetry.into(), there);
                assert_eq!(found.logits[kept], *own, "{symmetry}, {action:?}\n{game}");
            }
        }
    }
}

#[test]
fn every_image_of_a_position_has_its_evaluation() {
    check_symmetries::<TicTacToe>();
    check_symmetries::<Connect4>();
    check_symmetries::<Othello>();
}

#[test]
fn a_small_cache_forgets_but_never_mistakes() {
    let mut cache = Cache::new(60);
    assert_eq!(cache.capacity(), 64);
    let positions = positions::<Othello>(5000);
    let value = |canonical: &Canonical<Othello>| (canonical.hash % 1000) as f32 / 1000.0;
    let logits = |value: f32| [value; 65];
    let mut n_found = 0;
    for round in 0..2 {
        for game in &positions {
            let canonical = cache.canonical(game);
            let expected = value(&canonical);
            if let Some(found) = cache.find(&canonical) {
                assert_eq!(found, Evaluation { logits: &logits(expected), value: expected });
                n_found += 1;
            } else {
                let logits = logits(expected);
                cache.keep(canonical, Evaluation { logits: &logits, value: expected });
            }
        }
        let n_kept = cache.entries.iter().flatten().count();
        assert_eq!(n_kept, 64, "round {round}");
    }
    assert!(n_found > 100, "{n_found}");
    assert_eq!(cache.n_hits(), n_found);
    assert_eq!(cache.n_hits() + cache.n_misses(), 2 * positions.len() as u64);
}

#[test]
fn the_same_hash_is_not_the_same_position() {
    let mut cache = Cache::new(64);
    let [a, b] = [3, 5].map(|column| {
        let mut game = Connect4::default();
        game.apply(Action(column));
        Canonical { game, hash: 12, symmetry: 0 }
    });
    cache.keep(a.clone(), Evaluation { logits: &[1.0; 7], value: 0.5 });
    assert_eq!(cache.find(&b), None);
    cache.keep(b.clone(), Evaluation { logits: &[2.0; 7], value: -0.5 });
    assert_eq!(cache.find(&a).unwrap().value, 0.5);
    assert_eq!(cache.find(&b).unwrap().value, -0.5);
    // What is kept again takes no second place.
    cache.keep(a.clone(), Evaluation { logits: &[1.0; 7], value: 0.75 });
    assert_eq!(cache.find(&a).unwrap().value, 0.75);
    assert_eq!(cache.entries.iter().flatten().count(), 2);
    cache.clear();
    assert_eq!(cache.find(&a), None);
}

#[test]
fn without_room_nothing_is_turned_or_kept() {
    let mut cache = Cache::new(0);
    for game in positions::<Connect4>(50) {
        let canonical = cache.canonical(&game);
        assert_eq!((&canonical.game, canonical.symmetry), (&game, 0));
        cache.keep(canonical.clone(), Evaluation { logits: &[0.0; 7], value: 0.0 });
        assert_eq!(cache.find(&canonical), None);
    }
}
