use super::*;

fn player(key: &str) -> MatchPlayer {
    MatchPlayer { key: key.to_owned(), name: key.to_owned(), sha256: None }
}

fn line(a: &str, b: &str, results: &str) -> MatchLine {
    MatchLine {
        format: 1,
        id: format!("{a} {b} {results}"),
        run: "r-000000".parse().unwrap(),
        t: 1.0,
        game: "connect4".to_owned(),
        rules: AnyGame::start("connect4", &mut fastrand::Rng::with_seed(0)).unwrap().spec().version,
        env: Map::new(),
        cartridge_version: "0".to_owned(),
        a: player(a),
        b: player(b),
        seed: 0,
        both_sides: true,
        results: results.to_owned(),
        seeds: Vec::new(),
        returns: Vec::new(),
    }
}

fn rate(lines: &[MatchLine]) -> Ratings {
    ratings(lines, "connect4", None).unwrap()
}

/// The one rating of a player.
#[track_caller]
fn of<'a>(ratings: &'a Ratings, key: &str) -> &'a Rating {
    let all = ratings.groups.iter().flat_map(|group| &group.players);
    let found: Vec<&Rating> = all.filter(|rating| rating.player.key == key).collect();
    assert_eq!(found.len(), 1, "{key}");
    found[0]
}

/// Numbers of the `trueskill` package (defaults): two new players, one game.
#[test]
fn trueskill_is_as_published() {
    #[track_caller]
    fn check(result: &str, a: (f64, f64), b: (f64, f64)) {
        let ratings = rate(&[line("a", "b", result)]);
        for (key, (mu, sigma)) in [("a", a), ("b", b)] {
            let found = of(&ratings, key).trueskill;
            let distance = (found.mu - mu).abs().max((found.sigma - sigma).abs());
            assert!(distance < 1e-3, "{result} {key}: {found:?}");
            assert!((found.exposed - (mu - 3.0 * sigma)).abs() < 4e-3);
        }
    }
    check("W", (29.396, 7.171), (20.604, 7.171));
    check("L", (20.604, 7.171), (29.396, 7.171));
    check("D", (25.0, 6.458), (25.0, 6.458));
}

#[test]
fn elo_moves_by_what_was_not_expected() {
    // Two equals: half a point was expected.
    let ratings = rate(&[line("a", "b", "W")]);
    assert_eq!(of(&ratings, "a").elo, 1200.5);
    assert_eq!(of(&ratings, "b").elo, 1199.5);
    // Then 1 - 1 / (1 + 10^(-1/400)) for the loser's win.
    let ratings = rate(&[line("a", "b", "WL")]);
    let expected = 1.0 / (1.0 + 10_f64.powf(-1.0 / 400.0));
    assert!((of(&ratings, "a").elo - (1200.5 - expected)).abs() < 1e-9);
}

/// With two players and an even prior the answer is known: the log-odds of the score, a little
/// nearer to 0, with the error of a binomial proportion.
#[test]
fn two_players_are_as_far_apart_as_their_score_says() {
    let results = ["W".repeat(300), "L".repeat(100)].concat();
    let ratings = rate(&[line("a", ANCHOR, &results)]);
    let a = of(&ratings, "a");
    assert!((a.rating - 190.85).abs() < 1.5, "{a:?}");
    // 1 / sqrt(400 * 0.75 * 0.25) in units of strength.
    assert!((a.standard_error - ELO / 75.0_f64.sqrt()).abs() < 0.5, "{a:?}");
    let zero = of(&ratings, ANCHOR);
    assert_eq!((zero.rating, zero.standard_error), (0.0, 0.0));
    assert_eq!(ratings.groups[0].anchor, ANCHOR);
    let same = rate(&[line(ANCHOR, "a", &["L".repeat(300), "W".repeat(100)].concat())]);
    assert!((of(&same, "a").rating - a.rating).abs() < 1e-9, "whoever is told of first");
    let halves = rate(&[line("a", ANCHOR, &"D".repeat(50))]);
    assert!(of(&halves, "a").rating.abs() < 1e-9, "a draw is half a win for each");
}

/// Synthetic players of known strength: the errors are what they say they are.
#[test]
fn known_strengths_are_found() {
    let truth = [("builtin:random", 0.0), ("a", 150.0), ("b", 280.0), ("c", 400.0), ("d", -90.0)];
    let (mut n_outside, mut n) = (0, 0);
    for seed in 0..20 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut lines = Vec::new();
        for (at, (a, of_a)) in truth.iter().enumerate() {
            for (b, of_b) in &truth[..at] {
                let chance = 1.0 / (1.0 + 10_f64.powf((of_b - of_a) / 400.0));
                let results: String =
                    (0..200).map(|_| if rng.f64() < chance { 'W' } else { 'L' }).collect();
                lines.push(line(a, b, &results));
            }
        }
        let ratings = rate(&lines);
        for (key, strength) in &truth[1..] {
            let found = of(&ratings, key);
            let sigmas = (found.rating - strength).abs() / found.standard_error;
            assert!(sigmas < 4.5, "{key}: {found:?}");
            n_outside += u32::from(sigmas > 2.0);
            n += 1;
        }
        let order: Vec<&str> =
            ratings.groups[0].players.iter().map(|it| it.player.key.as_str()).collect();
        assert_eq!(order, ["c", "b", "a", "builtin:random", "d"]);
    }
    // One in twenty lies beyond two standard errors.
    assert!(n_outside <= n / 8, "{n_outside} of {n}");
}

#[test]
fn who_never_lost_stays_finite_and_unsure() {
    let ratings = rate(&[line("a", ANCHOR, &"W".repeat(100))]);
    let a = of(&ratings, "a");
    assert!(a.rating > 400.0 && a.rating < 2_000.0, "{a:?}");
    assert!(a.standard_error > 100.0, "{a:?}");
    let more = rate(&[line("a", ANCHOR, &"W".repeat(1_000))]);
    assert!(of(&more, "a").rating > a.rating, "more wins are worth more");
}

#[test]
fn groups_that_never_met_are_not_compared() {
    let lines = [
        line("a", ANCHOR, "WWL"),
        line("c", "d", "WWL"),
        line("d", "e", "WL"),
        line("lonely", "lonely", "WD"),
    ];
    let ratings = rate(&lines);
    let groups: Vec<(&str, usize)> =
        ratings.groups.iter().map(|it| (it.anchor.as_str(), it.players.len())).collect();
    assert_eq!(groups, [(ANCHOR, 2), ("d", 3), ("lonely", 1)]);
    assert!(ratings.notes[0].starts_with("3 groups of players"), "{:?}", ratings.notes);
    let connected = rate(&[&lines[..3], &[line("a", "c", "WL")]].concat());
    assert_eq!((connected.groups.len(), connected.notes.len()), (1, 0));
    let by_c = super::ratings(&lines, "connect4", Some("c")).unwrap();
    assert_eq!((by_c.groups[0].anchor.as_str(), of(&by_c, "c").rating), ("c", 0.0));
    assert_eq!(by_c.groups[1].anchor, ANCHOR);
    super::ratings(&lines, "connect4", Some("nobody")).unwrap_err();
}

#[test]
fn only_what_can_be_compared_counts() {
    let mut older = line("a", ANCHOR, "WW");
    older.rules = 0;
    let elsewhere = MatchLine { game: "othello".to_owned(), ..line("a", ANCHOR, "WW") };
    let ratings = rate(&[line("a", ANCHOR, "L"), older, elsewhere]);
    assert_eq!((ratings.n_matches, ratings.n_games, ratings.n_left_out), (1, 1, 1));
    assert_eq!(ratings.notes.len(), 1);
    let lander = |env: Value| MatchLine {
        game: "LunarLander-v3".to_owned(),
        rules: make_env("LunarLander-v3", &Map::new()).unwrap().spec().version,
        env: env.as_object().unwrap().clone(),
        ..line("a", ANCHOR, "W")
    };
    use serde_json::json;
    let lines =
        [lander(json!({})), lander(json!({ "gravity": -10 })), lander(json!({ "gravity": -5.0 }))];
    let ratings = super::ratings(&lines, "LunarLander-v3", None).unwrap();
    assert_eq!((ratings.n_matches, ratings.n_left_out), (2, 1));
    super::ratings(&lines, "LunarLander-v9", None).unwrap_err();
}

#[test]
fn history_tells_each_match_in_turn() {
    let lines = [line("a", ANCHOR, "WW"), line("b", ANCHOR, "D"), line("a", "b", "WL")];
    let all = history(&lines, "connect4", None, None, 10).unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!((all[0].score, all[1].score, all[2].score), (1.0, 0.5, 0.5));
    assert!(all[0].a.elo > 1200.0 && all[0].b.elo < 1200.0);
    let last = of(&rate(&lines), "a").elo;
    assert_eq!(all[2].a.elo, last, "the last is where they stand");
    let ids = |moments: &[Moment]| -> Vec<String> {
        moments.iter().map(|moment| moment.match_id.clone()).collect()
    };
    let newest = history(&lines, "connect4", None, None, 1).unwrap();
    assert_eq!(ids(&newest), ids(&all[2..]));
    let of_b = history(&lines, "connect4", Some("b"), None, 10).unwrap();
    assert_eq!(ids(&of_b), ids(&all[1..]));
    assert_eq!(of_b[1].a.elo, all[2].a.elo, "all matches count, whoever is looked at");
}

/// After every match the rating is that of all games up to then, with its error: what
/// [`ratings`](super::ratings) says of the log as far as it went.
#[test]
fn the_history_of_bradley_terry_is_its_fit_to_the_log_so_far() {
    #[track_caller]
    fn check(lines: &[MatchLine], anchor: Option<&str>) {
        let told = history(lines, "connect4", None, anchor, lines.len()).unwrap();
        for (at, moment) in told.iter().enumerate() {
            let so_far = &lines[..=at];
            let known = |key: &&str| {
                so_far.iter().any(|it| [&it.a.key, &it.b.key].contains(&&(*key).to_owned()))
            };
            let fitted = super::ratings(so_far, "connect4", anchor.filter(known)).unwrap();
            let has =
                |group: &&RatingGroup| group.players.iter().any(|it| it.player.key == moment.a.key);
            let group = fitted.groups.iter().find(has).unwrap();
            assert_eq!(moment.anchor, group.anchor, "match {at}");
            for standing in [&moment.a, &moment.b] {
                let whole = of(&fitted, &standing.key);
                let distance = (standing.rating - whole.rating).abs()
                    + (standing.standard_error - whole.standard_error).abs();
                assert!(distance < 1e-4, "match {at}: {standing:?} is not {whole:?}");
                assert_eq!((standing.elo, standing.trueskill), (whole.elo, whole.trueskill));
            }
        }
        // Whoever asks for the newest few gets the same of them.
        let newest = history(lines, "connect4", None, anchor, 3).unwrap();
        for (one, other) in newest.iter().zip(&told[told.len() - newest.len()..]) {
            assert!((one.a.rating - other.a.rating).abs() < 1e-4, "{one:?} {other:?}");
        }
    }
    check(&[line("a", ANCHOR, "WWL"), line("c", "d", "WWL"), line("a", "c", "D")], None);
    check(&[line("a", "b", "W"), line("a", "a", "WL"), line("b", "c", "L")], Some("c"));
    let mut rng = fastrand::Rng::with_seed(7);
    let names = ["a", "b", "c", "d", "e", "f", ANCHOR];
    let lines: Vec<MatchLine> = (0..60)
        .map(|_| {
            let results: String =
                (0..rng.usize(1..30)).map(|_| *rng.choice(&['W', 'D', 'L'][..]).unwrap()).collect();
            line(names[rng.usize(..7)], names[rng.usize(..7)], &results)
        })
        .collect();
    check(&lines, None);
    check(&lines, Some("d"));
    // Nobody has ever lost to the first: far from where the fit begins.
    let sweep: Vec<MatchLine> = (0..20).map(|_| line("a", ANCHOR, &"W".repeat(500))).collect();
    check(&sweep, None);
}

#[test]
fn a_player_is_rated_as_its_network() {
    let with_hash = |line: MatchLine, hash: &str| {
        let a = MatchPlayer { sha256: Some(hash.to_owned()), ..line.a };
        MatchLine { a, ..line }
    };
    let ratings = rate(&[
        with_hash(line("run:r-000000@step_000001000:64", "builtin:random", "WWWL"), "one"),
        with_hash(line("run:r-000000@step_000001000:2", "builtin:random", "WL"), "one"),
        with_hash(line("model:connect4@1:400", "builtin:random", "WWWW"), "one"),
        with_hash(line("model:connect4@2:9", "builtin:random", "LL"), "two"),
        // Of an older log, which had the hash of the file.
        with_hash(line("shipped:0123456789abcdef:64", "builtin:random", "WD"), "file"),
    ]);
    #[track_caller]
    fn check(ratings: &Ratings, key: &str, hash: &str, expected: Option<(&str, Option<u32>)>) {
        let player = MatchPlayer { sha256: Some(hash.to_owned()), ..player(key) };
        let known = ratings.of(&player);
        let found = known.as_ref().map(|it| (it.rating.player.key.as_str(), it.n_simulations));
        assert_eq!(found, expected, "{key}");
        assert!(known.is_none_or(|it| it.anchor == "builtin:random"));
    }
    let (few, some) = ("run:r-000000@step_000001000:2", "run:r-000000@step_000001000:64");
    // The player itself, the nearest of its network under another name, and nobody.
    check(&ratings, some, "one", Some((some, Some(64))));
    check(&ratings, "model:connect4@1:0", "one", Some((few, Some(2))));
    check(&ratings, "model:connect4@1:25", "one", Some((some, Some(64))));
    check(&ratings, "model:connect4@1:100", "one", Some((some, Some(64))));
    check(&ratings, "model:connect4@1:1600", "one", Some(("model:connect4@1:400", Some(400))));
    check(&ratings, "model:connect4@2:64", "two", Some(("model:connect4@2:9", Some(9))));
    let shipped = "shipped:0123456789abcdef";
    let older = format!("{shipped}:64");
    check(&ratings, &format!("{shipped}:0"), "weights", Some((&older, Some(64))));
    check(&ratings, "model:connect4@3:64", "three", None);
    // Nobody who is built in is another.
    assert_eq!(ratings.of(&player("builtin:mcts:100")), None);
    assert_eq!(ratings.of(&player("builtin:random")).unwrap().n_simulations, None);
}

#[test]
fn seeds_are_summed_over_all_matches_that_had_them() {
    let other_base = |line: MatchLine| MatchLine { seed: 7, ..line };
    // Two openings from both sides, twice; then one opening of another base.
    let lines = [line("x", "y", "WLDW"), line("z", "x", "LLWD"), other_base(line("x", "z", "LL"))];
    let summed: Vec<_> = by_seed(&lines, "connect4", "x")
        .unwrap()
        .into_iter()
        .map(|score| (score.seed_base, score.number, score.n_matches, score.wins, score.losses))
        .collect();
    assert_eq!(summed, [(0, 1, 2, 3, 1), (0, 2, 2, 1, 1), (7, 1, 1, 0, 2)]);
    // In an environment a seed is a seed, whatever it follows from.
    let episodes = |id: &str, seeds: Vec<u64>, base| MatchLine {
        id: id.to_owned(),
        game: "CartPole-v1".to_owned(),
        rules: make_env("CartPole-v1", &Map::new()).unwrap().spec().version,
        seed: base,
        both_sides: false,
        seeds,
        ..line("x", "y", "WL")
    };
    let lines = [episodes("1", vec![5, 6], 0), episodes("2", vec![6, 9], 1)];
    let summed = by_seed(&lines, "CartPole-v1", "y").unwrap();
    let told: Vec<_> = summed.iter().map(|one| (one.seed, one.wins, one.losses)).collect();
    assert_eq!(told, [(5, 0, 1), (6, 1, 1), (9, 1, 0)]);
    assert_eq!(by_seed(&lines, "CartPole-v1", "nobody").unwrap(), []);
}
