//! Measure how good a story is, and how good a measure of stories is.
//!
//! ```
//! # let stories = ["Ada lost her keys. She looked under the bed. There they were.",
//! #     "Ada lost her keys. A whale sang. The tax was blue.", "Rain. Rain. Rain. Rain."];
//! # let (hypotheses, references) = (["the cat sat on the mat"], ["the cat sat on a mat"]);
//! # let ratings = [5.0, 2.0, 1.0];
//! let scores = storymeter::score(stories)?; // the embedded model
//! let bleu = storymeter::metric("bleu")?.corpus_score(&hypotheses, &references)?;
//! println!("{bleu}  {}", bleu.signature());
//! let tau = storymeter::correlate(&scores, &ratings)?.kendall; // value, interval, p, n
//! # assert_eq!((scores.rows().len(), tau.n), (3, 3));
//! # Ok::<(), storymeter::Error>(())
//! ```
//!
//! - [`score`] and [`Scorer`]: stories in, a [`ScoreTable`] out, which is written to and read from
//!   files with [`ScoreTable::write`] and [`read`].
//! - [`metric`]: one metric on plain strings. [`catalogue`]: all metrics by name; a metric from
//!   outside the workspace joins with [`Scorer::register`].
//! - [`compare`]: which system is better by its scores. [`correlate`]: how strongly scores agree
//!   with ratings. [`meta`]: the whole meta-evaluation.
//! - [`damage`]: damaged stories, with what was changed.
//! - [`suite`]: what a metric sees, and what disturbs it.
//! - [`shards`]: many files one by one, on many machines, and one table from all of them.
//! - [`ledger`]: scores of systems with intervals, and one system against another.
//! - [`input`]: stories from files, in bounded memory.
//!
//! The parts are crates of their own, and each is here under its name: [`core`], [`text`],
//! [`perturb`], [`encoder`], [`union`], [`metrics`], [`stats`], [`meta`] and, with the feature
//! `report`, `report`, and with `train`, `baselines`. The features `train`, `cuda`, `parquet`
//! and `zstd` add training, GPUs, Parquet and Zstandard.
#![forbid(unsafe_code)]

/// The tutorial, whose examples run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorials/rust-library.md")]
struct Tutorial;

mod columns;
mod corpus;
mod corpus_stats;
mod correlate;
pub mod damage;
mod error;
pub mod input;
pub mod ledger;
mod listing;
mod notes;
mod overview;
mod ready;
mod run;
mod scorer;
pub mod shards;
pub mod suite;
mod unlike;

use std::path::Path;

#[cfg(feature = "train")]
pub use storymeter_baselines as baselines;
pub use storymeter_core as core;
pub use storymeter_core::{Catalogue, Depth, Device, Precision, ScoreTable, Story};
pub use storymeter_encoder as encoder;
pub use storymeter_meta as meta;
pub use storymeter_metrics as metrics;
pub use storymeter_perturb as perturb;
#[cfg(feature = "report")]
pub use storymeter_report as report;
pub use storymeter_stats as stats;
pub use storymeter_text as text;
pub use storymeter_union as union;

pub use columns::score_table;
pub use corpus::{CorpusScore, NamedMetric, ReferenceTexts};
pub use correlate::{Agreement, Agreements, Numbers};
pub use error::{Error, Result};
pub use listing::{ListedMetric, Listing};
pub use overview::Overview;
pub use ready::{ReadyScorer, Scored};
pub use run::Run;
pub use scorer::{CRITERIA, LEARNED, Scorer, metric_of};
pub use unlike::Unlike;

/// For metrics that compare a story with nothing: a list of no references.
pub const NO_REFERENCE: [&str; 0] = [];

/// Scores stories with the embedded model.
///
/// The score is a probability: 1 for a story that reads like a whole human story.
///
/// ```
/// let scores = storymeter::score(["Ada lost her keys. She looked under the bed."])?;
/// let value = scores.values(scores.find("union")?)[0].clone().unwrap();
/// assert!((0.0..=1.0).contains(&value));
/// # Ok::<(), storymeter::Error>(())
/// ```
///
/// # Errors
/// Where the program was built without the model and no file of it is found.
pub fn score<I>(stories: I) -> Result<ScoreTable>
where
    I: IntoIterator,
    I::Item: Into<Story>,
{
    Scorer::new().run(stories)
}

/// A metric by its name, such as `bleu`, `rouge:hanna` or `chrf:plus-plus`.
///
/// ```
/// let error = storymeter::metric("blue").err().unwrap();
/// assert_eq!(error.to_string(), "there is no metric \"blue\"; did you mean \"bleu\"?");
/// ```
///
/// # Errors
/// Where there is no such metric or option, or what it needs cannot be opened.
pub fn metric(typed: &str) -> Result<NamedMetric> {
    NamedMetric::new(typed, catalogue())
}

/// Correlates scores with ratings, story by story, where both are there.
///
/// Where one of the two is a [`ScoreTable`] in which several stories are of one item, p-values and
/// intervals rest on whole items, because stories of one item are not independent of each other.
///
/// ```
/// let found = storymeter::correlate(&[0.3, 0.1, 0.4, 0.6], &[3.0, 1.0, 2.0, 5.0])?;
/// assert!((found.kendall.value - 2.0 / 3.0).abs() < 1e-12);
/// assert_eq!(found.kendall.n, 4);
/// # Ok::<(), storymeter::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the lists have different lengths, fewer than three stories have both
/// numbers, or one list is constant.
pub fn correlate(scores: &impl Numbers, ratings: &impl Numbers) -> Result<Agreements> {
    correlate::correlate(scores, ratings)
}

/// All metrics by name, the learned ones first.
///
/// ```
/// let catalogue = storymeter::catalogue();
/// let mut ids = catalogue.entries().flat_map(|entry| entry.ids.iter().copied());
/// assert_eq!(ids.next(), Some("union"));
/// assert!(ids.any(|id| id == "bleu"));
/// ```
pub fn catalogue() -> Catalogue {
    let learned =
        [&storymeter_union::ENTRY, &storymeter_union::criteria::ENTRY, &storymeter_union::DISSCORE];
    Catalogue::new(
        learned
            .into_iter()
            .chain(storymeter_metrics::entries())
            .chain(storymeter_neural::entries()),
    )
}

/// Reads a score table that `score` or [`ScoreTable::write`] wrote, or HANNA's published scores.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("scores.jsonl");
/// storymeter::Scorer::new().metrics(["text-length"]).run(["Rain."])?.write(&path)?;
/// let table = storymeter::read(&path)?;
/// assert_eq!(table.values(0), [Ok(2.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Where the file is not such a table.
pub fn read(path: impl AsRef<Path>) -> Result<ScoreTable> {
    Ok(storymeter_core::read::scores(path.as_ref(), &catalogue())?)
}

/// Reads several score tables and joins them by system and id; see
/// [`core::read::joined_scores`].
///
/// # Errors
/// Where a file is not a score table, or the files contradict each other.
pub fn read_all(paths: &[impl AsRef<Path>]) -> Result<ScoreTable> {
    Ok(storymeter_core::read::joined_scores(paths, &catalogue())?)
}

/// Compares the systems of a table by one of its metrics or criteria: who is better, and how sure
/// that is.
///
/// The systems are ranked by their mean, and every two of them are tested, on the items that they
/// share where they share enough of them. [`meta::systems`] explains the numbers and has options.
///
/// ```
/// # use storymeter::Story;
/// # let story = |system: &str, text: &str, item: usize| Story {
/// #     system: Some(system.into()),
/// #     item: Some(item.to_string()),
/// #     ..Story::from(text)
/// # };
/// # let stories: Vec<Story> = (0..12)
/// #     .flat_map(|i| [story("long", "Rain fell all night long.", i), story("short", "Rain.", i)])
/// #     .collect();
/// let scores = storymeter::Scorer::new().metrics(["text-length"]).run(stories)?;
/// let found = storymeter::compare(&scores, "text-length")?;
/// println!("{}", storymeter::meta::view::conclusion(&found));
/// assert_eq!(found.systems[0].name, "long");
/// # Ok::<(), storymeter::Error>(())
/// ```
///
/// # Errors
/// Where there is no such column, or only some stories have a system.
pub fn compare(scores: &ScoreTable, key: &str) -> Result<meta::systems::SystemComparison> {
    Ok(meta::systems::compare_systems(scores, key, &meta::systems::Options::default())?)
}
