//! The loss of a language model, on any device.

use storymeter_encoder::Batch;
use storymeter_encoder::train::{Backend, ForwardOptions, Network};

/// The mean over all tokens but the first of each sequence. Gradients are added.
pub fn learn<B: Backend>(
    network: &mut Network<B>,
    sequences: &[Vec<u32>],
    options: ForwardOptions,
) -> f64 {
    let batch: Batch = sequences.iter().map(Vec::as_slice).collect();
    let rows: Vec<u32> = (0..batch.len())
        .flat_map(|i| batch.span(i))
        .map(|row| row as u32)
        .filter(|row| !batch.bounds().contains(&(*row as usize + 1)))
        .collect();
    let targets: Vec<u32> = rows.iter().map(|row| batch.ids()[*row as usize + 1]).collect();
    let weights = vec![1.0 / rows.len() as f32; rows.len()];
    let trace = network.forward(&batch, options).unwrap();
    let (mut states, head) = (network.states(&trace), network.next_token_head());
    network.token_loss(&mut states, head, (&rows, &targets, &weights), 0);
    let d_hidden = states.into_gradient();
    network.backward(trace, d_hidden);
    network.take_losses().unwrap()[0]
}
