//! The bootstrap of statistics that are functions of sums over items.

use rayon::prelude::*;

use super::{Bootstrap, BootstrapMethod, BootstrapOptions, summarise};
use crate::error::{Result, StatsError};
use crate::resample::{draw_with_replacement, stream};
use crate::sample::is_drawn;

/// Number of resamples that are summed in one pass over the terms. The terms of a large input do
/// not fit into the cache; if each pass served one resample only, all threads would wait for
/// memory.
const RESAMPLES_PER_PASS: usize = 8;

/// Rows of terms, one row per item, whose weighted sums decide a score.
///
/// Corpus metrics are functions of sums: corpus BLEU of summed n-gram counts, a mean of a summed
/// score. A resample then needs no copy of the items, only how often it drew each of them. Several
/// resamples share one pass over the terms, and one resample serves any number of columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WeightedSums {
    width: usize,
    terms: Vec<f64>,
}

impl WeightedSums {
    /// Takes terms row by row, `width` of them per item.
    ///
    /// # Errors
    /// Returns an error if `width` is 0 or the number of terms is not a multiple of it.
    pub(crate) fn new(width: usize, terms: Vec<f64>) -> Result<Self> {
        if width == 0 || !terms.len().is_multiple_of(width) {
            let rows = terms.len().checked_div(width).unwrap_or(0);
            return Err(StatsError::Shape { rows, columns: width, values: terms.len() });
        }
        Ok(Self { width, terms })
    }

    /// Number of items.
    pub(crate) fn items(&self) -> usize {
        self.terms.len() / self.width
    }

    /// The number of resamples that the method needs.
    fn draws(&self, options: &BootstrapOptions) -> usize {
        let is_drawn = options.method != BootstrapMethod::Auto || is_drawn(self.items());
        if is_drawn { options.resamples } else { 0 }
    }

    /// Sums the terms for each of several draws, given how often each draw holds each item.
    ///
    /// # Panics
    /// If a draw does not have one count per item.
    fn sums(&self, draws: &[Vec<u32>]) -> Vec<Vec<f64>> {
        assert!(draws.iter().all(|draw| draw.len() == self.items()), "one count per item");
        let mut sums = vec![vec![0.0; self.width]; draws.len()];
        for (item, terms) in self.terms.chunks_exact(self.width).enumerate() {
            for (sums, counts) in sums.iter_mut().zip(draws) {
                let count = f64::from(counts[item]);
                if count > 0.0 {
                    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += count * term);
                }
            }
        }
        sums
    }

    /// Draws items with replacement and gives `statistic` of the sums of every resample, in order.
    ///
    /// The resamples are those of [`bootstrap`](crate::bootstrap) with the same seed.
    fn resampled<T: Send>(
        &self,
        resamples: usize,
        seed: u64,
        statistic: impl Fn(&[f64]) -> T + Sync,
    ) -> Vec<T> {
        let draw = |resample: &u64| {
            let mut drawn = vec![0; self.items()];
            draw_with_replacement(&mut stream(seed, *resample), &mut drawn);
            let mut counts = vec![0u32; self.items()];
            drawn.into_iter().for_each(|item| counts[item] += 1);
            counts
        };
        let numbers: Vec<u64> = (0..resamples as u64).collect();
        numbers
            .par_chunks(RESAMPLES_PER_PASS)
            .flat_map_iter(|pass| {
                let draws: Vec<Vec<u32>> = pass.iter().map(draw).collect();
                self.sums(&draws).into_iter().map(|sums| statistic(&sums)).collect::<Vec<T>>()
            })
            .collect()
    }

    /// Computes the bootstrap interval of every column of scores, all from the same resamples.
    ///
    /// `scores(sums, out)` writes the score of each column for the sums of any draw of as many
    /// items as there are. (With BCa it also sees the sums of all items but one, so that a mean
    /// must be formed from a term that counts the items.) Resamples on which a score is NaN are
    /// left out of its interval and counted.
    ///
    /// # Errors
    /// Returns an error if there are fewer than two items, no resamples, or the confidence does not
    /// lie strictly between 0 and 1.
    pub(crate) fn bootstrap(
        &self,
        columns: usize,
        scores: impl Fn(&[f64], &mut [f64]) + Sync,
        options: &BootstrapOptions,
    ) -> Result<Vec<Bootstrap>> {
        options.check(2, self.items())?;
        let score = |sums: &[f64]| {
            let mut out = vec![0.0; columns];
            scores(sums, &mut out);
            out
        };
        let total = &self.sums(&[vec![1; self.items()]])[0];
        let without = |terms: &[f64]| {
            score(&total.iter().zip(terms).map(|(sum, term)| sum - term).collect::<Vec<f64>>())
        };
        let left_out: std::cell::OnceCell<Vec<Vec<f64>>> = std::cell::OnceCell::new();
        let jackknife =
            || left_out.get_or_init(|| self.terms.par_chunks(self.width).map(without).collect());
        let estimates = score(total);
        let values = self.resampled(self.draws(options), options.seed, score);
        (0..columns)
            .map(|column| {
                let take = |rows: &[Vec<f64>]| rows.iter().map(|row| row[column]).collect();
                let jackknife = || take(jackknife());
                summarise(self.items(), estimates[column], take(&values), jackknife, options)
            })
            .collect()
    }
}
