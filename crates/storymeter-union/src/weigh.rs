//! What each sentence adds to a story's logit: the story is read again without it.
//!
//! The encoder looks at all tokens of a window together, so that nothing of a window can be kept when a sentence is left out
//! of it. The other windows need not be read again; still a window of n sentences is read n times more, for thousands of
//! sentences that each weigh next to nothing in a long story. So there is a limit to what is read again, and the sentences of
//! the windows with the lowest logits, where the story loses most, come first. A sentence that spoils a good window is missed.

use std::ops::Range;

use storymeter_encoder::{Batch, Workspace};

use crate::scorer::Reading;
use crate::{Result, Scorer, SentenceShare};

/// Tokens that are read again at most to weigh sentences, unless the story has more: about as many as all sentences of 10,000
/// words take in the embedded model's windows.
const LIMIT: usize = 1 << 16;

/// Windows that are read together: bounds the memory.
const AT_A_TIME: usize = 64;

/// What one window says, and how much it counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    logit: f64,
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
    /// How many tokens are read.
    fn tokens(&self, reading: &Reading) -> usize {
        reading.windows[self.window].ids.len() - self.pieces.len()
    }

    /// What is read.
    fn ids(&self, reading: &Reading) -> Vec<u32> {
        let window = &reading.windows[self.window];
        let (before, after) = (window.offset + self.pieces.start, window.offset + self.pieces.end);
        [&window.ids[..before], &window.ids[after..]].concat()
    }
}

impl Scorer {
    /// A window's part, from its vector.
    pub(crate) fn part(&self, vector: &[f32], tokens: usize) -> Part {
        Part { logit: self.heads.logit(vector), tokens: tokens as f64 }
    }

    /// Leaves out the sentences in turn: all of them, or as many as the limit allows.
    pub(crate) fn shares(
        &self,
        reading: &Reading,
        parts: &[Part],
        logit: f64,
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
        let mut workspace = Workspace::new();
        for some in cuts.chunks(AT_A_TIME) {
            let ids: Vec<Vec<u32>> = some.iter().map(|cut| cut.ids(reading)).collect();
            let batch: Batch = ids.iter().map(Vec::as_slice).collect();
            let hidden = self.states(&batch, &mut workspace)?;
            for (at, cut) in some.iter().enumerate() {
                let part = self.part(&self.pool(hidden.story(at)), ids[at].len());
                changed[cut.sentence].push((cut.window, part));
            }
        }
        let without = without(parts, &changed);
        let shares = reading.sentences.iter().zip(without).zip(weighed).map(
            |((sentence, rest), weighed)| {
                let contribution = weighed.then(|| rest.map_or(0.0, |rest| logit - rest));
                SentenceShare { start: sentence.start, end: sentence.end, contribution }
            },
        );
        Ok(shares.collect())
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

/// Which sentences are weighed: those of the windows with the lowest logits, as long as no more tokens are read again than the
/// limit or the story's own. A sentence that two windows share is read again in both.
fn of_the_weakest_windows(reading: &Reading, cuts: &[Cut], parts: &[Part]) -> Vec<bool> {
    let mut costs = vec![0; reading.sentences.len()];
    for cut in cuts {
        costs[cut.sentence] += cut.tokens(reading);
    }
    let mut order: Vec<&Cut> = cuts.iter().collect();
    // Stable: of windows alike, the first in the story comes first.
    order.sort_by(|one, two| parts[one.window].logit.total_cmp(&parts[two.window].logit));
    let mut left = LIMIT.max(reading.windows.iter().map(|window| window.ids.len()).sum());
    // A sentence without a token is in no window, and adds nothing.
    let mut weighed: Vec<bool> = costs.iter().map(|cost| *cost == 0).collect();
    for cut in order {
        if weighed[cut.sentence] {
            continue;
        }
        let Some(rest) = left.checked_sub(costs[cut.sentence]) else { break };
        left = rest;
        weighed[cut.sentence] = true;
    }
    weighed
}

/// The story's logit without each sentence, given the windows that are then others; `None` where none is.
fn without(parts: &[Part], changed: &[Vec<(usize, Part)>]) -> Vec<Option<f64>> {
    // Of all windows, so that a long story's shares cost no more than its windows.
    let total = |weight: fn(&Part) -> f64| parts.iter().map(weight).sum::<f64>();
    let (logits, tokens) = (total(|part| part.tokens * part.logit), total(|part| part.tokens));
    let rest = |changed: &Vec<(usize, Part)>| match (changed.as_slice(), parts.len()) {
        ([], _) => None,
        // One window's own logit exactly, not a product divided again.
        ([(_, only)], 1) => Some(only.logit),
        (changed, _) => {
            let (mut logits, mut tokens) = (logits, tokens);
            for (w, part) in changed {
                logits += part.tokens * part.logit - parts[*w].tokens * parts[*w].logit;
                tokens += part.tokens - parts[*w].tokens;
            }
            Some(logits / tokens)
        }
    };
    changed.iter().map(rest).collect()
}

#[cfg(test)]
mod tests {
    use storymeter_text::Span;

    use super::*;
    use crate::window::Window;

    #[test]
    fn the_sentences_of_the_weakest_windows_come_first_until_the_limit_is_reached() {
        // Three windows of 30,000 tokens; the first and the second share the sentence 2, and sentence 5 is in none.
        let window = || Window { ids: vec![0; 30_000], pieces: Vec::new(), offset: 1 };
        let reading = Reading {
            text: String::new(),
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
        // 90,000 tokens may be read again: three windows without a sentence.
        assert_eq!(weighed([0.3, 0.2, 0.1]), [false, false, true, false, true, true]);
        assert_eq!(weighed([0.1, 0.2, 0.3]), [true, true, false, false, false, true]);
    }
}
