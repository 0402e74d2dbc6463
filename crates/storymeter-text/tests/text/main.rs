//! Sentences, tokens, word forms, names and the lexicon.
#![allow(clippy::print_stdout)]

mod any_word;
mod flags;
mod format;
mod kind;
mod lexicon;
mod linear_time;
mod names;
mod punkt;
mod sentences;
mod stems;
mod tagger;
mod treebank;
mod verbs;
mod vocabulary;
mod word_forms;
