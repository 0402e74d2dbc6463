//! Runs of word characters: what Python's `re.findall(r"\w+", text)` gives.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::{Tokenizer, Tokens};

/// The maximal runs of letters, numbers and underscores.
pub struct WordRuns;

impl Tokenizer for WordRuns {
    fn tokenize(text: &str) -> Tokens {
        let mut spans = Vec::with_capacity(text.len() / 4);
        let mut start = None;
        for (at, c) in text.char_indices() {
            if is_python_word(c) {
                start.get_or_insert(at);
            } else {
                spans.extend(start.take().map(|start| start..at));
            }
        }
        spans.extend(start.map(|start| start..text.len()));
        Tokens::new(text.to_owned(), spans)
    }
}

/// What Python's `\w` matches: letters, numbers, the underscore; not combining marks.
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
