//! Quality drift: does a metric hold where stories are mostly bad, or mostly good? (UNION, section
//! 4.4)
//!
//! From one rated set, biased sets are drawn. Set I takes a story of quality level k with
//! probability 1 / (|I - k| + 1), so that low sets are rich in bad stories and high sets in good
//! ones. The paper drew each set once, without a seed. Here each set is drawn many times, and mean
//! and variance are reported.

use rand::RngExt;
use rayon::prelude::*;
use storymeter_core::rng::StreamId;
use storymeter_stats::Coefficient;

use super::coefficient_only;
use crate::error::{Error, Result};
use crate::outcome::{Absence, Outcome};
use crate::study::{BiasedSet, Spread};

/// How biased sets are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawOptions {
    /// Draws per biased set.
    pub draws: usize,
    /// The seed. Each draw of each set has a random stream of its own.
    pub seed: u64,
}

impl Default for DrawOptions {
    fn default() -> Self {
        Self { draws: 100, seed: 1 }
    }
}

/// Rated stories to draw from.
pub struct Sample<'a> {
    /// The quality level of each story.
    pub levels: &'a [usize],
    /// The highest level.
    pub top: usize,
    /// The human score of each story.
    pub human: &'a [f64],
    /// The scores of each metric, turned so that more is better; NaN where there is none.
    pub metrics: &'a [Vec<f64>],
}

/// Mean and variance of the draws that gave a number.
pub fn spread(values: &[Outcome<f64>]) -> Spread {
    let present: Vec<f64> = values.iter().filter_map(|one| one.clone().ok()).collect();
    let n = present.len();
    let mean = present.iter().sum::<f64>() / n as f64;
    let squares: f64 = present.iter().map(|v| (v - mean) * (v - mean)).sum();
    Spread {
        mean: if n > 0 { Ok(mean) } else { Err(Absence::FewDraws) },
        variance: if n > 1 { Ok(squares / (n - 1) as f64) } else { Err(Absence::FewDraws) },
        n,
    }
}

/// The probability that set I takes a story of level k.
fn probability(set: usize, level: usize) -> f64 {
    1.0 / (set.abs_diff(level) as f64 + 1.0)
}

/// Draws as many biased sets as there are levels from 0 to the highest, and correlates every metric
/// on each.
pub fn biased_sets(sample: &Sample<'_>, options: DrawOptions) -> Result<Vec<BiasedSet>> {
    if options.draws == 0 {
        return Err(Error::NoDraws);
    }
    let Sample { levels, top, human, metrics } = *sample;
    let one = |set: usize, draw: usize| -> Result<(Vec<usize>, Vec<Outcome<f64>>)> {
        let stream = StreamId::BiasedSet { set: set as u64, draw: draw as u64 };
        let mut rng = stream.rng(options.seed);
        let taken: Vec<usize> = (0..levels.len())
            .filter(|&i| rng.random::<f64>() < probability(set, levels[i]))
            .collect();
        let mut counts = vec![0; top + 1];
        taken.iter().for_each(|&i| counts[levels[i]] += 1);
        let pick = |values: &[f64]| taken.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let human = pick(human);
        let correlate = |scores: &Vec<f64>| {
            let found = coefficient_only(Coefficient::Pearson, &pick(scores), &human)?;
            Ok(found.value.map(|estimate| estimate.value))
        };
        Ok((counts, metrics.iter().map(correlate).collect::<Result<_>>()?))
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
                |m: usize| spread(&draws.iter().map(|(_, r)| r[m].clone()).collect::<Vec<_>>());
            Ok(BiasedSet {
                index: set,
                stories: (0..=top).map(|k| level(k) / options.draws as f64).collect(),
                metrics: (0..metrics.len()).map(metric).collect(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stories() -> (Vec<usize>, Vec<f64>) {
        let levels: Vec<usize> = (0..400).map(|i| i % 8).collect();
        let human = levels.iter().map(|&k| k as f64 / 7.0).collect();
        (levels, human)
    }

    fn draw(metrics: &[Vec<f64>], options: DrawOptions) -> Vec<BiasedSet> {
        let (levels, human) = stories();
        biased_sets(&Sample { levels: &levels, top: 7, human: &human, metrics }, options).unwrap()
    }

    #[test]
    fn a_set_is_richest_in_the_level_it_is_named_for() {
        let sets = draw(&[], DrawOptions { draws: 50, seed: 3 });
        assert_eq!(sets.len(), 8);
        for set in &sets {
            for (k, &mean) in set.stories.iter().enumerate() {
                // With 50 stories per level and 50 draws, the mean is within a few standard errors
                // of its expectation.
                let expected = 50.0 * probability(set.index, k);
                let off = (mean - expected).abs();
                assert!(off < 2.5, "set {} level {k}: {mean} for {expected}", set.index);
            }
        }
    }

    #[test]
    fn a_perfect_metric_stays_perfect_and_a_constant_one_has_no_number() {
        let metrics = [stories().1, vec![1.0; 400]];
        let sets = draw(&metrics, DrawOptions { draws: 5, seed: 1 });
        assert_eq!(sets.len(), 8);
        for set in sets {
            assert!((set.metrics[0].mean.clone().unwrap() - 1.0).abs() < 1e-12);
            assert!(set.metrics[0].variance.clone().unwrap() < 1e-20);
            assert_eq!(
                (set.metrics[1].n, set.metrics[1].mean.clone()),
                (0, Err(Absence::FewDraws))
            );
        }
    }

    #[test]
    fn the_draws_do_not_depend_on_the_number_of_threads() {
        let metrics = [stories().0.iter().map(|&k| ((k * 5) % 8) as f64).collect::<Vec<_>>()];
        let run = || draw(&metrics, DrawOptions::default());
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        assert_eq!(pool(1).install(run), pool(4).install(run));
    }
}
