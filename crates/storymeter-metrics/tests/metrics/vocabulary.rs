//! The words of a text, numbered.

use proptest::prelude::*;
use storymeter_metrics::tokenize::{NgramIndex, Tokenizer, Vocabulary, Whitespace};

#[test]
fn matches_are_clipped_to_the_counts_of_the_vocabulary() {
    let reference = Vocabulary::new(&Whitespace::tokenize("the cat is on the mat"));
    let mut matches = [0.0; 4];
    reference.clipped_matches(&Whitespace::tokenize("the the the the cat is"), &mut matches);
    assert_eq!(matches, [4.0, 2.0, 1.0, 0.0]);
}

proptest! {
    /// The texts have few different words, so that long n-grams repeat and are shared.
    #[test]
    fn matches_are_those_an_index_of_all_ngrams_finds(
        one in "([ab] |c ){0,40}",
        other in "([ab] |d ){0,40}",
    ) {
        let (one, other) = (Whitespace::tokenize(&one), Whitespace::tokenize(&other));
        let (mut here, mut there) = ([0.0; 4], [0.0; 4]);
        Vocabulary::new(&other).clipped_matches(&one, &mut here);
        NgramIndex::new(&[&other], 4).clipped_matches(&one, &mut there);
        prop_assert_eq!(here, there);
    }
}
