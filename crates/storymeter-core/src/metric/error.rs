//! The errors of metrics.

use std::path::PathBuf;

use crate::Place;

/// Everything that can go wrong while a metric is built or computes.
///
/// Each variant says what happened and has the facts as fields, so that a program can react to it.
/// What a user can do about it depends on the program, so the messages do not say it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// There is no metric of that name.
    #[error("there is no metric \"{id}\"{}", did_you_mean(.nearest))]
    UnknownMetric {
        /// What was asked for.
        id: String,
        /// The nearest id, where one is near.
        nearest: Option<String>,
    },
    /// The metric has no option of that name.
    #[error(
        "metric \"{metric}\" has no option \"{option}\"; it has {}{}",
        if known.is_empty() { "none".to_owned() } else { known.join(", ") },
        did_you_mean(.nearest)
    )]
    UnknownOption {
        /// The metric.
        metric: String,
        /// What was asked for.
        option: String,
        /// The nearest option, where one is near.
        nearest: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// Two options that cannot go together.
    #[error(
        "metric \"{metric}\": the options \"{first}\" and \"{second}\" exclude each other: {why}"
    )]
    OptionClash {
        /// The metric.
        metric: String,
        /// The option typed first.
        first: String,
        /// The option typed second.
        second: String,
        /// Why they exclude each other.
        why: String,
    },
    /// Two metrics would write the same key.
    #[error("metrics \"{first}\" and \"{second}\" both write the key \"{key}\"")]
    SameKey {
        /// The metric named first.
        first: String,
        /// The metric named second.
        second: String,
        /// The key they share.
        key: String,
    },
    /// A story lacks what a metric needs.
    #[error("{place}: story \"{story}\": metric \"{metric}\" needs {what}")]
    Lacks {
        /// The record's file and line.
        place: Box<Place>,
        /// The id of the story.
        story: String,
        /// The metric as typed.
        metric: String,
        /// What is missing or empty.
        what: &'static str,
    },
    /// A metric that needs a first pass over the whole input did not get one.
    #[error("metric \"{metric}\" needs a first pass over all stories, and there was none")]
    NoCorpus {
        /// The metric as typed.
        metric: String,
    },
    /// A metric that cannot keep what it knows about a corpus in a file.
    #[error("metric \"{metric}\" cannot keep corpus statistics in a file")]
    CorpusNotSaved {
        /// The metric as typed.
        metric: String,
    },
    /// The weights or tables of a metric are not where they are looked for.
    #[error("metric \"{metric}\" needs {files}{}", places(.searched))]
    NoWeights {
        /// The metric as typed.
        metric: String,
        /// Which files.
        files: String,
        /// The name in [`Settings::weights`](crate::Settings::weights) under which they can be
        /// given.
        name: String,
        /// Where they were looked for.
        searched: Vec<PathBuf>,
    },
    /// The device that a metric computes on failed.
    #[error("metric \"{metric}\": {message}")]
    Device {
        /// The metric as typed.
        metric: String,
        /// The kind of the failure.
        problem: DeviceProblem,
        /// What happened, in words.
        message: String,
    },
    /// A computation left the range of numbers.
    #[error("metric \"{metric}\": {message}")]
    Overflow {
        /// The metric as typed.
        metric: String,
        /// What overflowed.
        message: String,
    },
    /// Anything else, such as a failure of a metric from outside this workspace.
    #[error("metric \"{metric}\": {source}")]
    Failed {
        /// The metric as typed.
        metric: String,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Somebody asked the work to end ([`Progress::cancel`](crate::Progress::cancel)).
    #[error("the work was interrupted")]
    Interrupted,
    /// A file is missing or wrong.
    #[error(transparent)]
    File(#[from] crate::Error),
}

/// The kind of a failure of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceProblem {
    /// There is no such device, or the program was built without support for it.
    Missing,
    /// The device cannot compute in the precision that was asked for.
    Precision,
    /// The memory of the device is too small.
    OutOfMemory,
    /// The driver or a library of the device failed.
    Driver,
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean \"{name}\"?")).unwrap_or_default()
}

fn places(searched: &[PathBuf]) -> String {
    match searched {
        [] => ", but no folder with them was named".to_owned(),
        _ => {
            let names: Vec<String> =
                searched.iter().map(|folder| folder.display().to_string()).collect();
            format!(", which were not found in {}", names.join(" or "))
        }
    }
}
