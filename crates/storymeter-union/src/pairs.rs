//! Finds the two neighbouring sentences of a story that fit least.
//!
//! Weighing sentences one by one finds a sentence that does not belong to the story. Of a story
//! that is made of two halves, or that is damaged everywhere, it finds nothing: without any one
//! sentence the rest is as incoherent as before. There the model is asked about each pair of
//! neighbours as a story of its own. docs/explain.md says how often the pair with the lowest score
//! is a place where two stories were joined.

use std::ops::Range;

use storymeter_encoder::Batch;

use crate::overlap::repeated;
use crate::scorer::Reading;
use crate::weigh::Part;
use crate::{Result, UnionScorer, WeakPair};

/// A pair of neighbouring sentences: the number of the first one, and its pieces in the window.
struct Pair {
    first: usize,
    pieces: Range<usize>,
}

impl UnionScorer {
    /// The pair with the lowest logit in the window with the lowest logit. Of equal ones, the first
    /// is taken. `None` if that window has fewer than three sentences, because one pair is then all
    /// there is.
    pub(crate) fn weakest_pair(
        &self,
        reading: &Reading,
        parts: &[Part],
    ) -> Result<Option<WeakPair>> {
        let weakest = (0..parts.len())
            .min_by(|a, b| parts[*a].logit.total_cmp(&parts[*b].logit))
            .unwrap_or(0);
        let window = &reading.windows[weakest];
        let pairs = pairs(reading, weakest);
        if pairs.len() < 2 {
            return Ok(None);
        }
        let end = window.offset + window.pieces.len();
        let ids = |pair: &Pair| {
            let pieces = window.offset + pair.pieces.start..window.offset + pair.pieces.end;
            [&window.ids[..window.offset], &window.ids[pieces], &window.ids[end..]].concat()
        };
        let ids: Vec<Vec<u32>> = pairs.iter().map(ids).collect();
        let batch: Batch = ids.iter().map(Vec::as_slice).collect();
        let hidden = self.model.states(&batch)?;
        let logits: Vec<f64> = (0..pairs.len())
            .map(|at| self.model.heads.logit(&self.model.pool(hidden.story(at))))
            .collect();
        let lowest = (0..pairs.len()).min_by(|a, b| logits[*a].total_cmp(&logits[*b]));
        Ok(lowest.map(|at| WeakPair {
            first: pairs[at].first,
            score: self
                .model
                .card
                .probability(logits[at], repeated(&window.pieces[pairs[at].pieces.clone()])),
        }))
    }
}

/// The pairs of neighbouring sentences that a window holds.
fn pairs(reading: &Reading, window: usize) -> Vec<Pair> {
    let pieces = &reading.windows[window].pieces;
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return Vec::new() };
    let from = reading.sentences.partition_point(|sentence| sentence.end <= first.start);
    let to = reading.sentences.partition_point(|sentence| sentence.start < last.end);
    let pair = |at: usize| {
        let (one, two) = (&reading.sentences[at], &reading.sentences[at + 1]);
        let start = pieces.partition_point(|piece| piece.end <= one.start);
        let end = pieces.partition_point(|piece| piece.start < two.end);
        Pair { first: at, pieces: start..end.max(start) }
    };
    (from..to.saturating_sub(1)).map(pair).collect()
}
