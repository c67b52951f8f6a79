//! The names of everything that is measured.

use std::fmt;

/// A number that is measured again and again during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Mean return of the last 100 training episodes.
    EpisodeReward,
    /// Mean length of the last 100 training episodes.
    EpisodeLength,
    /// Share of actions that are random.
    ExplorationRate,
    /// Environment steps per second, in one update: acting, judging and learning, and nothing else.
    StepsPerSecond,
    /// Training episodes that have ended since the run began.
    Episodes,
    /// Step size of the optimiser.
    LearningRate,
    /// What is minimised, mean over the update.
    Loss,
    /// The part of the loss that moves the policy.
    PolicyLoss,
    /// Mean squared error of the value function.
    ValueLoss,
    /// Mean entropy of the policy, in nats.
    Entropy,
    /// How far the policy moved in the update, in nats.
    ApproxKl,
    /// The same by the mean logarithm of the ratio alone, which varies more (Schulman 2020,
    /// "Approximating KL divergence", its `k1`).
    OldApproxKl,
    /// Share of samples whose ratio was clipped.
    ClipFraction,
    /// Share of the variance of the returns that the value function explains.
    ExplainedVariance,
    /// How far the ratio may move before its gradient is cut.
    ClipRange,
    /// How far a value may move, where that is bounded.
    ValueClipRange,
    /// Mean deviation of the numbers of an action.
    ActionDeviation,
    /// Norm of the gradient before clipping, mean over the update.
    GradientNorm,
    /// What the actions that were learnt from are worth, mean over the update.
    ActionValue,
    /// Times of learning since the run began, as Stable-Baselines3 counts them: epochs with PPO,
    /// gradient steps with DQN.
    Updates,
    /// Cross-entropy between what searches found and the policy, in nats.
    PolicyCrossEntropy,
    /// How far the policy is from what searches found, in nats.
    PolicyDivergence,
    /// Games of self-play that ended, per second.
    GamesPerSecond,
    /// Positions that the network judged, per second of self-play and thread.
    NetworkEvaluations,
    /// Simulations of searches, per second of self-play and thread.
    TreeDescents,
    /// Share of the simulations whose position had been judged before.
    CacheShare,
    /// Share of the simulations that ended where nothing had to be judged.
    ProvenShare,
    /// Mean score of the seat that moves first.
    FirstSeatScore,
    /// Share of the audited games in which giving up would have been wrong.
    FalseResignations,
    /// Positions that are learnt from.
    WindowPositions,
    /// Positions that are learnt from, each counted once.
    WindowDifferent,
    /// Share of the points against the best checkpoint of the run before.
    ArenaBest,
    /// Share of the points against a fixed opponent.
    ArenaBaseline,
    /// Share of the points against a stronger one.
    ArenaStrong,
    /// Rating by the games of evaluations, in Elo above the fixed opponent.
    ArenaElo,
    /// Share of held positions in which the policy's move changes the outcome for the worse.
    SolverError,
    /// The same among positions in which moves differ in their outcome.
    SolverErrorHard,
    /// [`Self::SolverError`] in one of the sets that the held positions are from.
    SolverErrorIn(HeldSet),
    /// [`Self::SolverErrorHard`] in one of them.
    SolverErrorHardIn(HeldSet),
    /// Mean return of an evaluation.
    EvaluationReward,
    /// The lower end of the 95% interval of that mean.
    EvaluationLow,
    /// The upper end of the 95% interval of that mean.
    EvaluationHigh,
    /// Mean length of the episodes of an evaluation.
    EvaluationLength,
}

/// A set of published positions of Connect 4: how far the game is (3 is near its end), and how hard
/// they are (3 is the hardest).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of the sets")]
pub enum HeldSet {
    L3R1,
    L2R1,
    L1R1,
    L2R2,
    L1R2,
    L1R3,
}

impl HeldSet {
    /// All of them, in the order of the file that holds their positions.
    pub const ALL: [Self; 6] =
        [Self::L3R1, Self::L2R1, Self::L1R1, Self::L2R2, Self::L1R2, Self::L1R3];
}

impl Metric {
    /// Every metric, in the order in which people read them.
    pub const ALL: &'static [Self] = &[
        Self::EpisodeReward,
        Self::EpisodeLength,
        Self::ExplorationRate,
        Self::StepsPerSecond,
        Self::Episodes,
        Self::LearningRate,
        Self::Loss,
        Self::PolicyLoss,
        Self::ValueLoss,
        Self::Entropy,
        Self::ApproxKl,
        Self::OldApproxKl,
        Self::ClipFraction,
        Self::ClipRange,
        Self::ValueClipRange,
        Self::ActionDeviation,
        Self::ExplainedVariance,
        Self::GradientNorm,
        Self::ActionValue,
        Self::Updates,
        Self::PolicyCrossEntropy,
        Self::PolicyDivergence,
        Self::GamesPerSecond,
        Self::NetworkEvaluations,
        Self::TreeDescents,
        Self::CacheShare,
        Self::ProvenShare,
        Self::FirstSeatScore,
        Self::FalseResignations,
        Self::WindowPositions,
        Self::WindowDifferent,
        Self::ArenaBest,
        Self::ArenaBaseline,
        Self::ArenaStrong,
        Self::ArenaElo,
        Self::SolverError,
        Self::SolverErrorHard,
        Self::SolverErrorIn(HeldSet::L3R1),
        Self::SolverErrorIn(HeldSet::L2R1),
        Self::SolverErrorIn(HeldSet::L1R1),
        Self::SolverErrorIn(HeldSet::L2R2),
        Self::SolverErrorIn(HeldSet::L1R2),
        Self::SolverErrorIn(HeldSet::L1R3),
        Self::SolverErrorHardIn(HeldSet::L3R1),
        Self::SolverErrorHardIn(HeldSet::L2R1),
        Self::SolverErrorHardIn(HeldSet::L1R1),
        Self::SolverErrorHardIn(HeldSet::L2R2),
        Self::SolverErrorHardIn(HeldSet::L1R2),
        Self::SolverErrorHardIn(HeldSet::L1R3),
        Self::EvaluationReward,
        Self::EvaluationLow,
        Self::EvaluationHigh,
        Self::EvaluationLength,
    ];

    /// The stable name under which it is stored, `group/name`.
    pub fn name(self) -> &'static str {
        match self {
            Self::EpisodeReward => "rollout/ep_rew_mean",
            Self::EpisodeLength => "rollout/ep_len_mean",
            Self::ExplorationRate => "rollout/exploration_rate",
            Self::StepsPerSecond => "time/fps",
            Self::Episodes => "time/episodes",
            Self::LearningRate => "train/learning_rate",
            Self::Loss => "train/loss",
            Self::PolicyLoss => "train/policy_gradient_loss",
            Self::ValueLoss => "train/value_loss",
            Self::Entropy => "train/entropy",
            Self::ApproxKl => "train/approx_kl",
            Self::OldApproxKl => "train/old_approx_kl",
            Self::ClipFraction => "train/clip_fraction",
            Self::ClipRange => "train/clip_range",
            Self::ValueClipRange => "train/clip_range_vf",
            Self::ActionDeviation => "train/std",
            Self::ExplainedVariance => "train/explained_variance",
            Self::GradientNorm => "train/grad_norm",
            Self::ActionValue => "train/q_values",
            Self::Updates => "train/n_updates",
            Self::PolicyCrossEntropy => "train/policy_loss",
            Self::PolicyDivergence => "train/policy_kl",
            Self::GamesPerSecond => "self_play/games_per_sec",
            Self::NetworkEvaluations => "self_play/evaluations_per_sec",
            Self::TreeDescents => "self_play/descents_per_sec",
            Self::CacheShare => "self_play/cache_share",
            Self::ProvenShare => "self_play/proven_share",
            Self::FirstSeatScore => "self_play/first_seat_score",
            Self::FalseResignations => "self_play/false_resignations",
            Self::WindowPositions => "replay/positions",
            Self::WindowDifferent => "replay/different_positions",
            Self::ArenaBest => "arena/score_best",
            Self::ArenaBaseline => "arena/score_baseline",
            Self::ArenaStrong => "arena/score_strong",
            Self::ArenaElo => "arena/elo",
            Self::SolverError => "solver/value_error",
            Self::SolverErrorHard => "solver/value_error_hard",
            Self::SolverErrorIn(HeldSet::L3R1) => "solver/value_error_l3_r1",
            Self::SolverErrorIn(HeldSet::L2R1) => "solver/value_error_l2_r1",
            Self::SolverErrorIn(HeldSet::L1R1) => "solver/value_error_l1_r1",
            Self::SolverErrorIn(HeldSet::L2R2) => "solver/value_error_l2_r2",
            Self::SolverErrorIn(HeldSet::L1R2) => "solver/value_error_l1_r2",
            Self::SolverErrorIn(HeldSet::L1R3) => "solver/value_error_l1_r3",
            Self::SolverErrorHardIn(HeldSet::L3R1) => "solver/value_error_hard_l3_r1",
            Self::SolverErrorHardIn(HeldSet::L2R1) => "solver/value_error_hard_l2_r1",
            Self::SolverErrorHardIn(HeldSet::L1R1) => "solver/value_error_hard_l1_r1",
            Self::SolverErrorHardIn(HeldSet::L2R2) => "solver/value_error_hard_l2_r2",
            Self::SolverErrorHardIn(HeldSet::L1R2) => "solver/value_error_hard_l1_r2",
            Self::SolverErrorHardIn(HeldSet::L1R3) => "solver/value_error_hard_l1_r3",
            Self::EvaluationReward => "eval/mean_reward",
            Self::EvaluationLow => "eval/ci95_low",
            Self::EvaluationHigh => "eval/ci95_high",
            Self::EvaluationLength => "eval/mean_ep_length",
        }
    }

    /// The name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::EpisodeReward => "Episode reward",
            Self::EpisodeLength => "Episode length",
            Self::ExplorationRate => "Exploration rate",
            Self::StepsPerSecond => "Steps per second",
            Self::Episodes => "Episodes",
            Self::LearningRate => "Learning rate",
            Self::Loss => "Loss",
            Self::PolicyLoss => "Policy loss",
            Self::ValueLoss => "Value loss",
            Self::Entropy => "Entropy",
            Self::ApproxKl => "Approximate KL",
            Self::OldApproxKl => "Approximate KL, first order",
            Self::ClipFraction => "Clip fraction",
            Self::ClipRange => "Clip range",
            Self::ValueClipRange => "Clip range of values",
            Self::ActionDeviation => "Action deviation",
            Self::ExplainedVariance => "Explained variance",
            Self::GradientNorm => "Gradient norm",
            Self::ActionValue => "Action value",
            Self::Updates => "Updates",
            Self::PolicyCrossEntropy => "Policy loss",
            Self::PolicyDivergence => "Distance from the search",
            Self::GamesPerSecond => "Games per second",
            Self::NetworkEvaluations => "Network evaluations per second",
            Self::TreeDescents => "Tree descents per second",
            Self::CacheShare => "Found in the cache",
            Self::ProvenShare => "Ended or proven",
            Self::FirstSeatScore => "Score of the first seat",
            Self::FalseResignations => "False resignations",
            Self::WindowPositions => "Positions in the window",
            Self::WindowDifferent => "Different positions",
            Self::ArenaBest => "Score against the best",
            Self::ArenaBaseline => "Score against the baseline",
            Self::ArenaStrong => "Score against the strong baseline",
            Self::ArenaElo => "Rating",
            Self::SolverError => "Value errors",
            Self::SolverErrorHard => "Value errors, hard positions",
            Self::SolverErrorIn(HeldSet::L3R1) => "Value errors, end, easy",
            Self::SolverErrorIn(HeldSet::L2R1) => "Value errors, middle, easy",
            Self::SolverErrorIn(HeldSet::L1R1) => "Value errors, beginning, easy",
            Self::SolverErrorIn(HeldSet::L2R2) => "Value errors, middle, medium",
            Self::SolverErrorIn(HeldSet::L1R2) => "Value errors, beginning, medium",
            Self::SolverErrorIn(HeldSet::L1R3) => "Value errors, beginning, hard",
            Self::SolverErrorHardIn(HeldSet::L3R1) => "Value errors where one can err, end, easy",
            Self::SolverErrorHardIn(HeldSet::L2R1) => {
                "Value errors where one can err, middle, easy"
            }
            Self::SolverErrorHardIn(HeldSet::L1R1) => {
                "Value errors where one can err, beginning, easy"
            }
            Self::SolverErrorHardIn(HeldSet::L2R2) => {
                "Value errors where one can err, middle, medium"
            }
            Self::SolverErrorHardIn(HeldSet::L1R2) => {
                "Value errors where one can err, beginning, medium"
            }
            Self::SolverErrorHardIn(HeldSet::L1R3) => {
                "Value errors where one can err, beginning, hard"
            }
            Self::EvaluationReward => "Evaluation reward",
            Self::EvaluationLow => "Evaluation, lower end",
            Self::EvaluationHigh => "Evaluation, upper end",
            Self::EvaluationLength => "Evaluation length",
        }
    }

    /// The metric stored under `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|metric| metric.name() == name)
    }

    /// The metric that `name` means here or in another library, and by what a value of ours is
    /// multiplied to become what that name stands for.
    pub fn meant_by(name: &str) -> Option<(Self, f64)> {
        let alias = ALIASES.iter().find(|(alias, ..)| *alias == name);
        let alias = alias.map(|&(_, metric, factor)| (metric, factor));
        alias.or_else(|| Some((Self::from_name(name)?, 1.0)))
    }

    /// Every name of the metric, our own first, with the factor of [`Self::meant_by`].
    pub fn names(self) -> impl Iterator<Item = (&'static str, f64)> {
        let aliases = ALIASES.iter().filter(move |(_, metric, _)| *metric == self);
        let aliases = aliases.map(|&(alias, _, factor)| (alias, factor));
        std::iter::once((self.name(), 1.0)).chain(aliases)
    }
}

/// What others call the same, and by what ours is multiplied to become theirs. CleanRL's names,
/// and those of Stable-Baselines3 that differ: its `entropy_loss` is the negative entropy. CleanRL's
/// value loss is half of the mean square.
const ALIASES: &[(&str, Metric, f64)] = &[
    ("charts/episodic_return", Metric::EpisodeReward, 1.0),
    ("charts/avg_episodic_return", Metric::EpisodeReward, 1.0),
    ("charts/episodic_length", Metric::EpisodeLength, 1.0),
    ("charts/SPS", Metric::StepsPerSecond, 1.0),
    ("charts/learning_rate", Metric::LearningRate, 1.0),
    ("losses/policy_loss", Metric::PolicyLoss, 1.0),
    ("losses/value_loss", Metric::ValueLoss, 0.5),
    ("losses/entropy", Metric::Entropy, 1.0),
    ("losses/approx_kl", Metric::ApproxKl, 1.0),
    ("losses/old_approx_kl", Metric::OldApproxKl, 1.0),
    ("losses/clipfrac", Metric::ClipFraction, 1.0),
    ("losses/explained_variance", Metric::ExplainedVariance, 1.0),
    ("losses/td_loss", Metric::Loss, 1.0),
    ("losses/q_values", Metric::ActionValue, 1.0),
    ("eval/episodic_return", Metric::EvaluationReward, 1.0),
    ("train/entropy_loss", Metric::Entropy, -1.0),
];

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        let names: BTreeSet<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        assert_eq!(names.len(), Metric::ALL.len());
        for &metric in Metric::ALL {
            assert_eq!(Metric::from_name(metric.name()), Some(metric));
            assert_eq!(metric.name().split('/').count(), 2);
        }
        assert_eq!(Metric::from_name("train/lr"), None);
    }

    #[test]
    fn other_names_are_not_ours_and_lead_to_one_metric() {
        let names: BTreeSet<&str> = ALIASES.iter().map(|(alias, ..)| *alias).collect();
        assert_eq!(names.len(), ALIASES.len());
        for &(alias, metric, factor) in ALIASES {
            assert_eq!(Metric::from_name(alias), None);
            assert_eq!(Metric::meant_by(alias), Some((metric, factor)));
            assert!(metric.names().any(|name| name == (alias, factor)));
        }
        assert_eq!(Metric::meant_by("time/fps"), Some((Metric::StepsPerSecond, 1.0)));
        assert_eq!(Metric::meant_by("charts/spam"), None);
    }
}
