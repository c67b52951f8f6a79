use super::*;

const CART_POLE: &str = include_str!("../../cart_pole/golden.txt");
const LUNAR_LANDER: &str = include_str!("../../lunar_lander/golden.txt");

#[test]
fn closeness_is_compared_too() {
    assert!(replay("CartPole-v1", CART_POLE, replay_closely) > 0);
    assert!(replay("LunarLander-v3", LUNAR_LANDER, replay_closely) > 0);
}

/// Replays an episode of which one word is another.
fn replay_damaged(id: &str, recording: &str, word: &str, other: &str) {
    assert!(recording.contains(word));
    replay(id, &recording.replacen(word, other, 1), replay_exactly);
}

#[test]
#[should_panic(expected = "no seed: seed x7 terminated")]
fn a_seed_that_is_no_number_is_refused() {
    replay_damaged("CartPole-v1", CART_POLE, "seed 7 ", "seed x7 ");
}

#[test]
#[should_panic(expected = "CartPole-v1, seed 7 truncated, step")]
fn another_end_is_found() {
    replay_damaged("CartPole-v1", CART_POLE, "seed 7 terminated", "seed 7 truncated");
}

#[test]
#[should_panic(expected = "CartPole-v1, seed 0 terminated, step 0: ")]
fn another_reward_is_found() {
    // The bits of 1.0.
    replay_damaged("CartPole-v1", CART_POLE, "3ff0000000000000", "3ff0000000000001");
}

#[test]
#[should_panic(expected = "LunarLander-v3, seed 0 terminated, reset")]
fn another_checksum_is_found() {
    let is_checksum = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
    let checksum = LUNAR_LANDER.lines().find(is_checksum).unwrap();
    replay_damaged("LunarLander-v3", LUNAR_LANDER, checksum, "#00000000");
}
