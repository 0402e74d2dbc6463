//! The time for 16 stories against references, metric by metric and with all four together.
//!
//! The model is MiniLM where `STORYMETER_TEST_WEIGHTS` names a folder with it, and else the tiny
//! model of the tests, with which only what follows the network takes time.

use std::path::PathBuf;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use storymeter_core::read::Record;
use storymeter_core::{Catalogue, Place, Resources, Settings, Story};
use storymeter_executor::MetricSet;

#[path = "../tests/neural/support.rs"]
mod support;

/// Stories of about 200 words.
fn records() -> Vec<Record> {
    let texts = [support::A, support::B, support::C];
    (0..16)
        .map(|number| {
            let text = |shift: usize| -> String {
                (0..6).map(|at| texts[(number / 2 + at * shift) % 3]).collect::<Vec<_>>().join(" ")
            };
            let story = Story { references: vec![text(2)], ..Story::from(text(1).as_str()) };
            Record { story, number: number as u64, place: Place::default() }
        })
        .collect()
}

fn embedding(c: &mut Criterion) {
    let tiny = tempfile::tempdir().expect("a folder");
    let model = match std::env::var_os("STORYMETER_TEST_WEIGHTS") {
        Some(folder) => PathBuf::from(folder).join("minilm"),
        None => {
            support::write_masked_model(tiny.path());
            tiny.path().to_owned()
        }
    };
    let records = records();
    let each = ["bertscore:layer-2", "moverscore:uniform", "baryscore", "depthscore"];
    for typed in each.iter().map(std::slice::from_ref).chain([&each[..]]) {
        let id = |typed: &&str| typed.split(':').next().unwrap_or_default().to_owned();
        let weights = typed.iter().map(|typed| (id(typed), model.clone())).collect();
        c.bench_function(&typed.join(","), |b| {
            b.iter(|| {
                // A new set, so that no reference is known from the run before.
                let settings = Settings { weights: Clone::clone(&weights), ..Settings::default() };
                let resources = Arc::new(Resources::new(settings));
                let catalogue = Catalogue::new(storymeter_neural::entries());
                let set = MetricSet::new(typed, &catalogue, resources).expect("the model");
                set.batch(&records).expect("scores")
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = embedding
}
criterion_main!(benches);
