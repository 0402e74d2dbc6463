//! Correlations with 95% bootstrap intervals.

use storymeter::union::Estimate;
use storymeter_stats::{BootstrapOptions, Coefficient, bootstrap, mean};

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

/// Resamples of an interval.
const RESAMPLES: usize = 1000;

fn estimate(n: usize, statistic: impl Fn(&[usize]) -> f64 + Sync) -> Estimate {
    let options = BootstrapOptions { resamples: RESAMPLES, ..BootstrapOptions::default() };
    match bootstrap(n, &statistic, &options) {
        Ok(result) => Estimate {
            value: result.estimate,
            low: result.interval.low,
            high: result.interval.high,
        },
        Err(_) => {
            let all: Vec<usize> = (0..n).collect();
            Estimate { value: statistic(&all), low: f64::NAN, high: f64::NAN }
        }
    }
}

fn figures(of: impl Fn(Coefficient) -> Estimate) -> Figures {
    Figures {
        pearson: of(Coefficient::Pearson),
        spearman: of(Coefficient::Spearman),
        kendall: of(Coefficient::Kendall),
    }
}

/// All stories in one pool; stories are resampled.
pub fn pooled(scores: &[f64], human: &[f64]) -> Figures {
    figures(|coefficient| {
        estimate(scores.len(), |drawn| {
            let take = |values: &[f64]| drawn.iter().map(|&i| values[i]).collect::<Vec<f64>>();
            coefficient.value(&take(scores), &take(human)).unwrap_or(f64::NAN)
        })
    })
}

/// HANNA's story level (its equation 1): for each item across its systems, then the mean; items are resampled.
/// An item without a coefficient (a constant column) is left out.
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
        estimate(each.len(), |drawn| mean(&drawn.iter().map(|&i| each[i]).collect::<Vec<f64>>()))
    })
}
