//! Speed of metrics on made-up stories of about 300 words, in bytes of stories and references per
//! second.
//!
//! `benches/peers/metrics.py`, `rouge.py` and `meteor.py` time other programs on the same texts.
#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use storymeter_core::read::Record;
use storymeter_core::rng::StreamId;
use storymeter_core::{Place, Story};
use storymeter_executor::MetricSet;
use storymeter_metrics::catalogue;

const STORIES: u64 = 64;

/// A text in which some words are much more frequent than others, with punctuation.
fn text(seed: u64) -> String {
    use rand_chacha::rand_core::Rng;
    const WORDS: [&str; 24] = [
        "the",
        "a",
        "and",
        "she",
        "he",
        "was",
        "to",
        "of",
        "her",
        "it",
        "storm",
        "lamp",
        "door",
        "night",
        "river",
        "under",
        "house",
        "said",
        "didn't",
        "well-known",
        "\"Stop!\"",
        "walked,",
        "home.",
        "again...",
    ];
    let mut random = StreamId::Draw { record: seed, draw: 0 }.rng(1);
    let mut word = || {
        let (a, b) = (random.next_u64() % 24, random.next_u64() % 24);
        WORDS[a.min(b) as usize]
    };
    (0..300).map(|_| word()).collect::<Vec<_>>().join(" ")
}

fn records() -> Vec<Record> {
    (0..STORIES)
        .map(|number| {
            let story = Story {
                id: number.to_string(),
                prompt: Some(text(2 * STORIES + number).chars().take(150).collect()),
                text: text(number),
                references: vec![text(STORIES + number)],
                ..Story::default()
            };
            Record { story, number, place: Place::default() }
        })
        .collect()
}

fn metrics(criterion: &mut Criterion) {
    let records = records();
    let bytes: usize =
        records.iter().map(|r| r.story.text.len() + r.story.references[0].len()).sum();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let mut group = criterion.benchmark_group("metrics");
    group.throughput(Throughput::Bytes(bytes as u64));
    for id in [
        "bleu",
        "bleu:intl",
        "chrf",
        "chrf:plus-plus",
        "cider-d",
        "rouge:155",
        "rouge:google-stem",
        "meteor",
        "meteor:nltk",
        "text-length",
        "novelty-3",
        "density",
        "slop",
        "homogeneity",
    ] {
        group.bench_function(id, |bencher| {
            bencher.iter(|| {
                pool.install(|| {
                    let scorer = MetricSet::new(&[id], &catalogue(), Default::default())
                        .expect("a known metric");
                    let survey = scorer.survey();
                    if scorer.needs_survey() {
                        survey.batch(&records).expect("fits in memory");
                    }
                    scorer
                        .surveyed(survey)
                        .expect("fits in memory")
                        .batch(&records)
                        .expect("every story has what is needed")
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, metrics);
criterion_main!(benches);
