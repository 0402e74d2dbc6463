//! Times training and scoring on a GPU: random weights in the shapes of MiniLM-L6 and MPNet-base,
//! packed stories, reconstruction at every second token, AdamW. Training is in bf16, scoring in
//! f16.
//!
//!     cargo run --release --features cuda --example cuda_bench -- [STEPS] [TOKENS,...] [STORIES]
//!
//! STORIES is a file of tokenised stories as 16-bit little-endian numbers: for each story the
//! number of its tokens, then the tokens. Without it, stories of 40 to 75 tokens are made up.
//!
//! Whole steps are timed first. Then each operation is timed by events: their sum is how long the
//! GPU was busy, and for the rest of a step it was idle. `benches/peers/cuda_train.py` does the
//! same in PyTorch.
#![allow(clippy::print_stdout)]

#[path = "../tests/support/shape.rs"]
mod shape;

use half::{bf16, f16};
use shape::config;
use std::collections::VecDeque;
use std::error::Error;
use std::time::Instant;
use storymeter_encoder::cuda::{Cuda, CudaEncoder, Vectors};
use storymeter_encoder::train::{
    AdamW, Backend, ForwardOptions, Given, LabelLoss, Linear, Network, Optimiser, Selection,
};
use storymeter_encoder::{Batch, Config, Family, Parameters, Stream, Tensor};

/// The number of batches that are used in turn, so that no step has the same number of rows as the
/// one before.
const BATCHES: u64 = 8;

/// The shapes of MiniLM-L6 and MPNet-base.
fn shapes() -> [(&'static str, Config); 2] {
    [
        ("minilm-l6", Config { vocabulary: 30_522, ..config(Family::Bert, 6, 384, 12, 1536) }),
        ("mpnet-base", Config { vocabulary: 30_527, ..config(Family::Mpnet, 12, 768, 12, 3072) }),
    ]
}

/// Batches of real stories, one after the other. After the last story the first one follows again.
fn real_batches(file: &str, tokens: usize) -> Result<Vec<Batch>, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    let numbers: Vec<u32> =
        bytes.chunks_exact(2).map(|two| u32::from(u16::from_le_bytes([two[0], two[1]]))).collect();
    let mut stories: Vec<&[u32]> = Vec::new();
    let mut unread = numbers.as_slice();
    while let [length, more @ ..] = unread {
        let (story, later) =
            more.split_at_checked(*length as usize).ok_or("the file of stories is cut off")?;
        stories.push(story);
        unread = later;
    }
    let mut turn = stories.iter().cycle().peekable();
    let mut batches = Vec::new();
    for _ in 0..BATCHES {
        let mut batch = Batch::new();
        while let Some(story) = turn.next_if(|story| batch.ids().len() + story.len() <= tokens) {
            batch.push(story);
        }
        batches.push(batch);
    }
    Ok(batches)
}

/// Made-up stories of 40 to 75 tokens, with at most `tokens` tokens in all.
fn batch(seed: u64, tokens: usize, vocabulary: usize) -> Batch {
    let (lengths, words) = (Stream::new(seed).child(0), Stream::new(seed).child(1));
    let mut batch = Batch::new();
    for story in 0.. {
        let length = 40 + (lengths.bits(story) % 36) as usize;
        if batch.ids().len() + length > tokens {
            break;
        }
        let first = batch.ids().len() as u64;
        // Roughly Zipf's law: a few words are everywhere.
        let word = |i: u64| {
            let share = f64::from(words.uniform(first + i)).mul_add(0.999, 0.0005);
            ((vocabulary as f64).powf(share) as u32).min(vocabulary as u32 - 1)
        };
        batch.push(&(0..length as u64).map(word).collect::<Vec<u32>>());
    }
    batch
}

fn learn(
    network: &mut Network<Cuda<bf16>>,
    batch: &Batch,
    step: u64,
) -> Result<(), storymeter_encoder::Error> {
    let options = ForwardOptions { dropout: Some(Stream::new(step)), ..ForwardOptions::default() };
    let trace = network.forward(batch, options)?;
    let firsts: Vec<u32> = (0..batch.len()).map(|i| batch.span(i).start as u32).collect();
    let labels: Vec<f32> = (0..batch.len()).map(|i| (i % 2) as f32).collect();
    let rows: Vec<u32> = (0..batch.ids().len() as u32).filter(|row| row % 2 == 1).collect();
    let targets: Vec<u32> = rows.iter().map(|row| batch.ids()[*row as usize - 1]).collect();
    let mut states = network.states(&trace);
    let (head, tied) = (network.head(0, 1), network.tied_head(2));
    let each = vec![1.0 / labels.len() as f32; labels.len()];
    network.label_loss(
        &mut states,
        head,
        Selection::Rows(&firsts),
        (&labels, &each),
        LabelLoss::CrossEntropy,
        0,
    );
    let each = vec![0.1 / rows.len() as f32; rows.len()];
    network.token_loss(&mut states, tied, (&rows, &targets, &each), 1);
    let d_hidden = states.into_gradient();
    network.backward(trace, d_hidden);
    Ok(())
}

/// The floating-point operations of the matrix products of a training step: the encoder, and
/// reconstruction at half of the tokens.
fn operations(config: &Config, tokens: usize) -> f64 {
    let (h, i) = (config.hidden as f64, config.intermediate as f64);
    let encoder = config.layers as f64 * (4.0 * h * h + 2.0 * h * i);
    6.0 * tokens as f64 * (encoder + 0.5 * h * config.vocabulary as f64)
}

/// How many operations per second a large bf16 product reaches.
fn peak(cuda: &Cuda<bf16>) -> Result<f64, Box<dyn Error>> {
    let n = 8192;
    let random = |seed| -> Vec<f32> {
        let period: Vec<f32> = (0..65_521).map(|i| 0.02 * Stream::new(seed).normal(i)).collect();
        period.iter().copied().cycle().take(n * n).collect()
    };
    let (weight, bias) = (random(1), vec![0.0; n]);
    let given = [Given { data: &weight, decays: false }, Given { data: &bias, decays: false }];
    let store = cuda.store(&given, &[0, 1])?;
    let x = cuda.upload(&random(2));
    let map = Linear { weight: 0, bias: Some(1), inputs: n, outputs: n };
    let time = |count: usize| -> Result<f64, Box<dyn Error>> {
        let start = Instant::now();
        (0..count).for_each(|_| drop(cuda.linear(&store, map, &x, n)));
        cuda.wait()?;
        Ok(start.elapsed().as_secs_f64() / count as f64)
    };
    time(5)?;
    Ok(2.0 * (n as f64).powi(3) / time(20)?)
}

/// What some steps took: seconds in all, tokens, mean losses, and the seconds that the host spent
/// on handing out work (it waits if it is too far ahead).
struct Timing {
    seconds: f64,
    read: usize,
    losses: [f64; 8],
    host: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let steps: usize = arguments.first().map_or(Ok(30), |text| text.parse())?;
    let tokens = arguments.get(1).map_or("4096,16384,32768", String::as_str);
    let tokens = tokens.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    let start = Instant::now();
    let cuda = Cuda::<bf16>::open(0)?;
    println!("{}, ready after {:.1} s", cuda.name(), start.elapsed().as_secs_f64());
    let peak = peak(&cuda)?;
    println!("bf16 product of 8192: {:.0} TFLOP/s", peak / 1e12);
    drop(cuda);
    for (name, config) in shapes() {
        let parameters = Parameters::random(&config, 1);
        let zeros = |name: &str, shape: &[usize]| Tensor {
            name: name.into(),
            shape: shape.into(),
            data: vec![0.0; shape.iter().product()],
        };
        let heads = [
            zeros("head", &[1, config.hidden]),
            zeros("head_bias", &[1]),
            zeros("bias", &[config.vocabulary]),
        ];
        for &tokens in &tokens {
            let mut network =
                Network::new(Cuda::<bf16>::open(0)?, config.clone(), &parameters, &heads)?;
            let mut optimiser = Optimiser::new(AdamW::default());
            let batches = match arguments.get(2) {
                Some(file) => real_batches(file, tokens)?,
                None => (0..BATCHES).map(|seed| batch(seed, tokens, config.vocabulary)).collect(),
            };
            let mut step = 0;
            let mut train = |count: usize| -> Result<Timing, Box<dyn Error>> {
                let (start, mut read, mut host) = (Instant::now(), 0, 0.0);
                for _ in 0..count {
                    let batch = &batches[step % batches.len()];
                    let begin = Instant::now();
                    network.clear_gradients();
                    learn(&mut network, batch, step as u64)?;
                    optimiser.step(&mut network, 1e-4);
                    host += begin.elapsed().as_secs_f64();
                    read += batch.ids().len();
                    step += 1;
                }
                let losses = network.take_losses()?;
                Ok(Timing {
                    seconds: start.elapsed().as_secs_f64(),
                    read,
                    losses: losses.map(|x| x / count as f64),
                    host,
                })
            };
            train(2 * batches.len())?;
            let Timing { seconds, read, losses, host } = train(steps)?;
            let share = operations(&config, read) / seconds / peak;
            network.backend().start_profile();
            // The closure borrows the network, so that the profiled steps are written out here.
            for (step, batch) in batches.iter().enumerate() {
                network.clear_gradients();
                learn(&mut network, batch, step as u64)?;
                optimiser.step(&mut network, 1e-4);
            }
            let profile = network.backend().end_profile();
            let busy = profile.iter().map(|(_, time, _)| time).sum::<f64>() / batches.len() as f64;
            let each = 1e3 * seconds / steps as f64;
            println!(
                "{name} {tokens:6} training: {:10.0} tokens/s, {each:6.2} ms per step (host {:.2}), \
                 {:4.1}% of the peak, GPU idle {:.1}%, losses {:.3} {:.3}",
                read as f64 / seconds,
                1e3 * host / steps as f64,
                100.0 * share,
                100.0 * (1.0 - busy / each).max(0.0),
                losses[0],
                losses[1],
            );
            print_profile(&profile, batches.len());
            drop(network);
            let encoder = CudaEncoder::new::<f16>(0, config.clone(), parameters.clone())?;
            let score = |count: usize| -> Result<(f64, usize), Box<dyn Error>> {
                let (start, mut read, mut pending) = (Instant::now(), 0, VecDeque::new());
                for step in 0..count {
                    let batch = &batches[step % batches.len()];
                    read += batch.ids().len();
                    pending.push_back(encoder.submit(batch.clone(), Vectors::Means)?);
                    if pending.len() > 3 {
                        pending.pop_front().map_or(Ok(Vec::new()), |vectors| vectors.wait())?;
                    }
                }
                for vectors in pending {
                    vectors.wait()?;
                }
                Ok((start.elapsed().as_secs_f64(), read))
            };
            score(2 * batches.len())?;
            let (seconds, read) = score(steps)?;
            println!(
                "{name} {tokens:6} scoring:  {:10.0} tokens/s, {:6.2} ms per batch",
                read as f64 / seconds,
                1e3 * seconds / steps as f64
            );
        }
    }
    Ok(())
}

/// The operations that take longest.
fn print_profile(profile: &[(&str, f64, usize)], steps: usize) {
    let steps = steps as f64;
    for (name, milliseconds, calls) in profile.iter().take(14) {
        println!(
            "    {:8.3} ms {:6.1} calls a step  {name}",
            milliseconds / steps,
            *calls as f64 / steps
        );
    }
}
