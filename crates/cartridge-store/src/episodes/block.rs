//! Blocks: what a segment is made of, and what the index has one record of.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::FORMAT;
use super::bytes::Source;

/// Bytes before the first block of a segment, and before the first record of the index.
pub(super) const FILE_HEADER_BYTES: u64 = 16;

/// Bytes before what a block holds.
pub(super) const HEADER_BYTES: usize = 48;

/// Bytes of a record of the index.
pub(super) const RECORD_BYTES: usize = HEADER_BYTES + 16;

const SEGMENT_MAGIC: &[u8; 8] = b"CARTEPIS";
const INDEX_MAGIC: &[u8; 8] = b"CARTEPIX";
const BLOCK_MAGIC: &[u8; 4] = b"EPB\n";

/// What a file of ours begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Segment,
    Index,
}

/// What the beginning of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileHeader {
    Good,
    /// It has a format of the future.
    Newer(u32),
    Damaged,
}

impl FileKind {
    fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Segment => SEGMENT_MAGIC,
            Self::Index => INDEX_MAGIC,
        }
    }

    /// What a new file begins with.
    pub(super) fn header(self) -> [u8; FILE_HEADER_BYTES as usize] {
        let mut bytes = [0; FILE_HEADER_BYTES as usize];
        bytes[..8].copy_from_slice(self.magic());
        bytes[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..12]);
        bytes[12..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(super) fn check(self, bytes: &[u8]) -> FileHeader {
        let mut source = Source(bytes);
        let read = (|| Some((source.array::<8>()?, source.array::<4>()?, source.array::<4>()?)))();
        match read {
            Some((magic, format, crc))
                if magic == *self.magic() && crc == crc32fast::hash(&bytes[..12]).to_le_bytes() =>
            {
                match u32::from_le_bytes(format) {
                    FORMAT => FileHeader::Good,
                    newer => FileHeader::Newer(newer),
                }
            }
            _ => FileHeader::Damaged,
        }
    }
}

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(pub(super) u8);

impl Kind {
    /// Heads and bodies of whole episodes.
    pub(super) const EPISODES: Self = Self(1);
    /// Steps of foreign episodes, compressed.
    pub(super) const STEPS: Self = Self(2);
}

/// What is known of a block before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Bytes after the header.
    pub(super) n_bytes: u32,
    /// Bytes of the steps before they were compressed; 0 for episodes.
    pub(super) n_raw_bytes: u32,
    pub(super) attempt: u32,
    /// Episodes, or stretches of steps.
    pub(super) n: u32,
    /// The smallest episode number; 0 for steps.
    pub(super) first: u64,
    /// The largest episode number; 0 for steps.
    pub(super) last: u64,
    /// Of the bytes after the header.
    pub(super) crc: u32,
}

impl Header {
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend_from_slice(BLOCK_MAGIC);
        out.extend_from_slice(&[self.kind.0, 0, 0, 0]);
        for number in [self.n_bytes, self.n_raw_bytes, self.attempt, self.n] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.first.to_le_bytes());
        out.extend_from_slice(&self.last.to_le_bytes());
        out.extend_from_slice(&self.crc.to_le_bytes());
        out.extend_from_slice(&crc32fast::hash(&out).to_le_bytes());
        out.try_into().expect("as many bytes as were counted")
    }

    /// Reads a header; nothing where there is none, or it was changed.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEADER_BYTES)?;
        if !bytes.starts_with(BLOCK_MAGIC)
            || bytes[HEADER_BYTES - 4..]
                != crc32fast::hash(&bytes[..HEADER_BYTES - 4]).to_le_bytes()
        {
            return None;
        }
        let mut source = Source(&bytes[4..]);
        let [kind, ..] = source.array::<4>()?;
        let mut small = || source.array().map(u32::from_le_bytes);
        let (n_bytes, n_raw_bytes, attempt, n) = (small()?, small()?, small()?, small()?);
        let (first, last) = (source.array()?, source.array()?);
        Some(Self {
            kind: Kind(kind),
            n_bytes,
            n_raw_bytes,
            attempt,
            n,
            first: u64::from_le_bytes(first),
            last: u64::from_le_bytes(last),
            crc: u32::from_le_bytes(source.array()?),
        })
    }

    /// Bytes of the whole block.
    pub(super) fn n_block_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + u64::from(self.n_bytes)
    }
}

/// Where a block is, and what is known of it: a record of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) segment: u32,
    pub(super) offset: u64,
    pub(super) header: Header,
}

impl Entry {
    /// Where the next block begins.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.header.n_block_bytes()
    }

    pub(super) fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..4].copy_from_slice(&self.segment.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.offset.to_le_bytes());
        bytes[12..12 + HEADER_BYTES].copy_from_slice(&self.header.encode());
        let crc = crc32fast::hash(&bytes[..RECORD_BYTES - 4]);
        bytes[RECORD_BYTES - 4..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, crc) = bytes.split_at_checked(RECORD_BYTES - 4)?;
        if crc32fast::hash(body).to_le_bytes() != *crc {
            return None;
        }
        let mut source = Source(body);
        Some(Self {
            segment: u32::from_le_bytes(source.array()?),
            offset: u64::from_le_bytes(source.array()?),
            header: Header::decode(source.0)?,
        })
    }

    /// Reads what the block holds; nothing where it was changed or cut.
    pub(super) fn read(&self, file: &File) -> io::Result<Option<Vec<u8>>> {
        let length = file.metadata()?.len();
        if self.end() > length {
            return Ok(None);
        }
        let mut bytes = vec![0; self.header.n_bytes as usize];
        file.read_exact_at(&mut bytes, self.offset + HEADER_BYTES as u64)?;
        Ok((crc32fast::hash(&bytes) == self.header.crc).then_some(bytes))
    }
}

/// What was found in a stretch of a segment.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The blocks whose headers are good and that are whole in length, in order.
    pub(super) entries: Vec<Entry>,
    /// Offsets of what is no block, before the last block.
    pub(super) gaps: Vec<u64>,
    /// Where the last block ends.
    pub(super) end: u64,
}

/// Looks for blocks in `bytes`, which are a segment from `offset` on. A last block whose content
/// is not what its header says counts as cut short.
pub(super) fn scan(segment: u32, offset: u64, bytes: &[u8]) -> Scan {
    let mut found = Scan { end: offset, ..Scan::default() };
    let mut at = 0;
    let mut gap = None;
    while at + HEADER_BYTES <= bytes.len() {
        let header = Header::decode(&bytes[at..]);
        let header = header.filter(|it| at as u64 + it.n_block_bytes() <= bytes.len() as u64);
        if let Some(header) = header {
            found.gaps.extend(gap.take());
            found.entries.push(Entry { segment, offset: offset + at as u64, header });
            at += header.n_block_bytes() as usize;
            found.end = offset + at as u64;
        } else {
            gap.get_or_insert(offset + at as u64);
            let rest = &bytes[at + 1..];
            let Some(next) = rest.windows(4).position(|four| four == BLOCK_MAGIC) else { break };
            at += 1 + next;
        }
    }
    while let Some(last) = found.entries.last() {
        let from = (last.offset - offset) as usize + HEADER_BYTES;
        let content = &bytes[from..from + last.header.n_bytes as usize];
        if crc32fast::hash(content) == last.header.crc {
            break;
        }
        found.end = last.offset;
        found.entries.pop();
    }
    // What lies behind the last block is no gap but a tail.
    found.gaps.retain(|gap| *gap < found.end);
    found
}
