//! The parts of an ONNX file that a policy needs, read from bytes and written to them.
//!
//! Field numbers are those of `onnx.proto`, which is the definition of the format.
//! Graphs inside of nodes (`If`, `Loop`) and functions are left out: what cannot be nested needs
//! no bound on its depth.

use super::tensor::{Budget, Tensor, Values, count};
use super::wire::{Fields, Malformed, Message};
use super::{Fault, OnnxError};

/// An ONNX file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Version of the file format.
    pub ir_version: i64,
    /// Which program wrote the file.
    pub producer: String,
    /// Version of the operators.
    pub opset: i64,
    /// What is computed.
    pub graph: Graph,
    /// Facts about the model, by name.
    pub metadata: Vec<(String, String)>,
}

/// What is computed: nodes in an order in which each finds its inputs made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// The steps.
    pub nodes: Vec<Node>,
    /// What is known from the start, by name.
    pub initializers: Vec<(String, Tensor)>,
    /// What is given; in old files initializers are listed here too.
    pub inputs: Vec<ValueInfo>,
    /// What is asked for.
    pub outputs: Vec<ValueInfo>,
}

/// One step of a computation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Its name, which may be empty.
    pub name: String,
    /// The operator.
    pub operator: String,
    /// Whose operator; empty for those of ONNX itself.
    pub domain: String,
    /// Names of what it takes; an empty one is left out.
    pub inputs: Vec<String>,
    /// Names of what it makes.
    pub outputs: Vec<String>,
    /// What else it is told.
    pub attributes: Vec<(String, Attribute)>,
}

/// What a node is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A fraction.
    Float(f32),
    /// A whole number.
    Integer(i64),
    /// Text.
    Text(String),
    /// A tensor.
    Tensor(Tensor),
    /// Fractions.
    Floats(Vec<f32>),
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Something that no operator of ours takes, such as a graph.
    Other,
}

/// An input or output of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueInfo {
    /// Its name.
    pub name: String,
    /// Whether it holds whole numbers.
    pub is_integer: bool,
    /// How long each axis is, where that is said.
    pub shape: Option<Vec<Dimension>>,
}

/// The length of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Always the same.
    Fixed(usize),
    /// Known only when it is run; the name may be empty.
    Free(String),
}

impl std::fmt::Display for Dimension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed(length) => write!(f, "{length}"),
            Self::Free(name) if name.is_empty() => f.write_str("?"),
            Self::Free(name) => f.write_str(name),
        }
    }
}

/// The type of a tensor's numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementType {
    Float16,
    BFloat16,
    Float32,
    Float64,
    Boolean,
    /// Bytes of a whole number, and whether it has a sign.
    Whole(usize, bool),
}

impl ElementType {
    /// By its number in the format; none for text, complex and very small numbers.
    pub(super) fn from_code(code: i64) -> Option<Self> {
        Some(match code {
            1 => Self::Float32,
            2 => Self::Whole(1, false),
            3 => Self::Whole(1, true),
            4 => Self::Whole(2, false),
            5 => Self::Whole(2, true),
            6 => Self::Whole(4, true),
            7 => Self::Whole(8, true),
            9 => Self::Boolean,
            10 => Self::Float16,
            11 => Self::Float64,
            12 => Self::Whole(4, false),
            13 => Self::Whole(8, false),
            16 => Self::BFloat16,
            _ => return None,
        })
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(self, Self::Whole(..) | Self::Boolean)
    }

    fn n_bytes(self) -> usize {
        match self {
            Self::Float16 | Self::BFloat16 => 2,
            Self::Float32 => 4,
            Self::Float64 => 8,
            Self::Boolean => 1,
            Self::Whole(n_bytes, _) => n_bytes,
        }
    }
}

const FLOAT: i64 = 1;
const INT64: i64 = 7;

/// The most of each thing that a file may have.
const MOST_NODES: usize = 1 << 14;
const MOST_INITIALIZERS: usize = 1 << 14;
const MOST_NAMES: usize = 1 << 10;
const MOST_NUMBERS: usize = 1 << 16;

/// The bytes of a file beside the model, by its name, in which weights are kept.
pub type ReadBeside<'a> = dyn FnMut(&str) -> std::io::Result<Vec<u8>> + 'a;

/// Reads a model, claiming every tensor before it is made.
struct Reader<'a, 'b> {
    budget: Budget,
    read_beside: &'a mut ReadBeside<'b>,
    /// The files that were read, by name.
    beside: Vec<(String, Vec<u8>)>,
}

type Result<T, E = OnnxError> = std::result::Result<T, E>;

impl From<Malformed> for OnnxError {
    fn from(Malformed(reason): Malformed) -> Self {
        Self::Malformed(reason.to_owned())
    }
}

/// Adds to a list that has at most `most` elements.
fn push<T>(list: &mut Vec<T>, most: usize, what: &'static str, element: T) -> Result<()> {
    if list.len() >= most {
        return Err(OnnxError::TooMany { what, most });
    }
    list.push(element);
    Ok(())
}

impl Model {
    /// Reads a file. Weights that lie in files beside it are asked from `read_beside`, by plain
    /// names without a path.
    pub fn decode(bytes: &[u8], read_beside: &mut ReadBeside<'_>) -> Result<Self> {
        let mut reader = Reader { budget: Budget::new(), read_beside, beside: Vec::new() };
        let mut model = Self::default();
        let mut has_graph = false;
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => model.ir_version = field.integer()?,
                (2, field) => model.producer = field.text()?.to_owned(),
                (7, field) => {
                    model.graph = reader.graph(field.bytes()?)?;
                    has_graph = true;
                }
                (8, field) => {
                    let (domain, version) = opset(field.bytes()?)?;
                    if is_standard(domain) {
                        model.opset = version;
                    }
                }
                (14, field) => {
                    let (key, value) = pair(field.bytes()?)?;
                    let fact = (key.to_owned(), value.to_owned());
                    push(&mut model.metadata, MOST_NAMES, "facts", fact)?;
                }
                _ => {}
            }
        }
        match has_graph {
            true => Ok(model),
            false => Err(OnnxError::Malformed("it holds no graph".to_owned())),
        }
    }

    /// The file.
    pub fn encode(&self) -> Vec<u8> {
        let mut message = Message::default();
        message.integer(1, self.ir_version);
        message.bytes(2, self.producer.as_bytes());
        message.message(7, |message| self.graph.encode(message));
        message.message(8, |message| message.integer(2, self.opset));
        for (key, value) in &self.metadata {
            message.message(14, |message| {
                message.bytes(1, key.as_bytes());
                message.bytes(2, value.as_bytes());
            });
        }
        message.into_bytes()
    }
}

/// Whether a domain is that of ONNX itself.
pub(super) fn is_standard(domain: &str) -> bool {
    domain.is_empty() || domain == "ai.onnx"
}

fn opset(bytes: &[u8]) -> Result<(&str, i64)> {
    let (mut domain, mut version) = ("", 0);
    for field in Fields::of(bytes) {
        match field? {
            (1, field) => domain = field.text()?,
            (2, field) => version = field.integer()?,
            _ => {}
        }
    }
    Ok((domain, version))
}

fn pair(bytes: &[u8]) -> Result<(&str, &str)> {
    let (mut key, mut value) = ("", "");
    for field in Fields::of(bytes) {
        match field? {
            (1, field) => key = field.text()?,
            (2, field) => value = field.text()?,
            _ => {}
        }
    }
    Ok((key, value))
}

impl Reader<'_, '_> {
    fn graph(&mut self, bytes: &[u8]) -> Result<Graph> {
        let mut graph = Graph::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => {
                    let node = self.node(field.bytes()?)?;
                    push(&mut graph.nodes, MOST_NODES, "nodes", node)?;
                }
                (2, field) => graph.name = field.text()?.to_owned(),
                (5, field) => {
                    let tensor = self.tensor(field.bytes()?)?;
                    push(&mut graph.initializers, MOST_INITIALIZERS, "initializers", tensor)?;
                }
                (11, field) => {
                    let value = ValueInfo::decode(field.bytes()?)?;
                    push(&mut graph.inputs, MOST_INITIALIZERS, "inputs", value)?;
                }
                (12, field) => {
                    let value = ValueInfo::decode(field.bytes()?)?;
                    push(&mut graph.outputs, MOST_NAMES, "outputs", value)?;
                }
                (15, _) => {
                    let reason = "sparse initializers cannot be read".to_owned();
                    return Err(OnnxError::Unsupported(reason));
                }
                _ => {}
            }
        }
        Ok(graph)
    }

    fn node(&mut self, bytes: &[u8]) -> Result<Node> {
        let mut node = Node::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => {
                    let name = field.text()?.to_owned();
                    push(&mut node.inputs, MOST_NAMES, "inputs of a node", name)?;
                }
                (2, field) => {
                    let name = field.text()?.to_owned();
                    push(&mut node.outputs, MOST_NAMES, "outputs of a node", name)?;
                }
                (3, field) => node.name = field.text()?.to_owned(),
                (4, field) => node.operator = field.text()?.to_owned(),
                (5, field) => {
                    let attribute = self.attribute(field.bytes()?)?;
                    push(&mut node.attributes, MOST_NAMES, "attributes of a node", attribute)?;
                }
                (7, field) => node.domain = field.text()?.to_owned(),
                _ => {}
            }
        }
        Ok(node)
    }

    fn attribute(&mut self, bytes: &[u8]) -> Result<(String, Attribute)> {
        let (mut name, mut kind) = (String::new(), None);
        let (mut float, mut integer, mut text, mut tensor) = (None, None, None, None);
        let (mut floats, mut integers) = (Vec::new(), Vec::new());
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => name = field.text()?.to_owned(),
                (2, field) => float = Some(field.float()?),
                (3, field) => integer = Some(field.integer()?),
                (4, field) => text = Some(field.text()?.to_owned()),
                (5, field) => tensor = Some(self.tensor(field.bytes()?)?.1),
                (7, field) => field.floats(&mut floats, MOST_NUMBERS)?,
                (8, field) => field.integers(&mut integers, MOST_NUMBERS)?,
                (20, field) => kind = Some(field.integer()?),
                _ => {}
            }
        }
        // Writers may leave out a value that is the type's zero, and very old ones left out the
        // type.
        let attribute = match kind {
            Some(1) => Attribute::Float(float.unwrap_or_default()),
            Some(2) => Attribute::Integer(integer.unwrap_or_default()),
            Some(3) => Attribute::Text(text.unwrap_or_default()),
            Some(6) => Attribute::Floats(floats),
            Some(7) => Attribute::Integers(integers),
            None if float.is_some() => Attribute::Float(float.unwrap_or_default()),
            None if integer.is_some() => Attribute::Integer(integer.unwrap_or_default()),
            None if !integers.is_empty() => Attribute::Integers(integers),
            None if !floats.is_empty() => Attribute::Floats(floats),
            _ => tensor.map_or(Attribute::Other, Attribute::Tensor),
        };
        Ok((name, attribute))
    }

    fn tensor(&mut self, bytes: &[u8]) -> Result<(String, Tensor)> {
        let mut name = "";
        let (mut dimensions, mut code, mut is_external) = (Vec::new(), 0, false);
        let (mut raw, mut location) = (None, External::default());
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => field.integers(&mut dimensions, Budget::AXES)?,
                (2, field) => code = field.integer()?,
                (8, field) => name = field.text()?,
                (9, field) => raw = Some(field.bytes()?),
                (13, field) => location.read(pair(field.bytes()?)?)?,
                (14, field) => is_external = field.integer()? == 1,
                _ => {}
            }
        }
        let fault = |Fault(reason): Fault| OnnxError::Tensor { name: name.to_owned(), reason };
        let element = ElementType::from_code(code)
            .ok_or_else(|| fault(format!("numbers of type {code} cannot be read").into()))?;
        let shape = dimensions
            .iter()
            .map(|&length| usize::try_from(length).ok())
            .collect::<Option<Vec<usize>>>()
            .ok_or_else(|| fault("an axis of negative length".into()))?;
        let n = self.budget.claim(&shape).map_err(fault)?;
        let values = if is_external {
            let bytes = location.of(self.file_beside(&location.file, name)?);
            bytes.and_then(|bytes| from_raw(element, bytes, n)).map_err(fault)?
        } else if let Some(raw) = raw {
            from_raw(element, raw, n).map_err(fault)?
        } else {
            from_typed(element, Fields::of(bytes), n).map_err(fault)?
        };
        Ok((name.to_owned(), Tensor::new(shape, values)))
    }

    fn file_beside(&mut self, file: &str, tensor: &str) -> Result<&[u8]> {
        let index = match self.beside.iter().position(|(known, _)| known == file) {
            Some(index) => index,
            None => {
                let fault = |reason: String| OnnxError::Tensor { name: tensor.to_owned(), reason };
                let is_plain =
                    !file.is_empty() && !file.starts_with('.') && !file.contains(['/', '\\', '\0']);
                if !is_plain || self.beside.len() >= 16 {
                    let reason = "it may lie in one of 16 files beside the model, by plain name";
                    return Err(fault(format!("its numbers are in `{file}`: {reason}")));
                }
                let bytes = (self.read_beside)(file).map_err(|error| {
                    fault(format!("its numbers are in `{file}` beside the model: {error}"))
                })?;
                self.beside.push((file.to_owned(), bytes));
                self.beside.len() - 1
            }
        };
        Ok(&self.beside[index].1)
    }
}

/// Where in a file beside the model the numbers of a tensor lie.
#[derive(Debug, Default)]
struct External {
    file: String,
    offset: usize,
    length: Option<usize>,
}

impl External {
    fn read(&mut self, (key, value): (&str, &str)) -> Result<(), Malformed> {
        let number = || value.parse().map_err(|_| Malformed("a place that is no number"));
        match key {
            "location" => self.file = value.to_owned(),
            "offset" => self.offset = number()?,
            "length" => self.length = Some(number()?),
            _ => {}
        }
        Ok(())
    }

    fn of<'f>(&self, file: &'f [u8]) -> Result<&'f [u8], Fault> {
        let rest = file.get(self.offset..);
        let part = rest.and_then(|rest| rest.get(..self.length.unwrap_or(rest.len())));
        part.ok_or_else(|| format!("it lies beyond the end of `{}`", self.file).into())
    }
}

/// The `n` numbers that lie in `bytes` as the machine has them.
fn from_raw(element: ElementType, bytes: &[u8], n: usize) -> Result<Values, Fault> {
    let size = element.n_bytes();
    if n.checked_mul(size) != Some(bytes.len()) {
        return Err(format!("{} bytes do not hold {n} numbers of {size}", bytes.len()).into());
    }
    Ok(match element {
        ElementType::Float32 => {
            let (numbers, _) = bytes.as_chunks::<4>();
            Values::Float(numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
        }
        ElementType::Float64 => {
            let (numbers, _) = bytes.as_chunks::<8>();
            Values::Float(numbers.iter().map(|&bytes| f64::from_le_bytes(bytes) as f32).collect())
        }
        ElementType::Float16 | ElementType::BFloat16 => {
            let (numbers, _) = bytes.as_chunks::<2>();
            let numbers = numbers.iter().map(|&bytes| u16::from_le_bytes(bytes));
            Values::Float(numbers.map(|bits| widen(element, bits)).collect())
        }
        ElementType::Boolean => {
            Values::Integer(bytes.iter().map(|&byte| i64::from(byte != 0)).collect())
        }
        ElementType::Whole(size, has_sign) => {
            Values::Integer(bytes.chunks_exact(size).map(|bytes| whole(bytes, has_sign)).collect())
        }
    })
}

fn whole(little_endian: &[u8], has_sign: bool) -> i64 {
    let is_negative = has_sign && little_endian.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut bytes = [if is_negative { 0xff } else { 0 }; 8];
    bytes[..little_endian.len()].copy_from_slice(little_endian);
    i64::from_le_bytes(bytes)
}

fn widen(element: ElementType, bits: u16) -> f32 {
    if element == ElementType::BFloat16 {
        return f32::from_bits(u32::from(bits) << 16);
    }
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction as f32 / (1 << 24) as f32,
        31 => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// The `n` numbers that are listed in the field for their type.
fn from_typed(element: ElementType, fields: Fields<'_>, n: usize) -> Result<Values, Fault> {
    let malformed = |Malformed(reason)| Fault(reason.to_owned());
    // By the format's rules; whatever is small is listed as numbers of 32 bits.
    let wanted = match element {
        ElementType::Float32 => 4,
        ElementType::Float64 => 10,
        ElementType::Whole(8, true) => 7,
        ElementType::Whole(8 | 4, false) => 11,
        _ => 5,
    };
    let (mut floats, mut doubles, mut integers) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        match field.map_err(malformed)? {
            (4, field) if wanted == 4 => field.floats(&mut floats, n),
            (10, field) if wanted == 10 => field.doubles(&mut doubles, n),
            (number, field) if number == wanted => field.integers(&mut integers, n),
            _ => Ok(()),
        }
        .map_err(malformed)?;
    }
    let values = match element {
        ElementType::Float32 => Values::Float(floats),
        ElementType::Float64 => Values::Float(doubles.iter().map(|&x| x as f32).collect()),
        ElementType::Float16 | ElementType::BFloat16 => {
            Values::Float(integers.iter().map(|&bits| widen(element, bits as u16)).collect())
        }
        ElementType::Boolean | ElementType::Whole(..) => Values::Integer(integers),
    };
    match values.len() == n {
        true => Ok(values),
        false => Err(format!("{} numbers where the shape has {n}", values.len()).into()),
    }
}

impl ValueInfo {
    /// Fractions of this shape.
    pub fn floats(name: &str, shape: Vec<Dimension>) -> Self {
        Self { name: name.to_owned(), is_integer: false, shape: Some(shape) }
    }

    /// Its shape for people: `[batch, 4]`.
    pub fn shape_text(&self) -> String {
        let Some(shape) = &self.shape else { return "an unknown shape".to_owned() };
        let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
        format!("[{}]", lengths.join(", "))
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut value = Self::default();
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => value.name = field.text()?.to_owned(),
                (2, field) => value.decode_type(field.bytes()?)?,
                _ => {}
            }
        }
        Ok(value)
    }

    fn decode_type(&mut self, bytes: &[u8]) -> Result<()> {
        for field in Fields::of(bytes) {
            let (1, tensor) = field? else { continue };
            for field in Fields::of(tensor.bytes()?) {
                match field? {
                    (1, field) => {
                        let element = ElementType::from_code(field.integer()?);
                        self.is_integer = element.is_some_and(ElementType::is_integer);
                    }
                    (2, field) => self.shape = Some(decode_shape(field.bytes()?)?),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn encode(&self, message: &mut Message) {
        message.bytes(1, self.name.as_bytes());
        message.message(2, |message| {
            message.message(1, |message| {
                message.integer(1, if self.is_integer { INT64 } else { FLOAT });
                let Some(shape) = &self.shape else { return };
                message.message(2, |message| {
                    for dimension in shape {
                        message.message(1, |message| match dimension {
                            Dimension::Fixed(length) => message.integer(1, *length as i64),
                            Dimension::Free(name) => message.bytes(2, name.as_bytes()),
                        });
                    }
                });
            });
        });
    }
}

fn decode_shape(bytes: &[u8]) -> Result<Vec<Dimension>> {
    let mut shape = Vec::new();
    for field in Fields::of(bytes) {
        let (1, dimension) = field? else { continue };
        let mut length = Dimension::Free(String::new());
        for field in Fields::of(dimension.bytes()?) {
            match field? {
                // Some writers say 0 or -1 for what is not known.
                (1, field) => {
                    let fixed = usize::try_from(field.integer()?).ok().filter(|&length| length > 0);
                    length = fixed.map_or(Dimension::Free(String::new()), Dimension::Fixed);
                }
                (2, field) => length = Dimension::Free(field.text()?.to_owned()),
                _ => {}
            }
        }
        push(&mut shape, Budget::AXES, "axes", length)?;
    }
    let fixed = |dimension: &Dimension| match dimension {
        Dimension::Fixed(length) => *length,
        Dimension::Free(_) => 1,
    };
    let lengths: Vec<usize> = shape.iter().map(fixed).collect();
    match count(&lengths).is_some_and(|n| n <= Budget::NUMBERS) {
        true => Ok(shape),
        false => Err(OnnxError::Malformed(format!("the shape {lengths:?} is beyond all bounds"))),
    }
}

impl Graph {
    fn encode(&self, message: &mut Message) {
        for node in &self.nodes {
            message.message(1, |message| node.encode(message));
        }
        message.bytes(2, self.name.as_bytes());
        for (name, tensor) in &self.initializers {
            message.message(5, |message| encode_tensor(name, tensor, message));
        }
        for input in &self.inputs {
            message.message(11, |message| input.encode(message));
        }
        for output in &self.outputs {
            message.message(12, |message| output.encode(message));
        }
    }
}

impl Node {
    fn encode(&self, message: &mut Message) {
        for input in &self.inputs {
            message.bytes(1, input.as_bytes());
        }
        for output in &self.outputs {
            message.bytes(2, output.as_bytes());
        }
        message.bytes(3, self.name.as_bytes());
        message.bytes(4, self.operator.as_bytes());
        for (name, attribute) in &self.attributes {
            message.message(5, |message| attribute.encode(name, message));
        }
        if !self.domain.is_empty() {
            message.bytes(7, self.domain.as_bytes());
        }
    }
}

impl Attribute {
    fn encode(&self, name: &str, message: &mut Message) {
        message.bytes(1, name.as_bytes());
        let kind = match self {
            Self::Float(value) => {
                message.float(2, *value);
                1
            }
            Self::Integer(value) => {
                message.integer(3, *value);
                2
            }
            Self::Text(text) => {
                message.bytes(4, text.as_bytes());
                3
            }
            Self::Tensor(tensor) => {
                message.message(5, |message| encode_tensor("", tensor, message));
                4
            }
            Self::Floats(values) => {
                values.iter().for_each(|&value| message.float(7, value));
                6
            }
            Self::Integers(values) => {
                values.iter().for_each(|&value| message.integer(8, value));
                7
            }
            Self::Other => 0,
        };
        message.integer(20, kind);
    }
}

fn encode_tensor(name: &str, tensor: &Tensor, message: &mut Message) {
    for &length in tensor.shape() {
        message.integer(1, length as i64);
    }
    let (code, raw): (i64, Vec<u8>) = match tensor.values() {
        Values::Float(values) => (FLOAT, values.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Values::Integer(values) => (INT64, values.iter().flat_map(|x| x.to_le_bytes()).collect()),
    };
    message.integer(2, code);
    message.bytes(8, name.as_bytes());
    message.bytes(9, &raw);
}
