//! Numbers with a shape, and the bounds of what a file may ask for.

use super::Fault;

/// Numbers in rows: the last axis lies closest together.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: Values,
}

/// What a tensor holds. Of the many types of ONNX two are left: whatever is a fraction is computed
/// in single precision, and whatever is whole, or true or false, in 64 bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Fractions.
    Float(Vec<f32>),
    /// Whole numbers; 1 and 0 for true and false.
    Integer(Vec<i64>),
}

impl Values {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Integer(values) => values.len(),
        }
    }
}

impl Tensor {
    /// A tensor of this shape.
    ///
    /// # Panics
    ///
    /// If there are not as many values as the shape says.
    pub fn new(shape: Vec<usize>, values: Values) -> Self {
        assert_eq!(count(&shape), Some(values.len()), "the values fit the shape");
        Self { shape, values }
    }

    /// Fractions of this shape.
    pub(super) fn floats(shape: Vec<usize>, values: Vec<f32>) -> Self {
        Self::new(shape, Values::Float(values))
    }

    /// Whole numbers of this shape.
    pub(super) fn integers(shape: Vec<usize>, values: Vec<i64>) -> Self {
        Self::new(shape, Values::Integer(values))
    }

    /// How long each axis is.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// What it holds.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// What it holds, without its shape.
    pub(super) fn into_values(self) -> Values {
        self.values
    }

    /// How many numbers it holds.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn as_floats(&self) -> Result<&[f32], Fault> {
        match &self.values {
            Values::Float(values) => Ok(values),
            Values::Integer(_) => Err("whole numbers where fractions belong".into()),
        }
    }

    pub(super) fn as_integers(&self) -> Result<&[i64], Fault> {
        match &self.values {
            Values::Integer(values) => Ok(values),
            Values::Float(_) => Err("fractions where whole numbers belong".into()),
        }
    }

    /// The same numbers in another shape.
    pub(super) fn reshaped(&self, shape: Vec<usize>) -> Result<Self, Fault> {
        if count(&shape) != Some(self.len()) {
            return Err(format!("{:?} cannot become {shape:?}", self.shape).into());
        }
        Ok(Self { shape, values: self.values.clone() })
    }

    /// The numbers at `offsets`, in that order, as a tensor of this shape.
    pub(super) fn picked(&self, shape: Vec<usize>, offsets: impl Iterator<Item = usize>) -> Self {
        let values = match &self.values {
            Values::Float(values) => Values::Float(offsets.map(|at| values[at]).collect()),
            Values::Integer(values) => Values::Integer(offsets.map(|at| values[at]).collect()),
        };
        Self::new(shape, values)
    }

    /// The place of an axis that may be counted from the end.
    pub(super) fn axis(&self, axis: i64) -> Result<usize, Fault> {
        place(axis, self.shape.len())
            .ok_or_else(|| format!("{:?} has no axis {axis}", self.shape).into())
    }
}

/// Where `index`, which counts from the end if it is negative, lies among `n`.
pub(super) fn place(index: i64, n: usize) -> Option<usize> {
    let from_start = if index < 0 { index.checked_add(i64::try_from(n).ok()?)? } else { index };
    usize::try_from(from_start).ok().filter(|&place| place < n)
}

/// How many numbers a shape has, if that can be said.
pub(super) fn count(shape: &[usize]) -> Option<usize> {
    let extent = extent(shape)?;
    Some(if shape.contains(&0) { 0 } else { extent })
}

/// [`count`] as if every axis had some length: loops run over some axes of a shape without
/// numbers, too, and products of them must not overflow.
fn extent(shape: &[usize]) -> Option<usize> {
    let extent = shape.iter().try_fold(1_isize, |product, &length| {
        product.checked_mul(isize::try_from(length.max(1)).ok()?)
    });
    extent.map(isize::cast_unsigned)
}

/// How far apart neighbours on each axis lie.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    strides
}

/// The places of all elements of `shape`, in order, when a step along each axis is as long as
/// `strides` says: 0 to stay where one is.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    axes: Vec<(usize, isize)>,
    index: Vec<usize>,
    offset: isize,
    left: usize,
}

impl Offsets {
    pub(super) fn new(shape: &[usize], strides: &[isize], start: isize) -> Self {
        assert_eq!(shape.len(), strides.len(), "each axis has its stride");
        Self {
            axes: shape.iter().copied().zip(strides.iter().copied()).collect(),
            index: vec![0; shape.len()],
            offset: start,
            left: count(shape).expect("the numbers of the shape were claimed"),
        }
    }

    /// Those of a tensor of `shape` that is repeated to fill `wanted`, aligned at the last axis.
    pub(super) fn repeated(shape: &[usize], wanted: &[usize]) -> Self {
        let new_axes = wanted.len() - shape.len();
        let own = shape.iter().zip(strides(shape));
        let steps = own.map(|(&length, stride)| if length == 1 { 0 } else { stride as isize });
        let all: Vec<isize> = std::iter::repeat_n(0, new_axes).chain(steps).collect();
        Self::new(wanted, &all, 0)
    }
}

impl Iterator for Offsets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let here = self.offset;
        for (index, (length, stride)) in self.index.iter_mut().zip(&self.axes).rev() {
            *index += 1;
            self.offset += stride;
            if *index < *length {
                break;
            }
            self.offset -= stride * *length as isize;
            *index = 0;
        }
        Some(here as usize)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// The shape that two shapes are repeated to, as NumPy has it.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>, Fault> {
    let n_axes = a.len().max(b.len());
    let length = |shape: &[usize], axis: usize| {
        (axis + shape.len()).checked_sub(n_axes).map_or(1, |axis| shape[axis])
    };
    (0..n_axes)
        .map(|axis| match (length(a, axis), length(b, axis)) {
            (a, b) if a == b || b == 1 => Ok(a),
            (1, b) => Ok(b),
            _ => Err(format!("{a:?} and {b:?} do not fit each other").into()),
        })
        .collect()
}

/// What a file may still ask for: every tensor is claimed before it is made.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    numbers: usize,
    operations: u64,
}

impl Budget {
    /// Numbers of all tensors of a pass together: a quarter of a gigabyte in single precision.
    pub(super) const NUMBERS: usize = 1 << 26;
    /// Multiplications and additions of a pass: some seconds.
    pub(super) const OPERATIONS: u64 = 1 << 35;
    /// More axes than any network has.
    pub(super) const AXES: usize = 16;

    pub(super) fn new() -> Self {
        Self { numbers: Self::NUMBERS, operations: Self::OPERATIONS }
    }

    /// Asks for a tensor of this shape; the answer is how many numbers it has.
    pub(super) fn claim(&mut self, shape: &[usize]) -> Result<usize, Fault> {
        if shape.len() > Self::AXES {
            return Err(
                format!("a tensor of {} axes, more than {}", shape.len(), Self::AXES).into()
            );
        }
        let extent = extent(shape).filter(|&extent| extent <= self.numbers).ok_or_else(|| {
            format!("a tensor of shape {shape:?} takes more memory than a policy may have")
        })?;
        self.numbers -= extent;
        self.work(&[extent])?;
        Ok(if shape.contains(&0) { 0 } else { extent })
    }

    /// Asks for time: the product of `factors` in operations.
    pub(super) fn work(&mut self, factors: &[usize]) -> Result<(), Fault> {
        let wanted =
            factors.iter().try_fold(1_u64, |product, &x| product.checked_mul(x.max(1) as u64));
        self.operations = wanted
            .and_then(|wanted| self.operations.checked_sub(wanted))
            .ok_or("it takes more time than a policy may have")?;
        Ok(())
    }
}
