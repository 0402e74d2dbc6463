//! Explains a score: which sentences raise or lower it, what kind of damage the story seems to
//! have, and what the model would write instead.

use serde::Serialize;
use storymeter_core::{Effect, Story};
use storymeter_encoder::{Batch, PackedRows};
use storymeter_perturb::Technique;
use storymeter_text::kind::{TextKind, unlike_a_story};

use crate::reference_scores::{ReferenceScores, Standing};
use crate::scorer::Reading;
use crate::weigh::Part;
use crate::{Reconstruction, Result, UnionScorer};

/// The number of positions for which logits over the vocabulary are computed together. It bounds
/// the memory.
const POSITIONS: usize = 64;

/// A sentence that changes the score by less hardly changes it. This is the error of an effect: if
/// a human story is told with synonyms, other contractions or other punctuation, the effects of
/// nine in ten sentences move by less (`tools/effect_error.py`, docs/explain.md).
pub(crate) const HARDLY: f64 = 0.07;
/// A sentence that changes the score by less changes it a little.
pub(crate) const LITTLE: f64 = 0.1;
/// A sentence that changes the score by as much changes it a lot: one in ten sentences.
pub(crate) const LOT: f64 = 0.2;

/// Of stories with a lower score, the pair of sentences that fits least is looked for. Of human
/// stories with five sentences, 2 in 100 have such a score.
const LOW_SCORE: f64 = 0.2;

/// An explanation of the score of one story. Offsets are bytes of UTF-8 and refer to
/// [`Explanation::text`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The story as it was given.
    pub text: String,
    /// The story as the model read it, for example with masked names.
    pub read_as: String,
    /// The UNION score.
    pub union: f64,
    /// The logit before calibration.
    pub logit: f64,
    /// How much repeated words lower the calibrated logit; see [`crate::Card::repetition`]. It is
    /// not part of the contributions of the sentences.
    pub repetition_cost: f64,
    /// How much repeated words lower the score.
    pub repetition_effect: f64,
    /// Where the score stands among those of human and of machine stories. `None` if the model has
    /// no [reference scores](ReferenceScores), or the story has no letter or digit.
    pub standing: Option<Standing>,
    /// What the story looks like, if not like a story in English prose.
    pub warnings: Vec<Warning>,
    /// The kind of damage that the story seems to have. `None` if the model has no diagnosis head,
    /// or the story has no letter or digit.
    pub diagnosis: Option<Diagnosis>,
    /// What each sentence adds to the score. It is empty for a story of one sentence.
    pub sentences: Vec<SentenceShare>,
    /// The two neighbouring sentences that fit least. They are looked for if the score is below
    /// 0.2, no single sentence is to blame, and there is no warning.
    pub weakest_pair: Option<WeakPair>,
    /// The places at which the reconstruction head prefers another token to the one that is there,
    /// whatever its probability (appendix D of the paper). It is empty if the model has no such
    /// head. A head that was trained for a few thousand steps prefers others nearly everywhere,
    /// with probabilities of a few percent; see docs/results.md.
    pub edits: Vec<Suggestion>,
    /// Whether every sentence was asked for, so that all are shown to people; see
    /// [`UnionScorer::explain_every_sentence`].
    #[serde(skip)]
    pub every_sentence: bool,
}

/// A reason to doubt the score of a text: the metric was not made for such texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The kind of text, in one or two words.
    pub kind: &'static str,
    /// What the text looks like, as the end of a sentence that begins with "it".
    pub looks: &'static str,
}

impl From<TextKind> for Warning {
    fn from(kind: TextKind) -> Self {
        Self { kind: kind.name(), looks: kind.looks() }
    }
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
    /// Which of them agree with what readers found. `None` if nobody has compared them.
    pub trusted: Option<Trust>,
}

/// For each kind of damage, whether readers confirm the diagnosis
/// ([`crate::DiagnosisArea::is_trusted`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Trust {
    /// See [`Diagnosis::repetition`].
    pub repetition: bool,
    /// See [`Diagnosis::incoherence`].
    pub incoherence: bool,
    /// See [`Diagnosis::wrong_order`].
    pub wrong_order: bool,
    /// See [`Diagnosis::contradiction`].
    pub contradiction: bool,
}

impl Trust {
    fn new(reference: &ReferenceScores) -> Option<Self> {
        let areas = &reference.diagnosis;
        let trusted =
            |output: &str| areas.iter().any(|area| area.output == output && area.is_trusted());
        (!areas.is_empty()).then(|| Self {
            repetition: trusted("repetition"),
            incoherence: trusted("incoherence"),
            wrong_order: trusted("wrong order"),
            contradiction: trusted("contradiction"),
        })
    }
}

impl Diagnosis {
    fn new(damage: [f64; 4], reference: Option<&ReferenceScores>) -> Self {
        let probability = |technique: Technique| damage[technique.index()];
        Self {
            repetition: probability(Technique::Repetition),
            incoherence: probability(Technique::Substitution),
            wrong_order: probability(Technique::Reordering),
            contradiction: probability(Technique::Negation),
            trusted: reference.and_then(Trust::new),
        }
    }
}

/// What a sentence adds to the score of its story.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SentenceShare {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The logit of the story minus its logit without the sentence. It is negative if the story
    /// would score higher without it. `None` if the sentence belongs to a long story and was not
    /// weighed; see [`UnionScorer::explain`].
    pub contribution: Option<f64>,
    /// The score with the sentence minus the score without it. Of a story that is read in several
    /// windows, the score is that of the windows with this sentence, because a sentence hardly
    /// changes the score of a long story. What repeated words cost is left as it is.
    pub effect: Option<f64>,
    /// The effect in words.
    pub in_words: Option<Effect>,
}

/// Two neighbouring sentences that do not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WeakPair {
    /// The number of the first of the two sentences in [`Explanation::sentences`], from 0.
    pub first: usize,
    /// The score of the two sentences as a story of their own.
    pub score: f64,
}

/// A change of the score as it is shown.
pub(crate) fn two_digits(change: f64) -> f64 {
    (100.0 * change).round() / 100.0
}

/// The step that a change of the score belongs to, with the two digits that are shown.
pub(crate) fn effect_of(change: f64) -> Effect {
    let size = two_digits(change.abs());
    match (change < 0.0, size) {
        _ if size < HARDLY => Effect::Neither,
        (true, _) if size < LITTLE => Effect::LowersALittle,
        (true, _) if size < LOT => Effect::Lowers,
        (true, _) => Effect::LowersALot,
        (false, _) if size < LITTLE => Effect::RaisesALittle,
        (false, _) if size < LOT => Effect::Raises,
        (false, _) => Effect::RaisesALot,
    }
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

impl UnionScorer {
    /// Scores one story and explains the score. There is no need to score the story as well.
    ///
    /// A window of n sentences is read n more times, each time without one of them. So a short
    /// story of n sentences takes about n times as long as its score alone. Of a long story, only
    /// the sentences of the windows with the lowest logits are weighed: as many as possible without
    /// reading more tokens again than the story has, or than 65,536 if it has fewer. This takes
    /// about twice the time of the score. All sentences of a story that fits into one window are
    /// weighed. If the score is low and no sentence is to blame, the pairs of neighbours of one
    /// window are read as well.
    ///
    /// ```
    /// # if !storymeter_union::HAS_EMBEDDED { return Ok(()); }
    /// let scorer = storymeter_union::UnionScorer::embedded()?;
    /// let text = "Ken lost his kite. He looked in the barn. Ken lost his kite.".into();
    /// let explanation = scorer.explain(&storymeter_core::Story { text, ..Default::default() })?;
    /// assert!(explanation.sentences.iter().all(|sentence| sentence.contribution.is_some()));
    /// assert!(explanation.diagnosis.is_some_and(|diagnosis| diagnosis.repetition > 0.5));
    /// # Ok::<(), storymeter_union::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`UnionScorer::score`].
    pub fn explain(&self, story: &Story) -> Result<Explanation> {
        self.explained(story, false)
    }

    /// Explains a score as [`UnionScorer::explain`] does, but weighs every sentence, however long
    /// the story is, and shows all of them to people.
    ///
    /// # Errors
    /// As [`UnionScorer::score`].
    pub fn explain_every_sentence(&self, story: &Story) -> Result<Explanation> {
        self.explained(story, true)
    }

    fn explained(&self, story: &Story, every_sentence: bool) -> Result<Explanation> {
        let reading = self.read(story);
        let batch: Batch = reading.windows.iter().map(|window| window.ids.as_slice()).collect();
        let hidden = self.model.states(&batch)?;
        let vectors: Vec<Vec<f32>> =
            (0..batch.len()).map(|w| self.model.pool(hidden.story(w))).collect();
        let mut edits = self.suggestions(&reading, |w| hidden.story(w));
        for edit in &mut edits {
            let own = reading.origin.old_range(edit.start..edit.end);
            (edit.start, edit.end) = (own.start, own.end);
            story.text[own].clone_into(&mut edit.text);
        }
        let parts: Vec<Part> = vectors
            .iter()
            .zip(&reading.measures)
            .map(|(v, measure)| self.part(v, measure.tokens))
            .collect();
        let score = self.combine(vectors.into_iter(), &reading.measures);
        let wordless = reading.is_wordless();
        let sentences = self.shares(&reading, &parts, &score, every_sentence)?;
        let blamed = |sentence: &SentenceShare| sentence.effect.is_some_and(|by| by <= -LITTLE);
        let warnings: Vec<Warning> =
            unlike_a_story(&story.text).into_iter().map(Warning::from).collect();
        // A poem or a German text scores low for another reason.
        let weakest_pair = if score.probability < LOW_SCORE
            && warnings.is_empty()
            && !sentences.iter().any(blamed)
        {
            self.weakest_pair(&reading, &parts)?
        } else {
            None
        };
        let reference = self.model.card.about.reference_scores.as_ref().filter(|_| !wordless);
        let words = story.text.split_whitespace().count() as u64;
        let own = reference.and_then(|one| one.column(self.model.card.kind.metric()));
        Ok(Explanation {
            union: score.probability,
            logit: score.logit,
            repetition_cost: self.model.card.repetition * score.repeated,
            repetition_effect: if wordless {
                0.0
            } else {
                self.model.card.probability(score.logit, 0.0) - score.probability
            },
            standing: own.and_then(|one| one.standing(score.probability, words)),
            warnings,
            diagnosis: score.damage.map(|damage| Diagnosis::new(damage, reference)),
            sentences,
            weakest_pair,
            edits,
            every_sentence,
            text: story.text.clone(),
            read_as: reading.text,
        })
    }

    /// The pieces for which the reconstruction head prefers another one. A piece that is in two
    /// windows is reported once.
    fn suggestions<'a>(
        &self,
        reading: &Reading,
        states: impl Fn(usize) -> &'a [f32],
    ) -> Vec<Suggestion> {
        if self.model.card.reconstruction == Reconstruction::None {
            return Vec::new();
        }
        let width = self.model.engine.config().hidden;
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
        let name = self.model.card.name_tokens.iter().find(|(_, entry)| **entry == id);
        let piece = || self.model.tokenizer.piece(id).unwrap_or("[UNK]");
        name.map_or_else(piece, |(text, _)| text).to_owned()
    }

    /// The logits of all vocabulary entries for each position (equation 4).
    fn reconstruction_logits(&self, states: &[f32], width: usize) -> Vec<Vec<f32>> {
        let own = self.model.heads.reconstruction.as_slice();
        let transformed;
        let states = if self.model.card.reconstruction == Reconstruction::Dense {
            transformed = self.model.heads.transformed(states, self.model.engine.config());
            &transformed
        } else {
            states
        };
        let mut logits: Vec<Vec<f32>> = if own.is_empty() {
            self.model.engine.word_products(states)
        } else {
            let rows = self.own_matrix.get_or_init(|| PackedRows::new(own, width));
            let mut products = vec![0.0; states.len() / width * rows.len()];
            rows.products(states, &mut products);
            products.chunks_exact(rows.len()).map(<[f32]>::to_vec).collect()
        };
        for logits in &mut logits {
            logits
                .iter_mut()
                .zip(&self.model.heads.reconstruction_bias)
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
