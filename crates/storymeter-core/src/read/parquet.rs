//! Reads Parquet files: one row per story, with the fields of the JSONL layout as columns, under
//! their usual names or those that the user gives.
//!
//! Columns such as `human.NAME` have ratings. Other columns are not read. Lists, groups
//! and maps become lists and objects of JSON, so `reference` may be a list and `human` a group of
//! lists.
//!
//! Such a file is read from its end, so a stream is put aside in a temporary file first.

mod checked;
mod compact;
mod lists;
mod pages;
mod strict;

use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::{Map, Value};

pub(super) use self::checked::{CheckedRows, Wrong};
pub(super) use self::compact::check_schema;
pub(super) use self::strict::StrictFile;
use super::aside;
use super::names::{FieldNames, rated};
use super::raw::Body;
use super::rows::RowFields;
use super::shown::shortened;
use super::source::{PARQUET_MAGIC, Source};
use crate::file::Temporary;
use crate::{Error, Place, Result};

/// The rows of a file.
pub(super) struct Rows {
    rows: CheckedRows,
    /// The number of rows given so far. Errors show the 1-based number of a row as its line.
    number: u64,
    ended: bool,
    /// The copy of a stream.
    _copy: Option<Temporary>,
}

impl Rows {
    /// Opens a file and finds the columns. A row may have at most `max` bytes.
    pub fn open(source: Source, path: &Path, names: &FieldNames, max: usize) -> Result<Self> {
        let (file, copy) = file_of(source, path)?;
        let rows = guarded(|| rows_of(file, path, names, max)).unwrap_or_else(|| {
            let problem = "not valid Parquet: its parts contradict each other";
            Err(Error::invalid(Place::file(path), problem))
        })?;
        Ok(Self { rows, number: 0, ended: false, _copy: copy })
    }

    /// The next row and its number.
    pub fn next(&mut self) -> Option<(u64, Body)> {
        if self.ended {
            return None;
        }
        self.number += 1;
        let problem = match self.rows.next() {
            None => return None,
            Some(Ok(row)) => return Some((self.number, Body::Row(object(row)))),
            Some(Err(Wrong::Row(problem))) => return Some((self.number, Body::Broken(problem))),
            Some(Err(Wrong::File(problem))) => problem,
        };
        self.ended = true;
        let problem = format!("this row and those after it cannot be read: {problem}");
        Some((self.number, Body::Broken(problem)))
    }
}

/// The file that can be read from any position, and its temporary copy if it had to be copied.
pub(super) fn file_of(source: Source, path: &Path) -> Result<(File, Option<Temporary>)> {
    let place = Place::file(path);
    if !source.start.starts_with(PARQUET_MAGIC) {
        let problem = "not valid Parquet: the file does not begin with \"PAR1\"";
        return Err(Error::invalid(place, problem));
    }
    if let Some(packed) = source.packed {
        let problem = format!(
            "Parquet is not read from {packed}, because it is compressed already; unpack the \
             file"
        );
        return Err(Error::invalid(place, problem));
    }
    let (file, copy) = match source.file.clone() {
        Some(file) => (file, None),
        None => {
            let copy = aside::copy(source.into_stream(), path, u64::MAX, u64::MAX)?;
            (copy.path().to_owned(), Some(copy))
        }
    };
    let file = File::open(file).map_err(|e| Error::io(place, e))?;
    Ok((file, copy))
}

/// The rows of a file, with the columns that are read.
fn rows_of(file: File, path: &Path, names: &FieldNames, max: usize) -> Result<CheckedRows> {
    let broken = |e: ParquetError| {
        Error::invalid(Place::file(path), format!("not valid Parquet: {}", message(&e)))
    };
    let reader = StrictFile::new(file).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
    let columns = schema.get_fields();
    let there: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    RowFields::find(&there, names, "column", Place::file(path))?;
    let is_read = |name: &str| names.find(name).is_some() || rated(name).is_some();
    let wanted = columns.iter().filter(|it| is_read(it.name())).map(Arc::clone).collect();
    let projection = Type::group_type_builder(schema.name()).with_fields(wanted).build();
    projection.and_then(|projection| CheckedRows::new(reader, projection, max)).map_err(broken)
}

/// Does some work of the parquet crate, which panics at some damaged files; `None` if it did.
/// Nothing that was under way is used afterwards.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    GUARDED.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(false);
    done.ok()
}

thread_local! {
    /// Whether a panic of this thread is caught and reported as an error.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be caught and become an error of a damaged file, so that a
/// program need not print it ([`panic::set_hook`]).
pub fn catches_panics() -> bool {
    GUARDED.get()
}

/// What is wrong, in a few lines at most.
pub(super) fn message(e: &ParquetError) -> String {
    shortened(&e.to_string(), 200).into_owned()
}

fn object(row: Row) -> Value {
    let cells = row.into_columns().into_iter();
    Value::Object(cells.map(|(name, field)| (name, value(field))).collect::<Map<_, _>>())
}

/// The same value in JSON. A type that JSON lacks becomes a text, which an error can show.
pub(super) fn value(field: Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(truth) => Value::Bool(truth),
        Field::Byte(number) => Value::from(number),
        Field::Short(number) => Value::from(number),
        Field::Int(number) => Value::from(number),
        Field::Long(number) => Value::from(number),
        Field::UByte(number) => Value::from(number),
        Field::UShort(number) => Value::from(number),
        Field::UInt(number) => Value::from(number),
        Field::ULong(number) => Value::from(number),
        // NaN becomes null, which is a missing rating.
        Field::Float(number) => Value::from(number),
        Field::Double(number) => Value::from(number),
        Field::Str(text) => Value::String(text),
        Field::Group(row) => object(row),
        Field::ListInternal(list) => list.elements().iter().cloned().map(value).collect(),
        Field::MapInternal(map) => {
            let key = |field: &Field| match field {
                Field::Str(text) => text.clone(),
                other => other.to_string(),
            };
            let entries = map.entries().iter();
            Value::Object(entries.map(|(name, field)| (key(name), value(field.clone()))).collect())
        }
        other => Value::String(other.to_string()),
    }
}
