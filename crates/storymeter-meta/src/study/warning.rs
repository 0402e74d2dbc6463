//! What a reader must know before trusting a number.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WarningKind {
    /// A column without any value.
    Empty,
    /// Values, stories or cells that are missing and were left out.
    Missing,
    /// A column with infinite values.
    Infinite,
    /// A column that is constant, everywhere or within items.
    Constant,
    /// A column whose values are what is left of a numerical underflow.
    Underflow,
    /// A metric of which it is not known whether more is better.
    Direction,
    /// A metric that runs against its direction: it is better where people find stories worse.
    Backwards,
    /// A metric that repeats another one.
    Duplicate,
    /// Ratings and mean ratings that do not belong together.
    Mismatch,
    /// A file that is not there, and what was left out for it.
    Absent,
    /// A hybrid metric that is not the mean of its two halves.
    Hybrid,
    /// A score file whose header does not describe all columns.
    Header,
    /// Systems that cannot be compared with each other, because they share no item.
    Unpaired,
    /// So few texts that a number may well be chance.
    Few,
    /// Several stories of one system for one item, whose mean counts.
    Averaged,
}

impl WarningKind {
    /// The name in the files and on a terminal, such as `constant`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Missing => "missing",
            Self::Infinite => "infinite",
            Self::Constant => "constant",
            Self::Underflow => "underflow",
            Self::Direction => "direction",
            Self::Backwards => "backwards",
            Self::Duplicate => "duplicate",
            Self::Mismatch => "mismatch",
            Self::Absent => "absent",
            Self::Hybrid => "hybrid",
            Self::Header => "header",
            Self::Unpaired => "unpaired",
            Self::Few => "few",
            Self::Averaged => "averaged",
        }
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One thing to know about the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// The column, system or file concerned.
    pub subject: String,
    /// What is the matter, and what it does to the numbers.
    pub message: String,
}

impl Warning {
    /// A warning of a kind about a subject.
    pub fn new(kind: WarningKind, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, subject: subject.into(), message: message.into() }
    }
}
