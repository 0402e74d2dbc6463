//! Reads CSV files with one column per key, as `score -o X.csv` writes them.

use std::path::Path;

use super::Lines;
use crate::read::Format;
use crate::read::delimited::{cut_csv, fields, wrong_width};
use crate::read::lines::LineReader;
use crate::read::raw::{Cut, utf8};
use crate::{Absence, Error, Place, Result, Row};

/// The columns before the scores.
const LABELS: [&str; 3] = ["id", "system", "item"];

pub(super) fn read(mut lines: LineReader, path: &Path) -> Result<Lines> {
    let mut found = Lines { rows: Vec::new(), keys: Vec::new(), values: Vec::new() };
    let Some((header, place)) = record(&mut lines, path)? else { return Ok(found) };
    let names: Vec<String> =
        fields(&header, Format::Csv).map(|name| name.trim().to_owned()).collect();
    if names.first().map(String::as_str) != Some("id") {
        let problem = "the first column of a score file must be \"id\"";
        return Err(Error::invalid(place, problem));
    }
    let seen_before = |(at, name): &(usize, &String)| names[..*at].contains(name);
    if let Some((at, name)) = names.iter().enumerate().find(seen_before) {
        let problem = format!("duplicate column \"{name}\": column {} has this name too", at + 1);
        return Err(Error::invalid(place, problem));
    }
    for name in names.iter().filter(|name| !LABELS.contains(&name.as_str())) {
        found.column(name);
    }
    while let Some((text, place)) = record(&mut lines, path)? {
        let cells: Vec<_> = fields(&text, Format::Csv).collect();
        if cells.len() != names.len() {
            return Err(wrong_width(&place, cells.len(), names.len()));
        }
        let row = found.rows.len();
        let mut labels = [None, None, None];
        for (name, cell) in names.iter().zip(&cells) {
            if let Some(label) = LABELS.iter().position(|label| label == name) {
                labels[label] = Some(cell.to_string()).filter(|text| !text.is_empty());
                continue;
            }
            let value = match cell.trim() {
                "" => Err(Absence::NotGiven),
                cell => {
                    Ok(cell.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(
                        || {
                            let problem = format!("\"{cell}\" is not a finite number");
                            Error::invalid(place.clone().in_field(name), problem)
                        },
                    )?)
                }
            };
            let column = found.column(name);
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

/// The next record and its place. A bad record is an error, because every number counts here.
pub(super) fn record(lines: &mut LineReader, path: &Path) -> Result<Option<(String, Place)>> {
    let Some(Cut { line, body }) = cut_csv(lines)? else { return Ok(None) };
    let place = Place::file(path).at_line(line);
    match body {
        Ok(bytes) => Ok(Some((utf8(bytes, &place)?, place))),
        Err(problem) => Err(Error::invalid(place, problem)),
    }
}
