//! Metrics of shards that were scored elsewhere, as far as merging needs them.

use std::sync::Arc;

use storymeter_core::{
    Absence, Batching, Catalogue, Description, Header, Metric, MetricError, MetricTotals, Needs,
    Pooling, Prepared, Resources, Rows, ScoreColumn, Settings, Value,
};
use storymeter_executor::MetricSet;

use crate::Result;

/// A metric whose rows are known. Values are averaged as they are; what rows that are added up mean
/// is known only to the metric itself, which is therefore built again.
struct Stored {
    description: Description,
    built: Option<Box<dyn Metric>>,
}

impl Metric for Stored {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, _: &[Prepared<'_>], _: &Resources) -> std::result::Result<Rows, MetricError> {
        Err(MetricError::Failed {
            metric: self.description.key.clone(),
            source: "scores that were merged cannot score more stories".into(),
        })
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        if let Some(built) = &self.built {
            return built.values(row, values);
        }
        for (value, &number) in values.iter_mut().zip(row) {
            *value = if number.is_nan() {
                Err(Absence::because("the story has no value"))
            } else {
                Ok(number)
            };
        }
    }

    fn pooled_values(&self, sum: &[f64], values: &mut [Value]) {
        match &self.built {
            Some(built) => built.pooled_values(sum, values),
            None => self.values(sum, values),
        }
    }
}

/// The metrics of a header.
pub(super) fn metrics(
    header: &Header,
    metrics: &[MetricTotals],
    catalogue: &Catalogue,
    settings: &Settings,
) -> Result<MetricSet> {
    let resources = Arc::new(Resources::new(settings.clone()));
    let mut columns = header.columns.iter();
    let mut stored: Vec<Box<dyn Metric>> = Vec::with_capacity(metrics.len());
    for metric in metrics {
        let own = columns.by_ref().take(metric.columns).map(ScoreColumn::from).collect();
        let built = match metric.pooling {
            Pooling::Mean => None,
            Pooling::Sum => Some(built(metric, catalogue, &resources)?),
        };
        let description = Description {
            key: metric.key.clone(),
            columns: own,
            needs: Needs { reference: metric.needs_reference, ..Needs::STORY },
            width: metric.width,
            pooling: metric.pooling,
            batching: Batching::Single,
            explains: false,
            signature: metric.signature.clone(),
        };
        stored.push(Box::new(Stored { description, built }));
    }
    Ok(MetricSet::from_metrics(stored, resources)?)
}

/// The metric itself, which must understand the rows.
fn built(
    metric: &MetricTotals,
    catalogue: &Catalogue,
    resources: &Resources,
) -> std::result::Result<Box<dyn Metric>, MetricError> {
    let built = catalogue.build(&metric.key, resources)?;
    let own = built.description();
    let understands = (own.pooling, own.width, own.columns.len(), &own.signature)
        == (metric.pooling, metric.width, metric.columns, &metric.signature);
    if understands {
        return Ok(built);
    }
    Err(MetricError::Failed {
        metric: metric.key.clone(),
        source: format!(
            "the shards were scored with {}, but this is {}",
            metric.signature, own.signature
        )
        .into(),
    })
}
