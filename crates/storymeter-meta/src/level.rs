//! The levels at which two columns are correlated.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What one observation of a correlation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// One correlation per item across systems, averaged over the items (HANNA, equation 1).
    Story,
    /// One correlation of the systems' means over their items (HANNA, equation 2).
    System,
    /// One correlation over all stories, whoever wrote them (UNION's only level).
    Pooled,
}

impl Level {
    /// All three levels.
    pub const ALL: [Self; 3] = [Self::Story, Self::System, Self::Pooled];

    /// The lower-case name: `story`, `system` or `pooled`.
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
