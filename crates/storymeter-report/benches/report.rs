//! How long a page of 100,000 stories and a large figure take.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use storymeter_meta::{Document, Form, Sheet, folder};
use storymeter_report::{Inputs, figures, page};

fn scores(count: usize) -> String {
    let mut lines = String::new();
    for i in 0..count {
        let (a, b) = ((i * 7919 % 1009) as f64 / 1009.0, (i * 104_729 % 997) as f64 / 997.0);
        let _ = writeln!(
            lines,
            "{{\"id\":\"{i}\",\"system\":\"S{}\",\"item\":\"{}\",\"scores\":{{\"a\":{a},\"b\":{b}}},\"human\":{{\"plot\":[{}]}}}}",
            i % 5,
            i / 5,
            a + b
        );
    }
    lines
}

fn matrix(side: usize) -> Document {
    let names: Vec<String> = (0..side).map(|i| format!("metric {i}")).collect();
    let mut sheet =
        Sheet::new("m", "story-level pearson correlations between metrics", Form::Heatmap)
            .column("column", 0)
            .columns(&names, 4);
    for (i, name) in names.iter().enumerate() {
        let mut row = vec![name.into()];
        row.extend(
            (0..side).map(|j| storymeter_meta::Cell::from((i as f64 - j as f64) / side as f64)),
        );
        sheet.push(row);
    }
    Document {
        kind: "table".into(),
        signature: String::new(),
        warnings: vec![],
        sheets: vec![sheet],
    }
}

fn report(c: &mut Criterion) {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("scores.jsonl");
    std::fs::write(&path, scores(100_000)).unwrap();
    let large = Inputs::read(&[path], None).unwrap();
    let mut group = c.benchmark_group("report");
    group.sample_size(10);
    group.bench_function("page of 100,000 stories", |b| {
        b.iter(|| black_box(page::html(&large)).len())
    });
    let run = temporary.path().join("run");
    folder::write(&matrix(72), &run).unwrap();
    let square = Inputs::read(&[run], None).unwrap();
    group.bench_function("heat-map of 72 x 72", |b| {
        b.iter(|| black_box(figures::all(&square)).len())
    });
    group.finish();
}

criterion_group!(benches, report);
criterion_main!(benches);
