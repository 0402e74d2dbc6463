//! How well learned criteria agree with readers whose ratings they have not seen, which is what
//! `evaluate --criteria` prints.
//!
//! A model of criteria is trained on every rated set there is, so a figure about it must come from
//! models that were trained without the stories in question. Training writes such predictions:
//!
//! - *Held-out* files are from cross-validation. Each has the stories of some of HANNA's prompts,
//!   predicted by a model that has seen none of these prompts ([`CrossValidation`]).
//! - *Left-out* files have all stories of one set, predicted by a model that has not seen the set
//!   ([`LeftOut`]).
//!
//! Both are joined by set and id with the ratings of the shared data, and compared with simple
//! baselines ([`baselines()`], [`Published`]) in the same rows. The bootstrap draws whole prompts,
//! because stories with the same prompt are alike. A finished model is looked at too ([`Packed`]).

mod baselines;
mod calibrated;
mod cross_validation;
mod held_out;
mod left_out;
mod levels;
mod packed;
mod page;
mod report;
mod sets;

pub use baselines::{Best, Published, Scores, baselines};
pub use calibrated::{Nearness, Predicted, SystemMean, predicted};
pub use cross_validation::CrossValidation;
pub use held_out::{Folds, Prediction, folds, unseen_sets};
pub use left_out::{LeftOut, SetDifference};
pub use levels::{Draws, Layout, Level, Sampled};
pub use packed::{Packed, Robustness};
pub use page::page;
pub use report::{Inputs, Report, evaluate};
pub use sets::{Judged, nine_sets};

/// HANNA's six criteria, in the order of the paper.
pub const CRITERIA: [&str; 6] =
    ["relevance", "coherence", "empathy", "surprise", "engagement", "complexity"];

/// The criterion that is about prompt and story together.
pub const RELEVANCE: &str = CRITERIA[0];

/// The head that learns from the mean of all criteria of every set.
pub const OVERALL: &str = "overall";

/// The name of the model in the tables.
pub const MODEL: &str = "criteria";
