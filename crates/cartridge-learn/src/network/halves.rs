//! Gradient steps of a network with two wide hidden layers on two threads, each of which keeps half
//! of the units of the second.
//!
//! Most of the parameters are between the two hidden layers. Where threads share a batch, each needs
//! all of these after every step, and half of them were changed by the other; handing them over takes
//! longer than the arithmetic when the cores have no cache in common. Here a thread changes, cuts
//! into panels and uses only the weights *to* its own half of the units. What they hand over is
//! small, but for one matrix:
//!
//! ```text
//!  first thread                                second thread
//!  hidden = f(inputs W1)                       the same
//!  outputs = f(hidden W2[:, left])             outputs = f(hidden W2[:, right])
//!  begins values                  -- values -> goes on with them, and judges
//!  delta = slopes W3[left]' f'                 delta = slopes W3[right]' f'
//!  begins delta W2[:, left]'     -- hidden's   gradient of W2[:, right] and W3[right]
//!  gradient of W2[:, left], W3[left]  delta -> goes on with it, gradient of W1
//! ```
//!
//! Every sum is over the same numbers in the same sequence as elsewhere, so the bits are the same.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use super::{Activation, HALVED, Layer, Mlp, WIDE};
use crate::kernels::{self, AdamStep, Finish, Isa, Matrix, Panels, Right, Sieve, Start};
use crate::lines::Lines;
use crate::team::Team;

/// A half is whole panels on every instruction set.
const HALF_MULTIPLE: usize = 64;

/// What two threads need for a step.
#[derive(Debug, Default)]
pub(crate) struct Halves {
    halves: [Half; 2],
    /// What the loss changes with each value.
    slopes: Vec<f32>,
    /// The gradient of the last layer.
    last_gradient: Vec<f32>,
    /// Begun by the first thread, finished by the second.
    values: Handover,
    hidden_delta: Handover,
    /// Whether the halves have the weights to their units, and their moments.
    is_loaded: bool,
    /// Whether they have changed them since.
    is_ahead: bool,
}

/// What one thread needs, and nobody else writes.
#[derive(Debug, Default)]
struct Half {
    inputs: Vec<f32>,
    hidden: Lines,
    outputs: Lines,
    delta: Lines,
    sieve: Sieve,
    /// Of the delta: the sizes of each column added up, which are not zero, and those in panels.
    sizes: Vec<f32>,
    kept: Vec<u32>,
    panels: Panels,
    product: Vec<f32>,
    /// Of the weights to its units, a row for each hidden unit, and of their biases.
    gradient: Lines,
    /// For each block of these rows, the squares added up.
    squares: Vec<f32>,
    /// Of the weights from its units.
    last_gradient: Vec<f32>,
    /// The weights to its units and both moments, a row for each hidden unit. In the flat vector
    /// these rows alternate with those of the other half, and a processor that fetches ahead would
    /// take them away from it.
    own: [Lines; 3],
    /// Of the second thread alone: what the network says, and the rest of the gradient.
    values: Vec<f32>,
    slopes: Vec<f32>,
    hidden_delta: Lines,
    first_gradient: Vec<f32>,
    last_biases: Vec<f32>,
}

/// Numbers that one thread writes and the other waits for.
#[derive(Debug, Default)]
struct Handover {
    numbers: Mutex<Lines>,
    is_over: AtomicBool,
}

/// How often a thread looks whether something is there before it lets others use the core.
const N_LOOKS: u32 = 4_000;

impl Handover {
    /// Writes them, once in a job.
    fn write(&self, write: impl FnOnce(&mut Lines)) {
        /// Whoever waits is told after a panic too, and finds the lock poisoned.
        struct Tell<'a>(&'a AtomicBool);
        impl Drop for Tell<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Release);
            }
        }
        let _told = Tell(&self.is_over);
        let mut numbers = self.numbers.lock().expect(WHOLE);
        write(&mut numbers);
    }

    /// Waits for them.
    fn wait(&self) -> MutexGuard<'_, Lines> {
        let mut n_looks = 0_u32;
        while !self.is_over.load(Ordering::Acquire) {
            n_looks += 1;
            if n_looks < N_LOOKS { std::hint::spin_loop() } else { thread::yield_now() }
        }
        self.numbers.lock().expect(WHOLE)
    }
}

const WHOLE: &str = "the other thread has not panicked";

/// What a half writes when parameters change.
struct Change<'a> {
    half: &'a mut Half,
    /// The parameters, and both moments.
    numbers: [Numbers<'a>; 3],
    /// Panels with the first column of each: of the weights to its units, from its units, and the
    /// same turned.
    to_units: NamedPanels<'a>,
    from_units: NamedPanels<'a>,
    to_turned: NamedPanels<'a>,
    from_turned: NamedPanels<'a>,
    /// All panels of the first layer, for the second thread.
    hidden: NamedPanels<'a>,
}

/// The parameters of a half but for the weights to its units, or as many of something else.
struct Numbers<'a> {
    first: &'a mut [f32],
    biases: &'a mut [f32],
    from_units: &'a mut [f32],
    last_biases: &'a mut [f32],
}

impl Halves {
    /// Forgets what the halves have, because someone else has changed it.
    pub(crate) fn unload(&mut self) {
        assert!(!self.is_ahead, "what the halves have changed is settled first");
        self.is_loaded = false;
    }

    /// Writes what the halves have changed to the network and the moments of its optimiser, which
    /// have been left behind.
    pub(crate) fn settle(&mut self, network: &mut Mlp, moments: [&mut [f32]; 2]) {
        if !std::mem::take(&mut self.is_ahead) {
            return;
        }
        let layer = network.layers[HALVED].clone();
        let [first, second] = moments;
        let flat = [&mut network.parameters[..], first, second];
        for (kind, flat) in flat.into_iter().enumerate() {
            let mut rows =
                [0, 1].map(|half| self.halves[half].own[kind].chunks_exact(layer.n_outputs / 2));
            for to in flat[layer.weights.clone()].chunks_exact_mut(layer.n_outputs / 2) {
                to.copy_from_slice(rows[0].next().expect("as many rows"));
                rows.swap(0, 1);
            }
        }
    }

    /// Gives the halves the weights to their units, and both moments.
    fn load(&mut self, layer: &Layer, flat: [&[f32]; 3]) {
        if std::mem::replace(&mut self.is_loaded, true) {
            return;
        }
        for (kind, flat) in flat.into_iter().enumerate() {
            for half in &mut self.halves {
                half.own[kind].resize(layer.weights.len() / 2);
            }
            let [left, right] = &mut self.halves;
            let mut rows =
                [left, right].map(|half| half.own[kind].chunks_exact_mut(layer.n_outputs / 2));
            for from in flat[layer.weights.clone()].chunks_exact(layer.n_outputs / 2) {
                rows[0].next().expect("as many rows").copy_from_slice(from);
                rows.swap(0, 1);
            }
        }
    }
}

impl Mlp {
    /// Whether its steps can be made in halves.
    pub(crate) fn has_halves(&self) -> bool {
        let [first, second, _] = &self.layers[..] else { return false };
        first.n_outputs.min(second.n_outputs) >= WIDE
            && second.n_outputs.is_multiple_of(2 * HALF_MULTIPLE)
    }

    /// The gradient of a batch of `n`, and its norm: as [`Mlp::forward`], [`Mlp::trace_back`] and
    /// [`Mlp::gradient_together`] one after the other. `gather` appends the inputs, twice; `judge`
    /// gets the values and appends what the loss changes with each.
    pub(crate) fn gradient_in_halves(
        &self,
        team: &mut Team,
        work: &mut Halves,
        n: usize,
        gather: impl Fn(&mut Vec<f32>) + Sync,
        judge: impl FnMut(&[f32], &mut Vec<f32>) + Send,
    ) -> f32 {
        let Halves { halves, slopes, last_gradient, values, hidden_delta, .. } = work;
        *values.is_over.get_mut() = false;
        *hidden_delta.is_over.get_mut() = false;
        let judge = Mutex::new(judge);
        team.each(halves, |index, half| {
            half.inputs.clear();
            gather(&mut half.inputs);
            self.units(index, n, half);
            let right = self.packed[2].cut(self.half(index), 0..self.layers[2].n_outputs);
            let pair = (Matrix::new(&half.outputs, n, self.half(index).len()), Right::Cut(right));
            if index == 0 {
                values.write(|values| {
                    values.resize(n * self.layers[2].n_outputs);
                    kernels::multiply(self.isa, &[pair], Finish::Plain, values);
                });
            } else {
                let begun = values.wait();
                let bias = Finish::Bias(&self.parameters[self.layers[2].biases.clone()]);
                half.values.resize(begun.len(), 0.0);
                kernels::multiply_on(self.isa, &[pair], Some(&begun), bias, &mut half.values);
                half.slopes.clear();
                (judge.lock().expect(WHOLE))(&half.values, &mut half.slopes);
            }
        });

        slopes.clone_from(&halves[1].slopes);
        team.each(halves, |index, half| {
            self.delta(index, n, slopes, half);
            if index == 0 {
                hidden_delta.write(|out| self.hidden_delta(index, n, half, None, out));
            }
            self.half_gradient(n, slopes, half);
            if index == 1 {
                let mut out = std::mem::take(&mut half.hidden_delta);
                self.hidden_delta(index, n, half, Some(&hidden_delta.wait()), &mut out);
                half.hidden_delta = out;
                self.rest_of_gradient(n, slopes, half);
            }
        });

        // As `gradient_together` adds them up.
        let [left, right] = &*halves;
        last_gradient.clear();
        for part in [&left.last_gradient, &right.last_gradient, &right.last_biases] {
            last_gradient.extend_from_slice(part);
        }
        let last_start = self.layers[2].weights.start;
        let mut both = left.squares.iter().zip(&right.squares).map(|(left, right)| left + right);
        let squares = self.blocks.iter().map(|block| match block.layer {
            0 => self.squares(block, &right.first_gradient[block.place.clone()]),
            HALVED => both.next().expect("as many as blocks"),
            _ => {
                let place = block.place.start - last_start..block.place.end - last_start;
                self.squares(block, &last_gradient[place])
            }
        });
        squares.sum::<f32>().sqrt()
    }

    /// The units of a half.
    fn half(&self, index: usize) -> Range<usize> {
        half_of(self.layers[HALVED].n_outputs, index)
    }

    /// What the hidden units say, and those of a half after them.
    fn units(&self, index: usize, n: usize, half: &mut Half) {
        let Half { inputs, hidden, outputs, sieve, .. } = half;
        let [first, second, _] = &self.layers[..] else { unreachable!("checked with the shape") };
        hidden.resize(n * first.n_outputs);
        let pair = (Matrix::new(inputs, n, first.n_inputs), Right::Panels(&self.packed[0]));
        let finish = self.bent(&self.parameters[first.biases.clone()]);
        kernels::multiply(self.isa, &[pair], finish, hidden);

        let units = self.half(index);
        outputs.resize(n * units.len());
        let biases = &self.parameters[second.biases.clone()][units.clone()];
        let right = Right::Cut(self.packed[HALVED].cut(0..second.n_inputs, units));
        let hidden = Matrix::new(hidden, n, second.n_inputs);
        self.multiply_half(hidden, right, None, self.bent(biases), sieve, outputs);
    }

    /// What the loss changes with what the units of a half say before it is bent.
    fn delta(&self, index: usize, n: usize, slopes: &[f32], half: &mut Half) {
        let units = self.half(index);
        let n_values = self.layers[2].n_outputs;
        half.delta.resize(n * units.len());
        let right = Right::Cut(self.turned[2].cut(0..n_values, units));
        let pair = (Matrix::new(slopes, n, n_values), right);
        kernels::multiply(self.isa, &[pair], self.sloped(&half.outputs), &mut half.delta);
    }

    /// What the loss changes with what the hidden units say: as far as it comes by way of a half,
    /// or, from a start, all of it and before it is bent.
    fn hidden_delta(
        &self,
        index: usize,
        n: usize,
        half: &mut Half,
        start: Start<'_>,
        out: &mut Lines,
    ) {
        let (units, n_hidden) = (self.half(index), self.layers[HALVED].n_inputs);
        out.resize(n * n_hidden);
        let finish = if start.is_some() { self.sloped(&half.hidden) } else { Finish::Plain };
        let delta = Matrix::new(&half.delta, n, units.len());
        let right = Right::Cut(self.turned[HALVED].cut(units, 0..n_hidden));
        self.multiply_half(delta, right, start, finish, &mut half.sieve, out);
    }

    /// The gradient of the weights to and from the units of a half.
    fn half_gradient(&self, n: usize, slopes: &[f32], half: &mut Half) {
        let Half { hidden, outputs, delta, sizes, kept, panels, product, .. } = half;
        let n_units = delta.len() / n;
        let n_hidden = self.layers[HALVED].n_inputs;
        let delta = Matrix::new(delta, n, n_units);
        sizes.clear();
        sizes.resize(n_units, 0.0);
        kernels::add_sizes(self.isa, delta, sizes);
        kept.clear();
        kept.extend((0..n_units as u32).filter(|&unit| sizes[unit as usize] != 0.0));
        half.gradient.resize((n_hidden + 1) * n_units);
        let (weights, biases) = half.gradient.split_at_mut(n_hidden * n_units);
        let hidden = Matrix::new(hidden, n, n_hidden).transposed();
        if kept.len() < n_units / 8 * 7 {
            kernels::pack_columns(self.isa, delta, kept, panels);
            product.resize(n_hidden * kept.len(), 0.0);
            let pair = (hidden, Right::Panels(panels));
            kernels::multiply(self.isa, &[pair], Finish::Plain, product);
            super::scatter(product, kept, n_units, weights);
        } else {
            kernels::pack(self.isa, delta, panels);
            let pair = (hidden, Right::Panels(panels));
            kernels::multiply(self.isa, &[pair], Finish::Plain, weights);
        }
        biases.fill(0.0);
        kernels::sum_rows(self.isa, delta, biases);

        half.squares.clear();
        for block in self.blocks.iter().filter(|block| block.layer == HALVED) {
            // The biases are a row more.
            let is_last = block.rows.end == n_hidden;
            let rows = block.rows.start..block.rows.end + usize::from(is_last);
            let rows = Matrix::new(&half.gradient, n_hidden + 1, n_units).rows(rows);
            let mut squares = 0.0;
            kernels::add_squares(self.isa, rows, &mut squares);
            half.squares.push(squares);
        }

        let n_values = self.layers[2].n_outputs;
        half.last_gradient.resize(n_units * n_values, 0.0);
        let outputs = Matrix::new(outputs, n, n_units).transposed();
        let pair = (outputs, Right::Rows(Matrix::new(slopes, n, n_values)));
        kernels::multiply(self.isa, &[pair], Finish::Plain, &mut half.last_gradient);
    }

    /// The gradient of the first layer, and of the last biases.
    fn rest_of_gradient(&self, n: usize, slopes: &[f32], half: &mut Half) {
        let Half { inputs, hidden_delta, panels, first_gradient, last_biases, .. } = half;
        let layer = &self.layers[0];
        first_gradient.resize(layer.biases.end, 0.0);
        let (weights, biases) = first_gradient.split_at_mut(layer.biases.start);
        let delta = Matrix::new(hidden_delta, n, layer.n_outputs);
        kernels::pack(self.isa, delta, panels);
        let pair = (Matrix::new(inputs, n, layer.n_inputs).transposed(), Right::Panels(panels));
        kernels::multiply(self.isa, &[pair], Finish::Plain, weights);
        biases.fill(0.0);
        kernels::sum_rows(self.isa, delta, biases);
        last_biases.clear();
        last_biases.resize(self.layers[2].n_outputs, 0.0);
        kernels::sum_rows(self.isa, Matrix::new(slopes, n, last_biases.len()), last_biases);
    }

    /// A product on a side of the layer that is cut into halves.
    fn multiply_half(
        &self,
        a: Matrix<'_>,
        b: Right<'_>,
        start: Start<'_>,
        finish: Finish<'_>,
        sieve: &mut Sieve,
        out: &mut [f32],
    ) {
        match self.activation {
            Activation::Relu => kernels::multiply_sifted(self.isa, a, b, start, finish, sieve, out),
            Activation::Tanh => kernels::multiply_on(self.isa, &[(a, b)], start, finish, out),
        }
    }

    /// A step of Adam against the gradient of [`Self::gradient_in_halves`]. The network says what it
    /// has learnt, but most of its parameters, and their moments, are left behind until
    /// [`Halves::settle`].
    pub(crate) fn change_in_halves(
        &mut self,
        team: &mut Team,
        work: &mut Halves,
        step: AdamStep,
        moments: [&mut [f32]; 2],
    ) {
        let Self { layers, parameters, packed, turned, isa, .. } = self;
        let [first, second] = moments;
        work.load(&layers[HALVED], [parameters, first, second]);
        work.is_ahead = true;
        let [parameters, first, second] =
            [&mut parameters[..], first, second].map(|all| Numbers::halves(layers, all));
        let [hidden, to_units, from_units] = &mut packed[..] else { unreachable!("three layers") };
        let [_, to_turned, from_turned] = &mut turned[..] else { unreachable!("three layers") };
        let n_units = layers[HALVED].n_outputs / 2;
        let panels = by_column(to_units, n_units)
            .into_iter()
            .zip(by_row(from_units))
            .zip(by_row(to_turned).into_iter().zip(by_column(from_turned, n_units)));
        let numbers = parameters.into_iter().zip(first.into_iter().zip(second));
        let mut hidden = Some(hidden.each_mut().collect());
        let mut changes = Vec::with_capacity(2);
        for ((half, numbers), panels) in work.halves.iter_mut().zip(numbers).zip(panels).rev() {
            let (parameters, (first, second)) = numbers;
            let ((to_units, from_units), (to_turned, from_turned)) = panels;
            changes.push(Change {
                half,
                numbers: [parameters, first, second],
                hidden: hidden.take().unwrap_or_default(),
                to_units,
                from_units,
                to_turned,
                from_turned,
            });
        }
        changes.reverse();
        let (isa, layers, last_gradient) = (*isa, &*layers, &work.last_gradient[..]);
        team.each(&mut changes, |index, change| {
            change.make(isa, layers, index, step, last_gradient);
        });
    }
}

/// Which of `n` numbers belong to a half.
pub(super) fn half_of(n: usize, half: usize) -> Range<usize> {
    half * n / 2..(half + 1) * n / 2
}

type NamedPanels<'a> = Vec<(usize, &'a mut [f32])>;

/// The panels of each half of the columns.
fn by_column(panels: &mut Panels, n_columns: usize) -> [NamedPanels<'_>; 2] {
    let (left, right): (Vec<_>, Vec<_>) =
        panels.each_mut().partition(|(column, _)| *column < n_columns);
    [left, right.into_iter().map(|(column, panel)| (column - n_columns, panel)).collect()]
}

/// Each half of the rows of all panels.
fn by_row(panels: &mut Panels) -> [NamedPanels<'_>; 2] {
    let halves = panels.each_mut().map(|(column, panel)| {
        let (upper, lower) = panel.split_at_mut(panel.len() / 2);
        ((column, upper), (column, lower))
    });
    halves.unzip().into()
}

impl<'a> Numbers<'a> {
    fn halves(layers: &[Layer], mut all: &'a mut [f32]) -> [Self; 2] {
        let [first, second, last] = layers else { unreachable!("three layers") };
        let mut take = |n: usize| super::take(&mut all, n);
        let first = take(first.biases.end);
        take(second.weights.len());
        let biases = take(second.biases.len()).split_at_mut(second.n_outputs / 2);
        let from_units = take(last.weights.len()).split_at_mut(last.weights.len() / 2);
        let last_biases = take(last.biases.len());
        let none = || -> &'a mut [f32] { &mut [] };
        [
            Self { first: none(), biases: biases.0, from_units: from_units.0, last_biases: none() },
            Self { first, biases: biases.1, from_units: from_units.1, last_biases },
        ]
    }
}

impl Change<'_> {
    fn make(
        &mut self,
        isa: Isa,
        layers: &[Layer],
        index: usize,
        step: AdamStep,
        last_gradient: &[f32],
    ) {
        let Self { half, numbers: [parameters, first, second], .. } = self;
        let Half { gradient, own: [weights, own_first, own_second], first_gradient, .. } =
            &mut **half;
        let [hidden, second_layer, last] = layers else { unreachable!("three layers") };
        let (n_hidden, n_units) = (hidden.n_outputs, second_layer.n_outputs / 2);
        let n_first = parameters.first.len();
        kernels::adam(
            isa,
            step,
            &first_gradient[..n_first],
            parameters.first,
            first.first,
            second.first,
        );
        let (gradient, biases) = gradient.split_at(n_hidden * n_units);
        kernels::adam(isa, step, gradient, weights, own_first, own_second);
        kernels::adam(isa, step, biases, parameters.biases, first.biases, second.biases);
        let place = half_of(last.weights.len(), index);
        let from_units = (&mut *first.from_units, &mut *second.from_units);
        kernels::adam(
            isa,
            step,
            &last_gradient[place],
            parameters.from_units,
            from_units.0,
            from_units.1,
        );
        let last_gradient = &last_gradient[last.weights.len()..][..parameters.last_biases.len()];
        kernels::adam(
            isa,
            step,
            last_gradient,
            parameters.last_biases,
            first.last_biases,
            second.last_biases,
        );

        // Whoever has changed something also cuts it into panels, while it is near.
        let pack = |matrix: Matrix<'_>, panels: &mut NamedPanels<'_>| {
            for (column, panel) in panels {
                kernels::pack_panel(isa, matrix, *column, panel);
            }
        };
        if n_first > 0 {
            let weights = &parameters.first[..hidden.weights.len()];
            pack(Matrix::new(weights, hidden.n_inputs, n_hidden), &mut self.hidden);
        }
        let to_units = Matrix::new(weights, n_hidden, n_units);
        pack(to_units, &mut self.to_units);
        pack(to_units.transposed(), &mut self.to_turned);
        let from_units = Matrix::new(parameters.from_units, n_units, last.n_outputs);
        pack(from_units, &mut self.from_units);
        pack(from_units.transposed(), &mut self.from_turned);
    }
}
