//! Meta-evaluation: how good a measure of stories is.
//!
//! - [`Correlations`]: every column of a table against every other, at story, system and pooled level, with the number
//!   of observations used and the reason for every NaN; [`inspect`]: columns not to be taken at face value;
//! - [`pairwise`], [`quality`], [`ratings`]: metrics as judges between systems, biased sets, agreement of raters;
//! - [`study`]: all of it on one table; [`hanna`], [`union`], [`own`]: on the data of the two papers and on a user's;
//! - [`join`]: scores from files beside human judgments from a file;
//! - [`Document`] and [`Sheet`]: what comes out, for a terminal ([`render`]), for files ([`folder`]) and for reports.
//!
//! Random procedures take a seed and have a stream for each pair, set or draw: results do not depend on threads.
#![forbid(unsafe_code)]

mod correlations;
mod degenerate;
mod error;
mod error_types;
pub mod folder;
pub mod hanna;
pub mod join;
mod level;
pub mod own;
pub mod pairwise;
pub mod quality;
pub mod ratings;
pub mod render;
mod scale;
mod sheet;
pub mod study;
pub mod union;

pub use correlations::{Correlations, Noise, SystemMeans, associate, columns_of};
pub use degenerate::inspect;
pub use error::{Error, Result};
pub use error_types::ErrorTypes;
pub use level::{Association, Gap, Level};
pub use scale::Scale;
pub use sheet::{Cell, Document, Form, Head, Sheet, Warning};
