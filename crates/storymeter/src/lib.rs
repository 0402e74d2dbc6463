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
//! - [`summary`]: scores of systems with intervals, and one system against another.
//! - [`input`]: stories from files, in bounded memory.
//!
//! - [`union`]: the learned metric by itself. [`statistics`]: the tests behind the numbers.
//! - [`extend`]: what a metric of your own is made of.
//!
//! With the feature `report` there is also `report`, which makes pages and figures, and with
//! `train` there is `train`. The features `cuda`, `parquet` and `zstd` add GPUs, Parquet and
//! Zstandard. [`prelude`] has what most programs import.
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
mod few;
pub mod input;
mod layout;
mod learned;
mod listing;
mod overview;
mod ready;
mod run;
mod scored_table;
mod scorer;
pub mod shards;
pub mod suite;
pub mod summary;
mod text_notes;
mod texts;
mod trust;
mod write;

use std::path::Path;

pub use storymeter_core::spreadsheet::TextCells;
pub use storymeter_core::write::ScoreFormat;
pub use storymeter_core::{
    Absence, Aspect, AspectTest, Catalogue, Column, ColumnView, Counts, Depth, Device, Direction,
    FlagCounts, Header, Key, LengthClass, Norms, Origin, Place, Precision, Progress, Range,
    Ratings, Rationale, Role, Row, RowIndex, ScoreTable, ShardMark, Signature, Stage, Story,
    SystemFlags, TextTotals, Totals, Validity, Value,
};
pub use storymeter_executor::{Batch, CorpusSurvey, MetricSet, Pace, Part};
pub use storymeter_text::flags::Flag;

pub use columns::score_table;
pub use corpus::{CorpusScore, NamedMetric, ReferenceTexts};
pub use correlate::{Agreement, Agreements, Numbers};
pub use error::{Error, Result};
pub use learned::{CRITERIA, LEARNED};
pub use listing::{ListedMetric, Listing};
pub use overview::Overview;
pub use ready::{ReadyScorer, Scored};
pub use run::Run;
pub use scored_table::ScoredTable;
pub use scorer::{Scorer, metric_of};
pub use text_notes::TextNote;
pub use texts::TextCheck;
pub use write::{CompleteScores, ScoreSink, Written};

/// What most programs import: `use storymeter::prelude::*`.
pub mod prelude {
    pub use crate::{
        NO_REFERENCE, ScoreTable, Scorer, Story, compare, correlate, metric, read, score,
    };
}

/// What a metric from outside the workspace is made of. The example `own_metric` shows one.
pub mod extend {
    pub use storymeter_core::{
        Absence, Batching, Choice, CorpusReader, CorpusWriter, Depth, Description, Direction,
        Effect, Entry, Explained, Key, Metric, MetricError, Needs, Norms, Pooling, Prepared, Range,
        Rationale, Request, Resources, Rows, ScoreColumn, Settings, Signature, Span, SpanKind,
        Survey, TextCache, Validity, Value, View,
    };
}

/// Meta-evaluation: how good metrics and systems are.
///
/// An analysis makes a [`Study`](meta::Study), which holds typed results;
/// [`sheets`](meta::sheets) makes tables of it.
pub mod meta {
    pub use storymeter_core::number::Digits;
    pub use storymeter_meta::study::{
        IntervalMethod, Leader, PValue, Sides, Test, TestMatrix, Turn,
    };
    pub use storymeter_meta::view::{
        Cell, Form, Head, Mark, Sheet, Subject, conclusion, sheets, warnings,
    };
    pub use storymeter_meta::{
        Coefficient, Correction, DrawOptions, Edition, Error, Finding, Level, PairOptions, Scale,
        Settings, Study, Warning, WarningKind,
    };

    /// The study of HANNA, from the published ratings and scores.
    pub mod hanna {
        pub use storymeter_meta::hanna::{Options, analyse};
    }

    /// The study of UNION, from the published scores.
    pub mod union {
        pub use storymeter_meta::union::{MisjudgedOptions, Options, analyse};
    }

    /// The study of any score table.
    pub mod table {
        pub use storymeter_meta::table::{Options, analyse};
    }

    /// Which system is better, by its scores.
    pub mod systems {
        pub use storymeter_meta::study::Side;
        pub use storymeter_meta::systems::{
            Caution, Cluster, ItemWins, Method, Options, PairResult, Pairing, Power, RankedSystem,
            SystemComparison, SystemPair, compare_systems,
        };
    }
}

/// The statistics behind the numbers, on plain slices.
pub mod statistics {
    pub use storymeter_stats::agreement::{
        FleissKappa, Icc, IccForm, KendallW, KrippendorffAlpha, fleiss_kappa, icc, kendall_w,
        krippendorff_alpha,
    };
    pub use storymeter_stats::{
        Bootstrap, BootstrapMethod, BootstrapOptions, CompleteRows, Correlation, DependentTest,
        Difference, Interval, ItemWins, Matrix, Pairing, Resampling, Sample, SampleComparison,
        Score, benjamini_hochberg, bootstrap, compare_samples, holm, kendall, mean_interval,
        pearson, score_intervals, spearman, williams,
    };
}

/// The learned metric by itself: its scores and their explanations.
pub mod union {
    pub use storymeter_union::{
        About, Card, DamageCalibration, Diagnosis, Error, Explanation, HAS_EMBEDDED, Heads, Model,
        Reconstruction, Score, SentenceShare, Standing, StoredModel, Suggestion, TrainingRecord,
        UnionScorer, Warning, WeakPair, installed_paths,
    };
}

/// One self-contained page, and figures.
#[cfg(feature = "report")]
pub mod report {
    pub use storymeter_report::{
        Error, Figure, FigureSet, Inputs, NamedTable, Report, StoryTable, StudyRun, SuiteRun,
        TrainingLog,
    };
}

/// Training of the learned metric.
#[cfg(feature = "train")]
pub mod train {
    pub use storymeter_union::train::{
        DevReport, Device, EpochReport, Event, Job, LongStories, Losses, Preset, Settings, Watch,
        train,
    };
    #[cfg(feature = "cuda")]
    pub use storymeter_union::train::{NcclId, Rank, Team};

    /// Training on ratings, for the metric `criteria`.
    pub mod criteria {
        pub use storymeter_baselines::criteria::{CriteriaMap, Job, LeftOut, Set, Settings, train};
    }
}

/// For metrics that compare a story with nothing: a list of no references.
pub const NO_REFERENCE: [&str; 0] = [];

/// Scores stories with the embedded model.
///
/// The score is a probability: 1 for a story that reads like a whole human story.
///
/// ```
/// let scores = storymeter::score(["Ada lost her keys. She looked under the bed."])?;
/// let value = scores.column("union")?.values()[0].clone().unwrap();
/// assert!((0.0..=1.0).contains(&value));
/// # Ok::<(), storymeter::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the program was built without the model and no file of it is found.
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
/// Weights, device, precision and seed are given as to a [`Scorer`]:
///
/// ```no_run
/// let bertscore = storymeter::metric("bertscore")?.weights("bertscore", "models/roberta-large");
/// let score = bertscore.corpus_score(&["the cat sat"], &["a cat sat"])?;
/// # Ok::<(), storymeter::Error>(())
/// ```
///
/// # Errors
/// Returns an error if there is no such metric or option.
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
/// assert_eq!(table.column("text-length")?.values(), [Ok(2.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the file is not such a table.
pub fn read(path: impl AsRef<Path>) -> Result<ScoreTable> {
    Ok(storymeter_core::read::scores(path.as_ref(), &catalogue())?)
}

/// Reads several score tables and joins them by system and id; see
/// [`read`] for one.
///
/// # Errors
/// Returns an error if a file is not a score table, or the files contradict each other.
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
/// println!("{}", storymeter::meta::conclusion(&found));
/// assert_eq!(found.systems[0].name, "long");
/// # Ok::<(), storymeter::Error>(())
/// ```
///
/// # Errors
/// Returns an error if there is no such column, or only some stories have a system.
pub fn compare(scores: &ScoreTable, key: &str) -> Result<meta::systems::SystemComparison> {
    Ok(meta::systems::compare_systems(scores, key, &meta::systems::Options::default())?)
}
