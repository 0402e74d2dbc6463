//! Quality drift: does a metric hold where stories are mostly bad, or mostly good? (UNION, section 4.4)
//!
//! From one rated set, biased sets are drawn: the I-th takes a story of quality level k with probability
//! 1 / (|I - k| + 1), so that low sets are rich in bad stories and high sets in good ones. The paper drew each
//! set once, without a seed; here each is drawn many times, and mean and variance are reported.

use rand::RngExt;
use rayon::prelude::*;
use storymeter_core::rng::StreamId;
use storymeter_stats::Coefficient;

use crate::correlations::associate;
use crate::error::{Error, Result};
use crate::sheet::{Cell, Form, Sheet};

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawOptions {
    /// Draws of each biased set.
    pub draws: usize,
    /// The seed; each draw of each set has its own stream.
    pub seed: u64,
}

impl Default for DrawOptions {
    fn default() -> Self {
        Self { draws: 100, seed: 1 }
    }
}

/// One biased set, over all its draws.
#[derive(Debug, Clone, PartialEq)]
pub struct BiasedSet {
    /// I, from 1.
    pub index: usize,
    /// Mean number of stories drawn at each quality level.
    pub levels: Vec<f64>,
    /// Each metric's correlation with the human scores.
    pub metrics: Vec<Spread>,
}

/// A number over repeated draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean; NaN where no draw gave a number.
    pub mean: f64,
    /// The unbiased variance; NaN with fewer than two numbers.
    pub variance: f64,
    /// Draws that gave a number.
    pub n: usize,
}

impl Spread {
    /// Mean and variance of the numbers that are not NaN.
    pub fn of(values: &[f64]) -> Self {
        let present: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
        let n = present.len();
        let mean = present.iter().sum::<f64>() / n as f64;
        let squares: f64 = present.iter().map(|v| (v - mean) * (v - mean)).sum();
        Self { mean, variance: if n > 1 { squares / (n - 1) as f64 } else { f64::NAN }, n }
    }
}

/// The probability that the I-th set takes a story of level k.
pub fn probability(set: usize, level: usize) -> f64 {
    1.0 / (set.abs_diff(level) as f64 + 1.0)
}

/// Draws as many biased sets as there are levels from 0 to `top`, and correlates every metric on each.
///
/// `levels[i]` is the quality level of story i; `metrics` are scores that point upwards.
pub fn biased_sets(
    levels: &[usize],
    top: usize,
    human: &[f64],
    metrics: &[Vec<f64>],
    options: DrawOptions,
) -> Result<Vec<BiasedSet>> {
    if options.draws == 0 {
        return Err(Error::unfit("the number of draws must be at least 1"));
    }
    let one = |set: usize, draw: usize| -> Result<(Vec<usize>, Vec<f64>)> {
        let stream = StreamId::BiasedSet { set: set as u64, draw: draw as u64 };
        let mut rng = stream.rng(options.seed);
        let taken: Vec<usize> = (0..levels.len())
            .filter(|&i| rng.random::<f64>() < probability(set, levels[i]))
            .collect();
        let mut counts = vec![0; top + 1];
        taken.iter().for_each(|&i| counts[levels[i]] += 1);
        let pick = |values: &[f64]| taken.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let human = pick(human);
        let found: Result<Vec<f64>> = metrics
            .iter()
            .map(|scores| Ok(associate(Coefficient::Pearson, &pick(scores), &human)?.value))
            .collect();
        Ok((counts, found?))
    };
    (1..=top + 1)
        .into_par_iter()
        .map(|set| {
            let draws: Vec<_> = (0..options.draws)
                .into_par_iter()
                .map(|draw| one(set, draw))
                .collect::<Result<_>>()?;
            let level = |k: usize| draws.iter().map(|(counts, _)| counts[k] as f64).sum::<f64>();
            let metric =
                |m: usize| Spread::of(&draws.iter().map(|(_, r)| r[m]).collect::<Vec<_>>());
            Ok(BiasedSet {
                index: set,
                levels: (0..=top).map(|k| level(k) / options.draws as f64).collect(),
                metrics: (0..metrics.len()).map(metric).collect(),
            })
        })
        .collect()
}

/// Three sheets of biased sets: each metric's mean correlation (`id`), its variance over the draws (`id-variance`), and
/// what the sets hold (`id-distribution`).
pub fn sheets(
    id: &str,
    sets: &[BiasedSet],
    levels: &[String],
    metrics: &[String],
    options: DrawOptions,
) -> Vec<Sheet> {
    let heads = || sets.iter().map(|set| format!("#{}", set.index));
    let drawn = format!(
        "means over {} draws, seed {}; set I takes a story of level k with probability 1/(|I-k|+1)",
        options.draws, options.seed
    );
    let mut stories = Sheet::new(
        format!("{id}-distribution"),
        "Biased sets: stories by human score",
        Form::Lines,
    )
    .column("score", 0)
    .columns(heads(), 1)
    .note(drawn.as_str());
    for (level, label) in levels.iter().enumerate() {
        let mut row = vec![Cell::from(label)];
        row.extend(sets.iter().map(|set| Cell::from(set.levels[level])));
        stories.push(row);
    }
    let mut means =
        Sheet::new(id, "Biased sets: Pearson correlation, mean over draws", Form::Lines)
            .brief()
            .column("metric", 0)
            .columns(heads(), 4)
            .column("variance between sets", 5)
            .note(drawn);
    let title = "Biased sets: variance of the correlation over draws";
    let mut variances = Sheet::new(format!("{id}-variance"), title, Form::Lines)
        .column("metric", 0)
        .columns(heads(), 5)
        .columns(heads().map(|head| format!("draws {head}")), 0);
    for (at, name) in metrics.iter().enumerate() {
        let number = |value| Cell::number(value, "too few draws gave a correlation");
        let over_sets: Vec<f64> = sets.iter().map(|set| set.metrics[at].mean).collect();
        let mut row = vec![Cell::from(name)];
        row.extend(over_sets.iter().map(|&mean| number(mean)));
        row.push(number(Spread::of(&over_sets).variance));
        means.push(row);
        let mut row = vec![Cell::from(name)];
        row.extend(sets.iter().map(|set| number(set.metrics[at].variance)));
        row.extend(sets.iter().map(|set| Cell::from(set.metrics[at].n)));
        variances.push(row);
    }
    vec![stories, means, variances]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stories() -> (Vec<usize>, Vec<f64>) {
        let levels: Vec<usize> = (0..400).map(|i| i % 8).collect();
        let human = levels.iter().map(|&k| k as f64 / 7.0).collect();
        (levels, human)
    }

    #[test]
    fn a_set_is_richest_in_the_level_it_is_named_for() {
        let (levels, human) = stories();
        let sets =
            biased_sets(&levels, 7, &human, &[], DrawOptions { draws: 50, seed: 3 }).unwrap();
        assert_eq!(sets.len(), 8);
        for set in &sets {
            for (k, &mean) in set.levels.iter().enumerate() {
                // 50 stories a level, 50 draws: the mean is within a few standard errors of its expectation.
                let expected = 50.0 * probability(set.index, k);
                assert!(
                    (mean - expected).abs() < 2.5,
                    "set {} level {k}: {mean} for {expected}",
                    set.index
                );
            }
        }
    }

    #[test]
    fn a_perfect_metric_stays_perfect_and_a_constant_one_has_no_number() {
        let (levels, human) = stories();
        let metrics = [human.clone(), vec![1.0; 400]];
        let sets =
            biased_sets(&levels, 7, &human, &metrics, DrawOptions { draws: 5, seed: 1 }).unwrap();
        for set in sets {
            assert!((set.metrics[0].mean - 1.0).abs() < 1e-12 && set.metrics[0].variance < 1e-20);
            assert_eq!(set.metrics[1].n, 0);
            assert!(set.metrics[1].mean.is_nan());
        }
    }

    #[test]
    fn the_draws_do_not_depend_on_the_number_of_threads() {
        let (levels, human) = stories();
        let metrics = [levels.iter().map(|&k| ((k * 5) % 8) as f64).collect::<Vec<_>>()];
        let run = || biased_sets(&levels, 7, &human, &metrics, DrawOptions::default()).unwrap();
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        assert_eq!(pool(1).install(run), pool(4).install(run));
    }
}
