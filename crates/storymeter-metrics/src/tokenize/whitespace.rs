//! Tokens between white space, as Python's `str.split()` gives them.

use std::ops::Deref;

use storymeter_core::{TextCache, View};

use super::Tokens;

/// The runs of characters between white space.
pub struct WhitespaceTokens(Tokens);

impl View for WhitespaceTokens {
    fn build(text: &TextCache) -> Self {
        let text = text.text();
        let start = text.as_ptr() as usize;
        let spans = text.split(is_python_space).filter(|token| !token.is_empty()).map(|token| {
            let at = token.as_ptr() as usize - start;
            at..at + token.len()
        });
        Self(Tokens::new(text.to_owned(), spans))
    }
}

impl Deref for WhitespaceTokens {
    type Target = Tokens;

    fn deref(&self) -> &Tokens {
        &self.0
    }
}

/// What Python's `str.isspace` says of one character: Unicode white space and four information separators.
pub fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_any_white_space_separate_tokens() {
        let cache = TextCache::new(" one\u{a0}two\n\tthree\u{1f}four ");
        let tokens = cache.view::<WhitespaceTokens>();
        assert_eq!(tokens.iter().collect::<Vec<_>>(), ["one", "two", "three", "four"]);
    }
}
