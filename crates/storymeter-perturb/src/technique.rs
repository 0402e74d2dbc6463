//! The four ways to damage a story (UNION, section 3.2).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A way to damage a story, named for what it does to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Technique {
    /// An n-gram or a sentence comes twice: repeated plots.
    Repetition,
    /// Keywords or a sentence give way to others: poor coherence.
    Substitution,
    /// Sentences change places: conflicting logic.
    Reordering,
    /// A negation comes or goes: conflicting logic.
    Negation,
}

impl Technique {
    /// All four, in the paper's order. A technique's place here is its index in weights and counts.
    pub const ALL: [Self; 4] =
        [Self::Repetition, Self::Substitution, Self::Reordering, Self::Negation];

    /// Its place in [`Technique::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repetition => "repetition",
            Self::Substitution => "substitution",
            Self::Reordering => "reordering",
            Self::Negation => "negation",
        }
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Technique {
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|technique| technique.name() == name)
            .ok_or_else(|| crate::Error::UnknownTechnique(name.to_owned()))
    }
}
