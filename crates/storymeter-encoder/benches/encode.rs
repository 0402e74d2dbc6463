//! How many tokens per second a MiniLM-sized encoder with random weights encodes, in f32 and int8,
//! for many stories and for one; and how many weights per second are read from a grid.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::path::Path;
use storymeter_encoder::{
    Batch, Config, Device, Grid, Model, Outputs, Parameters, Pooling, Precision, Tokenizer,
};

fn minilm() -> Config {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
    Config {
        vocabulary: 1000,
        hidden: 384,
        layers: 6,
        heads: 12,
        intermediate: 1536,
        positions: 512,
        ..Config::load(&fixture).expect("the fixture is in the repository")
    }
}

/// What the first score of the embedded model waits for.
fn unpack(criterion: &mut Criterion) {
    let (config, grid) = (minilm(), Grid { layers: 0.7, words: 1.15 });
    let packed = Parameters::random(&config, 1).packed(&config, grid);
    let find = |name: &str| {
        let (_, bytes) = packed.iter().find(|(known, _)| known == name)?;
        Some(bytes.clone().into())
    };
    let mut group = criterion.benchmark_group("unpack");
    group.sample_size(10).throughput(Throughput::Elements(11_000_000));
    group.bench_function("eleven million weights on a grid", |bencher| {
        bencher.iter(|| {
            Model::from_packed(config.clone(), grid, &find, Path::new("packed")).map(drop)
        });
    });
    group.finish();
}

fn encode(criterion: &mut Criterion) {
    let config = minilm();
    let parameters = Parameters::random(&config, 1);
    let mut group = criterion.benchmark_group("encode");
    group.sample_size(10);
    for precision in [Precision::F32, Precision::Int8] {
        let model = Model::from_tensors(config.clone(), &parameters, Device::Cpu, precision)
            .expect("the weights belong to the configuration");
        let outputs = Outputs::new().pooled(Pooling::Mean);
        for stories in [1usize, 64] {
            let ids: Vec<u32> = (0..60).map(|i| i * 7 % 1000).collect();
            let batch: Batch = (0..stories).map(|_| ids.as_slice()).collect();
            group.throughput(Throughput::Elements(batch.ids().len() as u64));
            group.bench_function(
                format!("{precision:?}, {stories} stories of 60 tokens"),
                |bencher| {
                    bencher.iter(|| model.run(&batch, &outputs).map(|run| run.pooled(0)[0]));
                },
            );
        }
    }
    group.finish();
}

fn tokenize(criterion: &mut Criterion) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
    let config = Config::load(&fixture).expect("the fixture is in the repository");
    let tokenizer = Tokenizer::load(&fixture, &config).expect("the fixture is in the repository");
    let story =
        "Mira lost her red kite. She looked in the old barn. It hung in the rafters! ".repeat(20);
    let mut group = criterion.benchmark_group("tokenize");
    group.throughput(Throughput::Bytes(story.len() as u64));
    group.bench_function("plain English", |bencher| bencher.iter(|| tokenizer.tokenize(&story)));
    // The bytes per second of 10, 100 and 1,000 KB are the same: the time is linear in the text.
    group.sample_size(10);
    let kinds =
        [("names", "[MASK] met Susan. "), ("quotes", "\"'"), ("ordinary text", story.as_str())];
    for (kind, unit) in kinds {
        for kilobytes in [10, 100, 1000] {
            let text: String = unit.chars().cycle().take(1000 * kilobytes).collect();
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(BenchmarkId::new(format!("{kind}, KB"), kilobytes), |bencher| {
                bencher.iter(|| tokenizer.tokenize(&text));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, encode, unpack, tokenize);
criterion_main!(benches);
