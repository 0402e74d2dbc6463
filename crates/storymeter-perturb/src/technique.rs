//! The four ways to damage a story (UNION, section 3.2).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A way to damage a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Technique {
    /// An n-gram or a sentence is repeated, as in repeated plots.
    Repetition,
    /// Keywords or a sentence are replaced, which hurts coherence.
    Substitution,
    /// Sentences change places, which makes the logic conflicting.
    Reordering,
    /// A negation is added or removed, which makes the logic conflicting.
    Negation,
}

impl Technique {
    /// All four in the order of the paper. The place of a technique here is its index in weights
    /// and counts.
    pub const ALL: [Self; 4] =
        [Self::Repetition, Self::Substitution, Self::Reordering, Self::Negation];

    /// The place of the technique in [`Technique::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name of the technique in settings and files.
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
