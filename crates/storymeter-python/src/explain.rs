//! Why a story has its score.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use storymeter::input::ReferenceFiles;
use storymeter::{Depth, Scored};

use crate::errors::Failure;
use crate::scorer::{Reading, Scorer};
use crate::work;

/// The id, the text and the explanation as JSON of each story, how many bad records were skipped,
/// and what was wrong with the first of these.
type Explained = (Vec<(String, String, String)>, u64, Vec<String>);

/// Explains the scores of stories. Offsets are bytes.
#[pyfunction]
#[pyo3(signature = (scorer, reading, sentences, threads, show))]
pub fn explain(
    py: Python<'_>,
    scorer: &Scorer,
    reading: Reading<'_>,
    sentences: &str,
    threads: Option<usize>,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<Explained> {
    let depth = match sentences {
        "weakest" => Depth::Weakest,
        "all" => Depth::All,
        _ => {
            return Err(PyValueError::new_err(format!(
                "sentences: \"{sentences}\" is neither \"weakest\" nor \"all\""
            )));
        }
    };
    let inputs = reading.inputs(py, true)?;
    let ready = Arc::clone(scorer.ready());
    work::run(py, threads.unwrap_or(scorer.threads()), show, move |progress| {
        let explaining = ready.explaining(depth)?;
        let inputs = if explaining.reads_twice() { inputs.repeatable()? } else { inputs };
        let mut explained = Vec::new();
        let written = |scored: Scored<'_>| -> Result<Vec<_>, Failure> {
            let stories = scored.records.iter().map(|record| &record.story);
            let explained = stories.zip(scored.rationales.unwrap_or_default());
            let parts = explained.map(|(story, rationale)| {
                (story.id.clone(), story.text.clone(), rationale.to_json().to_string())
            });
            Ok(parts.collect())
        };
        let references = ReferenceFiles::default();
        let run = explaining.over(&inputs, &references, progress, written, |part| {
            explained.extend(part);
            Ok::<(), Failure>(())
        })?;
        Ok((explained, run.skipped.count, run.skipped.messages))
    })
}
