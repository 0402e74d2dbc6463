//! Tokens are in order and cover everything in a sentence that is not white space. They can be
//! tagged, and written as text again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use storymeter_text::tagger::Tagger;
use storymeter_text::{sentence, treebank};

fuzz_target!(|text: &str| {
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
});
