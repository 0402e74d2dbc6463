//! Names and texts of the user's files in messages, never longer than a few lines.

use std::borrow::Cow;

use crate::terminal::excerpt;

/// The number of characters of a name or a value that a message shows.
const CHARACTERS: usize = 60;

/// The number of names that a message lists.
const NAMES: usize = 30;

/// The beginning of a text in quotation marks.
pub(super) fn quoted(text: &str) -> String {
    excerpt(text, CHARACTERS)
}

/// The beginning of a text, for places that have quotation marks of their own.
pub(super) fn cut(text: &str) -> Cow<'_, str> {
    shortened(text, CHARACTERS)
}

/// At most `most` characters of a text. A text that is cut ends in three dots.
pub(super) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The first names of a list, and how many more there are.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let mut list: Vec<Cow<'_, str>> =
        names.iter().take(NAMES).map(|name| cut(name.as_ref())).collect();
    if names.len() > NAMES {
        list.push(format!("and {} more", names.len() - NAMES).into());
    }
    list.join(", ")
}
