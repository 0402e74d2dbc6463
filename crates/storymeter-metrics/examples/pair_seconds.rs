//! Times one metric on stories in memory, on one thread: `pair_seconds FILE.jsonl ROUNDS METRIC`.
//!
//! Prints one line of JSON with the mean seconds per round, in processor time (which does not count
//! other work on the machine) and on the clock, and with the bytes of stories and references. A
//! metric loads its tables once, before the first round. Texts are tokenised anew in each round.
//! METEOR's tables come from the folder that `STORYMETER_METEOR_DATA` names.
//! `benches/peers/rouge.py` and `meteor.py` compare the times with those of other programs.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::time::Instant;

use storymeter_core::read::{ReadOptions, open};
use storymeter_core::{Resources, Settings};
use storymeter_executor::MetricSet;
use storymeter_metrics::catalogue;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, rounds, id] = arguments.as_slice() else {
        return Err("usage: pair_seconds FILE.jsonl ROUNDS METRIC".into());
    };
    let rounds: u32 = rounds.parse()?;
    let records =
        open(&[PathBuf::from(file)], &ReadOptions::default())?.collect::<Result<Vec<_>, _>>()?;
    let meteor_data = std::env::var_os("STORYMETER_METEOR_DATA").map(PathBuf::from);
    let scorer = {
        let weights = meteor_data.map(|folder| ("meteor".to_owned(), folder)).into_iter().collect();
        let resources = Resources::new(Settings { weights, ..Settings::default() });
        MetricSet::new(&[id], &catalogue(), resources.into())?
    };
    let length = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
    let bytes: usize =
        records.iter().map(|r| r.story.text.len() + length(&r.story.references)).sum();

    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let (processor, wall) = pool.install(|| -> Result<(f64, f64), String> {
        let (start, wall) = (processor_seconds()?, Instant::now());
        for _ in 0..rounds {
            scorer.batch(&records).map_err(|error| error.to_string())?;
        }
        Ok((processor_seconds()? - start, wall.elapsed().as_secs_f64()))
    })?;
    let rounds = f64::from(rounds);
    println!(
        "{{\"processor\": {}, \"wall\": {}, \"bytes\": {bytes}}}",
        processor / rounds,
        wall / rounds
    );
    Ok(())
}

/// The time that this thread has spent on a processor. The system updates the number a few hundred
/// times per second.
fn processor_seconds() -> Result<f64, String> {
    const FILE: &str = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(FILE).map_err(|error| format!("{FILE}: {error}"))?;
    let spent = text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok());
    spent.map(|nanoseconds| nanoseconds / 1e9).ok_or_else(|| format!("{FILE}: {text}"))
}
