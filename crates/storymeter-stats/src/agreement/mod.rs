//! Do the raters agree? Intraclass correlation, Krippendorff's alpha, Fleiss' kappa, Kendall's W.
//!
//! All take a [`Matrix`](crate::Matrix) with one row per unit (target, subject, item) and one column per rater.

mod fleiss;
mod icc;
mod kendall_w;
mod krippendorff;

pub use fleiss::{FleissKappa, fleiss_kappa};
pub use icc::{Icc, IccForm, icc};
pub use kendall_w::{KendallW, kendall_w};
pub use krippendorff::{KrippendorffAlpha, Scale, krippendorff_alpha};
