//! Calibration: what the score must be divided and moved by so that it is a probability.

use rayon::prelude::*;
use storymeter_core::Story;
use storymeter_core::split::{Split, assign};
use storymeter_perturb::{Config, DEFAULT_SAMPLE, DonorSampler, Perturber};
use storymeter_text::{lexicon::Lexicon, tagger::Tagger};

use crate::{Error, Result, Scorer, normalise};

/// A draw of negatives that training does not use.
const DRAW: u64 = u64::MAX - 3;

/// The probability is sigmoid((logit - bias) / temperature).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// See [`crate::Card::temperature`].
    pub temperature: f64,
    /// See [`crate::Card::bias`].
    pub bias: f64,
    /// Human stories, and as many damaged ones, it was fitted on.
    pub pairs: usize,
}

/// Fits a calibration on the dev part of human stories, by the seed, and fresh negatives of them (Platt scaling: Platt 1999).
///
/// Averaged models need it: the mean of several heads is shorter than each of them.
///
/// # Errors
/// With too few stories, and where the model does not tell human stories from damaged ones at all.
pub fn calibrate(scorer: &Scorer, stories: &[Story], seed: u64) -> Result<Calibration> {
    let numbered = stories.iter().enumerate().map(|(i, story)| (i as u64, story));
    let dev: Vec<(u64, Story)> = numbered
        .filter(|(number, _)| assign(seed, *number) == Split::Dev)
        .map(|(number, story)| (number, normalise(story, scorer.card())))
        .collect();
    let (tagger, lexicon) = (Tagger::embedded(), Lexicon::embedded());
    let mut sampler = DonorSampler::new(seed, DEFAULT_SAMPLE);
    dev.iter().for_each(|(number, story)| sampler.offer(*number, story));
    let donors = sampler.finish(tagger, lexicon);
    let perturber = Perturber::new(Config::default(), &donors, lexicon, tagger);
    let pairs: Vec<[Story; 2]> = dev
        .par_iter()
        .filter_map(|(number, story)| {
            let text = perturber.perturb(story, seed, *number, DRAW).ok()?.story;
            let damaged = Story { text, sentences: Vec::new(), ..story.clone() };
            Some([story.clone(), damaged])
        })
        .collect();
    let logits = |which: usize| -> Result<Vec<f64>> {
        let stories: Vec<&Story> = pairs.iter().map(|pair| &pair[which]).collect();
        Ok(scorer.score(&stories)?.iter().map(|score| score.logit).collect())
    };
    let (temperature, bias) = fit(&logits(0)?, &logits(1)?).ok_or_else(|| {
        let problem =
            "cannot be calibrated: too few stories, or no difference between human and damaged ones";
        Error::Training(format!("{} pairs of stories: the model {problem}", pairs.len()))
    })?;
    Ok(Calibration { temperature, bias, pairs: pairs.len() })
}

/// Logistic regression of the label on the logit, by Newton's method.
fn fit(human: &[f64], damaged: &[f64]) -> Option<(f64, f64)> {
    let labelled = || human.iter().map(|z| (*z, 1.0)).chain(damaged.iter().map(|z| (*z, 0.0)));
    let (mut slope, mut offset) = (1.0f64, 0.0f64);
    for _ in 0..100 {
        // Gradient and Hessian of the loss of slope * z + offset.
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for (z, label) in labelled() {
            let p = 1.0 / (1.0 + (-(slope * z + offset)).exp());
            let w = p * (1.0 - p);
            g = [g[0] + (p - label) * z, g[1] + p - label];
            h = [h[0] + w * z * z, h[1] + w * z, h[2] + w];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        if determinant <= 1e-12 {
            return None;
        }
        let step = [(h[2] * g[0] - h[1] * g[1]) / determinant, (h[0] * g[1] - h[1] * g[0]) / determinant];
        // A long step may overshoot where the two kinds are far apart.
        let shorter = (1.0 / step[0].abs().max(step[1].abs()).max(1e-300)).min(1.0);
        (slope, offset) = (slope - shorter * step[0], offset - shorter * step[1]);
        if step[0].abs().max(step[1].abs()) < 1e-12 {
            break;
        }
    }
    (slope.is_finite() && slope > 1e-3 && slope < 1e3).then(|| (1.0 / slope, -offset / slope))
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn logits_that_were_shrunk_and_moved_are_put_back() {
        // Labels drawn from sigmoid(3 z - 2), exactly in proportion.
        let (mut human, mut damaged) = (Vec::new(), Vec::new());
        for i in -20..=20 {
            let z = f64::from(i) / 10.0;
            let ones = (1000.0 / (1.0 + (-(3.0 * z - 2.0)).exp())).round() as usize;
            human.extend(vec![z; ones]);
            damaged.extend(vec![z; 1000 - ones]);
        }
        let (temperature, bias) = fit(&human, &damaged).unwrap();
        assert!(
            (temperature - 1.0 / 3.0).abs() < 1e-3 && (bias - 2.0 / 3.0).abs() < 1e-3,
            "{temperature} {bias}"
        );
        assert_eq!(fit(&[1.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(fit(&[], &[]), None);
    }
}
