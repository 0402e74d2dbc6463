//! One ranking from many: Borda count, mean rank, Kemeny consensus.
//!
//! All of them take scores with one row per candidate and one column per voter (criterion,
//! coefficient, rater...). A higher score is better. A missing score (NaN) is an error, because a
//! voter who did not score a candidate cannot rank it: leave the voter out, or leave the candidate
//! out with [`CompleteRows`](crate::CompleteRows).

mod borda;
mod kemeny;
mod numpy_order;

pub use borda::{BordaCount, BordaTies, borda, mean_ranks};
pub use kemeny::{Kemeny, kemeny};
pub use numpy_order::argsort_numpy_1_23;
