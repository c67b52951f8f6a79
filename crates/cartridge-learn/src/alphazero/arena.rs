//! A network against another, or against anybody: many games in step, so that every call of a network
//! is for a full batch.
//!
//! Each opening of a few moves drawn by chance is played from both sides. Nothing else is left to
//! chance where both are networks, so the same seed gives the same games with any number of threads.
//!
//! A network plays as it does at a board: PUCT without noise from an empty tree, one leaf at a time,
//! by as many views of a position ([`n_views`]). What it plays is the same to the bit, so these games
//! count for the same player; a test above this crate compares the two.

use std::fmt;

use cartridge_games::seeds::{Stream, episode_seed};
use cartridge_games::{Action, Game, Seat, Turn, random_action};
use cartridge_search::cache::Cache;
use cartridge_search::search::{self, LeafId, Search};

use super::self_play::Batch;
use crate::board_net::BoardNet;
use crate::team::Team;

/// Positions whose evaluation a group of games remembers.
const CACHE_POSITIONS: usize = 1 << 14;

/// Views of a position that a search at a board goes by.
///
/// Where a board has a mirror image and nothing else that is like it, the mean of both is taken: two
/// views of one position err differently. With more images it would take more time than it is worth.
pub const fn n_views<G: Game>() -> usize {
    if G::N_SYMMETRIES == 2 { 2 } else { 1 }
}

/// How a contest is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Openings, each of which is played from both sides.
    pub n_pairs: usize,
    /// Moves of an opening.
    pub n_opening_plies: usize,
    /// Simulations of every search; 0 plays by the network alone.
    pub n_simulations: u32,
    /// What the openings follow from.
    pub seed: u64,
}

/// Whom a network plays against.
pub enum Rival<'a, G> {
    /// Another network.
    Network(&'a BoardNet),
    /// Whoever can choose an action.
    Other(&'a (dyn Fn(&G, &mut fastrand::Rng) -> Action + Sync)),
}

impl<G> fmt::Debug for Rival<'_, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Network(_) => "Network",
            Self::Other(_) => "Other",
        })
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    /// The score of the network, from -1 to 1.
    pub score: f32,
    /// Moves, those of the opening too.
    pub n_plies: u32,
}

/// The games of a network against `rival`: of each opening first the one in which it moves first.
pub fn contest<G: Game>(
    network: &BoardNet,
    rival: &Rival<'_, G>,
    terms: Terms,
    team: &mut Team,
) -> Vec<Ended> {
    let pairs: Vec<usize> = (0..terms.n_pairs).collect();
    let n_groups = team.n_threads().min(terms.n_pairs).max(1);
    let chunks = pairs.chunks(terms.n_pairs.div_ceil(n_groups).max(1));
    let mut groups: Vec<(&[usize], Vec<Ended>)> = chunks.map(|pairs| (pairs, Vec::new())).collect();
    team.each(&mut groups, |_, (pairs, ended)| {
        *ended = Group::new(pairs, terms).play(network, rival);
    });
    groups.into_iter().flat_map(|(_, ended)| ended).collect()
}

/// Games that one thread plays in step.
struct Group<G> {
    tables: Vec<Table<G>>,
    terms: Terms,
    /// Of the network, and of its rival where that is one.
    sides: [Side<G>; 2],
}

struct Side<G> {
    cache: Cache<G>,
    batch: Batch<G, Asked>,
}

/// The leaf of a search, or nothing where the network plays by itself.
type Asked = Option<LeafId>;

struct Table<G> {
    game: G,
    n_plies: u32,
    /// The network's seat.
    seat: Seat,
    search: Search<G>,
    is_searching: bool,
    rng: fastrand::Rng,
}

impl<G: Game> Group<G> {
    fn new(pairs: &[usize], terms: Terms) -> Self {
        let tables = pairs.iter().flat_map(|&pair| {
            let seed = episode_seed(terms.seed, Stream::Evaluation, 0, pair as u64);
            let game = opening(terms.n_opening_plies, &mut fastrand::Rng::with_seed(seed));
            [0, 1].map(|seat| Table {
                game: G::clone(&game),
                n_plies: terms.n_opening_plies as u32,
                seat: Seat(seat),
                search: Search::default(),
                is_searching: false,
                rng: fastrand::Rng::with_seed(seed ^ seat as u64),
            })
        });
        let side = || Side { cache: Cache::new(CACHE_POSITIONS), batch: Batch::default() };
        Self { tables: tables.collect(), terms, sides: [side(), side()] }
    }

    fn play(mut self, network: &BoardNet, rival: &Rival<'_, G>) -> Vec<Ended> {
        let networks = match rival {
            Rival::Network(rival) => [network, *rival],
            Rival::Other(_) => [network; 2],
        };
        loop {
            for (place, table) in self.tables.iter_mut().enumerate() {
                if let Some((side, leaf, game)) = table.advance(self.terms, rival, &mut self.sides)
                {
                    self.sides[side].batch.add(place, leaf, game);
                }
            }
            if self.sides.iter().all(|side| side.batch.is_empty()) {
                break;
            }
            for (side, network) in self.sides.iter_mut().zip(networks) {
                // Whoever plays by its policy alone looks at a position as it lies.
                let n_views = if self.terms.n_simulations == 0 { 1 } else { n_views::<G>() };
                side.batch.evaluate_views(network, n_views);
                let Side { cache, batch } = side;
                batch.answer(|place, leaf, evaluation| {
                    let table = &mut self.tables[place];
                    if let Some(leaf) = leaf {
                        table.search.answer(leaf, evaluation, cache);
                    } else {
                        let logit = |action: Action| evaluation.logits[action.0];
                        // The first of the greatest.
                        let better = |a, b| if logit(b) > logit(a) { b } else { a };
                        let best = table.game.legal_actions().reduce(better);
                        table.play(best.expect("the game goes on"));
                    }
                });
            }
        }
        let ended = |table: &Table<G>| Ended {
            score: table.game.score(table.seat),
            n_plies: table.n_plies,
        };
        self.tables.iter().map(ended).collect()
    }
}

impl<G: Game> Table<G> {
    /// Plays on until a network must judge a position: whose, which leaf, and which position. Nothing
    /// when the game is over.
    fn advance(
        &mut self,
        terms: Terms,
        rival: &Rival<'_, G>,
        sides: &mut [Side<G>; 2],
    ) -> Option<(usize, Asked, G)> {
        loop {
            let Turn::Seat(seat) = self.game.turn() else { return None };
            let side = usize::from(seat != self.seat);
            if let (1, Rival::Other(choose)) = (side, rival) {
                let action = choose(&self.game, &mut self.rng);
                self.play(action);
                continue;
            }
            if terms.n_simulations == 0 {
                return Some((side, None, self.game.clone()));
            }
            if !self.is_searching {
                self.search.clear();
                let config = search::Config::puct(terms.n_simulations);
                self.search.begin(&self.game, config, &mut self.rng);
                self.is_searching = true;
            }
            if let Some(leaf) = self.search.next_leaf(&mut sides[side].cache) {
                return Some((side, Some(leaf.id), leaf.game));
            }
            self.is_searching = false;
            let action = self.search.best_action();
            self.play(action);
        }
    }

    fn play(&mut self, action: Action) {
        self.game.apply(action);
        self.n_plies += 1;
    }
}

/// A position after some moves drawn by chance in which somebody is to move.
fn opening<G: Game>(n_plies: usize, rng: &mut fastrand::Rng) -> G {
    loop {
        let mut game = G::start(&mut fastrand::Rng::with_seed(0));
        for _ in 0..n_plies {
            if game.turn() == Turn::Over {
                break;
            }
            let action = random_action(&game, rng);
            game.apply(action);
        }
        if game.turn() != Turn::Over {
            return game;
        }
    }
}

#[cfg(test)]
mod tests {
    use cartridge_games::connect4::Connect4;
    use cartridge_games::tic_tac_toe::TicTacToe;
    use cartridge_search::minimax;

    use super::*;
    use crate::alphazero::{AlphaZero, Config};
    use crate::board_net::{Preset, Shape};

    const TERMS: Terms = Terms { n_pairs: 6, n_opening_plies: 2, n_simulations: 24, seed: 3 };

    fn untrained<G: Game>(seed: u64) -> BoardNet {
        let mut rng = fastrand::Rng::with_seed(seed);
        BoardNet::new(Shape::of(&G::SPEC), &Preset::Tiny.config(), &mut rng).unwrap()
    }

    #[test]
    fn threads_change_nothing_and_a_network_equals_itself() {
        let (one, other) = (untrained::<Connect4>(1), untrained::<Connect4>(2));
        let against = |rival: &BoardNet, n_simulations: u32, n_threads: usize| {
            let terms = Terms { n_simulations, ..TERMS };
            let rival = Rival::<Connect4>::Network(rival);
            contest(&one, &rival, terms, &mut Team::new(n_threads))
        };
        for n_simulations in [0, 24] {
            let scores = against(&other, n_simulations, 1);
            assert_eq!(scores.len(), 12);
            assert_eq!(scores, against(&other, n_simulations, 3));
            // Against itself the two games of an opening are the same game from both sides.
            let same = against(&one, n_simulations, 2);
            let is_one_game = |pair: &[Ended]| {
                (pair[0].score, pair[0].n_plies) == (-pair[1].score, pair[1].n_plies)
            };
            assert!(same.chunks_exact(2).all(is_one_game), "{same:?}");
            assert!(same.iter().all(|game| (7..=42).contains(&game.n_plies)), "{same:?}");
        }
    }

    #[test]
    fn who_never_errs_does_not_lose() {
        let network = untrained::<TicTacToe>(1);
        let perfect = |game: &TicTacToe, rng: &mut fastrand::Rng| {
            minimax::best_action(game, rng).expect("it is asked on its turn")
        };
        let terms = Terms { n_opening_plies: 0, n_simulations: 0, n_pairs: 4, ..TERMS };
        let scores = contest(&network, &Rival::Other(&perfect), terms, &mut Team::new(1));
        assert!(scores.iter().all(|game| game.score <= 0.0), "{scores:?}");
        assert!(
            scores.iter().any(|game| game.score == -1.0),
            "an untrained network loses now and then: {scores:?}"
        );
    }

    #[test]
    fn what_has_learnt_wins() {
        let config = Config {
            n_lanes: 2,
            n_games: 8,
            steps_per_update: 512,
            batch_size: 64,
            learning_starts: 256,
            learning_rate: 0.01.into(),
            ..Config::new(Preset::Tiny.config(), 12_000)
        };
        let mut training = AlphaZero::<TicTacToe>::new(&config, 7, Team::new(2)).unwrap();
        let before = training.network().clone();
        while !training.is_done() {
            training.update().unwrap();
        }
        let terms = Terms { n_pairs: 20, n_opening_plies: 2, n_simulations: 0, seed: 1 };
        let rival = Rival::<TicTacToe>::Network(&before);
        let scores = contest(training.network(), &rival, terms, &mut Team::new(2));
        let mean = scores.iter().map(|game| game.score).sum::<f32>() / scores.len() as f32;
        assert!(mean > 0.3, "{mean}");
    }
}
