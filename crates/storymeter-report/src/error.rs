//! What can go wrong while a report is made.

use std::path::PathBuf;

use storymeter_core::Place;
use storymeter_core::terminal::excerpt;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read, written or understood.
    #[error(transparent)]
    Core(#[from] storymeter_core::Error),
    /// The result of a meta-evaluation could not be read.
    #[error(transparent)]
    Meta(Box<storymeter_meta::Error>),
    /// The folder holds no result of a meta-evaluation and none of a test suite.
    #[error(
        "{}: there is no study.json in this folder, so it is not the result of a meta-evaluation, \
         and no result.json of a test suite",
        .0.display()
    )]
    NotAResult(PathBuf),
    /// The folder was written before results were saved as typed studies, or writing it was
    /// interrupted.
    #[error(
        "{}: there is a result.json but no study.json in this folder: it was written by an older \
         version, or writing it was interrupted; make it again",
        .0.display()
    )]
    OldResult(PathBuf),
    /// The result of a test suite in a file of another name, which could not be told from a story
    /// with scores.
    #[error(
        "{}: this is the result of a test suite, which is only read under the name result.json; \
         rename it, or give the folder that it comes from",
        .0.display()
    )]
    RenamedSuite(PathBuf),
    /// Two stories of a file belong to the same row of the score table.
    #[error("{place}: the story {} has the same scores as the story at {first}", excerpt(.id, 80))]
    DuplicateStory {
        /// Where the second story stands.
        place: Box<Place>,
        /// The id of the second story.
        id: String,
        /// Where the first story stands.
        first: Box<Place>,
    },
    /// A story without a known id could belong to several rows of the score table.
    #[error(
        "{place}: the story {} cannot be joined to its scores: its id is not among them, and \
         several rows have its system and its item",
        excerpt(.id, 80)
    )]
    AmbiguousStory {
        /// Where the story stands.
        place: Box<Place>,
        /// Its id.
        id: String,
    },
    /// Several systems have the id of a story that does not say who wrote it.
    #[error(
        "{place}: the story {} cannot be joined to its scores: several systems have this id, and \
         the story names none",
        excerpt(.id, 80)
    )]
    NoSystem {
        /// Where the story stands.
        place: Box<Place>,
        /// Its id.
        id: String,
    },
    /// None of the inputs has anything to show.
    #[error("there is nothing to report: no result, no scores, no stories and no training log")]
    Empty,
    /// A drawing could not be converted to another format.
    #[error("figure {id}: cannot make {format}: {problem}")]
    Convert {
        /// The name of the figure.
        id: String,
        /// `png` or `pdf`.
        format: &'static str,
        /// What the converter reported.
        problem: String,
    },
}

impl From<storymeter_meta::Error> for Error {
    fn from(error: storymeter_meta::Error) -> Self {
        Self::Meta(Box::new(error))
    }
}
