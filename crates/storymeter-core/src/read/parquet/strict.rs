//! A Parquet file whose claims about itself are checked where the parquet crate believes them.
//!
//! - A dictionary that claims more values than it has bytes would be given memory for all of them.
//! - A header that claims a long list would be read on and on after the end of the file.
//! - A part that claims to be longer than the file would be given memory first, as would pages that
//!   unpack to far more than their size.
//! - A schema of many levels would overflow the stack.
//! - Where footer, row groups and pages claim different numbers of rows, the smallest would count,
//!   and rows would be lost.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, FileReader, Length, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use super::compact::{check_schema, ends_early};
use super::pages::{self, LARGEST_GROUP};

/// A file that is read to its end and no further.
pub(in crate::read) struct StrictFile {
    reader: SerializedFileReader<Bounded>,
    file: Bounded,
}

impl StrictFile {
    /// Reads what the file says about itself.
    pub fn new(file: File) -> Result<Self> {
        let length = file.metadata()?.len();
        let file = Bounded { file, length };
        check_schema(&file)?;
        let reader = SerializedFileReader::new(Bounded { file: file.file.try_clone()?, length })?;
        let rows = reader.metadata().file_metadata().num_rows();
        let groups = reader.metadata().row_groups();
        let counted = groups.iter().try_fold(0i64, |sum, group| {
            sum.checked_add(group.num_rows()).filter(|_| group.num_rows() >= 0)
        });
        if counted != Some(rows) {
            let counted = counted.map_or("an impossible number of".to_owned(), |n| n.to_string());
            let problem = format!("the footer claims {rows} rows, and the row groups {counted}");
            return Err(ParquetError::General(problem));
        }
        Ok(Self { reader, file })
    }
}

impl FileReader for StrictFile {
    fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    fn num_row_groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    fn get_row_group(&self, number: usize) -> Result<Box<dyn RowGroupReader + '_>> {
        let reader = self.reader.get_row_group(number)?;
        Ok(Box::new(Group { reader, file: &self.file, taken: AtomicU64::new(0) }))
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_file(projection, self)
    }
}

/// A group of rows.
struct Group<'a> {
    reader: Box<dyn RowGroupReader + 'a>,
    file: &'a Bounded,
    /// The bytes that the columns take which are being read.
    taken: AtomicU64,
}

impl RowGroupReader for Group<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.reader.metadata()
    }

    fn num_columns(&self) -> usize {
        self.reader.num_columns()
    }

    fn get_column_page_reader(&self, column: usize) -> Result<Box<dyn PageReader>> {
        let about = self.reader.metadata();
        let rows = u64::try_from(about.num_rows()).unwrap_or_default();
        let about = about.column(column);
        let needed = pages::check(self.file, about, rows)?;
        let taken = self.taken.fetch_add(needed, Ordering::Relaxed);
        if taken.saturating_add(needed) > LARGEST_GROUP {
            let problem = format!(
                "the columns of a row group need more than {LARGEST_GROUP} bytes at once; write \
                 it with smaller row groups"
            );
            return Err(ParquetError::General(problem));
        }
        let levels = about.column_descr();
        Ok(Box::new(Pages {
            reader: self.reader.get_column_page_reader(column)?,
            levels: [levels.max_rep_level(), levels.max_def_level()],
        }))
    }

    fn get_column_bloom_filter(&self, column: usize) -> Option<&Sbbf> {
        self.reader.get_column_bloom_filter(column)
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// The pages of a column.
struct Pages {
    reader: Box<dyn PageReader>,
    /// The highest levels of repetition and of definition.
    levels: [i16; 2],
}

impl Pages {
    fn checked(&self, page: Page) -> Result<Page> {
        match &page {
            // Every value takes at least one byte.
            Page::DictionaryPage { buf, num_values, .. } if *num_values as usize > buf.len() => {
                let size = buf.len();
                let problem = format!("a dictionary of {size} bytes claims {num_values} values");
                return Err(ParquetError::General(problem));
            }
            Page::DictionaryPage { .. } => {}
            Page::DataPage { buf, num_values, encoding, .. } if is_difference(*encoding) => {
                let mut data = &buf[..];
                for _ in self.levels.iter().filter(|level| **level > 0) {
                    let (size, rest) = data.split_first_chunk().ok_or_else(ends_early)?;
                    let size = u32::from_le_bytes(*size) as usize;
                    data = rest.get(size..).ok_or_else(ends_early)?;
                }
                pages::check_differences(data, *encoding, u64::from(*num_values))?;
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } if is_difference(*encoding) => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                let data = buf.get(levels..).ok_or_else(ends_early)?;
                pages::check_differences(data, *encoding, u64::from(*num_values))?;
            }
            Page::DataPage { .. } | Page::DataPageV2 { .. } => {}
        }
        Ok(page)
    }
}

/// Whether a page begins with lists of lengths, for which memory is taken before they are read.
fn is_difference(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY)
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.reader.get_next_page()?.map(|page| self.checked(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.reader.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.reader.skip_next_page()
    }
}

/// A file, and its length when it was opened.
struct Bounded {
    file: File,
    length: u64,
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Bounded {
    type T = BufReader<Strict>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(Strict(file)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut file = self.file.try_clone()?;
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; length];
        file.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// A file for which it is an error to read on at its end. Whatever is read is followed by the end
/// mark of the format, so that a reader of a good file never gets there.
struct Strict(File);

impl Read for Strict {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Ok(0) if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            read => read,
        }
    }
}
