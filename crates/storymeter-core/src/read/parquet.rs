//! Reads Parquet files: one row per story, with the fields of the JSONL layout as columns.
//!
//! Other columns are not read. Lists, groups and maps become lists and objects of JSON, so
//! `reference` may be a list and `human` a group of lists.
//!
//! Such a file is read from its end, so a stream is put aside in a temporary file first.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::{Map, Value};

use super::raw::Body;
use super::shown::{listed, shortened};
use super::source::{PARQUET_MAGIC, Source};
use super::{aside, jsonl};
use crate::file::Temporary;
use crate::{Error, Place, Result};

/// The rows of a file.
pub(super) struct Rows {
    rows: RowIter<'static>,
    /// The number of rows given so far. Errors show the 1-based number of a row as its line.
    number: u64,
    ended: bool,
    /// The copy of a stream.
    _copy: Option<Temporary>,
}

impl Rows {
    /// Opens a file and finds the columns.
    pub fn open(source: Source, path: &Path) -> Result<Self> {
        let place = Place::file(path);
        let broken = |e: ParquetError| {
            Error::invalid(Place::file(path), format!("not valid Parquet: {}", message(&e)))
        };
        if !source.start.starts_with(PARQUET_MAGIC) {
            let problem = "not valid Parquet: the file does not begin with \"PAR1\"";
            return Err(Error::invalid(place, problem));
        }
        if source.unpacked {
            let problem = "Parquet is not read from gzip, because it is compressed already; unpack \
                           the file";
            return Err(Error::invalid(place, problem));
        }
        let (file, copy) = match source.file.clone() {
            Some(file) => (file, None),
            None => {
                let copy = aside::copy(source.into_stream(), path, u64::MAX, u64::MAX)?;
                (copy.path().to_owned(), Some(copy))
            }
        };
        let file = File::open(file).map_err(|e| Error::io(place.clone(), e))?;
        let reader = SerializedFileReader::new(file).map_err(broken)?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
        let names: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
        if !names.contains(&"story") {
            let problem =
                format!("there is no column \"story\"; the columns are: {}", listed(&names));
            return Err(Error::invalid(place, problem));
        }
        let wanted = schema
            .get_fields()
            .iter()
            .filter(|field| jsonl::is_field(field.name()))
            .map(Arc::clone);
        let projection =
            Type::group_type_builder(schema.name()).with_fields(wanted.collect()).build();
        let rows = projection
            .and_then(|projection| {
                RowIter::from_file_into(Box::new(reader)).project(Some(projection))
            })
            .map_err(broken)?;
        Ok(Self { rows, number: 0, ended: false, _copy: copy })
    }

    /// The next row and its number.
    pub fn next(&mut self) -> Option<(u64, Body)> {
        if self.ended {
            return None;
        }
        self.number += 1;
        let body = match self.rows.next()? {
            Ok(row) => Body::Row(object(&row)),
            Err(e) => {
                self.ended = true;
                Body::Broken(format!("this row and those after it cannot be read: {}", message(&e)))
            }
        };
        Some((self.number, body))
    }
}

/// What is wrong, in a few lines at most.
fn message(e: &ParquetError) -> String {
    shortened(&e.to_string(), 200).into_owned()
}

fn object(row: &Row) -> Value {
    Value::Object(
        row.get_column_iter()
            .map(|(name, field)| (name.clone(), value(field)))
            .collect::<Map<_, _>>(),
    )
}

/// The same value in JSON. A type that JSON lacks becomes a text, which an error can show.
fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(truth) => Value::Bool(*truth),
        Field::Byte(number) => Value::from(*number),
        Field::Short(number) => Value::from(*number),
        Field::Int(number) => Value::from(*number),
        Field::Long(number) => Value::from(*number),
        Field::UByte(number) => Value::from(*number),
        Field::UShort(number) => Value::from(*number),
        Field::UInt(number) => Value::from(*number),
        Field::ULong(number) => Value::from(*number),
        // NaN becomes null, which is a missing rating.
        Field::Float(number) => Value::from(*number),
        Field::Double(number) => Value::from(*number),
        Field::Str(text) => Value::String(text.clone()),
        Field::Group(row) => object(row),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::MapInternal(map) => {
            let key = |field: &Field| match field {
                Field::Str(text) => text.clone(),
                other => other.to_string(),
            };
            Value::Object(
                map.entries().iter().map(|(name, field)| (key(name), value(field))).collect(),
            )
        }
        other => Value::String(other.to_string()),
    }
}
