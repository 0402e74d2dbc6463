//! Times resampling on data of HANNA's size: ten systems, 96 prompts.
#![allow(missing_docs)] // criterion's macros make public items

use criterion::{Criterion, criterion_group, criterion_main};
use storymeter_stats::{
    BootstrapOptions, Coefficient, CorrelationLevel, Design, Exchange, Matrix, Resampling, Sample,
    Score, ShiftOptions, bootstrap, compare_samples, paired_shift, permutation_test,
    score_intervals,
};

const SYSTEMS: usize = 10;
const ITEMS: usize = 96;

fn numbers(seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64
    };
    (0..SYSTEMS * ITEMS).map(|_| next()).collect()
}

fn resampling(c: &mut Criterion) {
    let (first, second, ratings) = (numbers(1), numbers(2), numbers(3));
    let mut group = c.benchmark_group("1,000 resamples");
    group.sample_size(10);
    group.bench_function("two systems by 78 columns", |b| {
        let sample = |values: &[f64]| {
            let mut sample = Sample::new(78);
            for (item, value) in (0u64..).zip(values) {
                let row: Vec<f64> = (0..78).map(|column| value * f64::from(column)).collect();
                sample.push(item, &row);
            }
            sample
        };
        let (a, b_) = (sample(&first[..ITEMS]), sample(&first[ITEMS..2 * ITEMS]));
        let resampling = Resampling::default().with(|it| it.resamples = 1000);
        b.iter(|| compare_samples(&a, &b_, Score::Mean, &resampling).unwrap());
    });
    group.bench_function("paired shift", |b| {
        b.iter(|| paired_shift(&first, &second, &ShiftOptions::default()).unwrap());
    });
    group.bench_function("bca interval of a pooled kendall", |b| {
        let options = BootstrapOptions { resamples: 1000, ..BootstrapOptions::default() };
        let tau = |at: &[usize]| {
            let pick = |v: &[f64]| at.iter().map(|&i| v[i]).collect::<Vec<_>>();
            Coefficient::Kendall.value(&pick(&first), &pick(&ratings)).unwrap_or(f64::NAN)
        };
        b.iter(|| bootstrap(SYSTEMS * ITEMS, tau, &options).unwrap());
    });
    group.bench_function("a corpus score of 10,000 rows of 20 terms", |b| {
        let mut sample = Sample::new(20);
        for item in 0..10_000 {
            let row: Vec<f64> = (0..20).map(|i| ((item * 20 + i) % 97) as f64).collect();
            sample.push(item, &row);
        }
        let ratio = |sums: &[f64], scores: &mut [f64]| scores[0] = sums[0] / sums[1];
        let score = Score::OfSums { columns: 1, score: &ratio };
        let resampling = Resampling::default().with(|it| it.resamples = 1000);
        b.iter(|| score_intervals(&sample, score, &resampling).unwrap());
    });
    let table = |v| Matrix::new(v, SYSTEMS, ITEMS).unwrap();
    for (name, level) in [
        ("system", CorrelationLevel::System),
        ("item", CorrelationLevel::Item),
        ("pooled", CorrelationLevel::Pooled),
    ] {
        let design = Design { coefficient: Coefficient::Pearson, level, exchange: Exchange::Both };
        group.bench_function(format!("permutation test, {name} level"), |b| {
            b.iter(|| {
                permutation_test(table(&first), table(&second), table(&ratings), design, 1000, 1)
                    .unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, resampling);
criterion_main!(benches);
