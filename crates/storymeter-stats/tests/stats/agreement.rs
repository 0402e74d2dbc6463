//! Agreement coefficients against pingouin, krippendorff and statsmodels.

use crate::support::{assert_close, cases, ratings};
use storymeter_stats::agreement::{Scale, fleiss_kappa, icc, kendall_w, krippendorff_alpha};
use storymeter_stats::{Matrix, StatsError, Undefined};

#[test]
fn six_intraclass_correlations_are_pingouins() {
    let cases = cases("icc");
    assert!(cases.len() >= 200);
    for row in cases {
        let (targets, raters) = (row.size(2), row.size(3));
        let cells = ratings(row.text(0), row.int(1), targets, raters);
        let complete = Matrix::new(&cells, targets, raters).unwrap().complete_rows();
        assert_eq!(complete.rows + complete.dropped, targets);
        let found = icc(Matrix::new(&complete.values, complete.rows, raters).unwrap()).unwrap();
        for (i, got) in found.iter().enumerate() {
            let want = row.floats(4 + i);
            let all = [
                got.value,
                got.f,
                got.df1,
                got.df2,
                got.p_value,
                got.interval.low,
                got.interval.high,
            ];
            let full_agreement = want[1] > 1e14;
            for (part, (got, want)) in all.into_iter().zip(want).enumerate() {
                // With full agreement F is infinite and the ends of the interval are 1. pingouin
                // has an F of about 1e15 where rounding leaves a residual, and inf/inf where it
                // does not.
                match part {
                    1 if full_agreement => assert!(got > 1e14, "{row:?}"),
                    5 | 6 if full_agreement => assert!((got - 1.0).abs() < 1e-10, "{row:?}"),
                    _ => assert_close(got, want, &format!("form {i} part {part}"), &row),
                }
            }
        }
    }
}

#[test]
fn krippendorffs_alpha_agrees_with_the_krippendorff_package() {
    let cases = cases("krippendorff");
    assert!(cases.len() >= 200);
    for row in cases {
        let (units, raters) = (row.size(2), row.size(3));
        let mut cells = ratings(row.text(0), row.int(1), units, raters);
        for (i, scale) in
            [Scale::Nominal, Scale::Ordinal, Scale::Interval, Scale::Ratio].into_iter().enumerate()
        {
            if scale == Scale::Ratio && row.text(0).starts_with("smooth") {
                cells.iter_mut().for_each(|v| *v = v.abs());
            }
            let found = krippendorff_alpha(Matrix::new(&cells, units, raters).unwrap(), scale);
            if row.0[4 + i].is_null() {
                assert!(matches!(found, Err(StatsError::TooFew { .. })), "{row:?}");
                continue;
            }
            let found = found.unwrap();
            assert_close(found.alpha, row.float(4 + i), &format!("{scale:?}"), &row);
            assert_eq!(found.alpha.is_nan(), found.undefined == Some(Undefined::NoVariation));
            assert_eq!(found.units + found.units_skipped, units);
        }
    }
}

#[test]
fn fleiss_kappa_is_that_of_statsmodels() {
    let cases = cases("fleiss");
    assert!(cases.len() >= 200);
    for row in cases {
        let (subjects, raters) = (row.size(2), row.size(3));
        let cells = ratings(row.text(0), row.int(1), subjects, raters);
        let found = fleiss_kappa(Matrix::new(&cells, subjects, raters).unwrap()).unwrap();
        assert_close(found.kappa, row.float(4), "kappa", &row);
    }
}

#[test]
fn kendalls_w_is_that_of_pingouins_friedman_test() {
    let cases = cases("kendall_w");
    assert!(cases.len() >= 200);
    for row in cases {
        let (items, raters) = (row.size(2), row.size(3));
        let cells = ratings(row.text(0), row.int(1), items, raters);
        // Like pingouin, leave out raters who did not rate everything.
        let complete =
            |rater: &usize| (0..items).all(|item| !cells[item * raters + rater].is_nan());
        let kept: Vec<usize> = (0..raters).filter(complete).collect();
        let by_item: Vec<f64> = (0..items)
            .flat_map(|item| kept.iter().map(move |rater| (item, *rater)))
            .map(|(i, r)| cells[i * raters + r])
            .collect();
        let found = kendall_w(Matrix::new(&by_item, items, kept.len()).unwrap()).unwrap();
        assert_close(found.w, row.float(4), "W", &row);
        assert_close(found.chi_squared, row.float(5), "chi squared", &row);
        assert_close(found.df, row.float(6), "df", &row);
        assert_close(found.p_value, row.float(7), "p", &row);
    }
}

#[test]
fn missing_and_malformed_ratings_are_named() {
    let cells = [1.0, 2.0, f64::NAN, 4.0];
    let table = Matrix::new(&cells, 2, 2).unwrap();
    let named = "ratings: value 2 is NaN; remove or impute it first";
    assert_eq!(icc(table).unwrap_err().to_string(), named);
    assert_eq!(fleiss_kappa(table).unwrap_err().to_string(), named);
    assert_eq!(kendall_w(table).unwrap_err().to_string(), named);
    let one_rater = Matrix::new(&cells[..2], 2, 1).unwrap();
    assert_eq!(
        icc(one_rater).unwrap_err().to_string(),
        "the intraclass correlation needs at least 2 raters, got 1"
    );
    let alpha = krippendorff_alpha(table, Scale::Interval).unwrap();
    assert_eq!((alpha.units, alpha.units_skipped, alpha.values), (1, 1, 2));
    let negative = Matrix::new(&[-1.0, 2.0], 1, 2).map(|m| krippendorff_alpha(m, Scale::Ratio));
    assert_eq!(
        negative.unwrap().unwrap_err().to_string(),
        "a rating is -1, must be at least 0 on a ratio scale"
    );
    assert!(Matrix::new(&cells, 3, 2).is_err());
}
