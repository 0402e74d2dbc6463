//! A number that is present, or the reason why it is not, in Rust and in JSON.

use serde::{Deserialize, Serialize};
pub use storymeter_core::Absence;
use storymeter_stats::Undefined;

/// What the reason of a computation means for a reader of the study. Nothing else turns one into
/// the other.
pub(crate) fn absence(undefined: Undefined) -> Absence {
    match undefined {
        Undefined::ConstantFirst | Undefined::ConstantSecond | Undefined::NoVariation => {
            Absence::Constant
        }
        Undefined::Contradiction => Absence::Impossible,
        Undefined::PerfectCorrelation => Absence::Perfect,
        Undefined::NoSpread => Absence::NoSpread,
        Undefined::TooFew { needed, .. } => Absence::Fewer(needed),
        Undefined::Overflow | Undefined::NotANumber => Absence::Infinite,
        _ => Absence::NoCorrelation,
    }
}

/// A value or the reason why it is absent.
///
/// In JSON, a present value stands for itself and an absent one is `{"absent": "constant"}`.
pub type Outcome<T> = Result<T, Absence>;

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Absent { absent: Absence },
    Present(T),
}

/// Writes an [`Outcome`] as the value itself or as `{"absent": reason}`.
pub(crate) mod written {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Absence, Outcome, Written};

    pub fn serialize<T: Serialize, S: Serializer>(
        outcome: &Outcome<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match outcome {
            Ok(value) => value.serialize(serializer),
            Err(reason) => Written::<T>::Absent { absent: reason.clone() }.serialize(serializer),
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
                Err(reason) => Written::Absent { absent: reason.clone() },
            }))
        }

        pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Vec<Outcome<T>>, D::Error> {
            let written = Vec::<Written<T>>::deserialize(deserializer)?;
            Ok(written
                .into_iter()
                .map(|one| match one {
                    Written::Absent { absent } => Err::<T, Absence>(absent),
                    Written::Present(value) => Ok(value),
                })
                .collect())
        }
    }
}

/// A finite number, or the reason why it is NaN or infinite.
pub(crate) fn finite_or(value: f64, reason: Absence) -> Outcome<f64> {
    if value.is_finite() { Ok(value) } else { Err(reason) }
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
        let pair =
            Pair { one: Err(Absence::Fewer(4)), many: vec![Ok(0.5), Err(Absence::NoSharedItem)] };
        let json = serde_json::to_string(&pair).unwrap();
        assert_eq!(
            json,
            r#"{"one":{"absent":{"fewer":4}},"many":[0.5,{"absent":"no-shared-item"}]}"#
        );
        assert_eq!(serde_json::from_str::<Pair>(&json).unwrap(), pair);
    }
}
