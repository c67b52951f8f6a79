use cartridge_games::connect4::Connect4;
use proptest::prelude::*;

use super::*;

fn played() -> PlayedGame {
    let ply = |action: u16| Ply {
        policy: vec![(action, 60_000), (6, 5_535)],
        value: -123,
        is_full: action != 3,
    };
    PlayedGame {
        actions: [3, 3, 4, 0].map(Action).to_vec(),
        n_opening: 1,
        plies: vec![ply(3), ply(4), ply(0)],
        score: -VALUE_ONE,
        end: End::Resigned,
    }
}

#[test]
fn a_game_is_read_as_it_was_written() {
    for end in [End::Over, End::Proven, End::Resigned] {
        let game = PlayedGame { end, ..played() };
        assert_eq!(PlayedGame::from_bytes(&game.to_bytes()), Ok(game));
    }
    // The form is one that others read: see its description.
    let bytes = played().to_bytes();
    assert_eq!(bytes[..8], [1, 2, 0x01, 0x80, 1, 0, 4, 0]);
    assert_eq!(bytes.len(), 8 + 4 * 2 + 3 * (2 + 1 + 2 + 2 * 4));
}

#[test]
fn half_a_game_is_none() {
    let bytes = played().to_bytes();
    for end in 0..bytes.len() {
        assert!(PlayedGame::from_bytes(&bytes[..end]).is_err(), "cut to {end}");
    }
    assert!(PlayedGame::from_bytes(&[bytes, vec![0]].concat()).is_err());
}

proptest! {
    #[test]
    fn garbage_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = FORMAT;
        }
        if let Ok(game) = PlayedGame::from_bytes(&bytes) {
            _ = game.replay(|_: &Connect4, _| {});
        }
    }
}

#[test]
fn a_replay_shows_what_was_searched() {
    let mut seen = Vec::new();
    played().replay(|game: &Connect4, ply| seen.push((game.to_string(), ply.clone()))).unwrap();
    assert_eq!(seen.len(), 3);
    let mut game = Connect4::start(&mut fastrand::Rng::new());
    game.apply(Action(3));
    assert_eq!(seen[0], (game.to_string(), played().plies[0].clone()));
}

#[test]
fn what_is_not_legal_is_not_played() {
    let check = |change: &dyn Fn(&mut PlayedGame)| {
        let mut game = played();
        change(&mut game);
        assert!(game.replay(|_: &Connect4, _| {}).is_err());
    };
    check(&|game| game.actions[2] = Action(7));
    check(&|game| game.plies[1].policy[0].0 = 7);
    check(&|game| {
        game.actions = vec![Action(3); 7];
        game.plies = vec![game.plies[0].clone(); 6];
    });
}

#[test]
fn shares_are_whole_numbers() {
    let ply = Ply::new(&[0.25, 0.0, 0.75], -1.0, true);
    assert_eq!(ply.policy, [(0, 16_384), (2, 49_151)]);
    assert_eq!(ply.value, -VALUE_ONE);
}
