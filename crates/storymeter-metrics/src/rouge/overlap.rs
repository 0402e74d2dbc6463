//! Matches of n-grams and skip-bigrams. Each counts at most as often as both texts have it.

use super::words::UNSHARED;

/// Counts the n-grams that two texts share, for n from 1 to 4.
///
/// An n-gram can match only if the (n-1)-gram with which it begins has a match. Each length
/// therefore looks only at what the one before has left, in two sorted lists that are merged.
pub(crate) fn ngram_hits(reference: &[u32], story: &[u32]) -> [u64; 4] {
    let mut hits = [0; 4];
    let mut left = Positions::first(reference);
    let mut right = Positions::first(story);
    for n in 1..=4 {
        hits[n - 1] = left.keep_common(&mut right);
        if left.0.is_empty() {
            break;
        }
        left.lengthen(reference, n);
        right.lengthen(story, n);
    }
    hits
}

/// The places where n-grams begin, each with a key. Equal n-grams have equal keys.
struct Positions(Vec<(u64, u32)>);

impl Positions {
    /// All words that are shared.
    fn first(words: &[u32]) -> Self {
        let at = (0..).zip(words).filter(|&(_, &word)| word != UNSHARED);
        Self(at.map(|(at, &word)| (u64::from(word), at)).collect())
    }

    /// Keeps only what both lists have, with new keys that are the same in both, and returns the
    /// number of matches.
    fn keep_common(&mut self, other: &mut Self) -> u64 {
        self.0.sort_unstable();
        other.0.sort_unstable();
        let (mut hits, mut next) = (0, 0_u64);
        let (mut mine, mut theirs) = (Vec::new(), Vec::new());
        let (mut a, mut b) = (self.0.as_slice(), other.0.as_slice());
        while let (Some(&(x, _)), Some(&(y, _))) = (a.first(), b.first()) {
            let (from_a, after_a) = a.split_at(run(a));
            let (from_b, after_b) = b.split_at(run(b));
            if x == y {
                hits += from_a.len().min(from_b.len()) as u64;
                mine.extend(from_a.iter().map(|&(_, at)| (next, at)));
                theirs.extend(from_b.iter().map(|&(_, at)| (next, at)));
                next += 1;
            }
            if x <= y {
                a = after_a;
            }
            if y <= x {
                b = after_b;
            }
        }
        (self.0, other.0) = (mine, theirs);
        hits
    }

    /// Makes (n+1)-grams of the n-grams by adding the word that follows to the key.
    fn lengthen(&mut self, words: &[u32], n: usize) {
        self.0.retain_mut(|(key, at)| match words.get(*at as usize + n) {
            Some(&word) if word != UNSHARED => {
                *key = *key << 32 | u64::from(word);
                true
            }
            _ => false,
        });
    }
}

/// The number of entries at the front that have the same key.
fn run(sorted: &[(u64, u32)]) -> usize {
    sorted.iter().take_while(|entry| entry.0 == sorted[0].0).count()
}

/// The matches of skip-bigrams with gaps of any size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SkipHits {
    /// Pairs of words in their order.
    pub pairs: u64,
    /// Single words, except for the last one of each text, which ROUGE-1.5.5 never counts.
    pub singles: u64,
}

/// The largest number of counters in memory.
const BLOCK: usize = 1 << 18;

/// Counts the pairs of words, in their order, that two texts share.
///
/// For each place of a text, the counts of all words before it are added to the row of the word at
/// that place. With `v` shared words and a text of length `n` these are `n * v` additions of
/// neighbouring numbers, where a list of all pairs would have `n * n / 2`. Rows are worked through
/// in blocks, so that a long text needs no more memory than a short one.
pub(crate) fn skip_hits(reference: &[u32], story: &[u32], types: usize) -> SkipHits {
    let (reference_words, story_words, shared) = compact(reference, story, types);
    let mut hits = SkipHits { pairs: 0, singles: single_hits(reference, story, types) };
    if shared == 0 {
        return hits;
    }
    let rows = (BLOCK / shared).clamp(1, shared);
    let mut first = vec![0_u64; rows * shared];
    let mut second = vec![0_u64; rows * shared];
    let mut before = vec![0_u64; shared];
    for start in (0..shared).step_by(rows) {
        count_pairs(&reference_words, start, &mut before, &mut first);
        count_pairs(&story_words, start, &mut before, &mut second);
        hits.pairs += first.iter().zip(&second).map(|(&a, &b)| a.min(b)).sum::<u64>();
    }
    hits
}

/// Fills `rows` with the number of times that each word comes before each word from number `start`
/// on.
fn count_pairs(words: &[u32], start: usize, before: &mut [u64], rows: &mut [u64]) {
    before.fill(0);
    rows.fill(0);
    let shared = before.len();
    for &word in words {
        let at = (word as usize).wrapping_sub(start);
        if let Some(row) = rows.chunks_exact_mut(shared).nth(at) {
            row.iter_mut().zip(&*before).for_each(|(count, &earlier)| *count += earlier);
        }
        before[word as usize] += 1;
    }
}

/// The shared words of both texts, numbered without gaps, and the number of different ones.
fn compact(reference: &[u32], story: &[u32], types: usize) -> (Vec<u32>, Vec<u32>, usize) {
    let mut number = vec![UNSHARED; types];
    let mut shared = 0;
    let mut reference_words = Vec::with_capacity(reference.len());
    for &word in reference.iter().filter(|&&word| word != UNSHARED) {
        let slot = &mut number[word as usize];
        if *slot == UNSHARED {
            *slot = shared;
            shared += 1;
        }
        reference_words.push(*slot);
    }
    let kept = story.iter().map(|&word| number[word as usize]).filter(|&word| word != UNSHARED);
    (reference_words, kept.collect(), shared as usize)
}

/// Counts the single words that two texts share, both without their last word.
fn single_hits(reference: &[u32], story: &[u32], types: usize) -> u64 {
    let mut counts = vec![0_u32; types];
    for &word in story.split_last().map_or(&[][..], |(_, before)| before) {
        counts[word as usize] += 1;
    }
    let mut hits = 0;
    for &word in reference.split_last().map_or(&[][..], |(_, before)| before) {
        if let Some(count) = counts.get_mut(word as usize)
            && *count > 0
        {
            *count -= 1;
            hits += 1;
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn clipped<T: std::hash::Hash + Eq>(a: Vec<T>, b: Vec<T>) -> u64 {
        let mut counts: HashMap<T, u64> = HashMap::new();
        b.into_iter().for_each(|unit| *counts.entry(unit).or_default() += 1);
        let mut hits = 0;
        for unit in a {
            if let Some(count) = counts.get_mut(&unit).filter(|count| **count > 0) {
                *count -= 1;
                hits += 1;
            }
        }
        hits
    }

    fn pairs(words: &[u32]) -> Vec<(u32, u32)> {
        (0..words.len()).flat_map(|j| (0..j).map(move |i| (words[i], words[j]))).collect()
    }

    /// A reference in the numbers of the story's words, and the story.
    fn texts() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
        (prop::collection::vec(0_u32..10, 0..60), prop::collection::vec(0_u32..9, 0..60)).prop_map(
            |(mut r, s)| {
                r.iter_mut().filter(|word| !s.contains(word)).for_each(|word| *word = UNSHARED);
                (r, s)
            },
        )
    }

    proptest! {
        #[test]
        fn ngrams_are_counted_as_the_definition_counts_them((reference, story) in texts()) {
            let hits = ngram_hits(&reference, &story);
            for n in 1..=4 {
                let grams =
                    |words: &[u32]| words.windows(n).map(<[u32]>::to_vec).collect::<Vec<_>>();
                let is_shared = |gram: &Vec<u32>| !gram.contains(&UNSHARED);
                let shared = grams(&reference).into_iter().filter(is_shared).collect();
                prop_assert_eq!(hits[n - 1], clipped(shared, grams(&story)));
            }
        }

        #[test]
        fn skip_bigrams_are_counted_as_the_definition_counts_them((reference, story) in texts()) {
            let hits = skip_hits(&reference, &story, 9);
            let is_shared = |&(a, b): &(u32, u32)| a != UNSHARED && b != UNSHARED;
            let shared = pairs(&reference).into_iter().filter(is_shared).collect();
            prop_assert_eq!(hits.pairs, clipped(shared, pairs(&story)));
        }
    }

    #[test]
    fn the_last_word_is_no_single() {
        assert_eq!(skip_hits(&[0, 1], &[0, 1], 2), SkipHits { pairs: 1, singles: 1 });
        assert_eq!(skip_hits(&[0], &[0], 1), SkipHits { pairs: 0, singles: 0 });
    }
}
