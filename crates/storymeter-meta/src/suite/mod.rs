//! What metrics see, and what disturbs them: the test suite for metrics.
//!
//! A suite has pairs of texts: a story and its twin, which differs from it in one [`Aspect`] only.
//! Twins of the discrimination test are damaged, and a good metric prefers the original. Twins of
//! the invariance test mean the same, and a good metric gives them the same score. The two must be
//! read together: a metric that sees damage less than it sees typos measures spelling.
//!
//! The caller makes the pairs and scores them ([`SuiteScores`]). The result of [`analyse`] is typed
//! ([`SuiteResult`]). Tables and sentences are made from it by [`view`](crate::view). [`write()`]
//! puts it into a folder, and [`read`] gets it back.
//!
//! Two baselines belong to every number. A metric that gives all texts the same score, the
//! constant metric, says what a metric gets that sees nothing. And every shift is also given as a
//! multiple of the shift that typos cause.
//!
//! ```
//! use storymeter_core::{Aspect, Column, Direction};
//! use storymeter_meta::suite::{
//!     AspectScores, MetricScores, Pairing, SuiteOptions, SuiteScores, analyse,
//! };
//! use storymeter_meta::view::suite_sentence;
//!
//! // The metric finds every twin a little worse than its original.
//! let scores = |change: f64| MetricScores {
//!     originals: (0..40).map(|i| Ok(f64::from(i % 8))).collect(),
//!     twins: (0..40).map(|i| Ok(f64::from(i % 8) - change)).collect(),
//! };
//! let aspect = |aspect, change| AspectScores {
//!     aspect,
//!     stories: 40,
//!     left_out: Vec::new(),
//!     rules: Vec::new(),
//!     pairing: Pairing::Paired,
//!     scores: vec![scores(change)],
//! };
//! let suite = SuiteScores {
//!     columns: vec![Column::metric("bleu", Direction::Higher)],
//!     aspects: vec![aspect(Aspect::Time, 3.0), aspect(Aspect::Typo, 1.0)],
//!     ..SuiteScores::default()
//! };
//! let result = analyse(&suite, &SuiteOptions::default())?;
//! let cell = result.cell("bleu", Aspect::Time).unwrap();
//! assert_eq!((cell.pairs, &cell.right_order), (40, &Ok(1.0)));
//! assert!((cell.times_typo.as_ref().unwrap() - 3.0).abs() < 1e-12);
//! assert_eq!(
//!     suite_sentence(&result, "bleu"),
//!     "bleu sees time (AUC 0.80). Typos shift it by 0.44 standard deviations, less than the \
//!      damage that it sees."
//! );
//! # Ok::<(), storymeter_meta::Error>(())
//! ```
//!
//! [`Aspect`]: storymeter_core::Aspect

mod analyse;
mod cell;
mod check;
mod files;
mod result;
mod samples;
mod scores;
mod warnings;

pub use analyse::analyse;
pub use files::{files, holds_result, prepare, read, write};
pub use result::{
    AspectSummary, Example, ExampleScore, LeftOut, MissingAspect, Pairing, Piece, RuleCount,
    SuiteCell, SuiteKind, SuiteMethod, SuiteResult,
};
pub use scores::{AspectScores, MetricScores, SuiteOptions, SuiteScores};
