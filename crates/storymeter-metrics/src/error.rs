//! What can go wrong between a metric's id and a story's score.

/// What a function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no metric of that name.
    #[error("there is no metric \"{id}\"{}; `storymeter metrics list` names all", hint(.suggestion))]
    UnknownMetric {
        /// What was asked for.
        id: String,
        /// The nearest id, where one is near.
        suggestion: Option<String>,
    },
    /// The metric has no preset of that name.
    #[error("metric \"{metric}\" has no preset \"{preset}\"; it has {known}")]
    UnknownPreset {
        /// The metric.
        metric: String,
        /// What was asked for.
        preset: String,
        /// What there is.
        known: String,
    },
    /// The metric is a trained model, which an id alone does not give.
    #[error("metric \"{metric}\" needs a model")]
    NeedsModel {
        /// The metric.
        metric: String,
    },
    /// Two presets that exclude each other.
    #[error("metric \"{metric}\": presets \"{first}\" and \"{second}\" exclude each other")]
    PresetClash {
        /// The metric.
        metric: String,
        /// The preset typed first.
        first: &'static str,
        /// The preset typed second.
        second: &'static str,
    },
    /// Two metrics would write the same key.
    #[error(
        "metrics \"{first}\" and \"{second}\" both write the key \"{key}\"; ask for one of them"
    )]
    SameKey {
        /// The metric named first.
        first: String,
        /// The metric named second.
        second: String,
        /// The key they share.
        key: String,
    },
    /// A story lacks what a metric needs.
    #[error("{place}: story \"{id}\": metric \"{metric}\" needs {what}")]
    Lacks {
        /// The record's file and line.
        place: Box<storymeter_core::Place>,
        /// The story's id.
        id: String,
        /// The metric as typed.
        metric: String,
        /// What is missing or empty.
        what: &'static str,
    },
    /// A file a metric reads (tables, exceptions) is missing or wrong.
    #[error(transparent)]
    Data(#[from] storymeter_core::Error),
}

fn hint(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map(|id| format!(", did you mean \"{id}\"?")).unwrap_or_default()
}
