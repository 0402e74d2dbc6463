//! The correlation of few or of clustered observations, as it is shown to people.
//!
//! [`Coefficient::compute`] has the p-values of scipy, which rest on many independent observations.
//! [`Coefficient::associate`] is exact for few observations. [`clustered_correlation`] is for
//! observations that come in groups, such as the stories that several systems wrote for one item.

use rayon::prelude::*;

use crate::bootstrap::{BootstrapOptions, bootstrap};
use crate::correlation::{Coefficient, Correlation};
use crate::distribution::{student_t_quantile, student_t_two_sided};
use crate::error::{Result, StatsError};
use crate::interval::Interval;
use crate::rank::mid_ranks_unchecked;
use crate::summation::mean;

/// The fewest pairs that a correlation is computed from. Two pairs always lie on a line.
pub const LEAST_PAIRS: usize = 3;

/// Up to this number of pairs, p-values come from all orders of the observations: 9! = 362,880.
const MOST_FOR_EXACT: usize = 9;

/// The most groups that are left out one after another. With more clusters, several form a group
/// (Kott 2001), so that the time does not grow with the square of their number.
const MOST_GROUPS: usize = 50;

/// Correlations above this are perfect but for rounding.
const PERFECT: f64 = 1.0 - 1e-12;

impl Coefficient {
    /// Computes the correlation of at least three pairs, with an exact p-value for up to nine.
    ///
    /// With so few pairs the distributions behind [`Coefficient::compute`] mislead: three pairs in
    /// perfect order get p = 0 from Student's t, although one in three orders is as extreme. The
    /// exact p-value is the share of all orders of the second input whose coefficient is at least
    /// as strong. From ten pairs on, the p-value is that of [`Coefficient::compute`].
    ///
    /// ```
    /// use storymeter_stats::Coefficient;
    /// let found = Coefficient::Spearman.associate(&[1.0, 2.0, 3.0], &[4.0, 6.0, 9.0])?;
    /// assert_eq!((found.coefficient, found.p_value), (1.0, 1.0 / 3.0));
    /// # Ok::<(), storymeter_stats::StatsError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the lengths differ or there are fewer than three pairs.
    pub fn associate(self, x: &[f64], y: &[f64]) -> Result<Correlation> {
        StatsError::check_pairs(x.len(), y.len())?;
        StatsError::check_count("a correlation", "pairs", LEAST_PAIRS, x.len())?;
        let mut found = self.compute(x, y)?;
        if found.undefined.is_none() && found.n <= MOST_FOR_EXACT {
            found.p_value = exact_p_value(self, x, y).unwrap_or(found.p_value);
        }
        Ok(found)
    }
}

/// The share of the orders of `y` whose coefficient is at least as strong as the one observed.
/// `None` for Kendall without ties, whose p-value is exact in any case.
fn exact_p_value(coefficient: Coefficient, x: &[f64], y: &[f64]) -> Option<f64> {
    let orders = match coefficient {
        Coefficient::Pearson => Orders::of_products(&scaled(x), &scaled(y)),
        Coefficient::Spearman => {
            Orders::of_products(&scaled(&mid_ranks_unchecked(x)), &scaled(&mid_ranks_unchecked(y)))
        }
        Coefficient::Kendall if !has_ties(x) && !has_ties(y) => return None,
        Coefficient::Kendall => Orders::of_signs(x, y),
    };
    Some(orders.share())
}

fn has_ties(values: &[f64]) -> bool {
    values.iter().enumerate().any(|(at, value)| values[..at].contains(value))
}

/// Values less their mean, in units of the largest, so that products neither overflow nor vanish.
fn scaled(values: &[f64]) -> Vec<f64> {
    let centre = mean(values);
    let largest = values.iter().fold(0.0f64, |most, v| most.max((v - centre).abs()));
    values.iter().map(|v| (v - centre) / largest).collect()
}

/// A table of numbers for every two of up to nine observations.
type Square = [[f64; MOST_FOR_EXACT]; MOST_FOR_EXACT];

/// All orders of observations, and the sum that decides how strong the coefficient of each is. The
/// denominator of a coefficient is the same for all orders.
struct Orders {
    n: usize,
    /// What a position adds when it gets an observation: `[position][observation]`.
    single: Square,
    /// The signs of all pairs of the first and of the second input, where pairs count.
    signs: Option<(Square, Square)>,
}

impl Orders {
    /// Sums of products, for Pearson and Spearman.
    fn of_products(x: &[f64], y: &[f64]) -> Self {
        Self { n: x.len(), single: square(x, y, |a, b| a * b), signs: None }
    }

    /// Sums of products of the signs of pairs, for Kendall.
    fn of_signs(x: &[f64], y: &[f64]) -> Self {
        let sign = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
        let signs = (square(x, x, sign), square(y, y, sign));
        Self { n: x.len(), single: Square::default(), signs: Some(signs) }
    }

    /// The share of orders that are at least as extreme as the one observed, either way.
    fn share(&self) -> f64 {
        let mut order = [0; MOST_FOR_EXACT];
        let mut observed = 0.0;
        for at in 0..self.n {
            observed += self.gain(&order[..at], at);
            order[at] = at;
        }
        // Sums of the same numbers in another order may differ in their last bits.
        let least = f64::abs(observed) - 1e-12 * self.n as f64;
        let extreme = self.count(&mut order, 0, (1 << self.n) - 1, 0.0, least);
        extreme as f64 / (1..=self.n as u64).product::<u64>() as f64
    }

    /// What the next position adds when it gets this observation.
    fn gain(&self, order: &[usize], observation: usize) -> f64 {
        let at = order.len();
        let own = self.single[at][observation];
        self.signs.as_ref().map_or(own, |(x, y)| {
            let pairs = order.iter().enumerate();
            pairs.map(|(before, &other)| x[at][before] * y[observation][other]).sum()
        })
    }

    /// The number of extreme orders among those that begin with these observations. `left` has a
    /// bit for each of the others.
    fn count(
        &self,
        order: &mut [usize; MOST_FOR_EXACT],
        at: usize,
        left: u32,
        sum: f64,
        least: f64,
    ) -> u64 {
        if left == 0 {
            return u64::from(sum.abs() >= least);
        }
        let (mut extreme, mut rest) = (0, left);
        while rest != 0 {
            let observation = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let next = sum + self.gain(&order[..at], observation);
            order[at] = observation;
            extreme += self.count(order, at + 1, left & !(1 << observation), next, least);
        }
        extreme
    }
}

fn square(x: &[f64], y: &[f64], entry: impl Fn(f64, f64) -> f64) -> Square {
    let mut square = Square::default();
    for (row, &a) in square.iter_mut().zip(x) {
        row.iter_mut().zip(y).for_each(|(cell, &b)| *cell = entry(a, b));
    }
    square
}

/// A correlation of observations that come in clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClusteredCorrelation {
    /// The coefficient of all observations. Its p-value is valid where clusters differ; it is NaN
    /// where leaving out a cluster leaves no correlation.
    pub correlation: Correlation,
    /// The interval; its ends are NaN where it is undefined or the correlation is perfect.
    pub interval: Interval,
    /// Number of clusters.
    pub clusters: usize,
}

/// Whether some observations are of the same cluster and others are not, so that clusters have to
/// be resampled instead of observations.
///
/// ```
/// use storymeter_stats::are_clustered;
/// assert!(are_clustered(&[0, 0, 1]) && !are_clustered(&[0, 1, 2]) && !are_clustered(&[0, 0]));
/// ```
pub fn are_clustered(clusters: &[usize]) -> bool {
    let distinct = Members::of(clusters).0.len();
    distinct > 1 && distinct < clusters.len()
}

/// Fewer clusters have neither a p-value nor an interval.
const LEAST_CLUSTERS: usize = 3;

/// Computes a correlation whose p-value and interval allow for clusters of observations.
///
/// Stories of one item resemble each other, so that 240 stories of 8 items say hardly more than 8
/// observations do. Each cluster is left out once (the jackknife); `s` is the standard error of
/// `z = atanh r` that follows from the spread of the values without one. With `m` clusters, `z / s`
/// follows Student's t with `m - 1` degrees of freedom, and the interval is `tanh(z ± t s)`.
///
/// In simulations without correlation and with strong effects of items, 3% to 7% of these p-values
/// are below 0.05, for 3 to 100 items and 2 to 30 systems, with equal and unequal numbers of
/// stories; for most shapes 4% to 6%. A test with the number of independent observations that has
/// the same variance gives 2% to 7%, and cannot be used for a correlation that is not zero.
/// Permuting items needs as many draws as the smallest p-value is small.
///
/// `clusters` has the cluster of each observation. More than 50 clusters are left out in 50 groups.
/// A perfect correlation has the p-value `2 / m!`, as two orders of the clusters are perfect. Two
/// clusters say nothing about how much a third would change: they have neither p-value nor
/// interval.
///
/// ```
/// use storymeter_stats::{Coefficient, clustered_correlation};
/// let (x, y) = ([1.0, 2.0, 5.0, 6.0, 3.0, 4.0], [2.0, 1.0, 4.0, 6.0, 5.0, 3.0]);
/// let found = clustered_correlation(Coefficient::Pearson, &x, &y, &[0, 0, 1, 1, 2, 2], 0.95)?;
/// assert_eq!((found.clusters, found.correlation.n), (3, 6));
/// assert!(found.interval.contains(found.correlation.coefficient));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ, there are fewer than three pairs or two clusters, or the
/// confidence does not lie strictly between 0 and 1.
pub fn clustered_correlation(
    coefficient: Coefficient,
    x: &[f64],
    y: &[f64],
    clusters: &[usize],
    confidence: f64,
) -> Result<ClusteredCorrelation> {
    let members = checked(x, y, clusters)?;
    StatsError::check_open_unit("confidence", confidence)?;
    let mut correlation = coefficient.compute(x, y)?;
    let count = members.0.len();
    let none = |correlation| ClusteredCorrelation {
        correlation,
        interval: Interval::UNDEFINED,
        clusters: count,
    };
    if correlation.undefined.is_some() {
        return Ok(none(correlation));
    }
    if count < LEAST_CLUSTERS {
        correlation.p_value = f64::NAN;
        return Ok(none(correlation));
    }
    if correlation.coefficient.abs() > PERFECT {
        let orders: f64 = (1..=count).map(|k| k as f64).product();
        correlation.p_value = (2.0 / orders).min(1.0);
        return Ok(none(correlation));
    }
    let groups = count.min(MOST_GROUPS);
    let without = |group: usize| -> f64 {
        let kept = members.0.iter().enumerate().filter(|(at, _)| at % groups != group);
        let positions: Vec<usize> = kept.flat_map(|(_, own)| own.iter().copied()).collect();
        coefficient.value_at(x, y, &positions).atanh()
    };
    let values: Vec<f64> = (0..groups).into_par_iter().map(without).collect();
    let error = jackknife_error(&values);
    let (z, df) = (correlation.coefficient.atanh(), (groups - 1) as f64);
    if !error.is_finite() || error == 0.0 {
        correlation.p_value = f64::NAN;
        return Ok(none(correlation));
    }
    correlation.p_value = student_t_two_sided(z / error, df);
    let reach = student_t_quantile(0.5 + confidence / 2.0, df) * error;
    let interval = Interval { low: (z - reach).tanh(), high: (z + reach).tanh() };
    Ok(ClusteredCorrelation { correlation, interval, clusters: count })
}

/// Computes the bootstrap interval of a correlation by drawing whole clusters with replacement.
///
/// # Errors
/// Returns an error in the cases of [`clustered_correlation`] and of [`bootstrap`].
pub fn clustered_correlation_bootstrap(
    coefficient: Coefficient,
    x: &[f64],
    y: &[f64],
    clusters: &[usize],
    options: &BootstrapOptions,
) -> Result<Interval> {
    let members = checked(x, y, clusters)?;
    if members.0.len() < LEAST_CLUSTERS {
        return Ok(Interval::UNDEFINED);
    }
    let statistic = |drawn: &[usize]| {
        let positions: Vec<usize> =
            drawn.iter().flat_map(|&cluster| members.0[cluster].iter().copied()).collect();
        coefficient.value_at(x, y, &positions)
    };
    Ok(bootstrap(members.0.len(), statistic, options)?.interval)
}

/// The standard error of a statistic, from its values without one item or one group of items each.
pub(crate) fn jackknife_error(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    let n = values.len() as f64;
    (squares * (n - 1.0) / n).sqrt()
}

fn checked(x: &[f64], y: &[f64], clusters: &[usize]) -> Result<Members> {
    StatsError::check_pairs(x.len(), y.len())?;
    StatsError::check_pairs(x.len(), clusters.len())?;
    StatsError::check_count("a correlation", "pairs", LEAST_PAIRS, x.len())?;
    let members = Members::of(clusters);
    StatsError::check_count("a clustered correlation", "clusters", 2, members.0.len())?;
    Ok(members)
}

/// The positions of the observations of each cluster, in order of the first of them.
struct Members(Vec<Vec<usize>>);

impl Members {
    fn of(clusters: &[usize]) -> Self {
        let mut places = std::collections::HashMap::new();
        let mut members: Vec<Vec<usize>> = Vec::new();
        for (at, cluster) in clusters.iter().enumerate() {
            let place = *places.entry(cluster).or_insert(members.len());
            if place == members.len() {
                members.push(Vec::new());
            }
            members[place].push(at);
        }
        Self(members)
    }
}
