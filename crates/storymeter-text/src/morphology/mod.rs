//! Finds the lemmas of inflected words, and inflects lemmas.
//!
//! To negate "went", its base form is needed ("did not go"), and to remove a negation, the
//! inflected form. An antonym is looked up by its lemma, and is written in the form of the word
//! that it replaces. Spelling rules give the candidates, and [WordNet](crate::lexicon) decides
//! which of them are words.

pub mod adjective;
mod morphy;
pub mod noun;
mod spelling;
pub mod verb;

use std::borrow::Cow;

use crate::lexicon::{Lexicon, PartOfSpeech, compiled};
pub use morphy::lemmas;

/// The lemma of a lower-case form if WordNet has it; `None` if the lemma could only be guessed.
pub(crate) fn known_lemma(form: &str, pos: PartOfSpeech) -> Option<Cow<'_, str>> {
    match pos {
        PartOfSpeech::Noun => noun::known_lemma(form),
        PartOfSpeech::Verb => verb::known_base(form, None),
        PartOfSpeech::Adjective => adjective::known_lemma(form),
        PartOfSpeech::Adverb => {
            let entry = compiled::find(form)?;
            match entry.exceptions(pos).words().next() {
                Some(lemma) => Some(Cow::Borrowed(lemma)),
                None => entry.is_lemma(pos).then_some(Cow::Borrowed(form)),
            }
        }
    }
}

/// Whether a word is an English lemma of this part of speech, and neither a stop word nor a
/// negation word. This is grammar: it does not depend on the antonyms and keywords that a user may
/// choose.
pub fn is_content_word(word: &str, pos: PartOfSpeech) -> bool {
    Lexicon::embedded().is_keyword(word, pos)
}

/// How often a word is used as a lemma of a part of speech, or `None` if it is not such a lemma.
fn usage(word: &str, pos: PartOfSpeech) -> Option<u8> {
    compiled::find(word).filter(|entry| entry.is_lemma(pos)).map(|entry| entry.usage(pos))
}
