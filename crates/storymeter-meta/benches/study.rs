//! The hot paths of a meta-evaluation, on a table of HANNA's size: 10 systems, 96 items, 78 columns.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use rand::RngExt;
use storymeter_core::rng::StreamId;
use storymeter_core::{Column, Direction, Role, ScoreTable};
use storymeter_meta::pairwise::{BootstrapOptions, duels};
use storymeter_meta::study::{Edition, Study};
use storymeter_meta::{Correlations, Noise, SystemMeans};

const SYSTEMS: usize = 10;
const ITEMS: usize = 96;
const CRITERIA: usize = 6;
const METRICS: usize = 72;

fn table() -> ScoreTable {
    let names = |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}")).collect();
    let mut table = ScoreTable::new(names("system", SYSTEMS), names("item", ITEMS));
    for number in 0..CRITERIA + METRICS {
        let mut rng = StreamId::Draw { record: number as u64, draw: 0 }.rng(1);
        let human = number < CRITERIA;
        let mut draw = || match human {
            // Means of three ratings from 1 to 5.
            true => f64::from(rng.random_range(3..=15u32)) / 3.0,
            false => rng.random::<f64>(),
        };
        let values: Vec<f64> = (0..SYSTEMS * ITEMS).map(|_| draw()).collect();
        let role = if human { Role::Human } else { Role::Metric };
        let column = Column {
            name: number.to_string(),
            role,
            direction: Direction::Higher,
            signature: None,
        };
        table.push_column(column, &values);
    }
    table
}

fn benches(criterion: &mut Criterion) {
    let table = table();
    let means = SystemMeans::of(&table, Noise::Removed);
    criterion.bench_function("all correlations", |bench| {
        bench.iter(|| Correlations::of(&table, &means).unwrap());
    });
    criterion.bench_function("paired bootstrap, 45 pairs x 1000 draws x 78 columns", |bench| {
        bench.iter(|| duels(&table, BootstrapOptions::default()));
    });
    let study = Study::new(table.clone(), Edition::Corrected, BootstrapOptions::default()).unwrap();
    criterion.bench_function("weighted F1 of 72 metrics", |bench| {
        bench.iter(|| {
            let label =
                storymeter_meta::study::heatmaps::Label { id: "f1".into(), title: String::new() };
            study.pairwise(label, study.metrics()).unwrap()
        });
    });
}

criterion_group!(study, benches);
criterion_main!(study);
