//! How long a page of 100,000 stories takes, and the figures of a study of many metrics.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, criterion_group, criterion_main};
use storymeter_core::{Catalogue, read};
use storymeter_meta::{folder, table};
use storymeter_report::{FigureSet, Inputs, Report};

/// Writes scores of so many stories by so many metrics.
fn scores(path: &Path, stories: usize, metrics: usize) {
    let mut lines = String::new();
    for i in 0..stories {
        let rating = 1 + i * 7919 % 5;
        let score = |m: usize| rating as f64 + (i * (104_729 + 2 * m) % 997) as f64 / 99.7;
        let own: Vec<String> = (0..metrics).map(|m| format!("\"m{m}\":{}", score(m))).collect();
        let _ = writeln!(
            lines,
            "{{\"id\":\"{i}\",\"system\":\"S{}\",\"item\":\"{}\",\"scores\":{{{}}},\
             \"human\":{{\"plot\":[{rating}]}}}}",
            i % 5,
            i / 5,
            own.join(",")
        );
    }
    std::fs::write(path, lines).unwrap();
}

fn read_inputs(path: PathBuf) -> Inputs {
    Inputs::read(&[path], None, &Catalogue::default()).unwrap()
}

fn report(c: &mut Criterion) {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("scores.jsonl");
    let mut group = c.benchmark_group("report");
    group.sample_size(10);

    scores(&path, 100_000, 2);
    let large = read_inputs(path.clone());
    group.bench_function("page of 100,000 stories", |b| {
        b.iter(|| black_box(Report::new(&large).html()).len())
    });

    scores(&path, 100, 40);
    let table = read::scores(&path, &Catalogue::default()).unwrap();
    let study = table::analyse(&table, &table::Options::default()).unwrap();
    let run = temporary.path().join("run");
    folder::write(&study, &run, folder::SheetSet::default(), &[]).unwrap();
    let many = read_inputs(run);
    group.bench_function("figures of 40 metrics", |b| {
        b.iter(|| black_box(Report::new(&many).figures(FigureSet::All)).len())
    });
    group.finish();
}

criterion_group!(benches, report);
criterion_main!(benches);
