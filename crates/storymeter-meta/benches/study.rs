//! The hot paths of a meta-evaluation, on a table of HANNA's size: 10 systems, 96 items, 78
//! columns.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use rand::RngExt;
use storymeter_core::rng::StreamId;
use storymeter_core::{Column, Direction, Row, ScoreTable};
use storymeter_meta::{Grid, table, view};

const SYSTEMS: usize = 10;
const ITEMS: usize = 96;
const CRITERIA: usize = 6;
const METRICS: usize = 72;

fn scores() -> ScoreTable {
    let row = |system: usize, item: usize| Row {
        id: format!("{system}/{item}"),
        system: Some(system.to_string()),
        item: item.to_string(),
        ..Row::default()
    };
    let rows = (0..SYSTEMS).flat_map(|system| (0..ITEMS).map(move |item| row(system, item)));
    let mut table = ScoreTable::new(rows.collect());
    for number in 0..CRITERIA + METRICS {
        let mut rng = StreamId::Draw { record: number as u64, draw: 0 }.rng(1);
        let human = number < CRITERIA;
        let mut draw = || match human {
            // Means of three ratings from 1 to 5.
            true => f64::from(rng.random_range(3..=15u32)) / 3.0,
            false => rng.random::<f64>(),
        };
        let values = (0..SYSTEMS * ITEMS).map(|_| Ok(draw())).collect();
        let column = match human {
            true => Column::criterion(number.to_string()),
            false => Column::metric(number.to_string(), Direction::Higher),
        };
        table.push(column, values);
    }
    table
}

fn benches(criterion: &mut Criterion) {
    let scores = scores();
    criterion.bench_function("arrange 960 stories", |bench| {
        bench.iter(|| Grid::from_table(&scores).unwrap());
    });
    let mut group = criterion.benchmark_group("study");
    group.sample_size(10);
    let options = table::Options::default();
    group.bench_function("everything", |bench| {
        bench.iter(|| table::analyse(&scores, &options).unwrap());
    });
    let study = table::analyse(&scores, &options).unwrap();
    group.bench_function("all sheets", |bench| bench.iter(|| view::sheets(&study)));
    group.finish();
}

criterion_group!(study, benches);
criterion_main!(study);
