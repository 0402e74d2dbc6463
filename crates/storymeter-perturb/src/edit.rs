//! Records of what was changed in a story, exact enough to undo it.

use std::borrow::Cow;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::replacement::MarkedText;
use crate::{Error, Replacement, Technique};

/// One replacement in a text, and the technique that made it.
///
/// In JSON it has the field `technique` and those of a [`Replacement`].
///
/// ```
/// use storymeter_perturb::{Edit, apply};
///
/// let json = r#"{"technique":"negation","sentence":0,"start":3,"end":7,
///                "before":"went","after":"did not go"}"#;
/// let edit: Edit = serde_json::from_str(json)?;
/// assert_eq!((edit.start(), edit.end()), (3, 7));
/// assert_eq!(apply("He went home.", &[edit]).unwrap(), "He did not go home.");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    technique: Technique,
    #[serde(flatten)]
    replacement: Replacement,
}

impl Edit {
    pub(crate) fn new(technique: Technique, replacement: Replacement) -> Self {
        Self { technique, replacement }
    }

    /// The technique that made the edit.
    pub fn technique(&self) -> Technique {
        self.technique
    }
}

/// An edit is a replacement: where it is, and what it reads before and after.
impl Deref for Edit {
    type Target = Replacement;

    fn deref(&self) -> &Replacement {
        &self.replacement
    }
}

impl AsRef<Replacement> for Edit {
    fn as_ref(&self) -> &Replacement {
        &self.replacement
    }
}

/// A stretch of a damaged story that one technique wrote, or that is as the author left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// The last technique that wrote it; `None` for the author's own text.
    pub technique: Option<Technique>,
}

/// Cuts the damaged story into changed and unchanged stretches, so that changes can be marked.
///
/// # Errors
/// Returns [`Error::EditMismatch`] if the edits do not fit `original`.
pub fn stretches(original: &str, edits: &[Edit]) -> Result<Vec<Stretch<'static>>, Error> {
    let mut text = MarkedText::new(original);
    for (number, edit) in edits.iter().enumerate() {
        text.replace(edit.start(), edit.before(), edit.after(), number, Some(edit.technique))?;
    }
    let (text, marks) = text.finish();
    let mut out: Vec<Stretch<'static>> = Vec::new();
    for (start, c) in text.char_indices() {
        match out.last_mut() {
            Some(last) if last.technique == marks[start] => last.text.to_mut().push(c),
            _ => out.push(Stretch { text: Cow::Owned(c.to_string()), technique: marks[start] }),
        }
    }
    Ok(out)
}
