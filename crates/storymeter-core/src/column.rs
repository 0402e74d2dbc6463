//! The description of a column of scores or ratings.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::{Key, Norms, Signature, Validity};

/// Whether a larger or a smaller value is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// A larger value is better, as for a similarity or a probability.
    Higher,
    /// A smaller value is better, as for a distance or a rate of repetition.
    Lower,
    /// Neither is better by definition, as for a length or a coverage.
    #[default]
    None,
}

impl Direction {
    /// -1 if a smaller value is better, and 1 otherwise.
    ///
    /// A value times this sign is larger if it is better.
    pub fn sign(self) -> f64 {
        match self {
            Self::Lower => -1.0,
            Self::Higher | Self::None => 1.0,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::None => "none",
        })
    }
}

/// Whether a column holds human judgments or the scores of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Human judgments on one criterion.
    Human,
    /// An automatic metric.
    Metric,
}

/// The smallest and the largest value that a column can have, if there are such values.
///
/// ```
/// use storymeter_core::Range;
/// assert_eq!(Range::UNIT.to_string(), "0 to 1");
/// assert_eq!(Range::NOT_NEGATIVE.to_string(), "0 and up");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Range {
    /// The smallest possible value.
    pub low: Option<f64>,
    /// The largest possible value.
    pub high: Option<f64>,
}

impl Range {
    /// Any number.
    pub const ANY: Self = Self { low: None, high: None };
    /// 0 to 1.
    pub const UNIT: Self = Self::between(0.0, 1.0);
    /// 0 to 100.
    pub const PERCENT: Self = Self::between(0.0, 100.0);
    /// 0 and up.
    pub const NOT_NEGATIVE: Self = Self { low: Some(0.0), high: None };

    /// Two bounds.
    pub const fn between(low: f64, high: f64) -> Self {
        Self { low: Some(low), high: Some(high) }
    }

    /// The possible value that is nearest to a number.
    ///
    /// ```
    /// use storymeter_core::Range;
    /// assert_eq!((Range::UNIT.clamp(1.2), Range::NOT_NEGATIVE.clamp(7.0)), (1.0, 7.0));
    /// ```
    pub fn clamp(&self, value: f64) -> f64 {
        let value = self.low.map_or(value, |low| value.max(low));
        self.high.map_or(value, |high| value.min(high))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (Some(low), Some(high)) => write!(f, "{low} to {high}"),
            (Some(low), None) => write!(f, "{low} and up"),
            (None, Some(high)) => write!(f, "up to {high}"),
            (None, None) => f.write_str("any number"),
        }
    }
}

/// The number of stories with and without a value, and of those that were read only in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Stories with a value.
    pub present: u64,
    /// Stories without a value.
    pub absent: u64,
    /// Stories of which the metric read only a part.
    pub truncated: u64,
    /// Stories without any text.
    pub empty: u64,
    /// Stories of other lengths than those that the metric was tested on ([`Validity::words`]).
    #[serde(default, skip_serializing_if = "crate::header::is_zero")]
    pub outside: u64,
}

/// One column of a [`ScoreTable`](crate::ScoreTable), with everything that a reader needs to
/// interpret its values.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Column {
    /// The metric that the user typed, with the member of a family; or a human criterion.
    pub key: Key,
    /// Human or metric.
    pub role: Role,
    /// Whether a larger value means a better story.
    pub direction: Direction,
    /// The possible values.
    #[serde(default)]
    pub range: Range,
    /// All parameters that can change a value, if they are known. Columns with equal signatures can
    /// be compared.
    #[serde(default)]
    pub signature: Option<Signature>,
    /// The numbers of stories with and without a value.
    #[serde(default)]
    pub counts: Counts,
    /// How far the numbers can be trusted, if the column is learned and its card says so.
    #[serde(default)]
    pub validity: Option<Validity>,
    /// What the numbers are compared with: those of human stories of similar length, if the metric
    /// has them.
    #[serde(default)]
    pub norms: Option<Norms>,
}

impl Column {
    /// The column after a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// A metric of which only the key and the direction are known.
    pub fn metric(key: impl Into<Key>, direction: Direction) -> Self {
        Self::new(key.into(), Role::Metric, direction)
    }

    /// A human criterion, for which a larger value is better.
    pub fn criterion(name: impl Into<Key>) -> Self {
        Self::new(name.into(), Role::Human, Direction::Higher)
    }

    fn new(key: Key, role: Role, direction: Direction) -> Self {
        Self {
            key,
            role,
            direction,
            range: Range::ANY,
            signature: None,
            counts: Counts::default(),
            validity: None,
            norms: None,
        }
    }
}

/// The fields, and for readers of the file the parts of the key: the id of the metric, its options
/// and the member of a family.
impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("key", &self.key)?;
        if self.role == Role::Metric {
            map.serialize_entry("metric", self.key.id())?;
            map.serialize_entry("preset", &self.key.options())?;
            map.serialize_entry("member", &self.key.family_member())?;
        }
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("direction", &self.direction)?;
        map.serialize_entry("range", &self.range)?;
        map.serialize_entry("signature", &self.signature)?;
        map.serialize_entry("counts", &self.counts)?;
        if let Some(validity) = &self.validity {
            map.serialize_entry("validity", validity)?;
        }
        if let Some(norms) = &self.norms {
            map.serialize_entry("norms", norms)?;
        }
        map.end()
    }
}
