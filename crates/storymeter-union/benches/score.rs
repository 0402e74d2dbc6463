//! Measures how many stories per second are scored, and how much longer an explanation takes.
//!
//! The stories are the first five sentences of the example stories. The long story is all of them
//! together. The model is the embedded one, or the one that `STORYMETER_MODEL` names.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::path::Path;
use storymeter_core::Story;
use storymeter_core::read::{ReadOptions, open};
use storymeter_encoder::Precision;
use storymeter_text::sentence;
use storymeter_union::UnionScorer;

fn score(criterion: &mut Criterion) {
    let scorer = match std::env::var_os("STORYMETER_MODEL") {
        Some(path) => UnionScorer::load(Path::new(&path), Precision::Int8),
        None => UnionScorer::embedded(),
    };
    let scorer = scorer.expect("a model");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stories.jsonl");
    let records =
        open(&[file], &ReadOptions::default()).expect("the examples are in the repository");
    let five = |mut story: Story| {
        let end = sentence::split(&story.text).get(4).map_or(story.text.len(), |fifth| fifth.end);
        story.text.truncate(end);
        story.sentences.clear();
        story
    };
    let whole: Vec<Story> = records.map(|record| record.expect("a story").story).collect();
    let long: Vec<&str> = whole.iter().map(|story| story.text.as_str()).collect();
    let long = Story { text: long.join(" "), ..Story::default() };
    let stories: Vec<Story> = whole.into_iter().map(five).collect();
    let stories: Vec<&Story> = stories.iter().collect();
    let mut group = criterion.benchmark_group("score");
    group.sample_size(10).throughput(Throughput::Elements(stories.len() as u64));
    group.bench_function("five sentences", |bencher| {
        bencher.iter(|| scorer.score(&stories).map(drop))
    });
    group.finish();
    for (name, story) in [("five sentences", stories[0]), ("many windows", &long)] {
        let mut group = criterion.benchmark_group(format!("explain {name}"));
        group.sample_size(10);
        group.bench_function("score", |bencher| bencher.iter(|| scorer.score(&[story]).map(drop)));
        group.bench_function("explain", |bencher| bencher.iter(|| scorer.explain(story).map(drop)));
        group.finish();
    }
}

criterion_group!(benches, score);
criterion_main!(benches);
