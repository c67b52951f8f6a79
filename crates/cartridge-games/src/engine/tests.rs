use serde_json::json;

use super::state::reseal;
use super::*;

fn engine(id: &str) -> EngineContext {
    EngineContext::new(id).unwrap()
}

fn options(value: Value) -> Map<String, Value> {
    let Value::Object(options) = value else { panic!("options are an object") };
    options
}

fn index(action: u32) -> [u8; 4] {
    action.to_le_bytes()
}

/// Every cartridge there is.
fn ids() -> impl Iterator<Item = &'static str> {
    let games = registry::games().iter().map(|spec| spec.id);
    games.chain(registry::environments().iter().map(|spec| spec.id))
}

#[track_caller]
fn check<T: std::fmt::Debug>(result: Result<T, EngineError>, expected: &str) {
    assert_eq!(result.expect_err("it is refused").to_string(), expected);
}

/// A state of Connect 4 with bytes at the start of its header or its payload changed.
fn forged(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut state = engine("connect4").reset(0, b"").unwrap().state;
    state[at..at + bytes.len()].copy_from_slice(bytes);
    reseal(&mut state);
    state
}

#[test]
fn a_state_is_pinned() {
    let text = ".......\n".repeat(6) + "1234567\n";
    let mut expected = b"CTRG\x01\x00\x08connect4\x01\x00\x00\x00".to_vec();
    expected.extend(0xa706_dd2f_4d19_7e6f_u64.to_le_bytes());
    expected.extend(text.as_bytes());
    expected.extend(0xf6df_b6a1_ab5a_ed18_u64.to_le_bytes());
    assert_eq!(engine("connect4").reset(7, b"").unwrap().state, expected);

    let episode = engine("CartPole-v1");
    let view = episode.reset(258, b"").unwrap();
    let state = episode.step(&view.state, &index(1)).unwrap().view.state;
    let header = b"CTRG\x01\x00\x0bCartPole-v1\x01\x00\x00\x00";
    assert_eq!(state[..header.len()], *header);
    assert_eq!(state[header.len() + 8..state.len() - 8], [2, 1, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn every_cartridge_has_capabilities() {
    for id in ids() {
        let engine = engine(id);
        let facts = engine.capabilities();
        let view = engine.reset(3, b"").unwrap();
        assert_eq!(facts.id, id);
        assert_eq!(view.observation.len(), 4 * facts.observation_size);
        let planes = facts.planes_shape.map_or(0, |shape| shape.iter().product());
        assert_eq!(view.planes.len(), 4 * planes);
        assert!(view.state.len() <= facts.max_state_bytes);
        assert!((1..=MAX_PREFERRED_BATCH).contains(&facts.preferred_batch));
        assert!(facts.max_horizon > 0 && facts.n_seats > 0);
    }
    let facts = engine("connect4").capabilities();
    assert_eq!((facts.version, facts.n_seats, facts.max_horizon), (1, 2, 42));
    assert_eq!((facts.state, facts.action), (Encoding::POSITION, Encoding::INDEX));
    assert_eq!(facts.action_space, ActionSpace::Discrete(7));
    assert_eq!(facts.planes_shape, Some([2, 6, 7]));
    let facts = engine("CartPole-v1").capabilities();
    assert_eq!((facts.n_seats, facts.max_horizon, facts.is_masked), (1, 500, false));
    assert_eq!((facts.state, facts.planes), (Encoding::EPISODE, None));
}

#[test]
fn what_does_not_exist_gets_a_hint() {
    check(EngineContext::new("conect4"), "unknown cartridge `conect4`; did you mean `connect4`?");
    check(
        EngineContext::new("cartpole"),
        "unknown cartridge `cartpole`; did you mean `CartPole-v1`?",
    );
    let long = "x".repeat(1 << 24);
    check(EngineContext::new(&long), "unknown cartridge `xxxxxxxxxxxxxxxx...`; no id is so long");
    check(
        EngineContext::with_options("connect4", &options(json!({ "rows": 7 }))),
        "game `connect4` has no option `rows`; board games have none",
    );
    check(
        EngineContext::with_options("CartPole-v1", &options(json!({ "gravity": 7 }))),
        "environment `CartPole-v1` has no option `gravity`; its options are: `sutton_barto_reward`, `max_episode_steps`",
    );
}

#[test]
fn what_is_no_state_is_refused_and_says_what_to_do() {
    let engine = engine("connect4");
    let step = |state: &[u8]| engine.step(state, &index(3));
    check(
        step(b""),
        "these 0 bytes are not a state: it is too short; give a state back as it was given out",
    );
    check(
        step(b"hello"),
        "these 5 bytes are not a state: it does not begin with `CTRG`; give a state back as it \
         was given out",
    );
    let mut damaged = engine.reset(0, b"").unwrap().state;
    damaged[40] = b'x';
    check(
        step(&damaged),
        "the state is damaged: its checksum is wrong; give a state back as it was given out",
    );
    check(
        step(&forged(4, &[9, 0])),
        "the state is in encoding 9, and this engine reads encoding 1; reset to begin anew, or \
         step it by the version of Cartridge that made it",
    );
    check(
        step(&super::tests::engine("othello").reset(0, b"").unwrap().state),
        "the state is one of `othello`, and not of `connect4`; ask `othello` to step it",
    );
    check(
        step(&forged(15, &[2])),
        "the state is from version 2 of `connect4`, and this is version 1; reset to begin anew, \
         or step it by the version of Cartridge that made it",
    );
    check(
        step(&forged(19, &[2])),
        "the state was made by `connect4` with other options; give the options of its reset",
    );
    check(
        step(&forged(27, b"x")),
        "the state is impossible: not a position of connect4: a disc floats; give a state back as \
         it was given out",
    );
    // Connect 4 reads a board without its last line, but never writes one.
    let mut lenient = forged(27, b".");
    lenient.drain(lenient.len() - 16..lenient.len() - 8);
    reseal(&mut lenient);
    check(
        step(&lenient),
        "the state is impossible: the position is not written as the game writes it; give a \
         state back as it was given out",
    );
    let mut enormous = forged(4, &[1, 0]);
    enormous.resize(1 << 25, 0);
    reseal(&mut enormous);
    check(
        step(&enormous),
        "these 33554432 bytes are not a state: it is too long; give a state back as it was given \
         out",
    );
}

#[test]
fn actions_are_checked() {
    let engine = engine("connect4");
    let position = "o......\nx......\no......\nx......\no......\nx......\n";
    let state = engine.reset(0, position.as_bytes()).unwrap().state;
    check(
        engine.step(&state, b"3"),
        "bad action: it is an index of four bytes (u32, little endian), and not 1 bytes",
    );
    check(engine.step(&state, &index(7)), "bad action: action 7 is not below 7");
    check(
        engine.step(&state, &index(0)),
        "action 0 is not legal here; legal are [1, 2, 3, 4, 5, 6]",
    );
    check(
        engine.reset(0, b"nonsense"),
        "the hint cannot be used: not a position of connect4: there must be 6 rows of 7 cells",
    );
    check(
        super::tests::engine("CartPole-v1").reset(0, b"upright"),
        "the hint cannot be used: environment `CartPole-v1` begins from its seed alone; leave the \
         hint empty",
    );
}

#[test]
fn an_episode_that_cannot_be_is_refused() {
    let engine = engine("CartPole-v1");
    let view = engine.reset(0, b"").unwrap();
    let with_actions = |actions: &[u8]| {
        let mut state = view.state.clone();
        let at = state.len() - 8;
        state.splice(at..at, actions.iter().copied());
        reseal(&mut state);
        state
    };
    let step = |actions: &[u8]| engine.step(&with_actions(actions), &index(1));
    step(&[0, 1, 0]).unwrap();
    check(
        step(&[0, 2]),
        "the state is impossible: action 2 is not below 2; give a state back as it was given out",
    );
    check(
        step(&[1; 50]),
        "the state is impossible: the episode ends after 8 of its 50 actions; give a state back \
         as it was given out",
    );
    check(step(&[1; 8]), "it has ended, so no action can be taken; reset to begin anew");
    assert!(matches!(step(&[1; 501]), Err(EngineError::NotAState { .. })));
    let mut cut = view.state.clone();
    cut.drain(cut.len() - 12..cut.len() - 8);
    reseal(&mut cut);
    check(
        engine.step(&cut, &index(0)),
        "the state is impossible: an episode has a seed of 8 bytes; give a state back as it was \
         given out",
    );
}

#[test]
fn options_belong_to_the_state() {
    let published = options(json!({ "reward": "published" }));
    let other = EngineContext::with_options("AsteroidProspector-v0", &published).unwrap();
    let plain = engine("AsteroidProspector-v0");
    let state = other.reset(1, b"").unwrap().state;
    assert_eq!(
        plain.step(&state, &index(6)),
        Err(EngineError::OtherOptions { id: "AsteroidProspector-v0" })
    );
    let rewards = |engine: &EngineContext| {
        let view = engine.reset(1, b"").unwrap();
        engine.step(&view.state, &index(6)).unwrap().rewards
    };
    assert_ne!(rewards(&plain), rewards(&other));
}

#[test]
fn an_option_may_change_the_actions_and_an_old_id_opens_the_new() {
    let continuous = options(json!({ "continuous": true }));
    let lander = EngineContext::with_options("LunarLander-v3", &continuous).unwrap();
    let facts = lander.capabilities();
    assert_eq!((facts.action, facts.action_space.size()), (Encoding::NUMBERS, 2));
    let state = lander.reset(0, b"").unwrap().state;
    lander.step(&state, &to_bytes(&[0.5, 1e30])).unwrap();
    check(
        lander.step(&state, &index(1)),
        "bad action: it is 2 numbers of four bytes (f32, little endian), and not 4 bytes",
    );
    check(
        lander.step(&state, &to_bytes(&[0.0, f32::NAN])),
        "bad action: NaN is no number to act by",
    );
    let old = engine("LunarLander-v2");
    assert_eq!(old.capabilities().id, "LunarLander-v3");
    assert_eq!(old.reset(0, b""), engine("LunarLander-v3").reset(0, b""));
}

#[test]
fn more_episodes_than_are_kept_go_on_all_the_same() {
    let engine = engine("CartPole-v1");
    let n_lanes = 3 * engine.capabilities().preferred_batch;
    let play = |engine: &EngineContext, seed: u64| {
        let mut view = engine.reset(seed, b"").unwrap();
        for action in [0, 1, 1] {
            view = engine.step(&view.state, &index(action)).unwrap().view;
        }
        view
    };
    let mut states: Vec<Vec<u8>> =
        (0..n_lanes).map(|seed| engine.reset(seed as u64, b"").unwrap().state).collect();
    let mut last = Vec::new();
    for action in [0, 1, 1] {
        let action = index(action);
        last = engine.step_batch(states.iter().map(|state| (&state[..], &action[..])));
        states = last.iter().map(|step| step.as_ref().unwrap().view.state.clone()).collect();
    }
    for (seed, step) in last.into_iter().enumerate() {
        assert_eq!(step.unwrap().view, play(&engine, seed as u64));
    }
}

#[test]
fn the_longest_episode_fits_and_ends() {
    let engine = engine("AsteroidProspector-v0");
    let facts = engine.capabilities();
    let hold = index(6);
    let mut view = engine.reset(5, b"").unwrap();
    let mut total = 0.0;
    let mut n_steps = 0;
    let last = loop {
        let transition = engine.step(&view.state, &hold).unwrap();
        total += transition.rewards[0];
        n_steps += 1;
        if transition.view.seat.is_none() {
            break transition;
        }
        view = transition.view;
    };
    let mut env = make_env(facts.id, &Map::new()).unwrap();
    let mut seen = vec![0.0; facts.observation_size];
    env.reset(Some(5), &mut seen);
    let expected: f64 = (0..n_steps).map(|_| env.step(Action(6).into(), &mut seen).reward).sum();
    assert_eq!((total, last.view.observation), (expected, to_bytes(&seen)));
    assert_eq!(last.truncated, n_steps == facts.max_horizon);
    assert!(last.view.state.len() <= facts.max_state_bytes);
    assert!(!last.view.legal.contains(&true));
    assert_eq!(engine.step(&last.view.state, &hold), Err(EngineError::Over));
}

#[test]
fn a_context_is_shared_between_threads() {
    let engine = engine("CartPole-v1");
    let episode = |seed: u64| {
        let mut view = engine.reset(seed, b"").unwrap();
        let mut actions = (0..).map(|n: u32| index(n % 2));
        while view.seat.is_some() {
            view = engine.step(&view.state, &actions.next().unwrap()).unwrap().view;
        }
        view
    };
    let alone: Vec<View> = (0..8).map(episode).collect();
    let episode = &episode;
    let together: Vec<View> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || episode(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(alone, together);
}
