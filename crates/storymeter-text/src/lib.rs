#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod entities;
pub mod flags;
pub mod kind;
pub mod lexicon;
pub mod morphology;
pub mod names;
pub mod negation;
pub mod sentence;
mod span;
pub mod stem;
pub mod stopwords;
pub mod tagger;
pub mod treebank;
pub mod vocabulary;

pub use span::Span;
