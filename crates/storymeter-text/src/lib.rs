//! Sentences, tokens, tags, lemmas and lexicons, with byte offsets into the original text.
#![forbid(unsafe_code)]

pub mod sentence;
mod span;
pub mod tagger;
pub mod treebank;

pub use span::Span;
