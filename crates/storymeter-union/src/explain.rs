//! Why a story got its score: what the model would change, which sentences weigh, which damage it looks like.

use serde::Serialize;
use storymeter_core::Story;
use storymeter_encoder::{Batch, Workspace};
use storymeter_perturb::Technique;

use crate::scorer::Reading;
use crate::{Reconstruction, Result, Score, Scorer};

/// Least probability for a suggested edit to be worth telling.
const LEAST: f64 = 0.5;

/// An explanation of one story's score. Byte offsets count in [`Explanation::text`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The story as the model read it: names masked where the model wants that.
    pub text: String,
    /// The UNION score.
    pub union: f64,
    /// The logit before calibration.
    pub logit: f64,
    /// What kind of damage it looks like; `None` without a diagnosis head.
    pub diagnosis: Option<Diagnosis>,
    /// What each sentence adds to the logit.
    pub sentences: Vec<SentenceShare>,
    /// What the reconstruction head would write instead (appendix D); empty without that head.
    pub edits: Vec<Suggestion>,
}

/// The probability of each kind of damage, named as readers would.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Something is said again (technique: repetition).
    pub repetition: f64,
    /// Something does not belong (technique: substitution).
    pub incoherence: f64,
    /// Sentences stand in the wrong order (technique: reordering).
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

/// What a sentence adds: the story's logit less the logit of the story without it. Negative: the story would be
/// better without it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SentenceShare {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The difference of logits.
    pub contribution: f64,
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
    /// Explains one story's score.
    ///
    /// # Errors
    /// As [`Scorer::score`].
    pub fn explain(&self, story: &Story) -> Result<Explanation> {
        let reading = self.read(story);
        let mut workspace = Workspace::new();
        let batch: Batch = reading.windows.iter().map(|window| window.ids.as_slice()).collect();
        let hidden = self.encoder.encode(&batch, &mut workspace)?;
        let score = self.combine((0..batch.len()).map(|w| hidden.story(w)));
        let edits = self.suggestions(&reading, |w| hidden.story(w));
        let sentences = self.shares(story, &reading, &score)?;
        Ok(Explanation {
            union: score.probability,
            logit: score.logit,
            diagnosis: score.damage.map(Diagnosis::new),
            sentences,
            edits,
            text: reading.text,
        })
    }

    /// Scores the story without each of its sentences in turn.
    fn shares(&self, story: &Story, reading: &Reading, whole: &Score) -> Result<Vec<SentenceShare>> {
        if reading.sentences.len() < 2 {
            return Ok(Vec::new());
        }
        let without: Vec<Story> = reading
            .sentences
            .iter()
            .map(|sentence| {
                let text = format!(
                    "{}{}",
                    &reading.text[..sentence.start],
                    reading.text[sentence.end..].trim_start()
                );
                Story { text, prompt: story.prompt.clone(), ..Story::default() }
            })
            .collect();
        let scores = self.score(&without.iter().collect::<Vec<_>>())?;
        let shares = reading.sentences.iter().zip(scores).map(|(sentence, score)| SentenceShare {
            start: sentence.start,
            end: sentence.end,
            contribution: whole.logit - score.logit,
        });
        Ok(shares.collect())
    }

    /// Pieces for which the reconstruction head prefers another, each once even where windows overlap.
    fn suggestions<'a>(&self, reading: &Reading, states: impl Fn(usize) -> &'a [f32]) -> Vec<Suggestion> {
        if self.card.reconstruction == Reconstruction::None {
            return Vec::new();
        }
        let width = self.encoder.config().hidden;
        let mut found: Vec<Suggestion> = Vec::new();
        let mut told = 0;
        for (w, window) in reading.windows.iter().enumerate() {
            let rows = states(w).chunks_exact(width).skip(window.offset);
            for (piece, state) in window.pieces.iter().zip(rows) {
                if piece.start < told {
                    continue;
                }
                told = piece.end;
                let (id, probability) = self.most_likely(state);
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
        found
    }

    /// The vocabulary entry the reconstruction head likes best at a position, and its probability (equation 4).
    fn most_likely(&self, state: &[f32]) -> (u32, f64) {
        let own = self.heads.reconstruction.as_slice();
        let mut logits: Vec<f32> = if own.is_empty() {
            self.encoder.word_products(state)
        } else {
            let product = |row: &[f32]| row.iter().zip(state).map(|(w, x)| w * x).sum();
            own.chunks_exact(state.len()).map(product).collect()
        };
        logits.iter_mut().zip(&self.heads.reconstruction_bias).for_each(|(logit, bias)| *logit += bias);
        let (best, top) = logits
            .iter()
            .enumerate()
            .fold((0, f32::NEG_INFINITY), |best, (i, &x)| if x > best.1 { (i, x) } else { best });
        let sum: f64 = logits.iter().map(|&x| f64::from(x - top).exp()).sum();
        (best as u32, 1.0 / sum)
    }
}
