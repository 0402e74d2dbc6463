//! Everything a report is made from.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;
use storymeter_core::{Error as CoreError, Place};
use storymeter_meta::{Document, Form, Sheet};

use crate::error::{Error, Result};
use crate::stories::StoryTable;

/// One result of `storymeter meta`, under the name a reader knows it by.
#[derive(Debug, Clone)]
pub struct Run {
    /// The folder's name, made unique where two folders share it.
    pub name: String,
    /// The result.
    pub document: Document,
}

/// Everything a report is made from.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The results, in the order given.
    pub runs: Vec<Run>,
    /// Scores by file, in the order given, before stories were joined to the first.
    pub scores: Vec<(String, StoryTable)>,
    /// Training logs as curves.
    pub logs: Vec<Sheet>,
    /// Scores, ratings and texts of the stories the browser shows.
    pub stories: StoryTable,
}

impl Inputs {
    /// Reads folders of `storymeter meta -o`, files of `storymeter score -o`, HANNA's score file (`.csv`), training
    /// logs (JSONL whose lines have a `step` or an `epoch`), and a file of stories.
    pub fn read(paths: &[PathBuf], stories: Option<&Path>) -> Result<Self> {
        let mut inputs = Self::default();
        for path in paths {
            if path.is_dir() {
                inputs.read_folder(path)?;
            } else if path.extension().is_some_and(|e| e == "csv") {
                inputs.scores.push((name_of(path), StoryTable::of_hanna(path)?));
            } else if let Some(log) = training_log(path)? {
                inputs.logs.push(log);
            } else {
                inputs.scores.push((name_of(path), StoryTable::of_scores(path)?));
            }
        }
        if let Some((_, first)) = inputs.scores.first() {
            inputs.stories = first.clone();
        }
        if let Some(path) = stories {
            inputs.stories.join(path)?;
        }
        if inputs.runs.is_empty() && inputs.logs.is_empty() && inputs.stories.is_empty() {
            return Err(Error::Empty);
        }
        Ok(inputs)
    }

    fn read_folder(&mut self, folder: &Path) -> Result<()> {
        let path = folder.join("result.json");
        if !path.is_file() {
            return Err(Error::NotAResult(folder.to_owned()));
        }
        let text = fs::read_to_string(&path).map_err(|e| CoreError::io(Place::file(&path), e))?;
        let document: Document = serde_json::from_str(&text).map_err(|e| {
            CoreError::invalid(Place::file(&path).at_line(e.line() as u64), e.to_string())
        })?;
        for sheet in &document.sheets {
            if sheet.rows.iter().any(|row| row.len() != sheet.columns.len()) {
                let problem = format!("sheet {}: a row is not as long as the columns", sheet.id);
                return Err(
                    CoreError::invalid(Place::file(&path).in_field("sheets"), problem).into()
                );
            }
        }
        let base = name_of(folder);
        let taken = |name: &str| self.runs.iter().any(|run| run.name == name);
        let mut name = base.clone();
        let mut copy = 2;
        while taken(&name) {
            name = format!("{base} ({copy})");
            copy += 1;
        }
        self.runs.push(Run { name, document });
        Ok(())
    }
}

/// The last part of a path that has a name.
fn name_of(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = full.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// A training log as one curve a quantity, or `None` where the file is none: no line has a `step` or an `epoch`.
///
/// Lines of an epoch stand at the last step before them; lines with neither (a start, an end) are passed over.
fn training_log(path: &Path) -> Result<Option<Sheet>> {
    let file = fs::File::open(path).map_err(|e| CoreError::io(Place::file(path), e))?;
    let mut points: Vec<(f64, Vec<(String, f64)>)> = Vec::new();
    let mut last_step = None;
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let Ok(line) = line else { return Ok(None) };
        if line.trim().is_empty() {
            continue;
        }
        let object = match serde_json::from_str(&line) {
            Ok(Value::Object(object)) => object,
            _ if points.is_empty() => return Ok(None),
            _ => {
                let place = Place::file(path).at_line(at as u64 + 1);
                return Err(CoreError::invalid(place, "not a line of a training log").into());
            }
        };
        if object.contains_key("scores") || object.contains_key("story") {
            return Ok(None);
        }
        let number = |key: &str| object.get(key).and_then(Value::as_f64);
        last_step = number("step").or(last_step);
        let Some(clock) =
            number("step").or_else(|| number("epoch").map(|epoch| last_step.unwrap_or(epoch)))
        else {
            continue;
        };
        let mut numbers = Vec::new();
        for (key, value) in &object {
            collect_numbers(key, value, &mut numbers);
        }
        match points.last_mut() {
            Some(last) if last.0 == clock => last.1.append(&mut numbers),
            _ => points.push((clock, numbers)),
        }
    }
    if points.is_empty() {
        return Ok(None);
    }
    Ok(Some(curves(&name_of(path), &points)))
}

/// Numbers of a line, those of nested objects under `outer.inner`.
fn collect_numbers(name: &str, value: &Value, out: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(number) if !matches!(name, "step" | "epoch") => {
            out.extend(number.as_f64().map(|n| (name.to_owned(), n)));
        }
        Value::Object(inner) => {
            inner
                .iter()
                .for_each(|(key, value)| collect_numbers(&format!("{name}.{key}"), value, out));
        }
        _ => {}
    }
}

/// At most so many points a curve: more cannot be told apart on a page.
const CURVE_POINTS: usize = 400;

fn curves(name: &str, points: &[(f64, Vec<(String, f64)>)]) -> Sheet {
    let stride = points.len().div_ceil(CURVE_POINTS);
    let kept: Vec<_> = points
        .iter()
        .enumerate()
        // Lines of evaluations are rare and hold other quantities: none of them may fall between the steps.
        .filter(|(at, (_, numbers))| {
            at % stride == 0 || *at + 1 == points.len() || numbers.len() != points[0].1.len()
        })
        .map(|(_, point)| point)
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in kept.iter().flat_map(|point| &point.1) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let stem = name.split('.').next().unwrap_or(name);
    let mut sheet =
        Sheet::new(format!("training-{stem}"), format!("Training curves: {name}"), Form::Lines)
            .columns(["quantity", "curve"], 0)
            .columns(kept.iter().map(|point| point.0.to_string()), 4);
    if stride > 1 {
        sheet = sheet.note(format!("every {stride}th of {} lines", points.len()));
    }
    for quantity in names {
        let mut row = vec![quantity.into(), quantity.into()];
        row.extend(kept.iter().map(|point| {
            let found = point
                .1
                .iter()
                .find(|(name, _)| name == quantity)
                .map_or(f64::NAN, |(_, value)| *value);
            storymeter_meta::Cell::number(found, "not logged here")
        }));
        sheet.push(row);
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_training_log_gives_one_curve_a_quantity() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let lines = [
            r#"{"settings": {}}"#,
            r#"{"step": 1, "loss": 2.5}"#,
            r#"{"step": 2, "loss": 2.0}"#,
            r#"{"epoch": 1, "dev": {"accuracy": 0.5}}"#,
        ];
        fs::write(&path, lines.join("\n")).unwrap();
        let sheet = training_log(&path).unwrap().unwrap();
        assert_eq!(sheet.value("loss", "2"), 2.0);
        assert_eq!(sheet.value("dev.accuracy", "2"), 0.5);
        assert!(sheet.value("dev.accuracy", "1").is_nan());
    }

    #[test]
    fn a_broken_line_in_a_log_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        fs::write(&path, "{\"step\":1,\"loss\":2.5}\n{\"step\":").unwrap();
        let message = training_log(&path).unwrap_err().to_string();
        assert!(message.contains("log.jsonl") && message.contains('2'), "{message}");
    }
}
