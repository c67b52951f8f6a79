//! What an algorithm learns and a player uses: an actor that prefers actions and a critic that
//! predicts returns, each with two hidden layers of 64 units, as Stable-Baselines3's `MlpPolicy`.
//!
//! # File
//!
//! A policy is stored as safetensors in `f32`. The names and shapes are those of
//! `torch.nn.Sequential(Linear, Tanh, Linear, Tanh, Linear)` for each of `actor` and `critic`:
//! `actor.0.weight` of shape `[outputs, inputs]`, `actor.0.bias`, `actor.2.weight`, and so on.

use cartridge_games::Action;
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use sha2::{Digest, Sha256};

use crate::network::{Activation, Mlp, Workspace};

const N_HIDDEN: usize = 64;

/// An actor and a critic that see the same observations.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Puts out the logarithm of each action's weight.
    pub(crate) actor: Mlp,
    /// Puts out the return to expect.
    pub(crate) critic: Mlp,
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
    /// The file holds a tensor that no network has.
    #[error("unexpected tensor `{name}`")]
    Unexpected {
        /// Name of the tensor.
        name: String,
    },
}

impl Policy {
    /// A fresh policy: nearly indifferent between actions, and expecting little.
    pub fn new(n_observation: usize, n_actions: usize, rng: &mut fastrand::Rng) -> Self {
        let sizes = |n_outputs| [n_observation, N_HIDDEN, N_HIDDEN, n_outputs];
        Self {
            actor: Mlp::new(&sizes(n_actions), Activation::Tanh, 0.01, rng),
            critic: Mlp::new(&sizes(1), Activation::Tanh, 1.0, rng),
        }
    }

    /// Number of elements of an observation.
    pub fn n_observation(&self) -> usize {
        self.actor.sizes()[0]
    }

    /// Number of actions.
    pub fn n_actions(&self) -> usize {
        *self.actor.sizes().last().expect("a network has outputs")
    }

    /// For each of `n` observations, the logarithm of each action's weight.
    pub fn logits(&self, observations: &[f32], n: usize) -> Vec<f32> {
        self.actor.forward(observations, n, &mut Workspace::default()).to_vec()
    }

    /// Writes the most probable action for each of `n` observations into `actions`; the first of
    /// equals.
    pub fn greedy(&self, observations: &[f32], n: usize, actions: &mut [Action]) {
        let masks = vec![true; n * self.n_actions()];
        self.greedy_legal(observations, &masks, n, actions);
    }

    /// [`Self::greedy`] among the actions that are legal: `masks` has one element per action for
    /// each observation.
    pub fn greedy_legal(
        &self,
        observations: &[f32],
        masks: &[bool],
        n: usize,
        actions: &mut [Action],
    ) {
        let n_actions = self.n_actions();
        let mut logits = self.logits(observations, n);
        let rows = logits.chunks_mut(n_actions).zip(masks.chunks(n_actions));
        for (action, (logits, mask)) in actions[..n].iter_mut().zip(rows) {
            forbid(logits, mask);
            *action = Action(first_greatest(logits));
        }
    }

    /// The probability of each action.
    pub fn probabilities(&self, observation: &[f32]) -> Vec<f32> {
        let mut probabilities = self.logits(observation, 1);
        log_softmax(&mut probabilities);
        probabilities.iter_mut().for_each(|x| *x = x.exp());
        probabilities
    }

    /// The return to expect from `observation` on.
    pub fn value(&self, observation: &[f32]) -> f32 {
        self.critic.forward(observation, 1, &mut Workspace::default())[0]
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
        safetensors::serialize(views, None).expect("names are unique and views are sound")
    }

    /// The policy in a file.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, PolicyError> {
        let file = SafeTensors::deserialize(bytes)?;
        // The sizes come from the file, so they are checked before anything is allocated.
        let size = |name: &str, axis: usize, expected: &str| {
            let size = file.tensor(name)?.shape().get(axis).copied().unwrap_or(0);
            if size == 0 || size > bytes.len() {
                return Err(PolicyError::Shape {
                    name: name.to_owned(),
                    found: "empty or too large".to_owned(),
                    expected: expected.to_owned(),
                });
            }
            Ok(size)
        };
        let n_inputs = size("actor.0.weight", 1, "one column per number of an observation")?;
        let n_actions = size("actor.4.bias", 0, "one number per action")?;
        let mut policy = Self {
            actor: Mlp::zeros(&[n_inputs, N_HIDDEN, N_HIDDEN, n_actions], Activation::Tanh),
            critic: Mlp::zeros(&[n_inputs, N_HIDDEN, N_HIDDEN, 1], Activation::Tanh),
        };
        for (part, network) in [("actor", &mut policy.actor), ("critic", &mut policy.critic)] {
            for (index, layer) in network.layers().to_vec().into_iter().enumerate() {
                let (inputs, outputs) = (layer.n_inputs, layer.n_outputs);
                let name = format!("{part}.{}.weight", 2 * index);
                let weights = transpose(&read(&file, &name, &[outputs, inputs])?, outputs, inputs);
                network.change(|all| all[layer.weights].copy_from_slice(&weights));
                let name = format!("{part}.{}.bias", 2 * index);
                let biases = read(&file, &name, &[outputs])?;
                network.change(|all| all[layer.biases].copy_from_slice(&biases));
            }
        }
        let known: Vec<String> = policy.tensors().map(|(name, ..)| name).collect();
        match file.names().into_iter().find(|name| !known.iter().any(|known| known == name)) {
            Some(name) => Err(PolicyError::Unexpected { name: name.to_owned() }),
            None => Ok(policy),
        }
    }

    /// SHA-256 over the parameters of the actor, then the critic, as little-endian bytes, in
    /// hexadecimal: equal exactly when the policies are equal bit for bit.
    pub fn sha256(&self) -> String {
        let mut hasher = Sha256::new();
        for network in [&self.actor, &self.critic] {
            hasher.update(little_endian(network.parameters()));
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Name, shape and values of every tensor of the file.
    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>, Vec<f32>)> {
        [("actor", &self.actor), ("critic", &self.critic)].into_iter().flat_map(
            |(part, network)| {
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
            },
        )
    }
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

fn read(file: &SafeTensors<'_>, name: &str, shape: &[usize]) -> Result<Vec<f32>, PolicyError> {
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

fn little_endian(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests;
