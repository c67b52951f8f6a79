//! How often a network's own move changes the outcome of a position for the worse, where perfect play
//! is known: over all positions of tic-tac-toe, and over some of Connect 4 that are kept for it.
//!
//! An [`Examiner`] looks at a copy of the network on a thread of its own, while the training goes on.
//! What it finds is told with the step of that network, and always before the next row is written, a
//! checkpoint saved or a pause begun: so a run that is resumed has the same rows as one that was not.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

use cartridge_games::connect4::Connect4;
use cartridge_games::tic_tac_toe::TicTacToe;
use cartridge_games::{Action, Game, Turn};
use cartridge_learn::board_net::{BoardNet, Workspace};
use cartridge_learn::metric::{HeldSet, Metric};
use cartridge_search::minimax;

const CONNECT4: &str = include_str!("connect4_positions.txt");

/// Positions of Connect 4 in each of its sets.
const POSITIONS_OF_A_SET: usize = 40;

/// What was found of a network.
type Findings = Vec<(Metric, f64)>;

/// Who looks at networks while the training goes on.
#[derive(Debug)]
pub(crate) struct Examiner {
    /// The positions, while nobody looks at them.
    held: Option<Held>,
    /// The step of the network that is being looked at.
    work: Option<(u64, JoinHandle<(Held, Findings)>)>,
}

impl Examiner {
    /// Who looks at networks for a game; at nothing where no positions are held.
    pub(crate) fn new(game: &str) -> Self {
        Self { held: Held::of(game), work: None }
    }

    /// Begins to look at a network. What was found of the one before has been asked for.
    pub(crate) fn begin(&mut self, step: u64, network: &BoardNet) {
        let Some(mut held) = self.held.take() else { return };
        let network = network.clone();
        let look = move || {
            let found = held.measure(&network);
            (held, found)
        };
        self.work = Some((step, thread::spawn(look)));
    }

    /// What was found, and at which step; waits for it. Nothing where nobody looks.
    pub(crate) fn end(&mut self) -> Option<(u64, Findings)> {
        let (step, work) = self.work.take()?;
        let (held, found) = work.join().unwrap_or_else(|panic| resume_unwind(panic));
        self.held = Some(held);
        Some((step, found))
    }
}

/// Positions whose moves are known to be right or wrong.
#[derive(Debug)]
pub(crate) struct Held {
    /// The planes of all of them.
    planes: Vec<f32>,
    /// Of each, the moves, and whether each keeps the outcome.
    moves: Vec<Vec<(Action, bool)>>,
    /// The sets that they are from, as many of each, in their order; none where all are one.
    sets: &'static [HeldSet],
    work: Workspace,
}

/// The shares of positions in which a network errs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ValueErrors {
    /// Of all of them.
    pub(crate) all: f64,
    /// Of those in which one can err.
    pub(crate) hard: f64,
}

impl Held {
    /// The positions of a game, where there are some.
    pub(crate) fn of(game: &str) -> Option<Self> {
        match game {
            "tictactoe" => Some(tic_tac_toe()),
            "connect4" => Some(connect4()),
            _ => None,
        }
    }

    fn new<G: Game>(
        judged: impl Iterator<Item = (G, Vec<(Action, bool)>)>,
        sets: &'static [HeldSet],
    ) -> Self {
        let n_inputs: usize = G::SPEC.planes.iter().product();
        let (mut planes, mut moves) = (Vec::new(), Vec::new());
        for (game, judged) in judged {
            let Turn::Seat(seat) = game.turn() else { continue };
            let from = planes.len();
            planes.resize(from + n_inputs, 0.0);
            game.observe_planes(seat, &mut planes[from..]);
            moves.push(judged);
        }
        Self { planes, moves, sets, work: Workspace::default() }
    }

    /// How often the network errs without a search, in all and by set.
    fn measure(&mut self, network: &BoardNet) -> Findings {
        let verdicts = self.judge(network);
        let ValueErrors { all, hard } = ValueErrors::of(&verdicts);
        let mut found = vec![(Metric::SolverError, all), (Metric::SolverErrorHard, hard)];
        for (&set, verdicts) in self.sets.iter().zip(verdicts.chunks_exact(POSITIONS_OF_A_SET)) {
            let ValueErrors { all, hard } = ValueErrors::of(verdicts);
            found.extend([
                (Metric::SolverErrorIn(set), all),
                (Metric::SolverErrorHardIn(set), hard),
            ]);
        }
        found
    }

    /// Of each position whether the network errs without a search, and whether one can.
    fn judge(&mut self, network: &BoardNet) -> Vec<[bool; 2]> {
        let n_actions = network.shape().n_actions;
        let mut logits = vec![0.0; self.moves.len() * n_actions];
        let mut values = vec![0.0; self.moves.len()];
        network.infer(&mut self.work, &self.planes, &mut logits, &mut values);
        let logits = logits.chunks_exact(n_actions);
        let verdict = |(moves, logits): (&Vec<(Action, bool)>, &[f32])| {
            let logit = |action: Action| logits[action.0];
            let chosen = moves.iter().max_by(|(a, _), (b, _)| logit(*a).total_cmp(&logit(*b)));
            [chosen.is_some_and(|(_, keeps)| !keeps), moves.iter().any(|(_, keeps)| !keeps)]
        };
        self.moves.iter().zip(logits).map(verdict).collect()
    }
}

impl ValueErrors {
    /// The shares among positions of which it is known whether the network errs, and whether one can.
    fn of(verdicts: &[[bool; 2]]) -> Self {
        let n_errors = verdicts.iter().filter(|[errs, _]| *errs).count();
        let n_hard = verdicts.iter().filter(|[_, is_hard]| *is_hard).count();
        let share = |n: usize| n_errors as f64 / n.max(1) as f64;
        Self { all: share(verdicts.len()), hard: share(n_hard) }
    }
}

fn connect4() -> Held {
    let lines = CONNECT4.lines().filter(|line| !line.starts_with('#'));
    let judged = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let mut game = Connect4::start(&mut fastrand::Rng::with_seed(0));
        for column in words.next()?.bytes() {
            game.apply(Action(usize::from(column - b'1')));
        }
        let scores: Vec<(Action, i32)> = words
            .enumerate()
            .filter_map(|(column, score)| Some((Action(column), score.parse().ok()?)))
            .collect();
        let best = scores.iter().map(|(_, score)| score.signum()).max()?;
        let moves = scores.iter().map(|(action, score)| (*action, score.signum() == best));
        Some((game, moves.collect()))
    });
    Held::new(judged, &HeldSet::ALL)
}

fn tic_tac_toe() -> Held {
    let mut seen = HashSet::new();
    let mut open = vec![TicTacToe::start(&mut fastrand::Rng::with_seed(0))];
    let mut judged = Vec::new();
    while let Some(game) = open.pop() {
        if game.turn() == Turn::Over || !seen.insert(game.hash64()) {
            continue;
        }
        let scores = minimax::solve(&game);
        let best = scores.iter().map(|(_, score)| *score).fold(f32::NEG_INFINITY, f32::max);
        let moves = scores.iter().map(|(action, score)| (*action, *score >= best)).collect();
        open.extend(game.legal_actions().map(|action| {
            let mut next = game.clone();
            next.apply(action);
            next
        }));
        judged.push((game, moves));
    }
    Held::new(judged.into_iter(), &[])
}

#[cfg(test)]
mod tests {
    use cartridge_learn::board_net::{Preset, Shape};

    use super::*;

    #[test]
    fn held_positions_are_whole() {
        let (tic_tac_toe, connect4) = (tic_tac_toe(), connect4());
        assert_eq!((tic_tac_toe.moves.len(), connect4.moves.len()), (4_520, 240));
        for held in [tic_tac_toe, connect4] {
            let keeps_one = |moves: &Vec<(Action, bool)>| moves.iter().any(|(_, keeps)| *keeps);
            assert!(held.moves.iter().all(keeps_one), "every position has a best move");
        }
        // What was played in each set, and so how far the game is, by their names.
        let lines = CONNECT4.lines().filter(|line| !line.starts_with('#'));
        let plies: Vec<usize> = lines.map(|line| line.find(' ').unwrap()).collect();
        for (set, plies) in HeldSet::ALL.iter().zip(plies.chunks_exact(POSITIONS_OF_A_SET)) {
            let bounds = match set {
                HeldSet::L3R1 => 29..=41,
                HeldSet::L2R1 | HeldSet::L2R2 => 15..=28,
                HeldSet::L1R1 | HeldSet::L1R2 | HeldSet::L1R3 => 0..=14,
            };
            assert!(plies.iter().all(|n| bounds.contains(n)), "{set:?}: {plies:?}");
        }
        assert!(Held::of("othello").is_none());
    }

    #[test]
    fn who_knows_nothing_errs_as_often_as_chance_does() {
        let mut rng = fastrand::Rng::with_seed(1);
        let shape = Shape::of(&Connect4::SPEC);
        let network = BoardNet::new(shape, &Preset::Small.config(), &mut rng).unwrap();
        let mut examiner = Examiner::new("connect4");
        assert_eq!(examiner.end(), None);
        examiner.begin(7, &network);
        let (step, found) = examiner.end().unwrap();
        assert_eq!((step, found.len()), (7, 14));
        let share = |metric: Metric| found.iter().find(|(it, _)| *it == metric).unwrap().1;
        let (all, hard) = (share(Metric::SolverError), share(Metric::SolverErrorHard));
        assert!((0.2..0.55).contains(&all) && hard > all, "{found:?}");
        // Sets of one size: the whole is their mean.
        let by_set = HeldSet::ALL.map(|set| share(Metric::SolverErrorIn(set)));
        assert!((by_set.iter().sum::<f64>() / 6.0 - all).abs() < 1e-12, "{found:?}");
        for set in HeldSet::ALL {
            let all = share(Metric::SolverErrorIn(set));
            assert!((all..=1.0).contains(&share(Metric::SolverErrorHardIn(set))), "{found:?}");
        }
        // Looking again finds the same; a game without positions has nobody to look.
        examiner.begin(8, &network);
        assert_eq!(examiner.end(), Some((8, found)));
        let mut nobody = Examiner::new("othello");
        nobody.begin(1, &network);
        assert_eq!(nobody.end(), None);
    }
}
