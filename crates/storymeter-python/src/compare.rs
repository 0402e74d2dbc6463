//! Which system is better.

use std::sync::Arc;

use pyo3::prelude::*;
use storymeter_meta::study::Sides;
use storymeter_meta::systems::verdict::verdict;
use storymeter_meta::systems::{Options, compare as compare_table};
use storymeter_meta::view::{self, DescribedComparisons};

use crate::tables::{Table, correction, directions, share, shown};
use crate::work;

/// What to compare, and how; Python fills it in.
#[derive(FromPyObject)]
pub struct CompareSettings {
    metrics: Vec<String>,
    without: Vec<String>,
    against: Option<String>,
    lower: Vec<String>,
    higher: Vec<String>,
    resamples: usize,
    confidence: f64,
    one_sided: bool,
    correction: String,
    seed: u64,
}

/// Compares the systems of a table. What comes back is the JSON of the command line, the sheets as
/// JSON, the sheets as texts, and remarks about the table.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    table: &Table,
    settings: CompareSettings,
    threads: usize,
) -> PyResult<(String, String, Vec<String>, Vec<String>)> {
    let confidence = share("confidence", settings.confidence)?;
    let correction = correction(&settings.correction)?;
    let options = Options::default().with(|it| {
        it.columns = settings.metrics;
        it.without = settings.without;
        it.against = settings.against;
        it.directions = directions(settings.lower, settings.higher);
        it.resamples = settings.resamples;
        it.confidence = confidence;
        it.sides = if settings.one_sided { Sides::One } else { Sides::Two };
        it.correction = correction;
        it.seed = settings.seed;
    });
    let table = Arc::clone(&table.table);
    work::run(py, threads, None, move |progress| {
        let options = options.with(|it| it.progress = progress.clone());
        let found = compare_table(&table, &options).map_err(storymeter::Error::from)?;
        let verdict = verdict(&table, &found, &options).map_err(storymeter::Error::from)?;
        let json = serde_json::to_string_pretty(&DescribedComparisons::new(&verdict, &found))?;
        let (sheets, texts) = shown(&view::verdict_sheets(&verdict, &found))?;
        Ok((json, sheets, texts, table.notes().to_vec()))
    })
}
