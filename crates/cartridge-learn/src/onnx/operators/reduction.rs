//! Operators that make one number of many.

use super::super::tensor::{Offsets, strides};
use super::{Budget, Fault, Inputs, Tensor, Values, layout};

/// What becomes of many numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Reduction {
    Mean,
    Sum,
    Max,
    Min,
    Product,
    SumOfMagnitudes,
    SumOfSquares,
    Norm,
    LogSum,
    LogSumExp,
}

impl Reduction {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "ReduceMean" => Self::Mean,
            "ReduceSum" => Self::Sum,
            "ReduceMax" => Self::Max,
            "ReduceMin" => Self::Min,
            "ReduceProd" => Self::Product,
            "ReduceL1" => Self::SumOfMagnitudes,
            "ReduceSumSquare" => Self::SumOfSquares,
            "ReduceL2" => Self::Norm,
            "ReduceLogSum" => Self::LogSum,
            "ReduceLogSumExp" => Self::LogSumExp,
            _ => return None,
        })
    }

    /// Over `axes`, or over all if there are none.
    pub(super) fn apply(
        self,
        tensor: &Tensor,
        axes: &[i64],
        keeps: bool,
        budget: &mut Budget,
    ) -> Result<Tensor, Fault> {
        let axes = match axes {
            [] => (0..tensor.shape().len()).collect(),
            _ => layout::axes_of(tensor, axes)?,
        };
        budget.work(&[tensor.len()])?;
        let mut kept = tensor.shape().to_vec();
        axes.iter().for_each(|&axis| kept[axis] = 1);
        let n_groups = budget.claim(&kept)?;
        // Where each number goes: a step along an axis that is reduced stays.
        let own = strides(&kept);
        let steps: Vec<isize> = (0..kept.len())
            .map(|axis| if axes.contains(&axis) { 0 } else { own[axis] as isize })
            .collect();
        let places = || Offsets::new(tensor.shape(), &steps, 0);
        let n_each = tensor.len().checked_div(n_groups).unwrap_or(0);
        let values = match tensor.values() {
            Values::Float(values) => {
                Values::Float(self.fractions(values, places, n_groups, n_each))
            }
            Values::Integer(values) => {
                Values::Integer(self.whole(values, places(), n_groups, n_each)?)
            }
        };
        let shape: Vec<usize> = match keeps {
            true => kept,
            false => {
                let rest = (0..kept.len()).filter(|axis| !axes.contains(axis));
                rest.map(|axis| kept[axis]).collect()
            }
        };
        Ok(Tensor::new(shape, values))
    }

    /// Sums are taken in double precision, so that their order does not matter much.
    fn fractions(
        self,
        values: &[f32],
        places: impl Fn() -> Offsets,
        n_groups: usize,
        n_each: usize,
    ) -> Vec<f32> {
        let fold = |start: f64, of: &dyn Fn(f64, f64, usize) -> f64| {
            let mut groups = vec![start; n_groups];
            for (place, &x) in places().zip(values) {
                groups[place] = of(groups[place], f64::from(x), place);
            }
            groups
        };
        let greatest = || {
            fold(f64::NEG_INFINITY, &|so_far, x, _| {
                if x > so_far || x.is_nan() { x } else { so_far }
            })
        };
        let mut groups = match self {
            Self::Mean | Self::Sum | Self::LogSum => fold(0.0, &|sum, x, _| sum + x),
            Self::Max => greatest(),
            Self::Min => fold(f64::INFINITY, &|so_far, x, _| {
                if x < so_far || x.is_nan() { x } else { so_far }
            }),
            Self::Product => fold(1.0, &|product, x, _| product * x),
            Self::SumOfMagnitudes => fold(0.0, &|sum, x, _| sum + x.abs()),
            Self::SumOfSquares | Self::Norm => fold(0.0, &|sum, x, _| sum + x * x),
            Self::LogSumExp => {
                // From the greatest on, so that nothing overflows; infinities stay what they are.
                let shifts: Vec<f64> =
                    greatest().iter().map(|&x| if x.is_finite() { x } else { 0.0 }).collect();
                let sums = fold(0.0, &|sum, x, place| sum + (x - shifts[place]).exp());
                sums.iter().zip(shifts).map(|(sum, shift)| sum.ln() + shift).collect()
            }
        };
        match self {
            Self::Mean => groups.iter_mut().for_each(|x| *x /= n_each as f64),
            Self::Norm => groups.iter_mut().for_each(|x| *x = x.sqrt()),
            Self::LogSum => groups.iter_mut().for_each(|x| *x = x.ln()),
            _ => {}
        }
        groups.into_iter().map(|x| x as f32).collect()
    }

    fn whole(
        self,
        values: &[i64],
        places: Offsets,
        n_groups: usize,
        n_each: usize,
    ) -> Result<Vec<i64>, Fault> {
        let (start, of): (i64, fn(i64, i64) -> i64) = match self {
            Self::Sum | Self::Mean => (0, i64::wrapping_add),
            Self::Max => (i64::MIN, i64::max),
            Self::Min => (i64::MAX, i64::min),
            Self::Product => (1, i64::wrapping_mul),
            _ => return Err("whole numbers where fractions belong".into()),
        };
        let mut groups = vec![start; n_groups];
        for (place, &x) in places.zip(values) {
            groups[place] = of(groups[place], x);
        }
        if self == Self::Mean {
            groups.iter_mut().for_each(|x| *x /= (n_each as i64).max(1));
        }
        Ok(groups)
    }
}

/// The shape before, along and after an axis, as products.
fn around(tensor: &Tensor, axis: usize) -> [usize; 3] {
    let shape = tensor.shape();
    [shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product()]
}

pub(super) fn arg_max(
    tensor: &Tensor,
    axis: i64,
    keeps: bool,
    last: bool,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let axis = tensor.axis(axis)?;
    let [n_outer, length, n_inner] = around(tensor, axis);
    if length == 0 {
        return Err("nothing is the greatest of nothing".into());
    }
    let mut shape = tensor.shape().to_vec();
    shape[axis] = 1;
    budget.claim(&shape)?;
    budget.work(&[tensor.len()])?;
    let mut chosen = Vec::with_capacity(n_outer * n_inner);
    for outer in 0..n_outer {
        for inner in 0..n_inner {
            let at = |index: usize| (outer * length + index) * n_inner + inner;
            let is_greater = |a: usize, b: usize| match tensor.values() {
                Values::Float(values) => values[at(a)] > values[at(b)],
                Values::Integer(values) => values[at(a)] > values[at(b)],
            };
            let better = |best: usize, index: usize| {
                let wins = if last { !is_greater(best, index) } else { is_greater(index, best) };
                if wins { index } else { best }
            };
            chosen.push((1..length).fold(0, better) as i64);
        }
    }
    if !keeps {
        shape.remove(axis);
    }
    Ok(Tensor::integers(shape, chosen))
}

pub(super) fn softmax(
    tensor: &Tensor,
    axis: i64,
    is_log: bool,
    flattens: bool,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let axis = tensor.axis(axis)?;
    let [n_outer, mut length, mut n_inner] = around(tensor, axis);
    if flattens {
        (length, n_inner) = (length * n_inner, 1);
    }
    budget.claim(tensor.shape())?;
    let mut values = tensor.as_floats()?.to_vec();
    for outer in 0..n_outer {
        for inner in 0..n_inner {
            let places = (0..length).map(|index| (outer * length + index) * n_inner + inner);
            let greatest = places.clone().fold(f32::NEG_INFINITY, |x, at| x.max(values[at]));
            let sum: f32 = places.clone().map(|at| (values[at] - greatest).exp()).sum();
            for at in places {
                let x = values[at] - greatest;
                values[at] = if is_log { x - sum.ln() } else { x.exp() / sum };
            }
        }
    }
    Ok(Tensor::floats(tensor.shape().to_vec(), values))
}

pub(super) fn layer_normalization(
    inputs: &Inputs<'_>,
    axis: i64,
    epsilon: f32,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let tensor = inputs.get(0)?;
    let axis = tensor.axis(axis)?;
    let width: usize = tensor.shape()[axis..].iter().product();
    let (scale, shift) = (inputs.get(1)?, inputs.maybe(2));
    for side in [Some(scale), shift].into_iter().flatten() {
        if side.len() != width {
            return Err(format!("{:?} for {width} numbers", side.shape()).into());
        }
    }
    budget.claim(tensor.shape())?;
    let mut values = tensor.as_floats()?.to_vec();
    let scale = scale.as_floats()?;
    let shift = shift.map(Tensor::as_floats).transpose()?;
    for row in values.chunks_exact_mut(width.max(1)) {
        let n = width as f64;
        let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let squares: f64 = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum();
        let inverse = 1.0 / (squares / n + f64::from(epsilon)).sqrt();
        for (index, x) in row.iter_mut().enumerate() {
            let normal = ((f64::from(*x) - mean) * inverse) as f32;
            *x = normal * scale[index] + shift.map_or(0.0, |shift| shift[index]);
        }
    }
    Ok(Tensor::floats(tensor.shape().to_vec(), values))
}

/// With the statistics of training, channel by channel.
pub(super) fn batch_normalization(
    inputs: &Inputs<'_>,
    epsilon: f32,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let tensor = inputs.get(0)?;
    let [_, n_channels, rest @ ..] = tensor.shape() else {
        return Err(format!("{:?} has no channels", tensor.shape()).into());
    };
    let mut sides = [&[][..]; 4];
    for (index, side) in sides.iter_mut().enumerate() {
        *side = inputs.get(index + 1)?.as_floats()?;
        if side.len() != *n_channels {
            return Err(format!("{} numbers for {n_channels} channels", side.len()).into());
        }
    }
    let [scale, shift, mean, variance] = sides;
    budget.claim(tensor.shape())?;
    let mut values = tensor.as_floats()?.to_vec();
    let n_pixels: usize = rest.iter().product();
    for (index, pixels) in values.chunks_exact_mut(n_pixels.max(1)).enumerate() {
        let channel = index % n_channels;
        let factor = scale[channel] / (variance[channel] + epsilon).sqrt();
        pixels.iter_mut().for_each(|x| *x = (*x - mean[channel]) * factor + shift[channel]);
    }
    Ok(Tensor::floats(tensor.shape().to_vec(), values))
}

/// The mean of each channel of each picture.
pub(super) fn global_average(tensor: &Tensor, budget: &mut Budget) -> Result<Tensor, Fault> {
    let axes: Vec<i64> = (2..tensor.shape().len() as i64).collect();
    if axes.is_empty() {
        return Err(format!("{:?} are no pictures", tensor.shape()).into());
    }
    Reduction::Mean.apply(tensor, &axes, true, budget)
}
