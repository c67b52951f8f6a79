//! The secrets of this installation: made at first use, kept in files that only the owner reads.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use cartridge_store::data_dir::write_secret_beside;
use cartridge_store::{DataDir, StoreError};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::error::Result;

/// The key that signs control lines.
pub fn control_key(data: &DataDir) -> Result<String> {
    load_or_make(&data.path().join("key"))
}

/// The token that opens the API.
pub fn api_token(data: &DataDir) -> Result<String> {
    load_or_make(&data.path().join("token"))
}

/// Reads the secret in `path`, or makes one of 256 random bits, in hexadecimal.
fn load_or_make(path: &Path) -> Result<String> {
    loop {
        match fs::read_to_string(path) {
            Ok(text) if !text.trim().is_empty() => {
                // A copied or restored file may have become readable for others.
                let mode = fs::metadata(path).map_err(StoreError::io(path))?.permissions().mode();
                if mode & 0o077 != 0 {
                    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
                        .map_err(StoreError::io(path))?;
                }
                return Ok(text.trim().to_owned());
            }
            Ok(_) => fs::remove_file(path).map_err(StoreError::io(path))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io(path)(error).into()),
        }
        // Written beside under a name of its own and linked into place, so that of two processes
        // that start at once both end up with the same secret, and neither sees half of one.
        let secret = random_hex();
        let beside = path.with_extension(format!("new-{}", &random_hex()[..16]));
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)
            .and_then(|mut file| writeln!(file, "{secret}").and_then(|()| file.sync_all()))
            .and_then(|()| fs::hard_link(&beside, path));
        _ = fs::remove_file(&beside);
        match made {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(StoreError::io(path)(error).into());
            }
            _ => {}
        }
    }
}

/// How long a login code can be used.
const LOGIN_CODE_SECONDS: f64 = 12.0 * 3600.0;

/// Why a login code was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginCodeError {
    /// It has been used before.
    Used,
    /// It is too old.
    Expired,
    /// It was never made here.
    Unknown,
}

/// Makes a code that logs a browser in, once. Any process that can write the data folder can make
/// one; the lab that is at work there takes it. Only a hash of it is kept.
pub fn new_login_code(data: &DataDir, now: f64) -> Result<String> {
    let folder = data.path().join("login");
    fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
    for entry in fs::read_dir(&folder).map_err(StoreError::io(&folder))?.flatten() {
        // Codes that nobody can use any more, used or not.
        if read_expiry(&entry.path()).is_some_and(|expiry| expiry < now) {
            _ = fs::remove_file(entry.path());
        }
    }
    let code = random_hex();
    let expiry = (now + LOGIN_CODE_SECONDS).to_string();
    write_secret_beside(&folder.join(login_hash(&code)), expiry.as_bytes())?;
    Ok(code)
}

/// Takes a login code, so that it cannot be used again.
pub fn take_login_code(data: &DataDir, code: &str, now: f64) -> Result<(), LoginCodeError> {
    let path = data.path().join("login").join(login_hash(code));
    let used = path.with_extension("used");
    // Renaming is what makes it one-time: of two requests only one finds the file.
    match fs::rename(&path, &used) {
        Ok(()) if read_expiry(&used).is_some_and(|expiry| now <= expiry) => Ok(()),
        Ok(()) => Err(LoginCodeError::Expired),
        Err(_) if used.exists() => Err(LoginCodeError::Used),
        Err(_) => Err(LoginCodeError::Unknown),
    }
}

fn login_hash(code: &str) -> String {
    sign(b"login code", code.as_bytes())
}

fn read_expiry(path: &Path) -> Option<f64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// 256 random bits in hexadecimal.
pub fn random_hex() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    to_hex(&bytes)
}

/// HMAC-SHA-256 of `message` under `key`, in hexadecimal.
pub fn sign(key: &[u8], message: &[u8]) -> String {
    to_hex(&mac(key, message).finalize().into_bytes())
}

/// Whether `signature` is the one that [`sign`] gives, compared in constant time.
pub fn verifies(key: &[u8], message: &[u8], signature: &str) -> bool {
    from_hex(signature).is_some_and(|bytes| mac(key, message).verify_slice(&bytes).is_ok())
}

fn mac(key: &[u8], message: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(message);
    mac
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len() / 2)
        .map(|idx| u8::from_str_radix(&text[2 * idx..2 * idx + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests;
