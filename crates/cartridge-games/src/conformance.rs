//! The promises of [`Game`] and [`Env`] as code: a cartridge is done when its check passes and
//! its playthrough reads right.

mod door;
mod recording;

use std::fmt::Write as _;

use serde_json::Value;

#[cfg(test)]
pub(crate) use self::recording::read_action;
pub use self::recording::replay_recording;

use crate::controls::{Controls, Effect, Idle, RESERVED_KEYS};
use crate::env::{ActionSpace, AnyAction, Env, EnvSpec, Step};
use crate::game::{Action, Game, Seat, Turn, Urgent, random_action};
use crate::registry::make_env;
use crate::scene::{Scene, Shape};

/// Plays one random game from `seed` and asserts every promise that [`Game`] makes, and that the
/// engine's door leads to the same game.
#[track_caller]
pub fn check_game<G: Game>(seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut game = G::start(&mut rng);
    let mut again = G::start(&mut fastrand::Rng::with_seed(seed));
    check_spots::<G>(&game);
    door::check_game::<G>(seed);
    for ply in 0.. {
        assert_eq!(game, again, "a seed and actions replay to the same position");
        let legal: Vec<Action> = game.legal_actions().collect();
        assert!(legal.is_sorted_by(|a, b| a < b), "legal actions ascend");
        assert!(legal.iter().all(|action| action.0 < G::SPEC.n_actions), "actions are in range");
        assert_eq!(legal.is_empty(), game.turn() == Turn::Over, "no action exactly when over");
        if let Turn::Seat(Seat(seat)) = game.turn() {
            assert!(seat < G::SPEC.n_seats, "the seat to move is at the table");
        }
        for seat in (0..G::SPEC.n_seats).map(Seat) {
            let seen = observe(&game, seat);
            assert!(seen.iter().all(|x| x.is_finite()), "observations are finite and complete");
            assert_eq!(seen, observe(&again, seat), "observations replay");
        }
        check_planes(&game);
        check_pieces(&game);
        check_symmetries(&game);
        check_text(&game);
        check_playout(&game, seed);
        check_urgent(&game);
        check_decisive(&game);
        check_scores(&game);
        check_scene(&game.scene());
        if legal.is_empty() {
            return;
        }
        assert!(ply < G::SPEC.max_plies, "the game ends in time");
        let before = game.clone();
        let action = legal[rng.usize(..legal.len())];
        game.apply(action);
        assert_ne!(game, before, "an action changes the position");
        assert_ne!(game.hash64(), before.hash64(), "another position has another hash");
        again.apply(action);
        for symmetry in 0..G::N_SYMMETRIES {
            let mut image = before.transform(symmetry);
            image.apply(G::transform_action(symmetry, action));
            assert_eq!(image, game.transform(symmetry), "an action and a symmetry commute");
        }
    }
}

/// One random game as text: facts, then each position with its legal actions.
pub fn playthrough_game<G: Game>(seed: u64) -> String {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut game = G::start(&mut rng);
    let mut text = format!("{:#?}\n", G::SPEC);
    loop {
        let legal: Vec<Action> = game.legal_actions().collect();
        let names: Vec<usize> = legal.iter().map(|&Action(index)| index).collect();
        _ = writeln!(text, "\n{game}{:?} legal={names:?} scores={:?}", game.turn(), scores(&game));
        if legal.is_empty() {
            return text;
        }
        let action = legal[rng.usize(..legal.len())];
        _ = writeln!(text, "> {} ({})", action.0, G::action_name(action));
        game.apply(action);
    }
}

/// How many lines of `depth` plies begin at `game`: the number by which rules are compared.
pub fn perft<G: Game>(game: &G, depth: usize) -> u64 {
    if depth == 0 {
        return 1;
    }
    if depth == 1 {
        return game.legal_actions().count() as u64;
    }
    game.legal_actions()
        .map(|action| {
            let mut next = game.clone();
            next.apply(action);
            perft(&next, depth - 1)
        })
        .sum()
}

/// The score of every seat, in order.
pub fn scores<G: Game>(game: &G) -> Vec<f32> {
    (0..G::SPEC.n_seats).map(|seat| game.score(Seat(seat))).collect()
}

/// Plays two random episodes, the first from `seed` and the second without one, and asserts
/// every promise that [`Env`] makes, and that the engine's door leads to the same episodes.
#[track_caller]
pub fn check_env(id: &str, options: &Value, seed: u64) {
    let options = options.as_object().expect("options have names");
    door::check_env(id, options, seed);
    let make = || make_env(id, options).expect("it is in the registry");
    let (mut env, mut again) = (make(), make());
    let spec = env.spec();
    check_env_spec(spec);
    let mut rng = fastrand::Rng::with_seed(seed);
    for reset_seed in [Some(seed), None] {
        let (mut seen, mut seen_again) = (blank(spec), blank(spec));
        env.reset(reset_seed, &mut seen);
        again.reset(reset_seed, &mut seen_again);
        let mut n_ticks = 0;
        loop {
            assert!(seen.iter().all(|x| x.is_finite()), "observations are finite and complete");
            assert_eq!(bits(&seen), bits(&seen_again), "a seed and actions replay bit for bit");
            let mask = legal(&*env);
            assert_eq!(mask, legal(&*again), "masks replay");
            assert!(mask.contains(&true), "there is always something to do");
            assert!(spec.is_masked || !mask.contains(&false), "only masked actions are illegal");
            check_scene(&env.scene());
            // The first episode tries everything, the second what is legal.
            let allowed = if reset_seed.is_some() { vec![true; mask.len()] } else { mask.clone() };
            let action = spec.actions.sample(&allowed, &mut rng);
            assert!(spec.actions.contains(action.borrow()), "a sample is in the space");
            seen.fill(f32::NAN);
            let step = env.step(action.borrow(), &mut seen);
            assert_eq!(step, again.step(action.borrow(), &mut seen_again), "steps replay");
            assert!(step.reward.is_finite(), "rewards are finite");
            let is_legal = match action {
                AnyAction::Discrete(Action(index)) => mask[index],
                AnyAction::Continuous(_) => true,
            };
            assert_eq!(step.is_invalid, !is_legal, "the mask is what is legal");
            assert!(step.ticks > 0, "a step takes time");
            n_ticks += step.ticks;
            let at_limit = n_ticks >= spec.max_steps;
            assert_eq!(step.truncated, at_limit, "truncated exactly at the time limit");
            if step.is_end() {
                assert!(seen.iter().all(|x| x.is_finite()), "the last observation is finite");
                assert_eq!(env.episode_metrics(), again.episode_metrics(), "metrics replay");
                let metrics = env.episode_metrics();
                assert!(metrics.iter().all(|(_, x)| x.is_finite()), "metrics are finite");
                check_scene(&env.scene());
                break;
            }
        }
    }
}

/// One random episode as text: facts, then its first steps and its last.
pub fn playthrough_env(make: &dyn Fn() -> Box<dyn Env>, seed: u64) -> String {
    const N_FIRST: usize = 12;
    const N_LAST: usize = 3;
    let mut env = make();
    let spec = env.spec();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut observation = blank(spec);
    env.reset(Some(seed), &mut observation);
    let widest = spec.action_names.iter().map(|name| name.len()).max().unwrap_or(0);
    let width = (widest + 2).max(12);
    let mut lines = vec![format!("{:>4}  {:<width$}{}", 0, "reset", numbers(&observation))];
    let mut total = 0.0;
    let last = loop {
        let action = spec.actions.sample(&legal(&*env), &mut rng);
        let step = env.step(action.borrow(), &mut observation);
        total += step.reward;
        lines.push(format!(
            "{:>4}  {:<width$}{}  reward {:+.3}",
            lines.len(),
            action_text(spec, &action),
            numbers(&observation),
            step.reward
        ));
        if step.is_end() {
            break step;
        }
    };

    let n_steps = lines.len() - 1;
    let mut text = format!("{spec:#?}\n\nseed {seed}\n");
    for (index, line) in lines.iter().enumerate() {
        if index < N_FIRST || index + N_LAST >= lines.len() {
            _ = writeln!(text, "{line}");
        } else if index == N_FIRST {
            _ = writeln!(text, "      ...");
        }
    }
    let Step { terminated, truncated, .. } = last;
    _ = writeln!(
        text,
        "steps={n_steps} terminated={terminated} truncated={truncated} return={total}"
    );
    for (name, value) in env.episode_metrics() {
        _ = writeln!(text, "{name}={value:.3}");
    }
    text
}

#[track_caller]
fn check_spots<G: Game>(game: &G) {
    let [left, bottom, right, top] = game.scene().view;
    let spots = G::spots();
    assert_eq!(spots.len(), G::SPEC.n_actions, "one spot per action");
    for (index, spot) in spots.iter().enumerate() {
        assert_eq!(spot.action, Action(index), "spots are in order");
        assert!(!spot.label.is_empty(), "a spot can be read aloud");
        assert!(!G::action_name(spot.action).is_empty(), "an action has a name");
        assert!(spot.x0 < spot.x1 && spot.y0 < spot.y1, "a spot has an inside");
        let inside = left <= spot.x0 && spot.x1 <= right && bottom <= spot.y0 && spot.y1 <= top;
        assert!(inside, "a spot is inside the view");
    }
}

#[track_caller]
fn check_pieces<G: Game>(game: &G) {
    let pieces: Vec<Seat> =
        (0..G::SPEC.n_actions).flat_map(|action| game.pieces(Action(action))).collect();
    for seat in (0..G::SPEC.n_seats).map(Seat) {
        let seen = planes(game, seat);
        let n_seen = seen[..seen.len() / 2].iter().filter(|&&x| x == 1.0).count();
        let n_told = pieces.iter().filter(|&&owner| owner == seat).count();
        assert_eq!(n_told, n_seen, "every piece lies on a spot");
    }
}

#[track_caller]
fn check_planes<G: Game>(game: &G) {
    let seen: Vec<Vec<f32>> = (0..G::SPEC.n_seats).map(|seat| planes(game, Seat(seat))).collect();
    for planes in &seen {
        assert!(planes.iter().all(|x| [0.0, 1.0].contains(x)), "planes are zeros and ones");
    }
    if let [first, second] = &seen[..] {
        let half = first.len() / 2;
        assert_eq!(first[..half], second[half..], "what one seat owns is the other's other");
        assert_eq!(first[half..], second[..half], "what one seat owns is the other's other");
    }
}

#[track_caller]
fn check_symmetries<G: Game>(game: &G) {
    assert_eq!(&game.transform(0), game, "symmetry 0 changes nothing");
    let legal: Vec<Action> = game.legal_actions().collect();
    for symmetry in 0..G::N_SYMMETRIES {
        let image = game.transform(symmetry);
        assert_eq!(image.turn(), game.turn(), "a symmetry keeps the turn");
        assert_eq!(scores(&image), scores(game), "a symmetry keeps the scores");
        let mut renamed: Vec<Action> =
            legal.iter().map(|&action| G::transform_action(symmetry, action)).collect();
        renamed.sort_unstable();
        assert_eq!(renamed, image.legal_actions().collect::<Vec<_>>(), "legal actions move along");
        let back = (0..G::N_SYMMETRIES).find(|&back| {
            (0..G::SPEC.n_actions).map(Action).all(|action| {
                G::transform_action(back, G::transform_action(symmetry, action)) == action
            })
        });
        let back = back.expect("every symmetry has one that undoes it");
        assert_eq!(&image.transform(back), game, "and it undoes the position too");
    }
}

#[track_caller]
fn check_text<G: Game>(game: &G) {
    let again: G = game.to_string().parse().expect("the text of a position is a position");
    assert_eq!(&again, game, "the text form says everything");
    assert_eq!(again.hash64(), game.hash64(), "equal positions have equal hashes");
    assert_eq!(again.turn(), game.turn(), "the turn is part of the text form");
}

#[track_caller]
fn check_playout<G: Game>(game: &G, seed: u64) {
    let (mut quick, mut plain) = (game.clone(), game.clone());
    let n_plies = quick.playout(&mut fastrand::Rng::with_seed(seed));
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut n_expected = 0;
    while plain.turn() != Turn::Over {
        plain.apply(random_action(&plain, &mut rng));
        n_expected += 1;
    }
    assert_eq!((quick, n_plies), (plain, n_expected), "a playout is random play, only faster");
}

#[track_caller]
fn check_urgent<G: Game>(game: &G) {
    let urgent = game.urgent();
    let Turn::Seat(seat) = game.turn() else {
        return assert_eq!(urgent, None, "nothing is urgent when all is over");
    };
    let wins = |game: &G, seat: Seat, action: Action| {
        let mut next = game.clone();
        next.apply(action);
        next.turn() == Turn::Over && next.score(seat) == G::SPEC.scores.1
    };
    let can_win = game.legal_actions().any(|action| wins(game, seat, action));
    match urgent {
        Some(Urgent::Win(action)) => assert!(wins(game, seat, action), "a win wins"),
        _ if !G::HAS_URGENT_ACTIONS => assert_eq!(urgent, None, "urgent actions are announced"),
        _ => assert!(!can_win, "no win is overlooked"),
    }
    if let Some(Urgent::Block(block)) = urgent {
        assert!(game.legal_actions().any(|action| action == block), "a block is legal");
        for other in game.legal_actions().filter(|&action| action != block) {
            let mut next = game.clone();
            next.apply(other);
            let Turn::Seat(seat) = next.turn() else { continue };
            assert!(wins(&next, seat, block), "what is not blocked wins");
        }
    }
}

#[track_caller]
fn check_decisive<G: Game>(game: &G) {
    let Some(action) = game.decisive() else { return };
    let Turn::Seat(seat) = game.turn() else { panic!("nothing is decisive when all is over") };
    let mut next = game.clone();
    next.apply(action);
    while next.turn() != Turn::Over {
        let forced: Vec<Action> = next.legal_actions().collect();
        assert_eq!(forced.len(), 1, "nobody has a choice after what is decisive");
        next.apply(forced[0]);
    }
    assert_eq!(next.score(seat), G::SPEC.scores.1, "what is decisive wins");
}

#[track_caller]
fn check_scores<G: Game>(game: &G) {
    let (low, high) = G::SPEC.scores;
    let scores = scores(game);
    assert!(scores.iter().all(|score| (low..=high).contains(score)), "scores are in range");
    if G::SPEC.is_zero_sum() {
        assert_eq!(scores.iter().sum::<f32>(), 0.0, "what one seat wins the other loses");
    }
}

#[track_caller]
fn check_env_spec(spec: &EnvSpec) {
    assert_eq!(spec.action_names.len(), spec.actions.size(), "every action has a name");
    assert_eq!(spec.observation_names.len(), spec.observation, "every number seen has a name");
    assert!(spec.max_steps > 0 && spec.frames_per_second > 0, "episodes take time");
    assert!(spec.quit_action.is_none_or(|action| action < spec.actions.size()), "in range");
    match &spec.controls {
        Some(controls) => check_controls(spec, controls),
        None => assert!(spec.actions.is_discrete(), "who has no keys chooses from a list"),
    }
}

#[track_caller]
fn check_controls(spec: &EnvSpec, controls: &Controls) {
    let keys: Vec<&str> = controls.keys.iter().flat_map(|control| control.keys).copied().collect();
    for (index, key) in keys.iter().enumerate() {
        let is_letter = key.len() == 1 && key.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_arrow = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].contains(key);
        assert!(is_letter || is_arrow, "`{key}` is a letter or an arrow");
        assert!(!RESERVED_KEYS.contains(key), "`{key}` is taken by the page");
        assert!(!keys[..index].contains(key), "`{key}` does one thing");
    }
    let effects = || controls.keys.iter().map(|control| control.effect);
    for control in controls.keys {
        assert!(!control.keys.is_empty() && !control.label.is_empty(), "a control can be named");
    }
    match spec.actions {
        ActionSpace::Discrete(n_actions) => {
            let idle = match controls.idle {
                Idle::Action(index) => Some(index),
                Idle::Last(index) => {
                    assert!(index < n_actions, "what is done at first is an action");
                    None
                }
                Idle::Zero => panic!("a list of actions has no zero"),
            };
            let by_key = effects().map(|effect| match effect {
                Effect::Action(index) => index,
                Effect::Add { .. } => panic!("an action of a list has no numbers"),
            });
            let mut reached: Vec<usize> = by_key.chain(idle).collect();
            reached.sort_unstable();
            assert_eq!(reached, (0..n_actions).collect::<Vec<_>>(), "every action, one way each");
        }
        ActionSpace::Continuous { low, high } => {
            assert_eq!(controls.idle, Idle::Zero, "without keys all numbers are zero");
            for effect in effects() {
                let Effect::Add { index, value } = effect else {
                    panic!("numbers are no list of actions")
                };
                assert!((low[index]..=high[index]).contains(&value), "values are within bounds");
            }
            for index in 0..low.len() {
                let moves = |effect| matches!(effect, Effect::Add { index: i, .. } if i == index);
                assert!(effects().any(moves), "every number can be changed");
            }
        }
    }
}

#[track_caller]
fn check_scene(scene: &Scene) {
    let [left, bottom, right, top] = scene.view;
    assert!(left < right && bottom < top, "the view has an inside");
    assert!(scene.view.iter().all(|x| x.is_finite()), "the view is finite");
    assert!(!scene.shapes.is_empty(), "there is something to see");
    for shape in &scene.shapes {
        let (points, lengths) = match shape {
            Shape::Polygon { points, width, .. } | Shape::Line { points, width, .. } => {
                assert!(points.len() >= 2, "a line has two ends");
                (points.clone(), [*width, 0.0])
            }
            Shape::Circle { center, radius, width, .. } => (vec![*center], [*radius, *width]),
            Shape::Text { at, size, .. } => (vec![*at], [*size, 0.0]),
        };
        assert!(points.as_flattened().iter().all(|x| x.is_finite()), "shapes are finite");
        assert!(lengths.iter().all(|x| x.is_finite() && *x >= 0.0), "lengths are not negative");
    }
}

fn observe<G: Game>(game: &G, seat: Seat) -> Vec<f32> {
    let mut out = vec![f32::NAN; G::SPEC.observation];
    game.observe(seat, &mut out);
    out
}

fn planes<G: Game>(game: &G, seat: Seat) -> Vec<f32> {
    let mut out = vec![f32::NAN; G::SPEC.planes.iter().product()];
    game.observe_planes(seat, &mut out);
    out
}

/// A buffer in which a number that was not written shows.
fn blank(spec: &EnvSpec) -> Vec<f32> {
    vec![f32::NAN; spec.observation]
}

fn bits(observation: &[f32]) -> Vec<u32> {
    observation.iter().map(|x| x.to_bits()).collect()
}

/// The first numbers of an observation; more would not be read.
fn numbers(observation: &[f32]) -> String {
    const N_SHOWN: usize = 8;
    let shown = observation.iter().take(N_SHOWN).map(|x| format!("{x:+9.4}"));
    shown.chain((observation.len() > N_SHOWN).then(|| "  ...".to_owned())).collect()
}

/// What may be done now.
fn legal(env: &dyn Env) -> Vec<bool> {
    let mut mask = vec![false; env.spec().actions.size()];
    env.legal_actions(&mut mask);
    mask
}

/// An action as a playthrough shows it.
fn action_text(spec: &EnvSpec, action: &AnyAction) -> String {
    match action {
        AnyAction::Discrete(Action(index)) => spec.action_names[*index].to_owned(),
        AnyAction::Continuous(numbers) => {
            numbers.iter().map(|x| format!("{x:+.3}")).collect::<Vec<_>>().join(" ")
        }
    }
}
