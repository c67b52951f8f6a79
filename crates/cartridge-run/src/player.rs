//! Players of matches and tournaments: built in, learnt, or from a file.
//!
//! | written | means |
//! |---|---|
//! | `random`, `mcts:100`, `builtin:perfect`, `club` | an opponent of the game, by id or level; at an environment `random`, or one of its scripted players |
//! | `model:NAME`, `model:NAME@3`, `model:NAME@best` | a named model; the best version, or else the newest, where none is said |
//! | `run:RUN`, `RUN`, `RUN@200000`, `RUN@latest` | a checkpoint of a run; the best, or else the newest, where none is said |
//! | `artifact:RUN/ARTIFACT` | an ONNX file that a run has made |
//! | `FILE.onnx` | a file, on the command line only: no route takes a path |
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
use cartridge_learn::policy::Policy;
use cartridge_store::{DataDir, MatchPlayer, RunId};
use serde_json::{Map, Value};

use crate::board_policy::BoardPolicy;
use crate::checkpoint;
use crate::error::{Result, RunError};
use crate::evaluation::{Actor, Manner, play};
use crate::model;
use crate::opponent::Opponent;
use crate::policy_file::{self, PolicyFile};

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
    /// At a board, a policy.
    Board(Arc<BoardPolicy>),
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

/// A player and where it comes from.
#[derive(Clone, Debug)]
pub struct Found {
    /// The player.
    pub player: Player,
    /// What it has learnt; nothing where it is built in.
    pub learnt: Option<Learnt>,
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
    Learnt { about: MatchPlayer, env_id: Option<String>, env: Map<String, Value>, learnt: Learnt },
}

impl Table {
    /// Finds players for `game`, or for the game that the first of them with a mind of its own is
    /// for. `env` has options of the environment; without any they are those of the policies.
    pub fn find(
        data: &DataDir,
        texts: &[String],
        game: Option<&str>,
        env: &Map<String, Value>,
        door: Door,
    ) -> Result<Self> {
        let named = texts.iter().map(|text| look_up(data, text, door));
        let named: Vec<Named<'_>> = named.collect::<Result<_>>()?;
        let learnt = || {
            named.iter().zip(texts).filter_map(|(named, text)| match named {
                Named::Learnt { env_id, env, .. } => Some((text, env_id.as_deref(), env)),
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
        let mut players = Vec::new();
        for (named, text) in named.iter().zip(texts) {
            let found = match named {
                Named::Builtin(id) => {
                    Found { player: Player::built_in(game, id, text)?, learnt: None }
                }
                Named::Learnt { about, learnt, .. } => {
                    let player = Player::learnt(game, &options, about.clone(), learnt);
                    let player = player.map_err(|error| bad(text, &error.to_string()))?;
                    Found { player, learnt: Some(learnt.clone()) }
                }
            };
            players.push(found);
        }
        Ok(Self { game: game.to_owned(), env: options, players })
    }
}

/// Complains about built-in players that `game` does not have, without a data folder: so that a slip
/// of the pen makes none.
pub fn check_built_in(game: &str, texts: &[String]) -> Result<()> {
    let is_learnt = |text: &str| {
        let prefixes = ["model:", "artifact:", "run:"];
        let run = text.split('@').next().unwrap_or_default();
        prefixes.iter().any(|prefix| text.starts_with(prefix))
            || text.ends_with(".onnx")
            || run.parse::<RunId>().is_ok()
    };
    let mut built_in = texts.iter().filter(|text| !is_learnt(text));
    built_in.try_for_each(|text| Player::built_in(game, text, text).map(|_| ()))
}

fn bad(player: &str, detail: &str) -> RunError {
    RunError::BadPlayer { player: player.to_owned(), detail: detail.to_owned() }
}

fn look_up<'a>(data: &DataDir, text: &'a str, door: Door) -> Result<Named<'a>> {
    if let Some(name) = text.strip_prefix("model:") {
        return look_up_model(data, name);
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
    let (run, which) = match text.strip_prefix("run:").unwrap_or(text).split_once('@') {
        Some((run, which)) => (run, Some(which)),
        None => (text.strip_prefix("run:").unwrap_or(text), None),
    };
    if text.starts_with("run:") || run.parse::<RunId>().is_ok() {
        return look_up_run(data, &run.parse()?, which);
    }
    if text.ends_with(".onnx") {
        if door == Door::Http {
            let detail = "no request takes a path; keep the file with `cartridge models add NAME \
                          FILE.onnx` and say `model:NAME`";
            return Err(bad(text, detail));
        }
        let path = Path::new(text);
        let bytes = policy_file::read(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => RunError::NoPolicyFile(text.to_owned()),
            _ => bad(text, &error.to_string()),
        })?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let sha256 = cartridge_store::models::sha256(&bytes);
        return of_file(format!("onnx:{}", &sha256[..16]), name, bytes);
    }
    Ok(Named::Builtin(text))
}

fn of_file(key: String, name: String, bytes: Vec<u8>) -> Result<Named<'static>> {
    let file = PolicyFile::parse(Path::new(&name), &bytes)?;
    let env_id = file.policy.metadata("env_id").map(|id| present_id(id).0.to_owned());
    let env = file.policy.metadata("env").and_then(|text| serde_json::from_str(text).ok());
    let about = MatchPlayer { key, name, sha256: Some(file.sha256) };
    let learnt = Learnt { kind: "onnx", bytes };
    Ok(Named::Learnt { about, env_id, env: env.unwrap_or_default(), learnt })
}

fn look_up_model(data: &DataDir, text: &str) -> Result<Named<'static>> {
    let (model, version) = model::resolve(data, text)?;
    let has_weights = version.files.iter().any(|file| file.file == model::WEIGHTS);
    let (file, kind) =
        if has_weights { (model::WEIGHTS, "safetensors") } else { (model::ONNX, "onnx") };
    let bytes = model::read_file(data, &model.name, &version, file)?;
    let name = format!("{}@{}", model.name, version.version);
    let about = MatchPlayer { key: format!("model:{name}"), name, sha256: Some(version.sha256) };
    let (env_id, env) = (Some(model.env_id), version.env);
    Ok(Named::Learnt { about, env_id, env, learnt: Learnt { kind, bytes } })
}

fn look_up_run(data: &DataDir, id: &RunId, which: Option<&str>) -> Result<Named<'static>> {
    let dir = data.run(id);
    let run = dir.manifest()?;
    if checkpoint::names(&dir)?.is_empty() {
        return Err(RunError::NoCheckpoint(id.clone()));
    }
    let which = which.unwrap_or_else(|| model::usual_checkpoint(&dir));
    let checkpoint = checkpoint::find(&dir, id, which)?;
    let (manifest, policy) = checkpoint::load_named(&dir, id, &checkpoint)?;
    let about = MatchPlayer {
        key: format!("run:{id}@{checkpoint}"),
        name: format!("{id} at step {}", manifest.step),
        sha256: Some(manifest.weights_sha256),
    };
    let env = run.config["env"].as_object().cloned().unwrap_or_default();
    let learnt = Learnt { kind: "safetensors", bytes: policy.to_safetensors() };
    Ok(Named::Learnt { about, env_id: Some(run.env_id), env, learnt })
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

    /// Who a person plays against at a board: built in, or a named model.
    pub fn at_board(data: &DataDir, game: &str, text: &str) -> Result<Self> {
        if !text.starts_with("model:") {
            return Ok(Self::opponent(Opponent::find(game, text)?));
        }
        let texts = [text.to_owned()];
        let mut table = Table::find(data, &texts, Some(game), &Map::new(), Door::Http)?;
        Ok(table.players.pop().expect("one was asked for").player)
    }

    /// The built-in opponent that it is, if it is one.
    pub fn builtin(&self) -> Option<Opponent> {
        match &self.brain {
            Brain::Builtin(opponent) => Some(*opponent),
            _ => None,
        }
    }

    /// A player with a file, at a game or in an environment for which it is tried.
    pub fn learnt(
        game: &str,
        env: &Map<String, Value>,
        about: MatchPlayer,
        learnt: &Learnt,
    ) -> Result<Self> {
        let brain = if learnt.kind == "safetensors" {
            let policy = Policy::from_safetensors(&learnt.bytes);
            Brain::Policy(Arc::new(policy.map_err(|error| bad(&about.name, &error.to_string()))?))
        } else {
            let file = PolicyFile::parse(Path::new(&about.name), &learnt.bytes)?;
            if is_game(game) {
                let spec = AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?.spec();
                Brain::Board(Arc::new(BoardPolicy::new(file, spec)?))
            } else {
                file.check(game, env)?;
                Brain::File(Arc::new(file))
            }
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
            Some(learnt) => Self::learnt(game, env, about.clone(), learnt),
            None => Self::built_in(game, &about.key, &about.key),
        }
    }

    /// What it plays in a position that is not over.
    pub(crate) fn choose(&self, game: &AnyGame, rng: &mut fastrand::Rng) -> Result<Action> {
        match &self.brain {
            Brain::Builtin(opponent) => Ok(opponent.choose(game, rng)),
            Brain::Board(policy) => policy.choose(game),
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
