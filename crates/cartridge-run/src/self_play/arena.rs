//! A network measured by games: against the best of its run so far, and against an opponent that
//! never changes.

use std::sync::{Mutex, PoisonError};

use cartridge_games::registry::AnyGame;
use cartridge_games::{Action, Game, random_action, with_game};
use cartridge_learn::alphazero::arena::{Ended, Rival, Terms, contest};
use cartridge_learn::board_net::BoardNet;
use cartridge_learn::team::Team;

use crate::error::Result;
use crate::opponent::Opponent;
use crate::thinker::Thinker;

/// Moves of an opening, drawn by chance, so that games differ.
const OPENING_PLIES: usize = 4;

/// Chooses an action in a position.
type Choose<'a> = dyn Fn(&AnyGame, &mut fastrand::Rng) -> Action + Sync + 'a;

/// The games of a network against somebody.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scores(pub(crate) Vec<Ended>);

impl Scores {
    /// 1 for each game that was won, -1 for each that was lost, 0 for a draw.
    pub(crate) fn outcomes(&self) -> impl Iterator<Item = f64> + Clone {
        // The sign of 0 is 1 to `signum`.
        let sign = |score: f32| i8::from(score > 0.0) - i8::from(score < 0.0);
        self.0.iter().map(move |game| f64::from(sign(game.score)))
    }

    /// Share of the points, from 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        0.5 + 0.5 * self.outcomes().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// Moves of a game, on average.
    pub(crate) fn mean_length(&self) -> f64 {
        let n_plies: u32 = self.0.iter().map(|game| game.n_plies).sum();
        f64::from(n_plies) / self.0.len().max(1) as f64
    }

    /// `W`, `D` or `L` for each game.
    pub(crate) fn letters(&self) -> String {
        let letter = |game: &Ended| match game.score {
            score if score > 0.0 => 'W',
            score if score < 0.0 => 'L',
            _ => 'D',
        };
        self.0.iter().map(letter).collect()
    }
}

/// `n_games` games against another network.
pub(crate) fn against_network(
    game: &str,
    network: &BoardNet,
    rival: &BoardNet,
    plan: Plan,
    team: &mut Team,
) -> Result<Scores> {
    fn play<G: Game>(
        _: &G,
        network: &BoardNet,
        rival: &BoardNet,
        terms: Terms,
        team: &mut Team,
    ) -> Vec<Ended> {
        contest(network, &Rival::<G>::Network(rival), terms, team)
    }
    let start = AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?;
    let scores = with_game!(&start, start => play(start, network, rival, plan.terms(), team));
    Ok(Scores(scores))
}

/// `n_games` games against an opponent that needs no training.
pub(crate) fn against_opponent(
    game: &str,
    network: &BoardNet,
    opponent: Opponent,
    plan: Plan,
    team: &mut Team,
) -> Result<Scores> {
    let choose = |game: &AnyGame, rng: &mut fastrand::Rng| opponent.choose(game, rng);
    against_anybody(game, network, &choose, plan, team)
}

fn against_anybody(
    game: &str,
    network: &BoardNet,
    choose: &Choose<'_>,
    plan: Plan,
    team: &mut Team,
) -> Result<Scores> {
    fn play<G: Game>(
        _: &G,
        network: &BoardNet,
        choose: &Choose<'_>,
        terms: Terms,
        team: &mut Team,
    ) -> Vec<Ended>
    where
        AnyGame: From<G>,
    {
        let choose = |game: &G, rng: &mut fastrand::Rng| choose(&game.clone().into(), rng);
        contest(network, &Rival::Other(&choose), terms, team)
    }
    let start = AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?;
    let scores = with_game!(&start, start => play(start, network, choose, plan.terms(), team));
    Ok(Scores(scores))
}

/// `n_games` games against somebody who thinks at a board; an error where it cannot.
pub(crate) fn against_thinker(
    game: &str,
    network: &BoardNet,
    rival: &Thinker,
    plan: Plan,
    team: &mut Team,
) -> Result<Scores> {
    if let Some(rival) = rival.network() {
        return against_network(game, network, rival, plan, team);
    }
    let n_simulations = if rival.has_value() { plan.n_simulations } else { 0 };
    let failed = Mutex::new(None);
    let choose = |game: &AnyGame, rng: &mut fastrand::Rng| {
        rival.think(game, n_simulations).map_or_else(
            |error| {
                // The game goes on by chance to its end, and counts for nothing.
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                with_game!(game, game => random_action(game, rng))
            },
            |it| it.action,
        )
    };
    let scores = against_anybody(game, network, &choose, plan, team)?;
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(scores),
    }
}

/// How much is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Games; every opening is played from both sides.
    pub(crate) n_games: u32,
    /// Simulations of each move.
    pub(crate) n_simulations: u32,
    /// What the openings follow from.
    pub(crate) seed: u64,
}

impl Plan {
    fn terms(self) -> Terms {
        Terms {
            n_pairs: self.n_games.div_ceil(2) as usize,
            n_opening_plies: OPENING_PLIES,
            n_simulations: self.n_simulations,
            seed: self.seed,
        }
    }
}

/// The rating in Elo under which these games are most likely: against whom of which rating, how many,
/// and what share of the points. A wide prior around 0 keeps it finite.
pub(crate) fn rating(games: &[(f64, usize, f64)]) -> f64 {
    const DEVIATION: f64 = 1_000.0;
    let per_point = std::f64::consts::LN_10 / 400.0;
    let slope = |rating: f64| {
        let expected = |rival: f64| 1.0 / (1.0 + (per_point * (rival - rating)).exp());
        let games: f64 =
            games.iter().map(|(rival, n, share)| *n as f64 * (share - expected(*rival))).sum();
        per_point * games - rating / (DEVIATION * DEVIATION)
    };
    // The slope falls, so where it is 0 lies between the ends.
    let (mut low, mut high) = (-10_000.0, 10_000.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use cartridge_learn::board_net::{Config, Shape};

    use super::*;

    #[test]
    fn shares_and_letters() {
        let games = [(1.0, 20), (-1.0, 30), (0.0, 42), (1.0, 8)];
        let scores = Scores(games.map(|(score, n_plies)| Ended { score, n_plies }).to_vec());
        assert_eq!(scores.mean_length(), 25.0);
        assert_eq!(scores.share(), 0.625);
        assert_eq!(scores.letters(), "WLDW");
    }

    /// A network of evaluations is the player that matches have under its key.
    #[test]
    fn a_network_plays_as_it_does_at_a_board() {
        let mut rng = fastrand::Rng::with_seed(5);
        for game in ["tictactoe", "connect4", "othello"] {
            let spec = AnyGame::start(game, &mut rng).unwrap().spec();
            let mut network = || {
                let config = Config::residual(1, 16);
                BoardNet::new(Shape::of(spec), &config, &mut rng).unwrap()
            };
            let (one, other) = (network(), network());
            for n_simulations in [0, 24] {
                let plan = Plan { n_games: 8, n_simulations, seed: 3 };
                let mut team = Team::new(1);
                let in_step = against_network(game, &one, &other, plan, &mut team).unwrap();
                let thinker = Thinker::own("other", other.clone(), spec).unwrap();
                let choose = |game: &AnyGame, _: &mut fastrand::Rng| {
                    thinker.think(game, n_simulations).unwrap().action
                };
                let at_board = against_anybody(game, &one, &choose, plan, &mut team).unwrap();
                assert_eq!(in_step, at_board, "{game} with {n_simulations}");
            }
        }
    }

    #[test]
    fn ratings_follow_from_games() {
        // 10 of 11 points are 400 Elo; the prior takes a little of it.
        let r = rating(&[(0.0, 1_100, 10.0 / 11.0)]);
        assert!((398.0..400.0).contains(&r), "{r}");
        // Even against 200 and a tenth against 600: about 200 by both.
        let r = rating(&[(200.0, 1_000, 0.5), (600.0, 1_000, 1.0 / 11.0)]);
        assert!((198.0..201.0).contains(&r), "{r}");
        // Whoever wins all is far above, and finite.
        let r = rating(&[(0.0, 40, 1.0)]);
        assert!((500.0..2_000.0).contains(&r), "{r}");
    }
}
