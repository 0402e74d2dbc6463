//! What metrics see, and what disturbs them: the test suite for metrics.
//!
//! A suite has pairs of texts: a story and its twin, which differs from it in one [`Aspect`] only.
//! Twins of the discrimination test are damaged, and a good metric prefers the original. Twins of
//! the invariance test mean the same, and a good metric gives them the same score. The two must be
//! read together: a metric that sees damage less than it sees typos measures spelling.
//!
//! The caller makes the pairs and scores them ([`SuiteScores`]). The result is typed
//! ([`SuiteResult`]). Tables and sentences are made from it by [`view`](crate::view).
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
