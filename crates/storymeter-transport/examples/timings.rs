//! Prints the time and the cost of transport problems, for `benches/peers/transport.py`.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use storymeter_transport::sinkhorn::{Settings, in_logarithms};
use storymeter_transport::{Problem, exact, squared_distances};

fn main() -> Result<(), storymeter_transport::Error> {
    for points in [100, 500] {
        let width = 64;
        let cloud = |shift: f64| -> Vec<f64> {
            let angle = |at: usize| (at as f64) * (at as f64) * 0.7 + shift;
            (0..points * width).map(|at| angle(at).sin() / 8.0).collect()
        };
        let costs = squared_distances(&cloud(0.0), &cloud(1.0), width);
        let problem = Problem::uniform(points, points, costs)?;
        timed(&format!("exact, {points} points"), || exact(&problem).cost);
        let settings = Settings::new(0.1);
        timed(&format!("sinkhorn 0.1, {points} points"), || {
            in_logarithms(&problem, &settings).cost
        });
    }
    Ok(())
}

/// Prints the best of three runs.
fn timed(name: &str, mut work: impl FnMut() -> f64) {
    let mut best = f64::INFINITY;
    let mut cost = 0.0;
    for _ in 0..3 {
        let start = Instant::now();
        cost = work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name}\t{best}\t{cost}");
}
