use cartridge_games::env::EnvAction;
use cartridge_games::game::Action;

use super::*;

/// Pushing a cart to the left until its pole falls: ten steps or so.
fn fall() -> Actions {
    let env = make_world("CartPole-v1", &Map::new()).unwrap();
    let mut actions = Actions::new(&env.spec().actions);
    let mut env = env;
    let mut observation = [0.0; 4];
    env.reset(Some(1), &mut observation);
    loop {
        actions.push(EnvAction::Discrete(Action(0)));
        if env.step(EnvAction::Discrete(Action(0)), &mut observation).is_end() {
            return actions;
        }
    }
}

/// Frames of a film of `n` such episodes of at most so many seconds.
fn frames(n: usize, most_seconds: u32) -> usize {
    let actions = fall();
    let mut reel = Reel::new(50, most_seconds);
    for _ in 0..n {
        let take = Take { name: "episode", seed: 1, actions: &actions };
        reel.add_episode("CartPole-v1", &Map::new(), take, &mut || true).unwrap();
    }
    let n_frames = reel.n_frames();
    assert!(reel.finish().unwrap().len() > 1000);
    n_frames
}

#[test]
fn every_second_step_is_shown_and_the_end_stays() {
    let n_steps = fall().len();
    // The start, every second step before the last, and the last for half a second.
    let one = 1 + (n_steps - 1) / 2 + 13;
    assert_eq!(frames(1, 60), one);
    assert_eq!(frames(3, 60), 3 * one);
    assert_eq!(frames(30, 2), 50, "two seconds at 25 pictures");
}

#[test]
fn a_film_that_is_not_wanted_any_more_ends() {
    let actions = fall();
    let take = Take { name: "episode", seed: 1, actions: &actions };
    let mut reel = Reel::new(50, 60);
    let mut n_asked = 0;
    let mut go_on = || {
        n_asked += 1;
        n_asked < 3
    };
    assert!(!reel.add_episode("CartPole-v1", &Map::new(), take, &mut go_on).unwrap());
    assert_eq!(n_asked, 3);
}
