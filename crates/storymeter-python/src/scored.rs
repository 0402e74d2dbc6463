//! What comes of scoring.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyDict, PyList};
use storymeter::input::Inputs;
use storymeter::summary::{Against, Resampling, Summary};
use storymeter::{Overview, ReadyScorer, Run, ScoreTable, ScoredTable, TextNote};
use storymeter_core::write::ScoreFormat;
use storymeter_core::{Column, Progress, Role, Value};

use crate::errors;
use crate::frame::{self, OutColumn};

/// The scores of stories. `storymeter.ScoreResult` is the public class.
#[pyclass(frozen, module = "storymeter._native")]
pub struct Scored {
    /// The scores, with the ratings of the stories.
    scored: ScoredTable,
    /// Where the columns of scores are in the table.
    metrics: Vec<usize>,
    overview: Overview,
}

/// A column of a summary: the score, the reason of its absence, and the interval.
pub type Cell = (Option<f64>, Option<String>, Option<(f64, f64)>);

/// A summary: the system, the number of stories, and the columns.
pub type SummaryRow = (Option<String>, usize, Vec<Cell>);

/// The format that the name of a score file says.
pub fn format_of(path: &Path) -> PyResult<ScoreFormat> {
    ScoreFormat::of_name(path).ok_or_else(|| {
        PyValueError::new_err(format!(
            "path: \"{}\" does not say which format to write; let it end in .jsonl, .csv or \
             .parquet",
            path.display()
        ))
    })
}

/// What Python gets of a summary.
pub fn summary_row(summary: &Summary) -> SummaryRow {
    let cells = summary.columns.iter().map(|column| {
        let interval = column.interval.map(|interval| (interval.low, interval.high));
        let reason = column.score.as_ref().err().map(ToString::to_string);
        (column.score.as_ref().ok().copied(), reason, interval)
    });
    (summary.system.clone(), summary.stories, cells.collect())
}

/// How many bad records were skipped, and what was wrong with the first ones.
pub fn skipped(run: &Run) -> (u64, Vec<String>) {
    (run.skipped().count, run.skipped().messages.clone())
}

impl Scored {
    /// Scores the stories.
    pub fn new(
        scorer: &ReadyScorer,
        inputs: &Inputs,
        resampling: &Resampling,
        against: Option<&Against>,
        progress: &Progress,
    ) -> storymeter::Result<Self> {
        let scored = scorer.table(inputs, progress)?;
        let overview = Overview::new(&scored.run, resampling, against, progress)?;
        Ok(Self { metrics: scored.table.of_role(Role::Metric), scored, overview })
    }

    /// The score table, with the ratings of the stories.
    pub fn table(&self) -> &Arc<ScoreTable> {
        &self.scored.table
    }

    /// The columns of scores, and a value per story.
    fn score_columns(&self) -> impl Iterator<Item = (&Column, &[Value])> {
        self.metrics
            .iter()
            .map(|&at| (&self.scored.table.columns()[at], self.scored.table.values(at)))
    }

    /// The values of a column of scores.
    fn values_of(&self, column: usize) -> &[Value] {
        self.scored.table.values(self.metrics[column])
    }
}

#[pymethods]
impl Scored {
    fn __len__(&self) -> usize {
        self.scored.table.rows().len()
    }

    /// The keys of the scores.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.score_columns().map(|(column, _)| column.key.to_string()).collect()
    }

    /// The scores of a column as bytes of f64 in the machine's order. Absent ones are NaN.
    fn values<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyByteArray>> {
        let values = self.values_of(column);
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
        for (at, value) in self.values_of(column).iter().enumerate() {
            if let Err(absence) = value {
                reasons.set_item(at, absence.to_string())?;
            }
        }
        Ok(reasons)
    }

    /// The summaries: all stories first, then each system. Each is the system, the number of
    /// stories and, by column, the score, the reason of its absence, and the interval.
    fn summaries(&self) -> Vec<SummaryRow> {
        std::iter::once(&self.overview.all).chain(&self.overview.systems).map(summary_row).collect()
    }

    /// One signature per metric, for the scores of all stories together.
    #[getter]
    fn signatures(&self) -> Vec<String> {
        self.overview.signatures.iter().map(ToString::to_string).collect()
    }

    /// The signature of the metric of a column.
    fn signature_of(&self, column: usize) -> Option<String> {
        let mut parts = self.scored.run.metrics().parts().zip(&self.overview.signatures);
        let found = parts.find(|(part, _)| part.columns.contains(&column));
        found.map(|(_, signature)| signature.to_string())
    }

    /// By story: the number of its record in the input.
    #[getter]
    fn numbers(&self) -> Vec<u64> {
        self.scored.numbers.clone()
    }

    /// The ids of the stories.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.scored.table.rows().iter().map(|row| &row.id))
    }

    /// The systems of the stories.
    #[getter]
    fn systems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.scored.table.rows().iter().map(|row| &row.system))
    }

    /// The items of the stories.
    #[getter]
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.scored.table.rows().iter().map(|row| &row.item))
    }

    /// The number of words of each text.
    #[getter]
    fn words(&self) -> Vec<u64> {
        self.scored.table.rows().iter().map(|row| row.words.unwrap_or_default()).collect()
    }

    /// The flags of each text.
    #[getter]
    fn flags(&self) -> Vec<Vec<String>> {
        self.scored.table.rows().iter().map(|row| row.flags.clone()).collect()
    }

    /// How many bad records were skipped, and what was wrong with the first ones.
    #[getter]
    fn skipped(&self) -> (u64, Vec<String>) {
        skipped(&self.scored.run)
    }

    /// What is worth a word: texts that have no score, that have words to the user or were cleaned,
    /// and stories that were read only in part or have no value.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let texts = self.scored.run.text_notes();
        let texts = texts.iter().map(|note| match note {
            TextNote::NoScore(_) => format!("{note} (keep_refusals=True scores such texts)"),
            TextNote::ToUser(_) => format!("{note} (clean=True removes them)"),
            _ => note.to_string(),
        });
        texts.chain(self.scored.run.notes()).collect()
    }

    /// What was read, in one line.
    #[getter]
    fn summary(&self) -> String {
        self.scored.run.summary().to_string()
    }

    /// The table that the command line prints.
    #[pyo3(name = "table")]
    fn text(&self) -> String {
        self.overview.to_text()
    }

    /// The cells of that table, the names of its columns first.
    fn table_rows(&self) -> Vec<Vec<String>> {
        self.overview.rows()
    }

    /// The lines that the command line writes to a JSONL file.
    fn json_lines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let lines = py.detach(|| self.scored.json_lines());
        Ok(PyBytes::new(py, &lines.map_err(|error| errors::error(py, error))?))
    }

    /// Writes the scores and their header.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let format = format_of(&path)?;
        py.detach(|| self.scored.write(&path, format)).map_err(|error| errors::error(py, error))
    }

    /// A table with id, system, item, words, flags and one column per score.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The consumer casts if it wants other types; the interface allows that.
        let _ = requested_schema;
        let columns = py.detach(|| {
            let rows = || self.scored.table.rows().iter();
            let flags: Vec<String> = rows().map(|row| row.flags.join(", ")).collect();
            let mut columns = vec![
                ("id".to_owned(), OutColumn::texts(rows().map(|row| Some(row.id.as_str())))),
                ("system".to_owned(), OutColumn::texts(rows().map(|row| row.system.as_deref()))),
                ("item".to_owned(), OutColumn::texts(rows().map(|row| Some(row.item.as_str())))),
                ("words".to_owned(), OutColumn::counts(rows().map(|row| row.words))),
                ("flags".to_owned(), OutColumn::texts(flags.iter().map(|one| Some(one.as_str())))),
            ];
            for (column, values) in self.score_columns() {
                let numbers = values.iter().map(|value| value.as_ref().ok().copied());
                columns.push((column.key.to_string(), OutColumn::numbers(numbers)));
            }
            columns
        });
        frame::stream(py, columns)
    }
}
