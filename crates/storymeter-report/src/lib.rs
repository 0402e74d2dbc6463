//! Reports: one self-contained HTML page, and figures for a paper.
//!
//! [`Inputs`] gathers the results of meta-evaluations and of test suites for metrics, score tables,
//! stories and training logs.
//! A [`Report`] computes what can be compared in them. [`Report::html`] makes one HTML file that
//! needs no network. [`Report::figures`] draws the main figures or all of them, and
//! [`files::write`] saves figures as SVG, PNG and PDF.
//!
//! ```
//! use storymeter_core::Catalogue;
//! use storymeter_report::{Inputs, Report};
//! # let folder = tempfile::tempdir()?;
//! # let scores = folder.path().join("scores.jsonl");
//! let line = r#"{"id": "a", "system": "S", "scores": {"bleu": 0.5}, "human": {"plot": [4]}}"#;
//! std::fs::write(&scores, line)?;
//! let inputs = Inputs::read(&[scores], None, &Catalogue::default())?;
//! assert!(Report::new(&inputs).html().contains("How are the stories scored by bleu?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything that a page says about a study comes from the types of [`storymeter_meta::Study`] or
//! [`storymeter_meta::suite::SuiteResult`], never from a title or a file name.
//!
//! Texts and names from files are not trusted. They reach the page escaped, or inside a block of
//! JSON in which no `<` is left, and its scripts show them as text and never as markup.
#![forbid(unsafe_code)]

mod changes;
mod embed;
mod error;
mod figures;
pub mod files;
mod heat;
mod inputs;
mod page;
mod palette;
#[cfg(feature = "figures")]
mod pdf;
mod report;
mod scatter;
mod stories;
mod summary;
mod svg;
mod systems;
#[cfg(test)]
mod testing;
mod training;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

pub use error::{Error, Result};
pub use figures::FigureSet;
pub use inputs::{Inputs, NamedTable, StudyRun, SuiteRun};
pub use report::Report;
pub use stories::{Details, StoryTable};
pub use svg::Figure;
pub use training::{Quantity, TrainingLog};
