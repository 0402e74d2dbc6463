//! Tokens between white space, and single characters: what Python's `str.split()` and `list(str)` give.

use super::{Tokenizer, Tokens};

/// The runs of characters between white space, as Python's `str.split()`.
pub struct Whitespace;

impl Tokenizer for Whitespace {
    fn tokenize(text: &str) -> Tokens {
        let mut spans = Vec::with_capacity(text.len() / 4);
        let mut start = None;
        for (at, c) in text.char_indices() {
            if is_python_space(c) {
                spans.extend(start.take().map(|start| start..at));
            } else {
                start.get_or_insert(at);
            }
        }
        spans.extend(start.map(|start| start..text.len()));
        Tokens::new(text.to_owned(), spans)
    }
}

/// Every character that is not white space, as sacrebleu's `char`.
pub struct Characters;

impl Tokenizer for Characters {
    fn tokenize(text: &str) -> Tokens {
        let spans = text.char_indices().filter(|&(_, c)| !is_python_space(c));
        let spans = spans.map(|(at, c)| at..at + c.len_utf8());
        Tokens::new(text.to_owned(), spans)
    }
}

/// What Python's `str.isspace` says of one character: Unicode white space and four information separators.
pub fn is_python_space(c: char) -> bool {
    if c.is_ascii() { matches!(c, '\t'..='\r' | '\u{1c}'..=' ') } else { c.is_whitespace() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_any_white_space_separate_tokens() {
        let tokens = Whitespace::tokenize(" one\u{a0}two\n\tthree\u{1f}four ");
        assert_eq!(tokens.iter().collect::<Vec<_>>(), ["one", "two", "three", "four"]);
    }

    #[test]
    fn characters_leave_white_space_out() {
        let tokens = Characters::tokenize("né \u{2003}物");
        assert_eq!(tokens.iter().collect::<Vec<_>>(), ["n", "é", "物"]);
    }
}
