//! Measures how much a story repeats its own words, which the model itself hardly notices.
//!
//! The heads see one vector of a whole window, in which a repeated sentence leaves little trace.
//! But it is easy to count the words that two sentences share, and readers who mark "repeated
//! plots" notice them. So [`overlap`] is an input of the repetition output
//! ([`crate::DamageCalibration`]).
//!
//! Machines that got stuck repeat one word again and again. No negative in training does that, so
//! the model does not mind it. So [`repeated`] lowers the score ([`crate::Card::repetition`]).

use storymeter_encoder::Token;
use storymeter_text::Span;

/// The share of repeated pieces that is usual in human stories and does not lower the score.
const USUAL_SHARE: f64 = 0.25;

/// Two neighbouring pieces.
type Bigram = [u32; 2];

/// The largest share of bigrams that two sentences of a window have in common. The share counts
/// different bigrams and is taken of the sentence that has fewer of them. It is 1 if one sentence
/// repeats the other, and 0 if there is only one.
///
/// The words are the pieces of the tokeniser, as the model reads them: with folded case, and with
/// masked names if the model masks them. A sentence of one piece has no bigram, so it shares none.
///
/// Only sentences of one window are compared. So the work grows linearly with the length of the
/// story, and a long story with many pairs of sentences does not seem to repeat itself by chance.
pub fn overlap(pieces: &[Token], sentences: &[Span]) -> f64 {
    let sentence =
        |piece: &Token| sentences.partition_point(|sentence| sentence.end <= piece.start);
    let found: Vec<Vec<Bigram>> =
        pieces.chunk_by(|one, next| sentence(one) == sentence(next)).map(bigrams).collect();
    let shares =
        found.iter().enumerate().flat_map(|(i, one)| found[..i].iter().map(|two| share(one, two)));
    shares.fold(0.0, f64::max)
}

/// The share of a window's pieces that occur earlier in it, as far as it exceeds a quarter.
///
/// It is near 0 for human stories: half of those with five sentences repeat less than 0.30 of their
/// words, and one in twenty repeats more than 0.40. It is near 0.75 for a text that repeats one
/// word only.
pub fn repeated(pieces: &[Token]) -> f64 {
    if pieces.is_empty() {
        return 0.0;
    }
    let mut different: Vec<u32> = pieces.iter().map(|piece| piece.id).collect();
    different.sort_unstable();
    different.dedup();
    (1.0 - different.len() as f64 / pieces.len() as f64 - USUAL_SHARE).max(0.0)
}

/// The different bigrams of a sentence, sorted.
fn bigrams(sentence: &[Token]) -> Vec<Bigram> {
    let mut found: Vec<Bigram> = sentence.windows(2).map(|pair| [pair[0].id, pair[1].id]).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The share of bigrams of the shorter list that the longer one has too.
fn share(one: &[Bigram], two: &[Bigram]) -> f64 {
    let (short, long) = if one.len() < two.len() { (one, two) } else { (two, one) };
    if short.is_empty() {
        return 0.0;
    }
    short.iter().filter(|bigram| long.binary_search(bigram).is_ok()).count() as f64
        / short.len() as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use storymeter_text::sentence;

    use super::*;

    /// The words and full stops of a text as pieces. They are numbered in the order of their first
    /// occurrence.
    fn pieces(text: &str) -> Vec<Token> {
        let (mut seen, mut pieces, mut start) = (BTreeMap::new(), Vec::new(), 0);
        for piece in
            text.split_inclusive([' ', '.']).flat_map(|word| match word.strip_suffix('.') {
                Some(word) => vec![word, "."],
                None => vec![word],
            })
        {
            let count = seen.len() as u32;
            let id = *seen.entry(piece.trim().to_lowercase()).or_insert(count);
            if !piece.trim().is_empty() {
                pieces.push(Token { id, start, end: start + piece.trim_end().len() });
            }
            start += piece.len();
        }
        pieces
    }

    fn overlap_of(text: &str) -> f64 {
        overlap(&pieces(text), &sentence::split(text))
    }

    #[test]
    fn only_unusual_repetition_of_words_counts() {
        assert_eq!(repeated(&pieces("")), 0.0);
        // Three of the twelve pieces are repeated: "the", "kite" and ".". That is a quarter.
        assert_eq!(repeated(&pieces("Mira lost the red kite. Ken found the kite today.")), 0.0);
        assert_eq!(repeated(&pieces(&"the ".repeat(20))), 0.7);
    }

    #[test]
    fn a_sentence_that_comes_again_is_all_overlap() {
        assert_eq!(overlap_of("Mira lost her kite. She cried. Mira lost her kite."), 1.0);
        assert_eq!(overlap_of("Mira lost her kite. She cried. Today Mira lost her kite."), 1.0);
    }

    #[test]
    fn the_share_is_of_the_shorter_sentence_and_the_largest_counts() {
        // The first sentence has four bigrams. The second one has "the kite" of these.
        assert_eq!(overlap_of("The kite flew home. The kite was red and new."), 0.25);
        // The first two sentences share three of four bigrams: "lost the", "the kite" and "kite .".
        assert_eq!(overlap_of("Ken lost the kite. Mira lost the kite. We lost it."), 0.75);
    }

    #[test]
    fn sentences_without_a_common_word_pair_have_none_nor_has_one_sentence() {
        assert_eq!(overlap_of("Mira lost her kite. It was her last one of all."), 0.0);
        assert_eq!(overlap_of("the kite the kite the kite"), 0.0);
        assert_eq!(overlap_of("No No No"), 0.0);
        assert_eq!(overlap_of(""), 0.0);
    }
}
