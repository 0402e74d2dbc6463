//! What was changed, so exactly that it can be undone.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Error, Technique};

/// One replacement in a text: the bytes `start..end`, which read `before`, now read `after`.
///
/// The edits of a story are applied in sequence, so `start` and `end` count bytes in the text as the edits
/// before it left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Why.
    pub technique: Technique,
    /// Which sentence of the story, from 0.
    pub sentence: usize,
    /// First byte replaced.
    pub start: usize,
    /// One past the last byte replaced.
    pub end: usize,
    /// What stood there.
    pub before: String,
    /// What stands there now.
    pub after: String,
}

/// The damaged story: `original` with `edits` applied in order.
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

/// The original story: `damaged` with `edits` taken back in reverse order.
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

/// A stretch of a damaged story, told apart by what happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// The last technique that wrote it; `None` where it is as the author left it.
    pub technique: Option<Technique>,
}

/// Cuts the damaged story into touched and untouched stretches, for showing.
///
/// # Errors
/// [`Error::EditMismatch`] where the edits do not fit `original`.
pub fn stretches(original: &str, edits: &[Edit]) -> Result<Vec<Stretch<'static>>, Error> {
    let mut text = original.to_owned();
    let mut owner: Vec<Option<Technique>> = vec![None; original.len()];
    for (number, edit) in edits.iter().enumerate() {
        replace(&mut text, edit.start, &edit.before, &edit.after, number)?;
        // A repetition keeps the text it repeats, so only the copy is marked; everything else is new as a whole.
        let kept = if edit.after.starts_with(&edit.before) { edit.before.len() } else { 0 };
        let marks = (0..edit.after.len()).map(|i| (i >= kept).then_some(edit.technique));
        let inherited: Vec<_> = owner[edit.start..edit.end].to_vec();
        let marks: Vec<_> = marks
            .enumerate()
            .map(|(i, mark)| mark.or_else(|| inherited.get(i).copied().flatten()))
            .collect();
        owner.splice(edit.start..edit.end, marks);
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
        Edit {
            technique,
            sentence: 1,
            start,
            end: start + before.len(),
            before: before.into(),
            after: after.into(),
        }
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
}
