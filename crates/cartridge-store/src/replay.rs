//! Games of self-play to be learnt from: a SQLite file with one row a game.
//!
//! ```sql
//! CREATE TABLE games (id INTEGER PRIMARY KEY, data BLOB NOT NULL, created_at REAL NOT NULL);
//! ```
//!
//! `id` rises with every game. `data` is the game in the encoding of `docs/alphazero.md`;
//! `created_at` is when it was put there, in seconds since 1970. The file is in write-ahead mode, so
//! that whoever learns can read while others write, in whatever language.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use crate::error::{Result, StoreError};

/// How long to wait for somebody else's transaction.
const PATIENCE: Duration = Duration::from_secs(30);

/// Pages of the write-ahead log after which it goes into the file.
const CHECKPOINT_PAGES: u32 = 1_000;

/// The games of a run, or of whoever plays for a learner.
#[derive(Debug)]
pub struct Replay {
    connection: Connection,
    path: PathBuf,
}

impl Replay {
    /// Opens the file, which is made if it is not there.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let connection = Connection::open(&path).map_err(at(&path))?;
        let replay = Self { connection, path };
        replay.prepare().map_err(at(&replay.path))?;
        Ok(replay)
    }

    /// Opens a file to read it.
    pub fn open_to_read(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(at(&path))?;
        connection.busy_timeout(PATIENCE).map_err(at(&path))?;
        Ok(Self { connection, path })
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(PATIENCE)?;
        self.connection.pragma_update(None, "journal_mode", "wal")?;
        // What a checkpoint counts must be there after a power failure.
        self.connection.pragma_update(None, "synchronous", "full")?;
        self.connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        self.connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS games (
                 id INTEGER PRIMARY KEY,
                 data BLOB NOT NULL,
                 created_at REAL NOT NULL
             );",
        )
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds games in order, all or none, durably; returns the id of the last.
    pub fn append(&mut self, games: &[Vec<u8>], created_at: f64) -> Result<u64> {
        let mut add = || {
            let transaction = self.connection.transaction()?;
            {
                let mut insert = transaction
                    .prepare_cached("INSERT INTO games (data, created_at) VALUES (?1, ?2)")?;
                for data in games {
                    insert.execute(params![data, created_at])?;
                }
            }
            transaction.commit()
        };
        add().map_err(at(&self.path))?;
        self.last()
    }

    /// The id of the newest game; 0 where there is none.
    pub fn last(&self) -> Result<u64> {
        let last = self
            .connection
            .query_row("SELECT COALESCE(MAX(id), 0) FROM games", [], |row| row.get(0));
        last.map_err(at(&self.path))
    }

    /// How many games there are.
    pub fn count(&self) -> Result<u64> {
        let count = self.connection.query_row("SELECT COUNT(*) FROM games", [], |row| row.get(0));
        count.map_err(at(&self.path))
    }

    /// The `n` games up to the one with the id `last`, oldest first; fewer where there are not so
    /// many.
    pub fn up_to(&self, last: u64, n: usize) -> Result<Vec<Vec<u8>>> {
        let read = || {
            let mut newest = self.connection.prepare_cached(
                "SELECT data FROM games WHERE id <= ?1 ORDER BY id DESC LIMIT ?2",
            )?;
            let rows = newest.query_map(params![last, n], |row| row.get::<_, Vec<u8>>(0))?;
            let mut games = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            games.reverse();
            Ok(games)
        };
        read().map_err(at(&self.path))
    }

    /// The game with this id, if it is there.
    pub fn game(&self, id: u64) -> Result<Option<Vec<u8>>> {
        let read = || {
            let mut find =
                self.connection.prepare_cached("SELECT data FROM games WHERE id = ?1")?;
            find.query_map(params![id], |row| row.get(0))?.next().transpose()
        };
        read().map_err(at(&self.path))
    }

    /// Removes the games after the one with the id `last`: whoever goes on from there plays them
    /// again.
    pub fn forget_after(&mut self, last: u64) -> Result<()> {
        let forget = self.connection.execute("DELETE FROM games WHERE id > ?1", params![last]);
        forget.map(|_| ()).map_err(at(&self.path))
    }

    /// Removes the games before the one with the id `first`, which nobody learns from any longer.
    pub fn forget_before(&mut self, first: u64) -> Result<()> {
        let forget = self.connection.execute("DELETE FROM games WHERE id < ?1", params![first]);
        forget.map(|_| ()).map_err(at(&self.path))
    }

    /// Copies the games up to the one with the id `last` to a new file.
    pub fn copy_to(&self, path: &Path, last: u64) -> Result<()> {
        let text = path.to_string_lossy();
        let copy = || {
            self.connection.execute("VACUUM INTO ?1", params![text])?;
            rusqlite::Result::Ok(())
        };
        copy().map_err(at(&self.path))?;
        Self::open(path)?.forget_after(last)
    }
}

fn at(path: &Path) -> impl Fn(rusqlite::Error) -> StoreError + use<'_> {
    move |source| StoreError::Replay { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_come_and_go_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replay.db");
        let mut replay = Replay::open(&path).unwrap();
        assert_eq!((replay.last().unwrap(), replay.count().unwrap()), (0, 0));
        let game = |n: u8| vec![n; 3];
        assert_eq!(replay.append(&[game(1), game(2)], 1.5).unwrap(), 2);
        assert_eq!(replay.append(&[game(3), game(4), game(5)], 2.5).unwrap(), 5);
        assert_eq!(replay.append(&[], 3.5).unwrap(), 5);
        // Somebody else reads meanwhile.
        let reader = Replay::open_to_read(&path).unwrap();
        assert_eq!(reader.up_to(4, 2).unwrap(), [game(3), game(4)]);
        assert_eq!(reader.up_to(9, 9).unwrap().len(), 5);
        replay.forget_before(2).unwrap();
        replay.forget_after(4).unwrap();
        assert_eq!(reader.count().unwrap(), 3);
        assert_eq!((reader.game(1).unwrap(), reader.game(2).unwrap()), (None, Some(game(2))));
        // What is played again has the number of what it replaces.
        assert_eq!(replay.append(&[game(6)], 4.5).unwrap(), 5);
        assert_eq!(reader.game(5).unwrap(), Some(game(6)));
        let copy = folder.path().join("copy.db");
        replay.copy_to(&copy, 4).unwrap();
        assert_eq!(Replay::open(&copy).unwrap().up_to(9, 9).unwrap(), [game(2), game(3), game(4)]);
        // A reader makes no file.
        assert!(Replay::open_to_read(folder.path().join("none.db")).is_err());
        assert!(!folder.path().join("none.db").exists());
    }
}
