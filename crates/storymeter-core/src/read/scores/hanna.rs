//! Reads HANNA's published scores: a CSV file with one row per system, in which every cell is a
//! JSON list with one number per prompt.

use std::collections::HashMap;
use std::path::Path;

use super::MAX_COLUMNS;
use super::csv::record;
use super::table::check_names;
use crate::read::delimited::{Dialect, cells, names_of};
use crate::read::fields::problem;
use crate::read::hanna::CRITERIA;
use crate::read::lines::LineReader;
use crate::read::shown::{cut, quoted};
use crate::read::source::Source;
use crate::read::{Format, ReadOptions};
use crate::{Absence, Column, Direction, Error, Place, Result, Row, ScoreTable, Value};

/// The name of the first column, which says who wrote the stories.
const SYSTEM: &str = "Model";

/// Reads a file in the layout of `hanna_metric_scores.csv`.
///
/// Systems keep the order of the rows. An item is the 0-based position of the prompt in the lists.
/// The six criteria are human columns and all others are metrics, with the names of the file
/// ([`hanna_metric_name`] strips the glyphs) and the direction that each metric has by construction
/// or convention.
///
/// # Errors
/// Returns an error if the file has another layout, or a cell is not a list of as many numbers as
/// the others.
pub fn hanna_scores(path: &Path) -> Result<ScoreTable> {
    let source = Source::open(path, &[])?;
    source.check_text(path)?;
    read(LineReader::new(source.into_stream(), path, ReadOptions::default().max_line), path)
}

/// Whether a file that begins with this text has HANNA's layout. Other tables may begin with the
/// same word, but their cells are not lists.
pub(super) fn is_start(first: &str) -> bool {
    let named = first.strip_prefix(SYSTEM).is_some_and(|after| after.starts_with(','));
    let second = first.lines().nth(1).unwrap_or_default();
    named && (second.is_empty() || second.contains('[') || !second.contains(','))
}

pub(super) fn read(mut lines: LineReader, path: &Path) -> Result<ScoreTable> {
    let Some((header, place)) = record(&mut lines, Dialect::CSV, path)? else {
        return Err(Error::invalid(Place::file(path), "the file is empty"));
    };
    let names = names_of(&header, Format::Csv, MAX_COLUMNS, &place)?;
    check_header(&names, &place)?;

    let mut systems: Vec<(String, Option<u64>)> = Vec::new();
    let mut first_lines: HashMap<String, u64> = HashMap::new();
    let mut items = None;
    let mut columns: Vec<Vec<Value>> = vec![Vec::new(); names.len() - 1];
    while let Some((text, place)) = record(&mut lines, Dialect::CSV, path)? {
        let cells = cells(&text, names.len(), &place)?;
        let system = cells[0].trim();
        if system.is_empty() {
            return Err(Error::invalid(place.in_field(SYSTEM), "the system has no name"));
        }
        let line = place.line.unwrap_or_default();
        if let Some(first) = first_lines.insert(system.to_owned(), line) {
            let problem =
                format!("duplicate system {}: it was first used on line {first}", quoted(system));
            return Err(Error::invalid(place.in_field(SYSTEM), problem));
        }
        systems.push((system.to_owned(), place.line));
        for ((name, cell), column) in names.iter().zip(&cells).skip(1).zip(&mut columns) {
            let wrong =
                |problem: String| Error::invalid(place.clone().in_field(cut(name)), problem);
            let numbers: Vec<Option<f64>> = serde_json::from_str(cell).map_err(|e| {
                let problem = format!("{} at character {}", problem(&e), e.column());
                wrong(format!("not a JSON list of numbers: {problem}"))
            })?;
            let expected = *items.get_or_insert(numbers.len());
            if numbers.len() != expected {
                return Err(wrong(format!(
                    "the list has {} numbers, but those before it have {expected}",
                    numbers.len()
                )));
            }
            column.extend(numbers.into_iter().map(|number| number.ok_or(Absence::NotGiven)));
        }
    }
    let Some(items) = items else {
        return Err(Error::invalid(Place::file(path), "the file has no row of scores"));
    };

    let row = |system: &str, item: usize, line| Row {
        id: format!("{system}/{item}"),
        system: Some(system.to_owned()),
        item: item.to_string(),
        line,
        ..Row::default()
    };
    let rows = systems
        .iter()
        .flat_map(|(system, line)| (0..items).map(move |item| row(system, item, *line)));
    let mut table = ScoreTable::new(rows.collect()).read_from(path);
    for (name, values) in names.into_iter().skip(1).zip(columns) {
        let column = if CRITERIA.contains(&name.as_str()) {
            Column::criterion(name)
        } else {
            let direction = direction(&name);
            Column::metric(name, direction)
        };
        table.push(column, values);
    }
    Ok(table)
}

fn check_header(names: &[String], place: &Place) -> Result<()> {
    if names[0] != SYSTEM || names.len() < 2 {
        let problem = format!(
            "the first column must be \"{SYSTEM}\", and the others one per score; it is {}",
            quoted(&names[0])
        );
        return Err(Error::invalid(place.clone(), problem));
    }
    check_names(names, place)
}

/// The metric's name without the glyphs that say what it needs: `BLEU Ξ§` is `BLEU`.
///
/// The first glyph is Ξ for a metric with a reference and ¤ for one without. The second is § for
/// strings, ε for embeddings and Δ for a model.
///
/// ```
/// use storymeter_core::read::hanna_metric_name;
/// assert_eq!(hanna_metric_name("ROUGE-1 Recall Ξ§"), "ROUGE-1 Recall");
/// assert_eq!(hanna_metric_name("Relevance"), "Relevance");
/// ```
pub fn hanna_metric_name(column: &str) -> &str {
    let Some((name, glyphs)) = column.rsplit_once(' ') else { return column };
    let mut glyphs = glyphs.chars();
    match (glyphs.next(), glyphs.next(), glyphs.next()) {
        (Some('Ξ' | '¤'), Some('§' | 'ε' | 'Δ'), None) => name,
        _ => column,
    }
}

/// Distances and rates of repetition point down. What only describes the text has no direction. All
/// others point up.
fn direction(column: &str) -> Direction {
    let name = hanna_metric_name(column);
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(&["DepthScore", "BaryScore-", "InfoLM-", "Repetition-"]) {
        Direction::Lower
    } else if starts(&["Coverage", "Density", "Compression", "Text length", "Novelty-"]) {
        Direction::None
    } else {
        Direction::Higher
    }
}
