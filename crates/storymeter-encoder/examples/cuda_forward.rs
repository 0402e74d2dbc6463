//! Times models on a GPU as metrics use them: the hidden states of one layer of a BERT-base for 200
//! texts of 50 to 512 tokens, in every precision, and how far they are from those in f32.
//!
//!     cargo run --release --features cuda --example cuda_forward -- [ROUNDS] [FOLDER TEXTS OUT]
//!
//! Without FOLDER the weights are random. FOLDER is a model in Hugging Face's layout, and TEXTS a
//! file of its tokens as 16-bit little-endian numbers: for each text the number of its tokens, then
//! the tokens. The states in PRECISION then go to the file OUT-PRECISION as 32-bit floats.
//! `benches/peers/cuda_forward.py` makes both files and times PyTorch beside this program.
#![allow(clippy::print_stdout)]

#[path = "../tests/support/shape.rs"]
mod shape;

use shape::config;
use std::error::Error;
use std::path::Path;
use std::time::Instant;
use storymeter_encoder::{
    Batch, Config, Device, Family, ForwardPass, Model, Outputs, Parameters, Pooling, Precision,
    Stream,
};

/// The layer that BERTScore takes from BERT-base.
const LAYER: usize = 9;
const TEXTS: u64 = 200;

/// Made-up texts of 50 to 700 tokens, cut at 512.
fn texts(vocabulary: usize) -> Batch {
    let (lengths, words) = (Stream::new(1).child(0), Stream::new(1).child(1));
    let mut batch = Batch::new();
    for text in 0..TEXTS {
        let length = (50 + lengths.bits(text) % 651).min(512);
        let word = |i: u64| (words.child(text).bits(i) % vocabulary as u64) as u32;
        batch.push(&(0..length).map(word).collect::<Vec<u32>>());
    }
    batch
}

fn read_texts(file: &str) -> Result<Batch, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let numbers: Vec<u32> =
        bytes.chunks_exact(2).map(|two| u32::from(u16::from_le_bytes([two[0], two[1]]))).collect();
    let (mut batch, mut unread) = (Batch::new(), numbers.as_slice());
    while let [length, more @ ..] = unread {
        let (text, later) =
            more.split_at_checked(*length as usize).ok_or("the file of texts is cut off")?;
        batch.push(text);
        unread = later;
    }
    Ok(batch)
}

fn base() -> Config {
    Config { vocabulary: 30_522, ..config(Family::Bert, 12, 768, 12, 3072) }
}

/// All states of a run, text by text.
fn states(run: &ForwardPass, texts: usize) -> Vec<f32> {
    (0..texts).flat_map(|i| run.layer(LAYER).sequence(i)).copied().collect()
}

/// The median of some times in seconds.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// How far vectors are from others: the mean of one less the cosine, and the largest.
fn deviation(truth: &[f32], found: &[f32], width: usize) -> (f64, f64) {
    let product = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let pairs = truth.chunks_exact(width).zip(found.chunks_exact(width));
    let far: Vec<f64> =
        pairs.map(|(a, b)| 1.0 - product(a, b) / (product(a, a) * product(b, b)).sqrt()).collect();
    (far.iter().sum::<f64>() / far.len() as f64, far.iter().copied().fold(0.0, f64::max))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = arguments.first().map_or(Ok(10), |text| text.parse())?;
    let files = match &arguments[..] {
        [_, folder, texts, out] => Some((folder, texts, out)),
        _ => None,
    };
    let weights = match files {
        None => Some(Parameters::random(&base(), 1)),
        Some(_) => None,
    };
    let open = |precision: Precision| match (&weights, files) {
        (None, Some((folder, ..))) => Model::open(Path::new(folder), Device::Cuda(0), precision),
        (Some(weights), _) => Model::from_tensors(base(), weights, Device::Cuda(0), precision),
        (None, None) => unreachable!("there are weights without a folder"),
    };
    let batch = match files {
        Some((_, texts, _)) => read_texts(texts)?,
        None => texts(base().vocabulary),
    };
    let tokens = batch.ids().len();
    println!("{} texts, {tokens} tokens, layer {LAYER}", batch.len());
    let mut truth = Vec::new();
    for precision in [Precision::F32, Precision::F16, Precision::Bf16, Precision::Int8] {
        let start = Instant::now();
        let model = open(precision)?;
        let ready = start.elapsed().as_secs_f64();
        let time = |outputs: &Outputs| -> Result<f64, Box<dyn Error>> {
            let mut times = Vec::new();
            for round in 0..rounds + 2 {
                let start = Instant::now();
                model.run(&batch, outputs)?;
                // The first two rounds look for algorithms and take memory.
                if round >= 2 {
                    times.push(start.elapsed().as_secs_f64());
                }
            }
            Ok(median(times))
        };
        let all = time(&Outputs::new().layers([LAYER]))?;
        // Almost nothing travels back: this is the time of the forward pass.
        let forward = time(&Outputs::new().layers([]).pooled(Pooling::First))?;
        let run = model.run(&batch, &Outputs::new().layers([LAYER]))?;
        let found = states(&run, batch.len());
        let width = found.len() / tokens;
        if truth.is_empty() {
            truth.clone_from(&found);
        }
        let (mean, largest) = deviation(&truth, &found, width);
        println!(
            "{:5} {:10.0} tokens/s with all states of layer {LAYER}, {:8.2} ms; 12 layers and one \
             vector per text {:8.2} ms; ready after {ready:.1} s; 1 - cosine to f32: mean \
             {mean:.1e}, largest {largest:.1e}",
            precision.name(),
            tokens as f64 / all,
            1e3 * all,
            1e3 * forward,
        );
        if let Some((.., out)) = files {
            let bytes: Vec<u8> = found.iter().flat_map(|x| x.to_le_bytes()).collect();
            std::fs::write(format!("{out}-{}", precision.name()), bytes)?;
        }
    }
    Ok(())
}
