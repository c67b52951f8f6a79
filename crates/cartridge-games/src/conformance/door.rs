//! What the engine's door promises of every cartridge: the same play as without it, from bytes
//! alone, and a plain refusal of any others.

use serde_json::{Map, Value};

use super::{bits, blank, legal, observe, planes, scores};
use crate::engine::state::reseal;
use crate::engine::{EngineContext, EngineError, Transition, View};
use crate::env::AnyAction;
use crate::game::{Action, Game, Seat, Turn};
use crate::registry::make_env;

/// Plays one random game through the door beside the game itself.
#[track_caller]
pub(super) fn check_game<G: Game>(seed: u64) {
    let engine = EngineContext::new(G::SPEC.id).expect("the game is in the registry");
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut game = G::start(&mut fastrand::Rng::with_seed(seed));
    let mut view = engine.reset(seed, b"").expect("a game starts without a hint");
    let mut totals = vec![0.0; G::SPEC.n_seats];
    loop {
        let legal: Vec<Action> = game.legal_actions().collect();
        check_view(&view, &game, &legal);
        check_refusals(&engine, &view.state, &0_u32.to_le_bytes(), &mut rng);
        let hinted = engine.reset(seed, game.to_string().as_bytes());
        if game.turn() == Turn::Over {
            let step = engine.step(&view.state, &0_u32.to_le_bytes());
            assert_eq!(step, Err(EngineError::Over), "nothing follows the end");
            assert!(matches!(hinted, Err(EngineError::BadHint(_))), "nothing begins at the end");
            break;
        }
        assert_eq!(hinted.as_ref(), Ok(&view), "a game can begin with any position");
        for index in (0..G::SPEC.n_actions).filter(|&index| !view.legal[index]) {
            let step = engine.step(&view.state, &(index as u32).to_le_bytes());
            assert!(matches!(step, Err(EngineError::IllegalAction { .. })), "the mask is right");
        }
        let action = legal[rng.usize(..legal.len())];
        let fresh = EngineContext::new(G::SPEC.id).expect("the game is in the registry");
        let bytes = (action.0 as u32).to_le_bytes();
        let transition = check_step(&engine, &fresh, &view.state, &bytes);
        game.apply(action);
        assert_eq!(transition.terminated, game.turn() == Turn::Over, "the end is the end");
        assert!(!transition.truncated, "a game has no time limit");
        for (total, reward) in totals.iter_mut().zip(&transition.rewards) {
            *total += reward;
        }
        if G::SPEC.is_zero_sum() {
            assert_eq!(transition.rewards.iter().sum::<f64>(), 0.0, "one wins what others lose");
        }
        view = transition.view;
    }
    let scores: Vec<f64> = scores(&game).into_iter().map(f64::from).collect();
    assert_eq!(totals, scores, "rewards sum to the score");
}

/// Plays the beginning of a random episode through the door beside the environment itself.
#[track_caller]
pub(super) fn check_env(id: &str, options: &Map<String, Value>, seed: u64) {
    // A state holds the episode so far, so that the cost of all steps grows with its square.
    const N_STEPS: usize = 200;
    let make_engine = || EngineContext::with_options(id, options).expect("it is in the registry");
    let engine = make_engine();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut env = make_env(id, options).expect("it is in the registry");
    let spec = env.spec();
    let mut seen = blank(spec);
    env.reset(Some(seed), &mut seen);
    let mut view = engine.reset(seed, b"").expect("an episode starts without a hint");
    assert!(engine.reset(seed, b"x").is_err(), "an environment takes no hint");
    let mut is_over = false;
    let mut earlier: Option<(Vec<u8>, Vec<u8>, Transition)> = None;
    for index in 0..N_STEPS {
        assert_eq!(numbers(&view.observation), bits(&seen), "observations pass bit for bit");
        assert_eq!(view.seat, (!is_over).then_some(Seat(0)), "there is one seat");
        let mask = legal(&*env);
        let expected = match spec.actions.is_discrete() {
            true if is_over => vec![false; mask.len()],
            true => mask.clone(),
            false => Vec::new(),
        };
        assert_eq!(view.legal, expected, "the mask passes");
        let action = spec.actions.sample(&vec![true; mask.len()], &mut rng);
        let bytes = action_bytes(&action);
        // Behind the checksum an episode is replayed, which takes a while.
        if is_over || index % 50 == 0 {
            check_refusals(&engine, &view.state, &bytes, &mut rng);
        }
        if is_over {
            let step = engine.step(&view.state, &bytes);
            assert_eq!(step, Err(EngineError::Over), "nothing follows the end");
            break;
        }
        let transition = if index % 50 == 0 {
            check_step(&engine, &make_engine(), &view.state, &bytes)
        } else {
            engine.step(&view.state, &bytes).expect("a state can be stepped")
        };
        let step = env.step(action.borrow(), &mut seen);
        assert_eq!(
            (transition.rewards[0].to_bits(), transition.terminated, transition.truncated),
            (step.reward.to_bits(), step.terminated, step.truncated),
            "rewards and ends pass, so that rewards sum to the return"
        );
        assert_eq!(
            (transition.rewards.len(), transition.ticks, transition.is_invalid),
            (1, step.ticks, step.is_invalid)
        );
        is_over = step.is_end();
        if index % 7 == 0 {
            earlier = Some((view.state.clone(), bytes, transition.clone()));
        }
        view = transition.view;
    }
    if let Some((state, action, transition)) = earlier {
        let again = engine.step(&state, &action);
        assert_eq!(again, Ok(transition), "branching from an older state gives the same bits");
    }
}

/// Takes a step in every way there is, which must be the same.
#[track_caller]
fn check_step(
    engine: &EngineContext,
    fresh: &EngineContext,
    state: &[u8],
    action: &[u8],
) -> Transition {
    let capabilities = engine.capabilities();
    assert!(state.len() <= capabilities.max_state_bytes, "states are as long as was said");
    let transition = engine.step(state, action).expect("a state can be stepped");
    assert_eq!(engine.step(state, action).as_ref(), Ok(&transition), "a step leaves no trace");
    assert_eq!(fresh.step(state, action).as_ref(), Ok(&transition), "a state says everything");
    let items = [(state, action), (b"garbage", action), (state, b"?"), (state, action)];
    let [first, garbage, no_action, last] = &engine.step_batch(items)[..] else {
        panic!("a batch answers each element")
    };
    assert!(garbage.is_err() && no_action.is_err(), "what is wrong is refused");
    assert_eq!([first, last], [&Ok(transition.clone()); 2], "and spoils nothing");
    transition
}

/// Hands in what is nearly a state.
#[track_caller]
fn check_refusals(engine: &EngineContext, state: &[u8], action: &[u8], rng: &mut fastrand::Rng) {
    let mut changed = state.to_vec();
    changed[rng.usize(..state.len())] ^= 1 << rng.u8(..8);
    let step = engine.step(&changed, action);
    assert!(step.is_err(), "a changed bit is noticed");
    assert_eq!(step, engine.step(&changed, action), "and noticed again");
    assert!(engine.step(&state[..rng.usize(..state.len())], action).is_err(), "so is a cut");
    assert!(engine.step(&[state, b"x"].concat(), action).is_err(), "and an addition");

    // Behind the checksum: the version of the encoding, the first letter of the id, the version
    // of the cartridge and its options.
    let n_id = usize::from(state[6]);
    let behind = |at: usize| {
        let mut state = state.to_vec();
        state[at] ^= 1;
        reseal(&mut state);
        engine.step(&state, action)
    };
    assert!(matches!(behind(4), Err(EngineError::OtherEncoding { .. })));
    assert!(matches!(behind(7), Err(EngineError::OtherCartridge { .. })));
    assert!(matches!(behind(7 + n_id), Err(EngineError::OtherVersion { .. })));
    assert!(matches!(behind(7 + n_id + 4), Err(EngineError::OtherOptions { .. })));
    // Whatever a payload says, it is an answer and not a panic.
    let payload = 7 + n_id + 12..state.len() - 8;
    if !payload.is_empty() {
        let at = rng.usize(payload);
        assert_eq!(behind(at), behind(at), "whatever it is, it is the same again");
    }
}

#[track_caller]
fn check_view<G: Game>(view: &View, game: &G, legal: &[Action]) {
    let seat = match game.turn() {
        Turn::Seat(seat) => Some(seat),
        Turn::Over => None,
    };
    assert_eq!(view.seat, seat, "the turn passes");
    let seat = seat.unwrap_or(Seat(0));
    assert_eq!(numbers(&view.observation), bits(&observe(game, seat)), "observations pass");
    assert_eq!(numbers(&view.planes), bits(&planes(game, seat)), "planes pass");
    let mask: Vec<bool> =
        (0..G::SPEC.n_actions).map(|index| legal.contains(&Action(index))).collect();
    assert_eq!(view.legal, mask, "the mask is what is legal");
}

fn action_bytes(action: &AnyAction) -> Vec<u8> {
    match action {
        AnyAction::Discrete(Action(index)) => (*index as u32).to_le_bytes().to_vec(),
        AnyAction::Continuous(numbers) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
    }
}

/// The bits of the numbers in an observation.
fn numbers(bytes: &[u8]) -> Vec<u32> {
    let (numbers, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "an observation is numbers of four bytes");
    numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}
