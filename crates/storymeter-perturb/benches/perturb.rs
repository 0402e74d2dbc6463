//! Stories per second: each technique alone, all techniques as in the paper, donors from scratch,
//! and the twins of all aspects.
//!
//! Run with `cargo bench -p storymeter-perturb`. The stories are the project's examples.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use storymeter_core::read::{ReadOptions, open};
use storymeter_core::rng::StreamId;
use storymeter_core::{Aspect, Story};
use storymeter_perturb::aspect::TwinMaker;
use storymeter_perturb::{Config, DonorSampler, Donors, Perturber};
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;

/// The five-sentence stories of the examples.
fn stories() -> Vec<Story> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stories.jsonl");
    let records = open(&[path], &ReadOptions::default()).expect("the examples are there");
    records
        .map(|record| record.expect("a sound record").story)
        .filter(|story| story.prompt.is_none())
        .collect()
}

fn donors(stories: &[Story]) -> Donors {
    let mut sampler = DonorSampler::new(0, stories.len());
    for (record, story) in stories.iter().enumerate() {
        sampler.offer(record as u64, story);
    }
    sampler.finish(Tagger::embedded(), Lexicon::embedded())
}

fn bench(criterion: &mut Criterion) {
    let stories = stories();
    let prepared = donors(&stories);
    let mut group = criterion.benchmark_group("perturb");
    group.throughput(Throughput::Elements(stories.len() as u64));
    for techniques in ["all", "repetition", "substitution", "reordering", "negation"] {
        let config =
            Config::default().only(techniques).and_then(Config::checked).expect("known names");
        let perturber = Perturber::new(config, &prepared, Lexicon::embedded(), Tagger::embedded());
        group.bench_function(techniques, |bencher| {
            let mut draw = 0;
            bencher.iter(|| {
                draw += 1;
                for (record, story) in stories.iter().enumerate() {
                    black_box(perturber.perturb(
                        story,
                        1,
                        StreamId::Draw { record: record as u64, draw },
                    ))
                    .ok();
                }
            });
        });
    }
    let maker = TwinMaker::new(&prepared, Lexicon::embedded(), Tagger::embedded());
    group.bench_function("twins", |bencher| {
        bencher.iter(|| {
            for (record, story) in stories.iter().enumerate() {
                let open = maker.open(story);
                for aspect in Aspect::ALL {
                    black_box(open.twin(aspect, 1, record as u64)).ok();
                }
            }
        });
    });
    group.bench_function("donors", |bencher| bencher.iter(|| black_box(donors(&stories))));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
