//! Correlations with 95% bootstrap intervals.

use storymeter::union::Estimate;
use storymeter_stats::{
    BootstrapOptions, Coefficient, Interval, correlation_interval, mean, mean_interval,
};

/// The three coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Pearson's r.
    pub pearson: Estimate,
    /// Spearman's rho.
    pub spearman: Estimate,
    /// Kendall's tau-b.
    pub kendall: Estimate,
}

/// How the intervals are drawn.
fn options() -> BootstrapOptions {
    BootstrapOptions { resamples: 1000, ..BootstrapOptions::default() }
}

fn estimate(value: f64, interval: Interval) -> Estimate {
    Estimate { value, low: interval.low, high: interval.high }
}

fn figures(compute: impl Fn(Coefficient) -> Estimate) -> Figures {
    Figures {
        pearson: compute(Coefficient::Pearson),
        spearman: compute(Coefficient::Spearman),
        kendall: compute(Coefficient::Kendall),
    }
}

/// Correlates all stories in one pool. The intervals come from resampled stories.
pub fn pooled(scores: &[f64], human: &[f64]) -> Figures {
    figures(|coefficient| match correlation_interval(coefficient, scores, human, &options()) {
        Ok(found) => estimate(found.correlation.coefficient, found.interval),
        Err(_) => estimate(f64::NAN, Interval::UNDEFINED),
    })
}

/// Correlates the stories of each item across its systems and averages over the items, which is
/// HANNA's story level (its equation 1). The intervals come from resampled items. An item without a
/// coefficient (because a column is constant) is left out.
pub fn within_items(scores: &[f64], human: &[f64], items: &[String]) -> Figures {
    let mut names: Vec<&String> = Vec::new();
    items.iter().for_each(|item| {
        if !names.contains(&item) {
            names.push(item);
        }
    });
    figures(|coefficient| {
        let each: Vec<f64> = names
            .iter()
            .filter_map(|name| {
                let take = |values: &[f64]| {
                    values
                        .iter()
                        .zip(items)
                        .filter(|(_, item)| item == name)
                        .map(|(x, _)| *x)
                        .collect()
                };
                let (x, y): (Vec<f64>, Vec<f64>) = (take(scores), take(human));
                coefficient.value(&x, &y).ok().filter(|value| !value.is_nan())
            })
            .collect();
        let interval = mean_interval(&each, &options()).map(|found| found.interval);
        estimate(mean(&each), interval.unwrap_or(Interval::UNDEFINED))
    })
}
