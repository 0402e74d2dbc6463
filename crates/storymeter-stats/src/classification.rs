//! Agreement between labels, and between scores and labels.

use std::collections::BTreeMap;

use crate::error::{Result, StatsError, Undefined};
use crate::rank::mid_ranks_unchecked;

/// F1 averaged over the classes, weighted by how often each occurs in the truth (scikit-learn's
/// `f1_score(average="weighted")`).
///
/// Per class `F1 = 2 TP / (2 TP + FP + FN)`; a class that is never true has weight 0, one that is never predicted
/// contributes 0.
///
/// ```
/// let f1 = storymeter_stats::weighted_f1(&[0, 1, 1, 2], &[0, 1, 2, 1])?;
/// assert!((f1 - (0.25 * 1.0 + 0.5 * 0.5)).abs() < 1e-15);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
pub fn weighted_f1<L: Ord>(truth: &[L], predicted: &[L]) -> Result<f64> {
    StatsError::check_pairs(truth.len(), predicted.len())?;
    StatsError::check_count("weighted F1", "labels", 1, truth.len())?;
    #[derive(Default)]
    struct Class {
        hits: f64,
        truths: f64,
        predictions: f64,
    }
    let mut classes: BTreeMap<&L, Class> = BTreeMap::new();
    for (t, p) in truth.iter().zip(predicted) {
        classes.entry(t).or_default().truths += 1.0;
        classes.entry(p).or_default().predictions += 1.0;
        if t == p {
            classes.entry(t).or_default().hits += 1.0;
        }
    }
    let sum: f64 =
        classes.values().map(|c| c.truths * 2.0 * c.hits / (c.truths + c.predictions)).sum();
    Ok(sum / truth.len() as f64)
}

/// Area under the ROC curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Auc {
    /// Probability that a positive scores above a negative, ties half; NaN when there is only one class.
    pub value: f64,
    /// Number of positives.
    pub positives: usize,
    /// Number of negatives.
    pub negatives: usize,
    /// Why the value is NaN, if it is.
    pub undefined: Option<Undefined>,
}

/// Area under the ROC curve, by the rank sum of the positives: `(R⁺ - p(p+1)/2) / (p q)` with mid-ranks, `p`
/// positives and `q` negatives. A NaN score is an error.
pub fn auc(scores: &[f64], positive: &[bool]) -> Result<Auc> {
    StatsError::check_pairs(scores.len(), positive.len())?;
    if let Some(index) = scores.iter().position(|s| s.is_nan()) {
        return Err(StatsError::NotFinite { what: "scores", index, value: f64::NAN });
    }
    let positives = positive.iter().filter(|&&p| p).count();
    let negatives = positive.len() - positives;
    if positives == 0 || negatives == 0 {
        return Ok(Auc {
            value: f64::NAN,
            positives,
            negatives,
            undefined: Some(Undefined::NoVariation),
        });
    }
    let ranks = mid_ranks_unchecked(scores);
    let sum: f64 = ranks.iter().zip(positive).filter(|(_, p)| **p).map(|(rank, _)| rank).sum();
    let (p, q) = (positives as f64, negatives as f64);
    Ok(Auc { value: (sum - p * (p + 1.0) / 2.0) / (p * q), positives, negatives, undefined: None })
}
