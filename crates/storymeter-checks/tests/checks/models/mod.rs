//! What the embedded models must achieve on rated stories. `recipes/evaluate` prints all figures.

mod embedded_criteria;
mod embedded_union;
mod paper_examples;
mod rated_sets;
mod rewritten;
mod trust;

use storymeter_checks::{Check, Result, shared};
use storymeter_core::Story;
use storymeter_core::read::{ReadOptions, open};

/// All checks of this folder, by file.
pub const CHECKS: &[(&str, &[Check])] = &[
    ("embedded_criteria", embedded_criteria::CHECKS),
    ("embedded_union", embedded_union::CHECKS),
    ("rated_sets", rated_sets::CHECKS),
    ("rewritten", rewritten::CHECKS),
    ("trust", trust::CHECKS),
];

/// The stories of a file of the shared data.
fn stories(path: &str) -> Result<Vec<Story>> {
    open(&[shared(path)?], &ReadOptions::default())?.map(|record| Ok(record?.story)).collect()
}

/// The 400 ROC stories that UNION's authors had rated.
fn union_roc() -> Result<Vec<Story>> {
    stories("data/annotated/union_roc/ant_data.txt")
}

/// The mean rating of each story for one criterion.
fn ratings(stories: &[Story], criterion: &str) -> Vec<f64> {
    stories.iter().map(|story| story.ratings.mean(criterion).expect("a rating")).collect()
}
