//! The tokeniser, which makes one pass over the pieces of a sentence between white space.

use super::{PLACEHOLDERS, Quote, Token};
use crate::Span;

/// Words that the treebank writes as two, and where it cuts them.
const JOINED: [(&str, usize); 7] = [
    ("cannot", 3),
    ("d'ye", 1),
    ("gimme", 3),
    ("gonna", 3),
    ("gotta", 3),
    ("lemme", 3),
    ("wanna", 3),
];

/// Words that begin with an apostrophe, and where the treebank cuts them; 0 means that it does not.
const ELIDED: [(&str, usize); 16] = [
    ("'tis", 2),
    ("'twas", 2),
    ("'em", 0),
    ("'cause", 0),
    ("'til", 0),
    ("'till", 0),
    ("'bout", 0),
    ("'round", 0),
    ("'n", 0),
    ("'s", 0),
    ("'m", 0),
    ("'d", 0),
    ("'ll", 0),
    ("'re", 0),
    ("'ve", 0),
    ("'t", 0),
];

/// Clitics that are cut off the end of a word.
const CLITICS: [&str; 7] = ["'s", "'m", "'d", "'ll", "'re", "'ve", "n't"];

pub(super) struct Splitter<'a> {
    text: &'a str,
    sentence: Span,
    tokens: &'a mut Vec<Token>,
    /// The place of the final full stop, if the sentence has one.
    final_stop: Option<usize>,
    /// Whether a straight double quote is open.
    quoted: bool,
    /// Whether a single quote is open.
    single_quoted: bool,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(text: &'a str, sentence: Span, tokens: &'a mut Vec<Token>) -> Self {
        let final_stop = final_stop(sentence.of(text)).map(|at| sentence.start + at);
        Self { text, sentence, tokens, final_stop, quoted: false, single_quoted: false }
    }

    pub(super) fn run(mut self) {
        let mut at = self.sentence.start;
        while at < self.sentence.end {
            let rest = &self.text[at..self.sentence.end];
            let blank = rest.len() - rest.trim_start().len();
            let rest = &rest[blank..];
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            self.piece(at + blank, at + blank + length);
            at += blank + length;
        }
    }

    /// Splits a piece without white space.
    fn piece(&mut self, start: usize, end: usize) {
        let mut word = start;
        let mut at = start;
        while at < end {
            let (length, quote) = self.mark(at, end, word == at);
            if length == 0 {
                at += self.text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            self.word(word, at);
            self.push(at, at + length, quote);
            at += length;
            word = at;
        }
        self.word(word, end);
    }

    /// The length of the mark at `at` that is a token of its own, or 0 if there is none. `fresh`
    /// says that no word ends directly before it.
    fn mark(&mut self, at: usize, end: usize, fresh: bool) -> (usize, Quote) {
        let rest = &self.text[at..end];
        let bytes = rest.as_bytes();
        match bytes[0] {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => (0, Quote::None),
            b';' | b'@' | b'#' | b'$' | b'%' | b'&' | b'?' | b'!' => (1, Quote::None),
            b'[' => (
                PLACEHOLDERS.iter().find(|p| rest.starts_with(**p)).map_or(1, |p| p.len()),
                Quote::None,
            ),
            b']' | b'(' | b')' | b'{' | b'}' | b'<' | b'>' => (1, Quote::None),
            b':' | b',' => {
                (usize::from(!bytes.get(1).is_some_and(u8::is_ascii_digit)), Quote::None)
            }
            b'-' if rest.starts_with("--") => (2, Quote::None),
            b'.' => match bytes.iter().take_while(|&&b| b == b'.').count() {
                1 => (usize::from(self.final_stop == Some(at)), Quote::None),
                dots => (dots, Quote::None),
            },
            b'"' => (1, self.straight(at, end)),
            b'`' => (1 + usize::from(rest.starts_with("``")), Quote::Opens),
            b'\'' if rest.starts_with("''") => (2, self.pair(at, end)),
            b'\'' => self.apostrophe(rest, 1, fresh),
            0..0x80 => (0, Quote::None),
            _ => self.typographic(rest, fresh),
        }
    }

    /// A straight double quote opens after white space or a bracket, and closes otherwise. Between
    /// spaces, it opens and closes in turn.
    fn straight(&mut self, at: usize, end: usize) -> Quote {
        let before = self.text[self.sentence.start..at].chars().next_back();
        let loose_left =
            before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{' | '<'));
        let loose_right = at + 1 == end;
        let opens = if loose_left && loose_right { !self.quoted } else { loose_left };
        self.quoted = opens;
        if opens { Quote::Opens } else { Quote::Closes }
    }

    /// Two single quotes close, unless they stand directly before a word.
    fn pair(&self, at: usize, end: usize) -> Quote {
        let before = self.text[self.sentence.start..at].chars().next_back();
        let loose_left =
            before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '{' | '<'));
        if loose_left && at + 2 < end { Quote::Opens } else { Quote::Closes }
    }

    /// Decides whether the apostrophe of `length` bytes at the start of `rest` is a quote or a part
    /// of the word around it.
    fn apostrophe(&mut self, rest: &str, length: usize, fresh: bool) -> (usize, Quote) {
        let after = &rest[length..];
        if !after.starts_with(char::is_alphanumeric) {
            // A closing quote, or the possessive of a plural: `dogs'`.
            let closes = std::mem::take(&mut self.single_quoted);
            return (length, if closes { Quote::Closes } else { Quote::None });
        }
        let elided = after.starts_with(|c: char| c.is_ascii_digit()) || elision(rest).is_some();
        if fresh && !elided {
            self.single_quoted = true;
            return (length, Quote::Opens);
        }
        (0, Quote::None)
    }

    fn typographic(&mut self, rest: &str, fresh: bool) -> (usize, Quote) {
        match rest.chars().next() {
            Some(c @ ('“' | '«')) => (c.len_utf8(), Quote::Opens),
            Some(c @ ('”' | '»')) => (c.len_utf8(), Quote::Closes),
            Some(c @ '‘') => {
                self.single_quoted = true;
                (c.len_utf8(), Quote::Opens)
            }
            Some(c @ '’') => self.apostrophe(rest, c.len_utf8(), fresh),
            Some(c @ ('…' | '—' | '。' | '！' | '？' | '，')) => {
                (c.len_utf8(), Quote::None)
            }
            _ => (0, Quote::None),
        }
    }

    /// Adds the word between two marks, with its clitics as tokens of their own.
    fn word(&mut self, start: usize, end: usize) {
        if start == end {
            return;
        }
        let word = &self.text[start..end];
        let cut = elision(word)
            .filter(|(length, _)| *length == word.len())
            .map(|(_, cut)| cut)
            .or_else(|| joined(word))
            .or_else(|| clitic(word))
            .unwrap_or(0);
        if cut > 0 {
            self.push(start, start + cut, Quote::None);
        }
        self.push(start + cut, end, Quote::None);
    }

    fn push(&mut self, start: usize, end: usize, quote: Quote) {
        self.tokens.push(Token { span: Span::new(start, end), quote });
    }
}

/// The place of the full stop that ends the sentence: only quotes and brackets follow it, and no
/// other dot stands before it.
fn final_stop(sentence: &str) -> Option<usize> {
    let closers = |c: char| {
        c.is_whitespace() || matches!(c, ']' | ')' | '}' | '>' | '"' | '\'' | '»' | '”' | '’')
    };
    let body = sentence.trim_end_matches(closers).strip_suffix('.')?;
    (!body.ends_with('.')).then_some(body.len())
}

/// The number of bytes of `pattern` at the start of `word`, if it is there. ASCII letters match in
/// any case, and `'` also matches a typographic apostrophe.
fn starts_with(word: &str, pattern: &str) -> Option<usize> {
    let mut rest = word.chars();
    for wanted in pattern.chars() {
        let found = rest.next()?;
        if !(found.eq_ignore_ascii_case(&wanted) || (wanted == '\'' && found == '’')) {
            return None;
        }
    }
    Some(word.len() - rest.as_str().len())
}

/// The length of the listed elision that `rest` begins with as a whole word, and where it is cut.
fn elision(rest: &str) -> Option<(usize, usize)> {
    let mark = rest.chars().next().filter(|c| matches!(c, '\'' | '’'))?;
    ELIDED.iter().find_map(|&(word, cut)| {
        let length = starts_with(rest, word)?;
        let whole = !rest[length..].starts_with(char::is_alphanumeric);
        whole.then_some((length, if cut == 0 { 0 } else { cut - 1 + mark.len_utf8() }))
    })
}

fn joined(word: &str) -> Option<usize> {
    JOINED.iter().find_map(|&(whole, cut)| (starts_with(word, whole)? == word.len()).then_some(cut))
}

/// Where the clitic at the end of a word begins.
fn clitic(word: &str) -> Option<usize> {
    CLITICS.iter().find_map(|clitic| {
        let start = word.char_indices().rev().nth(clitic.len() - 1)?.0;
        let alone = start == 0 || word[..start].ends_with(['\'', '’']);
        (!alone && starts_with(&word[start..], clitic).is_some()).then_some(start)
    })
}
