//! Sentences are in order and trimmed, and cover everything in a text that is not white space.
#![no_main]

use libfuzzer_sys::fuzz_target;
use storymeter_text::sentence;

fuzz_target!(|text: &str| {
    let mut end = 0;
    for span in sentence::split(text) {
        assert!(end <= span.start && span.start < span.end && span.end <= text.len());
        assert!(text[end..span.start].chars().all(char::is_whitespace));
        assert_eq!(span.of(text).trim(), span.of(text));
        end = span.end;
    }
    assert!(text[end..].chars().all(char::is_whitespace));
});
