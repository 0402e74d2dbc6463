//! A text as sentences of numbered words, and the numbers two texts share.

use std::collections::HashMap;
use std::sync::LazyLock;

use storymeter_core::{TextCache, View};
use storymeter_text::stem::porter;

use crate::tokenize::Tokens;

/// The number of a reference word that the story does not have.
pub(crate) const UNSHARED: u32 = u32::MAX;

/// A text as sentences of words, each different word with a number of its own.
pub(crate) struct Words {
    /// The different words, in the order they came first.
    types: Tokens,
    /// The text's words by number.
    ids: Vec<u32>,
    /// Where each sentence ends in `ids`. Sentences without words are left out: nothing matches in them.
    ends: Vec<u32>,
}

impl Words {
    /// All words, by number.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// How many different words there are.
    pub fn types(&self) -> usize {
        self.types.len()
    }

    /// The sentences of a numbering of this text's words ([`Words::ids`] or [`Words::as_seen_by`]).
    pub fn sentences<'a>(
        &'a self,
        ids: &'a [u32],
    ) -> impl ExactSizeIterator<Item = &'a [u32]> + Clone {
        (0..self.ends.len()).map(|n| {
            let start = if n == 0 { 0 } else { self.ends[n - 1] };
            &ids[start as usize..self.ends[n] as usize]
        })
    }

    /// This text's words by the numbers they have in another text; [`UNSHARED`] where it lacks them.
    pub fn as_seen_by(&self, other: &Self) -> Vec<u32> {
        let numbers: HashMap<&str, u32> = other.types.iter().zip(0..).collect();
        let seen: Vec<u32> =
            self.types.iter().map(|word| numbers.get(word).copied().unwrap_or(UNSHARED)).collect();
        self.ids.iter().map(|&id| seen[id as usize]).collect()
    }
}

/// Collects words sentence by sentence. Equal raw words are looked up, not stemmed again.
struct Collector<F> {
    stem: F,
    raw: HashMap<String, u32>,
    numbers: HashMap<String, u32>,
    buffer: String,
    spans: Vec<std::ops::Range<usize>>,
    ids: Vec<u32>,
    ends: Vec<u32>,
}

impl<F: Fn(&str) -> String> Collector<F> {
    fn new(stem: F) -> Self {
        Self {
            stem,
            raw: HashMap::new(),
            numbers: HashMap::new(),
            buffer: String::new(),
            spans: Vec::new(),
            ids: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn push(&mut self, word: &str) {
        let id = match self.raw.get(word) {
            Some(&id) => id,
            None => {
                let id = self.number((self.stem)(word));
                self.raw.insert(word.to_owned(), id);
                id
            }
        };
        self.ids.push(id);
    }

    fn number(&mut self, stem: String) -> u32 {
        let next = self.spans.len() as u32;
        if let Some(&id) = self.numbers.get(&stem) {
            return id;
        }
        let start = self.buffer.len();
        self.buffer.push_str(&stem);
        self.spans.push(start..self.buffer.len());
        self.numbers.insert(stem, next);
        next
    }

    fn end_sentence(&mut self) {
        let end = self.ids.len() as u32;
        if self.ends.last().copied().unwrap_or(0) < end {
            self.ends.push(end);
        }
    }

    fn finish(self) -> Words {
        Words { types: Tokens::new(self.buffer, self.spans), ids: self.ids, ends: self.ends }
    }
}

/// ROUGE-1.5.5's words: runs of ASCII letters and digits, lower case, one sentence a line, longer ones stemmed.
///
/// The Perl reads bytes: whatever is not ASCII is a blank to it. A hyphen is a token of its own there, and then
/// dropped, as a token must start with a letter or a digit.
fn perl_words<'a>(lines: impl Iterator<Item = &'a str>, stem: impl Fn(&str) -> String) -> Words {
    let mut words = Collector::new(stem);
    for line in lines {
        let line = line.to_ascii_lowercase();
        line.split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|w| !w.is_empty())
            .for_each(|w| words.push(w));
        words.end_sentence();
    }
    words.finish()
}

/// Only words of more than three letters are stemmed, by ROUGE-1.5.5 and by `rouge-score` alike.
fn stem_longer(word: &str, stem: impl Fn(&str) -> String) -> String {
    if word.len() > 3 { stem(word) } else { word.to_owned() }
}

/// Words behind HANNA's values: ROUGE-1.5.5 with `-m` and an empty table of exceptions.
///
/// HANNA's texts went through pyrouge, which writes each line into an element of HTML; the Perl reads it up to the
/// next `<`. So a line of text ends at its first `<`.
pub(crate) struct HannaStems(pub Words);

impl View for HannaStems {
    fn build(text: &TextCache<'_>) -> Self {
        let lines = text.text().split('\n').map(|line| line.split('<').next().unwrap_or_default());
        Self(perl_words(lines, |word| stem_longer(word, porter::rouge)))
    }
}

/// Words as ROUGE-1.5.5 makes them with `-m` and the exceptions of WordNet 2.0.
pub(crate) struct PerlBases(pub Words);

impl View for PerlBases {
    fn build(text: &TextCache<'_>) -> Self {
        let base = |word: &str| exception(word).map_or_else(|| porter::rouge(word), str::to_owned);
        Self(perl_words(text.text().split('\n'), |word| stem_longer(word, base)))
    }
}

/// The base form that WordNet's exception lists give to a word.
fn exception(word: &str) -> Option<&'static str> {
    static TABLE: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let lines = include_str!("../../data/rouge_exceptions.txt").lines();
        lines.filter_map(|line| line.split_once(' ')).collect()
    });
    // The file is sorted.
    TABLE.binary_search_by_key(&word, |&(form, _)| form).ok().map(|at| TABLE[at].1)
}

/// `rouge-score`'s words: as ROUGE-1.5.5's, but lower-cased by Unicode's rules first, which makes ASCII letters
/// of the Kelvin sign and of the dotted capital I.
fn google_words(text: &str, stem: impl Fn(&str) -> String) -> Words {
    let mut words = Collector::new(stem);
    for line in text.split('\n') {
        let lower;
        let line = if line.is_ascii() {
            lower = line.to_ascii_lowercase();
            lower.as_str()
        } else {
            lower = line.chars().flat_map(char::to_lowercase).collect::<String>();
            lower.as_str()
        };
        line.split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|w| !w.is_empty())
            .for_each(|w| words.push(w));
        words.end_sentence();
    }
    words.finish()
}

/// Words as `rouge-score` makes them.
pub(crate) struct GoogleWords(pub Words);

impl View for GoogleWords {
    fn build(text: &TextCache<'_>) -> Self {
        Self(google_words(text.text(), str::to_owned))
    }
}

/// Words as `rouge-score` makes them with `use_stemmer=True`.
pub(crate) struct GoogleStems(pub Words);

impl View for GoogleStems {
    fn build(text: &TextCache<'_>) -> Self {
        Self(google_words(text.text(), |word| stem_longer(word, porter::nltk)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(words: &Words) -> Vec<Vec<&str>> {
        let spelled = |ids: &[u32]| ids.iter().map(|&id| words.types.get(id as usize)).collect();
        words.sentences(words.ids()).map(spelled).collect()
    }

    #[test]
    fn the_perl_sees_ascii_letters_and_digits_only() {
        let lines = "Well-known caf\u{e9}s,\n\n $5 Running".split('\n');
        let words = perl_words(lines, |word| stem_longer(word, porter::rouge));
        assert_eq!(spell(&words), [vec!["well", "known", "caf", "s"], vec!["5", "run"]]);
    }

    #[test]
    fn an_exception_comes_before_the_stemmer() {
        assert_eq!(exception("wolves"), Some("wolf"));
        assert_eq!(exception("better"), Some("well"));
        assert_eq!(exception("lamps"), None);
        let words = TextCache::new("Wolves ran home").view::<PerlBases>();
        assert_eq!(spell(&words.0), [["wolf", "ran", "home"]]);
    }

    #[test]
    fn the_kelvin_sign_is_a_letter_to_google_only() {
        assert_eq!(spell(&google_words("300 \u{212a}", str::to_owned)), [["300", "k"]]);
        assert_eq!(spell(&perl_words(["300 \u{212a}"].into_iter(), str::to_owned)), [["300"]]);
    }

    #[test]
    fn a_line_of_hannas_ends_at_an_angle_bracket() {
        let words = TextCache::new("one <b>two\n<i>three\nfour").view::<HannaStems>();
        assert_eq!(spell(&words.0), [["one"], ["four"]]);
    }

    #[test]
    fn words_keep_the_other_texts_numbers() {
        let story = perl_words(["b c"].into_iter(), str::to_owned);
        let reference = perl_words(["a b b c"].into_iter(), str::to_owned);
        assert_eq!(reference.as_seen_by(&story), [UNSHARED, 0, 0, 1]);
    }
}
