//! Reports: one self-contained HTML page, and figures for a paper.
//!
//! [`Inputs`] gathers the results of meta-evaluations, score tables, stories and training logs.
//! [`page::html`] makes one HTML file of them that needs no network. [`figures::all`] draws every
//! figure, and [`files::write`] saves figures as SVG, PNG and PDF.
//!
//! ```
//! use storymeter_core::Catalogue;
//! use storymeter_report::{Inputs, page};
//! # let folder = tempfile::tempdir()?;
//! # let scores = folder.path().join("scores.jsonl");
//! let line = r#"{"id": "a", "system": "S", "scores": {"bleu": 0.5}, "human": {"plot": [4]}}"#;
//! std::fs::write(&scores, line)?;
//! let inputs = Inputs::read(&[scores], None, &Catalogue::default())?;
//! assert!(page::html(&inputs).contains("scores.jsonl: 1 stories"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything that a page says about a study comes from the types of [`storymeter_meta::Study`],
//! never from a title or a file name.
//!
//! Texts and names from files are not trusted. They reach the page escaped, or inside a block of
//! JSON in which no `<` is left, and its scripts show them as text and never as markup.
#![forbid(unsafe_code)]

pub mod compare;
mod embed;
mod error;
pub mod figures;
pub mod files;
mod heat;
mod inputs;
pub mod page;
mod palette;
#[cfg(feature = "figures")]
mod pdf;
mod scatter;
mod stories;
mod summary;
mod svg;
#[cfg(test)]
mod testing;
mod training;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

pub use error::{Error, Result};
pub use inputs::{Inputs, NamedTable, Run};
pub use stories::{Details, StoryTable};
pub use svg::Figure;
pub use training::{Quantity, TrainingLog};
