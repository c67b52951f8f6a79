//! How strong players are, from the matches that were played.
//!
//! **Bradley-Terry** (Bradley and Terry 1952) is the rating that counts: of all games at once,
//! whatever their order. Player `i` scores against `j` with chance `1 / (1 + exp(s_j - s_i))`; a
//! draw is half a win for each. The strengths `s` are the mode under a wide normal prior
//! ([`PRIOR_ELO`]), so that who never lost stays finite, found by Newton's method; their errors come
//! from the inverse of the same second derivatives (the Fisher information). Strengths are told in
//! Elo (`400 / ln 10` times `s`) as the difference from an anchor, whose rating is 0. Players that
//! no chain of games connects cannot be compared, so each connected group has an anchor of its own.
//!
//! Beside it, because people know them: **Elo** as ML-Agents keeps it (every player starts at
//! [`ELO_START`], K = 1: a game moves both by the result less what was expected) and **TrueSkill**
//! (Herbrich and others 2007; the usual constants). Both depend on the order of the games, which is
//! that of the log.
//!
//! All three have a [`history`]: where the two players of a match stood after it. Elo and TrueSkill
//! move from game to game; Bradley-Terry is fitted again to all games up to then, beginning from the
//! strengths before the match.

use std::collections::{BTreeMap, HashMap};

use cartridge_games::registry::{AnyGame, env_options, is_game, make_env};
use cartridge_store::{MatchLine, MatchPlayer};
use serde::Serialize;
use serde_json::{Map, Value};
use skillratings::Outcomes;
use skillratings::trueskill::{TrueSkillConfig, TrueSkillRating, trueskill};

use crate::error::{Result, RunError};
use crate::matches::opening_seed;
use crate::player::{network_in, simulations_in};

/// The player that is the anchor where nobody names another.
pub const ANCHOR: &str = "builtin:random";

/// Elo of a player that has not played.
pub const ELO_START: f64 = 1200.0;

/// Standard deviation of the strengths before any game, in Elo: twice that of what is met in any
/// game, so that it decides nothing where games do.
const PRIOR_ELO: f64 = 1_000.0;

/// Elo of one unit of strength.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// Half of a 95% interval in standard errors.
const Z: f64 = 1.959_963_985;

/// The most players that are rated; those with the most games are.
pub const MOST_PLAYERS: usize = 400;

/// The ratings at a game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratings {
    /// Id of the game or environment.
    pub game: String,
    /// How many matches count.
    pub n_matches: usize,
    /// How many games they had.
    pub n_games: u64,
    /// Matches that do not count: under other options, or older rules.
    pub n_left_out: usize,
    /// Groups of players that games connect, the one with the wanted anchor first, then by size.
    /// Ratings of different groups cannot be compared.
    pub groups: Vec<RatingGroup>,
    /// What one must know to read them, in sentences.
    pub notes: Vec<String>,
}

/// Players that games connect, however indirectly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatingGroup {
    /// The key of the player whose rating is 0.
    pub anchor: String,
    /// The players, the strongest first.
    pub players: Vec<Rating>,
}

/// How strong a player is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rating {
    /// Who it is.
    pub player: MatchPlayer,
    /// Games that it played.
    pub games: u64,
    /// Games that it won.
    pub wins: u64,
    /// Games that it drew.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// Bradley-Terry rating in Elo above the anchor.
    pub rating: f64,
    /// Its standard error; 0 for the anchor.
    pub standard_error: f64,
    /// Its 95% interval.
    pub ci95: [f64; 2],
    /// Elo after its last game, with K = 1.
    pub elo: f64,
    /// TrueSkill after its last game.
    pub trueskill: TrueSkill,
}

/// A TrueSkill rating.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrueSkill {
    /// The mean of what is believed.
    pub mu: f64,
    /// Its standard deviation.
    pub sigma: f64,
    /// What it is at least, almost surely: `mu - 3 sigma`.
    pub exposed: f64,
}

impl From<TrueSkillRating> for TrueSkill {
    fn from(rating: TrueSkillRating) -> Self {
        let TrueSkillRating { rating: mu, uncertainty: sigma } = rating;
        Self { mu, sigma, exposed: mu - 3.0 * sigma }
    }
}

/// What is known of how strong somebody is.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// The rating, of the player itself or of the same network under another name or with other
    /// simulations.
    pub rating: Rating,
    /// The key of the player whose rating is 0.
    pub anchor: String,
    /// The simulations that it was rated with; none where it does not search.
    pub n_simulations: Option<u32>,
}

impl Ratings {
    /// How strong a player is: by its own games, or else by those of the same network with as many
    /// simulations as near as there are. Nothing where it has never played.
    ///
    /// Few networks are rated at every strength at which they are played, and one that was promoted
    /// has a new key; but what it has learnt is the same.
    pub fn of(&self, player: &MatchPlayer) -> Option<Known> {
        let wanted = simulations_in(&player.key);
        let is_it = |other: &MatchPlayer| {
            let is_same_hash = player.sha256.is_some() && other.sha256 == player.sha256;
            other.key == player.key
                || is_same_hash
                || network_in(&other.key).is_some_and(|it| network_in(&player.key) == Some(it))
        };
        let groups = self.groups.iter();
        let all = groups.flat_map(|group| group.players.iter().map(move |it| (it, group)));
        let known = all.filter(|(rating, _)| is_it(&rating.player)).map(|(rating, group)| Known {
            rating: rating.clone(),
            anchor: group.anchor.clone(),
            n_simulations: simulations_in(&rating.player.key),
        });
        known.min_by(|a, b| {
            let order = |known: &Known| {
                let is_other = known.rating.player.key != player.key;
                (is_other, doublings(known.n_simulations, wanted), u64::MAX - known.rating.games)
            };
            let ((a_other, a_far, a_games), (b_other, b_far, b_games)) = (order(a), order(b));
            (a_other.cmp(&b_other)).then(a_far.total_cmp(&b_far)).then(a_games.cmp(&b_games))
        })
    }
}

/// How many doublings lie between two numbers of simulations: each is worth about as much as the one
/// before, so that 100 are nearer to 200 than to none.
fn doublings(a: Option<u32>, b: Option<u32>) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => ((f64::from(a) + 1.0) / (f64::from(b) + 1.0)).log2().abs(),
        (None, None) => 0.0,
        _ => f64::INFINITY,
    }
}

/// Where the players of a match stood after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// The match.
    pub match_id: String,
    /// When it ended.
    pub t: f64,
    /// Player A after it.
    pub a: Standing,
    /// Player B after it.
    pub b: Standing,
    /// A's share of the points.
    pub score: f64,
    /// How many games it had.
    pub games: usize,
    /// The key of the player whose rating was 0 among those that games had connected by then.
    pub anchor: String,
}

/// Where a player stood.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Its key.
    pub key: String,
    /// Its name for people.
    pub name: String,
    /// Bradley-Terry rating of all games up to then, in Elo above the anchor.
    pub rating: f64,
    /// Its standard error; 0 for the anchor.
    pub standard_error: f64,
    /// Its 95% interval.
    pub ci95: [f64; 2],
    /// Elo, with K = 1.
    pub elo: f64,
    /// TrueSkill.
    pub trueskill: TrueSkill,
}

/// The matches that count at a game: under its usual options and present rules; and how many do not.
fn counting<'a>(lines: &'a [MatchLine], game: &str) -> Result<(Vec<&'a MatchLine>, usize)> {
    let usual = if is_game(game) { Map::new() } else { env_options(game)? };
    let rules = match is_game(game) {
        true => AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?.spec().version,
        false => make_env(game, &Map::new())?.spec().version,
    };
    let is_usual = |env: &Map<String, Value>| {
        env.iter().all(|(key, value)| usual.get(key).is_some_and(|known| same(known, value)))
    };
    let of_game = lines.iter().filter(|line| line.game == game);
    let (counting, others): (Vec<_>, Vec<_>) =
        of_game.partition(|line| line.rules == rules && is_usual(&line.env));
    Ok((counting, others.len()))
}

/// Whether two options are the same, however their numbers are written.
fn same(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a == b)
}

/// The ratings at a game, with `anchor` at 0.
pub fn ratings(lines: &[MatchLine], game: &str, anchor: Option<&str>) -> Result<Ratings> {
    let (lines, n_left_out) = counting(lines, game)?;
    let mut book = Book::default();
    for line in &lines {
        book.take(line);
    }
    let mut notes = Vec::new();
    if let Some(anchor) = anchor.filter(|anchor| !book.places.contains_key(*anchor)) {
        let hint = "it has played no match that counts; the players are in `cartridge ratings`";
        let (player, detail) = (anchor.to_owned(), hint.to_owned());
        return Err(RunError::BadPlayer { player, detail });
    }
    let mut kept: Vec<usize> = (0..book.players.len()).collect();
    if kept.len() > MOST_PLAYERS {
        let wanted = anchor.and_then(|anchor| book.places.get(anchor)).copied();
        kept.sort_by_key(|&at| (Some(at) != wanted, u64::MAX - book.players[at].games()));
        let n = kept.len();
        kept.truncate(MOST_PLAYERS);
        kept.sort_unstable();
        notes.push(format!(
            "{n} players have played; the {MOST_PLAYERS} with the most games are rated"
        ));
    }
    let mut groups: Vec<RatingGroup> = connected(&book, &kept)
        .into_iter()
        .map(|members| book.rate(&members, anchor.unwrap_or(ANCHOR)))
        .collect();
    let wanted = anchor.unwrap_or(ANCHOR);
    groups.sort_by_key(|group| (group.anchor != wanted, usize::MAX - group.players.len()));
    if groups.len() > 1 {
        notes.push(format!(
            "{} groups of players have never met, not even through others: each has an anchor of \
             its own, and their ratings cannot be compared; a match between two of them connects \
             their groups",
            groups.len()
        ));
    }
    if n_left_out > 0 {
        notes.push(format!("{n_left_out} matches under other options or older rules are left out"));
    }
    Ok(Ratings {
        game: game.to_owned(),
        n_matches: lines.len(),
        n_games: book.players.iter().map(Tally::games).sum::<u64>() / 2,
        n_left_out,
        groups,
        notes,
    })
}

/// How a player did with one seed: an opening, or the start of an episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeedScore {
    /// The seed of the opening; in an environment what the episode was reset with.
    pub seed: u64,
    /// What it follows from, in the first match that had it.
    pub seed_base: u64,
    /// Its place in that match, from 1.
    pub number: usize,
    /// Matches of the player that had it.
    pub n_matches: u64,
    /// Games won with it, whoever the others were.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

/// How a player did seed by seed, summed over all of its matches that count: those of a tournament
/// share their seeds, and so do matches with one seed base. In the order of seed base and place.
pub fn by_seed(lines: &[MatchLine], game: &str, player: &str) -> Result<Vec<SeedScore>> {
    let (lines, _) = counting(lines, game)?;
    let mut scores: HashMap<u64, SeedScore> = HashMap::new();
    for line in lines {
        let is_a = line.a.key == player;
        if !is_a && line.b.key != player {
            continue;
        }
        let n_games = if line.both_sides { 2 } else { 1 };
        for (place, games) in line.results.as_bytes().chunks(n_games).enumerate() {
            let seed = match line.seeds.get(place) {
                Some(seed) => *seed,
                None => opening_seed(line.seed, place as u32),
            };
            let score = scores.entry(seed).or_insert(SeedScore {
                seed,
                seed_base: line.seed,
                number: place + 1,
                n_matches: 0,
                wins: 0,
                draws: 0,
                losses: 0,
            });
            score.n_matches += 1;
            for game in games {
                match (game, is_a) {
                    (b'W', true) | (b'L', false) => score.wins += 1,
                    (b'L', true) | (b'W', false) => score.losses += 1,
                    _ => score.draws += 1,
                }
            }
        }
    }
    let mut scores: Vec<SeedScore> = scores.into_values().collect();
    scores.sort_by_key(|score| (score.seed_base, score.number));
    Ok(scores)
}

/// Where the players stood after each match, in the order of time: the newest `limit` matches, or
/// those of one player. Ratings are told from `anchor` where games connect it by then.
pub fn history(
    lines: &[MatchLine],
    game: &str,
    player: Option<&str>,
    anchor: Option<&str>,
    limit: usize,
) -> Result<Vec<Moment>> {
    let (lines, _) = counting(lines, game)?;
    let is_told =
        |line: &MatchLine| player.is_none_or(|key| line.a.key == key || line.b.key == key);
    let n_told = lines.iter().filter(|line| is_told(line)).count();
    let mut n_before = n_told.saturating_sub(limit);
    let mut book = Book::default();
    let mut moments = Vec::new();
    for line in lines {
        let places = book.take(line);
        if !is_told(line) {
            continue;
        }
        if n_before > 0 {
            n_before -= 1;
            continue;
        }
        let (anchor, [a, b]) = book.standings(places, anchor.unwrap_or(ANCHOR));
        let [wins, draws, losses] = line.counts();
        let games = wins + draws + losses;
        moments.push(Moment {
            match_id: line.id.clone(),
            t: line.t,
            a,
            b,
            score: (f64::from(wins) + 0.5 * f64::from(draws)) / f64::from(games.max(1)),
            games: games as usize,
            anchor,
        });
    }
    Ok(moments)
}

/// What is known of a player.
#[derive(Clone, Debug)]
struct Tally {
    about: MatchPlayer,
    wins: u64,
    draws: u64,
    losses: u64,
    elo: f64,
    trueskill: TrueSkillRating,
    /// The strength of the last fit of a history, from which the next one begins.
    strength: f64,
}

impl Tally {
    fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }
}

/// All players, and who took how much from whom.
#[derive(Debug, Default)]
struct Book {
    players: Vec<Tally>,
    places: HashMap<String, usize>,
    /// Points of the first against the second, and their games, for places in rising order.
    pairs: BTreeMap<(usize, usize), (f64, f64)>,
}

impl Book {
    fn place(&mut self, player: &MatchPlayer) -> usize {
        if let Some(&place) = self.places.get(&player.key) {
            return place;
        }
        let place = self.players.len();
        self.places.insert(player.key.clone(), place);
        self.players.push(Tally {
            about: player.clone(),
            wins: 0,
            draws: 0,
            losses: 0,
            elo: ELO_START,
            trueskill: TrueSkillRating::new(),
            strength: 0.0,
        });
        place
    }

    /// Takes in a match; returns the places of its players.
    fn take(&mut self, line: &MatchLine) -> [usize; 2] {
        let (a, b) = (self.place(&line.a), self.place(&line.b));
        // Whoever plays itself tells nothing.
        if a == b {
            return [a, b];
        }
        let config = TrueSkillConfig::new();
        for result in line.results.bytes() {
            let (outcome, score) = match result {
                b'W' => (Outcomes::WIN, 1.0),
                b'D' => (Outcomes::DRAW, 0.5),
                b'L' => (Outcomes::LOSS, 0.0),
                _ => continue,
            };
            let expected =
                1.0 / (1.0 + 10_f64.powf((self.players[b].elo - self.players[a].elo) / 400.0));
            let change = score - expected;
            self.players[a].elo += change;
            self.players[b].elo -= change;
            let (of_a, of_b) = trueskill(
                &self.players[a].trueskill,
                &self.players[b].trueskill,
                &outcome,
                &config,
            );
            self.players[a].trueskill = of_a;
            self.players[b].trueskill = of_b;
        }
        let [wins, draws, losses] = line.counts().map(u64::from);
        for (place, won, lost) in [(a, wins, losses), (b, losses, wins)] {
            let tally = &mut self.players[place];
            tally.wins += won;
            tally.draws += draws;
            tally.losses += lost;
        }
        let points = wins as f64 + 0.5 * draws as f64;
        let games = (wins + draws + losses) as f64;
        let pair = self.pairs.entry((a.min(b), a.max(b))).or_default();
        pair.0 += if a < b { points } else { games - points };
        pair.1 += games;
        [a, b]
    }

    /// What `members` have played among each other, by their places in that list.
    fn pairs_among(&self, members: &[usize]) -> Vec<Pair> {
        let local: HashMap<usize, usize> =
            members.iter().enumerate().map(|(at, &place)| (place, at)).collect();
        let pair = |(&(a, b), &(points, games)): (&(usize, usize), &(f64, f64))| {
            Some(Pair { a: *local.get(&a)?, b: *local.get(&b)?, points, games })
        };
        self.pairs.iter().filter_map(pair).collect()
    }

    /// Which of `members` is at 0: the wanted one, or else whoever nobody need train, or else who
    /// has played most.
    fn zero(&self, members: &[usize], anchor: &str) -> usize {
        let find = |key: &str| members.iter().position(|&at| self.players[at].about.key == key);
        let most = || {
            let games = |at: &usize| self.players[members[*at]].games();
            // The first of equals, so that it does not move about.
            (0..members.len()).rev().max_by_key(games).unwrap_or(0)
        };
        find(anchor).or_else(|| find(ANCHOR)).unwrap_or_else(most)
    }

    /// Where two players that have just met stand, and who is at 0 among those that games connect
    /// them with.
    fn standings(&mut self, places: [usize; 2], anchor: &str) -> (String, [Standing; 2]) {
        let everybody: Vec<usize> = (0..self.players.len()).collect();
        let mut groups = connected(self, &everybody).into_iter();
        let members =
            groups.find(|members| members.contains(&places[0])).expect("everybody is in a group");
        let pairs = self.pairs_among(&members);
        let mut strengths: Vec<f64> =
            members.iter().map(|&place| self.players[place].strength).collect();
        climb(&mut strengths, &pairs);
        for (&place, &strength) in members.iter().zip(&strengths) {
            self.players[place].strength = strength;
        }
        let zero = self.zero(&members, anchor);
        let standing = |place: usize| {
            let Tally { about, elo, trueskill, .. } = &self.players[place];
            let at = members.iter().position(|&member| member == place).expect("they have met");
            let rating = ELO * (strengths[at] - strengths[zero]);
            let standard_error = ELO * error_between(&strengths, &pairs, at, zero);
            Standing {
                key: about.key.clone(),
                name: about.name.clone(),
                rating,
                standard_error,
                ci95: [rating - Z * standard_error, rating + Z * standard_error],
                elo: *elo,
                trueskill: (*trueskill).into(),
            }
        };
        (self.players[members[zero]].about.key.clone(), places.map(standing))
    }

    /// Rates players that games connect.
    fn rate(&self, members: &[usize], anchor: &str) -> RatingGroup {
        let fit = fit(members.len(), &self.pairs_among(members));
        let zero = self.zero(members, anchor);
        let mut players: Vec<Rating> = members
            .iter()
            .enumerate()
            .map(|(at, &place)| {
                let tally = &self.players[place];
                let rating = ELO * (fit.strengths[at] - fit.strengths[zero]);
                let standard_error = ELO * fit.error(at, zero);
                Rating {
                    player: tally.about.clone(),
                    games: tally.games(),
                    wins: tally.wins,
                    draws: tally.draws,
                    losses: tally.losses,
                    rating,
                    standard_error,
                    ci95: [rating - Z * standard_error, rating + Z * standard_error],
                    elo: tally.elo,
                    trueskill: tally.trueskill.into(),
                }
            })
            .collect();
        players.sort_by(|a, b| b.rating.total_cmp(&a.rating));
        RatingGroup { anchor: self.players[members[zero]].about.key.clone(), players }
    }
}

/// Groups of players that games connect, each in rising order.
fn connected(book: &Book, kept: &[usize]) -> Vec<Vec<usize>> {
    let mut root: HashMap<usize, usize> = kept.iter().map(|&at| (at, at)).collect();
    fn find(root: &mut HashMap<usize, usize>, at: usize) -> usize {
        let up = root[&at];
        if up == at {
            return at;
        }
        let top = find(root, up);
        root.insert(at, top);
        top
    }
    for (&(a, b), &(_, games)) in &book.pairs {
        if games > 0.0 && root.contains_key(&a) && root.contains_key(&b) {
            let (a, b) = (find(&mut root, a), find(&mut root, b));
            root.insert(a.max(b), a.min(b));
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &at in kept {
        groups.entry(find(&mut root, at)).or_default().push(at);
    }
    groups.into_values().collect()
}

/// What two players have played.
#[derive(Clone, Copy, Debug)]
struct Pair {
    a: usize,
    b: usize,
    /// Points of `a`.
    points: f64,
    games: f64,
}

/// Strengths, and how sure they are.
#[derive(Clone, Debug)]
struct Fit {
    strengths: Vec<f64>,
    /// The inverse of the second derivatives, row by row.
    covariance: Vec<f64>,
}

impl Fit {
    /// The standard error of the difference of two strengths.
    fn error(&self, a: usize, b: usize) -> f64 {
        let n = self.strengths.len();
        let at = |row: usize, column: usize| self.covariance[row * n + column];
        (at(a, a) + at(b, b) - 2.0 * at(a, b)).max(0.0).sqrt()
    }
}

/// The most likely strengths under the prior, by Newton's method. The likelihood is concave and the
/// prior strictly so; a step that would make it worse is halved, so it always arrives.
fn fit(n: usize, pairs: &[Pair]) -> Fit {
    let mut strengths = vec![0.0; n];
    let mut now = likelihood(&strengths, pairs);
    for _ in 0..100 {
        let curvature = curvature(&strengths, pairs);
        let Some(step) = solve(&curvature, &gradient(&strengths, pairs), n) else { break };
        let mut length = 1.0;
        let (next, reached) = loop {
            let next: Vec<f64> =
                strengths.iter().zip(&step).map(|(s, step)| s + length * step).collect();
            let reached = likelihood(&next, pairs);
            if reached >= now || length < 1e-6 {
                break (next, reached);
            }
            length /= 2.0;
        };
        let moved = step.iter().fold(0.0_f64, |most, step| most.max((length * step).abs()));
        (strengths, now) = (next, reached);
        if moved < 1e-10 {
            break;
        }
    }
    let covariance = invert(&curvature(&strengths, pairs), n);
    Fit { strengths, covariance }
}

/// How much the prior weighs beside the games, in units of strength.
fn prior_precision() -> f64 {
    (ELO / PRIOR_ELO).powi(2)
}

/// Moves strengths that are nearly right to the most likely ones, as [`fit`] does, but without a
/// matrix: after one more match there is little to do, and a history does it a thousand times.
fn climb(strengths: &mut [f64], pairs: &[Pair]) {
    let mut now = likelihood(strengths, pairs);
    for _ in 0..100 {
        let curved = Curvature::at(strengths, pairs);
        let step = curved.solve(&gradient(strengths, pairs));
        let mut length = 1.0;
        let (next, reached) = loop {
            let next: Vec<f64> =
                strengths.iter().zip(&step).map(|(s, step)| s + length * step).collect();
            let reached = likelihood(&next, pairs);
            if reached >= now || length < 1e-6 {
                break (next, reached);
            }
            length /= 2.0;
        };
        let moved = step.iter().fold(0.0_f64, |most, step| most.max((length * step).abs()));
        strengths.copy_from_slice(&next);
        now = reached;
        // A thousandth of a thousandth of an Elo.
        if moved < 1e-8 {
            break;
        }
    }
}

/// The standard error of the difference of two strengths, by the second derivatives there.
fn error_between(strengths: &[f64], pairs: &[Pair], a: usize, b: usize) -> f64 {
    if a == b {
        return 0.0;
    }
    let mut difference = vec![0.0; strengths.len()];
    (difference[a], difference[b]) = (1.0, -1.0);
    let spread = Curvature::at(strengths, pairs).solve(&difference);
    (spread[a] - spread[b]).max(0.0).sqrt()
}

/// The second derivatives with their sign turned, as what each pair adds to them.
struct Curvature<'a> {
    pairs: &'a [Pair],
    weights: Vec<f64>,
    diagonal: Vec<f64>,
}

impl<'a> Curvature<'a> {
    fn at(strengths: &[f64], pairs: &'a [Pair]) -> Self {
        let mut diagonal = vec![prior_precision(); strengths.len()];
        let weight = |&Pair { a, b, games, .. }: &Pair| {
            let chance = 1.0 / (1.0 + (strengths[b] - strengths[a]).exp());
            let weight = games * chance * (1.0 - chance);
            diagonal[a] += weight;
            diagonal[b] += weight;
            weight
        };
        let weights = pairs.iter().map(weight).collect();
        Self { pairs, weights, diagonal }
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> = self.diagonal.iter().zip(x).map(|(d, x)| d * x).collect();
        for (&Pair { a, b, .. }, weight) in self.pairs.iter().zip(&self.weights) {
            product[a] -= weight * x[b];
            product[b] -= weight * x[a];
        }
        product
    }

    /// What it turns into `right`, by conjugate gradients (Hestenes and Stiefel 1952), each unknown
    /// scaled by its own second derivative.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let scaled = |rest: &[f64]| -> Vec<f64> {
            rest.iter().zip(&self.diagonal).map(|(rest, d)| rest / d).collect()
        };
        let mut x = vec![0.0; right.len()];
        let mut rest = right.to_vec();
        let mut ahead = scaled(&rest);
        let mut size = dot(&rest, &ahead);
        let enough = 1e-24 * size;
        // In exact arithmetic as many steps as there are unknowns are enough.
        for _ in 0..4 * right.len() {
            if size <= enough {
                break;
            }
            let turned = self.times(&ahead);
            let length = size / dot(&ahead, &turned);
            for (at, turned) in turned.iter().enumerate() {
                x[at] += length * ahead[at];
                rest[at] -= length * turned;
            }
            let next = scaled(&rest);
            let next_size = dot(&rest, &next);
            let kept = next_size / size;
            for (ahead, next) in ahead.iter_mut().zip(next) {
                *ahead = next + kept * *ahead;
            }
            size = next_size;
        }
        x
    }
}

fn log_sigmoid(x: f64) -> f64 {
    if x >= 0.0 { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}

/// How likely the games are under these strengths, and these strengths under the prior, as a
/// logarithm.
fn likelihood(strengths: &[f64], pairs: &[Pair]) -> f64 {
    let prior: f64 = strengths.iter().map(|s| 0.5 * prior_precision() * s * s).sum();
    let of_games = pairs.iter().map(|pair| {
        let difference = strengths[pair.a] - strengths[pair.b];
        pair.points * log_sigmoid(difference)
            + (pair.games - pair.points) * log_sigmoid(-difference)
    });
    of_games.sum::<f64>() - prior
}

/// The first derivatives of the likelihood.
fn gradient(strengths: &[f64], pairs: &[Pair]) -> Vec<f64> {
    let mut gradient: Vec<f64> = strengths.iter().map(|s| -prior_precision() * s).collect();
    for &Pair { a, b, points, games } in pairs {
        let chance = 1.0 / (1.0 + (strengths[b] - strengths[a]).exp());
        let push = points - games * chance;
        gradient[a] += push;
        gradient[b] -= push;
    }
    gradient
}

/// The second derivatives of the likelihood with their sign turned, row by row.
fn curvature(strengths: &[f64], pairs: &[Pair]) -> Vec<f64> {
    let n = strengths.len();
    let Curvature { weights, diagonal, .. } = Curvature::at(strengths, pairs);
    let mut curvature = vec![0.0; n * n];
    for (at, &own) in diagonal.iter().enumerate() {
        curvature[at * n + at] = own;
    }
    for (&Pair { a, b, .. }, weight) in pairs.iter().zip(weights) {
        curvature[a * n + b] -= weight;
        curvature[b * n + a] -= weight;
    }
    curvature
}

/// The lower triangle whose product with its mirror is a positive definite matrix (Cholesky).
fn factor(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut lower = vec![0.0; n * n];
    for row in 0..n {
        for column in 0..=row {
            let sum: f64 = (0..column).map(|at| lower[row * n + at] * lower[column * n + at]).sum();
            let rest = matrix[row * n + column] - sum;
            lower[row * n + column] = if row == column {
                (rest > 0.0).then(|| rest.sqrt())?
            } else {
                rest / lower[column * n + column]
            };
        }
    }
    Some(lower)
}

fn solve_factored(lower: &[f64], right: &[f64], n: usize) -> Vec<f64> {
    let mut x = right.to_vec();
    for row in 0..n {
        let sum: f64 = (0..row).map(|at| lower[row * n + at] * x[at]).sum();
        x[row] = (x[row] - sum) / lower[row * n + row];
    }
    for row in (0..n).rev() {
        let sum: f64 = (row + 1..n).map(|at| lower[at * n + row] * x[at]).sum();
        x[row] = (x[row] - sum) / lower[row * n + row];
    }
    x
}

fn solve(matrix: &[f64], right: &[f64], n: usize) -> Option<Vec<f64>> {
    Some(solve_factored(&factor(matrix, n)?, right, n))
}

/// The inverse of a positive definite matrix.
fn invert(matrix: &[f64], n: usize) -> Vec<f64> {
    let lower = factor(matrix, n).expect("the prior makes it positive definite");
    let mut inverse = vec![0.0; n * n];
    for column in 0..n {
        let mut unit = vec![0.0; n];
        unit[column] = 1.0;
        for (row, x) in solve_factored(&lower, &unit, n).into_iter().enumerate() {
            inverse[row * n + column] = x;
        }
    }
    inverse
}

#[cfg(test)]
mod tests;
