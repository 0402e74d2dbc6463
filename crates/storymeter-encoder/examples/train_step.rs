//! Takes training steps on stories given as token ids: what `benches/peers/encoder_train.py` times and compares.
//!
//!     cargo run --release --example train_step -- MODEL_FOLDER IDS.jsonl
//!
//! `IDS.jsonl` has one list of token ids a line. Every line on standard input is one step over all stories, answered by
//! its seconds and its loss: a label on the first token (every second story is "human"), and every token as its own
//! target over the vocabulary with weight 0.1, tied to the word embeddings; AdamW at 1e-5; no dropout.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::BufRead;
use std::path::Path;
use std::time::Instant;
use storymeter_encoder::train::{
    AdamW, Backend, Cpu, ForwardOptions, HeadTensors, Network, Optimiser, Selection, States, label_loss,
    token_loss,
};
use storymeter_encoder::{Batch, Config, load_parameters};

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
    let (cpu, width, vocabulary) = (Cpu::default(), config.hidden, config.vocabulary);
    let mut network = Network::new(cpu, config, &parameters);
    let mut optimiser = Optimiser::new(AdamW::default());
    let mut weights = [vec![0.0; width], vec![0.0], vec![0.0; vocabulary]];
    let mut gradients = weights.each_ref().map(|w| vec![0.0; w.len()]);
    let firsts: Vec<u32> = (0..batch.len()).map(|i| batch.span(i).start as u32).collect();
    let labels: Vec<f32> = (0..batch.len()).map(|i| (i % 2) as f32).collect();
    let rows: Vec<u32> = (0..batch.ids().len() as u32).collect();
    println!("{} tokens", rows.len());
    for line in std::io::stdin().lock().lines() {
        line?;
        let start = Instant::now();
        network.clear_gradients();
        gradients.iter_mut().for_each(|g| g.fill(0.0));
        let trace = network.forward(&batch, ForwardOptions { dropout: None, recompute: false });
        let mut d_hidden = cpu.zeros(rows.len() * width);
        let mut states = States { hidden: trace.hidden(), d_hidden: &mut d_hidden, width };
        let ([head, head_bias, bias], [d_head, d_head_bias, d_bias]) = (&weights, &mut gradients);
        let mut label = HeadTensors { weight: head, bias: head_bias, d_weight: d_head, d_bias: d_head_bias };
        let each = vec![1.0 / labels.len() as f32; labels.len()];
        let mut loss = label_loss(&cpu, &mut states, &mut label, Selection::Rows(&firsts), &labels, &each);
        let (_, words, d_words) = network.words();
        let mut token = HeadTensors { weight: words, bias, d_weight: d_words, d_bias };
        let each = vec![0.1 / rows.len() as f32; rows.len()];
        loss += token_loss(&cpu, &mut states, &mut token, vocabulary, &rows, batch.ids(), &each);
        network.backward(trace, d_hidden);
        let heads = weights.iter_mut().zip(&gradients).zip([true, false, false]);
        let tensors = network.tensors().chain(heads.map(|((w, g), decays)| (w, g, decays)));
        optimiser.step(&cpu, 1e-5, tensors);
        println!("{} {loss}", start.elapsed().as_secs_f64());
    }
    Ok(())
}
