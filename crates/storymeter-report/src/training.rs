//! Training logs: JSONL with one object per step or epoch, shown as one curve per quantity.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::{Map, Value};
use storymeter_core::{Error as CoreError, Place};

use crate::error::Result;

/// The most points of a curve; more cannot be told apart on a page.
const MOST_POINTS: usize = 400;

/// The numbers of a training run over time.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingLog {
    /// The name of the file.
    pub name: String,
    /// The steps at which something was logged. A log that counts only epochs has these instead.
    pub steps: Vec<f64>,
    /// What was logged, in order of first appearance.
    pub quantities: Vec<Quantity>,
    /// Remarks for the reader, such as that not every line is drawn.
    pub notes: Vec<String>,
}

/// One quantity of a training log, such as the loss.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The name; the numbers of nested objects are called `outer.inner`.
    pub name: String,
    /// One value per step; `None` where the quantity was not logged.
    pub values: Vec<Option<f64>>,
}

/// What was logged at one step.
struct Point {
    step: f64,
    numbers: Vec<(String, f64)>,
}

impl TrainingLog {
    /// Reads a training log; `None` where the file is not one.
    ///
    /// A log is JSONL in which a line has a `step` or an `epoch`. The line of an epoch stands at
    /// the last step before it. Lines with neither, such as the settings at the start, are passed
    /// over.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("log.jsonl");
    /// std::fs::write(&path, "{\"step\": 1, \"loss\": 2.5}\n{\"step\": 2, \"loss\": 2.25}\n")?;
    /// let log = storymeter_report::TrainingLog::read(&path, "log.jsonl")?.expect("a log");
    /// assert_eq!(log.quantity("loss").unwrap().values, [Some(2.5), Some(2.25)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where the file cannot be read, or a line after the first points is broken.
    pub fn read(path: &Path, name: &str) -> Result<Option<Self>> {
        let file = fs::File::open(path).map_err(|e| CoreError::io(Place::file(path), e))?;
        let mut points: Vec<Point> = Vec::new();
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
            let epoch = || number("epoch").map(|epoch| last_step.unwrap_or(epoch));
            let Some(step) = number("step").or_else(epoch) else { continue };
            let mut numbers = numbers_in(&object);
            match points.last_mut() {
                Some(last) if last.step == step => last.numbers.append(&mut numbers),
                _ => points.push(Point { step, numbers }),
            }
        }
        Ok((!points.is_empty()).then(|| Self::from_points(name, &points)))
    }

    fn from_points(name: &str, points: &[Point]) -> Self {
        let stride = points.len().div_ceil(MOST_POINTS);
        // Lines of evaluations are rare and hold other quantities than those of steps. All of them
        // are kept.
        let is_kept = |at: usize| {
            let is_usual = points[at].numbers.len() == points[0].numbers.len();
            at.is_multiple_of(stride) || at + 1 == points.len() || !is_usual
        };
        let kept: Vec<&Point> =
            (0..points.len()).filter(|&at| is_kept(at)).map(|at| &points[at]).collect();
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in kept.iter().flat_map(|point| &point.numbers) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let value = |point: &&Point, wanted: &str| {
            point.numbers.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value)
        };
        let quantity = |name: &&str| Quantity {
            name: (*name).to_owned(),
            values: kept.iter().map(|point| value(point, name)).collect(),
        };
        let notes = match stride {
            1 => Vec::new(),
            _ => vec![format!("{} of {} lines are drawn", kept.len(), points.len())],
        };
        Self {
            name: name.to_owned(),
            steps: kept.iter().map(|point| point.step).collect(),
            quantities: names.iter().map(quantity).collect(),
            notes,
        }
    }

    /// The quantity of that name.
    pub fn quantity(&self, name: &str) -> Option<&Quantity> {
        self.quantities.iter().find(|quantity| quantity.name == name)
    }
}

/// All numbers of a line but its step and epoch.
fn numbers_in(object: &Map<String, Value>) -> Vec<(String, f64)> {
    fn collect(name: &str, value: &Value, numbers: &mut Vec<(String, f64)>) {
        match value {
            Value::Number(number) => {
                numbers.extend(number.as_f64().map(|number| (name.to_owned(), number)));
            }
            Value::Object(inner) => inner
                .iter()
                .for_each(|(key, value)| collect(&format!("{name}.{key}"), value, numbers)),
            _ => {}
        }
    }
    let mut numbers = Vec::new();
    let logged = object.iter().filter(|(name, _)| !matches!(name.as_str(), "step" | "epoch"));
    logged.for_each(|(name, value)| collect(name, value, &mut numbers));
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Result<Option<TrainingLog>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        fs::write(&path, content).unwrap();
        TrainingLog::read(&path, "log.jsonl")
    }

    #[test]
    fn a_log_has_one_curve_per_quantity() {
        let lines = [
            r#"{"settings": {"rate": 1}}"#,
            r#"{"step": 1, "loss": 2.5}"#,
            r#"{"step": 2, "loss": 2.0}"#,
            r#"{"epoch": 1, "dev": {"accuracy": 0.5}}"#,
        ];
        let log = read(&lines.join("\n")).unwrap().unwrap();
        assert_eq!(log.steps, [1.0, 2.0]);
        assert_eq!(log.quantity("loss").unwrap().values, [Some(2.5), Some(2.0)]);
        assert_eq!(log.quantity("dev.accuracy").unwrap().values, [None, Some(0.5)]);
        assert_eq!(log.quantities.len(), 2, "settings are not drawn");
    }

    #[test]
    fn a_long_log_is_thinned_but_keeps_every_evaluation() {
        let mut lines: Vec<String> =
            (1..=1000).map(|step| format!("{{\"step\": {step}, \"loss\": 1.5}}")).collect();
        lines.insert(333, r#"{"epoch": 1, "dev": 0.5}"#.into());
        let log = read(&lines.join("\n")).unwrap().unwrap();
        assert!(log.steps.len() < 400, "{}", log.steps.len());
        assert!(log.quantity("dev").unwrap().values.contains(&Some(0.5)));
        assert_eq!(log.notes.len(), 1);
    }

    #[test]
    fn a_broken_line_is_named_and_other_files_are_not_logs() {
        let message = read("{\"step\":1,\"loss\":2.5}\n{\"step\":").unwrap_err().to_string();
        assert!(message.ends_with("log.jsonl:2: not a line of a training log"), "{message}");
        assert_eq!(read("{\"id\":\"a\",\"scores\":{\"m\":1},\"step\":3}").unwrap(), None);
        assert_eq!(read("id,m\na,1\n").unwrap(), None);
    }
}
