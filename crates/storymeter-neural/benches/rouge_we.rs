//! ROUGE-WE on texts of 300 and 3,000 words, and reading a table of word vectors.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use storymeter_core::read::Record;
use storymeter_core::{Catalogue, Place, Resources, Settings, Story};
use storymeter_executor::MetricSet;

const WORDS: u64 = 5000;
const WIDTH: u64 = 300;

/// A table of words in random directions around twenty centres, so that some are similar.
fn table() -> String {
    let mut table = String::new();
    let random = |seed: u64| {
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / 2f64.powi(24)
            - 0.5
    };
    for word in 0..WORDS {
        let _ = write!(table, "w{word}");
        for at in 0..WIDTH {
            let number = random(word % 20 * WIDTH + at) + random((word + 20) * WIDTH + at);
            let _ = write!(table, " {number:.5}");
        }
        table.push('\n');
    }
    table
}

fn open(path: &Path) -> MetricSet {
    let weights = [("word-vectors".to_owned(), path.to_owned())].into();
    let resources = Resources::new(Settings { weights, ..Settings::default() });
    let catalogue = Catalogue::new(storymeter_neural::entries());
    MetricSet::new(&["rouge-we-3"], &catalogue, Arc::new(resources)).expect("a table")
}

fn text(words: u64, step: u64) -> String {
    (0..words).map(|at| format!("w{} ", (at * at + at * step) % (WORDS + 3))).collect()
}

fn rouge_we(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table.txt");
    std::fs::write(&path, table()).expect("written");
    let set = open(&path);
    let mut group = criterion.benchmark_group("rouge-we-3");
    group.sample_size(10);
    for words in [300, 3000] {
        let story = Story { references: vec![text(words, 11)], ..Story::from(text(words, 7)) };
        let record = [Record { story, number: 0, place: Place::default() }];
        group.throughput(Throughput::Elements(words));
        group.bench_with_input(BenchmarkId::new("words", words), &record, |bench, record| {
            bench.iter(|| set.batch(black_box(record)).expect("scores"));
        });
    }
    let bytes = std::fs::metadata(&path).expect("a file").len();
    group.throughput(Throughput::Bytes(bytes));
    group.bench_function("table", |bench| bench.iter(|| open(black_box(&path))));
    group.finish();
}

criterion_group!(benches, rouge_we);
criterion_main!(benches);
