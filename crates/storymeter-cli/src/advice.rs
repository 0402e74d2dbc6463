//! The way out of an error: what the user can do about it on the command line.
//!
//! Library errors say what happened. How to mend it with options and verbs is said here.

use storymeter::core::MetricError;
use storymeter::{Error, meta, union};

/// What can be done about an error, where there is something to say.
pub fn advice(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(error) = cause.downcast_ref::<Error>() {
            return facade(error);
        }
        if let Some(error) = cause.downcast_ref::<MetricError>() {
            return metric(error);
        }
        if let Some(error) = cause.downcast_ref::<meta::Error>() {
            return evaluation(error);
        }
        cause.downcast_ref::<union::Error>().and_then(model)
    })
}

fn facade(error: &Error) -> Option<String> {
    match error {
        Error::Metric(error) => metric(error),
        Error::NoSystems => Some("name them in the field \"system\" of the stories".to_owned()),
        _ => None,
    }
}

fn metric(error: &MetricError) -> Option<String> {
    match error {
        MetricError::UnknownMetric { .. } => {
            Some("`storymeter metrics list` names all metrics".to_owned())
        }
        MetricError::UnknownOption { metric, .. } => {
            Some(format!("`storymeter metrics show {metric}` explains them"))
        }
        MetricError::SameKey { .. } => Some("ask for one of them".to_owned()),
        MetricError::NoWeights { metric, .. } => {
            let id = metric.split(':').next().unwrap_or(metric);
            Some(format!("name the folder with --weights {id}=DIR"))
        }
        MetricError::Device { .. } => Some("--device cpu computes on the processor".to_owned()),
        MetricError::Failed { source, .. } => source.downcast_ref::<union::Error>().and_then(model),
        _ => None,
    }
}

fn model(error: &union::Error) -> Option<String> {
    match error {
        union::Error::MissingModel { .. } => Some(
            "name a model with --model, or other metrics with --metric (`storymeter metrics list` \
             names them)"
                .to_owned(),
        ),
        union::Error::OnlyInt8 { .. } => Some("leave --precision out".to_owned()),
        _ => None,
    }
}

fn evaluation(error: &meta::Error) -> Option<String> {
    match error {
        meta::Error::NoCriterion { .. } => Some(
            "ratings stand in the field \"human\"; `meta table --stories FILE` joins them by id"
                .to_owned(),
        ),
        meta::Error::SeveralCriteria { .. } => Some("name one with --criterion".to_owned()),
        meta::Error::SeveralMetrics { .. } => Some("name one as FILE#METRIC".to_owned()),
        meta::Error::OffScale { .. } => Some("change the scale with --scale".to_owned()),
        _ => None,
    }
}
