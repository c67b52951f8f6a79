//! A gradient step that could not be made because a number was infinite or not a number.

use safetensors::tensor::{Dtype, TensorView};

use super::{Config, Ppo};

/// All that it takes to see the fault again: the samples, the settings, and the weights as they
/// were before. Stored as safetensors, it opens in NumPy and PyTorch alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Environment steps since the run began.
    pub step: u64,
    /// The settings.
    pub config: Config,
    /// The policy, as a file.
    pub weights: Vec<u8>,
    /// Names and numbers of what was learnt from, a row for each sample.
    pub samples: Vec<(&'static str, Vec<f32>)>,
    /// How many samples.
    pub n_samples: usize,
}

impl Fault {
    pub(super) fn of(ppo: &Ppo, batch: &[usize]) -> Self {
        let rollout = &ppo.rollout;
        let n = rollout.log_probs.len();
        let pick = |values: &[f32]| -> Vec<f32> {
            let width = values.len() / n;
            let rows = batch.iter().flat_map(|&at| &values[at * width..(at + 1) * width]);
            rows.copied().collect()
        };
        let masks: Vec<f32> = rollout.masks.iter().map(|&x| f32::from(u8::from(x))).collect();
        let actions: Vec<f32> = rollout.actions.iter().map(|&x| x as f32).collect();
        let all = [
            ("observations", &rollout.observations),
            ("masks", &masks),
            ("actions", &actions),
            ("numbers", &rollout.numbers),
            ("log_probs", &rollout.log_probs),
            ("values", &rollout.values),
            ("advantages", &rollout.advantages),
            ("returns", &rollout.returns),
        ];
        let samples = all.into_iter().filter(|(_, values)| !values.is_empty());
        Self {
            step: ppo.step,
            config: ppo.config.clone(),
            weights: ppo.policy.to_safetensors(),
            samples: samples.map(|(name, values)| (name, pick(values))).collect(),
            n_samples: batch.len(),
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
        let config = serde_json::to_string(&self.config).expect("settings are plain data");
        let metadata =
            [("step".to_owned(), self.step.to_string()), ("config".to_owned(), config)].into();
        safetensors::serialize(views, Some(metadata)).expect("names are unique and views are sound")
    }
}
