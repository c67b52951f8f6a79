//! What an episode earned, in few enough points to be drawn.
//!
//! An episode may have more steps than a screen has dots. Its steps are put into stretches of equal
//! length; of each the smallest and the largest reward are kept, so that no spike is lost, and the
//! return so far.

use crate::episode::Archive;
use crate::error::Result;

/// Steps that are read at once, so that the memory does not grow with the episode.
const PIECE: u64 = 10_000;

/// What an episode earned: columns with one element for each stretch of steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Steps of the episode.
    pub n_steps: u64,
    /// The last step of each stretch; the first action is step 1.
    pub step: Vec<u64>,
    /// The return after that step. Rewards that are not finite do not count.
    pub total: Vec<f64>,
    /// The smallest reward of each stretch; none where none is finite.
    pub low: Vec<Option<f64>>,
    /// The largest.
    pub high: Vec<Option<f64>>,
}

/// The curve of an episode in at most `points` points.
pub fn of_episode(archive: &mut Archive, episode: u64, points: u64) -> Result<Curve> {
    let n_steps = archive.replay(episode)?.n_steps();
    let mut curve = Curve { n_steps, ..Curve::default() };
    let width = n_steps.div_ceil(points.max(1)).max(1);
    let (mut total, mut low, mut high): (f64, _, _) = (0.0, None, None);
    for from in (0..n_steps).step_by(PIECE as usize) {
        let rewards = archive.rewards(episode, from..from + PIECE)?;
        for (step, reward) in (from + 1..).zip(rewards) {
            if reward.is_finite() {
                // A sum beyond all numbers is still drawn at the edge.
                total = (total + reward).clamp(f64::MIN, f64::MAX);
                low = Some(low.map_or(reward, |low: f64| low.min(reward)));
                high = Some(high.map_or(reward, |high: f64| high.max(reward)));
            }
            if step % width == 0 || step == n_steps {
                curve.step.push(step);
                curve.total.push(total);
                curve.low.push(low.take());
                curve.high.push(high.take());
            }
        }
    }
    Ok(curve)
}

#[cfg(test)]
mod tests;
