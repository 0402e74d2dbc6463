//! The rows of a file, one after the other. None is lost, and none is larger than it may be.

use std::sync::Arc;

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};

use super::lists::ListColumn;
use super::strict::StrictFile;
use super::{guarded, message};

/// How many rows of a column are unpacked at once. Values that repeat the beginning of the one
/// before them are copied then.
const ROWS_AT_ONCE: usize = 64;

/// The rows of a file, with the columns of a projection.
pub(in crate::read) struct CheckedRows {
    file: StrictFile,
    projection: SchemaDescPtr,
    /// The number of row groups that were begun.
    groups: usize,
    group: Option<Group>,
    /// The most bytes that a row may have.
    max: usize,
}

/// A row group that is being read.
struct Group {
    rows: ReaderIter,
    left: u64,
    lists: Vec<ListColumn>,
}

/// Why a row cannot be read.
pub(in crate::read) enum Wrong {
    /// The row is too large. Those after it can be read.
    Row(String),
    /// The file is damaged, or the row cannot be passed over.
    File(String),
}

impl CheckedRows {
    /// Reads the columns of the projection, which are some of the file's.
    pub fn new(file: StrictFile, projection: Type, max: usize) -> Result<Self> {
        if !file.metadata().file_metadata().schema().check_contains(&projection) {
            return Err(ParquetError::General("a column is not in the schema".to_owned()));
        }
        let projection = Arc::new(SchemaDescriptor::new(Arc::new(projection)));
        Ok(Self { file, projection, groups: 0, group: None, max })
    }

    /// The next row. Nothing more can be read after [`Wrong::File`].
    pub fn next(&mut self) -> Option<std::result::Result<Row, Wrong>> {
        match guarded(|| self.next_row()) {
            None => Some(Err(Wrong::File("the parts of the file contradict each other".into()))),
            Some(Err(e)) => Some(Err(Wrong::File(message(&e)))),
            Some(Ok(row)) => row.map(|row| {
                let size = row.get_column_iter().map(|(_, field)| size(field)).sum();
                self.check_size(size).map(|()| row).map_err(Wrong::Row)
            }),
        }
    }

    fn next_row(&mut self) -> Result<Option<Row>> {
        loop {
            let Some(group) = &mut self.group else {
                if self.groups == self.file.num_row_groups() {
                    return Ok(None);
                }
                let group = self.file.get_row_group(self.groups)?;
                self.group = Some(Group::open(&*group, &self.projection)?);
                self.groups += 1;
                continue;
            };
            let mut size = 0u64;
            for list in &mut group.lists {
                match list.next()? {
                    Some(more) if group.left > 0 => size = size.saturating_add(more),
                    None if group.left == 0 => {}
                    None => return Err(other_rows("fewer")),
                    Some(_) => return Err(other_rows("more")),
                }
            }
            self.check_size(size).map_err(ParquetError::General)?;
            let Some(group) = self.group.as_mut().filter(|group| group.left > 0) else {
                self.group = None;
                continue;
            };
            group.left -= 1;
            return group.rows.next().transpose();
        }
    }

    fn check_size(&self, size: u64) -> std::result::Result<(), String> {
        if size > self.max as u64 {
            let max = self.max;
            return Err(format!("the row has {size} bytes, but at most {max} are read"));
        }
        Ok(())
    }
}

fn other_rows(how: &str) -> ParquetError {
    ParquetError::General(format!("a column of lists has {how} rows than its row group"))
}

impl Group {
    fn open(group: &dyn RowGroupReader, projection: &SchemaDescPtr) -> Result<Self> {
        let mut lists = Vec::new();
        for at in 0..group.num_columns() {
            let column = group.metadata().column(at).column_descr();
            let is_read = || projection.columns().iter().any(|read| read.path() == column.path());
            if column.max_rep_level() > 0 && is_read() {
                lists.push(ListColumn::new(group.get_column_reader(at)?, column.max_def_level()));
            }
        }
        let left = u64::try_from(group.metadata().num_rows()).unwrap_or_default();
        let tree = TreeBuilder::new().with_batch_size(ROWS_AT_ONCE);
        Ok(Self { rows: tree.as_iter(Arc::clone(projection), group)?, left, lists })
    }
}

/// The bytes of the texts in a value.
fn size(field: &Field) -> u64 {
    match field {
        Field::Str(text) => text.len() as u64,
        Field::Bytes(bytes) => bytes.len() as u64,
        Field::Group(row) => row.get_column_iter().map(|(_, field)| size(field)).sum(),
        Field::ListInternal(list) => list.elements().iter().map(size).sum(),
        Field::MapInternal(map) => {
            map.entries().iter().map(|(key, value)| size(key) + size(value)).sum()
        }
        _ => 0,
    }
}
