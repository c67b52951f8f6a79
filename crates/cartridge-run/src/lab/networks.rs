//! The networks that can be played at a board, through the lab.

use std::path::Path;

use cartridge_store::{MatchPlayer, Model, ModelList, ModelVersion, RunFilter, RunKind};

use super::Lab;
use crate::checkpoint;
use crate::error::Result;
use crate::model;
use crate::player::{self, Origin};
use crate::policy_file::PolicyFile;
use crate::ratings::Known;
use crate::shipped;
use crate::thinker::{STRENGTHS, Strength};

/// The newest trainings of a game whose checkpoints are listed.
const MOST_RUNS: usize = 20;

/// The newest checkpoints of each, and the newest versions of each model.
const MOST_OF_EACH: usize = 20;

/// A network that can be played.
#[derive(Clone, Debug)]
pub struct NetworkView {
    /// How it is asked for, to which simulations can be added: `best`, `model:four@3`.
    pub id: String,
    /// What it is.
    pub kind: NetworkKind,
    /// Its name for people.
    pub name: String,
    /// Where it was learnt, as far as that is known.
    pub origin: Origin,
    /// Whether it says what positions are worth, so that it can search.
    pub can_search: bool,
    /// How strong it was found to be, for each strength at which it can be played.
    pub ratings: Vec<StrengthRating>,
}

/// The simulations of a strength, none for a network that cannot search, and how strong it is so.
pub type StrengthRating = (Option<u32>, Known);

/// What a network is to the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkKind {
    /// The lab's best.
    Best,
    /// Brought along.
    Shipped,
    /// A version of a named model.
    Model,
    /// A checkpoint of a training.
    Checkpoint,
}

impl Lab {
    /// The networks that can be played at `game`: the best, what is brought along, named models and
    /// checkpoints, the newest first.
    pub fn networks(&self, game: &str) -> Result<Vec<NetworkView>> {
        let (here, before) = (self.ratings(game, None)?, shipped::ratings(game)?);
        let known = |player: &MatchPlayer| here.of(player).or_else(|| before.of(player));
        let rated = |key: &str, sha256: Option<String>, can_search: bool| -> Vec<StrengthRating> {
            let player =
                |key: String| MatchPlayer { key, name: String::new(), sha256: sha256.clone() };
            if !can_search {
                return known(&player(key.to_owned())).map(|it| (None, it)).into_iter().collect();
            }
            let at = |strength: &Strength| {
                let n_simulations = strength.n_simulations;
                let known = known(&player(format!("{key}:{n_simulations}")))?;
                Some((Some(n_simulations), known))
            };
            STRENGTHS.iter().filter_map(at).collect()
        };
        let mut networks = Vec::new();
        if let Some((name, version)) = player::best(&self.data, game)? {
            let key = format!("model:{name}@{}", version.version);
            let list = ModelList::read(&self.data)?;
            networks.extend(self.of_version(list.get(&name)?, &version).map(
                |(network, sha256)| {
                    let (id, kind) = ("best".to_owned(), NetworkKind::Best);
                    let ratings = rated(&key, Some(sha256), network.can_search);
                    NetworkView { id, kind, ratings, ..network }
                },
            ));
        }
        if let Some(file) = shipped::model(game) {
            let sha256 = cartridge_store::models::sha256(file);
            let parsed = PolicyFile::parse(Path::new("shipped"), file)?;
            let (key, can_search) =
                (format!("shipped:{}", &sha256[..16]), parsed.policy.has_value());
            networks.push(NetworkView {
                id: "shipped".to_owned(),
                kind: NetworkKind::Shipped,
                name: "Shipped model".to_owned(),
                origin: Origin {
                    run: parsed.policy.metadata("run_id").and_then(|run| run.parse().ok()),
                    step: Some(parsed.step()).filter(|step| *step > 0),
                },
                can_search,
                ratings: rated(&key, Some(parsed.learnt_sha256()), can_search),
            });
        }
        let list = ModelList::read(&self.data)?;
        for model in list.models.iter().filter(|it| it.env_id == game && !it.archived) {
            for version in model.versions.iter().rev().take(MOST_OF_EACH) {
                networks.extend(self.of_version(model, version).map(|(network, sha256)| {
                    let ratings = rated(&network.id, Some(sha256), network.can_search);
                    NetworkView { ratings, ..network }
                }));
            }
        }
        let filter = RunFilter {
            kinds: vec![RunKind::Train],
            env_id: Some(game.to_owned()),
            ..RunFilter::default()
        };
        for run in self.read(|index| index.runs(&filter, MOST_RUNS, None))? {
            let (id, dir) = (&run.manifest.id, self.data.run(&run.manifest.id));
            for name in checkpoint::names(&dir)?.iter().rev().take(MOST_OF_EACH) {
                let key = format!("run:{id}@{name}");
                let step = checkpoint::step_in(name);
                // It may be gone by now, and is rated by its name alone then.
                let sha256 = checkpoint::manifest(&dir, id, name).ok().map(|it| it.weights_sha256);
                networks.push(NetworkView {
                    ratings: rated(&key, sha256, true),
                    id: key,
                    kind: NetworkKind::Checkpoint,
                    name: format!("{id} at step {}", step.unwrap_or(0)),
                    origin: Origin { run: Some(id.clone()), step },
                    can_search: true,
                });
            }
        }
        Ok(networks)
    }

    /// A version of a model and the hash of what it has learnt, if it can be read.
    fn of_version(&self, model: &Model, version: &ModelVersion) -> Option<(NetworkView, String)> {
        let name = format!("{}@{}", model.name, version.version);
        let is_ours = version.files.iter().any(|file| file.file == model::WEIGHTS);
        let (can_search, sha256) = if is_ours {
            (true, version.sha256.clone())
        } else {
            let read = model::read_file(&self.data, &model.name, version, model::ONNX);
            let parsed = read.and_then(|bytes| PolicyFile::parse(Path::new(&name), &bytes));
            match parsed {
                Ok(file) => (file.policy.has_value(), file.learnt_sha256()),
                Err(error) => {
                    tracing::warn!(model = name, %error, "cannot read a model");
                    return None;
                }
            }
        };
        let step = Some(version.step).filter(|step| *step > 0);
        let network = NetworkView {
            id: format!("model:{name}"),
            kind: NetworkKind::Model,
            name,
            origin: Origin { run: version.run.clone(), step },
            can_search,
            ratings: Vec::new(),
        };
        Some((network, sha256))
    }
}
