use cartridge_games::ActionSpace;
use cartridge_games::registry::environments;
use proptest::prelude::*;

use super::board::export_board_net;
use super::export::{DenseLayer, DenseNetwork, Networks, Normalisation, export, export_policy};
use super::model::{Attribute, Dimension, Graph, Model, Node, ValueInfo};
use super::*;
use crate::board_net::{BoardNet, Config as BoardConfig, Shape, Workspace};
use crate::network::Activation;
use crate::policy::Policy;

/// What PyTorch's exporters write, made by `tests/onnx/record.py`; beside each what onnxruntime
/// makes of some observations.
macro_rules! recorded {
    ($($name:literal),*) => {
        &[$((
            $name,
            include_bytes!(concat!("recorded/", $name, ".onnx")),
            include_str!(concat!("recorded/", $name, ".txt")),
        )),*]
    };
}
const RECORDED: &[(&str, &[u8], &str)] = recorded![
    "torchscript",
    "dynamo",
    "dynamo_external",
    "pictures_torchscript",
    "pictures_dynamo",
    "sb3_ppo_cartpole",
    "sb3_dqn_cartpole",
    "sb3_ppo_pendulum",
    "sb3_sac_pendulum"
];

fn load(bytes: &[u8]) -> Result<OnnxPolicy, OnnxError> {
    let data = include_bytes!("recorded/dynamo_external.onnx.data");
    OnnxPolicy::load(bytes, &mut |file| match file {
        "dynamo_external.onnx.data" => Ok(data.to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    })
}

fn spec(id: &str) -> &'static cartridge_games::env::EnvSpec {
    environments().iter().find(|spec| spec.id == id).unwrap()
}

fn random_numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..n).map(|_| rng.f32() * 4.0 - 2.0).collect()
}

fn floats(values: &Values) -> &[f32] {
    let Values::Float(values) = values else { panic!("{values:?} are no fractions") };
    values
}

#[test]
fn our_file_says_what_the_policy_says_to_the_bit() {
    let policy = Policy::new(8, 4, &mut fastrand::Rng::with_seed(1));
    let facts = vec![("env_id".to_owned(), "LunarLander-v3".to_owned())];
    let read = load(&export_policy(&policy, facts)).unwrap();
    assert_eq!(read.check(spec("LunarLander-v3")), Ok(Head::Scores));
    assert_eq!(read.metadata("env_id"), Some("LunarLander-v3"));
    check_policy(&policy, &read);
}

/// Compares what a file puts out with the policy that it is of: one observation, some, and more than
/// go through at once.
#[track_caller]
fn check_policy(policy: &Policy, read: &OnnxPolicy) {
    for n in [1, 7, 600] {
        let observations = random_numbers(8 * n, 2);
        let outputs = read.act(&observations, n).unwrap();
        assert_eq!(floats(&outputs.actor), policy.outputs(&observations, n));
        let values: Vec<f32> = observations.chunks(8).map(|row| policy.value(row)).collect();
        assert_eq!(outputs.value, Some(values));
    }
}

/// What was learnt from normalised rewards is told in the environment's own.
#[test]
fn values_are_in_the_unit_of_rewards() {
    let rng = &mut fastrand::Rng::with_seed(1);
    let numbers = ActionSpace::Continuous { low: &[-1.0; 2], high: &[1.0; 2] };
    for space in [ActionSpace::Discrete(4), numbers] {
        let plain = Policy::actor_critic(8, &space, &[16, 16], Activation::Tanh, 0.0, rng);
        let mut policy = plain.clone();
        policy.value_scale = Some(37.5);
        let bytes = export_policy(&policy, vec![]);
        let read = load(&bytes).unwrap();
        check_policy(&policy, &read);
        let observation = random_numbers(8, 3);
        assert_eq!(policy.value(&observation), 37.5 * plain.value(&observation));
        let outputs = read.act(&observation, 1).unwrap();
        assert_eq!(outputs.value, Some(vec![37.5 * plain.value(&observation)]));
        assert_eq!(floats(&outputs.actor), plain.outputs(&observation, 1));
        // Without a scale there is no trace of one in the file.
        let mut without = policy.clone();
        without.value_scale = None;
        assert_eq!(export_policy(&without, vec![]), export_policy(&plain, vec![]));
    }
}

/// A layer of two inputs and as many outputs as biases.
fn layer<'a>(weights: &'a [f32], biases: &'a [f32]) -> DenseNetwork<'a> {
    let layers = vec![DenseLayer { weights, biases }];
    DenseNetwork { layers, activation: Activation::Tanh }
}

#[track_caller]
fn check(
    normalisation: Option<Normalisation<'_>>,
    networks: &Networks<'_>,
    observations: &[f32],
    expected: (&[f32], &[f32]),
) {
    let read = load(&export(2, normalisation, networks, None, vec![])).unwrap();
    let outputs = read.act(observations, observations.len() / 2).unwrap();
    assert_eq!((floats(&outputs.actor), &outputs.value.unwrap()[..]), expected);
}

#[test]
fn every_kind_of_policy_by_hand() {
    let (actor, critic) = (layer(&[1.0, 2.0, 3.0, 4.0], &[0.5, 0.0]), layer(&[1.0, -1.0], &[0.0]));
    let categorical = Networks::Categorical { actor: actor.clone(), critic: critic.clone() };
    check(None, &categorical, &[1.0, 0.0, 1.0, 1.0], (&[1.5, 2.0, 4.5, 6.0], &[1.0, 0.0]));
    let log_std = &[-1.0, -2.0];
    let gaussian = Networks::Gaussian { actor: actor.clone(), log_std, critic };
    check(None, &gaussian, &[1.0, 1.0], (&[4.5, 6.0], &[0.0]));
    let q = Networks::Q { network: actor };
    check(None, &q, &[1.0, 0.0, -1.0, -1.0], (&[1.5, 2.0, -3.5, -6.0], &[2.0, -3.5]));
    let normalisation = Normalisation { mean: &[1.0, -1.0], scale: &[2.0, 100.0], clip: 10.0 };
    check(Some(normalisation), &q, &[3.0, 0.0], (&[34.5, 48.0], &[48.0]));
    // Two layers, nothing below zero between them.
    let layers = vec![
        DenseLayer { weights: &[1.0, -1.0, 0.0, 0.0], biases: &[0.0, 0.0] },
        DenseLayer { weights: &[2.0, 3.0], biases: &[1.0] },
    ];
    let q = Networks::Q { network: DenseNetwork { layers, activation: Activation::Relu } };
    check(None, &q, &[1.0, 9.0, -1.0, 9.0], (&[3.0, 4.0], &[3.0, 4.0]));
}

#[test]
fn what_pytorch_writes_says_what_onnxruntime_says() {
    for (name, bytes, expected) in RECORDED {
        let policy = load(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let numbers = |text: &str| -> Vec<f32> {
            text.split(' ').map(|word| word.parse().unwrap()).collect()
        };
        let rows: Vec<(Vec<f32>, Vec<f32>)> = expected
            .lines()
            .map(|line| line.split_once(" -> ").unwrap())
            .map(|(seen, made)| (numbers(seen), numbers(made)))
            .collect();
        // All at once, also where the file was made for one row.
        let seen: Vec<f32> = rows.iter().flat_map(|(seen, _)| seen.clone()).collect();
        let made: Vec<f32> = rows.iter().flat_map(|(_, made)| made.clone()).collect();
        let outputs =
            policy.act(&seen, rows.len()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let got: Vec<f32> = match outputs.actor {
            Values::Float(values) => values,
            Values::Integer(values) => values.iter().map(|&x| x as f32).collect(),
        };
        assert_eq!(got.len(), made.len(), "{name}");
        for (x, y) in got.iter().zip(&made) {
            assert!((x - y).abs() <= 1e-5, "{name}: {got:?} is not {made:?}");
        }
    }
}

#[test]
fn policies_fit_their_environments_and_no_others() {
    let named =
        |name: &str| load(RECORDED.iter().find(|(known, ..)| *known == name).unwrap().1).unwrap();
    let own = |n, n_actions| {
        load(&export_policy(&Policy::new(n, n_actions, &mut fastrand::Rng::with_seed(1)), vec![]))
            .unwrap()
    };
    let check = |policy: &OnnxPolicy, env_id: &str, expected: Result<Head, &str>| {
        let found = policy.check(spec(env_id)).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned));
    };
    check(&named("torchscript"), "CartPole-v1", Ok(Head::Scores));
    check(&named("dynamo"), "CartPole-v1", Ok(Head::Scores));
    check(&named("sb3_ppo_cartpole"), "CartPole-v1", Ok(Head::Index));
    check(&named("sb3_dqn_cartpole"), "CartPole-v1", Ok(Head::Index));
    check(&named("sb3_ppo_pendulum"), "Pendulum-v1", Ok(Head::Numbers));
    check(&named("sb3_sac_pendulum"), "Pendulum-v1", Ok(Head::Numbers));
    check(
        &named("dynamo"),
        "LunarLander-v3",
        Err("the policy does not fit LunarLander-v3: it takes `obs` of shape [batch, 4], and an \
             observation has 8 numbers: [batch, 8]"),
    );
    check(
        &own(8, 3),
        "LunarLander-v3",
        Err("the policy does not fit LunarLander-v3: it puts out `logits` of shape [batch, 3], 3 \
             numbers for 1 observations, and there are 4 actions: [batch, 4]"),
    );
    check(
        &own(24, 3),
        "BipedalWalker-v3",
        Err("the policy does not fit BipedalWalker-v3: it puts out `logits` of shape [batch, 3], \
             3 numbers for 1 observations, and there are 4 numbers to an action: [batch, 4]"),
    );
}

#[test]
fn actions_are_legal_and_within_bounds() {
    let policy = Policy::new(260, 69, &mut fastrand::Rng::with_seed(1));
    let read = load(&export_policy(&policy, vec![])).unwrap();
    let mut mask = [false; 69];
    mask[13] = true;
    let prospector = spec("AsteroidProspector-v0");
    let chosen = read.choose(prospector, &random_numbers(260, 3), &mask, 1).unwrap();
    assert_eq!(serde_json::to_string(&chosen).unwrap(), "[13]");
    let (weights, biases) = (&[0.0; 3], &[100.0]);
    let (actor, critic) = (layer(weights, biases), layer(weights, biases));
    let networks = Networks::Gaussian { actor, log_std: &[0.0], critic };
    let read = load(&export(3, None, &networks, None, vec![])).unwrap();
    let chosen = read.choose(spec("Pendulum-v1"), &[0.0; 6], &[true; 2], 2).unwrap();
    assert_eq!(serde_json::to_string(&chosen).unwrap(), "[[2.0],[2.0]]");
    let error = read.choose(spec("Pendulum-v1"), &[f32::NAN; 3], &[true], 1).unwrap_err();
    assert!(error.to_string().contains("what is not a number"), "{error}");
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Node {
    Node {
        operator: operator.to_owned(),
        inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
        outputs: vec![output.to_owned()],
        ..Node::default()
    }
}

/// A model from `x` of two numbers to `y`.
fn model(nodes: Vec<Node>) -> Model {
    let value = |name: &str| {
        ValueInfo::floats(name, vec![Dimension::Free("n".to_owned()), Dimension::Fixed(2)])
    };
    let graph =
        Graph { nodes, inputs: vec![value("x")], outputs: vec![value("y")], ..Graph::default() };
    Model { ir_version: 8, opset: 17, graph, ..Model::default() }
}

#[track_caller]
fn check_refused(model: &Model, expected: &str) {
    let outcome = load(&model.encode()).and_then(|policy| policy.act(&[1.0, 2.0], 1));
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains(expected), "{error:?} does not say {expected:?}");
}

#[test]
fn what_is_no_policy_is_refused() {
    check_refused(&model(vec![node("Tanh", &["z"], "y")]), "nothing before it makes its input `z`");
    check_refused(&model(vec![]), "nothing makes its output `y`");
    check_refused(&model(vec![node("Loop", &["x"], "y")]), "operator `Loop`");
    let twice = vec![node("Tanh", &["x"], "y"), node("Tanh", &["y"], "y")];
    check_refused(&model(twice), "`y` is made twice");
    let mut foreign = node("FusedGemm", &["x"], "y");
    foreign.domain = "com.microsoft".to_owned();
    check_refused(&model(vec![foreign]), "not one of ONNX but of `com.microsoft`");
    let mut two = model(vec![node("Add", &["x", "mask"], "y")]);
    two.graph.inputs.push(ValueInfo::floats("mask", vec![]));
    check_refused(&two, "it has 2 inputs (x, mask)");
    check_refused(&Model { opset: 6, ..model(vec![]) }, "of version 6");
    assert!(load(b"").unwrap_err().to_string().contains("it holds no graph"));
    assert!(load(b"PK\x03\x04 a zip").unwrap_err().to_string().starts_with("not an ONNX model"));
}

#[test]
fn what_other_outputs_need_is_not_looked_at() {
    let mut model = model(vec![node("Identity", &["x"], "y"), node("RandomNormal", &[], "z")]);
    model.graph.outputs.push(ValueInfo::floats("z", vec![]));
    let outputs = load(&model.encode()).unwrap().act(&[1.0, 2.0], 1).unwrap();
    assert_eq!(floats(&outputs.actor), [1.0, 2.0]);
}

#[test]
fn a_small_file_cannot_ask_for_much() {
    // Each node doubles what the one before it made.
    let mut nodes = vec![node("Concat", &["x", "x"], "d0")];
    for index in 0..60 {
        let (from, to) = (format!("d{index}"), format!("d{}", index + 1));
        nodes.push(node("Concat", &[&from, &from], &to));
    }
    nodes.push(node("Identity", &["d60"], "y"));
    check_refused(&model(nodes), "more memory than a policy may have");
    let mut shape = node("Constant", &[], "shape");
    let huge = Tensor::new(vec![2], Values::Integer(vec![1 << 31, 1 << 31]));
    shape.attributes.push(("value".to_owned(), Attribute::Tensor(huge)));
    let nodes = vec![shape, node("ConstantOfShape", &["shape"], "y")];
    check_refused(&model(nodes), "more memory than a policy may have");
}

#[test]
fn weights_elsewhere_are_found_only_beside_the_file() {
    let (_, bytes, _) = RECORDED[2];
    let text = b"dynamo_external.onnx.data";
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    for place in ["/etc/passwd.............", "../ynamo_external.onnx.data", "missing_file........"]
    {
        let mut bytes = bytes.to_vec();
        let length = text.len().min(place.len());
        bytes[at..at + length].copy_from_slice(&place.as_bytes()[..length]);
        let error = load(&bytes).unwrap_err().to_string();
        assert!(error.contains("its numbers are in `"), "{error}");
    }
}

#[test]
fn a_model_survives_its_bytes() {
    for (_, bytes, _) in RECORDED {
        let mut none = |_: &str| Ok(include_bytes!("recorded/dynamo_external.onnx.data").to_vec());
        let model = Model::decode(bytes, &mut none).unwrap();
        let again = Model::decode(&model.encode(), &mut none).unwrap();
        assert_eq!(again, model);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(4000)))]

    /// Damaged files are refused or run; none panics. `PROPTEST_CASES` asks for more.
    #[test]
    fn damaged_files_do_no_harm(
        which in 0..RECORDED.len() + 2,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..5_u8), 1..6),
    ) {
        let own = export_policy(&Policy::new(4, 2, &mut fastrand::Rng::with_seed(1)), vec![]);
        let shape = Shape { n_planes: 1, n_rows: 2, n_columns: 2, n_actions: 2 };
        let network = BoardNet::zeros(shape, &BoardConfig::residual(1, 16)).unwrap();
        let own = if which == RECORDED.len() { own } else { export_board_net(&network, vec![]) };
        let mut bytes = RECORDED.get(which).map_or(own, |(_, bytes, _)| bytes.to_vec());
        for (index, byte, kind) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = index.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes[at] = bytes[at].wrapping_add(1),
                2 => _ = bytes.remove(at),
                3 => bytes.insert(at, byte),
                _ => bytes.truncate(at.max(bytes.len() / 2)),
            }
        }
        if let Ok(policy) = load(&bytes) {
            for (n, width) in [(1, 4), (3, 4), (2, 3), (1, 192)] {
                _ = policy.act(&random_numbers(n * width, 1), n);
            }
        }
    }
}

/// Networks for boards, with weights everywhere, and what they say of some positions.
fn board_nets() -> Vec<(BoardNet, Vec<f32>)> {
    let connect4 = Shape { n_planes: 2, n_rows: 6, n_columns: 7, n_actions: 7 };
    let small = Shape { n_planes: 3, n_rows: 3, n_columns: 4, n_actions: 9 };
    [
        (connect4, BoardConfig::residual(2, 32)),
        (small, BoardConfig::residual(1, 16)),
        (small, BoardConfig::mlp(&[20, 30])),
    ]
    .into_iter()
    .map(|(shape, config)| {
        let rng = &mut fastrand::Rng::with_seed(1);
        let mut network = BoardNet::new(shape, &config, rng).unwrap();
        network.change(|all| all.iter_mut().for_each(|x| *x += 0.1 * (rng.f32() - 0.5)));
        (network, random_numbers(300 * shape.n_inputs(), 2))
    })
    .collect()
}

fn said(network: &BoardNet, planes: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let n = planes.len() / network.shape().n_inputs();
    let (mut logits, mut values) = (vec![0.0; n * network.shape().n_actions], vec![0.0; n]);
    network.infer(&mut Workspace::default(), planes, &mut logits, &mut values);
    (logits, values)
}

#[test]
fn the_file_of_a_board_net_says_what_it_says_to_the_bit() {
    for (network, planes) in board_nets() {
        let bytes = export_board_net(&network, vec![("run_id".to_owned(), "r-1".to_owned())]);
        let read = load(&bytes).unwrap();
        assert_eq!(read.metadata("run_id"), Some("r-1"));
        let outputs = read.act(&planes, 300).unwrap();
        let (logits, values) = said(&network, &planes);
        assert_eq!((floats(&outputs.actor), outputs.value), (&logits[..], Some(values)));
    }
}

/// Without what says that it is ours it runs like any other, in another order of sums; and so does
/// one that says it is ours and is not.
#[test]
fn the_file_of_a_board_net_runs_as_a_graph() {
    for (network, planes) in board_nets() {
        let bytes = export_board_net(&network, vec![]);
        let mut model = Model::decode(&bytes, &mut |_| unreachable!()).unwrap();
        let about = std::mem::take(&mut model.metadata);
        let check = |model: &Model, network: &BoardNet| {
            let outputs = load(&model.encode()).unwrap().act(&planes, 300).unwrap();
            let (logits, values) = said(network, &planes);
            let found = floats(&outputs.actor).iter().chain(outputs.value.as_ref().unwrap());
            for (x, y) in found.zip(logits.iter().chain(&values)) {
                assert!((x - y).abs() < 1e-5, "{:?}: {x} is not {y}", network.config());
            }
        };
        check(&model, &network);
        // Another graph with the same words and weights.
        model.metadata = about;
        let at = model.graph.nodes.iter().rposition(|node| node.operator == "Relu").unwrap();
        "Abs".clone_into(&mut model.graph.nodes[at].operator);
        let outputs = load(&model.encode()).unwrap().act(&planes, 300).unwrap();
        assert_ne!(outputs.value.unwrap(), said(&network, &planes).1, "the graph is what counts");
    }
}

#[test]
fn a_small_file_cannot_ask_for_a_large_board() {
    let shape = Shape { n_planes: 256, n_rows: 64, n_columns: 64, n_actions: 1 };
    let config = BoardConfig::Residual {
        n_blocks: 0,
        n_channels: 16,
        n_policy_channels: 1,
        n_value_channels: 1,
        n_value_units: 1,
    };
    let network = BoardNet::zeros(shape, &config).unwrap();
    let bytes = export_board_net(&network, vec![]);
    let model = Model::decode(&bytes, &mut |_| unreachable!()).unwrap();
    let is_known = |n_bytes, n_rows| board::recognise(&model, n_bytes, n_rows).is_some();
    assert!(is_known(bytes.len(), 1));
    // Too many numbers at once, and a file that has fewer than it says.
    assert!(!is_known(bytes.len(), 8) && !is_known(1 << 10, 1));
    // A small board, but too much to do.
    let shape = Shape { n_planes: 2, n_rows: 19, n_columns: 19, n_actions: 1 };
    let network = BoardNet::zeros(shape, &BoardConfig::residual(20, 128)).unwrap();
    let bytes = export_board_net(&network, vec![]);
    let model = Model::decode(&bytes, &mut |_| unreachable!()).unwrap();
    let is_known = |n_rows| board::recognise(&model, bytes.len(), n_rows).is_some();
    assert!(is_known(1) && !is_known(64));
}
