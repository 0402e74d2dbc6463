//! Pairwise accuracy with ties (Deutsch, Foster & Freitag 2023, "Ties Matter").
//!
//! A metric is right about a pair of items when it puts the two in the order of the ratings, or
//! calls them equal where the ratings do. Metrics that give real numbers never tie. Therefore two
//! scores that differ by at most a threshold are called equal, and tie calibration looks for the
//! threshold that suits the metric best.
//!
//! NaN marks a missing rating or score. Items that lack either are left out and counted.

use crate::correlation::drop_nan_pairs;
use crate::error::{Result, StatsError, Undefined};

/// Numbers of pairs by what the ratings and the metric say about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PairCounts {
    /// Pairs that both put in the same order.
    pub concordant: u64,
    /// Pairs that both put in order, in opposite ways.
    pub discordant: u64,
    /// Pairs that are equal in the ratings only.
    pub tied_in_ratings: u64,
    /// Pairs that are equal for the metric only.
    pub tied_in_metric: u64,
    /// Pairs that are equal in both.
    pub tied_in_both: u64,
    /// Number of items that have a rating and a score.
    pub items: usize,
    /// Number of items left out because the rating or the score is missing.
    pub dropped: usize,
}

impl PairCounts {
    /// Number of all pairs.
    pub fn total(&self) -> u64 {
        self.concordant
            + self.discordant
            + self.tied_in_ratings
            + self.tied_in_metric
            + self.tied_in_both
    }

    /// The share of pairs that the metric gets right: `(concordant + tied in both) / all`.
    ///
    /// # Errors
    /// [`Undefined::TooFew`] if there is no pair.
    pub fn accuracy(&self) -> std::result::Result<f64, Undefined> {
        match self.total() {
            0 => Err(Undefined::TooFew { needed: 2, got: self.items }),
            total => Ok((self.concordant + self.tied_in_both) as f64 / total as f64),
        }
    }
}

/// Counts the pairs of one group of items.
///
/// Scores that differ by at most `threshold` are equal for the metric.
///
/// ```
/// use storymeter_stats::pairwise_accuracy;
/// let ratings = [1.0, 2.0, 2.0, f64::NAN];
/// let scores = [0.1, 0.50, 0.51, 0.9];
/// let counts = pairwise_accuracy(&ratings, &scores, 0.05)?;
/// assert_eq!((counts.accuracy(), counts.items, counts.dropped), (Ok(1.0), 3, 1));
/// let nothing = pairwise_accuracy(&[], &[], 0.0)?.accuracy();
/// assert_eq!(nothing.unwrap_err().to_string(), "0 complete observations, 2 needed");
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ, a value is infinite, or the threshold is negative.
pub fn pairwise_accuracy(ratings: &[f64], metric: &[f64], threshold: f64) -> Result<PairCounts> {
    if threshold.is_nan() || threshold < 0.0 {
        return Err(StatsError::OutOfRange {
            what: "the threshold",
            value: threshold,
            allowed: "at least 0",
        });
    }
    let group = Group::new(ratings, metric)?;
    let mut counts =
        PairCounts { items: group.ratings.len(), dropped: group.dropped, ..PairCounts::default() };
    for pair in group.pairs() {
        let tied = pair.distance <= threshold;
        *match (pair.verdict, tied) {
            (Verdict::Tied, true) => &mut counts.tied_in_both,
            (Verdict::Tied, false) => &mut counts.tied_in_ratings,
            (_, true) => &mut counts.tied_in_metric,
            (Verdict::Right, false) => &mut counts.concordant,
            (Verdict::Wrong, false) => &mut counts.discordant,
        } += 1;
    }
    Ok(counts)
}

/// The threshold that suits a metric best, and the accuracy it gives.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TieCalibration {
    /// The threshold; 0 if exact ties alone are best.
    pub threshold: f64,
    /// Accuracy at the threshold, averaged over the groups.
    pub accuracy: f64,
    /// Accuracy with exact ties alone, averaged over the groups.
    pub uncalibrated: f64,
    /// Number of groups used.
    pub groups: usize,
    /// Number of groups left out because they hold no pair.
    pub groups_skipped: usize,
    /// Number of pairs in the groups used.
    pub pairs: usize,
    /// Number of items left out because the rating or the score is missing.
    pub dropped: usize,
}

/// The greatest number of pairs that are calibrated at once. Every pair takes 16 bytes, so that
/// this many take 1.6 GB.
const MOST_PAIRS: usize = 100_000_000;

/// Finds the threshold with the highest accuracy, averaged over groups of (ratings, scores).
///
/// A group is a set of items that are compared with each other, for example all stories of one
/// prompt. A single group compares everything with everything. Every distance between two scores is
/// tried as threshold, and the smallest of equally good thresholds is taken.
///
/// ```
/// use storymeter_stats::calibrate_ties;
/// let ratings = [1.0, 1.0, 2.0, 2.0];
/// let scores = [0.10, 0.12, 0.50, 0.55];
/// let found = calibrate_ties(&[(&ratings, &scores)])?;
/// assert!((found.accuracy - 1.0).abs() < 1e-12 && found.pairs == 6);
/// assert!(found.threshold > 0.04 && found.threshold < 0.38);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths in a group differ, a value is infinite, no group holds a pair,
/// or there are more than 100 million pairs (one group of 14,000 items).
pub fn calibrate_ties(groups: &[(&[f64], &[f64])]) -> Result<TieCalibration> {
    let clean = groups
        .iter()
        .map(|(ratings, metric)| Group::new(ratings, metric))
        .collect::<Result<Vec<_>>>()?;
    let dropped = clean.iter().map(|group| group.dropped).sum();
    let used: Vec<&Group> = clean.iter().filter(|group| group.ratings.len() > 1).collect();
    StatsError::check_count("tie calibration", "groups with two items", 1, used.len())?;
    let pairs = used.iter().map(|group| group.pair_count()).sum();
    if pairs > MOST_PAIRS {
        return Err(StatsError::TooMany {
            statistic: "tie calibration",
            counted: "pairs",
            most: MOST_PAIRS,
            got: pairs,
        });
    }
    // (distance, gain in accuracy when the pair becomes a tie)
    let mut changes: Vec<(f64, f64)> = Vec::new();
    let mut uncalibrated = 0.0;
    for group in &used {
        let weight = 1.0 / (group.pair_count() * used.len()) as f64;
        for pair in group.pairs() {
            let right_apart = pair.verdict == Verdict::Right;
            let right_tied = pair.verdict == Verdict::Tied;
            if pair.distance == 0.0 {
                uncalibrated += if right_tied { weight } else { 0.0 };
            } else {
                uncalibrated += if right_apart { weight } else { 0.0 };
                let gain = f64::from(i8::from(right_tied) - i8::from(right_apart)) * weight;
                changes.push((pair.distance, gain));
            }
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best = (0.0, uncalibrated);
    let mut accuracy = uncalibrated;
    for step in changes.chunk_by(|a, b| a.0 == b.0) {
        accuracy += step.iter().map(|c| c.1).sum::<f64>();
        // Rounding of the running sum must not count as better.
        if accuracy > best.1 + 1e-12 {
            best = (step[0].0, accuracy);
        }
    }
    Ok(TieCalibration {
        threshold: best.0,
        accuracy: best.1,
        uncalibrated,
        groups: used.len(),
        groups_skipped: groups.len() - used.len(),
        pairs,
        dropped,
    })
}

/// What the metric says about a pair when its scores are taken as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The ratings are tied.
    Tied,
    /// The metric has the order of the ratings.
    Right,
    /// The metric has the opposite order.
    Wrong,
}

struct Pair {
    distance: f64,
    verdict: Verdict,
}

/// The items of a group that have both a rating and a score.
struct Group {
    ratings: Vec<f64>,
    metric: Vec<f64>,
    dropped: usize,
}

impl Group {
    fn new(ratings: &[f64], metric: &[f64]) -> Result<Self> {
        StatsError::check_not_infinite("ratings", ratings)?;
        StatsError::check_not_infinite("metric scores", metric)?;
        let kept = drop_nan_pairs(ratings, metric)?;
        Ok(Self { ratings: kept.x, metric: kept.y, dropped: kept.dropped })
    }

    fn pair_count(&self) -> usize {
        self.ratings.len() * self.ratings.len().saturating_sub(1) / 2
    }

    fn pairs(&self) -> impl Iterator<Item = Pair> {
        let (ratings, metric) = (&self.ratings, &self.metric);
        (0..ratings.len()).flat_map(move |i| {
            (i + 1..ratings.len()).map(move |j| {
                let verdict = if ratings[i] == ratings[j] {
                    Verdict::Tied
                } else if (ratings[i] < ratings[j]) == (metric[i] < metric[j]) {
                    Verdict::Right
                } else {
                    Verdict::Wrong
                };
                Pair { distance: (metric[i] - metric[j]).abs(), verdict }
            })
        })
    }
}
