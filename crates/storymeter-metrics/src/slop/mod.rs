//! What the metric `slop` looks for: the entries of a list, and contrasts.

mod contrast;
mod list;
mod words;

use std::ops::Range;

pub(crate) use list::List;
pub(crate) use words::Words;

/// The kind of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HitKind {
    /// A word of the list.
    Word,
    /// A phrase of the list.
    Phrase,
    /// A construction such as "not X, but Y".
    Contrast,
}

impl HitKind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Phrase => "phrase",
            Self::Contrast => "contrast",
        }
    }
}

/// A place of a text that is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit<'a> {
    /// The place, in bytes of the text.
    pub range: Range<usize>,
    /// Its kind.
    pub kind: HitKind,
    /// The entry of the list, or the name of the construction.
    pub entry: &'a str,
}

/// All hits of a text, in the order in which they begin. Two hits of the list never share a word,
/// and neither do two contrasts. A contrast is counted beside the words that stand in it.
pub(crate) fn hits<'a>(words: &Words, list: &'a List) -> Vec<Hit<'a>> {
    let mut hits = list.hits(words);
    hits.extend(contrast::find(words));
    hits.sort_by_key(|hit| (hit.range.start, hit.range.end));
    hits
}
