//! Tokens that open the API: each has a name, a role, and perhaps an end.
//!
//! `data/token` is the administrator's own and has no row here. The others are in
//! `data/tokens.json`, which only its owner reads and which holds hashes, not tokens: a token has
//! 256 random bits, so a plain hash cannot be turned around. The key of a `wandb` client has 128,
//! because its older versions take exactly 40 hexadecimal digits: the id's eight and these. The command line and the lab write the
//! same file, in turns; the lab looks at its stamp before it believes what it has read.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use cartridge_store::data_dir::write_secret_beside;
use cartridge_store::{DataDir, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::{self, Deed, Entry};
use crate::error::{Result, RunError};
use crate::secret;
use crate::steer::By;
use crate::time::rfc3339;

/// Format of `data/tokens.json`.
const FORMAT: u32 = 1;

/// Tokens that there may be.
const MOST_TOKENS: usize = 1000;

/// The longest life of a token that ends.
const MOST_LIFETIME_S: f64 = 100.0 * 365.25 * 86_400.0;

/// The longest name of a token.
const MOST_NAME: usize = 40;

/// How the ids of tokens begin.
const ID_PREFIX: &str = "t-";

/// The name under which the holder of `data/token` acts.
pub const ADMIN: &str = "admin";

/// What the holder of a token may do; each role may do all that those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Is no role in the lab: a `wandb` client keeps and reads its runs here, and nothing else.
    Wandb,
    /// Looks at everything and changes nothing.
    Viewer,
    /// Makes, steers and deletes runs, and plays.
    Operator,
    /// Also makes and takes back tokens, and changes what the lab keeps.
    Admin,
}

impl Role {
    /// All of them, the least first.
    pub const ALL: [Self; 4] = [Self::Wandb, Self::Viewer, Self::Operator, Self::Admin];

    /// The word in files and lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wandb => "wandb",
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| {
            format!("there is no role `{text}`; use viewer, operator, admin or wandb")
        })
    }
}

/// A token as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Token {
    /// Its id, which is also the beginning of the token itself.
    pub id: String,
    /// Who has it.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// SHA-256 of the token, under a fixed key.
    pub hash: String,
    /// Who made it.
    pub created_by: String,
    /// When it was made, in Unix seconds.
    pub created_at: f64,
    /// When it ends, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<f64>,
}

impl Token {
    /// Whether it still opens anything.
    pub fn is_live(&self, now: f64) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    fn summary(&self) -> serde_json::Value {
        json!({ "name": self.name, "role": self.role, "expires_at": self.expires_at.map(rfc3339) })
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct TokenFile {
    format: u32,
    tokens: Vec<Token>,
}

/// Makes a token and returns it with the secret, which is kept nowhere. It ends after
/// `lifetime_s` seconds, if given.
pub fn make(
    data: &DataDir,
    name: &str,
    role: Role,
    lifetime_s: Option<f64>,
    by: By<'_>,
    now: f64,
) -> Result<(Token, String)> {
    let name = name.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || " ._@-".contains(c);
    if !(1..=MOST_NAME).contains(&name.len()) || !name.chars().all(is_name) {
        return Err(RunError::BadToken {
            field: "name",
            detail: format!(
                "a token's name has 1 to {MOST_NAME} letters, digits, spaces or . _ @ -"
            ),
        });
    }
    if lifetime_s.is_some_and(|lifetime| !(lifetime > 0.0 && lifetime <= MOST_LIFETIME_S)) {
        return Err(RunError::BadToken {
            field: "expires_in_s",
            detail: "a token lives for more than 0 seconds and less than 100 years".to_owned(),
        });
    }
    let _turn = take_turn(data)?;
    let mut tokens = list(data)?;
    // The audit names people by the names of their tokens.
    if name == ADMIN || tokens.iter().any(|token| token.name == name) {
        return Err(RunError::BadToken {
            field: "name",
            detail: format!(
                "there is a token named `{name}` already; choose another name, or revoke it first"
            ),
        });
    }
    if tokens.len() >= MOST_TOKENS {
        return Err(RunError::BadToken {
            field: "name",
            detail: format!("there are {MOST_TOKENS} tokens; revoke some first"),
        });
    }
    let id = loop {
        let id = format!("{ID_PREFIX}{}", &secret::random_hex()[..8]);
        if tokens.iter().all(|token| token.id != id) {
            break id;
        }
    };
    let secret = match role {
        Role::Wandb => format!("{}{}", &id[ID_PREFIX.len()..], &secret::random_hex()[..32]),
        _ => format!("{id}-{}", secret::random_hex()),
    };
    let token = Token {
        hash: hash(&secret),
        id,
        name: name.to_owned(),
        role,
        created_by: by.who.to_owned(),
        created_at: now,
        expires_at: lifetime_s.map(|lifetime| now + lifetime),
    };
    tokens.push(token.clone());
    write(data, tokens)?;
    let entry = Entry { new: token.summary(), ..Entry::new(by, Deed::Grant, &token.id) };
    audit::record(data, entry, now)?;
    Ok((token, secret))
}

/// Takes a token back, by its id or its name: from now on it opens nothing, and browsers that it
/// logged in are out.
pub fn revoke(data: &DataDir, id: &str, by: By<'_>, now: f64) -> Result<Token> {
    let _turn = take_turn(data)?;
    let mut tokens = list(data)?;
    let by_id = tokens.iter().position(|token| token.id == id);
    // No two have one name, but one may be named as another is numbered.
    let Some(at) = by_id.or_else(|| tokens.iter().position(|token| token.name == id)) else {
        return Err(RunError::NoSuchToken(id.chars().take(40).collect()));
    };
    let token = tokens.remove(at);
    write(data, tokens)?;
    let entry = Entry { old: token.summary(), ..Entry::new(by, Deed::Revoke, &token.id) };
    audit::record(data, entry, now)?;
    Ok(token)
}

/// The tokens, the oldest first.
pub fn list(data: &DataDir) -> Result<Vec<Token>> {
    let path = path(data);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io(&path)(error).into()),
    };
    let damaged = |detail| StoreError::Damaged { path: path.clone(), detail };
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if let Some(found) = value["format"].as_u64().filter(|&found| found > u64::from(FORMAT)) {
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        return Err(StoreError::NewerFormat { path, found, known: FORMAT }.into());
    }
    let file: TokenFile =
        serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
    Ok(file.tokens)
}

fn write(data: &DataDir, tokens: Vec<Token>) -> Result<()> {
    let file = TokenFile { format: FORMAT, tokens };
    let text = serde_json::to_vec_pretty(&file).expect("tokens are plain data");
    Ok(write_secret_beside(&path(data), &text)?)
}

fn path(data: &DataDir) -> PathBuf {
    data.path().join("tokens.json")
}

/// Waits until nobody else changes the tokens.
fn take_turn(data: &DataDir) -> Result<File> {
    let path = data.path().join("tokens.lock");
    let file = File::options().create(true).append(true).mode(0o600).open(&path);
    let locked = file.and_then(|file| file.lock().map(|()| file));
    Ok(locked.map_err(StoreError::io(&path))?)
}

fn hash(secret: &str) -> String {
    secret::sign(b"token", secret.as_bytes())
}

/// The tokens as the lab sees them: read again when the file has changed.
#[derive(Debug)]
pub struct Tokens {
    data: DataDir,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    stamp: Option<Stamp>,
    tokens: Vec<Token>,
}

/// What changes whenever a file is written beside and renamed.
type Stamp = (u64, i64, i64);

impl Tokens {
    /// The tokens of a data folder; fails when they cannot be read, so that the lab says so at its
    /// start.
    pub fn open(data: &DataDir) -> Result<Self> {
        list(data)?;
        Ok(Self { data: data.clone(), seen: Mutex::default() })
    }

    /// The live token that `secret` is.
    pub fn find(&self, secret: &str, now: f64) -> Option<Token> {
        let id = match secret.rsplit_once('-') {
            Some((id, _)) => id.to_owned(),
            None => format!("{ID_PREFIX}{}", secret.get(..8)?),
        };
        let token = self.by_id(&id, now)?;
        // Compared in constant time.
        secret::verifies(b"token", secret.as_bytes(), &token.hash).then_some(token)
    }

    /// The live token with an id.
    pub fn by_id(&self, id: &str, now: f64) -> Option<Token> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = fs::metadata(path(&self.data))
            .ok()
            .map(|file| (file.ino(), file.mtime(), file.mtime_nsec()));
        if stamp != seen.stamp {
            // A file that cannot be read opens nothing.
            let tokens = list(&self.data).unwrap_or_else(|error| {
                tracing::error!(%error, "the tokens cannot be read, so none is taken");
                Vec::new()
            });
            *seen = Seen { stamp, tokens };
        }
        seen.tokens.iter().find(|token| token.id == id && token.is_live(now)).cloned()
    }
}

#[cfg(test)]
mod tests;
