//! Correlations, tests, intervals, agreement and rank aggregation on plain slices.
//!
//! - [`correlation`]: Pearson, Spearman, Kendall, with p-values; [`Prepared`] vectors for many at once;
//! - intervals: [`fisher_interval`], [`bootstrap`] (percentile, BCa);
//! - is one metric better than another: [`williams`], [`steiger`], [`meng_rosenthal_rubin`], [`permutation_test`];
//! - is one system better than another: [`paired_bootstrap`], [`approximate_randomisation`];
//! - many tests: [`benjamini_hochberg`], [`benjamini_yekutieli`];
//! - [`agreement`] of raters, [`ranking`] of candidates;
//! - labels and pairs: [`weighted_f1`], [`auc`], [`pairwise_accuracy`], [`calibrate_ties`];
//! - [`distribution`]s and random streams ([`resample`]) for whoever builds on this.
//!
//! Every function documents its formula and what it does with missing values. Malformed input (unequal lengths, too
//! few values) is a [`StatsError`]; well-formed input on which a statistic has no value (a constant vector) gives
//! NaN together with the reason ([`Undefined`]). Nothing is dropped or replaced silently: [`drop_nan_pairs`] and
//! [`Matrix::complete_rows`] leave values out when asked, and count them. Random procedures take a seed and give the
//! same result for any number of threads.
//!
//! ```
//! use storymeter_stats::{Coefficient, drop_nan_pairs};
//! let (ratings, scores) = ([3.0, 1.0, 4.0, 2.0, 5.0], [0.3, 0.1, f64::NAN, 0.4, 0.6]);
//! let pairs = drop_nan_pairs(&ratings, &scores)?;
//! let tau = Coefficient::Kendall.compute(&pairs.x, &pairs.y)?;
//! assert_eq!((pairs.dropped, tau.n), (1, 4));
//! assert!((tau.coefficient - 2.0 / 3.0).abs() < 1e-15);
//! # Ok::<(), storymeter_stats::StatsError>(())
//! ```
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
    Bootstrap, BootstrapMethod, BootstrapOptions, Interval, bca_interval, bootstrap,
    fisher_interval, percentile_interval,
};
pub use matrix::{CompleteRows, Matrix};
pub use multiple::{benjamini_hochberg, benjamini_yekutieli};
pub use pairwise_accuracy::{PairCounts, TieCalibration, calibrate_ties, pairwise_accuracy};
pub use permutation::{Design, Exchange, Level, permutation_test};
pub use rank::mid_ranks;
pub use summation::mean;
pub use systems::{
    PairedBootstrap, RandomisationTest, approximate_randomisation, paired_bootstrap,
};
