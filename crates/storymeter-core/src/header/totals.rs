//! What a header keeps so that score files can be merged without reading them.

use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::file::Checksum;
use crate::read::Summary;
use crate::{Pooling, Signature, TextTotals};

/// Counts and sums over all stories of a score file.
///
/// Sums are exact and written as text, so that they can be added in any order; `storymeter-stats`
/// reads them (`ExactSum`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// What was read.
    pub read: Summary,
    /// The first errors of records that were skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// The number of stories without an id of their own, which have the number of their record.
    pub numbered: u64,
    /// The number of stories without any text.
    pub empty: u64,
    /// The smallest and the largest number of references of a story; `None` without a story.
    pub references: Option<(usize, usize)>,
    /// What was found in the texts. Headers of older versions do not have it.
    #[serde(default, skip_serializing_if = "TextTotals::is_empty")]
    pub texts: TextTotals,
    /// The metrics, in the order of the columns.
    pub metrics: Vec<MetricTotals>,
    /// The sums by system, in the order of their first stories. Stories without a system are one
    /// group more, without a name. `None` if there are so many systems that the header would be
    /// too large.
    pub systems: Option<Vec<SystemTotals>>,
}

/// A metric, as far as merging must know it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricTotals {
    /// The metric as the user typed it.
    pub key: String,
    /// Its parameters, without the version and without what the stories decide.
    pub signature: Signature,
    /// How the rows of many stories are combined.
    pub pooling: Pooling,
    /// The number of its columns.
    pub columns: usize,
    /// The width of its rows: its statistics if rows are added up, and otherwise one per column.
    pub width: usize,
    /// Whether it needs references, so that their number belongs to the signature.
    pub needs_reference: bool,
    /// The number of stories of which it read only a part.
    pub truncated: u64,
}

/// The sums of one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemTotals {
    /// The system; `None` for stories that name none.
    pub system: Option<String>,
    /// The number of its stories that were scored.
    pub stories: u64,
    /// The number of its texts that have no score, because they are no stories.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub no_stories: u64,
    /// The sums of each metric; empty without a story.
    pub metrics: Vec<MetricSums>,
}

/// The sums of one metric over the stories of one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricSums {
    /// By column, the number of stories with a value. Empty if the metric adds rows up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<u64>,
    /// Exact sums, separated by spaces. If the metric averages values: by column, the sum of the
    /// values and the sum of their squares. If it adds rows up: the sums of the rows, and, if the
    /// rows are narrow, of the products of every two of their numbers, row by row of the upper
    /// triangle.
    pub sums: String,
}

/// Which part of a larger corpus a score file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardMark {
    /// The file that was scored, as the user named it.
    pub input: FileMark,
    /// Its place in the list of inputs, from 0.
    pub place: u64,
    /// The length of the list.
    pub of: u64,
    /// The settings that are not part of a signature, such as how the input is read.
    pub settings: String,
    /// Whether the scores have explanations.
    #[serde(default)]
    pub explained: bool,
    /// The row statistics beside the score file; `None` if there are too many stories for them.
    pub rows: Option<FileMark>,
}

/// A file by its name and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMark {
    /// The name.
    pub name: String,
    /// The number of bytes.
    pub bytes: u64,
    /// The SHA-256 sum of the bytes, in hexadecimal digits.
    pub sha256: String,
}

impl FileMark {
    /// A file of this name with this content.
    pub fn new(name: impl Into<String>, Checksum { bytes, sha256 }: Checksum) -> Self {
        Self { name: name.into(), bytes, sha256 }
    }
}
