//! Encodes stories given as token ids, again and again. `benches/peers/encoder.py` times it and
//! compares it.
//!
//!     cargo run --release --example encode -- MODEL_FOLDER f32|int8 IDS.jsonl [DUMP.f32]
//!
//! `IDS.jsonl` has one list of token ids per line. Every line on standard input asks for one run
//! over all stories, and the answer is the seconds it took. With `DUMP.f32`, the hidden states of a
//! first run are written there, row by row and little-endian. The number of threads is that of
//! rayon (`RAYON_NUM_THREADS`).
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::BufRead;
use std::path::Path;
use std::time::Instant;
use storymeter_encoder::{Batch, Device, Model, Outputs, Precision};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, precision, ids, dump @ ..] = arguments.as_slice() else {
        return Err("usage: encode MODEL_FOLDER f32|int8 IDS.jsonl [DUMP.f32]".into());
    };
    let precision = if precision == "int8" { Precision::Int8 } else { Precision::F32 };
    let model = Model::open(Path::new(model), Device::Cpu, precision)?;
    let layers = model.config().layers;
    let outputs = Outputs::new().layers([layers]);
    let mut batch = Batch::new();
    for line in std::fs::read_to_string(ids)?.lines() {
        batch.push(&serde_json::from_str::<Vec<u32>>(line)?);
    }
    if let Some(dump) = dump.first() {
        let run = model.run(&batch, &outputs)?;
        let states = (0..batch.len()).flat_map(|i| run.layer(layers).sequence(i));
        let bytes: Vec<u8> = states.flat_map(|v| v.to_le_bytes()).collect();
        std::fs::write(dump, bytes)?;
    }
    println!("{}", model.isa().name());
    for line in std::io::stdin().lock().lines() {
        line?;
        let start = Instant::now();
        model.run(&batch, &outputs)?;
        println!("{}", start.elapsed().as_secs_f64());
    }
    Ok(())
}
