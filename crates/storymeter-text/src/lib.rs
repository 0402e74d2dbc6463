//! Sentences, tokens, tags, lemmas and lexicons, with byte offsets into the original text.
#![forbid(unsafe_code)]
