//! Tests between dependent correlations, and many tests at once.

use crate::support::{assert_close, cases, close, uniform, values};
use storymeter_stats::{
    Coefficient, Correction, DependentTest, Result, SharedCorrelations, StatsError, Stronger,
    Undefined, WilliamsRules, benjamini_hochberg, benjamini_yekutieli, fisher_difference,
    fisher_interval, holm, meng_rosenthal_rubin, steiger, williams, williams_by_strength,
    williams_matrix, williams_matrix_of_columns, williams_published,
};

#[test]
fn williams_gives_the_t_and_p_of_the_hanna_analysis() {
    // BERTScore-F1 against ROUGE-1 recall on Relevance, Pearson between ten systems.
    let found = williams(0.7909720918180811, 0.69886591627576, 0.9145073764921343, 10).unwrap();
    assert!((found.statistic - 0.966862495119005).abs() < 1e-10, "{found:?}");
    assert!((found.p_value - 0.1829108619322395).abs() < 1e-10, "{found:?}");
    assert!((found.p_two_sided - 2.0 * found.p_value).abs() < 1e-15);
    let rules = WilliamsRules::Corrected;
    let (stronger, same) =
        williams_by_strength(0.69886591627576, 0.7909720918180811, 0.9145073764921343, 10, rules)
            .unwrap();
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
        // psych computes 1 - Φ, so that small p-values are only accurate in absolute terms.
        assert_close(found.p_two_sided, row.float(7), "p", &row);
    }
}

#[test]
fn a_metric_turned_upside_down_is_as_strong_as_before() {
    let by_strength =
        |r12, r13, r23| williams_by_strength(r12, r13, r23, 30, WilliamsRules::Corrected).unwrap();
    let upright = by_strength(0.6, 0.4, 0.5);
    assert_eq!(by_strength(-0.6, 0.4, -0.5), upright);
    assert_eq!(by_strength(-0.6, -0.4, 0.5), upright);
}

#[test]
fn a_correlation_of_exactly_zero_keeps_the_correlation_between_the_metrics() {
    let human = [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0];
    let first = [1.0, 2.0, 2.0, 1.0, 2.0, 3.0, 3.0, 2.0];
    let second = [1.0, 3.0, 3.0, 3.0, 2.0, 2.0, 4.0, 5.0];
    let pearson = Coefficient::Pearson;
    let three = SharedCorrelations::from_columns(pearson, &human, &first, &second).unwrap();
    assert_eq!(three.first, 0.0);
    let rules = WilliamsRules::Corrected;
    let (stronger, test) = three.williams_by_strength(rules).unwrap();
    assert_eq!(stronger, Stronger::Second);
    assert!((test.p_value - 0.0176).abs() < 5e-5, "{test:?}");
    assert_eq!(test.p_two_sided, three.williams().unwrap().p_two_sided);
    let columns = [first.as_slice(), &second];
    let matrix = williams_matrix_of_columns(pearson, &human, &columns, rules).unwrap();
    assert_eq!((matrix.get(1, 0), matrix.get(0, 1)), (Some(&test), None));
}

#[test]
fn two_equally_strong_metrics_have_a_p_value() {
    let three = SharedCorrelations { first: 0.5, second: -0.5, between: 0.2, n: 20, dropped: 0 };
    let matrix = |rules| williams_matrix(2, rules, |_, _| Ok(three)).unwrap();
    let corrected = matrix(WilliamsRules::Corrected);
    for cell in [corrected.get(0, 1), corrected.get(1, 0)] {
        let test = cell.unwrap();
        assert_eq!((test.statistic, test.p_value, test.p_two_sided), (0.0, 0.5, 1.0));
    }
    let published = matrix(WilliamsRules::Published);
    assert_eq!((published.get(0, 1), published.get(1, 0)), (None, None));
    for turned in [three.turned(1.0, -1.0), three.turned(-1.0, -1.0).turned(-1.0, 1.0)] {
        for test in [turned.williams(), turned.steiger(), turned.meng_rosenthal_rubin()] {
            let test = test.unwrap();
            assert!((test.p_value - 0.5).abs() < 1e-15 && (test.p_two_sided - 1.0).abs() < 1e-15);
        }
    }
}

#[test]
fn the_published_matrix_loses_the_later_metrics_sign_after_the_first_column() {
    // Metrics 1 and 2 correlate negatively with the ratings.
    let criterion = [0.3, -0.8, -0.5];
    let between = [[1.0, -0.4, -0.2], [-0.4, 1.0, 0.3], [-0.2, 0.3, 1.0]];
    let matrix = |rules| {
        let three = |i: usize, j: usize| {
            let (first, second, between) = (criterion[i], criterion[j], between[i][j]);
            Ok(SharedCorrelations { first, second, between, n: 10, dropped: 0 })
        };
        williams_matrix(3, rules, three).unwrap().cells().to_vec()
    };
    let p = |a, b, r| Some(williams(a, b, r, 10).unwrap());
    let (correct, published) = (matrix(WilliamsRules::Corrected), matrix(WilliamsRules::Published));
    let none = None;
    let expected =
        [none, none, none, p(0.8, 0.3, 0.4), none, p(0.8, 0.5, 0.3), p(0.5, 0.3, 0.2), none, none];
    assert_eq!(correct, expected);
    assert_eq!(published[3], correct[3], "first column: both signs are there");
    assert_eq!(published[6], correct[6], "first column: both signs are there");
    let without_sign = Some(williams_published(0.8, 0.5, -0.3, 10).unwrap());
    assert_eq!(published[5], without_sign, "metrics 1 and 2: only the sign of 1 is applied");
    assert_eq!(
        p(0.8, 0.5, -0.3).unwrap().undefined,
        Some(Undefined::Contradiction),
        "the published formula gives a p-value to correlations that cannot occur together"
    );
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
    // May & Hittner (1997), n = 50, correlation between the predictors 0, .1 ... .8. They print
    // 2.24 for 2.245.
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

type Test = fn(f64, f64, f64, usize) -> Result<DependentTest>;

const TESTS: [Test; 3] = [williams, steiger, meng_rosenthal_rubin];

/// Every test is undefined exactly where the determinant of the correlations is negative.
#[test]
fn impossible_triples_have_no_p_value() {
    let (mut possible, mut impossible, mut published) = (0, 0, 0);
    let steps = || (-9..=9).map(|tenths| f64::from(tenths) / 10.0);
    for (r12, r13, r23) in
        steps().flat_map(|a| steps().flat_map(move |b| steps().map(move |c| (a, b, c))))
    {
        let determinant = 1.0 - r12 * r12 - r13 * r13 - r23 * r23 + 2.0 * r12 * r13 * r23;
        if determinant.abs() < 1e-9 {
            continue;
        }
        for test in TESTS {
            let found = test(r12, r13, r23, 10).unwrap();
            if determinant > 0.0 {
                possible += 1;
                assert!(
                    found.undefined.is_none() && found.p_value.is_finite(),
                    "{r12} {r13} {r23}"
                );
            } else {
                impossible += 1;
                assert_eq!(found.undefined, Some(Undefined::Contradiction), "{r12} {r13} {r23}");
                let all = [found.statistic, found.p_value, found.p_two_sided];
                assert!(all.iter().all(|v| v.is_nan()), "{found:?}");
            }
        }
        let formula = williams_published(r12, r13, r23, 10).unwrap();
        if determinant > 0.0 {
            assert_eq!(formula, williams(r12, r13, r23, 10).unwrap());
        } else {
            published += usize::from(formula.p_value.is_finite());
        }
    }
    assert!(possible > 5000 && impossible > 5000, "{possible} {impossible}");
    assert!(published > 500, "the published formula gives p-values to impossible triples");
}

#[test]
fn a_determinant_that_is_zero_but_for_rounding_is_possible() {
    // The second metric is the mean of the first and the ratings, so that the three vectors lie in
    // one plane.
    for seed in 0..200 {
        let ratings = values("bell", 7 * seed, 12, &[]);
        let first = values("follow:1:1", 7 * seed + 1, 12, &ratings);
        let second: Vec<f64> = first.iter().zip(&ratings).map(|(a, b)| (a + b) / 2.0).collect();
        let three =
            SharedCorrelations::from_columns(Coefficient::Pearson, &ratings, &first, &second);
        let test = three.unwrap().williams().unwrap();
        assert_eq!(test.undefined, None, "seed {seed}");
    }
}

#[test]
fn perfectly_correlated_metrics_have_no_test() {
    for test in TESTS {
        for (r12, r23) in [(0.5, 1.0), (0.0, 1.0), (1.0, 1.0)] {
            let found = test(r12, r12, r23, 10).unwrap();
            assert_eq!(found.undefined, Some(Undefined::PerfectCorrelation), "{r12}");
            assert!(found.p_value.is_nan());
        }
    }
    let metric = values("bell", 1, 10, &[]);
    let same = SharedCorrelations::from_columns(
        Coefficient::Pearson,
        &values("bell", 2, 10, &[]),
        &metric,
        &metric,
    );
    assert_eq!(same.unwrap().williams().unwrap().undefined, Some(Undefined::PerfectCorrelation));
}

#[test]
fn each_pair_of_columns_is_tested_on_the_items_it_has() {
    let n = 40;
    let ratings = values("bell+nan:9", 1, n, &[]);
    let clean: Vec<f64> = ratings.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect();
    let shapes = ["follow:1:1", "follow:1:2+nan:5", "follow:-1:1+nan:7", "const:3", "ties:3"];
    let mut columns: Vec<Vec<f64>> =
        (0..).zip(shapes).map(|(k, shape)| values(shape, 10 + k, n, &clean)).collect();
    columns.push(vec![f64::NAN; n]);
    let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    for coefficient in Coefficient::ALL {
        let rules = WilliamsRules::Corrected;
        let matrix = williams_matrix_of_columns(coefficient, &ratings, &slices, rules).unwrap();
        let mut seen = [0; 3];
        for i in 0..columns.len() {
            assert!(matrix.get(i, i).is_none());
            for j in 0..i {
                let complete: Vec<usize> = (0..n)
                    .filter(|&k| {
                        [&ratings, &columns[i], &columns[j]].iter().all(|c| !c[k].is_nan())
                    })
                    .collect();
                let take = |v: &[f64]| complete.iter().map(|&k| v[k]).collect::<Vec<f64>>();
                let cells = [matrix.get(i, j), matrix.get(j, i)];
                if complete.is_empty() {
                    seen[0] += 1;
                    let why = Some(Undefined::TooFew { needed: 4, got: 0 });
                    assert!(cells.iter().all(|cell| cell.unwrap().undefined == why));
                    continue;
                }
                assert!(cells.iter().flatten().all(|test| test.n == complete.len()));
                let r = |a: &[f64], b: &[f64]| coefficient.value(&take(a), &take(b)).unwrap();
                let (r12, r13) = (r(&ratings, &columns[i]), r(&ratings, &columns[j]));
                let r23 = r(&columns[i], &columns[j]);
                let (stronger, test) =
                    williams_by_strength(r12, r13, r23, complete.len(), rules).unwrap();
                if r12.is_nan() || r13.is_nan() {
                    seen[1] += 1;
                    let why = Some(Undefined::NoCorrelation);
                    assert!(cells.iter().all(|cell| cell.unwrap().undefined == why));
                } else {
                    seen[2] += 1;
                    let winner = usize::from(stronger == Stronger::Second);
                    assert_eq!((cells[winner], cells[1 - winner]), (Some(&test), None));
                }
            }
        }
        assert_eq!(seen, [5, 4, 6]);
        assert_eq!(matrix.p_values().iter().flatten().count(), 6);
    }
}

#[test]
fn complete_columns_give_what_their_correlations_give() {
    let ratings = values("bell", 1, 30, &[]);
    let columns: Vec<Vec<f64>> =
        (0..6).map(|k| values("follow:1:1", 20 + k, 30, &ratings)).collect();
    let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    for (coefficient, rules) in Coefficient::ALL
        .into_iter()
        .flat_map(|c| [WilliamsRules::Corrected, WilliamsRules::Published].map(|rules| (c, rules)))
    {
        let direct = williams_matrix(6, rules, |i, j| {
            SharedCorrelations::from_columns(coefficient, &ratings, slices[i], slices[j])
        });
        let columns = williams_matrix_of_columns(coefficient, &ratings, &slices, rules);
        assert_eq!(columns.unwrap(), direct.unwrap());
    }
}

#[test]
fn impossible_and_missing_correlations_are_named() {
    assert_eq!(williams(0.9, 0.9, -0.9, 10).unwrap().undefined, Some(Undefined::Contradiction));
    assert_eq!(williams(f64::NAN, 0.9, 0.9, 10).unwrap().undefined, Some(Undefined::NoCorrelation));
    assert!(matches!(
        williams(0.5, 0.4, 0.3, 3),
        Err(StatsError::TooFew { needed: 4, got: 3, .. })
    ));
    assert!(matches!(steiger(1.5, 0.4, 0.3, 10), Err(StatsError::OutOfRange { .. })));
}

#[test]
fn corrections_are_those_of_scipy_and_statsmodels() {
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
        for (q, from) in [
            (benjamini_hochberg(&p).unwrap(), 3),
            (benjamini_yekutieli(&p).unwrap(), 8),
            (holm(&p).unwrap(), 13),
        ] {
            let least = q.iter().copied().fold(f64::INFINITY, f64::min);
            let summary = [q[0], q[n / 2], q[n - 1], least, q.iter().sum()];
            for (i, got) in summary.into_iter().enumerate() {
                assert_close(got, row.float(from + i), "adjusted p", &row);
            }
        }
    }
    for correction in Correction::ALL {
        assert!(correction.adjust(&[0.5, f64::NAN]).is_err());
        assert!(correction.adjust(&[1.5]).is_err());
        assert!(correction.adjust(&[]).unwrap().is_empty());
    }
}

#[test]
fn absent_cells_of_a_matrix_are_skipped_and_not_counted() {
    let p: Vec<f64> = (0..20).map(|i| uniform(5, i).powi(2)).collect();
    let sparse: Vec<Option<f64>> = p.iter().flat_map(|&p| [None, Some(p), None]).collect();
    for correction in Correction::ALL {
        let adjusted = correction.adjust_present(&sparse).unwrap();
        assert_eq!(adjusted.len(), sparse.len());
        assert!(adjusted.iter().zip(&sparse).all(|(a, p)| a.is_some() == p.is_some()));
        let present: Vec<f64> = adjusted.into_iter().flatten().collect();
        assert_eq!(present, correction.adjust(&p).unwrap(), "{}", correction.name());
    }
}

#[test]
fn fishers_test_of_independent_correlations_is_that_of_scipy() {
    let cases = cases("fisher");
    assert!(cases.len() >= 100);
    for row in cases {
        let coefficient: Coefficient = row.text(0).parse().unwrap();
        let (first, second) = ((row.float(1), row.size(2)), (row.float(3), row.size(4)));
        let found = fisher_difference(coefficient, first, second).unwrap();
        assert!(close(found.z, row.float(5), 1e-10), "{found:?} {row:?}");
        assert!(close(found.p_two_sided, row.float(6), 1e-10), "{found:?} {row:?}");
        assert_eq!(found.n, (first.1, second.1));
    }
    let undefined = |a, b| {
        let found = fisher_difference(Coefficient::Kendall, a, b).unwrap();
        assert!(found.z.is_nan() && found.p_two_sided.is_nan());
        found.undefined.unwrap()
    };
    assert_eq!(undefined((0.5, 4), (0.2, 90)), Undefined::TooFew { needed: 5, got: 4 });
    assert_eq!(undefined((0.5, 40), (f64::NAN, 90)), Undefined::NoCorrelation);
    assert_eq!(undefined((1.0, 40), (1.0, 90)), Undefined::PerfectCorrelation);
    assert!(fisher_difference(Coefficient::Pearson, (1.5, 9), (0.0, 9)).is_err());
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
