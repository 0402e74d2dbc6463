//! Counts, draws and files of vocabularies.

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use storymeter_text::vocabulary::{Vocabulary, VocabularyBuilder};

fn vocabulary(pairs: &[(&str, u8)]) -> Vocabulary {
    let mut builder = VocabularyBuilder::new();
    for (word, tag) in pairs {
        builder.add(word, *tag);
    }
    builder.build()
}

const PAIRS: [(&str, u8); 7] =
    [("saw", 2), ("dog", 1), ("saw", 1), ("dog", 1), ("cat", 1), ("saw", 2), ("Dog", 1)];

#[test]
fn words_are_counted_by_tag() {
    let vocabulary = vocabulary(&PAIRS);
    let words: Vec<_> = vocabulary.iter().collect();
    assert_eq!(
        words,
        [
            ("Dog", &[(1, 1)][..]),
            ("cat", &[(1, 1)]),
            ("dog", &[(1, 2)]),
            ("saw", &[(1, 1), (2, 2)])
        ]
    );
    assert_eq!(
        (vocabulary.count("saw", 2), vocabulary.count("saw", 3), vocabulary.count("cow", 1)),
        (2, 0, 0)
    );
    assert_eq!((vocabulary.len(), vocabulary.is_empty()), (4, false));
}

#[test]
fn draws_follow_the_frequencies() {
    let mut builder = VocabularyBuilder::new();
    for (word, count) in [("often", 700), ("sometimes", 250), ("rarely", 49), ("once", 1)] {
        builder.add_many(word, 9, count);
    }
    let vocabulary = builder.build();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let draws = 200_000;
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..draws {
        *seen.entry(vocabulary.sample(9, &mut rng).unwrap()).or_insert(0) += 1;
    }
    // Pearson's chi-square with three degrees of freedom: above 16.27 once in a thousand seeds.
    let chi_square: f64 = seen
        .iter()
        .map(|(word, &count)| {
            let expected = vocabulary.count(word, 9) as f64 / 1000.0 * f64::from(draws);
            (f64::from(count) - expected).powi(2) / expected
        })
        .sum();
    assert_eq!(seen.len(), 4);
    assert!(chi_square < 16.27, "{chi_square}");
}

#[test]
fn a_tag_without_words_gives_none() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    assert_eq!(vocabulary(&PAIRS).sample(0, &mut rng), None);
    assert_eq!(vocabulary(&PAIRS).sample(255, &mut rng), None);
    assert_eq!(vocabulary(&[]).sample(1, &mut rng), None);
}

#[test]
fn a_damaged_file_is_an_error_and_never_a_panic() {
    let mut bytes = Vec::new();
    vocabulary(&PAIRS).write_to(&mut bytes).unwrap();
    for length in 0..bytes.len() {
        assert!(Vocabulary::read_from(&bytes[..length]).is_err());
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            // Some damage is another vocabulary; what is read must be whole.
            if let Ok(read) = Vocabulary::read_from(damaged.as_slice()) {
                let mut again = Vec::new();
                read.write_to(&mut again).unwrap();
                assert_eq!(Vocabulary::read_from(again.as_slice()).unwrap(), read);
            }
        }
    }
}

fn pairs() -> impl Strategy<Value = Vec<(String, u8)>> {
    prop::collection::vec(("\\PC{0,4}", 0..6u8), 0..60)
}

proptest! {
    #[test]
    fn the_order_of_arrival_does_not_matter(pairs in pairs(), cut in 0..60usize) {
        let add = |pairs: &[(String, u8)]| {
            let mut builder = VocabularyBuilder::new();
            pairs.iter().for_each(|(word, tag)| builder.add(word, *tag));
            builder
        };
        let whole = add(&pairs).build();
        let reversed: Vec<_> = pairs.iter().rev().cloned().collect();
        prop_assert_eq!(&add(&reversed).build(), &whole);
        let (left, right) = pairs.split_at(cut.min(pairs.len()));
        let mut parts = add(right);
        parts.merge(add(left));
        prop_assert_eq!(&parts.build(), &whole);
    }

    #[test]
    fn a_file_reads_back_as_the_same_vocabulary_with_the_same_draws(pairs in pairs(), seed in any::<u64>()) {
        let mut builder = VocabularyBuilder::new();
        pairs.iter().for_each(|(word, tag)| builder.add(word, *tag));
        let written = builder.build();
        let mut bytes = Vec::new();
        written.write_to(&mut bytes).unwrap();
        let read = Vocabulary::read_from(bytes.as_slice()).unwrap();
        prop_assert_eq!(&read, &written);
        let (mut a, mut b) = (ChaCha8Rng::seed_from_u64(seed), ChaCha8Rng::seed_from_u64(seed));
        for tag in 0..7 {
            let word = written.sample(tag, &mut a);
            prop_assert_eq!(word, read.sample(tag, &mut b));
            prop_assert_eq!(word.is_some(), pairs.iter().any(|(_, known)| *known == tag));
            if let Some(word) = word {
                prop_assert!(written.count(word, tag) > 0);
            }
        }
    }
}
