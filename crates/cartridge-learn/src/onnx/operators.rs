//! What can be computed: the operators of ONNX that policies are made of.
//!
//! A node is read into an [`Operator`] once, with its attributes checked, and applied many times.
//! Where versions of ONNX differ in whether something is an attribute or an input, both are taken.

mod elementwise;
pub(super) mod layout;
mod linear;
mod reduction;

use self::elementwise::{Binary, Unary};
use self::linear::{Gemm, Window};
use self::reduction::Reduction;
use super::model::{Attribute, ElementType, Node, is_standard};
use super::tensor::{Budget, Tensor, Values};
use super::{Fault, OnnxError};
use crate::kernels::Isa;
use crate::network::Activation;

/// Something that a node does with tensors.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operator {
    Constant(Tensor),
    Identity,
    Cast {
        to_integer: bool,
        to_boolean: bool,
    },
    CastLike,
    Unary(Unary),
    Binary(Binary),
    /// One after the other, from the first on.
    Fold(Binary),
    Clip {
        least: Option<f32>,
        greatest: Option<f32>,
    },
    Where,
    Gemm(Gemm),
    MatMul,
    Conv {
        window: Window,
        groups: usize,
    },
    MaxPool(Window),
    AveragePool {
        window: Window,
        counts_padding: bool,
    },
    GlobalAveragePool,
    BatchNormalization {
        epsilon: f32,
    },
    LayerNormalization {
        axis: i64,
        epsilon: f32,
    },
    Softmax {
        axis: i64,
        is_log: bool,
        flattens: bool,
    },
    Reduce {
        kind: Reduction,
        axes: Option<Vec<i64>>,
        keeps: bool,
        noop_when_empty: bool,
    },
    ArgMax {
        axis: i64,
        keeps: bool,
        last: bool,
    },
    Reshape {
        shape: Option<Vec<i64>>,
        allows_zero: bool,
    },
    Flatten {
        axis: i64,
    },
    Transpose {
        order: Option<Vec<i64>>,
    },
    Squeeze {
        axes: Option<Vec<i64>>,
    },
    Unsqueeze {
        axes: Option<Vec<i64>>,
    },
    Concat {
        axis: i64,
    },
    Slice {
        starts: Option<Vec<i64>>,
        ends: Option<Vec<i64>>,
        axes: Option<Vec<i64>>,
    },
    Split {
        axis: i64,
        lengths: Option<Vec<i64>>,
        n: usize,
    },
    Gather {
        axis: i64,
    },
    GatherElements {
        axis: i64,
    },
    Expand,
    Shape {
        start: i64,
        end: Option<i64>,
    },
    Size,
    ConstantOfShape(Tensor),
}

/// What a node is told, by name.
struct Attributes<'a>(&'a [(String, Attribute)]);

impl<'a> Attributes<'a> {
    fn get(&self, name: &str) -> Option<&'a Attribute> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, attribute)| attribute)
    }

    fn integer(&self, name: &str, default: i64) -> Result<i64, Fault> {
        match self.get(name) {
            None => Ok(default),
            Some(Attribute::Integer(value)) => Ok(*value),
            Some(_) => Err(format!("its `{name}` is no whole number").into()),
        }
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool, Fault> {
        Ok(self.integer(name, i64::from(default))? != 0)
    }

    fn float(&self, name: &str, default: f32) -> Result<f32, Fault> {
        Ok(self.maybe_float(name)?.unwrap_or(default))
    }

    fn maybe_float(&self, name: &str) -> Result<Option<f32>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Attribute::Float(value)) => Ok(Some(*value)),
            Some(_) => Err(format!("its `{name}` is no number").into()),
        }
    }

    fn integers(&self, name: &str) -> Result<Option<Vec<i64>>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some(Attribute::Integers(values)) => Ok(Some(values.clone())),
            Some(_) => Err(format!("its `{name}` is no list of whole numbers").into()),
        }
    }

    fn text(&self, name: &str) -> Result<&'a str, Fault> {
        match self.get(name) {
            None => Ok(""),
            Some(Attribute::Text(text)) => Ok(text),
            Some(_) => Err(format!("its `{name}` is no text").into()),
        }
    }
}

impl Operator {
    /// What a node of a model with operators of version `opset` does.
    pub(super) fn read(node: &Node, opset: i64) -> Result<Self, OnnxError> {
        if !is_standard(&node.domain) {
            return Err(OnnxError::Unsupported(format!(
                "operator `{}` is not one of ONNX but of `{}`",
                node.operator, node.domain
            )));
        }
        let attributes = Attributes(&node.attributes);
        match Self::parse(node, &attributes, opset) {
            Ok(Some(operator)) => Ok(operator),
            Ok(None) => Err(OnnxError::Unsupported(format!(
                "operator `{}` is not one that policies here are made of\n\
                 hint: docs/onnx.md lists them; export the network alone, without sampling",
                node.operator
            ))),
            Err(Fault(reason)) => Err(named(node, reason)),
        }
    }

    fn parse(node: &Node, attributes: &Attributes<'_>, opset: i64) -> Result<Option<Self>, Fault> {
        if let Some(unary) = Unary::parse(&node.operator, attributes)? {
            return Ok(Some(Self::Unary(unary)));
        }
        if let Some(binary) = Binary::parse(&node.operator) {
            return Ok(Some(Self::Binary(binary)));
        }
        if let Some(kind) = Reduction::parse(&node.operator) {
            return Ok(Some(Self::Reduce {
                kind,
                axes: attributes.integers("axes")?,
                keeps: attributes.flag("keepdims", true)?,
                noop_when_empty: attributes.flag("noop_with_empty_axes", false)?,
            }));
        }
        let axis = |default| attributes.integer("axis", default);
        Ok(Some(match node.operator.as_str() {
            "Constant" => Self::Constant(constant(attributes)?),
            // What it drops it drops in training alone.
            "Identity" | "Dropout" => Self::Identity,
            "Cast" => {
                let code = attributes.integer("to", 0)?;
                let element = ElementType::from_code(code)
                    .ok_or_else(|| format!("nothing can be cast to type {code}"))?;
                Self::Cast {
                    to_integer: element.is_integer(),
                    to_boolean: element == ElementType::Boolean,
                }
            }
            "CastLike" => Self::CastLike,
            "Max" => Self::Fold(Binary::Max),
            "Min" => Self::Fold(Binary::Min),
            "Sum" => Self::Fold(Binary::Add),
            "Clip" => Self::Clip {
                least: attributes.maybe_float("min")?,
                greatest: attributes.maybe_float("max")?,
            },
            "Where" => Self::Where,
            "Gemm" => Self::Gemm(Gemm {
                alpha: attributes.float("alpha", 1.0)?,
                beta: attributes.float("beta", 1.0)?,
                transposes_a: attributes.flag("transA", false)?,
                transposes_b: attributes.flag("transB", false)?,
                activation: None,
            }),
            "MatMul" => Self::MatMul,
            "Conv" => Self::Conv {
                window: Window::read(attributes)?,
                groups: usize::try_from(attributes.integer("group", 1)?)
                    .ok()
                    .filter(|&groups| groups > 0)
                    .ok_or("its `group` is not positive")?,
            },
            "MaxPool" => Self::MaxPool(Window::read(attributes)?),
            "AveragePool" => Self::AveragePool {
                window: Window::read(attributes)?,
                counts_padding: attributes.flag("count_include_pad", false)?,
            },
            "GlobalAveragePool" => Self::GlobalAveragePool,
            "BatchNormalization" => {
                Self::BatchNormalization { epsilon: attributes.float("epsilon", 1e-5)? }
            }
            "LayerNormalization" => Self::LayerNormalization {
                axis: axis(-1)?,
                epsilon: attributes.float("epsilon", 1e-5)?,
            },
            name @ ("Softmax" | "LogSoftmax") => Self::Softmax {
                // Before version 13 all axes from this one on were taken together.
                axis: axis(if opset < 13 { 1 } else { -1 })?,
                is_log: name == "LogSoftmax",
                flattens: opset < 13,
            },
            "ArgMax" => Self::ArgMax {
                axis: axis(0)?,
                keeps: attributes.flag("keepdims", true)?,
                last: attributes.flag("select_last_index", false)?,
            },
            "Reshape" => Self::Reshape {
                shape: attributes.integers("shape")?,
                allows_zero: attributes.flag("allowzero", false)?,
            },
            "Flatten" => Self::Flatten { axis: axis(1)? },
            "Transpose" => Self::Transpose { order: attributes.integers("perm")? },
            "Squeeze" => Self::Squeeze { axes: attributes.integers("axes")? },
            "Unsqueeze" => Self::Unsqueeze { axes: attributes.integers("axes")? },
            "Concat" => Self::Concat { axis: axis(0)? },
            "Slice" => Self::Slice {
                starts: attributes.integers("starts")?,
                ends: attributes.integers("ends")?,
                axes: attributes.integers("axes")?,
            },
            "Split" => Self::Split {
                axis: axis(0)?,
                lengths: attributes.integers("split")?,
                n: node.outputs.len(),
            },
            "Gather" => Self::Gather { axis: axis(0)? },
            "GatherElements" => Self::GatherElements { axis: axis(0)? },
            "Expand" => Self::Expand,
            "Shape" => Self::Shape {
                start: attributes.integer("start", 0)?,
                end: match attributes.get("end") {
                    None => None,
                    Some(_) => Some(attributes.integer("end", 0)?),
                },
            },
            "Size" => Self::Size,
            "ConstantOfShape" => Self::ConstantOfShape(match attributes.get("value") {
                None => Tensor::floats(vec![1], vec![0.0]),
                Some(Attribute::Tensor(value)) if value.len() == 1 => value.clone(),
                Some(_) => return Err("its `value` is not one number".into()),
            }),
            _ => return Ok(None),
        }))
    }

    /// What comes out for `inputs`, of which some may be left out.
    pub(super) fn apply(
        &self,
        inputs: &[Option<&Tensor>],
        budget: &mut Budget,
        isa: Isa,
    ) -> Result<Vec<Tensor>, Fault> {
        let inputs = Inputs(inputs);
        let output = match self {
            Self::Constant(tensor) => {
                budget.claim(tensor.shape())?;
                tensor.clone()
            }
            Self::Identity => inputs.copy(budget)?,
            Self::Cast { to_integer, to_boolean } => {
                cast(inputs.get(0)?, *to_integer, *to_boolean, budget)?
            }
            Self::CastLike => {
                let to_integer = matches!(inputs.get(1)?.values(), Values::Integer(_));
                cast(inputs.get(0)?, to_integer, false, budget)?
            }
            Self::Unary(unary) => unary.apply(inputs.get(0)?, budget)?,
            Self::Binary(binary) => binary.apply(inputs.get(0)?, inputs.get(1)?, budget)?,
            Self::Fold(binary) => {
                let mut folded = inputs.copy(budget)?;
                for index in 1..inputs.0.len() {
                    folded = binary.apply(&folded, inputs.get(index)?, budget)?;
                }
                folded
            }
            Self::Clip { least, greatest } => {
                elementwise::clip(&inputs, *least, *greatest, budget)?
            }
            Self::Where => elementwise::choose(&inputs, budget)?,
            Self::Gemm(gemm) => gemm.apply(&inputs, budget, isa)?,
            Self::MatMul => linear::matmul(inputs.get(0)?, inputs.get(1)?, budget, isa)?,
            Self::Conv { window, groups } => {
                linear::convolve(&inputs, window, *groups, budget, isa)?
            }
            Self::MaxPool(window) => linear::max_pool(inputs.get(0)?, window, budget)?,
            Self::AveragePool { window, counts_padding } => {
                linear::average_pool(inputs.get(0)?, window, *counts_padding, budget)?
            }
            Self::GlobalAveragePool => reduction::global_average(inputs.get(0)?, budget)?,
            Self::BatchNormalization { epsilon } => {
                reduction::batch_normalization(&inputs, *epsilon, budget)?
            }
            Self::LayerNormalization { axis, epsilon } => {
                reduction::layer_normalization(&inputs, *axis, *epsilon, budget)?
            }
            Self::Softmax { axis, is_log, flattens } => {
                reduction::softmax(inputs.get(0)?, *axis, *is_log, *flattens, budget)?
            }
            Self::Reduce { kind, axes, keeps, noop_when_empty } => {
                let axes = inputs.list(1, axes.as_deref())?;
                match axes {
                    None | Some([]) if *noop_when_empty => inputs.copy(budget)?,
                    _ => kind.apply(inputs.get(0)?, axes.unwrap_or_default(), *keeps, budget)?,
                }
            }
            Self::ArgMax { axis, keeps, last } => {
                reduction::arg_max(inputs.get(0)?, *axis, *keeps, *last, budget)?
            }
            Self::Reshape { shape, allows_zero } => {
                let shape = inputs.list(1, shape.as_deref())?.ok_or("it has no shape")?;
                layout::reshape(&inputs.copy(budget)?, shape, *allows_zero)?
            }
            Self::Flatten { axis } => layout::flatten(&inputs.copy(budget)?, *axis)?,
            Self::Transpose { order } => {
                layout::transpose(inputs.get(0)?, order.as_deref(), budget)?
            }
            Self::Squeeze { axes } => {
                let axes = inputs.list(1, axes.as_deref())?;
                layout::squeeze(&inputs.copy(budget)?, axes)?
            }
            Self::Unsqueeze { axes } => {
                let axes = inputs.list(1, axes.as_deref())?.ok_or("it has no axes")?;
                layout::unsqueeze(&inputs.copy(budget)?, axes)?
            }
            Self::Concat { axis } => layout::concat(&inputs, *axis, budget)?,
            Self::Slice { starts, ends, axes } => {
                let starts = inputs.list(1, starts.as_deref())?.ok_or("it has no starts")?;
                let ends = inputs.list(2, ends.as_deref())?.ok_or("it has no ends")?;
                let (axes, steps) = (inputs.list(3, axes.as_deref())?, inputs.list(4, None)?);
                layout::slice(inputs.get(0)?, starts, ends, axes, steps, budget)?
            }
            Self::Split { axis, lengths, n } => {
                let lengths = inputs.list(1, lengths.as_deref())?;
                return layout::split(inputs.get(0)?, *axis, lengths, *n, budget);
            }
            Self::Gather { axis } => layout::gather(inputs.get(0)?, inputs.get(1)?, *axis, budget)?,
            Self::GatherElements { axis } => {
                layout::gather_elements(inputs.get(0)?, inputs.get(1)?, *axis, budget)?
            }
            Self::Expand => layout::expand(inputs.get(0)?, inputs.get(1)?.as_integers()?, budget)?,
            Self::Shape { start, end } => layout::shape(inputs.get(0)?, *start, *end),
            Self::Size => Tensor::integers(vec![], vec![inputs.get(0)?.len() as i64]),
            Self::ConstantOfShape(value) => {
                layout::expand(value, inputs.get(0)?.as_integers()?, budget)?
            }
        };
        Ok(vec![output])
    }
}

impl Operator {
    /// The activation that this is, if it is one that a product can be finished with.
    pub(super) fn activation(&self) -> Option<Activation> {
        match self {
            Self::Unary(unary) => unary.activation(),
            _ => None,
        }
    }
}

/// An error at a node.
pub(super) fn named(node: &Node, reason: String) -> OnnxError {
    let made = node.outputs.first().cloned().unwrap_or_default();
    OnnxError::Node {
        node: if node.name.is_empty() { made } else { node.name.clone() },
        operator: node.operator.clone(),
        reason,
    }
}

/// What a node is given.
struct Inputs<'a>(&'a [Option<&'a Tensor>]);

impl<'a> Inputs<'a> {
    fn get(&self, index: usize) -> Result<&'a Tensor, Fault> {
        self.maybe(index).ok_or_else(|| format!("input {index} is missing").into())
    }

    fn maybe(&self, index: usize) -> Option<&'a Tensor> {
        self.0.get(index).copied().flatten()
    }

    /// The first, as it is.
    fn copy(&self, budget: &mut Budget) -> Result<Tensor, Fault> {
        let tensor = self.get(0)?;
        budget.claim(tensor.shape())?;
        Ok(tensor.clone())
    }

    /// Whole numbers that are an input, or else an attribute.
    fn list(&self, index: usize, attribute: Option<&'a [i64]>) -> Result<Option<&'a [i64]>, Fault> {
        match self.maybe(index) {
            Some(tensor) => tensor.as_integers().map(Some),
            None => Ok(attribute),
        }
    }
}

fn constant(attributes: &Attributes<'_>) -> Result<Tensor, Fault> {
    match attributes.0 {
        [(_, Attribute::Tensor(tensor))] => Ok(tensor.clone()),
        [(_, Attribute::Float(value))] => Ok(Tensor::floats(vec![], vec![*value])),
        [(_, Attribute::Integer(value))] => Ok(Tensor::integers(vec![], vec![*value])),
        [(_, Attribute::Floats(values))] => Ok(Tensor::floats(vec![values.len()], values.clone())),
        [(_, Attribute::Integers(values))] => {
            Ok(Tensor::integers(vec![values.len()], values.clone()))
        }
        _ => Err("it holds no numbers".into()),
    }
}

fn cast(
    tensor: &Tensor,
    to_integer: bool,
    to_boolean: bool,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    budget.claim(tensor.shape())?;
    let values = match (tensor.values(), to_integer) {
        (Values::Float(values), true) if to_boolean => {
            Values::Integer(values.iter().map(|&x| i64::from(x != 0.0)).collect())
        }
        (Values::Integer(values), true) if to_boolean => {
            Values::Integer(values.iter().map(|&x| i64::from(x != 0)).collect())
        }
        (Values::Float(values), true) => {
            Values::Integer(values.iter().map(|&x| x as i64).collect())
        }
        (Values::Integer(values), false) => {
            Values::Float(values.iter().map(|&x| x as f32).collect())
        }
        (values, _) => values.clone(),
    };
    Ok(Tensor::new(tensor.shape().to_vec(), values))
}

#[cfg(test)]
mod tests;
