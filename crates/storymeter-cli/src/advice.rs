//! Says what a user can do about an error on the command line.
//!
//! The errors of the libraries say what happened and never name an option, because a program that
//! uses the libraries has other options. The options and verbs that help are named here.

use storymeter::core::{DeviceProblem, Error as InputError, MetricError};
use storymeter::{Error, baselines, meta, union};

/// The way out of an error, if there is one to name.
pub fn advice(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(error) = cause.downcast_ref::<Error>() {
            return facade(error);
        }
        if let Some(error) = cause.downcast_ref::<MetricError>() {
            return metric(error);
        }
        if let Some(error) = cause.downcast_ref::<InputError>() {
            return input(error);
        }
        if let Some(error) = cause.downcast_ref::<meta::Error>() {
            return evaluation(error);
        }
        if let Some(error) = cause.downcast_ref::<baselines::Error>() {
            return baseline(error);
        }
        cause.downcast_ref::<union::Error>().and_then(model)
    })
}

fn facade(error: &Error) -> Option<String> {
    match error {
        Error::Metric(error) => metric(error),
        Error::Input(error) => input(error),
        Error::Evaluation(error) => evaluation(error),
        Error::NoSystems => Some("name them in the field \"system\" of the stories".to_owned()),
        Error::NoReference { .. } | Error::TooManyReferences { .. } => Some(
            "a file of --references has one reference per story, in the order of the stories"
                .to_owned(),
        ),
        _ => None,
    }
}

fn input(error: &InputError) -> Option<String> {
    match error {
        InputError::FormatNotRecognised { .. } => {
            Some("name it with --input-format, such as --input-format jsonl".to_owned())
        }
        _ => None,
    }
}

fn metric(error: &MetricError) -> Option<String> {
    match error {
        MetricError::UnknownMetric { .. } => {
            Some("`storymeter metrics list` names all metrics".to_owned())
        }
        MetricError::UnknownOption { metric, .. } | MetricError::OptionClash { metric, .. } => {
            Some(format!("`storymeter metrics show {metric}` explains the options"))
        }
        MetricError::SameKey { .. } => Some("ask for one of them only".to_owned()),
        MetricError::Lacks { what, .. } if what.contains("reference") => Some(
            "add it to the stories as the field \"reference\", or name a file with --references"
                .to_owned(),
        ),
        MetricError::Lacks { what, .. } if what.contains("prompt") => {
            Some("add it to the stories as the field \"prompt\"".to_owned())
        }
        MetricError::NoWeights { name, .. } => {
            Some(format!("name the folder or file with --weights {name}=PATH"))
        }
        MetricError::Device { problem: DeviceProblem::Precision, .. } => {
            Some("--device cuda computes on a GPU, and int8 is the precision of the CPU".to_owned())
        }
        MetricError::Device { .. } => Some("--device cpu computes on the processor".to_owned()),
        MetricError::Failed { source, .. } => source.downcast_ref::<union::Error>().and_then(model),
        MetricError::File(error) => input(error),
        _ => None,
    }
}

fn model(error: &union::Error) -> Option<String> {
    match error {
        union::Error::MissingModel { .. } => {
            Some("`storymeter model list` names the models; a path names any other".to_owned())
        }
        union::Error::OnlyInt8 { .. } => Some("leave --precision out".to_owned()),
        union::Error::OtherRun { .. } => {
            Some("--overwrite starts anew and removes that checkpoint".to_owned())
        }
        union::Error::Mixture { .. } => Some(
            "`storymeter train ... --resume` saves the model of an interrupted training again"
                .to_owned(),
        ),
        union::Error::File(error) => input(error),
        _ => None,
    }
}

fn baseline(error: &baselines::Error) -> Option<String> {
    match error {
        baselines::Error::OtherRun { .. } => {
            Some("--overwrite starts anew and removes that checkpoint".to_owned())
        }
        baselines::Error::Setting { .. } => Some(
            "--print-config explains all settings, and --config names a file of them".to_owned(),
        ),
        baselines::Error::File(error) => input(error),
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
