//! Tells from simple signs that a text is not a story in English prose.
//!
//! The learned metric was trained on short English stories. A poem, a shopping list or a German
//! story gets a number too, and the number means nothing. [`unlike_a_story`] finds such texts, so
//! that a program can warn. It never changes a score.
//!
//! Each rule looks for one sign that is easy to explain: how lines end, which small words are used,
//! who speaks. A rule would rather miss a poem than doubt a story, and the limits were set so that
//! real stories are hardly ever doubted; docs/explain.md has the shares that were measured.

mod language;
mod layout;
mod news;

use std::borrow::Cow;

pub use language::Language;

/// A text with fewer words is too short to be judged. The stories that the embedded model was
/// trained on have five sentences, and 21 of 60,802 of them have fewer words.
const FEWEST_WORDS: usize = 20;

/// In a text of this many words there should be the end of a sentence. The longest sentences of
/// everyday stories have about 40 words.
const LONGEST_SENTENCE: usize = 60;

/// A kind of text that is not a story in English prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextKind {
    /// In another language than English.
    OtherLanguage(Language),
    /// Program code or markup.
    Code,
    /// A list, a table of contents or an outline.
    List,
    /// A script: lines that begin with the name of who speaks.
    Script,
    /// A poem or a song.
    Poem,
    /// A news report.
    News,
    /// Words without the ends of sentences.
    Unpunctuated,
    /// A few words.
    VeryShort,
}

impl TextKind {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::OtherLanguage(Language::German),
        Self::OtherLanguage(Language::French),
        Self::OtherLanguage(Language::Spanish),
        Self::OtherLanguage(Language::Italian),
        Self::OtherLanguage(Language::Portuguese),
        Self::OtherLanguage(Language::Dutch),
        Self::OtherLanguage(Language::OtherLetters),
        Self::OtherLanguage(Language::Unknown),
        Self::Code,
        Self::List,
        Self::Script,
        Self::Poem,
        Self::News,
        Self::Unpunctuated,
        Self::VeryShort,
    ];

    /// The kind with this [`name`](Self::name), if there is one.
    ///
    /// ```
    /// use storymeter_text::kind::TextKind;
    /// assert_eq!(TextKind::from_name("poem"), Some(TextKind::Poem));
    /// assert_eq!(TextKind::from_name("novel"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A short name, for counts: "2 poem, 1 German".
    ///
    /// ```
    /// use storymeter_text::kind::{Language, TextKind};
    /// assert_eq!(TextKind::OtherLanguage(Language::German).name(), "German");
    /// assert_eq!(TextKind::VeryShort.name(), "very short");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::OtherLanguage(language) => language.name(),
            Self::Code => "code",
            Self::List => "list",
            Self::Script => "script",
            Self::Poem => "poem",
            Self::News => "news",
            Self::Unpunctuated => "without sentence ends",
            Self::VeryShort => "very short",
        }
    }

    /// What the text looks like, as the end of a sentence that begins with "it".
    ///
    /// ```
    /// use storymeter_text::kind::{Language, TextKind};
    /// let kind = TextKind::OtherLanguage(Language::German);
    /// assert_eq!(kind.looks(), "looks like German");
    /// ```
    pub fn looks(self) -> &'static str {
        match self {
            Self::OtherLanguage(language) => language.looks(),
            Self::Code => "looks like program code or markup",
            Self::List => "looks like a list",
            Self::Script => "looks like a script: its lines begin with the names of speakers",
            Self::Poem => "looks like a poem or a song",
            Self::News => "looks like a news report",
            Self::Unpunctuated => {
                "hardly has ends of sentences, so it is not read sentence by sentence"
            }
            Self::VeryShort => "is very short: it has fewer than 20 words",
        }
    }
}

/// The kinds of text that a text looks like, if it does not look like a story in English prose. It
/// is empty for a story, and for a text without a letter or digit.
///
/// The time is linear in the length of the text, and a small part of what any network takes.
///
/// ```
/// use storymeter_text::kind::{TextKind, unlike_a_story};
///
/// let story = "Mira lost her red kite. She looked for it in the barn and behind the house. Her \
///              brother found it on the roof.";
/// assert_eq!(unlike_a_story(story), []);
/// assert_eq!(unlike_a_story("To buy today:\n- milk\n- eggs\n- bread"), [TextKind::List]);
/// ```
pub fn unlike_a_story(text: &str) -> Vec<TextKind> {
    let text = &without_entities(text);
    let words: Vec<String> = words(text).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let layout = layout::find(text);
    let mut found = Vec::new();
    match language::find(text, &words) {
        // A list or a program has few of the small words by which a language is known.
        Some(Language::Unknown) if layout.is_some() => {}
        Some(language) => found.push(TextKind::OtherLanguage(language)),
        None => {}
    }
    let foreign = !found.is_empty();
    if let Some(layout) = layout {
        found.push(layout);
    } else if !foreign && news::is_news(text, &words) {
        found.push(TextKind::News);
    } else if words.len() > LONGEST_SENTENCE * (sentence_ends(text) + 1) {
        found.push(TextKind::Unpunctuated);
    }
    // Chinese and Japanese have no spaces between words.
    if found.is_empty() && words.len() < FEWEST_WORDS {
        found.push(TextKind::VeryShort);
    }
    found
}

/// The text with the marks that stand for entities of HTML, as "&rdquo;". Stories that were copied
/// from web pages have them, and their semicolons look like code.
fn without_entities(text: &str) -> Cow<'_, str> {
    // The first one may hide others: "&amp;#x200B;" is an empty line on Reddit.
    const ENTITIES: [(&str, &str); 12] = [
        ("&amp;", "&"),
        ("&#x200B;", ""),
        ("&ldquo;", "\""),
        ("&rdquo;", "\""),
        ("&quot;", "\""),
        ("&lsquo;", "'"),
        ("&rsquo;", "'"),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&hellip;", "…"),
        ("&mdash;", "—"),
        ("&ndash;", "–"),
    ];
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let replace = |text: String, (entity, mark): (&str, &str)| text.replace(entity, mark);
    Cow::Owned(ENTITIES.into_iter().fold(text.to_owned(), replace))
}

/// The words in lower case, without the marks around them. A curly apostrophe becomes a straight
/// one.
fn words(text: &str) -> impl Iterator<Item = String> {
    let trimmed = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.replace('’', "'").to_lowercase()
    };
    text.split_whitespace().map(trimmed).filter(|word| !word.is_empty())
}

/// The number of full stops, question marks and exclamation marks that end something. Those inside
/// numbers and addresses do not count.
fn sentence_ends(text: &str) -> usize {
    let marks = |c: char| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '।' | '؟');
    let wide = |c: char| matches!(c, '。' | '！' | '？' | '।');
    let mut chars = text.chars().peekable();
    let mut ends = 0;
    while let Some(c) = chars.next() {
        let inside = chars.peek().is_some_and(|next| next.is_alphanumeric() || marks(*next));
        ends += usize::from(marks(c) && (wide(c) || !inside));
    }
    ends
}
