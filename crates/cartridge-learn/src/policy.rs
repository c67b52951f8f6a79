//! What an algorithm learns and a player uses: a network that says what to do, and often a critic
//! that predicts returns.
//!
//! # File
//!
//! A policy is stored as safetensors in `f32`. The names and shapes are those of
//! `torch.nn.Sequential(Linear, Tanh, Linear, Tanh, Linear)` for each of `actor` and `critic`:
//! `actor.0.weight` of shape `[outputs, inputs]`, `actor.0.bias`, `actor.2.weight`, and so on, for
//! any number of layers. Beside them:
//!
//! | tensor | where | holds |
//! |---|---|---|
//! | `log_std` | actions are numbers | the logarithm of each one's deviation |
//! | `observation.mean`, `observation.scale` | observations are normalised | how ([`Normalizer`]) |
//! | `value.scale` | rewards were normalised | by what the critic's value is multiplied to be a return |
//!
//! Metadata has one key, `policy`, whose text is JSON: `head` (`logits`, `gaussian` or `values`)
//! and `activation` (`tanh` or `relu`). Without it they are `logits` and `tanh`.

use cartridge_games::{Action, ActionSpace, EnvAction};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::kernels::{self, Isa};
use crate::network::{Activation, Mlp, Workspace};
use crate::normalizer::Normalizer;

/// Units of the hidden layers where nothing else is said, as Stable-Baselines3's `MlpPolicy`.
pub const NET_ARCH: [usize; 2] = [64, 64];

/// What says what to do, and what it is worth.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) actor: Mlp,
    /// Puts out the return to expect; a network of action values needs none.
    pub(crate) critic: Option<Mlp>,
    pub(crate) head: Head,
    pub(crate) normalizer: Option<Normalizer>,
    /// By what the critic's output is multiplied to be a return, where it learnt from rewards that
    /// were normalised. Learning does without it.
    pub(crate) value_scale: Option<f32>,
}

/// What the outputs of a policy's actor mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Head {
    /// The logarithm of each action's weight.
    Logits,
    /// The return to expect after each action.
    Values,
    /// The mean of each number of an action, normally distributed.
    Gaussian {
        /// The logarithm of each number's deviation.
        log_std: Vec<f32>,
    },
}

/// What a file says of a policy beside its tensors.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct About {
    head: HeadKind,
    activation: Activation,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HeadKind {
    #[default]
    Logits,
    Values,
    Gaussian,
}

/// What is done for each of some observations.
#[derive(Clone, Debug, PartialEq)]
pub enum Choices {
    /// One of a list.
    Discrete(Vec<Action>),
    /// As many numbers for each.
    Continuous {
        /// How many.
        width: usize,
        /// Those of all observations, one after the other.
        numbers: Vec<f32>,
    },
}

impl Choices {
    /// The action for an observation.
    pub fn get(&self, index: usize) -> EnvAction<'_> {
        match self {
            Self::Discrete(actions) => EnvAction::Discrete(actions[index]),
            Self::Continuous { width, numbers } => {
                EnvAction::Continuous(&numbers[index * width..(index + 1) * width])
            }
        }
    }
}

/// Why a stored policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The file is not safetensors, or a tensor is missing.
    #[error("not a policy: {0}")]
    Format(#[from] SafeTensorError),
    /// A tensor has another type or shape than its place in the network.
    #[error("tensor `{name}` is {found}; expected {expected}")]
    Shape {
        /// Name of the tensor.
        name: String,
        /// What the file holds.
        found: String,
        /// What fits.
        expected: String,
    },
    /// A tensor holds a number that is infinite or not a number.
    #[error("tensor `{name}` holds a number that is not finite")]
    NotFinite {
        /// Name of the tensor.
        name: String,
    },
    /// What the file says of itself is not understood.
    #[error("not a policy: {detail}")]
    About {
        /// What is wrong with it.
        detail: String,
    },
    /// The file holds a tensor that no network has.
    #[error("unexpected tensor `{name}`")]
    Unexpected {
        /// Name of the tensor.
        name: String,
    },
}

impl Policy {
    /// A fresh policy of a usual size for a list of actions: nearly indifferent between them, and
    /// expecting little.
    pub fn new(n_observation: usize, n_actions: usize, rng: &mut fastrand::Rng) -> Self {
        let space = ActionSpace::Discrete(n_actions);
        Self::actor_critic(n_observation, &space, &NET_ARCH, Activation::Tanh, 0.0, rng)
    }

    /// A fresh policy for `space` with hidden layers of these sizes, in actor and critic alike.
    pub fn actor_critic(
        n_observation: usize,
        space: &ActionSpace,
        net_arch: &[usize],
        activation: Activation,
        log_std_init: f32,
        rng: &mut fastrand::Rng,
    ) -> Self {
        let sizes = |n_outputs| {
            let inner = net_arch.iter().copied();
            std::iter::once(n_observation).chain(inner).chain([n_outputs]).collect::<Vec<usize>>()
        };
        let head = match space {
            ActionSpace::Discrete(_) => Head::Logits,
            ActionSpace::Continuous { low, .. } => {
                Head::Gaussian { log_std: vec![log_std_init; low.len()] }
            }
        };
        let actor = Mlp::new(&sizes(space.size()), activation, 0.01, rng);
        let critic = Some(Mlp::new(&sizes(1), activation, 1.0, rng));
        Self { actor, critic, head, normalizer: None, value_scale: None }
    }

    /// A policy that does what `network` expects most from.
    pub fn action_values(network: Mlp) -> Self {
        Self {
            actor: network,
            critic: None,
            head: Head::Values,
            normalizer: None,
            value_scale: None,
        }
    }

    /// The network that says what to do.
    pub fn actor(&self) -> &Mlp {
        &self.actor
    }

    /// The network that predicts returns, if there is one.
    pub fn critic(&self) -> Option<&Mlp> {
        self.critic.as_ref()
    }

    /// What the actor's outputs mean.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// How observations are changed before the networks see them.
    pub fn normalizer(&self) -> Option<&Normalizer> {
        self.normalizer.as_ref()
    }

    /// By what the critic's output is multiplied to be a return, where that is not 1.
    pub fn value_scale(&self) -> Option<f32> {
        self.value_scale
    }

    /// Number of elements of an observation.
    pub fn n_observation(&self) -> usize {
        self.actor.sizes()[0]
    }

    /// Number of actions, or of the numbers of one.
    pub fn n_actions(&self) -> usize {
        *self.actor.sizes().last().expect("a network has outputs")
    }

    /// Whether it can act in an environment of this form.
    pub fn fits(&self, n_observation: usize, space: &ActionSpace) -> bool {
        let is_continuous = matches!(self.head, Head::Gaussian { .. });
        self.n_observation() == n_observation
            && self.n_actions() == space.size()
            && is_continuous != space.is_discrete()
    }

    /// For each of `n` observations, what the actor puts out.
    pub fn outputs(&self, observations: &[f32], n: usize) -> Vec<f32> {
        self.through(&self.actor, observations, n)
    }

    fn through(&self, network: &Mlp, observations: &[f32], n: usize) -> Vec<f32> {
        let work = &mut Workspace::default();
        match &self.normalizer {
            None => network.forward(observations, n, work).to_vec(),
            Some(normalizer) => {
                let mut observations = observations.to_vec();
                normalizer.apply(&mut observations);
                network.forward(&observations, n, work).to_vec()
            }
        }
    }

    /// What the policy does without chance for each of `n` observations: the most probable, or
    /// most valuable, legal action (the first of equals), or the mean. `masks` has one element
    /// per action for each observation; where actions are numbers it does not matter. Numbers are
    /// not yet held within the bounds of a space.
    pub fn choose(&self, observations: &[f32], masks: &[bool], n: usize) -> Choices {
        let n_actions = self.n_actions();
        let mut outputs = self.outputs(observations, n);
        if let Head::Gaussian { .. } = self.head {
            return Choices::Continuous { width: n_actions, numbers: outputs };
        }
        let rows = outputs.chunks_mut(n_actions).zip(masks.chunks(n_actions));
        Choices::Discrete(
            rows.map(|(outputs, mask)| {
                forbid(outputs, mask);
                Action(first_greatest(outputs))
            })
            .collect(),
        )
    }

    /// The probability of each action in a list; all on the best where the policy has values.
    /// Nothing where actions are numbers.
    pub fn probabilities(&self, observation: &[f32]) -> Vec<f32> {
        let mut outputs = self.outputs(observation, 1);
        match self.head {
            Head::Logits => {
                log_softmax(&mut outputs);
                outputs.iter_mut().for_each(|x| *x = x.exp());
            }
            Head::Values => {
                let best = first_greatest(&outputs);
                outputs.fill(0.0);
                outputs[best] = 1.0;
            }
            Head::Gaussian { .. } => outputs.clear(),
        }
        outputs
    }

    /// The return to expect from `observation` on, in the unit of the environment's rewards.
    pub fn value(&self, observation: &[f32]) -> f32 {
        match &self.critic {
            Some(critic) => {
                let value = self.through(critic, observation, 1)[0];
                self.value_scale.map_or(value, |scale| value * scale)
            }
            None => self.outputs(observation, 1).into_iter().fold(f32::NEG_INFINITY, f32::max),
        }
    }

    /// The policy as a file.
    pub fn to_safetensors(&self) -> Vec<u8> {
        let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = self
            .tensors()
            .map(|(name, shape, values)| (name, shape, little_endian(&values)))
            .collect();
        let views = tensors.iter().map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
            (name.as_str(), view.expect("the bytes fit the shape"))
        });
        let head = match self.head {
            Head::Logits => HeadKind::Logits,
            Head::Values => HeadKind::Values,
            Head::Gaussian { .. } => HeadKind::Gaussian,
        };
        let about = About { head, activation: self.actor.activation() };
        let about = serde_json::to_string(&about).expect("two words are plain data");
        let metadata = [("policy".to_owned(), about)].into();
        safetensors::serialize(views, Some(metadata)).expect("names are unique and views are sound")
    }

    /// The policy in a file.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, PolicyError> {
        let (_, header) = SafeTensors::read_metadata(bytes)?;
        let file = SafeTensors::deserialize(bytes)?;
        let about = header.metadata().as_ref().and_then(|metadata| metadata.get("policy"));
        let about = match about {
            Some(text) => serde_json::from_str(text)
                .map_err(|error| PolicyError::About { detail: error.to_string() })?,
            None => About::default(),
        };
        let actor = read_network(&file, "actor", about.activation, bytes.len())?;
        let (n_inputs, n_actions) = (actor.sizes()[0], actor.sizes()[actor.sizes().len() - 1]);
        let critic = match about.head {
            HeadKind::Values => None,
            HeadKind::Logits | HeadKind::Gaussian => {
                Some(read_network(&file, "critic", about.activation, bytes.len())?)
            }
        };
        if let Some(critic) = &critic
            && (critic.sizes()[0] != n_inputs || critic.sizes()[critic.sizes().len() - 1] != 1)
        {
            return Err(PolicyError::Shape {
                name: "critic".to_owned(),
                found: format!("{:?}", critic.sizes()),
                expected: format!("a network from {n_inputs} numbers to 1"),
            });
        }
        let head = match about.head {
            HeadKind::Logits => Head::Logits,
            HeadKind::Values => Head::Values,
            HeadKind::Gaussian => Head::Gaussian { log_std: read(&file, "log_std", &[n_actions])? },
        };
        let normalizer = match file.tensor("observation.mean") {
            Ok(_) => Some(Normalizer {
                mean: read(&file, "observation.mean", &[n_inputs])?,
                scale: read(&file, "observation.scale", &[n_inputs])?,
            }),
            Err(_) => None,
        };
        // Files that were written before there was such a scale have none.
        let value_scale = match file.tensor("value.scale") {
            Ok(_) if critic.is_some() => Some(read(&file, "value.scale", &[1])?[0]),
            _ => None,
        };
        let policy = Self { actor, critic, head, normalizer, value_scale };
        let known: Vec<String> = policy.tensors().map(|(name, ..)| name).collect();
        match file.names().into_iter().find(|name| !known.iter().any(|known| known == name)) {
            Some(name) => Err(PolicyError::Unexpected { name: name.to_owned() }),
            None => Ok(policy),
        }
    }

    /// SHA-256 over the numbers of the file as little-endian bytes, in hexadecimal: equal exactly
    /// when the policies do and learn the same bit for bit. First the parameters of the actor, then
    /// of the critic, both in the order in which they are used; then the rest.
    ///
    /// `value.scale` is left out. It is there for people and follows from what was learnt from; and
    /// so what was trained before there was one is still reproduced by its hash.
    pub fn sha256(&self) -> String {
        let mut hasher = Sha256::new();
        for network in std::iter::once(&self.actor).chain(&self.critic) {
            hasher.update(little_endian(network.parameters()));
        }
        for (_, values) in self.numbers() {
            hasher.update(little_endian(values));
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Name, shape and values of every tensor of the file.
    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>, Vec<f32>)> {
        let networks = std::iter::once(("actor", &self.actor));
        let networks = networks.chain(self.critic.as_ref().map(|critic| ("critic", critic)));
        let layers = networks.flat_map(|(part, network)| {
            network.layers().iter().enumerate().flat_map(move |(index, layer)| {
                let (inputs, outputs) = (layer.n_inputs, layer.n_outputs);
                let weights =
                    transpose(&network.parameters()[layer.weights.clone()], inputs, outputs);
                let biases = network.parameters()[layer.biases.clone()].to_vec();
                let name = |kind| format!("{part}.{}.{kind}", 2 * index);
                [
                    (name("weight"), vec![outputs, inputs], weights),
                    (name("bias"), vec![outputs], biases),
                ]
            })
        });
        let numbers = self.numbers().into_iter();
        let scale = self.value_scale.as_ref().map(std::slice::from_ref);
        let numbers = numbers.chain(scale.map(|scale| ("value.scale", scale)));
        layers.chain(numbers.map(|(name, x)| (name.to_owned(), vec![x.len()], x.to_vec())))
    }

    /// What acting and learning need beside the networks.
    fn numbers(&self) -> Vec<(&'static str, &[f32])> {
        let mut numbers: Vec<(&str, &[f32])> = Vec::new();
        if let Head::Gaussian { log_std } = &self.head {
            numbers.push(("log_std", log_std));
        }
        if let Some(Normalizer { mean, scale }) = &self.normalizer {
            numbers.push(("observation.mean", mean));
            numbers.push(("observation.scale", scale));
        }
        numbers
    }
}

/// Holds the numbers of actions within the bounds of their space, one action after the other.
pub fn clip(space: &ActionSpace, numbers: &mut [f32]) {
    if let ActionSpace::Continuous { low, high } = space {
        for action in numbers.chunks_exact_mut(low.len()) {
            for ((x, low), high) in action.iter_mut().zip(*low).zip(*high) {
                *x = x.clamp(*low, *high);
            }
        }
    }
}

/// The network whose tensors begin with `part`, with as many layers as there are.
fn read_network(
    file: &SafeTensors<'_>,
    part: &str,
    activation: Activation,
    n_bytes: usize,
) -> Result<Mlp, PolicyError> {
    let mut sizes = Vec::new();
    loop {
        let name = format!("{part}.{}.weight", 2 * sizes.len().saturating_sub(1));
        let shape = match file.tensor(&name) {
            Ok(tensor) => tensor.shape().to_vec(),
            Err(error) if sizes.is_empty() => return Err(error.into()),
            Err(_) => break,
        };
        // The sizes come from the file, so they are checked before anything is allocated.
        let wrong = |expected: String| PolicyError::Shape {
            name: name.clone(),
            found: format!("of shape {shape:?}"),
            expected,
        };
        let [n_outputs, n_inputs] = shape[..] else {
            return Err(wrong("rows of inputs, one per output".to_owned()));
        };
        if n_outputs == 0 || n_inputs == 0 || n_outputs.saturating_mul(n_inputs) > n_bytes {
            return Err(wrong("something".to_owned()));
        }
        match sizes.last() {
            None => sizes.push(n_inputs),
            Some(&before) if before != n_inputs => {
                return Err(wrong(format!(
                    "{before} inputs, as many as come from the layer before"
                )));
            }
            Some(_) => {}
        }
        sizes.push(n_outputs);
    }
    let mut network = Mlp::zeros(&sizes, activation);
    let mut parameters = network.parameters().to_vec();
    for (index, layer) in network.layers().iter().enumerate() {
        let (inputs, outputs) = (layer.n_inputs, layer.n_outputs);
        let name = format!("{part}.{}.weight", 2 * index);
        let weights = transpose(&read(file, &name, &[outputs, inputs])?, outputs, inputs);
        parameters[layer.weights.clone()].copy_from_slice(&weights);
        let biases = read(file, &format!("{part}.{}.bias", 2 * index), &[outputs])?;
        parameters[layer.biases.clone()].copy_from_slice(&biases);
    }
    network.change(|all| all.copy_from_slice(&parameters));
    Ok(network)
}

/// Gives the actions that are not legal no weight at all.
pub(crate) fn forbid(logits: &mut [f32], mask: &[bool]) {
    for (logit, &is_legal) in logits.iter_mut().zip(mask) {
        if !is_legal {
            *logit = f32::NEG_INFINITY;
        }
    }
}

/// The index of the greatest element; the first of equals.
pub(crate) fn first_greatest(values: &[f32]) -> usize {
    let mut best = 0;
    for (index, &value) in values.iter().enumerate() {
        if value > values[best] {
            best = index;
        }
    }
    best
}

/// Turns the logarithms of weights into the logarithms of probabilities.
pub(crate) fn log_softmax(logits: &mut [f32]) {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|x| (x - greatest).exp()).sum();
    let shift = greatest + sum.ln();
    logits.iter_mut().for_each(|x| *x -= shift);
}

/// Turns rows of logits into probabilities, and writes the logarithm of each row's sum, above
/// its greatest logit, and that logit into `scales`: `log p = logit - greatest - log_sum`.
pub(crate) fn softmax_rows(logits: &mut [f32], n_actions: usize, scales: &mut Vec<RowScale>) {
    scales.clear();
    for row in logits.chunks_exact_mut(n_actions) {
        let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.iter_mut().for_each(|x| *x -= greatest);
        scales.push(RowScale { greatest, log_sum: 0.0 });
    }
    kernels::exp(Isa::detect(), logits);
    for (row, scale) in logits.chunks_exact_mut(n_actions).zip(scales) {
        let sum: f32 = row.iter().sum();
        scale.log_sum = sum.ln();
        let share = sum.recip();
        row.iter_mut().for_each(|x| *x *= share);
    }
}

/// What a row of probabilities was divided by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowScale {
    greatest: f32,
    log_sum: f32,
}

impl RowScale {
    /// The logarithm of the probability of an action with this logit.
    pub(crate) fn log_prob(self, logit: f32) -> f32 {
        logit - self.greatest - self.log_sum
    }
}

/// A tensor that must have this shape.
pub(crate) fn read(
    file: &SafeTensors<'_>,
    name: &str,
    shape: &[usize],
) -> Result<Vec<f32>, PolicyError> {
    let tensor = file.tensor(name)?;
    if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
        return Err(PolicyError::Shape {
            name: name.to_owned(),
            found: format!("{:?} of shape {:?}", tensor.dtype(), tensor.shape()),
            expected: format!("F32 of shape {shape:?}"),
        });
    }
    let (bytes, _) = tensor.data().as_chunks::<4>();
    let values: Vec<f32> = bytes.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    match values.iter().all(|x| x.is_finite()) {
        true => Ok(values),
        false => Err(PolicyError::NotFinite { name: name.to_owned() }),
    }
}

fn transpose(values: &[f32], n_rows: usize, n_columns: usize) -> Vec<f32> {
    (0..n_rows * n_columns).map(|at| values[at % n_rows * n_columns + at / n_rows]).collect()
}

pub(crate) fn little_endian(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests;
