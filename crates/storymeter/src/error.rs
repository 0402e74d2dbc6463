//! What can go wrong in the facade.

use std::path::PathBuf;

use storymeter_core::MetricError;
use storymeter_stats::StatsError;

/// What a function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, by its kind.
///
/// Each variant holds the error of the part that failed, whose variants have the facts: file, line
/// and field of bad input, the metric that is unknown and the nearest known one, the weights that
/// are missing, what the device said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or a name is wrong.
    #[error(transparent)]
    Input(#[from] storymeter_core::Error),
    /// A metric is unknown, cannot be built, or fails.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Numbers on which a statistic cannot be computed.
    #[error(transparent)]
    Statistics(#[from] StatsError),
    /// A comparison or a meta-evaluation that cannot be made.
    #[error(transparent)]
    Evaluation(#[from] storymeter_meta::Error),
    /// The numbers have no correlation, for example because all of them are equal.
    #[error("the {coefficient} correlation is not defined: {reason}")]
    Undefined {
        /// Which coefficient.
        coefficient: storymeter_stats::Coefficient,
        /// Why it is not defined.
        reason: storymeter_stats::Undefined,
    },
    /// Two lists that must have one entry per story have different lengths.
    #[error("{first} {what_first}, but {second} {what_second}")]
    Lengths {
        /// What the first list holds.
        what_first: &'static str,
        /// How many entries the first list has.
        first: usize,
        /// What the second list holds.
        what_second: &'static str,
        /// How many entries the second list has.
        second: usize,
    },
    /// A story has no reference in a file of references.
    #[error("{place}: the story has no reference: {file} has only {references}")]
    NoReference {
        /// Where the story stands.
        place: storymeter_core::Place,
        /// The file of references.
        file: String,
        /// How many references it has.
        references: usize,
    },
    /// A file of references has more references than there are stories.
    #[error("{file} has {references} references, but there are {stories} stories")]
    TooManyReferences {
        /// The file of references.
        file: String,
        /// How many references it has.
        references: usize,
        /// How many stories there are.
        stories: usize,
    },
    /// The stories that must all be held in memory have too much text.
    #[error(
        "{place}: with this story, the stories have more than {} MiB of text, which is the most \
         that is held in memory; take a part of them", .most >> 20
    )]
    TooMuchText {
        /// Where the first story stands that is too much.
        place: storymeter_core::Place,
        /// The most bytes of text.
        most: usize,
    },
    /// Settings of the damage, or edits, that cannot be used.
    #[error(transparent)]
    Damage(#[from] storymeter_perturb::Error),
    /// A table of antonyms or keywords cannot be used.
    #[error(transparent)]
    Lexicon(#[from] storymeter_text::lexicon::LexiconError),
    /// A story that cannot be damaged.
    #[error(
        "{place}: the story has only one sentence, which is the leading context and stays as it \
         is, so there is nothing to damage"
    )]
    OnlyContext {
        /// Where the story stands.
        place: storymeter_core::Place,
    },
    /// A file of donors without any story.
    #[error("{}: the file has no donor story", .file.display())]
    NoDonor {
        /// The file.
        file: PathBuf,
    },
    /// A prepared sample of donors that cannot be read.
    #[error("{}: {source}", .file.display())]
    DonorFile {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: storymeter_perturb::Error,
    },
    /// A file of corpus statistics has none for a metric.
    #[error(
        "{file} has no corpus statistics of the metric \"{metric}\"; it has those of {}",
        if known.is_empty() { "no metric".to_owned() } else { known.join(", ") }
    )]
    CorpusStatsLack {
        /// The file.
        file: String,
        /// The metric as typed.
        metric: String,
        /// The metrics that it has statistics of.
        known: Vec<String>,
    },
    /// Corpus statistics were gathered for other settings of a metric.
    #[error(
        "{file}: the corpus statistics were gathered for {made_for}, but the metric is {asked}"
    )]
    CorpusStatsMismatch {
        /// The file.
        file: String,
        /// The signature that they were gathered for.
        made_for: String,
        /// The signature of the metric.
        asked: String,
    },
    /// Corpus statistics were named, but no metric needs any.
    #[error("{file}: none of the metrics needs corpus statistics")]
    CorpusStatsUnused {
        /// The file.
        file: String,
    },
    /// Files that cannot be scored one by one, or scores of such files that cannot be merged.
    #[error(transparent)]
    Shards(#[from] crate::shards::ShardError),
    /// No story says which system wrote it.
    #[error("no story says which system wrote it")]
    NoSystems,
}
