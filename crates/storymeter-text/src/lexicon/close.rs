//! Finds words that can stand for a lemma without changing what a sentence says.
//!
//! Most lemmas that share a synset mean the same only in a rare sense ("house" and "theater").
//! WordNet's sense counts tell how much of the use of two words lies in the senses that they share.
//! The rule was set, and the lists of exceptions were written, by reading what came out for the
//! words of ordinary short stories.

use std::cell::RefCell;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::compiled::{self, Entry};
use super::{PartOfSpeech, is_function_word};
use crate::names::groups;

/// The least number of counted uses that each word must have in the shared senses. Below it, a
/// share of the uses says little, and the word is rare or dated ("motorcar", "missive").
const LEAST_USES: u32 = 3;

/// The share of the counted uses of the lemma that must have a sense of the synonym: seven tenths.
/// Otherwise the synonym would often be put where the lemma means something else.
const LEAST_OF_LEMMA: (u32, u32) = (7, 10);

/// The share of the counted uses of the synonym that must have a sense of the lemma: one half. This
/// may be less, because a reader takes the sense of the synonym from the sentence.
const LEAST_OF_SYNONYM: (u32, u32) = (1, 2);

/// The most letters that a mere variant differs in: "gray" and "grey", "slow" and "slowly".
const MOST_OF_A_VARIANT: usize = 2;

/// Lemmas that are never replaced, by part of speech.
static KEPT: LazyLock<[Vec<&str>; 4]> = LazyLock::new(|| lists("kept"));

/// Words that are never put in the place of another, by part of speech.
static UNUSED: LazyLock<[Vec<&str>; 4]> = LazyLock::new(|| lists("unused"));

/// The lists of one kind in `data/close_synonyms.txt`, which says why a word is in them.
fn lists(kind: &str) -> [Vec<&'static str>; 4] {
    ["noun", "verb", "adjective", "adverb"].map(|pos| {
        let mut lists = groups(include_str!("../../data/close_synonyms.txt"));
        let found = lists.find(|(name, _)| name.strip_prefix(kind) == Some(&format!("_{pos}")));
        found.map(|(_, words)| words.collect()).unwrap_or_default()
    })
}

/// The number of lemmas whose synonyms each thread remembers.
const REMEMBERED: usize = 20_000;

/// The close synonyms of a lemma in lower case: the most used first, then in alphabetical order.
///
/// They follow from many senses of many words, and stories use the same words again and again, so
/// each thread remembers them.
pub(super) fn close_synonyms(lemma: &str, pos: PartOfSpeech) -> Vec<&'static str> {
    thread_local! {
        static KNOWN: RefCell<[HashMap<String, Vec<&'static str>>; 4]> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        let known = &mut known[pos as usize];
        if let Some(synonyms) = known.get(lemma) {
            return synonyms.clone();
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let found = by_rule_and_lists(lemma, pos);
        known.insert(lemma.to_owned(), found.clone());
        found
    })
}

fn by_rule_and_lists(lemma: &str, pos: PartOfSpeech) -> Vec<&'static str> {
    if KEPT[pos as usize].contains(&lemma) {
        return Vec::new();
    }
    let mut found = by_rule(lemma, pos);
    found.retain(|synonym| !UNUSED[pos as usize].contains(synonym));
    found
}

/// The close synonyms by the counts and by the form of the words, without the two lists.
fn by_rule(lemma: &str, pos: PartOfSpeech) -> Vec<&'static str> {
    let letters = lemma.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let Some(entry) = compiled::find(lemma).filter(|_| letters && may_change(lemma, pos)) else {
        return Vec::new();
    };
    let mut found: Vec<(u32, &str)> = Vec::new();
    for synset in entry.synsets(pos).synsets() {
        for (synonym, other) in compiled::members(synset).entries() {
            if found.iter().all(|(_, known)| *known != synonym)
                && let Some(uses) = shared_uses(entry, other, pos)
                && may_stand_for(synonym, lemma, pos)
            {
                found.push((uses, synonym));
            }
        }
    }
    found.sort_unstable_by_key(|&(uses, synonym)| (std::cmp::Reverse(uses), synonym));
    found.into_iter().map(|(_, synonym)| synonym).collect()
}

/// How often the synonym is counted in the senses that it shares with the lemma, if both words have
/// enough of their uses there.
fn shared_uses(lemma: Entry, synonym: Entry, pos: PartOfSpeech) -> Option<u32> {
    let enough = |(shared, all): (u32, u32), (part, whole): (u32, u32)| {
        shared >= LEAST_USES && whole * shared >= part * all
    };
    let of_synonym = uses(synonym, lemma, pos);
    let both =
        enough(of_synonym, LEAST_OF_SYNONYM) && enough(uses(lemma, synonym, pos), LEAST_OF_LEMMA);
    both.then_some(of_synonym.0)
}

/// The counted uses of a word in the senses that it shares with another, and in all its senses.
fn uses(word: Entry, other: Entry, pos: PartOfSpeech) -> (u32, u32) {
    word.senses(pos).fold((0, 0), |(shared, all), (synset, count)| {
        let common = count > 0 && other.synsets(pos).synsets().any(|known| known == synset);
        (if common { shared + count } else { shared }, all + count)
    })
}

fn may_stand_for(synonym: &str, lemma: &str, pos: PartOfSpeech) -> bool {
    synonym.len() > 2
        && synonym.bytes().all(|byte| byte.is_ascii_lowercase())
        && may_change(synonym, pos)
        // Nouns in -ing are names of activities or materials, without a plural: "tubing".
        && !(pos == PartOfSpeech::Noun && synonym.ends_with("ing"))
        && distance(lemma, synonym) > MOST_OF_A_VARIANT
}

/// Whether a word carries content and, if it is a noun, has a singular: "woods" and "papers" have
/// none, so that their synonyms would have the wrong number.
fn may_change(word: &str, pos: PartOfSpeech) -> bool {
    let plural = pos == PartOfSpeech::Noun && word.ends_with('s') && !word.ends_with("ss");
    !plural && !is_function_word(word)
}

/// The least number of letters to insert, delete or replace to turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_changed_letters() {
        for (a, b, changes) in
            [("gray", "grey", 1), ("slow", "slowly", 2), ("couch", "sofa", 4), ("", "ab", 2)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (changes, changes), "{a} {b}");
        }
        assert_eq!(distance("sofa", "sofa"), 0);
    }

    #[test]
    fn the_lists_are_sorted_and_every_word_of_them_is_needed() {
        for pos in PartOfSpeech::ALL {
            let (kept, unused) = (&KEPT[pos as usize], &UNUSED[pos as usize]);
            assert!(!kept.is_empty() && !unused.is_empty());
            assert!(kept.is_sorted_by(|a, b| a < b), "{kept:?}");
            assert!(unused.is_sorted_by(|a, b| a < b), "{unused:?}");
            for lemma in kept {
                assert!(!by_rule(lemma, pos).is_empty(), "{lemma} has no synonym by the rule");
            }
            let found: Vec<&str> = crate::lexicon::Lexicon::embedded()
                .lemmas(pos)
                .filter(|lemma| !kept.contains(lemma))
                .flat_map(|lemma| by_rule(lemma, pos))
                .collect();
            for synonym in unused {
                assert!(found.contains(synonym), "{synonym} is no synonym by the rule");
            }
        }
    }
}
