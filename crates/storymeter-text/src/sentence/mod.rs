//! Splits a text into sentences.
//!
//! Stories come as clean prose, as dialogue, in lower case, tokenised (`he left . she stayed .`)
//! and with masked names (`[MALE] went home .`). The splitter therefore uses local rules and needs
//! no training: it finds a mark that may end a sentence, takes the quotes and brackets that close
//! after it, and decides by the words on both sides whether the sentence really ends there.
//!
//! ```
//! use storymeter_text::sentence;
//!
//! let text = "Mr. Hill left. \"Why?\" asked Ann... Nobody knew";
//! let sentences: Vec<&str> = sentence::split(text).iter().map(|s| s.of(text)).collect();
//! assert_eq!(sentences, ["Mr. Hill left.", "\"Why?\" asked Ann...", "Nobody knew"]);
//! ```

mod punkt;
mod words;

use crate::Span;
use crate::treebank::PLACEHOLDERS;
pub use punkt::{PunktQuotes, split_like_punkt};
use words::{Abbreviation, abbreviation, is_speech_verb, is_starter};

/// The sentences of a text, in order, without the white space around them.
///
/// Every character that is not white space lies in exactly one sentence. A blank line always ends a
/// sentence; a single line break alone never does. The time is linear in the length of the text.
pub fn split(text: &str) -> Vec<Span> {
    let mut sentences = Vec::new();
    split_into(text, &mut sentences);
    sentences
}

/// Does the same as [`split`], but replaces the content of a vector, so that its memory is reused.
pub fn split_into(text: &str, sentences: &mut Vec<Span>) {
    sentences.clear();
    let mut scan = Scan::new(text);
    let mut start = 0;
    while let Some(end) = scan.next_end() {
        push_trimmed(text, start, end, sentences);
        start = end;
    }
    push_trimmed(text, start, text.len(), sentences);
}

fn push_trimmed(text: &str, start: usize, end: usize, sentences: &mut Vec<Span>) {
    let part = &text[start..end];
    let trimmed = part.trim_start();
    let start = end - trimmed.len();
    let trimmed = trimmed.trim_end();
    if !trimmed.is_empty() {
        sentences.push(Span::new(start, start + trimmed.len()));
    }
}

/// The state of one pass over a text.
struct Scan<'a> {
    text: &'a str,
    /// Next byte to look at; always on a character boundary.
    at: usize,
    /// Where the current word began; words are separated by white space.
    word: usize,
    /// The word before the current one: a lone "I" after a lower-case word is a pronoun, no
    /// initial.
    previous: Span,
    /// Whether a straight double quote is open.
    quoted: bool,
    /// Whether no letter of the text is upper-case: then capitals do not show where sentences
    /// begin.
    lower_cased: bool,
}

/// The kind of a run of end marks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Period,
    Ellipsis,
    Strong,
    /// Full-width marks need no white space after them.
    Wide,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            word: 0,
            previous: Span::default(),
            quoted: false,
            lower_cased: is_lower_cased(text),
        }
    }

    fn peek(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    /// The end of the next sentence, or `None` if the remaining text is one sentence.
    fn next_end(&mut self) -> Option<usize> {
        while let Some(c) = self.peek(self.at) {
            if c.is_whitespace() {
                if let Some(end) = self.white_space() {
                    return Some(end);
                }
            } else if is_end_mark(c) {
                let start = self.at;
                let mark = self.take_marks();
                let closed = self.take_closers();
                if self.ends_here(start, mark, closed) {
                    return Some(self.at);
                }
            } else {
                if c == '"' {
                    self.quoted = !self.quoted;
                }
                self.at += c.len_utf8();
            }
        }
        None
    }

    /// Skips a run of white space. A blank line in it ends the sentence before it.
    fn white_space(&mut self) -> Option<usize> {
        let start = self.at;
        let mut line_breaks = 0;
        while let Some(c) = self.peek(self.at).filter(|c| c.is_whitespace()) {
            line_breaks += usize::from(c == '\n');
            self.at += c.len_utf8();
        }
        if self.word < start {
            self.previous = Span::new(self.word, start);
        }
        self.word = self.at;
        if line_breaks < 2 {
            return None;
        }
        self.quoted = false;
        Some(start)
    }

    /// Takes a run of end marks, also one with spaces in it (`. . .`, `! !`), and returns its kind.
    fn take_marks(&mut self) -> Mark {
        let (mut dots, mut strong, mut wide) = (0, false, false);
        loop {
            match self.peek(self.at) {
                Some('.') => dots += 1,
                Some('…') => dots += 3,
                Some('!' | '?') => strong = true,
                Some('。' | '！' | '？') => wide = true,
                Some(' ') if self.text[self.at + 1..].starts_with(['.', '!', '?', '…']) => {
                    // ` .5` begins a number.
                    let mut rest = self.text[self.at + 1..].chars();
                    rest.next();
                    if rest.next().is_some_and(char::is_alphanumeric) {
                        break;
                    }
                    self.at += 1;
                    continue;
                }
                _ => break,
            }
            self.at += self.peek(self.at).map_or(0, char::len_utf8);
        }
        match (wide, strong, dots) {
            (true, ..) => Mark::Wide,
            (_, true, _) => Mark::Strong,
            (.., 1) => Mark::Period,
            _ => Mark::Ellipsis,
        }
    }

    /// Takes the quotes and brackets that close after an end mark, and returns whether a quote was
    /// among them.
    fn take_closers(&mut self) -> bool {
        let mut quote = false;
        loop {
            let rest = &self.text[self.at..];
            // Tokenised text has one space before a closing mark, which must then stand between
            // spaces.
            let spaced = rest.strip_prefix(' ');
            let candidate = spaced.unwrap_or(rest);
            let Some((closer, closes_quote)) = closer(candidate, spaced.is_some(), self.quoted)
            else {
                break;
            };
            let after = &candidate[closer..];
            if spaced.is_some() && !after.is_empty() && !after.starts_with(char::is_whitespace) {
                break;
            }
            if candidate.starts_with('"') {
                self.quoted = !self.quoted;
            }
            quote |= closes_quote;
            self.at += usize::from(spaced.is_some()) + closer;
        }
        quote
    }

    /// Whether a sentence ends at the cursor, after the marks that began at `start` and their
    /// closers.
    fn ends_here(&self, start: usize, mark: Mark, closed_quote: bool) -> bool {
        if mark == Mark::Wide {
            return true;
        }
        let rest = &self.text[self.at..];
        if !rest.starts_with(char::is_whitespace) {
            return rest.is_empty();
        }
        let rest = rest.trim_start();
        let next = Next::of(rest);
        if mark == Mark::Period && !closed_quote && self.word < start {
            return self.period_ends(&self.text[self.word..start], &next);
        }
        match mark {
            _ if closed_quote && next.is_lower() => self.lower_cased && !speaks(rest),
            Mark::Ellipsis => !next.is_lower(),
            _ => true,
        }
    }

    /// Whether the full stop directly after `word` ends the sentence, given the next word.
    fn period_ends(&self, word: &str, next: &Next) -> bool {
        let word = word.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '.');
        let mut letters = word.chars();
        if let (Some(only), None) = (letters.next(), letters.next()) {
            if matches!(only, 'I' | 'i') && self.previous_is_lower() {
                return true;
            }
            if only.is_alphabetic() {
                return next.is_starter();
            }
        }
        if word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit()) && self.begins_line() {
            // "1. Wash the rice." is one item of a list.
            return false;
        }
        match abbreviation(word, self.lower_cased) {
            Some(Abbreviation::BeforeName) => false,
            Some(Abbreviation::BeforeNumber) => !next.is_digit(),
            Some(Abbreviation::Anywhere) => next.is_starter(),
            None => true,
        }
    }

    fn previous_is_lower(&self) -> bool {
        self.previous.of(self.text).starts_with(char::is_lowercase)
    }

    /// Whether the current word is the first of its line.
    fn begins_line(&self) -> bool {
        self.previous.is_empty() || self.text[self.previous.end..self.word].contains('\n')
    }
}

/// The first word after a possible end, without the quotes and brackets that open before it.
struct Next<'a> {
    word: &'a str,
}

impl<'a> Next<'a> {
    fn of(rest: &'a str) -> Self {
        let opened = rest.trim_start_matches(|c: char| {
            matches!(c, '"' | '\'' | '`' | '“' | '‘' | '«' | '(' | '[' | '{' | ' ')
        });
        let end = opened
            .find(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
            .unwrap_or(opened.len());
        Self { word: &opened[..end] }
    }

    fn is_lower(&self) -> bool {
        self.word.starts_with(char::is_lowercase)
    }

    fn is_digit(&self) -> bool {
        self.word.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Whether it has a capital, often begins a sentence and is hardly ever a name.
    fn is_starter(&self) -> bool {
        is_starter(self.word)
    }
}

/// Whether one of the next three words is a verb of saying, so that the sentence goes on: `"stop !"
/// he said`.
fn speaks(rest: &str) -> bool {
    rest.split_whitespace()
        .take(3)
        .any(|word| is_speech_verb(word.trim_end_matches([',', '.', '!', '?'])))
}

fn is_end_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？')
}

/// Whether no letter is upper-case. Placeholders do not count: they are upper-case in all stories.
fn is_lower_cased(text: &str) -> bool {
    let mut rest = text;
    while let Some(upper) = rest.find(char::is_uppercase) {
        let bracket = upper.saturating_sub(1);
        let placeholder =
            PLACEHOLDERS.iter().find(|p| rest.as_bytes()[bracket..].starts_with(p.as_bytes()));
        let Some(placeholder) = placeholder else { return false };
        rest = &rest[bracket + placeholder.len()..];
    }
    true
}

/// The byte length of the closing mark at the start of `rest`, and whether it closes a quotation.
fn closer(rest: &str, spaced: bool, quoted: bool) -> Option<(usize, bool)> {
    if rest.starts_with("''") {
        return Some((2, true));
    }
    match rest.chars().next()? {
        // A straight quote between spaces may open or close.
        '"' => (!spaced || quoted).then_some((1, true)),
        '\'' => (!spaced).then_some((1, true)),
        c @ ('”' | '’' | '»' | '」' | '』') => Some((c.len_utf8(), true)),
        c @ (')' | ']' | '}') => Some((c.len_utf8(), false)),
        _ => None,
    }
}
