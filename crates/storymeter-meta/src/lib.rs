//! Meta-evaluation: how good a measure of stories is.
#![forbid(unsafe_code)]

mod error;
pub mod folder;
mod level;
mod outcome;
mod scale;
pub mod study;
pub mod view;

pub use error::{Error, Result};
pub use level::Level;
pub use outcome::{Gap, Outcome};
pub use scale::Scale;
pub use study::{Agreement, Edition, Finding, Kind, Study, Warning, WarningKind};
