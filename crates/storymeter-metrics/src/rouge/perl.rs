//! The eight variants of ROUGE-1.5.5: 1 to 4, L, W-1.2, S* and SU*.

use super::Count;
use super::lcs::{Sentence, WEIGHT, weight};
use super::overlap::{ngram_hits, skip_hits};
use super::union::{Clip, union_hits};
use super::words::Words;

/// The variants, in the order of [`counts`].
pub(crate) const VARIANTS: [&str; 8] = ["1", "2", "3", "4", "l", "w-1.2", "s*", "su*"];

/// Which of [`VARIANTS`] is ROUGE-W, whose ratios are taken to the power `1 / 1.2`.
const W: usize = 5;

/// Counts what a story shares with one reference, for each variant.
pub(crate) fn counts(reference: &Words, story: &Words) -> [Count; 8] {
    let seen = reference.as_seen_by(story);
    let (m, n) = (seen.len(), story.ids().len());
    let types = story.types();
    let grams = ngram_hits(&seen, story.ids());
    let gram = |size: usize| Count {
        hit: grams[size - 1] as f64,
        reference: (m + 1).saturating_sub(size) as f64,
        story: (n + 1).saturating_sub(size) as f64,
    };
    let skips = skip_hits(&seen, story.ids(), types);
    let pairs = |n: usize| n as f64 * n.saturating_sub(1) as f64 / 2.0;
    // All words except for the last count as single words.
    let singles = |n: usize| n.saturating_sub(1) as f64;
    let (l, w) = subsequences(reference, &seen, story);
    [
        gram(1),
        gram(2),
        gram(3),
        gram(4),
        l,
        w,
        Count { hit: skips.pairs as f64, reference: pairs(m), story: pairs(n) },
        Count {
            hit: (skips.pairs + skips.singles) as f64,
            reference: pairs(m) + singles(m),
            story: pairs(n) + singles(n),
        },
    ]
}

/// The counts of ROUGE-L and ROUGE-W. Each sentence of the reference takes the union of its matches
/// with all sentences of the story, and no word counts more often than both texts have it.
fn subsequences(reference: &Words, seen: &[u32], story: &Words) -> (Count, Count) {
    let types = story.types();
    let sentences: Vec<Sentence<'_>> =
        story.sentences(story.ids()).map(|words| Sentence::new(words, types)).collect();
    let clip = Clip::new(seen, story.ids(), types);
    let hit = union_hits(reference.sentences(seen), &sentences, clip.clone()) as f64;
    let l = Count { hit, reference: seen.len() as f64, story: story.ids().len() as f64 };

    let mut clip = clip;
    let (mut hit, mut base) = (0.0, 0.0);
    for model in reference.sentences(seen) {
        let mut marks = vec![false; model.len()];
        sentences.iter().for_each(|sentence| sentence.mark_weighted(model, &mut marks));
        hit += runs(model, &marks, &mut clip);
        base += weight(model.len());
    }
    // The Perl program weights the length of the reference twice, and that of the story once.
    let w = Count { hit, reference: f64::powf(base, WEIGHT), story: weight(story.ids().len()) };
    (l, w)
}

/// The weight of the runs of marked words, as far as the words are not used up.
fn runs(model: &[u32], marks: &[bool], clip: &mut Clip) -> f64 {
    let mut total = 0.0;
    let mut run = 0;
    for (at, &word) in model.iter().enumerate() {
        // A word that is used up neither extends nor ends a run.
        if marks[at] && clip.take(word) {
            run += 1;
            if marks.get(at + 1) != Some(&true) {
                total += weight(run);
                run = 0;
            }
        }
    }
    total
}

/// Recall, precision and F of each variant as the Perl program prints them: rounded to five
/// decimals, with F computed from the rounded recall and precision.
pub(crate) fn scores(counts: impl Iterator<Item = Count>, scores: &mut [f64]) {
    for ((variant, count), out) in counts.enumerate().zip(scores.chunks_exact_mut(3)) {
        let ratio = |whole: f64| {
            let ratio = if whole == 0.0 { 0.0 } else { count.hit / whole };
            five_decimals(if variant == W { ratio.powf(1.0 / WEIGHT) } else { ratio })
        };
        let (r, p) = (ratio(count.reference), ratio(count.story));
        let (alpha, beta) = (0.5, 0.5);
        let mixed = beta * p + alpha * r;
        let f = if mixed > 0.0 { five_decimals(p * r / mixed) } else { 0.0 };
        out.copy_from_slice(&[r, p, f]);
    }
}

/// Rounds a number between 0 and 1 as `%7.5f` of C does, by its exact decimal expansion.
fn five_decimals(x: f64) -> f64 {
    let scaled = x * 1e5;
    let nearest = scaled.round();
    // Unless it is close to the middle between two neighbours, the scaled number rounds as the
    // exact one does.
    if ((scaled - nearest).abs() - 0.5).abs() > 1e-6 {
        return nearest / 1e5;
    }
    format!("{x:.5}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use storymeter_core::TextCache;

    use super::*;
    use crate::rouge::words::PerlBases;

    fn count(story: &str, reference: &str) -> [Count; 8] {
        let [story, reference] =
            [story, reference].map(|text| TextCache::new(text).view::<PerlBases>());
        counts(&reference.0, &story.0)
    }

    #[test]
    fn five_decimals_are_those_of_the_exact_expansion() {
        for n in 0..=2000_u32 {
            for x in [f64::from(n) / 2000.0, f64::from(2 * n + 1) / 2e5, f64::from(n) * 1e-5 + 5e-6]
            {
                assert_eq!(
                    five_decimals(x),
                    format!("{x:.5}").parse::<f64>().expect("a number"),
                    "{x}"
                );
            }
        }
    }

    #[test]
    fn recall_of_w_weighs_the_length_twice() {
        let mut out = [0.0; 24];
        let same = count("one two three four five", "one two three four five");
        scores(same.into_iter(), &mut out);
        assert_eq!(out[15], five_decimals(5_f64.powf(-0.2)));
        assert_eq!(out[16], 1.0);
    }

    #[test]
    fn a_word_counts_once_however_many_sentences_match_it() {
        let [l, w] = [4, 5].map(|variant| {
            count("police\npolice kill gunman", "police came\npolice left\npolice")[variant]
        });
        assert_eq!(l.hit, 2.0);
        assert_eq!(w.hit, 2.0);
    }

    #[test]
    fn an_empty_story_scores_zero() {
        let mut out = [1.0; 24];
        scores(count("", "one two").into_iter(), &mut out);
        assert_eq!(out, [0.0; 24]);
    }
}
