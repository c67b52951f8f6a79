//! Self-play for a learner that is somewhere else, in whatever language: it plays with the network in
//! a file, notices when the file is replaced, and appends its games to a replay (`docs/alphazero.md`).

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cartridge_games::registry::AnyGame;
use cartridge_learn::alphazero::actor::{self, Crowd, FileJudge};
use cartridge_learn::alphazero::record::PlayedGame;
use cartridge_learn::alphazero::self_play;
use cartridge_learn::team::Team;
use cartridge_search::search::Statistics;
use cartridge_store::Replay;

use crate::clock::unix_now;
use crate::config::{Algorithm, Draft};
use crate::error::{Result, RunError};
use crate::policy_file::PolicyFile;

/// Games in step on each thread.
const GAMES_OF_A_LANE: usize = 64;

/// Positions whose evaluation each lane remembers.
const CACHE_POSITIONS: usize = 1 << 16;

/// Moves of each game between two looks at the file.
const PLIES_OF_A_ROUND: u64 = 8;

/// What an actor is told.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Id of the game.
    pub game: String,
    /// The ONNX file with the network.
    pub model: PathBuf,
    /// Where games are appended.
    pub replay: PathBuf,
    /// Simulations of a thorough search; none for as many as a training of the game ends with.
    pub n_simulations: Option<u32>,
    /// Threads that play.
    pub n_threads: usize,
    /// What all chance follows from.
    pub seed: u64,
}

/// What came of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Games that ended.
    pub n_games: u64,
    /// Moves that were played.
    pub n_plies: u64,
    /// What the searches did.
    pub statistics: Statistics,
    /// Whether the network was another than in the round before.
    pub is_new_network: bool,
    /// Why a file that has come is not played with.
    pub warning: Option<String>,
    /// Id of the newest game in the replay.
    pub last: u64,
}

/// By which a replaced file shows. Times and sizes alone may be the same: clocks of files are coarse,
/// and networks of one shape are equally long. A file that was renamed into place has a place of its
/// own on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    modified: SystemTime,
    size_bytes: u64,
}

impl Seen {
    fn new(found: &fs::Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            modified: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            size_bytes: found.len(),
        }
    }
}

/// Games in progress, played with the network in a file.
#[derive(Debug)]
pub struct SelfPlayActor {
    terms: Terms,
    replay: Replay,
    games: Box<dyn actor::Actor>,
    network: Option<FileJudge>,
    seen: Option<Seen>,
    warning: Option<String>,
    n_lanes: usize,
}

impl SelfPlayActor {
    /// Gets ready to play; the replay is made if it is not there.
    pub fn new(terms: Terms) -> Result<Self> {
        let n_lanes = terms.n_threads.max(1);
        let config = settings(&terms.game, terms.n_simulations)?;
        let crowd = Crowd { n_lanes, n_games: GAMES_OF_A_LANE, cache_positions: CACHE_POSITIONS };
        let team = Team::new(terms.n_threads);
        let games = actor::actor(&terms.game, &config, crowd, terms.seed, team)?;
        let replay = Replay::open(&terms.replay)?;
        Ok(Self { terms, replay, games, network: None, seen: None, warning: None, n_lanes })
    }

    /// Looks at the file, plays for a while with the network in it, and appends the games that ended.
    /// Nothing while there is no file. A file that cannot be read is an error where there was none
    /// before; otherwise the network that was there is kept until the next change.
    pub fn play(&mut self) -> Result<Option<Round>> {
        let is_new_network = self.look()?;
        let Some(network) = &self.network else { return Ok(None) };
        let n_plies = PLIES_OF_A_ROUND * (self.n_lanes * GAMES_OF_A_LANE) as u64;
        let harvest = self.games.play(network, n_plies);
        let games: Vec<Vec<u8>> = harvest.games.iter().map(PlayedGame::to_bytes).collect();
        let last = self.replay.append(&games, unix_now())?;
        Ok(Some(Round {
            n_games: games.len() as u64,
            n_plies: harvest.n_plies,
            statistics: harvest.statistics,
            is_new_network,
            warning: self.warning.take(),
            last,
        }))
    }

    /// Reads the network if the file is another than before; says whether it was.
    fn look(&mut self) -> Result<bool> {
        let Ok(found) = fs::metadata(&self.terms.model) else { return Ok(false) };
        let seen = Seen::new(&found);
        if self.seen == Some(seen) {
            return Ok(false);
        }
        self.seen = Some(seen);
        match read(&self.terms.model, &self.terms.game) {
            Ok(network) => {
                self.network = Some(network);
                Ok(true)
            }
            Err(error) if self.network.is_some() => {
                self.warning = Some(format!("{error}; the network before it plays on"));
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// How a training of the game plays where nobody says otherwise; with simulations of one's own, a
/// fifth of them in a fast search.
fn settings(game: &str, n_simulations: Option<u32>) -> Result<self_play::Config> {
    // Asked first, so that a misspelt game is what the user hears of.
    AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?;
    let config = Draft::new(game, Algorithm::AlphaZero.id())?.finish()?;
    let config = config.self_play().expect("it learns games").self_play;
    Ok(match n_simulations {
        None => config,
        Some(n) => self_play::Config {
            n_simulations: [n; 2],
            n_fast_simulations: (n / 5).max(2),
            ..config
        },
    })
}

fn read(path: &Path, game: &str) -> Result<FileJudge> {
    let spec = AnyGame::start(game, &mut fastrand::Rng::with_seed(0))?.spec();
    let file = PolicyFile::open(path)?;
    let n_inputs = spec.planes.iter().product();
    FileJudge::new(file.policy, n_inputs, spec.n_actions).map_err(|error| RunError::BadPlayer {
        player: path.display().to_string(),
        detail: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use cartridge_games::connect4::Connect4;
    use cartridge_games::{Game, Turn};
    use cartridge_learn::board_net::{BoardNet, Preset, Shape};
    use cartridge_learn::onnx::board::export_board_net;
    use cartridge_store::data_dir::write_beside;

    use super::*;

    fn network(seed: u64) -> Vec<u8> {
        changed_network(seed, |_| {})
    }

    fn changed_network(seed: u64, change: impl FnOnce(&mut [f32])) -> Vec<u8> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let shape = Shape::of(&Connect4::SPEC);
        let mut network = BoardNet::new(shape, &Preset::Tiny.config(), &mut rng).unwrap();
        network.change(change);
        export_board_net(&network, Vec::new())
    }

    /// What `cartridge train GAME` plays with, as `run.json` would have it.
    fn trained(game: &str) -> self_play::Config {
        let draft = Draft::new(game, Algorithm::usual(game).id()).unwrap();
        draft.finish().unwrap().self_play().unwrap().self_play
    }

    #[test]
    fn it_plays_as_a_training_of_the_game_does() {
        for spec in cartridge_games::registry::games() {
            assert_eq!(settings(spec.id, None).unwrap(), trained(spec.id), "{}", spec.id);
            let own = settings(spec.id, Some(100)).unwrap();
            assert_eq!((own.n_simulations, own.n_fast_simulations), ([100; 2], 20));
            assert_eq!(own.value_scale, trained(spec.id).value_scale);
        }
        assert_eq!(settings("othello", None).unwrap().value_scale, 1.5);
        assert_eq!(settings("connect4", None).unwrap().value_scale, 0.1);
        let error = settings("conect4", None).unwrap_err().to_string();
        assert!(error.contains("connect4"), "{error}");
    }

    #[test]
    fn it_plays_with_whatever_network_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (model, replay) = (folder.path().join("latest.onnx"), folder.path().join("replay.db"));
        let mut actor = SelfPlayActor::new(Terms {
            game: "connect4".to_owned(),
            model: model.clone(),
            replay: replay.clone(),
            n_simulations: Some(4),
            n_threads: 1,
            seed: 1,
        })
        .unwrap();
        assert_eq!(actor.play().unwrap(), None, "there is no network yet");
        write_beside(&model, &network(1)).unwrap();
        let first = actor.play().unwrap().unwrap();
        assert!(first.is_new_network);
        assert_eq!(first.n_plies, 8 * 64);
        assert!(!actor.play().unwrap().unwrap().is_new_network);
        // Another file of the same size and time is another file.
        let before = fs::metadata(&model).unwrap();
        write_beside(&model, &network(2)).unwrap();
        fs::File::open(&model).unwrap().set_modified(before.modified().unwrap()).unwrap();
        assert_eq!(fs::metadata(&model).unwrap().len(), before.len());
        assert!(actor.play().unwrap().unwrap().is_new_network);
        // What is no network is passed over.
        write_beside(&model, b"half a file").unwrap();
        let mut last = actor.play().unwrap().unwrap();
        assert!(!last.is_new_network);
        let warning = last.warning.unwrap();
        assert!(warning.ends_with("the network before it plays on"), "{warning}");
        last = actor.play().unwrap().unwrap();
        assert_eq!(last.warning, None, "it is said once");
        // So is a network that has diverged: it would play by chance, and nobody would know.
        write_beside(&model, &changed_network(3, |all| all.fill(f32::NAN))).unwrap();
        last = actor.play().unwrap().unwrap();
        let warning = last.warning.unwrap();
        assert!(warning.contains("no number"), "{warning}");
        last = actor.play().unwrap().unwrap();
        while last.last < 20 {
            last = actor.play().unwrap().unwrap();
        }
        let games = Replay::open_to_read(&replay).unwrap().up_to(u64::MAX >> 1, 1_000).unwrap();
        assert_eq!(games.len() as u64, last.last);
        for bytes in games {
            let game = PlayedGame::from_bytes(&bytes).unwrap();
            let end: Connect4 = game.replay(|_, _| {}).unwrap();
            assert!(
                end.turn() == Turn::Over
                    || game.end != cartridge_learn::alphazero::record::End::Over
            );
        }
    }
}
