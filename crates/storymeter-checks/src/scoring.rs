//! Metrics on a list of stories, as the checks need them.

use std::sync::Arc;

use storymeter_core::read::Record;
use storymeter_core::{Resources, Settings, Value};
use storymeter_executor::{Batch, MetricSet};
use storymeter_metrics::catalogue;

use crate::Result;

/// Scores stories with metrics by name, after the first pass that some metrics need.
///
/// # Errors
/// Returns an error if a metric is unknown or fails, or a story lacks what a metric needs.
pub fn score(
    metrics: &[impl AsRef<str>],
    settings: Settings,
    records: &[Record],
) -> Result<(MetricSet, Batch)> {
    let mut set = MetricSet::new(metrics, &catalogue(), Arc::new(Resources::new(settings)))?;
    if set.needs_survey() {
        let survey = set.survey();
        survey.batch(records)?;
        set = set.surveyed(survey)?;
    }
    let batch = set.batch(records)?;
    Ok((set, batch))
}

/// The numbers of a story that must have all its values.
///
/// # Errors
/// The reason why the first absent value is absent.
pub fn present(values: &[Value]) -> Result<Vec<f64>> {
    Ok(values.iter().cloned().collect::<std::result::Result<_, _>>()?)
}
