//! Reads tables of scores, as `score -o X.csv` and as other programs write them.
//!
//! Fields are separated by commas, semicolons, tabs or vertical bars, as in tables of stories. The
//! columns `id`, `system`, `item` and `prompt` are found by their usual names ([`Field::names`]).
//! There are two layouts:
//!
//! - wide: one row per story, and every other column of numbers is a score;
//! - long: one row per story and metric, with the columns `metric` and `score` or `value`.
//!
//! A column `human/CRITERION` has ratings. Columns of texts are left out, and a note says so. An
//! empty cell, `NA`, `NaN` and the like are absent values.

use std::borrow::Cow;
use std::path::Path;

use super::table::{Cell, Table, check_names, is_named};
use super::{Lines, MAX_COLUMNS};
use crate::read::Field as StoryField;
use crate::read::cutter::Cut;
use crate::read::delimited::{Dialect, cut_quoted, fields, names_of, wrong_width};
use crate::read::lines::LineReader;
use crate::read::utf8::utf8;
use crate::spreadsheet::unmarked;
use crate::{Absence, Error, Place, Result, Value};

/// What an absent value is called, beside an empty cell.
const ABSENT: [&str; 7] = ["na", "n/a", "nan", "null", "none", "-", "--"];

/// How a file with this header separates its fields.
fn dialect(header: &str) -> Dialect {
    Dialect::of_header(header, |it| has_label(header, it)).unwrap_or(Dialect::CSV)
}

/// Whether one of several columns says which story a row is about.
fn has_label(header: &str, dialect: Dialect) -> bool {
    let labels = [StoryField::Id, StoryField::System, StoryField::Item];
    let is_label = |name: &str| labels.iter().any(|label| is_named(name, label.names()));
    fields(header, dialect).nth(1).is_some()
        && fields(header, dialect).any(|name| is_label(unmarked(name.trim())))
}

/// Whether a line is the header of a table of scores: it has two columns or more, of which one
/// says which story a row is about.
pub(super) fn is_header(line: &str) -> bool {
    has_label(line, dialect(line))
}

/// Whether a header has a column of stories, so that the file is not a table of scores.
pub(in crate::read) fn has_stories(line: &str) -> bool {
    fields(line, dialect(line)).any(|name| is_named(name.trim(), StoryField::Story.names()))
}

pub(super) fn read(mut lines: LineReader, header: &str, path: &Path) -> Result<Lines> {
    let dialect = dialect(header);
    let Some((header, place)) = record(&mut lines, dialect, path)? else {
        return Ok(Lines::default());
    };
    let mut names = names_of(&header, dialect, MAX_COLUMNS, &place)?;
    for name in &mut names {
        *name = unmarked(name).to_owned();
    }
    check_names(&names, &place)?;
    let width = names.len();
    let mut table = Table::new(names, place)?;
    while let Some((text, place)) = record(&mut lines, dialect, path)? {
        let cell = |text| Field { text, dialect };
        let cells: Vec<_> = fields(&text, dialect).take(width + 1).map(cell).collect();
        if cells.len() != width {
            return Err(wrong_width(&place, fields(&text, dialect).count(), width));
        }
        table.add(&cells, place)?;
    }
    table.finish()
}

/// A field of a record.
struct Field<'a> {
    text: Cow<'a, str>,
    dialect: Dialect,
}

impl Cell for Field<'_> {
    fn label(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(unmarked(&self.text))).filter(|text| !text.is_empty())
    }

    fn number(&self) -> Option<Value> {
        number(&self.text, self.dialect)
    }

    fn shown(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

/// The number in a cell, or that there is none; `None` for anything else.
///
/// Where semicolons separate the fields, a comma in a number is a decimal point.
pub(in crate::read) fn number(cell: &str, dialect: Dialect) -> Option<Value> {
    let cell = cell.trim();
    if cell.is_empty() || is_named(cell, &ABSENT) {
        return Some(Err(Absence::NotGiven));
    }
    let parsed = match cell.split_once(',') {
        Some((whole, decimals)) if dialect.delimiter == b';' && !cell.contains('.') => {
            format!("{whole}.{decimals}").parse()
        }
        _ => cell.parse::<f64>(),
    };
    parsed.ok().filter(|number| number.is_finite()).map(Ok)
}

/// The next record and its place. A bad record is an error, because every number counts here.
pub(super) fn record(
    lines: &mut LineReader,
    dialect: Dialect,
    path: &Path,
) -> Result<Option<(String, Place)>> {
    let Some(Cut { line, body }) = cut_quoted(lines, dialect.delimiter)? else { return Ok(None) };
    let place = Place::file(path).at_line(line);
    match body {
        Ok(bytes) => Ok(Some((utf8(bytes, &place)?, place))),
        Err(problem) => Err(Error::invalid(place, problem)),
    }
}
