//! The header of a table (CSV or TSV): which column holds what.
//!
//! The story is the column of the user's choice, or `story`, or the columns `sentence1` to
//! `sentence5` joined by spaces, or a column with one of the other usual names ([`Field::names`]).
//! Columns such as `human.NAME` have the ratings on a criterion. All other columns are ignored.
//!
//! In a wide table, the columns whose cells look like stories ([`wide`](super::wide)) have the
//! names of systems, and each row has one story per system.
//!
//! CSV files of [`StoryWriter`](crate::write::StoryWriter) may have marks before cells that a
//! spreadsheet would run as formulas. [`spreadsheet`](crate::spreadsheet) says how such a file is
//! recognised, and the marks are removed. In all other files, an apostrophe is an apostrophe.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Format;
use super::delimited::{Dialect, fields, names_of, wrong_width};
use super::fields::{Judgments, MAX_CRITERIA};
use super::names::{Field, FieldNames, UsedNames, rated};
use super::scores::number;
use super::shown::{cut, listed, quoted};
use super::wide::Wide;
use crate::spreadsheet::unmarked;
use crate::write::STORY_HEADER;
use crate::{Error, Place, Ratings, Result, Story};

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
    /// A less usual name of a field that another column has.
    Ignored,
    Unknown,
}

/// A criterion that a column has ratings on.
#[derive(Debug)]
struct Criterion {
    name: String,
    column: String,
    /// Whether the column cannot hold anything else.
    certain: bool,
}

impl Criterion {
    /// Adds the ratings in a cell to those of a story.
    fn read(&self, cell: &str, dialect: Dialect, ratings: &mut Ratings) -> Option<()> {
        match number(cell, dialect) {
            Some(Err(_)) if !self.certain => {}
            Some(rating) => ratings.push(&self.name, rating.ok()),
            None if self.certain => return None,
            // A column of all ratings may have JSON in it. Other texts are no ratings.
            None if self.name == self.column => {
                let judged: Option<Judgments> = serde_json::from_str(cell).ok();
                for (criterion, values) in judged.iter().flat_map(|judged| judged.0.iter()) {
                    values.iter().for_each(|value| ratings.push(criterion, *value));
                }
            }
            None => {}
        }
        Some(())
    }
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
    /// The columns of a wide table that are no systems, and why.
    left_out: Vec<String>,
    /// The criteria that columns have ratings on.
    criteria: Vec<Criterion>,
    /// The names that were found.
    pub used: UsedNames,
}

impl Header {
    /// Finds the columns in the first record of a file.
    pub fn new(
        record: &str,
        dialect: Dialect,
        given: &FieldNames,
        wide: Option<&Wide<'_>>,
        place: &Place,
    ) -> Result<Self> {
        let names = names_of(record, dialect, MAX_COLUMNS, place)?;
        let mut header = Self {
            dialect,
            roles: vec![Role::Unknown; names.len()],
            marked: dialect == Dialect::CSV && record.trim_end() == STORY_HEADER,
            in_sentences: false,
            systems: Vec::new(),
            left_out: Vec::new(),
            criteria: Vec::new(),
            used: UsedNames::default(),
        };
        let found = given.among(&names, "column", place)?;
        header.used = found.used;
        let is_chosen = |name: &String| wide.is_some_and(|wide| wide.chosen.contains(name));
        for ((role, field), name) in header.roles.iter_mut().zip(&found.fields).zip(&names) {
            *role = match *field {
                _ if is_chosen(name) => Role::Unknown,
                // A wide table has its stories in the columns of systems, whatever their names are.
                Some((Field::Story | Field::System | Field::Ratings, _)) if wide.is_some() => {
                    Role::Unknown
                }
                Some((field, true)) => Role::Field(field),
                Some((_, false)) => Role::Ignored,
                None => Role::Unknown,
            };
        }
        if let Some(wide) = wide {
            [Field::Story, Field::System].into_iter().for_each(|field| header.used.forget(field));
            header.find_systems(&names, wide, place)?;
            return Ok(header);
        }
        let story = found.column(Field::Story);
        let is_certain =
            |column: usize| names[column].eq_ignore_ascii_case(Field::Story.names()[0]);
        if given.story.is_none() && !story.is_some_and(is_certain) {
            header.find_sentences(&names, story, place)?;
        }
        header.find_criteria(&names, place)?;
        let has = |field: Field| match field {
            Field::Story if header.in_sentences => true,
            field => found.column(field).is_some(),
        };
        given.check(has, "column", place, || names.clone())?;
        Ok(header)
    }

    /// Five columns of sentences are a story. They are more certain to be one than a column "text".
    fn find_sentences(
        &mut self,
        names: &[String],
        story: Option<usize>,
        place: &Place,
    ) -> Result<()> {
        let mut columns = Vec::with_capacity(SENTENCES.len());
        for name in SENTENCES {
            let mut named = (0..).zip(names).filter(|(_, one)| one.eq_ignore_ascii_case(name));
            match (named.next(), named.next()) {
                (Some((first, _)), Some((second, other))) => {
                    return Err(same_name(first, second, other, place));
                }
                (first, _) => columns.extend(first.map(|(column, _)| column)),
            }
        }
        if columns.len() == SENTENCES.len() {
            if let Some(column) = story {
                self.roles[column] = Role::Ignored;
            }
            self.used.forget(Field::Story);
            for (sentence, column) in columns.into_iter().enumerate() {
                self.roles[column] = Role::Sentence(sentence);
            }
            self.in_sentences = true;
        }
        Ok(())
    }

    fn find_criteria(&mut self, names: &[String], place: &Place) -> Result<()> {
        for (column, name) in names.iter().enumerate() {
            let Some(rated) = rated(name) else { continue };
            if !matches!(self.roles[column], Role::Unknown | Role::Field(Field::Ratings)) {
                continue;
            }
            let same = |known: &&Criterion| known.name == rated.criterion;
            if let Some(first) = self.criteria.iter().find(same) {
                let first = quoted(&first.column);
                let problem = format!("the column {first} has ratings on the same criterion");
                return Err(Error::invalid(place.clone().in_field(cut(name)), problem));
            }
            if self.criteria.len() == MAX_CRITERIA {
                let problem = format!("more than {MAX_CRITERIA} criteria");
                return Err(Error::invalid(place.clone(), problem));
            }
            self.roles[column] = Role::Criterion(self.criteria.len());
            self.criteria.push(Criterion {
                name: rated.criterion.to_owned(),
                column: name.clone(),
                certain: rated.certain,
            });
        }
        Ok(())
    }

    fn find_systems(&mut self, names: &[String], wide: &Wide<'_>, place: &Place) -> Result<()> {
        if let Some(lacking) = wide.chosen.iter().find(|chosen| !names.contains(chosen)) {
            let problem = format!(
                "there is no column {}; the columns are: {}",
                quoted(lacking),
                listed(names)
            );
            return Err(Error::invalid(place.clone(), problem));
        }
        let mut candidates: Vec<(usize, &str)> = Vec::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (column, name) in names.iter().enumerate() {
            // pandas writes the numbers of the rows into a column without a name.
            let is_candidate = self.roles[column] == Role::Unknown
                && !name.is_empty()
                && !name.starts_with("Unnamed:")
                && (wide.chosen.is_empty() || wide.chosen.contains(name));
            // Nobody wrote the ratings; of which system's story they are is not said.
            if is_candidate && wide.chosen.is_empty() && rated(name).is_some_and(|it| it.certain) {
                self.left_out.push(format!("{} (ratings)", quoted(name)));
            } else if is_candidate {
                if let Some(first) = seen.insert(name, column) {
                    return Err(same_name(first, column, name, place));
                }
                candidates.push((column, name));
            }
        }
        let problems = match wide.chosen.is_empty() {
            true => wide.judge(&candidates),
            false => vec![None; candidates.len()],
        };
        for ((column, name), problem) in candidates.into_iter().zip(problems) {
            if let Some(problem) = problem {
                self.left_out.push(format!("{} ({problem})", quoted(name)));
                continue;
            }
            self.systems.push((column, name.to_owned()));
        }
        let problem = match self.systems.len() {
            1..=MAX_SYSTEMS => return Ok(()),
            0 if self.left_out.is_empty() => {
                format!("no column has the name of a system; the columns are: {}", listed(names))
            }
            0 => format!("no column has stories; there are: {}", listed(&self.left_out)),
            count => format!("the table has {count} systems, but at most {MAX_SYSTEMS} are read"),
        };
        Err(Error::invalid(place.clone(), problem))
    }

    /// The columns of a wide table that are no systems, and why.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
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
                None | Some(Role::Unknown | Role::Ignored | Role::Field(Field::Ratings)) => {}
                Some(Role::Sentence(position)) => sentences[*position] = field,
                Some(Role::Criterion(position)) => {
                    let criterion = &self.criteria[*position];
                    if criterion.read(&field, self.dialect, &mut story.ratings).is_none() {
                        let place = place.clone().in_field(cut(&criterion.column));
                        let problem = format!("{} is not a finite number", quoted(&field));
                        return Err(Error::invalid(place, problem));
                    }
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

fn same_name(first: usize, second: usize, name: &str, place: &Place) -> Error {
    let (first, second) = (first + 1, second + 1);
    let problem = format!("columns {first} and {second} have the same name; keep one of them");
    Error::invalid(place.clone().in_field(cut(name)), problem)
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

/// How a file whose name says that it is a table separates its fields, from its first line.
pub(super) fn dialect(line: &[u8], format: Format, names: &FieldNames, wide: bool) -> Dialect {
    let Ok(line) = std::str::from_utf8(line) else { return format.into() };
    if format == Format::Tsv && (line.contains('\t') || has_story(line, Dialect::TSV, names)) {
        return Dialect::TSV;
    }
    Dialect::of_header(line, |it| !wide && has_story(line, it, names)).unwrap_or(format.into())
}

/// Whether the first line of a file of unknown kind is the header of a table, and how it separates
/// its fields. It must have two columns or more, because a single word may begin any text.
pub(super) fn recognise(line: &[u8], names: &FieldNames, wide: bool) -> Option<Dialect> {
    let line = std::str::from_utf8(line).ok()?;
    let quoted = |delimiter| Dialect { delimiter, quoted: delimiter != b'\t' };
    Dialect::DELIMITERS.map(quoted).into_iter().find(|&it| {
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
