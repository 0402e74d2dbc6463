//! Cuts a text into the words that byte pairs are merged in.
//!
//! The tokenisers of language models describe their words by regular expressions with look-ahead.
//! There are few of them, so each is a scanner here that looks at every character about once.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// One way of cutting a text. Every byte of the text is in exactly one piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Splitter {
    /// [`GPT2`].
    Gpt2,
    /// [`LLAMA3`] or, with one digit at a time, [`QWEN2`].
    Llama3 { digits: usize },
    /// Numbers apart from everything else: one by one, or in runs.
    Digits { individual: bool },
}

/// The words of GPT-2, RoBERTa and BART.
pub(super) const GPT2: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The words of Llama 3.
pub(super) const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The words of Qwen 2.
pub(super) const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

impl Splitter {
    /// The scanner for a regular expression.
    pub(super) fn of_pattern(pattern: &str) -> Option<Splitter> {
        match pattern {
            GPT2 => Some(Splitter::Gpt2),
            LLAMA3 => Some(Splitter::Llama3 { digits: 3 }),
            QWEN2 => Some(Splitter::Llama3 { digits: 1 }),
            _ => None,
        }
    }

    /// The length of the first piece of a text that is not empty.
    pub(super) fn first(self, text: &str) -> usize {
        match self {
            Splitter::Gpt2 => gpt2(text),
            Splitter::Llama3 { digits } => llama3(text, digits),
            Splitter::Digits { individual } => {
                let number = |c: char| class(c) == Class::Number;
                match text.chars().next().filter(|c| number(*c)) {
                    Some(first) if individual => first.len_utf8(),
                    Some(_) => run(text, number),
                    None => run(text, |c| !number(c)),
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Letter,
    Number,
    Space,
    Other,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' => Class::Letter,
        '0'..='9' => Class::Number,
        _ if c.is_whitespace() => Class::Space,
        _ if c.is_ascii() => Class::Other,
        _ => match c.general_category_group() {
            GeneralCategoryGroup::Letter => Class::Letter,
            GeneralCategoryGroup::Number => Class::Number,
            _ => Class::Other,
        },
    }
}

/// The length of the characters at the beginning for which `wanted` holds.
fn run(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    text.find(|c| !wanted(c)).unwrap_or(text.len())
}

fn run_of(text: &str, wanted: Class) -> usize {
    run(text, |c| class(c) == wanted)
}

/// The length of an English contraction such as `'s` or `'ll` at the beginning.
fn contraction(text: &str, any_case: bool) -> Option<usize> {
    let mut chars = text.strip_prefix('\'')?.chars().map(|c| match c {
        // Regular expressions that ignore case take the long s for an s.
        'ſ' if any_case => 's',
        c if any_case => c.to_ascii_lowercase(),
        c => c,
    });
    let first = chars.next()?;
    match (first, chars.next()) {
        ('s' | 't' | 'm' | 'd', _) => Some(1 + text[1..].chars().next().map_or(0, char::len_utf8)),
        ('r' | 'v', Some('e')) | ('l', Some('l')) => Some(3),
        _ => None,
    }
}

/// Blanks up to the next word, without the last one, which belongs to that word if it can.
fn blanks(text: &str) -> usize {
    let all = run_of(text, Class::Space);
    if all == text.len() {
        return all;
    }
    let last = text[..all].chars().next_back().map_or(0, char::len_utf8);
    if last == all { all } else { all - last }
}

fn gpt2(text: &str) -> usize {
    if let Some(length) = contraction(text, false) {
        return length;
    }
    let blank = usize::from(text.starts_with(' '));
    match text[blank..].chars().next().map(class) {
        Some(first) if first != Class::Space => blank + run_of(&text[blank..], first),
        _ => blanks(text),
    }
}

fn llama3(text: &str, digits: usize) -> usize {
    if let Some(length) = contraction(text, true) {
        return length;
    }
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return 0 };
    let is_line_end = |c: char| matches!(c, '\r' | '\n');
    match class(first) {
        Class::Letter => return run_of(text, Class::Letter),
        Class::Number => {
            let end = text.char_indices().nth(digits).map_or(text.len(), |(end, _)| end);
            return run_of(&text[..end], Class::Number);
        }
        // One character of any other kind belongs to the word that follows.
        _ if !is_line_end(first) && chars.next().map(class) == Some(Class::Letter) => {
            return first.len_utf8() + run_of(&text[first.len_utf8()..], Class::Letter);
        }
        _ => {}
    }
    let blank = usize::from(first == ' ');
    if text[blank..].chars().next().map(class) == Some(Class::Other) {
        let marks = blank + run_of(&text[blank..], Class::Other);
        return marks + run(&text[marks..], is_line_end);
    }
    // Only white space is left: up to the end of the last line, if there is one.
    let all = run_of(text, Class::Space);
    text[..all].rfind(is_line_end).map_or_else(|| blanks(text), |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(splitter: Splitter, mut text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        while !text.is_empty() {
            let (piece, after) = text.split_at(splitter.first(text));
            pieces.push(piece);
            text = after;
        }
        pieces
    }

    #[test]
    fn gpt2_keeps_one_blank_with_the_word_after_it() {
        let pieces = |text| split(Splitter::Gpt2, text);
        assert_eq!(pieces("It's 3  o'clock!!"), ["It", "'s", " 3", " ", " o", "'", "clock", "!!"]);
        assert_eq!(pieces("I'LL we'll"), ["I", "'", "LL", " we", "'ll"]);
        assert_eq!(pieces("a\n\n\tb  "), ["a", "\n\n", "\t", "b", "  "]);
        assert_eq!(pieces(" 's x²½"), [" '", "s", " x", "²½"]);
        assert_eq!(pieces("e\u{301}—東京"), ["e", "\u{301}—", "東京"]);
    }

    #[test]
    fn llama3_cuts_numbers_and_lines() {
        let pieces = |text| split(Splitter::Llama3 { digits: 3 }, text);
        assert_eq!(pieces("I'LL (see) 12345"), ["I", "'LL", " (", "see", ")", " ", "123", "45"]);
        assert_eq!(pieces("a, b.\n\n  c \n d"), ["a", ",", " b", ".\n\n", " ", " c", " \n", " d"]);
        assert_eq!(pieces("\ta\t\tb"), ["\ta", "\t", "\tb"]);
        assert_eq!(split(Splitter::Llama3 { digits: 1 }, "a 12"), ["a", " ", "1", "2"]);
    }

    #[test]
    fn digits_stand_alone_or_together() {
        let split = |individual, text| split(Splitter::Digits { individual }, text);
        assert_eq!(split(true, "in 1984½."), ["in ", "1", "9", "8", "4", "½", "."]);
        assert_eq!(split(false, "in 1984½."), ["in ", "1984½", "."]);
    }

    proptest! {
        #[test]
        fn no_piece_is_empty(text in "[a'sSl12 \n\r\t.,é\u{301}\u{3000}½ſ🎈]{0,30}") {
            for splitter in [
                Splitter::Gpt2,
                Splitter::Llama3 { digits: 3 },
                Splitter::Digits { individual: true },
                Splitter::Digits { individual: false },
            ] {
                let pieces = split(splitter, &text);
                prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
                prop_assert_eq!(pieces.concat(), text.clone());
            }
        }
    }
}
