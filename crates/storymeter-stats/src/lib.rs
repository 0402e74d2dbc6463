//! Correlations, tests, intervals, agreement and rank aggregation on plain slices.
//!
//! Every function documents its formula and what it does with missing values. Malformed input (unequal lengths, too
//! few values) is a [`StatsError`]; well-formed input on which a statistic has no value (a constant vector) gives
//! NaN together with the reason ([`Undefined`]). Nothing is dropped or replaced silently. Random procedures take a
//! seed and give the same result for any number of threads.
#![forbid(unsafe_code)]

pub mod agreement;
mod classification;
pub mod correlation;
mod dependent;
pub mod distribution;
mod error;
mod interval;
mod matrix;
mod multiple;
mod pairwise_accuracy;
mod permutation;
mod rank;
pub mod ranking;
pub mod resample;
mod special;
mod summation;
mod systems;

pub use classification::{Auc, auc, weighted_f1};
pub use correlation::{
    CleanPairs, Coefficient, Correlation, Prepared, drop_nan_pairs, kendall, pearson, spearman,
};
pub use dependent::{
    DependentTest, Signs, Stronger, meng_rosenthal_rubin, steiger, williams, williams_by_strength,
    williams_matrix,
};
pub use error::{Result, StatsError, Undefined};
pub use interval::{
    Bootstrap, BootstrapMethod, BootstrapOptions, Interval, bca_interval, bootstrap, fisher_interval,
    percentile_interval,
};
pub use matrix::{CompleteRows, Matrix};
pub use multiple::{benjamini_hochberg, benjamini_yekutieli};
pub use pairwise_accuracy::{PairCounts, TieCalibration, calibrate_ties, pairwise_accuracy};
pub use permutation::{Design, Exchange, Level, permutation_test};
pub use rank::mid_ranks;
pub use summation::mean;
pub use systems::{PairedBootstrap, RandomisationTest, approximate_randomisation, paired_bootstrap};
