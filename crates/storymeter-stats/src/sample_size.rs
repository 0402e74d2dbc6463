//! How many observations a test needs to find a difference, and which difference it can find.
//!
//! These are the usual formulas for tests of means. Randomisation tests of means have the same
//! power, except with very few observations.

use crate::distribution::normal_quantile;

/// What a test of a mean, or of the difference of two means, is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerTarget {
    /// The two-sided significance level.
    pub level: f64,
    /// The probability with which a difference that exists is to be found.
    pub power: f64,
}

impl PowerTarget {
    /// The number of paired observations that find a mean difference of so many standard deviations
    /// of the differences.
    ///
    /// The formula is Guenther's (1981): `(z_{1-α/2} + z_power)² / effect² + z²_{1-α/2} / 2`. The
    /// last term accounts for a standard deviation that is estimated from the same observations.
    /// `None` where the effect is 0, because no number finds it, or not a number.
    ///
    /// ```
    /// use storymeter_stats::PowerTarget;
    /// let target = PowerTarget { level: 0.05, power: 0.8 };
    /// assert_eq!(target.pairs_needed(0.5), Some(34));
    /// assert_eq!(target.pairs_needed(0.0), None);
    /// ```
    pub fn pairs_needed(&self, effect: f64) -> Option<u64> {
        whole((self.reach() / effect).powi(2) + self.quantile().powi(2) / 2.0)
    }

    /// The number of observations per group that find a difference of so many standard deviations
    /// between two independent groups of equal size.
    ///
    /// ```
    /// use storymeter_stats::PowerTarget;
    /// let target = PowerTarget { level: 0.05, power: 0.8 };
    /// assert_eq!(target.per_group_needed(0.5), Some(64));
    /// ```
    pub fn per_group_needed(&self, effect: f64) -> Option<u64> {
        whole(2.0 * (self.reach() / effect).powi(2) + self.quantile().powi(2) / 4.0)
    }

    /// The smallest difference that `standard_error` allows to find.
    ///
    /// ```
    /// use storymeter_stats::PowerTarget;
    /// let target = PowerTarget { level: 0.05, power: 0.8 };
    /// assert!((target.detectable(0.1) - 0.28).abs() < 0.001);
    /// ```
    pub fn detectable(&self, standard_error: f64) -> f64 {
        self.reach() * standard_error
    }

    fn quantile(&self) -> f64 {
        normal_quantile(1.0 - self.level / 2.0)
    }

    /// How many standard errors a difference must lie away from 0.
    fn reach(&self) -> f64 {
        self.quantile() + normal_quantile(self.power)
    }
}

/// The next whole number, where there is one.
fn whole(number: f64) -> Option<u64> {
    (number.is_finite() && number < 1e15).then(|| number.ceil() as u64)
}
