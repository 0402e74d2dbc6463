//! A value that is present, or the reason why it is not.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A score or rating that is present, or the reason why it is absent.
///
/// NaN never stands for an absent value: a number that cannot be computed is an [`Absence`].
pub type Value = Result<f64, Absence>;

/// Why there is no number: in a score table, in a study, in the sheets that are made from it, in
/// JSON and on the page of a report.
///
/// ```
/// use storymeter_core::Absence;
/// assert_eq!(Absence::NoSharedItem.to_string(), "the systems share no item");
/// assert_eq!(Absence::because("no tokens").to_string(), "no tokens");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Absence {
    /// The file has no value for this story and gives no reason.
    #[error("no value is given")]
    NotGiven,
    /// Nobody rated the story on this criterion.
    #[error("nobody rated it")]
    NotRated,
    /// The metric has no value for this story, for the reason given.
    #[error("{0}")]
    Because(#[serde(serialize_with = "write_text", deserialize_with = "read_text")] Arc<str>),
    /// Fewer than three observations: any two points lie on a line.
    #[error("fewer than 3 observations")]
    TooFew,
    /// Fewer observations than this test or interval needs.
    #[error("fewer than {0} observations")]
    Fewer(usize),
    /// More observations than fit into memory.
    #[error("too many observations")]
    TooMany,
    /// A column is constant over the observations, so it cannot vary with anything.
    #[error("a column is constant")]
    Constant,
    /// One of the columns has no value at all.
    #[error("a column has no values")]
    Empty,
    /// A value is infinite.
    #[error("a value is infinite")]
    Infinite,
    /// No two systems have a story for the same item.
    #[error("the systems share no item")]
    NoSharedItem,
    /// No two systems share as many items as a verdict between them needs.
    #[error("no two systems share {0} items")]
    FewSharedItems(usize),
    /// The criterion calls no system better than another, so that no metric can be right or wrong.
    #[error("the ratings call no system better than another")]
    NoDifference,
    /// The three correlations of a test cannot occur together.
    #[error("the three correlations cannot occur together")]
    Impossible,
    /// Two of three columns are perfectly correlated, which leaves no variance to test.
    #[error("two columns are perfectly correlated")]
    Perfect,
    /// Two metrics correlate equally strongly, where the published analysis has no p-value.
    #[error("both are equally strong")]
    EquallyStrong,
    /// A correlation that the number needs is itself absent.
    #[error("a correlation is missing")]
    NoCorrelation,
    /// A mean of coefficients has no sampling distribution of its own.
    #[error("a mean of coefficients has no p-value of its own")]
    MeanOfCoefficients,
    /// The method has no interval here: too few observations, or a mean of coefficients.
    #[error("the method has no interval here")]
    NoInterval,
    /// There is no rating.
    #[error("no rating")]
    NoRating,
    /// An interval needs single ratings, and only their means are known.
    #[error("needs single ratings")]
    NoSingleRatings,
    /// There are fewer than two ratings.
    #[error("fewer than two ratings")]
    OneRating,
    /// Agreement needs two stories with two ratings each.
    #[error("agreement needs two stories with two ratings each")]
    FewRatings,
    /// All ratings are equal.
    #[error("all ratings are equal")]
    EqualRatings,
    /// A system has no rating on the criterion.
    #[error("a system has no rating")]
    UnratedSystem,
    /// Too few random draws gave a correlation.
    #[error("too few draws gave a correlation")]
    FewDraws,
    /// There is nothing to count a share of.
    #[error("no unreasonable story")]
    NothingToShare,
    /// The texts are two samples and not pairs.
    #[error("the texts are not in pairs")]
    NotPaired,
    /// Two samples differ, and neither of them varies: the difference is infinitely many standard
    /// deviations.
    #[error("neither the originals nor the twins vary")]
    NoSpread,
    /// There are no typos to compare a shift with.
    #[error("there are no pairs with typos")]
    NoTypos,
    /// Typos do not shift the metric at all, so that nothing is a multiple of that.
    #[error("typos do not shift the metric")]
    NoTypoShift,
    /// The metric is not among those of the table.
    #[error("the table has no such metric")]
    NoSuchMetric,
    /// No rater named the errors of a story.
    #[error("the data name no error types")]
    NoErrorTypes,
    /// The numbers allow no such statistic.
    #[error("not defined")]
    NotDefined,
    /// The analysis does not give this number.
    #[error("not computed")]
    NotComputed,
    /// The coefficient has no p-value.
    #[error("no p-value")]
    NoPValue,
    /// The metric lacks a correlation with one of the criteria.
    #[error("it lacks a correlation with one of the criteria")]
    LacksCorrelation,
    /// Two correlations that were not compared, for want of observations or by choice.
    #[error("the two could not be tested")]
    NotTested,
    /// Two studies without their score tables.
    #[error(
        "it is not known whether the runs rest on the same stories; with one score table per run, \
         in the same order, the report includes a test"
    )]
    NoScoreTables,
    /// Two studies with score tables that they were not made from.
    #[error(
        "the score tables do not have the numbers of the runs; they must be given in the same order"
    )]
    OtherScoreTables,
    /// A change of another coefficient between studies of the same stories.
    #[error("only Pearson's coefficients are tested")]
    OnlyPearson,
    /// Nobody says which system wrote a story.
    #[error("the data name no systems")]
    NoSystems,
}

impl Absence {
    /// An absence with a reason in words.
    pub fn because(reason: impl Into<Arc<str>>) -> Self {
        Self::Because(reason.into())
    }
}

fn write_text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

fn read_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(deserializer).map(Into::into)
}

/// Turns a number that may be NaN into a value.
///
/// ```
/// use storymeter_core::finite_or;
/// assert_eq!(finite_or(0.5, "no tokens"), Ok(0.5));
/// assert_eq!(finite_or(f64::NAN, "no tokens").unwrap_err().to_string(), "no tokens");
/// ```
pub fn finite_or(number: f64, reason: &str) -> Value {
    if number.is_finite() { Ok(number) } else { Err(Absence::because(reason)) }
}
