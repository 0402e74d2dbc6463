//! Measures what share of the processor's peak the matrix products reach, in f32 and int8.
//!
//!     cargo run --release -p storymeter-encoder --example peak [THREADS] [SECONDS] [ROWS]
//!
//! The peak is that of multiply-adds between registers. It and each product take turns on all
//! threads at once, in slices of about a millisecond, and the fastest slice of each counts: what
//! else the machine does then matters little. No weights are needed.
#![allow(clippy::print_stdout)]

// The kernels are no part of the library's interface, and are compiled here from the same files.
#[path = "../src/kernel/mod.rs"]
#[allow(dead_code, unused_imports)]
mod kernel;
#[path = "support/measure.rs"]
mod measure;

use std::error::Error;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use kernel::{Activation, Isa};
use measure::{Peak, ProductF32, ProductI8, Shape, Work};

/// Inputs and outputs of the linear maps of MiniLM (hidden width 384) and BERT-base (768), and
/// whether GELU follows.
const MAPS: [(usize, usize, bool); 8] = [
    (384, 1152, false),
    (384, 384, false),
    (384, 1536, true),
    (1536, 384, false),
    (768, 2304, false),
    (768, 768, false),
    (768, 3072, true),
    (3072, 768, false),
];

/// Numbers of tokens that go through a map together, unless another one is asked for.
const ROWS: [usize; 3] = [96, 256, 512];

/// Weights of so many bytes, per thread, take turns when they are to come from memory.
const MEMORY: usize = 96 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let cores = std::thread::available_parallelism()?.get();
    let threads = arguments.next().map_or(Ok(cores), |text| text.parse())?;
    let seconds = Duration::from_secs_f64(arguments.next().map_or(Ok(0.3), |text| text.parse())?);
    let rows = match arguments.next() {
        Some(text) => vec![text.parse()?],
        None => ROWS.to_vec(),
    };
    let isa = Isa::detect();
    println!("{}, {threads} threads, {}", processor(), isa.name());
    let sizes = || {
        MAPS.into_iter().flat_map(|(k, n, gelu)| {
            let activation = gelu.then_some(Activation::GeluErf);
            rows.iter().map(move |m| Shape { m: *m, k, n, activation, rights: 1 })
        })
    };
    let named = |shape: Shape| {
        let Shape { m, k, n, activation, .. } = shape;
        format!("{m} x {k} x {n}{}", if activation.is_some() { ", GELU" } else { "" })
    };
    for (title, int8, quantise, memory) in [
        ("f32", false, false, false),
        ("f32, weights from memory", false, false, true),
        ("int8", true, false, false),
        ("int8, rows quantised anew", true, true, false),
        ("int8, rows quantised anew, weights from memory", true, true, true),
    ] {
        if Peak::new(isa, int8).is_none() {
            println!("\n{title}: this processor has no instruction whose peak could be measured");
            continue;
        }
        println!("\n{title}: product, GOP/s, peak, share");
        for mut shape in sizes() {
            if memory {
                let bytes = shape.k * shape.n * if int8 { 1 } else { 4 };
                shape.rights = MEMORY.div_ceil(bytes);
            }
            let product = || -> Box<dyn Work> {
                if int8 {
                    Box::new(ProductI8::new(isa, shape, quantise))
                } else {
                    Box::new(ProductF32::new(isa, shape))
                }
            };
            let peak = || -> Box<dyn Work> { Box::new(Peak::new(isa, int8).expect("found above")) };
            let [peak, product] = in_turns(threads, seconds, [&peak, &product]);
            let share = 100.0 * product / peak;
            println!("{:28} {product:8.1} {peak:8.1} {share:5.1}%", named(shape));
        }
    }
    Ok(())
}

/// The speed of two kinds of work that take turns, in billions of operations per second over all
/// threads. For each thread the fastest turn counts.
fn in_turns(
    threads: usize,
    time: Duration,
    makers: [&(dyn Fn() -> Box<dyn Work> + Sync); 2],
) -> [f64; 2] {
    let barrier = Barrier::new(threads);
    let one = || {
        let mut works = makers.map(|make| make());
        works.iter_mut().for_each(|work| work.run());
        let mut best = [0f64; 2];
        barrier.wait();
        let begin = Instant::now();
        while begin.elapsed() < time {
            for (work, best) in works.iter_mut().zip(&mut best) {
                let start = Instant::now();
                work.run();
                *best = best.max(work.operations() / start.elapsed().as_secs_f64() / 1e9);
            }
        }
        best
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        let results = handles.into_iter().map(|handle| handle.join().expect("no thread panics"));
        results.fold([0.0; 2], |sum, best| [sum[0] + best[0], sum[1] + best[1]])
    })
}

/// What the system calls the processor.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    name.unwrap_or("an unknown processor").to_owned()
}
