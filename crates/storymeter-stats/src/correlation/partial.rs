//! Correlation of two variables beyond what both share with a third one.

use super::{Coefficient, Result};

impl Coefficient {
    /// Computes the partial correlation of `x` and `y` given `z`; NaN when undefined.
    ///
    /// It is `(r_xy - r_xz r_yz) / sqrt((1 - r_xz²)(1 - r_yz²))` with this coefficient as `r`. For
    /// Pearson it is the correlation of what a straight line through `z` leaves of `x` and of `y`,
    /// and for Spearman the same of the ranks. It is undefined where one of the three correlations
    /// is, and where `z` determines `x` or `y`.
    ///
    /// ```
    /// use storymeter_stats::Coefficient;
    /// // Both grow with the length and have nothing else in common.
    /// let length = [1.0, 1.0, 2.0, 2.0];
    /// let (score, rating) = ([10.0, 11.0, 20.0, 21.0], [10.0, 11.0, 21.0, 20.0]);
    /// assert!(Coefficient::Pearson.value(&score, &rating)? > 0.9);
    /// assert!(Coefficient::Pearson.partial(&score, &rating, &length)?.abs() < 1e-9);
    /// # Ok::<(), storymeter_stats::StatsError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the lengths differ or there are fewer than two values.
    pub fn partial(self, x: &[f64], y: &[f64], z: &[f64]) -> Result<f64> {
        let (xy, xz, yz) = (self.value(x, y)?, self.value(x, z)?, self.value(y, z)?);
        let left = (1.0 - xz * xz) * (1.0 - yz * yz);
        // A product of rounding errors is not a share of the variance.
        if left < 1e-24 {
            return Ok(f64::NAN);
        }
        Ok(((xy - xz * yz) / left.sqrt()).clamp(-1.0, 1.0))
    }
}
