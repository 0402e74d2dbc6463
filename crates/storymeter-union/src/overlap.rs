//! How much a story says again in the same words: the evidence beside the model's own verdict on repetition.
//!
//! The head sees one vector of the whole story, in which a sentence that comes twice leaves little trace. That two
//! sentences share their words is plain to see, and readers who mark "repeated plots" do see it: [`overlap`] goes into the
//! repetition output ([`crate::DamageCalibration`]). And no negative repeats one word over and over, as machines do that got
//! stuck: [`repeated`] lowers the score ([`crate::Card::repetition`]).

use storymeter_encoder::Token;
use storymeter_text::Span;

/// A share of pieces that occurred before which costs nothing.
const USUAL: f64 = 0.25;

/// Two pieces that stand next to each other.
type Bigram = [u32; 2];

/// The largest share of common bigrams between two sentences of a window, of the smaller number of different bigrams
/// of the two: 1 where one sentence says the other again, 0 where there is only one.
///
/// Words are the tokeniser's pieces, as the model reads them: case is folded and names are masked where the model
/// wants that. A sentence of one piece has no bigram, and is like no other.
///
/// A window and not the whole story, so that the work grows with the story's length, and so that a long story, which has
/// many pairs of sentences, does not seem to repeat itself by chance.
pub fn overlap(pieces: &[Token], sentences: &[Span]) -> f64 {
    let sentence =
        |piece: &Token| sentences.partition_point(|sentence| sentence.end <= piece.start);
    let found: Vec<Vec<Bigram>> =
        pieces.chunk_by(|one, next| sentence(one) == sentence(next)).map(bigrams).collect();
    let shares =
        found.iter().enumerate().flat_map(|(i, one)| found[..i].iter().map(|two| share(one, two)));
    shares.fold(0.0, f64::max)
}

/// The share of a window's pieces that occur in it before, beyond a quarter: 0 or little for human stories (of five
/// sentences half repeat less than 0.30 of their words, and one in twenty more than 0.40), near 0.75 where one word is all there is.
pub fn repeated(pieces: &[Token]) -> f64 {
    if pieces.is_empty() {
        return 0.0;
    }
    let mut different: Vec<u32> = pieces.iter().map(|piece| piece.id).collect();
    different.sort_unstable();
    different.dedup();
    (1.0 - different.len() as f64 / pieces.len() as f64 - USUAL).max(0.0)
}

/// The different bigrams of a sentence, sorted.
fn bigrams(sentence: &[Token]) -> Vec<Bigram> {
    let mut found: Vec<Bigram> = sentence.windows(2).map(|pair| [pair[0].id, pair[1].id]).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The share of the shorter sentence's bigrams that the longer has too.
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

    /// A text's words and full stops as pieces, by number of first occurrence.
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

    fn of(text: &str) -> f64 {
        overlap(&pieces(text), &sentence::split(text))
    }

    #[test]
    fn only_unusual_repetition_of_words_counts() {
        assert_eq!(repeated(&pieces("")), 0.0);
        // "the", "kite" and "." of twelve come again: a quarter.
        assert_eq!(repeated(&pieces("Mira lost the red kite. Ken found the kite today.")), 0.0);
        assert_eq!(repeated(&pieces(&"the ".repeat(20))), 0.7);
    }

    #[test]
    fn a_sentence_that_comes_again_is_all_overlap() {
        assert_eq!(of("Mira lost her kite. She cried. Mira lost her kite."), 1.0);
        assert_eq!(of("Mira lost her kite. She cried. Today Mira lost her kite."), 1.0);
    }

    #[test]
    fn the_share_is_of_the_shorter_sentence_and_the_largest_counts() {
        // "the kite", "kite flew", "flew home", "home ." and "the kite", "kite was", "was red", "red and", "and new", "new .".
        assert_eq!(of("The kite flew home. The kite was red and new."), 0.25);
        // "lost the", "the kite", "kite ." of four; the first and the last sentence share one of three.
        assert_eq!(of("Ken lost the kite. Mira lost the kite. We lost it."), 0.75);
    }

    #[test]
    fn sentences_without_a_common_word_pair_have_none_nor_has_one_sentence() {
        assert_eq!(of("Mira lost her kite. It was her last one of all."), 0.0);
        assert_eq!(of("the kite the kite the kite"), 0.0);
        assert_eq!(of("No No No"), 0.0);
        assert_eq!(of(""), 0.0);
    }
}
