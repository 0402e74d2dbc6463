//! The packed model, which `examples/train_tagger.rs` writes and which is embedded in the library.
//!
//! The file has only the weights that are not zero. Numbers are LEB128. A list of keys is sorted
//! and stored as differences.
//!
//! ```text
//! "SMTAG1\n"
//! number of dictionary words; for each: key, flags and tag count, tags
//! number of tag contexts;     for each: row number, weight count, (tag, weight) ...
//! number of features;         for each: key, weight count, (tag, weight) ...
//! ```

use super::Tag;
use super::decode::{EMPTY_ROW, FIRST_FEATURE, LANES};
use super::table::Table;

pub(super) const MAGIC: &[u8] = b"SMTAG1\n";

/// The flag of a dictionary word that can have no other tags than those listed.
pub(super) const CLOSED: u8 = 0x80;

/// One weight per tag: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Row(pub [i8; LANES]);

/// An unpacked model.
#[derive(Debug)]
pub(super) struct Model {
    pub rows: Vec<Row>,
    pub features: Table,
    /// Maps a word to its index in `entries`.
    pub words: Table,
    pub entries: Vec<Entry>,
}

/// The entry of a frequent word in the dictionary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The tags that it had in training, as bits.
    pub tags: u64,
    /// Whether it can have no other tag.
    pub closed: bool,
}

/// The bytes are not a tagger model, or are damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a tagger model: {reason} at byte {at}")]
pub struct BadModel {
    /// What is wrong.
    pub reason: &'static str,
    /// Where in the file.
    pub at: usize,
}

impl Model {
    /// The row of a feature. A feature without weights has an empty row, so that adding it needs no
    /// branch.
    pub(super) fn row(&self, key: u32) -> u32 {
        self.features.get(key).unwrap_or(EMPTY_ROW)
    }

    pub(super) fn unpack(bytes: &[u8]) -> Result<Self, BadModel> {
        let mut reader = Reader { bytes, at: 0, last: 0 };
        if !bytes.starts_with(MAGIC) {
            return Err(reader.bad("wrong first bytes"));
        }
        reader.at = MAGIC.len();
        let (words, entries) = reader.dictionary()?;
        let mut rows = vec![Row([0; LANES]); FIRST_FEATURE];
        for _ in 0..reader.count()? {
            let number = reader.key()? as usize;
            let weights = reader.weights()?;
            *rows.get_mut(number).ok_or_else(|| reader.bad("row out of range"))? = weights;
        }
        reader.last = 0;
        let count = reader.count()?;
        rows.reserve_exact(count);
        let mut keys = Vec::with_capacity(count);
        for _ in 0..count {
            keys.push((reader.key()?, rows.len() as u32));
            rows.push(reader.weights()?);
        }
        if reader.at != bytes.len() {
            return Err(reader.bad("bytes left over"));
        }
        Ok(Self { rows, features: Table::new(keys.into_iter()), words, entries })
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The last key that was read, because keys are stored as differences.
    last: u32,
}

impl Reader<'_> {
    fn bad(&self, reason: &'static str) -> BadModel {
        BadModel { reason, at: self.at }
    }

    fn byte(&mut self) -> Result<u8, BadModel> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.bad("end of file"))?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64, BadModel> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.bad("number too long"))
    }

    /// Reads the length of a list whose elements take at least one byte each.
    fn count(&mut self) -> Result<usize, BadModel> {
        let count = self.number()? as usize;
        if count > self.bytes.len() - self.at {
            Err(self.bad("count too large"))
        } else {
            Ok(count)
        }
    }

    fn key(&mut self) -> Result<u32, BadModel> {
        let step = u32::try_from(self.number()?).ok();
        self.last =
            step.and_then(|s| self.last.checked_add(s)).ok_or_else(|| self.bad("key too large"))?;
        Ok(self.last)
    }

    fn tag(&mut self) -> Result<usize, BadModel> {
        let tag = usize::from(self.byte()?);
        if tag < Tag::COUNT { Ok(tag) } else { Err(self.bad("unknown tag")) }
    }

    fn weights(&mut self) -> Result<Row, BadModel> {
        let mut row = Row([0; LANES]);
        for _ in 0..self.byte()? {
            let tag = self.tag()?;
            row.0[tag] = self.byte()? as i8;
        }
        Ok(row)
    }

    fn dictionary(&mut self) -> Result<(Table, Vec<Entry>), BadModel> {
        let count = self.count()?;
        let mut keys = Vec::with_capacity(count);
        let mut entries = Vec::with_capacity(count);
        for _ in 0..count {
            keys.push((self.key()?, entries.len() as u32));
            let head = self.byte()?;
            let mut tags = 0;
            for _ in 0..head & !CLOSED {
                tags |= 1 << self.tag()?;
            }
            if tags == 0 {
                return Err(self.bad("word without tags"));
            }
            entries.push(Entry { tags, closed: head & CLOSED != 0 });
        }
        self.last = 0;
        Ok((Table::new(keys.into_iter()), entries))
    }
}
