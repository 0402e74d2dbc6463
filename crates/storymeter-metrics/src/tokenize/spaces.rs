//! Tokens between white space, as Python's `str.split()` gives them, and single characters.

use super::{Tokenizer, Tokens};

/// The runs of characters between white space, as Python's `str.split()` gives them.
///
/// ```
/// use storymeter_metrics::tokenize::{Tokenizer, Whitespace};
/// let tokens = Whitespace::tokenize("The lamp\n went out.");
/// assert_eq!(tokens.iter().collect::<Vec<_>>(), ["The", "lamp", "went", "out."]);
/// ```
pub struct Whitespace;

impl Tokenizer for Whitespace {
    fn tokenize(text: &str) -> Tokens {
        Tokens::runs(text, |c| !is_python_space(c))
    }
}

/// Every character that is not white space, as sacrebleu's tokeniser `char`.
pub struct Characters;

impl Tokenizer for Characters {
    fn tokenize(text: &str) -> Tokens {
        let spans = text.char_indices().filter(|&(_, c)| !is_python_space(c));
        let spans = spans.map(|(at, c)| at..at + c.len_utf8());
        Tokens::new(text.to_owned(), spans)
    }
}

/// Whether Python's `str.isspace` is true for a character: Unicode's white space and the four
/// information separators U+001C to U+001F.
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
