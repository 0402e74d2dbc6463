//! What the headers of a column's pages say, before any page is unpacked.

use std::io::{self, Read};

use flate2::bufread::MultiGzDecoder;
use parquet::basic::{Compression, Encoding};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;

use super::compact::{Compact, STRUCT, ends_early};

/// The most bytes that a page may have when it is unpacked. Writers end a page at about one MiB,
/// unless a few values are longer than that.
const LARGEST_PAGE: u64 = 256 << 20;

/// The same where a value may repeat the beginning of the one before it, so that a page can stand
/// for far more than its bytes.
const LARGEST_SHARED: u64 = 16 << 20;

/// The most entries of a dictionary.
const MOST_ENTRIES: u64 = 16 << 20;

/// The most values that all lists of a row group may have together.
const MOST_IN_LISTS: u64 = 16 << 20;

/// What a value of a list takes while its row is put together, in bytes.
const PER_VALUE: u64 = 32;

/// The most bytes that the pages of a row group may take at the same time, one of each column.
pub(super) const LARGEST_GROUP: u64 = MOST_IN_LISTS * PER_VALUE;

/// The header of a page.
#[derive(Debug, Default)]
struct Header {
    kind: i64,
    unpacked: u64,
    packed: u64,
    values: u64,
    rows: Option<u64>,
    encoding: i64,
    /// The bytes of levels at the start of the page, which are never packed.
    levels: u64,
    /// Whether the values are not packed either.
    is_plain: bool,
}

const DICTIONARY: i64 = 2;
const DATA: [i64; 2] = [0, 3];

impl Header {
    /// Reads a header at the start of the bytes. Returns it and its length.
    fn read(bytes: &[u8]) -> Result<(Self, u64)> {
        let mut header = Self::default();
        let mut input = Compact(bytes);
        input.fields(|input, number, kind| {
            match (number, kind) {
                (1, 5) => header.kind = input.integer()?,
                (2, 5) => header.unpacked = size(input.integer()?)?,
                (3, 5) => header.packed = size(input.integer()?)?,
                // Of data pages, dictionaries, and data pages of the second version.
                (5 | 7 | 8, STRUCT) => {
                    let second = number == 8;
                    input.fields(|input, number, kind| {
                        match (number, kind) {
                            (1, 5) => header.values = size(input.integer()?)?,
                            (3, 5) if second => header.rows = Some(size(input.integer()?)?),
                            (2, 5) if !second => header.encoding = input.integer()?,
                            (4, 5) if second => header.encoding = input.integer()?,
                            (5 | 6, 5) if second => header.levels += size(input.integer()?)?,
                            // A truth value is part of the type.
                            (7, 2) if second => header.is_plain = true,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok((header, (bytes.len() - input.0.len()) as u64))
    }
}

fn size(number: i64) -> Result<u64> {
    let problem = || ParquetError::General(format!("a page claims a size of {number}"));
    u64::try_from(number).map_err(|_| problem())
}

/// Checks that the pages of a column have as many values as the column and the row group claim, and
/// that none is too large. Returns how many bytes the column takes while it is read.
pub(super) fn check(
    file: &impl ChunkReader,
    column: &ColumnChunkMetaData,
    rows: u64,
) -> Result<u64> {
    let name = column.column_path().string();
    let wrong = |problem: String| ParquetError::General(format!("column \"{name}\": {problem}"));
    let claimed = size(column.num_values())?;
    let is_list = column.column_descr().max_rep_level() > 0;
    if !is_list && claimed != rows {
        return Err(wrong(format!("it has {claimed} values for {rows} rows")));
    }
    let (mut at, length) = column.byte_range();
    let end = at.checked_add(length).filter(|end| *end <= file.len()).ok_or_else(ends_early)?;
    let (mut values, mut counted) = (0u64, Some(0u64));
    let (mut dictionary, mut largest) = (0, 0);
    while at < end {
        let (header, own) = header_at(file, at, end)?;
        let body = at + own;
        at = body.checked_add(header.packed).filter(|at| *at <= end).ok_or_else(ends_early)?;
        if DATA.contains(&header.kind) {
            values = values.saturating_add(header.values);
            counted = counted.zip(header.rows).map(|(sum, rows)| sum.saturating_add(rows));
            largest = largest.max(header.unpacked);
        } else if header.kind == DICTIONARY {
            dictionary = header.unpacked;
            if header.values > MOST_ENTRIES {
                let problem = format!(
                    "its dictionary has {} entries, but at most {MOST_ENTRIES} are read",
                    header.values
                );
                return Err(wrong(problem));
            }
        }
        let shares = header.encoding == Encoding::DELTA_BYTE_ARRAY as i64;
        let most = if shares { LARGEST_SHARED } else { LARGEST_PAGE };
        if header.unpacked > most {
            let problem = format!(
                "one of its pages has {} bytes, but at most {most} are read; write it with smaller \
                 pages",
                header.unpacked
            );
            return Err(wrong(problem));
        }
        if matches!(column.compression(), Compression::GZIP(_)) && !header.is_plain {
            // The parquet crate unpacks whatever there is before it compares the sizes. What is
            // damaged is an error there.
            let packed = file.get_bytes(body, header.packed as usize)?;
            let packed = packed.get(header.levels as usize..).unwrap_or_default();
            let mut unpacked = MultiGzDecoder::new(packed).take(header.unpacked + 1);
            if io::copy(&mut unpacked, &mut io::sink()).is_ok_and(|size| size > header.unpacked) {
                return Err(wrong("a page is larger than it claims".to_owned()));
            }
        }
    }
    if values != claimed {
        return Err(wrong(format!("its pages have {values} values, and it claims {claimed}")));
    }
    if let Some(counted) = counted.filter(|counted| *counted != rows && values > 0) {
        return Err(wrong(format!("its pages have {counted} rows, and the row group {rows}")));
    }
    Ok(dictionary + largest + if is_list { claimed.saturating_mul(PER_VALUE) } else { 0 })
}

/// Reads the header of the page at a position, and its length.
fn header_at(file: &impl ChunkReader, at: u64, end: u64) -> Result<(Header, u64)> {
    let most = usize::try_from(end - at).unwrap_or(usize::MAX);
    let mut window = 1 << 10;
    loop {
        let bytes = file.get_bytes(at, window.min(most))?;
        match Header::read(&bytes) {
            // Statistics of long values make a header long.
            Err(_) if window < most => window = window.saturating_mul(4),
            read => return read,
        }
    }
}

/// Checks that a page with differences of numbers or lengths (the encodings `DELTA_*`) does not
/// claim more of them than it has values. `data` begins after the levels.
pub(super) fn check_differences(data: &[u8], encoding: Encoding, values: u64) -> Result<()> {
    let mut data = Compact(data);
    let streams = match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        // The lengths of what is shared, and those of the rest.
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return Ok(()),
    };
    for _ in 0..streams {
        let (block, parts, count) = (data.varint()?, data.varint()?, data.varint()?);
        if count > values {
            let problem = format!("a page of {values} values claims {count} lengths");
            return Err(ParquetError::General(problem));
        }
        data.integer()?;
        let mut left = count.saturating_sub(1);
        let part = block.checked_div(parts).filter(|part| *part > 0 && parts <= block);
        let Some(part) = part else {
            return Err(ParquetError::General("a block of lengths has no parts".to_owned()));
        };
        while left > 0 {
            data.integer()?;
            for width in data.take(usize::try_from(parts).unwrap_or(usize::MAX))? {
                if left > 0 {
                    let bits = part.saturating_mul(u64::from(*width));
                    data.take(usize::try_from(bits / 8).unwrap_or(usize::MAX))?;
                    left = left.saturating_sub(part);
                }
            }
        }
    }
    Ok(())
}
