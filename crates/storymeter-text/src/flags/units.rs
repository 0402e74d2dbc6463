//! Cuts the beginning or the end of a text into the units that the rules judge.

use std::ops::Range;

use super::words::words;
use crate::sentence;

/// A sentence, or a line if that is shorter, or what stands before a colon.
pub(super) struct Unit {
    /// Its bytes in the part of the text that was cut, without white space around it.
    pub(super) range: Range<usize>,
    /// Its words as [`words`] has them.
    pub(super) words: Vec<String>,
    /// Whether it ends with a colon.
    pub(super) colon: bool,
    /// Whether it ends with an exclamation mark.
    pub(super) loud: bool,
    /// Whether it is the first on its line.
    pub(super) begins_line: bool,
    /// Whether it is the last on its line.
    pub(super) ends_line: bool,
    /// Whether it has quotation marks or stands between them.
    pub(super) quoted: bool,
}

/// At most this many bytes from the end of a text are looked at for words to the user.
const WINDOW: usize = 2000;

/// The beginning of a text, as long as words to the user may be.
pub(super) fn head(text: &str) -> &str {
    &text[..boundary_before(text, WINDOW)]
}

/// The end of a text, as long as words to the user may be.
pub(super) fn tail(text: &str) -> &str {
    &text[boundary_before(text, text.len().saturating_sub(WINDOW))..]
}

/// The last border between characters that is not behind a place.
pub(super) fn boundary_before(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The units of a text. At colons it is cut if `at_colons`.
pub(super) fn units(text: &str, at_colons: bool) -> Vec<Unit> {
    let mut units = Vec::new();
    let (mut quotes, mut paragraph) = (Quotes::default(), 0);
    for sentence in sentence::split(text) {
        let mut at = sentence.start;
        for line in sentence.of(text).split_inclusive('\n') {
            let mut end_of_part = 0;
            for part in parts(line, at_colons) {
                let start = at + part.start;
                let raw = &text[start..at + part.end];
                end_of_part = end_of_part.max(part.end);
                let trimmed = raw.trim();
                if trimmed.is_empty() {
                    continue;
                }
                let first = start + (raw.len() - raw.trim_start().len());
                let range = first..first + trimmed.len();
                if text[paragraph..range.start].contains("\n\n") {
                    quotes = Quotes::default();
                }
                paragraph = range.start;
                let was_open = quotes.open();
                let has_quotes = quotes.read(trimmed);
                let bare = trimmed.trim_end_matches(is_closer);
                units.push(Unit {
                    words: words(trimmed),
                    colon: bare.ends_with([':', '：']),
                    loud: bare.ends_with('!'),
                    begins_line: is_blank_before(text, range.start),
                    ends_line: is_blank_after(text, range.end),
                    quoted: was_open || has_quotes,
                    range,
                });
            }
            at += line.len();
        }
    }
    units
}

/// The parts of a line: after a colon and the marks that close behind it, a new one begins if
/// there is white space.
fn parts(line: &str, at_colons: bool) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, mark) in line.match_indices([':', '：']).filter(|_| at_colons) {
        let after = &line[at + mark.len()..];
        let closers = after.len() - after.trim_start_matches(is_closer).len();
        if after[closers..].starts_with(char::is_whitespace) {
            let end = at + mark.len() + closers;
            if end > start {
                parts.push(start..end);
                start = end;
            }
        }
    }
    parts.push(start..line.len());
    parts
}

/// Whether a mark may stand behind the end of a sentence.
pub(super) fn is_closer(c: char) -> bool {
    matches!(c, '*' | '_' | '"' | '”' | '\'' | '’' | ')' | ']' | '»' | '`' | '~')
}

/// Whether nothing but blanks stands between a place and the line break before it.
pub(super) fn is_blank_before(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', '\r'])
}

/// Whether nothing but blanks stands between a place and the next line break.
pub(super) fn is_blank_after(text: &str, at: usize) -> bool {
    let after = text[at..].trim_start_matches([' ', '\t']);
    after.is_empty() || after.starts_with(['\n', '\r'])
}

/// Which quotation marks are open.
#[derive(Default)]
struct Quotes {
    straight: bool,
    curly: bool,
}

impl Quotes {
    fn open(&self) -> bool {
        self.straight || self.curly
    }

    /// Whether there are quotation marks in a unit; remembers what stays open after it.
    fn read(&mut self, unit: &str) -> bool {
        let mut found = false;
        for c in unit.chars() {
            match c {
                '"' => self.straight = !self.straight,
                '“' | '«' => self.curly = true,
                '”' | '»' => self.curly = false,
                _ => continue,
            }
            found = true;
        }
        found || unit.contains("``") || unit.contains("''")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, at_colons: bool) -> Vec<&str> {
        units(text, at_colons).into_iter().map(|unit| &text[unit.range]).collect()
    }

    #[test]
    fn units_end_with_sentences_lines_and_colons() {
        let text = "Sure! **Here it is:**\nThe Well\n\nAt 6:30 she woke: late. He left.";
        let expected =
            ["Sure!", "**Here it is:**", "The Well", "At 6:30 she woke:", "late.", "He left."];
        assert_eq!(cut(text, true), expected);
        assert_eq!(cut(text, false)[3..], ["At 6:30 she woke: late.", "He left."]);
    }

    #[test]
    fn a_unit_between_quotation_marks_is_quoted() {
        let text = "\"I hope so. Let me know.\" He left. “So. Yes. Well.” Done.";
        let quoted: Vec<bool> = units(text, false).iter().map(|unit| unit.quoted).collect();
        assert_eq!(quoted, [true, true, false, true, true, true, false]);
    }
}
