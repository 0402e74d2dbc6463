#![doc = include_str!("../README.md")]
//!
//! # Overview
//!
//! - Correlations: [`pearson`], [`spearman`] and [`kendall`] with p-values, [`Coefficient`] to
//!   choose one at run time (also given a third variable, with [`Coefficient::partial`]), and
//!   [`Prepared`] vectors for many at once. [`Coefficient::associate`] is exact for few pairs, and
//!   [`clustered_correlation`] is for pairs that come in groups.
//! - Intervals: [`fisher_interval`], [`correlation_interval`] and [`bootstrap`] (percentile or
//!   BCa).
//! - Is one metric better than another? [`williams`], [`steiger`], [`meng_rosenthal_rubin`] and
//!   [`permutation_test`]; [`SharedCorrelations`] starts from columns, [`williams_matrix`] compares
//!   many metrics, and [`fisher_difference`] compares independent samples.
//! - Is one system better than another? [`compare_samples`], [`score_intervals`] for each of them,
//!   and [`PowerTarget`] for the number of stories that it takes.
//! - How far do two versions of the same texts lie apart? [`paired_shift`], and
//!   [`independent_shift`] for different texts.
//! - Many tests: [`holm`], [`benjamini_hochberg`], [`benjamini_yekutieli`], and [`Correction`] for
//!   matrices with absent cells.
//! - [`agreement`] of raters and [`ranking`] of candidates.
//! - Labels and pairs: [`weighted_f1`], [`auc`], [`pairwise_accuracy`], [`calibrate_ties`].
//! - [`ExactSum`]: sums without rounding, whose parts can be added in any order.
//! - [`distribution`]s and random streams ([`resample`]) to build on.
//!
//! # Missing values
//!
//! NaN marks a missing value. Basic statistics such as [`pearson`] never drop one: the result is
//! NaN with the reason. Functions that take whole columns and document it leave incomplete
//! observations out, and report both the number used (`n`) and the number left out (`dropped`).
//! [`complete_columns`], [`drop_nan_pairs`] and [`Matrix::complete_rows`] do the same on request.
//!
//! # Errors and undefined results
//!
//! Malformed input (unequal lengths, too few values) is a [`StatsError`]. Well-formed input on
//! which a statistic has no value (a constant vector, three correlations that cannot occur
//! together) gives NaN together with the reason, as [`Undefined`].
//!
//! Random procedures take a seed and give the same result for any number of threads.
#![forbid(unsafe_code)]

pub mod agreement;
mod association;
mod bootstrap;
mod classification;
mod comparison;
pub mod correlation;
mod deal;
mod dependent;
pub mod distribution;
mod error;
mod exact_sum;
mod fisher;
mod interval;
mod matrix;
mod multiple;
#[cfg(feature = "serde")]
mod number;
mod pairwise_accuracy;
mod permutation;
mod rank;
pub mod ranking;
pub mod resample;
mod sample;
mod sample_size;
mod shift;
mod special;
mod subsets;
mod summation;

pub use association::{
    ClusteredCorrelation, LEAST_PAIRS, are_clustered, clustered_correlation,
    clustered_correlation_bootstrap,
};
pub use bootstrap::{
    Bootstrap, BootstrapMethod, BootstrapOptions, CorrelationInterval, LARGE_SAMPLE, bootstrap,
    correlation_interval, mean_interval,
};
pub use classification::{Auc, WeightedF1, auc, weighted_f1, weighted_f1_of_present};
pub use comparison::{Difference, ItemWins, Pairing, SampleComparison, compare_samples};
pub use correlation::{
    CleanPairs, Coefficient, CompleteColumns, Correlation, Prepared, complete_columns,
    drop_nan_pairs, kendall, pearson, spearman,
};
pub use dependent::{
    DependentTest, SharedCorrelations, Stronger, WilliamsMatrix, WilliamsRules,
    meng_rosenthal_rubin, steiger, williams, williams_by_strength, williams_matrix,
    williams_matrix_of_columns, williams_published,
};
pub use error::{Result, StatsError, Undefined};
pub use exact_sum::{ExactSum, NotAnExactSum};
pub use fisher::{FisherTest, fisher_difference, fisher_interval};
pub use interval::{Interval, bca_interval, percentile_interval};
pub use matrix::{CompleteRows, Matrix};
pub use multiple::{Correction, benjamini_hochberg, benjamini_yekutieli, holm};
pub use pairwise_accuracy::{PairCounts, TieCalibration, calibrate_ties, pairwise_accuracy};
pub use permutation::{CorrelationLevel, Design, Exchange, RandomisationTest, permutation_test};
pub use rank::mid_ranks;
pub use sample::{LARGEST_DRAWN, Resampling, Sample, Score, score_intervals};
pub use sample_size::PowerTarget;
pub use shift::{Shift, ShiftOptions, independent_shift, paired_shift};
pub use summation::{mean, standard_deviation};
