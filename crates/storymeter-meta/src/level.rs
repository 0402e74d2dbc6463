//! At which level two columns are correlated, and what comes out.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What one observation of a correlation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For each item, across systems; then the mean over the items (HANNA, equation 1).
    Story,
    /// Each system's mean over its items, across systems (HANNA, equation 2).
    System,
    /// All stories in one pool, whoever wrote them and for whatever item (UNION's only level).
    Pooled,
}

impl Level {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Story, Self::System, Self::Pooled];

    /// Lower-case name: `story`, `system`, `pooled`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Story => "story",
            Self::System => "system",
            Self::Pooled => "pooled",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The correlation of two columns at one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Association {
    /// The coefficient, signed; NaN where there is none.
    pub value: f64,
    /// Two-sided p-value; NaN at story level, where a mean of coefficients has none of its own.
    pub p_value: f64,
    /// What it rests on after missing and undefined ones were left out: items, systems or stories.
    pub n: usize,
    /// How many were left out.
    pub dropped: usize,
    /// Why there is no coefficient, if there is none.
    pub gap: Option<Gap>,
}

impl Association {
    /// No coefficient, for a reason.
    pub(crate) fn none(gap: Gap, n: usize, dropped: usize) -> Self {
        Self { value: f64::NAN, p_value: f64::NAN, n, dropped, gap: Some(gap) }
    }

    /// The reason in words; empty where there is a coefficient.
    pub fn reason(&self) -> String {
        self.gap.map(|gap| gap.to_string()).unwrap_or_default()
    }
}

/// Why there is no correlation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Gap {
    /// Fewer than three observations: any two points lie on a line.
    #[error("fewer than 3 observations")]
    TooFew,
    /// A column is constant over the observations, so it cannot vary with anything.
    #[error("a column is constant")]
    Constant,
    /// One of the columns has no value at all.
    #[error("a column has no values")]
    Empty,
    /// An infinite value.
    #[error("a value is infinite")]
    Infinite,
}
