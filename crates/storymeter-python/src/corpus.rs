//! One metric on plain strings.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use storymeter::{CorpusScore, NamedMetric};

use crate::scorer::{device_of, precision_of};
use crate::{errors, work};

/// A metric by its name. `storymeter.Metric` is the public class.
#[pyclass(frozen, module = "storymeter._native")]
pub struct Metric {
    named: Arc<NamedMetric>,
}

/// What a score is made of: one line per column, the columns (key, value, reason of its absence),
/// and the signature.
type Parts = (String, Vec<(String, Option<f64>, Option<String>)>, String);

#[pymethods]
impl Metric {
    #[new]
    fn new(
        py: Python<'_>,
        typed: &str,
        weights: Vec<(String, PathBuf)>,
        device: &str,
        precision: Option<&str>,
        seed: u64,
    ) -> PyResult<Self> {
        let named = storymeter::metric(typed).map_err(|error| errors::error(py, error))?;
        let mut named = named.seed(seed).device(device_of(device)?);
        for (name, folder) in weights {
            named = named.weights(name, folder);
        }
        if let Some(precision) = precision {
            named = named.precision(precision_of(precision)?);
        }
        let named = work::run(py, 0, None, move |_| Ok(named.open()?))?;
        Ok(Self { named: Arc::new(named) })
    }

    /// The score of all texts together. There is one list of references per text, or none at all.
    fn corpus_score(
        &self,
        py: Python<'_>,
        hypotheses: Vec<String>,
        references: Vec<Vec<String>>,
        threads: usize,
    ) -> PyResult<Parts> {
        let named = Arc::clone(&self.named);
        let score = work::run(py, threads, None, move |_| {
            Ok(named.corpus_score(&hypotheses, &references)?)
        })?;
        Ok(parts(&score))
    }

    /// The score of one text.
    fn story_score(
        &self,
        py: Python<'_>,
        hypothesis: String,
        references: Vec<String>,
    ) -> PyResult<Parts> {
        let named = Arc::clone(&self.named);
        let score =
            work::run(py, 0, None, move |_| Ok(named.story_score(&hypothesis, &references)?))?;
        Ok(parts(&score))
    }
}

fn parts(score: &CorpusScore) -> Parts {
    let column = |(key, value): &(storymeter_core::Key, storymeter_core::Value)| {
        let reason = value.as_ref().err().map(ToString::to_string);
        (key.to_string(), value.as_ref().ok().copied(), reason)
    };
    let columns = score.values().iter().map(column).collect();
    (score.to_string(), columns, score.signature().to_string())
}
