//! Training logs: JSONL with one object per step or epoch, shown as one curve per quantity.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Map, Value};
use storymeter_core::{Error as CoreError, Place, file};

use crate::error::Result;

/// The most points of a curve; more cannot be told apart on a page.
const MOST_POINTS: usize = 400;

/// The most quantities that are drawn.
const MOST_QUANTITIES: usize = 100;
/// The largest log that is read.
const MOST_BYTES: u64 = 1 << 30;

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
    /// Returns an error if the file cannot be read, or a line after the first points is broken.
    pub fn read(path: &Path, name: &str) -> Result<Option<Self>> {
        Self::parse(&file::read(path, MOST_BYTES)?, path, name)
    }

    /// Reads a training log from the content of a file; `None` where it is not one.
    pub(crate) fn parse(content: &[u8], path: &Path, name: &str) -> Result<Option<Self>> {
        let mut points: Vec<Point> = Vec::new();
        let mut last_step = None;
        for (at, line) in content.split(|&byte| byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let object = match serde_json::from_slice(line) {
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
        let kept = thinned(points);
        let mut seen = HashSet::new();
        let logged = kept.iter().flat_map(|point| &point.numbers).map(|(name, _)| name.as_str());
        let names: Vec<&str> = logged.filter(|name| seen.insert(*name)).collect();
        let value = |point: &&Point, wanted: &str| {
            point.numbers.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value)
        };
        let quantity = |name: &&str| Quantity {
            name: (*name).to_owned(),
            values: kept.iter().map(|point| value(point, name)).collect(),
        };
        let mut notes = Vec::new();
        if kept.len() < points.len() {
            notes.push(format!("{} of {} lines are drawn", kept.len(), points.len()));
        }
        if names.len() > MOST_QUANTITIES {
            notes.push(format!("{MOST_QUANTITIES} of {} quantities are drawn", names.len()));
        }
        Self {
            name: name.to_owned(),
            steps: kept.iter().map(|point| point.step).collect(),
            quantities: names.iter().take(MOST_QUANTITIES).map(quantity).collect(),
            notes,
        }
    }

    /// The quantity of that name.
    pub fn quantity(&self, name: &str) -> Option<&Quantity> {
        self.quantities.iter().find(|quantity| quantity.name == name)
    }
}

/// As many points as can be told apart.
///
/// Lines of evaluations are rare and hold other quantities than those of steps. All of them are
/// kept, unless these are too many as well.
fn thinned(points: &[Point]) -> Vec<&Point> {
    let is_usual = |point: &Point| point.numbers.len() == points[0].numbers.len();
    let unusual = points.iter().filter(|point| !is_usual(point)).count();
    let (stride, unusual_stride) =
        (points.len().div_ceil(MOST_POINTS), unusual.div_ceil(MOST_POINTS).max(1));
    let mut seen = 0;
    let mut kept = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let is_unusual = !is_usual(point);
        let is_due = is_unusual && seen % unusual_stride == 0;
        seen += usize::from(is_unusual);
        if at.is_multiple_of(stride) || at + 1 == points.len() || is_due {
            kept.push(point);
        }
    }
    kept
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
        std::fs::write(&path, content).unwrap();
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
    fn a_log_with_other_quantities_on_every_line_stays_small() {
        let line = |step: usize| {
            let own: Vec<String> =
                (0..step % 7).map(|q| format!("\"q{step}-{q}\":1e308")).collect();
            format!("{{\"step\":{step},\"loss\":-1e308,\"own\":{{{}}}}}\n", own.join(","))
        };
        let log = read(&(0..5000).map(line).collect::<String>()).unwrap().unwrap();
        assert!(log.steps.len() <= 3 * MOST_POINTS, "{}", log.steps.len());
        assert_eq!(log.quantities.len(), MOST_QUANTITIES);
        assert_eq!(log.notes.len(), 2, "{:?}", log.notes);
    }

    #[test]
    fn a_broken_line_is_named_and_other_files_are_not_logs() {
        let message = read("{\"step\":1,\"loss\":2.5}\n{\"step\":").unwrap_err().to_string();
        assert!(message.ends_with("log.jsonl:2: not a line of a training log"), "{message}");
        assert_eq!(read("{\"id\":\"a\",\"scores\":{\"m\":1},\"step\":3}").unwrap(), None);
        assert_eq!(read("id,m\na,1\n").unwrap(), None);
    }
}
