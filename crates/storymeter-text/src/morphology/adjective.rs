//! Lemmas, comparatives and superlatives of adjectives.

use std::borrow::Cow;

use super::spelling::{
    ends_in_consonant_y, ends_in_vowel_consonant, in_case_of, syllables, without_doubled,
};
use super::usage;
use crate::lexicon::{PartOfSpeech, compiled, lower_case};

/// Positive, comparative, superlative.
const IRREGULAR: [[&str; 3]; 8] = [
    ["good", "better", "best"],
    ["bad", "worse", "worst"],
    ["far", "farther", "farthest"],
    ["far", "further", "furthest"],
    ["little", "less", "least"],
    ["many", "more", "most"],
    ["much", "more", "most"],
    ["old", "elder", "eldest"],
];

/// The positive form of a comparative or superlative, in its letter case. Any other word is
/// returned unchanged.
///
/// ```
/// use storymeter_text::morphology::adjective::lemma;
/// assert_eq!([lemma("Bigger"), lemma("happiest"), lemma("clever")], ["Big", "happy", "clever"]);
/// ```
pub fn lemma(word: &str) -> Cow<'_, str> {
    let lower = lower_case(word);
    match known_lemma(&lower) {
        Some(lemma) => in_case_of(word, Cow::Owned(lemma.into_owned())),
        None => Cow::Borrowed(word),
    }
}

/// The lemma of a lower-case form, if WordNet has it as an adjective.
pub(crate) fn known_lemma(word: &str) -> Option<Cow<'_, str>> {
    if let Some(forms) = IRREGULAR.iter().find(|forms| forms[1..].contains(&word)) {
        return Some(Cow::Borrowed(forms[0]));
    }
    let entry = compiled::find(word);
    if let Some(lemma) =
        entry.and_then(|entry| entry.exceptions(PartOfSpeech::Adjective).words().next())
    {
        return Some(Cow::Borrowed(lemma));
    }
    let mut best = usage(word, PartOfSpeech::Adjective).map(|used| (used, Cow::Borrowed(word)));
    let Some(stem) =
        word.strip_suffix("er").or_else(|| word.strip_suffix("est")).filter(|stem| stem.len() > 1)
    else {
        return best.map(|(_, lemma)| lemma);
    };
    let mut consider = |positive: Cow<'_, str>| {
        if let Some(used) = usage(&positive, PartOfSpeech::Adjective)
            && best.as_ref().is_none_or(|(most, _)| used > *most)
        {
            best = Some((used, Cow::Owned(positive.into_owned())));
        }
    };
    consider(Cow::Borrowed(stem));
    consider(Cow::Owned(format!("{stem}e")));
    if let Some(stem) = stem.strip_suffix('i') {
        consider(Cow::Owned(format!("{stem}y")));
    }
    if let Some(stem) = without_doubled(stem) {
        consider(Cow::Borrowed(stem));
    }
    best.map(|(_, lemma)| lemma)
}

/// The comparative of an adjective: "bigger", "happier", "more careful".
pub fn comparative(word: &str) -> String {
    graded(word, 1, "er", "more")
}

/// The superlative of an adjective: "biggest", "happiest", "most careful".
///
/// ```
/// use storymeter_text::morphology::adjective::superlative;
/// assert_eq!(["big", "Happy", "good"].map(superlative), ["biggest", "Happiest", "best"]);
/// assert_eq!(superlative("careful"), "most careful");
/// ```
pub fn superlative(word: &str) -> String {
    graded(word, 2, "est", "most")
}

fn graded(word: &str, grade: usize, ending: &str, adverb: &str) -> String {
    let lower = lower_case(word);
    if let Some(forms) = IRREGULAR.iter().find(|forms| forms[0] == lower) {
        return in_case_of(word, Cow::Borrowed(forms[grade])).into_owned();
    }
    // A final e is silent, except in -le, which is a syllable: simple, gentle.
    let sounded = lower.strip_suffix('e').filter(|stem| !stem.ends_with('l')).unwrap_or(&lower);
    let short = match syllables(sounded) {
        0 | 1 => true,
        2 => ends_in_consonant_y(&lower) || lower.ends_with("le") || lower.ends_with("ow"),
        3 => lower.starts_with("un") && ends_in_consonant_y(&lower),
        _ => false,
    };
    // Participles take no endings: "more bored".
    if !short || lower.ends_with("ed") && lower != "red" {
        return format!("{adverb} {word}");
    }
    let graded = if let Some(stem) = lower.strip_suffix('e') {
        format!("{stem}{ending}")
    } else if ends_in_consonant_y(&lower) {
        format!("{}i{ending}", &lower[..lower.len() - 1])
    } else if ends_in_vowel_consonant(&lower) && syllables(&lower) == 1 {
        format!("{lower}{}{ending}", &lower[lower.len() - 1..])
    } else {
        format!("{lower}{ending}")
    };
    in_case_of(word, Cow::Owned(graded)).into_owned()
}
