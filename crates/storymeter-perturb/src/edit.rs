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
/// [`Error::EditMismatch`] where an edit does not fit the text it is applied to.
pub fn apply(original: &str, edits: &[Edit]) -> Result<String, Error> {
    let mut text = original.to_owned();
    for (number, edit) in edits.iter().enumerate() {
        replace(&mut text, edit.start, &edit.before, &edit.after, number)?;
    }
    Ok(text)
}

/// Takes `edits` back from `damaged` in reverse order, which gives the original story.
///
/// # Errors
/// [`Error::EditMismatch`] where an edit does not fit the text it is taken back from.
pub fn undo(damaged: &str, edits: &[Edit]) -> Result<String, Error> {
    let mut text = damaged.to_owned();
    for (number, edit) in edits.iter().enumerate().rev() {
        replace(&mut text, edit.start, &edit.after, &edit.before, number)?;
    }
    Ok(text)
}

fn replace(
    text: &mut String,
    start: usize,
    old: &str,
    new: &str,
    number: usize,
) -> Result<(), Error> {
    let fits = text.get(start..).is_some_and(|rest| rest.starts_with(old));
    if !fits {
        return Err(Error::EditMismatch { number, expected: old.to_owned(), start });
    }
    text.replace_range(start..start + old.len(), new);
    Ok(())
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
/// [`Error::EditMismatch`] where the edits do not fit `original`.
pub fn stretches(original: &str, edits: &[Edit]) -> Result<Vec<Stretch<'static>>, Error> {
    let mut text = original.to_owned();
    let mut owner: Vec<Option<Technique>> = vec![None; original.len()];
    for (number, edit) in edits.iter().enumerate() {
        replace(&mut text, edit.start, &edit.before, &edit.after, number)?;
        // A repetition keeps the text that it repeats, so only the copy is marked. All other edits
        // are new as a whole.
        let kept = if edit.after.starts_with(&edit.before) { edit.before.len() } else { 0 };
        let marks = (0..edit.after.len()).map(|i| (i >= kept).then_some(edit.technique));
        let inherited: Vec<_> = owner[edit.start..edit.end()].to_vec();
        let marks: Vec<_> = marks
            .enumerate()
            .map(|(i, mark)| mark.or_else(|| inherited.get(i).copied().flatten()))
            .collect();
        owner.splice(edit.start..edit.end(), marks);
    }
    let mut out: Vec<Stretch<'static>> = Vec::new();
    for (start, c) in text.char_indices() {
        match out.last_mut() {
            Some(last) if last.technique == owner[start] => last.text.to_mut().push(c),
            _ => out.push(Stretch { text: Cow::Owned(c.to_string()), technique: owner[start] }),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
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
}
