//! Finds named entities: people, places, organisations, dates, times and amounts.
//!
//! The labels are those of OntoNotes, as spaCy's English models use them, and what counts as an
//! entity follows spaCy's `en_core_web_sm`. The recogniser has rules instead of weights: numbers
//! and dates are found by word lists, names by capital letters, the part-of-speech tagger and
//! lists.
//!
//! ```
//! use storymeter_text::entities::{self, Label};
//!
//! let text = "Two days later Anna Hill flew to Paris.";
//! let found = entities::find(text);
//! let found: Vec<(&str, Label)> = found.iter().map(|e| (e.span.of(text), e.label)).collect();
//! assert_eq!(
//!     found,
//!     [("Two days later", Label::Date), ("Anna Hill", Label::Person), ("Paris", Label::Place)]
//! );
//! ```

mod amounts;
mod lists;
mod names;

use std::borrow::Cow;

use crate::tagger::{Tag, Tagger};
use crate::{Span, sentence, treebank};

/// The kind of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// A person, or a character of a story (`PERSON`).
    Person,
    /// A country, city or state (`GPE`).
    Place,
    /// Another place: a continent, a river, a planet (`LOC`).
    Location,
    /// A company, an agency, a school (`ORG`).
    Organisation,
    /// A nation, a religion or a political group, also as an adjective (`NORP`).
    Group,
    /// A language (`LANGUAGE`).
    Language,
    /// A day or a longer time (`DATE`).
    Date,
    /// A time shorter than a day (`TIME`).
    Time,
    /// A sum of money (`MONEY`).
    Money,
    /// A percentage (`PERCENT`).
    Percent,
    /// A measure of length, weight and the like (`QUANTITY`).
    Quantity,
    /// A place in an order: *first* (`ORDINAL`).
    Ordinal,
    /// Any other number (`CARDINAL`).
    Cardinal,
}

impl Label {
    /// The label as spaCy writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "PERSON",
            Self::Place => "GPE",
            Self::Location => "LOC",
            Self::Organisation => "ORG",
            Self::Group => "NORP",
            Self::Language => "LANGUAGE",
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::Money => "MONEY",
            Self::Percent => "PERCENT",
            Self::Quantity => "QUANTITY",
            Self::Ordinal => "ORDINAL",
            Self::Cardinal => "CARDINAL",
        }
    }
}

/// An entity, and the sentence that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entity {
    /// Where it is.
    pub span: Span,
    /// Its kind.
    pub label: Label,
    /// Its sentence.
    pub sentence: Span,
}

/// A token of a sentence, with what the rules ask for.
struct Word<'a> {
    span: Span,
    text: &'a str,
    lower: Cow<'a, str>,
    tag: Tag,
}

impl Word<'_> {
    fn is(&self, words: &[&str]) -> bool {
        words.contains(&&*self.lower)
    }

    fn has_capital(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }
}

/// The entities of a text, in order. They do not overlap.
///
/// The time is linear in the length of the text.
pub fn find(text: &str) -> Vec<Entity> {
    let sentences: Vec<(Span, Vec<Word<'_>>)> =
        sentence::split(text).into_iter().map(|span| (span, words(text, span))).collect();
    let known = names::Known::from_text(sentences.iter().map(|(_, words)| words.as_slice()));
    let mut entities = Vec::new();
    for (sentence, words) in &sentences {
        let mut at = 0;
        while at < words.len() {
            let found = amounts::at(words, at).or_else(|| names::at(words, at, &known));
            let Some((first, end, label)) = found else {
                at += 1;
                continue;
            };
            let span = Span::new(words[first].span.start, words[end - 1].span.end);
            entities.push(Entity { span, label, sentence: *sentence });
            at = end;
        }
    }
    entities
}

/// The tokens of a sentence with their tags.
fn words(text: &str, sentence: Span) -> Vec<Word<'_>> {
    let tokens = treebank::tokenize_sentence(text, sentence);
    let normal: Vec<Cow<'_, str>> = tokens.iter().map(|token| token.normal(text)).collect();
    let spelled: Vec<&str> = normal.iter().map(|word| &**word).collect();
    let tags = Tagger::embedded().tag(&spelled);
    let word = |(token, tag): (&treebank::Token, Tag)| {
        let text = token.text(text);
        let plain = text.bytes().all(|b| b.is_ascii_lowercase());
        let lower = if plain { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) };
        Word { span: token.span, text, lower, tag }
    };
    tokens.iter().zip(tags).map(word).collect()
}
