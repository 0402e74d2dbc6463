//! Names of people, places, organisations and groups.

use hashbrown::HashSet;

use super::lists::{GROUPS, LOCATIONS, NO_NAMES, ORGANISATION_WORDS, PLACE_STARTS, PLACES, TITLES};
use super::{Label, Word};
use crate::names::Delexicaliser;
use crate::stopwords::is_stop_word;
use crate::tagger::Tag;

/// What the whole text shows about its names.
pub(super) struct Known {
    /// Words that are tagged as names inside a sentence.
    inside: HashSet<String>,
    /// Words that the text also writes in lower case.
    lower: HashSet<String>,
}

impl Known {
    pub(super) fn from_text<'a>(sentences: impl Iterator<Item = &'a [Word<'a>]>) -> Self {
        let mut known = Self { inside: HashSet::new(), lower: HashSet::new() };
        for words in sentences {
            for (at, word) in words.iter().enumerate() {
                if !word.has_capital() {
                    known.lower.insert(word.lower.clone().into_owned());
                } else if !begins(words, at) && is_proper(word) {
                    known.inside.insert(word.lower.clone().into_owned());
                }
            }
        }
        known
    }
}

/// Whether a word begins a sentence or a quotation, where every word has a capital.
fn begins(words: &[Word<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &words[before]);
    before.is_none_or(|word| !word.text.starts_with(char::is_alphanumeric) && word.text != ",")
}

fn is_proper(word: &Word<'_>) -> bool {
    matches!(word.tag, Tag::Nnp | Tag::Nnps)
}

/// The name that begins with a word: its first word, the word after its last, and its kind.
pub(super) fn at(words: &[Word<'_>], at: usize, known: &Known) -> Option<(usize, usize, Label)> {
    // "the University of Michigan" has its article with it.
    let article = usize::from(words[at].is(&["the"]));
    let first = at + article;
    if first >= words.len() || words[first].is(&TITLES) || !is_part(words, first, known) {
        return None;
    }
    let mut end = first + 1;
    while end < words.len() {
        let joins = words[end].is(&["of", "de", "van", "von", "&", "the"]);
        let next = end + usize::from(joins);
        let of_the = next + usize::from(joins && next < words.len() && words[next].is(&["the"]));
        if of_the >= words.len() || !is_part(words, of_the, known) {
            break;
        }
        end = of_the + 1;
    }
    let mut label = label(&words[first..end]);
    let alone = end == first + 1;
    if article == 1 && label == Label::Person {
        // "the Keeper" is a role and no name, and "the Great War" is no person.
        if alone {
            return None;
        }
        label = Label::Organisation;
    }
    Some((if alone { first } else { at }, end, label))
}

/// Whether a word can be part of a name.
fn is_part(words: &[Word<'_>], at: usize, known: &Known) -> bool {
    let word = &words[at];
    if !word.has_capital() || word.is(&NO_NAMES) || is_stop_word(&word.lower) {
        return false;
    }
    if is_listed(&word.lower) {
        return true;
    }
    let letters = word.text.chars().filter(|c| c.is_alphabetic()).count();
    if letters < 2 {
        return false;
    }
    let shouted = letters > 3 && !word.text.chars().any(char::is_lowercase);
    if shouted {
        return false;
    }
    if begins(words, at) {
        let first_name = Delexicaliser::embedded().gender(&word.lower).is_some();
        let inside = known.inside.contains(&*word.lower);
        return is_proper(word) && (inside || (first_name && !known.lower.contains(&*word.lower)));
    }
    is_proper(word) && !known.lower.contains(&*word.lower)
}

fn is_listed(lower: &str) -> bool {
    PLACES.binary_search(&lower).is_ok() || is_group(lower)
}

fn is_group(lower: &str) -> bool {
    GROUPS.contains(&lower) || lower.strip_suffix('s').is_some_and(|one| GROUPS.contains(&one))
}

fn label(words: &[Word<'_>]) -> Label {
    let last = &words[words.len() - 1];
    let has = |list: &[&str]| words.iter().any(|word| word.is(list));
    if has(&ORGANISATION_WORDS) {
        Label::Organisation
    } else if has(&LOCATIONS) {
        Label::Location
    } else if last.is(&["english"]) {
        Label::Language
    } else if is_group(&last.lower) {
        Label::Group
    } else if PLACES.binary_search(&&*last.lower).is_ok() || words[0].is(&PLACE_STARTS) {
        Label::Place
    } else if words.len() == 1 && !last.text.chars().any(char::is_lowercase) {
        Label::Organisation
    } else {
        Label::Person
    }
}
