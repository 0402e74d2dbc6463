//! Parquet: a row is a story, the columns are the fields of the JSONL form.
//!
//! Only the columns that mean something here are read. Lists, groups and maps are what lists and objects are in
//! JSON, so `reference` may be a list and `human` a group of lists.

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

use super::jsonl;
use super::raw::Body;
use crate::{Error, Place, Result};

/// The rows of a file, as records.
pub(super) struct Rows {
    rows: RowIter<'static>,
    /// Rows given so far; a row's 1-based number stands for its line.
    number: u64,
    ended: bool,
}

impl Rows {
    /// Opens a file and finds the columns.
    pub fn open(path: &Path) -> Result<Self> {
        let place = Place::file(path);
        if path == Path::new("-") {
            return Err(Error::invalid(
                place,
                "Parquet is read from its end, so it must be a file",
            ));
        }
        let broken =
            |e: ParquetError| Error::invalid(Place::file(path), format!("not good Parquet: {e}"));
        let file = File::open(path).map_err(|e| Error::io(place.clone(), e))?;
        let reader = SerializedFileReader::new(file).map_err(broken)?;
        let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
        let names: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
        if !names.contains(&"story") {
            let problem = format!("no column \"story\"; the columns are: {}", names.join(", "));
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
        Ok(Self { rows, number: 0, ended: false })
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
                Body::Broken(format!("the rest cannot be read: {e}"))
            }
        };
        Some((self.number, body))
    }
}

fn object(row: &Row) -> Value {
    Value::Object(
        row.get_column_iter()
            .map(|(name, field)| (name.clone(), value(field)))
            .collect::<Map<_, _>>(),
    )
}

/// What JSON would have. A type that has no place in a story becomes its text, for the error to show.
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
        // A NaN is a rating not given, as null is in JSON.
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
