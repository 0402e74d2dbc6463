//! Records of what was changed in a story, exact enough to undo it.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Error, Technique};

/// One replacement in a text: the bytes from `start` to `end`, which read `before`, now read
/// `after`.
///
/// The edits of a story are applied in sequence, so `start` and `end` count bytes in the text as
/// the earlier edits left it.
///
/// An edit reads and writes JSON with the fields `technique`, `sentence`, `start`, `end`, `before`
/// and `after`. The end always follows from the start and from `before`; a record that says
/// otherwise is refused.
///
/// ```
/// use storymeter_perturb::{Edit, apply};
///
/// let json = r#"{"technique":"negation","sentence":0,"start":3,"end":7,
///                "before":"went","after":"did not go"}"#;
/// let edit: Edit = serde_json::from_str(json)?;
/// assert_eq!((edit.start(), edit.end()), (3, 7));
/// assert_eq!(apply("He went home.", &[edit]).unwrap(), "He did not go home.");
///
/// assert!(serde_json::from_str::<Edit>(&json.replace("\"end\":7", "\"end\":9")).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    technique: Technique,
    sentence: usize,
    start: usize,
    before: String,
    after: String,
}

impl Edit {
    pub(crate) fn new(
        technique: Technique,
        sentence: usize,
        start: usize,
        before: String,
        after: String,
    ) -> Self {
        Self { technique, sentence, start, before, after }
    }

    /// The technique that made the edit.
    pub fn technique(&self) -> Technique {
        self.technique
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

/// An edit as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Edit")]
struct Record<'a> {
    technique: Technique,
    sentence: usize,
    start: usize,
    end: usize,
    before: Cow<'a, str>,
    after: Cow<'a, str>,
}

impl Serialize for Edit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = Record {
            technique: self.technique,
            sentence: self.sentence,
            start: self.start,
            end: self.end(),
            before: Cow::Borrowed(&self.before),
            after: Cow::Borrowed(&self.after),
        };
        record.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Edit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Record { technique, sentence, start, end, before, after } =
            Record::deserialize(deserializer)?;
        if start.checked_add(before.len()) != Some(end) {
            let length = before.len();
            return Err(de::Error::custom(Error::ContradictoryEdit { start, end, length }));
        }
        Ok(Self::new(technique, sentence, start, before.into_owned(), after.into_owned()))
    }
}

/// Applies `edits` to `original` in order, which gives the damaged story.
///
/// # Errors
/// [`Error::EditMismatch`] if an edit does not fit the text that it is applied to.
pub fn apply(original: &str, edits: &[Edit]) -> Result<String, Error> {
    let mut text = MarkedText::new(original);
    for (number, edit) in edits.iter().enumerate() {
        text.replace(edit.start, &edit.before, &edit.after, number, None)?;
    }
    Ok(text.finish().0)
}

/// Takes `edits` back from `damaged` in reverse order, which gives the original story.
///
/// # Errors
/// [`Error::EditMismatch`] if an edit does not fit the text that it is taken back from.
pub fn undo(damaged: &str, edits: &[Edit]) -> Result<String, Error> {
    let mut text = MarkedText::new(damaged);
    for (number, edit) in edits.iter().enumerate().rev() {
        text.replace(edit.start, &edit.after, &edit.before, number, None)?;
    }
    Ok(text.finish().0)
}

/// The technique that last wrote a byte; `None` for the author's own text.
type Mark = Option<Technique>;

/// A text under edit, with a mark on every byte, cut at the place of the last edit.
///
/// The time of an edit is in proportion to its distance from the last one. Edits of one technique
/// come in the order of the text, so a story with 100,000 of them takes one pass and not one copy
/// of the text per edit.
struct MarkedText {
    left: Vec<(u8, Mark)>,
    /// The bytes after the cut, the last one first.
    right: Vec<(u8, Mark)>,
}

impl MarkedText {
    fn new(text: &str) -> Self {
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
    fn replace(
        &mut self,
        start: usize,
        old: &str,
        new: &str,
        number: usize,
        mark: Mark,
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
    fn finish(mut self) -> (String, Vec<Mark>) {
        self.seek(usize::MAX);
        let (bytes, marks) = self.left.into_iter().unzip();
        (String::from_utf8(bytes).expect("edits replace whole characters"), marks)
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
/// [`Error::EditMismatch`] if the edits do not fit `original`.
pub fn stretches(original: &str, edits: &[Edit]) -> Result<Vec<Stretch<'static>>, Error> {
    let mut text = MarkedText::new(original);
    for (number, edit) in edits.iter().enumerate() {
        text.replace(edit.start, &edit.before, &edit.after, number, Some(edit.technique))?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(technique: Technique, start: usize, before: &str, after: &str) -> Edit {
        Edit::new(technique, 1, start, before.into(), after.into())
    }

    #[test]
    fn applying_and_undoing_are_inverse() {
        let original = "Ken woke. He went out.";
        let edits = [
            edit(Technique::Negation, 13, "went", "did not go"),
            edit(Technique::Repetition, 24, "out", "out out"),
        ];
        let damaged = apply(original, &edits).unwrap();
        assert_eq!(damaged, "Ken woke. He did not go out out.");
        assert_eq!(undo(&damaged, &edits).unwrap(), original);
    }

    #[test]
    fn an_edit_that_does_not_fit_is_an_error_not_a_panic() {
        let edits = [edit(Technique::Negation, 1, "went", "did not go")];
        assert!(matches!(apply("He went.", &edits), Err(Error::EditMismatch { number: 0, .. })));
        assert!(matches!(apply("é", &edits), Err(Error::EditMismatch { .. })));
    }

    #[test]
    fn stretches_tell_new_text_from_old() {
        let edits = [edit(Technique::Repetition, 13, "cool", "cool and cool")];
        let shown: Vec<_> = stretches("It was crisp cool.", &edits)
            .unwrap()
            .into_iter()
            .map(|s| (s.text.into_owned(), s.technique))
            .collect();
        assert_eq!(
            shown,
            [
                ("It was crisp cool".to_owned(), None),
                (" and cool".to_owned(), Some(Technique::Repetition)),
                (".".to_owned(), None)
            ]
        );
    }
    #[test]
    fn an_edit_reads_and_writes_the_same_json() {
        let json = concat!(
            r#"{"technique":"negation","sentence":1,"start":13,"end":17,"#,
            r#""before":"went","after":"did not go"}"#
        );
        let edit = edit(Technique::Negation, 13, "went", "did not go");
        assert_eq!(serde_json::to_string(&edit).unwrap(), json);
        assert_eq!(serde_json::from_str::<Edit>(json).unwrap(), edit);
    }

    #[test]
    fn an_end_that_contradicts_the_text_is_refused() {
        let read = |start: usize, end: usize| {
            let json = format!(
                r#"{{"technique":"negation","sentence":1,"start":{start},"end":{end},
                    "before":"went","after":""}}"#
            );
            serde_json::from_str::<Edit>(&json)
        };
        assert!(read(13, 17).is_ok());
        for (start, end) in [(13, 16), (13, 18), (17, 13), (usize::MAX, 3)] {
            let error = read(start, end).unwrap_err().to_string();
            assert!(error.starts_with("an edit of the bytes "), "{error}");
        }
    }
    /// Copies the whole text once per edit.
    fn apply_by_copying(original: &str, edits: &[Edit]) -> Option<String> {
        let mut text = original.to_owned();
        for edit in edits {
            text.get(edit.start..)?.strip_prefix(edit.before.as_str())?;
            text.replace_range(edit.start..edit.end(), &edit.after);
        }
        Some(text)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn edits_in_any_order_are_applied_as_by_copying_the_text(
            text in "[ab漢]{0,12}",
            changes in prop::collection::vec((0usize..20, "[ab漢]{0,2}", "[ab漢]{0,3}"), 0..5),
        ) {
            let edits: Vec<Edit> = changes
                .iter()
                .map(|(start, before, after)| edit(Technique::Negation, *start, before, after))
                .collect();
            let applied = apply(&text, &edits).ok();
            prop_assert_eq!(&applied, &apply_by_copying(&text, &edits));
            if let Some(damaged) = applied {
                prop_assert_eq!(undo(&damaged, &edits).unwrap(), text.clone());
                let shown = stretches(&text, &edits).unwrap();
                prop_assert_eq!(shown.iter().map(|s| &*s.text).collect::<String>(), damaged);
            }
        }
    }

    #[test]
    fn a_hundred_thousand_edits_take_one_pass() {
        let count = 100_000;
        let original = "It rained all day. ".repeat(count);
        let edits: Vec<Edit> = (0..count)
            .map(|i| edit(Technique::Negation, i * 25 + 3, "rained", "did not rain"))
            .collect();
        // Copying the text once per edit would take minutes.
        let start = std::time::Instant::now();
        let damaged = apply(&original, &edits).unwrap();
        assert_eq!(damaged, "It did not rain all day. ".repeat(count));
        assert_eq!(undo(&damaged, &edits).unwrap(), original);
        assert_eq!(stretches(&original, &edits).unwrap().len(), 2 * count + 1);
        assert!(start.elapsed().as_secs() < 30);
    }
}
