//! Checks on real data: published numbers, values of other programs, and whole corpora.
//!
//! The checks are in `tests/`, one file per topic, and run with the rest of the tests. They read
//! the shared data, which is `../shared` beside the repository or the folder that
//! `STORYMETER_SHARED` names. A check whose data is absent is reported as ignored, with the reason,
//! and never as passed (see [`checks!`]).
//!
//! The library holds what several checks share. The program `evaluate` prints how well a model
//! agrees with human readers ([`evaluate`], and [`criteria`] for models that were trained on
//! ratings).
#![forbid(unsafe_code)]

pub mod criteria;
mod data;
pub mod evaluate;
pub mod hanna_metrics;
mod harness;
pub mod pairs;
mod scoring;

pub use data::{Error, Result, encoder_weights, meteor_settings, shared};
pub use harness::{Check, main};
pub use scoring::{present, score};

/// The 17 metrics that HANNA's paper shows in its body (Figures 3, 4 and 7 and the Williams
/// matrices), in their order and without their marks.
///
/// The analysis has a list of its own; this copy is what it is held to.
pub const HANNA_SELECTED: [&str; 17] = [
    "BLEU",
    "ROUGE-1 Recall",
    "METEOR",
    "chrF",
    "ROUGE-WE-3 Recall",
    "BERTScore Recall",
    "MoverScore",
    "DepthScore",
    "BaryScore-W",
    "S3-Pyramid",
    "SummaQA",
    "InfoLM-FisherRao",
    "BARTScore-SH",
    "Coverage",
    "Repetition-1",
    "SUPERT-PS",
    "BLANC-Tune-PS",
];
