//! Runs of word characters, as Python's `re.findall(r"\w+", text)` gives them.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::{Tokenizer, Tokens};

/// The maximal runs of letters, numbers and underscores.
pub struct WordRuns;

impl Tokenizer for WordRuns {
    fn tokenize(text: &str) -> Tokens {
        Tokens::runs(text, is_python_word)
    }
}

/// Whether Python's `\w` matches a character: letters, numbers and the underscore, but not
/// combining marks.
pub fn is_python_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_apostrophes_cut_words() {
        let tokens = WordRuns::tokenize("don’t stop_it, ½ cafe\u{301}s 物語");
        assert_eq!(
            tokens.iter().collect::<Vec<_>>(),
            ["don", "t", "stop_it", "½", "cafe", "s", "物語"]
        );
    }
}
