use super::*;
use crate::adam::Adam;

/// A network of which some units of the second hidden layer never rise above zero.
fn network(sizes: &[usize], activation: Activation, rng: &mut fastrand::Rng) -> Mlp {
    let mut network = Mlp::new(sizes, activation, 1.0, rng);
    let biases = network.layers()[1].biases.clone();
    network.change(|all| all[biases].iter_mut().step_by(3).for_each(|bias| *bias = -9.0));
    network
}

fn random(n: usize, rng: &mut fastrand::Rng) -> Vec<f32> {
    (0..n).map(|_| rng.f32() * 2.0 - 1.0).collect()
}

#[test]
fn two_layers_by_hand() {
    let mut network = Mlp::zeros(&[2, 1, 2], Activation::Tanh);
    // Weights 0.5 and -1, bias 0.25; then weights 2 and 3, biases 0.1 and 0.2.
    network.change(|all| all.copy_from_slice(&[0.5, -1.0, 0.25, 2.0, 3.0, 0.1, 0.2]));
    let mut work = Workspace::default();
    let outputs = network.forward(&[1.0, 0.5, 0.0, 0.0], 2, &mut work);
    let hidden = [0.25_f32.tanh(), 0.25_f32.tanh()];
    let expected = hidden.map(|h| [2.0 * h + 0.1, 3.0 * h + 0.2]);
    for (x, y) in outputs.iter().zip(expected.as_flattened()) {
        assert!((x - y).abs() < 1e-6);
    }
}

#[test]
fn the_gradient_equals_finite_differences() {
    for activation in [Activation::Tanh, Activation::Relu] {
        check_gradient(activation, &[3, 7, 5, 2]);
    }
    // Wide enough to leave out what is zero.
    check_gradient(Activation::Relu, &[3, WIDE, WIDE, 2]);
}

/// What `recorded/record.py` has of a network in PyTorch.
#[derive(serde::Deserialize)]
struct Recorded {
    sizes: Vec<usize>,
    n_rows: usize,
    cases: Vec<RecordedCase>,
}

#[derive(serde::Deserialize)]
struct RecordedCase {
    activation: Activation,
    inputs: Vec<f32>,
    targets: Vec<f32>,
    outputs: Vec<f32>,
    loss: f32,
    layers: Vec<RecordedLayer>,
}

#[derive(serde::Deserialize)]
struct RecordedLayer {
    weight: Vec<f32>,
    bias: Vec<f32>,
    weight_gradient: Vec<f32>,
    bias_gradient: Vec<f32>,
}

#[track_caller]
fn assert_near(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (index, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() < 1e-6 + 1e-5 * y.abs(), "{what} {index} is {x}, not {y}");
    }
}

#[test]
fn loss_and_gradient_equal_those_of_pytorch() {
    let recorded: Recorded = serde_json::from_str(include_str!("recorded/gradients.json")).unwrap();
    assert_eq!(recorded.cases.len(), 2);
    for case in recorded.cases {
        let mut network = Mlp::zeros(&recorded.sizes, case.activation);
        let layers = network.layers().to_vec();
        // PyTorch has a row for each output, we have one for each input.
        let by_input = |layer: &Layer, rows: &[f32]| -> Vec<f32> {
            let column = |input: usize| rows[input..].iter().step_by(layer.n_inputs).copied();
            (0..layer.n_inputs).flat_map(column).collect()
        };
        network.change(|all| {
            for (layer, theirs) in layers.iter().zip(&case.layers) {
                all[layer.weights.clone()].copy_from_slice(&by_input(layer, &theirs.weight));
                all[layer.biases.clone()].copy_from_slice(&theirs.bias);
            }
        });
        let mut work = Workspace::default();
        let outputs = network.forward(&case.inputs, recorded.n_rows, &mut work).to_vec();
        assert_near(&outputs, &case.outputs, "output");
        let n = outputs.len() as f32;
        let errors: Vec<f32> = outputs.iter().zip(&case.targets).map(|(x, y)| x - y).collect();
        let loss = errors.iter().map(|x| x * x).sum::<f32>() / n;
        assert_near(&[loss], &[case.loss], "loss");
        let slopes: Vec<f32> = errors.iter().map(|x| 2.0 * x / n).collect();
        let mut gradient = vec![f32::NAN; network.parameters().len()];
        network.backward(&case.inputs, recorded.n_rows, &slopes, &mut work, &mut gradient);
        for (index, (layer, theirs)) in layers.iter().zip(&case.layers).enumerate() {
            let what = format!("{:?}, layer {index},", case.activation);
            let expected = by_input(layer, &theirs.weight_gradient);
            assert_near(&gradient[layer.weights.clone()], &expected, &format!("{what} weight"));
            let biases = &gradient[layer.biases.clone()];
            assert_near(biases, &theirs.bias_gradient, &format!("{what} bias"));
        }
    }
}

/// The gradient of a random linear function of the outputs, against central differences of a
/// forward pass in doubles.
#[track_caller]
fn check_gradient(activation: Activation, sizes: &[usize]) {
    let rng = &mut fastrand::Rng::with_seed(3);
    let n = 6;
    let network = network(sizes, activation, rng);
    let (inputs, slopes) = (random(n * 3, rng), random(n * 2, rng));
    let mut work = Workspace::default();
    network.forward(&inputs, n, &mut work);
    let mut gradient = vec![f32::NAN; network.parameters().len()];
    network.backward(&inputs, n, &slopes, &mut work, &mut gradient);

    let layers = network.layers();
    let loss = |parameters: &[f64]| -> f64 {
        let mut sum = 0.0;
        for (row, slopes) in inputs.chunks(3).zip(slopes.chunks(2)) {
            let mut x: Vec<f64> = row.iter().copied().map(f64::from).collect();
            for (index, layer) in layers.iter().enumerate() {
                let output = |o: usize| {
                    let weight =
                        |i: usize| parameters[layer.weights.start + i * layer.n_outputs + o];
                    let sum: f64 = x.iter().enumerate().map(|(i, x)| x * weight(i)).sum();
                    let sum = sum + parameters[layer.biases.start + o];
                    match activation {
                        _ if index + 1 == layers.len() => sum,
                        Activation::Tanh => sum.tanh(),
                        Activation::Relu => sum.max(0.0),
                    }
                };
                x = (0..layer.n_outputs).map(output).collect();
            }
            sum += x.iter().zip(slopes).map(|(x, slope)| x * f64::from(*slope)).sum::<f64>();
        }
        sum
    };
    let mut parameters: Vec<f64> = network.parameters().iter().copied().map(f64::from).collect();
    // Not all of many: each costs two passes.
    for index in (0..parameters.len()).step_by(1 + parameters.len() / 300) {
        let here = parameters[index];
        let mut at = |x: f64| {
            parameters[index] = x;
            loss(&parameters)
        };
        let slope = (at(here + 1e-5) - at(here - 1e-5)) / 2e-5;
        parameters[index] = here;
        let error = (f64::from(gradient[index]) - slope).abs();
        assert!(error < 1e-5, "parameter {index}: {} is not {slope}", gradient[index]);
    }
}

/// Layers so wide that zeros are left out, in parts on several threads, against one whole.
#[test]
fn parts_and_threads_change_no_bit() {
    for activation in [Activation::Tanh, Activation::Relu] {
        let rng = &mut fastrand::Rng::with_seed(4);
        let network = network(&[5, WIDE, WIDE + 9, 3], activation, rng);
        let n = 50;
        let (inputs, slopes) = (random(n * 5, rng), random(n * 3, rng));
        let mut whole = vec![f32::NAN; network.parameters().len()];
        let mut work = Workspace::default();
        network.forward(&inputs, n, &mut work);
        network.backward(&inputs, n, &slopes, &mut work, &mut whole);
        for n_threads in [1, 3] {
            let mut works = Vec::new();
            for (inputs, slopes) in inputs.chunks(16 * 5).zip(slopes.chunks(16 * 3)) {
                let mut work = Workspace::default();
                let n = inputs.len() / 5;
                network.forward(inputs, n, &mut work);
                network.trace_back(n, slopes, &mut work);
                works.push((inputs, work));
            }
            let mut parts: Vec<_> =
                works.iter_mut().map(|(inputs, work)| (*inputs, work)).collect();
            let mut gradient = vec![f32::NAN; whole.len()];
            let team = &mut Team::new(n_threads);
            let norm = network.gradient_together(team, &mut parts, &mut gradient);
            assert_eq!(gradient, whole, "{activation:?} on {n_threads} threads");
            let expected = crate::adam::global_norm(&[&whole]);
            assert!((norm / expected - 1.0).abs() < 1e-5, "{norm} is not {expected}");
        }
    }
}

/// Every panel is where a product looks for it, whoever has written it.
#[test]
fn blocks_changed_by_many_threads_are_all_the_network() {
    let sizes = [5, WIDE + 9, 2 * WIDE + 70, 3];
    let rng = &mut fastrand::Rng::with_seed(6);
    let (mut one, n) = (Mlp::new(&sizes, Activation::Relu, 1.0, rng), 9);
    let mut many = one.clone();
    one.change(|all| all.iter_mut().for_each(|x| *x *= 0.5));
    let mut seen = vec![0.0; one.parameters().len()];
    many.change_together(&mut Team::new(3), [&mut seen], |_, parameters, [seen]| {
        parameters.iter_mut().for_each(|x| *x *= 0.5);
        seen.iter_mut().for_each(|x| *x += 1.0);
    });
    assert!(seen.iter().all(|&times| times == 1.0));
    assert_eq!(one.parameters(), many.parameters());
    let (inputs, slopes) = (random(n * 5, rng), random(n * 3, rng));
    let [one, many] = [one, many].map(|network| {
        let (mut work, mut gradient) = (Workspace::default(), vec![0.0; seen.len()]);
        let outputs = network.forward(&inputs, n, &mut work).to_vec();
        network.backward(&inputs, n, &slopes, &mut work, &mut gradient);
        (outputs, gradient)
    });
    assert_eq!(one, many);
}

/// Compares the products of all pairs of the shorter side's vectors with those of a scaled frame.
#[track_caller]
fn check_frame(n_rows: usize, n_columns: usize) {
    let matrix = orthogonal(n_rows, n_columns, &mut fastrand::Rng::with_seed(5));
    let (n_vectors, length) = (n_rows.min(n_columns), n_rows.max(n_columns));
    let element = |vector: usize, at: usize| {
        let (row, column) = if n_rows <= n_columns { (vector, at) } else { (at, vector) };
        matrix[row * n_columns + column]
    };
    for a in 0..n_vectors {
        for b in 0..n_vectors {
            let product: f64 = (0..length).map(|at| element(a, at) * element(b, at)).sum();
            let expected = f64::from(u8::from(a == b));
            assert!((product - expected).abs() < 1e-9, "{a} and {b}: {product}");
        }
    }
}

#[test]
fn weights_are_orthogonal() {
    check_frame(4, 64);
    check_frame(64, 64);
    check_frame(64, 2);
}

#[test]
fn gains_scale_the_layers() {
    let network = Mlp::new(&[4, 64, 2], Activation::Tanh, 0.01, &mut fastrand::Rng::with_seed(0));
    let norm = |layer: &Layer| {
        let weights = &network.parameters()[layer.weights.clone()];
        weights.iter().map(|x| x * x).sum::<f32>().sqrt()
    };
    let layers = network.layers();
    // Four rows of length sqrt 2, then two columns of length 0.01.
    assert!((norm(&layers[0]) - 8.0_f32.sqrt()).abs() < 1e-4);
    assert!((norm(&layers[1]) - 0.01 * 2.0_f32.sqrt()).abs() < 1e-6);
    assert!(network.parameters()[layers[0].biases.clone()].iter().all(|&bias| bias == 0.0));
}

/// Three steps of Adam in halves, and as they are made without.
#[test]
fn halves_change_no_bit() {
    for (activation, sizes) in [
        (Activation::Relu, [4, 256, 256, 2]),
        (Activation::Relu, [70, 128, 128, 5]),
        (Activation::Tanh, [3, 144, 384, 20]),
    ] {
        check_halves(activation, &sizes);
    }
    for sizes in [&[4, 64, 64, 2][..], &[4, 256, 192, 2], &[4, 256, 256], &[4, 256, 256, 256, 2]] {
        assert!(!Mlp::zeros(sizes, Activation::Relu).has_halves(), "{sizes:?}");
    }
}

#[track_caller]
fn check_halves(activation: Activation, sizes: &[usize]) {
    let rng = &mut fastrand::Rng::with_seed(7);
    let n = 45;
    let mut one = network(sizes, activation, rng);
    assert!(one.has_halves(), "{sizes:?}");
    let (mut other, n_values) = (one.clone(), sizes[3]);
    let n_parameters = one.parameters().len();
    let [mut adam, mut other_adam] = [0, 1].map(|_| Adam::new(n_parameters, 1e-8));
    let (mut work, mut halves) = (Workspace::default(), Halves::default());
    let mut gradient = vec![f32::NAN; n_parameters];
    for step in 0..3 {
        let (inputs, slopes) = (random(n * sizes[0], rng), random(n * n_values, rng));
        let values = one.forward(&inputs, n, &mut work).to_vec();
        one.trace_back(n, &slopes, &mut work);
        let parts = &mut [(&inputs[..], &mut work)];
        let norm = one.gradient_together(&mut Team::new(1), parts, &mut gradient);
        adam.update_together(&mut Team::new(1), &mut one, &gradient, 0.9, 0.01);

        let team = &mut Team::new(2);
        let mut seen = Vec::new();
        let other_norm = other.gradient_in_halves(
            team,
            &mut halves,
            n,
            |all| all.extend_from_slice(&inputs),
            |values, all| {
                seen.extend_from_slice(values);
                all.extend_from_slice(&slopes);
            },
        );
        assert_eq!(seen, values);
        assert_eq!(other_norm.to_bits(), norm.to_bits());
        other_adam.update_in_halves(team, &mut other, &mut halves, 0.9, 0.01);
        // What was said before and after it was settled.
        let said = other.forward(&inputs, n, &mut work).to_vec();
        assert_eq!(said, one.forward(&inputs, n, &mut work));
        if step == 0 {
            continue;
        }
        other_adam.settle(&mut other, &mut halves);
        assert_eq!(other.parameters(), one.parameters());
        assert_eq!(other_adam.first[..], adam.first[..]);
        assert_eq!(other_adam.second[..], adam.second[..]);
    }
}
