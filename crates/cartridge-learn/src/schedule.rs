//! Settings that change while a training goes on. They are functions of how much of it is over, so a
//! training that was interrupted finds them where they were.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that stays, or changes during the training. Written as RL-Zoo does, `0.001` or
/// `lin_0.001`, and `cos_0.001` and `cycle_0.001` in the same manner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// Always this.
    Constant(f64),
    /// This at the beginning, and zero at the end.
    Linear(f64),
    /// Falls from this to zero along half a wave (Loshchilov and Hutter 2017, "SGDR").
    Cosine(f64),
    /// Rises from a 25th to this in the first three tenths, then falls to next to nothing, both along
    /// half a wave (Smith and Topin 2018, "Super-convergence"; numbers as in PyTorch).
    OneCycle(f64),
}

impl Schedule {
    /// The number that it is written with: where it begins, or the greatest that it comes to.
    pub fn start(self) -> f64 {
        match self {
            Self::Constant(start)
            | Self::Linear(start)
            | Self::Cosine(start)
            | Self::OneCycle(start) => start,
        }
    }

    /// Its value when `done` of the training, from 0 to 1, is over.
    pub fn at(self, done: f64) -> f64 {
        const RISE: f64 = 0.3;
        const FIRST: f64 = 1.0 / 25.0;
        const LAST: f64 = FIRST / 10_000.0;
        let done = done.clamp(0.0, 1.0);
        let wave = |from: f64, to: f64, part: f64| {
            to + (from - to) * 0.5 * (1.0 + (std::f64::consts::PI * part).cos())
        };
        match self {
            Self::Constant(value) => value,
            Self::Linear(start) => start * (1.0 - done),
            Self::Cosine(start) => start * wave(1.0, 0.0, done),
            Self::OneCycle(most) if done < RISE => most * wave(FIRST, 1.0, done / RISE),
            Self::OneCycle(most) => most * wave(1.0, LAST, (done - RISE) / (1.0 - RISE)),
        }
    }

    /// What stands before the number.
    fn prefix(self) -> &'static str {
        match self {
            Self::Constant(_) => "",
            Self::Linear(_) => "lin_",
            Self::Cosine(_) => "cos_",
            Self::OneCycle(_) => "cycle_",
        }
    }
}

impl From<f64> for Schedule {
    fn from(value: f64) -> Self {
        Self::Constant(value)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.prefix(), self.start())
    }
}

/// Text that is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a number nor `lin_`, `cos_` or `cycle_` and a number")]
pub struct ScheduleError(String);

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let forms = [Self::Linear, Self::Cosine, Self::OneCycle, Self::Constant];
        let read = |form: fn(f64) -> Self| {
            let number = text.strip_prefix(form(0.0).prefix())?.parse::<f64>().ok()?;
            number.is_finite().then(|| form(number))
        };
        forms.into_iter().find_map(read).ok_or_else(|| ScheduleError(text.to_owned()))
    }
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Constant(value) => serializer.serialize_f64(*value),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(f64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(value) => Ok(Self::Constant(value)),
            Form::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_course(schedule: Schedule, expected: [f64; 5]) {
        let found = [-0.5, 0.0, 0.3, 0.65, 1.5].map(|done| schedule.at(done));
        for (x, y) in found.iter().zip(expected) {
            assert!((x - y).abs() < 1e-9, "{schedule:?}: {found:?} is not {expected:?}");
        }
    }

    #[test]
    fn waves_rise_and_fall() {
        check_course(Schedule::Constant(1.0), [1.0; 5]);
        // Half of one more than the cosine of 54 and of 117 degrees.
        let half = [1.0, 1.0, 0.793_892_626_146, 0.273_004_750_130, 0.0];
        check_course(Schedule::Cosine(1.0), half);
        check_course(Schedule::Cosine(0.1), half.map(|x| 0.1 * x));
        check_course(Schedule::OneCycle(1.0), [0.04, 0.04, 1.0, 0.500_002, 4e-6]);
    }

    #[track_caller]
    fn check(json: &str, expected: Schedule) {
        let schedule: Schedule = serde_json::from_str(json).unwrap();
        assert_eq!(schedule, expected);
        assert_eq!(serde_json::to_string(&schedule).unwrap(), json);
    }

    #[test]
    fn written_as_a_number_or_as_text() {
        check("0.001", Schedule::Constant(0.001));
        check("\"lin_0.001\"", Schedule::Linear(0.001));
        check("\"cos_0.003\"", Schedule::Cosine(0.003));
        check("\"cycle_0.01\"", Schedule::OneCycle(0.01));
        for wrong in ["\"lin_\"", "\"exp_1\"", "\"lin_inf\"", "null"] {
            assert!(serde_json::from_str::<Schedule>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_line_falls_to_zero() {
        assert_eq!(Schedule::Linear(0.2).at(0.25), 0.15000000000000002);
        assert_eq!(Schedule::Linear(0.2).at(1.5), 0.0);
        assert_eq!(Schedule::Constant(0.2).at(0.9), 0.2);
    }
}
