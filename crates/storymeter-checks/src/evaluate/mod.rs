//! How well a model agrees with human readers: what `evaluate` prints.
//!
//! Two sets of figures, kept apart. [`selection`] looks only at what a recipe may be chosen by; [`report`] looks at the
//! rest, once for each model that is released.

mod agreement;
mod examples;
mod figures;
mod sets;
mod variants;

pub use agreement::{Figures, pooled, within_items};
pub use examples::{Example, Ranking, Table, paper_examples, ranking};
pub use figures::{Evaluation, report, selection};
pub use sets::{Rated, UnionRoc, hanna_machine, other, union_roc};
pub use variants::{VARIANTS, Variant, robustness};

use storymeter::core::Story;
use storymeter::union::{Score, Scorer};

/// The scores of stories.
///
/// # Errors
/// As [`Scorer::score`].
pub fn scores(scorer: &Scorer, stories: &[Story]) -> storymeter::union::Result<Vec<Score>> {
    scorer.score(&stories.iter().collect::<Vec<_>>())
}
