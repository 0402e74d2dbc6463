//! The name of a column in tables and files.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The key of a column: what the user typed, and the member of a family where there are several.
///
/// `bleu` and `bleu:hanna` have one column each. `rouge:hanna` is a family of 24 columns, and
/// `rouge:hanna/rouge-1-r` is one of them. Two presets of one metric can therefore stand in the
/// same table.
///
/// ```
/// use storymeter_core::Key;
/// let key = Key::member("rouge:hanna", "rouge-1-r");
/// assert_eq!(key.as_str(), "rouge:hanna/rouge-1-r");
/// assert_eq!((key.metric(), key.id()), ("rouge:hanna", "rouge"));
/// assert_eq!((key.options(), key.family_member()), (Some("hanna"), Some("rouge-1-r")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    /// The key of a metric that has one column, or of a human criterion.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The key of one column of a family.
    pub fn member(metric: &str, member: &str) -> Self {
        Self(format!("{metric}/{member}"))
    }

    /// The whole key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The metric as the user typed it: the key without the member.
    pub fn metric(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(metric, _)| metric)
    }

    /// The id of the metric, without its options.
    pub fn id(&self) -> &str {
        let metric = self.metric();
        metric.split_once(':').map_or(metric, |(id, _)| id)
    }

    /// The options as the user typed them, such as `intl+floor`.
    pub fn options(&self) -> Option<&str> {
        self.metric().split_once(':').map(|(_, options)| options)
    }

    /// The member of the family, where the metric is one.
    pub fn family_member(&self) -> Option<&str> {
        self.0.split_once('/').map(|(_, member)| member)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Self(text)
    }
}
