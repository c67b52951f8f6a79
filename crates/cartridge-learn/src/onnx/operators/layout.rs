//! Operators that move numbers and compute none.

use super::super::tensor::{Offsets, broadcast, count, place, strides};
use super::{Budget, Fault, Inputs, Tensor, Values};

pub(super) fn reshape(tensor: &Tensor, wanted: &[i64], allows_zero: bool) -> Result<Tensor, Fault> {
    if wanted.len() > Budget::AXES {
        return Err(format!("a tensor of {} axes, more than {}", wanted.len(), Budget::AXES).into());
    }
    let misfit = || Fault(format!("{:?} cannot become {wanted:?}", tensor.shape()));
    let mut shape = Vec::with_capacity(wanted.len());
    let mut open = None;
    for (axis, &length) in wanted.iter().enumerate() {
        shape.push(match length {
            -1 if open.is_none() => {
                open = Some(axis);
                1
            }
            0 if !allows_zero => *tensor.shape().get(axis).ok_or_else(misfit)?,
            _ => usize::try_from(length).map_err(|_| misfit())?,
        });
    }
    if let Some(axis) = open {
        let others = count(&shape).ok_or_else(misfit)?;
        shape[axis] = tensor.len().checked_div(others).ok_or_else(misfit)?;
    }
    tensor.reshaped(shape)
}

pub(super) fn flatten(tensor: &Tensor, axis: i64) -> Result<Tensor, Fault> {
    let shape = tensor.shape();
    // One beyond the last is an axis, too: everything becomes a column.
    let axis = if axis == shape.len() as i64 { shape.len() } else { tensor.axis(axis)? };
    let product = |lengths: &[usize]| lengths.iter().product();
    tensor.reshaped(vec![product(&shape[..axis]), product(&shape[axis..])])
}

pub(in super::super) fn transpose(
    tensor: &Tensor,
    order: Option<&[i64]>,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let n_axes = tensor.shape().len();
    let order = match order {
        None => (0..n_axes).rev().collect(),
        Some(order) => axes_of(tensor, order)?,
    };
    if order.len() != n_axes {
        return Err(format!("{:?} has other axes than {order:?}", tensor.shape()).into());
    }
    budget.claim(tensor.shape())?;
    let own = strides(tensor.shape());
    let shape: Vec<usize> = order.iter().map(|&axis| tensor.shape()[axis]).collect();
    let steps: Vec<isize> = order.iter().map(|&axis| own[axis] as isize).collect();
    Ok(tensor.picked(shape.clone(), Offsets::new(&shape, &steps, 0)))
}

/// The places of some axes, each of which is named once.
pub(super) fn axes_of(tensor: &Tensor, axes: &[i64]) -> Result<Vec<usize>, Fault> {
    let mut places: Vec<usize> = Vec::new();
    for &axis in axes {
        let place = tensor.axis(axis)?;
        if places.contains(&place) {
            return Err(format!("axis {axis} is named twice").into());
        }
        places.push(place);
    }
    Ok(places)
}

pub(super) fn squeeze(tensor: &Tensor, axes: Option<&[i64]>) -> Result<Tensor, Fault> {
    let shape = tensor.shape();
    let gone = match axes {
        Some(axes) => axes_of(tensor, axes)?,
        None => (0..shape.len()).filter(|&axis| shape[axis] == 1).collect(),
    };
    let kept = (0..shape.len()).filter(|axis| !gone.contains(axis)).map(|axis| shape[axis]);
    tensor.reshaped(kept.collect())
}

pub(super) fn unsqueeze(tensor: &Tensor, axes: &[i64]) -> Result<Tensor, Fault> {
    let n_axes = tensor.shape().len() + axes.len();
    if n_axes > Budget::AXES {
        return Err(format!("a tensor of {n_axes} axes, more than {}", Budget::AXES).into());
    }
    let mut is_new = vec![false; n_axes];
    for &axis in axes {
        let axis = place(axis, n_axes).ok_or_else(|| format!("there is no axis {axis}"))?;
        if std::mem::replace(&mut is_new[axis], true) {
            return Err(format!("axis {axis} is named twice").into());
        }
    }
    let mut old = tensor.shape().iter().copied();
    let length = |is_new: bool| if is_new { Some(1) } else { old.next() };
    tensor.reshaped(is_new.into_iter().filter_map(length).collect())
}

pub(super) fn concat(inputs: &Inputs<'_>, axis: i64, budget: &mut Budget) -> Result<Tensor, Fault> {
    let first = inputs.get(0)?;
    let axis = first.axis(axis)?;
    let parts =
        (0..inputs.0.len()).map(|index| inputs.get(index)).collect::<Result<Vec<_>, _>>()?;
    let mut shape = first.shape().to_vec();
    shape[axis] = 0;
    for part in &parts {
        let length = part.shape().get(axis).copied().unwrap_or(0);
        let mut others = part.shape().to_vec();
        if let Some(own) = others.get_mut(axis) {
            *own = shape[axis];
        }
        if others != shape {
            return Err(format!("{:?} and {:?} differ", first.shape(), part.shape()).into());
        }
        shape[axis] += length;
    }
    budget.claim(&shape)?;
    let n_outer: usize = shape[..axis].iter().product();
    let n_inner: usize = shape[axis + 1..].iter().product();
    // What each part has of a slice across the axes before.
    let width = |part: &Tensor| part.shape()[axis] * n_inner;
    let values = match first.values() {
        Values::Float(_) => {
            let parts = parts.iter().map(|part| Ok((part.as_floats()?, width(part))));
            Values::Float(join(n_outer, &parts.collect::<Result<Vec<_>, Fault>>()?))
        }
        Values::Integer(_) => {
            let parts = parts.iter().map(|part| Ok((part.as_integers()?, width(part))));
            Values::Integer(join(n_outer, &parts.collect::<Result<Vec<_>, Fault>>()?))
        }
    };
    Ok(Tensor::new(shape, values))
}

fn join<T: Copy>(n_outer: usize, parts: &[(&[T], usize)]) -> Vec<T> {
    let rows = (0..n_outer).flat_map(|row| {
        parts.iter().flat_map(move |(values, width)| &values[row * width..(row + 1) * width])
    });
    rows.copied().collect()
}

pub(super) fn slice(
    tensor: &Tensor,
    starts: &[i64],
    ends: &[i64],
    axes: Option<&[i64]>,
    steps: Option<&[i64]>,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let axes = match axes {
        Some(axes) => axes_of(tensor, axes)?,
        None => (0..starts.len()).collect(),
    };
    if [ends.len(), axes.len(), steps.map_or(starts.len(), <[i64]>::len)] != [starts.len(); 3]
        || starts.len() > tensor.shape().len()
    {
        return Err("starts, ends, axes and steps are not as many".into());
    }
    let mut shape = tensor.shape().to_vec();
    let mut strides: Vec<isize> = strides(&shape).iter().map(|&step| step as isize).collect();
    let mut first = 0;
    for (index, &axis) in axes.iter().enumerate() {
        let length = shape[axis] as i64;
        let step = steps.map_or(1, |steps| steps[index]);
        // From the end if negative, then within the axis; one before it when going backwards.
        let bounds = if step > 0 { (0, length) } else { (-1, length - 1) };
        let within = |at: i64| {
            let at = if at < 0 { at.saturating_add(length) } else { at };
            at.max(bounds.0).min(bounds.1.max(bounds.0))
        };
        let (start, end) = (within(starts[index]), within(ends[index]));
        let n = match step {
            0 => return Err("a step of zero".into()),
            1.. => (end - start).max(0) as u64,
            _ => (start - end).max(0) as u64,
        };
        let n = n.div_ceil(step.unsigned_abs());
        if n > 0 {
            first += strides[axis] * start as isize;
        }
        shape[axis] = n as usize;
        // A step beyond the axis is never taken.
        strides[axis] *= step.clamp(-length.max(1), length.max(1)) as isize;
    }
    budget.claim(&shape)?;
    Ok(tensor.picked(shape.clone(), Offsets::new(&shape, &strides, first)))
}

pub(super) fn split(
    tensor: &Tensor,
    axis: i64,
    lengths: Option<&[i64]>,
    n: usize,
    budget: &mut Budget,
) -> Result<Vec<Tensor>, Fault> {
    let axis = tensor.axis(axis)?;
    let length = tensor.shape()[axis];
    let lengths: Vec<i64> = match lengths {
        Some(lengths) => lengths.to_vec(),
        // As even as it goes, the last may be shorter.
        None => {
            let each = length.div_ceil(n.max(1));
            (0..n).map(|part| each.min(length.saturating_sub(part * each)) as i64).collect()
        }
    };
    let sum =
        lengths.iter().try_fold(0_i64, |sum, &part| sum.checked_add(part).filter(|_| part >= 0));
    if lengths.len() != n || sum != Some(length as i64) {
        return Err(format!("{length} cannot be split into {lengths:?} for {n}").into());
    }
    let mut start = 0;
    let parts = lengths.iter().map(|part| {
        start += part;
        let (starts, ends, axes) = ([start - part], [start], [axis as i64]);
        slice(tensor, &starts, &ends, Some(&axes), None, budget)
    });
    parts.collect()
}

pub(super) fn gather(
    tensor: &Tensor,
    indices: &Tensor,
    axis: i64,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let axis = tensor.axis(axis)?;
    let length = tensor.shape()[axis];
    let (before, after) = (&tensor.shape()[..axis], &tensor.shape()[axis + 1..]);
    let shape = [before, indices.shape(), after].concat();
    budget.claim(&shape)?;
    let (n_outer, n_inner): (usize, usize) = (before.iter().product(), after.iter().product());
    let chosen = indices
        .as_integers()?
        .iter()
        .map(|&index| place(index, length).ok_or_else(|| beyond(index, length)))
        .collect::<Result<Vec<usize>, Fault>>()?;
    let offsets = (0..n_outer).flat_map(|outer| {
        chosen.iter().flat_map(move |index| {
            let start = (outer * length + index) * n_inner;
            start..start + n_inner
        })
    });
    Ok(tensor.picked(shape, offsets))
}

pub(super) fn gather_elements(
    tensor: &Tensor,
    indices: &Tensor,
    axis: i64,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let axis = tensor.axis(axis)?;
    let fits =
        |(place, (&ours, &length)): (usize, (&usize, &usize))| place == axis || ours <= length;
    let lengths = indices.shape().iter().zip(tensor.shape());
    if indices.shape().len() != tensor.shape().len() || !lengths.enumerate().all(fits) {
        let (ours, theirs) = (tensor.shape(), indices.shape());
        return Err(format!("indices of shape {theirs:?} for {ours:?}").into());
    }
    budget.claim(indices.shape())?;
    let own = strides(tensor.shape());
    let along = own[axis];
    let mut steps: Vec<isize> = own.iter().map(|&step| step as isize).collect();
    steps[axis] = 0;
    let length = tensor.shape()[axis];
    let offsets = Offsets::new(indices.shape(), &steps, 0)
        .zip(indices.as_integers()?)
        .map(|(offset, &index)| {
            let index = place(index, length).ok_or_else(|| beyond(index, length))?;
            Ok(offset + index * along)
        })
        .collect::<Result<Vec<usize>, Fault>>()?;
    Ok(tensor.picked(indices.shape().to_vec(), offsets.into_iter()))
}

fn beyond(index: i64, length: usize) -> Fault {
    Fault(format!("index {index} is beyond {length}"))
}

pub(super) fn expand(
    tensor: &Tensor,
    wanted: &[i64],
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    if wanted.len() > Budget::AXES {
        return Err(format!("a tensor of {} axes, more than {}", wanted.len(), Budget::AXES).into());
    }
    let wanted = wanted
        .iter()
        .map(|&length| usize::try_from(length).ok())
        .collect::<Option<Vec<usize>>>()
        .ok_or("an axis of negative length")?;
    let shape = if tensor.len() == 1 && tensor.shape() == [1] {
        // One number fills any shape, also that of a single number.
        wanted
    } else {
        broadcast(tensor.shape(), &wanted)?
    };
    budget.claim(&shape)?;
    let offsets = Offsets::repeated(if tensor.len() == 1 { &[] } else { tensor.shape() }, &shape);
    Ok(tensor.picked(shape.clone(), offsets))
}

pub(super) fn shape(tensor: &Tensor, start: i64, end: Option<i64>) -> Tensor {
    let n_axes = tensor.shape().len();
    let within = |at: i64| {
        let at = if at < 0 { at.saturating_add(n_axes as i64) } else { at };
        at.clamp(0, n_axes as i64) as usize
    };
    let (start, end) = (within(start), within(end.unwrap_or(n_axes as i64)));
    let lengths: Vec<i64> =
        tensor.shape()[start.min(end)..end].iter().map(|&length| length as i64).collect();
    Tensor::integers(vec![lengths.len()], lengths)
}
