use super::*;

pub(super) const CONNECT4: Shape = Shape { n_planes: 2, n_rows: 6, n_columns: 7, n_actions: 7 };
const TIC_TAC_TOE: Shape = Shape { n_planes: 2, n_rows: 3, n_columns: 3, n_actions: 9 };

pub(super) fn random(n: usize, rng: &mut fastrand::Rng) -> Vec<f32> {
    (0..n).map(|_| rng.f32() * 2.0 - 1.0).collect()
}

/// A network in which nothing is zero.
pub(super) fn network(shape: Shape, config: &Config, seed: u64) -> BoardNet {
    let rng = &mut fastrand::Rng::with_seed(seed);
    let mut network = BoardNet::new(shape, config, rng).unwrap();
    let parts = network.parts.clone();
    network.change(|all| {
        for part in parts {
            let scale = (2.0 / part.layer.n_inputs as f32).sqrt();
            all[part.layer.weights].iter_mut().for_each(|x| *x = scale * (rng.f32() * 2.0 - 1.0));
            all[part.layer.biases].iter_mut().for_each(|x| *x = 0.2 * (rng.f32() - 0.5));
        }
    });
    network
}

fn infer(network: &BoardNet, planes: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let n = planes.len() / network.shape.n_inputs();
    let (mut logits, mut values) = (vec![f32::NAN; n * network.shape.n_actions], vec![f32::NAN; n]);
    network.infer(&mut Workspace::default(), planes, &mut logits, &mut values);
    (logits, values)
}

/// What a network says of one position, in doubles and layer by layer from the definition. `weight`
/// gives parameters by their place.
pub(super) fn naive(network: &BoardNet, parameters: &[f64], planes: &[f32]) -> (Vec<f64>, f64) {
    let shape = &network.shape;
    let n_cells = shape.n_cells();
    let relu = |x: Vec<f64>| x.into_iter().map(|x| x.max(0.0)).collect::<Vec<f64>>();
    let dense = |part: &Part, x: &[f64]| -> Vec<f64> {
        let Layer { n_inputs, n_outputs, weights, biases } = &part.layer;
        let output = |row: &[f64], o: usize| {
            let weight = |i: usize| parameters[weights.start + i * n_outputs + o];
            row.iter().enumerate().map(|(i, x)| x * weight(i)).sum::<f64>()
                + parameters[biases.start + o]
        };
        let rows = x.chunks_exact(*n_inputs);
        rows.flat_map(|row| (0..*n_outputs).map(move |o| output(row, o))).collect()
    };
    let window = |part: &Part, x: &[f64]| -> Vec<f64> {
        let n = part.n_channels;
        let seen = |cell: usize, at: usize| {
            let (row, column) = (cell / shape.n_columns, cell % shape.n_columns);
            let y = (row + at / n / 3).checked_sub(1).filter(|&y| y < shape.n_rows);
            let x_ = (column + at / n % 3).checked_sub(1).filter(|&x| x < shape.n_columns);
            y.zip(x_).map_or(0.0, |(y, x_)| x[(y * shape.n_columns + x_) * n + at % n])
        };
        let seen: Vec<f64> =
            (0..n_cells).flat_map(|cell| (0..WINDOW * n).map(move |at| seen(cell, at))).collect();
        dense(part, &seen)
    };
    let mut x: Vec<f64> = planes.iter().copied().map(f64::from).collect();
    let heads = network.heads();
    let parts = &network.parts;
    match network.config {
        Config::Residual { n_blocks, .. } => {
            let turned = |at: usize| x[at % shape.n_planes * n_cells + at / shape.n_planes];
            x = (0..x.len()).map(turned).collect();
            x = relu(window(&parts[0], &x));
            for block in 0..n_blocks {
                let inner = relu(window(&parts[2 * block + 1], &x));
                let made = window(&parts[2 * block + 2], &inner);
                x = relu(made.iter().zip(&x).map(|(made, x)| made + x).collect());
            }
        }
        Config::Mlp { .. } => {
            for part in &parts[..heads.n_trunk] {
                x = relu(dense(part, &x));
            }
        }
    }
    let [policy, value] = match heads.points {
        Some(points) => points.map(|part| relu(dense(&parts[part], &x))),
        None => [x.clone(), x],
    };
    let logits = dense(&parts[heads.policy], &policy);
    let hidden = relu(dense(&parts[heads.hidden], &value));
    (logits, dense(&parts[heads.value], &hidden)[0].tanh())
}

#[track_caller]
fn check_forward(shape: Shape, config: &Config) {
    let network = network(shape, config, 1);
    let parameters: Vec<f64> = network.parameters().iter().copied().map(f64::from).collect();
    let n = CHUNK + 3;
    let planes = random(n * shape.n_inputs(), &mut fastrand::Rng::with_seed(2));
    let (logits, values) = infer(&network, &planes);
    for (index, planes) in planes.chunks_exact(shape.n_inputs()).enumerate() {
        let (expected, value) = naive(&network, &parameters, planes);
        let logits = &logits[index * shape.n_actions..][..shape.n_actions];
        for (x, y) in logits.iter().zip(&expected).chain([(&values[index], &value)]) {
            assert!((f64::from(*x) - y).abs() < 1e-5, "{config:?}, {index}: {x} is not {y}");
        }
        // To the bit what it is alone.
        assert_eq!(infer(&network, planes), (logits.to_vec(), vec![values[index]]));
    }
    for n_threads in [1, 2, 3] {
        let mut found = (vec![f32::NAN; logits.len()], vec![f32::NAN; n]);
        let (mut team, mut works) = (Team::new(n_threads), Vec::new());
        for _ in 0..2 {
            network.infer_together(&mut team, &mut works, &planes, &mut found.0, &mut found.1);
            assert_eq!((&found.0, &found.1), (&logits, &values), "{n_threads} threads");
        }
    }
}

#[test]
fn networks_say_what_the_definition_says() {
    check_forward(CONNECT4, &Config::residual(2, 32));
    check_forward(CONNECT4, &Config::residual(1, 64));
    check_forward(CONNECT4, &Config::residual(0, 16));
    check_forward(TIC_TAC_TOE, &Config::residual(3, 16));
    let othello = Shape { n_planes: 3, n_rows: 8, n_columns: 8, n_actions: 65 };
    check_forward(othello, &Config::residual(1, 48));
    let line = Shape { n_planes: 1, n_rows: 1, n_columns: 4, n_actions: 2 };
    check_forward(line, &Config::residual(1, 16));
    check_forward(TIC_TAC_TOE, &Config::mlp(&[64, 33, 16, 16, 9]));
    check_forward(CONNECT4, &Preset::Tiny.config());
}

/// The same bits with every instruction set that fuses.
#[test]
fn networks_say_the_same_on_every_instruction_set() {
    for config in Preset::ALL.map(Preset::config) {
        let mut network = network(CONNECT4, &config, 3);
        let planes = random(5 * CONNECT4.n_inputs(), &mut fastrand::Rng::with_seed(4));
        let mut fused = None;
        for isa in Isa::available().filter(|isa| isa.name() != "baseline") {
            network.isa = isa;
            network.change(|_| {});
            let said = infer(&network, &planes);
            assert_eq!(*fused.get_or_insert_with(|| said.clone()), said, "{config:?} on {isa:?}");
        }
    }
}

/// One workspace serves networks and batches of all sizes.
#[test]
fn what_is_left_in_a_workspace_does_not_matter() {
    let mut work = Workspace::default();
    for config in [Config::residual(2, 32), Config::residual(1, 16), Config::mlp(&[50, 20])] {
        let network = network(CONNECT4, &config, 5);
        for n in [40, 1, 17] {
            let planes = random(n * CONNECT4.n_inputs(), &mut fastrand::Rng::with_seed(6));
            let (mut logits, mut values) = (vec![f32::NAN; n * 7], vec![f32::NAN; n]);
            network.infer(&mut work, &planes, &mut logits, &mut values);
            assert_eq!((logits, values), infer(&network, &planes));
        }
    }
}

#[test]
fn a_fresh_network_is_nearly_indifferent() {
    for config in Preset::ALL.map(Preset::config) {
        let rng = &mut fastrand::Rng::with_seed(7);
        let network = BoardNet::new(CONNECT4, &config, rng).unwrap();
        let planes: Vec<f32> =
            (0..20 * CONNECT4.n_inputs()).map(|_| f32::from(rng.bool())).collect();
        let (logits, values) = infer(&network, &planes);
        let most = logits.iter().chain(&values).fold(0.0_f32, |most, x| most.max(x.abs()));
        assert!(most > 0.0 && most < 0.3, "{config:?} says {most}");
    }
}

#[test]
fn presets_have_their_sizes() {
    let sizes = Preset::ALL
        .map(|preset| BoardNet::zeros(CONNECT4, &preset.config()).unwrap().n_parameters());
    let heads = (168 * 7 + 7) + (168 * 64 + 64) + 65;
    let tiny = (84 * 64 + 64) + (64 * 64 + 64) + (64 * 7 + 7) + (64 * 64 + 64) + 65;
    let small = (18 * 32 + 32) + 4 * (288 * 32 + 32) + 2 * (32 * 4 + 4) + heads;
    let medium = (18 * 64 + 64) + 10 * (576 * 64 + 64) + 2 * (64 * 4 + 4) + heads;
    let mlp = (84 * 256 + 256) + (256 * 256 + 256) + (256 * 7 + 7) + (256 * 64 + 64) + 65;
    assert_eq!(sizes, [tiny, small, medium, mlp]);
}

#[test]
fn configurations_are_strict() {
    let config: Config =
        serde_json::from_str(r#"{"kind":"residual","n_blocks":2,"n_channels":32}"#).unwrap();
    assert_eq!(config, Preset::Small.config());
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
    for wrong in [
        r#"{"kind":"residual","n_blocks":2,"n_channels":32,"n_layers":1}"#,
        r#"{"kind":"transformer"}"#,
        r#"{"kind":"mlp","n_value_units":2}"#,
    ] {
        assert!(serde_json::from_str::<Config>(wrong).is_err(), "{wrong}");
    }
    let refused = |config: Config| BoardNet::zeros(CONNECT4, &config).unwrap_err().to_string();
    assert_eq!(refused(Config::residual(2, 8)), "8 channels; it can be 16 to 512");
    assert!(refused(Config::residual(2, 40)).contains("a multiple of 16"));
    assert_eq!(refused(Config::mlp(&[])), "0 hidden layers; it can be 1 to 16");
}

#[test]
fn a_network_survives_its_file() {
    for config in [Config::residual(2, 32), Config::mlp(&[20, 30])] {
        let network = network(CONNECT4, &config, 8);
        let bytes = network.to_safetensors();
        let read = BoardNet::from_safetensors(&bytes).unwrap();
        assert_eq!((read.shape(), read.config()), (CONNECT4, &config));
        assert_eq!(read.parameters(), network.parameters());
        assert_eq!(read.sha256(), network.sha256());
        // Not only the numbers are there, but what is multiplied by.
        let planes = random(2 * CONNECT4.n_inputs(), &mut fastrand::Rng::with_seed(9));
        assert_eq!(infer(&read, &planes), infer(&network, &planes));
        assert!(BoardNet::from_safetensors(&bytes[..bytes.len() - 4]).is_err());
    }
}

/// A weight is where PyTorch looks for it.
#[test]
fn weights_lie_in_files_as_pytorch_has_them() {
    let mut network = BoardNet::zeros(CONNECT4, &Config::residual(1, 16)).unwrap();
    let (stem, policy) = (network.parts[0].clone(), network.parts[5].clone());
    network.change(|all| {
        // Row 2, column 0 of the window, of plane 1, to output 5.
        all[stem.layer.weights.start + ((2 * 3) * 2 + 1) * 16 + 5] = 1.0;
        // Channel 3 of cell 10, to action 6.
        all[policy.layer.weights.start + (10 * 4 + 3) * 7 + 6] = 2.0;
    });
    let tensor = |wanted: &str| {
        let found = network.tensors().find(|(name, ..)| name == wanted).unwrap();
        let at = found.2.iter().position(|&x| x != 0.0).unwrap();
        (found.1, at)
    };
    assert_eq!(tensor("stem.weight"), (vec![16, 2, 3, 3], 5 * 18 + 9 + 6));
    assert_eq!(tensor("policy.3.weight"), (vec![7, 168], 6 * 168 + 3 * 42 + 10));
}

#[test]
fn files_of_other_networks_are_refused() {
    let network = network(CONNECT4, &Config::mlp(&[20]), 10);
    let tensors: Vec<_> = network.tensors().collect();
    let file = |about: &str, with: &[(&str, Vec<usize>)]| {
        let bytes: Vec<(String, Vec<usize>, Vec<u8>)> = tensors
            .iter()
            .map(|(name, shape, values)| (name.clone(), shape.clone(), values.clone()))
            .chain(with.iter().map(|(name, shape)| {
                ((*name).to_owned(), shape.clone(), vec![0.0; shape.iter().product()])
            }))
            .map(|(name, shape, values)| {
                (name, shape, values.iter().flat_map(|x: &f32| x.to_le_bytes()).collect())
            })
            .collect();
        let views = bytes.iter().map(|(name, shape, bytes)| {
            let dtype = safetensors::Dtype::F32;
            (name, safetensors::tensor::TensorView::new(dtype, shape.clone(), bytes).unwrap())
        });
        let metadata = [("board_net".to_owned(), about.to_owned())].into();
        safetensors::serialize(views, Some(metadata)).unwrap()
    };
    let check = |about: &str, with: &[(&str, Vec<usize>)], expected: &str| {
        let error = BoardNet::from_safetensors(&file(about, with)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    };
    let about = network.about();
    check(&about, &[("extra", vec![1])], "unexpected tensor `extra`");
    check("{}", &[], "missing field");
    check(&about.replace("[20]", "[21]"), &[], "tensor `trunk.1.weight` is F32 of shape [20, 84]");
    check(&about.replace("[20]", "[4096,4096]"), &[], "parameters in");
    check(&about.replace("\"n_rows\":6", "\"n_rows\":0"), &[], "0 rows; it can be 1 to 64");
    let policy = crate::Policy::new(4, 2, &mut fastrand::Rng::with_seed(1)).to_safetensors();
    let error = BoardNet::from_safetensors(&policy).unwrap_err().to_string();
    assert_eq!(error, "not a policy: its metadata has no `board_net`");
}
