//! A gradient step that could not be made because a number was infinite or not a number.

use safetensors::tensor::{Dtype, TensorView};
use serde::Serialize;

use crate::policy::Policy;

/// All that it takes to see the fault again: the samples, the settings, and the weights as they
/// were before. Stored as safetensors, it opens in NumPy and PyTorch alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The number of the update, from 1 on.
    pub update: u64,
    /// Environment steps since the run began.
    pub step: u64,
    /// The settings, as JSON.
    pub config: String,
    /// The policy, as a file.
    pub weights: Vec<u8>,
    /// Names and numbers of what was learnt from, a row for each sample.
    pub samples: Vec<(&'static str, Vec<f32>)>,
    /// How many samples.
    pub n_samples: usize,
}

impl Fault {
    /// A fault in an update, at a step, on `samples`, of which those without numbers are left out.
    pub(crate) fn new(
        [update, step]: [u64; 2],
        config: &impl Serialize,
        policy: &Policy,
        samples: impl IntoIterator<Item = (&'static str, Vec<f32>)>,
        n_samples: usize,
    ) -> Self {
        Self {
            update,
            step,
            config: serde_json::to_string(config).expect("settings are plain data"),
            weights: policy.to_safetensors(),
            samples: samples.into_iter().filter(|(_, values)| !values.is_empty()).collect(),
            n_samples,
        }
    }

    /// The samples as a file; the settings are in its metadata.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tensors: Vec<(&str, Vec<usize>, Vec<u8>)> = self
            .samples
            .iter()
            .map(|(name, values)| {
                let shape = vec![self.n_samples, values.len() / self.n_samples];
                (*name, shape, values.iter().flat_map(|x| x.to_le_bytes()).collect())
            })
            .collect();
        let views = tensors.iter().map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
            (*name, view.expect("the bytes fit the shape"))
        });
        let metadata = [
            ("update", self.update.to_string()),
            ("step", self.step.to_string()),
            ("config", self.config.clone()),
        ];
        let metadata = metadata.map(|(name, text)| (name.to_owned(), text)).into();
        safetensors::serialize(views, Some(metadata)).expect("names are unique and views are sound")
    }
}
