//! Stories that are in memory as rows: the records of a program, or the rows of its table.
//!
//! A row is a [`RowValue`]: a text, which is the story, or an object with the fields of the JSONL
//! layout. [`RowFields`] makes such objects of the columns of a table, under the names that files
//! have too.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::fields::problem;
use super::names::{Field, FieldNames, FieldUse, UsedNames, rated};
use super::shown::cut;
use crate::{Error, Place, Result};

/// Rows that can be gone through several times.
///
/// ```
/// use std::sync::Arc;
/// use storymeter_core::read::{RawRecords, ReadOptions, RowValue, Rows};
/// let rows: Vec<RowValue> = vec!["A door opened.".into(), "A cat came in.".into()];
/// let rows: Arc<dyn Rows> = Arc::new(rows);
/// let records = RawRecords::from_rows("stories", &rows, &ReadOptions::default());
/// let ids: Vec<String> = records.map(|raw| raw.unwrap().parse().unwrap().story.id).collect();
/// assert_eq!(ids, ["0", "1"]);
/// ```
pub trait Rows: Send + Sync {
    /// The number of rows.
    fn count(&self) -> usize;

    /// The row at a position. It is called on the thread that reads.
    fn row(&self, at: usize) -> RowValue;
}

impl Rows for Vec<RowValue> {
    fn count(&self) -> usize {
        self.len()
    }

    fn row(&self, at: usize) -> RowValue {
        self[at].clone()
    }
}

/// A row, or the value of a field in it: a text, a number, a list, an object with fields, or
/// nothing, which is the default.
///
/// ```
/// use storymeter_core::read::RowValue;
/// let fields = [("story", RowValue::from("Rain fell.")), ("human.fun", RowValue::from(4.5))];
/// let row: RowValue = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
/// assert_eq!(row, RowValue::parse(r#"{"story": "Rain fell.", "human.fun": 4.5}"#)?);
/// # Ok::<(), storymeter_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowValue(pub(super) Value);

impl RowValue {
    /// The value of a text in JSON.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON.
    pub fn parse(json: &str) -> Result<Self> {
        let wrong = |e: serde_json::Error| Error::invalid(Place::default(), problem(&e));
        serde_json::from_str(json).map(Self).map_err(wrong)
    }

    /// The text, or any other value as JSON.
    pub fn into_text(self) -> String {
        match self.0 {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// The row with further references after its own ones.
    #[must_use]
    pub fn with_references(self, texts: &[String]) -> Self {
        let mut record = match self.0 {
            Value::Object(record) => record,
            story => Map::from_iter([(Field::Story.names()[0].to_owned(), story)]),
        };
        let own = record.remove(Field::Reference.names()[0]);
        let mut all = match own {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(texts)) => texts,
            Some(text) => vec![text],
        };
        all.extend(texts.iter().map(|text| Value::String(text.clone())));
        record.insert(Field::Reference.names()[0].to_owned(), Value::Array(all));
        Self(Value::Object(record))
    }
}

macro_rules! row_values {
    ($($kind:ty),*) => {$(
        impl From<$kind> for RowValue {
            fn from(value: $kind) -> Self {
                Self(Value::from(value))
            }
        }
    )*};
}

row_values!(bool, i64, u64, &str, String);

/// NaN is nothing. Infinity becomes a text, because JSON has none, and so the record is a bad one.
impl From<f64> for RowValue {
    fn from(number: f64) -> Self {
        Self(match number.is_infinite() {
            true => Value::String(number.to_string()),
            false => Value::from(number),
        })
    }
}

/// A list.
impl FromIterator<Self> for RowValue {
    fn from_iter<T: IntoIterator<Item = Self>>(values: T) -> Self {
        Self(values.into_iter().map(|value| value.0).collect())
    }
}

/// An object.
impl FromIterator<(String, Self)> for RowValue {
    fn from_iter<T: IntoIterator<Item = (String, Self)>>(fields: T) -> Self {
        Self(Value::Object(fields.into_iter().map(|(name, value)| (name, value.0)).collect()))
    }
}

/// Which columns of a table are the fields of a story.
///
/// A column `human.NAME`, `human/NAME` or `human_NAME` holds the ratings on the criterion NAME.
///
/// ```
/// use storymeter_core::Place;
/// use storymeter_core::read::{FieldNames, RowFields, RowValue};
/// let columns = ["mood", "output", "model", "human.plot"];
/// let fields = RowFields::find(&columns, &FieldNames::default(), "column", Place::default())?;
/// assert_eq!(fields.columns().collect::<Vec<_>>(), [1, 2, 3]);
/// let row = ["?", "Rain fell.", "a", "3"].map(RowValue::from);
/// let record = r#"{"story": "Rain fell.", "system": "a", "human.plot": "3"}"#;
/// assert_eq!(fields.record(|at| row[at].clone()), RowValue::parse(record)?);
/// # Ok::<(), storymeter_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFields {
    fields: Vec<(usize, Field)>,
    /// Columns that may have ratings, with their names.
    ratings: Vec<(usize, String)>,
    used: UsedNames,
    names: FieldNames,
}

impl RowFields {
    /// Finds the fields among the names of columns. Errors call such a thing `what`: "column" or
    /// "field".
    ///
    /// # Errors
    /// Returns an error if there is no column of stories, none of a name that the user gives, or
    /// two of one name.
    pub fn find(
        columns: &[impl AsRef<str>],
        names: &FieldNames,
        what: &'static str,
        place: Place,
    ) -> Result<Self> {
        let found = names.among(columns, what, &place)?;
        let there = || columns.iter().map(|name| name.as_ref().to_owned()).collect();
        names.check(|field| found.column(field).is_some(), what, &place, there)?;
        let fields: Vec<(usize, Field)> = Field::ALL
            .into_iter()
            .filter_map(|field| Some((found.column(field)?, field)))
            .collect();
        let mut ratings = Vec::new();
        let mut seen = HashSet::new();
        for (at, name) in columns.iter().map(AsRef::as_ref).enumerate() {
            let Some(rated) = rated(name).filter(|_| found.fields[at].is_none()) else { continue };
            let problem = match found.column(Field::Ratings) {
                Some(_) if rated.certain => {
                    format!("there is also a {what} with all ratings; keep one of them")
                }
                _ if rated.certain && !seen.insert(rated.criterion) => {
                    format!("there are two {what}s of ratings on this criterion")
                }
                _ => {
                    ratings.push((at, name.to_owned()));
                    continue;
                }
            };
            return Err(Error::invalid(place.in_field(cut(name)), problem));
        }
        Ok(Self { fields, ratings, used: found.used, names: names.clone() })
    }

    /// The positions of the columns that are read.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        let fields = self.fields.iter().map(|&(at, _)| at);
        fields.chain(self.ratings.iter().map(|&(at, _)| at))
    }

    /// The names of fields that are worth a word.
    pub fn uses(&self) -> Vec<FieldUse> {
        self.used.remarkable(&self.names)
    }

    /// The record of a row, under the standard names, given the values of its columns.
    pub fn record(&self, mut value: impl FnMut(usize) -> RowValue) -> RowValue {
        let usual = self.fields.iter().map(|&(at, field)| (at, field.names()[0]));
        let ratings = self.ratings.iter().map(|(at, name)| (*at, name.as_str()));
        usual.chain(ratings).map(|(at, name)| (name.to_owned(), value(at))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(columns: &[&str], names: &FieldNames) -> Result<RowFields> {
        RowFields::find(columns, names, "column", Place::file("stories"))
    }

    #[test]
    fn the_more_usual_name_is_taken_and_the_other_one_is_told() {
        let fields = find(&["response", "text", "Model"], &FieldNames::default()).unwrap();
        assert_eq!(fields.columns().collect::<Vec<_>>(), [1, 2]);
        let told: Vec<String> = fields.uses().iter().map(ToString::to_string).collect();
        assert_eq!(told, ["story from \"text\" and not \"response\"", "system from \"model\""]);
    }

    #[test]
    fn what_is_missing_or_given_twice_is_an_error() {
        let error = |columns: &[&str], names| find(columns, &names).unwrap_err().to_string();
        let tale = FieldNames { story: Some("Tale".into()), ..FieldNames::default() };
        assert!(find(&["tale", "id"], &tale).is_ok());
        assert_eq!(
            error(&["tales", "id"], tale),
            "stories: there is no column \"Tale\"; did you mean \"tales\"? The columns are: \
             tales, id"
        );
        assert_eq!(
            error(&["story", "id", "STORY"], FieldNames::default()),
            "stories: field \"STORY\": columns 1 and 3 have the same name; keep one of them"
        );
        assert_eq!(
            error(&["story", "human", "human.plot"], FieldNames::default()),
            "stories: field \"human.plot\": there is also a column with all ratings; keep one of \
             them"
        );
        assert_eq!(
            error(&["story", "human/plot", "human.plot"], FieldNames::default()),
            "stories: field \"human.plot\": there are two columns of ratings on this criterion"
        );
    }
}
