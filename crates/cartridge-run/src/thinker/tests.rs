use std::path::Path;

use cartridge_learn::board_net::Config as NetConfig;
use cartridge_learn::onnx::board::export_board_net;
use cartridge_learn::onnx::model::Model;

use super::*;
use crate::policy_file::PolicyFile;

fn start(game: &str) -> AnyGame {
    AnyGame::start(game, &mut fastrand::Rng::with_seed(0)).unwrap()
}

fn position(game: &str, actions: &[usize]) -> AnyGame {
    let mut position = start(game);
    actions.iter().for_each(|&action| position.apply(Action(action)));
    position
}

/// A small network that has learnt nothing, but whose outputs are far from even.
pub(crate) fn network(game: &str, seed: u64) -> BoardNet {
    let shape = Shape::of(start(game).spec());
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut network = BoardNet::zeros(shape, &NetConfig::residual(1, 16)).unwrap();
    network.change(|all| all.iter_mut().for_each(|x| *x = 0.4 * (rng.f32() - 0.5)));
    network
}

fn thinker(game: &str, seed: u64) -> Thinker {
    Thinker::own("a network", network(game, seed), start(game).spec()).unwrap()
}

fn of_file(game: &str, bytes: &[u8]) -> Result<Thinker> {
    let file = PolicyFile::parse(Path::new("a.onnx"), bytes)?;
    Ok(Thinker::of_file("a.onnx", BoardPolicy::new(file, start(game).spec())?))
}

/// The network as an ONNX file that nobody knows to be ours, with as many of its two outputs.
fn foreign(network: &BoardNet, n_outputs: usize) -> Vec<u8> {
    let bytes = export_board_net(network, vec![]);
    let mut model = Model::decode(&bytes, &mut |_| unreachable!("it is one file")).unwrap();
    model.metadata.clear();
    model.graph.outputs.truncate(n_outputs);
    model.encode()
}

#[test]
fn without_simulations_the_policy_alone_decides() {
    for game in ["tictactoe", "connect4", "othello"] {
        let thinker = thinker(game, 3);
        let position = start(game);
        let thought = thinker.think(&position, 0).unwrap();
        let sum: f32 = thought.actions.iter().map(|it| it.prior).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        let legal: Vec<Action> = thought.actions.iter().map(|it| it.action).collect();
        assert_eq!(legal, position.legal_actions());
        let greatest = thought.actions.iter().map(|it| it.prior).fold(0.0, f32::max);
        let chosen = thought.actions.iter().find(|it| it.action == thought.action).unwrap();
        assert_eq!(chosen.prior, greatest);
        assert!(thought.actions.iter().any(|it| it.prior < 0.9 * greatest), "it is not even");
        assert_eq!((thought.n_simulations, chosen.n_visits, chosen.mean), (0, 0, None));
        let Turn::Seat(seat) = position.turn() else { unreachable!() };
        let net = network(game, 3);
        let mut planes = vec![0.0; net.shape().n_inputs()];
        position.observe_planes(seat, &mut planes);
        let (mut logits, mut value) = (vec![0.0; net.shape().n_actions], [0.0]);
        net.infer(&mut Workspace::default(), &planes, &mut logits, &mut value);
        assert_eq!(thought.value, Some(value[0]));
    }
}

#[test]
fn a_search_answers_the_same_whatever_was_asked_before() {
    for game in ["tictactoe", "connect4", "othello"] {
        let fresh = |position: &AnyGame| thinker(game, 5).think(position, 60).unwrap();
        let used = thinker(game, 5);
        let mut position = start(game);
        for _ in 0..5 {
            let thought = used.think(&position, 60).unwrap();
            let again = used.think(&position, 60).unwrap();
            let expected = fresh(&position);
            let told = |thought: &Thought| {
                let Thought { action, value, proven, actions, line, .. } = thought.clone();
                (action, value, proven, actions, line, thought.statistics.n_descents)
            };
            assert_eq!(told(&thought), told(&expected), "{game}");
            assert_eq!(told(&again), told(&expected), "{game}");
            assert_eq!(again.statistics.n_evaluations, 0, "{game}: all is known by now");
            let n_visits: u32 = thought.actions.iter().map(|it| it.n_visits).sum();
            assert!(n_visits == 60 || thought.proven.is_some(), "{game}: {n_visits}");
            assert_eq!(thought.line[0], thought.action);
            position.apply(thought.action);
        }
    }
}

#[test]
fn a_win_at_once_is_taken_and_one_of_the_other_blocked() {
    // Three in a column of the seat to move, and of the other.
    let wins = position("connect4", &[3, 0, 3, 0, 3, 1]);
    let blocks = position("connect4", &[3, 0, 3, 0, 3]);
    for seed in 0..5 {
        let thinker = thinker("connect4", seed);
        let thought = thinker.think(&wins, 20).unwrap();
        assert_eq!((thought.action, thought.value), (Action(3), Some(1.0)));
        assert_eq!((thought.proven, &thought.line[..]), (Some(1.0), &[Action(3)][..]));
        // And the policy is told all the same: of both views.
        let mirrored = position("connect4", &[3, 6, 3, 6, 3, 5]);
        let logs = |position: &AnyGame| -> Vec<f32> {
            let alone = thinker.think(position, 0).unwrap();
            alone.actions.iter().map(|it| it.prior.ln()).collect()
        };
        let (one, other) = (logs(&wins), logs(&mirrored));
        let offset = |place: usize| {
            thought.actions[place].prior.ln() - (one[place] + other[6 - place]) / 2.0
        };
        assert!((0..7).all(|place| (offset(place) - offset(0)).abs() < 1e-4));
        assert_eq!(thinker.think(&blocks, 20).unwrap().action, Action(3));
    }
}

#[test]
fn files_think_as_their_networks() {
    for game in ["tictactoe", "connect4", "othello"] {
        let network = network(game, 7);
        let (position, own) = (start(game), thinker(game, 7));
        let expected = own.think(&position, 40).unwrap();
        let ours = of_file(game, &export_board_net(&network, vec![])).unwrap();
        assert_eq!(ours.think(&position, 40).unwrap(), expected, "to the bit");
        let theirs = of_file(game, &foreign(&network, 2)).unwrap();
        assert!(matches!(theirs.network, Network::File(_)));
        let thought = theirs.think(&position, 40).unwrap();
        assert!((thought.value.unwrap() - expected.value.unwrap()).abs() < 1e-3);
        let n_visits: u32 = thought.actions.iter().map(|it| it.n_visits).sum();
        assert_eq!(n_visits, 40);
    }
}

#[test]
fn who_has_no_value_cannot_search_and_is_told_so() {
    let network = network("connect4", 7);
    let thinker = of_file("connect4", &foreign(&network, 1)).unwrap();
    assert!(!thinker.has_value());
    let thought = thinker.think(&start("connect4"), 0).unwrap();
    assert_eq!((thought.value, thought.actions.len()), (None, 7));
    let error = thinker.think(&start("connect4"), 1).unwrap_err().to_string();
    assert!(error.contains("no `value`") && error.contains("`:0`"), "{error}");
}

#[test]
fn a_network_that_went_wrong_is_an_error() {
    let mut network = network("connect4", 7);
    network.change(|all| all.fill(f32::NAN));
    let thinker = Thinker::own("a network", network, start("connect4").spec()).unwrap();
    for n_simulations in [0, 10] {
        let error = thinker.think(&start("connect4"), n_simulations).unwrap_err().to_string();
        assert!(error.contains("not a number"), "{error}");
    }
}

#[test]
fn a_network_of_another_board_is_refused() {
    let network = network("othello", 7);
    let error = Thinker::own("a network", network, start("connect4").spec()).unwrap_err();
    assert!(error.to_string().contains("2 planes of 8x8 and 65 actions"), "{error}");
}

/// At Connect 4 a search goes by a position and its mirror image alike.
#[test]
fn mirror_images_are_thought_of_alike() {
    let thinker = thinker("connect4", 3);
    for (moves, mirrored) in [(&[][..], &[][..]), (&[0, 3, 3, 2], &[6, 3, 3, 4])] {
        let [one, other] =
            [moves, mirrored].map(|moves| thinker.think(&position("connect4", moves), 60).unwrap());
        let value = one.value.unwrap();
        assert!((value - other.value.unwrap()).abs() < 1e-5);
        for considered in one.actions {
            let image = Action(6 - considered.action.0);
            let other = other.actions.iter().find(|other| other.action == image).unwrap();
            assert!((considered.prior - other.prior).abs() < 1e-5);
            // Where both are the same position, one of the two was looked at first.
            assert!(moves.is_empty() || considered.n_visits == other.n_visits);
        }
    }
    // The network itself sees them differently.
    let one = thinker.think(&position("connect4", &[0, 3, 3, 2]), 0).unwrap();
    let other = thinker.think(&position("connect4", &[6, 3, 3, 4]), 0).unwrap();
    assert!((one.value.unwrap() - other.value.unwrap()).abs() > 1e-5);
}
