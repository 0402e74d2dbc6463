//! Meta-evaluation: how good a measure of stories is.
#![forbid(unsafe_code)]

mod correlations;
mod degenerate;
mod error;
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
pub use level::{Association, Gap, Level};
pub use scale::Scale;
pub use sheet::{Cell, Document, Form, Head, Sheet, Warning};
