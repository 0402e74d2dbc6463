//! How scores agree with human judgments.

use pyo3::prelude::*;
use storymeter_core::{Direction, Key};
use storymeter_meta::correlate::{Judgments, Numbers, correlate_numbers};

use crate::tables::{StudySettings, shown};
use crate::work;

/// Scores: their name, their column where they are of a score table, their direction, and a number
/// per story.
type Scores = (String, Option<String>, String, Vec<Option<f64>>);

/// Correlates scores with judgments. `items` has a number of the item of each story, or nothing.
/// What comes back is the JSON of the command line, the sheets as JSON, and the sheets as texts.
#[pyfunction]
pub fn correlate(
    py: Python<'_>,
    criterion: String,
    human: Vec<Option<f64>>,
    scores: Vec<Scores>,
    items: Vec<usize>,
    settings: StudySettings,
    threads: usize,
) -> PyResult<(String, String, Vec<String>)> {
    let settings = settings.settings()?;
    let human =
        Judgments::given(criterion.as_str(), human.into_iter().map(present)).with_items(items);
    let numbers = |(name, metric, direction, scores): Scores| Numbers {
        name,
        metric: metric.map(|key| Key::new(key.as_str())),
        direction: match direction.as_str() {
            "higher" => Direction::Higher,
            "lower" => Direction::Lower,
            _ => Direction::None,
        },
        scores: scores.into_iter().map(present).collect(),
    };
    let scores: Vec<Numbers> = scores.into_iter().map(numbers).collect();
    work::run(py, threads, None, move |progress| {
        let found = correlate_numbers(&human, &scores, &settings, progress)
            .map_err(storymeter::Error::from)?;
        let (sheets, texts) = shown(&found.sheets())?;
        Ok((serde_json::to_string_pretty(&found.to_json())?, sheets, texts))
    })
}

/// NaN is an absent number.
fn present(number: Option<f64>) -> Option<f64> {
    number.filter(|number| !number.is_nan())
}
