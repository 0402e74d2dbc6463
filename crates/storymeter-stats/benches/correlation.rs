//! Times correlations: single ones of a million pairs, and the many small ones of a
//! meta-evaluation.
//!
//! `benches/peers/stats.py` times scipy on the same tasks.
#![allow(missing_docs)] // criterion's macros make public items

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use storymeter_stats::{Coefficient, Prepared};

fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64
    };
    (0..n).map(|_| next()).collect()
}

fn a_million_pairs(c: &mut Criterion) {
    let (x, noise) = (numbers(1, 1_000_000), numbers(2, 1_000_000));
    let y: Vec<f64> = x.iter().zip(&noise).map(|(a, b)| a + b).collect();
    let mut group = c.benchmark_group("a million pairs");
    group.sample_size(10);
    for coefficient in Coefficient::ALL {
        group.bench_function(coefficient.name(), |b| {
            b.iter(|| coefficient.compute(black_box(&x), black_box(&y)).unwrap());
        });
    }
    group.finish();
}

/// Correlates 78 columns with each other over ten systems, as for one prompt of HANNA.
fn a_matrix_over_ten_systems(c: &mut Criterion) {
    let columns: Vec<Vec<f64>> = (0..78).map(|k| numbers(100 + k, 10)).collect();
    let mut group = c.benchmark_group("78 x 78 over ten systems");
    for coefficient in Coefficient::ALL {
        group.bench_function(coefficient.name(), |b| {
            b.iter(|| {
                let prepared: Vec<Prepared> =
                    columns.iter().map(|v| Prepared::new(coefficient, v).unwrap()).collect();
                let mut sum = 0.0;
                for x in &prepared {
                    for y in &prepared {
                        sum += x.correlate(y).unwrap();
                    }
                }
                black_box(sum)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, a_million_pairs, a_matrix_over_ten_systems);
criterion_main!(benches);
