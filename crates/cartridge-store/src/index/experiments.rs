//! The experiments in the index: what lists need, found without reading files.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension as _, params};

use super::{Index, IndexedRun, indexed_run, parse, to_text};
use crate::data_dir::DataDir;
use crate::error::{Result, StoreError};
use crate::experiments::{self, Experiment, ExperimentId, GroupId};

pub(super) const SCHEMA: &str = "
    CREATE TABLE experiments (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        env_id TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        created_at REAL NOT NULL,
        document TEXT NOT NULL
    ) STRICT;
    CREATE INDEX experiments_by_age ON experiments (created_at DESC, id DESC, name, env_id, sha256);
";

/// Which experiments are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExperimentFilter {
    /// With this in their name, id, environment or hash; case does not matter.
    pub text: Option<String>,
    /// Those that were put away.
    pub put_away: BTreeSet<ExperimentId>,
    /// Whether those are wanted, and not the others.
    pub is_archived: bool,
}

/// Where a page of experiments ends: the next one begins after this one.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentCursor {
    /// When the experiment was made.
    pub created_at: f64,
    /// Its name.
    pub id: ExperimentId,
}

impl Index {
    /// Takes in the experiments that are new on disk and forgets those that are gone. Returns those
    /// that could not be read, with what is wrong: one must not keep out the others.
    pub fn take_in_experiments(
        &mut self,
        data: &DataDir,
    ) -> Result<Vec<(ExperimentId, StoreError)>> {
        let present: BTreeSet<ExperimentId> = experiments::ids(data)?.into_iter().collect();
        let known = self.known_experiments()?;
        let transaction = self.connection.transaction()?;
        let mut damaged = Vec::new();
        for id in present.difference(&known) {
            match Experiment::read(data, id) {
                Ok(experiment) => {
                    transaction
                        .prepare_cached(
                            "INSERT OR REPLACE INTO experiments
                             (id, name, env_id, sha256, created_at, document)
                             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                        )?
                        .execute(params![
                            id.as_str(),
                            experiment.name,
                            experiment.env_id(),
                            experiment.sha256,
                            experiment.created_at,
                            to_text(&experiment),
                        ])?;
                }
                // It is being made.
                Err(StoreError::NoSuchExperiment(_)) => {}
                Err(error) => damaged.push((id.clone(), error)),
            }
        }
        for id in known.difference(&present) {
            transaction.execute("DELETE FROM experiments WHERE id = ?1", [id.as_str()])?;
        }
        transaction.commit()?;
        Ok(damaged)
    }

    fn known_experiments(&self) -> Result<BTreeSet<ExperimentId>> {
        let mut statement = self.connection.prepare_cached("SELECT id FROM experiments")?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
        ids.map(|id| id?.parse()).collect()
    }

    /// One experiment.
    pub fn experiment(&self, id: &ExperimentId) -> Result<Experiment> {
        let text: Option<String> = self
            .connection
            .prepare_cached("SELECT document FROM experiments WHERE id = ?1")?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        parse(&text.ok_or_else(|| StoreError::NoSuchExperiment(id.to_string()))?)
    }

    /// The experiments that `filter` wants, newest first, from `after` on.
    pub fn experiments(
        &self,
        filter: &ExperimentFilter,
        limit: usize,
        after: Option<&ExperimentCursor>,
    ) -> Result<Vec<Experiment>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT document FROM experiments
             WHERE (created_at, id) < (?1, ?2)
             AND (?4 IS NULL
                  OR instr(lower(name || ' ' || id || ' ' || env_id || ' ' || sha256), ?4) > 0)
             AND (id IN (SELECT value FROM json_each(?5))) = ?6
             ORDER BY created_at DESC, id DESC LIMIT ?3",
        )?;
        let (created_at, id) =
            after.map_or((f64::INFINITY, ""), |cursor| (cursor.created_at, cursor.id.as_str()));
        let found = statement.query_map(
            params![
                created_at,
                id,
                limit,
                filter.text.as_deref().map(str::to_ascii_lowercase),
                to_text(&filter.put_away),
                filter.is_archived,
            ],
            |row| row.get::<_, String>(0),
        )?;
        found.map(|text| parse(&text?)).collect()
    }

    /// How many runs each of these experiments has.
    pub fn runs_per_experiment(&self, ids: &[&str]) -> Result<BTreeMap<String, u64>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT experiment_id, count(*) FROM runs
             WHERE experiment_id IN (SELECT value FROM json_each(?1)) GROUP BY experiment_id",
        )?;
        let counts = statement.query_map([to_text(&ids)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(counts.collect::<rusqlite::Result<_>>()?)
    }

    /// The runs that were made together, in the order in which they were made.
    pub fn runs_of_group(&self, group: &GroupId) -> Result<Vec<IndexedRun>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT manifest, follower FROM runs WHERE group_id = ?1 ORDER BY created_at, id",
        )?;
        let runs = statement.query_map([group.as_str()], indexed_run)?;
        runs.map(|run| run?).collect()
    }
}
