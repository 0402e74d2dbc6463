//! Pairwise accuracy with ties (Deutsch, Foster & Freitag 2023, "Ties Matter").
//!
//! A metric is right about a pair when it puts the two in the order of the ratings, or calls them equal where the
//! ratings do. Metrics that give real numbers never tie, so pairs whose scores differ by at most a threshold are
//! called equal, and the threshold that suits the metric best is looked for (tie calibration).

use crate::error::{Result, StatsError};

/// Pairs by what ratings and metric say, and the share the metric gets right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PairCounts {
    /// Both order the pair, the same way.
    pub concordant: u64,
    /// Both order the pair, opposite ways.
    pub discordant: u64,
    /// Equal in the ratings only.
    pub tied_in_ratings: u64,
    /// Equal for the metric only.
    pub tied_in_metric: u64,
    /// Equal in both.
    pub tied_in_both: u64,
}

impl PairCounts {
    /// All pairs.
    pub fn total(&self) -> u64 {
        self.concordant
            + self.discordant
            + self.tied_in_ratings
            + self.tied_in_metric
            + self.tied_in_both
    }

    /// `(concordant + tied in both) / all`; NaN without pairs.
    pub fn accuracy(&self) -> f64 {
        (self.concordant + self.tied_in_both) as f64 / self.total() as f64
    }
}

/// Counts the pairs of one group; scores that differ by at most `threshold` are equal for the metric.
pub fn pairwise_accuracy(ratings: &[f64], metric: &[f64], threshold: f64) -> Result<PairCounts> {
    check(ratings, metric)?;
    if threshold.is_nan() || threshold < 0.0 {
        return Err(StatsError::OutOfRange {
            what: "the threshold",
            value: threshold,
            allowed: "at least 0",
        });
    }
    let mut counts = PairCounts::default();
    for pair in pairs(ratings, metric) {
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

/// The threshold that suits a metric best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TieCalibration {
    /// The threshold; 0 if exact ties alone are best.
    pub threshold: f64,
    /// Accuracy at the threshold, averaged over the groups.
    pub accuracy: f64,
    /// Accuracy with exact ties alone.
    pub uncalibrated: f64,
    /// Groups used.
    pub groups: usize,
    /// Groups left out because they hold no pair.
    pub groups_skipped: usize,
}

/// Every pair is held in 16 bytes while the threshold is looked for; this many take 1.6 GB.
const MOST_PAIRS: usize = 100_000_000;

/// Finds the threshold with the highest accuracy, averaged over groups of (ratings, metric scores).
///
/// A group is what is compared with each other: all stories of one prompt, say, or a single group with everything.
/// Every distance between two scores is tried as threshold; the smallest of equally good ones is taken. More than
/// 100 million pairs (one group of 14,000 items) are an error.
pub fn calibrate_ties(groups: &[(&[f64], &[f64])]) -> Result<TieCalibration> {
    let used: Vec<_> = groups.iter().filter(|(ratings, _)| ratings.len() > 1).collect();
    for (ratings, metric) in groups {
        check(ratings, metric)?;
    }
    StatsError::check_count("tie calibration", "groups with two items", 1, used.len())?;
    let pairs_of = |items: usize| items * (items - 1) / 2;
    let got = used.iter().map(|(ratings, _)| pairs_of(ratings.len())).sum();
    if got > MOST_PAIRS {
        return Err(StatsError::TooMany {
            statistic: "tie calibration",
            of: "pairs",
            most: MOST_PAIRS,
            got,
        });
    }
    // (distance, what the accuracy gains when the pair becomes a tie)
    let mut changes: Vec<(f64, f64)> = Vec::new();
    let mut uncalibrated = 0.0;
    for (ratings, metric) in &used {
        let weight = 1.0 / (pairs_of(ratings.len()) * used.len()) as f64;
        for pair in pairs(ratings, metric) {
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
    })
}

/// What the metric says about a pair, its scores taken as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The ratings tie.
    Tied,
    /// The metric has the order of the ratings.
    Right,
    /// It has the opposite order.
    Wrong,
}

struct Pair {
    distance: f64,
    verdict: Verdict,
}

fn pairs(ratings: &[f64], metric: &[f64]) -> impl Iterator<Item = Pair> {
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

fn check(ratings: &[f64], metric: &[f64]) -> Result<()> {
    StatsError::check_pairs(ratings.len(), metric.len())?;
    StatsError::check_finite("ratings", ratings)?;
    StatsError::check_finite("metric scores", metric)
}
