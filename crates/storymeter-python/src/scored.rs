//! What comes of scoring.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};
use storymeter::core::write::{Layout, ScoreLine, ScoreLines};
use storymeter::core::{Column, Key, Progress, Row, Value};
use storymeter::input::{Inputs, ReferenceFiles};
use storymeter::ledger::{Resampling, Summary};
use storymeter::{ReadyScorer, Run, Scored as Batch};

use crate::errors::Failure;

/// The scores of stories. `storymeter.ScoreResult` is the public class.
#[pyclass(frozen, module = "storymeter._native")]
pub struct Scored {
    rows: Vec<Row>,
    /// By story: the number of its record in the input.
    numbers: Vec<u64>,
    /// By column, by story.
    values: Vec<Vec<Value>>,
    columns: Vec<Column>,
    run: Run,
    all: Summary,
    systems: Vec<Summary>,
    signatures: Vec<String>,
}

/// A column of a summary: the score, the reason of its absence, and the interval.
pub type Cell = (Option<f64>, Option<String>, Option<(f64, f64)>);

/// A summary: the system, the number of stories, and the columns.
pub type SummaryRow = (Option<String>, usize, Vec<Cell>);

/// What Python gets of a summary.
pub fn summary_row(summary: &Summary) -> SummaryRow {
    let cells = summary.columns.iter().map(|column| {
        let interval = column.interval.map(|interval| (interval.low, interval.high));
        let reason = column.score.as_ref().err().map(ToString::to_string);
        (column.score.as_ref().ok().copied(), reason, interval)
    });
    (summary.system.clone(), summary.stories, cells.collect())
}

impl Scored {
    /// Scores the stories of an input.
    pub fn new(
        scorer: &ReadyScorer,
        inputs: &Inputs,
        references: &ReferenceFiles,
        resampling: &Resampling,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let width = scorer.metrics().columns().len();
        let mut rows = Vec::new();
        let mut numbers = Vec::new();
        let mut values: Vec<Vec<Value>> = vec![Vec::new(); width];
        let keep = |scored: Batch<'_>| -> Result<_, Failure> {
            let kept = scored.records.iter().enumerate().map(|(at, record)| {
                let story = &record.story;
                let row = Row {
                    id: story.id.clone(),
                    system: story.system.clone(),
                    item: story.item().to_owned(),
                    ratings: story.ratings.clone(),
                    line: record.place.line,
                };
                (record.number, row, scored.batch.values(at).to_vec())
            });
            Ok(kept.collect::<Vec<_>>())
        };
        let run = scorer.over(inputs, references, progress, keep, |kept| {
            for (number, row, own) in kept {
                numbers.push(number);
                rows.push(row);
                values.iter_mut().zip(own).for_each(|(column, value)| column.push(value));
            }
            Ok::<(), Failure>(())
        })?;
        progress.begin("drawing intervals");
        let (ledger, metrics) = (run.ledger(), run.metrics());
        let all = ledger.all(metrics, resampling);
        let systems = ledger.by_system(metrics, resampling, progress);
        let signatures = run.signatures(resampling).iter().map(ToString::to_string).collect();
        let columns = run.columns();
        Ok(Self { rows, numbers, values, columns, run, all, systems, signatures })
    }

    fn keys(&self) -> Vec<Key> {
        self.columns.iter().map(|column| column.key.clone()).collect()
    }
}

#[pymethods]
impl Scored {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The keys of the scores.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.key.to_string()).collect()
    }

    /// The scores of a column as bytes of f64 in the machine's order. Absent ones are NaN.
    fn values<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyByteArray>> {
        let values = &self.values[column];
        PyByteArray::new_with(py, values.len() * 8, |bytes| {
            for (place, value) in bytes.chunks_exact_mut(8).zip(values) {
                place.copy_from_slice(&value.as_ref().copied().unwrap_or(f64::NAN).to_ne_bytes());
            }
            Ok(())
        })
    }

    /// Why scores of a column are absent, by the position of the story.
    fn absent<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyDict>> {
        let reasons = PyDict::new(py);
        for (at, value) in self.values[column].iter().enumerate() {
            if let Err(absence) = value {
                reasons.set_item(at, absence.to_string())?;
            }
        }
        Ok(reasons)
    }

    /// The summaries: all stories first, then each system. Each is the system, the number of
    /// stories and, by column, the score, the reason of its absence, and the interval.
    fn summaries(&self) -> Vec<SummaryRow> {
        std::iter::once(&self.all).chain(&self.systems).map(summary_row).collect()
    }

    /// One signature per metric, for the scores of all stories together.
    #[getter]
    fn signatures(&self) -> Vec<String> {
        self.signatures.clone()
    }

    /// By story: the number of its record in the input.
    #[getter]
    fn numbers(&self) -> Vec<u64> {
        self.numbers.clone()
    }

    /// The ids of the stories.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.rows.iter().map(|row| &row.id))
    }

    /// The systems of the stories.
    #[getter]
    fn systems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.rows.iter().map(|row| &row.system))
    }

    /// The items of the stories.
    #[getter]
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.rows.iter().map(|row| &row.item))
    }

    /// How many bad records were skipped, and what was wrong with the first ones.
    #[getter]
    fn skipped(&self) -> (u64, Vec<String>) {
        (self.run.skipped.count, self.run.skipped.messages.clone())
    }

    /// The lines that the command line writes to a JSONL file.
    fn json_lines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let lines = ScoreLines::new(Layout::Jsonl, self.keys());
        let mut out = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let values: Vec<Value> = self.values.iter().map(|column| column[at].clone()).collect();
            let line = ScoreLine {
                id: &row.id,
                system: row.system.as_deref(),
                item: &row.item,
                values: &values,
                ratings: &row.ratings,
                explanation: None,
            };
            lines.line(&mut out, &line)?;
        }
        Ok(PyBytes::new(py, &out))
    }
}
