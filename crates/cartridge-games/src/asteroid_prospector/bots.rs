//! Scripted players: the par that a learner is measured against.
//!
//! The miners see what an agent sees, observation and mask, and remember what they saw. The
//! [oracle](oracle) looks behind the curtain. How each of them thinks is data ([`Habits`]).

mod habits;
mod miner;
mod oracle;
mod view;

use self::habits::{CAUTIOUS_SCANNER, GREEDY_MINER, Habits, MARKET_TIMER};
use self::miner::Miner;
use self::oracle::Oracle;
use self::view::View;
use super::observe::N_OBSERVATION;
use super::order::{CASH_OUT, HOLD, N_ACTIONS};
use super::{AsteroidProspector, Config, EpisodeMetrics};
use crate::env::Env as _;
use crate::game::Action;

/// A scripted player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bot {
    /// Cashes out at once.
    CashOut,
    /// Holds at the station until time is up.
    Hold,
    /// Any legal action with equal chance, cashing out among them.
    Random,
    /// Mines hard at the nearest node and sells everything at once.
    GreedyMiner,
    /// Listens and scans before it mines gently, and comes home early.
    CautiousScanner,
    /// A cautious scanner that sells little by little, and waits for good prices.
    MarketTimer,
    /// Knows the whole belt: every asteroid, every threat.
    Oracle,
}

impl Bot {
    /// All of them, from the least to the most capable.
    pub const ALL: [Self; 7] = [
        Self::CashOut,
        Self::Hold,
        Self::Random,
        Self::GreedyMiner,
        Self::CautiousScanner,
        Self::MarketTimer,
        Self::Oracle,
    ];

    /// The word in files.
    pub fn id(self) -> &'static str {
        match self {
            Self::CashOut => "cash_out",
            Self::Hold => "hold",
            Self::Random => "random",
            Self::GreedyMiner => "greedy_miner",
            Self::CautiousScanner => "cautious_scanner",
            Self::MarketTimer => "market_timer",
            Self::Oracle => "oracle",
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::CashOut => "cash out at once",
            Self::Hold => "hold at the station",
            Self::Random => "random legal",
            Self::GreedyMiner => "greedy miner",
            Self::CautiousScanner => "cautious scanner",
            Self::MarketTimer => "market timer",
            Self::Oracle => "oracle",
        }
    }

    /// Plays the episode of `seed` to its end.
    pub fn play(self, config: Config, seed: u64) -> EpisodeMetrics {
        let mut env = AsteroidProspector::new(config);
        let mut observation = [0.0; N_OBSERVATION];
        let mut legal = [false; N_ACTIONS];
        env.reset(Some(seed), &mut observation);
        let mut mind = Mind::new(self, seed);
        loop {
            env.legal_actions(&mut legal);
            let action = mind.choose(View { seen: &observation, legal: &legal }, &env);
            if env.step(action.into(), &mut observation).is_end() {
                return *env.last_episode().expect("the episode has just ended");
            }
        }
    }
}

/// What a bot has in mind during an episode.
#[derive(Debug)]
enum Mind {
    Always(usize),
    Random(fastrand::Rng),
    Miner(Box<Miner>),
    Oracle(Box<Oracle>),
}

impl Mind {
    fn new(bot: Bot, seed: u64) -> Self {
        let miner = |habits: &'static Habits| Self::Miner(Box::new(Miner::new(habits)));
        match bot {
            Bot::CashOut => Self::Always(CASH_OUT),
            Bot::Hold => Self::Always(HOLD),
            Bot::Random => Self::Random(fastrand::Rng::with_seed(seed)),
            Bot::GreedyMiner => miner(&GREEDY_MINER),
            Bot::CautiousScanner => miner(&CAUTIOUS_SCANNER),
            Bot::MarketTimer => miner(&MARKET_TIMER),
            Bot::Oracle => Self::Oracle(Box::default()),
        }
    }

    fn choose(&mut self, view: View<'_>, env: &AsteroidProspector) -> Action {
        Action(match self {
            Self::Always(action) => *action,
            Self::Random(rng) => view.random(rng),
            Self::Miner(miner) => miner.choose(view),
            Self::Oracle(oracle) => oracle.choose(view, env),
        })
    }
}

#[cfg(test)]
mod tests;
