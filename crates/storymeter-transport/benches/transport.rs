//! The time for two texts of 100 and of 500 tokens.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use storymeter_transport::sinkhorn::{Settings, in_logarithms};
use storymeter_transport::{Problem, exact, squared_distances};

fn problem(points: usize) -> Problem {
    let width = 64;
    let cloud = |shift: f64| -> Vec<f64> {
        (0..points * width).map(|at| ((at * at) as f64 * 0.7 + shift).sin() / 8.0).collect()
    };
    let costs = squared_distances(&cloud(0.0), &cloud(1.0), width);
    Problem::uniform(points, points, costs).expect("a problem")
}

fn transport(c: &mut Criterion) {
    for points in [100, 500] {
        let problem = problem(points);
        c.bench_with_input(BenchmarkId::new("exact", points), &problem, |b, problem| {
            b.iter(|| exact(problem));
        });
        c.bench_with_input(BenchmarkId::new("sinkhorn 0.1", points), &problem, |b, problem| {
            b.iter(|| in_logarithms(problem, &Settings::new(0.1)));
        });
    }
}

criterion_group!(benches, transport);
criterion_main!(benches);
