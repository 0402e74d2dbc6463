//! A text as METEOR 1.5 reads it: words in lower case, with the keys by which they are compared.

use std::collections::HashMap;

use storymeter_core::{TextCache, View};
use storymeter_text::stem::porter2;

use super::normalize::{Piece, pieces};
use super::tables::Nonbreaking;

/// One word.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    /// Its letters, in lower case.
    pub text: Box<str>,
    /// Java's 32-bit hash of the word. The Java program compares words by it.
    pub key: i32,
    /// The hash of its stem.
    pub stem: i32,
}

/// The words of a text.
///
/// Only the tables know which words are abbreviations and keep their full stop, so a word before a
/// full stop is kept both ways.
pub(crate) struct MeteorWords {
    /// The words, with every undecided full stop as a word of its own.
    split: Vec<Word>,
    undecided: Vec<Undecided>,
}

/// A word with a full stop that may belong to it.
struct Undecided {
    /// The place of the word in `split`. Its full stop comes after it.
    at: usize,
    /// The word as written.
    base: String,
    before_number: bool,
    joined: Word,
}

impl View for MeteorWords {
    fn build(text: &TextCache<'_>) -> Self {
        let mut words = Maker::default();
        let mut split = Vec::new();
        let mut undecided = Vec::new();
        for piece in pieces(text.text()) {
            match piece {
                Piece::Whole(word) => split.push(words.make(&word)),
                Piece::Stopped { base, before_number } => {
                    let joined = words.make(&format!("{base}."));
                    undecided.push(Undecided {
                        at: split.len(),
                        before_number,
                        joined,
                        base: base.clone(),
                    });
                    split.extend([words.make(&base), words.make(".")]);
                }
            }
        }
        Self { split, undecided }
    }
}

impl MeteorWords {
    /// The words, given the abbreviations that keep their full stop.
    pub fn resolve(&self, abbreviations: &HashMap<String, Nonbreaking>) -> Vec<&Word> {
        let mut words = Vec::with_capacity(self.split.len());
        let mut next = 0;
        for undecided in &self.undecided {
            let keeps = match abbreviations.get(&undecided.base) {
                Some(Nonbreaking::Always) => true,
                Some(Nonbreaking::BeforeNumbers) => undecided.before_number,
                None => false,
            };
            if keeps {
                words.extend(&self.split[next..undecided.at]);
                words.push(&undecided.joined);
                next = undecided.at + 2;
            }
        }
        words.extend(&self.split[next..]);
        words
    }
}

/// Makes words. Each different one is stemmed once.
#[derive(Default)]
struct Maker(HashMap<String, Word>);

impl Maker {
    fn make(&mut self, word: &str) -> Word {
        if let Some(known) = self.0.get(word) {
            return known.clone();
        }
        let text = word.to_lowercase();
        let made = Word {
            key: java_hash(&text),
            stem: java_hash(&porter2::stem(&text)),
            text: text.into(),
        };
        self.0.insert(word.to_owned(), made.clone());
        made
    }
}

/// Java's `String.hashCode`, which has the base 31, over UTF-16 units, and wraps around.
fn java_hash(word: &str) -> i32 {
    word.encode_utf16()
        .fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_javas() {
        assert_eq!(java_hash(""), 0);
        assert_eq!(java_hash("storymeter"), 1_507_001_268);
        // The Java program takes these two words for one.
        assert_eq!(java_hash("Siblings"), java_hash("Teheran"));
    }

    #[test]
    fn abbreviations_keep_their_full_stop() {
        let words = TextCache::new("Dr. Lee came. No. 5 won. No. Never").view::<MeteorWords>();
        let table = HashMap::from([
            ("Dr".to_owned(), Nonbreaking::Always),
            ("No".to_owned(), Nonbreaking::BeforeNumbers),
        ]);
        let text: Vec<&str> = words.resolve(&table).iter().map(|word| &*word.text).collect();
        assert_eq!(text, ["dr.", "lee", "came", ".", "no.", "5", "won", ".", "no", ".", "never"]);
    }
}
