//! The loss that PyTorch's fixtures were made with, on any device.

use storymeter_encoder::train::{Backend, ForwardOptions, LabelLoss, Network, Selection};
use storymeter_encoder::{Batch, Tensor};

/// The tensors of the heads: weight and bias of the label, bias of the vocabulary.
pub fn head_tensors(hidden: usize, vocabulary: usize, head: Vec<f32>) -> [Tensor; 3] {
    let tensor =
        |name: &str, shape: &[usize], data| Tensor { name: name.into(), shape: shape.into(), data };
    [
        tensor("head", &[1, hidden], head),
        tensor("head_bias", &[1], vec![0.0]),
        tensor("bias", &[vocabulary], vec![0.0; vocabulary]),
    ]
}

/// The loss of tools/encoder_fixtures.py: a label on the first token, and at every second token the
/// token before it. Gradients are added.
pub fn learn<B: Backend>(
    network: &mut Network<B>,
    stories: &[&[u32]],
    labels: &[f32],
    options: ForwardOptions,
) -> f64 {
    let batch: Batch = stories.iter().copied().collect();
    let trace = network.forward(&batch, options).unwrap();
    let firsts: Vec<u32> = (0..batch.len()).map(|i| batch.span(i).start as u32).collect();
    let rows: Vec<u32> = (0..batch.len())
        .flat_map(|i| batch.span(i).skip(1).step_by(2).map(|row| row as u32))
        .collect();
    let targets: Vec<u32> = rows.iter().map(|&row| batch.ids()[row as usize - 1]).collect();
    let mut states = network.states(&trace);
    let each = vec![1.0 / labels.len() as f32; labels.len()];
    let (head, tied) = (network.head(0, 1), network.tied_head(2));
    network.label_loss(
        &mut states,
        head,
        Selection::Rows(&firsts),
        (labels, &each),
        LabelLoss::CrossEntropy,
        0,
    );
    let each = vec![0.1 / rows.len() as f32; rows.len()];
    network.token_loss(&mut states, tied, (&rows, &targets, &each), 1);
    let d_hidden = states.into_gradient();
    network.backward(trace, d_hidden);
    network.take_losses().unwrap().iter().sum()
}
