//! Sums in a fixed and accurate order.
//!
//! The error of pairwise summation grows with log n instead of n, and the order does not depend on
//! threads. The blocks (eight running sums up to 128 terms, halves at multiples of eight above
//! that) are those of numpy, so that sums of ill-conditioned inputs agree with numpy, too.

/// Sums `term(i)` for `i` in `0..n`.
pub(crate) fn pairwise(n: usize, term: &impl Fn(usize) -> f64) -> f64 {
    span(0, n, term)
}

/// Computes the arithmetic mean of a slice; NaN when it is empty or holds a NaN.
///
/// ```
/// assert_eq!(storymeter_stats::mean(&[1.0, 2.0, 6.0]), 3.0);
/// ```
pub fn mean(values: &[f64]) -> f64 {
    pairwise(values.len(), &|i| values[i]) / values.len() as f64
}

/// Computes the standard deviation of a sample, with n - 1 in the denominator; NaN for fewer than
/// two values.
///
/// ```
/// assert_eq!(storymeter_stats::standard_deviation(&[1.0, 2.0, 6.0]), 7f64.sqrt());
/// assert!(storymeter_stats::standard_deviation(&[1.0]).is_nan());
/// ```
pub fn standard_deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let centre = mean(values);
    let squares = pairwise(values.len(), &|i| (values[i] - centre).powi(2));
    (squares / (values.len() - 1) as f64).sqrt()
}

fn span(from: usize, n: usize, term: &impl Fn(usize) -> f64) -> f64 {
    if n < 8 {
        return (from..from + n).map(term).sum();
    }
    if n <= 128 {
        let mut lanes: [f64; 8] = std::array::from_fn(|lane| term(from + lane));
        let whole = n - n % 8;
        for block in (8..whole).step_by(8) {
            for (lane, sum) in lanes.iter_mut().enumerate() {
                *sum += term(from + block + lane);
            }
        }
        let [a, b, c, d, e, f, g, h] = lanes;
        let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
        return (from + whole..from + n).fold(sum, |sum, i| sum + term(i));
    }
    let half = n / 2 - (n / 2) % 8;
    span(from, half, term) + span(from + half, n - half, term)
}
