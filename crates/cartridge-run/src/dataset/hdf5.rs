//! The little of HDF5 that a dataset needs: groups with attributes, and arrays of plain numbers.
//!
//! Written by the first version of the format (superblock 0, object headers 1, groups as B-trees of
//! symbol tables), which every HDF5 library reads. Arrays are contiguous and come first, what
//! describes them follows, and the superblock is written last, so that a file is made in one pass.
//! See the HDF5 File Format Specification, version 3.0.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// An address that is none.
const UNDEFINED: u64 = u64::MAX;

/// Half of the names that a leaf holds, and half of the children of a node of a tree.
const LEAF_HALF: usize = 4;
const NODE_HALF: usize = 16;

const SUPERBLOCK: usize = 96;

/// What kind of number an array holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    F32,
    F64,
    I64,
    U64,
    /// True or false, as `h5py` writes it: a list of two names over a byte.
    Bool,
}

impl Kind {
    /// The message that describes it.
    fn message(self) -> Vec<u8> {
        let mut message = Vec::new();
        match self {
            Self::F32 => float(&mut message, 4, 31, [23, 8, 0, 23], 127),
            Self::F64 => float(&mut message, 8, 63, [52, 11, 0, 52], 1023),
            Self::I64 => integer(&mut message, 8, true),
            Self::U64 => integer(&mut message, 8, false),
            Self::Bool => {
                // An enumeration of two members, of one byte.
                message.extend([0x18, 2, 0, 0]);
                message.extend(1_u32.to_le_bytes());
                integer(&mut message, 1, true);
                message.extend(b"FALSE\0\0\0TRUE\0\0\0\0");
                message.extend([0, 1]);
            }
        }
        message
    }
}

fn float(message: &mut Vec<u8>, size: u32, sign: u8, parts: [u8; 4], bias: u32) {
    // Little-endian, with the leading one of the mantissa left out.
    message.extend([0x11, 0x20, sign, 0]);
    message.extend(size.to_le_bytes());
    message.extend(0_u16.to_le_bytes());
    message.extend((8 * size as u16).to_le_bytes());
    message.extend(parts);
    message.extend(bias.to_le_bytes());
}

fn integer(message: &mut Vec<u8>, size: u32, is_signed: bool) {
    message.extend([0x10, if is_signed { 0x08 } else { 0 }, 0, 0]);
    message.extend(size.to_le_bytes());
    message.extend(0_u16.to_le_bytes());
    message.extend((8 * size as u16).to_le_bytes());
}

/// A number that describes a group.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attribute {
    I64(i64),
    U64(u64),
    F64(f64),
}

/// A file that is being written.
pub(super) struct Writer {
    file: BufWriter<File>,
    at: u64,
}

impl Writer {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create_new(path)?);
        // The superblock comes last.
        file.write_all(&[0; SUPERBLOCK])?;
        Ok(Self { file, at: SUPERBLOCK as u64 })
    }

    /// Appends bytes and returns where they are; everything begins at a multiple of eight.
    fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.at;
        self.file.write_all(bytes)?;
        let padding = bytes.len().next_multiple_of(8) - bytes.len();
        self.file.write_all(&[0; 8][..padding])?;
        self.at += (bytes.len() + padding) as u64;
        Ok(at)
    }

    /// Writes an array and returns the address of its object.
    pub(super) fn array(
        &mut self,
        kind: Kind,
        dimensions: &[u64],
        content: &[u8],
    ) -> io::Result<u64> {
        let address = self.append(content)?;
        let mut space = vec![1, dimensions.len() as u8, 0, 0, 0, 0, 0, 0];
        dimensions.iter().for_each(|size| space.extend(size.to_le_bytes()));
        // Room is there from the beginning, and nothing fills it.
        let fill = vec![2, 1, 2, 0];
        let mut layout = vec![3, 1];
        layout.extend(address.to_le_bytes());
        layout.extend((content.len() as u64).to_le_bytes());
        self.object(&[(0x01, space), (0x03, kind.message()), (0x05, fill), (0x08, layout)])
    }

    /// Writes a group of objects by name, and returns the address of its object.
    pub(super) fn group(
        &mut self,
        members: &[(String, u64)],
        attributes: &[(&str, Attribute)],
    ) -> io::Result<u64> {
        let (tree, heap) = self.symbols(members)?;
        let mut messages = vec![(0x11, [tree.to_le_bytes(), heap.to_le_bytes()].concat())];
        messages.extend(attributes.iter().map(|(name, value)| (0x0c, attribute(name, *value))));
        self.object(&messages)
    }

    /// Writes an object: a header with messages.
    fn object(&mut self, messages: &[(u16, Vec<u8>)]) -> io::Result<u64> {
        let mut body = Vec::new();
        for (kind, content) in messages {
            let size = content.len().next_multiple_of(8);
            body.extend(kind.to_le_bytes());
            body.extend((size as u16).to_le_bytes());
            body.extend([0; 4]);
            body.extend(content);
            body.resize(body.len() + size - content.len(), 0);
        }
        let mut header = vec![1, 0];
        header.extend((messages.len() as u16).to_le_bytes());
        header.extend(1_u32.to_le_bytes());
        header.extend((body.len() as u32).to_le_bytes());
        header.extend([0; 4]);
        header.extend(body);
        self.append(&header)
    }

    /// Writes the names of a group, and returns where their tree and their heap are.
    fn symbols(&mut self, members: &[(String, u64)]) -> io::Result<(u64, u64)> {
        let mut members: Vec<&(String, u64)> = members.iter().collect();
        members.sort();
        // The heap begins with the empty name, which is before all others.
        let mut heap = vec![0; 8];
        let mut entries = Vec::new();
        for (name, address) in members {
            entries.push((heap.len() as u64, *address));
            heap.extend(name.as_bytes());
            heap.resize((heap.len() + 1).next_multiple_of(8), 0);
        }
        let content = self.append(&heap)?;
        let mut head = b"HEAP\0\0\0\0".to_vec();
        // Its size, the head of the list of free room (there is none), and its content.
        [heap.len() as u64, 1, content].iter().for_each(|n| head.extend(n.to_le_bytes()));
        let heap = self.append(&head)?;

        // Leaves, each with its greatest name; a group without names has one leaf all the same.
        let mut children = Vec::new();
        for entries in entries.chunks(2 * LEAF_HALF) {
            let mut leaf = b"SNOD\x01\0".to_vec();
            leaf.extend((entries.len() as u16).to_le_bytes());
            for (name, address) in entries {
                leaf.extend(name.to_le_bytes());
                leaf.extend(address.to_le_bytes());
                leaf.extend([0; 24]);
            }
            leaf.resize(8 + 2 * LEAF_HALF * 40, 0);
            let last = entries.last().map_or(0, |(name, _)| *name);
            children.push((last, self.append(&leaf)?));
        }
        let mut level = 0;
        loop {
            let nodes = self.level(level, &children)?;
            if let [(_, root)] = nodes[..] {
                return Ok((root, heap));
            }
            children = nodes;
            level += 1;
        }
    }

    /// Writes one level of a tree and returns its nodes, each with its greatest name.
    fn level(&mut self, level: u8, children: &[(u64, u64)]) -> io::Result<Vec<(u64, u64)>> {
        let groups: Vec<&[(u64, u64)]> = children.chunks(2 * NODE_HALF).collect();
        let size = 24 + 2 * NODE_HALF * 8 + (2 * NODE_HALF + 1) * 8;
        let first = self.at;
        let address = |place: usize| match place < groups.len() {
            true => first + (place * size) as u64,
            false => UNDEFINED,
        };
        let mut nodes = Vec::new();
        let mut before = 0_u64;
        for (place, group) in groups.iter().enumerate() {
            let mut node = vec![b'T', b'R', b'E', b'E', 0, level];
            node.extend((group.len() as u16).to_le_bytes());
            let left = place.checked_sub(1).map_or(UNDEFINED, address);
            node.extend(left.to_le_bytes());
            node.extend(address(place + 1).to_le_bytes());
            node.extend(before.to_le_bytes());
            for (last, child) in *group {
                node.extend(child.to_le_bytes());
                node.extend(last.to_le_bytes());
                before = *last;
            }
            node.resize(size, 0);
            nodes.push((before, self.append(&node)?));
        }
        if nodes.is_empty() {
            let mut node = vec![b'T', b'R', b'E', b'E', 0, level, 0, 0];
            node.extend([0xff; 16]);
            node.resize(size, 0);
            nodes.push((0, self.append(&node)?));
        }
        Ok(nodes)
    }

    /// Ends the file with the groups of its root.
    pub(super) fn finish(mut self, members: &[(String, u64)]) -> io::Result<()> {
        let (tree, heap) = self.symbols(members)?;
        let root = self.object(&[(0x11, [tree.to_le_bytes(), heap.to_le_bytes()].concat())])?;
        let mut block = b"\x89HDF\r\n\x1a\n".to_vec();
        block.extend([0, 0, 0, 0, 0, 8, 8, 0]);
        block.extend((LEAF_HALF as u16).to_le_bytes());
        block.extend((NODE_HALF as u16).to_le_bytes());
        block.extend([0; 4]);
        [0, UNDEFINED, self.at, UNDEFINED].iter().for_each(|n: &u64| block.extend(n.to_le_bytes()));
        // The entry of the root: no name, its object, and its tree and heap once more.
        [0, root, 1, tree, heap].iter().for_each(|n: &u64| block.extend(n.to_le_bytes()));
        assert_eq!(block.len(), SUPERBLOCK, "the superblock has its size");
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&block)?;
        self.file.into_inner()?.sync_all()
    }
}

/// The message of an attribute that is one number.
fn attribute(name: &str, value: Attribute) -> Vec<u8> {
    let (kind, bytes) = match value {
        Attribute::I64(value) => (Kind::I64, value.to_le_bytes()),
        Attribute::U64(value) => (Kind::U64, value.to_le_bytes()),
        Attribute::F64(value) => (Kind::F64, value.to_le_bytes()),
    };
    let kind = kind.message();
    let mut message = vec![1, 0];
    message.extend((name.len() as u16 + 1).to_le_bytes());
    message.extend((kind.len() as u16).to_le_bytes());
    // The space of a single number.
    message.extend(8_u16.to_le_bytes());
    for part in [[name.as_bytes(), &[0]].concat(), kind, vec![1, 0, 0, 0, 0, 0, 0, 0]] {
        message.extend(&part);
        message.resize(message.len().next_multiple_of(8), 0);
    }
    message.extend(bytes);
    message
}
