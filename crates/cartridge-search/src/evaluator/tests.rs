use cartridge_games::Action;
use cartridge_games::connect4::Connect4;

use super::*;
use crate::search::Config;

/// Notes how many positions come at once.
struct Widths(Vec<usize>);

impl<G: Game> Evaluator<G> for Widths {
    fn evaluate(&mut self, games: &[G], out: &mut Evaluations) {
        assert_eq!(
            (out.values.len(), out.logits.len()),
            (games.len(), games.len() * G::SPEC.n_actions)
        );
        assert!(games.iter().all(|game| game.turn() != Turn::Over));
        self.0.push(games.len());
        Uniform.evaluate(games, out);
    }
}

#[test]
fn leaves_come_in_batches() {
    let mut search = Search::<Connect4>::default();
    let rng = &mut fastrand::Rng::with_seed(1);
    for (width, n_full) in [(1, 401), (8, 45), (32, 9)] {
        search.clear();
        search.begin(&Connect4::default(), Config::puct(400), rng);
        let mut widths = Widths(Vec::new());
        run(&mut search, width, &mut widths, &mut Cache::new(0));
        assert_eq!(widths.0.iter().sum::<usize>(), 401);
        assert_eq!(widths.0.iter().max(), Some(&width));
        let n_seen = widths.0.iter().filter(|&&n| n == width).count();
        assert!(n_seen >= n_full, "{n_seen} full batches of {width}: {:?}", widths.0);
    }
}

/// Playouts value a position for the seat to move, whoever that is.
#[test]
fn playouts_are_worth_something_to_the_seat_to_move() {
    let game = |columns: &[usize]| {
        let mut game = Connect4::default();
        columns.iter().for_each(|&column| game.apply(Action(column)));
        game
    };
    // Red has an open two and moves; then yellow has, and moves.
    let games = [game(&[3, 0, 4, 0]), game(&[0, 3, 0, 4, 6])];
    let mut out = Evaluations::default();
    out.resize::<Connect4>(2);
    let mut playouts = Playouts { n_playouts: 2000, rng: fastrand::Rng::with_seed(4) };
    playouts.evaluate(&games, &mut out);
    assert!(out.values.iter().all(|&value| value > 0.3 && value < 1.0), "{:?}", out.values);
    assert!(out.logits.iter().all(|&logit| logit == 0.0));
}
