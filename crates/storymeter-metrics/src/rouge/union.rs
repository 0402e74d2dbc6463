//! ROUGE-L of texts of several sentences: each sentence of the reference against the whole story.

use super::lcs::Sentence;
use super::words::UNSHARED;

/// How many words of the reference's sentences lie on a longest common subsequence with any sentence of the
/// story, none counted more often than both texts have it.
pub(crate) fn union_hits<'a>(
    reference: impl ExactSizeIterator<Item = &'a [u32]>,
    story: &[Sentence<'_>],
    mut clip: Clip,
) -> usize {
    let alone = reference.len() == 1 && story.len() == 1;
    reference
        .map(|model| {
            if alone {
                // One sentence each: the subsequence has no word more often than either text.
                return story[0].lcs_length(model);
            }
            let mut marks = vec![false; model.len()];
            story.iter().for_each(|sentence| sentence.mark_lcs(model, &mut marks));
            model.iter().zip(marks).filter(|&(&word, marked)| marked && clip.take(word)).count()
        })
        .sum()
}

/// How often each word may still be counted.
#[derive(Clone)]
pub(crate) struct Clip(Vec<u32>);

impl Clip {
    /// Each word as often as both texts have it.
    pub fn new(reference: &[u32], story: &[u32], types: usize) -> Self {
        let mut counts = [vec![0_u32; types], vec![0_u32; types]];
        for (words, counts) in [reference, story].into_iter().zip(&mut counts) {
            words
                .iter()
                .filter(|&&word| word != UNSHARED)
                .for_each(|&word| counts[word as usize] += 1);
        }
        Self(counts[0].iter().zip(&counts[1]).map(|(&a, &b)| a.min(b)).collect())
    }

    /// Uses the word once, if it can be.
    pub fn take(&mut self, word: u32) -> bool {
        self.0.get_mut(word as usize).is_some_and(|left| {
            let some = *left > 0;
            *left -= u32::from(some);
            some
        })
    }
}
