//! Bootstrap, randomisation and permutation against scipy and brute force, with several numbers of
//! threads.

mod support;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use storymeter_stats::{
    BootstrapMethod, BootstrapOptions, Coefficient, CorrelationLevel, Design, Exchange, Matrix,
    Undefined, WeightedSums, approximate_randomisation, bca_interval, bootstrap,
    compare_correlations, compare_scores, correlation_interval, mean_interval, paired_bootstrap,
    percentile_interval, permutation_test, permutation_test_of_columns, resample,
};
use support::{assert_close, bits, cases, values};

fn mean_at(values: &[f64], at: &[usize]) -> f64 {
    at.iter().map(|&i| values[i]).sum::<f64>() / at.len() as f64
}

#[test]
fn percentile_and_bca_intervals_are_scipys() {
    let cases = cases("bootstrap");
    assert!(cases.len() >= 200);
    for row in cases {
        let (seed, n, resamples, confidence) = (row.int(1), row.size(2), row.size(3), row.float(4));
        let x = values(row.text(0), seed, n, &[]);
        let drawn = |b: usize| -> Vec<usize> {
            (0..n).map(|i| (bits(seed + 1, b * n + i) % n as u64) as usize).collect()
        };
        let resampled: Vec<f64> = (0..resamples).map(|b| mean_at(&x, &drawn(b))).collect();
        let all: Vec<usize> = (0..n).collect();
        let jackknife: Vec<f64> = (0..n)
            .map(|left_out| {
                mean_at(&x, &all.iter().copied().filter(|&i| i != left_out).collect::<Vec<_>>())
            })
            .collect();
        let percentile = percentile_interval(&resampled, confidence).unwrap();
        assert_close(percentile.low, row.float(5), "percentile low", &row);
        assert_close(percentile.high, row.float(6), "percentile high", &row);
        let bca = bca_interval(&resampled, mean_at(&x, &all), &jackknife, confidence).unwrap();
        assert_close(bca.low, row.float(7), "BCa low", &row);
        assert_close(bca.high, row.float(8), "BCa high", &row);
    }
}

#[test]
fn intervals_of_correlations_are_scipys() {
    let cases = cases("bootstrap_correlation");
    assert!(cases.len() >= 60);
    for row in cases {
        let coefficient: Coefficient = row.text(0).parse().unwrap();
        let (seed, n, confidence) = (row.int(2), row.size(3), row.float(5));
        let x = values("bell", seed, n, &[]);
        let y = values(row.text(1), seed + 1, n, &x);
        let value = |at: &[usize]| {
            let pick = |v: &[f64]| at.iter().map(|&i| v[i]).collect::<Vec<_>>();
            coefficient.value(&pick(&x), &pick(&y)).unwrap()
        };
        let drawn = |b: usize| -> Vec<usize> {
            (0..n).map(|i| (bits(seed + 2, b * n + i) % n as u64) as usize).collect()
        };
        let resampled: Vec<f64> = (0..row.size(4)).map(|b| value(&drawn(b))).collect();
        let without = |out: usize| (0..n).filter(|&i| i != out).collect::<Vec<_>>();
        let jackknife: Vec<f64> = (0..n).map(|i| value(&without(i))).collect();
        let estimate = coefficient.value(&x, &y).unwrap();
        let percentile = percentile_interval(&resampled, confidence).unwrap();
        let bca = bca_interval(&resampled, estimate, &jackknife, confidence).unwrap();
        let ends = [percentile.low, percentile.high, bca.low, bca.high];
        for (i, end) in ends.into_iter().enumerate() {
            assert_close(end, row.float(6 + i), "end of an interval", &row);
        }
    }
}

#[test]
fn exhaustive_exchanges_give_scipys_permutation_p_values() {
    let cases = cases("randomisation");
    assert!(cases.len() >= 200);
    for row in cases {
        let (seed, n) = (row.int(1), row.size(2));
        let a = values(row.text(0), seed, n, &[]);
        let b: Vec<f64> =
            values(row.text(0), seed + 1, n, &[]).iter().map(|v| v + row.float(3)).collect();
        let scores = |exchanged: &[bool]| {
            let pick = |own: &[f64], other: &[f64]| {
                (0..n).map(|i| if exchanged[i] { other[i] } else { own[i] }).sum::<f64>() / n as f64
            };
            (pick(&a, &b), pick(&b, &a))
        };
        let found = approximate_randomisation(n, scores, 1 << n, 1).unwrap();
        assert!(found.exact);
        assert_close(found.p_value, row.float(4), "p", &row);
        assert_close(found.p_greater, row.float(5), "p greater", &row);
        assert_close(found.difference, row.float(6), "difference", &row);
    }
}

fn design(row: &support::Row) -> Design {
    Design {
        level: match row.text(3) {
            "system" => CorrelationLevel::System,
            "item" => CorrelationLevel::Item,
            _ => CorrelationLevel::Pooled,
        },
        coefficient: row.text(4).parse().unwrap(),
        exchange: match row.text(5) {
            "both" => Exchange::Both,
            "systems" => Exchange::Systems,
            _ => Exchange::Items,
        },
    }
}

#[test]
fn permutation_test_of_correlations_agrees_with_all_exchanges_by_brute_force() {
    let cases = cases("permutation");
    assert!(cases.len() >= 200);
    for row in cases {
        let (seed, systems, items) = (row.int(0), row.size(1), row.size(2));
        let cell = |k| values("bell", seed + k, systems * items, &[]);
        let ratings = cell(2);
        let first: Vec<f64> = cell(0).iter().zip(&ratings).map(|(a, b)| a + 0.7 * b).collect();
        let second = cell(1);
        let table = |v| Matrix::new(v, systems, items).unwrap();
        let found = permutation_test(
            table(&first),
            table(&second),
            table(&ratings),
            design(&row),
            1 << 13,
            3,
        )
        .unwrap();
        assert!(found.exact);
        assert_close(found.difference, row.float(6), "difference", &row);
        assert_close(found.p_value, row.float(7), "p", &row);
        assert_close(found.p_greater, row.float(8), "p greater", &row);
    }
}

/// The results of all random procedures on one data set, and the number of threads that took part.
fn all_resampling(seed: u64) -> (String, usize) {
    let threads = Mutex::new(BTreeSet::new());
    // The pause keeps one thread from finishing everything before the others have started.
    let note_thread = || {
        threads.lock().unwrap().insert(rayon::current_thread_index());
        std::thread::sleep(Duration::from_micros(100));
    };
    let (a, b, c) =
        (values("bell", 1, 60, &[]), values("bell", 2, 60, &[]), values("ties:4", 3, 60, &[]));
    let correlation = |at: &[usize]| {
        note_thread();
        let pick = |v: &[f64]| at.iter().map(|&i| v[i]).collect::<Vec<_>>();
        Coefficient::Kendall.value(&pick(&a), &pick(&c)).unwrap()
    };
    let options = BootstrapOptions { resamples: 500, seed, ..BootstrapOptions::default() };
    let interval = bootstrap(60, correlation, &options).unwrap();
    let pair = paired_bootstrap(60, |at| (mean_at(&a, at), mean_at(&b, at)), &options).unwrap();
    let exchanged = |swap: &[bool]| {
        note_thread();
        let d: f64 = (0..60).map(|i| if swap[i] { b[i] - a[i] } else { a[i] - b[i] }).sum();
        (d, 0.0)
    };
    let randomised = approximate_randomisation(60, exchanged, 500, seed).unwrap();
    let design = Design {
        coefficient: Coefficient::Spearman,
        level: CorrelationLevel::Item,
        exchange: Exchange::Both,
    };
    let table = |v| Matrix::new(v, 6, 10).unwrap();
    let permuted = permutation_test(table(&a), table(&b), table(&c), design, 300, seed).unwrap();
    let busy = threads.into_inner().unwrap().len();
    (format!("{interval:?}\n{pair:?}\n{randomised:?}\n{permuted:?}"), busy)
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| all_resampling(7))
    };
    let (alone, busy) = with(1);
    assert_eq!(busy, 1);
    for threads in [2, 5] {
        let (result, busy) = with(threads);
        assert!(busy > 1, "the work stayed on one thread, so this shows nothing");
        assert_eq!(result, alone);
    }
    assert_ne!(alone, all_resampling(8).0, "another seed draws other samples");
}

#[test]
fn draws_are_uniform_and_streams_differ() {
    let mut counts = [0u32; 10];
    for round in 0..2000 {
        let mut drawn = [0; 10];
        resample::draw_with_replacement(&mut resample::stream(1, round), &mut drawn);
        drawn.iter().for_each(|&i| counts[i] += 1);
    }
    // 20,000 draws over 10 cells: chi-squared with 9 degrees of freedom stays below 33.7 in 9,999
    // of 10,000 cases.
    let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 2000.0).powi(2) / 2000.0).sum();
    assert!(chi < 33.7, "{counts:?}");
    let mut heads = 0;
    for round in 0..200 {
        let mut coins = [false; 100];
        resample::flip(&mut resample::stream(2, round), &mut coins);
        heads += coins.iter().filter(|&&c| c).count();
    }
    // 10,000 heads are expected, with a standard deviation of 71.
    assert!((9700..10300).contains(&heads), "{heads}");
}

#[test]
fn a_bootstrap_interval_covers_the_truth_about_as_often_as_it_says() {
    let mut covered = 0;
    for sample in 0..300u64 {
        let x = values("bell", 900_000 + sample, 40, &[]);
        let options = BootstrapOptions {
            resamples: 400,
            seed: sample,
            method: BootstrapMethod::Percentile,
            ..BootstrapOptions::default()
        };
        covered += usize::from(
            bootstrap(40, |at| mean_at(&x, at), &options).unwrap().interval.contains(0.0),
        );
    }
    // A little below 285 of 300 are expected, because the percentile interval is too short by a
    // factor of sqrt(39/40).
    assert!((265..300).contains(&covered), "{covered} of 300");
}

#[test]
fn paired_bootstrap_counts_wins_ties_and_p() {
    let a = [3.0, 4.0, 5.0, 6.0];
    let b = [1.0, 2.0, 3.0, 4.0];
    let options = BootstrapOptions {
        resamples: 100,
        method: BootstrapMethod::Percentile,
        seed: 1,
        ..BootstrapOptions::default()
    };
    let clear = paired_bootstrap(4, |at| (mean_at(&a, at), mean_at(&b, at)), &options).unwrap();
    assert_eq!((clear.wins_a, clear.wins_b, clear.ties), (100, 0, 0));
    assert_eq!((clear.p_value(), clear.difference, clear.interval.low), (0.0, 2.0, 2.0));
    let same = paired_bootstrap(4, |at| (mean_at(&a, at), mean_at(&a, at)), &options).unwrap();
    assert_eq!((same.ties, same.p_value()), (100, 1.0));
}

/// The interval of a paired bootstrap is that of a bootstrap of the differences.
#[test]
fn paired_differences_have_the_intervals_of_their_bootstrap() {
    let (a, b) = (values("heavy", 1, 40, &[]), values("heavy", 2, 40, &[]));
    for method in [BootstrapMethod::Percentile, BootstrapMethod::Bca] {
        let options = BootstrapOptions { resamples: 400, method, ..BootstrapOptions::default() };
        let difference = |at: &[usize]| mean_at(&a, at) - mean_at(&b, at);
        let plain = bootstrap(40, difference, &options).unwrap();
        let paired =
            paired_bootstrap(40, |at| (mean_at(&a, at), mean_at(&b, at)), &options).unwrap();
        assert_eq!((paired.difference, paired.interval), (plain.estimate, plain.interval));
        assert_eq!((paired.n, plain.n), (40, 40));
    }
}

/// Sums over counts must be the sums over the items drawn, for the same streams.
#[test]
fn weighted_sums_bootstrap_what_drawn_items_bootstrap() {
    let (items, width) = (37, 3);
    // Multiples of 2^-20, whose sums are exact in any order.
    let terms = values("grid", 5, items * width, &[]);
    let sums = WeightedSums::new(width, terms.clone()).unwrap();
    assert_eq!(sums.items(), items);
    let total = |at: &[usize], column: usize| -> f64 {
        at.iter().map(|&item| terms[item * width + column]).sum()
    };
    for method in [BootstrapMethod::Percentile, BootstrapMethod::Bca] {
        // 203 is not a multiple of the number of resamples that share a pass.
        let options = BootstrapOptions { resamples: 203, method, seed: 3, confidence: 0.9 };
        let scores = |sums: &[f64], out: &mut [f64]| {
            (out[0], out[1]) = (sums[0] + sums[2], (4.0 + sums[1]).ln());
        };
        let found = sums.bootstrap(2, scores, &options).unwrap();
        let first = |at: &[usize]| total(at, 0) + total(at, 2);
        let second = |at: &[usize]| (4.0 + total(at, 1)).ln();
        assert_eq!(found[0], bootstrap(items, first, &options).unwrap());
        // The logarithm is NaN for some resamples, which must be left out and counted.
        let expected = bootstrap(items, second, &options).unwrap();
        assert_eq!(found[1], expected);
        assert!(expected.undefined_resamples > 0 && expected.undefined_resamples < 203);
    }
    // Sums that are not exact depend on the order in which they are added: that of the items.
    let terms = values("heavy", 6, items * width, &[]);
    let found = WeightedSums::new(width, terms.clone()).unwrap().resampled(20, 3, <[f64]>::to_vec);
    for (resample, sums) in found.into_iter().enumerate() {
        let mut drawn = vec![0; items];
        resample::draw_with_replacement(&mut resample::stream(3, resample as u64), &mut drawn);
        for (column, sum) in sums.into_iter().enumerate() {
            let mut expected = 0.0;
            for item in 0..items {
                let count = drawn.iter().filter(|&&d| d == item).count();
                expected += count as f64 * terms[item * width + column];
            }
            assert_eq!(sum.to_bits(), f64::to_bits(expected));
        }
    }
    assert!(WeightedSums::new(3, vec![0.0; 4]).is_err());
    assert!(WeightedSums::new(0, vec![]).is_err());
    let one_item = WeightedSums::new(3, vec![0.0; 3]).unwrap();
    assert!(one_item.bootstrap(1, |_, _| {}, &BootstrapOptions::default()).is_err());
}

#[test]
fn columns_with_gaps_are_compared_on_what_they_share() {
    let n = 50;
    let ratings = values("bell+nan:9", 1, n, &[]);
    let clean: Vec<f64> = ratings.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect();
    let first = values("follow:1:0.5+nan:6", 2, n, &clean);
    let second = values("follow:1:2", 3, n, &clean);
    let kept: Vec<usize> = (0..n).filter(|&i| !ratings[i].is_nan() && !first[i].is_nan()).collect();
    assert!(kept.len() > 30 && kept.len() < 48);
    let take = |v: &[f64]| kept.iter().map(|&i| v[i]).collect::<Vec<f64>>();
    let (ratings_kept, first_kept, second_kept) = (take(&ratings), take(&first), take(&second));
    let options = BootstrapOptions { resamples: 300, ..BootstrapOptions::default() };
    let rho = Coefficient::Spearman;

    let gaps = correlation_interval(rho, &ratings, &first, &options).unwrap();
    let whole = correlation_interval(rho, &ratings_kept, &first_kept, &options).unwrap();
    assert_eq!((gaps.correlation, gaps.interval), (whole.correlation, whole.interval));
    assert_eq!((gaps.correlation.n, gaps.dropped), (kept.len(), n - kept.len()));

    let gaps = compare_correlations(rho, &ratings, &first, &second, &options).unwrap();
    let whole =
        compare_correlations(rho, &ratings_kept, &first_kept, &second_kept, &options).unwrap();
    assert_eq!((gaps.williams, gaps.steiger), (whole.williams, whole.steiger));
    assert_eq!(gaps.bootstrap, whole.bootstrap);
    assert_eq!((gaps.correlations.n, gaps.correlations.dropped), (kept.len(), n - kept.len()));
    assert!(gaps.williams.p_value < 0.05 && gaps.bootstrap.interval.low > 0.0);

    let gaps = permutation_test_of_columns(rho, &ratings, &first, &second, 300, 1).unwrap();
    let whole =
        permutation_test_of_columns(rho, &ratings_kept, &first_kept, &second_kept, 300, 1).unwrap();
    assert_eq!((gaps.p_value, gaps.difference), (whole.p_value, whole.difference));
    assert_eq!((gaps.n, gaps.dropped), (kept.len(), n - kept.len()));

    let scores = compare_scores(&first, &second, &options).unwrap();
    assert_eq!(scores.n + scores.dropped, n);
    assert_eq!(scores.randomisation.n, scores.n);
    let p = mean_interval(&first, &options).unwrap();
    assert_eq!((p.estimate, p.n), (scores.first, scores.n));
}

#[test]
fn columns_that_share_nothing_are_an_error_with_the_reason() {
    let gap = f64::NAN;
    let options = BootstrapOptions::default();
    let (first, second) = ([1.0, 2.0, gap, gap], [gap, gap, 1.0, 2.0]);
    assert_eq!(
        compare_scores(&first, &second, &options).unwrap_err().to_string(),
        "a comparison of scores needs at least 1 shared items, got 0"
    );
    let ratings = [1.0, 2.0, 3.0, 4.0];
    let pearson = Coefficient::Pearson;
    assert_eq!(
        compare_correlations(pearson, &ratings, &first, &second, &options).unwrap_err().to_string(),
        "a comparison of correlations needs at least 2 shared items, got 0"
    );
    let constant = correlation_interval(pearson, &ratings, &[1.0; 4], &options).unwrap();
    assert_eq!(constant.correlation.undefined, Some(Undefined::ConstantSecond));
    assert!(!constant.interval.is_defined());
}

/// With gaps in the table, the observed differences are those of the complete cells.
#[test]
fn a_permutation_test_with_gaps_uses_the_complete_cells() {
    let (systems, items, gap) = (5, 4, f64::NAN);
    let ratings = values("bell", 1, systems * items, &[]);
    let first = values("follow:1:0.5", 2, systems * items, &ratings);
    let mut second = values("bell", 3, systems * items, &[]);
    let table = |v| Matrix::new(v, systems, items).unwrap();
    // Item 3 has a score of system 0 only, and system 4 has no scores.
    let missing: Vec<usize> =
        (0..systems * items).filter(|c| c % items == 3 && *c != 3 || c / items == 4).collect();
    missing.iter().for_each(|&cell| second[cell] = gap);
    let test = |design| {
        permutation_test(table(&first), table(&second), table(&ratings), design, 500, 9).unwrap()
    };
    let kept =
        |v: &[f64], item: usize| -> Vec<f64> { (0..4).map(|s| v[s * items + item]).collect() };
    let mean = |v: &[f64], s: usize| {
        let cells: Vec<f64> = (0..items)
            .map(|i| s * items + i)
            .filter(|cell| !missing.contains(cell))
            .map(|cell| v[cell])
            .collect();
        cells.iter().sum::<f64>() / cells.len() as f64
    };
    let pearson = Coefficient::Pearson;
    for (exchange, pieces) in [(Exchange::Both, 13), (Exchange::Systems, 4), (Exchange::Items, 4)] {
        let found = test(Design { coefficient: pearson, level: CorrelationLevel::Item, exchange });
        let item = |v: &[f64], i| pearson.value(&kept(v, i), &kept(&ratings, i)).unwrap();
        let expected: f64 = (0..3).map(|i| (item(&first, i) - item(&second, i)) / 3.0).sum();
        assert!((found.difference - expected).abs() < 1e-12, "{found:?} {expected}");
        assert_eq!((found.n, found.dropped), (13, 7));
        assert_eq!(found.exact, pieces < 9, "{exchange:?}");

        let found =
            test(Design { coefficient: pearson, level: CorrelationLevel::System, exchange });
        let means = |v: &[f64]| (0..4).map(|s| mean(v, s)).collect::<Vec<f64>>();
        let r = |v: &[f64]| pearson.value(&means(v), &means(&ratings)).unwrap();
        assert!((found.difference - (r(&first) - r(&second))).abs() < 1e-12);
    }
    let nothing = vec![gap; systems * items];
    for level in [CorrelationLevel::System, CorrelationLevel::Item, CorrelationLevel::Pooled] {
        let design = Design { coefficient: pearson, level, exchange: Exchange::Both };
        let found =
            permutation_test(table(&first), table(&nothing), table(&ratings), design, 500, 9);
        assert!(found.is_err(), "{level:?}");
    }
}

#[test]
fn resamples_without_a_value_are_counted() {
    let x = [1.0, 1.0, 1.0, 2.0];
    let y = [1.0, 2.0, 3.0, 4.0];
    let correlation = |at: &[usize]| {
        let pick = |v: &[f64]| at.iter().map(|&i| v[i]).collect::<Vec<_>>();
        Coefficient::Pearson.value(&pick(&x), &pick(&y)).unwrap()
    };
    let options = BootstrapOptions {
        resamples: 1000,
        method: BootstrapMethod::Percentile,
        ..BootstrapOptions::default()
    };
    let found = bootstrap(4, correlation, &options).unwrap();
    // The fourth item is missing from (3/4)^4 = 32% of the draws, and alone in one of 256.
    assert!((260..380).contains(&found.undefined_resamples), "{}", found.undefined_resamples);
}
