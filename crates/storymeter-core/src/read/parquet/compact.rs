//! The little of Thrift's compact protocol that is needed to look at what a file says about itself
//! before the parquet crate does.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::ChunkReader;

/// How deep values may lie in each other. The format itself needs less than ten levels.
const DEEPEST: usize = 64;

/// How many levels the schema of a file may have. The parquet crate calls itself once per level,
/// and the stack is only so large.
const DEEPEST_SCHEMA: usize = 100;

/// The type of a value, as the protocol numbers them.
pub(super) type Kind = u8;

pub(super) const STRUCT: Kind = 12;
const LIST: Kind = 9;

/// Bytes that are read from the front.
pub(super) struct Compact<'a>(pub &'a [u8]);

impl<'a> Compact<'a> {
    pub fn byte(&mut self) -> Result<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(ends_early)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A whole number without a sign, seven bits per byte.
    pub fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(ParquetError::General("a number has more than 64 bits".to_owned()))
    }

    /// A whole number with a sign.
    pub fn integer(&mut self) -> Result<i64> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Calls `read` with number and type of each field of a struct. It returns whether it has taken
    /// the value; otherwise the value is passed over.
    pub fn fields(
        &mut self,
        mut read: impl FnMut(&mut Self, i64, Kind) -> Result<bool>,
    ) -> Result<()> {
        let mut number = 0;
        while let Some((next, kind)) = self.field(number)? {
            number = next;
            if !read(self, number, kind)? {
                self.skip(kind, 0)?;
            }
        }
        Ok(())
    }

    /// Number and type of the next field; `None` at the end of the struct.
    fn field(&mut self, before: i64) -> Result<Option<(i64, Kind)>> {
        let byte = self.byte()?;
        let (step, kind) = (i64::from(byte >> 4), byte & 0x0f);
        if kind == 0 {
            return Ok(None);
        }
        let number = if step == 0 { self.integer()? } else { before.saturating_add(step) };
        Ok(Some((number, kind)))
    }

    /// The number of elements of a list, and their type.
    pub fn list(&mut self) -> Result<(u64, Kind)> {
        let byte = self.byte()?;
        let (size, kind) = (u64::from(byte >> 4), byte & 0x0f);
        Ok((if size == 15 { self.varint()? } else { size }, kind))
    }

    /// Passes over a value. `depth` is the number of values that it lies in.
    fn skip(&mut self, kind: Kind, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return Err(ParquetError::General("its values lie too deep in each other".to_owned()));
        }
        match kind {
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => drop(self.take(8)?),
            8 => {
                let length = self.varint()?;
                self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
            }
            LIST | 10 => {
                let (size, kind) = self.list()?;
                (0..size).try_for_each(|_| self.skip_element(kind, depth))?;
            }
            11 => {
                let size = self.varint()?;
                let kinds = if size > 0 { self.byte()? } else { 0 };
                for _ in 0..size {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 0x0f, depth)?;
                }
            }
            STRUCT => {
                let mut number = 0;
                while let Some((next, kind)) = self.field(number)? {
                    number = next;
                    self.skip(kind, depth + 1)?;
                }
            }
            13 => drop(self.take(16)?),
            other => {
                let problem = format!("there is no type of values with the number {other}");
                return Err(ParquetError::General(problem));
            }
        }
        Ok(())
    }

    /// Passes over an element of a list. Unlike in a field, a truth value takes a byte.
    fn skip_element(&mut self, kind: Kind, depth: usize) -> Result<()> {
        if matches!(kind, 1 | 2) { self.byte().map(drop) } else { self.skip(kind, depth + 1) }
    }
}

pub(super) fn ends_early() -> ParquetError {
    ParquetError::EOF("it ends too early".to_owned())
}

/// Refuses a file whose schema has more levels than the parquet crate has room for. Whatever else
/// is wrong is left to that crate.
pub(in crate::read) fn check_schema(file: &impl ChunkReader) -> Result<()> {
    /// The length of the footer and the four letters after it.
    const TAIL: u64 = 8;
    let Some(tail_at) = file.len().checked_sub(TAIL) else { return Ok(()) };
    let tail = file.get_bytes(tail_at, TAIL as usize)?;
    let size = tail.first_chunk().map_or(0, |size| u32::from_le_bytes(*size));
    let Some(footer_at) = tail_at.checked_sub(u64::from(size)) else { return Ok(()) };
    let footer: Bytes = file.get_bytes(footer_at, size as usize)?;
    Compact(&footer).fields(|footer, number, kind| {
        if (number, kind) != (2, LIST) {
            return Ok(false);
        }
        let (elements, kind) = footer.list()?;
        // For each group that is open, how many of its members are still to come.
        let mut open: Vec<u64> = Vec::new();
        for _ in 0..elements {
            let mut members = 0;
            if kind != STRUCT {
                return Err(ParquetError::General("its schema is not a list of types".to_owned()));
            }
            footer.fields(|element, number, kind| {
                let counts = (number, kind) == (5, 5);
                if counts {
                    members = u64::try_from(element.integer()?).unwrap_or(0);
                }
                Ok(counts)
            })?;
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            open.push(members);
            if open.len() > DEEPEST_SCHEMA {
                let problem = format!("its schema has more than {DEEPEST_SCHEMA} levels");
                return Err(ParquetError::General(problem));
            }
            while open.last() == Some(&0) {
                open.pop();
            }
        }
        Ok(true)
    })
}
