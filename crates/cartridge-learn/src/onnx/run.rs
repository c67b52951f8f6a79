//! A policy made by any program, checked against an environment and run on its observations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cartridge_games::env::{ActionSpace, AnyAction, EnvSpec};
use cartridge_games::game::Action;

use super::model::{Dimension, Model, Node, ReadBeside, ValueInfo};
use super::operators::{Operator, layout, named};
use super::tensor::{Budget, Tensor, Values, count};
use super::{Fault, OnnxError, board};
use crate::board_net::{BoardNet, Workspace};
use crate::kernels::Isa;
use crate::policy::{first_greatest, forbid};

/// Observations that go through the network at once: more would only take more memory.
const MOST_ROWS: usize = 256;

/// The versions of the operators that are known; later ones rarely change what policies use.
const OPSETS: std::ops::RangeInclusive<i64> = 7..=25;

/// A policy in an ONNX file: one input, the observations; what it says of actions comes first.
#[derive(Clone, Debug)]
pub struct OnnxPolicy {
    metadata: Vec<(String, String)>,
    input: ValueInfo,
    actor: ValueInfo,
    plan: Plan,
    /// The network that the file was made from, if it is one of ours: then the kernels of that are
    /// used, and what comes out is the same to the bit.
    own: Option<Arc<BoardNet>>,
}

/// What the first output of a policy says of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A number for each action; the greatest is chosen.
    Scores,
    /// The action itself, by its index.
    Index,
    /// The numbers of a continuous action.
    Numbers,
}

/// What a policy says of some observations.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    /// Of actions, one observation after the other.
    pub actor: Values,
    /// The return to expect from each, where an output is named `value`.
    pub value: Option<Vec<f32>>,
}

impl OnnxPolicy {
    /// Reads a file. Weights that lie in files beside it are asked from `read_beside`.
    pub fn load(bytes: &[u8], read_beside: &mut ReadBeside<'_>) -> Result<Self, OnnxError> {
        let model = Model::decode(bytes, read_beside)?;
        if !OPSETS.contains(&model.opset) {
            return Err(OnnxError::Unsupported(format!(
                "its operators are of version {}; {} to {} are known",
                model.opset,
                OPSETS.start(),
                OPSETS.end()
            )));
        }
        let graph = &model.graph;
        let known: HashSet<&str> =
            graph.initializers.iter().map(|(name, _)| name.as_str()).collect();
        let given: Vec<&ValueInfo> =
            graph.inputs.iter().filter(|input| !known.contains(input.name.as_str())).collect();
        let [input] = given[..] else {
            let names: Vec<&str> = given.iter().map(|input| input.name.as_str()).collect();
            let n = given.len();
            let reason =
                format!("it has {n} inputs ({}) and not one, the observation", names.join(", "));
            return Err(OnnxError::NoPolicy(reason));
        };
        let actor = graph.outputs.first();
        let actor = actor.ok_or_else(|| OnnxError::NoPolicy("it has no output".to_owned()))?;
        let is_value = |output: &&ValueInfo| ["value", "values"].contains(&output.name.as_str());
        let value = graph.outputs[1..].iter().find(is_value);
        let (input, actor) = (input.clone(), actor.clone());
        let value = value.map(|value| value.name.clone());
        let own = board::recognise(&model, bytes.len(), MOST_ROWS).map(Arc::new);
        let (metadata, plan) =
            (model.metadata.clone(), Plan::new(model, &input, &actor, value.as_deref())?);
        Ok(Self { metadata, input, actor, plan, own })
    }

    /// What the file says of itself, by name; ours are listed in `docs/onnx.md`.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The network of ours that the file was made from, if it was.
    pub fn board_net(&self) -> Option<&Arc<BoardNet>> {
        self.own.as_ref()
    }

    /// Whether it says what a position is worth, beside what it says of actions.
    pub fn has_value(&self) -> bool {
        self.plan.value.is_some()
    }

    /// Whether the policy is one for an environment, and what its first output says of actions.
    /// A policy that fits also runs: it has been tried.
    pub fn check(&self, spec: &EnvSpec) -> Result<Head, OnnxError> {
        let mismatch = |reason: String| OnnxError::Mismatch { env_id: spec.id.to_owned(), reason };
        if self.shape(1, spec.observation).is_none() {
            return Err(mismatch(format!(
                "it takes `{}` of shape {}, and an observation has {} numbers: [batch, {}]",
                self.input.name,
                self.input.shape_text(),
                spec.observation,
                spec.observation
            )));
        }
        // Two sizes of batch, because a network may have been written for one of them alone.
        let size = spec.actions.size();
        let mut head = Head::Scores;
        for n in [1, 3] {
            let outputs = self.act(&vec![0.0; n * spec.observation], n)?;
            head = match (&spec.actions, &outputs.actor) {
                (ActionSpace::Discrete(_), Values::Float(x)) if x.len() == n * size => Head::Scores,
                (ActionSpace::Discrete(_), Values::Integer(x)) if x.len() == n => Head::Index,
                (ActionSpace::Continuous { .. }, Values::Float(x)) if x.len() == n * size => {
                    Head::Numbers
                }
                (space, actor) => {
                    let kind = match space {
                        ActionSpace::Discrete(_) => "actions",
                        ActionSpace::Continuous { .. } => "numbers to an action",
                    };
                    return Err(mismatch(format!(
                        "it puts out `{}` of shape {}, {} numbers for {n} observations, and \
                         there are {size} {kind}: [batch, {size}]",
                        self.actor.name,
                        self.actor.shape_text(),
                        actor.len(),
                    )));
                }
            };
        }
        if head == Head::Index && spec.is_masked {
            return Err(mismatch(format!(
                "it puts out `{}`, the action itself, and not every action is always legal\n\
                 hint: export a number for each action (its logits), so that others can be chosen",
                self.actor.name
            )));
        }
        Ok(head)
    }

    /// What the policy says of `n` observations.
    pub fn act(&self, observations: &[f32], n: usize) -> Result<Outputs, OnnxError> {
        let width = observations.len().checked_div(n).unwrap_or(0);
        let fixed = match self.input.shape.as_deref() {
            Some([] | [_]) => Some(1),
            Some([Dimension::Fixed(rows), ..]) => Some(*rows),
            _ => None,
        };
        let n_rows = fixed.unwrap_or(MOST_ROWS.min(n)).max(1);
        let isa = Isa::detect();
        let mut all: Option<Outputs> = None;
        for start in (0..n).step_by(n_rows) {
            let n_here = n_rows.min(n - start);
            let mut rows = observations[start * width..(start + n_here) * width].to_vec();
            let n_given = if fixed.is_some() { n_rows } else { n_here };
            let shape = self.shape(n_given, width).ok_or_else(|| {
                OnnxError::NoPolicy(format!(
                    "it takes `{}` of shape {}, and was given [{n_given}, {width}]",
                    self.input.name,
                    self.input.shape_text()
                ))
            })?;
            if let Some(own) = &self.own {
                let made = say(own, &rows, n_here);
                match &mut all {
                    None => all = Some(made),
                    Some(all) => all.append(made)?,
                }
                continue;
            }
            // A network for a fixed number of rows gets as many, whatever is in the last ones.
            rows.resize(n_given * width, 0.0);
            let values = match self.input.is_integer {
                true => Values::Integer(rows.iter().map(|&x| x as i64).collect()),
                false => Values::Float(rows),
            };
            let made = self.plan.run(Tensor::new(shape, values), n_given, isa)?;
            let made = made.first(n_here, n_given);
            match &mut all {
                None => all = Some(made),
                Some(all) => all.append(made)?,
            }
        }
        Ok(all.unwrap_or(Outputs { actor: Values::Float(Vec::new()), value: None }))
    }

    /// The policy's actions for `n` observations of an environment that it was checked against;
    /// `masks` says which are legal. Continuous ones are taken back to their bounds.
    pub fn choose(
        &self,
        spec: &EnvSpec,
        observations: &[f32],
        masks: &[bool],
        n: usize,
    ) -> Result<Vec<AnyAction>, OnnxError> {
        let size = spec.actions.size();
        let mismatch = |reason: &str| OnnxError::Mismatch {
            env_id: spec.id.to_owned(),
            reason: format!("it put out {reason} for an observation"),
        };
        match (&spec.actions, self.act(observations, n)?.actor) {
            (ActionSpace::Discrete(_), Values::Float(mut scores)) if scores.len() == n * size => {
                let rows = scores.chunks_exact_mut(size).zip(masks.chunks_exact(size));
                rows.map(|(scores, mask)| {
                    if scores.iter().any(|x| x.is_nan()) {
                        return Err(mismatch("what is not a number"));
                    }
                    forbid(scores, mask);
                    Ok(AnyAction::Discrete(Action(first_greatest(scores))))
                })
                .collect()
            }
            (ActionSpace::Discrete(_), Values::Integer(indices)) if indices.len() == n => indices
                .iter()
                .map(|&index| match usize::try_from(index) {
                    Ok(index) if index < size => Ok(AnyAction::Discrete(Action(index))),
                    _ => Err(mismatch(&format!("action {index} of {size}"))),
                })
                .collect(),
            (ActionSpace::Continuous { low, high }, Values::Float(numbers))
                if numbers.len() == n * size =>
            {
                let bounded = |row: &[f32]| {
                    let bounds = low.iter().zip(*high);
                    let numbers =
                        row.iter().zip(bounds).map(|(x, (low, high))| x.clamp(*low, *high));
                    match row.iter().any(|x| x.is_nan()) {
                        true => Err(mismatch("what is not a number")),
                        false => Ok(AnyAction::Continuous(numbers.collect())),
                    }
                };
                numbers.chunks_exact(size).map(bounded).collect()
            }
            _ => Err(mismatch("another number of numbers than when it was checked")),
        }
    }

    /// The shape in which `n` observations of `width` numbers are given, if they can be.
    fn shape(&self, n: usize, width: usize) -> Option<Vec<usize>> {
        let Some(declared) = &self.input.shape else { return Some(vec![n, width]) };
        let (batch, rest) = match &declared[..] {
            // One observation without an axis for more.
            [_] => (&[][..], &declared[..]),
            _ => declared.split_at_checked(1)?,
        };
        let fixed = |length: &Dimension| match length {
            Dimension::Fixed(length) => Some(*length),
            Dimension::Free(_) => None,
        };
        let n_fixed = rest.iter().filter_map(fixed).product::<usize>().max(1);
        let n_free = rest.iter().filter(|length| fixed(length).is_none()).count();
        // One free axis is as long as it must be; of several nobody can say.
        let free = if n_free == 1 { width / n_fixed } else { 1 };
        let shape = batch.iter().map(|_| n).chain(rest.iter().map(|x| fixed(x).unwrap_or(free)));
        let shape: Vec<usize> = shape.collect();
        let n_batch = if batch.is_empty() { 1 } else { n };
        let fits = n_free <= 1 && n_batch == n && count(&shape) == n.checked_mul(width);
        (fits && width > 0).then_some(shape)
    }
}

/// What a network of ours says of `n` positions.
fn say(network: &BoardNet, planes: &[f32], n: usize) -> Outputs {
    let (mut logits, mut values) = (vec![0.0; n * network.shape().n_actions], vec![0.0; n]);
    network.infer(&mut Workspace::default(), planes, &mut logits, &mut values);
    Outputs { actor: Values::Float(logits), value: Some(values) }
}

impl Outputs {
    /// What was said of the first `n` of `n_given` rows.
    fn first(mut self, n: usize, n_given: usize) -> Self {
        match &mut self.actor {
            Values::Float(values) => values.truncate(values.len() / n_given * n),
            Values::Integer(values) => values.truncate(values.len() / n_given * n),
        }
        if let Some(value) = &mut self.value {
            value.truncate(n);
        }
        self
    }

    fn append(&mut self, other: Self) -> Result<(), OnnxError> {
        match (&mut self.actor, other.actor) {
            (Values::Float(all), Values::Float(more)) => all.extend(more),
            (Values::Integer(all), Values::Integer(more)) => all.extend(more),
            _ => {
                let reason = "what it puts out changes its kind".to_owned();
                return Err(OnnxError::NoPolicy(reason));
            }
        }
        if let (Some(all), Some(more)) = (&mut self.value, other.value) {
            all.extend(more);
        }
        Ok(())
    }
}

/// The nodes that the wanted outputs need, with names turned into places.
#[derive(Clone, Debug)]
struct Plan {
    /// What is known from the start, by place.
    constants: Vec<Option<Tensor>>,
    steps: Vec<Step>,
    input: usize,
    actor: usize,
    value: Option<usize>,
}

#[derive(Clone, Debug)]
struct Step {
    /// For messages.
    node: Node,
    operator: Operator,
    inputs: Vec<Option<usize>>,
    outputs: Vec<usize>,
}

impl Step {
    fn apply<'t>(
        &self,
        tensor: impl Fn(usize) -> Option<&'t Tensor>,
        budget: &mut Budget,
        isa: Isa,
    ) -> Result<Vec<Tensor>, OnnxError> {
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for place in &self.inputs {
            inputs.push(match place {
                None => None,
                Some(place) => {
                    Some(tensor(*place).ok_or_else(|| self.fault("an input was not made"))?)
                }
            });
        }
        let made = self.operator.apply(&inputs, budget, isa);
        made.map_err(|Fault(reason)| named(&self.node, reason))
    }

    fn fault(&self, reason: &str) -> OnnxError {
        named(&self.node, reason.to_owned())
    }
}

impl Step {
    /// Weights that lie by columns are turned once and not in every pass.
    fn turn_weights(
        &mut self,
        constants: &mut Vec<Option<Tensor>>,
        budget: &mut Budget,
    ) -> Result<(), OnnxError> {
        let (Operator::Gemm(gemm), [_, Some(weights), ..]) =
            (&mut self.operator, &mut self.inputs[..])
        else {
            return Ok(());
        };
        if let (true, Some(tensor)) = (gemm.transposes_b, &constants[*weights]) {
            let turned = layout::transpose(tensor, None, budget);
            let turned = turned.map_err(|Fault(reason)| named(&self.node, reason))?;
            gemm.transposes_b = false;
            *weights = constants.len();
            constants.push(Some(turned));
        }
        Ok(())
    }
}

/// Lets products take in the activations that follow them, as our own networks do: then the sums
/// are finished in registers, by the same instructions and to the same bits.
fn fuse(steps: &mut Vec<Step>, kept: &[Option<usize>]) {
    let mut n_uses: HashMap<usize, usize> = HashMap::new();
    for place in steps.iter().flat_map(|step| &step.inputs).chain(kept).flatten() {
        *n_uses.entry(*place).or_default() += 1;
    }
    let mut makers: HashMap<usize, usize> = HashMap::new();
    let mut is_gone = vec![false; steps.len()];
    for index in 0..steps.len() {
        let step = &steps[index];
        if let (Some(activation), [Some(input)], &[output]) =
            (step.operator.activation(), &step.inputs[..], &step.outputs[..])
            && n_uses.get(input) == Some(&1)
            && let Some(&maker) = makers.get(input)
            && let Step { operator: Operator::Gemm(gemm), inputs, outputs, .. } = &mut steps[maker]
            && gemm.takes_activation(inputs.len())
        {
            gemm.activation = Some(activation);
            *outputs = vec![output];
            is_gone[index] = true;
            continue;
        }
        makers.extend(steps[index].outputs.iter().map(|&output| (output, index)));
    }
    let mut is_gone = is_gone.into_iter();
    steps.retain(|_| !is_gone.next().unwrap_or(false));
}

impl Plan {
    fn new(
        model: Model,
        input: &ValueInfo,
        actor: &ValueInfo,
        value: Option<&str>,
    ) -> Result<Self, OnnxError> {
        let Model { graph, opset, .. } = model;
        // Which nodes are needed: nothing that only other outputs need has to be computable.
        let mut wanted: HashSet<&str> = HashSet::from([actor.name.as_str()]);
        wanted.extend(value);
        let mut is_needed = vec![false; graph.nodes.len()];
        for (node, is_needed) in graph.nodes.iter().zip(&mut is_needed).rev() {
            *is_needed = node.outputs.iter().any(|output| wanted.contains(output.as_str()));
            if *is_needed {
                wanted.extend(node.inputs.iter().map(String::as_str));
            }
        }
        let mut places: HashMap<String, usize> = HashMap::from([(input.name.clone(), 0)]);
        let mut constants = vec![None];
        for (name, tensor) in graph.initializers {
            places.insert(name, constants.len());
            constants.push(Some(tensor));
        }
        let mut steps = Vec::new();
        let (mut budget, isa) = (Budget::new(), Isa::detect());
        for (mut node, _) in graph.nodes.into_iter().zip(is_needed).filter(|(_, needed)| *needed) {
            let operator = Operator::read(&node, opset)?;
            // For messages only from here on: numbers need not be kept twice.
            node.attributes.clear();
            let inputs = node
                .inputs
                .iter()
                .map(|name| match (name.as_str(), places.get(name)) {
                    ("", _) => Ok(None),
                    (_, Some(place)) => Ok(Some(*place)),
                    (name, None) => {
                        Err(named(&node, format!("nothing before it makes its input `{name}`")))
                    }
                })
                .collect::<Result<Vec<_>, _>>()?;
            let mut outputs = Vec::with_capacity(node.outputs.len());
            for name in &node.outputs {
                outputs.push(constants.len());
                if !name.is_empty() && places.insert(name.clone(), constants.len()).is_some() {
                    return Err(named(&node, format!("`{name}` is made twice")));
                }
                constants.push(None);
            }
            let mut step = Step { node, operator, inputs, outputs };
            step.turn_weights(&mut constants, &mut budget)?;
            // What does not depend on the observations is computed once, here.
            if step.inputs.iter().flatten().all(|&place| constants[place].is_some()) {
                let made = step.apply(|place| constants[place].as_ref(), &mut budget, isa)?;
                for (&place, tensor) in step.outputs.iter().zip(made) {
                    constants[place] = Some(tensor);
                }
            } else {
                steps.push(step);
            }
        }
        let place = |name: &str| {
            let missing = || OnnxError::NoPolicy(format!("nothing makes its output `{name}`"));
            places.get(name).copied().ok_or_else(missing)
        };
        let actor = place(&actor.name)?;
        let value = value.map(place).transpose()?;
        fuse(&mut steps, &[Some(actor), value]);
        Ok(Self { constants, steps, input: 0, actor, value })
    }

    fn run(&self, input: Tensor, n: usize, isa: Isa) -> Result<Outputs, OnnxError> {
        let mut budget = Budget::new();
        let mut made: Vec<Option<Tensor>> = vec![None; self.constants.len()];
        made[self.input] = Some(input);
        for step in &self.steps {
            let tensor = |place: usize| made[place].as_ref().or(self.constants[place].as_ref());
            let outputs = step.apply(tensor, &mut budget, isa)?;
            for (&place, tensor) in step.outputs.iter().zip(outputs) {
                made[place] = Some(tensor);
            }
        }
        let mut take = |place: usize| {
            let known = || OnnxError::NoPolicy("an output was not made".to_owned());
            made[place].take().or_else(|| self.constants[place].clone()).ok_or_else(known)
        };
        let value = match self.value {
            None => None,
            Some(place) => match take(place)?.values() {
                Values::Float(values) if values.len() == n => Some(values.clone()),
                values => {
                    let reason = format!(
                        "its `value` has {} numbers for {n} observations and not one for each",
                        values.len()
                    );
                    return Err(OnnxError::NoPolicy(reason));
                }
            },
        };
        Ok(Outputs { actor: take(self.actor)?.into_values(), value })
    }
}
