//! Replacements in a text, exact enough to apply them and to take them back.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Error;

/// One replacement in a text: the bytes from `start` to `end`, which read `before`, now read
/// `after`.
///
/// The replacements of a story are made in sequence, so `start` and `end` count bytes in the text
/// as the earlier ones left it.
///
/// In JSON it has the fields `sentence`, `start`, `end`, `before` and `after`. The end always
/// follows from the start and from `before`; a record that says otherwise is refused.
///
/// ```
/// use storymeter_perturb::{Replacement, apply};
///
/// let json = r#"{"sentence":0,"start":3,"end":7,"before":"went","after":"ran"}"#;
/// let replacement: Replacement = serde_json::from_str(json)?;
/// assert_eq!((replacement.start(), replacement.end()), (3, 7));
/// assert_eq!(apply("He went home.", &[replacement]).unwrap(), "He ran home.");
///
/// assert!(serde_json::from_str::<Replacement>(&json.replace("\"end\":7", "\"end\":9")).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    sentence: usize,
    start: usize,
    before: String,
    after: String,
}

impl Replacement {
    pub(crate) fn new(sentence: usize, start: usize, before: String, after: String) -> Self {
        Self { sentence, start, before, after }
    }

    /// The number of the changed sentence in the story, from 0.
    pub fn sentence(&self) -> usize {
        self.sentence
    }

    /// The first byte that is replaced.
    pub fn start(&self) -> usize {
        self.start
    }

    /// One past the last byte that is replaced.
    pub fn end(&self) -> usize {
        self.start + self.before.len()
    }

    /// The text that is replaced.
    pub fn before(&self) -> &str {
        &self.before
    }

    /// The text that stands there instead.
    pub fn after(&self) -> &str {
        &self.after
    }
}

impl AsRef<Self> for Replacement {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// A replacement as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Replacement")]
struct Record<'a> {
    sentence: usize,
    start: usize,
    end: usize,
    before: Cow<'a, str>,
    after: Cow<'a, str>,
}

impl Serialize for Replacement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = Record {
            sentence: self.sentence,
            start: self.start,
            end: self.end(),
            before: Cow::Borrowed(&self.before),
            after: Cow::Borrowed(&self.after),
        };
        record.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Replacement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Record { sentence, start, end, before, after } = Record::deserialize(deserializer)?;
        if start.checked_add(before.len()) != Some(end) {
            let length = before.len();
            return Err(de::Error::custom(Error::ContradictoryEdit { start, end, length }));
        }
        Ok(Self::new(sentence, start, before.into_owned(), after.into_owned()))
    }
}

/// Applies edits to the original in order, which gives the changed story.
///
/// # Errors
/// Returns [`Error::EditMismatch`] if an edit does not fit the text that it is applied to.
pub fn apply(original: &str, edits: &[impl AsRef<Replacement>]) -> Result<String, Error> {
    let mut text = MarkedText::<()>::new(original);
    for (number, edit) in edits.iter().map(AsRef::as_ref).enumerate() {
        text.replace(edit.start, &edit.before, &edit.after, number, None)?;
    }
    Ok(text.finish().0)
}

/// Takes edits back from the changed story in reverse order, which gives the original.
///
/// # Errors
/// Returns [`Error::EditMismatch`] if an edit does not fit the text that it is taken back from.
pub fn undo(changed: &str, edits: &[impl AsRef<Replacement>]) -> Result<String, Error> {
    let mut text = MarkedText::<()>::new(changed);
    for (number, edit) in edits.iter().map(AsRef::as_ref).enumerate().rev() {
        text.replace(edit.start, &edit.after, &edit.before, number, None)?;
    }
    Ok(text.finish().0)
}

/// A text under edit, cut at the place of the last edit. Every byte has a mark, which says who
/// wrote it; `None` for the author's own text.
///
/// The time of an edit is in proportion to its distance from the last one. Edits of one technique
/// come in the order of the text, so a story with 100,000 of them takes one pass and not one copy
/// of the text per edit.
pub(crate) struct MarkedText<M> {
    left: Vec<(u8, Option<M>)>,
    /// The bytes after the cut, the last one first.
    right: Vec<(u8, Option<M>)>,
}

impl<M: Copy> MarkedText<M> {
    pub(crate) fn new(text: &str) -> Self {
        Self { left: Vec::new(), right: text.bytes().rev().map(|byte| (byte, None)).collect() }
    }

    /// Moves the cut to the byte `place`, or to the end of a shorter text.
    fn seek(&mut self, place: usize) {
        if place < self.left.len() {
            self.right.extend(self.left.drain(place..).rev());
        } else {
            let kept = self.right.len().saturating_sub(place - self.left.len());
            self.left.extend(self.right.drain(kept..).rev());
        }
    }

    /// Replaces `old`, which must stand at the byte `start`, by `new`. The new bytes get `mark`,
    /// except that `old` keeps its marks if `new` begins with it.
    pub(crate) fn replace(
        &mut self,
        start: usize,
        old: &str,
        new: &str,
        number: usize,
        mark: Option<M>,
    ) -> Result<(), Error> {
        self.seek(start);
        let mut after = self.right.iter().rev().map(|(byte, _)| *byte);
        let is_inside_a_character = after.clone().next().is_some_and(|byte| byte & 0xc0 == 0x80);
        let fits = self.left.len() == start
            && !is_inside_a_character
            && old.bytes().all(|byte| after.next() == Some(byte));
        if !fits {
            return Err(Error::EditMismatch { number, expected: old.to_owned(), start });
        }
        let written = match new.strip_prefix(old) {
            Some(copy) => {
                self.seek(start + old.len());
                copy
            }
            None => {
                self.right.truncate(self.right.len() - old.len());
                new
            }
        };
        self.left.extend(written.bytes().map(|byte| (byte, mark)));
        Ok(())
    }

    /// The text, and the mark of each of its bytes.
    pub(crate) fn finish(mut self) -> (String, Vec<Option<M>>) {
        self.seek(usize::MAX);
        let (bytes, marks) = self.left.into_iter().unzip();
        (String::from_utf8(bytes).expect("edits replace whole characters"), marks)
    }
}
