//! The sizes of rows that have lists, which are known before such a row is put together.
//!
//! A list of a million equal texts takes a few bytes in a file, and the parquet crate copies the
//! text for each of them.

use std::collections::VecDeque;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::{ParquetError, Result};

/// What an element of a list takes in memory beside its text, in bytes.
const ELEMENT: u64 = 64;

/// A column of lists, whose rows are weighed one after the other.
pub(super) struct ListColumn {
    reader: ColumnReader,
    highest: i16,
    /// The sizes of the rows that were begun. All of them but the last are complete.
    begun: VecDeque<u64>,
    ended: bool,
}

impl ListColumn {
    /// `highest` is the level of definition at which there is a value.
    pub fn new(reader: ColumnReader, highest: i16) -> Self {
        Self { reader, highest, begun: VecDeque::new(), ended: false }
    }

    /// The size of the next row in memory; `None` if the column has no more rows.
    pub fn next(&mut self) -> Result<Option<u64>> {
        while self.begun.len() < 2 && !self.ended {
            let (highest, begun) = (self.highest, &mut self.begun);
            self.ended = !match &mut self.reader {
                ColumnReader::BoolColumnReader(reader) => weigh(reader, highest, begun),
                ColumnReader::Int32ColumnReader(reader) => weigh(reader, highest, begun),
                ColumnReader::Int64ColumnReader(reader) => weigh(reader, highest, begun),
                ColumnReader::Int96ColumnReader(reader) => weigh(reader, highest, begun),
                ColumnReader::FloatColumnReader(reader) => weigh(reader, highest, begun),
                ColumnReader::DoubleColumnReader(reader) => weigh(reader, highest, begun),
                ColumnReader::ByteArrayColumnReader(reader) => weigh(reader, highest, begun),
                ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                    weigh(reader, highest, begun)
                }
            }?;
        }
        Ok(self.begun.pop_front())
    }
}

/// Adds the sizes of some more values. Returns whether there were any.
fn weigh<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    highest: i16,
    begun: &mut VecDeque<u64>,
) -> Result<bool> {
    let (mut defined, mut repeated, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let (records, ..) =
        reader.read_records(1, Some(&mut defined), Some(&mut repeated), &mut values)?;
    let mut values = values.iter();
    for (defined, repeated) in defined.iter().zip(&repeated) {
        if *repeated == 0 {
            begun.push_back(0);
        }
        let Some(row) = begun.back_mut() else {
            let problem = "a column of lists begins in the middle of a row";
            return Err(ParquetError::General(problem.to_owned()));
        };
        *row += ELEMENT;
        if *defined == highest {
            let value = values.next().map_or(0, |value| value.as_bytes().len());
            *row = row.saturating_add(value as u64);
        }
    }
    Ok(records > 0 || !repeated.is_empty())
}
