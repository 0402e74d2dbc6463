//! What can go wrong between a user's data and a result.

use std::path::{Path, PathBuf};

use storymeter_core::Place;
use storymeter_core::terminal::{excerpt, plain};

use crate::scale::Scale;

/// What a function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in a meta-evaluation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written, holds what its format does not allow, or a name is not
    /// known.
    #[error(transparent)]
    Core(#[from] storymeter_core::Error),
    /// Numbers on which a statistic has no meaning.
    #[error(transparent)]
    Stats(#[from] storymeter_stats::StatsError),
    /// One of the above about the content of a file, which it does not name by itself.
    #[error("{}: {source}", .file.display())]
    InFile {
        /// The file.
        file: PathBuf,
        /// What is wrong with its content.
        source: Box<Error>,
    },
    /// A table that is too large to compare everything in it with everything else.
    #[error(
        "{}there are {found} {what}, but at most {most} can be analysed",
        prefix(.file)
    )]
    TooLarge {
        /// The file, where the table was read from one.
        file: Option<PathBuf>,
        /// What there are too many of, such as "systems".
        what: &'static str,
        /// How many there are.
        found: usize,
        /// The largest number that is accepted.
        most: usize,
    },
    /// The table has no human criterion.
    #[error(
        "{}there is no human criterion to compare metrics with: no story has ratings",
        prefix(.file)
    )]
    NoCriterion {
        /// The file, where the table was read from one.
        file: Option<PathBuf>,
    },
    /// The table has no metric.
    #[error("{}there is no metric to evaluate", prefix(.file))]
    NoMetric {
        /// The file, where the table was read from one.
        file: Option<PathBuf>,
    },
    /// Ratings on several criteria, of which one must be named.
    #[error(
        "{}: there are several criteria, and one must be named: {}",
        .file.display(),
        listed(.criteria)
    )]
    SeveralCriteria {
        /// The file of the ratings.
        file: PathBuf,
        /// The criteria.
        criteria: Vec<String>,
    },
    /// Scores of several metrics, of which one must be named.
    #[error(
        "{}: there are several metrics, and one must be named: {}",
        .file.display(),
        listed(.metrics)
    )]
    SeveralMetrics {
        /// The file of the scores.
        file: PathBuf,
        /// The metrics.
        metrics: Vec<String>,
    },
    /// A rating that the scale does not allow.
    #[error("{place}: rating {rating} is outside the scale {scale}")]
    OffScale {
        /// Where the rating stands.
        place: Place,
        /// The rating.
        rating: f64,
        /// The scale.
        scale: Scale,
    },
    /// Two files of which no story is in both.
    #[error("{}: none of its ids is in {}", .file.display(), .other.display())]
    NothingShared {
        /// One file.
        file: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// Files that are joined by order, and have different lengths.
    #[error(
        "{}: {found} numbers, but {} has {expected} stories",
        .file.display(),
        .other.display()
    )]
    UnequalLengths {
        /// The file with the numbers.
        file: PathBuf,
        /// How many it has.
        found: usize,
        /// The file with the stories.
        other: PathBuf,
        /// How many it has.
        expected: usize,
    },
    /// Scores in memory that are not one per human score.
    #[error("{}: {found} scores, but there are {expected} human scores", shown(.name))]
    UnequalNumbers {
        /// The name of the scores.
        name: String,
        /// How many there are.
        found: usize,
        /// The number of human scores.
        expected: usize,
    },
    /// Scores of a test suite that are not as many as they must be.
    #[error("{what}: {found} scores, but there must be {expected}")]
    UnequalScores {
        /// Which scores, such as "twins of time by bleu".
        what: String,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// A system with two stories for one item.
    #[error(
        "{place}: system {} has two stories for item {}: ids {} and {}",
        shown(.system),
        shown(.item),
        shown(&.ids[0]),
        shown(&.ids[1])
    )]
    TwoStories {
        /// Where the second story stands.
        place: Place,
        /// The system.
        system: String,
        /// The item.
        item: String,
        /// The ids of the two stories.
        ids: Box<[String; 2]>,
    },
    /// A story without a system in a table where others have one.
    #[error("{place}: story {} has no system, but other stories have one", shown(.id))]
    NoSystem {
        /// Where the story stands.
        place: Place,
        /// The id of the story.
        id: String,
    },
    /// A random procedure that is asked for no draw at all.
    #[error("the number of draws must be at least 1")]
    NoDraws,
    /// An empty folder of scores.
    #[error("{}: there is no score file (*.txt)", .0.display())]
    NoScoreFiles(PathBuf),
    /// Two results that would go by the same name.
    #[error("the name {} is given twice", shown(.0))]
    TwiceTheName(String),
    /// Two columns with the same key.
    #[error("{}: the metric {} is there twice", .file.display(), shown(.key))]
    TwiceTheMetric {
        /// The second file.
        file: PathBuf,
        /// The metric.
        key: String,
    },
}

impl Error {
    /// The same error with the file that it is about, where it does not name one by itself: an
    /// unknown name, or numbers on which a statistic has no meaning.
    #[must_use]
    pub(crate) fn in_file(self, file: Option<&Path>) -> Self {
        use storymeter_core::Error as Core;
        match (&self, file) {
            (
                Self::Stats(_) | Self::Core(Core::UnknownName { .. } | Core::AmbiguousName { .. }),
                Some(file),
            ) => Self::InFile { file: file.to_owned(), source: Box::new(self) },
            _ => self,
        }
    }
}

/// The most characters of a name that a message quotes.
const SHOWN: usize = 80;
/// The most names that a message lists.
const LISTED: usize = 50;

/// A name from a file, in quotation marks and not too long.
fn shown(name: &str) -> String {
    excerpt(name, SHOWN)
}

/// Names from a file, not too long and not too many.
fn listed(names: &[String]) -> String {
    let short = |name: &String| name.chars().take(SHOWN).collect::<String>();
    let mut list: Vec<String> =
        names.iter().take(LISTED).map(short).map(|name| plain(&name).into_owned()).collect();
    if names.len() > LISTED {
        list.push(format!("and {} more", names.len() - LISTED));
    }
    list.join(", ")
}

fn prefix(file: &Option<PathBuf>) -> String {
    file.as_ref().map_or(String::new(), |file| format!("{}: ", file.display()))
}
