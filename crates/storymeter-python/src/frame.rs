//! Frames in and out, by the Arrow PyCapsule interface: tables of pyarrow, polars, pandas, DuckDB
//! and others lend their columns, and none of these packages is needed.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayReader, ArrayRef, Float64Array, Int64Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, downcast_dictionary_array,
};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use storymeter_core::Place;
use storymeter_core::read::{FieldNames, RowFields, RowValue, Rows};

use crate::errors;
use crate::rows::{STORIES, type_name};
use crate::work;

/// The name of a capsule that holds a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// A table whose rows are stories, or a column of stories. The columns stay where they are.
pub struct Frame {
    /// Which columns are what; `None` for a single column.
    fields: Option<RowFields>,
    /// Each is a structure with all columns, or a part of the only column.
    chunks: Vec<ArrayRef>,
    /// By chunk: the number of the row after its last one.
    ends: Vec<usize>,
}

impl Frame {
    /// Takes the columns of an object that has `__arrow_c_stream__`.
    pub fn new(frame: &Bound<'_, PyAny>, names: &FieldNames) -> PyResult<Self> {
        let py = frame.py();
        let capsule = frame.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
            PyTypeError::new_err(format!(
                "stories: __arrow_c_stream__ of the type {} returns no capsule",
                type_name(frame)
            ))
        })?;
        let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: the name of the capsule says that it holds a stream of the Arrow C interface.
        // Taking it leaves a released stream behind, which the capsule then does not release again.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
        // Some frames compute when they are read, on threads that may want the interpreter.
        let (field, chunks) = without_lock(py, move || {
            let broken = |e| PyValueError::new_err(format!("stories: {e}"));
            let reader = ArrayStreamReader::try_new(stream).map_err(broken)?;
            let field = Arc::clone(reader.field());
            let chunks = reader.collect::<Result<Vec<ArrayRef>, _>>().map_err(broken)?;
            Ok((field, chunks))
        })?;
        let fields = if let DataType::Struct(columns) = field.data_type() {
            let columns: Vec<&str> = columns.iter().map(|column| column.name().as_str()).collect();
            let place = Place::file(STORIES);
            let fields = RowFields::find(&columns, names, "column", place)
                .map_err(|error| errors::error(py, error))?;
            Some(fields)
        } else {
            None
        };
        without_lock(py, || match &fields {
            Some(fields) => chunks.iter().map(|chunk| chunk.as_struct()).try_for_each(|chunk| {
                fields.columns().try_for_each(|column| {
                    check(chunk.column(column), chunk.fields()[column].name())
                })
            }),
            None => chunks.iter().try_for_each(|chunk| check(chunk, field.name())),
        })?;
        let ends = chunks.iter().scan(0, |end, chunk| {
            *end += chunk.len();
            Some(*end)
        });
        Ok(Self { fields, ends: ends.collect(), chunks })
    }
}

/// Reads the memory of a frame without the interpreter's lock. Arrow's own code panics at some
/// frames that break its rules, such as columns that are shorter than their table.
fn without_lock<T: Send>(py: Python<'_>, read: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    let read = py.detach(|| catch_unwind(AssertUnwindSafe(read)));
    read.unwrap_or_else(|panic| {
        Err(PyValueError::new_err(format!(
            "stories: the columns of this frame do not follow the rules of Arrow ({})",
            work::panic_message(panic.as_ref())
        )))
    })
}

/// Checks that a column has a type that can be read, and that its texts are texts.
fn check(column: &ArrayRef, name: &str) -> PyResult<()> {
    if !is_readable(column.data_type()) {
        return Err(PyTypeError::new_err(format!(
            "stories: the column \"{name}\" has the Arrow type {}, and not one of texts, numbers, \
             lists or structures",
            column.data_type()
        )));
    }
    // Frames are believed where their memory is, but texts that are not UTF-8 would break Rust.
    column
        .to_data()
        .validate_full()
        .map_err(|e| PyValueError::new_err(format!("stories: the column \"{name}\": {e}")))
}

fn is_readable(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null
        | DataType::Boolean
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View => true,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => true,
        DataType::Dictionary(_, values) => is_readable(values),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => is_readable(field.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| is_readable(field.data_type())),
        other => other.is_integer(),
    }
}

impl Rows for Frame {
    fn count(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn row(&self, at: usize) -> RowValue {
        let chunk = self.ends.partition_point(|end| *end <= at);
        let begin = if chunk == 0 { 0 } else { self.ends[chunk - 1] };
        let (chunk, at) = (&self.chunks[chunk], at - begin);
        match &self.fields {
            // The columns have any values in a row that is null as a whole.
            Some(fields) if chunk.is_valid(at) => {
                let columns = chunk.as_struct().columns();
                fields.record(|column| json(&columns[column], at))
            }
            Some(_) => RowValue::default(),
            None => json(chunk, at),
        }
    }
}

/// A value of a column in JSON.
fn json(column: &dyn Array, at: usize) -> RowValue {
    if column.is_null(at) {
        return RowValue::default();
    }
    macro_rules! integer {
        ($kind:ty, $wide:ty) => {
            RowValue::from(<$wide>::from(column.as_primitive::<$kind>().value(at)))
        };
    }
    let list =
        |values: ArrayRef| -> RowValue { (0..values.len()).map(|at| json(&values, at)).collect() };
    match column.data_type() {
        DataType::Boolean => RowValue::from(column.as_boolean().value(at)),
        DataType::Utf8 => RowValue::from(column.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => RowValue::from(column.as_string::<i64>().value(at)),
        DataType::Utf8View => RowValue::from(column.as_string_view().value(at)),
        DataType::Int8 => integer!(Int8Type, i64),
        DataType::Int16 => integer!(Int16Type, i64),
        DataType::Int32 => integer!(Int32Type, i64),
        DataType::Int64 => integer!(Int64Type, i64),
        DataType::UInt8 => integer!(UInt8Type, u64),
        DataType::UInt16 => integer!(UInt16Type, u64),
        DataType::UInt32 => integer!(UInt32Type, u64),
        DataType::UInt64 => integer!(UInt64Type, u64),
        DataType::Float16 => {
            RowValue::from(column.as_primitive::<Float16Type>().value(at).to_f64())
        }
        DataType::Float32 => {
            RowValue::from(f64::from(column.as_primitive::<Float32Type>().value(at)))
        }
        DataType::Float64 => RowValue::from(column.as_primitive::<Float64Type>().value(at)),
        DataType::List(_) => list(column.as_list::<i32>().value(at)),
        DataType::LargeList(_) => list(column.as_list::<i64>().value(at)),
        DataType::FixedSizeList(..) => list(column.as_fixed_size_list().value(at)),
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(column.as_struct().columns());
            columns.map(|(field, values)| (field.name().clone(), json(values, at))).collect()
        }
        DataType::Map(..) => {
            let entries = column.as_map().value(at);
            let [names, values] = entries.columns() else { return RowValue::default() };
            let field = |at: usize| (json(names, at).into_text(), json(values, at));
            (0..entries.len()).map(field).collect()
        }
        DataType::Dictionary(..) => downcast_dictionary_array!(
            column => column.key(at).map_or(RowValue::default(), |key| json(column.values(), key)),
            _ => RowValue::default()
        ),
        _ => RowValue::default(),
    }
}

/// A capsule with a table of one batch.
pub fn stream<'py>(
    py: Python<'py>,
    columns: Vec<(String, OutColumn)>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let field =
        |(name, column): &(String, OutColumn)| Field::new(name, column.0.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays: Vec<ArrayRef> = columns.into_iter().map(|(_, column)| column.0).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}

/// A column that goes out.
pub struct OutColumn(ArrayRef);

impl OutColumn {
    /// Texts, some of which may be missing.
    pub fn texts<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Self {
        Self(Arc::new(texts.collect::<LargeStringArray>()))
    }

    /// Counts, some of which may be missing.
    pub fn counts(counts: impl Iterator<Item = Option<u64>>) -> Self {
        let counts = counts.map(|count| count.and_then(|count| i64::try_from(count).ok()));
        Self(Arc::new(counts.collect::<Int64Array>()))
    }

    /// Numbers, some of which may be missing.
    pub fn numbers(numbers: impl Iterator<Item = Option<f64>>) -> Self {
        Self(Arc::new(numbers.collect::<Float64Array>()))
    }
}
