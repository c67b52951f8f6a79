//! Named models, through the lab.

use std::fs::File;

use cartridge_store::{ArtifactId, Model, ModelFile, ModelList, ModelName, ModelVersion, RunId};

use super::Lab;
use crate::error::Result;
use crate::model::{self, NewVersion, Source};
use crate::steer::By;

impl Lab {
    /// The models, by name: those that were put away, or the others; of one environment, or of all.
    pub fn models(&self, env_id: Option<&str>, is_archived: bool) -> Result<Vec<Model>> {
        let mut models = ModelList::read(&self.data)?.models;
        models.retain(|model| {
            model.archived == is_archived && env_id.is_none_or(|env_id| model.env_id == env_id)
        });
        Ok(models)
    }

    /// One model.
    pub fn model(&self, name: &ModelName) -> Result<Model> {
        Ok(ModelList::read(&self.data)?.get(name)?.clone())
    }

    /// Keeps a checkpoint of a run, or an ONNX file that it has made, under a name.
    pub fn add_model(
        &self,
        name: &str,
        run: &RunId,
        which: Option<String>,
        artifact: Option<ArtifactId>,
        notes: String,
        by: By<'_>,
    ) -> Result<(Model, ModelVersion)> {
        let run = Box::new(self.run(run)?.run.manifest);
        let source = match artifact {
            Some(artifact) => Source::Artifact { run, artifact },
            None => Source::Checkpoint { run, which },
        };
        model::add(&self.data, NewVersion { name: name.to_owned(), source, notes }, by)
    }

    /// Moves an alias of a model to a version.
    pub fn alias_model(
        &self,
        name: &ModelName,
        alias: &str,
        version: u32,
        by: By<'_>,
    ) -> Result<Model> {
        model::alias(&self.data, name, alias, version, by)
    }

    /// Puts a model away, or brings it back.
    pub fn archive_model(&self, name: &ModelName, is_archived: bool, by: By<'_>) -> Result<Model> {
        model::archive(&self.data, name, is_archived, by)
    }

    /// Opens a file of a version: a number or an alias.
    pub fn open_model(
        &self,
        name: &ModelName,
        which: &str,
        file: &str,
    ) -> Result<(ModelFile, File)> {
        let model = self.model(name)?;
        model::open_file(&self.data, name, model.version(Some(which))?, file)
    }
}
