//! The benchmark of metrics OpenMEVA (ACL 2021): its data, and its tasks with people.
//!
//! [`analyse`] correlates metrics with human scores as sections 4.1 and 4.2 of the paper do: over
//! all stories, by error type, inside each generator and across datasets. It takes score tables,
//! which `score` makes from `mags_roc.json` and `mags_wp.json`, or from any other rated stories.
//! [`acts`] reads the texts of the tests without people.
//!
//! ```
//! use storymeter_core::{Column, Direction, Ratings, Row, ScoreTable};
//! use storymeter_meta::openmeva::{Dataset, Options, analyse};
//! let row = |i: u32| {
//!     let mut ratings = Ratings::new();
//!     ratings.push("human", Some(f64::from(i * 5 % 12)));
//!     Row { id: i.to_string(), system: Some("gpt".into()), ratings, ..Row::default() }
//! };
//! let mut scores = ScoreTable::new((0..12).map(row).collect());
//! let perplexity = (0..12).map(|i| Ok(30.0 - f64::from(i * 5 % 12))).collect();
//! scores.push(Column::metric("perplexity", Direction::Lower), perplexity);
//!
//! let tasks = analyse(&[Dataset { name: "roc", scores: &scores }], &Options::default())?;
//! let overall = tasks.overall[0].metrics[0].pearson().unwrap();
//! assert!(overall.value.as_ref().unwrap().value > 0.999, "less perplexity is better");
//! assert!(tasks.by_error_type[0].sets.is_err(), "nobody named error types");
//! # Ok::<(), storymeter_meta::Error>(())
//! ```

pub mod acts;
mod conclusion;
mod sheets;
mod tasks;

pub use tasks::{
    AcrossDatasets, AcrossRow, ByErrorType, Dataset, DatasetFacts, HumanTasks, InsideGenerators,
    MetricAgreement, Options, Overall, StorySet, analyse,
};
