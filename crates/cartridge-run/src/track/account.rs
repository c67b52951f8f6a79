//! Which W&B server is told of runs, and the key that opens it.
//!
//! The server is named by `WANDB_BASE_URL` or in `data/lab.json`, and is W&B's public one otherwise.
//! The key is in `WANDB_API_KEY`, or in `~/.netrc`, where `wandb login` writes it. One from the
//! environment is for the server that the same environment or `lab.json` names, and is given to no
//! other.

use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use super::{PROJECT, Server};
use crate::error::{Result, RunError};
use crate::retention::{LabConfig, WandbSource};
use crate::wandb::checked;

/// What the surroundings of a process say about W&B.
#[derive(Clone, Default)]
pub struct Account {
    /// `WANDB_BASE_URL`.
    pub base_url: Option<String>,
    /// `WANDB_API_KEY`.
    pub key: Option<String>,
    /// `WANDB_ENTITY`.
    pub entity: Option<String>,
    /// `WANDB_PROJECT`.
    pub project: Option<String>,
    /// Where logins are kept.
    pub netrc: Option<PathBuf>,
}

impl fmt::Debug for Account {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl Account {
    /// That of this process.
    pub fn from_environment() -> Self {
        let word = |name: &str| {
            let word = env::var(name).ok().map(|word| word.trim().to_owned());
            word.filter(|word| !word.is_empty())
        };
        let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".netrc"));
        Self {
            base_url: word("WANDB_BASE_URL"),
            key: word("WANDB_API_KEY"),
            entity: word("WANDB_ENTITY"),
            project: word("WANDB_PROJECT"),
            netrc: env::var_os("NETRC").map(PathBuf::from).or_else(home),
        }
    }

    /// The server that is meant.
    pub fn base_url(&self, source: &WandbSource) -> Result<String> {
        let given = self.base_url.as_ref().unwrap_or(&source.base_url);
        let url = given.trim().trim_end_matches('/');
        match host(url) {
            Some(_) => Ok(url.to_owned()),
            None => Err(RunError::BadWandbServer(given.chars().take(200).collect())),
        }
    }

    /// The key for a server, if there is one.
    pub fn key(&self, base_url: &str, source: &WandbSource) -> Option<String> {
        let is_meant = self.base_url(source).is_ok_and(|meant| meant == base_url);
        let own = self.key.clone().filter(|_| is_meant);
        own.or_else(|| password(self.netrc.as_deref()?, host(base_url)?))
    }

    /// Whether the key for a server comes from the environment, which others do not share.
    pub fn has_own_key(&self) -> bool {
        self.key.is_some()
    }

    /// The server that is to be told of runs: one for which there is a key.
    pub fn server(
        &self,
        lab: &LabConfig,
        entity: Option<&str>,
        project: Option<&str>,
    ) -> Result<Server> {
        let source = &lab.wandb;
        let base_url = self.base_url(source)?;
        if self.key(&base_url, source).is_none() {
            return Err(RunError::NoWandbKey(base_url));
        }
        let entity = entity.or(self.entity.as_deref()).or(source.entity.as_deref());
        let project = project.or(self.project.as_deref()).or(source.project.as_deref());
        Ok(Server {
            base_url,
            entity: entity.map(|name| checked("entity", name)).transpose()?,
            project: checked("project", project.unwrap_or(PROJECT))?,
            window_steps: lab.analytics.window_steps,
        })
    }
}

/// The host of an address of a server; nothing where it is none, or carries a login.
fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split('/').next()?;
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next()?,
        None => authority.split(':').next()?,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
    let is_sound = !host.is_empty()
        && host.chars().all(is_plain)
        && !url.chars().any(|c| c.is_whitespace() || c.is_control() || "@?#".contains(c));
    is_sound.then_some(host)
}

/// The address for people that belongs to a server, as W&B names its own.
pub fn page_address(base_url: &str) -> String {
    if base_url.contains("://api.wandb.") {
        return base_url.replacen("://api.", "://", 1);
    }
    base_url.replacen("://api.", "://app.", 1)
}

/// The password for a host in a file of logins.
fn password(netrc: &Path, host: &str) -> Option<String> {
    let text = fs::read_to_string(netrc).ok()?;
    let mut words = text.lines().flat_map(|line| {
        // A comment, which is not part of the format, and yet is written.
        let line = if line.trim_start().starts_with('#') { "" } else { line };
        line.split_whitespace()
    });
    let mut is_ours = false;
    while let Some(word) = words.next() {
        match word {
            "machine" => is_ours = words.next() == Some(host),
            // What is for everybody is not meant for us.
            "default" => is_ours = false,
            "password" => {
                let password = words.next()?;
                if is_ours {
                    return Some(password.to_owned());
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
