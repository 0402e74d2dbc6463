//! What can go wrong while a report is made.

use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read, written or understood.
    #[error(transparent)]
    Core(#[from] storymeter_core::Error),
    /// A folder that holds no result of `storymeter meta`.
    #[error(
        "{}: no result.json in this folder; make one with `storymeter meta ... -o {}`",
        .0.display(),
        .0.display()
    )]
    NotAResult(PathBuf),
    /// Nothing to report on.
    #[error(
        "nothing to report: give a folder of `storymeter meta -o` or a file of `storymeter score -o`"
    )]
    Empty,
    /// A drawing could not be turned into another format.
    #[error("figure {id}: cannot make {format}: {problem}")]
    Convert {
        /// The figure.
        id: String,
        /// `png` or `pdf`.
        format: &'static str,
        /// What the converter said.
        problem: String,
    },
}
