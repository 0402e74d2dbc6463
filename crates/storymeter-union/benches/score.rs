//! Stories a second: the first five sentences of the example stories, with the embedded model on all cores, or with the one
//! that `STORYMETER_MODEL` names.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::path::Path;
use storymeter_core::Story;
use storymeter_core::read::{ReadOptions, open};
use storymeter_encoder::Precision;
use storymeter_text::sentence;
use storymeter_union::Scorer;

fn score(criterion: &mut Criterion) {
    let scorer = match std::env::var_os("STORYMETER_MODEL") {
        Some(path) => Scorer::load(Path::new(&path), Precision::Int8),
        None => Scorer::embedded(),
    };
    let scorer = scorer.expect("a model");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stories.jsonl");
    let records = open(&[file], &ReadOptions::default()).expect("the examples are in the repository");
    let five = |mut story: Story| {
        let end = sentence::split(&story.text).get(4).map_or(story.text.len(), |fifth| fifth.end);
        story.text.truncate(end);
        story.sentences.clear();
        story
    };
    let stories: Vec<Story> = records.map(|record| five(record.expect("a story").story)).collect();
    let stories: Vec<&Story> = stories.iter().collect();
    let mut group = criterion.benchmark_group("score");
    group.sample_size(10).throughput(Throughput::Elements(stories.len() as u64));
    group.bench_function("five sentences", |bencher| bencher.iter(|| scorer.score(&stories).map(drop)));
    group.finish();
}

criterion_group!(benches, score);
criterion_main!(benches);
