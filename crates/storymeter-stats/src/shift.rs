//! How far two samples of scores lie apart, in standard deviations.

use crate::error::{Result, StatsError, Undefined};
use crate::interval::{Interval, percentile_interval};
use crate::resample::{below, below_u32, stream};
use crate::summation::{mean, pairwise};

/// How the interval of a [`Shift`] is found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ShiftOptions {
    /// Number of resamples.
    pub resamples: u32,
    /// Confidence level of the interval.
    pub confidence: f64,
    /// Seed of the random streams.
    pub seed: u64,
    /// Number of the family of random streams. Shifts with different numbers draw independently of
    /// each other, and equal numbers with equal sample sizes draw the same items.
    pub family: u32,
}

impl Default for ShiftOptions {
    fn default() -> Self {
        Self { resamples: 1000, confidence: 0.95, seed: 0, family: 0 }
    }
}

/// The standardised difference between the means of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Shift {
    /// The mean of the first sample less the mean of the second, divided by `spread`.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub value: f64,
    /// Percentile bootstrap interval; its ends are NaN where there are too few values for one.
    pub interval: Interval,
    /// The root of the mean of the two variances.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub spread: f64,
    /// Mean of the first sample.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub first: f64,
    /// Mean of the second sample.
    #[cfg_attr(feature = "serde", serde(with = "crate::number"))]
    pub second: f64,
    /// The reason why the value is NaN, if it is.
    pub undefined: Option<Undefined>,
}

/// Computes how far the scores of the same items in two versions lie apart.
///
/// `shift = (x̄ - ȳ) / s` with `s² = (var x + var y) / 2`. Both variances are divided by n. With
/// this convention the shift and the correlation `r` of all 2n scores with their labels (1 for the
/// first sample, 0 for the second) say the same: `r = shift / sqrt(shift² + 4)`, exactly.
///
/// The interval comes from drawing pairs with replacement. Where neither sample varies, there is no
/// standard deviation to measure in, and the shift is undefined: [`Undefined::NoVariation`] if both
/// are equal, and [`Undefined::NoSpread`] if they differ. A resample of the first kind counts as 0,
/// and one of the second kind as infinitely far away. With few values there are so many of them
/// that an end of the interval would be infinite; there is no interval then.
///
/// ```
/// use storymeter_stats::{ShiftOptions, paired_shift, pearson};
/// let (originals, twins) = ([3.0, 5.0, 4.0, 6.0, 2.0], [2.0, 5.0, 2.0, 4.0, 1.0]);
/// let shift = paired_shift(&originals, &twins, &ShiftOptions::default())?;
/// let scores = [originals, twins].concat();
/// let labels = [[1.0; 5], [0.0; 5]].concat();
/// let r = pearson(&scores, &labels)?.coefficient;
/// assert!((r - shift.value / shift.value.hypot(2.0)).abs() < 1e-15);
/// assert!(shift.interval.contains(shift.value));
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths differ, there are fewer than two pairs or no resamples, or the
/// confidence does not lie strictly between 0 and 1.
pub fn paired_shift(first: &[f64], second: &[f64], options: &ShiftOptions) -> Result<Shift> {
    StatsError::check_pairs(first.len(), second.len())?;
    shift(first, second, options, |samples| {
        let terms: Vec<[f64; 4]> = std::iter::zip(&samples[0].centred, &samples[1].centred)
            .map(|(&x, &y)| [x, x * x, y, y * y])
            .collect();
        resampled(options, |rng| {
            let [x, xx, y, yy] = drawn_means(&terms, rng);
            [Moments { mean: x, square: xx }, Moments { mean: y, square: yy }]
        })
    })
}

/// Computes how far the scores of different items lie apart. The samples may have different sizes.
///
/// The shift is that of [`paired_shift`], and does not depend on the sizes of the samples. The
/// interval comes from drawing from each sample apart.
///
/// ```
/// use storymeter_stats::{ShiftOptions, independent_shift};
/// let shift = independent_shift(&[4.0, 6.0], &[1.0, 2.0, 3.0], &ShiftOptions::default())?;
/// assert!((shift.value - 3.0 / (5.0f64 / 6.0).sqrt()).abs() < 1e-12); // variances 1 and 2/3
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
///
/// # Errors
/// Returns an error if a sample has fewer than two scores, there are no resamples, or the
/// confidence does not lie strictly between 0 and 1.
pub fn independent_shift(first: &[f64], second: &[f64], options: &ShiftOptions) -> Result<Shift> {
    shift(first, second, options, |samples| {
        let terms = |sample: &Sample| -> Vec<[f64; 2]> {
            sample.centred.iter().map(|&v| [v, v * v]).collect()
        };
        let terms = [terms(&samples[0]), terms(&samples[1])];
        resampled(options, |rng| {
            [0, 1].map(|at: usize| {
                let [mean, square] = drawn_means(&terms[at], rng);
                Moments { mean, square }
            })
        })
    })
}

/// The shift, given a function that resamples the centred samples.
fn shift(
    first: &[f64],
    second: &[f64],
    options: &ShiftOptions,
    resampled: impl FnOnce(&[Sample; 2]) -> Vec<[Moments; 2]>,
) -> Result<Shift> {
    StatsError::check_count("a shift", "values", 2, first.len().min(second.len()))?;
    StatsError::check_count("a shift", "resamples", 1, options.resamples as usize)?;
    StatsError::check_open_unit("confidence", options.confidence)?;
    let none = |first, second, spread, why| Shift {
        value: f64::NAN,
        interval: Interval::UNDEFINED,
        spread,
        first,
        second,
        undefined: Some(why),
    };
    if first.iter().chain(second).any(|v| !v.is_finite()) {
        return Ok(none(f64::NAN, f64::NAN, f64::NAN, Undefined::NotANumber));
    }
    // Everything is computed in units of the largest value, so that squares do not overflow.
    let unit = first.iter().chain(second).fold(0.0f64, |most, v| most.max(v.abs()));
    let unit = if unit == 0.0 { 1.0 } else { unit };
    let samples = [Sample::new(first, unit), Sample::new(second, unit)];
    let own = samples.each_ref().map(Sample::moments);
    let difference = samples[0].mean - samples[1].mean;
    let value = standardised(difference, &own);
    let spread = unit * spread(&own);
    let (first, second) = (unit * samples[0].mean, unit * samples[1].mean);
    if value.is_infinite() {
        return Ok(none(first, second, spread, Undefined::NoSpread));
    }
    if own.iter().all(|sample| sample.variance() == 0.0) {
        return Ok(none(first, second, spread, Undefined::NoVariation));
    }
    let values: Vec<f64> = resampled(&samples)
        .iter()
        .map(|drawn| standardised(difference + drawn[0].mean - drawn[1].mean, drawn))
        .collect();
    let interval = percentile_interval(&values, options.confidence)?;
    let finite = interval.low.is_finite() && interval.high.is_finite();
    let interval = if finite { interval } else { Interval::UNDEFINED };
    Ok(Shift { value, interval, spread, first, second, undefined: None })
}

/// A sample less its mean.
struct Sample {
    mean: f64,
    centred: Vec<f64>,
}

impl Sample {
    /// The sample in units of `unit`. The mean of equal values is that value to the last bit.
    fn new(values: &[f64], unit: f64) -> Self {
        let scaled: Vec<f64> = values.iter().map(|v| v / unit).collect();
        let constant = scaled.iter().all(|&v| v == scaled[0]);
        let mean = if constant { scaled[0] } else { mean(&scaled).clamp(-1.0, 1.0) };
        Self { mean, centred: scaled.iter().map(|v| v - mean).collect() }
    }

    /// The moments of the sample itself, whose mean is 0 by definition.
    fn moments(&self) -> Moments {
        let n = self.centred.len();
        Moments { mean: 0.0, square: pairwise(n, &|i| self.centred[i].powi(2)) / n as f64 }
    }
}

/// The mean of centred values and of their squares.
#[derive(Debug, Clone, Copy)]
struct Moments {
    mean: f64,
    square: f64,
}

/// A variance below this share of the mean square is what rounding left of zero.
const ROUNDING: f64 = 1e-12;

impl Moments {
    fn variance(&self) -> f64 {
        let variance = self.square - self.mean * self.mean;
        if variance > ROUNDING * self.square { variance } else { 0.0 }
    }
}

fn spread(samples: &[Moments; 2]) -> f64 {
    ((samples[0].variance() + samples[1].variance()) / 2.0).sqrt()
}

/// The difference in units of the spread; infinite where there is a difference and no spread.
fn standardised(difference: f64, samples: &[Moments; 2]) -> f64 {
    if difference == 0.0 { 0.0 } else { difference / spread(samples) }
}

/// What `draw` gives for each resample, in their order.
fn resampled<T>(
    options: &ShiftOptions,
    draw: impl Fn(&mut rand_chacha::ChaCha8Rng) -> T,
) -> Vec<T> {
    let family = u64::from(options.family) << 32;
    (0..options.resamples)
        .map(|resample| draw(&mut stream(options.seed, family | u64::from(resample))))
        .collect()
}

/// The means of the terms of as many items as there are, drawn with replacement.
fn drawn_means<const WIDTH: usize>(
    terms: &[[f64; WIDTH]],
    rng: &mut rand_chacha::ChaCha8Rng,
) -> [f64; WIDTH] {
    let mut sums = [0.0; WIDTH];
    let mut add = |item: usize| {
        for (sum, term) in sums.iter_mut().zip(&terms[item]) {
            *sum += term;
        }
    };
    match u32::try_from(terms.len()) {
        Ok(n) => (0..n).for_each(|_| add(below_u32(rng, n) as usize)),
        Err(_) => (0..terms.len()).for_each(|_| add(below(rng, terms.len() as u64) as usize)),
    }
    sums.map(|sum| sum / terms.len() as f64)
}
