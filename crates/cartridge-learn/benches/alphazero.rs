//! A training by self-play, and how strong it gets: the share of positions in which the network's
//! move changes the outcome for the worse, over published positions of Connect 4, without a search
//! and at the end with one.
//!
//! `cargo bench -p cartridge-learn --bench alphazero -- FOLDER STEPS [SETTINGS [SEED [THREADS
//! [SIMULATIONS]]]]`, where `FOLDER` has the positions with the score of every move, `STEPS` may be
//! `900s` for as many as there is time for in about so many seconds, and `SETTINGS` are JSON that
//! changes the defaults.

#![expect(clippy::print_stdout, reason = "a measurement is for reading")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use cartridge_games::connect4::Connect4;
use cartridge_games::{Action, Game, Turn};
use cartridge_learn::alphazero::{AlphaZero, Config};
use cartridge_learn::board_net::{self, BoardNet, Workspace};
use cartridge_learn::team::Team;
use cartridge_search::cache::Cache;
use cartridge_search::evaluator::{self, Evaluations, Evaluator};
use cartridge_search::search::{self, Search};
use serde_json::Value;

const SETS: [&str; 6] = ["L3_R1", "L2_R1", "L1_R1", "L2_R2", "L1_R2", "L1_R3"];

/// A position, and the score of every move.
struct Judged {
    game: Connect4,
    scores: [Option<i32>; 7],
}

fn read(folder: &Path, set: &str) -> Result<Vec<Judged>, Box<dyn Error>> {
    let text = std::fs::read_to_string(folder.join(set).with_extension("txt"))?;
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let mut game = Connect4::start(&mut fastrand::Rng::new());
        for digit in words.next()?.bytes() {
            game.apply(Action(usize::from(digit - b'1')));
        }
        let mut scores = [None; 7];
        scores.iter_mut().zip(words).for_each(|(score, word)| *score = word.parse().ok());
        Some(Judged { game, scores })
    };
    Ok(text.lines().filter_map(parse).collect())
}

impl Judged {
    fn is_error(&self, action: Action) -> bool {
        let best = self.scores.iter().flatten().max().map(|best| best.signum());
        self.scores[action.0].map(i32::signum) != best
    }
}

struct Player<'a> {
    network: &'a BoardNet,
    work: Workspace,
    planes: Vec<f32>,
}

impl Evaluator<Connect4> for Player<'_> {
    fn evaluate(&mut self, games: &[Connect4], out: &mut Evaluations) {
        let n_inputs = self.network.shape().n_inputs();
        self.planes.resize(games.len() * n_inputs, 0.0);
        for (game, planes) in games.iter().zip(self.planes.chunks_exact_mut(n_inputs)) {
            let Turn::Seat(seat) = game.turn() else { continue };
            game.observe_planes(seat, planes);
        }
        self.network.infer(&mut self.work, &self.planes, &mut out.logits, &mut out.values);
    }
}

/// The share of errors with so many simulations.
fn errors(network: &BoardNet, set: &[Judged], n_simulations: u32) -> f64 {
    let mut player = Player { network, work: Workspace::default(), planes: Vec::new() };
    let (mut search, mut cache) = (Search::default(), Cache::new(1 << 16));
    let mut rng = fastrand::Rng::with_seed(1);
    let mut evaluations = Evaluations::default();
    let mut chosen = |game: &Connect4| {
        if n_simulations == 0 {
            evaluations.resize::<Connect4>(1);
            player.evaluate(std::slice::from_ref(game), &mut evaluations);
            let logit = |action: &Action| evaluations.logits[action.0];
            return game.legal_actions().max_by(|a, b| logit(a).total_cmp(&logit(b)));
        }
        search.clear();
        search.begin(game, search::Config::puct(n_simulations), &mut rng);
        evaluator::run(&mut search, 8, &mut player, &mut cache);
        Some(search.best_action())
    };
    let n = set.iter().filter(|judged| chosen(&judged.game).is_some_and(|a| judged.is_error(a)));
    n.count() as f64 / set.len() as f64
}

/// Plies per second, as far as a few updates tell.
fn pace(config: &Config, n_threads: usize) -> Result<f64, Box<dyn Error>> {
    // On average there are as many simulations as half-way.
    let mut config = config.clone();
    let [first, last] = config.self_play.n_simulations;
    config.self_play.n_simulations = [u32::midpoint(first, last); 2];
    let mut training = AlphaZero::<Connect4>::new(&config, 1, Team::new(n_threads))?;
    let mut seconds = Vec::new();
    while seconds.iter().sum::<f64>() < 15.0 || seconds.len() < 4 {
        let began = Instant::now();
        training.update()?;
        seconds.push(began.elapsed().as_secs_f64());
    }
    // The first ones have little to learn from.
    let late = &seconds[seconds.len() / 2..];
    Ok((late.len() as u64 * config.steps_per_update) as f64 / late.iter().sum::<f64>())
}

fn merge(base: &mut Value, changes: &Value) {
    match (base, changes) {
        (Value::Object(base), Value::Object(changes)) => {
            for (key, change) in changes {
                if key == "network" {
                    base.insert(key.clone(), change.clone());
                } else {
                    merge(base.entry(key.clone()).or_insert(Value::Null), change);
                }
            }
        }
        (base, changes) => *base = changes.clone(),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [folder, steps, rest @ ..] = &args[..] else {
        println!("say the folder of the positions and how many plies to play");
        return Ok(());
    };
    let network = board_net::Preset::Small.config();
    let wanted_seconds: Option<f64> = steps.strip_suffix('s').map(str::parse).transpose()?;
    let total_steps = if wanted_seconds.is_some() { 1 << 40 } else { steps.parse()? };
    let mut config = serde_json::to_value(Config::new(network, total_steps))?;
    if let Some(changes) = rest.first() {
        merge(&mut config, &serde_json::from_str(changes)?);
    }
    let seed = rest.get(1).map_or(Ok(1), |seed| seed.parse())?;
    let n_threads = rest.get(2).map_or(Ok(2), |n| n.parse())?;
    let n_final = rest.get(3).map_or(Ok(0), |n| n.parse())?;
    let mut config: Config = serde_json::from_value(config)?;
    if let Some(seconds) = wanted_seconds {
        config.total_steps = (seconds * pace(&config, n_threads)?) as u64;
        println!("{} plies", config.total_steps);
    }
    let sets: Vec<_> =
        SETS.iter().map(|set| read(Path::new(folder), set)).collect::<Result<_, _>>()?;
    let mut training = AlphaZero::<Connect4>::new(&config, seed, Team::new(n_threads))?;
    let (mut seconds, mut n_games, mut said) = (0.0, 0, 0.0);
    let mut phases = [0.0; 3];
    while !training.is_done() {
        let began = Instant::now();
        let mut at = (0, Instant::now());
        let mut spent = [0.0; 3];
        let update = training.update_in_phases(&mut |phase| {
            spent[at.0] += at.1.elapsed().as_secs_f64();
            at = (phase as usize, Instant::now());
        })?;
        spent[at.0] += at.1.elapsed().as_secs_f64();
        phases.iter_mut().zip(spent).for_each(|(sum, one)| *sum += one);
        let took = began.elapsed().as_secs_f64();
        seconds += took;
        n_games += update.games.len();
        if seconds - said < 15.0 && !training.is_done() {
            continue;
        }
        said = seconds;
        let found: Vec<f64> = sets.iter().map(|set| errors(training.network(), set, 0)).collect();
        let losses = update.losses.unwrap_or_default();
        let s = update.statistics;
        let playing = update.playing.as_secs_f64();
        let percent: Vec<String> = found.iter().map(|e| format!("{:.1}", 100.0 * e)).collect();
        println!(
            "{seconds:6.0} s step {} games {n_games} plies/s {:.0}; a thread's evals/s {:.0} descents/s {:.0}; only learning {:.2} of the time, cache {:.2} proven {:.2} loss {:.3} {:.3} kl {:.3} norm {:.2} window {:?} audited {:?} errors {} mean {:.2}",
            update.step,
            config.steps_per_update as f64 / took,
            s.n_evaluations as f64 / playing,
            s.n_descents as f64 / playing,
            phases[2] / seconds,
            s.n_cache_hits as f64 / s.n_descents as f64,
            s.n_proven as f64 / s.n_descents as f64,
            losses.policy_loss,
            losses.value_loss,
            losses.divergence,
            losses.gradient_norm,
            update.window,
            update.audited,
            percent.join(" "),
            100.0 * found.iter().sum::<f64>() / found.len() as f64,
        );
    }
    if n_final > 0 {
        let found: Vec<f64> =
            sets.iter().map(|set| errors(training.network(), set, n_final)).collect();
        let percent: Vec<String> = found.iter().map(|e| format!("{:.1}", 100.0 * e)).collect();
        println!("with {n_final} simulations: {}", percent.join(" "));
    }
    Ok(())
}
