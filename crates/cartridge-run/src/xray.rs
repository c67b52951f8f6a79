//! What a policy makes of an episode: at every step what it would do, and what it expects.
//!
//! Nothing of it is recorded. The episode is stepped again, and the policy is asked about what it
//! saw: in an evaluation the one that played; in a training the checkpoint that was newest then,
//! because the policies between two checkpoints are not kept.

use std::f64::consts::{E, TAU};
use std::ops::Range;

use cartridge_games::env::EnvSpec;
use cartridge_games::registry::is_game;
use cartridge_learn::alphazero::record::{PlayedGame, SHARE_ONE, VALUE_ONE};
use cartridge_learn::board_net::{BoardNet, Workspace};
use cartridge_learn::policy::{Head, Policy, clip};
use cartridge_store::{DataDir, EpisodeHead, Manifest, Replay, RunId, RunKind};
use serde::Serialize;

use crate::checkpoint;
use crate::episode::{Archive, Sights};
use crate::error::{Result, RunError};
use crate::evaluation_job;
use crate::lab::Lab;

/// What a policy makes of a part of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Xray {
    /// Who was asked: `policy.safetensors` of an evaluation, or the folder of a checkpoint.
    pub policy: String,
    /// Environment steps of that policy, where they are known.
    pub policy_step: Option<u64>,
    /// Whether it is the very policy that played.
    pub is_exact: bool,
    /// What is told of actions.
    pub kind: XrayKind,
    /// What it makes of each step.
    pub thoughts: Vec<Thought>,
}

/// What is told of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XrayKind {
    /// How probable each is.
    Probabilities,
    /// What return to expect after each.
    Values,
    /// Around which numbers they are drawn.
    Gaussian,
}

/// What a policy makes of the moment before an action.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Thought {
    /// Number of the action, from 1: the moment before it is one less.
    pub step: u64,
    /// The probability of each action, 0 where it is illegal; the value of each, none where it is
    /// illegal; or the mean of each number, held within its bounds. None where it is not finite.
    pub actions: Vec<Option<f64>>,
    /// The deviation of each number, where actions are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviations: Option<Vec<f64>>,
    /// The best legal action, the first of equals; none where actions are numbers.
    pub best: Option<usize>,
    /// How undecided it is, in nats; none where it has values.
    pub entropy: Option<f64>,
    /// The return that it expects.
    pub value: Option<f64>,
    /// Whether it is what a search found before that very move, in a game of self-play.
    #[serde(rename = "searched")]
    pub is_searched: bool,
}

/// Asks a policy about the actions `steps` of an episode, as far as there are any; the first action
/// is 1.
pub fn of_episode(
    data: &DataDir,
    archive: &mut Archive,
    episode: u64,
    steps: Range<u64>,
) -> Result<Xray> {
    let head = archive.replay(episode)?.head.clone();
    let run = archive.manifest.id.clone();
    let nobody = |reason: &str| RunError::NobodyToAsk {
        run: run.clone(),
        episode,
        reason: reason.to_owned(),
    };
    let asked = match archive.manifest.kind {
        RunKind::Human => return Err(nobody("a person played it")),
        RunKind::External => return Err(nobody("its trainer is not ours")),
        RunKind::Eval => of_evaluation(data, &archive.manifest)
            .ok_or_else(|| nobody("the policy that it measured is no longer here"))?,
        RunKind::Train => of_training(data, &archive.manifest, &head)?
            .ok_or_else(|| nobody("no checkpoint is left that can be read"))?,
    };
    let first = steps.start.max(1);
    let Some(sights) = archive.sights(episode, first - 1..steps.end.max(first) - 1)? else {
        return Err(nobody("its steps were told by a trainer that is not ours"));
    };
    let Asked { policy, name, step, is_exact } = asked;
    let policy = match policy {
        Mind::Policy(policy) => policy,
        Mind::Network(network) => {
            let mut thoughts = look(&network, &sights, first);
            // What was thought then is better than what a network thinks by itself.
            let is_exact = recall(data, &run, episode, &mut thoughts);
            let kind = XrayKind::Probabilities;
            return Ok(Xray { policy: name, policy_step: step, is_exact, kind, thoughts });
        }
    };
    if !policy.fits(sights.spec.observation, &sights.spec.actions) {
        return Err(nobody("the policy is of another form than the environment"));
    }
    let kind = match policy.head() {
        Head::Logits => XrayKind::Probabilities,
        Head::Values => XrayKind::Values,
        Head::Gaussian { .. } => XrayKind::Gaussian,
    };
    let thoughts = think(&policy, &sights, first);
    Ok(Xray { policy: name, policy_step: step, is_exact, kind, thoughts })
}

/// Who is asked.
struct Asked {
    policy: Mind,
    name: String,
    step: Option<u64>,
    is_exact: bool,
}

/// What is asked.
enum Mind {
    Policy(Box<Policy>),
    /// At a board.
    Network(Box<BoardNet>),
}

/// The policy that an evaluation measured, if it is there: a job has a copy of its own, and an
/// evaluation of the command line names the checkpoint.
fn of_evaluation(data: &DataDir, evaluation: &Manifest) -> Option<Asked> {
    let step = evaluation.config["step"].as_u64();
    if let Ok(policy) = evaluation_job::policy(&data.run(&evaluation.id), &evaluation.id) {
        let name = evaluation_job::POLICY.to_owned();
        let policy = Mind::Policy(Box::new(policy));
        return Some(Asked { policy, name, step, is_exact: true });
    }
    let run = evaluation.evaluates()?;
    let name = evaluation.config["checkpoint"].as_str().filter(|name| checkpoint::is_name(name))?;
    let (found, policy) = checkpoint::load_named(&data.run(&run), &run, name).ok()?;
    let policy = Mind::Policy(Box::new(policy));
    Some(Asked { policy, name: name.to_owned(), step: Some(found.step), is_exact: true })
}

/// The newest checkpoint that there was at the episode's end, or the oldest that is left. One that
/// is removed in this very moment, or damaged, is passed over.
fn of_training(data: &DataDir, run: &Manifest, head: &EpisodeHead) -> Result<Option<Asked>> {
    let is_at_board = is_game(&run.env_id);
    let (dir, run) = (data.run(&run.id), &run.id);
    let (before, after): (Vec<String>, Vec<String>) = checkpoint::names(&dir)?
        .into_iter()
        .partition(|name| checkpoint::step_in(name).is_some_and(|step| step <= head.step));
    Ok(before.into_iter().rev().chain(after).find_map(|name| {
        let (found, policy) = if is_at_board {
            let (found, network) = checkpoint::load_board_net(&dir, run, &name).ok()?;
            (found, Mind::Network(Box::new(network)))
        } else {
            let (found, policy) = checkpoint::load_named(&dir, run, &name).ok()?;
            (found, Mind::Policy(Box::new(policy)))
        };
        Some(Asked { policy, name, step: Some(found.step), is_exact: false })
    }))
}

/// What a network at a board makes of everything that was seen.
fn look(network: &BoardNet, sights: &Sights, first: u64) -> Vec<Thought> {
    let Sights { spec, observations, masks } = sights;
    let n = observations.len() / spec.observation.max(1);
    let n_actions = network.shape().n_actions;
    if network.shape().n_inputs() != spec.observation || n_actions != spec.actions.size() {
        return Vec::new();
    }
    let (mut logits, mut values) = (vec![0.0; n * n_actions], vec![0.0; n]);
    network.infer(&mut Workspace::default(), observations, &mut logits, &mut values);
    let legal = masks.as_deref().unwrap_or_default().chunks(n_actions);
    let rows = logits.chunks(n_actions).zip(legal).zip(values);
    (first..)
        .zip(rows)
        .map(|(step, ((logits, legal), value))| {
            of_logits(step, logits, legal, finite(f64::from(value)))
        })
        .collect()
}

/// Puts what the searches of a game of self-play found in the place of what a network thinks, where
/// that is still kept; says whether it is.
fn recall(data: &DataDir, run: &RunId, episode: u64, thoughts: &mut [Thought]) -> bool {
    let game = Replay::open_to_read(data.run(run).replay_path())
        .and_then(|replay| replay.game(episode))
        .ok()
        .flatten();
    let Some(game) = game.and_then(|bytes| PlayedGame::from_bytes(&bytes).ok()) else {
        return false;
    };
    for thought in thoughts {
        // Actions are counted from 1, and those of the opening were drawn by chance.
        let place = (thought.step as usize).checked_sub(1 + game.n_opening);
        let Some(ply) = place.and_then(|place| game.plies.get(place)) else { continue };
        let mut shares = vec![0.0; thought.actions.len()];
        for (action, share) in &ply.policy {
            if let Some(slot) = shares.get_mut(usize::from(*action)) {
                *slot = f64::from(*share) / f64::from(SHARE_ONE);
            }
        }
        let surprise = |share: &f64| if *share > 0.0 { -share * share.ln() } else { 0.0 };
        thought.entropy = Some(shares.iter().map(surprise).sum());
        thought.best = (0..shares.len()).rev().max_by(|a, b| shares[*a].total_cmp(&shares[*b]));
        thought.actions = shares.into_iter().map(Some).collect();
        thought.value = Some(f64::from(ply.value) / f64::from(VALUE_ONE));
        thought.is_searched = true;
    }
    true
}

/// What the policy makes of everything that was seen; the first sight is that before action `first`.
fn think(policy: &Policy, sights: &Sights, first: u64) -> Vec<Thought> {
    let Sights { spec, observations, masks } = sights;
    let n = observations.len() / spec.observation;
    let outputs = policy.outputs(observations, n);
    let n_actions = policy.n_actions();
    let all_legal = vec![true; n_actions];
    let rows = outputs.chunks(n_actions).zip(observations.chunks(spec.observation));
    rows.enumerate()
        .map(|(place, (outputs, observation))| {
            let legal = match masks {
                Some(masks) => &masks[place * n_actions..(place + 1) * n_actions],
                None => &all_legal,
            };
            let critic = || finite(f64::from(policy.value(observation)));
            let step = first + place as u64;
            match policy.head() {
                Head::Logits => of_logits(step, outputs, legal, critic()),
                Head::Values => of_values(step, outputs, legal),
                Head::Gaussian { log_std } => of_numbers(step, spec, outputs, log_std, critic()),
            }
        })
        .collect()
}

fn of_logits(step: u64, logits: &[f32], legal: &[bool], value: Option<f64>) -> Thought {
    let best = best_legal(logits, legal);
    let greatest = best.map_or(0.0, |best| f64::from(logits[best]));
    let weight = |(&logit, &legal): (&f32, &bool)| {
        if legal { (f64::from(logit) - greatest).exp() } else { 0.0 }
    };
    let weights: Vec<f64> = logits.iter().zip(legal).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    let probabilities = weights.iter().map(|weight| weight / sum);
    let surprise = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    Thought {
        step,
        actions: probabilities.clone().map(finite).collect(),
        deviations: None,
        best,
        entropy: finite(probabilities.map(surprise).sum()),
        value,
        is_searched: false,
    }
}

fn of_values(step: u64, values: &[f32], legal: &[bool]) -> Thought {
    let best = best_legal(values, legal);
    let told = |(&value, &legal): (&f32, &bool)| finite(f64::from(value)).filter(|_| legal);
    let actions: Vec<Option<f64>> = values.iter().zip(legal).map(told).collect();
    let value = best.and_then(|best| actions[best]);
    Thought { step, actions, deviations: None, best, entropy: None, value, is_searched: false }
}

fn of_numbers(
    step: u64,
    spec: &EnvSpec,
    means: &[f32],
    log_std: &[f32],
    value: Option<f64>,
) -> Thought {
    let mut means = means.to_vec();
    clip(&spec.actions, &mut means);
    // Entropy of a normal distribution: ln(deviation * sqrt(tau * e)).
    let entropy = log_std.iter().map(|&x| f64::from(x) + 0.5 * (TAU * E).ln()).sum();
    Thought {
        step,
        actions: means.into_iter().map(|mean| finite(f64::from(mean))).collect(),
        deviations: Some(log_std.iter().map(|&x| f64::from(x).exp()).collect()),
        best: None,
        entropy: finite(entropy),
        value,
        is_searched: false,
    }
}

fn finite(x: f64) -> Option<f64> {
    Some(x).filter(|x| x.is_finite())
}

/// The legal action with the greatest output, the first of equals.
fn best_legal(outputs: &[f32], legal: &[bool]) -> Option<usize> {
    let candidates = outputs.iter().zip(legal).enumerate().filter(|(_, (_, legal))| **legal);
    let mut best: Option<(usize, f32)> = None;
    for (index, (&output, _)) in candidates {
        if best.is_none_or(|(_, greatest)| output > greatest) {
            best = Some((index, output));
        }
    }
    best.map(|(index, _)| index)
}

impl Lab {
    /// Asks a policy about the actions `steps` of an episode.
    pub fn xray(&self, id: &RunId, episode: u64, steps: Range<u64>) -> Result<Xray> {
        self.with_archive(id, |archive| of_episode(&self.data, archive, episode, steps))
    }
}

#[cfg(test)]
mod tests;
