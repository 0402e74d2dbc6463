//! Checks on real data: published numbers, values of other programs, and whole corpora.
//!
//! The checks are in `tests/checks`, one file per topic, and run with the rest of the tests. They
//! are one program, because each program links the embedded models. They read the shared data,
//! which is `../shared` beside the repository or the folder that `STORYMETER_SHARED` names, and
//! weights of real models. A check whose data is absent is reported as ignored, with the reason,
//! and never as passed (see [`checks!`]).
//!
//! The library holds what several checks share.
#![forbid(unsafe_code)]

mod data;
pub mod hanna_metrics;
mod harness;
pub mod pairs;
mod scoring;

pub use data::{Error, Result, encoder_weights, meteor_settings, shared, slow, weights};
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
