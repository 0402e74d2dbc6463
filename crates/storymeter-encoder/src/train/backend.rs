//! The operations training is made of: what a device must offer so that the network, written once, runs on it.

use crate::kernel::Activation;
use crate::random::Stream;

/// Rows and columns of a linear map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinearShape {
    /// Rows of the input and of the output.
    pub rows: usize,
    /// Columns of the input.
    pub inputs: usize,
    /// Columns of the output.
    pub outputs: usize,
}

/// Where packed tokens are and how attention looks at them.
#[derive(Clone, Copy, Debug)]
pub struct AttentionShape<'a> {
    /// Where each story begins, and where the last one ends.
    pub bounds: &'a [usize],
    /// Attention heads.
    pub heads: usize,
    /// Columns of queries, keys and values: all heads side by side.
    pub width: usize,
    /// The longest story the model takes.
    pub longest: usize,
    /// Dropout of the attention probabilities.
    pub dropout: Dropout,
}

/// Dropout: each number is kept with probability `1 - rate` and then divided by it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Dropout {
    /// The part that is dropped; 0 is no dropout.
    pub rate: f32,
    /// Decides, by the number's place, which are dropped. The backward pass draws the same again.
    pub stream: Stream,
}

impl Dropout {
    /// No dropout.
    pub fn none() -> Dropout {
        Dropout { rate: 0.0, stream: Stream::new(0) }
    }

    /// What number `place` is multiplied with.
    #[inline(always)]
    pub(crate) fn factor(&self, place: u64) -> f32 {
        if self.stream.uniform(place) < self.rate { 0.0 } else { 1.0 / (1.0 - self.rate) }
    }
}

/// One step of AdamW (Loshchilov and Hutter 2019) on one tensor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdamStep {
    /// Learning rate of this step.
    pub rate: f32,
    /// Decay of the mean of gradients.
    pub beta1: f32,
    /// Decay of the mean of squared gradients.
    pub beta2: f32,
    /// Added to the root of the mean of squares.
    pub eps: f32,
    /// Decoupled weight decay; 0 for biases and layer norms.
    pub decay: f32,
    /// `1 - beta1^t`, or 1 without bias correction.
    pub correction1: f32,
    /// `1 - beta2^t`, or 1 without bias correction.
    pub correction2: f32,
    /// Every gradient is multiplied with this first: clipping by the global norm.
    pub clip: f32,
}

/// A device that can train: buffers of numbers, and the operations forward and backward.
///
/// Matrices are row-major. An argument named `d_x` is the gradient of the loss with respect to `x`; gradients of
/// weights are added to what is there, so that several uses of one weight, and several batches, sum up.
pub trait Backend {
    /// Numbers in the device's memory.
    type Buffer;

    /// Numbers from the host.
    fn upload(&self, numbers: &[f32]) -> Self::Buffer;
    /// Numbers to the host.
    fn download(&self, buffer: &Self::Buffer) -> Vec<f32>;
    /// Zeros.
    fn zeros(&self, len: usize) -> Self::Buffer;
    /// Sets all numbers to zero.
    fn clear(&self, buffer: &mut Self::Buffer);
    /// A copy.
    fn copy(&self, from: &Self::Buffer) -> Self::Buffer;
    /// `to += what`.
    fn add(&self, to: &mut Self::Buffer, what: &Self::Buffer);

    /// `out[i] = words[ids[i]] + positions[places[i]] + segments[0]`, rows of `width`.
    fn embed(
        &self,
        ids: &[u32],
        places: &[u32],
        tables: (&Self::Buffer, &Self::Buffer, Option<&Self::Buffer>),
        width: usize,
    ) -> Self::Buffer;
    /// Adds `d_out` to the rows of the tables' gradients it came from.
    fn embed_backward(
        &self,
        ids: &[u32],
        places: &[u32],
        d_out: &Self::Buffer,
        d_tables: (&mut Self::Buffer, &mut Self::Buffer, Option<&mut Self::Buffer>),
        width: usize,
    );

    /// Layer norm of every row: `(x - mean) / sqrt(variance + eps) * gain + shift`.
    fn norm(&self, x: &Self::Buffer, gain: &Self::Buffer, shift: &Self::Buffer, eps: f32) -> Self::Buffer;
    /// The gradient of `x`; those of gain and shift are added.
    fn norm_backward(
        &self,
        x: &Self::Buffer,
        gain: &Self::Buffer,
        eps: f32,
        d_out: &Self::Buffer,
        d_gain: &mut Self::Buffer,
        d_shift: &mut Self::Buffer,
    ) -> Self::Buffer;

    /// `x * weight^T + bias`; `weight` has a row an output.
    fn linear(
        &self,
        x: &Self::Buffer,
        weight: &Self::Buffer,
        bias: &Self::Buffer,
        shape: LinearShape,
    ) -> Self::Buffer;
    /// Adds the gradients of `x` (unless `None`), `weight` and `bias`.
    #[allow(clippy::too_many_arguments)]
    fn linear_backward(
        &self,
        x: &Self::Buffer,
        weight: &Self::Buffer,
        shape: LinearShape,
        d_out: &Self::Buffer,
        d_x: Option<&mut Self::Buffer>,
        d_weight: &mut Self::Buffer,
        d_bias: &mut Self::Buffer,
    );

    /// The activation of every number.
    fn activate(&self, x: &Self::Buffer, activation: Activation) -> Self::Buffer;
    /// `d_out` times the derivative at `x`, in place.
    fn activate_backward(&self, x: &Self::Buffer, activation: Activation, d_out: &mut Self::Buffer);

    /// Attention within each story; `relative` is a table of buckets x heads.
    fn attention(
        &self,
        query: &Self::Buffer,
        key: &Self::Buffer,
        value: &Self::Buffer,
        relative: Option<&Self::Buffer>,
        shape: AttentionShape<'_>,
    ) -> Self::Buffer;
    /// The gradients of query, key and value; that of the table is added.
    #[allow(clippy::too_many_arguments)]
    fn attention_backward(
        &self,
        query: &Self::Buffer,
        key: &Self::Buffer,
        value: &Self::Buffer,
        relative: Option<(&Self::Buffer, &mut Self::Buffer)>,
        shape: AttentionShape<'_>,
        d_out: &Self::Buffer,
    ) -> [Self::Buffer; 3];

    /// Drops numbers in place. The backward pass is the same operation on the gradient.
    fn dropout(&self, x: &mut Self::Buffer, dropout: Dropout);

    /// The rows `rows` of `x`.
    fn gather(&self, x: &Self::Buffer, rows: &[u32], width: usize) -> Self::Buffer;
    /// Adds the rows of `what` to the rows `rows` of `to`.
    fn scatter(&self, what: &Self::Buffer, rows: &[u32], to: &mut Self::Buffer, width: usize);

    /// The mean of each story's rows; `bounds` says where each begins, and where the last one ends.
    fn story_means(&self, x: &Self::Buffer, bounds: &[usize], width: usize) -> Self::Buffer;
    /// Adds the gradient of the means to that of the rows.
    fn story_means_backward(
        &self,
        d_means: &Self::Buffer,
        bounds: &[usize],
        d_x: &mut Self::Buffer,
        width: usize,
    );

    /// The sum over rows of `weights[r] * -log softmax(logits[r])[targets[r]]`; `logits` become their gradient.
    fn cross_entropy(&self, logits: &mut Self::Buffer, targets: &[u32], weights: &[f32]) -> f64;
    /// The sum of `weights[i] * -log` probability of label `labels[i]` under a sigmoid; `logits` become their gradient.
    fn binary_cross_entropy(&self, logits: &mut Self::Buffer, labels: &[f32], weights: &[f32]) -> f64;

    /// The sum of squares.
    fn square_sum(&self, x: &Self::Buffer) -> f64;
    /// One step of AdamW; `mean` and `square` are the optimiser's state.
    fn adam(
        &self,
        weights: &mut Self::Buffer,
        gradient: &Self::Buffer,
        mean: &mut Self::Buffer,
        square: &mut Self::Buffer,
        step: AdamStep,
    );
}
