//! Damaged stories (negative samples), and exactly what was damaged.
//!
//! UNION (Guan & Huang, EMNLP 2020) learns to tell human stories from automatically damaged ones.
//! This crate does the damage: [`Perturber`] draws one to four of the four [`Technique`]s of
//! section 3.2 and applies them to a story; the [`Perturbation`] says what was done, [`Edit`] by
//! edit, so that [`undo`] gives the story back. Foreign words and sentences come from [`Donors`], a
//! bounded sample of a corpus.
//!
//! The leading context (the prompt, or the first sentence) is never touched. The number of
//! sentences stays.
#![forbid(unsafe_code)]

mod config;
mod donors;
mod draft;
mod draw;
mod edit;
mod error;
mod names;
pub mod negation;
mod reordering;
mod repetition;
mod sampler;
mod style;
mod substitution;
mod tally;
mod technique;
mod words;

pub use config::{CheckedConfig, Config, Preset};
pub use donors::{DEFAULT_SAMPLE, DonorSampler, Donors};
pub use draft::sentences_of;
pub use edit::{Edit, Stretch, apply, stretches, undo};
pub use error::Error;
pub use names::delexicalised;
pub use sampler::{Perturbation, Perturber, Unchanged};
pub use tally::Tally;
pub use technique::Technique;
