//! Product-moment correlation.

use super::{Correlation, check, why_undefined};
use crate::error::{Result, Undefined};
use crate::special::beta_inc;
use crate::summation::{mean, pairwise};

/// Pearson's product-moment correlation.
///
/// `r = Σ (x - x̄)(y - ȳ) / sqrt(Σ (x - x̄)² Σ (y - ȳ)²)`
///
/// For independent normal variables, `(r + 1) / 2` follows a beta distribution whose parameters are
/// both `n/2 - 1`. The two-sided p-value is `2 P(R > |r|)`. With two pairs `r` is exactly 1 or -1
/// and the p-value is 1.
///
/// An input that is constant or holds a NaN or an infinity gives NaN with the reason.
///
/// ```
/// let r = storymeter_stats::pearson(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0])?;
/// assert!((r.coefficient - 0.8).abs() < 1e-15 && (r.p_value - 0.2).abs() < 1e-12);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ or there are fewer than two pairs.
pub fn pearson(x: &[f64], y: &[f64]) -> Result<Correlation> {
    check(x, y)?;
    let n = x.len();
    if let Some(why) = why_undefined(x, y, true) {
        return Ok(Correlation::nan(n, why));
    }
    let coefficient = coefficient(x, y);
    if coefficient.is_nan() {
        return Ok(Correlation::nan(n, Undefined::Overflow));
    }
    Ok(Correlation { coefficient, p_value: p_value(coefficient, n), n, undefined: None })
}

/// The coefficient of pairs for which it is defined.
pub(super) fn coefficient(x: &[f64], y: &[f64]) -> f64 {
    correlate_units(&unit(x), &unit(y))
}

/// The centred vector scaled to length one. It is scaled by its largest entry first, so that
/// squares do not overflow.
pub(super) fn unit(values: &[f64]) -> Vec<f64> {
    let centre = mean(values);
    let mut centred: Vec<f64> = values.iter().map(|v| v - centre).collect();
    let largest = centred.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let norm = largest * pairwise(centred.len(), &|i| (centred[i] / largest).powi(2)).sqrt();
    centred.iter_mut().for_each(|v| *v /= norm);
    centred
}

/// Scalar product of two unit vectors, kept within [-1, 1]; exactly ±1 for two pairs.
pub(super) fn correlate_units(x: &[f64], y: &[f64]) -> f64 {
    let r = pairwise(x.len(), &|i| x[i] * y[i]).clamp(-1.0, 1.0);
    if x.len() == 2 { r.round() } else { r }
}

fn p_value(r: f64, n: usize) -> f64 {
    if n == 2 {
        return if r.is_nan() { f64::NAN } else { 1.0 };
    }
    let shape = n as f64 / 2.0 - 1.0;
    let strength = r.abs();
    (2.0 * beta_inc(shape, shape, (1.0 - strength) / 2.0, (1.0 + strength) / 2.0).0).min(1.0)
}
