//! All that a learner is made of between two steps, beside its network: taken out, stored, and put
//! back, so that what was interrupted goes on bit for bit as if it had not been.
//!
//! # File
//!
//! A state is stored as safetensors: `first` and `second` are the moments of Adam, `F32
//! [parameters]`. Its metadata has one key, `state`, whose text is JSON: the format, and how many steps
//! have been made.

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::{BoardLearner, Config};
use crate::board_net::BoardNet;
use crate::ppo::StateError;

const FORMAT: u32 = 1;

/// Names of the moments.
const MOMENTS: [&str; 2] = ["first", "second"];

/// All that a learner is made of between two steps, beside its network.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    numbers: Numbers,
    moments: [Vec<f32>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    format: u32,
    n_updates: u32,
}

impl State {
    /// How many steps had been made.
    pub fn n_updates(&self) -> u64 {
        u64::from(self.numbers.n_updates)
    }

    /// The state as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self
            .moments
            .each_ref()
            .map(|moment| moment.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        let views = MOMENTS.iter().zip(&bytes).map(|(name, bytes)| {
            let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            (*name, view.expect("the bytes fit the shape"))
        });
        let text = serde_json::to_string(&self.numbers).expect("numbers are plain data");
        let metadata = [("state".to_owned(), text)].into();
        safetensors::serialize(views, Some(metadata)).expect("names are unique and views are sound")
    }

    /// The state in a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let (_, header) = SafeTensors::read_metadata(bytes)?;
        let text = header.metadata().as_ref().and_then(|metadata| metadata.get("state"));
        let text = text.ok_or_else(|| StateError::Content("it has no `state`".to_owned()))?;
        let numbers: Numbers =
            serde_json::from_str(text).map_err(|error| StateError::Content(error.to_string()))?;
        if numbers.format != FORMAT {
            let message = format!("it has format {}, and {FORMAT} is known", numbers.format);
            return Err(StateError::Content(message));
        }
        let file = SafeTensors::deserialize(bytes)?;
        let mut moments = [const { Vec::new() }; 2];
        for (name, moment) in MOMENTS.iter().zip(&mut moments) {
            let tensor = file.tensor(name)?;
            if tensor.dtype() != Dtype::F32 {
                return Err(StateError::Content(format!("`{name}` is {:?}", tensor.dtype())));
            }
            let (words, _) = tensor.data().as_chunks::<4>();
            *moment = words.iter().map(|&word| f32::from_le_bytes(word)).collect();
        }
        Ok(Self { numbers, moments })
    }
}

impl BoardLearner {
    /// All that the learner is made of, beside [`BoardLearner::network`].
    pub fn state(&self) -> State {
        State {
            numbers: Numbers { format: FORMAT, n_updates: self.adam.n_updates },
            moments: [self.adam.first.to_vec(), self.adam.second.to_vec()],
        }
    }

    /// A learner that goes on from where [`BoardLearner::state`] and [`BoardLearner::network`] were
    /// taken.
    pub fn restore(network: BoardNet, config: Config, state: &State) -> Result<Self, StateError> {
        let mut learner = Self::new(network, config);
        let [first, second] = &state.moments;
        if [first.len(), second.len()] != [learner.network.n_parameters(); 2] {
            let message = "its moments do not fit the network".to_owned();
            return Err(StateError::Mismatch(message));
        }
        let n_updates = state.numbers.n_updates;
        learner.adam = learner.adam.with_moments(first, second, n_updates);
        Ok(learner)
    }
}
