//! Times metrics on one thread on stories in memory: `throughput FILE.jsonl METRIC...`.
//!
//! Prints one line of JSON per metric with the seconds per round (the best mean of five), the
//! number of stories, and the megabytes of stories and references per second. On Linux the seconds
//! are processor time, so that other work on the machine does not count. `benches/peers/metrics.py`
//! compares them with other programs. The example `threads` times more than one thread.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::time::Instant;

use storymeter_core::MetricError;
use storymeter_core::read::{ReadOptions, open};
use storymeter_executor::MetricSet;
use storymeter_metrics::catalogue;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let Some(file) = args.next() else {
        return Err("usage: throughput FILE.jsonl METRIC...".into());
    };
    let records =
        open(&[PathBuf::from(file)], &ReadOptions::default())?.collect::<Result<Vec<_>, _>>()?;
    let bytes: usize = records
        .iter()
        .map(|record| {
            record.story.text.len() + record.story.references.iter().map(String::len).sum::<usize>()
        })
        .sum();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for id in args {
        let round = || -> Result<(), MetricError> {
            let scorer = MetricSet::new(&[&id], &catalogue(), Default::default())?;
            let survey = scorer.survey();
            if scorer.needs_survey() {
                survey.batch(&records)?;
            }
            scorer.surveyed(survey)?.batch(&records).map(drop)
        };
        let best = pool.install(|| -> Result<f64, MetricError> {
            let first = Instant::now();
            round()?;
            // The system counts processor time in steps of some milliseconds, so a reading is taken
            // over many rounds.
            let rounds = (0.1 / first.elapsed().as_secs_f64()).ceil().clamp(1.0, 10_000.0);
            let mut best = f64::INFINITY;
            for _ in 0..5 {
                let (start, wall) = (processor_seconds(), Instant::now());
                for _ in 0..rounds as usize {
                    round()?;
                }
                let elapsed = wall.elapsed().as_secs_f64();
                let on_processor = processor_seconds().zip(start).map(|(end, start)| end - start);
                best = best.min(on_processor.unwrap_or(elapsed) / rounds);
            }
            Ok(best)
        })?;
        let rate = bytes as f64 / best / 1e6;
        println!(
            "{{\"metric\": \"{id}\", \"seconds\": {best:.6}, \"stories\": {}, \
             \"megabytes_per_second\": {rate:.1}}}",
            records.len()
        );
    }
    Ok(())
}

/// The time that this thread has spent on a processor, if the system says so.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}
