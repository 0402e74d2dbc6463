//! How well a model agrees with human readers, which is what the program `evaluate` prints.
//!
//! There are two sets of figures, and they are kept apart. [`selection`] looks only at what a
//! recipe may be chosen by. [`report`] looks at the rest, once per released model.

mod agreement;
mod examples;
mod figures;
mod sets;
mod variants;

pub use agreement::{Figures, pooled, within_items};
pub use examples::{Example, Ranking, Table, paper_examples, ranking};
pub use figures::{Evaluation, report, selection};
pub(crate) use sets::{HANNA_STORIES, for_each_json, is_machine_story};
pub use sets::{Rated, UnionRoc, hanna, hanna_machine, other, union_roc};
pub use variants::{VARIANTS, Variant, robustness};

use storymeter::core::Story;
use storymeter::union::{Score, Scorer};

use crate::Result;

/// Scores stories with a model.
///
/// # Errors
/// If the model fails.
pub fn scores(scorer: &Scorer, stories: &[Story]) -> Result<Vec<Score>> {
    Ok(scorer.score(&stories.iter().collect::<Vec<_>>())?)
}

/// The scores themselves, without what they were computed from.
pub(crate) fn probabilities(scorer: &Scorer, stories: &[Story]) -> Result<Vec<f64>> {
    Ok(scores(scorer, stories)?.iter().map(|score| score.probability).collect())
}
