//! Times resampling on data of HANNA's size: ten systems, 96 prompts.
#![allow(missing_docs)] // criterion's macros make public items

use criterion::{Criterion, criterion_group, criterion_main};
use storymeter_stats::{
    BootstrapMethod, BootstrapOptions, Coefficient, CorrelationLevel, Design, Exchange, Matrix,
    ShiftOptions, WeightedSums, bootstrap, paired_bootstrap, paired_shift, permutation_test,
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
    let mean = |v: &[f64], at: &[usize]| at.iter().map(|&i| v[i]).sum::<f64>() / at.len() as f64;
    group.bench_function("paired bootstrap of means", |b| {
        let options = BootstrapOptions {
            resamples: 1000,
            method: BootstrapMethod::Percentile,
            ..BootstrapOptions::default()
        };
        let scores = |at: &[usize]| (mean(&first[..ITEMS], at), mean(&first[ITEMS..2 * ITEMS], at));
        b.iter(|| paired_bootstrap(ITEMS, scores, &options).unwrap());
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
    group.bench_function("weighted sums of 100,000 rows of 20 terms", |b| {
        let terms: Vec<f64> = (0..2_000_000).map(|i| f64::from(i % 97)).collect();
        let sums = WeightedSums::new(20, terms).unwrap();
        b.iter(|| sums.resampled(1000, 1, |sums| sums[0] / sums[1]));
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
