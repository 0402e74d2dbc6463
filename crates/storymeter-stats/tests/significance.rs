//! Tests between dependent correlations, and many tests at once.

mod support;

use storymeter_stats::{
    Coefficient, Matrix, Signs, StatsError, Stronger, Undefined, benjamini_hochberg,
    benjamini_yekutieli, fisher_interval, meng_rosenthal_rubin, steiger, williams,
    williams_by_strength, williams_matrix,
};
use support::{assert_close, cases, close, uniform};

#[test]
fn williams_gives_the_t_and_p_of_the_hanna_analysis() {
    // BERTScore-F1 against ROUGE-1 recall on Relevance, Pearson between ten systems.
    let found = williams(0.7909720918180811, 0.69886591627576, 0.9145073764921343, 10).unwrap();
    assert!((found.statistic - 0.966862495119005).abs() < 1e-10, "{found:?}");
    assert!((found.p_value - 0.1829108619322395).abs() < 1e-10, "{found:?}");
    assert!((found.p_two_sided - 2.0 * found.p_value).abs() < 1e-15);
    let (stronger, same) =
        williams_by_strength(0.69886591627576, 0.7909720918180811, 0.9145073764921343, 10).unwrap();
    assert_eq!((stronger, same), (Stronger::Second, found));
}

#[test]
fn williams_and_steiger_are_those_of_the_r_package_psych() {
    let cases = cases("dependent");
    assert!(cases.len() >= 200);
    for row in cases {
        let (r12, r13, r23, n) = (row.float(0), row.float(1), row.float(2), row.size(3));
        let found = williams(r12, r13, r23, n).unwrap();
        assert!(close(found.statistic, row.float(4), 1e-10), "{found:?} {row:?}");
        assert!(close(found.p_two_sided, row.float(5), 1e-10), "{found:?} {row:?}");
        let found = steiger(r12, r13, r23, n).unwrap();
        assert!(close(found.statistic, row.float(6), 1e-10), "{found:?} {row:?}");
        // psych takes 1 - Φ, which leaves small p-values no more than their absolute digits.
        assert_close(found.p_two_sided, row.float(7), "p", &row);
    }
}

#[test]
fn a_metric_turned_upside_down_is_as_strong_as_before() {
    let upright = williams_by_strength(0.6, 0.4, 0.5, 30).unwrap();
    assert_eq!(williams_by_strength(-0.6, 0.4, -0.5, 30).unwrap(), upright);
    assert_eq!(williams_by_strength(-0.6, -0.4, 0.5, 30).unwrap(), upright);
}

#[test]
fn the_published_matrix_loses_the_later_metrics_sign_after_the_first_column() {
    // Metrics 1 and 2 correlate negatively with the criterion.
    let criterion = [0.3, -0.8, -0.5];
    let between = [1.0, -0.4, -0.2, -0.4, 1.0, 0.3, -0.2, 0.3, 1.0];
    let between = Matrix::new(&between, 3, 3).unwrap();
    let p = |a, b, r| Some(williams(a, b, r, 10).unwrap().p_value);
    let correct = williams_matrix(&criterion, between, 10, Signs::Correct).unwrap();
    let published = williams_matrix(&criterion, between, 10, Signs::Published).unwrap();
    let none = None;
    let expected =
        [none, none, none, p(0.8, 0.3, 0.4), none, p(0.8, 0.5, 0.3), p(0.5, 0.3, 0.2), none, none];
    assert_eq!(correct, expected);
    assert_eq!(published[3], correct[3], "first column: both signs are there");
    assert_eq!(published[6], correct[6], "first column: both signs are there");
    assert_eq!(published[5], p(0.8, 0.5, -0.3), "metrics 1 and 2: only the sign of 1 is applied");
}

#[test]
fn worked_examples_of_the_literature_come_out() {
    let near = |got: f64, want: f64, digits: i32| {
        assert!((got - want).abs() <= 0.5 * 10f64.powi(-digits), "got {got}, want {want}");
    };
    // depcor (Silver, Hittner & May 2006): r = .3 and .4, between the metrics .5, n = 100.
    let found = williams(0.3, 0.4, 0.5, 100).unwrap();
    near(found.statistic, -1.0767, 4);
    near(found.p_two_sided, 0.2843, 4);
    let found = steiger(0.3, 0.4, 0.5, 100).unwrap();
    near(found.statistic, -1.0718, 4);
    near(found.p_two_sided, 0.2838, 4);
    // Steiger (1980), p. 249, case A, recomputed without intermediate rounding by cocor.
    near(steiger(0.4, 0.5, 0.1, 103).unwrap().statistic, -0.8887185, 7);
    // Meng, Rosenthal & Rubin (1992): r = .63 and -.03, between the predictors -.19, n = 15.
    let found = meng_rosenthal_rubin(0.63, -0.03, -0.19, 15).unwrap();
    near(found.statistic, 1.68, 2);
    near(found.p_value, 0.047, 3);
    assert_eq!(meng_rosenthal_rubin(-0.03, 0.63, -0.19, 15).unwrap().statistic, -found.statistic);
    let found = meng_rosenthal_rubin(0.3, 0.4, 0.5, 100).unwrap();
    near(found.statistic, -1.0707, 4);
    near(found.p_two_sided, 0.2843, 4);
    // May & Hittner (1997), n = 50, correlation between the predictors 0, .1 ... .8. Their 2.24 is 2.245 unrounded.
    let table = [
        (0.5, 0.2, [1.62, 1.70, 1.80, 1.91, 2.06, 2.245, 2.50, 2.87, 3.50]),
        (0.7, 0.4, [2.03, 2.10, 2.20, 2.32, 2.47, 2.66, 2.94, 3.35, 4.05]),
    ];
    for (r12, r13, statistics) in table {
        for (tenths, want) in statistics.into_iter().enumerate() {
            near(
                meng_rosenthal_rubin(r12, r13, tenths as f64 / 10.0, 50).unwrap().statistic,
                want,
                2,
            );
        }
    }
}

#[test]
fn impossible_and_missing_correlations_are_named() {
    assert_eq!(williams(0.9, 0.9, -0.9, 10).unwrap().undefined, Some(Undefined::Contradiction));
    assert_eq!(williams(f64::NAN, 0.9, 0.9, 10).unwrap().undefined, Some(Undefined::NotANumber));
    assert!(matches!(
        williams(0.5, 0.4, 0.3, 3),
        Err(StatsError::TooFew { needed: 4, got: 3, .. })
    ));
    assert!(matches!(steiger(1.5, 0.4, 0.3, 10), Err(StatsError::OutOfRange { .. })));
}

#[test]
fn false_discovery_rates_are_those_of_scipy_and_statsmodels() {
    let cases = cases("multiple");
    assert!(cases.len() >= 200);
    for row in cases {
        let (seed, n) = (row.int(0), row.size(1));
        let coarse = row.0[2].as_bool().expect("flag");
        let p: Vec<f64> = (0..n)
            .map(|i| {
                let p = uniform(seed, i).powi(2);
                if coarse { (p * 10.0).floor() / 10.0 } else { p }
            })
            .collect();
        for (q, from) in
            [(benjamini_hochberg(&p).unwrap(), 3), (benjamini_yekutieli(&p).unwrap(), 8)]
        {
            let least = q.iter().copied().fold(f64::INFINITY, f64::min);
            let summary = [q[0], q[n / 2], q[n - 1], least, q.iter().sum()];
            for (i, got) in summary.into_iter().enumerate() {
                assert_close(got, row.float(from + i), "adjusted p", &row);
            }
        }
    }
    assert!(benjamini_hochberg(&[0.5, f64::NAN]).is_err());
    assert!(benjamini_hochberg(&[1.5]).is_err());
    assert!(benjamini_hochberg(&[]).unwrap().is_empty());
}

#[test]
fn fisher_intervals_widen_for_ranks_as_published() {
    let interval = |c| fisher_interval(c, 0.5, 30, 0.95).unwrap();
    let pearson = interval(Coefficient::Pearson);
    let spearman = interval(Coefficient::Spearman);
    let kendall = interval(Coefficient::Kendall);
    // sqrt(1/27), sqrt(1.125/27) and sqrt(0.437/26) times 1.959964 around atanh(0.5) = 0.549306.
    assert!((pearson.low - (0.549306 - 0.377195f64).tanh()).abs() < 1e-5, "{pearson:?}");
    assert!((spearman.high - (0.549306 + 0.400076f64).tanh()).abs() < 1e-5, "{spearman:?}");
    assert!((kendall.low - (0.549306 - 0.254100f64).tanh()).abs() < 1e-5, "{kendall:?}");
    assert!(fisher_interval(Coefficient::Pearson, 0.5, 3, 0.95).is_err());
    assert!(fisher_interval(Coefficient::Pearson, 0.5, 30, 1.0).is_err());
}
