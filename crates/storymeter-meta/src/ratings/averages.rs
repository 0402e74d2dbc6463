//! Systems by their ratings: means with intervals (HANNA Table 4) and distributions (Figure 9).

use storymeter_stats::distribution::student_t_quantile;

use super::RatingTable;
use crate::analysis::round_half_even;
use crate::outcome::{Absence, Outcome};
use crate::scale::Scale;
use crate::study::{
    Edition, RatingDistribution, RatingSummary, Standing, SystemAverage, SystemAverages,
};

/// The number of points at which the outline of a violin is given.
const OUTLINE: usize = 61;
/// Ratings with more distinct values than this (means, sliders) are not counted one by one.
const MOST_STEPS: usize = 11;

/// The mean of ratings and half the width of its 95% interval, `t(0.975, n-1) s / sqrt(n)`.
fn average(ratings: &[f64], edition: Edition) -> SystemAverage {
    let n = ratings.len() as f64;
    let mean = ratings.iter().sum::<f64>() / n;
    let squares: f64 = ratings.iter().map(|r| (r - mean) * (r - mean)).sum();
    let rounded = |value: f64| match edition {
        Edition::Corrected => value,
        Edition::Published => round_half_even(value, 2),
    };
    let half_width = || student_t_quantile(0.975, n - 1.0) * (squares / (n - 1.0) / n).sqrt();
    SystemAverage {
        mean: if ratings.is_empty() { Err(Absence::NoRating) } else { Ok(rounded(mean)) },
        half_width: if n > 1.0 { Ok(rounded(half_width())) } else { Err(Absence::OneRating) },
        n: ratings.len(),
        standing: Standing::Below,
    }
}

impl RatingTable {
    /// Each system's mean rating by criterion and over all.
    ///
    /// `excluded` are systems, such as human writers, that are shown and do not compete for the
    /// best mean.
    pub fn system_averages(&self, edition: Edition, excluded: &[String]) -> SystemAverages {
        let criteria = self.criteria.len();
        let of_system = |system: &&str| {
            let by_criterion: Vec<Vec<f64>> =
                (0..criteria).map(|c| self.of_system(system, c)).collect();
            let over_all = by_criterion.concat();
            let averages = by_criterion.iter().chain([&over_all]);
            let averages = averages.map(|ratings| average(ratings, edition)).collect();
            ((*system).to_owned(), averages)
        };
        let mut systems: Vec<(String, Vec<SystemAverage>)> =
            self.systems().iter().map(of_system).collect();
        for column in 0..=criteria {
            rank(&mut systems, column, excluded);
        }
        SystemAverages { criteria: self.criteria.clone(), single_ratings: true, systems }
    }

    /// How ratings are distributed by system and criterion: counts and quartiles, and the Gaussian
    /// kernel density with Scott's bandwidth, over the scale and an eighth of it on both sides.
    pub fn distribution(&self, scale: Scale) -> RatingDistribution {
        let mut steps: Vec<f64> = self.all().collect();
        steps.sort_by(f64::total_cmp);
        steps.dedup();
        if steps.len() > MOST_STEPS {
            steps.clear();
        }
        let margin = (scale.high - scale.low) / 8.0;
        let (from, to) = (scale.low - margin, scale.high + margin);
        let point = |i: usize| from + (to - from) * i as f64 / (OUTLINE - 1) as f64;
        let grid: Vec<f64> = (0..OUTLINE).map(point).collect();
        let mut rows = Vec::new();
        for system in self.systems() {
            for (at, criterion) in self.criteria.iter().enumerate() {
                let mut own = self.of_system(system, at);
                own.sort_by(f64::total_cmp);
                let count = |step: &f64| own.iter().filter(|rating| *rating == step).count();
                rows.push(RatingSummary {
                    system: system.to_owned(),
                    criterion: criterion.clone(),
                    n: own.len(),
                    counts: steps.iter().map(count).collect(),
                    summary: summary(&own),
                    density: density(&own, &grid),
                });
            }
        }
        RatingDistribution { steps, grid, rows }
    }
}

/// Sets how the systems stand beside the best one in one column.
fn rank(systems: &mut [(String, Vec<SystemAverage>)], column: usize, excluded: &[String]) {
    let competing = systems.iter().filter(|(name, _)| !excluded.contains(name));
    let means = competing.filter_map(|(_, averages)| {
        Some((
            averages[column].mean.clone().ok()?,
            averages[column].half_width.clone().unwrap_or(f64::NAN),
        ))
    });
    let Some((best, reach)) = means.max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    for (name, averages) in systems {
        averages[column].standing = match averages[column].mean {
            _ if excluded.contains(name) => Standing::Outside,
            Ok(mean) if mean == best => Standing::Best,
            Ok(mean) if (mean - best).abs() <= reach => Standing::Near,
            _ => Standing::Below,
        };
    }
}

/// Mean, first quartile, median and third quartile.
fn summary(sorted: &[f64]) -> Outcome<[f64; 4]> {
    if sorted.is_empty() {
        return Err(Absence::NoRating);
    }
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    Ok([mean, quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)])
}

/// Linear interpolation between order statistics, which is numpy's default.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let (below, above) = (position.floor() as usize, position.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

fn density(values: &[f64], grid: &[f64]) -> Outcome<Vec<f64>> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    if values.len() < 2 {
        return Err(Absence::OneRating);
    }
    if variance == 0.0 {
        return Err(Absence::EqualRatings);
    }
    let bandwidth = variance.sqrt() * n.powf(-0.2);
    let norm = n * bandwidth * (2.0 * std::f64::consts::PI).sqrt();
    let kernel =
        |x: f64| values.iter().map(|v| (-0.5 * ((x - v) / bandwidth).powi(2)).exp()).sum::<f64>();
    Ok(grid.iter().map(|&x| kernel(x) / norm).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_numpys() {
        // numpy.quantile([1, 2, 4, 8], [.25, .5, .75]) -> 1.75, 3, 5
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!([0.25, 0.5, 0.75].map(|p| quantile(&sorted, p)), [1.75, 3.0, 5.0]);
    }

    #[test]
    fn an_outline_encloses_probability_one() {
        let grid: Vec<f64> = (0..6001).map(|i| -10.0 + i as f64 * 0.005).collect();
        let density = density(&[1.0, 2.0, 2.0, 5.0], &grid).unwrap();
        let area: f64 = density.iter().sum::<f64>() * 0.005;
        assert!((area - 1.0).abs() < 1e-6, "{area}");
    }
}
