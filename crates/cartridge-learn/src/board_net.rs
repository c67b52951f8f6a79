//! Networks that look at a board: planes in, and out come a logit for each action and the value of
//! the position to the seat that is to move, from -1 to 1.
//!
//! A **residual** network (He, Zhang, Ren and Sun 2016, as AlphaZero uses it) is a convolution with
//! windows of three by three, the stem, and then blocks of two such convolutions around which the
//! input is added again, with rectifiers between; the head of the policy and that of the value begin
//! with a convolution of single cells each. There is no batch normalisation: a position must become
//! the same whatever it is learnt or played beside. The network begins as Zhang, Dauphin and Ma (2019,
//! "Fixup initialization") propose: the second convolution of every block is zero, so that a block at
//! first hands on what it gets, and the first is smaller the more blocks there are.
//!
//! An **MLP** has dense layers instead, for boards where there is little to slide over.
//!
//! All parameters lie in one flat vector: for each layer the weights, a row of outputs for each
//! input, then the biases. The inputs of a window are its parts in the order of reading, and of each
//! part all channels; inside the network the channels of a cell lie side by side.
//!
//! * [`BoardNet::infer`]: what the network says, without allocation; the same for a position, to the
//!   bit, whatever else is in the batch.
//! * `gradient`: how a loss changes with the parameters. [`crate::board_learner`] learns with it.
//! * `file`: networks as safetensors.

mod file;
mod gradient;

use std::ops::Range;

use cartridge_games::game::GameSpec;
use serde::{Deserialize, Serialize};

use crate::kernels::{
    self, Board, CHANNELS, Ending, Filters, Finish, Gate, Isa, Matrix, Panels, Right, Scratch,
    WINDOW,
};
use crate::network::{Layer, normal, orthogonal};
use crate::team::Team;

pub(crate) use self::file::ABOUT;
pub(crate) use self::gradient::Turned;

/// What a network sees and says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Planes of a position, one after the other.
    pub n_planes: usize,
    /// Rows of the board.
    pub n_rows: usize,
    /// Columns of the board.
    pub n_columns: usize,
    /// Actions that there are, legal or not.
    pub n_actions: usize,
}

impl Shape {
    /// That of a game's player-relative planes and actions.
    pub fn of(game: &GameSpec) -> Self {
        let [n_planes, n_rows, n_columns] = game.planes;
        Self { n_planes, n_rows, n_columns, n_actions: game.n_actions }
    }

    /// Cells of the board.
    pub fn n_cells(&self) -> usize {
        self.n_rows * self.n_columns
    }

    /// Numbers of a position.
    pub fn n_inputs(&self) -> usize {
        self.n_planes * self.n_cells()
    }

    fn board(&self) -> Board {
        Board { n_rows: self.n_rows, n_columns: self.n_columns }
    }
}

/// What a network is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Config {
    /// Convolutions with what came in added again.
    Residual {
        /// Blocks of two convolutions each; up to 64.
        n_blocks: usize,
        /// Channels of every cell; a multiple of 16, up to 512.
        n_channels: usize,
        /// Channels of every cell in the head of the policy; 1 to 64.
        #[serde(default = "four")]
        n_policy_channels: usize,
        /// Channels of every cell in the head of the value; 1 to 64.
        #[serde(default = "four")]
        n_value_channels: usize,
        /// Units of the dense layer in the head of the value; 1 to 1,024.
        #[serde(default = "sixty_four")]
        n_value_units: usize,
    },
    /// Dense layers.
    Mlp {
        /// Units of each of them; one to 16 layers of 1 to 4,096 units.
        hidden: Vec<usize>,
        /// Units of the dense layer in the head of the value; 1 to 1,024.
        #[serde(default = "sixty_four")]
        n_value_units: usize,
    },
}

fn four() -> usize {
    4
}

fn sixty_four() -> usize {
    64
}

impl Config {
    /// A residual network with heads of the usual size.
    pub fn residual(n_blocks: usize, n_channels: usize) -> Self {
        let n_head_channels = four();
        Self::Residual {
            n_blocks,
            n_channels,
            n_policy_channels: n_head_channels,
            n_value_channels: n_head_channels,
            n_value_units: sixty_four(),
        }
    }

    /// Dense layers of these sizes with heads of the usual size.
    pub fn mlp(hidden: &[usize]) -> Self {
        Self::Mlp { hidden: hidden.to_vec(), n_value_units: sixty_four() }
    }

    fn check(&self, shape: &Shape) -> Result<(), ShapeError> {
        let within = |what: &'static str, found: usize, bounds: Range<usize>| match bounds
            .contains(&found)
        {
            true => Ok(()),
            false => Err(ShapeError { what, found, least: bounds.start, most: bounds.end - 1 }),
        };
        within("planes", shape.n_planes, 1..257)?;
        within("rows", shape.n_rows, 1..65)?;
        within("columns", shape.n_columns, 1..65)?;
        within("actions", shape.n_actions, 1..65_537)?;
        match self {
            Self::Residual {
                n_blocks,
                n_channels,
                n_policy_channels,
                n_value_channels,
                n_value_units,
            } => {
                within("blocks", *n_blocks, 0..65)?;
                within("channels", *n_channels, CHANNELS..513)?;
                within("channels beyond a multiple of 16", n_channels % CHANNELS, 0..1)?;
                within("channels of the policy's head", *n_policy_channels, 1..65)?;
                within("channels of the value's head", *n_value_channels, 1..65)?;
                within("units of the value's head", *n_value_units, 1..1025)
            }
            Self::Mlp { hidden, n_value_units } => {
                within("hidden layers", hidden.len(), 1..17)?;
                hidden.iter().try_for_each(|n| within("units of a hidden layer", *n, 1..4097))?;
                within("units of the value's head", *n_value_units, 1..1025)
            }
        }
    }
}

/// A size that a network cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} {what}; it can be {least} to {most}")]
pub struct ShapeError {
    what: &'static str,
    found: usize,
    least: usize,
    most: usize,
}

/// Usual sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Two dense layers of 64 units, for boards like that of tic-tac-toe.
    Tiny,
    /// 2 blocks of 32 channels.
    Small,
    /// 5 blocks of 64 channels.
    Medium,
    /// Two dense layers of 256 units, which see no board but a list of numbers.
    Mlp,
}

impl Preset {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Tiny, Self::Small, Self::Medium, Self::Mlp];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Mlp => "mlp",
        }
    }

    /// What it stands for.
    pub fn config(self) -> Config {
        match self {
            Self::Tiny => Config::mlp(&[64, 64]),
            Self::Small => Config::residual(2, 32),
            Self::Medium => Config::residual(5, 64),
            Self::Mlp => Config::mlp(&[256, 256]),
        }
    }
}

/// A network and its parameters. Whoever plays with it shares it; whoever learns changes a copy.
#[derive(Clone, Debug)]
pub struct BoardNet {
    shape: Shape,
    config: Config,
    parts: Vec<Part>,
    parameters: Vec<f32>,
    /// The weights of every part, as they are multiplied by.
    packed: Vec<Weights>,
    isa: Isa,
}

/// A layer, and what it is for.
#[derive(Clone, Debug)]
struct Part {
    /// Of its tensors in files.
    name: String,
    kind: Kind,
    layer: Layer,
    /// How many of its inputs belong to the same part of a window, or to the same cell; all where
    /// there are neither.
    n_channels: usize,
}

impl Part {
    /// The shape of its weights in files, which is PyTorch's.
    fn file_shape(&self) -> Vec<usize> {
        let Layer { n_inputs, n_outputs, .. } = self.layer;
        match self.kind {
            Kind::Stem | Kind::Window => vec![n_outputs, self.n_channels, 3, 3],
            Kind::Point => vec![n_outputs, self.n_channels, 1, 1],
            Kind::Dense => vec![n_outputs, n_inputs],
        }
    }

    /// For each weight as it lies in files, where it lies among those here. There an output has its
    /// inputs side by side, channel by channel; here the channels of a cell, or of a part of a window,
    /// are together, and each input has its outputs side by side.
    fn file_order(&self) -> impl Iterator<Item = usize> {
        let Layer { n_inputs, n_outputs, .. } = self.layer;
        let n_channels = self.n_channels;
        let n_seen = n_inputs / n_channels;
        (0..n_inputs * n_outputs).map(move |at| {
            let (output, input) = (at / n_inputs, at % n_inputs);
            let (channel, seen) = (input / n_seen, input % n_seen);
            (seen * n_channels + channel) * n_outputs + output
        })
    }

    /// Its weights as they lie in files.
    fn file_weights(&self, parameters: &[f32]) -> Vec<f32> {
        let weights = &parameters[self.layer.weights.clone()];
        self.file_order().map(|at| weights[at]).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Windows over the planes.
    Stem,
    /// Windows over channels.
    Window,
    /// Every cell for itself.
    Point,
    /// Of all cells.
    Dense,
}

#[derive(Clone, Debug)]
enum Weights {
    Panels(Panels),
    Filters(Filters),
}

impl Weights {
    fn panels(&self) -> &Panels {
        match self {
            Self::Panels(panels) => panels,
            Self::Filters(_) => unreachable!("only windows over channels have filters"),
        }
    }

    fn filters(&self) -> &Filters {
        match self {
            Self::Filters(filters) => filters,
            Self::Panels(_) => unreachable!("windows over channels have filters"),
        }
    }
}

/// Where the heads are among the parts.
#[derive(Clone, Copy, Debug)]
struct Heads {
    /// How many parts are before them.
    n_trunk: usize,
    /// What picks the channels of the policy and of the value, in residual networks.
    points: Option<[usize; 2]>,
    policy: usize,
    hidden: usize,
    value: usize,
}

/// Buffers of passes through networks.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// What the stem sees: for each position and part of the window, the cells of each plane.
    patches: Vec<f32>,
    /// What the parts of the trunk put out, all of them or as many as are still needed.
    trunk: Vec<Vec<f32>>,
    /// The channels of policy and value, in residual networks.
    points: [Vec<f32>; 2],
    hidden: Vec<f32>,
    /// What the loss changes with these, and with some of the trunk.
    point_deltas: [Vec<f32>; 2],
    hidden_delta: Vec<f32>,
    deltas: [Vec<f32>; 3],
    scratch: Scratch,
}

/// Positions that go through the network at once: so few that what is between two layers stays in
/// the second cache, and so many that weights are not fetched for each.
const CHUNK: usize = 16;

impl BoardNet {
    /// A fresh network: nearly indifferent between actions, and expecting little.
    pub fn new(shape: Shape, config: &Config, rng: &mut fastrand::Rng) -> Result<Self, ShapeError> {
        let mut network = Self::zeros(shape, config)?;
        let parts = network.parts.clone();
        let Heads { n_trunk, policy, value, .. } = network.heads();
        let n_blocks = n_trunk / 2;
        network.change(|parameters| {
            for (index, part) in parts.iter().enumerate() {
                let Layer { n_inputs, n_outputs, weights, .. } = &part.layer;
                let weights = &mut parameters[weights.clone()];
                let deviation = (2.0 / *n_inputs as f64).sqrt();
                match part.kind {
                    Kind::Window if index.is_multiple_of(2) => {}
                    Kind::Window => {
                        let deviation = deviation / (n_blocks as f64).sqrt();
                        weights.iter_mut().for_each(|x| *x = (deviation * normal(rng)) as f32);
                    }
                    Kind::Stem | Kind::Point => {
                        weights.iter_mut().for_each(|x| *x = (deviation * normal(rng)) as f32);
                    }
                    Kind::Dense => {
                        let is_output = [policy, value].contains(&index);
                        let gain = if is_output { 0.01 } else { std::f64::consts::SQRT_2 };
                        let frame = orthogonal(*n_inputs, *n_outputs, rng);
                        for (x, weight) in weights.iter_mut().zip(frame) {
                            *x = (gain * weight) as f32;
                        }
                    }
                }
            }
        });
        Ok(network)
    }

    /// A network whose parameters are all zero.
    pub fn zeros(shape: Shape, config: &Config) -> Result<Self, ShapeError> {
        config.check(&shape)?;
        let parts = parts(&shape, config);
        let n = parts.last().map_or(0, |part| part.layer.biases.end);
        let packed = parts.iter().map(|part| match part.kind {
            Kind::Window => Weights::Filters(Filters::default()),
            _ => Weights::Panels(Panels::default()),
        });
        let packed = packed.collect();
        let (config, isa) = (config.clone(), Isa::detect());
        let mut network = Self { shape, config, parts, parameters: vec![0.0; n], packed, isa };
        network.change(|_| {});
        Ok(network)
    }

    /// What it sees and says.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// What it is made of.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// All parameters.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// How many there are.
    pub fn n_parameters(&self) -> usize {
        self.parameters.len()
    }

    /// Where the weights of each layer lie among the parameters; the rest are biases.
    pub fn weights(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts.iter().map(|part| part.layer.weights.clone())
    }

    /// Changes the parameters.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut [f32]) -> T) -> T {
        let changed = change(&mut self.parameters);
        for (part, packed) in self.parts.iter().zip(&mut self.packed) {
            let Layer { n_inputs, n_outputs, weights, .. } = &part.layer;
            let weights = &self.parameters[weights.clone()];
            match packed {
                Weights::Panels(panels) => {
                    kernels::pack(self.isa, Matrix::new(weights, *n_inputs, *n_outputs), panels);
                }
                Weights::Filters(filters) => {
                    filters.fill(self.isa, weights, [part.n_channels, *n_outputs]);
                }
            }
        }
        changed
    }

    /// Writes the logits and the value of each position in `planes`, on one thread.
    pub fn infer(
        &self,
        work: &mut Workspace,
        planes: &[f32],
        logits: &mut [f32],
        values: &mut [f32],
    ) {
        let Shape { n_actions, .. } = self.shape;
        self.check_batch(planes, logits, values);
        let planes = planes.chunks(CHUNK * self.shape.n_inputs());
        let outputs = logits.chunks_mut(CHUNK * n_actions).zip(values.chunks_mut(CHUNK));
        for (planes, (logits, values)) in planes.zip(outputs) {
            self.forward(planes, Kept::Needed, work, logits, values);
        }
    }

    /// [`Self::infer`] on all threads of a team, which does not change a bit. There are as many
    /// `works` as it takes.
    pub fn infer_together(
        &self,
        team: &mut Team,
        works: &mut Vec<Workspace>,
        planes: &[f32],
        logits: &mut [f32],
        values: &mut [f32],
    ) {
        self.check_batch(planes, logits, values);
        // Shares of even size, because all threads should be done at once.
        let n_shares = values.len().div_ceil(CHUNK).next_multiple_of(team.n_threads());
        let n = values.len().div_ceil(n_shares).max(1);
        let shares = planes.chunks(n * self.shape.n_inputs());
        works.resize_with(works.len().max(shares.len()), Workspace::default);
        let outputs = logits.chunks_mut(n * self.shape.n_actions).zip(values.chunks_mut(n));
        let mut shares: Vec<_> = shares.zip(outputs).zip(works).collect();
        team.each(&mut shares, |_, ((planes, (logits, values)), work)| {
            self.forward(planes, Kept::Needed, work, logits, values);
        });
    }

    fn check_batch(&self, planes: &[f32], logits: &[f32], values: &[f32]) {
        let n = values.len();
        assert_eq!(planes.len(), n * self.shape.n_inputs(), "planes of {n} positions");
        assert_eq!(logits.len(), n * self.shape.n_actions, "logits of {n} positions");
    }

    /// The network once through.
    fn forward(
        &self,
        planes: &[f32],
        kept: Kept,
        work: &mut Workspace,
        logits: &mut [f32],
        values: &mut [f32],
    ) {
        let n = values.len();
        let last = match self.config {
            Config::Residual { .. } => self.residual_trunk(planes, n, kept, work),
            Config::Mlp { .. } => self.dense_trunk(planes, n, kept, work),
        };
        let heads = self.heads();
        let Workspace { trunk, points, hidden, .. } = work;
        let trunk = &trunk[last];
        if let Some(parts) = heads.points {
            for (part, out) in parts.into_iter().zip(&mut *points) {
                out.resize(n * self.shape.n_cells() * self.parts[part].layer.n_outputs, 0.0);
                self.dense(part, trunk, Finish::BiasRelu, out);
            }
        }
        let [policy, value] = match heads.points {
            Some(_) => [&points[0], &points[1]],
            None => [trunk, trunk],
        };
        hidden.resize(n * self.parts[heads.hidden].layer.n_outputs, 0.0);
        self.dense(heads.policy, policy, Finish::Bias, logits);
        self.dense(heads.hidden, value, Finish::BiasRelu, hidden);
        self.dense(heads.value, hidden, Finish::BiasTanh, values);
    }

    /// A part that is a product of matrices.
    fn dense<'a>(
        &'a self,
        part: usize,
        inputs: &[f32],
        finish: impl FnOnce(&'a [f32]) -> Finish<'a>,
        out: &mut [f32],
    ) {
        let Layer { n_inputs, ref biases, .. } = self.parts[part].layer;
        let inputs = Matrix::new(inputs, inputs.len() / n_inputs, n_inputs);
        let pair = (inputs, Right::Panels(self.packed[part].panels()));
        kernels::multiply(self.isa, &[pair], finish(&self.parameters[biases.clone()]), out);
    }

    /// Returns which of the trunk's buffers has what comes out.
    fn dense_trunk(&self, planes: &[f32], n: usize, kept: Kept, work: &mut Workspace) -> usize {
        let n_trunk = self.heads().n_trunk;
        kept.make_room(n_trunk, &mut work.trunk);
        for index in 0..n_trunk {
            let mut out = std::mem::take(&mut work.trunk[kept.buffer(index)]);
            out.resize(n * self.parts[index].layer.n_outputs, 0.0);
            let before = index.checked_sub(1).map(|before| &work.trunk[kept.buffer(before)]);
            self.dense(index, before.map_or(planes, Vec::as_slice), Finish::BiasRelu, &mut out);
            work.trunk[kept.buffer(index)] = out;
        }
        kept.buffer(n_trunk - 1)
    }

    /// As [`Self::dense_trunk`].
    fn residual_trunk(&self, planes: &[f32], n: usize, kept: Kept, work: &mut Workspace) -> usize {
        let n_trunk = self.heads().n_trunk;
        let n_channels = self.parts[0].layer.n_outputs;
        kept.make_room(n_trunk, &mut work.trunk);
        let Workspace { patches, trunk, scratch, .. } = work;
        for index in 0..n_trunk {
            let mut out = std::mem::take(&mut trunk[kept.buffer(index)]);
            out.resize(n * self.shape.n_cells() * n_channels, 0.0);
            match index.checked_sub(1) {
                None => self.stem(planes, patches, &mut out),
                Some(before) => {
                    // The second of a block adds what the first got.
                    let is_second = index.is_multiple_of(2);
                    let skip = is_second.then(|| &trunk[kept.buffer(index - 2)][..]);
                    let bias = Some(&self.parameters[self.parts[index].layer.biases.clone()]);
                    let ending = Ending { bias, skip, gate: Gate::Relu };
                    let inputs = &trunk[kept.buffer(before)];
                    let filters = self.packed[index].filters();
                    let board = self.shape.board();
                    kernels::convolve(self.isa, board, inputs, filters, ending, scratch, &mut out);
                }
            }
            trunk[kept.buffer(index)] = out;
        }
        kept.buffer(n_trunk - 1)
    }

    /// Windows over planes: few numbers are seen, so each window becomes a column of a matrix.
    fn stem(&self, planes: &[f32], patches: &mut Vec<f32>, out: &mut [f32]) {
        let shape = &self.shape;
        let Layer { n_inputs, n_outputs, ref biases, .. } = self.parts[0].layer;
        let (n_cells, n_seen) = (shape.n_cells(), n_inputs * shape.n_cells());
        patches.resize(planes.len() * WINDOW, 0.0);
        let panels = self.packed[0].panels();
        let finish = Finish::BiasRelu(&self.parameters[biases.clone()]);
        let positions = planes.chunks_exact(shape.n_inputs()).zip(patches.chunks_exact_mut(n_seen));
        for ((planes, patches), out) in positions.zip(out.chunks_exact_mut(n_cells * n_outputs)) {
            unfold(shape, planes, patches);
            let seen = Matrix::new(patches, n_inputs, n_cells).transposed();
            kernels::multiply(self.isa, &[(seen, Right::Panels(panels))], finish, out);
        }
    }

    fn heads(&self) -> Heads {
        let n = self.parts.len();
        let n_heads = if matches!(self.config, Config::Residual { .. }) { 5 } else { 3 };
        Heads {
            n_trunk: n - n_heads,
            points: (n_heads == 5).then_some([n - 5, n - 4]),
            policy: n - 3,
            hidden: n - 2,
            value: n - 1,
        }
    }
}

/// What of the trunk is kept while a batch goes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// What later parts need: nearer in the cache.
    Needed,
    /// All, for the way back.
    All,
}

impl Kept {
    /// The buffer of what a part puts out. What a block got and what it gives lie apart, and so does
    /// what is between its convolutions.
    fn buffer(self, index: usize) -> usize {
        match self {
            Self::All => index,
            Self::Needed => [0, 1, 2, 1][index % 4],
        }
    }

    fn make_room(self, n_trunk: usize, buffers: &mut Vec<Vec<f32>>) {
        let n = if self == Self::All { n_trunk } else { 3 };
        buffers.resize_with(buffers.len().max(n), Vec::new);
    }
}

/// Writes the cells of each plane that each part of the window sees from each cell, row by row; beyond
/// the board is zero.
fn unfold(shape: &Shape, planes: &[f32], patches: &mut [f32]) {
    let Shape { n_planes, n_rows, n_columns, .. } = *shape;
    let mut lines = patches.chunks_exact_mut(n_columns);
    for part in 0..WINDOW {
        let (down, right) = (part / 3, part % 3);
        // The columns that see one, and the first that is seen.
        let columns = 1_usize.saturating_sub(right)..(n_columns + 1 - right).min(n_columns);
        let first = right.saturating_sub(1);
        for plane in planes.chunks_exact(n_rows * n_columns).take(n_planes) {
            for row in 0..n_rows {
                let Some(line) = lines.next() else { return };
                line.fill(0.0);
                if let Some(row) = (row + down).checked_sub(1).filter(|&row| row < n_rows) {
                    let seen = &plane[row * n_columns + first..][..columns.len()];
                    line[columns.clone()].copy_from_slice(seen);
                }
            }
        }
    }
}

/// The parts of a network, in the order of their parameters.
fn parts(shape: &Shape, config: &Config) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut push =
        |name: String, kind: Kind, n_channels: usize, n_seen: usize, n_outputs: usize| {
            let n_inputs = n_seen * n_channels;
            let start = parts.last().map_or(0, |part| part.layer.biases.end);
            let weights = start..start + n_inputs * n_outputs;
            let biases = weights.end..weights.end + n_outputs;
            let layer = Layer { n_inputs, n_outputs, weights, biases };
            parts.push(Part { name, kind, layer, n_channels });
        };
    let n_cells = shape.n_cells();
    match *config {
        Config::Residual {
            n_blocks,
            n_channels,
            n_policy_channels,
            n_value_channels,
            n_value_units,
        } => {
            push("stem".to_owned(), Kind::Stem, shape.n_planes, WINDOW, n_channels);
            for block in 0..n_blocks {
                for name in ["first", "second"] {
                    let name = format!("blocks.{block}.{name}");
                    push(name, Kind::Window, n_channels, WINDOW, n_channels);
                }
            }
            push("policy.0".to_owned(), Kind::Point, n_channels, 1, n_policy_channels);
            push("value.0".to_owned(), Kind::Point, n_channels, 1, n_value_channels);
            push("policy.3".to_owned(), Kind::Dense, n_policy_channels, n_cells, shape.n_actions);
            push("value.3".to_owned(), Kind::Dense, n_value_channels, n_cells, n_value_units);
            push("value.5".to_owned(), Kind::Dense, n_value_units, 1, 1);
        }
        Config::Mlp { ref hidden, n_value_units } => {
            let mut n_inputs = shape.n_inputs();
            for (index, &n_outputs) in hidden.iter().enumerate() {
                push(format!("trunk.{}", 2 * index + 1), Kind::Dense, n_inputs, 1, n_outputs);
                n_inputs = n_outputs;
            }
            push("policy.0".to_owned(), Kind::Dense, n_inputs, 1, shape.n_actions);
            push("value.0".to_owned(), Kind::Dense, n_inputs, 1, n_value_units);
            push("value.2".to_owned(), Kind::Dense, n_value_units, 1, 1);
        }
    }
    parts
}

#[cfg(test)]
mod tests;
