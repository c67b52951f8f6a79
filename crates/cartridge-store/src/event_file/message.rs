//! The little of protobuf's wire format that event files need.

/// Appends a field that is a whole number.
pub(super) fn put_varint(number: u32, value: u64, message: &mut Vec<u8>) {
    put_number(u64::from(number) << 3, message);
    put_number(value, message);
}

/// Appends a field of eight bytes.
pub(super) fn put_double(number: u32, value: f64, message: &mut Vec<u8>) {
    put_number(u64::from(number) << 3 | 1, message);
    message.extend_from_slice(&value.to_le_bytes());
}

/// Appends a field of four bytes.
pub(super) fn put_float(number: u32, value: f32, message: &mut Vec<u8>) {
    put_number(u64::from(number) << 3 | 5, message);
    message.extend_from_slice(&value.to_le_bytes());
}

/// Appends a field of text, bytes or another message.
pub(super) fn put_bytes(number: u32, bytes: &[u8], message: &mut Vec<u8>) {
    put_number(u64::from(number) << 3 | 2, message);
    put_number(bytes.len() as u64, message);
    message.extend_from_slice(bytes);
}

fn put_number(mut value: u64, message: &mut Vec<u8>) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// The fields of a message with their numbers, in order; one that cannot be read is nothing, and
/// ends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Message<'a> {
    type Item = Option<(u64, Field<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let read = field(self.0);
        self.0 = read.map_or(&[], |(_, rest)| rest);
        Some(read.map(|(field, _)| field))
    }
}

fn field(bytes: &[u8]) -> Option<((u64, Field<'_>), &[u8])> {
    let (key, rest) = varint(bytes)?;
    let (value, rest) = match key & 7 {
        0 => varint(rest).map(|(value, rest)| (Field::Varint(value), rest))?,
        1 => {
            let (value, rest) = rest.split_first_chunk()?;
            (Field::Fixed64(u64::from_le_bytes(*value)), rest)
        }
        2 => {
            let (length, rest) = varint(rest)?;
            let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Field::Bytes(value), rest)
        }
        5 => {
            let (value, rest) = rest.split_first_chunk()?;
            (Field::Fixed32(u32::from_le_bytes(*value)), rest)
        }
        // Groups have not been written for many years.
        _ => return None,
    };
    Some(((key >> 3, value), rest))
}

/// A number of seven bits a byte, lowest first, and what follows it.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (place, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
}
