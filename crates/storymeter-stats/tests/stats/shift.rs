//! Shifts: their identity with correlations, their intervals, and samples at the edge.

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use storymeter_stats::resample::stream;
use storymeter_stats::{
    BootstrapMethod, BootstrapOptions, Shift, ShiftOptions, Undefined, bootstrap,
    independent_shift, paired_shift, pearson,
};

fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A normal variable, by Box and Muller.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - uniform(rng), uniform(rng));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

fn correlation(first: &[f64], second: &[f64]) -> f64 {
    let labels: Vec<f64> = first.iter().map(|_| 1.0).chain(second.iter().map(|_| 0.0)).collect();
    pearson(&[first, second].concat(), &labels).unwrap().coefficient
}

proptest! {
    #[test]
    fn balanced_shift_and_correlation_say_the_same(
        pairs in prop::collection::vec((-50.0..50.0f64, -50.0..50.0f64), 2..40),
        power in -150i32..150,
    ) {
        let unit = 10f64.powi(power);
        let (first, second): (Vec<f64>, Vec<f64>) =
            pairs.into_iter().map(|(x, y)| (x * unit, y * unit)).unzip();
        let shift = paired_shift(&first, &second, &ShiftOptions::default()).unwrap().value;
        let r = correlation(&first, &second);
        prop_assert!((r - shift / shift.hypot(2.0)).abs() < 1e-12, "{r} {shift}");
    }

    #[test]
    fn exchanging_the_samples_turns_the_sign(
        pairs in prop::collection::vec((-5.0..5.0f64, -5.0..5.0f64), 2..20),
    ) {
        let (first, second): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let options = ShiftOptions::default();
        let there = paired_shift(&first, &second, &options).unwrap();
        let back = paired_shift(&second, &first, &options).unwrap();
        prop_assert_eq!(there.value, -back.value);
        prop_assert!(
            !there.interval.is_defined() || (there.interval.low + back.interval.high).abs() < 1e-9
        );
    }
}

/// OpenMEVA's typo row of UNION has r = .6021, which is a shift of 1.508 standard deviations.
#[test]
fn the_published_correlation_is_the_shift_that_the_paper_speaks_of() {
    let r = 0.6021f64;
    let expected = 2.0 * r / (1.0 - r * r).sqrt();
    assert!((expected - 1.508).abs() < 5e-4);
    let scores = [-1.0, 1.0, -1.0, 1.0];
    let shifted = scores.map(|v| v + expected);
    let shift = paired_shift(&shifted, &scores, &ShiftOptions::default()).unwrap();
    assert!((shift.value - expected).abs() < 1e-12 && (shift.spread - 1.0).abs() < 1e-12);
    assert!((correlation(&shifted, &scores) - r).abs() < 1e-12);
}

#[test]
fn the_interval_is_that_of_the_plain_bootstrap() {
    let mut rng = stream(3, 0);
    let first: Vec<f64> = (0..300).map(|_| normal(&mut rng)).collect();
    let second: Vec<f64> = first.iter().map(|v| 0.6 * v - 0.4 + 0.5 * normal(&mut rng)).collect();
    let options = ShiftOptions { resamples: 20_000, ..ShiftOptions::default() };
    let ours = paired_shift(&first, &second, &options).unwrap();
    let statistic = |drawn: &[usize]| {
        let pick = |v: &[f64]| drawn.iter().map(|&i| v[i]).collect::<Vec<f64>>();
        let (x, y) = (pick(&first), pick(&second));
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let variance = |v: &[f64]| {
            let centre = mean(v);
            v.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / v.len() as f64
        };
        (mean(&x) - mean(&y)) / ((variance(&x) + variance(&y)) / 2.0).sqrt()
    };
    let plain = BootstrapOptions {
        resamples: 20_000,
        method: BootstrapMethod::Percentile,
        ..BootstrapOptions::default()
    };
    let plain = bootstrap(300, statistic, &plain).unwrap();
    assert!((ours.value - plain.estimate).abs() < 1e-12);
    // Two random quantiles, each with a standard error of about 0.02 standard errors of the shift.
    let slack = 0.1 * plain.standard_error;
    assert!((ours.interval.low - plain.interval.low).abs() < slack, "{ours:?} {plain:?}");
    assert!((ours.interval.high - plain.interval.high).abs() < slack, "{ours:?} {plain:?}");
}

/// The share of simulated samples whose interval has the true shift in it.
fn coverage(one: impl Fn(&mut ChaCha8Rng, &ShiftOptions) -> Shift, truth: f64) -> f64 {
    let rounds = 1000;
    let options = ShiftOptions { resamples: 400, ..ShiftOptions::default() };
    let hit = |round: u32| {
        let options = ShiftOptions { family: round, ..options };
        one(&mut stream(11, u64::from(round)), &options).interval.contains(truth)
    };
    f64::from((0..rounds).map(|round| u32::from(hit(round))).sum::<u32>()) / f64::from(rounds)
}

/// Four standard errors of a share of 0.95 in 1000 rounds are 0.028. The percentile interval itself
/// is a little too short in samples of this size.
#[test]
fn intervals_hold_the_true_shift_as_often_as_they_say() {
    let paired = coverage(
        |rng, options| {
            let story: Vec<f64> = (0..120).map(|_| normal(rng)).collect();
            let mut text = |level: f64| -> Vec<f64> {
                story.iter().map(|own| level + 0.8 * own + 0.6 * normal(rng)).collect()
            };
            let (originals, twins) = (text(0.5), text(0.0));
            paired_shift(&originals, &twins, options).unwrap()
        },
        0.5,
    );
    assert!((0.915..0.98).contains(&paired), "{paired}");
    let independent = coverage(
        |rng, options| {
            let originals: Vec<f64> = (0..200).map(|_| 1.0 + normal(rng)).collect();
            let twins: Vec<f64> = (0..60).map(|_| normal(rng)).collect();
            independent_shift(&originals, &twins, options).unwrap()
        },
        1.0,
    );
    assert!((0.915..0.98).contains(&independent), "{independent}");
}

#[test]
fn pairs_make_the_interval_shorter_and_change_no_value() {
    let mut rng = stream(5, 0);
    let first: Vec<f64> = (0..400).map(|_| normal(&mut rng)).collect();
    let second: Vec<f64> = first.iter().map(|v| v - 0.2 + 0.1 * normal(&mut rng)).collect();
    let options = ShiftOptions::default();
    let paired = paired_shift(&first, &second, &options).unwrap();
    let apart = independent_shift(&first, &second, &options).unwrap();
    assert_eq!((paired.value, paired.spread), (apart.value, apart.spread));
    let width = |shift: &Shift| shift.interval.high - shift.interval.low;
    assert!(3.0 * width(&paired) < width(&apart), "{paired:?} {apart:?}");
}

#[test]
fn samples_that_do_not_vary_have_no_shift() {
    let options = ShiftOptions::default();
    let equal = paired_shift(&[0.1; 7], &[0.1; 7], &options).unwrap();
    assert_eq!((equal.spread, equal.undefined), (0.0, Some(Undefined::NoVariation)));
    assert!(equal.value.is_nan() && !equal.interval.is_defined(), "0 was printed here");
    for shift in [paired_shift, independent_shift] {
        let apart = shift(&[0.1; 7], &[0.3; 7], &options).unwrap();
        assert!(apart.value.is_nan() && !apart.interval.is_defined());
        assert_eq!(apart.undefined, Some(Undefined::NoSpread));
        assert_eq!((apart.first, apart.second, apart.spread), (0.1, 0.3, 0.0));
    }
}

#[test]
fn equal_columns_have_a_shift_of_exactly_0() {
    let scores = [0.3, 0.1, 0.7, 0.2, 0.9, 0.4];
    let same = paired_shift(&scores, &scores, &ShiftOptions::default()).unwrap();
    assert_eq!((same.value, same.interval.low, same.interval.high), (0.0, 0.0, 0.0));
}

#[test]
fn too_few_or_infinite_values_and_bad_options_are_refused() {
    let options = ShiftOptions::default();
    assert!(paired_shift(&[1.0], &[2.0], &options).is_err());
    assert!(paired_shift(&[1.0, 2.0], &[2.0], &options).is_err());
    assert!(independent_shift(&[1.0, 2.0], &[2.0], &options).is_err());
    let (x, y) = ([1.0, 2.0, f64::INFINITY], [0.0, 1.0, 0.5]);
    let found = paired_shift(&x, &y, &options).unwrap();
    assert!(found.value.is_nan() && found.undefined == Some(Undefined::NotANumber));
    let none = ShiftOptions { resamples: 0, ..options };
    assert!(paired_shift(&y, &y, &none).is_err());
    let sure = ShiftOptions { confidence: 1.0, ..options };
    assert!(paired_shift(&y, &y, &sure).is_err());
}

#[test]
fn two_pairs_have_a_shift_and_no_interval() {
    let two = paired_shift(&[1.0, 2.0], &[0.0, 1.5], &ShiftOptions::default()).unwrap();
    assert!(two.value > 0.0 && !two.interval.is_defined(), "{two:?}");
}

#[test]
fn values_near_the_ends_of_the_range_do_not_overflow() {
    let first = [1.7e308, -1.7e308, 1.7e308, 1.0e308];
    let second = [1.0e308, -1.7e308, 0.0, 1.0e308];
    let found = paired_shift(&first, &second, &ShiftOptions::default()).unwrap();
    assert!(found.value.is_finite() && found.spread.is_finite(), "{found:?}");
    let tiny = paired_shift(&[3e-308, 1e-308], &[1e-308, 1e-308], &ShiftOptions::default());
    assert!(tiny.unwrap().value > 0.5);
}

#[test]
fn families_draw_differently_and_the_same_family_draws_the_same() {
    let mut rng = stream(9, 0);
    let first: Vec<f64> = (0..50).map(|_| normal(&mut rng)).collect();
    let second: Vec<f64> = (0..50).map(|_| normal(&mut rng)).collect();
    let shift = |family| {
        let options = ShiftOptions { family, ..ShiftOptions::default() };
        paired_shift(&first, &second, &options).unwrap().interval
    };
    assert_eq!(shift(1), shift(1));
    assert_ne!(shift(1), shift(2));
}
