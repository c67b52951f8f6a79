//! A policy of ours as an ONNX file; `docs/onnx.md` is its description for users. `board` has networks
//! that look at a board.

use super::model::{Attribute, Dimension, Graph, Model, Node, ValueInfo};
use super::tensor::Tensor;
use crate::network::{Activation, Layer, Mlp};
use crate::policy::{Head, Policy};

/// Version of the file format: that of the first release with [`OPSET`], so that old readers do.
pub(super) const IR_VERSION: i64 = 8;

/// Version of the operators: what PyTorch's exporter has long written.
pub(super) const OPSET: i64 = 17;

/// The axis along which observations lie.
pub(super) const BATCH: &str = "batch";

/// A layer of a network, borrowed from wherever it is trained.
#[derive(Clone, Copy, Debug)]
pub struct DenseLayer<'a> {
    /// A row of outputs for each input.
    pub weights: &'a [f32],
    /// One for each output.
    pub biases: &'a [f32],
}

/// Layers one after the other, with an activation between them.
#[derive(Clone, Debug)]
pub struct DenseNetwork<'a> {
    /// From inputs to outputs.
    pub layers: Vec<DenseLayer<'a>>,
    /// After every layer but the last.
    pub activation: Activation,
}

/// What is done to an observation before any network sees it: `(x - mean) * scale`, taken back to
/// between `-clip` and `clip`.
#[derive(Clone, Copy, Debug)]
pub struct Normalisation<'a> {
    /// Mean of each number.
    pub mean: &'a [f32],
    /// `1 / sqrt(variance + epsilon)` of each, as it is used in training: to the bit.
    pub scale: &'a [f32],
    /// The bound.
    pub clip: f32,
}

/// The networks of a policy, by what they say.
#[derive(Clone, Debug)]
pub enum Networks<'a> {
    /// Actor and critic, for one of a list of actions: outputs `logits` and `value`.
    Categorical {
        /// Puts out the logarithm of each action's weight.
        actor: DenseNetwork<'a>,
        /// Puts out the return to expect.
        critic: DenseNetwork<'a>,
    },
    /// Actor and critic, for continuous actions: outputs `mean`, `value` and `log_std`.
    Gaussian {
        /// Puts out the mean of each number of an action.
        actor: DenseNetwork<'a>,
        /// The logarithm of the deviation of each number of an action.
        log_std: &'a [f32],
        /// Puts out the return to expect.
        critic: DenseNetwork<'a>,
    },
    /// The return to expect of each action: outputs `q_values`, and `value`, the greatest.
    Q {
        /// Puts it out.
        network: DenseNetwork<'a>,
    },
}

/// A policy as an ONNX file. What a critic puts out is multiplied by `value_scale`, if there is one.
///
/// # Panics
///
/// If the sizes of layers do not fit each other.
pub fn export(
    n_observation: usize,
    normalisation: Option<Normalisation<'_>>,
    networks: &Networks<'_>,
    value_scale: Option<f32>,
    metadata: Vec<(String, String)>,
) -> Vec<u8> {
    let mut writer = Writer::default();
    let batch = || Dimension::Free(BATCH.to_owned());
    writer.graph.name = "policy".to_owned();
    writer.graph.inputs =
        vec![ValueInfo::floats("observation", vec![batch(), Dimension::Fixed(n_observation)])];
    let seen = match normalisation {
        None => "observation",
        Some(normalisation) => writer.normalise(n_observation, normalisation),
    };
    let output = |name: &str, shape: Vec<Dimension>| ValueInfo::floats(name, shape);
    let outputs = match networks {
        Networks::Categorical { actor, critic } => {
            let n = writer.network("actor", actor, n_observation, seen, "logits");
            writer.critic(critic, n_observation, seen, value_scale);
            vec![
                output("logits", vec![batch(), Dimension::Fixed(n)]),
                output("value", vec![batch(), Dimension::Fixed(1)]),
            ]
        }
        Networks::Gaussian { actor, log_std, critic } => {
            let n = writer.network("actor", actor, n_observation, seen, "mean");
            writer.critic(critic, n_observation, seen, value_scale);
            assert_eq!(log_std.len(), n, "each number of an action has its deviation");
            writer.initializer("actor.log_std", vec![n], log_std.to_vec());
            writer.node("Identity", &["actor.log_std"], "log_std", vec![]);
            vec![
                output("mean", vec![batch(), Dimension::Fixed(n)]),
                output("value", vec![batch(), Dimension::Fixed(1)]),
                output("log_std", vec![Dimension::Fixed(n)]),
            ]
        }
        Networks::Q { network } => {
            let n = writer.network("actor", network, n_observation, seen, "q_values");
            let axes = ("axes", Attribute::Integers(vec![1]));
            writer.node("ReduceMax", &["q_values"], "value", vec![axes]);
            vec![
                output("q_values", vec![batch(), Dimension::Fixed(n)]),
                output("value", vec![batch(), Dimension::Fixed(1)]),
            ]
        }
    };
    writer.graph.outputs = outputs;
    let model = Model {
        ir_version: IR_VERSION,
        producer: "cartridge".to_owned(),
        opset: OPSET,
        graph: writer.graph,
        metadata,
    };
    model.encode()
}

#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) graph: Graph,
}

impl Writer {
    pub(super) fn initializer(&mut self, name: &str, shape: Vec<usize>, values: Vec<f32>) {
        self.graph.initializers.push((name.to_owned(), Tensor::floats(shape, values)));
    }

    pub(super) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        output: &str,
        attributes: Vec<(&str, Attribute)>,
    ) {
        self.graph.nodes.push(Node {
            name: format!("{output}/{operator}"),
            operator: operator.to_owned(),
            domain: String::new(),
            inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
            outputs: vec![output.to_owned()],
            attributes: attributes.into_iter().map(|(name, x)| (name.to_owned(), x)).collect(),
        });
    }

    /// Returns the name of what comes out.
    fn normalise(&mut self, n: usize, normalisation: Normalisation<'_>) -> &'static str {
        let Normalisation { mean, scale, clip } = normalisation;
        self.initializer("observation.mean", vec![n], mean.to_vec());
        self.initializer("observation.scale", vec![n], scale.to_vec());
        self.initializer("observation.least", vec![], vec![-clip]);
        self.initializer("observation.greatest", vec![], vec![clip]);
        self.node("Sub", &["observation", "observation.mean"], "centred", vec![]);
        self.node("Mul", &["centred", "observation.scale"], "scaled", vec![]);
        let bounds = ["scaled", "observation.least", "observation.greatest"];
        self.node("Clip", &bounds, "normalised", vec![]);
        "normalised"
    }

    /// Adds a critic, from `input` to `value`.
    fn critic(
        &mut self,
        critic: &DenseNetwork<'_>,
        n_inputs: usize,
        input: &str,
        value_scale: Option<f32>,
    ) {
        let Some(scale) = value_scale else {
            self.network("critic", critic, n_inputs, input, "value");
            return;
        };
        self.network("critic", critic, n_inputs, input, "normalised_value");
        self.initializer("value.scale", vec![1], vec![scale]);
        self.node("Mul", &["normalised_value", "value.scale"], "value", vec![]);
    }

    /// Adds a network, from `input` to `output`, and returns its number of outputs. Names and
    /// shapes of its tensors are those of the stored policy.
    fn network(
        &mut self,
        part: &str,
        network: &DenseNetwork<'_>,
        n_inputs: usize,
        input: &str,
        output: &str,
    ) -> usize {
        let (mut n_inputs, mut input) = (n_inputs, input.to_owned());
        let last = network.layers.len() - 1;
        for (index, layer) in network.layers.iter().enumerate() {
            let n_outputs = layer.biases.len();
            let [weight, bias] =
                ["weight", "bias"].map(|kind| format!("{part}.{}.{kind}", 2 * index));
            assert_eq!(layer.weights.len(), n_inputs * n_outputs, "{weight} fits its place");
            let column = |output: usize| layer.weights[output..].iter().step_by(n_outputs);
            let rows = (0..n_outputs).flat_map(column).copied().collect();
            self.initializer(&weight, vec![n_outputs, n_inputs], rows);
            self.initializer(&bias, vec![n_outputs], layer.biases.to_vec());
            let made =
                if index == last { output.to_owned() } else { format!("{part}.{}", 2 * index) };
            let by_rows = vec![("transB", Attribute::Integer(1))];
            self.node("Gemm", &[&input, &weight, &bias], &made, by_rows);
            (n_inputs, input) = (n_outputs, made);
            if index < last {
                let operator = match network.activation {
                    Activation::Tanh => "Tanh",
                    Activation::Relu => "Relu",
                };
                let made = format!("{part}.{}", 2 * index + 1);
                self.node(operator, &[&input], &made, vec![]);
                input = made;
            }
        }
        n_inputs
    }
}

/// The file of a policy as it is learnt here.
pub fn export_policy(policy: &Policy, metadata: Vec<(String, String)>) -> Vec<u8> {
    let actor = dense_network(policy.actor());
    let critic = || dense_network(policy.critic().expect("who acts by chance has a critic"));
    let networks = match policy.head() {
        Head::Logits => Networks::Categorical { actor, critic: critic() },
        Head::Gaussian { log_std } => Networks::Gaussian { actor, log_std, critic: critic() },
        Head::Values => Networks::Q { network: actor },
    };
    let normalisation = policy.normalizer().map(|normalizer| Normalisation {
        mean: &normalizer.mean,
        scale: &normalizer.scale,
        clip: normalizer.clip(),
    });
    export(policy.n_observation(), normalisation, &networks, policy.value_scale(), metadata)
}

fn dense_network(network: &Mlp) -> DenseNetwork<'_> {
    let layer = |layer: &Layer| DenseLayer {
        weights: &network.parameters()[layer.weights.clone()],
        biases: &network.parameters()[layer.biases.clone()],
    };
    let layers = network.layers().iter().map(layer).collect();
    DenseNetwork { layers, activation: network.activation() }
}
