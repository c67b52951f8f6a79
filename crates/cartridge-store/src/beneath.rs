//! Files below a folder, and never outside it.
//!
//! Every step of a path is opened by itself, relative to the step before, and no step may be a
//! link: what a trainer, an archive or an old manifest says can name nothing that is not in the
//! folder, also when somebody swaps a folder for a link in between. Files with a second name (hard
//! links) are refused too, because the other name may be anywhere on the disk.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

/// The deepest path, in steps.
const MAX_DEPTH: usize = 16;

/// The most entries of one folder that are looked at.
const MAX_ENTRIES: usize = 100_000;

/// A folder that is held open.
#[derive(Debug)]
pub struct Beneath {
    folder: OwnedFd,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A plain file with one name.
    File,
    /// A folder.
    Folder,
    /// A link.
    Link,
    /// A file with several names, a device, a socket: nothing that is served.
    Foreign,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its size.
    pub size_bytes: u64,
    /// When it was last written, in Unix seconds.
    pub modified_at: f64,
}

/// Whether a path is relative, has only ordinary steps, and reads the same everywhere.
pub fn is_plain(relative: &str) -> bool {
    let mut n_steps = 0;
    relative.split('/').all(|step| {
        n_steps += 1;
        n_steps <= MAX_DEPTH && is_plain_step(step)
    })
}

fn is_plain_step(step: &str) -> bool {
    !matches!(step, "" | "." | "..")
        && step.len() <= 255
        && !step.chars().any(|char| char.is_control() || matches!(char, '/' | '\\'))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}

impl Beneath {
    /// Holds the folder at `path`, which is one that we chose ourselves.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { folder: rustix::fs::open(path, flags, Mode::empty())? })
    }

    /// The folder at a relative path.
    pub fn folder(&self, relative: &str) -> io::Result<Self> {
        if !is_plain(relative) {
            return Err(refused("the path leaves its folder"));
        }
        let mut folder = self.folder.try_clone()?;
        for step in relative.split('/') {
            folder = open_folder(&folder, step)?;
        }
        Ok(Self { folder })
    }

    /// The folder that holds `relative`, and its last step.
    fn parent<'a>(&self, relative: &'a str) -> io::Result<(Self, &'a str)> {
        if !is_plain(relative) {
            return Err(refused("the path leaves its folder"));
        }
        Ok(match relative.rsplit_once('/') {
            Some((parent, name)) => (self.folder(parent)?, name),
            None => (Self { folder: self.folder.try_clone()? }, relative),
        })
    }

    /// The file at a relative path.
    pub fn file(&self, relative: &str) -> io::Result<File> {
        let (parent, name) = self.parent(relative)?;
        // Without waiting: a pipe would keep us until somebody writes to it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&parent.folder, name, flags, Mode::empty())
            .map_err(|error| link_refused(error.into()))?;
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(refused("it is no plain file"));
        }
        if stat.st_nlink != 1 {
            return Err(refused("the file has a second name elsewhere"));
        }
        Ok(File::from(file))
    }

    /// What is at a relative path; nothing where nothing is.
    pub fn entry(&self, relative: &str) -> io::Result<Option<Entry>> {
        let parent = match self.parent(relative) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            parent => parent?,
        };
        parent.0.stat(parent.1)
    }

    fn stat(&self, name: &str) -> io::Result<Option<Entry>> {
        let stat = match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            stat => stat?,
        };
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if stat.st_nlink == 1 => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Foreign,
        };
        Ok(Some(Entry {
            name: name.to_owned(),
            kind,
            size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified_at: stat.st_mtime as f64 + stat.st_mtime_nsec as f64 / 1e9,
        }))
    }

    /// The entries of the folder, sorted by name. Names that are no plain text are left out.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for name in self.names()? {
            if let Ok(name) = String::from_utf8(name.into_bytes())
                && is_plain_step(&name)
            {
                // It may have been removed since.
                entries.extend(self.stat(&name)?);
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn names(&self) -> io::Result<Vec<CString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.folder)?.take(MAX_ENTRIES) {
            let name = entry?.file_name().to_owned();
            if !matches!(name.as_bytes(), b"." | b"..") {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Where a link in this folder points to.
    pub fn link(&self, name: &str) -> Option<String> {
        let target = rustix::fs::readlinkat(&self.folder, name, Vec::new()).ok()?;
        String::from_utf8(target.into_bytes()).ok()
    }

    /// Removes a file, or a folder with all that is in it. A folder is renamed first, so that a
    /// crash leaves [`LEFT_OVER`] and not half of it. What is not there is removed already.
    pub fn remove(&self, relative: &str) -> io::Result<()> {
        let Some(entry) = self.entry(relative)? else { return Ok(()) };
        let (parent, name) = self.parent(relative)?;
        if entry.kind == EntryKind::Folder {
            let dying = format!("{LEFT_OVER}{name}");
            // Left by a crash.
            parent.remove_tree(&CString::new(dying.as_str())?)?;
            rustix::fs::renameat(&parent.folder, name, &parent.folder, &dying)?;
            parent.remove_tree(&CString::new(dying)?)?;
        } else {
            rustix::fs::unlinkat(&parent.folder, name, AtFlags::empty())?;
        }
        Ok(rustix::fs::fsync(&parent.folder)?)
    }

    fn remove_tree(&self, name: &CString) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.folder, name, AtFlags::empty()) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // A folder: by Linux's word, or by POSIX's.
            Err(rustix::io::Errno::ISDIR | rustix::io::Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&self.folder, name, flags, Mode::empty())?;
        let inner = Self { folder };
        for name in inner.names()? {
            inner.remove_tree(&name)?;
        }
        Ok(rustix::fs::unlinkat(&self.folder, name, AtFlags::REMOVEDIR)?)
    }

    /// Begins a file at a relative path; folders on the way are made. It is there, in the place of
    /// what was, when it is [finished](Draft::finish), and leaves nothing behind when it is not.
    pub fn begin(&self, relative: &str) -> io::Result<Draft> {
        if !is_plain(relative) {
            return Err(refused("the path leaves its folder"));
        }
        let (folders, name) = relative.rsplit_once('/').unwrap_or(("", relative));
        let mut folder = self.folder.try_clone()?;
        for step in folders.split('/').filter(|step| !step.is_empty()) {
            match rustix::fs::mkdirat(&folder, step, Mode::from_raw_mode(0o777)) {
                Err(error) if error != rustix::io::Errno::EXIST => return Err(error.into()),
                _ => {}
            }
            folder = open_folder(&folder, step)?;
        }
        let mut random = [0; 8];
        getrandom::fill(&mut random).expect("the system has randomness");
        let beside = format!("{HALF}{:016x}", u64::from_ne_bytes(random));
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, &beside, flags, Mode::from_raw_mode(0o666))?;
        let draft = Draft { folder, beside, name: name.to_owned(), file: File::from(file) };
        let there = Self { folder: draft.folder.try_clone()? }.stat(name)?;
        if there.is_some_and(|entry| entry.kind == EntryKind::Folder) {
            return Err(refused("a folder has this name"));
        }
        Ok(draft)
    }

    /// Bytes that are free for us on the disk of this folder, and bytes in all.
    pub fn space(&self) -> io::Result<(u64, u64)> {
        let space = rustix::fs::fstatvfs(self.folder.as_fd())?;
        Ok((space.f_bavail * space.f_frsize, space.f_blocks * space.f_frsize))
    }
}

/// How the name of a folder begins while it is being removed.
pub const LEFT_OVER: &str = ".pruned-";

/// How the name of a file begins that is being written.
pub const HALF: &str = ".half-";

/// A file that is being written, beside the place where it will be.
#[derive(Debug)]
pub struct Draft {
    folder: OwnedFd,
    /// Its name until it is finished.
    beside: String,
    name: String,
    /// To be written to.
    pub file: File,
}

impl Draft {
    /// Puts the file into its place, durably.
    pub fn finish(self) -> io::Result<()> {
        self.file.sync_all()?;
        rustix::fs::renameat(&self.folder, &self.beside, &self.folder, &self.name)?;
        Ok(rustix::fs::fsync(&self.folder)?)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After it is finished nothing has this name any more.
        _ = rustix::fs::unlinkat(&self.folder, &self.beside, AtFlags::empty());
    }
}

fn open_folder(parent: &OwnedFd, step: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, step, flags, Mode::empty())
        .map_err(|error| link_refused(error.into()))
}

/// Says in words that a step was a link.
fn link_refused(error: io::Error) -> io::Error {
    match rustix::io::Errno::from_io_error(&error) {
        Some(rustix::io::Errno::LOOP | rustix::io::Errno::MLINK) => {
            refused("a link is on the way, and links are not followed")
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests;
