//! Python's values as rows of stories.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{
    PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString, PyTuple,
};
use storymeter_core::Place;
use storymeter_core::read::{
    Field, FieldNames, RowFields, RowValue, Rows, ScoreField, score_fields,
};

use crate::errors;

/// What errors call stories that are in memory.
pub const STORIES: &str = "stories";

/// Texts that are one story each. They stay in Python's memory; a story is copied when it is read.
pub struct Texts(Vec<Option<PyBackedStr>>);

impl Texts {
    /// Takes a list of texts. `None` and NaN are stories that are not there.
    pub fn new(texts: &Bound<'_, PyList>, argument: &str) -> PyResult<Self> {
        let text = |(at, item): (usize, Bound<'_, PyAny>)| {
            if is_missing(&item) {
                return Ok(None);
            }
            let wrong = |error: PyErr| match item.is_instance_of::<PyString>() {
                // A text with half of a surrogate pair is no Unicode text.
                true => PyValueError::new_err(format!("{argument}[{at}]: {error}")),
                false => PyTypeError::new_err(format!(
                    "{argument}[{at}] is a text in the other places, and here it is of the type {}",
                    type_name(&item)
                )),
            };
            item.extract::<PyBackedStr>().map(Some).map_err(wrong)
        };
        texts.iter().enumerate().map(text).collect::<PyResult<_>>().map(Self)
    }
}

impl Rows for Texts {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn row(&self, at: usize) -> RowValue {
        self.0[at].as_ref().map_or_else(RowValue::default, |text| RowValue::from(&**text))
    }
}

/// Records with fields: dictionaries in Python.
pub fn records(records: &Bound<'_, PyList>, names: &FieldNames) -> PyResult<Vec<RowValue>> {
    let py = records.py();
    let mut known: Option<(Vec<String>, RowFields)> = None;
    let mut rows = Vec::with_capacity(records.len());
    for (at, item) in records.iter().enumerate() {
        let record = item.cast::<PyMapping>().map_err(|_| {
            PyTypeError::new_err(format!(
                "stories[{at}] is a dictionary in the other places, and here it is of the type {}",
                type_name(&item)
            ))
        })?;
        let mut keys = Vec::new();
        let mut values = Vec::new();
        for pair in record.items()?.iter() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            // A key that is no text is no name of a field.
            if let Ok(key) = key.extract::<String>() {
                keys.push(key);
                values.push(value);
            }
        }
        // Usually all records have the same fields.
        if known.as_ref().is_none_or(|(last, _)| *last != keys) {
            let place = Place::file(STORIES).at_line(at as u64 + 1);
            let fields = RowFields::find(&keys, names, "field", place)
                .map_err(|error| errors::error(py, error))?;
            known = Some((keys, fields));
        }
        let Some((keys, fields)) = &known else { continue };
        let mut failed = None;
        let row = fields.record(|column| {
            let name = || format!("stories[{at}][{:?}]", keys[column]);
            json(&values[column], &name, 0).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                RowValue::default()
            })
        });
        match failed {
            Some(error) => return Err(error),
            None => rows.push(row),
        }
    }
    Ok(rows)
}

/// Which columns of a table are read, by position.
#[pyfunction]
pub fn story_columns(
    py: Python<'_>,
    columns: Vec<String>,
    names: Vec<(String, String)>,
) -> PyResult<Vec<usize>> {
    let names = field_names(&names)?;
    let fields = RowFields::find(&columns, &names, "column", Place::file(STORIES))
        .map_err(|error| errors::error(py, error))?;
    Ok(fields.columns().collect())
}

/// What the columns of a table of scores hold: the name of a field of stories, `human/CRITERION`,
/// `words`, `flags`, `score`, or nothing.
#[pyfunction]
pub fn score_columns(py: Python<'_>, columns: Vec<String>) -> PyResult<Vec<String>> {
    let fields =
        score_fields(&columns, &Place::file("scores")).map_err(|error| errors::error(py, error))?;
    let named = |field| match field {
        ScoreField::Story(field) => field.names()[0].to_owned(),
        ScoreField::Ratings(criterion) => format!("human/{criterion}"),
        ScoreField::Words => "words".to_owned(),
        ScoreField::Flags => "flags".to_owned(),
        ScoreField::Score => "score".to_owned(),
        ScoreField::PassedOver => String::new(),
    };
    Ok(fields.into_iter().map(named).collect())
}

/// The names that the user gives to fields.
pub fn field_names(columns: &[(String, String)]) -> PyResult<FieldNames> {
    let mut names = FieldNames::default();
    for (typed, name) in columns {
        let field = Field::ALL.into_iter().find(|field| field.names()[0] == typed);
        let Some(given) = field.and_then(|field| names.given_mut(field)) else {
            let can_be_named = |field: &Field| names.given_mut(*field).is_some();
            let known = Field::ALL.into_iter().filter(can_be_named).map(|field| field.names()[0]);
            return Err(PyValueError::new_err(format!(
                "columns: there is no field \"{typed}\"; there are: {}",
                known.collect::<Vec<_>>().join(", ")
            )));
        };
        *given = Some(name.clone());
    }
    Ok(names)
}

/// Columns of Python's values, all of the same length.
pub struct Columns {
    fields: RowFields,
    columns: Vec<Cells>,
    count: usize,
}

/// One column.
enum Cells {
    Texts(Texts),
    Values(Vec<RowValue>),
}

impl Columns {
    /// Takes a list of pairs of a name and a list.
    pub fn new(columns: &Bound<'_, PyList>, names: &FieldNames) -> PyResult<Self> {
        let py = columns.py();
        let mut keys: Vec<String> = Vec::with_capacity(columns.len());
        let mut cells = Vec::with_capacity(columns.len());
        let mut count = None;
        for pair in columns.iter() {
            let (name, list): (String, Bound<'_, PyList>) = pair.extract()?;
            let first = *count.get_or_insert(list.len());
            if list.len() != first {
                let problem = format!(
                    "this column has {} values, and the column \"{}\" has {first}",
                    list.len(),
                    keys[0]
                );
                let place = Place::file(STORIES).in_field(&name);
                return Err(errors::error(py, storymeter_core::Error::invalid(place, problem)));
            }
            let is_text =
                |value: &Bound<'_, PyAny>| value.is_instance_of::<PyString>() || is_missing(value);
            cells.push(if list.iter().all(|value| is_text(&value)) {
                Cells::Texts(Texts::new(&list, &name)?)
            } else {
                let value = |(at, value): (usize, Bound<'_, PyAny>)| {
                    json(&value, &|| format!("stories[{name:?}][{at}]"), 0)
                };
                Cells::Values(list.iter().enumerate().map(value).collect::<PyResult<_>>()?)
            });
            keys.push(name);
        }
        let fields = RowFields::find(&keys, names, "column", Place::file(STORIES))
            .map_err(|error| errors::error(py, error))?;
        Ok(Self { fields, columns: cells, count: count.unwrap_or(0) })
    }
}

impl Rows for Columns {
    fn count(&self) -> usize {
        self.count
    }

    fn row(&self, at: usize) -> RowValue {
        self.fields.record(|column| match &self.columns[column] {
            Cells::Texts(texts) => texts.row(at),
            Cells::Values(values) => values[at].clone(),
        })
    }
}

/// The value of a Python object. `name` says what it is.
fn json(value: &Bound<'_, PyAny>, name: &dyn Fn() -> String, depth: usize) -> PyResult<RowValue> {
    if is_missing(value) {
        return Ok(RowValue::default());
    }
    if depth > 8 {
        return Err(PyValueError::new_err(format!("{} is nested too deeply", name())));
    }
    if let Ok(text) = value.cast::<PyString>() {
        // A text with half of a surrogate pair is no Unicode text.
        let text = text.to_str().map_err(|e| PyValueError::new_err(format!("{}: {e}", name())))?;
        return Ok(RowValue::from(text));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(RowValue::from(value.extract::<bool>()?));
    }
    if value.is_instance_of::<PyInt>() {
        let integer = value.extract::<i64>().map(RowValue::from);
        return integer.or_else(|_| value.extract::<u64>().map(RowValue::from)).map_err(|_| {
            PyValueError::new_err(format!("{} is an integer that is too large", name()))
        });
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(RowValue::from(value.extract::<f64>()?));
    }
    if let Ok(map) = value.cast::<PyDict>() {
        let field = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let inner = || format!("{}[{key:?}]", name());
            Ok((key.str()?.to_str()?.to_owned(), json(&value, &inner, depth + 1)?))
        };
        return map.iter().map(field).collect();
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let list = value.cast::<PySequence>()?;
        let items = list.try_iter()?.map(|item| json(&item?, name, depth + 1));
        return items.collect();
    }
    // Numbers and arrays of numpy turn themselves into Python's.
    for method in ["tolist", "as_py"] {
        if let Ok(plain) = value.call_method0(method) {
            return json(&plain, name, depth + 1);
        }
    }
    Err(PyTypeError::new_err(format!(
        "{} is of the type {}, and not a text, a number, a list or a dictionary",
        name(),
        type_name(value)
    )))
}

/// Whether a value stands for no value: `None`, NaN, or the `NA` of pandas.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    if value.is_none() {
        return true;
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return number.extract::<f64>().is_ok_and(f64::is_nan);
    }
    matches!(type_name(value).as_str(), "NAType" | "NaTType")
}

/// The name of the type of a value.
pub fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

/// Rows with references that were given beside them, in the same order.
pub struct WithReferences {
    rows: Arc<dyn Rows>,
    references: Vec<Vec<String>>,
}

impl WithReferences {
    /// Adds references to rows.
    pub fn new(
        py: Python<'_>,
        rows: Arc<dyn Rows>,
        references: Vec<Vec<String>>,
    ) -> PyResult<Self> {
        if rows.count() != references.len() {
            let error = storymeter::Error::Lengths {
                what_first: "stories",
                first: rows.count(),
                what_second: "lists of references",
                second: references.len(),
            };
            return Err(errors::error(py, error));
        }
        Ok(Self { rows, references })
    }
}

impl Rows for WithReferences {
    fn count(&self) -> usize {
        self.rows.count()
    }

    fn row(&self, at: usize) -> RowValue {
        self.rows.row(at).with_references(&self.references[at])
    }
}
