//! Matches of n-grams of words.

use storymeter_metrics::tokenize::{NgramIndex, Tokenizer, Tokens, Whitespace};

fn tokens(text: &str) -> Tokens {
    Whitespace::tokenize(text)
}

#[test]
fn matches_are_clipped_to_the_reference_counts() {
    let index = NgramIndex::new(&[&tokens("the cat is on the mat")], 4);
    let mut matches = [0.0; 4];
    index.clipped_matches(&tokens("the the the the cat is"), &mut matches);
    assert_eq!(matches, [4.0, 2.0, 1.0, 0.0]);
}

#[test]
fn several_texts_give_the_largest_count_of_any() {
    let index = NgramIndex::new(&[&tokens("a a b"), &tokens("a b b b")], 2);
    assert_eq!(index.counts(1), [2, 3]);
    assert_eq!(index.counts(2), [1, 1, 2]);
}

#[test]
fn short_and_empty_texts_have_no_long_ngrams() {
    let index = NgramIndex::new(&[&tokens("one"), &tokens("")], 3);
    assert_eq!((index.counts(1), index.counts(2), index.counts(3)), (&[1][..], &[][..], &[][..]));
}

#[test]
fn shared_counts_each_different_ngram_once() {
    let index = NgramIndex::new(&[&tokens("a b a b c")], 2);
    let mut shared = [0.0; 2];
    index.shared(&tokens("a b a b x c"), &mut shared);
    assert_eq!(shared, [3.0, 2.0]);
}
