//! The aspects of OpenMEVA: what a metric should see in a story, and what should not disturb it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// One aspect of the test suite for metrics (OpenMEVA, ACL 2021, sections 4.3 and 4.4).
///
/// Each aspect compares stories with twins that differ from them in one respect only.
///
/// ```
/// use storymeter_core::{Aspect, AspectTest};
/// let aspect: Aspect = "lexical repetition".parse()?;
/// assert_eq!(aspect, Aspect::LexicalRepetition);
/// assert_eq!(aspect.test(), AspectTest::Discrimination);
/// assert_eq!(aspect.file_stem(), "lexical-repetition");
/// # Ok::<(), storymeter_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Aspect {
    /// The same words or the same sentence again.
    LexicalRepetition,
    /// The same event again, in other words.
    SemanticRepetition,
    /// The wrong character acts.
    CharacterBehaviour,
    /// Events that contradict what everybody knows.
    CommonSense,
    /// Events that contradict each other.
    Consistency,
    /// Events that have nothing to do with the story.
    Relatedness,
    /// Cause and effect are exchanged.
    Cause,
    /// The order of time is broken.
    Time,
    /// Words are replaced by synonyms.
    Synonym,
    /// A sentence says the same in other words.
    Paraphrase,
    /// Commas and other marks inside sentences are missing.
    Punctuation,
    /// Contractions are written out, or the other way round.
    Contraction,
    /// A few letters are mistyped.
    Typo,
    /// Around the story stands what chat models put there: a preamble, a title, "The End.".
    Chat,
}

/// What is asked of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AspectTest {
    /// The twin is damaged, and the metric should prefer the original.
    Discrimination,
    /// The twin means the same, and the score should stay the same.
    Invariance,
}

impl AspectTest {
    /// The name of the test.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrimination => "discrimination",
            Self::Invariance => "invariance",
        }
    }
}

impl fmt::Display for AspectTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Aspect {
    /// All aspects in the order of the paper: first those of discrimination. The last is ours.
    pub const ALL: [Self; 14] = [
        Self::LexicalRepetition,
        Self::SemanticRepetition,
        Self::CharacterBehaviour,
        Self::CommonSense,
        Self::Consistency,
        Self::Relatedness,
        Self::Cause,
        Self::Time,
        Self::Synonym,
        Self::Paraphrase,
        Self::Punctuation,
        Self::Contraction,
        Self::Typo,
        Self::Chat,
    ];

    /// The place of the aspect in [`Aspect::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name of the aspect, in tables and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::LexicalRepetition => "lexical repetition",
            Self::SemanticRepetition => "semantic repetition",
            Self::CharacterBehaviour => "character behaviour",
            Self::CommonSense => "common sense",
            Self::Consistency => "consistency",
            Self::Relatedness => "relatedness",
            Self::Cause => "cause",
            Self::Time => "time",
            Self::Synonym => "synonym",
            Self::Paraphrase => "paraphrase",
            Self::Punctuation => "punctuation",
            Self::Contraction => "contraction",
            Self::Typo => "typo",
            Self::Chat => "chat",
        }
    }

    /// The name of a file of pairs, without its ending.
    pub fn file_stem(self) -> String {
        self.name().replace(' ', "-")
    }

    /// The name of the aspect in OpenMEVA's files. `None` for [`Aspect::Chat`], which OpenMEVA does
    /// not have.
    pub fn openmeva_name(self) -> Option<&'static str> {
        Some(match self {
            Self::LexicalRepetition => "lexical_rept",
            Self::SemanticRepetition => "semantic_rept",
            Self::CharacterBehaviour => "character",
            Self::CommonSense => "commonsense",
            Self::Consistency => "consistency",
            Self::Relatedness => "coherence",
            Self::Cause => "cause",
            Self::Time => "time",
            Self::Synonym => "synonym_substitute",
            Self::Paraphrase => "semantic_substitute",
            Self::Punctuation => "delete_punct",
            Self::Contraction => "contraction",
            Self::Typo => "typos",
            Self::Chat => return None,
        })
    }

    /// What is asked of a metric.
    pub fn test(self) -> AspectTest {
        if self < Self::Synonym { AspectTest::Discrimination } else { AspectTest::Invariance }
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Reads a name. Hyphens may stand for spaces, as in names of files.
impl FromStr for Aspect {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let wanted = name.replace(['-', '_'], " ");
        Self::ALL
            .into_iter()
            .find(|aspect| aspect.name() == wanted)
            .ok_or_else(|| Error::unknown("aspect", name, Self::ALL.iter().map(|a| a.name())))
    }
}

impl From<Aspect> for &'static str {
    fn from(aspect: Aspect) -> Self {
        aspect.name()
    }
}

impl TryFrom<String> for Aspect {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}
