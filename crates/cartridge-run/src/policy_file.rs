//! Policies that other programs made, as ONNX files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cartridge_games::env::EnvSpec;
use cartridge_games::registry::{make_env, present_id};
use cartridge_learn::onnx::{MOST_BYTES, OnnxError, OnnxPolicy};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::error::{Result, RunError};

/// A policy and the file that it was read from.
#[derive(Debug)]
pub struct PolicyFile {
    /// Where it lies.
    pub path: PathBuf,
    /// SHA-256 of its bytes, without those of weights beside it.
    pub sha256: String,
    /// What it says.
    pub policy: OnnxPolicy,
}

impl PolicyFile {
    /// Reads a file; weights that PyTorch has put beside it are found there.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |reason: String| RunError::Onnx {
            file: path.display().to_string(),
            source: OnnxError::Malformed(reason),
        };
        let bytes = read(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => RunError::NoPolicyFile(path.display().to_string()),
            _ => failed(error.to_string()),
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        // The name is one without a path: that was seen to.
        Self::load(path, &bytes, &mut |file| read(&folder.join(file)))
    }

    /// Reads a policy that is all in one file: `path` is what it is called, `bytes` what it holds.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::load(path, bytes, &mut |file| {
            Err(io::Error::other(format!(
                "its weights lie beside it in `{file}`; save them in the ONNX file itself"
            )))
        })
    }

    fn load(
        path: &Path,
        bytes: &[u8],
        read_beside: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
    ) -> Result<Self> {
        let policy = OnnxPolicy::load(bytes, read_beside);
        let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        match policy {
            Ok(policy) => Ok(Self { path: path.to_owned(), sha256, policy }),
            Err(source) => Err(RunError::Onnx { file: path.display().to_string(), source }),
        }
    }

    /// Hash of what was learnt: of the weights where they are a network of ours, by which it is known
    /// as its checkpoint is, and else of the file.
    pub fn learnt_sha256(&self) -> String {
        self.policy.board_net().map_or_else(|| self.sha256.clone(), |network| network.sha256())
    }

    /// Where the policy is to act: in `env_id` with `options`, or else where its file says.
    pub fn environment(
        &self,
        env_id: Option<&str>,
        options: Map<String, Value>,
    ) -> Result<(String, Map<String, Value>)> {
        if let Some(env_id) = env_id {
            return Ok((present_id(env_id).0.to_owned(), options));
        }
        let env_id = self.policy.metadata("env_id");
        let env_id =
            env_id.ok_or_else(|| RunError::NoEnvironment(self.path.display().to_string()))?;
        let own = self.policy.metadata("env").and_then(|text| serde_json::from_str(text).ok());
        let mut all: Map<String, Value> = own.unwrap_or_default();
        all.extend(options);
        Ok((present_id(env_id).0.to_owned(), all))
    }

    /// Whether the policy is one for an environment.
    pub fn check(&self, env_id: &str, options: &Map<String, Value>) -> Result<&'static EnvSpec> {
        let spec = make_env(env_id, options)?.spec();
        self.policy.check(spec).map_err(|error| self.error(error))?;
        Ok(spec)
    }

    /// The step of the training that its file names, if it does.
    pub fn step(&self) -> u64 {
        self.policy.metadata("step").and_then(|step| step.parse().ok()).unwrap_or(0)
    }

    /// What is wrong with this file.
    pub fn error(&self, source: OnnxError) -> RunError {
        RunError::Onnx { file: self.path.display().to_string(), source }
    }
}

/// The bytes of a plain file that is not too large.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST_BYTES {
        true => Err(io::Error::other(format!("it is larger than {MOST_BYTES} bytes"))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests;
