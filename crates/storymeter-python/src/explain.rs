//! Why a story has its score.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use storymeter::{Depth, ScoreSink, Scored};

use crate::scored::skipped;
use crate::scorer::{PyScorer, Reading};
use crate::work;

/// The id, the text and the explanation as JSON of each story, how many bad records were skipped,
/// and what was wrong with the first of these.
type Explained = (Vec<(String, String, String)>, u64, Vec<String>);

/// Explains the scores of stories. Offsets are bytes.
#[pyfunction]
#[pyo3(signature = (scorer, reading, sentences, threads, show))]
pub fn explain(
    py: Python<'_>,
    scorer: &PyScorer,
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
    let inputs = reading.inputs(py)?;
    let ready = Arc::clone(scorer.ready());
    work::run(py, threads.unwrap_or(scorer.threads()), show, move |progress| {
        let explaining = ready.explaining(depth)?;
        let inputs = if explaining.reads_twice() { inputs.repeatable()? } else { inputs };
        let mut explained = Vec::new();
        let mut keep = |scored: Scored| {
            let stories = scored.records.into_iter().map(|record| record.story);
            explained.extend(
                stories
                    .zip(&scored.rationales)
                    .map(|(story, rationale)| (story.id, story.text, rationale.to_json())),
            );
            Ok(())
        };
        let sink = ScoreSink::nowhere().each(&mut keep);
        let run = explaining.write_scores(&inputs, sink, progress)?.run;
        let (count, messages) = skipped(&run);
        Ok((explained, count, messages))
    })
}
