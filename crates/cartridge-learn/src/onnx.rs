//! Policies as ONNX files: written for other programs, and read from them.
//!
//! * [`export`]: a policy of ours as a file. `docs/onnx.md` says what is in it. [`board`] has networks
//!   that look at a board, and knows them again.
//! * [`model`]: the parts of the format that a policy needs.
//! * [`OnnxPolicy`]: a file made by any program, checked and run. `operators` has what it can
//!   compute.
//!
//! Whoever wrote a file may mean harm. Reading never recurses, every tensor is claimed from a
//! budget before it is made, time has a bound too, and nothing in a file makes this panic: a test
//! damages files at random.
//!
//! A runtime of our own because a policy needs a tenth of what ONNX has, on the kernels that are
//! here anyway: the same sums in the same order, so that our own file plays as the policy that it
//! was made from, to the bit. `benches/results/onnx-runtime.txt` has it beside `tract` and `rten`.

pub mod board;
pub mod export;
pub mod model;
mod operators;
mod run;
mod tensor;
mod wire;

pub use run::{Head, OnnxPolicy, Outputs};
pub use tensor::{Tensor, Values};

/// The largest file that is read.
pub const MOST_BYTES: u64 = 1 << 28;

/// Why an ONNX file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OnnxError {
    /// The bytes are no model.
    #[error("not an ONNX model: {0}")]
    Malformed(String),
    /// There is more of something than a policy needs.
    #[error("the model has more than {most} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The bound.
        most: usize,
    },
    /// A stored tensor cannot be used.
    #[error("tensor `{name}`: {reason}")]
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something that we do not compute.
    #[error("{0}")]
    Unsupported(String),
    /// A node cannot be computed.
    #[error("node `{node}` ({operator}): {reason}")]
    Node {
        /// Its name, or that of what it makes.
        node: String,
        /// Its operator.
        operator: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The graph is not one of a policy.
    #[error("the model is no policy: {0}")]
    NoPolicy(String),
    /// The policy is for another environment.
    #[error("the policy does not fit {env_id}: {reason}")]
    Mismatch {
        /// The environment.
        env_id: String,
        /// What differs: both shapes.
        reason: String,
    },
}

/// Why something cannot be computed; whoever knows where adds that.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault(String);

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

impl From<&str> for Fault {
    fn from(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

#[cfg(test)]
mod tests;
