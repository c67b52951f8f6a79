//! A game of self-play, as it is kept and learnt from.

use cartridge_games::{Action, Game, Seat};
use serde::{Deserialize, Serialize};

/// Why a game of self-play ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// By its rules.
    Over,
    /// The search had proven how it would end.
    Proven,
    /// The seat to move gave up.
    Resigned,
}

/// What a search found in one position, in whole numbers, so that sums do not depend on their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ply {
    /// The share of each action that has one, of [`SHARE_ONE`].
    pub policy: Vec<(u16, u16)>,
    /// What the position is worth to the seat to move, of [`VALUE_ONE`].
    pub value: i16,
    /// Whether the search was a thorough one, to be learnt from.
    pub is_full: bool,
}

/// The share of an action that has all.
pub const SHARE_ONE: u16 = u16::MAX;

/// The value of a game that is won.
pub const VALUE_ONE: i16 = i16::MAX;

/// A game of self-play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayedGame {
    /// What was played, from the start of the game.
    pub actions: Vec<Action>,
    /// How many of them were drawn by chance before the first search.
    pub n_opening: usize,
    /// What was found before each of the others.
    pub plies: Vec<Ply>,
    /// The score of the first seat, of [`VALUE_ONE`].
    pub score: i16,
    /// Why it ended.
    pub end: End,
}

/// Why bytes are no game of self-play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a game of self-play: {0}")]
pub struct RecordError(&'static str);

/// The first byte of a game; raised when the rest changes its meaning.
const FORMAT: u8 = 1;

impl Ply {
    /// What a search with these findings says.
    pub(super) fn new(target: &[f32], value: f32, is_full: bool) -> Self {
        let share = |probability: f32| (probability * f32::from(SHARE_ONE)).round() as u16;
        let shares = target.iter().enumerate().map(|(action, p)| (action as u16, share(*p)));
        let policy = shares.filter(|(_, share)| *share > 0).collect();
        Self { policy, value: to_whole(value), is_full }
    }
}

/// A score between -1 and 1 in whole numbers.
pub(super) fn to_whole(score: f32) -> i16 {
    (score.clamp(-1.0, 1.0) * f32::from(VALUE_ONE)).round() as i16
}

impl PlayedGame {
    /// The score of a seat, of [`VALUE_ONE`].
    pub fn score_of(&self, seat: Seat) -> i16 {
        if seat == Seat(0) { self.score } else { -self.score }
    }

    /// The game as bytes, least significant first: the format (1), why it ended (0 over, 1 proven, 2
    /// resigned), the score of the first seat (`i16`), how many actions were drawn by chance
    /// (`u16`), how many there are (`u16`), and the actions (`u16` each). Then for each action that
    /// was not drawn by chance what was found before it: the value (`i16`), whether the search was a
    /// thorough one (`u8`), how many actions have a share (`u16`), and each of them with its share
    /// (`u16` twice).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT, self.end as u8];
        bytes.extend(self.score.to_le_bytes());
        let mut put = |number: usize| bytes.extend((number as u16).to_le_bytes());
        put(self.n_opening);
        put(self.actions.len());
        self.actions.iter().for_each(|action| put(action.0));
        for ply in &self.plies {
            bytes.extend(ply.value.to_le_bytes());
            bytes.push(ply.is_full.into());
            bytes.extend((ply.policy.len() as u16).to_le_bytes());
            for (action, share) in &ply.policy {
                bytes.extend(action.to_le_bytes());
                bytes.extend(share.to_le_bytes());
            }
        }
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote. Whether the actions are legal is for
    /// [`replay`](Self::replay) to say.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut rest = Rest(bytes);
        if rest.byte()? != FORMAT {
            return Err(RecordError("it is of another format"));
        }
        let end = match rest.byte()? {
            0 => End::Over,
            1 => End::Proven,
            2 => End::Resigned,
            _ => return Err(RecordError("it does not say why it ended")),
        };
        let score = i16::from_le_bytes(rest.pair()?);
        let n_opening = rest.number()?.into();
        let n_actions = rest.number()?.into();
        let actions = (0..n_actions)
            .map(|_| Ok(Action(rest.number()?.into())))
            .collect::<Result<Vec<_>, _>>();
        let actions = actions?;
        let Some(n_plies) = actions.len().checked_sub(n_opening) else {
            return Err(RecordError("it has fewer actions than were drawn by chance"));
        };
        let mut plies = Vec::with_capacity(n_plies);
        for _ in 0..n_plies {
            let value = i16::from_le_bytes(rest.pair()?);
            let is_full = rest.byte()? != 0;
            let n_shares = rest.number()?;
            let policy = (0..n_shares).map(|_| Ok((rest.number()?, rest.number()?)));
            plies.push(Ply { value, is_full, policy: policy.collect::<Result<_, _>>()? });
        }
        match rest.0 {
            [] => Ok(Self { actions, n_opening, plies, score, end }),
            _ => Err(RecordError("it goes on after its end")),
        }
    }

    /// Plays the game again, shows every position that was searched, with what was found there, and
    /// returns the last. Complains about an action that is not legal, before it is played.
    pub fn replay<G: Game>(&self, mut see: impl FnMut(&G, &Ply)) -> Result<G, RecordError> {
        if self.n_opening + self.plies.len() != self.actions.len() {
            return Err(RecordError("it has not one search for each action"));
        }
        let mut game = G::start(&mut fastrand::Rng::with_seed(0));
        for (place, action) in self.actions.iter().enumerate() {
            if !game.legal_actions().any(|legal| legal == *action) {
                return Err(RecordError("an action in it is not legal"));
            }
            if let Some(ply) = place.checked_sub(self.n_opening) {
                let ply = &self.plies[ply];
                let is_known = |(action, _): &(u16, u16)| usize::from(*action) < G::SPEC.n_actions;
                if !ply.policy.iter().all(is_known) {
                    return Err(RecordError("an action in it does not exist"));
                }
                see(&game, ply);
            }
            game.apply(*action);
        }
        Ok(game)
    }
}

/// What is left to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn byte(&mut self) -> Result<u8, RecordError> {
        let (first, rest) = self.0.split_first().ok_or(RecordError("it is cut short"))?;
        self.0 = rest;
        Ok(*first)
    }

    fn pair(&mut self) -> Result<[u8; 2], RecordError> {
        Ok([self.byte()?, self.byte()?])
    }

    fn number(&mut self) -> Result<u16, RecordError> {
        self.pair().map(u16::from_le_bytes)
    }
}

#[cfg(test)]
mod tests;
