//! Times the statistics on the inputs of `benches/peers/stats.py`, which runs this next to the
//! Python peers.
//!
//! Prints one line per task: its name, the seconds of the best of three runs, and the value, so
//! that the peers can compare it with theirs.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use storymeter_stats::agreement::{Scale, icc, krippendorff_alpha};
use storymeter_stats::{
    BootstrapOptions, Coefficient, Matrix, bootstrap, kendall, pearson, spearman,
};

/// The `i`-th number in [0, 1) of splitmix64 started at `seed`, as in `tools/stats_fixtures.py`.
fn uniform(seed: u64, i: usize) -> f64 {
    let mut z = seed.wrapping_add((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 * 2f64.powi(-53)
}

fn time(name: &str, task: impl Fn() -> f64) {
    let mut best = f64::INFINITY;
    let mut value = f64::NAN;
    for _ in 0..3 {
        let start = Instant::now();
        value = task();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name}\t{best:.9}\t{value:?}");
}

fn main() {
    const MILLION: usize = 1_000_000;
    let x: Vec<f64> = (0..MILLION).map(|i| uniform(1, i)).collect();
    let y: Vec<f64> = (0..MILLION).map(|i| x[i] + uniform(2, i)).collect();
    let five = |v: &[f64]| -> Vec<f64> { v.iter().map(|v| (v * 5.0).floor()).collect() };
    let (x5, y5) = (five(&x), five(&y));
    time("kendall, 1 million", || kendall(&x, &y).unwrap().coefficient);
    time("kendall, 1 million, five and ten values", || kendall(&x5, &y5).unwrap().coefficient);
    time("spearman, 1 million", || spearman(&x, &y).unwrap().coefficient);
    time("pearson, 1 million", || pearson(&x, &y).unwrap().coefficient);
    time("kendall, 400", || kendall(&x[..400], &y[..400]).unwrap().coefficient);
    time("spearman, 400", || spearman(&x[..400], &y[..400]).unwrap().coefficient);
    time("pearson, 400", || pearson(&x[..400], &y[..400]).unwrap().coefficient);
    let ratings = Matrix::new(&x5[..1056 * 3], 1056, 3).unwrap();
    time("icc, 1056 x 3", || icc(ratings).unwrap()[3].value);
    time("krippendorff interval, 1056 x 3", || {
        krippendorff_alpha(ratings, Scale::Interval).unwrap().alpha
    });
    let correlation = |at: &[usize]| {
        let pick = |v: &[f64]| at.iter().map(|&i| v[i]).collect::<Vec<_>>();
        Coefficient::Pearson.value(&pick(&x), &pick(&y)).unwrap()
    };
    time("bca bootstrap of pearson, n = 200, 9,999 resamples", || {
        bootstrap(200, correlation, &BootstrapOptions::default()).unwrap().estimate
    });
}
