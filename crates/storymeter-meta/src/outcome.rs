//! A number that is present, or the reason why it is not, in Rust and in JSON.

use serde::{Deserialize, Serialize};

/// Why a statistic has no value.
///
/// ```
/// use storymeter_meta::Gap;
/// assert_eq!(Gap::NoSharedItem.to_string(), "the systems share no item");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Gap {
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
    /// Nobody says which system wrote a story.
    #[error("the data name no systems")]
    NoSystems,
}

/// A value or the reason why it is absent.
///
/// In JSON, a present value stands for itself and an absent one is `{"absent": "constant"}`.
pub type Outcome<T> = Result<T, Gap>;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Absent { absent: Gap },
    Present(T),
}

/// Writes an [`Outcome`] as the value itself or as `{"absent": reason}`.
pub(crate) mod written {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Gap, Outcome, Written};

    pub fn serialize<T: Serialize, S: Serializer>(
        outcome: &Outcome<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match outcome {
            Ok(value) => value.serialize(serializer),
            Err(gap) => Written::<T>::Absent { absent: *gap }.serialize(serializer),
        }
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Outcome<T>, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Absent { absent } => Err(absent),
            Written::Present(value) => Ok(value),
        })
    }

    /// The same for lists of outcomes.
    pub mod list {
        use super::*;

        pub fn serialize<T: Serialize, S: Serializer>(
            outcomes: &[Outcome<T>],
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(outcomes.iter().map(|outcome| match outcome {
                Ok(value) => Written::Present(value),
                Err(gap) => Written::Absent { absent: *gap },
            }))
        }

        pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Vec<Outcome<T>>, D::Error> {
            let written = Vec::<Written<T>>::deserialize(deserializer)?;
            Ok(written
                .into_iter()
                .map(|one| match one {
                    Written::Absent { absent } => Err::<T, Gap>(absent),
                    Written::Present(value) => Ok(value),
                })
                .collect())
        }
    }
}

/// A finite number, or a gap where it is NaN or infinite.
pub(crate) fn finite_or(value: f64, gap: Gap) -> Outcome<f64> {
    if value.is_finite() { Ok(value) } else { Err(gap) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Pair {
        #[serde(with = "written")]
        one: Outcome<f64>,
        #[serde(with = "written::list")]
        many: Vec<Outcome<f64>>,
    }

    #[test]
    fn outcomes_are_written_as_numbers_or_reasons_and_read_back() {
        let pair = Pair { one: Err(Gap::Fewer(4)), many: vec![Ok(0.5), Err(Gap::NoSharedItem)] };
        let json = serde_json::to_string(&pair).unwrap();
        assert_eq!(
            json,
            r#"{"one":{"absent":{"fewer":4}},"many":[0.5,{"absent":"no-shared-item"}]}"#
        );
        assert_eq!(serde_json::from_str::<Pair>(&json).unwrap(), pair);
    }
}
