//! A text as sentences of numbered words.

use std::collections::HashMap;
use std::sync::LazyLock;

use storymeter_core::{TextCache, View};
use storymeter_text::stem::porter;

use crate::tokenize::Tokens;

/// The number of a word of the reference that the story does not have.
pub(crate) const UNSHARED: u32 = u32::MAX;

/// A text as sentences of words. Each different word has a number.
pub(crate) struct Words {
    /// The different words, in order of first occurrence.
    types: Tokens,
    /// The words of the text, by number.
    ids: Vec<u32>,
    /// Where each sentence ends in `ids`. Sentences without words are left out, because nothing
    /// matches in them.
    ends: Vec<u32>,
}

impl Words {
    /// All words, by number.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The number of different words.
    pub fn types(&self) -> usize {
        self.types.len()
    }

    /// Cuts a numbering of this text's words ([`Words::ids`] or [`Words::as_seen_by`]) into
    /// sentences.
    pub fn sentences<'a>(
        &'a self,
        ids: &'a [u32],
    ) -> impl ExactSizeIterator<Item = &'a [u32]> + Clone {
        (0..self.ends.len()).map(|n| {
            let start = if n == 0 { 0 } else { self.ends[n - 1] };
            &ids[start as usize..self.ends[n] as usize]
        })
    }

    /// The words of this text by the numbers that they have in another text, or [`UNSHARED`] if it
    /// does not have them.
    pub fn as_seen_by(&self, other: &Self) -> Vec<u32> {
        let numbers: HashMap<&str, u32> = other.types.iter().zip(0..).collect();
        let seen: Vec<u32> =
            self.types.iter().map(|word| numbers.get(word).copied().unwrap_or(UNSHARED)).collect();
        self.ids.iter().map(|&id| seen[id as usize]).collect()
    }
}

/// Collects words sentence by sentence. Each different raw word is stemmed once.
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

/// The words of lines in lower case: runs of ASCII letters and digits, one sentence per line,
/// stemmed by `stem`.
fn words(lines: impl Iterator<Item = String>, stem: impl Fn(&str) -> String) -> Words {
    let mut words = Collector::new(stem);
    for line in lines {
        line.split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|w| !w.is_empty())
            .for_each(|w| words.push(w));
        words.end_sentence();
    }
    words.finish()
}

/// The words of ROUGE-1.5.5.
///
/// The Perl program reads bytes and takes everything outside ASCII for a blank. A hyphen is a token
/// of its own at first, but is dropped because a token must begin with a letter or a digit.
fn perl_words<'a>(lines: impl Iterator<Item = &'a str>, stem: impl Fn(&str) -> String) -> Words {
    words(lines.map(str::to_ascii_lowercase), stem)
}

/// The words of `rouge-score`. They are put in lower case by Unicode's rules, which make ASCII
/// letters of the Kelvin sign and of the dotted capital I.
fn google_words(text: &str, stem: impl Fn(&str) -> String) -> Words {
    words(text.split('\n').map(str::to_lowercase), stem)
}

/// Stems words of more than three letters, as ROUGE-1.5.5 and `rouge-score` do, and keeps others.
fn stem_longer(word: &str, stem: impl Fn(&str) -> String) -> String {
    if word.len() > 3 { stem(word) } else { word.to_owned() }
}

/// The words behind HANNA's values: ROUGE-1.5.5 with `-m` and an empty table of exceptions.
///
/// HANNA used pyrouge, which writes each line into an HTML element. The Perl program reads the
/// element up to the next `<`, so that a line of text ends at its first `<`.
pub(crate) struct HannaStems(pub Words);

impl View for HannaStems {
    fn build(text: &TextCache<'_>) -> Self {
        let lines = text.text().split('\n').map(|line| line.split('<').next().unwrap_or_default());
        Self(perl_words(lines, |word| stem_longer(word, porter::rouge)))
    }
}

/// The words of ROUGE-1.5.5 with `-m` and the exceptions of WordNet 2.0.
pub(crate) struct PerlBases(pub Words);

impl View for PerlBases {
    fn build(text: &TextCache<'_>) -> Self {
        let base = |word: &str| exception(word).map_or_else(|| porter::rouge(word), str::to_owned);
        Self(perl_words(text.text().split('\n'), |word| stem_longer(word, base)))
    }
}

/// The base form of a word in WordNet's exception lists.
fn exception(word: &str) -> Option<&'static str> {
    static TABLE: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let lines = include_str!("../../data/rouge_exceptions.txt").lines();
        lines.filter_map(|line| line.split_once(' ')).collect()
    });
    // The file is sorted.
    TABLE.binary_search_by_key(&word, |&(form, _)| form).ok().map(|at| TABLE[at].1)
}

/// The words of `rouge-score`.
pub(crate) struct GoogleWords(pub Words);

impl View for GoogleWords {
    fn build(text: &TextCache<'_>) -> Self {
        Self(google_words(text.text(), str::to_owned))
    }
}

/// The words of `rouge-score` with `use_stemmer=True`.
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
