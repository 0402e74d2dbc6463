//! Agreement between raters: intraclass correlation, Krippendorff's alpha, Fleiss' kappa, Kendall's
//! W.
//!
//! All of them take a [`Matrix`](crate::Matrix) with one row per unit (target, subject, item) and
//! one column per rater. Krippendorff's alpha copes with missing ratings (NaN). The others need
//! complete rows; [`CompleteRows::from_columns`](crate::CompleteRows::from_columns) and
//! [`Matrix::complete_rows`](crate::Matrix::complete_rows) leave out the units with a missing
//! rating and count them.

mod fleiss;
mod icc;
mod kendall_w;
mod krippendorff;

pub use fleiss::{FleissKappa, fleiss_kappa};
pub use icc::{Icc, IccForm, icc};
pub use kendall_w::{KendallW, kendall_w};
pub use krippendorff::{KrippendorffAlpha, Scale, krippendorff_alpha};
