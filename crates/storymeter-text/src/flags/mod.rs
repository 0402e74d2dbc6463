//! Looks at a text before it is scored: is it a story, and what is in it that is no story?
//!
//! Chat models put words around a story ("Sure, here is your story:"), decorate it with Markdown,
//! refuse to write it, or stop in the middle of a sentence. Such text moves the scores of metrics
//! that were made for stories. [`find`] says what is there and where, and [`clean`] removes what
//! only surrounds a story. Neither changes a score by itself.

mod chat;
mod ending;
mod markdown;
mod prompt;
mod refusal;
mod surroundings;
mod tokens;
mod units;
mod words;

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
    Kind(TextKind),
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
    /// Every flag, in the order of its definition.
    pub const ALL: [Self; 9 + TextKind::ALL.len()] = {
        let mut all = [Self::Empty; 9 + TextKind::ALL.len()];
        let own = [
            Self::Empty,
            Self::Refusal,
            Self::Preamble,
            Self::Outro,
            Self::Prompt,
            Self::Markdown,
            Self::Token,
            Self::TheEnd,
            Self::Cut,
        ];
        let mut at = 0;
        while at < all.len() {
            all[at] =
                if at < own.len() { own[at] } else { Self::Kind(TextKind::ALL[at - own.len()]) };
            at += 1;
        }
        all
    };

    /// The flag with this [`name`](Self::name), if there is one.
    ///
    /// ```
    /// use storymeter_text::flags::Flag;
    /// use storymeter_text::kind::TextKind;
    /// assert_eq!(Flag::from_name("the-end"), Some(Flag::TheEnd));
    /// assert_eq!(Flag::from_name("poem"), Some(Flag::Kind(TextKind::Poem)));
    /// assert_eq!(Flag::from_name("boring"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flag| flag.name() == name)
    }

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
            Self::Kind(kind) => kind.name(),
        }
    }

    /// What is wrong with the text, as the end of a sentence that begins with "it" or "the text".
    ///
    /// ```
    /// use storymeter_text::flags::Flag;
    /// assert_eq!(Flag::Preamble.describes(), "begins with words to the user");
    /// ```
    pub fn describes(self) -> &'static str {
        match self {
            Self::Empty => "has no story in it",
            Self::Refusal => "refuses to tell a story",
            Self::Preamble => "begins with words to the user",
            Self::Outro => "ends with words to the user",
            Self::Prompt => "repeats the prompt before the story",
            Self::Markdown => "has marks of Markdown",
            Self::Token => "has stop or role tokens of a language model",
            Self::TheEnd => "ends with words such as \"The End\"",
            Self::Cut => "ends in the middle of a sentence",
            Self::Kind(kind) => kind.looks(),
        }
    }

    /// Whether [`clean`] removes what the flag is about. Of Markdown it removes all but lists.
    pub fn is_cleaned(self) -> bool {
        matches!(
            self,
            Self::Preamble
                | Self::Outro
                | Self::Prompt
                | Self::Markdown
                | Self::Token
                | Self::TheEnd
        )
    }

    /// Whether there is no story to score.
    pub fn is_no_story(self) -> bool {
        matches!(self, Self::Empty | Self::Refusal)
    }
}

/// What a text has that is not story, in the order of the text.
///
/// A refusal has no other flag, because there is no story in it. The flags about the story itself
/// (that it is cut, a poem or very short) are those of the story without what surrounds it. A text
/// that has no letter or digit without it, such as `.` or `Story:`, is empty.
///
/// The time is linear in the length of the text.
///
/// ```
/// use storymeter_text::flags::{Flag, find};
///
/// let text = "Sure, here is your story:\n\nMira lost her red kite. She looked for it in the barn \
///             and behind the house. Her brother found it on the roof.\n\nThe End.";
/// let found: Vec<Flag> = find(text, None).iter().map(|found| found.flag).collect();
/// assert_eq!(found, [Flag::Preamble, Flag::TheEnd]);
/// ```
pub fn find(text: &str, prompt: Option<&str>) -> Vec<Finding> {
    let whole = |flag| Finding { flag, range: 0..text.len() };
    if refusal::is_refusal(text) {
        return vec![whole(Flag::Refusal)];
    }
    let (story, mut found) = surroundings::remove(text, prompt);
    if !story.contains(char::is_alphanumeric) {
        found.insert(0, whole(Flag::Empty));
        return found;
    }
    let kinds = unlike_a_story(&story);
    let lists = markdown::lists(text);
    found.extend(lists.into_iter().map(|range| Finding { flag: Flag::Markdown, range }));
    if !kinds.iter().any(|kind| ends_freely(*kind)) {
        found.extend(cut(text, &story, &found));
    }
    found.extend(kinds.into_iter().map(|kind| whole(Flag::Kind(kind))));
    found.sort_by_key(|found| (found.range.start, found.range.end));
    found
}

/// Whether texts of a kind may end without the end of a sentence.
fn ends_freely(kind: TextKind) -> bool {
    use TextKind::{Code, List, Poem, Script, Unpunctuated};
    matches!(kind, Code | List | Poem | Script | Unpunctuated)
}

/// The last sentence of a story, if it has no end, as a place in the text that the story was taken
/// from.
fn cut(text: &str, story: &str, removed: &[Finding]) -> Option<Finding> {
    let last = ending::cut(story)?;
    let mut end = text.len();
    for found in removed.iter().rev().filter(|found| found.range.end <= text.len()) {
        let between = text.get(found.range.end..end).unwrap_or_default();
        if !between.trim().is_empty() {
            break;
        }
        end = found.range.start;
    }
    let end = text[..end].trim_end().len();
    let begin = (end.saturating_sub(last.len())..end).find(|at| text.is_char_boundary(*at));
    Some(Finding { flag: Flag::Cut, range: begin.unwrap_or(end)..end })
}

/// Removes what surrounds the story.
///
/// That is words to the user, the prompt, tokens, "The End.", and of Markdown titles, rules and
/// fences around the story and the marks of headings and emphasis inside it. No word inside the
/// story changes: headings between its paragraphs keep their words, lists their bullets, and rules
/// between its scenes stay. A refusal is left as it is. What was cleaned is not changed when it is
/// cleaned again.
///
/// ```
/// use storymeter_text::flags::clean;
///
/// let story = "Mira lost her red kite. Her brother found it on the roof.";
/// let text = format!("**Story:**\n\n{story}\n\nI hope you enjoyed it!<|im_end|>");
/// assert_eq!(clean(&text, None).text, story);
/// assert_eq!(clean(story, None).removed, []);
/// ```
pub fn clean<'a>(text: &'a str, prompt: Option<&str>) -> Cleaned<'a> {
    if refusal::is_refusal(text) {
        return Cleaned { text: Cow::Borrowed(text), removed: Vec::new() };
    }
    let (text, removed) = surroundings::remove(text, prompt);
    Cleaned { text, removed }
}
