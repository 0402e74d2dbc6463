//! One file per metric. The comment at the top of each file is the manual page of its metric.
//!
//! Each file declares its metric as an [`Entry`] of the catalogue. These declarations look alike on
//! purpose: they are tables of facts, and the code behind them is shared (`per_story`, `of_corpus`
//! and [`ratio`]).

mod bleu;
mod chrf;
mod cider_d;
mod compression;
mod distinct;
mod fragments;
mod homogeneity;
mod meteor;
mod novelty;
mod ratio;
mod repetition;
mod rouge;
mod self_bleu;
mod slop;
mod ter;
mod text_length;

use storymeter_core::Entry;

/// All metrics, in the order of the catalogue.
pub(crate) static ENTRIES: &[&Entry] = &[
    &bleu::ENTRY,
    &chrf::ENTRY,
    &ter::ENTRY,
    &rouge::ENTRY,
    &meteor::ENTRY,
    &cider_d::ENTRY,
    &fragments::ENTRY,
    &compression::ENTRY,
    &text_length::ENTRY,
    &novelty::ENTRY,
    &repetition::ENTRY,
    &distinct::ENTRY,
    &self_bleu::ENTRY,
    &homogeneity::ENTRY,
    &slop::ENTRY,
];
