//! Products of matrices, and windows that slide over pictures.

use super::super::tensor::{Offsets, broadcast};
use super::elementwise::Unary;
use super::{Attributes, Budget, Fault, Inputs, Tensor, layout};
use crate::kernels::{self, Finish, Isa, Matrix, Right};
use crate::network::Activation;

/// The product of `a` of `n_rows` by `n_shared` and `b` of `n_shared` by `n_columns`, into `out`.
fn multiply(
    isa: Isa,
    a: &[f32],
    b: &[f32],
    [n_rows, n_shared, n_columns]: [usize; 3],
    finish: Finish<'_>,
    out: &mut [f32],
) {
    // Nothing is summed where there is nothing, and no row can be found in no numbers.
    if n_rows > 0 && n_columns > 0 {
        let (a, b) = (Matrix::new(a, n_rows, n_shared), Matrix::new(b, n_shared, n_columns));
        kernels::multiply(isa, &[(a, Right::Rows(b))], finish, out);
    }
}

/// `alpha` times the product of two matrices, plus `beta` times a third.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Gemm {
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) transposes_a: bool,
    pub(in super::super) transposes_b: bool,
    /// What is done to the sum, where that can be done while it is in registers.
    pub(in super::super) activation: Option<Activation>,
}

impl Gemm {
    /// Whether an activation can be taken in.
    pub(in super::super) fn takes_activation(&self, n_inputs: usize) -> bool {
        self.activation.is_none() && self.alpha == 1.0 && self.beta == 1.0 && n_inputs == 3
    }

    pub(super) fn apply(
        &self,
        inputs: &Inputs<'_>,
        budget: &mut Budget,
        isa: Isa,
    ) -> Result<Tensor, Fault> {
        let mut turn = |tensor: &Tensor, turns: bool| match turns {
            true => layout::transpose(tensor, None, budget).map(Some),
            false => Ok(None),
        };
        let (a, b) = (inputs.get(0)?, inputs.get(1)?);
        let (turned_a, turned_b) = (turn(a, self.transposes_a)?, turn(b, self.transposes_b)?);
        let (a, b) = (turned_a.as_ref().unwrap_or(a), turned_b.as_ref().unwrap_or(b));
        let (&[n_rows, n_shared], &[b_rows, n_columns]) = (a.shape(), b.shape()) else {
            return Err(format!("{:?} and {:?} are not matrices", a.shape(), b.shape()).into());
        };
        if n_shared != b_rows {
            return Err(misfit(a, b));
        }
        let shape = vec![n_rows, n_columns];
        let sizes = [n_rows, n_shared, n_columns];
        let mut out = vec![0.0; budget.claim(&shape)?];
        budget.work(&sizes)?;
        let third = inputs.maybe(2).filter(|_| self.beta != 0.0);
        let is_plain = self.alpha == 1.0 && self.beta == 1.0;
        let bias = match third {
            Some(third) if is_plain && third.len() == n_columns => {
                let is_row = matches!(third.shape(), [_] | [1, _]);
                is_row.then(|| third.as_floats()).transpose()?
            }
            _ => None,
        };
        let finish = match (bias, self.activation) {
            (None, _) => Finish::Plain,
            (Some(bias), None) => Finish::Bias(bias),
            (Some(bias), Some(Activation::Tanh)) => Finish::BiasTanh(bias),
            (Some(bias), Some(Activation::Relu)) => Finish::BiasRelu(bias),
        };
        multiply(isa, a.as_floats()?, b.as_floats()?, sizes, finish, &mut out);
        if bias.is_some() {
            return Ok(Tensor::floats(shape, out));
        }
        if self.alpha != 1.0 {
            out.iter_mut().for_each(|x| *x *= self.alpha);
        }
        if let Some(third) = third {
            if broadcast(third.shape(), &shape)? != shape {
                return Err(misfit(a, third));
            }
            let values = third.as_floats()?;
            for (x, at) in out.iter_mut().zip(Offsets::repeated(third.shape(), &shape)) {
                *x += self.beta * values[at];
            }
        }
        if let Some(activation) = self.activation {
            out.iter_mut().for_each(|x| *x = Unary::from(activation).of(*x));
        }
        Ok(Tensor::floats(shape, out))
    }
}

/// The product of matrices, or of each of a batch of them.
pub(super) fn matmul(
    a: &Tensor,
    b: &Tensor,
    budget: &mut Budget,
    isa: Isa,
) -> Result<Tensor, Fault> {
    let (x, y) = (a.as_floats()?, b.as_floats()?);
    // A lone vector is a row on the left and a column on the right, and leaves no axis behind.
    let (a_batch, [n_rows, n_shared]) = match a.shape() {
        [] => return Err("a single number is no matrix".into()),
        [n] => (&[][..], [1, *n]),
        [batch @ .., n, m] => (batch, [*n, *m]),
    };
    let (b_batch, [b_rows, n_columns]) = match b.shape() {
        [] => return Err("a single number is no matrix".into()),
        [n] => (&[][..], [*n, 1]),
        [batch @ .., n, m] => (batch, [*n, *m]),
    };
    if n_shared != b_rows {
        return Err(misfit(a, b));
    }
    let batch = broadcast(a_batch, b_batch)?;
    let mut shape = batch.clone();
    shape.extend((a.shape().len() > 1).then_some(n_rows));
    shape.extend((b.shape().len() > 1).then_some(n_columns));
    let mut out = vec![0.0; budget.claim(&shape)?];
    if b_batch.is_empty() {
        // All rows at once.
        let n_rows = a_batch.iter().product::<usize>() * n_rows;
        budget.work(&[n_rows, n_shared, n_columns])?;
        multiply(isa, x, y, [n_rows, n_shared, n_columns], Finish::Plain, &mut out);
        return Ok(Tensor::floats(shape, out));
    }
    budget.work(&[batch.iter().product(), n_rows, n_shared, n_columns])?;
    let (a_size, b_size, size) = (n_rows * n_shared, n_shared * n_columns, n_rows * n_columns);
    let places = Offsets::repeated(a_batch, &batch).zip(Offsets::repeated(b_batch, &batch));
    for (index, (i, j)) in places.enumerate() {
        let (a, b) = (&x[i * a_size..(i + 1) * a_size], &y[j * b_size..(j + 1) * b_size]);
        let out = &mut out[index * size..(index + 1) * size];
        multiply(isa, a, b, [n_rows, n_shared, n_columns], Finish::Plain, out);
    }
    Ok(Tensor::floats(shape, out))
}

fn misfit(a: &Tensor, b: &Tensor) -> Fault {
    Fault(format!("{:?} and {:?} do not fit each other", a.shape(), b.shape()))
}

/// How a window slides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Window {
    /// How large it is, for each axis; a convolution may leave it to its weights.
    kernel: Option<Vec<usize>>,
    strides: Option<Vec<usize>>,
    dilations: Option<Vec<usize>>,
    /// At the start of each axis, then at the end of each.
    padding: Padding,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Padding {
    None,
    Given(Vec<usize>),
    /// As much as keeps the size; the odd one at the start or the end.
    Same {
        odd_first: bool,
    },
}

/// Where a window lies along one axis.
#[derive(Clone, Copy, Debug)]
struct Slide {
    n_inputs: usize,
    n_outputs: usize,
    kernel: usize,
    stride: usize,
    dilation: usize,
    padding: usize,
}

impl Slide {
    /// The input that a part of the window sees, unless that is padding.
    fn input(&self, output: usize, part: usize) -> Option<usize> {
        (output * self.stride + part * self.dilation)
            .checked_sub(self.padding)
            .filter(|&input| input < self.n_inputs)
    }
}

impl Window {
    /// Larger numbers than any network has; products of some of them cannot overflow.
    const MOST: i64 = 1 << 14;

    pub(super) fn read(attributes: &Attributes<'_>) -> Result<Self, Fault> {
        let sizes = |name: &str, least: i64| -> Result<Option<Vec<usize>>, Fault> {
            let Some(values) = attributes.integers(name)? else { return Ok(None) };
            if !values.iter().all(|value| (least..=Self::MOST).contains(value)) {
                return Err(format!("its `{name}` {values:?} are not sound").into());
            }
            Ok(Some(values.iter().map(|&value| value as usize).collect()))
        };
        if attributes.flag("ceil_mode", false)? {
            return Err("its `ceil_mode` is not supported".into());
        }
        Ok(Self {
            kernel: sizes("kernel_shape", 1)?,
            strides: sizes("strides", 1)?,
            dilations: sizes("dilations", 1)?,
            padding: match attributes.text("auto_pad")? {
                "SAME_UPPER" => Padding::Same { odd_first: false },
                "SAME_LOWER" => Padding::Same { odd_first: true },
                "VALID" => Padding::None,
                _ => sizes("pads", 0)?.map_or(Padding::None, Padding::Given),
            },
        })
    }

    /// How it slides over the last axes of a picture: one of height one if there is one axis.
    fn over(&self, picture: &[usize], weights: Option<&[usize]>) -> Result<[Slide; 2], Fault> {
        let n_axes = picture.len();
        if !(1..=2).contains(&n_axes) {
            return Err(format!("windows slide over one or two axes, not {n_axes}").into());
        }
        let kernel = self.kernel.as_deref().or(weights).ok_or("its window has no size")?;
        if weights.is_some_and(|weights| weights != kernel) {
            return Err(format!("a window of {kernel:?} for weights of {weights:?}").into());
        }
        let given = |values: &Option<Vec<usize>>, n: usize| match values {
            Some(values) if values.len() != n => {
                Err(Fault(format!("{values:?} where {n} numbers belong")))
            }
            Some(values) => Ok(values.clone()),
            None => Ok(vec![1; n]),
        };
        let (strides, dilations) = (given(&self.strides, n_axes)?, given(&self.dilations, n_axes)?);
        if kernel.len() != n_axes
            || matches!(&self.padding, Padding::Given(padding) if padding.len() != 2 * n_axes)
        {
            return Err(format!("its window does not fit {n_axes} axes").into());
        }
        let mut slides =
            [Slide { n_inputs: 1, n_outputs: 1, kernel: 1, stride: 1, dilation: 1, padding: 0 }; 2];
        for axis in 0..n_axes {
            let (n_inputs, kernel) = (picture[axis], kernel[axis]);
            let (stride, dilation) = (strides[axis], dilations[axis]);
            if kernel == 0 || kernel > Self::MOST as usize {
                return Err(format!("a window of {kernel}").into());
            }
            let reach = (kernel - 1) * dilation + 1;
            let (start, end) = match &self.padding {
                Padding::None => (0, 0),
                Padding::Given(padding) => (padding[axis], padding[axis + n_axes]),
                Padding::Same { odd_first } => {
                    let needed = n_inputs.div_ceil(stride).saturating_sub(1) * stride + reach;
                    let all = needed.saturating_sub(n_inputs);
                    let start = if *odd_first { all.div_ceil(2) } else { all / 2 };
                    (start, all - start)
                }
            };
            let room = (n_inputs + start + end).checked_sub(reach).ok_or_else(|| {
                format!("a window of {reach} does not fit {n_inputs} and its padding")
            })?;
            let n_outputs = room / stride + 1;
            slides[axis + 2 - n_axes] =
                Slide { n_inputs, n_outputs, kernel, stride, dilation, padding: start };
        }
        Ok(slides)
    }
}

/// The shape of what slides give, with as many axes as the picture had.
fn slid_shape(n: usize, n_channels: usize, n_axes: usize, slides: &[Slide; 2]) -> Vec<usize> {
    let lengths = slides[2 - n_axes..].iter().map(|slide| slide.n_outputs);
    [n, n_channels].into_iter().chain(lengths).collect()
}

/// Each window becomes a column, so that a picture's convolution is one product of matrices.
pub(super) fn convolve(
    inputs: &Inputs<'_>,
    window: &Window,
    groups: usize,
    budget: &mut Budget,
    isa: Isa,
) -> Result<Tensor, Fault> {
    let (pictures, weights) = (inputs.get(0)?, inputs.get(1)?);
    let ([n, n_channels, picture @ ..], [n_outputs, n_seen, kernel @ ..]) =
        (pictures.shape(), weights.shape())
    else {
        return Err(misfit(pictures, weights));
    };
    if n_seen.checked_mul(groups) != Some(*n_channels) || n_outputs % groups != 0 {
        return Err(misfit(pictures, weights));
    }
    let slides = window.over(picture, Some(kernel))?;
    let [rows, columns] = slides;
    let shape = slid_shape(*n, *n_outputs, picture.len(), &slides);
    let mut out = vec![0.0; budget.claim(&shape)?];
    let n_places = rows.n_outputs * columns.n_outputs;
    let n_window = budget.claim(&[*n_seen, rows.kernel, columns.kernel])?;
    let mut windows = vec![0.0; budget.claim(&[n_window, n_places])?];
    budget.work(&[*n, *n_outputs, n_window, n_places])?;
    let (x, w) = (pictures.as_floats()?, weights.as_floats()?);
    let bias = inputs.maybe(2).map(Tensor::as_floats).transpose()?;
    if bias.is_some_and(|bias| bias.len() != *n_outputs) {
        return Err("its biases are not one per output".into());
    }
    let n_pixels = rows.n_inputs * columns.n_inputs;
    let n_made = n_outputs / groups;
    for picture in 0..*n {
        for group in 0..groups {
            for channel in 0..*n_seen {
                let start = (picture * n_channels + group * n_seen + channel) * n_pixels;
                let pixels = &x[start..start + n_pixels];
                let n_parts = rows.kernel * columns.kernel;
                let start = channel * n_parts * n_places;
                let windows = &mut windows[start..start + n_parts * n_places];
                unfold(pixels, rows, columns, windows);
            }
            let w = &w[group * n_made * n_window..(group + 1) * n_made * n_window];
            let start = (picture * n_outputs + group * n_made) * n_places;
            let out = &mut out[start..start + n_made * n_places];
            multiply(isa, w, &windows, [n_made, n_window, n_places], Finish::Plain, out);
            if let Some(bias) = bias
                && n_places > 0
            {
                let biases = &bias[group * n_made..];
                for (row, bias) in out.chunks_exact_mut(n_places).zip(biases) {
                    row.iter_mut().for_each(|x| *x += bias);
                }
            }
        }
    }
    Ok(Tensor::floats(shape, out))
}

/// Writes what each part of the window sees of one channel, at every place of the window.
fn unfold(pixels: &[f32], rows: Slide, columns: Slide, windows: &mut [f32]) {
    let mut places = windows.iter_mut();
    for row_part in 0..rows.kernel {
        for column_part in 0..columns.kernel {
            for row in 0..rows.n_outputs {
                let row = rows.input(row, row_part);
                for column in 0..columns.n_outputs {
                    let pixel = row.zip(columns.input(column, column_part));
                    let Some(place) = places.next() else { return };
                    *place = pixel.map_or(0.0, |(y, x)| pixels[y * columns.n_inputs + x]);
                }
            }
        }
    }
}

pub(super) fn max_pool(
    pictures: &Tensor,
    window: &Window,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let fold = |seen: &mut dyn Iterator<Item = f32>, _| {
        seen.fold(
            f32::NEG_INFINITY,
            |greatest, x| if x > greatest || x.is_nan() { x } else { greatest },
        )
    };
    pool(pictures, window, budget, fold)
}

pub(super) fn average_pool(
    pictures: &Tensor,
    window: &Window,
    counts_padding: bool,
    budget: &mut Budget,
) -> Result<Tensor, Fault> {
    let fold = |seen: &mut dyn Iterator<Item = f32>, n_window: usize| {
        let (sum, n) = seen.fold((0.0, 0_usize), |(sum, n), x| (sum + x, n + 1));
        sum / (if counts_padding { n_window } else { n }) as f32
    };
    pool(pictures, window, budget, fold)
}

/// What `fold` makes of the pixels in each window, told how large the window is.
fn pool(
    pictures: &Tensor,
    window: &Window,
    budget: &mut Budget,
    fold: impl Fn(&mut dyn Iterator<Item = f32>, usize) -> f32,
) -> Result<Tensor, Fault> {
    let [n, n_channels, picture @ ..] = pictures.shape() else {
        return Err(format!("{:?} are no pictures", pictures.shape()).into());
    };
    let slides = window.over(picture, None)?;
    let [rows, columns] = slides;
    let shape = slid_shape(*n, *n_channels, picture.len(), &slides);
    let n_outputs = budget.claim(&shape)?;
    let n_window = rows.kernel * columns.kernel;
    budget.work(&[n_outputs, n_window])?;
    let n_pixels = rows.n_inputs * columns.n_inputs;
    let n_places = rows.n_outputs * columns.n_outputs;
    let values = pictures.as_floats()?;
    let pooled = (0..n_outputs).map(|index| {
        let pixels = &values[index / n_places * n_pixels..][..n_pixels];
        let place = index % n_places;
        let (row, column) = (place / columns.n_outputs, place % columns.n_outputs);
        let mut seen = (0..n_window).filter_map(|part| {
            let y = rows.input(row, part / columns.kernel)?;
            let x = columns.input(column, part % columns.kernel)?;
            Some(pixels[y * columns.n_inputs + x])
        });
        fold(&mut seen, n_window)
    });
    Ok(Tensor::floats(shape, pooled.collect()))
}
