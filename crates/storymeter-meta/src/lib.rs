#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! Three analyses give a [`Study`]: [`table`] of a user's own scores and ratings, [`hanna`] and
//! [`union`](mod@union) of the data of the two papers. [`correlate`](mod@correlate) joins score
//! files with human judgments, [`systems`] compares systems by their scores alone, [`changes`] says
//! what changed between two studies, and [`suite`] what metrics see in pairs of texts that differ
//! in one aspect. What comes out is typed ([`study`]); tables, figures and file names are made from
//! it by [`view`], and [`folder`] writes and reads it. No other crate computes a statistic of
//! metrics and ratings: a report shows what is here.
//!
//! Every number is a value or a [`Absence`] with the reason why there is none, and every n is the
//! number of values that were really used. Random procedures take a seed and have a stream for each
//! pair, set or draw, so that results do not depend on the number of threads.
#![forbid(unsafe_code)]

mod analysis;
pub mod changes;
pub mod correlate;
mod error;
pub mod folder;
mod grid;
pub mod hanna;
mod level;
pub mod openmeva;
mod outcome;
pub mod ratings;
mod scale;
pub mod scatter;
pub mod study;
pub mod suite;
pub mod systems;
pub mod table;
pub mod union;
pub mod view;

pub use analysis::{DrawOptions, PairOptions, Settings};
pub use error::{Error, Result};
pub use grid::Grid;
pub use level::Level;
pub use outcome::Outcome;
pub use scale::Scale;
pub use storymeter_core::Absence;
pub use storymeter_stats::{Coefficient, Correction};
pub use study::{Agreement, Edition, Finding, Kind, Study, Warning, WarningKind};
