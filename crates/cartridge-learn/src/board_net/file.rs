//! Networks as files.
//!
//! A network is stored as safetensors in `f32`, with the names and shapes of PyTorch's modules:
//!
//! | tensor | shape | holds |
//! |---|---|---|
//! | `stem.weight` | `[channels, planes, 3, 3]` | the first convolution |
//! | `blocks.N.first.weight`, `blocks.N.second.weight` | `[channels, channels, 3, 3]` | those of block `N` |
//! | `policy.0.weight`, `value.0.weight` | `[few, channels, 1, 1]` | the channels of the heads |
//! | `policy.3.weight` | `[actions, few * cells]` | the logits |
//! | `value.3.weight`, `value.5.weight` | `[units, few * cells]`, `[1, units]` | the value |
//!
//! and a `bias` beside each `weight`: the heads are `Sequential(Conv2d, ReLU, Flatten, Linear)` and
//! `Sequential(Conv2d, ReLU, Flatten, Linear, ReLU, Linear, Tanh)`. An MLP has `trunk.1.weight`,
//! `trunk.3.weight` and so on of `Sequential(Flatten, Linear, ReLU, Linear, ReLU)`, and
//! `policy.0.weight`, `value.0.weight` and `value.2.weight`.
//!
//! Metadata has one key, `board_net`, whose text is JSON: the [`Shape`] and the [`Config`].

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{BoardNet, Config, Shape};
use crate::policy::{PolicyError, little_endian, read};

/// What a file says of a network beside its tensors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    shape: Shape,
    config: Config,
}

/// The key of the metadata that says what a network is made of.
pub(crate) const ABOUT: &str = "board_net";

impl BoardNet {
    /// What it is made of, in words for files.
    pub(crate) fn about(&self) -> String {
        let about = About { shape: self.shape, config: self.config.clone() };
        serde_json::to_string(&about).expect("sizes are plain data")
    }

    /// The network whose words for files are these, with parameters of zero. A file of `n_bytes` says
    /// so, and must have room for them.
    pub(crate) fn from_about(text: &str, n_bytes: usize) -> Result<Self, PolicyError> {
        let wrong = |detail: String| PolicyError::About { detail };
        let About { shape, config } =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        config.check(&shape).map_err(|error| wrong(error.to_string()))?;
        // Sizes come from the file, so they are checked before anything is allocated.
        let n = super::parts(&shape, &config).last().map_or(0, |part| part.layer.biases.end);
        if n > n_bytes / size_of::<f32>() {
            return Err(wrong(format!("{n} parameters in {n_bytes} bytes")));
        }
        Self::zeros(shape, &config).map_err(|error| wrong(error.to_string()))
    }

    /// Name, shape and values of every tensor of the file.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>, Vec<f32>)> {
        self.parts.iter().flat_map(|part| {
            let weights = part.file_weights(&self.parameters);
            let biases = self.parameters[part.layer.biases.clone()].to_vec();
            [
                (format!("{}.weight", part.name), part.file_shape(), weights),
                (format!("{}.bias", part.name), vec![biases.len()], biases),
            ]
        })
    }

    /// Takes the parameters from tensors of these names and shapes.
    pub(crate) fn take_tensors<E>(
        &mut self,
        mut tensor: impl FnMut(&str, &[usize]) -> Result<Vec<f32>, E>,
    ) -> Result<(), E> {
        let mut parameters = self.parameters.clone();
        for part in &self.parts {
            let weights = tensor(&format!("{}.weight", part.name), &part.file_shape())?;
            let place = &mut parameters[part.layer.weights.clone()];
            for (at, x) in part.file_order().zip(weights) {
                place[at] = x;
            }
            let biases = tensor(&format!("{}.bias", part.name), &[part.layer.n_outputs])?;
            parameters[part.layer.biases.clone()].copy_from_slice(&biases);
        }
        self.change(|all| all.copy_from_slice(&parameters));
        Ok(())
    }

    /// The network as a file.
    pub fn to_safetensors(&self) -> Vec<u8> {
        let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = self
            .tensors()
            .map(|(name, shape, values)| (name, shape, little_endian(&values)))
            .collect();
        let views = tensors.iter().map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
            (name.as_str(), view.expect("the bytes fit the shape"))
        });
        let metadata = [(ABOUT.to_owned(), self.about())].into();
        safetensors::serialize(views, Some(metadata)).expect("names are unique and views are sound")
    }

    /// The network in a file.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, PolicyError> {
        let (_, header) = SafeTensors::read_metadata(bytes)?;
        let file = SafeTensors::deserialize(bytes)?;
        let about = header.metadata().as_ref().and_then(|metadata| metadata.get(ABOUT));
        let about = about.ok_or_else(|| PolicyError::About {
            detail: format!("its metadata has no `{ABOUT}`"),
        })?;
        let mut network = Self::from_about(about, bytes.len())?;
        network.take_tensors(|name, shape| read(&file, name, shape))?;
        let known: Vec<String> = network.tensors().map(|(name, ..)| name).collect();
        match file.names().into_iter().find(|name| !known.iter().any(|known| known == name)) {
            Some(name) => Err(PolicyError::Unexpected { name: name.to_owned() }),
            None => Ok(network),
        }
    }

    /// SHA-256 over all parameters as little-endian bytes, in the order in which they lie here, in
    /// hexadecimal: equal exactly when networks of the same shape are equal bit for bit.
    pub fn sha256(&self) -> String {
        let hash = Sha256::digest(little_endian(&self.parameters));
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
