//! A table of scores whose columns are found by their names: one row per story and one column per
//! score, or one row per story and score.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Lines;
use crate::read::names::{Field, FieldNames, UsedNames, rated};
use crate::read::shown::{cut, listed, quoted};
use crate::write::{FLAGS, WORDS};
use crate::{Error, Place, Result, Row, Value};

/// A cell of a table.
pub(super) trait Cell {
    /// The text of a label; `None` where there is none.
    fn label(&self) -> Option<Cow<'_, str>>;

    /// The number, or that it is absent; `None` for anything else.
    fn number(&self) -> Option<Value>;

    /// The cell as an error shows it.
    fn shown(&self) -> Cow<'_, str>;
}

/// What the column of metrics in the long layout is called, and the column of their values.
const METRIC: [&str; 2] = ["metric", "metric_name"];
const VALUE: [&str; 2] = ["score", "value"];

pub(super) fn is_named(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Content {
    Id,
    System,
    Item,
    Prompt,
    /// The name of the metric, in the long layout.
    Metric,
    /// The value of the metric, in the long layout.
    Value,
    /// A score or a rating in the wide layout, unless it turns out to be text.
    Number,
    Ignored,
}

/// The columns before the scores in files of `score`.
pub(super) const OWN: [&str; 3] = ["id", "system", "item"];

/// What the columns hold, by their names, and which names were found.
pub(super) fn contents(names: &[String], place: &Place) -> Result<(Vec<Content>, UsedNames)> {
    let mut contents = vec![Content::Number; names.len()];
    if names.iter().take(OWN.len()).eq(OWN) {
        // In a file of ours, every other column is a score, whatever its name is.
        contents[..OWN.len()].copy_from_slice(&[Content::Id, Content::System, Content::Item]);
        return Ok((contents, UsedNames::default()));
    }
    let found = FieldNames::default().among(names, "column", place)?;
    for (content, field) in contents.iter_mut().zip(&found.fields) {
        *content = match field {
            Some((Field::Id, true)) => Content::Id,
            Some((Field::System, true)) => Content::System,
            Some((Field::Item, true)) => Content::Item,
            Some((Field::Prompt, true)) => Content::Prompt,
            Some((Field::Id | Field::System | Field::Item, false)) => Content::Ignored,
            _ => Content::Number,
        };
    }
    let find = |aliases: &[&str]| {
        aliases.iter().find_map(|alias| names.iter().position(|name| is_named(name, &[alias])))
    };
    if let (Some(metric), Some(value)) = (find(&METRIC), find(&VALUE)) {
        for content in &mut contents {
            if *content == Content::Number {
                *content = Content::Ignored;
            }
        }
        contents[metric] = Content::Metric;
        contents[value] = Content::Value;
    }
    // The index of a data frame has no name.
    for (content, name) in contents.iter_mut().zip(names) {
        if name.is_empty() {
            *content = Content::Ignored;
        }
    }
    Ok((contents, found.used))
}

/// What a column of a table of scores in memory holds, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScoreField {
    /// What is said about the story: who wrote it, its item, or its text.
    Story(Field),
    /// Ratings on a criterion.
    Ratings(String),
    /// How many words each text has, in a table of ours.
    Words,
    /// What each text has that is not story, in a table of ours.
    Flags,
    /// Scores, if it has numbers.
    Score,
    /// Nothing that is read: another column has a more usual name of the same field.
    PassedOver,
}

/// What the columns of a table of scores in memory hold. They have the same names as in files.
///
/// # Errors
/// Returns an error if two columns have the same name.
pub fn score_fields(names: &[String], place: &Place) -> Result<Vec<ScoreField>> {
    let found = FieldNames::default().among(names, "column", place)?;
    // Frames of ours say how many words a text has, and beside it what its flags are.
    let has = |name: &str| names.iter().any(|known| known == name);
    let is_ours = has(WORDS) && has(FLAGS);
    let content = |(name, field): (&String, &Option<(Field, bool)>)| match (field, rated(name)) {
        (None, None) if is_ours && name == WORDS => ScoreField::Words,
        (None, None) if is_ours && name == FLAGS => ScoreField::Flags,
        (None | Some((Field::Ratings, _)), Some(one)) => {
            ScoreField::Ratings(one.criterion.to_owned())
        }
        (Some((field, true)), _) => ScoreField::Story(*field),
        (Some((Field::Id | Field::System | Field::Item, false)), _) => ScoreField::PassedOver,
        _ => ScoreField::Score,
    };
    Ok(names.iter().zip(&found.fields).map(content).collect())
}

/// A row by its system and id. Without an id, the item or the number of the row stands for it.
type Story = (Option<String>, String);

/// The rows that were read so far.
pub(super) struct Table {
    names: Vec<String>,
    contents: Vec<Content>,
    header: Place,
    used: UsedNames,
    found: Lines,
    /// By column: the values by row.
    values: Vec<Vec<(usize, Value)>>,
    /// By column: whether a number was seen, and the first cell that is none.
    numbers: Vec<bool>,
    texts: Vec<Option<(String, Place)>>,
    /// In the long layout: the row of each story, and the line of each value.
    stories: HashMap<Story, usize>,
    lines: HashMap<(usize, String), u64>,
}

impl Table {
    /// A table with these columns, of which one at least has scores. The header is where errors
    /// about the columns point.
    pub fn new(names: Vec<String>, header: Place) -> Result<Self> {
        let (contents, used) = contents(&names, &header)?;
        if !contents.iter().any(|content| matches!(content, Content::Number | Content::Value)) {
            let problem =
                format!("there is no column of scores; the columns are: {}", listed(&names));
            return Err(Error::invalid(header, problem));
        }
        Ok(Self::of_labels(names, (contents, used), header))
    }

    /// A table with these columns, which need not have scores.
    pub fn of_labels(
        names: Vec<String>,
        (contents, used): (Vec<Content>, UsedNames),
        header: Place,
    ) -> Self {
        let width = names.len();
        Self {
            names,
            contents,
            header,
            used,
            found: Lines::default(),
            values: vec![Vec::new(); width],
            numbers: vec![false; width],
            texts: vec![None; width],
            stories: HashMap::new(),
            lines: HashMap::new(),
        }
    }

    fn is_long(&self) -> bool {
        self.contents.contains(&Content::Metric)
    }

    /// Adds a row, which has one cell per column.
    pub fn add(&mut self, cells: &[impl Cell], place: Place) -> Result<()> {
        let label = |content: Content| {
            let column = self.contents.iter().position(|one| *one == content)?;
            cells[column].label().map(Cow::into_owned)
        };
        let (system, item) = (label(Content::System), label(Content::Item));
        let item = item.or_else(|| label(Content::Prompt));
        let id = label(Content::Id).or_else(|| item.clone());
        let metric = label(Content::Metric);
        let line = place.line;
        let new = |found: &Lines| {
            let id = id.clone().unwrap_or_else(|| found.rows.len().to_string());
            let item = item.clone().unwrap_or_else(|| id.clone());
            Row { id, system: system.clone(), item, line, ..Row::default() }
        };
        if !self.is_long() {
            let row = self.found.rows.len();
            self.found.rows.push(new(&self.found));
            for (column, cell) in cells.iter().enumerate() {
                if self.contents[column] == Content::Number {
                    self.take(column, row, cell, &place);
                }
            }
            return Ok(());
        }
        let Some(id) = &id else {
            let problem = "a row of one score needs an id or an item, which says what it is about";
            return Err(Error::invalid(place, problem));
        };
        let Some(metric) = metric else {
            return Err(Error::invalid(place.in_field("metric"), "the metric has no name"));
        };
        let next = self.found.rows.len();
        let row = *self.stories.entry((system.clone(), id.clone())).or_insert(next);
        if row == next {
            self.found.rows.push(new(&self.found));
        }
        if let Some(first) = self.lines.insert((row, metric.clone()), line.unwrap_or_default()) {
            let problem = format!(
                "duplicate score {} of story {}: the first one is on line {first}",
                quoted(&metric),
                quoted(id)
            );
            return Err(Error::invalid(place, problem));
        }
        let column = self.contents.iter().position(|one| *one == Content::Value).unwrap_or(0);
        let value = cells[column].number().ok_or_else(|| {
            not_a_number(&cells[column].shown(), place.clone().in_field(cut(&self.names[column])))
        })?;
        match rated(&metric) {
            Some(rated) => self.found.rows[row].ratings.push(rated.criterion, value.ok()),
            None => {
                let column = self.found.column(&metric, &place)?;
                self.found.values[column].push((row, value));
            }
        }
        Ok(())
    }

    /// Takes a cell of the wide layout. Whether its column has numbers is known at the end.
    fn take(&mut self, column: usize, row: usize, cell: &impl Cell, place: &Place) {
        match cell.number() {
            Some(value) => {
                self.numbers[column] |= value.is_ok();
                self.values[column].push((row, value));
            }
            None if self.texts[column].is_none() => {
                self.texts[column] = Some((cell.shown().into_owned(), place.clone()));
            }
            None => {}
        }
    }

    /// The rows with their values.
    pub fn finish(mut self) -> Result<Lines> {
        if !self.contents.contains(&Content::Id) && !self.is_long() {
            self.found.number_repeated_items();
        }
        self.found.note_names(&self.used, &self.header.file);
        if self.is_long() {
            return Ok(self.found);
        }
        let wrong = |(cell, place): &(String, Place), name: &String| {
            not_a_number(cell, place.clone().in_field(cut(name)))
        };
        let mut left_out = Vec::new();
        let mut kept = Vec::new();
        for (column, name) in self.names.iter().enumerate() {
            match &self.texts[column] {
                _ if self.contents[column] != Content::Number => {}
                Some(text) if self.numbers[column] => return Err(wrong(text, name)),
                Some(_) => left_out.push(column),
                None => kept.push(column),
            }
        }
        // Where no column has numbers, the first cell that should have been one is named.
        if let (true, Some(&column)) = (kept.is_empty(), left_out.first())
            && let Some(text) = &self.texts[column]
        {
            return Err(wrong(text, &self.names[column]));
        }
        if !left_out.is_empty() {
            let names: Vec<&String> = left_out.iter().map(|&column| &self.names[column]).collect();
            let note = format!(
                "{}: columns without numbers are left out: {}",
                self.header.file.display(),
                listed(&names)
            );
            self.found.notes.push(note);
        }
        for column in kept {
            let name = self.names[column].clone();
            let values = std::mem::take(&mut self.values[column]);
            match rated(&name) {
                Some(rated) => {
                    for (row, value) in values {
                        self.found.rows[row].ratings.push(rated.criterion, value.ok());
                    }
                }
                None => {
                    let key = self.found.column(&name, &self.header)?;
                    self.found.values[key] = values;
                }
            }
        }
        Ok(self.found)
    }
}

fn not_a_number(cell: &str, place: Place) -> Error {
    Error::invalid(place, format!("{} is not a finite number", quoted(cell)))
}

/// Checks that no two columns have the same name.
pub(super) fn check_names(names: &[String], place: &Place) -> Result<()> {
    let mut seen = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name.as_str(), at)
            && !name.is_empty()
        {
            let problem = format!("columns {} and {} have the same name", first + 1, at + 1);
            return Err(Error::invalid(place.clone().in_field(cut(name)), problem));
        }
    }
    Ok(())
}
