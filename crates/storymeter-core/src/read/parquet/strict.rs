//! A Parquet file whose claims about itself are checked where the parquet crate believes them.
//!
//! - A dictionary that claims more values than it has bytes would be given memory for all of them.
//! - A header that claims a long list would be read on and on after the end of the file.
//! - A part that claims to be longer than the file would be given memory first.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, FileReader, Length, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

/// A file that is read to its end and no further.
pub(in crate::read) struct StrictFile(SerializedFileReader<Bounded>);

impl StrictFile {
    /// Reads what the file says about itself.
    pub fn new(file: File) -> Result<Self> {
        let length = file.metadata()?.len();
        SerializedFileReader::new(Bounded { file, length }).map(Self)
    }
}

impl FileReader for StrictFile {
    fn metadata(&self) -> &ParquetMetaData {
        self.0.metadata()
    }

    fn num_row_groups(&self) -> usize {
        self.0.num_row_groups()
    }

    fn get_row_group(&self, number: usize) -> Result<Box<dyn RowGroupReader + '_>> {
        Ok(Box::new(Group(self.0.get_row_group(number)?)))
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_file(projection, self)
    }
}

/// A group of rows.
struct Group<'a>(Box<dyn RowGroupReader + 'a>);

impl RowGroupReader for Group<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.0.metadata()
    }

    fn num_columns(&self) -> usize {
        self.0.num_columns()
    }

    fn get_column_page_reader(&self, column: usize) -> Result<Box<dyn PageReader>> {
        Ok(Box::new(Pages(self.0.get_column_page_reader(column)?)))
    }

    fn get_column_bloom_filter(&self, column: usize) -> Option<&Sbbf> {
        self.0.get_column_bloom_filter(column)
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// The pages of a column.
struct Pages(Box<dyn PageReader>);

impl Pages {
    fn checked(page: Page) -> Result<Page> {
        match &page {
            // Every value takes at least one byte.
            Page::DictionaryPage { buf, num_values, .. } if *num_values as usize > buf.len() => {
                let size = buf.len();
                let problem = format!("a dictionary of {size} bytes claims {num_values} values");
                Err(ParquetError::General(problem))
            }
            _ => Ok(page),
        }
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.0.get_next_page()?.map(Self::checked).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
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
