//! Studies as sheets: tables, the numbers behind figures, file names and titles.
//!
//! Everything here is made from the types of a [`Study`] and only for showing. Nothing reads it
//! back.

mod names;
mod sheet;
pub mod text;

pub use names::{file_stem, unique_stems};
pub use sheet::{BiasedSetsPart, Cell, Form, Head, Sheet, Subject};

use crate::study::Study;

/// All sheets of a study, in reading order. Their ids are unique file names.
pub fn sheets(study: &Study) -> Vec<Sheet> {
    let _ = study;
    Vec::new()
}
