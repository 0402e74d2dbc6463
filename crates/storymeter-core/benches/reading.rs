//! Measures how fast 60,000 stories of five sentences are read, in bytes per second:
//! `cargo bench -p storymeter-core --features zstd --bench reading`.
#![allow(missing_docs)]

use std::io::Write;
use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::Compression;
use flate2::write::GzEncoder;
use storymeter_core::Story;
use storymeter_core::read::{RawRecords, ReadOptions, open};
use storymeter_core::write::{Layout, StoryWriter};

const STORIES: usize = 60_000;
const SENTENCES: [&str; 5] = [
    "Mara found a small brass key under the loose step.",
    "She tried it in every lock of the old house, without luck.",
    "\"Perhaps it is for the shed,\" said her brother one evening.",
    "In the shed stood a chest nobody had opened for years.",
    "Inside lay the letters their grandmother had never sent.",
];

fn jsonl() -> Vec<u8> {
    let mut writer = StoryWriter::new(Vec::new(), Layout::Jsonl).expect("memory takes it");
    let mut story = Story { prompt: Some(SENTENCES[0].into()), ..Story::default() };
    SENTENCES.iter().for_each(|sentence| story.push_sentence(sentence));
    let told = story.text.clone();
    for number in 0..STORIES {
        story.id = number.to_string();
        // Compression would otherwise find one story and its copies.
        story.text = varied(&told, number);
        writer.write(&story).expect("memory takes it");
    }
    writer.finish().expect("memory takes it")
}

/// The words of a text, with a number for every fourth of them.
fn varied(text: &str, number: usize) -> String {
    let mut state = number as u64;
    let mut words = Vec::new();
    for (at, word) in text.split(' ').enumerate() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = format!("{:05}", (state >> 40) % 100_000);
        words.push(if at % 4 == 0 { other } else { word.to_owned() });
    }
    words.join(" ")
}

fn tsv() -> Vec<u8> {
    let mut text = String::from("form\tsentence1\tsentence2\tsentence3\tsentence4\tsentence5\n");
    for _ in 0..STORIES {
        text.push_str("cased\t");
        text.push_str(&SENTENCES.join("\t"));
        text.push('\n');
    }
    text.into_bytes()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[cfg(feature = "zstd")]
fn zstandard(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 3).expect("memory takes it")
}

fn reading(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut group = c.benchmark_group("read");
    group.sample_size(20);
    let options = ReadOptions::default();
    for (name, plain) in [("stories.jsonl", jsonl()), ("stories.tsv", tsv())] {
        group.throughput(Throughput::Bytes(plain.len() as u64));
        let files = [
            (name.to_owned(), plain.clone()),
            (format!("{name}.gz"), gzip(&plain)),
            #[cfg(feature = "zstd")]
            (format!("{name}.zst"), zstandard(&plain)),
        ];
        for (name, content) in files {
            let path = folder.path().join(&name);
            std::fs::write(&path, content).expect("a file");
            group.bench_function(&name, |b| b.iter(|| count(&path, &options)));
        }
    }
    let path = folder.path().join("stories.jsonl");
    group.throughput(Throughput::Bytes(std::fs::metadata(&path).expect("a file").len()));
    group.bench_function("stories.jsonl, cut only", |b| {
        b.iter(|| {
            let raw = RawRecords::open(std::slice::from_ref(&path), &options).expect("a reader");
            assert_eq!(raw.filter(Result::is_ok).count(), STORIES);
        })
    });
}

fn count(path: &PathBuf, options: &ReadOptions) {
    let reader = open(std::slice::from_ref(path), options).expect("a reader");
    assert_eq!(reader.filter(Result::is_ok).count(), STORIES);
}

criterion_group!(benches, reading);
criterion_main!(benches);
