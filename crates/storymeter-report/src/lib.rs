//! What a researcher shows to others: one self-contained HTML file, and figures for a paper.
//!
//! [`Inputs`] gathers the folders `storymeter meta` wrote, scores, stories and training logs. [`page::html`] makes one
//! HTML file of them that needs no network; [`figures::all`] draws every figure as SVG, and [`files::write`] saves them
//! as SVG, PNG and PDF.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let scores = folder.path().join("scores.jsonl");
//! std::fs::write(&scores, r#"{"id": "a", "system": "S", "scores": {"bleu": 0.5}, "human": {"plot": [4]}}"#)?;
//! let inputs = storymeter_report::Inputs::read(&[scores], None)?;
//! let html = storymeter_report::page::html(&inputs);
//! assert!(html.contains("Stories: 1."));
//! # Ok(())
//! # }
//! ```
//!
//! Story texts are untrusted. They reach the page only inside a JSON block in which no `<` is left, and the page's
//! script shows them as text, never as markup.
#![forbid(unsafe_code)]

pub mod compare;
mod embed;
mod error;
mod facets;
pub mod figures;
pub mod files;
mod inputs;
pub mod page;
mod palette;
mod scatter;
mod stories;
mod summary;
mod svg;

pub use error::{Error, Result};
pub use inputs::{Inputs, Run};
pub use stories::{StoryColumn, StoryTable};
pub use svg::Figure;
