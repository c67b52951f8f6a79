//! Operators that take each number by itself, or pairs of them.

use super::super::tensor::{Offsets, broadcast};
use super::{Attributes, Budget, Fault, Inputs, Tensor, Values};
use crate::network::Activation;

/// What becomes of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Unary {
    Abs,
    Ceil,
    Cos,
    Elu { alpha: f32 },
    Erf,
    Exp,
    Floor,
    Gelu { by_tanh: bool },
    HardSigmoid { alpha: f32, beta: f32 },
    HardSwish,
    LeakyRelu { alpha: f32 },
    Log,
    Mish,
    Negative,
    Not,
    Reciprocal,
    Relu,
    Round,
    Selu { alpha: f32, gamma: f32 },
    Sigmoid,
    Sign,
    Sin,
    Softplus,
    Softsign,
    Sqrt,
    Tanh,
}

impl Unary {
    pub(super) fn parse(name: &str, attributes: &Attributes<'_>) -> Result<Option<Self>, Fault> {
        Ok(Some(match name {
            "Abs" => Self::Abs,
            "Ceil" => Self::Ceil,
            "Cos" => Self::Cos,
            "Elu" => Self::Elu { alpha: attributes.float("alpha", 1.0)? },
            "Erf" => Self::Erf,
            "Exp" => Self::Exp,
            "Floor" => Self::Floor,
            "Gelu" => Self::Gelu { by_tanh: attributes.text("approximate")? == "tanh" },
            "HardSigmoid" => Self::HardSigmoid {
                alpha: attributes.float("alpha", 0.2)?,
                beta: attributes.float("beta", 0.5)?,
            },
            "HardSwish" => Self::HardSwish,
            "LeakyRelu" => Self::LeakyRelu { alpha: attributes.float("alpha", 0.01)? },
            "Log" => Self::Log,
            "Mish" => Self::Mish,
            "Neg" => Self::Negative,
            "Not" => Self::Not,
            "Reciprocal" => Self::Reciprocal,
            "Relu" => Self::Relu,
            "Round" => Self::Round,
            "Selu" => Self::Selu {
                alpha: attributes.float("alpha", 1.673_263_2)?,
                gamma: attributes.float("gamma", 1.050_701)?,
            },
            "Sigmoid" => Self::Sigmoid,
            "Sign" => Self::Sign,
            "Sin" => Self::Sin,
            "Softplus" => Self::Softplus,
            "Softsign" => Self::Softsign,
            "Sqrt" => Self::Sqrt,
            "Tanh" => Self::Tanh,
            _ => return Ok(None),
        }))
    }

    /// What layers of ours can be finished with.
    pub(in super::super) fn activation(self) -> Option<Activation> {
        match self {
            Self::Tanh => Some(Activation::Tanh),
            Self::Relu => Some(Activation::Relu),
            _ => None,
        }
    }

    pub(super) fn apply(self, tensor: &Tensor, budget: &mut Budget) -> Result<Tensor, Fault> {
        budget.claim(tensor.shape())?;
        let values = match tensor.values() {
            Values::Float(values) => Values::Float(values.iter().map(|&x| self.of(x)).collect()),
            Values::Integer(values) => {
                let of: fn(i64) -> i64 = match self {
                    Self::Abs => i64::wrapping_abs,
                    Self::Negative => i64::wrapping_neg,
                    Self::Not => |x| i64::from(x == 0),
                    Self::Relu => |x| x.max(0),
                    Self::Sign => i64::signum,
                    _ => return Err("whole numbers where fractions belong".into()),
                };
                Values::Integer(values.iter().map(|&x| of(x)).collect())
            }
        };
        Ok(Tensor::new(tensor.shape().to_vec(), values))
    }

    pub(super) fn of(self, x: f32) -> f32 {
        match self {
            Self::Abs => x.abs(),
            Self::Ceil => x.ceil(),
            Self::Cos => x.cos(),
            Self::Elu { alpha } if x < 0.0 => alpha * x.exp_m1(),
            Self::LeakyRelu { alpha } if x < 0.0 => alpha * x,
            Self::Elu { .. } | Self::LeakyRelu { .. } => x,
            Self::Erf => erf(x),
            Self::Exp => x.exp(),
            Self::Floor => x.floor(),
            Self::Gelu { by_tanh: false } => {
                0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
            }
            Self::Gelu { by_tanh: true } => {
                let scale = (2.0 / std::f32::consts::PI).sqrt();
                0.5 * x * (1.0 + (scale * (x + 0.044_715 * x * x * x)).tanh())
            }
            Self::HardSigmoid { alpha, beta } => bounded(alpha * x + beta, 0.0, 1.0),
            Self::HardSwish => x * bounded(x / 6.0 + 0.5, 0.0, 1.0),
            Self::Log => x.ln(),
            Self::Mish => x * softplus(x).tanh(),
            Self::Negative => -x,
            Self::Not => f32::from(u8::from(x == 0.0)),
            Self::Reciprocal => 1.0 / x,
            // Not `max`, which would turn a broken number into a sound one.
            Self::Relu => {
                if x < 0.0 {
                    0.0
                } else {
                    x
                }
            }
            Self::Round => x.round_ties_even(),
            Self::Selu { alpha, gamma } => gamma * if x < 0.0 { alpha * x.exp_m1() } else { x },
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Self::Sign if x == 0.0 => 0.0,
            Self::Sign => x.signum(),
            Self::Sin => x.sin(),
            Self::Softplus => softplus(x),
            Self::Softsign => x / (1.0 + x.abs()),
            Self::Sqrt => x.sqrt(),
            Self::Tanh => x.tanh(),
        }
    }
}

impl From<Activation> for Unary {
    fn from(activation: Activation) -> Self {
        match activation {
            Activation::Tanh => Self::Tanh,
            Activation::Relu => Self::Relu,
        }
    }
}

fn softplus(x: f32) -> f32 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// As `clamp`, for bounds that may be broken or in the wrong order.
fn bounded(x: f32, least: f32, greatest: f32) -> f32 {
    let x = if x < least { least } else { x };
    if x > greatest { greatest } else { x }
}

/// The error function: its series near zero and its continued fraction beyond, in double
/// precision (Abramowitz and Stegun 7.1.6 and 7.1.14).
fn erf(x: f32) -> f32 {
    let z = f64::from(x).abs();
    let scale = (-z * z).exp();
    let magnitude = if z.is_nan() || z > 6.0 {
        z.min(1.0)
    } else if z < 2.5 {
        let (mut term, mut sum) = (z, z);
        for n in 1..60 {
            term *= 2.0 * z * z / f64::from(2 * n + 1);
            sum += term;
        }
        2.0 / std::f64::consts::PI.sqrt() * scale * sum
    } else {
        let mut tail = z;
        for n in (1..60).rev() {
            tail = z + f64::from(n) / 2.0 / tail;
        }
        1.0 - scale / tail / std::f64::consts::PI.sqrt()
    };
    (magnitude as f32).copysign(x)
}

/// What becomes of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Max,
    Min,
    Remainder,
    ParametricRelu,
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    And,
    Or,
}

impl Binary {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "Add" => Self::Add,
            "Sub" => Self::Subtract,
            "Mul" => Self::Multiply,
            "Div" => Self::Divide,
            "Pow" => Self::Power,
            "Mod" => Self::Remainder,
            "PRelu" => Self::ParametricRelu,
            "Equal" => Self::Equal,
            "Greater" => Self::Greater,
            "GreaterOrEqual" => Self::GreaterOrEqual,
            "Less" => Self::Less,
            "LessOrEqual" => Self::LessOrEqual,
            "And" => Self::And,
            "Or" => Self::Or,
            _ => return None,
        })
    }

    pub(super) fn apply(
        self,
        a: &Tensor,
        b: &Tensor,
        budget: &mut Budget,
    ) -> Result<Tensor, Fault> {
        let shape = broadcast(a.shape(), b.shape())?;
        budget.claim(&shape)?;
        let values = match (a.values(), b.values()) {
            (Values::Float(x), Values::Float(y)) => match self.fractions() {
                Some(of) => Values::Float(pairs(a, b, &shape, x, y, of)),
                None => {
                    let of = self.comparison()?;
                    let order = |x: f32, y: f32| i64::from(of(x.partial_cmp(&y)));
                    Values::Integer(pairs(a, b, &shape, x, y, order))
                }
            },
            (Values::Integer(x), Values::Integer(y)) => {
                if matches!(self, Self::Divide | Self::Remainder) && y.contains(&0) {
                    return Err("a division of whole numbers by zero".into());
                }
                match self.whole() {
                    Some(of) => Values::Integer(pairs(a, b, &shape, x, y, of)),
                    None => {
                        let of = self.comparison()?;
                        let order = |x: i64, y: i64| i64::from(of(Some(x.cmp(&y))));
                        Values::Integer(pairs(a, b, &shape, x, y, order))
                    }
                }
            }
            (Values::Float(x), Values::Integer(y)) if self == Self::Power => {
                Values::Float(pairs(a, b, &shape, x, y, |x, y| x.powf(y as f32)))
            }
            _ => return Err("whole numbers and fractions do not mix".into()),
        };
        Ok(Tensor::new(shape, values))
    }

    fn fractions(self) -> Option<fn(f32, f32) -> f32> {
        Some(match self {
            Self::Add => |x, y| x + y,
            Self::Subtract => |x, y| x - y,
            Self::Multiply => |x, y| x * y,
            Self::Divide => |x, y| x / y,
            // Squares are what policies take powers for.
            Self::Power => |x, y| if y == 2.0 { x * x } else { x.powf(y) },
            Self::Max => |x, y| if x > y || x.is_nan() { x } else { y },
            Self::Min => |x, y| if x < y || x.is_nan() { x } else { y },
            Self::Remainder => |x, y| x % y,
            Self::ParametricRelu => |x, slope| if x < 0.0 { slope * x } else { x },
            _ => return None,
        })
    }

    fn whole(self) -> Option<fn(i64, i64) -> i64> {
        Some(match self {
            Self::Add => i64::wrapping_add,
            Self::Subtract => i64::wrapping_sub,
            Self::Multiply => i64::wrapping_mul,
            Self::Divide => i64::wrapping_div,
            Self::Power => |x, y| x.wrapping_pow(y.clamp(0, i64::from(u32::MAX)) as u32),
            Self::Max => i64::max,
            Self::Min => i64::min,
            // The sign is that of the divisor, as in Python.
            Self::Remainder => |x, y| x.wrapping_rem(y).wrapping_add(y).wrapping_rem(y),
            Self::And => |x, y| i64::from(x != 0 && y != 0),
            Self::Or => |x, y| i64::from(x != 0 || y != 0),
            _ => return None,
        })
    }

    fn comparison(self) -> Result<fn(Option<std::cmp::Ordering>) -> bool, Fault> {
        Ok(match self {
            Self::Equal => |order| order.is_some_and(std::cmp::Ordering::is_eq),
            Self::Greater => |order| order.is_some_and(std::cmp::Ordering::is_gt),
            Self::GreaterOrEqual => |order| order.is_some_and(std::cmp::Ordering::is_ge),
            Self::Less => |order| order.is_some_and(std::cmp::Ordering::is_lt),
            Self::LessOrEqual => |order| order.is_some_and(std::cmp::Ordering::is_le),
            _ => return Err("numbers of another kind belong here".into()),
        })
    }
}

/// `of` for every pair of numbers of two tensors that are repeated to `shape`.
fn pairs<X: Copy, Y: Copy, Z>(
    a: &Tensor,
    b: &Tensor,
    shape: &[usize],
    x: &[X],
    y: &[Y],
    of: impl Fn(X, Y) -> Z,
) -> Vec<Z> {
    // The two ways in which nearly all pairs meet: one by one, and rows with a row.
    if a.shape() == shape && !y.is_empty() && shape.ends_with(b.shape()) {
        let rows = x.chunks_exact(y.len());
        return rows.flat_map(|row| row.iter().zip(y)).map(|(&x, &y)| of(x, y)).collect();
    }
    let places = Offsets::repeated(a.shape(), shape).zip(Offsets::repeated(b.shape(), shape));
    places.map(|(i, j)| of(x[i], y[j])).collect()
}

pub(super) fn clip(
    inputs: &Inputs<'_>,
    least: Option<f32>,
    greatest: Option<f32>,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let tensor = inputs.get(0)?;
    budget.claim(tensor.shape())?;
    let values = match tensor.values() {
        Values::Float(values) => {
            let bound = |index, attribute: Option<f32>, default: f32| match inputs.maybe(index) {
                None => Ok(attribute.unwrap_or(default)),
                Some(bound) => match bound.as_floats()? {
                    [bound] => Ok(*bound),
                    _ => Err(Fault::from("a bound is not one number")),
                },
            };
            let least = bound(1, least, f32::NEG_INFINITY)?;
            let greatest = bound(2, greatest, f32::INFINITY)?;
            Values::Float(values.iter().map(|&x| bounded(x, least, greatest)).collect())
        }
        Values::Integer(values) => {
            let bound = |index, default: i64| match inputs.list(index, None)? {
                None => Ok(default),
                Some([bound]) => Ok(*bound),
                Some(_) => Err(Fault::from("a bound is not one number")),
            };
            let (least, greatest) = (bound(1, i64::MIN)?, bound(2, i64::MAX)?);
            Values::Integer(values.iter().map(|&x| x.max(least).min(greatest)).collect())
        }
    };
    Ok(Tensor::new(tensor.shape().to_vec(), values))
}

/// Numbers of the second input where the first is true, and of the third elsewhere.
pub(super) fn choose(inputs: &Inputs<'_>, budget: &mut Budget) -> Result<Tensor, Fault> {
    let (condition, a, b) = (inputs.get(0)?, inputs.get(1)?, inputs.get(2)?);
    let shape = broadcast(condition.shape(), &broadcast(a.shape(), b.shape())?)?;
    budget.claim(&shape)?;
    let asked = condition.as_integers()?;
    let places = || {
        let sides = Offsets::repeated(a.shape(), &shape).zip(Offsets::repeated(b.shape(), &shape));
        Offsets::repeated(condition.shape(), &shape).map(|at| asked[at] != 0).zip(sides)
    };
    let values = match (a.values(), b.values()) {
        (Values::Float(x), Values::Float(y)) => {
            Values::Float(places().map(|(yes, (i, j))| if yes { x[i] } else { y[j] }).collect())
        }
        (Values::Integer(x), Values::Integer(y)) => {
            Values::Integer(places().map(|(yes, (i, j))| if yes { x[i] } else { y[j] }).collect())
        }
        _ => return Err("whole numbers and fractions do not mix".into()),
    };
    Ok(Tensor::new(shape, values))
}
