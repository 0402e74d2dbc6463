//! The header of a table (CSV or TSV): which column holds what.
//!
//! The story is the column of the user's choice, or `story`, or the columns `sentence1` to
//! `sentence5` joined by spaces, or a column with one of the other usual names ([`Field::names`]).
//! Names may be in upper or lower case. Two columns of one name are an error if that name is
//! needed. Columns `human.NAME` and `human/NAME` have the ratings on a criterion. All other columns
//! are ignored.
//!
//! In a wide table, every column that is not the id, the item, the prompt or the reference has the
//! name of a system, and each row has one story per system.
//!
//! CSV files of [`StoryWriter`](crate::write::StoryWriter) may have marks before cells that a
//! spreadsheet would run as formulas. [`spreadsheet`](crate::spreadsheet) says how such a file is
//! recognised, and the marks are removed. In all other files, an apostrophe is an apostrophe.

use std::borrow::Cow;

use super::Format;
use super::delimited::{Dialect, fields, names_of, wrong_width};
use super::fields::MAX_CRITERIA;
use super::names::{Field, FieldNames, UsedNames, criterion};
use super::scores::number;
use super::shown::{cut, listed, quoted};
use crate::spreadsheet::unmarked;
use crate::write::STORY_HEADER;
use crate::{Error, Place, Result, Story};

const SENTENCES: [&str; 5] = ["sentence1", "sentence2", "sentence3", "sentence4", "sentence5"];

/// The largest number of columns of a file of stories.
const MAX_COLUMNS: usize = 100_000;

/// The largest number of systems of a wide table. Every row is held once per system.
const MAX_SYSTEMS: usize = 1000;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    Field(Field),
    /// The sentence at this position.
    Sentence(usize),
    /// Ratings on the criterion at this position.
    Criterion(usize),
    Ignored,
}

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Header {
    dialect: Dialect,
    roles: Vec<Role>,
    /// Whether cells may have marks.
    marked: bool,
    /// Whether the story is in five columns.
    in_sentences: bool,
    /// The systems of a wide table, each with its column.
    systems: Vec<(usize, String)>,
    /// The criteria that columns have ratings on, each with the name of its column.
    criteria: Vec<(String, String)>,
    /// The names that were found.
    pub used: UsedNames,
}

impl Header {
    /// Finds the columns in the first record of a file.
    pub fn new(
        record: &str,
        dialect: Dialect,
        given: &FieldNames,
        wide: bool,
        place: &Place,
    ) -> Result<Self> {
        let names = names_of(record, dialect, MAX_COLUMNS, place)?;
        let mut header = Self {
            dialect,
            roles: vec![Role::Ignored; names.len()],
            marked: dialect == Dialect::CSV && record.trim_end() == STORY_HEADER,
            in_sentences: false,
            systems: Vec::new(),
            criteria: Vec::new(),
            used: UsedNames::default(),
        };
        for field in Field::ALL {
            if let Some(name) = given.given(field) {
                let column = column_given(&names, name, place)?;
                let Some(column) = column else {
                    return Err(given.missing(field, "column", place.clone(), names));
                };
                if header.roles[column] != Role::Ignored {
                    let problem = "the column is asked for twice";
                    return Err(Error::invalid(place.clone().in_field(cut(name)), problem));
                }
                header.roles[column] = Role::Field(field);
                header.used.take(field, 0);
            }
        }
        for field in Field::ALL {
            // A table has a column per criterion, and a wide one has its stories in the columns of
            // systems.
            let in_columns = wide && matches!(field, Field::Story | Field::System);
            if field == Field::Ratings || given.given(field).is_some() || in_columns {
                continue;
            }
            header.find(field, &names, place)?;
        }
        if !wide {
            header.find_criteria(&names, place)?;
        }
        if wide {
            header.find_systems(&names, place)?;
        } else if !header.roles.contains(&Role::Field(Field::Story)) && !header.in_sentences {
            return Err(given.missing(Field::Story, "column", place.clone(), names));
        }
        Ok(header)
    }

    /// Finds the column with the most usual name of a field.
    fn find(&mut self, field: Field, names: &[String], place: &Place) -> Result<()> {
        let is_free = |roles: &[Role], column: usize| roles[column] == Role::Ignored;
        let mut found = false;
        for (position, wanted) in (0..).zip(field.names()) {
            // The five sentences are more certain to be the story than a column "text".
            if field == Field::Story && position == 1 && !found {
                found = self.find_sentences(names, place)?;
            }
            let there = names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
            if found {
                if there {
                    self.used.pass_over(field, position);
                }
                continue;
            }
            if let Some(column) = column_of(names, wanted, place)?
                && is_free(&self.roles, column)
            {
                self.roles[column] = Role::Field(field);
                self.used.take(field, position);
                found = true;
            }
        }
        Ok(())
    }

    fn find_sentences(&mut self, names: &[String], place: &Place) -> Result<bool> {
        let mut columns = Vec::with_capacity(SENTENCES.len());
        for name in SENTENCES {
            columns.extend(column_of(names, name, place)?);
        }
        if columns.len() < SENTENCES.len() {
            return Ok(false);
        }
        for (sentence, column) in columns.into_iter().enumerate() {
            self.roles[column] = Role::Sentence(sentence);
        }
        self.in_sentences = true;
        Ok(true)
    }

    fn find_criteria(&mut self, names: &[String], place: &Place) -> Result<()> {
        for (column, name) in names.iter().enumerate() {
            let Some(criterion) = criterion(name) else { continue };
            if self.roles[column] != Role::Ignored {
                continue;
            }
            if let Some((_, first)) = self.criteria.iter().find(|(known, _)| known == criterion) {
                let problem =
                    format!("the column {} has ratings on the same criterion", quoted(first));
                return Err(Error::invalid(place.clone().in_field(cut(name)), problem));
            }
            if self.criteria.len() == MAX_CRITERIA {
                let problem = format!("more than {MAX_CRITERIA} criteria");
                return Err(Error::invalid(place.clone(), problem));
            }
            self.roles[column] = Role::Criterion(self.criteria.len());
            self.criteria.push((criterion.to_owned(), name.clone()));
        }
        Ok(())
    }

    fn find_systems(&mut self, names: &[String], place: &Place) -> Result<()> {
        for (column, name) in names.iter().enumerate() {
            // Nobody wrote the ratings; of which system's story they are is not said. pandas writes
            // the numbers of the rows into a column without a name.
            let is_system = self.roles[column] == Role::Ignored
                && criterion(name).is_none()
                && !name.is_empty()
                && !name.starts_with("Unnamed:");
            if !is_system {
                continue;
            }
            if let Some((first, _)) = self.systems.iter().find(|(_, system)| system == name) {
                let problem =
                    format!("columns {} and {} have the same name", first + 1, column + 1);
                return Err(Error::invalid(place.clone().in_field(cut(name)), problem));
            }
            self.systems.push((column, name.clone()));
        }
        let problem = match self.systems.len() {
            1..=MAX_SYSTEMS => return Ok(()),
            0 => format!("no column has the name of a system; the columns are: {}", listed(names)),
            count => format!("the table has {count} systems, but at most {MAX_SYSTEMS} are read"),
        };
        Err(Error::invalid(place.clone(), problem))
    }

    /// How fields are separated.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The number of stories per row.
    pub fn stories_per_row(&self) -> usize {
        self.systems.len().max(1)
    }

    /// Makes a story from a record. In a wide table, `part` says which system it is of, and `row`
    /// is the id if there is no column for it.
    pub fn parse(&self, record: &str, part: usize, row: u64, place: &Place) -> Result<Story> {
        let mut story = Story::default();
        let system = self.systems.get(part);
        let count = if self.in_sentences { SENTENCES.len() } else { 0 };
        let mut sentences = vec![Cow::Borrowed(""); count];
        let mut count = 0;
        for field in fields(record, self.dialect) {
            let field = if self.marked { without_mark(field) } else { field };
            if system.is_some_and(|(column, _)| *column == count) {
                story.text = field.into_owned();
                count += 1;
                continue;
            }
            match self.roles.get(count) {
                None | Some(Role::Ignored | Role::Field(Field::Ratings)) => {}
                Some(Role::Sentence(position)) => sentences[*position] = field,
                Some(Role::Criterion(position)) => {
                    let (criterion, column) = &self.criteria[*position];
                    let Some(rating) = number(&field, self.dialect) else {
                        let place = place.clone().in_field(cut(column));
                        let problem = format!("{} is not a finite number", quoted(&field));
                        return Err(Error::invalid(place, problem));
                    };
                    story.ratings.push(criterion, rating.ok());
                }
                Some(Role::Field(Field::Story)) => story.text = field.into_owned(),
                Some(Role::Field(Field::Id)) => story.id = field.into_owned(),
                Some(Role::Field(Field::System)) => story.system = non_empty(field),
                Some(Role::Field(Field::Item)) => story.item = non_empty(field),
                Some(Role::Field(Field::Prompt)) => story.prompt = non_empty(field),
                Some(Role::Field(Field::Reference)) => {
                    story.references = non_empty(field).into_iter().collect();
                }
            }
            count += 1;
        }
        if count != self.roles.len() {
            return Err(wrong_width(place, count, self.roles.len()));
        }
        if let Some((_, name)) = system {
            story.system = Some(name.clone());
            if story.id.is_empty() {
                story.id = row.to_string();
            }
            // The stories of a row belong together.
            story.item = story.item.or_else(|| Some(story.id.clone()));
        }
        story.text.reserve(sentences.iter().map(|cell| cell.len() + 1).sum());
        for (number, cell) in sentences.iter().enumerate() {
            let sentence = cell.trim();
            if sentence.is_empty() {
                return Err(Error::invalid(
                    place.clone().in_field(SENTENCES[number]),
                    "the sentence is empty",
                ));
            }
            story.push_sentence(sentence);
        }
        Ok(story)
    }
}

/// The column that the user names. Another may differ from it in the case of letters.
fn column_given(names: &[String], wanted: &str, place: &Place) -> Result<Option<usize>> {
    let mut exact = (0..).zip(names).filter(|(_, name)| *name == wanted);
    match (exact.next(), exact.next()) {
        (Some((column, _)), None) => Ok(Some(column)),
        _ => column_of(names, wanted, place),
    }
}

/// The column of a name, in upper or lower case.
fn column_of(names: &[String], wanted: &str, place: &Place) -> Result<Option<usize>> {
    let mut columns = (0..).zip(names).filter(|(_, name)| name.eq_ignore_ascii_case(wanted));
    match (columns.next(), columns.next()) {
        (Some((first, _)), Some((second, other))) => {
            let problem = format!(
                "columns {} and {} have the same name; keep one of them",
                first + 1,
                second + 1
            );
            Err(Error::invalid(place.clone().in_field(cut(other)), problem))
        }
        (first, _) => Ok(first.map(|(column, _)| column)),
    }
}

fn without_mark(field: Cow<'_, str>) -> Cow<'_, str> {
    match field {
        Cow::Borrowed(text) => Cow::Borrowed(unmarked(text)),
        Cow::Owned(text) => Cow::Owned(unmarked(&text).to_owned()),
    }
}

fn non_empty(field: Cow<'_, str>) -> Option<String> {
    (!field.is_empty()).then(|| field.into_owned())
}

/// The delimiters that are looked for, the most usual one first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How a file whose name says that it is a table separates its fields, from its first line.
pub(super) fn dialect(line: &[u8], format: Format, names: &FieldNames, wide: bool) -> Dialect {
    let Ok(line) = std::str::from_utf8(line) else { return format.into() };
    if format == Format::Tsv && (line.contains('\t') || has_story(line, Dialect::TSV, names)) {
        return Dialect::TSV;
    }
    let dialects = DELIMITERS.map(|delimiter| Dialect { delimiter, quoted: true });
    if !wide && let Some(found) = dialects.into_iter().find(|&it| has_story(line, it, names)) {
        return found;
    }
    // Of equally many columns, the first delimiter wins, because max_by_key takes the last.
    let most = dialects.into_iter().rev().max_by_key(|&it| fields(line, it).count());
    most.filter(|&it| fields(line, it).count() > 1).unwrap_or(format.into())
}

/// Whether the first line of a file of unknown kind is the header of a table, and how it separates
/// its fields. It must have two columns or more, because a single word may begin any text.
pub(super) fn recognise(line: &[u8], names: &FieldNames, wide: bool) -> Option<Dialect> {
    let line = std::str::from_utf8(line).ok()?;
    let dialects = DELIMITERS.map(|delimiter| Dialect { delimiter, quoted: delimiter != b'\t' });
    dialects.into_iter().find(|&it| {
        let has =
            |wanted: &str| fields(line, it).any(|name| name.trim().eq_ignore_ascii_case(wanted));
        // Words such as "text" and "response" stand between the commas of many a sentence, so all
        // columns must then look like names.
        let are_names = || fields(line, it).all(|name| is_like_a_name(&name));
        let is_header = if wide {
            are_names()
        } else {
            (names.story.is_none() && has("story"))
                || names.story.as_deref().is_some_and(has)
                || has_story(line, it, names) && are_names()
        };
        fields(line, it).nth(1).is_some() && is_header
    })
}

/// Whether a header has a column or columns of stories.
fn has_story(line: &str, dialect: Dialect, names: &FieldNames) -> bool {
    let has =
        |wanted: &str| fields(line, dialect).any(|name| name.trim().eq_ignore_ascii_case(wanted));
    match &names.story {
        Some(name) => has(name),
        None => Field::Story.names().iter().copied().any(has) || SENTENCES.into_iter().all(has),
    }
}

/// Whether a text could be the name of a column: a few words without the marks of sentences.
fn is_like_a_name(text: &str) -> bool {
    let text = text.trim();
    text.len() <= 60
        && text.split_whitespace().count() <= 4
        && !text.contains(['!', '?', '"', '\u{201c}', '\u{201d}'])
        && !text.ends_with('.')
}
