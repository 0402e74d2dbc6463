//! Correlations against scipy, and the laws they obey.

mod support;

use storymeter_stats::{Coefficient, Undefined, drop_nan_pairs, pearson};
use support::{Row, assert_close, cases, values};

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
            // With three pairs p goes as sqrt(1 - |r|): the last bit of an r next to 1 moves p by 1e-8, and
            // scipy's own last bit depends on its BLAS.
            if pairs.x.len() == 3 && got.coefficient.abs() > 1.0 - 1e-15 {
                assert!((got.p_value - row.float(6 + 2 * i)).abs() < 2e-8, "{row:?}");
            } else {
                assert_close(got.p_value, row.float(6 + 2 * i), "p", &row);
            }
            assert_eq!(got.undefined.is_some(), got.coefficient.is_nan());
            let raw = coefficient.compute(&x, &y).unwrap();
            if pairs.dropped > 0 {
                assert_eq!(raw.undefined, Some(Undefined::NotANumber));
                assert!(raw.coefficient.is_nan() && raw.p_value.is_nan());
            }
        }
    }
}
