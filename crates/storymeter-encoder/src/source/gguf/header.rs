//! The header of a GGUF file: facts about the model, its vocabulary, and the list of its tensors.
//!
//! The format is described in `docs/gguf.md` of the project ggml, which is not this one. Every
//! count is checked against the bytes that are left before anything is made room for.

use crate::error::excerpt;
use std::collections::BTreeMap;
use std::io::Read;

/// What is wrong with a header.
type Result<T> = std::result::Result<T, String>;

/// The most bytes of a header. Those of the largest vocabularies have 20 MB.
const LARGEST_HEADER: u64 = 1 << 26;

/// The longest text in a header. Chat templates have some thousand bytes.
const LONGEST_TEXT: u64 = 1 << 24;

/// A fact about the model.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Fact {
    Whole(i64),
    Float(f64),
    Switch(bool),
    Text(String),
    Wholes(Vec<i64>),
    Floats(Vec<f32>),
    Texts(Vec<String>),
}

/// A tensor as the header lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Listed {
    pub(super) name: String,
    /// The dimensions, the one whose neighbours lie next to each other first.
    pub(super) dimensions: Vec<u64>,
    pub(super) kind: u32,
    /// The first byte, counted from where the numbers begin.
    pub(super) offset: u64,
}

/// What a header says.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) facts: BTreeMap<String, Fact>,
    pub(super) tensors: Vec<Listed>,
    /// Where the numbers begin.
    pub(super) data: u64,
}

/// Reads the header from the beginning of a file that has `length` bytes.
pub(super) fn read(file: impl Read, length: u64) -> Result<Header> {
    let length = length.min(LARGEST_HEADER);
    let mut reader = Reader { file, left: length };
    if reader.bytes(4)? != b"GGUF" {
        return Err("the file does not begin with GGUF".into());
    }
    match reader.u32()? {
        2 | 3 => {}
        // In the other byte order, the version is in the upper half of the number.
        version if version & 0xffff == 0 => {
            return Err("the numbers are not in little-endian order".into());
        }
        version => return Err(format!("this is version {version} of GGUF, expected 2 or 3")),
    }
    let (tensor_count, fact_count) = (reader.u64()?, reader.u64()?);
    // A fact has at least 13 bytes, and an entry of the list of tensors at least 24.
    reader.check_count(fact_count, 13, "facts")?;
    let mut facts = BTreeMap::new();
    for _ in 0..fact_count {
        let name = reader.text()?;
        let kind = reader.u32()?;
        let fact = reader.fact(kind).map_err(|e| format!("{}: {e}", excerpt(&name)))?;
        facts.insert(name, fact);
    }
    reader.check_count(tensor_count, 24, "tensors")?;
    let mut tensors = Vec::new();
    for _ in 0..tensor_count {
        let name = reader.text()?;
        let dimensions = match reader.u32()? {
            count @ 0..=4 => (0..count).map(|_| reader.u64()).collect::<Result<_>>()?,
            count => return Err(format!("{} has {count} dimensions", excerpt(&name))),
        };
        let (kind, offset) = (reader.u32()?, reader.u64()?);
        tensors.push(Listed { name, dimensions, kind, offset });
    }
    let alignment = match facts.get("general.alignment") {
        None => 32,
        Some(Fact::Whole(n)) if (1..=1 << 20).contains(n) && n.count_ones() == 1 => *n as u64,
        Some(_) => return Err("general.alignment is not a power of two".into()),
    };
    let data = (length - reader.left).next_multiple_of(alignment);
    Ok(Header { facts, tensors, data })
}

struct Reader<F> {
    file: F,
    /// How many bytes of the file have not been read.
    left: u64,
}

impl<F: Read> Reader<F> {
    fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.left = self.left.checked_sub(N as u64).ok_or("the header is cut off")?;
        self.file.read_exact(&mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    fn bytes(&mut self, count: u64) -> Result<Vec<u8>> {
        self.left = self.left.checked_sub(count).ok_or("the header is cut off")?;
        let mut bytes = vec![0; count as usize];
        self.file.read_exact(&mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.fixed().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.fixed().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String> {
        let length = self.u64()?;
        if length > LONGEST_TEXT {
            return Err(format!("a text in the header has {length} bytes"));
        }
        String::from_utf8(self.bytes(length)?).map_err(|_| "a text is not UTF-8".into())
    }

    fn check_count(&self, count: u64, least: u64, what: &str) -> Result<()> {
        if count > self.left / least {
            return Err(format!("{count} {what} do not fit into the file"));
        }
        Ok(())
    }

    fn fact(&mut self, kind: u32) -> Result<Fact> {
        Ok(match kind {
            0..=5 | 10 | 11 => Fact::Whole(self.whole(kind)?),
            6 => Fact::Float(shortest(f32::from_le_bytes(self.fixed()?))),
            7 => Fact::Switch(self.fixed::<1>()?[0] != 0),
            8 => Fact::Text(self.text()?),
            9 => self.list()?,
            12 => Fact::Float(f64::from_le_bytes(self.fixed()?)),
            _ => return Err(format!("is of the unknown type {kind}")),
        })
    }

    fn whole(&mut self, kind: u32) -> Result<i64> {
        Ok(match kind {
            0 => u8::from_le_bytes(self.fixed()?).into(),
            1 => i8::from_le_bytes(self.fixed()?).into(),
            2 => u16::from_le_bytes(self.fixed()?).into(),
            3 => i16::from_le_bytes(self.fixed()?).into(),
            4 => u32::from_le_bytes(self.fixed()?).into(),
            5 => i32::from_le_bytes(self.fixed()?).into(),
            10 => i64::try_from(self.u64()?).map_err(|_| "is too large")?,
            _ => i64::from_le_bytes(self.fixed()?),
        })
    }

    fn list(&mut self) -> Result<Fact> {
        let (kind, count) = (self.u32()?, self.u64()?);
        let least = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            _ => return Err(format!("is a list of the unknown type {kind}")),
        };
        self.check_count(count, least, "entries of a list")?;
        let range = 0..count;
        Ok(match kind {
            6 => Fact::Floats(
                range.map(|_| self.fixed().map(f32::from_le_bytes)).collect::<Result<_>>()?,
            ),
            7 => Fact::Wholes(
                range.map(|_| Ok(self.fixed::<1>()?[0].into())).collect::<Result<_>>()?,
            ),
            8 => Fact::Texts(range.map(|_| self.text()).collect::<Result<_>>()?),
            12 => Fact::Floats(
                range
                    .map(|_| self.fixed().map(|b| f64::from_le_bytes(b) as f32))
                    .collect::<Result<_>>()?,
            ),
            _ => Fact::Wholes(range.map(|_| self.whole(kind)).collect::<Result<_>>()?),
        })
    }
}

/// The number with the fewest decimal digits that rounds to `value`: 0.00001 is written as such in
/// `config.json`, but has a different nearest neighbour in `f32`.
fn shortest(value: f32) -> f64 {
    format!("{value:e}").parse().unwrap_or(f64::from(value))
}
