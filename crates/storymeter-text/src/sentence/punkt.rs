//! Sentences as NLTK's Punkt finds them, for metrics that are defined by them.
//!
//! Punkt ends a sentence after every `.`, `?` and `!` that is followed by white space or by certain
//! marks, whatever comes next: `"Why?" asked Ann.` is two sentences. Only full stops have
//! exceptions: abbreviations, initials, numbers before a small letter, and dots in a row. Blank
//! lines and typographic quotation marks mean nothing to it.
//!
//! The rules are those of Kiss and Strunk, "Unsupervised Multilingual Sentence Boundary Detection"
//! (2006), in the order in which NLTK 3.10 applies them. Punkt looks words up in tables that were
//! learnt from a newspaper: 155 abbreviations, and for 20,000 words how they were capitalised. Here
//! short lists take their place.

use super::words::{is_dotted, is_listed, is_starter};
use crate::Span;

/// Which quotation marks Punkt knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PunktQuotes {
    /// `"` and `'`, as in NLTK up to 2022. After a typographic quotation mark no sentence ends.
    Straight,
    /// Typographic ones too, as in NLTK 3.10.
    All,
}

/// Typographic quotation marks.
const TYPOGRAPHIC: [char; 6] = ['‘', '’', '“', '”', '«', '»'];

impl PunktQuotes {
    fn contains(self, c: char) -> bool {
        matches!(c, '"' | '\'') || (self == Self::All && TYPOGRAPHIC.contains(&c))
    }

    /// Marks before which an end mark is considered, even without white space.
    fn is_mark(self, c: char) -> bool {
        self.contains(c)
            || matches!(c, ')' | ';' | '}' | ']' | '*' | ':' | '@' | '(' | '{' | '[' | '!' | '?')
    }

    /// Marks that belong to the sentence before them.
    fn is_closer(self, c: char) -> bool {
        self.contains(c) || matches!(c, ')' | ']' | '}')
    }
}

/// Marks that do not begin a word, so that they are not part of it.
fn begins_no_word(c: char) -> bool {
    matches!(
        c,
        '(' | '"'
            | '`'
            | '{'
            | '['
            | ':'
            | ';'
            | '&'
            | '#'
            | '*'
            | '@'
            | ')'
            | '}'
            | ']'
            | '-'
            | ','
    )
}

/// Abbreviations that a newspaper knows, American states among them, in lower case and without
/// their last full stop.
const ABBREVIATIONS: &str = "adm ave bros co col corp dr ft gen inc jr lt ltd maj messrs mr mrs ms \
    prof rep sen sr st vs jan feb aug sep sept oct nov dec tues wed fri ph.d ala ariz calif colo \
    conn fla ga ill kan ky mich minn nev ok okla ore pa tenn va vt wash wis";

/// Single letters that end no sentence. The other letters may: "It was I. She left."
const INITIALS: &str = "c d e f g h k l m n p r s t v w";

/// Words that begin a sentence after an abbreviation or after dots in a row.
const STARTERS: &str = "although among both but despite even he however i if in indeed instead it \
    many meanwhile moreover most nor since so some the there these they this though thus under \
    when while yet";

/// The sentences of a text as Punkt finds them, in order, without the white space around them.
///
/// ```
/// use storymeter_text::sentence::{PunktQuotes, split_like_punkt};
///
/// let text = "\"Why?\" asked Mr. Hill. nobody knew.";
/// let found = split_like_punkt(text, PunktQuotes::All);
/// let sentences: Vec<&str> = found.iter().map(|s| s.of(text)).collect();
/// assert_eq!(sentences, ["\"Why?\"", "asked Mr. Hill.", "nobody knew."]);
/// ```
pub fn split_like_punkt(text: &str, quotes: PunktQuotes) -> Vec<Span> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for end in ends(text, quotes) {
        if end <= start {
            continue;
        }
        super::push_trimmed(text, start, end, &mut sentences);
        start = end;
    }
    super::push_trimmed(text, start, text.len(), &mut sentences);
    sentences
}

/// Where sentences end, closing marks included.
fn ends(text: &str, quotes: PunktQuotes) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut marks = end_marks(text, quotes).into_iter().peekable();
    while let Some(mut mark) = marks.next() {
        // Of several marks in one word, the last one counts.
        while let Some(next) = marks.next_if(|next| next.word == mark.word) {
            mark = next;
        }
        let strong = text[mark.word..=mark.at].contains(['?', '!']);
        if strong || mark.full_stop_ends(text, quotes) {
            ends.push(with_closers(text, mark.at + 1, quotes));
        }
    }
    ends
}

/// An end mark that may end a sentence.
#[derive(Clone, Copy)]
struct EndMark<'a> {
    at: usize,
    /// Where the word that it ends begins.
    word: usize,
    /// The first token after it.
    next: &'a str,
}

fn end_marks(text: &str, quotes: PunktQuotes) -> Vec<EndMark<'_>> {
    let mut marks = Vec::new();
    let mut word = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if c.is_whitespace() {
            word = end;
        }
        let Some(first) = text[end..].chars().next().filter(|_| matches!(c, '.' | '?' | '!'))
        else {
            continue;
        };
        if quotes.is_mark(first) {
            marks.push(EndMark { at, word, next: &text[end..][..first.len_utf8()] });
        } else if first.is_whitespace() {
            let next = text[end..].trim_start();
            if !next.is_empty() {
                marks.push(EndMark { at, word, next: first_token(next, quotes) });
            }
        }
    }
    marks
}

/// The first token of a text that begins with one.
fn first_token(text: &str, quotes: PunktQuotes) -> &str {
    let first = text.chars().next().map_or(0, char::len_utf8);
    if text.starts_with(begins_no_word) {
        return &text[..first];
    }
    let ends = |c: char| c.is_whitespace() || c == ',' || quotes.is_mark(c);
    &text[..text[first..].find(ends).map_or(text.len(), |end| first + end)]
}

/// The end of a sentence with the marks that close it, also after white space, if white space or a
/// dash comes after them.
fn with_closers(text: &str, end: usize, quotes: PunktQuotes) -> usize {
    let after = text[end..].trim_start();
    let rest = after.trim_start_matches(|c| quotes.is_closer(c));
    let alone = rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.starts_with("--");
    if rest.len() < after.len() && alone { text.len() - rest.len() } else { end }
}

impl EndMark<'_> {
    /// Whether a full stop ends a sentence.
    fn full_stop_ends(&self, text: &str, quotes: PunktQuotes) -> bool {
        let word = &text[self.word..self.at];
        if word.ends_with('.') {
            return self.next_starts();
        }
        // A mark belongs to the token after it, unless it begins no word.
        let last = word.rfind(|c| quotes.is_mark(c)).unwrap_or(0);
        let token = word[last..].trim_start_matches(begins_no_word);
        let lower = token.to_lowercase();
        let mut letters = token.chars();
        let single = letters.next().filter(|_| letters.next().is_none());
        if single.is_some_and(char::is_alphabetic) {
            let name = self.next.starts_with(char::is_uppercase) && !is_starter(self.next);
            return !is_listed(INITIALS, &lower) && !name && !self.next_is_mark();
        }
        let digits = token.strip_prefix('-').unwrap_or(token);
        if digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-'))
        {
            return !self.next.starts_with(char::is_lowercase) && !self.next_is_mark();
        }
        let last = lower.rsplit('-').next().unwrap_or(&lower);
        // Newspapers write "for example".
        let dotted = is_dotted(&lower) && !matches!(&*lower, "e.g" | "i.e");
        if dotted || is_listed(ABBREVIATIONS, &lower) || is_listed(ABBREVIATIONS, last) {
            return self.next_starts();
        }
        true
    }

    fn next_starts(&self) -> bool {
        self.next.starts_with(char::is_uppercase) && is_listed(STARTERS, &self.next.to_lowercase())
    }

    fn next_is_mark(&self) -> bool {
        matches!(self.next, ";" | ":" | "," | "." | "!" | "?")
    }
}
