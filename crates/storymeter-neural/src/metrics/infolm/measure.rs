//! Distances between two distributions over a vocabulary.

use std::f64::consts::{PI, SQRT_2};

use storymeter_core::Range;

/// A distance between the distribution of the story and that of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    FisherRao,
    Kl,
    ReverseKl,
    Alpha,
    Renyi,
    Beta,
    ReverseBeta,
    Ab,
    L1,
    L2,
    Linf,
}

/// The parameter of the alpha and of the Renyi divergence.
const ALPHA: f64 = 0.5;
/// The parameter of the beta divergence.
const BETA: f64 = 0.5;
/// The two parameters of the AB divergence.
const AB: (f64, f64) = (0.25, 0.25);

impl Measure {
    pub(super) const ALL: [Self; 11] = [
        Self::FisherRao,
        Self::Kl,
        Self::ReverseKl,
        Self::Alpha,
        Self::Renyi,
        Self::Beta,
        Self::ReverseBeta,
        Self::Ab,
        Self::L1,
        Self::L2,
        Self::Linf,
    ];

    /// The name of its option and of its column.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::FisherRao => "fisher-rao",
            Self::Kl => "kl",
            Self::ReverseKl => "r-kl",
            Self::Alpha => "alpha",
            Self::Renyi => "renyi",
            Self::Beta => "beta",
            Self::ReverseBeta => "r-beta",
            Self::Ab => "ab",
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Linf => "linf",
        }
    }

    pub(super) fn range(self) -> Range {
        match self {
            Self::FisherRao => Range::between(0.0, PI),
            Self::Alpha => Range::between(0.0, 1.0 / (ALPHA * (1.0 - ALPHA))),
            Self::L1 => Range::between(0.0, 2.0),
            Self::L2 => Range::between(0.0, SQRT_2),
            Self::Linf => Range::UNIT,
            _ => Range::NOT_NEGATIVE,
        }
    }

    /// The distance of `p`, the distribution of the story, from `q`, that of the reference.
    ///
    /// It is never negative. It is infinite where `q` excludes a word that `p` allows and the
    /// measure does not forgive that.
    pub(super) fn between(self, p: &[f64], q: &[f64]) -> f64 {
        let sum = |term: fn(f64, f64) -> f64| p.iter().zip(q).map(|(p, q)| term(*p, *q)).sum();
        let distance: f64 = match self {
            // The angle between the vectors of square roots, 2 acos(sum of sqrt(p q)), in a form
            // that keeps its digits where the angle is small.
            Self::FisherRao => {
                let chord: f64 = sum(|p, q| (p.sqrt() - q.sqrt()).powi(2));
                4.0 * (chord.sqrt() / 2.0).min(1.0).asin()
            }
            Self::Kl => sum(relative_surprise),
            Self::ReverseKl => sum(|p, q| relative_surprise(q, p)),
            Self::Alpha => {
                let affinity: f64 = sum(|p, q| p.powf(ALPHA) * q.powf(1.0 - ALPHA));
                (1.0 - affinity) / (ALPHA * (1.0 - ALPHA))
            }
            Self::Renyi => {
                let affinity: f64 = sum(|p, q| p.powf(ALPHA) * q.powf(1.0 - ALPHA));
                affinity.ln() / (ALPHA - 1.0)
            }
            Self::Beta => beta(p, q),
            Self::ReverseBeta => beta(q, p),
            Self::Ab => {
                let (a, b) = AB;
                let own: f64 = sum(|p, _| p.powf(AB.0 + AB.1));
                let other: f64 = sum(|_, q| q.powf(AB.0 + AB.1));
                let both: f64 = sum(|p, q| p.powf(AB.0) * q.powf(AB.1));
                own.ln() / (b * (a + b)) + other.ln() / (a * (a + b)) - both.ln() / (a * b)
            }
            Self::L1 => sum(|p, q| (p - q).abs()),
            Self::L2 => sum(|p, q| (p - q).powi(2)).sqrt(),
            Self::Linf => p.iter().zip(q).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max),
        };
        // Rounding can take the distance of two equal distributions slightly below 0. `max` would
        // also turn NaN into 0, which means equality.
        if distance < 0.0 { 0.0 } else { distance }
    }
}

/// One term of the Kullback-Leibler divergence.
fn relative_surprise(p: f64, q: f64) -> f64 {
    if p == 0.0 { 0.0 } else { p * (p / q).ln() }
}

fn beta(p: &[f64], q: &[f64]) -> f64 {
    let own: f64 = p.iter().map(|p| p.powf(BETA + 1.0)).sum();
    let other: f64 = q.iter().map(|q| q.powf(BETA + 1.0)).sum();
    let both: f64 = p.iter().zip(q).map(|(p, q)| p * q.powf(BETA)).sum();
    own.ln() / (BETA * (BETA + 1.0)) + other.ln() / (BETA + 1.0) - both.ln() / BETA
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 3] = [0.5, 0.25, 0.25];
    const Q: [f64; 3] = [0.25, 0.25, 0.5];

    #[test]
    fn values_that_can_be_computed_by_hand() {
        let ln2 = std::f64::consts::LN_2;
        // sum of sqrt(p q) = sqrt(0.125) * 2 + 0.25
        let affinity = 0.5f64.sqrt() + 0.25;
        for (measure, expected) in [
            (Measure::FisherRao, 2.0 * affinity.acos()),
            (Measure::Kl, 0.25 * ln2),
            (Measure::ReverseKl, 0.25 * ln2),
            (Measure::Alpha, 4.0 * (1.0 - affinity)),
            (Measure::Renyi, -2.0 * affinity.ln()),
            (Measure::L1, 0.5),
            (Measure::L2, 0.125f64.sqrt()),
            (Measure::Linf, 0.25),
        ] {
            let found = measure.between(&P, &Q);
            assert!((found - expected).abs() < 1e-14, "{measure:?}: {found}, not {expected}");
        }
    }

    #[test]
    fn equal_distributions_have_distance_0_and_others_do_not() {
        let close: Vec<f64> = [1e-9, -1e-9, 0.0].iter().zip(P).map(|(d, p)| p + d).collect();
        for measure in Measure::ALL {
            assert!(measure.between(&P, &P) < 1e-14, "{measure:?}");
            let far = measure.between(&P, &Q);
            let range = measure.range();
            assert!(far > 0.01 && range.high.is_none_or(|high| far < high), "{measure:?}: {far}");
        }
        // acos would give 0 or 3e-8 here.
        let small = Measure::FisherRao.between(&P, &close);
        assert!((small - 6f64.sqrt() * 1e-9).abs() < 1e-15, "{small}");
    }

    #[test]
    fn distributions_without_a_common_word_are_as_far_apart_as_can_be() {
        let (one, other) = ([1.0, 0.0], [0.0, 1.0]);
        for measure in Measure::ALL {
            let far = measure.between(&one, &other);
            match measure.range().high {
                Some(high) => assert!((far - high).abs() < 1e-12, "{measure:?}: {far}"),
                None => assert_eq!(far, f64::INFINITY, "{measure:?}"),
            }
        }
    }
}
