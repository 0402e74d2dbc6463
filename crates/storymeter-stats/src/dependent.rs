//! Tests between two correlations that share a variable: does metric 2 agree with the judges (1) better than
//! metric 3?
//!
//! All take `r12` and `r13`, the correlations of the two metrics with the criterion, and `r23`, the one between the
//! metrics, on the same `n` items.

use crate::distribution::{normal_sf, student_t_sf};
use crate::error::{Result, StatsError, Undefined};
use crate::matrix::Matrix;

/// Outcome of a test between two dependent correlations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DependentTest {
    /// The statistic; positive when the first correlation is the larger.
    pub statistic: f64,
    /// One-sided p-value: `P(statistic this large)` if the first is not larger.
    pub p_value: f64,
    /// Two-sided p-value.
    pub p_two_sided: f64,
    /// Why the values are NaN, if they are.
    pub undefined: Option<Undefined>,
}

impl DependentTest {
    fn nan(why: Undefined) -> Self {
        Self { statistic: f64::NAN, p_value: f64::NAN, p_two_sided: f64::NAN, undefined: Some(why) }
    }
}

/// Williams' test (Williams 1959, in the form of Graham & Baldwin 2014), on the correlations as they are.
///
/// `K = 1 - r12² - r13² - r23² + 2 r12 r13 r23`
///
/// `t = (r12 - r13) sqrt((n-1)(1+r23)) / sqrt(2K (n-1)/(n-3) + ((r12+r13)/2)² (1-r23)³)`, `n - 3` degrees of freedom
///
/// Correlations with `K < 0` cannot occur together; the result is then NaN with [`Undefined::Contradiction`].
pub fn williams(r12: f64, r13: f64, r23: f64, n: usize) -> Result<DependentTest> {
    if let Some(undefined) = check("Williams' test", [r12, r13, r23], n)? {
        return Ok(undefined);
    }
    let n = n as f64;
    let determinant = 1.0 - r12 * r12 - r13 * r13 - r23 * r23 + 2.0 * r12 * r13 * r23;
    let mean = (r12 + r13) / 2.0;
    let t = (r12 - r13) * ((n - 1.0) * (1.0 + r23)).sqrt()
        / (2.0 * determinant * (n - 1.0) / (n - 3.0) + mean * mean * (1.0 - r23).powi(3)).sqrt();
    if t.is_nan() {
        return Ok(DependentTest::nan(Undefined::Contradiction));
    }
    let upper = student_t_sf(t, n - 3.0);
    let p_two_sided = 2.0 * student_t_sf(t.abs(), n - 3.0);
    Ok(DependentTest { statistic: t, p_value: upper, p_two_sided, undefined: None })
}

/// Which of two metrics a comparison of strengths favours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stronger {
    /// The first metric (correlation `r12`).
    First,
    /// The second metric (correlation `r13`).
    Second,
    /// Neither: equally strong.
    Neither,
}

/// Williams' test on the strength of two metrics, whatever their direction.
///
/// Metrics are flipped so that both correlate positively with the criterion, which turns `r23` into
/// `sign(r12) sign(r13) r23`; the stronger comes first, and the one-sided p-value asks whether it is stronger by
/// chance.
pub fn williams_by_strength(
    r12: f64,
    r13: f64,
    r23: f64,
    n: usize,
) -> Result<(Stronger, DependentTest)> {
    let flipped = sign(r12) * sign(r13) * r23;
    let (a, b) = (r12.abs(), r13.abs());
    if a >= b {
        let stronger = if a > b { Stronger::First } else { Stronger::Neither };
        Ok((stronger, williams(a, b, flipped, n)?))
    } else {
        Ok((Stronger::Second, williams(b, a, flipped, n)?))
    }
}

/// How [`williams_matrix`] treats metrics that correlate negatively with the criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signs {
    /// Every pair is flipped by the signs of its own correlations.
    #[default]
    Correct,
    /// As in the matrices published with HANNA. There a pair's value comes from the row of the metric that is later
    /// in the list, and in each row the correlation of that metric is overwritten by its absolute value at the
    /// first comparison, so that its sign is lost but for column 0. Pairs that become contradictory are NaN.
    /// The rule is inferred from what is reported of one such matrix (`storymeter-checks/tests/williams.rs`).
    Published,
}

/// Williams' test between all pairs of metrics, as a row-major matrix of one-sided p-values.
///
/// `criterion[i]` is the signed correlation of metric `i` with the criterion, `between` the correlations among the
/// metrics. Cell `(i, j)` holds a p-value where metric `i` is the stronger one, and `None` elsewhere (the mirrored
/// cell, the diagonal, equal strengths, undefined correlations). A pair whose correlations contradict each other is
/// `Some(NaN)`; the published matrices show these as 0.
pub fn williams_matrix(
    criterion: &[f64],
    between: Matrix<'_>,
    n: usize,
    signs: Signs,
) -> Result<Vec<Option<f64>>> {
    let metrics = criterion.len();
    StatsError::check_pairs(metrics, between.rows())?;
    StatsError::check_pairs(metrics, between.columns())?;
    let mut cells = vec![None; metrics * metrics];
    for i in 0..metrics {
        for j in (0..metrics).filter(|&j| j != i) {
            let (r12, r13) = (criterion[i], criterion[j]);
            if r12.abs() > r13.abs() {
                let (earlier, later) = (i.min(j), i.max(j));
                let sign_lost = signs == Signs::Published && earlier > 0;
                let of_later = if sign_lost { 1.0 } else { sign(criterion[later]) };
                let r23 = of_later * sign(criterion[earlier]) * between.get(i, j);
                cells[i * metrics + j] = Some(williams(r12.abs(), r13.abs(), r23, n)?.p_value);
            }
        }
    }
    Ok(cells)
}

/// Steiger's Z (Steiger 1980, eq. 14 with the pooled correlation of eq. 10).
///
/// With `r = (r12 + r13)/2` and `z = atanh`: `ψ = r23 (1 - 2r²) - r²/2 (1 - 2r² - r23²)`, `s = ψ / (1 - r²)²`,
/// `Z = (z12 - z13) sqrt(n - 3) / sqrt(2 - 2s)`.
pub fn steiger(r12: f64, r13: f64, r23: f64, n: usize) -> Result<DependentTest> {
    if let Some(undefined) = check("Steiger's test", [r12, r13, r23], n)? {
        return Ok(undefined);
    }
    let square = ((r12 + r13) / 2.0).powi(2);
    let psi = r23 * (1.0 - 2.0 * square) - 0.5 * square * (1.0 - 2.0 * square - r23 * r23);
    let covariance = psi / (1.0 - square).powi(2);
    let z = (r12.atanh() - r13.atanh()) * ((n - 3) as f64).sqrt() / (2.0 - 2.0 * covariance).sqrt();
    Ok(normal_test(z))
}

/// Z of Meng, Rosenthal & Rubin (1992, eq. 1).
///
/// With `r² = (r12² + r13²)/2`, `f = min(1, (1 - r23) / (2 (1 - r²)))` and `h = (1 - f r²) / (1 - r²)`:
/// `Z = (z12 - z13) sqrt((n - 3) / (2 (1 - r23) h))`.
pub fn meng_rosenthal_rubin(r12: f64, r13: f64, r23: f64, n: usize) -> Result<DependentTest> {
    if let Some(undefined) = check("the test of Meng, Rosenthal and Rubin", [r12, r13, r23], n)? {
        return Ok(undefined);
    }
    let square = (r12 * r12 + r13 * r13) / 2.0;
    let f = ((1.0 - r23) / (2.0 * (1.0 - square))).min(1.0);
    let h = (1.0 - f * square) / (1.0 - square);
    let z = (r12.atanh() - r13.atanh()) * ((n - 3) as f64 / (2.0 * (1.0 - r23) * h)).sqrt();
    Ok(normal_test(z))
}

fn normal_test(z: f64) -> DependentTest {
    if z.is_nan() {
        return DependentTest::nan(Undefined::Contradiction);
    }
    DependentTest {
        statistic: z,
        p_value: normal_sf(z),
        p_two_sided: 2.0 * normal_sf(z.abs()),
        undefined: None,
    }
}

/// Checks what all three tests need; an undefined correlation gives an undefined test.
fn check(
    statistic: &'static str,
    correlations: [f64; 3],
    n: usize,
) -> Result<Option<DependentTest>> {
    StatsError::check_count(statistic, "items", 4, n)?;
    for r in correlations {
        if r.abs() > 1.0 {
            return Err(StatsError::OutOfRange {
                what: "a correlation",
                value: r,
                allowed: "between -1 and 1",
            });
        }
    }
    let undefined = correlations.iter().any(|r| r.is_nan());
    Ok(undefined.then(|| DependentTest::nan(Undefined::NotANumber)))
}

/// -1, 0 or 1; unlike `signum`, 0 has no sign.
fn sign(r: f64) -> f64 {
    if r == 0.0 { 0.0 } else { r.signum() }
}
