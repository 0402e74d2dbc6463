//! Explains a score: which sentences raise or lower it, what kind of damage the story seems to
//! have, and what the model would write instead.

use serde::Serialize;
use storymeter_core::Story;
use storymeter_encoder::{Batch, PackedRows};
use storymeter_perturb::Technique;

use crate::scorer::Reading;
use crate::weigh::Part;
use crate::{Reconstruction, Result, Scorer};

/// The number of positions for which logits over the vocabulary are computed together. It bounds
/// the memory.
const POSITIONS: usize = 64;

/// An explanation of the score of one story. Byte offsets refer to [`Explanation::text`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The story as the model read it, for example with masked names.
    pub text: String,
    /// The UNION score.
    pub union: f64,
    /// The logit before calibration.
    pub logit: f64,
    /// How much repeated words lower the calibrated logit; see [`crate::Card::repetition`]. It is
    /// not part of the contributions of the sentences.
    pub repetition_cost: f64,
    /// The kind of damage that the story seems to have. `None` if the model has no diagnosis head,
    /// or the story has no letter or digit.
    pub diagnosis: Option<Diagnosis>,
    /// What each sentence adds to the logit. It is empty for a story of one sentence.
    pub sentences: Vec<SentenceShare>,
    /// The places at which the reconstruction head prefers another token to the one that is there,
    /// whatever its probability (appendix D of the paper). It is empty if the model has no such
    /// head. A head that was trained for a few thousand steps prefers others nearly everywhere,
    /// with probabilities of a few percent; see docs/results.md.
    pub edits: Vec<Suggestion>,
}

/// The calibrated probability of each kind of damage, under names that readers would use.
///
/// [`crate::Card::diagnosis_calibration`] holds the numbers of the calibration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Something is said again (the technique repetition). A calibrated model also counts the word
    /// pairs that two sentences of a window have in common.
    pub repetition: f64,
    /// A word, a sentence or half of a sentence does not belong here (the technique substitution).
    pub incoherence: f64,
    /// Sentences are in the wrong order (the technique reordering). Models that were trained with
    /// garbled sentences also mean words in the wrong order.
    pub wrong_order: f64,
    /// A statement says the opposite of what it should (the technique negation).
    pub contradiction: f64,
}

impl Diagnosis {
    fn new(damage: [f64; 4]) -> Self {
        let probability = |technique: Technique| damage[technique.index()];
        Self {
            repetition: probability(Technique::Repetition),
            incoherence: probability(Technique::Substitution),
            wrong_order: probability(Technique::Reordering),
            contradiction: probability(Technique::Negation),
        }
    }
}

/// What a sentence adds to the logit of its story.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SentenceShare {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The logit of the story minus its logit without the sentence. It is negative if the story
    /// would score higher without it. `None` if the sentence belongs to a long story and was not
    /// weighed; see [`Scorer::explain`].
    pub contribution: Option<f64>,
}

/// A piece of the story that the reconstruction head would write differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The text of the story at this place.
    pub text: String,
    /// What the model would write: an entry of the vocabulary. It begins with `##` if it continues
    /// a word.
    pub suggestion: String,
    /// The probability that the model gives to the suggestion.
    pub probability: f64,
}

impl Scorer {
    /// Scores one story and explains the score. There is no need to score the story as well.
    ///
    /// A window of n sentences is read n more times, each time without one of them. So a short
    /// story of n sentences takes about n times as long as its score alone. Of a long story, only
    /// the sentences of the windows with the lowest logits are weighed: as many as possible without
    /// reading more tokens again than the story has, or than 65,536 if it has fewer. This takes
    /// about twice the time of the score. All sentences of a story that fits into one window are
    /// weighed.
    ///
    /// ```
    /// # if !storymeter_union::HAS_EMBEDDED { return Ok(()); }
    /// let scorer = storymeter_union::Scorer::embedded()?;
    /// let text = "Ken lost his kite. He looked in the barn. Ken lost his kite.".into();
    /// let explanation = scorer.explain(&storymeter_core::Story { text, ..Default::default() })?;
    /// assert!(explanation.sentences.iter().all(|sentence| sentence.contribution.is_some()));
    /// assert!(explanation.diagnosis.is_some_and(|diagnosis| diagnosis.repetition > 0.5));
    /// # Ok::<(), storymeter_union::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scorer::score`].
    pub fn explain(&self, story: &Story) -> Result<Explanation> {
        self.explained(story, false)
    }

    /// Explains a score as [`Scorer::explain`] does, but weighs every sentence, however long the
    /// story is.
    ///
    /// # Errors
    /// As [`Scorer::score`].
    pub fn explain_every_sentence(&self, story: &Story) -> Result<Explanation> {
        self.explained(story, true)
    }

    fn explained(&self, story: &Story, every_sentence: bool) -> Result<Explanation> {
        let reading = self.read(story);
        let batch: Batch = reading.windows.iter().map(|window| window.ids.as_slice()).collect();
        let hidden = self.states(&batch)?;
        let vectors: Vec<Vec<f32>> = (0..batch.len()).map(|w| self.pool(hidden.story(w))).collect();
        let edits = self.suggestions(&reading, |w| hidden.story(w));
        let parts: Vec<Part> = vectors
            .iter()
            .zip(&reading.measures)
            .map(|(v, measure)| self.part(v, measure.tokens))
            .collect();
        let score = self.combine(vectors.into_iter(), &reading.measures);
        let sentences = self.shares(&reading, &parts, score.logit, every_sentence)?;
        Ok(Explanation {
            union: score.probability,
            logit: score.logit,
            repetition_cost: self.card.repetition * score.repeated,
            diagnosis: score.damage.map(Diagnosis::new),
            sentences,
            edits,
            text: reading.text,
        })
    }

    /// The pieces for which the reconstruction head prefers another one. A piece that is in two
    /// windows is reported once.
    fn suggestions<'a>(
        &self,
        reading: &Reading,
        states: impl Fn(usize) -> &'a [f32],
    ) -> Vec<Suggestion> {
        if self.card.reconstruction == Reconstruction::None {
            return Vec::new();
        }
        let width = self.engine.config().hidden;
        let mut found: Vec<Suggestion> = Vec::new();
        // The end of the text that the windows before have covered.
        let mut covered = 0;
        for (w, window) in reading.windows.iter().enumerate() {
            let first_new = window.pieces.partition_point(|piece| piece.start < covered);
            let (pieces, rows) =
                (&window.pieces[first_new..], &states(w)[(window.offset + first_new) * width..]);
            covered = pieces.last().map_or(covered, |piece| piece.end);
            for (pieces, rows) in pieces.chunks(POSITIONS).zip(rows.chunks(POSITIONS * width)) {
                let rows = &rows[..pieces.len() * width];
                for (piece, logits) in pieces.iter().zip(self.reconstruction_logits(rows, width)) {
                    let (id, probability) = most_likely(&logits);
                    if id != piece.id {
                        found.push(Suggestion {
                            start: piece.start,
                            end: piece.end,
                            text: reading.text[piece.start..piece.end].to_owned(),
                            suggestion: self.written(id),
                            probability,
                        });
                    }
                }
            }
        }
        found
    }

    /// A vocabulary entry as it is written in a story: the placeholders of names have entries with
    /// names of their own.
    fn written(&self, id: u32) -> String {
        let name = self.card.name_tokens.iter().find(|(_, entry)| **entry == id);
        let piece = || self.tokenizer.piece(id).unwrap_or("[UNK]");
        name.map_or_else(piece, |(text, _)| text).to_owned()
    }

    /// The logits of all vocabulary entries for each position (equation 4).
    fn reconstruction_logits(&self, states: &[f32], width: usize) -> Vec<Vec<f32>> {
        let own = self.heads.reconstruction.as_slice();
        let transformed;
        let states = if self.card.reconstruction == Reconstruction::Dense {
            transformed = self.heads.transformed(states, self.engine.config());
            &transformed
        } else {
            states
        };
        let mut logits: Vec<Vec<f32>> = if own.is_empty() {
            self.engine.word_products(states)
        } else {
            let rows = self.own_matrix.get_or_init(|| PackedRows::new(own, width));
            let mut products = vec![0.0; states.len() / width * rows.len()];
            rows.products(states, &mut products);
            products.chunks_exact(rows.len()).map(<[f32]>::to_vec).collect()
        };
        for logits in &mut logits {
            logits
                .iter_mut()
                .zip(&self.heads.reconstruction_bias)
                .for_each(|(logit, bias)| *logit += bias);
        }
        logits
    }
}

/// The vocabulary entry with the largest logit and its probability.
fn most_likely(logits: &[f32]) -> (u32, f64) {
    let (best, top) = logits
        .iter()
        .enumerate()
        .fold((0, f32::NEG_INFINITY), |best, (i, &x)| if x > best.1 { (i, x) } else { best });
    let sum: f64 = logits.iter().map(|&x| f64::from((x - top).exp())).sum();
    (best as u32, 1.0 / sum)
}
