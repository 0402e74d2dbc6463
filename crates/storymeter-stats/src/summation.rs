//! Sums in one fixed, accurate order.
//!
//! Pairwise summation: error grows with log n instead of n, and the order does not depend on threads. The blocks
//! (eight running sums up to 128 terms, halves at multiples of eight above) are those of numpy's reduction, so
//! that ill-conditioned inputs come out as they do there.

/// Sum of `term(i)` for `i` in `0..n`.
pub(crate) fn pairwise(n: usize, term: &impl Fn(usize) -> f64) -> f64 {
    span(0, n, term)
}

/// Arithmetic mean of a slice; NaN when it is empty.
pub fn mean(values: &[f64]) -> f64 {
    pairwise(values.len(), &|i| values[i]) / values.len() as f64
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
