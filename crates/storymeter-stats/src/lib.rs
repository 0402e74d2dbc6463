//! Correlations, tests, intervals, agreement and rank aggregation on plain slices.
//!
//! Every function documents its formula and what it does with missing values. Malformed input (unequal lengths, too
//! few values) is a [`StatsError`]; well-formed input on which a statistic has no value (a constant vector) gives
//! NaN together with the reason ([`Undefined`]). Nothing is dropped or replaced silently. Random procedures take a
//! seed and give the same result for any number of threads.
#![forbid(unsafe_code)]

pub mod correlation;
pub mod distribution;
mod error;
mod rank;
mod special;
mod summation;

pub use correlation::{
    CleanPairs, Coefficient, Correlation, Prepared, drop_nan_pairs, kendall, pearson, spearman,
};
pub use error::{Result, StatsError, Undefined};
pub use rank::mid_ranks;
