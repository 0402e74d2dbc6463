//! Forms of words: lemmas of what stands in a text, and forms made from lemmas.
//!
//! Negating "went" takes its base ("did not go"), removing a negation takes the form back; an antonym is looked
//! up by lemma and put in as the form it replaces. Spelling rules give the candidates, and
//! [WordNet](crate::lexicon) decides which of them are words.

pub mod adjective;
mod morphy;
pub mod noun;
mod spelling;
pub mod verb;

use std::borrow::Cow;

use crate::lexicon::{PartOfSpeech, compiled};
pub use morphy::lemmas;

/// The lemma of a lower-case form where WordNet knows it, `None` where all that could be done is guess.
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

/// How often a word is used as a lemma of a part of speech, or `None` where it is not one.
fn usage(word: &str, pos: PartOfSpeech) -> Option<u8> {
    compiled::find(word).filter(|entry| entry.is_lemma(pos)).map(|entry| entry.usage(pos))
}
