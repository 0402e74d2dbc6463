//! The words of a text for metrics that compare words: runs of word characters, as Python's `\w+`
//! gives them, in lower case, and their stems.

use rustc_hash::FxHashMap;
use storymeter_core::{TextCache, View};
use storymeter_metrics::tokenize::{Tokenised, WordRuns};
use storymeter_text::stem::porter2;

/// A text as numbered words. Each different word has a number, in order of first occurrence.
#[derive(Default)]
pub(crate) struct Words {
    /// The different words.
    pub types: Vec<Box<str>>,
    /// The words of the text, by number.
    pub ids: Vec<u32>,
}

impl Words {
    fn number(words: impl Iterator<Item = Box<str>>) -> Self {
        let mut numbers: FxHashMap<Box<str>, u32> = FxHashMap::default();
        let mut found = Self::default();
        for word in words {
            let next = found.types.len() as u32;
            let id = *numbers.entry(word.clone()).or_insert(next);
            if id == next {
                found.types.push(word);
            }
            found.ids.push(id);
        }
        found
    }

    /// The words of this text by the numbers that they have in another text, and the words that
    /// only this text has, which are numbered after the words of the other one.
    pub fn numbered_after<'a>(&'a self, other: &Self) -> (Vec<u32>, Vec<&'a str>) {
        let known: FxHashMap<&str, u32> = other.types.iter().map(|word| &**word).zip(0..).collect();
        let mut new = Vec::new();
        let mut number = |word: &'a str| {
            known.get(word).copied().unwrap_or_else(|| {
                new.push(word);
                (other.types.len() + new.len() - 1) as u32
            })
        };
        let numbers: Vec<u32> = self.types.iter().map(|word| number(word)).collect();
        (self.ids.iter().map(|&id| numbers[id as usize]).collect(), new)
    }
}

/// The words in lower case.
pub(crate) struct LowerWords(pub Words);

impl View for LowerWords {
    fn build(text: &TextCache<'_>) -> Self {
        let tokens = text.view::<Tokenised<WordRuns>>();
        Self(Words::number(tokens.iter().map(|word| word.to_lowercase().into())))
    }
}

/// The stems of the words, by Snowball's English stemmer.
pub(crate) struct Stems(pub Words);

impl View for Stems {
    fn build(text: &TextCache<'_>) -> Self {
        let words = text.view::<LowerWords>();
        let stems: Vec<Box<str>> =
            words.0.types.iter().map(|word| porter2::stem(word).into()).collect();
        Self(Words::number(words.0.ids.iter().map(|&id| stems[id as usize].clone())))
    }
}

/// The different n-grams of a text in order of first occurrence, with their counts.
pub(crate) struct Ngrams {
    order: usize,
    /// The words of the n-grams, `order` numbers each.
    words: Vec<u32>,
    pub counts: Vec<u32>,
}

impl Ngrams {
    /// The longest n-gram.
    pub const LONGEST: usize = 3;

    /// Counts the n-grams of a text, which is given as numbers of words.
    pub fn new(ids: &[u32], order: usize) -> Self {
        assert!((1..=Self::LONGEST).contains(&order), "an order from 1 to 3");
        let mut numbers: FxHashMap<[u32; Self::LONGEST], u32> = FxHashMap::default();
        let mut found = Self { order, words: Vec::new(), counts: Vec::new() };
        for gram in ids.windows(order) {
            let next = found.counts.len() as u32;
            let id = *numbers.entry(key(gram)).or_insert(next);
            if id == next {
                found.words.extend_from_slice(gram);
                found.counts.push(0);
            }
            found.counts[id as usize] += 1;
        }
        found
    }

    /// The number of different n-grams.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// The words of the n-gram with this number.
    pub fn get(&self, number: usize) -> &[u32] {
        &self.words[number * self.order..][..self.order]
    }

    /// All n-grams, in order of first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> + Clone {
        self.words.chunks_exact(self.order)
    }

    /// How many n-grams the text has, repetitions included.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// The number of each n-gram.
    pub fn index(&self) -> FxHashMap<[u32; Self::LONGEST], u32> {
        self.iter().map(key).zip(0..).collect()
    }
}

/// An n-gram as a key of a map.
pub(crate) fn key(gram: &[u32]) -> [u32; Ngrams::LONGEST] {
    let mut key = [u32::MAX; Ngrams::LONGEST];
    key[..gram.len()].copy_from_slice(gram);
    key
}

/// English function words: those of NLTK's English stop list (179 words in 2022, 198 since) that
/// can be a token, which leaves out the contractions ("don't" is the tokens "don" and "t"). In byte
/// order.
///
/// Source: NLTK's corpus `stopwords`, file `english`, which extends a list by Martin Porter.
#[rustfmt::skip]
const ENGLISH_STOP_WORDS: [&str; 153] = [
    "a", "about", "above", "after", "again", "against", "ain", "all", "am", "an", "and", "any", "are", "aren", "as",
    "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "couldn", "d",
    "did", "didn", "do", "does", "doesn", "doing", "don", "down", "during", "each", "few", "for", "from", "further",
    "had", "hadn", "has", "hasn", "have", "haven", "having", "he", "her", "here", "hers", "herself", "him", "himself",
    "his", "how", "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just", "ll", "m", "ma", "me", "mightn",
    "more", "most", "mustn", "my", "myself", "needn", "no", "nor", "not", "now", "o", "of", "off", "on", "once", "only",
    "or", "other", "our", "ours", "ourselves", "out", "over", "own", "re", "s", "same", "shan", "she", "should",
    "shouldn", "so", "some", "such", "t", "than", "that", "the", "their", "theirs", "them", "themselves", "then",
    "there", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "ve", "very", "was",
    "wasn", "we", "were", "weren", "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with",
    "won", "wouldn", "y", "you", "your", "yours", "yourself", "yourselves",
];

/// Whether a word in lower case is an English function word of NLTK's list.
pub(crate) fn is_stop_word(word: &str) -> bool {
    ENGLISH_STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lowered_and_numbered_and_stemmed() {
        let text = TextCache::new("The lamp's lamps: the LAMP!");
        let words = text.view::<LowerWords>();
        assert_eq!(words.0.ids, [0, 1, 2, 3, 0, 1]);
        assert_eq!(*words.0.types[3], *"lamps");
        assert_eq!(text.view::<Stems>().0.ids, [0, 1, 2, 1, 0, 1]);
        let other = TextCache::new("a lamp the s").view::<LowerWords>();
        assert_eq!(other.0.numbered_after(&words.0), (vec![4, 1, 0, 2], vec!["a"]));
    }

    #[test]
    fn ngrams_come_in_order_of_first_occurrence() {
        let grams = Ngrams::new(&[1, 0, 1, 0, 2], 2);
        assert_eq!(grams.iter().collect::<Vec<_>>(), [[1, 0], [0, 1], [0, 2]]);
        assert_eq!((grams.counts.as_slice(), grams.total()), (&[2, 1, 1][..], 4));
        assert_eq!(Ngrams::new(&[1], 2).len(), 0);
    }

    #[test]
    fn the_stop_list_is_sorted_so_that_every_word_is_found() {
        assert!(ENGLISH_STOP_WORDS.is_sorted_by(|a, b| a < b));
        assert!(is_stop_word("yourselves") && !is_stop_word("veri") && !is_stop_word("one"));
    }
}
