//! Times exact sums, which are added to once per story and column, beside ordinary ones.
#![allow(missing_docs)] // criterion's macros make public items

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use storymeter_stats::ExactSum;

const NUMBERS: usize = 10_000;

fn sums(c: &mut Criterion) {
    let scores: Vec<f64> = (0..NUMBERS).map(|n| ((n * 7919) % 10_007) as f64 / 10_007.0).collect();
    let mut group = c.benchmark_group("10,000 scores");
    group.throughput(Throughput::Elements(NUMBERS as u64));
    group.bench_function("ordinary sum", |b| {
        b.iter(|| black_box(&scores).iter().sum::<f64>());
    });
    group.bench_function("exact sum", |b| {
        b.iter(|| {
            let mut sum = ExactSum::default();
            black_box(&scores).iter().for_each(|&score| sum.add(score));
            sum
        });
    });
    group.bench_function("exact sum of squares", |b| {
        b.iter(|| {
            let mut sum = ExactSum::default();
            black_box(&scores).iter().for_each(|&score| sum.add_product(score, score));
            sum
        });
    });
    group.bench_function("1,000 sums merged", |b| {
        let parts: Vec<ExactSum> = scores
            .chunks(10)
            .map(|part| {
                let mut sum = ExactSum::default();
                part.iter().for_each(|&score| sum.add(score));
                sum
            })
            .collect();
        b.iter(|| {
            let mut sum = ExactSum::default();
            black_box(&parts).iter().for_each(|part| sum.merge(part));
            sum
        });
    });
    group.finish();
}

criterion_group!(benches, sums);
criterion_main!(benches);
