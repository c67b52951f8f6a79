//! TensorBoard's event files: records with checksums, in which protobuf messages tell scalars.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | length of the message, little-endian |
//! | 4 | masked CRC-32C of these eight |
//! | n | the message, `tensorflow.Event` |
//! | 4 | masked CRC-32C of the message |
//!
//! Of the protobuf messages only what scalars need is known here: `Event` (1 wall time, 2 step, 3 file
//! version, 5 summary, 7 session log, 10 source), `Summary.Value` (1 tag, 2 simple value, 8 tensor, 9
//! metadata). Everything else is passed over.
//!
//! A reader behaves as TensorBoard's own: a file that is cut anywhere gives the whole records before
//! the cut, and goes on when it grows; one with a wrong checksum is read no further.

mod crc32c;
mod message;

use std::collections::HashSet;

pub use self::crc32c::crc32c;
use self::message::{Field, Message, put_bytes, put_double, put_float, put_varint};

/// What the first record of a file says.
const FILE_VERSION: &str = "brain.Event:2";

/// Who writes our own files, as they say themselves.
pub const WRITER: &str = "cartridge";

/// A longer message is checked and passed over: scalars are short, and pictures are not for us.
pub const MAX_MESSAGE_BYTES: u64 = 8 * 1024 * 1024;

/// Tags of which a file is remembered to have said that they are scalars.
const MAX_TAGS: usize = 10_000;

const HEADER: usize = 12;
const FOOTER: usize = 4;

fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Appends a record.
fn put_record(message: &[u8], file: &mut Vec<u8>) {
    let length = (message.len() as u64).to_le_bytes();
    file.extend_from_slice(&length);
    file.extend_from_slice(&masked(crc32c(&length)).to_le_bytes());
    file.extend_from_slice(message);
    file.extend_from_slice(&masked(crc32c(message)).to_le_bytes());
}

/// Appends what a file begins with.
pub fn put_version(t: f64, file: &mut Vec<u8>) {
    let mut message = Vec::new();
    put_double(1, t, &mut message);
    put_bytes(3, FILE_VERSION.as_bytes(), &mut message);
    let mut source = Vec::new();
    put_bytes(1, WRITER.as_bytes(), &mut source);
    put_bytes(10, &source, &mut message);
    put_record(&message, file);
}

/// Appends that a training starts: what other files beside this one say of `step` and later is
/// superseded.
pub fn put_start(t: f64, step: u64, file: &mut Vec<u8>) {
    let mut message = Vec::new();
    put_double(1, t, &mut message);
    put_varint(2, step, &mut message);
    // Its status, 1 for `START`.
    put_bytes(7, &[0x08, 1], &mut message);
    put_record(&message, file);
}

/// Appends scalars of one step. Without any it appends nothing.
pub fn put_scalars<'a>(
    t: f64,
    step: u64,
    scalars: impl Iterator<Item = (&'a str, f64)>,
    file: &mut Vec<u8>,
) {
    let (mut summary, mut value) = (Vec::new(), Vec::new());
    for (tag, scalar) in scalars {
        value.clear();
        put_bytes(1, tag.as_bytes(), &mut value);
        put_float(2, scalar as f32, &mut value);
        put_bytes(1, &value, &mut summary);
    }
    if summary.is_empty() {
        return;
    }
    let mut message = Vec::new();
    put_double(1, t, &mut message);
    put_varint(2, step, &mut message);
    put_bytes(5, &summary, &mut message);
    put_record(&message, file);
}

/// What a record tells.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// When, in Unix seconds.
    pub t: f64,
    /// At which step.
    pub step: i64,
    /// What.
    pub told: Told,
}

/// The part of an event that we know.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The file begins, and whose it is, where it says so.
    Version {
        /// The program that writes it.
        writer: Option<String>,
    },
    /// A training starts; what was told of this step and later is superseded.
    Start,
    /// Scalars by tag.
    Scalars(Vec<(String, f64)>),
    /// Something else.
    Other,
}

/// Reads an event file as it comes, in pieces of any size.
#[derive(Debug, Default)]
pub struct EventReader {
    /// Bytes of a record that is not whole.
    buffer: Vec<u8>,
    /// What is left of a message that is too long, and its checksum so far.
    long: Option<(u64, u32)>,
    /// Tags whose tensors are scalars: only the first value of each has to say so.
    scalars: HashSet<String>,
    /// Bytes of the records that were read.
    position: u64,
    damage: Option<Damage>,
}

/// Why a file is read no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where the record begins that is damaged.
    pub offset: u64,
}

impl EventReader {
    /// Where the next record begins.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Why it is read no further, if it is not.
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Takes in the next bytes of the file; every whole record goes to `take` with the offset just
    /// after it.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(EventRecord, u64)) {
        let mut rest = bytes;
        while !rest.is_empty() && self.damage.is_none() {
            rest = match self.long {
                Some(long) => self.pass_over(long, rest),
                None => self.fill(rest, &mut take),
            };
        }
    }

    /// Fills the buffer until it holds a whole record, and returns what is left.
    fn fill<'a>(&mut self, bytes: &'a [u8], take: &mut impl FnMut(EventRecord, u64)) -> &'a [u8] {
        let wanted = if self.buffer.len() < HEADER {
            HEADER
        } else {
            // It was looked at when the header was whole, so that it is not too long.
            HEADER + self.length() as usize + FOOTER
        };
        let (now, rest) = bytes.split_at(bytes.len().min(wanted - self.buffer.len()));
        self.buffer.extend_from_slice(now);
        if self.buffer.len() < wanted {
            return rest;
        }
        if wanted == HEADER {
            self.begin();
        } else {
            self.end(take);
        }
        rest
    }

    fn length(&self) -> u64 {
        u64::from_le_bytes(self.buffer[..8].try_into().expect("the header is there"))
    }

    /// Looks at a whole header.
    fn begin(&mut self) {
        let sum = u32::from_le_bytes(self.buffer[8..HEADER].try_into().expect("it is whole"));
        if sum != masked(crc32c(&self.buffer[..8])) {
            self.damage = Some(Damage { offset: self.position });
        } else if self.length() > MAX_MESSAGE_BYTES {
            self.long = Some((self.length(), 0));
        }
    }

    /// Takes the whole record out of the buffer.
    fn end(&mut self, take: &mut impl FnMut(EventRecord, u64)) {
        let (message, sum) = self.buffer[HEADER..].split_at(self.buffer.len() - HEADER - FOOTER);
        let sum = u32::from_le_bytes(sum.try_into().expect("the footer is there"));
        // A message that is no event is damage too, although its checksum is right.
        let event =
            (sum == masked(crc32c(message))).then(|| parse(message, &mut self.scalars)).flatten();
        let Some(event) = event else {
            self.damage = Some(Damage { offset: self.position });
            return;
        };
        self.position += self.buffer.len() as u64;
        self.buffer.clear();
        take(event, self.position);
    }

    /// Goes on with a message that is too long to be kept: its bytes are summed up, and no more.
    fn pass_over<'a>(&mut self, (left, sum): (u64, u32), bytes: &'a [u8]) -> &'a [u8] {
        let now = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let (message, rest) = bytes.split_at(now);
        let (left, sum) = (left - now as u64, crc32c::go_on(sum, message));
        if left > 0 {
            self.long = Some((left, sum));
            return rest;
        }
        // The footer comes into the buffer, behind the header.
        let (footer, after) = rest.split_at(rest.len().min(HEADER + FOOTER - self.buffer.len()));
        self.buffer.extend_from_slice(footer);
        self.long = Some((0, sum));
        if self.buffer.len() < HEADER + FOOTER {
            return after;
        }
        let told = u32::from_le_bytes(self.buffer[HEADER..].try_into().expect("it is whole"));
        self.long = None;
        if told == masked(sum) {
            self.position += (HEADER + FOOTER) as u64 + self.length();
            self.buffer.clear();
        } else {
            self.damage = Some(Damage { offset: self.position });
        }
        after
    }
}

/// What a message says; nothing where it is no event.
fn parse(message: &[u8], scalars: &mut HashSet<String>) -> Option<EventRecord> {
    let mut event = EventRecord { t: 0.0, step: 0, told: Told::Other };
    let (mut writer, mut is_version) = (None, false);
    let mut values = Vec::new();
    for field in Message(message) {
        match field? {
            (1, Field::Fixed64(bits)) => event.t = f64::from_bits(bits),
            (2, Field::Varint(step)) => event.step = step as i64,
            (3, Field::Bytes(_)) => is_version = true,
            (5, Field::Bytes(summary)) => {
                for field in Message(summary) {
                    if let (1, Field::Bytes(value)) = field? {
                        values.extend(scalar(value, scalars)?);
                    }
                }
            }
            (7, Field::Bytes(session)) => {
                let is_start = Message(session).any(|field| field == Some((1, Field::Varint(1))));
                if is_start {
                    event.told = Told::Start;
                }
            }
            (10, Field::Bytes(source)) => {
                for field in Message(source) {
                    if let (1, Field::Bytes(name)) = field? {
                        writer = Some(String::from_utf8_lossy(name).into_owned());
                    }
                }
            }
            _ => {}
        }
    }
    if is_version {
        event.told = Told::Version { writer };
    } else if !values.is_empty() {
        event.told = Told::Scalars(values);
    }
    Some(event)
}

/// The scalar in a value, if it is one; nothing at all where the value cannot be read.
#[expect(clippy::option_option, reason = "what is no scalar is no damage")]
fn scalar(value: &[u8], scalars: &mut HashSet<String>) -> Option<Option<(String, f64)>> {
    let (mut tag, mut simple, mut tensor, mut says_scalar) = ("", None, None, false);
    for field in Message(value) {
        match field? {
            (1, Field::Bytes(name)) => tag = str::from_utf8(name).unwrap_or_default(),
            (2, Field::Fixed32(bits)) => simple = Some(f64::from(f32::from_bits(bits))),
            (8, Field::Bytes(bytes)) => tensor = Some(bytes),
            (9, Field::Bytes(metadata)) => says_scalar |= is_scalar(metadata),
            _ => {}
        }
    }
    if says_scalar && scalars.len() < MAX_TAGS {
        scalars.insert(tag.to_owned());
    }
    let number = match (simple, tensor) {
        (Some(number), _) => Some(number),
        (None, Some(tensor)) if scalars.contains(tag) => single(tensor),
        _ => None,
    };
    Some(number.filter(|_| !tag.is_empty()).map(|number| (tag.to_owned(), number)))
}

/// Whether the metadata of a tag say that its tensors are scalars.
fn is_scalar(metadata: &[u8]) -> bool {
    Message(metadata).flatten().any(|field| match field {
        (1, Field::Bytes(plugin)) => {
            Message(plugin).flatten().any(|field| field == (1, Field::Bytes(b"scalars")))
        }
        // The class of the data, 1 for scalars.
        (4, Field::Varint(class)) => class == 1,
        _ => false,
    })
}

/// The one number in a tensor.
fn single(tensor: &[u8]) -> Option<f64> {
    let mut kind = 0;
    let mut content: &[u8] = &[];
    let mut listed = Vec::new();
    for field in Message(tensor) {
        match field? {
            (1, Field::Varint(number)) => kind = number,
            (4, Field::Bytes(bytes)) => content = bytes,
            // Numbers as a list, packed into bytes or one by one.
            (5 | 6 | 7 | 10 | 11 | 13 | 16 | 17, field) => listed.push(field),
            _ => {}
        }
    }
    match (content, listed.as_slice()) {
        ([], [field]) => listed_number(kind, *field),
        (content, []) => number(kind, content),
        _ => None,
    }
}

/// The number that the bytes of a tensor hold, if it is one.
fn number(kind: u64, bytes: &[u8]) -> Option<f64> {
    Some(match kind {
        1 => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
        2 => f64::from_le_bytes(bytes.try_into().ok()?),
        3 => f64::from(i32::from_le_bytes(bytes.try_into().ok()?)),
        4 | 10 => f64::from(u8::from_le_bytes(bytes.try_into().ok()?)),
        5 => f64::from(i16::from_le_bytes(bytes.try_into().ok()?)),
        6 => f64::from(i8::from_le_bytes(bytes.try_into().ok()?)),
        9 => i64::from_le_bytes(bytes.try_into().ok()?) as f64,
        14 => brain_half(u16::from_le_bytes(bytes.try_into().ok()?)),
        17 => f64::from(u16::from_le_bytes(bytes.try_into().ok()?)),
        19 => half(u16::from_le_bytes(bytes.try_into().ok()?)),
        22 => f64::from(u32::from_le_bytes(bytes.try_into().ok()?)),
        23 => u64::from_le_bytes(bytes.try_into().ok()?) as f64,
        _ => return None,
    })
}

/// The number in the list of a tensor, if it is one.
fn listed_number(kind: u64, field: Field<'_>) -> Option<f64> {
    match (kind, field) {
        (1, Field::Fixed32(bits)) => Some(f64::from(f32::from_bits(bits))),
        (2, Field::Fixed64(bits)) => Some(f64::from_bits(bits)),
        (1 | 2, Field::Bytes(packed)) => number(kind, packed),
        (_, Field::Varint(bits)) => listed_integer(kind, bits),
        (_, Field::Bytes(packed)) => {
            let (bits, rest) = message::varint(packed)?;
            listed_integer(kind, bits).filter(|_| rest.is_empty())
        }
        _ => None,
    }
}

fn listed_integer(kind: u64, bits: u64) -> Option<f64> {
    match kind {
        3 | 4 | 5 | 6 | 9 | 10 | 17 => Some(bits as i64 as f64),
        22 | 23 => Some(bits as f64),
        14 => Some(brain_half(bits as u16)),
        19 => Some(half(bits as u16)),
        _ => None,
    }
}

/// The upper half of a single-precision number.
fn brain_half(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

/// A number of half precision, as IEEE 754 has it.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff) / 1024.0);
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests;
