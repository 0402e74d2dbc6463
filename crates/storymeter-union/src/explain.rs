//! Why a story got its score: what the model would change, which sentences weigh, which damage it looks like.

use serde::Serialize;
use storymeter_core::Story;
use storymeter_encoder::{Batch, Workspace};
use storymeter_perturb::Technique;

use crate::scorer::Reading;
use crate::weigh::Part;
use crate::{Reconstruction, Result, Scorer};

/// Least probability for a suggested edit to be worth telling.
const LEAST: f64 = 0.5;

/// Positions whose vocabularies are worked on together: bounds the memory.
const AT_A_TIME: usize = 64;

/// An explanation of one story's score. Byte offsets count in [`Explanation::text`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The story as the model read it: names masked where the model wants that.
    pub text: String,
    /// The UNION score.
    pub union: f64,
    /// The logit before calibration.
    pub logit: f64,
    /// What words that come over and over take from the calibrated logit; see [`crate::Card::repetition`]. The sentences' shares
    /// do not contain it.
    pub repetition_cost: f64,
    /// What kind of damage it looks like; `None` without a diagnosis head.
    pub diagnosis: Option<Diagnosis>,
    /// What each sentence adds to the logit.
    pub sentences: Vec<SentenceShare>,
    /// What the reconstruction head would write instead (appendix D); empty without that head.
    pub edits: Vec<Suggestion>,
}

/// The calibrated probability of each kind of damage, named as readers would; the model's card says with which numbers
/// ([`crate::Card::diagnosis_calibration`]).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Something is said again (technique: repetition). A calibrated model also counts the words that two sentences of a
    /// window have in common.
    pub repetition: f64,
    /// Something does not belong: a word, a sentence, or half of one (technique: substitution).
    pub incoherence: f64,
    /// Sentences stand in the wrong order or, for models trained with garbled sentences, words inside them (technique:
    /// reordering).
    pub wrong_order: f64,
    /// A statement is turned round (technique: negation).
    pub contradiction: f64,
}

impl Diagnosis {
    fn new(damage: [f64; 4]) -> Self {
        let of = |technique: Technique| damage[technique.index()];
        Self {
            repetition: of(Technique::Repetition),
            incoherence: of(Technique::Substitution),
            wrong_order: of(Technique::Reordering),
            contradiction: of(Technique::Negation),
        }
    }
}

/// What a sentence adds: the story's logit less the logit without it, the other windows of a long story as they are.
/// Negative: the story would be better without it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SentenceShare {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The difference of logits; `None` for a sentence of a long story that was not weighed ([`Scorer::explain`]).
    pub contribution: Option<f64>,
}

/// A piece the reconstruction head would write differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What stands there.
    pub text: String,
    /// What the model would write: a piece of the vocabulary, `##` before what continues a word.
    pub suggestion: String,
    /// How sure it is.
    pub probability: f64,
}

impl Scorer {
    /// Explains one story's score, which comes with it: there is no need to score the story as well.
    ///
    /// A window of n sentences is read n times more, each time without one of them, so that a short story takes about as many
    /// times as long as its score alone. Of a long story only the sentences of its weakest windows, those with the lowest
    /// logits, are weighed, as many as can be without reading more tokens again than the story has (or than 65,536, where
    /// it has fewer): about twice the time of its score. A story that fits into one window is always weighed as a whole.
    ///
    /// # Errors
    /// As [`Scorer::score`].
    pub fn explain(&self, story: &Story) -> Result<Explanation> {
        self.explained(story, false)
    }

    /// Explains one story's score as [`Scorer::explain`] does, and weighs every sentence however long the story is.
    ///
    /// # Errors
    /// As [`Scorer::score`].
    pub fn explain_every_sentence(&self, story: &Story) -> Result<Explanation> {
        self.explained(story, true)
    }

    fn explained(&self, story: &Story, every_sentence: bool) -> Result<Explanation> {
        let reading = self.read(story);
        let mut workspace = Workspace::new();
        let batch: Batch = reading.windows.iter().map(|window| window.ids.as_slice()).collect();
        let hidden = self.states(&batch, &mut workspace)?;
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

    /// Pieces for which the reconstruction head prefers another, each once even where windows overlap.
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
        let mut told = 0;
        for (w, window) in reading.windows.iter().enumerate() {
            // Windows overlap: what the one before has told is not told again.
            let news = window.pieces.partition_point(|piece| piece.start < told);
            let (pieces, rows) =
                (&window.pieces[news..], &states(w)[(window.offset + news) * width..]);
            told = pieces.last().map_or(told, |piece| piece.end);
            for (pieces, rows) in pieces.chunks(AT_A_TIME).zip(rows.chunks(AT_A_TIME * width)) {
                let rows = &rows[..pieces.len() * width];
                for (piece, logits) in pieces.iter().zip(self.reconstruction_logits(rows, width)) {
                    let (id, probability) = most_likely(&logits);
                    if id != piece.id && probability >= LEAST {
                        found.push(Suggestion {
                            start: piece.start,
                            end: piece.end,
                            text: reading.text[piece.start..piece.end].to_owned(),
                            suggestion: self.tokenizer.piece(id).unwrap_or("[UNK]").to_owned(),
                            probability,
                        });
                    }
                }
            }
        }
        found
    }

    /// For each position the logits of all vocabulary entries (equation 4).
    fn reconstruction_logits(&self, states: &[f32], width: usize) -> Vec<Vec<f32>> {
        let own = self.heads.reconstruction.as_slice();
        let mut logits: Vec<Vec<f32>> = if own.is_empty() {
            self.engine.word_products(states)
        } else {
            let product =
                |row: &[f32], state: &[f32]| row.iter().zip(state).map(|(w, x)| w * x).sum();
            let of =
                |state: &[f32]| own.chunks_exact(width).map(|row| product(row, state)).collect();
            states.chunks_exact(width).map(of).collect()
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

/// The vocabulary entry with the largest logit, and its probability.
fn most_likely(logits: &[f32]) -> (u32, f64) {
    let (best, top) = logits
        .iter()
        .enumerate()
        .fold((0, f32::NEG_INFINITY), |best, (i, &x)| if x > best.1 { (i, x) } else { best });
    let sum: f64 = logits.iter().map(|&x| f64::from((x - top).exp())).sum();
    (best as u32, 1.0 / sum)
}
