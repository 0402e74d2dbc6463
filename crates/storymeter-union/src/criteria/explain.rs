//! Explains predictions: which sentences raise or lower each criterion.
//!
//! The vector of a story is the mean over its tokens, and a head is linear. So the output of a head
//! is exactly the mean of what it makes of each token, and the prediction is a sum with one part
//! per sentence, and one part for what belongs to no sentence: the intercept, the bias, the special
//! tokens and the share of UNION's score ([`ExplainedCriterion::base`]). The similarity of prompt
//! and story is such a sum over the sentences of the most similar window, if the length of its
//! vector is taken as it is.
//!
//! A long sentence has a large part whatever it says. What a sentence does to the prediction is
//! better seen from what it would be without it: the tokens of the sentence are left out of the
//! means, and the others stay as the encoders saw them, in the company of the sentence
//! ([`SentenceEffects::effects`]). This is exact for the mean and costs nothing, but it is not what
//! the model would say about the shortened text: there the other words would be read without the
//! sentence. So an effect says where in the text the prediction comes from. It does not promise
//! that an edit there has the same effect.

use std::ops::Range;

use serde::Serialize;
use storymeter_core::Story;
use storymeter_encoder::Batch;
use storymeter_text::kind::unlike_a_story;

use super::read::{Reading, has_words};
use super::scorer::{TextVector, dot, plain_probabilities};
use super::similarity::{Share, Similarity};
use super::{CriteriaScorer, Criterion, Predictions, Unpredicted};
use crate::opened::{TOKENS_PER_BATCH, batches};
use crate::{Result, Warning};

/// An explanation of the predictions for one story. Offsets are bytes of UTF-8 and refer to
/// [`Explanation::text`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The story as it was given. In JSON it stands beside what the metrics say, once for all.
    #[serde(skip)]
    pub text: String,
    /// One entry per criterion, in the order of the card.
    pub predictions: Vec<ExplainedCriterion>,
    /// What the story looks like, if not like a story in English prose.
    pub warnings: Vec<Warning>,
    /// What each sentence does to each criterion. It is empty for a text without words, and for a
    /// story of one sentence.
    pub sentences: Vec<SentenceEffects>,
}

/// An explained prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedCriterion {
    /// The criterion.
    pub name: String,
    /// The predicted rating. `None` if there is none.
    pub prediction: Option<f64>,
    /// The lower end of the 80% interval, if it is known.
    pub low: Option<f64>,
    /// The upper end of the 80% interval, if it is known.
    pub high: Option<f64>,
    /// Why there is no prediction.
    pub absent: Option<&'static str>,
    /// The part of the prediction that belongs to no sentence. Together with the contributions of
    /// all sentences it gives the prediction before that is kept within the scale.
    pub base: Option<f64>,
    /// The sentence that raises the prediction most. `None` if none does.
    pub raises: Option<StrongestSentence>,
    /// The sentence that lowers the prediction most. `None` if none does.
    pub lowers: Option<StrongestSentence>,
}

/// The sentence with the strongest effect on a prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrongestSentence {
    /// Its number in [`Explanation::sentences`], from 0.
    pub sentence: usize,
    /// Its words.
    pub text: String,
    /// Its effect; see [`SentenceEffects::effects`].
    pub effect: f64,
}

/// What a sentence does to the predictions. Lists are in the order of
/// [`Explanation::predictions`], and `None` stands where there is no prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SentenceEffects {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The prediction minus what it would be if the tokens of the sentence were left out of the
    /// mean, before it is kept within the scale.
    pub effects: Vec<Option<f64>>,
    /// The part of the prediction that belongs to the sentence.
    pub contributions: Vec<Option<f64>>,
}

/// A story whose tokens were read, with the shares of its sentences in the mean.
struct Weighed {
    vector: TextVector,
    tokens: f64,
    sentences: Vec<Share>,
    /// What belongs to no sentence: the special tokens.
    others: Share,
}

impl CriteriaScorer {
    /// Predicts the ratings of one story and explains them. There is no need to score the story as
    /// well: the predictions are those of [`CriteriaScorer::score`].
    ///
    /// The story is read once, so this takes hardly longer than the predictions alone.
    ///
    /// # Errors
    /// As [`CriteriaScorer::score`].
    pub fn explain(&self, story: &Story) -> Result<Explanation> {
        self.explained(story).map(|(explanation, _)| explanation)
    }

    /// The explanation, and the predictions as [`CriteriaScorer::score`] gives them.
    pub(super) fn explained(&self, story: &Story) -> Result<(Explanation, Predictions)> {
        let warnings = unlike_a_story(&story.text).into_iter().map(Warning::from).collect();
        if !has_words(&story.text) {
            let predictions = self.predictions(None);
            let named = self.named(&predictions);
            let text = story.text.clone();
            let explanation = Explanation { text, predictions: named, warnings, sentences: vec![] };
            return Ok((explanation, predictions));
        }
        let reading = Reading::new(&self.model.tokenizer, &self.model.card, story);
        let weighed = self.weigh(&reading)?;
        let ranges = ranges(&reading);
        let similarity = match self.comparer() {
            Some(own) if self.criteria().needs_prompt() => own.weigh_closeness(story, &ranges)?,
            _ => None,
        };
        let union = self.union(1, |union| plain_probabilities(union, &[story]))?;
        let union = union.first().copied().unwrap_or_default();
        let cosine = similarity.as_ref().map(|own| own.value);
        let raw = self.raw_of(&weighed.vector, cosine, union);
        let predictions = self.predictions(Some(&raw));
        let mut explained = self.named(&predictions);
        let mut sentences = Vec::new();
        if reading.sentences.len() > 1 {
            let parts = Parts::new(self, &weighed, similarity, union);
            for (own, base) in explained.iter_mut().zip(parts.bases(&weighed.others)) {
                own.base = own.prediction.and(Some(base));
            }
            sentences = sentence_effects(&ranges, &weighed, &parts, &explained);
        }
        for (place, own) in explained.iter_mut().enumerate() {
            [own.raises, own.lowers] = strongest(story, &sentences, place);
        }
        let text = story.text.clone();
        let explanation = Explanation { text, predictions: explained, warnings, sentences };
        Ok((explanation, predictions))
    }

    /// The predictions with their names, and nothing about sentences.
    fn named(&self, predictions: &Predictions) -> Vec<ExplainedCriterion> {
        let named = |(criterion, prediction): (&Criterion, &Result<_, Unpredicted>)| {
            let known = prediction.as_ref().ok().copied();
            let interval = known.and_then(|own: super::Prediction| own.interval);
            ExplainedCriterion {
                name: criterion.name.clone(),
                prediction: known.map(|own| own.value),
                low: interval.map(|[low, _]| low),
                high: interval.map(|[_, high]| high),
                absent: prediction.as_ref().err().map(|why| why.reason()),
                base: None,
                raises: None,
                lowers: None,
            }
        };
        self.criteria().heads.iter().zip(predictions).map(named).collect()
    }

    /// Reads a story and adds up the states of each sentence. Windows go through the encoder in
    /// batches, and only sums are kept.
    fn weigh(&self, reading: &Reading) -> Result<Weighed> {
        let width = self.model.engine.config().hidden;
        let mut sentences = vec![Share::new(width); reading.sentences.len()];
        let mut others = Share::new(width);
        let mut vectors = Vec::with_capacity(reading.windows.len());
        let ids: Vec<&[u32]> = reading.windows.iter().map(|one| one.ids.as_slice()).collect();
        let mut remaining = reading.windows.iter();
        for batch in batches(&ids, TOKENS_PER_BATCH) {
            let states = self.model.states(&batch)?;
            for (at, window) in (0..Batch::len(&batch)).zip(remaining.by_ref()) {
                let states = states.story(at);
                vectors.push((window.ids.len(), self.model.pool(states)));
                for (token, state) in states.chunks_exact(width).enumerate() {
                    let piece = token.checked_sub(window.offset);
                    let piece = piece.and_then(|piece| window.pieces.get(piece));
                    let own = piece.and_then(|piece| {
                        let next = reading.sentences.partition_point(|s| s.end <= piece.start);
                        sentences.get_mut(next)
                    });
                    own.unwrap_or(&mut others).add(state);
                }
            }
        }
        let tokens = ids.iter().map(|ids| ids.len()).sum::<usize>() as f64;
        // A text has at least one window.
        let vector = TextVector::new(vectors.into_iter())
            .unwrap_or(TextVector { mean: vec![0.0; width], windows: 0 });
        Ok(Weighed { vector, tokens, sentences, others })
    }
}

/// Where the sentences are in the story as it was given.
fn ranges(reading: &Reading) -> Vec<Range<usize>> {
    let mut end_before = 0;
    let range = |sentence: &storymeter_text::Span| {
        // A mark that stands for several in the story may belong to two sentences.
        let own = reading.origin.old_range(sentence.start..sentence.end);
        let start = own.start.max(end_before);
        end_before = own.end.max(start);
        start..end_before
    };
    reading.sentences.iter().map(range).collect()
}

/// What each sentence does to each criterion that has a prediction.
fn sentence_effects(
    ranges: &[Range<usize>],
    weighed: &Weighed,
    parts: &Parts<'_>,
    explained: &[ExplainedCriterion],
) -> Vec<SentenceEffects> {
    let only_predicted = |numbers: Vec<f64>| -> Vec<Option<f64>> {
        let known = explained.iter().map(|own| own.prediction);
        known.zip(numbers).map(|(known, number)| known.and(Some(number))).collect()
    };
    let effects = |(number, (range, share)): (usize, (&Range<usize>, &Share))| SentenceEffects {
        start: range.start,
        end: range.end,
        effects: only_predicted(parts.effects(number, share)),
        contributions: only_predicted(parts.contributions(number, share)),
    };
    ranges.iter().zip(&weighed.sentences).enumerate().map(effects).collect()
}

/// Everything that turns the shares of sentences into parts of predictions.
struct Parts<'a> {
    scorer: &'a CriteriaScorer,
    mean: &'a [f64],
    tokens: f64,
    /// `None` without a prompt, or if no criterion needs it.
    similarity: Option<Similarity>,
    /// UNION's score in standard units. It belongs to no sentence here: `union` has an explanation
    /// of its own.
    union: f64,
    /// The predictions before they are kept within the scale.
    unbounded: Vec<f64>,
}

impl<'a> Parts<'a> {
    fn new(
        scorer: &'a CriteriaScorer,
        weighed: &'a Weighed,
        similarity: Option<Similarity>,
        union: f64,
    ) -> Self {
        let (mean, tokens) = (weighed.vector.mean.as_slice(), weighed.tokens);
        let value = similarity.as_ref().map(|own| own.value);
        let mut parts = Self { scorer, mean, tokens, similarity, union, unbounded: Vec::new() };
        parts.unbounded = parts.predicted(mean, value);
        parts
    }

    /// The predictions for a mean vector and a similarity, before they are kept within the scale.
    fn predicted(&self, mean: &[f64], similarity: Option<f64>) -> Vec<f64> {
        let outputs = self.scorer.outputs(mean, self.union);
        let heads = self.scorer.criteria().heads.iter().zip(outputs);
        heads
            .map(|(criterion, output)| match &criterion.calibration {
                Some(own) => own.unbounded(output, similarity.unwrap_or(f64::NAN)),
                None => output,
            })
            .collect()
    }

    /// What the predictions are more than they would be without this sentence.
    fn effects(&self, sentence: usize, share: &Share) -> Vec<f64> {
        let left = self.tokens - share.tokens;
        let without: Vec<f64> = self
            .mean
            .iter()
            .zip(&share.sum)
            .map(|(x, sum)| (self.tokens * x - sum) / left)
            .collect();
        let similarity = self.similarity.as_ref().map(|own| own.without[sentence]);
        let less = self.predicted(&without, similarity);
        self.unbounded.iter().zip(less).map(|(all, less)| all - less).collect()
    }

    /// The parts of the predictions that belong to this sentence.
    fn contributions(&self, sentence: usize, share: &Share) -> Vec<f64> {
        self.parts(share, self.similarity.as_ref().map_or(0.0, |own| own.parts[sentence]))
    }

    /// The parts of the predictions that belong to some tokens and a part of the similarity.
    fn parts(&self, share: &Share, similarity: f64) -> Vec<f64> {
        let rows = self.scorer.model.heads.criteria.chunks_exact(self.mean.len());
        let heads = self.scorer.criteria().heads.iter().zip(rows);
        heads
            .map(|(criterion, row)| {
                let output = dot(row, &share.sum) / self.tokens;
                match &criterion.calibration {
                    Some(own) => own.head * output + own.cosine * similarity,
                    None => output,
                }
            })
            .collect()
    }

    /// The parts of the predictions that belong to no sentence.
    fn bases(&self, others: &Share) -> Vec<f64> {
        let biases = &self.scorer.model.heads.criteria_bias;
        let heads = self.scorer.criteria().heads.iter().zip(biases);
        let fixed = heads.map(|(criterion, bias)| {
            let output = f64::from(*bias) + criterion.union * self.union;
            match &criterion.calibration {
                Some(own) => own.intercept + own.head * output,
                None => output,
            }
        });
        let rest = self.similarity.as_ref().map_or(0.0, |own| own.rest);
        fixed.zip(self.parts(others, rest)).map(|(fixed, own)| fixed + own).collect()
    }
}

/// The sentences that raise and lower a prediction most. Of equal ones, the first is taken.
fn strongest(
    story: &Story,
    sentences: &[SentenceEffects],
    place: usize,
) -> [Option<StrongestSentence>; 2] {
    [1.0, -1.0].map(|sign| {
        let mut best: Option<(usize, f64)> = None;
        for (number, sentence) in sentences.iter().enumerate() {
            let Some(effect) = sentence.effects[place] else { continue };
            if sign * effect > best.map_or(0.0, |(_, known)| sign * known) {
                best = Some((number, effect));
            }
        }
        best.map(|(sentence, effect)| {
            let SentenceEffects { start, end, .. } = sentences[sentence];
            StrongestSentence { sentence, text: story.text[start..end].to_owned(), effect }
        })
    })
}
