//! The variants of the package `rouge-score`: 1, 2, L and Lsum.

use super::Count;
use super::lcs::Sentence;
use super::overlap::ngram_hits;
use super::union::{Clip, union_hits};
use super::words::Words;

/// The variants, in the order of [`counts`].
pub(crate) const VARIANTS: [&str; 4] = ["1", "2", "l", "lsum"];

/// Counts what a story shares with one reference, for each variant.
pub(crate) fn counts(reference: &Words, story: &Words) -> [Count; 4] {
    let seen = reference.as_seen_by(story);
    let (m, n) = (seen.len(), story.ids().len());
    let grams = ngram_hits(&seen, story.ids());
    let gram = |size: usize| Count {
        hit: grams[size - 1] as f64,
        reference: (m + 1).saturating_sub(size) as f64,
        story: (n + 1).saturating_sub(size) as f64,
    };
    let of_words = |hit: usize| Count { hit: hit as f64, reference: m as f64, story: n as f64 };
    let types = story.types();
    // The variant L takes the whole text as one sentence.
    let whole = Sentence::new(story.ids(), types).lcs_length(&seen);
    let sentences: Vec<Sentence<'_>> =
        story.sentences(story.ids()).map(|words| Sentence::new(words, types)).collect();
    let summed = match (reference.sentences(&seen).len(), sentences.len()) {
        (1, 1) => whole,
        _ => {
            union_hits(reference.sentences(&seen), &sentences, Clip::new(&seen, story.ids(), types))
        }
    };
    [gram(1), gram(2), of_words(whole), of_words(summed)]
}

/// Recall, precision and F of one variant.
pub(crate) fn score(count: Count) -> [f64; 3] {
    let r = count.hit / count.reference.max(1.0);
    let p = count.hit / count.story.max(1.0);
    let f = if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 };
    [r, p, f]
}
