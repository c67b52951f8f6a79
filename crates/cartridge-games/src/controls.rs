//! How a person acts in an environment that goes on by itself: which keys do what.

use serde::Serialize;

use crate::env::{ActionSpace, AnyAction};
use crate::game::Action;

/// The keys by which a person acts, and what is done without any.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Controls {
    /// What is done while no key is held.
    pub idle: Idle,
    /// What each key does.
    pub keys: &'static [Control],
    /// What has happened when the task itself ends, in words that follow "the end:".
    pub ending: &'static str,
}

/// What is done while no key is held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Idle {
    /// This action of a list.
    Action(usize),
    /// What was done last goes on; before anything was done, this action. For a list in which
    /// every action does something.
    Last(usize),
    /// All numbers are zero.
    Zero,
}

/// Keys that do the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Control {
    /// The keys as browsers name them, letters in lower case.
    pub keys: &'static [&'static str],
    /// What they do, for people.
    pub label: &'static str,
    /// What they do.
    pub effect: Effect,
}

/// What a key does while it is held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Takes this action of a list. Of several keys the one that was pressed last counts.
    Action(usize),
    /// Adds to one number of a continuous action.
    Add {
        /// Which number.
        index: usize,
        /// How much.
        value: f32,
    },
}

/// Keys that no control may have: they start, pause, begin anew and lead to other pages.
pub const RESERVED_KEYS: [&str; 7] = [" ", "Enter", "Escape", "Tab", "p", "r", "g"];

impl Controls {
    /// The action while the controls `held` are, the one pressed last coming last; `last` is what
    /// was done before. Numbers that are no controls do nothing.
    pub fn action(
        &self,
        space: &ActionSpace,
        held: &[usize],
        last: Option<&AnyAction>,
    ) -> AnyAction {
        let effects = held.iter().filter_map(|&index| Some(self.keys.get(index)?.effect));
        match space {
            ActionSpace::Discrete(_) => {
                let chosen = effects.rev().find_map(|effect| match effect {
                    Effect::Action(index) => Some(index),
                    Effect::Add { .. } => None,
                });
                match (chosen, self.idle, last) {
                    (Some(index), ..) => AnyAction::Discrete(Action(index)),
                    (None, Idle::Last(_), Some(last)) => last.clone(),
                    (None, Idle::Action(index) | Idle::Last(index), _) => {
                        AnyAction::Discrete(Action(index))
                    }
                    (None, Idle::Zero, _) => AnyAction::Discrete(Action(0)),
                }
            }
            ActionSpace::Continuous { low, high } => {
                let mut numbers = vec![0.0; low.len()];
                for effect in effects {
                    if let Effect::Add { index, value } = effect {
                        numbers[index] += value;
                    }
                }
                let bounds = low.iter().zip(*high);
                for (number, (low, high)) in numbers.iter_mut().zip(bounds) {
                    *number = number.clamp(*low, *high);
                }
                AnyAction::Continuous(numbers)
            }
        }
    }
}

/// Keys that do the same.
pub(crate) const fn control(
    keys: &'static [&'static str],
    label: &'static str,
    effect: Effect,
) -> Control {
    Control { keys, label, effect }
}

#[cfg(test)]
mod tests;
