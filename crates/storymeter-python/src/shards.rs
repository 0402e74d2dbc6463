//! Many files one by one, and one table from all of them.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use storymeter::Overview;
use storymeter::shards::{self, MergeNote, MergeOptions, Outcome, PlanOptions, ShardOptions};
use storymeter::summary::Resampling;
use storymeter_core::Settings;
use storymeter_core::read::{Format, ReadOptions};
use storymeter_core::write::ScoreFormat;

use crate::errors;
use crate::scored::{self, SummaryRow, skipped, summary_row};
use crate::scorer::{PyScorer, read_options};
use crate::work;

/// A file of stories and where its scores go: `storymeter.Shard`.
#[derive(FromPyObject)]
pub struct Shard {
    input: PathBuf,
    output: PathBuf,
    format: String,
    place: u64,
    of: u64,
}

impl Shard {
    fn into_library(self) -> PyResult<shards::Shard> {
        let Self { input, output, format, place, of } = self;
        Ok(shards::Shard { input, output, format: score_format(&format)?, place, of })
    }
}

/// How the stories of a shard are read: `storymeter._shards.Reading`.
#[derive(FromPyObject)]
pub struct Reading {
    columns: Vec<(String, String)>,
    format: Option<String>,
    skip_bad: bool,
    renumber: bool,
}

impl Reading {
    fn options(self) -> PyResult<ReadOptions> {
        read_options(&self.columns, self.format.as_deref(), self.skip_bad, self.renumber)
    }
}

fn score_format(name: &str) -> PyResult<ScoreFormat> {
    ScoreFormat::ALL.into_iter().find(|known| known.ending() == name).ok_or_else(|| {
        let names = ScoreFormat::ALL.map(|known| format!("\"{}\"", known.ending())).join(", ");
        PyValueError::new_err(format!("out_format: \"{name}\" is none of {names}"))
    })
}

/// A planned shard: its place, the length of the list, and its input, its output and the format of
/// the output.
type Planned = (u64, u64, (PathBuf, PathBuf, &'static str));

/// The shards of a run, in a folder that is there: `storymeter._native.Prepared`.
#[pyclass(frozen, module = "storymeter._native")]
pub struct Prepared(shards::Prepared);

#[pymethods]
impl Prepared {
    /// The shards of this job.
    #[getter]
    fn own(&self) -> Vec<Planned> {
        let planned = |shard: &shards::Shard| {
            let files = (shard.input.clone(), shard.output.clone(), shard.format.ending());
            (shard.place, shard.of, files)
        };
        self.0.own.iter().map(planned).collect()
    }

    /// The inputs of all jobs.
    #[getter]
    fn inputs(&self) -> Vec<PathBuf> {
        self.0.all.iter().map(|shard| shard.input.clone()).collect()
    }

    /// Removes the folder if it was made for this run, which failed, and has no file.
    fn remove_empty_folder(&self) {
        self.0.remove_empty_folder();
    }
}

/// Gives every input an output in a folder, which is made if it is not there.
///
/// If nothing is to be resumed, the folder must have no files. If only a part of the list is scored
/// here, it must not have the files of that part.
#[pyfunction]
#[pyo3(signature = (inputs, out_dir, out_format, format, resume, job))]
pub fn plan_shards(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    out_dir: PathBuf,
    out_format: Option<&str>,
    format: Option<&str>,
    resume: bool,
    job: Option<(u64, u64)>,
) -> PyResult<Prepared> {
    let out_format = out_format.map(score_format).transpose()?;
    let format = format.map(str::parse::<Format>).transpose();
    let format = format.map_err(|e| PyValueError::new_err(e.to_string()))?;
    let options = PlanOptions::default().with(|it| {
        it.format = out_format;
        it.input_format = format;
        it.job = job;
        it.resume = resume;
    });
    let prepared = py.detach(|| shards::prepare(&inputs, &out_dir, &options));
    prepared.map(Prepared).map_err(|error| errors::error(py, error))
}

/// Scores a shard. Returns whether it had to be scored, how many stories have scores, and how many
/// records were skipped.
#[pyfunction]
#[pyo3(signature = (scorer, shard, reading, resume, threads, show))]
pub fn score_shard(
    py: Python<'_>,
    scorer: &PyScorer,
    shard: Shard,
    reading: Reading,
    resume: bool,
    threads: Option<usize>,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<(bool, u64, u64)> {
    let shard = shard.into_library()?;
    let read = reading.options()?;
    let options = ShardOptions::default().with(|it| {
        it.read = read;
        it.resume = resume;
    });
    let ready = Arc::clone(&scorer.ready);
    let outcome = work::run(py, threads.unwrap_or(scorer.threads), show, move |progress| {
        Ok(shards::score_shard(&ready, &shard, &options, progress)?)
    })?;
    let scored = !matches!(outcome, Outcome::AlreadyDone(_));
    let header = outcome.header();
    Ok((scored, header.rows, header.skipped))
}

/// The table of merged shards. `storymeter.MergedScores` is the public class.
#[pyclass(frozen, module = "storymeter._native")]
pub struct Merged {
    merged: shards::Merged,
    overview: Overview,
}

/// Merges shards, given by their headers or by folders of headers.
#[pyfunction]
#[pyo3(signature = (paths, expect, resamples, seed, weights, threads))]
pub fn merge_shards(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    expect: Option<u64>,
    resamples: usize,
    seed: Option<u64>,
    weights: Vec<(String, PathBuf)>,
    threads: usize,
) -> PyResult<Merged> {
    let mut settings = Settings { seed: seed.unwrap_or_default(), ..Settings::default() };
    let seed = seed.unwrap_or(Resampling::SEED);
    settings.weights.extend(weights);
    let options = MergeOptions::default().with(|it| {
        it.settings = settings;
        it.expect = expect;
    });
    let resampling = Resampling::default().with(|it| {
        it.resamples = resamples;
        it.seed = seed;
    });
    work::run(py, threads, None, move |progress| {
        let merged = shards::merge(&paths, &options)?;
        let overview = Overview::new(&merged.run, &resampling, None, progress)?;
        Ok(Merged { merged, overview })
    })
}

#[pymethods]
impl Merged {
    /// How many stories have scores.
    #[getter]
    fn stories(&self) -> usize {
        self.merged.run.score_rows().texts()
    }

    /// The score files with their numbers of stories, in the order of the inputs.
    #[getter]
    fn shards(&self) -> Vec<(PathBuf, u64)> {
        let shards = self.merged.shards.iter();
        shards.map(|shard| (shard.output.clone(), shard.stories)).collect()
    }

    /// The keys of the scores.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let columns = self.merged.run.columns();
        columns.iter().map(|column| column.key.to_string()).collect()
    }

    /// The summaries: all stories first, then each system, as those of `Scored`.
    fn summaries(&self) -> Vec<SummaryRow> {
        let overview = &self.overview;
        std::iter::once(&overview.all).chain(&overview.systems).map(summary_row).collect()
    }

    /// One signature per metric.
    #[getter]
    fn signatures(&self) -> Vec<String> {
        self.overview.signatures.iter().map(ToString::to_string).collect()
    }

    /// The table that `storymeter merge` prints.
    fn table(&self) -> String {
        self.overview.to_text()
    }

    /// The cells of the table, the names of its columns first.
    fn table_rows(&self) -> Vec<Vec<String>> {
        self.overview.rows()
    }

    /// How many bad records were skipped, and what was wrong with the first ones.
    #[getter]
    fn skipped(&self) -> (u64, Vec<String>) {
        skipped(&self.merged.run)
    }

    /// Joins the scores of all stories to one file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let format = scored::format_of(&path)?;
        py.detach(|| shards::join(&self.merged, format, &path)?.commit())
            .map_err(|e| errors::error(py, e))
    }

    /// What a user should know about the result.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let note = |note: &MergeNote| match note {
            MergeNote::Unchecked { .. } => Some(
                "each file was scored by a run of its own, so it is not known whether all are \
                 there; expect=N checks that"
                    .to_owned(),
            ),
            MergeNote::NoRows { output } => Some(format!(
                "{}: there are no row statistics, so intervals are normal ones",
                output.display()
            )),
            _ => None,
        };
        self.merged.notes.iter().filter_map(note).collect()
    }
}
