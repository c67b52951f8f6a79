//! A game of two as an environment: one actor plays both seats in turn.
//!
//! It is how recorded games are seen again wherever episodes are. What is seen are the planes of the
//! seat to move; the reward is paid at the end, and is the score of the first seat.

use std::marker::PhantomData;

use crate::env::{ActionSpace, Env, EnvAction, EnvSpec, Step};
use crate::game::{Action, Game, Seat, Turn};
use crate::scene::Scene;

/// Moves per second when a game is played back.
const MOVES_PER_SECOND: u32 = 2;

/// A game that one actor plays for both seats.
#[derive(Debug)]
pub struct BoardEnv<G> {
    game: G,
}

struct Presented<G>(PhantomData<G>);

impl<G: Game> Presented<G> {
    const SPEC: &'static EnvSpec = &EnvSpec {
        id: G::SPEC.id,
        name: G::SPEC.name,
        version: G::SPEC.version,
        observation: G::SPEC.planes[0] * G::SPEC.planes[1] * G::SPEC.planes[2],
        actions: ActionSpace::Discrete(G::SPEC.n_actions),
        max_steps: G::SPEC.max_plies as u32,
        is_masked: true,
        quit_action: None,
        reward_threshold: None,
        frames_per_second: MOVES_PER_SECOND,
        action_names: &[],
        observation_names: &[],
        controls: None,
    };
}

impl<G: Game> BoardEnv<G> {
    /// The game at its start.
    pub fn new(game: G) -> Self {
        Self { game }
    }

    fn observe(&self, observation: &mut [f32]) {
        let seat = match self.game.turn() {
            Turn::Seat(seat) => seat,
            Turn::Over => Seat(0),
        };
        self.game.observe_planes(seat, observation);
    }
}

impl<G: Game> Env for BoardEnv<G> {
    fn spec(&self) -> &'static EnvSpec {
        Presented::<G>::SPEC
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut [f32]) {
        self.game = G::start(&mut fastrand::Rng::with_seed(seed.unwrap_or(0)));
        self.observe(observation);
    }

    fn step(&mut self, action: EnvAction<'_>, observation: &mut [f32]) -> Step {
        let index = action.index();
        let legal = self.game.legal_actions().find(|legal| legal.0 == index);
        if let Some(action) = legal {
            self.game.apply(action);
        }
        self.observe(observation);
        let is_over = self.game.turn() == Turn::Over;
        Step {
            reward: if is_over { f64::from(self.game.score(Seat(0))) } else { 0.0 },
            terminated: is_over,
            truncated: false,
            ticks: 1,
            is_invalid: legal.is_none(),
        }
    }

    fn legal_actions(&self, mask: &mut [bool]) {
        mask.fill(false);
        self.game.legal_actions().for_each(|action| mask[action.0] = true);
    }

    fn scene(&self) -> Scene {
        self.game.scene()
    }

    fn pieces(&self) -> Option<Vec<Vec<Seat>>> {
        let actions = (0..G::SPEC.n_actions).map(Action);
        Some(actions.map(|action| self.game.pieces(action)).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::game::{Action, Seat};
    use crate::registry::make_world;

    /// Plays actions and returns what was earned, whether it is over, and what was invalid.
    fn play(id: &str, actions: &[usize]) -> (f64, bool, usize) {
        let mut env = make_world(id, &serde_json::Map::new()).unwrap();
        let mut seen = vec![0.0; env.spec().observation];
        env.reset(Some(1), &mut seen);
        let (mut reward, mut is_over, mut n_invalid) = (0.0, false, 0);
        for &action in actions {
            let step = env.step(Action(action).into(), &mut seen);
            reward += step.reward;
            is_over = step.is_end();
            n_invalid += usize::from(step.is_invalid);
        }
        (reward, is_over, n_invalid)
    }

    #[test]
    fn both_seats_are_played_and_the_first_is_paid() {
        assert_eq!(play("tictactoe", &[0, 3, 1, 4, 2]), (1.0, true, 0));
        assert_eq!(play("tictactoe", &[0, 3, 1, 4, 8, 5]), (-1.0, true, 0));
        assert_eq!(play("tictactoe", &[0, 0, 3, 1, 4, 2]), (1.0, true, 1), "who errs, idles");
        assert_eq!(play("connect4", &[3, 3, 3]), (0.0, false, 0));
        assert_eq!(play("CartPole-v1", &[0]), (1.0, false, 0), "environments are as they are");
    }

    #[test]
    fn whose_pieces_lie_where() {
        let mut env = make_world("connect4", &serde_json::Map::new()).unwrap();
        let mut seen = vec![0.0; env.spec().observation];
        env.reset(Some(1), &mut seen);
        for action in [3, 3, 0] {
            env.step(Action(action).into(), &mut seen);
        }
        let mut expected = vec![Vec::new(); 7];
        expected[3] = vec![Seat(0), Seat(1)];
        expected[0] = vec![Seat(0)];
        assert_eq!(env.pieces(), Some(expected));
        let pole = make_world("CartPole-v1", &serde_json::Map::new()).unwrap();
        assert_eq!(pole.pieces(), None, "there is no board");
    }
}
