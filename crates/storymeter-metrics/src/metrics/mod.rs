//! One file per metric. The documentation at the top of each is its page in the catalogue.

mod bleu;
mod chrf;
mod cider_d;
mod compression;
mod distinct;
mod fragments;
mod meteor;
mod novelty;
mod ratio;
mod repetition;
mod rouge;
mod self_bleu;
mod ter;
mod text_length;

use storymeter_core::Entry;

/// The catalogue, in its order.
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
];
