//! Players of matches and tournaments: built in, learnt, or from a file.
//!
//! | written | means |
//! |---|---|
//! | `random`, `mcts:100`, `builtin:perfect`, `club` | an opponent of the game, by id or level; at an environment `random`, or one of its scripted players |
//! | `best` | at a board, the lab's `model:GAME@best`, or else the shipped model |
//! | `shipped` | at a board, the model that the program brings along |
//! | `model:NAME`, `model:NAME@3`, `model:NAME@best` | a named model; the best version, or else the newest, where none is said |
//! | `run:RUN`, `RUN`, `RUN@200000`, `RUN@latest` | a checkpoint of a run; the best, or else the newest, where none is said |
//! | `run:RUN@all`, `RUN@all` | in a tournament, every checkpoint of a run that is kept, each a player |
//! | `artifact:RUN/ARTIFACT` | an ONNX file that a run has made |
//! | `ckpt:FOLDER`, `onnx:FILE`, `FILE.onnx` | the folder of a checkpoint, or a file, on the command line only: no route takes a path |
//!
//! At a board what was learnt may end in `:200`, the simulations of its search, or in the name of a
//! strength, such as `:club`; with `:0` it plays by its policy alone.
//!
//! Whatever was written, a player is known by a key that always plays the same, and a match says
//! which.

use std::path::Path;
use std::sync::Arc;

use cartridge_games::asteroid_prospector::bots::Bot;
use cartridge_games::asteroid_prospector::{self};
use cartridge_games::env::{ActionSpace, AnyAction, EnvSpec};
use cartridge_games::game::Action;
use cartridge_games::nearest::nearest;
use cartridge_games::registry::{AnyGame, is_game, make_env, present_id};
use cartridge_learn::board_net::BoardNet;
use cartridge_learn::policy::{Policy, PolicyError};
use cartridge_store::{
    DataDir, MatchPlayer, Model, ModelList, ModelName, ModelVersion, RunDir, RunId, StoreError,
    models,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::board_policy::BoardPolicy;
use crate::checkpoint;
use crate::error::{Result, RunError};
use crate::evaluation::{Actor, Manner, play};
use crate::model;
use crate::opponent::Opponent;
use crate::policy_file::{self, PolicyFile};
use crate::shipped;
use crate::thinker::{
    MOST_SIMULATIONS, MOST_SIMULATIONS_BY_REQUEST, STRENGTHS, Thinker, USUAL_SIMULATIONS,
};

/// Where a player was written, which decides what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// By who has the disk before them: a path is one of them.
    CommandLine,
    /// By a request: nothing is a path.
    Http,
}

/// A player, ready to play.
#[derive(Clone, Debug)]
pub struct Player {
    /// Who it is.
    pub about: MatchPlayer,
    brain: Brain,
}

#[derive(Clone, Debug)]
enum Brain {
    /// At a board, one that needs no training.
    Builtin(Opponent),
    /// At a board, a network and the simulations of its search.
    Board(Arc<Thinker>, u32),
    /// In an environment, any legal action.
    Random,
    /// In the belt of asteroids, a scripted player.
    Bot(Bot),
    /// In an environment, a policy of ours.
    Policy(Arc<Policy>),
    /// In an environment, a policy of others.
    File(Arc<PolicyFile>),
}

/// What a player has learnt, as a file that can be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt {
    /// `onnx` or `safetensors`.
    pub kind: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Learnt {
    /// What was kept in a file, by its name.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let is_ours = path.extension().is_some_and(|extension| extension == "safetensors");
        let kind = if is_ours { "safetensors" } else { "onnx" };
        let bytes = std::fs::read(path).map_err(StoreError::io(path))?;
        Ok(Self { kind, bytes })
    }
}

/// A player and where it comes from.
#[derive(Clone, Debug)]
pub struct Found {
    /// The player.
    pub player: Player,
    /// What it has learnt; nothing where it is built in.
    pub learnt: Option<Learnt>,
    /// Where it was learnt, as far as that is known.
    pub origin: Origin,
}

/// Where something was learnt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The steps of the run by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
}

/// Players that can meet, and where.
#[derive(Clone, Debug)]
pub struct Table {
    /// Id of the game or environment.
    pub game: String,
    /// Options of the environment.
    pub env: Map<String, Value>,
    /// The players, in the order in which they were written.
    pub players: Vec<Found>,
}

/// What somebody wrote, looked up but not yet at a table.
enum Named<'a> {
    Builtin(&'a str),
    Learnt(Box<NamedLearnt>),
}

/// What somebody wrote that has learnt something.
struct NamedLearnt {
    /// Who it is, without simulations.
    about: MatchPlayer,
    env_id: Option<String>,
    env: Map<String, Value>,
    learnt: Learnt,
    /// The simulations that were written, if any.
    n_simulations: Option<u32>,
    origin: Origin,
}

impl Table {
    /// Finds players for `game`, or for the game that the first of them with a mind of its own is
    /// for. `env` has options of the environment; without any they are those of the policies. At a
    /// board, `n_simulations` is what those who have learnt search with where they do not say.
    pub fn find(
        data: &DataDir,
        texts: &[String],
        game: Option<&str>,
        env: &Map<String, Value>,
        n_simulations: Option<u32>,
        door: Door,
    ) -> Result<Self> {
        let named = texts.iter().map(|text| look_up(data, text, game, door));
        let named: Vec<Named<'_>> = named.collect::<Result<_>>()?;
        let learnt = || {
            named.iter().zip(texts).filter_map(|(named, text)| match named {
                Named::Learnt(it) => Some((text, it.env_id.as_deref(), &it.env)),
                Named::Builtin(_) => None,
            })
        };
        let of_players = learnt().find_map(|(_, env_id, _)| env_id);
        let game = game.map(|id| present_id(id).0).or(of_players).ok_or_else(|| {
            let text = texts.first().map_or("", String::as_str);
            bad(text, "it does not say what is played; name the game")
        })?;
        if let Some((text, other, _)) = learnt().find(|(_, id, _)| id.is_some_and(|id| id != game))
        {
            let other = other.unwrap_or_default();
            return Err(bad(text, &format!("it is a player of {other}, and {game} is played")));
        }
        let mut options = env.clone();
        if options.is_empty() && !is_game(game) {
            let mut all = learnt().filter(|(_, id, _)| id.is_some());
            if let Some((_, _, first)) = all.next() {
                options.clone_from(first);
                if let Some((text, ..)) = all.find(|(_, _, other)| *other != first) {
                    let detail = "it was learnt under other options than the first; say which \
                                  count in `env`, or with --set";
                    return Err(bad(text, detail));
                }
            }
        }
        if is_game(game) {
            if let Some(option) = options.keys().next() {
                let (game, option) = (game.to_owned(), option.clone());
                return Err(RunError::GameOption { game, option });
            }
        } else {
            make_env(game, &options)?;
        }
        if let Some(n_simulations) = n_simulations {
            check_simulations(n_simulations, door).map_err(|detail| bad("simulations", &detail))?;
            if !is_game(game) || learnt().next().is_none() {
                let detail = "they are for those at a board who have learnt, and there is none";
                return Err(bad("simulations", detail));
            }
        }
        let mut players = Vec::new();
        for (named, text) in named.iter().zip(texts) {
            let found = match named {
                Named::Builtin(id) => {
                    let (learnt, origin) = (None, Origin::default());
                    Found { player: Player::built_in(game, id, text)?, learnt, origin }
                }
                Named::Learnt(it) => {
                    let player = it.seat(game, &options, n_simulations);
                    let player = player.map_err(|error| bad(text, &detail_of(error)))?;
                    let (learnt, origin) = (Some(it.learnt.clone()), it.origin.clone());
                    Found { player, learnt, origin }
                }
            };
            players.push(found);
        }
        Ok(Self { game: game.to_owned(), env: options, players })
    }
}

impl NamedLearnt {
    /// A player at a game, with the simulations that were written, or those that are `usual`.
    fn seat(&self, game: &str, env: &Map<String, Value>, usual: Option<u32>) -> Result<Player> {
        let Self { about, learnt, n_simulations, .. } = self;
        let player = Player::learnt(game, env, about.clone(), learnt, 0)?;
        let Brain::Board(thinker, _) = &player.brain else {
            return match n_simulations {
                None => Ok(player),
                Some(_) => Err(bad(&about.name, "simulations are for boards")),
            };
        };
        let asked = n_simulations.or(usual);
        let usual = if thinker.has_value() { USUAL_SIMULATIONS } else { 0 };
        player.with_simulations(asked.unwrap_or(usual))
    }
}

/// What is wrong with a player, without the name of it.
fn detail_of(error: RunError) -> String {
    match error {
        RunError::BadPlayer { detail, .. } => detail,
        error => error.to_string(),
    }
}

/// Complains about built-in players that `game` does not have, without a data folder: so that a slip
/// of the pen makes none.
pub fn check_built_in(game: &str, texts: &[String]) -> Result<()> {
    let mut built_in = texts.iter().filter(|text| learnt_word(text).is_none());
    built_in.try_for_each(|text| Player::built_in(game, text, text).map(|_| ()))
}

/// Players of a tournament as they are written, with `run:RUN@all` as the checkpoints of the run that
/// are kept, oldest first, each with the simulations that were written.
pub fn spread(data: &DataDir, texts: &[String]) -> Result<Vec<String>> {
    let mut players = Vec::new();
    for text in texts {
        let all = learnt_word(text).and_then(|(word, simulations)| {
            let run = word.strip_prefix("run:").unwrap_or(word).strip_suffix("@all")?;
            Some((run, simulations))
        });
        let Some((run, simulations)) = all else {
            players.push(text.clone());
            continue;
        };
        let run: RunId = run.parse()?;
        let dir = data.run(&run);
        dir.manifest()?;
        let names = checkpoint::names(&dir)?;
        if names.is_empty() {
            return Err(bad(text, "the run has no checkpoint yet"));
        }
        let tail = simulations.map_or_else(String::new, |simulations| format!(":{simulations}"));
        players.extend(names.into_iter().map(|name| format!("run:{run}@{name}{tail}")));
    }
    Ok(players)
}

/// Whether a text names something that was learnt, and not a player that is built in.
pub fn is_learnt(text: &str) -> bool {
    learnt_word(text).is_some()
}

/// What a text names that was learnt, and the simulations that it says, as they are written; nothing
/// where it names a player that is built in.
fn learnt_word(text: &str) -> Option<(&str, Option<&str>)> {
    let is_learnt = |word: &str| {
        let prefixes = ["model:", "artifact:", "run:", "ckpt:", "onnx:", "shipped:"];
        let run = word.split('@').next().unwrap_or_default();
        ["best", "shipped"].contains(&word)
            || prefixes.iter().any(|prefix| word.starts_with(prefix))
            || word.ends_with(".onnx")
            || run.parse::<RunId>().is_ok()
    };
    // A hash is longer than any number of simulations.
    let is_number = |tail: &str| {
        (1..=9).contains(&tail.len()) && tail.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_strength = |tail: &str| STRENGTHS.iter().any(|it| it.name.eq_ignore_ascii_case(tail));
    match text.rsplit_once(':') {
        Some((word, tail)) if is_learnt(word) && (is_number(tail) || is_strength(tail)) => {
            Some((word, Some(tail)))
        }
        _ => is_learnt(text).then_some((text, None)),
    }
}

/// Simulations as they are written: a number, or the name of a strength.
fn parse_simulations(text: &str, door: Door) -> Result<u32, String> {
    if let Some(strength) = STRENGTHS.iter().find(|it| it.name.eq_ignore_ascii_case(text)) {
        return Ok(strength.n_simulations);
    }
    let n_simulations =
        text.parse().map_err(|_| format!("`{text}` is no number of simulations"))?;
    check_simulations(n_simulations, door)?;
    Ok(n_simulations)
}

fn check_simulations(n_simulations: u32, door: Door) -> Result<(), String> {
    let most = match door {
        Door::CommandLine => MOST_SIMULATIONS,
        Door::Http => MOST_SIMULATIONS_BY_REQUEST,
    };
    match n_simulations <= most {
        true => Ok(()),
        false => Err(format!("there are 0 to {most} simulations, not {n_simulations}")),
    }
}

/// The simulations in the key of a player, if it has any.
pub(crate) fn simulations_in(key: &str) -> Option<u32> {
    learnt_word(key)?.1?.parse().ok()
}

/// The network in the key of a player, without simulations; nothing where it is built in.
pub(crate) fn network_in(key: &str) -> Option<&str> {
    learnt_word(key).map(|(network, _)| network)
}

fn bad(player: &str, detail: &str) -> RunError {
    RunError::BadPlayer { player: player.to_owned(), detail: detail.to_owned() }
}

fn look_up<'a>(data: &DataDir, text: &'a str, game: Option<&str>, door: Door) -> Result<Named<'a>> {
    let Some((word, simulations)) = learnt_word(text) else { return Ok(Named::Builtin(text)) };
    let simulations = simulations.map(|simulations| parse_simulations(simulations, door));
    let n_simulations = simulations.transpose().map_err(|detail| bad(text, &detail))?;
    let found = look_up_learnt(data, word, game, door).map_err(|error| match error {
        RunError::BadPlayer { detail, .. } => bad(text, &detail),
        error => error,
    })?;
    Ok(Named::Learnt(Box::new(NamedLearnt { n_simulations, ..found })))
}

fn look_up_learnt(
    data: &DataDir,
    text: &str,
    game: Option<&str>,
    door: Door,
) -> Result<NamedLearnt> {
    if text == "best" {
        return look_up_best(data, board(text, game)?);
    }
    if let Some(hash) = text.strip_prefix("shipped") {
        return look_up_shipped(board(text, game)?, hash.strip_prefix(':'));
    }
    if let Some(name) = text.strip_prefix("model:") {
        let (model, version) = model::resolve(data, name)?;
        return of_version(data, &model.name, model.env_id, version);
    }
    if let Some(place) = text.strip_prefix("artifact:") {
        let (run, artifact) =
            place.split_once('/').ok_or_else(|| bad(text, "write it `artifact:RUN/ARTIFACT`"))?;
        let id: RunId = run.parse()?;
        let run = data.run(&id).manifest()?;
        let bytes = model::artifact_bytes(data, &run, &artifact.parse()?)?;
        let name = format!("{artifact} of {id}");
        return of_file(text.to_owned(), name, bytes);
    }
    if let Some(path) = text.strip_prefix("ckpt:") {
        if door == Door::Http {
            let detail = "no request takes a path; say `run:RUN@STEP`";
            return Err(bad(text, detail));
        }
        let (dir, id, checkpoint) = checkpoint::at_path(Path::new(path)).ok_or_else(|| {
            let detail = "that is no folder of a checkpoint, such as \
                          data/runs/r-7f3k2m/checkpoints/step_000200000";
            bad(text, detail)
        })?;
        return of_checkpoint(&dir, &id, &checkpoint);
    }
    let is_named_file = text.starts_with("onnx:");
    let (run, which) = match text.strip_prefix("run:").unwrap_or(text).split_once('@') {
        Some((run, which)) => (run, Some(which)),
        None => (text.strip_prefix("run:").unwrap_or(text), None),
    };
    if !is_named_file && (text.starts_with("run:") || run.parse::<RunId>().is_ok()) {
        return look_up_run(data, &run.parse()?, which);
    }
    if door == Door::Http {
        let detail = "no request takes a path; keep the file with `cartridge models add NAME \
                      FILE.onnx` and say `model:NAME`";
        return Err(bad(text, detail));
    }
    let place = text.strip_prefix("onnx:").unwrap_or(text);
    let path = Path::new(place);
    let bytes = policy_file::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => RunError::NoPolicyFile(place.to_owned()),
        _ => bad(text, &error.to_string()),
    })?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let sha256 = models::sha256(&bytes);
    of_file(format!("onnx:{}", &sha256[..16]), name, bytes)
}

/// The game at whose board somebody is looked for.
fn board<'a>(text: &str, game: Option<&'a str>) -> Result<&'a str> {
    match game {
        None => Err(bad(text, "it does not say what is played; name the game")),
        Some(game) if !is_game(game) => {
            Err(bad(text, &format!("{game} is no board; name a model (`model:NAME`), or a run")))
        }
        Some(game) => Ok(game),
    }
}

/// The lab's best at a board game as a player, or else what the program brings along; nothing where
/// there is neither.
pub(crate) fn champion(data: &DataDir, game: &str) -> Result<Option<Player>> {
    if best(data, game)?.is_none() && shipped::model(game).is_none() {
        return Ok(None);
    }
    Ok(Some(look_up_best(data, game)?.seat(game, &Map::new(), None)?))
}

/// The lab's best at a game, or else what the program brings along.
fn look_up_best(data: &DataDir, game: &str) -> Result<NamedLearnt> {
    if let Some((name, version)) = best(data, game)? {
        return of_version(data, &name, game.to_owned(), version);
    }
    if shipped::model(game).is_none() {
        let detail = format!(
            "there is no best model of {game} yet, and no shipped one; `cartridge models promote \
             RUN` makes one"
        );
        return Err(bad("best", &detail));
    }
    look_up_shipped(game, None)
}

/// The lab's best at a game, if there is one and it was not put away.
pub(crate) fn best(data: &DataDir, game: &str) -> Result<Option<(ModelName, ModelVersion)>> {
    let list = ModelList::read(data)?;
    let is_it =
        |model: &&Model| model.name.as_str() == game && model.env_id == game && !model.archived;
    let model = list.models.iter().find(is_it);
    Ok(model.and_then(|model| {
        Some((model.name.clone(), model.version(Some(models::BEST)).ok()?.clone()))
    }))
}

fn look_up_shipped(game: &str, hash: Option<&str>) -> Result<NamedLearnt> {
    let file = shipped::model(game)
        .ok_or_else(|| bad("shipped", &format!("there is no shipped model of {game}")))?;
    let sha256 = models::sha256(file);
    let known = &sha256[..16];
    if hash.is_some_and(|hash| hash != known) {
        let detail = format!("this version of the program brings another along, `shipped:{known}`");
        return Err(bad("shipped", &detail));
    }
    of_file(format!("shipped:{known}"), "Shipped model".to_owned(), file.to_vec())
}

fn of_file(key: String, name: String, bytes: Vec<u8>) -> Result<NamedLearnt> {
    let file = PolicyFile::parse(Path::new(&name), &bytes)?;
    let env_id = file.policy.metadata("env_id").map(|id| present_id(id).0.to_owned());
    let env = file.policy.metadata("env").and_then(|text| serde_json::from_str(text).ok());
    let about = MatchPlayer { key, name, sha256: Some(file.learnt_sha256()) };
    let learnt = Learnt { kind: "onnx", bytes };
    let env = env.unwrap_or_default();
    let origin = Origin {
        run: file.policy.metadata("run_id").and_then(|run| run.parse().ok()),
        step: file.policy.metadata("step").and_then(|step| step.parse().ok()),
    };
    Ok(NamedLearnt { about, env_id, env, learnt, n_simulations: None, origin })
}

fn of_version(
    data: &DataDir,
    name: &ModelName,
    env_id: String,
    version: ModelVersion,
) -> Result<NamedLearnt> {
    let has_weights = version.files.iter().any(|file| file.file == model::WEIGHTS);
    let (file, kind) =
        if has_weights { (model::WEIGHTS, "safetensors") } else { (model::ONNX, "onnx") };
    let bytes = model::read_file(data, name, &version, file)?;
    let name = format!("{name}@{}", version.version);
    let sha256 = match kind {
        "onnx" => PolicyFile::parse(Path::new(&name), &bytes)?.learnt_sha256(),
        _ => version.sha256,
    };
    let about = MatchPlayer { key: format!("model:{name}"), name, sha256: Some(sha256) };
    let (env_id, env) = (Some(env_id), version.env);
    let learnt = Learnt { kind, bytes };
    // A file from elsewhere counts no steps.
    let step = Some(version.step).filter(|step| *step > 0);
    let origin = Origin { run: version.run, step };
    Ok(NamedLearnt { about, env_id, env, learnt, n_simulations: None, origin })
}

fn look_up_run(data: &DataDir, id: &RunId, which: Option<&str>) -> Result<NamedLearnt> {
    let dir = data.run(id);
    dir.manifest()?;
    if checkpoint::names(&dir)?.is_empty() {
        return Err(RunError::NoCheckpoint(id.clone()));
    }
    let which = which.unwrap_or_else(|| model::usual_checkpoint(&dir));
    let checkpoint = checkpoint::find(&dir, id, which)?;
    of_checkpoint(&dir, id, &checkpoint)
}

fn of_checkpoint(dir: &RunDir, id: &RunId, checkpoint: &str) -> Result<NamedLearnt> {
    let run = dir.manifest()?;
    let (manifest, bytes) = if is_game(&run.env_id) {
        let (manifest, network) = checkpoint::load_board_net(dir, id, checkpoint)?;
        (manifest, network.to_safetensors())
    } else {
        let (manifest, policy) = checkpoint::load_named(dir, id, checkpoint)?;
        (manifest, policy.to_safetensors())
    };
    let about = MatchPlayer {
        key: format!("run:{id}@{checkpoint}"),
        name: format!("{id} at step {}", manifest.step),
        sha256: Some(manifest.weights_sha256),
    };
    let env = run.config["env"].as_object().cloned().unwrap_or_default();
    let (env_id, learnt) = (Some(run.env_id), Learnt { kind: "safetensors", bytes });
    let origin = Origin { run: Some(id.clone()), step: Some(manifest.step) };
    Ok(NamedLearnt { about, env_id, env, learnt, n_simulations: None, origin })
}

impl Player {
    /// A player that needs no training, by its key.
    fn built_in(game: &str, id: &str, text: &str) -> Result<Self> {
        if is_game(game) {
            return Ok(Self::opponent(find_opponent(game, id)?));
        }
        let word = id.strip_prefix("builtin:").unwrap_or(id);
        let bots: &[Bot] = if game == asteroid_prospector::SPEC.id { &Bot::ALL } else { &[] };
        let of = |brain: Brain, word: &str, name: &str| {
            let (key, name) = (format!("builtin:{word}"), name.to_owned());
            Ok(Self { about: MatchPlayer { key, name, sha256: None }, brain })
        };
        if let Some(bot) = bots.iter().find(|bot| bot.id() == word) {
            return of(Brain::Bot(*bot), bot.id(), bot.name());
        }
        if word == "random" {
            return of(Brain::Random, word, "Random actions");
        }
        let mut known: Vec<&str> = bots.iter().map(|bot| bot.id()).collect();
        if bots.is_empty() {
            known.push("random");
        }
        let hint = match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "built in at {game}: {}; or name a model (`model:NAME`), or a run",
                known.join(", ")
            ),
        };
        Err(bad(text, &format!("there is no such player; {hint}")))
    }

    /// An opponent that needs no training, at a board.
    pub fn opponent(opponent: Opponent) -> Self {
        let (key, name) = (opponent.to_string(), opponent.name());
        Self { about: MatchPlayer { key, name, sha256: None }, brain: Brain::Builtin(opponent) }
    }

    /// Who a person plays against at a board: built in, or learnt.
    pub fn at_board(data: &DataDir, game: &str, text: &str, door: Door) -> Result<Found> {
        if !is_learnt(text) {
            let player = Self::opponent(Opponent::find(game, text)?);
            return Ok(Found { player, learnt: None, origin: Origin::default() });
        }
        Self::learnt_at_board(data, game, text, None, door)
    }

    /// Who thinks at a board by a network, with `n_simulations` where `text` does not say.
    pub fn learnt_at_board(
        data: &DataDir,
        game: &str,
        text: &str,
        n_simulations: Option<u32>,
        door: Door,
    ) -> Result<Found> {
        if !is_learnt(text) {
            let detail = "that is no network; there are `best`, `shipped`, `model:NAME`, `run:RUN`, \
                          and on the command line `ckpt:FOLDER` and `onnx:FILE`";
            return Err(bad(text, detail));
        }
        let texts = [text.to_owned()];
        let mut table = Table::find(data, &texts, Some(game), &Map::new(), n_simulations, door)?;
        Ok(table.players.pop().expect("one was asked for"))
    }

    /// The same network at a board with as many simulations, of which its key and name tell. One
    /// that cannot search has no number in its key.
    pub fn with_simulations(mut self, n_simulations: u32) -> Result<Self> {
        let Brain::Board(thinker, n) = &mut self.brain else {
            return Err(bad(&self.about.name, "simulations are for networks at boards"));
        };
        thinker.check(n_simulations)?;
        let MatchPlayer { key, name, .. } = &mut self.about;
        if thinker.has_value() {
            for (text, label) in [(key, key_suffix as fn(u32) -> String), (name, name_suffix)] {
                let base = text.strip_suffix(&label(*n)).unwrap_or(text).to_owned();
                *text = base + &label(n_simulations);
            }
        }
        *n = n_simulations;
        Ok(self)
    }

    /// The network that it plays by at a board, and the simulations of its search.
    pub fn thinker(&self) -> Option<(&Arc<Thinker>, u32)> {
        match &self.brain {
            Brain::Board(thinker, n_simulations) => Some((thinker, *n_simulations)),
            _ => None,
        }
    }

    /// A player with a file, at a game or in an environment for which it is tried; at a board with
    /// so many simulations.
    fn learnt(
        game: &str,
        env: &Map<String, Value>,
        about: MatchPlayer,
        learnt: &Learnt,
        n_simulations: u32,
    ) -> Result<Self> {
        let unusable = |error: PolicyError| bad(&about.name, &error.to_string());
        let is_ours = learnt.kind == "safetensors";
        let brain = if is_game(game) {
            let spec = AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?.spec();
            let thinker = if is_ours {
                let network = BoardNet::from_safetensors(&learnt.bytes).map_err(unusable)?;
                Thinker::own(&about.name, network, spec)?
            } else {
                let file = PolicyFile::parse(Path::new(&about.name), &learnt.bytes)?;
                Thinker::of_file(&about.name, BoardPolicy::new(file, spec)?)
            };
            thinker.check(n_simulations)?;
            Brain::Board(Arc::new(thinker), n_simulations)
        } else if is_ours {
            let policy = Policy::from_safetensors(&learnt.bytes).map_err(unusable)?;
            Brain::Policy(Arc::new(policy))
        } else {
            let file = PolicyFile::parse(Path::new(&about.name), &learnt.bytes)?;
            file.check(game, env)?;
            Brain::File(Arc::new(file))
        };
        Ok(Self { about, brain })
    }

    /// A player as it was written down: by its key, or by its file.
    pub fn restored(
        game: &str,
        env: &Map<String, Value>,
        about: &MatchPlayer,
        learnt: Option<&Learnt>,
    ) -> Result<Self> {
        match learnt {
            Some(learnt) => {
                // Who was written down without simulations played by its policy alone.
                let n_simulations = simulations_in(&about.key).unwrap_or(0);
                Self::learnt(game, env, about.clone(), learnt, n_simulations)
            }
            None => Self::built_in(game, &about.key, &about.key),
        }
    }

    /// What it plays in a position that is not over.
    pub(crate) fn choose(&self, game: &AnyGame, rng: &mut fastrand::Rng) -> Result<Action> {
        match &self.brain {
            Brain::Builtin(opponent) => Ok(opponent.choose(game, rng)),
            Brain::Board(thinker, n_simulations) => Ok(thinker.think(game, *n_simulations)?.action),
            _ => unreachable!("players of environments are not seated at boards"),
        }
    }

    /// Its returns in the episodes of some seeds; nothing where `go_on` said no meanwhile.
    pub(crate) fn returns(
        &self,
        env_id: &str,
        options: &Map<String, Value>,
        seeds: &[u64],
        go_on: &mut dyn FnMut() -> Result<bool>,
    ) -> Result<Option<Vec<f64>>> {
        let actor: &dyn Actor = match &self.brain {
            Brain::Random => &RandomActor,
            Brain::Policy(policy) => &**policy,
            Brain::File(file) => &**file,
            Brain::Bot(bot) => {
                let config = serde_json::from_value(Value::Object(options.clone()));
                let config = config.expect("an environment took them");
                let mut returns = Vec::new();
                for &seed in seeds {
                    if !go_on()? {
                        return Ok(None);
                    }
                    returns.push(bot.play(config, seed).total_reward);
                }
                return Ok(Some(returns));
            }
            _ => unreachable!("players of boards are not put into environments"),
        };
        let is_deterministic = !matches!(self.brain, Brain::Random);
        let manner = Manner { seeds: seeds.to_vec(), is_deterministic };
        let outcome = play(actor, env_id, options, &manner, &mut |_, _| go_on())?;
        Ok(outcome.map(|outcome| outcome.returns))
    }
}

fn key_suffix(n_simulations: u32) -> String {
    format!(":{n_simulations}")
}

fn name_suffix(n_simulations: u32) -> String {
    match n_simulations {
        0 => ", policy alone".to_owned(),
        1 => ", 1 simulation".to_owned(),
        n => format!(", {n} simulations"),
    }
}

/// The opponent that `text` means at a game: an id, with or without `builtin:`, or a level.
pub fn find_opponent(game: &str, text: &str) -> Result<Opponent> {
    if let Ok(opponent) = Opponent::find(game, text) {
        return Ok(opponent);
    }
    if let Ok(opponent) = Opponent::find(game, &format!("builtin:{text}")) {
        return Ok(opponent);
    }
    if let Ok(opponent) = Opponent::at_level(game, text) {
        return Ok(opponent);
    }
    // What is wrong with it as an id: that tells most.
    let id = if text.starts_with("builtin:") { text.to_owned() } else { format!("builtin:{text}") };
    Opponent::find(game, &id)
}

/// Any legal action with equal chance.
struct RandomActor;

impl Actor for RandomActor {
    fn choose(
        &self,
        spec: &EnvSpec,
        observations: &[f32],
        masks: &[bool],
        n: usize,
    ) -> Result<Vec<AnyAction>> {
        let mut chances: Vec<fastrand::Rng> = (0..n as u64).map(fastrand::Rng::with_seed).collect();
        self.draw(spec, observations, masks, &mut chances)
    }

    fn draw(
        &self,
        spec: &EnvSpec,
        _: &[f32],
        masks: &[bool],
        chances: &mut [fastrand::Rng],
    ) -> Result<Vec<AnyAction>> {
        let rows = masks.chunks(spec.actions.size()).zip(chances);
        Ok(rows
            .map(|(mask, chance)| match &spec.actions {
                ActionSpace::Discrete(_) => {
                    let legal: Vec<usize> = (0..mask.len()).filter(|&at| mask[at]).collect();
                    AnyAction::Discrete(Action(legal[chance.usize(..legal.len())]))
                }
                ActionSpace::Continuous { low, high } => {
                    let bounds = low.iter().zip(*high);
                    let number = |(low, high): (&f32, &f32)| low + chance.f32() * (high - low);
                    AnyAction::Continuous(bounds.map(number).collect())
                }
            })
            .collect())
    }
}

#[cfg(test)]
mod tests;
