//! Speed of the steps that every story goes through: sentences, tokens, tags and masked names.
//!
//! The group `growth` shows that the time of each step is linear in the length of the text: the
//! bytes per second of 10, 100 and 1,000 KB are the same.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use storymeter_text::names::Delexicaliser;
use storymeter_text::tagger::Tagger;
use storymeter_text::{Span, flags as text_flags, sentence, treebank};

/// A story, repeated with different names so that caches cannot hold all of its words.
fn stories() -> String {
    let story = "NAME couldn't find the old key. \"Where did you put it?\" she asked her brother, who was reading in the \
        kitchen. He shrugged and said that he hadn't seen it since Friday... The gray house by the lake had been \
        locked for years, and nobody in the village knew who owned it. At 5 p.m. Mr. Hill brought them a rusty box \
        with $3.50, two letters and -- to their surprise -- the key. NAME's hands were shaking when the door finally \
        opened!";
    let names = ["Ann", "Tom", "Mrs. Stone", "Olga", "the tall girl", "Kim", "Old Peter", "Ruth"];
    (0..200).map(|i| story.replace("NAME", names[i % names.len()])).collect::<Vec<_>>().join("\n\n")
}

fn text(criterion: &mut Criterion) {
    let text = stories();
    let sentences = sentence::split(&text);
    let tokens: Vec<Vec<&str>> = sentences
        .iter()
        .map(|&s| treebank::tokenize_sentence(&text, s).iter().map(|t| t.text(&text)).collect())
        .collect();

    let mut group = criterion.benchmark_group("bytes");
    group.throughput(Throughput::Bytes(text.len() as u64));
    let mut spans: Vec<Span> = Vec::new();
    group.bench_function("splitter", |b| {
        b.iter(|| sentence::split_into(black_box(&text), &mut spans))
    });
    let mut buffer = Vec::new();
    group.bench_function("tokeniser", |b| {
        b.iter(|| {
            buffer.clear();
            for &sentence in &sentences {
                treebank::tokenize_into(black_box(&text), sentence, &mut buffer);
            }
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group("tokens");
    group.throughput(Throughput::Elements(tokens.iter().map(|t| t.len() as u64).sum()));
    let tagger = Tagger::embedded();
    let mut tags = Vec::new();
    group.bench_function("tagger", |b| {
        b.iter(|| {
            for sentence in &tokens {
                tagger.tag_into(black_box(sentence), &mut tags);
            }
        });
    });
    group.finish();
}

/// What is looked for before a story is scored, in a plain story and in one with chat words.
fn flags(criterion: &mut Criterion) {
    let plain = "Nadia wanted to paint the fence before the rain came. She bought two buckets of white \
        paint and a wide brush. The first drops fell when she reached the gate.";
    let chat = format!(
        "Sure, here is your story:\n\n# The Fence\n\n{plain}\n\nThe End.\n\nI hope you enjoyed it!"
    );
    let mut group = criterion.benchmark_group("flags");
    for (name, text) in [("plain", plain), ("chat", &chat), ("long", &stories())] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("find", name), |b| {
            b.iter(|| text_flags::find(black_box(text), None));
        });
        group.bench_function(BenchmarkId::new("clean", name), |b| {
            b.iter(|| text_flags::clean(black_box(text), None).removed.len());
        });
    }
    group.finish();
}

/// The time for tokens and for masked names in texts of growing length.
fn growth(criterion: &mut Criterion) {
    let ordinary = stories();
    let kinds =
        [("names", "Susan met Mark. "), ("quotes", "\"'"), ("ordinary text", ordinary.as_str())];
    let mut group = criterion.benchmark_group("growth");
    group.sample_size(10);
    for (kind, unit) in kinds {
        for kilobytes in [10, 100, 1000] {
            let text: String = unit.chars().cycle().take(1000 * kilobytes).collect();
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(
                BenchmarkId::new(format!("tokens of {kind}, KB"), kilobytes),
                |b| {
                    b.iter(|| {
                        let sentences = sentence::split(black_box(&text)).into_iter();
                        sentences
                            .map(|s| treebank::tokenize_sentence(&text, s).len())
                            .sum::<usize>()
                    });
                },
            );
            group.bench_function(BenchmarkId::new(format!("masking {kind}, KB"), kilobytes), |b| {
                b.iter(|| Delexicaliser::embedded().delexicalise(black_box(&text)).names.len());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, text, flags, growth);
criterion_main!(benches);
