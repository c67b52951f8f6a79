//! NumPy's `.npz`: a zip archive of `.npy` files, not compressed.
//!
//! Each array grows in a file of its own until its shape is known; then they are put together. So a
//! dataset of any size needs little memory.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::{ActionColumn, Episode, Shape};

/// The arrays, in their order.
const ARRAYS: [&str; 13] = [
    "observations",
    "final_observations",
    "actions",
    "rewards",
    "terminations",
    "truncations",
    "episode_ids",
    "episode_starts",
    "episode_lengths",
    "episode_returns",
    "seeds",
    "has_seed",
    "timesteps",
];

/// Beyond this, sizes and places need the longer form of zip's records.
const MOST: u64 = u32::MAX as u64;

/// Writes episodes as arrays.
pub(super) struct Writer {
    path: PathBuf,
    columns: Vec<Column>,
    n_steps: u64,
}

/// An array that grows.
struct Column {
    name: &'static str,
    path: PathBuf,
    file: BufWriter<File>,
}

impl Writer {
    /// A file that will be at `path`, with files beside it until then.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let folder = parts(path);
        fs::create_dir(&folder)?;
        let columns = ARRAYS.into_iter().map(|name| {
            let path = folder.join(name);
            Ok(Column { name, file: BufWriter::new(File::create_new(&path)?), path })
        });
        let columns = columns.collect::<io::Result<_>>()?;
        Ok(Self { path: path.to_owned(), columns, n_steps: 0 })
    }

    fn put(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let column = self.columns.iter_mut().find(|column| column.name == name);
        column.expect("every array has its column").file.write_all(bytes)
    }

    pub(super) fn add(&mut self, episode: &Episode) -> io::Result<()> {
        let head = &episode.head;
        if let Some(table) = &episode.observations {
            let (steps, last) = table.numbers.split_at(table.numbers.len() - table.width);
            self.put("observations", &singles(steps))?;
            self.put("final_observations", &singles(last))?;
        }
        match &episode.actions {
            ActionColumn::Discrete(actions) => {
                let bytes: Vec<u8> = actions.iter().flat_map(|a| a.to_le_bytes()).collect();
                self.put("actions", &bytes)?;
            }
            ActionColumn::Continuous(table) => self.put("actions", &singles(&table.numbers))?,
        }
        let rewards: Vec<u8> = episode.rewards.iter().flat_map(|r| r.to_le_bytes()).collect();
        self.put("rewards", &rewards)?;
        for (terminated, truncated) in episode.ends() {
            self.put("terminations", &[u8::from(terminated)])?;
            self.put("truncations", &[u8::from(truncated)])?;
        }
        self.put("episode_ids", &head.episode.to_le_bytes())?;
        self.put("episode_starts", &self.n_steps.to_le_bytes())?;
        self.put("episode_lengths", &(episode.n_steps() as u64).to_le_bytes())?;
        self.put("episode_returns", &head.reward.to_le_bytes())?;
        self.put("seeds", &head.seed.unwrap_or(0).to_le_bytes())?;
        self.put("has_seed", &[u8::from(head.seed.is_some())])?;
        self.put("timesteps", &head.step.to_le_bytes())?;
        self.n_steps += episode.n_steps() as u64;
        Ok(())
    }

    /// Puts the arrays together.
    pub(super) fn finish(mut self, shape: &Shape) -> io::Result<()> {
        let mut zip = Zip { file: BufWriter::new(File::create_new(&self.path)?), entries: vec![] };
        for Column { name, path, mut file } in std::mem::take(&mut self.columns) {
            file.flush()?;
            drop(file);
            let Some((kind, dimensions)) = form(name, shape) else { continue };
            let header = header(kind, &dimensions);
            zip.add(&format!("{name}.npy"), &header, &path)?;
            fs::remove_file(&path)?;
        }
        zip.finish()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Whatever became of it, the parts are needed no longer.
        _ = fs::remove_dir_all(parts(&self.path));
    }
}

/// The folder of the parts of a file.
fn parts(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".parts");
    path.with_file_name(name)
}

fn singles(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Type and shape of an array; nothing where it is not there.
fn form(name: &str, shape: &Shape) -> Option<(&'static str, Vec<u64>)> {
    let (steps, episodes) = (shape.n_steps, shape.n_episodes);
    Some(match name {
        "observations" => ("<f4", vec![steps, shape.observation? as u64]),
        "final_observations" => ("<f4", vec![episodes, shape.observation? as u64]),
        "actions" => match shape.action {
            Some(width) => ("<f4", vec![steps, width as u64]),
            None => ("<i8", vec![steps]),
        },
        "rewards" => ("<f8", vec![steps]),
        "terminations" | "truncations" => ("|b1", vec![steps]),
        "episode_returns" => ("<f8", vec![episodes]),
        "has_seed" => ("|b1", vec![episodes]),
        _ => ("<u8", vec![episodes]),
    })
}

/// What a `.npy` file begins with.
fn header(kind: &str, dimensions: &[u64]) -> Vec<u8> {
    let dimensions: String = dimensions.iter().map(|size| format!("{size},")).collect();
    let mut text =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({dimensions}), }}");
    // Ten bytes come before it, and the whole is a multiple of 64.
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}

/// A zip archive whose files are stored as they are.
struct Zip {
    file: BufWriter<File>,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    crc: u32,
    size: u64,
    offset: u64,
}

impl Zip {
    /// Adds a file that begins with `header` and goes on with the content of `path`.
    fn add(&mut self, name: &str, header: &[u8], path: &Path) -> io::Result<()> {
        let offset = self.file.stream_position()?;
        let size = header.len() as u64 + fs::metadata(path)?.len();
        // Its checksum is not known yet; its size is, and so the room that both take.
        let mut entry = Entry { name: name.to_owned(), crc: 0, size, offset };
        self.file.write_all(&entry.local())?;
        self.file.write_all(header)?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(header);
        let mut content = BufReader::new(File::open(path)?);
        let mut chunk = vec![0; 256 * 1024];
        loop {
            let n_read = content.read(&mut chunk)?;
            if n_read == 0 {
                break;
            }
            crc.update(&chunk[..n_read]);
            self.file.write_all(&chunk[..n_read])?;
        }
        entry.crc = crc.finalize();
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(&entry.local())?;
        self.file.seek(SeekFrom::End(0))?;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the table of contents.
    fn finish(mut self) -> io::Result<()> {
        let offset = self.file.stream_position()?;
        let mut table = Vec::new();
        self.entries.iter().for_each(|entry| table.extend(entry.central()));
        let (n_entries, size) = (self.entries.len() as u64, table.len() as u64);
        self.file.write_all(&table)?;
        let mut end = Vec::new();
        if offset > MOST {
            // The longer form, and where it is.
            end.extend(b"PK\x06\x06");
            end.extend(44_u64.to_le_bytes());
            end.extend([45, 0, 45, 0]);
            end.extend([0; 8]);
            [n_entries, n_entries, size, offset].iter().for_each(|n| end.extend(n.to_le_bytes()));
            end.extend(b"PK\x06\x07");
            end.extend(0_u32.to_le_bytes());
            end.extend((offset + size).to_le_bytes());
            end.extend(1_u32.to_le_bytes());
        }
        end.extend(b"PK\x05\x06");
        end.extend([0; 4]);
        end.extend((n_entries as u16).to_le_bytes());
        end.extend((n_entries as u16).to_le_bytes());
        end.extend((size as u32).to_le_bytes());
        end.extend((offset.min(MOST) as u32).to_le_bytes());
        end.extend([0; 2]);
        self.file.write_all(&end)?;
        self.file.into_inner()?.sync_all()
    }
}

impl Entry {
    /// What both records of a file say of it, and the longer form of what does not fit.
    fn common(&self, with_offset: bool) -> (Vec<u8>, Vec<u8>) {
        let mut long = Vec::new();
        if self.size >= MOST {
            long.extend(self.size.to_le_bytes());
            long.extend(self.size.to_le_bytes());
        }
        if with_offset && self.offset >= MOST {
            long.extend(self.offset.to_le_bytes());
        }
        let mut extra = Vec::new();
        if !long.is_empty() {
            extra.extend(1_u16.to_le_bytes());
            extra.extend((long.len() as u16).to_le_bytes());
            extra.extend(long);
        }
        let mut record = Vec::new();
        let version: u16 = if extra.is_empty() { 20 } else { 45 };
        record.extend(version.to_le_bytes());
        // Names are UTF-8; stored; midnight of the first of January 1980.
        record.extend([0x00, 0x08, 0, 0, 0, 0, 0x21, 0]);
        record.extend(self.crc.to_le_bytes());
        let size = self.size.min(MOST) as u32;
        record.extend(size.to_le_bytes());
        record.extend(size.to_le_bytes());
        record.extend((self.name.len() as u16).to_le_bytes());
        record.extend((extra.len() as u16).to_le_bytes());
        (record, extra)
    }

    /// What stands before the file.
    fn local(&self) -> Vec<u8> {
        let (record, extra) = self.common(false);
        [b"PK\x03\x04", record.as_slice(), self.name.as_bytes(), &extra].concat()
    }

    /// Its place in the table of contents.
    fn central(&self) -> Vec<u8> {
        let (record, extra) = self.common(true);
        let offset = (self.offset.min(MOST) as u32).to_le_bytes();
        let made_by = [45, 0];
        [
            b"PK\x01\x02",
            made_by.as_slice(),
            &record,
            &[0; 10],
            &offset,
            self.name.as_bytes(),
            &extra,
        ]
        .concat()
    }
}
