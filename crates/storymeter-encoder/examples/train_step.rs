//! Takes training steps on stories given as token ids. `benches/peers/encoder_train.py` times it
//! and compares it.
//!
//!     cargo run --release --features train --example train_step -- MODEL_FOLDER IDS.jsonl
//!
//! `IDS.jsonl` has one list of token ids per line. Every line on standard input asks for one step
//! over all stories, and the answer is its seconds and its loss. The loss has a label on the first
//! token (every second story is "human"), and every token as its own target over the vocabulary,
//! with weight 0.1 and tied to the word embeddings. The optimiser is AdamW at 1e-5, without
//! dropout.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::BufRead;
use std::path::Path;
use std::time::Instant;
use storymeter_encoder::train::{
    AdamW, Cpu, ForwardOptions, LabelLoss, Network, Optimiser, Selection,
};
use storymeter_encoder::{Batch, Config, Tensor, load_parameters};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, ids] = arguments.as_slice() else {
        return Err("usage: train_step MODEL_FOLDER IDS.jsonl".into());
    };
    let config = Config::load(Path::new(model))?;
    let parameters = load_parameters(Path::new(model), &config)?;
    let mut batch = Batch::new();
    for line in std::fs::read_to_string(ids)?.lines() {
        batch.push(&serde_json::from_str::<Vec<u32>>(line)?);
    }
    let (width, vocabulary) = (config.hidden, config.vocabulary);
    let zeros = |name: &str, shape: &[usize]| Tensor {
        name: name.into(),
        shape: shape.into(),
        data: vec![0.0; shape.iter().product()],
    };
    let heads =
        [zeros("head", &[1, width]), zeros("head_bias", &[1]), zeros("bias", &[vocabulary])];
    let mut network = Network::new(Cpu::default(), config, &parameters, &heads)?;
    let mut optimiser = Optimiser::new(AdamW::default());
    let firsts: Vec<u32> = (0..batch.len()).map(|i| batch.span(i).start as u32).collect();
    let labels: Vec<f32> = (0..batch.len()).map(|i| (i % 2) as f32).collect();
    let rows: Vec<u32> = (0..batch.ids().len() as u32).collect();
    println!("{} tokens", rows.len());
    for line in std::io::stdin().lock().lines() {
        line?;
        let start = Instant::now();
        network.clear_gradients();
        let trace = network.forward(&batch, ForwardOptions::default())?;
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
        network.token_loss(&mut states, tied, (&rows, batch.ids(), &each), 1);
        let d_hidden = states.into_gradient();
        network.backward(trace, d_hidden);
        optimiser.step(&mut network, 1e-5);
        let loss: f64 = network.take_losses()?.iter().sum();
        println!("{} {loss}", start.elapsed().as_secs_f64());
    }
    Ok(())
}
