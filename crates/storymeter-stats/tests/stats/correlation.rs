//! Correlations against scipy, and the laws they obey.

use crate::support::{Row, assert_close, cases, close, values};
use storymeter_stats::{
    Coefficient, Prepared, StatsError, Undefined, drop_nan_pairs, fisher_interval, kendall,
    pearson, spearman,
};

fn inputs(row: &Row) -> (Vec<f64>, Vec<f64>) {
    let (seed, n) = (row.int(2), row.size(3));
    let x = values(row.text(0), seed, n, &[]);
    let y = values(row.text(1), seed + 1, n, &x);
    (x, y)
}

#[test]
fn coefficients_and_p_values_are_scipys() {
    let cases = cases("correlation");
    assert!(cases.len() >= 200);
    for row in cases {
        let (x, y) = inputs(&row);
        let pairs = drop_nan_pairs(&x, &y).unwrap();
        assert_eq!(pairs.dropped, row.size(4), "{row:?}");
        if row.0.len() == 5 {
            assert!(pearson(&pairs.x, &pairs.y).is_err(), "{row:?}");
            continue;
        }
        for (i, coefficient) in Coefficient::ALL.into_iter().enumerate() {
            let got = coefficient.compute(&pairs.x, &pairs.y).unwrap();
            assert_close(got.coefficient, row.float(5 + 2 * i), coefficient.name(), &row);
            // p agrees to ten digits unless r is 1 up to its last bits. There 1 - |r| has no digits
            // left (with three pairs p is proportional to its square root), and the last bit of
            // scipy depends on its BLAS.
            let want = row.float(6 + 2 * i);
            let near_one = got.coefficient.abs() > 1.0 - 1e-14;
            let slack = if pairs.x.len() == 3 { 2e-8 } else { 1e-10 };
            let good =
                close(got.p_value, want, 1e-10) || near_one && (got.p_value - want).abs() < slack;
            assert!(good, "{coefficient}: p {:e}, want {want:e}\n{row:?}", got.p_value);
            assert_eq!(got.undefined.is_some(), got.coefficient.is_nan());
            let alone = coefficient.value(&pairs.x, &pairs.y).unwrap();
            assert_eq!(alone.to_bits(), got.coefficient.to_bits());
            let prepared = |v| Prepared::new(coefficient, v).unwrap();
            let fast = prepared(&pairs.x).correlate(&prepared(&pairs.y)).unwrap();
            assert_eq!(fast.to_bits(), got.coefficient.to_bits(), "prepared vectors: {row:?}");
            let raw = coefficient.compute(&x, &y).unwrap();
            if pairs.dropped > 0 {
                assert_eq!(raw.undefined, Some(Undefined::NotANumber));
                assert!(raw.coefficient.is_nan() && raw.p_value.is_nan());
            }
        }
        if pairs.x.len() > 3 {
            let r = row.float(5);
            let interval = fisher_interval(Coefficient::Pearson, r, pairs.x.len(), 0.95).unwrap();
            assert_close(interval.low, row.float(11), "interval low", &row);
            assert_close(interval.high, row.float(12), "interval high", &row);
        }
    }
}

#[test]
fn infinities_rank_but_do_not_add() {
    let (x, y) = ([1.0, 2.0, f64::INFINITY, 0.0], [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(pearson(&x, &y).unwrap().undefined, Some(Undefined::NotANumber));
    let finite = [1.0, 2.0, 99.0, 0.0];
    assert_eq!(spearman(&x, &y).unwrap(), spearman(&finite, &y).unwrap());
    assert_eq!(kendall(&x, &y).unwrap(), kendall(&finite, &y).unwrap());
}

#[test]
fn values_too_large_to_add_up_are_named() {
    let (x, y) = ([1.7e308, 1.7e308, -1.0, 3.0], [1.0, 2.0, 3.0, 4.0]);
    let found = pearson(&x, &y).unwrap();
    assert!(found.coefficient.is_nan());
    assert_eq!(found.undefined, Some(Undefined::Overflow));
    assert!(kendall(&x, &y).unwrap().undefined.is_none());
}

#[test]
fn what_is_wrong_with_the_input_is_said() {
    let error = |x: &[f64], y: &[f64]| pearson(x, y).unwrap_err().to_string();
    assert_eq!(error(&[1.0, 2.0], &[1.0]), "unequal lengths: 2 and 1 values");
    assert_eq!(error(&[1.0], &[1.0]), "a correlation needs at least 2 pairs, got 1");
    let undefined = |x: &[f64], y: &[f64]| kendall(x, y).unwrap().undefined.unwrap().to_string();
    assert_eq!(undefined(&[1.0, 1.0], &[1.0, 2.0]), "the first input is constant");
    assert_eq!(undefined(&[1.0, 2.0], &[1.0, 1.0]), "the second input is constant");
    assert_eq!(
        undefined(&[f64::NAN, 1.0], &[1.0, 1.0]),
        "the input holds a value that is not a number"
    );
    assert!(matches!(
        Prepared::new(Coefficient::Kendall, &[1.0]),
        Err(StatsError::TooFew { needed: 2, got: 1, .. })
    ));
    let all_nan = drop_nan_pairs(&[f64::NAN; 3], &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!((all_nan.x.len(), all_nan.dropped), (0, 3));
}

#[test]
fn negative_zero_ties_with_zero() {
    let (x, y) = ([0.0, -0.0, 1.0, 2.0], [1.0, 2.0, 3.0, 4.0]);
    let positive = [0.0, 0.0, 1.0, 2.0];
    for coefficient in Coefficient::ALL {
        assert_eq!(
            coefficient.compute(&x, &y).unwrap(),
            coefficient.compute(&positive, &y).unwrap()
        );
    }
}
