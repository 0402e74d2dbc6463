//! Compares the encoder in eight bits with that of the CPU.

use super::config;
use std::sync::Arc;
use storymeter_encoder::cuda::{CudaEncoder, Vectors};
use storymeter_encoder::{
    Activation, Batch, Config, Device, Family, Isa, Model, Outputs, Parameters, Pooling, Precision,
    States, Stream,
};

/// A batch of stories of these lengths.
fn batch_of(lengths: &[usize], config: &Config, seed: u64) -> Batch {
    let stream = Stream::new(seed);
    let id = |story: usize, token: usize| stream.child(story as u64).bits(token as u64) as u32;
    let story = |(i, len): (usize, &usize)| -> Vec<u32> {
        (0..*len).map(|token| id(i, token) % config.vocabulary as u32).collect()
    };
    let mut batch = Batch::new();
    lengths.iter().enumerate().map(story).for_each(|ids| batch.push(&ids));
    batch
}

/// Weights whose biases, gains and matrices have the size of trained ones.
fn lively(config: &Config, seed: u64) -> Parameters {
    let mut parameters = Parameters::random(config, seed);
    for (i, tensor) in parameters.tensors.iter_mut().enumerate() {
        let stream = Stream::new(seed).child(1000 + i as u64);
        let more = if tensor.shape.len() > 1 { 0.05 } else { 0.2 };
        let each = tensor.data.iter_mut().enumerate();
        each.for_each(|(place, number)| *number += more * stream.normal(place as u64));
    }
    parameters
}

/// How many of these numbers differ in a bit, and where most; `None` if all are the same.
fn difference(truth: &[f32], found: &[f32], width: usize) -> Option<String> {
    if truth.len() != found.len() {
        return Some(format!("{} numbers, not {}", found.len(), truth.len()));
    }
    let pairs =
        || truth.iter().zip(found).enumerate().filter(|(_, (a, b))| a.to_bits() != b.to_bits());
    let far = |(place, (a, b)): (usize, (&f32, &f32))| (place, (a - b).abs());
    let (place, most) = pairs().map(far).max_by(|one, two| one.1.total_cmp(&two.1))?;
    let (row, column) = (place / width, place % width);
    let count = pairs().count();
    Some(format!(
        "{count} of {} differ, most at row {row}, column {column}: {most:.2e}",
        truth.len()
    ))
}

/// The mean of the states of a story, summed as the scorer does.
fn mean(states: &[f32], width: usize) -> Vec<f32> {
    let column = |at: usize| states[at..].iter().step_by(width).map(|x| f64::from(*x)).sum::<f64>();
    let rows = (states.len() / width) as f64;
    (0..width).map(|at| (column(at) / rows) as f32).collect()
}

/// In eight bits all sums are integers and everything else is rounded as on the CPU: not a bit may
/// differ, whatever the batch.
#[test]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn int8_on_the_gpu_gives_the_cpus_bytes() {
    let lengths: &[&[usize]] =
        &[&[1], &[2], &[33], &[1, 7, 31, 32, 64, 65, 5], &[512, 3, 129], &[20; 40]];
    let relu = Config { activation: Activation::Relu, ..config(Family::Bert, 2, 40, 1, 72) };
    let tanh = Config { activation: Activation::GeluTanh, ..config(Family::Bert, 1, 384, 4, 100) };
    let configs = [
        ("one layer", config(Family::Bert, 1, 96, 3, 192)),
        ("heads of 64, relative positions", config(Family::Mpnet, 2, 128, 2, 256)),
        ("heads of 8", config(Family::Bert, 2, 32, 4, 64)),
        ("a head of 40, ReLU", relu),
        ("heads of 96, GELU by tanh", tanh),
        ("a head of 128", config(Family::Mpnet, 1, 128, 1, 132)),
        ("MiniLM's widths", config(Family::Bert, 1, 384, 12, 1536)),
        ("MPNet's widths", config(Family::Mpnet, 1, 768, 12, 3072)),
    ];
    let mut failures = Vec::new();
    for (name, config) in &configs {
        let (weights, isa) = (lively(config, 7), Isa::detect());
        let encoder = Model::on_cpu(config.clone(), &weights, Precision::Int8, isa).unwrap();
        let encoder = Arc::new(encoder);
        let gpu = CudaEncoder::int8(0, Arc::clone(&encoder)).unwrap();
        let (device, precision) = (Device::Cuda(0), Precision::Int8);
        let model = Model::from_tensors(config.clone(), &weights, device, precision).unwrap();
        for (seed, lengths) in lengths.iter().enumerate() {
            let batch = batch_of(lengths, config, seed as u64);
            let run = encoder.run(&batch, &Outputs::new().layers([config.layers])).unwrap();
            let hidden = run.layer(config.layers);
            let width = hidden.width();
            let stories = || (0..batch.len()).map(|i| hidden.sequence(i));
            let expected: [(Vectors, &str, Vec<f32>); 3] = [
                (Vectors::States, "states", stories().flatten().copied().collect()),
                (
                    Vectors::Firsts,
                    "firsts",
                    stories().flat_map(|story| &story[..width]).copied().collect(),
                ),
                (Vectors::Means, "means", stories().flat_map(|story| mean(story, width)).collect()),
            ];
            let differs = expected.into_iter().find_map(|(kind, what, truth)| {
                let found = gpu.submit(batch.clone(), kind).unwrap().wait().unwrap();
                difference(&truth, &found, width).map(|how| format!("{what}: {how}"))
            });
            let all = Outputs::new().layers(0..=config.layers).pooled(Pooling::Mean);
            let (truth, found) =
                (encoder.run(&batch, &all).unwrap(), model.run(&batch, &all).unwrap());
            let layers = (0..=config.layers).find_map(|layer| {
                let (truth, found) = (truth.layer(layer), found.layer(layer));
                let states = |states: States<'_>| -> Vec<f32> {
                    (0..batch.len()).flat_map(|i| states.sequence(i)).copied().collect()
                };
                difference(&states(truth), &states(found), width)
                    .map(|how| format!("layer {layer} of a model: {how}"))
            });
            let differs = differs.or(layers);
            let mark = if differs.is_none() { "ok  " } else { "FAIL" };
            let how =
                differs.as_deref().unwrap_or("states, firsts, means and layers are the CPU's");
            let line =
                format!("{mark} int8 {name}, {} stories of {lengths:?}: {how}", lengths.len());
            println!("{line}");
            if differs.is_some() {
                failures.push(line);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
