//! The levels at which two columns are correlated.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What one observation of a correlation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
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

    /// What one observation of a correlation is, in a sentence.
    pub fn observation(self) -> &'static str {
        match self {
            Self::Story => {
                "Story level: one correlation per item across systems, averaged over items"
            }
            Self::System => "System level: one correlation of the systems' means",
            Self::Pooled => "Pooled: one correlation over all stories, whoever wrote them",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
