//! Why a story has its score.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use storymeter::input::ReferenceFiles;
use storymeter::{Depth, Scored};

use crate::errors::Failure;
use crate::scorer::{Reading, Scorer};
use crate::work;

/// Explains the scores of stories: the id, the text and the explanation as JSON of each. Offsets are
/// bytes.
#[pyfunction]
#[pyo3(signature = (scorer, reading, sentences, threads, show))]
pub fn explain(
    py: Python<'_>,
    scorer: &Scorer,
    reading: Reading<'_>,
    sentences: &str,
    threads: Option<usize>,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(String, String, String)>> {
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
        explaining.over(&inputs, &ReferenceFiles::default(), progress, written, |part| {
            explained.extend(part);
            Ok::<(), Failure>(())
        })?;
        Ok(explained)
    })
}
