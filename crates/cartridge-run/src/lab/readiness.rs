//! Whether the lab can work.

use std::fs;
use std::io::Write as _;

use cartridge_store::StoreError;

use super::Lab;
use crate::error::Result;
use crate::secret;

impl Lab {
    /// Complains when the index does not answer.
    pub fn check_index(&self) -> Result<()> {
        self.read(|index| index.feed_bounds()).map(|_| ())
    }

    /// Complains when the data folder takes no writes.
    pub fn check_disk(&self) -> Result<()> {
        // A name of its own, and nobody's file: it is gone before it means anything.
        let path = self.data.path().join(format!(".ready-{}", &secret::random_hex()[..16]));
        let written = fs::File::create_new(&path).and_then(|mut file| file.write_all(b"ready\n"));
        _ = fs::remove_file(&path);
        Ok(written.map_err(StoreError::io(&path))?)
    }
}
