//! Times metrics on one thread and on several: `threads FILE.jsonl THREADS METRIC...`.
//!
//! Prints one line of JSON per metric with the seconds per round on one thread and on `THREADS`,
//! and the ratio of the two. All numbers are medians. Rounds on one thread and on several take
//! turns, so that other work on the machine affects both. A round does what `storymeter score` does
//! with stories that are already parsed: it scores batches of 1,024, several at a time, after a
//! first pass if the metric needs one.
//!
//! Two lines before them say what the machine itself gains from more threads. They are for a loop
//! of arithmetic and for a loop that counts in a table of 16 KiB, in which the threads share
//! nothing. `benches/peers/metrics.py` runs this example.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use storymeter_core::MetricError;
use storymeter_core::read::{ReadOptions, Record, open};
use storymeter_executor::{Limit, MetricSet, in_order};
use storymeter_metrics::catalogue;

const ROUNDS: usize = 9;
/// As in `storymeter score`.
const BATCH: usize = 1024;
const AHEAD: usize = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(file), Some(threads)) = (args.next(), args.next()) else {
        return Err("usage: threads FILE.jsonl THREADS METRIC...".into());
    };
    let threads = threads.parse()?;
    let records =
        open(&[PathBuf::from(file)], &ReadOptions::default())?.collect::<Result<Vec<_>, _>>()?;
    let pools = [1, threads].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build());
    let [one, several] = pools;
    let pools = [one?, several?];
    for (name, work) in [("arithmetic", arithmetic as fn()), ("counting", counting)] {
        // One thread does as much work as several together.
        let round = || {
            let pieces = vec![(); 8 * threads];
            in_order(pieces, Limit::of_items(2 * threads), |()| work(), |()| Ok(()))
        };
        report(&format!("the machine: {name}"), &pools, threads, round)?;
    }
    for id in args {
        report(&id, &pools, threads, || score(&id, &records))?;
    }
    Ok(())
}

fn score(id: &str, records: &[Record]) -> Result<(), MetricError> {
    let mut scorer = MetricSet::new(&[id], &catalogue(), Default::default())?;
    if scorer.needs_survey() {
        let survey = scorer.survey();
        in_order(
            records.chunks(BATCH),
            Limit::of_items(AHEAD),
            |batch| survey.batch(batch),
            |counted| counted,
        )?;
        scorer = scorer.surveyed(survey)?;
    }
    in_order(
        records.chunks(BATCH),
        Limit::of_items(AHEAD),
        |batch| scorer.batch(batch),
        |rows| rows.map(drop),
    )
}

fn report(
    name: &str,
    pools: &[ThreadPool; 2],
    threads: usize,
    round: impl Fn() -> Result<(), MetricError> + Sync,
) -> Result<(), MetricError> {
    let seconds = |pool: &ThreadPool| {
        // Wakes all threads, and lets the system give each a processor of its own.
        pool.broadcast(|_| {
            let start = Instant::now();
            while start.elapsed().as_millis() < 200 {}
        });
        let start = Instant::now();
        pool.install(&round).map(|()| start.elapsed().as_secs_f64())
    };
    // The first round is not timed. It reads tables and allocates memory.
    pools.iter().try_for_each(|pool| seconds(pool).map(drop))?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push((seconds(&pools[0])?, seconds(&pools[1])?));
    }
    let median = |value: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[ROUNDS / 2]
    };
    let (one, several) = (median(|round| round.0), median(|round| round.1));
    let ratio = median(|(one, several)| one / several);
    println!(
        "{{\"name\": \"{name}\", \"threads\": {threads}, \"one\": {one:.4}, \
         \"several\": {several:.4}, \"ratio\": {ratio:.3}}}"
    );
    Ok(())
}

/// A chain of multiplications in registers.
fn arithmetic() {
    let mut x = black_box(1u64);
    for n in 0..10_000_000u64 {
        x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).rotate_left(13) ^ n;
    }
    black_box(x);
}

/// What metrics mostly do: increase counts in a hash table that fits in the first cache.
fn counting() {
    let mut counts = vec![0u64; 2048];
    for n in 0..20_000_000u64 {
        let hash = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = &mut counts[(hash >> 53) as usize];
        *at = at.wrapping_add(hash);
    }
    black_box(counts);
}
