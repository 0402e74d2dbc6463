//! The share of UNION in the outputs of a criteria model.
//!
//! A model that learned from ratings knows what its raters liked, and knows it best for stories
//! like theirs. UNION knows what is wrong with damaged stories, whoever reads them. On stories of
//! other kinds than those that were rated, the sum of both agrees better with readers than either
//! of them (docs/experiments.md, section 8).

use serde::{Deserialize, Serialize};
use storymeter_core::Story;

use crate::{Error, Result, UnionScorer};

/// Probabilities closer to 0 or 1 than this count as if they were this close. UNION's hardly ever
/// are.
const SMALLEST: f64 = 1e-6;

/// Which UNION model counts, and what its scores are measured against.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct UnionShare {
    /// The fingerprint of the embedded UNION model that the numbers belong to.
    pub weights: String,
    /// The mean of the log-odds of its scores over the rated stories.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
}

impl UnionShare {
    /// Measures the scores of some stories.
    ///
    /// # Errors
    /// Returns [`Error::Ratings`] if they are all alike; and as [`UnionScorer::score`].
    pub fn measure(union: &UnionScorer, stories: &[&Story]) -> Result<(Self, Vec<f64>)> {
        let scores = union.score(stories)?;
        let odds: Vec<f64> = scores.iter().map(|score| log_odds(score.probability)).collect();
        let count = odds.len() as f64;
        let mean = odds.iter().sum::<f64>() / count;
        let deviation = (odds.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        if !(deviation.is_finite() && deviation > 0.0) {
            let problem = "UNION gives all rated stories the same score".to_owned();
            return Err(Error::Ratings { problem });
        }
        let weights = union.fingerprint().to_owned();
        let share = Self { weights, mean, deviation };
        let standard = odds.iter().map(|odds| share.standard(*odds)).collect();
        Ok((share, standard))
    }

    /// Probabilities in standard units.
    pub(crate) fn of(&self, probabilities: &[f64]) -> Vec<f64> {
        probabilities.iter().map(|own| self.standard(log_odds(*own))).collect()
    }

    fn standard(&self, odds: f64) -> f64 {
        (odds - self.mean) / self.deviation
    }

    /// What is wrong with it, if anything.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let fine = self.mean.is_finite() && self.deviation.is_finite() && self.deviation > 0.0;
        (!fine).then_some("criteria.union must have a finite mean and a positive deviation")
    }
}

/// The logarithm of the odds of a probability.
fn log_odds(probability: f64) -> f64 {
    let kept = probability.clamp(SMALLEST, 1.0 - SMALLEST);
    (kept / (1.0 - kept)).ln()
}
