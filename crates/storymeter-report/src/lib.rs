//! What a researcher shows to others: one self-contained HTML file, and figures for a paper.
//!
//! [`Inputs`] gathers the folders `storymeter meta` wrote, scores, stories and training logs. [`page::html`] makes one
//! HTML file of them that needs no network; [`figures::all`] draws every figure as SVG, and [`files::write`] saves them
//! as SVG, PNG and PDF.
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
