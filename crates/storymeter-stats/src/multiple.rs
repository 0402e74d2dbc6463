//! Many tests at once: control of the false discovery rate.

use crate::error::{Result, StatsError};

/// Benjamini & Hochberg (1995): adjusted p-values, valid for independent or positively dependent tests.
///
/// With the p-values ascending, `q_i = min_{j >= i} p_j m / j`, at most 1. Rejecting where `q <= α` keeps the
/// expected share of false discoveries at or below `α`.
///
/// ```
/// let q = storymeter_stats::benjamini_hochberg(&[0.01, 0.04, 0.03])?;
/// assert_eq!(q, [0.03, 0.04, 0.04]);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>> {
    adjust(p_values, 1.0)
}

/// Benjamini & Yekutieli (2001): as [`benjamini_hochberg`], times `Σ 1/i`, valid under any dependence.
pub fn benjamini_yekutieli(p_values: &[f64]) -> Result<Vec<f64>> {
    adjust(p_values, (1..=p_values.len()).map(|i| 1.0 / i as f64).sum())
}

fn adjust(p_values: &[f64], factor: f64) -> Result<Vec<f64>> {
    for &p in p_values {
        if !(0.0..=1.0).contains(&p) {
            return Err(StatsError::OutOfRange {
                what: "a p-value",
                value: p,
                allowed: "between 0 and 1",
            });
        }
    }
    let tests = p_values.len();
    let mut order: Vec<usize> = (0..tests).collect();
    order.sort_by(|&a, &b| p_values[b].total_cmp(&p_values[a]));
    let mut adjusted = vec![0.0; tests];
    let mut smallest = 1.0f64;
    for (larger, &test) in order.iter().enumerate() {
        smallest = smallest.min(p_values[test] * (tests as f64 / (tests - larger) as f64) * factor);
        adjusted[test] = smallest;
    }
    Ok(adjusted)
}
