//! Weighs the sentences of a story: the story is read again without each of them.
//!
//! The encoder looks at all tokens of a window together, so a window must be read again as a whole
//! when a sentence is left out of it. The other windows need not be read again. Still, a window of
//! n sentences is read n more times, and in a long story thousands of sentences would be weighed
//! that hardly matter. So the number of tokens that are read again is limited. The sentences of the
//! windows with the lowest logits come first, because the story loses most there. A sentence that
//! spoils a good window may be missed.

use std::ops::Range;

use storymeter_encoder::Batch;

use crate::explain::effect_of;
use crate::scorer::{Reading, Score};
use crate::{Result, SentenceShare, UnionScorer};

/// The largest number of tokens that are read again, unless the story itself has more. It is about
/// what weighing all sentences of a story of 10,000 words takes with the embedded model.
const LIMIT: usize = 1 << 16;

/// The number of windows that are read together. It bounds the memory.
const WINDOWS: usize = 64;

/// The logit of one window, and the number of its tokens, by which it is weighted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub logit: f64,
    tokens: f64,
}

/// A window without a sentence.
struct Cut {
    sentence: usize,
    window: usize,
    /// The pieces that are left out.
    pieces: Range<usize>,
}

impl Cut {
    /// The number of tokens that are read.
    fn tokens(&self, reading: &Reading) -> usize {
        reading.windows[self.window].ids.len() - self.pieces.len()
    }

    /// The tokens that are read.
    fn ids(&self, reading: &Reading) -> Vec<u32> {
        let window = &reading.windows[self.window];
        let (before, after) = (window.offset + self.pieces.start, window.offset + self.pieces.end);
        [&window.ids[..before], &window.ids[after..]].concat()
    }
}

impl UnionScorer {
    /// The part of a window in the story's logit, from the vector of the window.
    pub(crate) fn part(&self, vector: &[f32], tokens: usize) -> Part {
        Part { logit: self.model.heads.logit(vector), tokens: tokens as f64 }
    }

    /// Leaves out one sentence after the other: all of them, or as many as the limit allows.
    pub(crate) fn shares(
        &self,
        reading: &Reading,
        parts: &[Part],
        score: &Score,
        every_sentence: bool,
    ) -> Result<Vec<SentenceShare>> {
        if reading.sentences.len() < 2 {
            return Ok(Vec::new());
        }
        let mut cuts = cuts(reading);
        let weighed = if every_sentence || parts.len() == 1 {
            vec![true; reading.sentences.len()]
        } else {
            of_the_weakest_windows(reading, &cuts, parts)
        };
        cuts.retain(|cut| weighed[cut.sentence]);
        let mut changed: Vec<Vec<(usize, Part)>> = vec![Vec::new(); reading.sentences.len()];
        for together in cuts.chunks(WINDOWS) {
            let ids: Vec<Vec<u32>> = together.iter().map(|cut| cut.ids(reading)).collect();
            let batch: Batch = ids.iter().map(Vec::as_slice).collect();
            let hidden = self.model.states(&batch)?;
            for (at, cut) in together.iter().enumerate() {
                let part = self.part(&self.model.pool(hidden.story(at)), ids[at].len());
                changed[cut.sentence].push((cut.window, part));
            }
        }
        let without = without(parts, &changed);
        let probability = |logit: f64| self.model.card.probability(logit, score.repeated);
        let mut shares: Vec<SentenceShare> = Vec::with_capacity(without.len());
        for ((sentence, without), weighed) in reading.sentences.iter().zip(without).zip(weighed) {
            // A mark that stands for several in the story may belong to two sentences.
            let end_before = shares.last().map_or(0, |before| before.end);
            let own = reading.origin.old_range(sentence.start..sentence.end);
            let start = own.start.max(end_before);
            let change = without.map_or([0.0; 2], |without| {
                let effect = probability(without.passage_before) - probability(without.passage);
                [score.logit - without.story, if reading.is_wordless() { 0.0 } else { effect }]
            });
            shares.push(SentenceShare {
                start,
                end: own.end.max(start),
                contribution: weighed.then_some(change[0]),
                effect: weighed.then_some(change[1]),
                in_words: weighed.then(|| effect_of(change[1])),
            });
        }
        Ok(shares)
    }
}

/// Every window without each of its sentences.
fn cuts(reading: &Reading) -> Vec<Cut> {
    let mut cuts = Vec::new();
    for (w, window) in reading.windows.iter().enumerate() {
        let (Some(first), Some(last)) = (window.pieces.first(), window.pieces.last()) else {
            continue;
        };
        let from = reading.sentences.partition_point(|sentence| sentence.end <= first.start);
        let held =
            reading.sentences[from..].iter().take_while(|sentence| sentence.start < last.end);
        for (s, sentence) in (from..).zip(held) {
            let start = window.pieces.partition_point(|piece| piece.end <= sentence.start);
            let end = window.pieces.partition_point(|piece| piece.start < sentence.end);
            cuts.push(Cut { sentence: s, window: w, pieces: start..end.max(start) });
        }
    }
    cuts
}

/// Chooses the sentences that are weighed: those of the windows with the lowest logits, until as
/// many tokens are read again as the limit allows or the story has. For a sentence that is in two
/// windows, both are read again.
fn of_the_weakest_windows(reading: &Reading, cuts: &[Cut], parts: &[Part]) -> Vec<bool> {
    let mut costs = vec![0; reading.sentences.len()];
    for cut in cuts {
        costs[cut.sentence] += cut.tokens(reading);
    }
    let mut order: Vec<&Cut> = cuts.iter().collect();
    // The sort is stable: of windows with the same logit, the first in the story comes first.
    order.sort_by(|one, two| parts[one.window].logit.total_cmp(&parts[two.window].logit));
    let mut left = LIMIT.max(reading.windows.iter().map(|window| window.ids.len()).sum());
    // A sentence without tokens is in no window and adds nothing.
    let mut weighed: Vec<bool> = costs.iter().map(|cost| *cost == 0).collect();
    for cut in order {
        if weighed[cut.sentence] {
            continue;
        }
        let Some(remaining) = left.checked_sub(costs[cut.sentence]) else { break };
        left = remaining;
        weighed[cut.sentence] = true;
    }
    weighed
}

/// Logits without a sentence.
#[derive(Debug, Clone, Copy)]
struct Without {
    /// The logit of the story without the sentence.
    story: f64,
    /// The logit of the windows that have the sentence.
    passage_before: f64,
    /// The logit of these windows without the sentence.
    passage: f64,
}

/// The logits without each sentence, from the windows that change. `None` if no window changes.
fn without(parts: &[Part], changed: &[Vec<(usize, Part)>]) -> Vec<Option<Without>> {
    // The sums over all windows are computed once, so that the work stays linear in their number.
    let (logits, tokens) = weighted(parts.iter());
    let logit = |changed: &Vec<(usize, Part)>| match (changed.as_slice(), parts.len()) {
        ([], _) => None,
        // The logit of the only window is taken as it is: multiplying and dividing would round it.
        ([(_, only)], 1) => {
            Some(Without { story: only.logit, passage_before: parts[0].logit, passage: only.logit })
        }
        (changed, _) => {
            let (mut logits, mut tokens) = (logits, tokens);
            for (w, part) in changed {
                logits += part.tokens * part.logit - parts[*w].tokens * parts[*w].logit;
                tokens += part.tokens - parts[*w].tokens;
            }
            let passage = |(logits, tokens): (f64, f64)| logits / tokens;
            Some(Without {
                story: logits / tokens,
                passage_before: passage(weighted(changed.iter().map(|(w, _)| &parts[*w]))),
                passage: passage(weighted(changed.iter().map(|(_, part)| part))),
            })
        }
    };
    changed.iter().map(logit).collect()
}

/// The sum of the logits of some windows, weighted by tokens, and the number of these tokens.
fn weighted<'a>(parts: impl Iterator<Item = &'a Part>) -> (f64, f64) {
    parts.fold((0.0, 0.0), |(logits, tokens), part| {
        (logits + part.tokens * part.logit, tokens + part.tokens)
    })
}

#[cfg(test)]
mod tests {
    use storymeter_text::Span;

    use super::*;
    use crate::origin::Origin;
    use crate::window::Window;

    #[test]
    fn the_sentences_of_the_weakest_windows_come_first_until_the_limit_is_reached() {
        // There are three windows of 30,000 tokens. The first two share sentence 2, and sentence 5
        // is in none.
        let window = || Window { ids: vec![0; 30_000], pieces: Vec::new(), offset: 1 };
        let reading = Reading {
            text: String::new(),
            origin: Origin::default(),
            sentences: vec![Span { start: 0, end: 0 }; 6],
            windows: vec![window(), window(), window()],
            measures: Vec::new(),
        };
        let cut = |(sentence, window)| Cut { sentence, window, pieces: 0..100 };
        let cuts = [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 2)].map(cut);
        let weighed = |logits: [f64; 3]| {
            let parts = logits.map(|logit| Part { logit, tokens: 30_000.0 });
            of_the_weakest_windows(&reading, &cuts, &parts)
        };
        // 90,000 tokens may be read again, which is enough for three windows without a sentence.
        assert_eq!(weighed([0.3, 0.2, 0.1]), [false, false, true, false, true, true]);
        assert_eq!(weighed([0.1, 0.2, 0.3]), [true, true, false, false, false, true]);
    }
}
