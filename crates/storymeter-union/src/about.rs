//! The model card of a released model, which `storymeter model show` prints.

use serde::{Deserialize, Serialize};

use crate::ReferenceScores;

/// The model card: what the model was made from, how good it is, and what it is not for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct About {
    /// The name under which users ask for the model.
    pub name: String,
    /// A description in one sentence.
    pub summary: String,
    /// The licence of the weights.
    pub licence: String,
    /// How the model was trained: the name of the recipe, and its main choices.
    pub recipe: String,
    /// The data it was trained on, and the weights that training started from.
    pub sources: Vec<ModelSource>,
    /// How well its scores agree with human readers.
    pub agreement: Vec<Agreement>,
    /// How well its diagnosis agrees with what readers found wrong.
    pub diagnosis: Vec<DiagnosisFigure>,
    /// How these figures were obtained, and how many choices were made before them.
    pub notes: Vec<String>,
    /// What the model is known to do badly.
    pub limits: Vec<String>,
    /// What the model must not be used for.
    pub not_for: Vec<String>,
    /// What explanations compare its scores with. Earlier versions wrote it as `yardstick`.
    #[serde(alias = "yardstick", skip_serializing_if = "Option::is_none")]
    pub reference_scores: Option<ReferenceScores>,
}

/// Data or weights that a model was made from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSource {
    /// The name of the data or weights.
    pub name: String,
    /// Its licence.
    pub licence: String,
    /// How much of it was used, and what for.
    #[serde(default)]
    pub note: String,
}

/// A figure with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The correlation of a metric with one criterion of one set of rated stories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The set, and the part of it that was used.
    pub set: String,
    /// The criterion.
    pub criterion: String,
    /// `pooled` correlates all stories together. `story` correlates within each item and takes the
    /// mean.
    pub level: String,
    /// The metric: `union`, or another one for comparison.
    pub metric: String,
    /// The number of stories.
    pub n: usize,
    /// Pearson's r.
    pub pearson: Estimate,
    /// Spearman's rho.
    pub spearman: Estimate,
    /// Kendall's tau-b.
    pub kendall: Estimate,
}

/// The area under the ROC curve of one diagnosis output against one error type that readers named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiagnosisFigure {
    /// The output of the model.
    pub output: String,
    /// The error that at least three of seven readers named.
    pub error: String,
    /// The number of stories with that error.
    pub positives: usize,
    /// The area, with all other stories as negatives.
    pub auc: f64,
    /// The area, with only those stories as negatives that all readers found reasonable.
    pub auc_reasonable: f64,
}
