//! Networks that look at a board as ONNX files: written, and known again when they are read.

use super::export::{BATCH, IR_VERSION, OPSET, Writer};
use super::model::{Attribute, Dimension, Model, ValueInfo};
use super::tensor::{Budget, Values};
use crate::board_net::{ABOUT, BoardNet, Config};

/// A network as an ONNX file. Its input `planes` has the axes batch, plane, row and column; it puts
/// out `logits` and `value`. Weights bear the names and shapes of the stored network.
pub fn export_board_net(network: &BoardNet, metadata: Vec<(String, String)>) -> Vec<u8> {
    model(network, metadata).encode()
}

fn model(network: &BoardNet, mut metadata: Vec<(String, String)>) -> Model {
    let shape = network.shape();
    let mut writer = Writer::default();
    let batch = || Dimension::Free(BATCH.to_owned());
    let rows_of = |n: usize| vec![batch(), Dimension::Fixed(n)];
    let lengths = [shape.n_planes, shape.n_rows, shape.n_columns].map(Dimension::Fixed);
    let planes = std::iter::once(batch()).chain(lengths).collect();
    writer.graph.name = "policy".to_owned();
    writer.graph.inputs = vec![ValueInfo::floats("planes", planes)];
    writer.graph.outputs = vec![
        ValueInfo::floats("logits", rows_of(shape.n_actions)),
        ValueInfo::floats("value", rows_of(1)),
    ];
    for (name, shape, values) in network.tensors() {
        writer.initializer(&name, shape, values);
    }
    match network.config() {
        Config::Residual { n_blocks, .. } => writer.residual(*n_blocks),
        Config::Mlp { hidden, .. } => writer.dense(hidden.len()),
    }
    metadata.push((ABOUT.to_owned(), network.about()));
    Model {
        ir_version: IR_VERSION,
        producer: "cartridge".to_owned(),
        opset: OPSET,
        graph: writer.graph,
        metadata,
    }
}

impl Writer {
    fn residual(&mut self, n_blocks: usize) {
        self.windows("planes", "stem", 3);
        let mut seen = "stem/Relu".to_owned();
        for block in 0..n_blocks {
            let [first, second] = ["first", "second"].map(|name| format!("blocks.{block}.{name}"));
            self.windows(&seen, &first, 3);
            self.windows(&format!("{first}/Relu"), &second, 3);
            let (sum, made) = (format!("blocks.{block}.sum"), format!("blocks.{block}"));
            self.node("Add", &[&second, &seen], &sum, vec![]);
            self.node("Relu", &[&sum], &made, vec![]);
            seen = made;
        }
        for head in ["policy", "value"] {
            self.windows(&seen, &format!("{head}.0"), 1);
            let flat = format!("{head}.2");
            let axis = vec![("axis", Attribute::Integer(1))];
            self.node("Flatten", &[&format!("{head}.0/Relu")], &flat, axis);
        }
        self.rows("policy.2", "policy.3", "logits");
        self.heads("value.2", ["value.3", "value.5"]);
    }

    fn dense(&mut self, n_layers: usize) {
        self.node("Flatten", &["planes"], "trunk.0", vec![("axis", Attribute::Integer(1))]);
        let mut seen = "trunk.0".to_owned();
        for index in 0..n_layers {
            let (name, made) =
                (format!("trunk.{}", 2 * index + 1), format!("trunk.{}", 2 * index + 2));
            self.rows(&seen, &name, &name);
            self.node("Relu", &[&name], &made, vec![]);
            seen = made;
        }
        self.rows(&seen, "policy.0", "logits");
        self.heads(&seen, ["value.0", "value.2"]);
    }

    /// The end of the head of the value.
    fn heads(&mut self, seen: &str, [hidden, value]: [&str; 2]) {
        let bent = format!("{hidden}/Relu");
        self.rows(seen, hidden, hidden);
        self.node("Relu", &[hidden], &bent, vec![]);
        self.rows(&bent, value, value);
        self.node("Tanh", &[value], "value", vec![]);
    }

    /// A convolution with windows of `size` by `size`. All but the second of a block are followed by
    /// a rectifier, whose result is named after it.
    fn windows(&mut self, seen: &str, part: &str, size: i64) {
        let (weight, bias) = (format!("{part}.weight"), format!("{part}.bias"));
        let attributes = vec![
            ("kernel_shape", Attribute::Integers(vec![size; 2])),
            ("pads", Attribute::Integers(vec![size / 2; 4])),
        ];
        self.node("Conv", &[seen, &weight, &bias], part, attributes);
        if !part.ends_with("second") {
            self.node("Relu", &[part], &format!("{part}/Relu"), vec![]);
        }
    }

    /// A dense layer.
    fn rows(&mut self, seen: &str, part: &str, output: &str) {
        let (weight, bias) = (format!("{part}.weight"), format!("{part}.bias"));
        let by_rows = vec![("transB", Attribute::Integer(1))];
        self.node("Gemm", &[seen, &weight, &bias], output, by_rows);
    }
}

/// The network that a model of `n_bytes` was made from, if it is exactly what we would write of it,
/// and if `n_rows` positions at once take no more room and time than any other file may have.
pub(super) fn recognise(model: &Model, n_bytes: usize, n_rows: usize) -> Option<BoardNet> {
    let (_, about) = model.metadata.iter().find(|(key, _)| key == ABOUT)?;
    let mut network = BoardNet::from_about(about, n_bytes).ok()?;
    let shape = network.shape();
    let n_channels = match network.config() {
        Config::Residual { n_channels, .. } => *n_channels,
        Config::Mlp { hidden, .. } => hidden.iter().copied().max()?,
    };
    // What the stem sees, what is between layers, and what a convolution makes of it on its way.
    let n_seen = shape.n_inputs() * 9 + n_channels * (shape.n_cells() + 2) * 8;
    let mut budget = Budget::new();
    budget.claim(&[n_rows, n_seen]).ok()?;
    budget.work(&[n_rows, network.n_parameters(), shape.n_cells()]).ok()?;
    let find = |name: &str, shape: &[usize]| {
        let initializers = &model.graph.initializers;
        let (_, tensor) = initializers.iter().find(|(known, _)| known == name).ok_or(())?;
        match tensor.values() {
            Values::Float(values) if tensor.shape() == shape => Ok(values.clone()),
            _ => Err(()),
        }
    };
    network.take_tensors(find).ok()?;
    (self::model(&network, vec![]).graph == model.graph).then_some(network)
}
