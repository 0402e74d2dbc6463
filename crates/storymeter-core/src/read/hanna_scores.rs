//! HANNA's published scores: a CSV with one row a system, every cell a JSON list with one number a prompt.

use std::collections::HashSet;
use std::path::Path;

use super::delimited::{cut_csv, fields};
use super::hanna::CRITERIA;
use super::lines::LineReader;
use super::raw::{Cut, utf8};
use super::source::Source;
use super::{Format, ReadOptions};
use crate::{Column, Direction, Error, Place, Result, Role, ScoreTable};

/// The first column: who wrote the stories.
const SYSTEM: &str = "Model";

/// Reads a file in the layout of `hanna_metric_scores.csv`.
///
/// Systems keep the order of the rows; an item is the prompt's 0-based position in the lists. The six criteria
/// are human columns, all others metrics, with the file's own names ([`hanna_metric_name`] strips the glyphs)
/// and the direction each metric has by construction or convention.
pub fn hanna_scores(path: &Path) -> Result<ScoreTable> {
    let max = ReadOptions::default().max_line;
    let mut lines = LineReader::new(Source::open(path, None)?.into_stream(), path, max);
    let Some((header, place)) = row(&mut lines, path)? else {
        return Err(Error::invalid(Place::file(path), "the file is empty"));
    };
    let names: Vec<String> =
        fields(&header, Format::Csv).map(|name| name.trim().to_owned()).collect();
    check_header(&names, &place)?;

    let mut systems = Vec::new();
    let mut items = None;
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len() - 1];
    while let Some((text, place)) = row(&mut lines, path)? {
        let cells: Vec<_> = fields(&text, Format::Csv).collect();
        if cells.len() != names.len() {
            let problem = format!("{} fields where the header has {}", cells.len(), names.len());
            return Err(Error::invalid(place, problem));
        }
        let system = cells[0].trim();
        if system.is_empty() || systems.iter().any(|known| known == system) {
            let problem = format!("system \"{system}\" is empty or was here before");
            return Err(Error::invalid(place.in_field(SYSTEM), problem));
        }
        systems.push(system.to_owned());
        for ((name, cell), column) in names.iter().zip(&cells).skip(1).zip(&mut columns) {
            let wrong = |problem: String| Error::invalid(place.clone().in_field(name), problem);
            let numbers: Vec<Option<f64>> = serde_json::from_str(cell)
                .map_err(|e| wrong(format!("not a JSON list of numbers: {e}")))?;
            let expected = *items.get_or_insert(numbers.len());
            if numbers.len() != expected {
                return Err(wrong(format!(
                    "{} numbers where the lists before have {expected}",
                    numbers.len()
                )));
            }
            column.extend(numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)));
        }
    }
    let Some(items) = items else {
        return Err(Error::invalid(Place::file(path), "no row of scores is in the file"));
    };

    let mut table = ScoreTable::new(systems, (0..items).map(|item| item.to_string()).collect());
    for (name, values) in names.into_iter().skip(1).zip(&columns) {
        let role = if CRITERIA.contains(&name.as_str()) { Role::Human } else { Role::Metric };
        let direction = direction(&name);
        table.push_column(Column { name, role, direction, signature: None }, values);
    }
    Ok(table)
}

/// The next row and its place; a bad one is an error, since every number counts here.
fn row(lines: &mut LineReader, path: &Path) -> Result<Option<(String, Place)>> {
    let Some(Cut { line, body }) = cut_csv(lines)? else { return Ok(None) };
    let place = Place::file(path).at_line(line);
    match body {
        Ok(bytes) => Ok(Some((utf8(bytes, &place)?, place))),
        Err(problem) => Err(Error::invalid(place, problem)),
    }
}

fn check_header(names: &[String], place: &Place) -> Result<()> {
    if names[0] != SYSTEM || names.len() < 2 {
        let problem = format!(
            "the first column must be \"{SYSTEM}\", then one a score; it is \"{}\"",
            names[0]
        );
        return Err(Error::invalid(place.clone(), problem));
    }
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(twice) => {
            Err(Error::invalid(place.clone(), format!("column \"{twice}\" is there twice")))
        }
        None => Ok(()),
    }
}

/// The metric's name without the glyphs that say what it needs: `BLEU Ξ§` is `BLEU`.
///
/// The first glyph is Ξ for a metric with a reference and ¤ for one without, the second § for strings, ε for
/// embeddings, Δ for a model.
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

/// Distances and repetition rates point down; what only describes the text points nowhere; the rest up.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Result<ScoreTable> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scores.csv");
        std::fs::write(&path, content).unwrap();
        hanna_scores(&path)
    }

    fn message(content: &str) -> String {
        let message = read(content).unwrap_err().to_string();
        message.split_once("scores.csv").expect("the file is named").1.to_owned()
    }

    #[test]
    fn every_cell_is_a_list_with_one_number_a_prompt() {
        let table = read(
            "Model,Relevance,BLEU Ξ§,DepthScore Ξε,Text length ¤§\n\
             Human,\"[1, 2.5]\",\"[100.0, 99]\",\"[0, 1e-9]\",\"[7, 8]\"\n\
             Tale,\"[3, 4]\",\"[5, 6]\",\"[7, null]\",\"[9, 10]\"\n",
        )
        .unwrap();
        assert_eq!(table.systems(), ["Human", "Tale"]);
        assert_eq!(table.items(), ["0", "1"]);
        let seen: Vec<_> = table
            .columns()
            .iter()
            .map(|c| (hanna_metric_name(&c.name), c.role, c.direction))
            .collect();
        assert_eq!(
            seen,
            [
                ("Relevance", Role::Human, Direction::Higher),
                ("BLEU", Role::Metric, Direction::Higher),
                ("DepthScore", Role::Metric, Direction::Lower),
                ("Text length", Role::Metric, Direction::None),
            ]
        );
        assert_eq!(table.values(1), [100.0, 99.0, 5.0, 6.0]);
        assert_eq!(table.row(2, 0), [0.0, 1e-9]);
        assert!(table.row(2, 1)[1].is_nan());
    }

    #[test]
    fn what_is_wrong_is_named_with_line_and_field() {
        assert_eq!(
            message("Model,BLEU\nA,\"[1, 2]\"\nB,\"[1]\"\n"),
            ":3: field \"BLEU\": 1 numbers where the lists before have 2"
        );
        assert_eq!(
            message("Model,BLEU\nA,\"[1, two]\"\n"),
            ":2: field \"BLEU\": not a JSON list of numbers: expected ident at line 1 column 6"
        );
        assert_eq!(message("Model,BLEU\nA\n"), ":2: 1 fields where the header has 2");
        assert_eq!(
            message("Model,BLEU\nA,[1]\nA,[1]\n"),
            ":3: field \"Model\": system \"A\" is empty or was here before"
        );
        assert_eq!(message("Model,BLEU\n"), ": no row of scores is in the file");
        assert_eq!(message(""), ": the file is empty");
        assert_eq!(
            message("story\nA\n"),
            ":1: the first column must be \"Model\", then one a score; it is \"story\""
        );
    }
}
