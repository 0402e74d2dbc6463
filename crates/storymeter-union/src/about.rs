//! What a released model says of itself: the model card that `storymeter model show` prints.

use serde::{Deserialize, Serialize};

/// The model card.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct About {
    /// The name by which it is asked for.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// Under which licence the weights may be used.
    pub licence: String,
    /// How it was trained: the recipe's name, and what matters of it.
    pub recipe: String,
    /// What it was trained on and started from.
    pub sources: Vec<Source>,
    /// How well it agrees with human readers.
    pub agreement: Vec<Agreement>,
    /// How well its diagnosis fits what readers found wrong.
    pub diagnosis: Vec<DiagnosisFigure>,
    /// How those figures came about, and how many choices were made before.
    pub notes: Vec<String>,
    /// What it cannot do, as far as known.
    pub limits: Vec<String>,
    /// What it must not be used for.
    pub not_for: Vec<String>,
}

/// Data or weights that went into a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What it is.
    pub name: String,
    /// Its licence.
    pub licence: String,
    /// How much of it, and what for.
    #[serde(default)]
    pub note: String,
}

/// A figure and its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The correlation of a metric with one criterion of one rated set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The set, and which part of it.
    pub set: String,
    /// The criterion.
    pub criterion: String,
    /// `pooled`: all stories together; `story`: within items, then the mean.
    pub level: String,
    /// The metric: `union`, or one to compare it with.
    pub metric: String,
    /// Number of stories.
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
    /// What the model says.
    pub output: String,
    /// What at least three of seven readers said.
    pub error: String,
    /// Stories with that error.
    pub positives: usize,
    /// Against all other stories.
    pub auc: f64,
    /// Against the stories that all readers found reasonable.
    pub auc_reasonable: f64,
}
