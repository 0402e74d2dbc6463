//! Stories that are in memory as rows: the records of a program, or the rows of its table.
//!
//! A row is a value of JSON: a text, which is the story, or an object with the fields of the JSONL
//! layout. [`RowFields`] makes such objects of the columns of a table, under the names that files
//! have too.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::names::{Field, FieldNames, FieldUse, UsedNames, criterion};
use crate::{Error, Place, Result};

/// Rows that can be gone through several times.
///
/// ```
/// use std::sync::Arc;
/// use storymeter_core::read::{RawRecords, ReadOptions, Rows};
/// let rows: Vec<serde_json::Value> = vec!["A door opened.".into(), "A cat came in.".into()];
/// let rows: Arc<dyn Rows> = Arc::new(rows);
/// let records = RawRecords::from_rows("stories", &rows, &ReadOptions::default());
/// let ids: Vec<String> = records.map(|raw| raw.unwrap().parse().unwrap().story.id).collect();
/// assert_eq!(ids, ["0", "1"]);
/// ```
pub trait Rows: Send + Sync {
    /// The number of rows.
    fn count(&self) -> usize;

    /// The row at a position. It is called on the thread that reads.
    fn row(&self, at: usize) -> Value;
}

impl Rows for Vec<Value> {
    fn count(&self) -> usize {
        self.len()
    }

    fn row(&self, at: usize) -> Value {
        self[at].clone()
    }
}

/// Which columns of a table are the fields of a story.
///
/// A column `human.NAME` or `human/NAME` holds the ratings on the criterion NAME.
///
/// ```
/// use serde_json::json;
/// use storymeter_core::Place;
/// use storymeter_core::read::{FieldNames, RowFields};
/// let columns = ["mood", "output", "model", "human.plot"];
/// let fields = RowFields::find(&columns, &FieldNames::default(), "column", Place::default())?;
/// assert_eq!(fields.columns().collect::<Vec<_>>(), [1, 2, 3]);
/// let row = [json!("?"), json!("Rain fell."), json!("a"), json!(3)];
/// let record = json!({"story": "Rain fell.", "system": "a", "human": {"plot": 3}});
/// assert_eq!(fields.record(|at| row[at].clone()), record);
/// # Ok::<(), storymeter_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFields {
    fields: Vec<(usize, Field)>,
    /// Columns of ratings, with their criteria.
    criteria: Vec<(usize, String)>,
    used: UsedNames,
    names: FieldNames,
}

impl RowFields {
    /// Finds the fields among the names of columns. Errors call such a thing `what`: "column" or
    /// "field".
    ///
    /// # Errors
    /// If there is no column of stories, none of a name that the user gives, or two of one name.
    pub fn find(
        columns: &[impl AsRef<str>],
        names: &FieldNames,
        what: &'static str,
        place: Place,
    ) -> Result<Self> {
        let mut used = UsedNames::default();
        let mut fields = Vec::new();
        for field in Field::ALL {
            let mut found: Vec<(u8, u8, usize)> = Vec::new();
            for (at, name) in columns.iter().enumerate() {
                let candidate = names.find(name.as_ref()).filter(|it| it.field == field);
                found.extend(candidate.map(|it| (it.rank, it.position(), at)));
            }
            found.sort_unstable();
            let needed = field == Field::Story || names.given(field).is_some();
            match found[..] {
                [] if needed => {
                    let there = columns.iter().map(|name| name.as_ref().to_owned()).collect();
                    return Err(names.missing(field, what, place, there));
                }
                [] => {}
                [(rank, _, at), (other, ..), ..] if rank == other => {
                    let place = place.in_field(super::shown::cut(columns[at].as_ref()));
                    return Err(Error::invalid(
                        place,
                        format!("there are two {what}s of this name"),
                    ));
                }
                [(_, position, at), ref others @ ..] => {
                    used.take(field, position);
                    others.iter().for_each(|&(_, other, _)| used.pass_over(field, other));
                    fields.push((at, field));
                }
            }
        }
        let criteria: Vec<(usize, String)> = (0..)
            .zip(columns)
            .filter(|(_, name)| names.find(name.as_ref()).is_none())
            .filter_map(|(at, name)| Some((at, criterion(name.as_ref())?.to_owned())))
            .collect();
        let rated = fields.iter().any(|&(_, field)| field == Field::Ratings);
        let mut seen = HashSet::new();
        for (at, criterion) in &criteria {
            let problem = match (rated, seen.insert(criterion.as_str())) {
                (true, _) => format!("there is also a {what} with all ratings; keep one of them"),
                (_, false) => format!("there are two {what}s of ratings on this criterion"),
                _ => continue,
            };
            let place = place.in_field(super::shown::cut(columns[*at].as_ref()));
            return Err(Error::invalid(place, problem));
        }
        Ok(Self { fields, criteria, used, names: names.clone() })
    }

    /// The positions of the columns that are read.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        let fields = self.fields.iter().map(|&(at, _)| at);
        fields.chain(self.criteria.iter().map(|&(at, _)| at))
    }

    /// The names of fields that are worth a word.
    pub fn uses(&self) -> Vec<FieldUse> {
        self.used.remarkable(&self.names)
    }

    /// The record of a row, under the standard names, given the values of its columns.
    pub fn record(&self, mut value: impl FnMut(usize) -> Value) -> Value {
        let mut record = Map::with_capacity(self.fields.len() + 1);
        for &(at, field) in &self.fields {
            record.insert(field.names()[0].to_owned(), value(at));
        }
        if !self.criteria.is_empty() {
            let rating = |(at, criterion): &(usize, String)| (criterion.clone(), value(*at));
            let ratings: Map<String, Value> = self.criteria.iter().map(rating).collect();
            record.insert(Field::Ratings.names()[0].to_owned(), Value::Object(ratings));
        }
        Value::Object(record)
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
        assert_eq!(
            error(&["tale", "id"], tale),
            "stories: there is no column \"Tale\"; did you mean \"tale\"? The columns are: tale, id"
        );
        assert_eq!(
            error(&["story", "id", "story"], FieldNames::default()),
            "stories: field \"story\": there are two columns of this name"
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
