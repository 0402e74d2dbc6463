//! Fits the numbers that turn logits into probabilities, for the score and for the diagnosis.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use storymeter_core::rng::StreamId;
use storymeter_core::split::{Split, assign};
use storymeter_core::{Progress, Story};
use storymeter_perturb::{CheckedConfig, DEFAULT_SAMPLE, DonorSampler, Perturber, Technique};
use storymeter_text::{lexicon::Lexicon, tagger::Tagger};

use crate::logistic::{fit, sigmoid};
use crate::{Error, Result, Score, UnionScorer, normalise};

/// How many stories are scored between two reports of progress.
const PORTION: usize = 256;

/// A fitted calibration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The temperature of the score; see [`crate::Card::temperature`].
    pub temperature: f64,
    /// The bias of the score; see [`crate::Card::temperature`].
    pub bias: f64,
    /// See [`crate::Card::diagnosis_calibration`]. A model without a diagnosis head has the
    /// default.
    pub diagnosis: [DamageCalibration; 4],
    /// The number of pairs of a human and a damaged story on which it was fitted.
    pub pairs: usize,
}

/// The calibration of one kind of damage.
///
/// The probability is sigmoid(scale * logit + overlap * found + bias), where `found` is
/// [`Score::overlap`]. The default is the plain sigmoid of the logit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DamageCalibration {
    /// The weight of the head's logit.
    pub scale: f64,
    /// The weight of the largest share of word pairs that two sentences of a window have in common.
    /// It is fitted for repetition only, and 0 for the other kinds.
    pub overlap: f64,
    /// A number that is added.
    pub bias: f64,
}

impl Default for DamageCalibration {
    fn default() -> Self {
        Self { scale: 1.0, overlap: 0.0, bias: 0.0 }
    }
}

impl DamageCalibration {
    pub(crate) fn probability(&self, logit: f64, found: f64) -> f64 {
        sigmoid(self.scale * logit + self.overlap * found + self.bias)
    }

    pub(crate) fn is_finite(&self) -> bool {
        [self.scale, self.overlap, self.bias].iter().all(|number| number.is_finite())
    }
}

/// Fits a calibration on the dev part of human stories and new negatives made from them (Platt
/// scaling, Platt 1999). The lexicon has the antonyms and keywords of the negatives, and should be
/// that of the training. The seed decides which stories are in the dev part. `progress` hears how
/// many of them are scored.
///
/// Averaged models need this, because the mean of several heads is shorter than each of them. An
/// output of the diagnosis is fitted to tell the negatives that its technique damaged from all
/// other stories.
///
/// # Errors
/// Returns [`Error::Calibration`] if there are too few stories, or if the model does not score
/// human stories higher than damaged ones.
pub fn calibrate(
    scorer: &UnionScorer,
    stories: &[Story],
    lexicon: &Lexicon,
    seed: u64,
    progress: &Progress,
) -> Result<Calibration> {
    let numbered = stories.iter().enumerate().map(|(i, story)| (i as u64, story));
    let dev: Vec<(u64, Story)> = numbered
        .filter(|(number, _)| assign(seed, *number) == Split::Dev)
        .map(|(number, story)| (number, normalise(story, scorer.card())))
        .collect();
    let tagger = Tagger::embedded();
    let mut sampler = DonorSampler::new(seed, DEFAULT_SAMPLE);
    dev.iter().for_each(|(number, story)| sampler.offer(*number, story));
    let donors = sampler.finish(tagger, lexicon);
    let perturber = Perturber::new(CheckedConfig::default(), &donors, lexicon, tagger);
    let pairs: Vec<([Story; 2], Vec<Technique>)> = dev
        .par_iter()
        .filter_map(|(number, story)| {
            let stream = StreamId::CalibrationNegative { record: *number };
            let negative = perturber.perturb(story, seed, stream).ok()?;
            let damaged = Story { text: negative.story, sentences: Vec::new(), ..story.clone() };
            Some(([story.clone(), damaged], negative.techniques))
        })
        .collect();
    progress.begin("calibrating");
    progress.expect(2 * pairs.len() as u64);
    let scores = |which: usize| -> Result<Vec<Score>> {
        let stories: Vec<&Story> = pairs.iter().map(|(pair, _)| &pair[which]).collect();
        let mut scores = Vec::with_capacity(stories.len());
        for portion in stories.chunks(PORTION) {
            scores.extend(scorer.score(portion)?);
            progress.advance(portion.len() as u64);
        }
        Ok(scores)
    };
    let (human, damaged) = (scores(0)?, scores(1)?);
    progress.end();
    let techniques = pairs.iter().map(|(_, techniques)| techniques.as_slice());
    let examples: Vec<Example<'_>> = human
        .iter()
        .map(|score| Example { score, damage: None })
        .chain(
            damaged.iter().zip(techniques).map(|(score, by)| Example { score, damage: Some(by) }),
        )
        .collect();
    let (temperature, bias) =
        score_calibration(&examples).ok_or(Error::Calibration { pairs: pairs.len() })?;
    let diagnosis = Technique::ALL.map(|technique| damage_calibration(&examples, technique));
    Ok(Calibration { temperature, bias, diagnosis, pairs: pairs.len() })
}

/// A scored story and the techniques that damaged it, or `None` for a human story.
struct Example<'a> {
    score: &'a Score,
    damage: Option<&'a [Technique]>,
}

/// The temperature and the bias of the score, or `None` if it does not tell human stories from
/// damaged ones.
fn score_calibration(examples: &[Example<'_>]) -> Option<(f64, f64)> {
    let labelled =
        examples.iter().map(|example| ([example.score.logit, 1.0], example.damage.is_none()));
    let [slope, offset] = fit(&labelled.collect::<Vec<_>>())?;
    (slope > 1e-3 && slope < 1e3).then(|| (1.0 / slope, -offset / slope))
}

/// The calibration of one output of the diagnosis, or the default if the model has no diagnosis
/// head.
fn damage_calibration(examples: &[Example<'_>], technique: Technique) -> DamageCalibration {
    let logit = |example: &Example<'_>| Some(example.score.damage_logits?[technique.index()]);
    let label = |example: &Example<'_>| example.damage.is_some_and(|by| by.contains(&technique));
    let fitted = if technique == Technique::Repetition {
        let labelled = |e: &Example<'_>| Some(([logit(e)?, e.score.overlap, 1.0], label(e)));
        let labelled: Option<Vec<_>> = examples.iter().map(labelled).collect();
        labelled.and_then(|labelled| fit(&labelled))
    } else {
        let labelled = |e: &Example<'_>| Some(([logit(e)?, 1.0], label(e)));
        let labelled: Option<Vec<_>> = examples.iter().map(labelled).collect();
        labelled.and_then(|labelled| fit(&labelled)).map(|[scale, bias]| [scale, 0.0, bias])
    };
    fitted.map_or_else(DamageCalibration::default, |[scale, overlap, bias]| DamageCalibration {
        scale,
        overlap,
        bias,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The score of a story with these logits and this overlap.
    fn score(logit: f64, damage: f64, overlap: f64) -> Score {
        let damage = Some([damage; 4]);
        Score {
            probability: 0.5,
            logit,
            damage,
            damage_logits: damage,
            overlap,
            repeated: 0.0,
            windows: 1,
        }
    }

    fn examples<'a>(scores: &'a [(Score, Option<Technique>)]) -> Vec<Example<'a>> {
        let example = |(score, by): &'a (Score, Option<Technique>)| Example {
            score,
            damage: by.as_ref().map(std::slice::from_ref),
        };
        scores.iter().map(example).collect()
    }

    #[test]
    fn logits_that_were_shrunk_and_moved_are_put_back() {
        // The shares of the labels are exactly sigmoid(3 z - 2).
        let mut scores = Vec::new();
        for i in -20..=20 {
            let z = f64::from(i) / 10.0;
            let human = (1000.0 * sigmoid(3.0 * z - 2.0)).round() as usize;
            scores.extend(
                (0..1000)
                    .map(|n| (score(z, 0.0, 0.0), (n >= human).then_some(Technique::Negation))),
            );
        }
        let (temperature, bias) = score_calibration(&examples(&scores)).unwrap();
        assert!(
            (temperature - 1.0 / 3.0).abs() < 1e-3 && (bias - 2.0 / 3.0).abs() < 1e-3,
            "{temperature} {bias}"
        );
    }

    #[test]
    fn a_score_that_tells_nothing_cannot_be_calibrated() {
        let same = [None, Some(Technique::Negation)].map(|by| (score(1.0, 0.0, 0.0), by));
        assert_eq!(score_calibration(&examples(&same)), None);
        assert_eq!(score_calibration(&[]), None);
    }

    #[test]
    fn overlap_counts_for_repetition_alone() {
        // Both techniques mostly have a logit of 1, and an overlap in half of the stories.
        let mut scores = Vec::new();
        for technique in [Technique::Repetition, Technique::Reordering] {
            for n in 0..40 {
                let (logit, overlap) =
                    (f64::from(u8::from(n % 4 != 0)), f64::from(u8::from(n % 2 == 0)));
                scores.push((score(0.0, logit, overlap), Some(technique)));
                scores
                    .push((score(0.0, 1.0 - logit, if n % 10 == 0 { overlap } else { 0.0 }), None));
            }
        }
        let fitted = |technique| damage_calibration(&examples(&scores), technique);
        let [repetition, reordering] = [Technique::Repetition, Technique::Reordering].map(fitted);
        assert!(
            repetition.scale > 0.0 && repetition.overlap > 0.0 && repetition.bias < 0.0,
            "{repetition:?}"
        );
        assert!(
            reordering.scale > 0.0 && reordering.overlap == 0.0 && reordering.bias < 0.0,
            "{reordering:?}"
        );
        assert!(repetition.probability(0.0, 1.0) > repetition.probability(0.0, 0.0));
    }

    #[test]
    fn a_model_without_a_diagnosis_keeps_the_plain_sigmoid() {
        let plain = Score { damage: None, damage_logits: None, ..score(1.0, 0.0, 0.5) };
        let fitted = damage_calibration(&examples(&[(plain, None)]), Technique::Repetition);
        assert_eq!(fitted, DamageCalibration::default());
        assert_eq!(fitted.probability(0.3, 1.0), sigmoid(0.3));
    }
}
