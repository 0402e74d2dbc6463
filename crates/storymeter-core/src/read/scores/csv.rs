//! Reads CSV files with one column per key, as `score -o X.csv` writes them.

use std::collections::HashMap;
use std::path::Path;

use super::{Lines, MAX_COLUMNS};
use crate::read::Format;
use crate::read::delimited::{cells, cut_csv, names_of};
use crate::read::lines::LineReader;
use crate::read::raw::{Cut, utf8};
use crate::read::shown::{cut, quoted};
use crate::spreadsheet::unmarked;
use crate::{Absence, Error, Place, Result, Row};

/// The columns before the scores.
const LABELS: [&str; 3] = ["id", "system", "item"];

pub(super) fn read(mut lines: LineReader, path: &Path) -> Result<Lines> {
    let mut found = Lines::default();
    let Some((header, place)) = record(&mut lines, path)? else { return Ok(found) };
    let mut names = names_of(&header, Format::Csv, MAX_COLUMNS, &place)?;
    for name in &mut names {
        *name = unmarked(name).to_owned();
    }
    if names.first().map(String::as_str) != Some("id") {
        let problem = "the first column of a score file must be \"id\"";
        return Err(Error::invalid(place, problem));
    }
    check_names(&names, &place)?;
    for name in names.iter().filter(|name| !LABELS.contains(&name.as_str())) {
        found.column(name, &place)?;
    }
    while let Some((text, place)) = record(&mut lines, path)? {
        let row = found.rows.len();
        let mut labels = [None, None, None];
        for (name, cell) in names.iter().zip(&cells(&text, names.len(), &place)?) {
            if let Some(label) = LABELS.iter().position(|label| label == name) {
                labels[label] = Some(unmarked(cell).to_owned()).filter(|text| !text.is_empty());
                continue;
            }
            let value = match cell.trim() {
                "" => Err(Absence::NotGiven),
                cell => {
                    Ok(cell.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(
                        || {
                            let problem = format!("{} is not a finite number", quoted(cell));
                            Error::invalid(place.clone().in_field(cut(name)), problem)
                        },
                    )?)
                }
            };
            let column = found.column(name, &place)?;
            found.values[column].push((row, value));
        }
        let [id, system, item] = labels;
        let id = id.unwrap_or_else(|| row.to_string());
        let item = item.unwrap_or_else(|| id.clone());
        let line = place.line;
        found.rows.push(Row { id, system, item, line, ..Row::default() });
    }
    Ok(found)
}

/// Checks that no two columns have the same name.
pub(super) fn check_names(names: &[String], place: &Place) -> Result<()> {
    let mut seen = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name.as_str(), at) {
            let problem = format!("columns {} and {} have the same name", first + 1, at + 1);
            return Err(Error::invalid(place.clone().in_field(cut(name)), problem));
        }
    }
    Ok(())
}

/// The next record and its place. A bad record is an error, because every number counts here.
pub(super) fn record(lines: &mut LineReader, path: &Path) -> Result<Option<(String, Place)>> {
    let Some(Cut { line, body }) = cut_csv(lines)? else { return Ok(None) };
    let place = Place::file(path).at_line(line);
    match body {
        Ok(bytes) => Ok(Some((utf8(bytes, &place)?, place))),
        Err(problem) => Err(Error::invalid(place, problem)),
    }
}
