//! From many rankings to one: Borda count, mean rank, Kemeny consensus.
//!
//! All take scores with one row per candidate and one column per voter (criterion, coefficient, rater...); a higher
//! score is better. A NaN score is an error.

mod borda;
mod kemeny;
mod numpy_order;

pub use borda::{BordaCount, BordaTies, borda, mean_ranks};
pub use kemeny::{Kemeny, kemeny};
pub use numpy_order::argsort_numpy_1_23;
