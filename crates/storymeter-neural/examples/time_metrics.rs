//! Times neural metrics on stories in memory, without the time to open the models:
//! `time_metrics FILE.jsonl METRIC[,METRIC...] PRECISION DEVICE [NAME=FOLDER...]`.
//!
//! PRECISION is int8, f16, bf16 or f32, DEVICE is cpu or cuda. Every round opens the models, scores
//! two stories, so that nothing is done for the first time, and then times all stories on the
//! clock. Prints one line of JSON: the seconds of the best of three rounds, and per column the
//! scores. `benches/peers/neural.py` compares both with other programs.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use storymeter_core::read::{ReadOptions, open};
use storymeter_core::{Catalogue, Device, Precision, Resources, Settings};
use storymeter_executor::MetricSet;

const USAGE: &str = "usage: time_metrics FILE.jsonl METRIC[,METRIC...] int8|f16|bf16|f32 cpu|cuda \
                     [NAME=FOLDER...]";
const ROUNDS: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, metrics, precision, device, weights @ ..] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let precision = match precision.as_str() {
        "int8" => Precision::Int8,
        "f16" => Precision::F16,
        "bf16" => Precision::Bf16,
        "f32" => Precision::F32,
        _ => return Err(USAGE.into()),
    };
    let device = match device.as_str() {
        "cpu" => Device::Cpu,
        "cuda" => Device::Cuda(0),
        _ => return Err(USAGE.into()),
    };
    let weights: BTreeMap<String, PathBuf> = weights
        .iter()
        .filter_map(|named| named.split_once('='))
        .map(|(name, folder)| (name.to_owned(), folder.into()))
        .collect();
    let settings = Settings { device, precision: Some(precision), weights, ..Settings::default() };
    let records =
        open(&[PathBuf::from(file)], &ReadOptions::default())?.collect::<Result<Vec<_>, _>>()?;
    let typed: Vec<&str> = metrics.split(',').collect();
    let catalogue = Catalogue::new(storymeter_neural::entries());

    let mut best = f64::INFINITY;
    let mut scores = BTreeMap::new();
    for _ in 0..ROUNDS {
        let resources = Arc::new(Resources::new(settings.clone()));
        let build = || MetricSet::new(&typed, &catalogue, Arc::clone(&resources));
        let few = &records[..records.len().min(2)];
        build()?.surveyed_on(few)?.batch(few)?;
        let set = build()?;
        let start = Instant::now();
        let set = set.surveyed_on(&records)?;
        let batch = set.batch(&records)?;
        best = best.min(start.elapsed().as_secs_f64());
        for (place, column) in set.columns().iter().enumerate() {
            let values: Vec<Option<f64>> = (0..records.len())
                .map(|story| batch.values(story)[place].as_ref().ok().copied())
                .collect();
            scores.insert(column.key.to_string(), values);
        }
    }
    let line = serde_json::json!({
        "metrics": metrics,
        "stories": records.len(),
        "seconds": best,
        "threads": rayon::current_num_threads(),
        "scores": scores,
    });
    println!("{line}");
    Ok(())
}
