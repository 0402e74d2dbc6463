//! ROUGE-L of texts with several sentences: each sentence of the reference against all sentences of
//! the story.

use super::lcs::Sentence;
use super::words::UNSHARED;

/// Counts the words of the reference that lie on a longest common subsequence of their sentence and
/// any sentence of the story. No word counts more often than both texts have it.
pub(crate) fn union_hits<'a>(
    reference: impl ExactSizeIterator<Item = &'a [u32]>,
    story: &[Sentence<'_>],
    mut clip: Clip,
) -> usize {
    let alone = reference.len() == 1 && story.len() == 1;
    reference
        .map(|model| {
            if alone {
                // With one sentence each, the subsequence has no word more often than either text.
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
    /// Each word counts as often as both texts have it.
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

    /// Uses the word once; `false` if it is used up.
    pub fn take(&mut self, word: u32) -> bool {
        self.0.get_mut(word as usize).is_some_and(|left| {
            let available = *left > 0;
            *left -= u32::from(available);
            available
        })
    }
}
