//! Says what a user can do about an error on the command line.
//!
//! The errors of the libraries say what happened and never name an option, because a program that
//! uses the libraries has other options. The options and verbs that help are named here.

use storymeter::Error;
use storymeter::shards::ShardError;
use storymeter_core::read::Field;
use storymeter_core::{DeviceProblem, Error as InputError, MetricError};

/// The way out of an error, if there is one to name. Options of the input are named only if the
/// verb has them (`reads_stories`).
pub fn advice(error: &anyhow::Error, reads_stories: bool) -> Option<String> {
    if !reads_stories && error.chain().any(is_about_a_record) {
        return None;
    }
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
        if let Some(error) = cause.downcast_ref::<storymeter_meta::Error>() {
            return evaluation(error);
        }
        if let Some(error) = cause.downcast_ref::<storymeter_baselines::Error>() {
            return baseline(error);
        }
        cause.downcast_ref::<storymeter_union::Error>().and_then(model)
    })
}

/// Whether an option of the input would be the way out.
fn is_about_a_record(cause: &(dyn std::error::Error + 'static)) -> bool {
    let error = match cause.downcast_ref::<Error>() {
        Some(Error::Input(error)) => Some(error),
        _ => cause.downcast_ref::<InputError>(),
    };
    matches!(error, Some(InputError::MissingField { .. } | InputError::DuplicateId { .. }))
}

fn facade(error: &Error) -> Option<String> {
    match error {
        Error::Metric(error) => metric(error),
        Error::Input(error) => input(error),
        Error::Evaluation(error) => evaluation(error),
        Error::CorpusStatsLack { .. } | Error::CorpusStatsMismatch { .. } => Some(
            "--corpus-stats with the name of a new file gathers them for these metrics".to_owned(),
        ),
        Error::CorpusStatsUnused { .. } => Some("leave --corpus-stats out".to_owned()),
        Error::Shards(error) => shard(error),
        Error::NoSystems => Some("name them in the field \"system\" of the stories".to_owned()),
        Error::NoReference { .. } | Error::TooManyReferences { .. } => Some(
            "a file of --references has one reference per story, in the order of the stories"
                .to_owned(),
        ),
        Error::OnlyContext { .. } => Some("--skip-bad skips such stories".to_owned()),
        _ => None,
    }
}

fn shard(error: &ShardError) -> Option<String> {
    let advice = match error {
        ShardError::NotEmpty { .. } => "--resume keeps what is complete and scores the others",
        ShardError::OtherSettings { .. } => "name another folder, or remove this shard",
        ShardError::NeedsCorpus { .. } => {
            "--corpus-stats FILE keeps that in a file; or score all files in one run, with -o"
        }
        ShardError::Missing { .. } => "`score` with --out-dir and --resume writes them",
        _ => return None,
    };
    Some(advice.to_owned())
}

fn input(error: &InputError) -> Option<String> {
    match error {
        InputError::FormatNotRecognised { .. } => {
            Some("name it with --input-format, such as --input-format jsonl".to_owned())
        }
        InputError::MissingField { missing, .. } => match missing.field {
            Field::Story if missing.what == "column" && !missing.others.is_empty() => Some(
                "name it with --story-col, or say --wide if there is one column per system"
                    .to_owned(),
            ),
            Field::Story => Some("name it with --story-col".to_owned()),
            _ => None,
        },
        InputError::DuplicateId { system: None, .. } => Some(
            "--system-col names the column or field of the systems, and --renumber makes ids unique"
                .to_owned(),
        ),
        InputError::DuplicateId { .. } => Some("--renumber makes ids unique".to_owned()),
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
        MetricError::Failed { source, .. } => {
            source.downcast_ref::<storymeter_union::Error>().and_then(model)
        }
        MetricError::File(error) => input(error),
        _ => None,
    }
}

fn model(error: &storymeter_union::Error) -> Option<String> {
    match error {
        storymeter_union::Error::MissingModel { .. } => {
            Some("`storymeter model list` names the models; a path names any other".to_owned())
        }
        storymeter_union::Error::OtherKind { found, .. } => {
            Some(format!("--metric {} reads such a model", found.metric()))
        }
        storymeter_union::Error::OnlyInt8 { .. } => Some("leave --precision out".to_owned()),
        storymeter_union::Error::OtherRun { .. } => {
            Some("--overwrite starts anew and removes that checkpoint".to_owned())
        }
        storymeter_union::Error::Mixture { .. } => Some(
            "`storymeter train ... --resume` saves the model of an interrupted training again"
                .to_owned(),
        ),
        storymeter_union::Error::File(error) => input(error),
        _ => None,
    }
}

fn baseline(error: &storymeter_baselines::Error) -> Option<String> {
    match error {
        storymeter_baselines::Error::OtherRun { .. } => {
            Some("--overwrite starts anew and removes that checkpoint".to_owned())
        }
        storymeter_baselines::Error::Setting { .. } => Some(
            "--print-config explains all settings, and --config names a file of them".to_owned(),
        ),
        storymeter_baselines::Error::File(error) => input(error),
        _ => None,
    }
}

fn evaluation(error: &storymeter_meta::Error) -> Option<String> {
    match error {
        storymeter_meta::Error::NoCriterion { .. } => Some(
            "ratings stand in the field \"human\"; `meta table --stories FILE` joins them by id"
                .to_owned(),
        ),
        storymeter_meta::Error::SeveralCriteria { .. } => {
            Some("name one with --criterion".to_owned())
        }
        storymeter_meta::Error::SeveralMetrics { .. } => Some("name one as FILE#METRIC".to_owned()),
        storymeter_meta::Error::OffScale { .. } => Some("change the scale with --scale".to_owned()),
        _ => None,
    }
}
