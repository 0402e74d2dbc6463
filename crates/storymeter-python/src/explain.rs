//! Why a story has its score.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use storymeter::{Depth, ScoreSink, Scored, TextCheck};

use crate::scored::skipped;
use crate::scorer::{PyScorer, Reading};
use crate::work;

/// The id, the text and the explanation as JSON of each story, how many bad records were skipped,
/// and what was wrong with the first of these.
type Explained = (Vec<(String, String, String)>, u64, Vec<String>);

/// What is said about a text that has no score.
fn no_story(check: &TextCheck) -> String {
    let reason = check.no_score.as_ref().map(ToString::to_string);
    let looks = check.flags.iter().filter(|flag| flag.is_no_story()).map(|flag| flag.describes());
    let warnings: Vec<serde_json::Value> =
        looks.map(|looks| serde_json::json!({ "looks": looks })).collect();
    serde_json::json!({ "absent": reason, "warnings": warnings }).to_string()
}

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
            let texts = scored.checks.iter().zip(&scored.rationales);
            for (record, (check, rationale)) in scored.records.into_iter().zip(texts) {
                let why = match rationale {
                    Some(rationale) => rationale.to_json(),
                    None => no_story(check),
                };
                explained.push((record.story.id, record.story.text, why));
            }
            Ok(())
        };
        let sink = ScoreSink::nowhere().each(&mut keep);
        let run = explaining.write_scores(&inputs, sink, progress)?.run;
        let (count, messages) = skipped(&run);
        Ok((explained, count, messages))
    })
}
