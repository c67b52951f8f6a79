//! Cartridge's kernels.

use std::hint::black_box;

use cartridge_learn::adam::Adam;
use cartridge_learn::network::{Mlp, Workspace};

use crate::{Contender, EPSILON, Task};

pub struct Ours {
    task: Task,
    network: Mlp,
    adam: Adam,
    work: Workspace,
    gradient: Vec<f32>,
}

impl Ours {
    pub fn new(task: &Task) -> Self {
        let mut network = Mlp::zeros(&task.sizes, task.activation);
        network.change(|parameters| parameters.copy_from_slice(&task.parameters));
        Self {
            adam: Adam::new(task.parameters.len(), EPSILON),
            gradient: vec![0.0; task.parameters.len()],
            work: Workspace::default(),
            task: task.clone(),
            network,
        }
    }
}

impl Contender for Ours {
    fn forward(&mut self) {
        let inputs = black_box(&self.task.inputs);
        black_box(self.network.forward(inputs, self.task.n, &mut self.work));
    }

    fn outputs(&mut self) -> Vec<f32> {
        self.network.forward(&self.task.inputs, self.task.n, &mut self.work).to_vec()
    }

    fn step(&mut self, learning_rate: f64) {
        let Self { task: Task { inputs, slopes, n, .. }, network, adam, work, gradient } = self;
        network.forward(black_box(inputs), *n, work);
        network.backward(inputs, *n, slopes, work, gradient);
        network.change(|parameters| adam.update(parameters, gradient, 1.0, learning_rate));
    }

    fn parameters(&self) -> Vec<f32> {
        self.network.parameters().to_vec()
    }
}
