//! Reads tables of scores from Parquet, as `score -o X.parquet` and as other programs write them.
//!
//! Columns are found by their names, as in CSV. A column of numbers is a score, or ratings if it is
//! called `human/CRITERION`; NaN and null are absent values. `human` may also be JSON as in JSONL,
//! or a group of numbers or lists. In files of ours, `absent` has the reasons of absent values as
//! JSON, and `words` and `flags` say what is known about the texts. Other texts are left out, and a
//! note says so.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use parquet::record::Field;
use parquet::schema::types::Type;

use super::table::{Cell, Content, OWN, Table, check_names, contents};
use super::{Lines, MAX_COLUMNS, jsonl, text_fields};
use crate::read::ReadOptions;
use crate::read::fields::{Judgments, describe};
use crate::read::names::{UsedNames, rated};
use crate::read::parquet::{
    CheckedRows, StrictFile, Wrong, check_schema, file_of, guarded, message, value,
};
use crate::read::shown::listed;
use crate::read::source::Source;
use crate::write::{ABSENT, EXPLANATION, FLAGS, HEADER_KEY, WORDS};
use crate::{Absence, Error, Header, Place, Ratings, Result, Value};

/// From this number of rows on, a file must have at least one byte per [`ROWS_PER_BYTE`] rows, so
/// that a small file that repeats one row cannot fill the memory.
const MANY_ROWS: u64 = 1 << 20;
const ROWS_PER_BYTE: u64 = 16;

/// Reads the rows, and the header that is part of the file.
pub(super) fn read(source: Source, path: &Path) -> Result<(Lines, Option<Header>)> {
    let place = Place::file(path);
    let (file, _copy) = file_of(source, path)?;
    let size = file.metadata().map_err(|e| Error::io(place.clone(), e))?.len();
    let broken =
        |problem: &str| Error::invalid(place.clone(), format!("not valid Parquet: {problem}"));
    let opened = guarded(|| StrictFile::new(file));
    let opened = opened.ok_or_else(|| broken(CONTRADICTION))?.map_err(|e| broken(&message(&e)))?;
    let about = opened.metadata().file_metadata();
    let rows = u64::try_from(about.num_rows()).unwrap_or_default();
    if rows > MANY_ROWS && rows / ROWS_PER_BYTE > size {
        let problem = format!("{size} bytes claim to be {rows} rows");
        return Err(broken(&problem));
    }
    let known = about.key_value_metadata().into_iter().flatten();
    let known = known.filter(|pair| pair.key == HEADER_KEY).find_map(|pair| pair.value.as_ref());
    let header = known.map(|text| Header::parse(text.as_bytes(), &place)).transpose()?;
    let root = about.schema_descr().root_schema_ptr();
    let (columns, left_out) = Columns::find(&root, header.is_some(), &place)?;
    let projection = Type::group_type_builder(root.name()).with_fields(columns.types.clone());
    let iterate = || {
        let projection = projection.build()?;
        CheckedRows::new(opened, projection, ReadOptions::default().max_line)
    };
    let rows = guarded(iterate).ok_or_else(|| broken(CONTRADICTION))?;
    let rows = rows.map_err(|e: ParquetError| broken(&message(&e)))?;
    let mut lines = columns.read(rows, &place)?;
    if !left_out.is_empty() {
        let names = listed(&left_out);
        let file = path.display();
        lines.notes.push(format!("{file}: columns without numbers are left out: {names}"));
    }
    Ok((lines, header))
}

const CONTRADICTION: &str = "its parts contradict each other";

/// The columns that are read.
struct Columns {
    types: Vec<Arc<Type>>,
    names: Vec<String>,
    contents: Vec<Content>,
    /// The columns of ratings and of reasons, by position.
    human: Option<usize>,
    absent: Option<usize>,
    /// The columns of words and of flags, in files of ours.
    text_fields: Option<[usize; 2]>,
    used: UsedNames,
}

impl Columns {
    /// Finds the columns, and those that are left out. `is_ours` says whether the file has a header
    /// of ours.
    fn find(root: &Type, is_ours: bool, place: &Place) -> Result<(Self, Vec<String>)> {
        let types = root.get_fields();
        if types.len() > MAX_COLUMNS {
            let problem = format!("the file has more than {MAX_COLUMNS} columns");
            return Err(Error::invalid(place.clone(), problem));
        }
        let names: Vec<String> = types.iter().map(|column| column.name().to_owned()).collect();
        check_names(&names, place)?;
        let own = names.iter().take(OWN.len()).eq(OWN);
        let (contents, used) = contents(&names, place)?;
        let mut found = Self {
            types: vec![],
            names: vec![],
            contents: vec![],
            human: None,
            absent: None,
            text_fields: None,
            used,
        };
        // In older files of ours, and in those of others, these are the names of scores.
        let says_words = is_ours && own && has_text_fields(types);
        let mut left_out = Vec::new();
        for ((column, name), content) in types.iter().zip(&names).zip(contents) {
            let is_number =
                column.is_primitive() && column.get_physical_type() != PhysicalType::BYTE_ARRAY;
            let content = match content {
                Content::Ignored => continue,
                Content::Number if says_words && name == WORDS => {
                    found.text_fields = Some([found.names.len(), found.names.len() + 1]);
                    Content::Ignored
                }
                Content::Number if says_words && name == FLAGS => Content::Ignored,
                Content::Number if is_number => Content::Number,
                Content::Number if rated(name).is_some_and(|rated| rated.criterion == name) => {
                    if found.human.replace(found.names.len()).is_some() {
                        let problem = "there are two columns of ratings; keep one of them";
                        return Err(Error::invalid(place.clone().in_field(name), problem));
                    }
                    Content::Ignored
                }
                Content::Number if own && name == ABSENT => {
                    found.absent = Some(found.names.len());
                    Content::Ignored
                }
                Content::Number if own && name == EXPLANATION => continue,
                Content::Number => {
                    left_out.push(name.clone());
                    continue;
                }
                content => content,
            };
            found.types.push(Arc::clone(column));
            found.names.push(name.clone());
            found.contents.push(content);
        }
        let has_scores = |content: &Content| matches!(content, Content::Number | Content::Value);
        if found.human.is_none() && !found.contents.iter().any(has_scores) {
            let problem =
                format!("there is no column of scores; the columns are: {}", listed(&names));
            return Err(Error::invalid(place.clone(), problem));
        }
        Ok((found, left_out))
    }

    fn read(self, mut rows: CheckedRows, place: &Place) -> Result<Lines> {
        let contents = (self.contents, self.used);
        let mut table = Table::of_labels(self.names, contents, place.clone());
        let (mut human, mut absent, mut about) = (Vec::new(), Vec::new(), Vec::new());
        for number in 1.. {
            let place = place.clone().at_line(number);
            let broken = |problem: &str| {
                let problem = format!("this row cannot be read: {problem}");
                Error::invalid(place.clone(), problem)
            };
            let Some(row) = rows.next() else { break };
            let row =
                row.map_err(|(Wrong::Row(problem) | Wrong::File(problem))| broken(&problem))?;
            let cells: Vec<_> = row.into_columns().into_iter().map(|(_, cell)| cell).collect();
            if let Some(ratings) = self.human.map(|at| ratings(&cells[at], &place)).transpose()? {
                human.push(ratings);
            }
            if let Some([words, flags]) = self.text_fields {
                about.push(about_text(&cells[words], &cells[flags], &place)?);
            }
            if let Some(Field::Str(text)) = self.absent.map(|at| &cells[at]) {
                let reasons = jsonl::reasons(text)
                    .map_err(|e| Error::invalid(place.clone().in_field(ABSENT), describe(&e)))?;
                absent.push((number as usize - 1, reasons));
            }
            table.add(&cells, place)?;
        }
        let mut lines = table.finish()?;
        // Only tables with one row per story have such columns.
        for (row, ratings) in lines.rows.iter_mut().zip(human) {
            for (criterion, values) in ratings.iter() {
                values.iter().for_each(|value| row.ratings.push(criterion, *value));
            }
        }
        for (row, (words, flags)) in lines.rows.iter_mut().zip(about) {
            (row.words, row.flags) = (words, flags);
        }
        give_reasons(&mut lines, absent.into_iter().collect());
        Ok(lines)
    }
}

/// Whether the columns of words and flags are there, where and as files of ours have them.
fn has_text_fields(types: &[Arc<Type>]) -> bool {
    let is = |at: usize, name: &str, kind: PhysicalType| {
        let column = types.get(at).filter(|column| column.is_primitive());
        column.is_some_and(|one| one.name() == name && one.get_physical_type() == kind)
    };
    is(OWN.len(), WORDS, PhysicalType::INT64) && is(OWN.len() + 1, FLAGS, PhysicalType::BYTE_ARRAY)
}

/// The number of words and the flags in the cells of a row.
fn about_text(words: &Field, flags: &Field, place: &Place) -> Result<(Option<u64>, Vec<String>)> {
    let wrong =
        |field: &str, problem: String| Error::invalid(place.clone().in_field(field), problem);
    let words = text_fields::words(&value(words.clone())).map_err(|e| wrong(WORDS, e))?;
    let flags = match flags {
        Field::Str(text) => serde_json::from_str(text).map_err(|e| wrong(FLAGS, describe(&e)))?,
        other => value(other.clone()),
    };
    Ok((words, text_fields::flags(&flags).map_err(|e| wrong(FLAGS, e))?))
}

/// The ratings in a cell: JSON, or a group.
fn ratings(cell: &Field, place: &Place) -> Result<Ratings> {
    let judged: serde_json::Result<Option<Judgments>> = match cell {
        Field::Null => return Ok(Ratings::new()),
        Field::Str(text) => serde_json::from_str(text),
        other => serde_json::from_value(value(other.clone())),
    };
    match judged {
        Ok(judged) => Ok(judged.map(|judged| judged.0).unwrap_or_default()),
        Err(e) => Err(Error::invalid(place.clone().in_field("human"), describe(&e))),
    }
}

/// Says why values are absent, by row.
fn give_reasons(lines: &mut Lines, mut reasons: HashMap<usize, HashMap<String, Absence>>) {
    for (key, values) in lines.keys.iter().zip(&mut lines.values) {
        for (row, value) in values.iter_mut().filter(|(_, value)| value.is_err()) {
            let reason = reasons.get_mut(row).and_then(|reasons| reasons.remove(key.as_str()));
            if let Some(reason) = reason {
                *value = Err(reason);
            }
        }
    }
}

impl Cell for Field {
    fn label(&self) -> Option<Cow<'_, str>> {
        match self {
            Field::Null => None,
            Field::Str(text) => Some(Cow::Borrowed(text)),
            other => Some(Cow::Owned(other.to_string())),
        }
    }

    fn number(&self) -> Option<Value> {
        let number = match self {
            Field::Null => return Some(Err(Absence::NotGiven)),
            Field::Byte(number) => f64::from(*number),
            Field::Short(number) => f64::from(*number),
            Field::Int(number) => f64::from(*number),
            Field::Long(number) => *number as f64,
            Field::UByte(number) => f64::from(*number),
            Field::UShort(number) => f64::from(*number),
            Field::UInt(number) => f64::from(*number),
            Field::ULong(number) => *number as f64,
            Field::Float16(number) => f64::from(*number),
            Field::Float(number) => f64::from(*number),
            Field::Double(number) => *number,
            _ => return None,
        };
        match number.is_nan() {
            true => Some(Err(Absence::NotGiven)),
            false => Some(Ok(number)).filter(|_| number.is_finite()),
        }
    }

    fn shown(&self) -> Cow<'_, str> {
        match self {
            Field::Str(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.to_string()),
        }
    }
}

/// Whether a file has a column of stories, so that it is not a table of scores. A file that is not
/// valid has none.
pub(super) fn has_stories(content: &[u8]) -> bool {
    let read = || {
        let content = bytes::Bytes::copy_from_slice(content);
        check_schema(&content)?;
        let reader = parquet::file::serialized_reader::SerializedFileReader::new(content)?;
        let root = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
        let names = crate::read::Field::Story.names();
        let is_story = |column: &Arc<Type>| super::table::is_named(column.name(), names);
        Ok::<bool, ParquetError>(root.get_fields().iter().any(is_story))
    };
    matches!(guarded(read), Some(Ok(true)))
}
