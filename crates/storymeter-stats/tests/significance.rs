//! Tests between dependent correlations, and many tests at once.

mod support;

use storymeter_stats::{
    Coefficient, Matrix, Signs, StatsError, Stronger, Undefined, benjamini_hochberg, benjamini_yekutieli,
    fisher_interval, meng_rosenthal_rubin, steiger, williams, williams_by_strength, williams_matrix,
};
use support::{assert_close, cases, uniform};

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
fn a_metric_turned_upside_down_is_as_strong_as_before() {
    let upright = williams_by_strength(0.6, 0.4, 0.5, 30).unwrap();
    assert_eq!(williams_by_strength(-0.6, 0.4, -0.5, 30).unwrap(), upright);
    assert_eq!(williams_by_strength(-0.6, -0.4, 0.5, 30).unwrap(), upright);
}

#[test]
fn the_published_matrix_loses_the_sign_after_the_first_column() {
    // Metrics 1 and 2 correlate negatively with the criterion.
    let criterion = [0.3, -0.8, -0.5];
    let between = [1.0, -0.4, -0.2, -0.4, 1.0, 0.6, -0.2, 0.6, 1.0];
    let between = Matrix::new(&between, 3, 3).unwrap();
    let p = |a, b, r| williams(a, b, r, 10).unwrap().p_value;
    let correct = williams_matrix(&criterion, between, 10, Signs::Correct).unwrap();
    let published = williams_matrix(&criterion, between, 10, Signs::Published).unwrap();
    assert_eq!(correct[3], Some(p(0.8, 0.3, 0.4)));
    assert_eq!(published[3], correct[3], "first column: sign still there");
    assert_eq!(correct[5], Some(p(0.8, 0.5, 0.6)));
    assert!(published[5].unwrap().is_nan() || published[5] != correct[5], "later column: sign lost");
    assert_eq!(correct[1], None, "the weaker metric's row stays empty");
    assert_eq!(correct[4], None, "no test of a metric against itself");
}

#[test]
fn steiger_and_meng_give_their_published_examples() {
    // Meng, Rosenthal & Rubin (1992), p. 173: r = .63 and -.03, predictors at -.19, n = 15: Z = 1.68.
    let meng = meng_rosenthal_rubin(0.63, -0.03, -0.19, 15).unwrap();
    assert!((meng.statistic - 1.68).abs() < 0.005, "{meng:?}");
    assert!((meng.p_value - 0.047).abs() < 0.0005, "{meng:?}");
    let opposite = meng_rosenthal_rubin(-0.03, 0.63, -0.19, 15).unwrap();
    assert_eq!(opposite.statistic, -meng.statistic);
    // Steiger's Z of uncorrelated metrics on an uncorrelated criterion is the test of two independent ones.
    let independent = steiger(0.1, -0.1, 0.0, 103).unwrap();
    let expected = 2.0 * 0.1f64.atanh() * 100f64.sqrt() / 2f64.sqrt();
    assert!((independent.statistic - expected).abs() < 1e-12, "{independent:?}");
}

#[test]
fn impossible_and_missing_correlations_are_named() {
    assert_eq!(williams(0.9, 0.9, -0.9, 10).unwrap().undefined, Some(Undefined::Contradiction));
    assert_eq!(williams(f64::NAN, 0.9, 0.9, 10).unwrap().undefined, Some(Undefined::NotANumber));
    assert!(matches!(williams(0.5, 0.4, 0.3, 3), Err(StatsError::TooFew { needed: 4, got: 3, .. })));
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
        for (q, from) in [(benjamini_hochberg(&p).unwrap(), 3), (benjamini_yekutieli(&p).unwrap(), 8)] {
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
