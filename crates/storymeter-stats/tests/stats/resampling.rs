//! Bootstrap, randomisation and permutation against scipy and brute force, with several numbers of
//! threads.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use crate::support::{assert_close, bits, cases, values};
use storymeter_stats::{
    BootstrapMethod, BootstrapOptions, Coefficient, CorrelationLevel, Design, Exchange, Matrix,
    Pairing, Resampling, Sample, Score, Undefined, bca_interval, bootstrap, compare_samples,
    correlation_interval, percentile_interval, permutation_test, resample, score_intervals,
};

/// A system with one story per item and one value per story. Its items are numbered from `from`.
fn numbered(values: &[f64], from: u64) -> Sample {
    let mut sample = Sample::new(1);
    (from..).zip(values).for_each(|(item, value)| sample.push(item, &[*value]));
    sample
}

fn sample(values: &[f64]) -> Sample {
    numbered(values, 0)
}

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
        let resampling = Resampling::default().with(|it| it.resamples = 1 << n);
        let found = compare_samples(&sample(&a), &sample(&b), Score::Mean, &resampling).unwrap();
        let found = found.columns[0];
        assert!(found.exact);
        assert_close(found.p_two_sided, row.float(4), "p", &row);
        // Ours is in the direction of the difference, and scipy's is that of a greater first mean.
        if found.difference >= 0.0 {
            assert_close(found.p_one_sided, row.float(5), "p greater", &row);
        }
        assert_close(found.difference, row.float(6), "difference", &row);
    }
}

fn design(row: &crate::support::Row) -> Design {
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
    let ratio = |sums: &[f64], scores: &mut [f64]| {
        note_thread();
        scores[0] = sums[0] / (200.0 + sums[1]);
    };
    let score = Score::OfSums { columns: 1, score: &ratio };
    let resampling = Resampling::default().with(|it| {
        it.resamples = 500;
        it.seed = seed;
    });
    let two = |first: &[f64], second: &[f64]| {
        let mut sample = Sample::new(2);
        (0..60).for_each(|item| sample.push(item, &[first[item as usize], second[item as usize]]));
        sample
    };
    let compared = compare_samples(&two(&a, &c), &two(&b, &c), score, &resampling).unwrap();
    let apart = compare_samples(&sample(&a[..20]), &numbered(&b, 15), Score::Mean, &resampling);
    let design = Design {
        coefficient: Coefficient::Spearman,
        level: CorrelationLevel::Item,
        exchange: Exchange::Both,
    };
    let table = |v| Matrix::new(v, 6, 10).unwrap();
    let permuted = permutation_test(table(&a), table(&b), table(&c), design, 300, seed).unwrap();
    let busy = threads.into_inner().unwrap().len();
    (format!("{interval:?}\n{compared:?}\n{apart:?}\n{permuted:?}"), busy)
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

/// Intervals from sums are those of the items drawn, from the same streams.
#[test]
fn intervals_of_scores_and_differences_are_those_of_drawn_items() {
    let n = 63;
    // Multiples of 2^-20, whose sums are exact in any order.
    let (a, b) = (values("grid", 5, n, &[]), values("grid", 6, n, &[]));
    let resampling = Resampling::default().with(|it| {
        it.resamples = 203;
        it.confidence = 0.9;
        it.seed = 3;
    });
    let options = BootstrapOptions {
        resamples: 203,
        confidence: 0.9,
        method: BootstrapMethod::Percentile,
        seed: 3,
    };
    let close = |found: storymeter_stats::Interval, wanted: storymeter_stats::Interval| {
        let error = (found.low - wanted.low).abs().max((found.high - wanted.high).abs());
        assert!(error < 1e-12, "{found:?} and {wanted:?}");
    };
    let own = score_intervals(&sample(&a), Score::Mean, &resampling).unwrap();
    close(own[0], bootstrap(n, |at| mean_at(&a, at), &options).unwrap().interval);
    let found = compare_samples(&sample(&a), &sample(&b), Score::Mean, &resampling).unwrap();
    let difference = |at: &[usize]| mean_at(&a, at) - mean_at(&b, at);
    close(found.columns[0].interval, bootstrap(n, difference, &options).unwrap().interval);
    // A score that is no mean, and NaN for some resamples, which are left out.
    let score = |sums: &[f64], scores: &mut [f64]| scores[0] = (4.0 + sums[0]).ln();
    let score = Score::OfSums { columns: 1, score: &score };
    let logarithm = |v: &[f64], at: &[usize]| (4.0 + at.iter().map(|&i| v[i]).sum::<f64>()).ln();
    let wanted = bootstrap(n, |at| logarithm(&a, at), &options).unwrap();
    assert!(wanted.undefined_resamples > 0 && wanted.undefined_resamples < 203);
    let own = score_intervals(&sample(&a), score, &resampling).unwrap();
    close(own[0], wanted.interval);
    let found = compare_samples(&sample(&a), &sample(&b), score, &resampling).unwrap();
    let wanted = bootstrap(n, |at| logarithm(&a, at) - logarithm(&b, at), &options).unwrap();
    close(found.columns[0].interval, wanted.interval);
}

/// Neither the order of the stories, nor another column, nor the side of a system matters.
#[test]
fn a_comparison_depends_on_the_stories_alone() {
    let n = 90;
    let (a, b) = (values("bell", 1, n, &[]), values("bell", 2, n, &[]));
    let resampling = Resampling::default().with(|it| it.resamples = 999);
    let compare =
        |a: &Sample, b: &Sample| compare_samples(a, b, Score::Mean, &resampling).unwrap().columns;
    let alone = compare(&sample(&a), &sample(&b))[0];
    let mut backwards = Sample::new(1);
    (0..n).rev().for_each(|at| backwards.push(at as u64, &[a[at]]));
    assert_eq!(compare(&backwards, &sample(&b))[0], alone);
    let with_another = |own: &[f64]| {
        let mut both = Sample::new(2);
        (0..n).for_each(|at| both.push(at as u64, &[own[at].powi(3), own[at]]));
        both
    };
    assert_eq!(compare(&with_another(&a), &with_another(&b))[1], alone);
    let swapped = compare(&sample(&b), &sample(&a))[0];
    assert_eq!(swapped.p_two_sided, alone.p_two_sided);
    assert_eq!(swapped.difference, -alone.difference);
    assert!((swapped.interval.low + alone.interval.high).abs() < 1e-12);
}

#[test]
fn several_stories_of_an_item_count_as_their_mean() {
    let resampling = Resampling::default().with(|it| it.resamples = 999);
    let (mut several, mut means) = (Sample::new(1), Sample::new(1));
    for item in 0..12 {
        let level = (item * 5 % 7) as f64;
        means.push(item, &[level]);
        several.push(item, &[level]);
        if item % 3 == 0 {
            several.push(item, &[level + 0.5]);
            several.push(item, &[level - 0.5]);
        }
    }
    let other = sample(&values("bell", 4, 12, &[]));
    let compare = |own: &Sample| compare_samples(own, &other, Score::Mean, &resampling).unwrap();
    assert_eq!(compare(&several), compare(&means));
    assert_eq!((several.observations(), several.repeated_items()), (12, 4));
    // Stories of one item alone are observations of their own.
    let mut one_item = Sample::new(1);
    [1.0, 2.0, 4.0, 8.0].iter().for_each(|value| one_item.push(7, &[*value]));
    let found = compare(&one_item);
    assert_eq!(found.pairing, Pairing::Unpaired { first: 4, second: 12 });
}

#[test]
fn columns_with_gaps_are_compared_on_what_they_share() {
    let n = 50;
    let ratings = values("bell+nan:9", 1, n, &[]);
    let clean: Vec<f64> = ratings.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect();
    let first = values("follow:1:0.5+nan:6", 2, n, &clean);
    let kept: Vec<usize> = (0..n).filter(|&i| !ratings[i].is_nan() && !first[i].is_nan()).collect();
    assert!(kept.len() > 30 && kept.len() < 48);
    let take = |v: &[f64]| kept.iter().map(|&i| v[i]).collect::<Vec<f64>>();
    let (ratings_kept, first_kept) = (take(&ratings), take(&first));
    let options = BootstrapOptions { resamples: 300, ..BootstrapOptions::default() };
    let rho = Coefficient::Spearman;

    let gaps = correlation_interval(rho, &ratings, &first, &options).unwrap();
    let whole = correlation_interval(rho, &ratings_kept, &first_kept, &options).unwrap();
    assert_eq!((gaps.correlation, gaps.interval), (whole.correlation, whole.interval));
    assert_eq!((gaps.correlation.n, gaps.dropped), (kept.len(), n - kept.len()));
}

#[test]
fn a_constant_column_has_no_correlation_and_the_reason() {
    let options = BootstrapOptions::default();
    let ratings = [1.0, 2.0, 3.0, 4.0];
    let pearson = Coefficient::Pearson;
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
