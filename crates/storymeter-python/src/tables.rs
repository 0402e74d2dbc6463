//! Score tables and sheets, which `correlate`, `compare` and `meta` share.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use storymeter::ScoreTable;
use storymeter_core::{ColumnView, Direction, Ratings, Role, Row};
use storymeter_meta::study::{IntervalMethod, Sides, Test};
use storymeter_meta::view::{Sheet, text};
use storymeter_meta::{Coefficient, Correction};
use storymeter_meta::{DrawOptions, PairOptions, Settings};

use crate::errors::{self, Failure};
use crate::scored::Scored;
use crate::work;

/// A score table. Python's functions hand it around and never show it.
#[pyclass(frozen, module = "storymeter._native")]
pub struct Table {
    pub table: Arc<ScoreTable>,
    /// The files that it was read from.
    pub files: Vec<PathBuf>,
    /// The texts of the stories, where they are known.
    pub texts: Option<Vec<Option<String>>>,
}

/// A column: its key, and a number per story.
type Numbers = (String, Vec<Option<f64>>);

#[pymethods]
impl Table {
    /// Reads score files, and joins several of them by system and id.
    #[staticmethod]
    fn read(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<Self> {
        work::run(py, 0, None, move |_| {
            let table = Arc::new(storymeter::read_all(&files)?);
            Ok(Self { table, files, texts: None })
        })
    }

    /// Makes a table of columns of the same length. Ratings are by criterion, by story, by rater.
    /// Words and flags are by story, where they are known.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "Python calls it with the columns of a frame")]
    fn from_columns(
        py: Python<'_>,
        ids: Vec<String>,
        systems: Vec<Option<String>>,
        items: Vec<Option<String>>,
        scores: Vec<Numbers>,
        ratings: Vec<(String, Vec<Vec<Option<f64>>>)>,
        texts: Option<Vec<Option<String>>>,
        words: Vec<Option<u64>>,
        flags: Vec<Vec<String>>,
    ) -> PyResult<Self> {
        let made = move || {
            let names = ids.into_iter().zip(systems).zip(items);
            let mut rows: Vec<Row> = names
                .map(|((id, system), item)| Row {
                    item: item.unwrap_or_else(|| id.clone()),
                    id,
                    system,
                    ..Row::default()
                })
                .collect();
            rows.iter_mut().zip(words).for_each(|(row, words)| row.words = words);
            rows.iter_mut().zip(flags).for_each(|(row, flags)| row.flags = flags);
            for (criterion, given) in ratings {
                for (row, raters) in rows.iter_mut().zip(given) {
                    rate(&mut row.ratings, &criterion, &raters);
                }
            }
            storymeter::score_table(rows, scores)
        };
        let table = py.detach(made).map_err(|error| errors::error(py, error))?;
        Ok(Self { table: Arc::new(table), files: Vec::new(), texts })
    }

    /// Makes a table of what was scored.
    #[staticmethod]
    fn from_scored(scored: &Scored) -> Self {
        Self { table: Arc::clone(scored.table()), files: Vec::new(), texts: None }
    }

    /// The columns: key, whether it is a criterion, its direction, and a number per story.
    fn columns(&self) -> Vec<(String, bool, String, Vec<Option<f64>>)> {
        let column = |column: ColumnView<'_>| {
            let is_human = column.role == Role::Human;
            let (key, direction) = (column.key.to_string(), column.direction.to_string());
            (key, is_human, direction, column.numbers())
        };
        self.table.views().map(column).collect()
    }

    /// By story, a number of the item that it was written for.
    fn items(&self) -> Vec<usize> {
        storymeter::Numbers::items(self.table.as_ref())
    }
}

/// Adds what raters said; nobody said anything where all are absent.
fn rate(ratings: &mut Ratings, criterion: &str, raters: &[Option<f64>]) {
    if raters.iter().any(Option::is_some) {
        raters.iter().for_each(|&rating| ratings.push(criterion, rating));
    }
}

/// The sheets as JSON, and each of them as the text of a terminal.
pub fn shown(sheets: &[Sheet]) -> Result<(String, Vec<String>), Failure> {
    Ok((serde_json::to_string(sheets)?, sheets.iter().map(text::sheet).collect()))
}

/// The keys of metrics with the directions that a user gives them.
pub fn directions(lower: Vec<String>, higher: Vec<String>) -> Vec<(String, Direction)> {
    let lower = lower.into_iter().map(|name| (name, Direction::Lower));
    lower.chain(higher.into_iter().map(|name| (name, Direction::Higher))).collect()
}

/// The correction of that name.
pub fn correction(name: &str) -> PyResult<Correction> {
    let known = Correction::ALL.map(|one| (one.name(), one));
    choice("correction", name, &known)
}

/// How metrics are compared; Python fills it in.
#[derive(FromPyObject)]
pub struct StudySettings {
    test: String,
    one_sided: bool,
    correction: String,
    interval: String,
    confidence: f64,
    resamples: usize,
    draws: Option<usize>,
    seed: u64,
}

impl StudySettings {
    /// The settings of the library.
    pub fn settings(&self) -> PyResult<Settings> {
        let tests = [Test::Williams, Test::Steiger, Test::Meng, Test::Permutation];
        let intervals = [IntervalMethod::Fisher, IntervalMethod::Percentile, IntervalMethod::Bca];
        let test = choice("test", &self.test, &tests.map(|one| (one.name(), one)))?;
        let correction = correction(&self.correction)?;
        let interval = choice("interval", &self.interval, &intervals.map(|one| (one.name(), one)))?;
        let confidence = share("confidence", self.confidence)?;
        Ok(Settings::default().with(|it| {
            it.test = test;
            it.sides = if self.one_sided { Sides::One } else { Sides::Two };
            it.coefficient = Coefficient::Pearson;
            it.correction = correction;
            it.interval = interval;
            it.confidence = confidence;
            it.resamples = self.resamples;
            it.pairs = PairOptions { draws: self.draws, seed: self.seed };
            it.draws = DrawOptions { seed: self.seed, ..DrawOptions::default() };
        }))
    }
}

/// A number strictly between 0 and 1.
pub fn share(argument: &str, given: f64) -> PyResult<f64> {
    if given > 0.0 && given < 1.0 {
        return Ok(given);
    }
    Err(PyValueError::new_err(format!("{argument}: {given} is not strictly between 0 and 1")))
}

/// The value of a name. An unknown name is an error that lists all.
fn choice<T: Copy>(argument: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(name, _)| *name == given).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        PyValueError::new_err(format!("{argument}: \"{given}\" is none of {}", names.join(", ")))
    })
}
