use cartridge_games::env::EnvAction;
use cartridge_games::game::Action;

use super::*;

fn scenario(step: u64) -> Scenario {
    let env = make_env("CartPole-v1", &Map::new()).unwrap();
    let mut actions = Actions::new(&env.spec().actions);
    (0..8).for_each(|_| actions.push(EnvAction::Discrete(Action(1))));
    Scenario { step, seed: 1, actions }
}

#[test]
fn the_last_evaluation_is_filmed_however_busy_the_camera_is() {
    let camera = Camera::start("CartPole-v1", &Map::new());
    // Whether one of these is taken is a matter of time, and not of the number that are offered.
    (0..100).for_each(|step| camera.offer(scenario(step)));
    let made = camera.finish(scenario(1_000));
    assert!((1..=2).contains(&made.len()), "{}", made.len());
    let last = made.last().unwrap();
    assert_eq!(last.step, 1_000);
    assert!(last.film.as_ref().unwrap().len() > 1000);
}

#[test]
fn a_film_that_cannot_be_made_says_why() {
    let camera = Camera::start("NoSuch-v0", &Map::new());
    let made = camera.finish(scenario(5));
    assert!(made[0].film.as_ref().unwrap_err().to_string().contains("NoSuch-v0"));
}
