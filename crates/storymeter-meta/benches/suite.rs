//! The analysis of a test suite of the size of OpenMEVA's: 12 aspects with 4,000 pairs, 5 metrics.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use rand::RngExt;
use storymeter_core::rng::StreamId;
use storymeter_core::{Aspect, Column, Direction};
use storymeter_meta::suite::{
    AspectScores, MetricScores, Pairing, SuiteOptions, SuiteScores, analyse,
};
use storymeter_meta::view;

const ASPECTS: usize = 12;
const PAIRS: usize = 4000;
const METRICS: usize = 5;

fn scores() -> SuiteScores {
    let metric = |aspect: usize, metric: usize| {
        let record = (aspect * METRICS + metric) as u64;
        let mut rng = StreamId::Draw { record, draw: 0 }.rng(1);
        let originals: Vec<f64> = (0..PAIRS).map(|_| rng.random()).collect();
        let twins = originals.iter().map(|own| Ok(own - 0.2 * rng.random::<f64>())).collect();
        MetricScores { originals: originals.into_iter().map(Ok).collect(), twins }
    };
    let aspect = |at: usize| AspectScores {
        aspect: Aspect::ALL[at],
        stories: PAIRS,
        left_out: Vec::new(),
        rules: Vec::new(),
        pairing: Pairing::Paired,
        scores: (0..METRICS).map(|own| metric(at, own)).collect(),
    };
    let column = |at: usize| Column::metric(at.to_string(), Direction::Higher);
    SuiteScores {
        columns: (0..METRICS).map(column).collect(),
        aspects: (0..ASPECTS).map(aspect).collect(),
        ..SuiteScores::default()
    }
}

fn benches(criterion: &mut Criterion) {
    let scores = scores();
    let options = SuiteOptions::default();
    let mut group = criterion.benchmark_group("suite");
    group.sample_size(10);
    group.bench_function("60 cells of 4,000 pairs, 1,000 resamples", |bench| {
        bench.iter(|| analyse(&scores, &options).unwrap());
    });
    let result = analyse(&scores, &options).unwrap();
    group.bench_function("all sheets", |bench| bench.iter(|| view::suite_sheets(&result)));
    group.finish();
}

criterion_group!(suite, benches);
criterion_main!(suite);
