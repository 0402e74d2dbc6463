//! Speed of the tokenisers on texts of 10, 100 and 1,000 KB.
//!
//! The time is linear in the length of the text if all three show the same bytes per second.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use storymeter_metrics::tokenize::{Mteval13a, Spacy, Tokenizer};

const ORDINARY: &str =
    "Mira couldn't find the old key. \"Where did you put it?\" she asked her brother. ";

fn growth(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("growth");
    group.sample_size(10);
    for (kind, unit) in [("names", "Susan"), ("quotes", "\"'"), ("ordinary text", ORDINARY)] {
        for kilobytes in [10, 100, 1000] {
            let text: String = unit.chars().cycle().take(1000 * kilobytes).collect();
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(BenchmarkId::new(format!("spacy, {kind}, KB"), kilobytes), |b| {
                b.iter(|| Spacy::tokenize(black_box(&text)));
            });
            group.bench_function(BenchmarkId::new(format!("13a, {kind}, KB"), kilobytes), |b| {
                b.iter(|| Mteval13a::tokenize(black_box(&text)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, growth);
criterion_main!(benches);
