//! Agreement between labels, and between scores and labels.

use std::collections::BTreeMap;

use crate::error::{Result, StatsError, Undefined};
use crate::rank::mid_ranks_unchecked;

/// The weighted F1 between true and predicted labels.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WeightedF1 {
    /// The F1 in [0, 1]; NaN without labels.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub value: f64,
    /// Number of items with both labels.
    pub n: usize,
    /// Number of items left out because one of the labels is missing.
    pub dropped: usize,
    /// Number of different labels in the truth.
    pub classes: usize,
    /// The reason why the value is NaN, if it is.
    pub undefined: Option<Undefined>,
}

impl WeightedF1 {
    /// The F1 if it says anything about the predictions.
    ///
    /// If all true labels are the same, always predicting that label has an F1 of 1. Two columns of
    /// random numbers that both call every pair of systems undecided would seem to agree fully.
    ///
    /// ```
    /// use storymeter_stats::{Undefined, weighted_f1};
    /// let undecided = weighted_f1(&["undecided"; 6], &["undecided"; 6])?;
    /// assert_eq!(undecided.value, 1.0);
    /// assert_eq!(undecided.informative(), Err(Undefined::NoVariation));
    /// # Ok::<(), storymeter_stats::StatsError>(())
    /// ```
    ///
    /// # Errors
    /// [`Undefined::TooFew`] without labels, [`Undefined::NoVariation`] if all true labels are the
    /// same.
    pub fn informative(&self) -> std::result::Result<f64, Undefined> {
        match (self.undefined, self.classes) {
            (Some(why), _) => Err(why),
            (None, 1) => Err(Undefined::NoVariation),
            (None, _) => Ok(self.value),
        }
    }
}

/// Computes the F1 per class, averaged with the frequency of the class in the truth as weight.
///
/// This is scikit-learn's `f1_score(average="weighted")`. Per class `F1 = 2 TP / (2 TP + FP + FN)`.
/// A class that is never true has weight 0, and a class that is never predicted contributes 0.
///
/// Without labels the F1 is undefined ([`Undefined::TooFew`]). [`WeightedF1::informative`] also
/// rejects the F1 of a truth that holds a single class.
///
/// ```
/// let f1 = storymeter_stats::weighted_f1(&[0, 1, 1, 2], &[0, 1, 2, 1])?;
/// assert!((f1.value - (0.25 * 1.0 + 0.5 * 0.5)).abs() < 1e-15);
/// let nothing = storymeter_stats::weighted_f1::<u8>(&[], &[])?;
/// assert!(nothing.value.is_nan());
/// assert_eq!(nothing.undefined.unwrap().to_string(), "0 complete observations, 1 needed");
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ.
pub fn weighted_f1<L: Ord>(truth: &[L], predicted: &[L]) -> Result<WeightedF1> {
    StatsError::check_pairs(truth.len(), predicted.len())?;
    Ok(f1(truth.iter().zip(predicted), 0))
}

/// Computes [`weighted_f1`] of labels of which some are missing.
///
/// An item that lacks one of its labels is left out and counted.
///
/// ```
/// let (truth, predicted) = ([Some('a'), Some('b'), None], [Some('a'), Some('b'), Some('a')]);
/// let f1 = storymeter_stats::weighted_f1_of_present(&truth, &predicted)?;
/// assert_eq!((f1.value, f1.n, f1.dropped), (1.0, 2, 1));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ.
pub fn weighted_f1_of_present<L: Ord>(
    truth: &[Option<L>],
    predicted: &[Option<L>],
) -> Result<WeightedF1> {
    StatsError::check_pairs(truth.len(), predicted.len())?;
    let present: Vec<(&L, &L)> =
        truth.iter().zip(predicted).filter_map(|(t, p)| Some((t.as_ref()?, p.as_ref()?))).collect();
    let dropped = truth.len() - present.len();
    Ok(f1(present.into_iter(), dropped))
}

fn f1<'a, L: Ord + 'a>(pairs: impl Iterator<Item = (&'a L, &'a L)>, dropped: usize) -> WeightedF1 {
    #[derive(Default)]
    struct Class {
        hits: f64,
        truths: f64,
        predictions: f64,
    }
    let mut classes: BTreeMap<&L, Class> = BTreeMap::new();
    let mut n = 0;
    for (t, p) in pairs {
        classes.entry(t).or_default().truths += 1.0;
        classes.entry(p).or_default().predictions += 1.0;
        if t == p {
            classes.entry(t).or_default().hits += 1.0;
        }
        n += 1;
    }
    let undefined = (n == 0).then_some(Undefined::TooFew { needed: 1, got: 0 });
    let weighted = |c: &Class| c.truths * 2.0 * c.hits / (c.truths + c.predictions);
    let value = match undefined {
        Some(_) => f64::NAN,
        None => classes.values().map(weighted).sum::<f64>() / n as f64,
    };
    let classes = classes.values().filter(|class| class.truths > 0.0).count();
    WeightedF1 { value, n, dropped, classes, undefined }
}

/// Area under the ROC curve.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Auc {
    /// Probability that a positive scores above a negative, ties counted half; NaN when there is
    /// only one class.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub value: f64,
    /// Number of positives.
    pub positives: usize,
    /// Number of negatives.
    pub negatives: usize,
    /// The reason why the value is NaN, if it is.
    pub undefined: Option<Undefined>,
}

/// Computes the area under the ROC curve from the rank sum of the positives.
///
/// `AUC = (R⁺ - p(p+1)/2) / (p q)` with mid-ranks, `p` positives and `q` negatives.
///
/// ```
/// let area = storymeter_stats::auc(&[0.9, 0.4, 0.6, 0.2], &[true, true, false, false])?;
/// assert_eq!((area.value, area.positives, area.negatives), (0.75, 2, 2));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ or a score is NaN; leave items without a score out first.
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
