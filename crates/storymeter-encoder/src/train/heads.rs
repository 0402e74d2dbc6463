//! Losses on top of the last hidden states, each adding to the gradient of the states it looks at.

use super::backend::{Backend, LinearShape};

/// Rows whose logits over a whole vocabulary are in memory at one time.
const ROWS_AT_ONCE: usize = 1024;

/// A linear map on hidden states: its weights (a row an output) and their gradients, which are added to.
pub struct HeadTensors<'a, B: Backend> {
    /// Outputs x width of the hidden states.
    pub weight: &'a B::Buffer,
    /// One number an output.
    pub bias: &'a B::Buffer,
    /// Gradient of the weight.
    pub d_weight: &'a mut B::Buffer,
    /// Gradient of the bias.
    pub d_bias: &'a mut B::Buffer,
}

/// The last hidden states of a batch and the gradient of the loss with respect to them, rows of `width`.
pub struct States<'a, B: Backend> {
    /// The states.
    pub hidden: &'a B::Buffer,
    /// Their gradient, which is added to.
    pub d_hidden: &'a mut B::Buffer,
    /// Numbers of a state.
    pub width: usize,
}

/// Softmax cross-entropy over a vocabulary at selected rows: `sum of weights[i] * -log p(targets[i] | states[rows[i]])`.
///
/// Only the rows given are ever multiplied with the vocabulary, and about a thousand of them at a time.
///
/// # Panics
/// If `rows`, `targets` and `weights` differ in length.
pub fn token_loss<B: Backend>(
    backend: &B,
    states: &mut States<'_, B>,
    head: &mut HeadTensors<'_, B>,
    vocabulary: usize,
    rows: &[u32],
    targets: &[u32],
    weights: &[f32],
) -> f64 {
    assert!(rows.len() == targets.len() && rows.len() == weights.len(), "one target and weight a row");
    let mut loss = 0.0;
    for ((rows, targets), weights) in
        rows.chunks(ROWS_AT_ONCE).zip(targets.chunks(ROWS_AT_ONCE)).zip(weights.chunks(ROWS_AT_ONCE))
    {
        let shape = LinearShape { rows: rows.len(), inputs: states.width, outputs: vocabulary };
        loss += through_head(backend, states, head, shape, Selection::Rows(rows), |logits| {
            backend.cross_entropy(logits, targets, weights)
        });
    }
    loss
}

/// Sigmoid cross-entropy of one or more logits for each selected vector: the sum of
/// `weights[i] * -log p(labels[i])`, the labels of one vector side by side.
///
/// # Panics
/// If there are not as many weights as labels, or the labels are no multiple of the vectors.
pub fn label_loss<B: Backend>(
    backend: &B,
    states: &mut States<'_, B>,
    head: &mut HeadTensors<'_, B>,
    selection: Selection<'_>,
    labels: &[f32],
    weights: &[f32],
) -> f64 {
    let rows = selection.len();
    assert!(
        labels.len() == weights.len() && labels.len().is_multiple_of(rows.max(1)),
        "as many labels a vector"
    );
    let shape = LinearShape { rows, inputs: states.width, outputs: labels.len() / rows.max(1) };
    through_head(backend, states, head, shape, selection, |logits| {
        backend.binary_cross_entropy(logits, labels, weights)
    })
}

/// Which vectors a head looks at.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// These rows of the hidden states.
    Rows(&'a [u32]),
    /// The mean over each story's tokens; where each story begins, and where the last one ends.
    StoryMeans(&'a [usize]),
}

impl Selection<'_> {
    fn len(&self) -> usize {
        match self {
            Selection::Rows(rows) => rows.len(),
            Selection::StoryMeans(bounds) => bounds.len().saturating_sub(1),
        }
    }
}

/// Selected vectors through a linear map and a loss, and the gradient all the way back.
fn through_head<B: Backend>(
    backend: &B,
    states: &mut States<'_, B>,
    head: &mut HeadTensors<'_, B>,
    shape: LinearShape,
    selection: Selection<'_>,
    loss: impl FnOnce(&mut B::Buffer) -> f64,
) -> f64 {
    let selected = match selection {
        Selection::Rows(rows) => backend.gather(states.hidden, rows, states.width),
        Selection::StoryMeans(bounds) => backend.story_means(states.hidden, bounds, states.width),
    };
    let mut logits = backend.linear(&selected, head.weight, head.bias, shape);
    let loss = loss(&mut logits);
    let mut d_selected = backend.zeros(shape.rows * shape.inputs);
    let (d_weight, d_bias) = (&mut *head.d_weight, &mut *head.d_bias);
    backend.linear_backward(&selected, head.weight, shape, &logits, Some(&mut d_selected), d_weight, d_bias);
    match selection {
        Selection::Rows(rows) => backend.scatter(&d_selected, rows, states.d_hidden, states.width),
        Selection::StoryMeans(bounds) => {
            backend.story_means_backward(&d_selected, bounds, states.d_hidden, states.width);
        }
    }
    loss
}
