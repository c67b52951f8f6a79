//! The wire format of protocol buffers, read without copying and written in order.
//!
//! By hand, because a generated reader turns two bytes of a hostile file into a few hundred of
//! memory, and all that ONNX needs of the format is on this page.

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) &'static str);

/// The value of a field as it lies in the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    /// A whole number, a truth value or an enumeration.
    Varint(u64),
    /// Four bytes.
    Fixed32([u8; 4]),
    /// Eight bytes.
    Fixed64([u8; 8]),
    /// Text, bytes, a message, or many numbers.
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    /// What has a length.
    pub(super) fn bytes(self) -> Result<&'a [u8], Malformed> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(Malformed("a number where text or a message belongs")),
        }
    }

    /// Text.
    pub(super) fn text(self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed("a name that is not UTF-8"))
    }

    /// A whole number.
    pub(super) fn integer(self) -> Result<i64, Malformed> {
        match self {
            Self::Varint(number) => Ok(number.cast_signed()),
            _ => Err(Malformed("a whole number belongs here")),
        }
    }

    /// A number of single precision.
    pub(super) fn float(self) -> Result<f32, Malformed> {
        match self {
            Self::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(Malformed("a number of single precision belongs here")),
        }
    }

    /// Appends the one or many whole numbers of a repeated field to a list of at most `most`.
    pub(super) fn integers(self, into: &mut Vec<i64>, most: usize) -> Result<(), Malformed> {
        let mut add = |number| {
            if into.len() >= most {
                return Err(TOO_MANY);
            }
            into.push(number);
            Ok(())
        };
        match self {
            Self::Bytes(mut rest) => {
                while !rest.is_empty() {
                    add(varint(&mut rest)?.cast_signed())?;
                }
                Ok(())
            }
            _ => add(self.integer()?),
        }
    }

    /// Appends the one or many numbers of single precision of a repeated field to a list of at
    /// most `most`.
    pub(super) fn floats(self, into: &mut Vec<f32>, most: usize) -> Result<(), Malformed> {
        match self {
            Self::Bytes(bytes) => fixed(bytes, into, most, f32::from_le_bytes),
            _ => fixed(&self.float()?.to_le_bytes(), into, most, f32::from_le_bytes),
        }
    }

    /// [`Self::floats`] in double precision.
    pub(super) fn doubles(self, into: &mut Vec<f64>, most: usize) -> Result<(), Malformed> {
        match self {
            Self::Bytes(bytes) => fixed(bytes, into, most, f64::from_le_bytes),
            Self::Fixed64(bytes) => fixed(&bytes, into, most, f64::from_le_bytes),
            _ => Err(Malformed("a number of double precision belongs here")),
        }
    }
}

const TOO_MANY: Malformed = Malformed("more numbers than belong here");

fn fixed<T, const N: usize>(
    bytes: &[u8],
    into: &mut Vec<T>,
    most: usize,
    number: impl Fn([u8; N]) -> T,
) -> Result<(), Malformed> {
    let (numbers, rest) = bytes.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(Malformed("half a number"));
    }
    if numbers.len() > most.saturating_sub(into.len()) {
        return Err(TOO_MANY);
    }
    into.extend(numbers.iter().map(|&bytes| number(bytes)));
    Ok(())
}

/// The fields of a message, in order: number and value.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn read(&mut self) -> Result<(u64, Field<'a>), Malformed> {
        let key = varint(&mut self.rest)?;
        let field = match key & 7 {
            0 => Field::Varint(varint(&mut self.rest)?),
            1 => Field::Fixed64(self.array()?),
            2 => {
                let length = varint(&mut self.rest)?;
                let length = usize::try_from(length).map_err(|_| Malformed("it was cut off"))?;
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Fixed32(self.array()?),
            _ => return Err(Malformed("a field of no known kind")),
        };
        Ok((key >> 3, field))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) =
            self.rest.split_at_checked(length).ok_or(Malformed("it was cut off"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N).map(|bytes| bytes.try_into().expect("as many as were taken"))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Field<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            // Nothing can be found after a place that cannot be read.
            self.rest = &[];
        }
        Some(field)
    }
}

fn varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first().ok_or(Malformed("it was cut off"))?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Malformed("a number of more than ten bytes"))
}

/// A message that is being written.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn integer(&mut self, number: u64, value: i64) {
        self.varint(number << 3);
        self.varint(value.cast_unsigned());
    }

    pub(super) fn float(&mut self, number: u64, value: f32) {
        self.varint(number << 3 | 5);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, number: u64, bytes: &[u8]) {
        self.varint(number << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A message inside of this one, which `write` fills.
    pub(super) fn message(&mut self, number: u64, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.bytes(number, &inner.0);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
