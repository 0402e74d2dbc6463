//! Sentences and tokens.

use storymeter_text::tagger::Tagger;
use storymeter_text::{sentence, treebank};

/// Sentences are in order and trimmed, and cover everything in a text that is not white space.
pub fn splitter(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let mut end = 0;
    for span in sentence::split(text) {
        assert!(end <= span.start && span.start < span.end && span.end <= text.len());
        assert!(text[end..span.start].chars().all(char::is_whitespace));
        assert_eq!(span.of(text).trim(), span.of(text));
        end = span.end;
    }
    assert!(text[end..].chars().all(char::is_whitespace));
}

/// Tokens are in order and cover everything in a sentence that is not white space. They can be
/// tagged, and written as text again.
pub fn tokeniser(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let mut end = 0;
    for span in sentence::split(text) {
        let tokens = treebank::tokenize_sentence(text, span);
        for token in &tokens {
            assert!(end <= token.span.start && token.span.start < token.span.end);
            assert!(text[end..token.span.start].chars().all(char::is_whitespace));
            assert!(!token.text(text).contains(char::is_whitespace));
            assert!(!token.normal(text).is_empty());
            end = token.span.end;
        }
        let words: Vec<&str> = tokens.iter().map(|token| token.text(text)).collect();
        assert_eq!(Tagger::embedded().tag(&words).len(), words.len());
        assert!(!treebank::detokenize(&words).is_empty());
    }
    assert!(text[end..].chars().all(char::is_whitespace));
}
