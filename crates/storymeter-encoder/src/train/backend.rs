//! The operations training is made of: what a device must offer so that the network, written once, runs on it.
//!
//! They are as coarse as a device needs to be fast: what belongs together is one operation, nothing goes back to the host
//! but what is asked for, and weights, gradients and the optimiser's means live in one [`Backend::Store`].

use crate::Result;
use crate::grid::Rounded;
use crate::kernel::Activation;
use crate::random::Stream;

/// Loss sums a store keeps.
pub const LOSSES: usize = 8;

/// A linear map: which tensors of a store, how wide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Linear {
    /// The tensor with a row of `inputs` numbers an output.
    pub weight: usize,
    /// The tensor with one number an output.
    pub bias: usize,
    /// Columns of the input.
    pub inputs: usize,
    /// Columns of the output.
    pub outputs: usize,
}

/// A layer norm: `(x - mean) / sqrt(variance + eps) * gain + shift`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Norm {
    /// The tensor each normalised column is multiplied with.
    pub gain: usize,
    /// The tensor added then.
    pub shift: usize,
    /// Columns.
    pub width: usize,
    /// Added to the variance.
    pub eps: f32,
}

/// The tables a token's first vector is the sum of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tables {
    /// One row a word of the vocabulary.
    pub words: usize,
    /// One row a position.
    pub positions: usize,
    /// One row a segment; always the first is added.
    pub segments: Option<usize>,
}

/// How attention looks at packed tokens.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Attention {
    /// Attention heads.
    pub heads: usize,
    /// Columns of queries, keys and values: all heads side by side.
    pub width: usize,
    /// The longest story the model takes.
    pub longest: usize,
    /// The table of buckets x heads of a relative position bias.
    pub relative: Option<usize>,
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

/// One step of AdamW (Loshchilov and Hutter 2019) on all tensors of a store.
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
    /// Decoupled weight decay, of the tensors that decay.
    pub decay: f32,
    /// `1 - beta1^t`, or 1 without bias correction.
    pub correction1: f32,
    /// `1 - beta2^t`, or 1 without bias correction.
    pub correction2: f32,
    /// Gradients with a larger global norm are scaled down to it.
    pub clip: f32,
}

/// A tensor a store starts with.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// Its numbers.
    pub data: &'a [f32],
    /// Whether weight decay applies: not to biases and layer norms.
    pub decays: bool,
}

/// What a store has of each tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The weights.
    Weights,
    /// The gradients summed up since they were last cleared.
    Gradients,
    /// AdamW's mean of the gradient.
    Means,
    /// AdamW's mean of the squared gradient.
    Squares,
}

/// A device that can train.
///
/// Matrices are row-major. An argument named `d_x` is the gradient of the loss with respect to `x`; gradients of
/// weights are added to what the store has, so that several uses of one weight, and several batches, sum up.
///
/// A device may work behind the caller's back: an operation that returns no [`Result`] and fails makes the next one
/// that returns one fail.
pub trait Backend {
    /// Activations and their gradients in the device's memory, in the precision the device trains in.
    type Numbers;
    /// Numbers in full precision: labels, weights of losses.
    type Floats;
    /// Whole numbers: the targets of a loss.
    type Indices;
    /// Rows of a table to be looked up, in a form in which gradients can be added to the rows without a race.
    type Lookups;
    /// Where packed stories begin and end.
    type Stories;
    /// Queries, keys and values.
    type Projected;
    /// What attention keeps of its softmax for the backward pass.
    type Softmax;
    /// Weights, gradients, the optimiser's means, sums of losses.
    type Store;

    /// Activations from the host.
    fn upload(&self, numbers: &[f32]) -> Self::Numbers;
    /// Activations to the host.
    fn download(&self, numbers: &Self::Numbers) -> Result<Vec<f32>>;
    /// Activations that are zero.
    fn zeros(&self, len: usize) -> Self::Numbers;
    /// Full-precision numbers from the host.
    fn floats(&self, numbers: &[f32]) -> Self::Floats;
    /// Whole numbers from the host.
    fn indices(&self, numbers: &[u32]) -> Self::Indices;
    /// Rows to be looked up, from the host.
    fn lookups(&self, rows: &[u32]) -> Self::Lookups;
    /// Where each story begins, and where the last one ends.
    fn stories(&self, bounds: &[usize]) -> Self::Stories;

    /// Takes tensors to the device. `order` names each once: tensors that follow each other in it also do so in memory,
    /// where the device keeps them together.
    fn store(&self, tensors: &[Given<'_>], order: &[usize]) -> Result<Self::Store>;
    /// A tensor's numbers.
    fn read(&self, store: &Self::Store, part: Part, tensor: usize) -> Result<Vec<f32>>;
    /// Replaces a tensor's numbers; there must be as many.
    fn write(
        &self,
        store: &mut Self::Store,
        part: Part,
        tensor: usize,
        numbers: &[f32],
    ) -> Result<()>;
    /// Rounds weights to a grid ([`crate::Grid`]) until [`Backend::restore`].
    fn round(&self, store: &mut Self::Store, rounded: &[Rounded]);
    /// Brings back the weights as they were before [`Backend::round`].
    fn restore(&self, store: &mut Self::Store);
    /// Sets all gradients to zero.
    fn clear_gradients(&self, store: &mut Self::Store);
    /// One step of AdamW on all tensors, gradients clipped by their global norm.
    fn step(&self, store: &mut Self::Store, step: AdamStep);
    /// The gradients' global norm at the last step, before clipping.
    fn gradient_norm(&self, store: &Self::Store) -> Result<f64>;
    /// The sums of losses since they were last taken.
    fn take_losses(&self, store: &mut Self::Store) -> Result<[f64; LOSSES]>;

    /// The sum of the tables' rows, and that sum through layer norm and dropout.
    fn embed(
        &self,
        store: &Self::Store,
        tables: Tables,
        norm: Norm,
        ids: &Self::Lookups,
        places: &Self::Lookups,
        dropout: Dropout,
    ) -> [Self::Numbers; 2];
    /// Adds the gradients of the tables and of the norm, given the sum and the gradient of what came out.
    #[allow(clippy::too_many_arguments)]
    fn embed_backward(
        &self,
        store: &mut Self::Store,
        tables: Tables,
        norm: Norm,
        ids: &Self::Lookups,
        places: &Self::Lookups,
        sum: &Self::Numbers,
        d_out: Self::Numbers,
        dropout: Dropout,
    );

    /// `branch` through dropout plus `residual`, and that sum through layer norm.
    fn add_norm(
        &self,
        store: &Self::Store,
        norm: Norm,
        branch: Self::Numbers,
        residual: &Self::Numbers,
        dropout: Dropout,
    ) -> [Self::Numbers; 2];
    /// The gradients of `residual` and `branch`, given the sum and the gradient of what came out.
    fn add_norm_backward(
        &self,
        store: &mut Self::Store,
        norm: Norm,
        sum: &Self::Numbers,
        d_out: &Self::Numbers,
        dropout: Dropout,
    ) -> [Self::Numbers; 2];

    /// `x * weight^T + bias` of `rows` rows.
    fn linear(
        &self,
        store: &Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
    ) -> Self::Numbers;
    /// The gradient of `x`.
    fn linear_backward(
        &self,
        store: &mut Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
        d_out: &Self::Numbers,
    ) -> Self::Numbers;
    /// The linear map, and the activation of what it gives.
    fn linear_activate(
        &self,
        store: &Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
        activation: Activation,
    ) -> [Self::Numbers; 2];
    /// Adds the gradient of `x`, given what the linear map gave before the activation.
    #[allow(clippy::too_many_arguments)]
    fn linear_activate_backward(
        &self,
        store: &mut Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
        before: &Self::Numbers,
        activation: Activation,
        d_out: Self::Numbers,
        d_x: &mut Self::Numbers,
    );

    /// Queries, keys and values of `rows` rows. In memory the three weights follow each other, and so do the biases.
    fn project(
        &self,
        store: &Self::Store,
        maps: [Linear; 3],
        x: &Self::Numbers,
        rows: usize,
    ) -> Self::Projected;
    /// Adds the gradient of `x`.
    fn project_backward(
        &self,
        store: &mut Self::Store,
        maps: [Linear; 3],
        x: &Self::Numbers,
        rows: usize,
        d: Self::Projected,
        d_x: &mut Self::Numbers,
    );
    /// Attention within each story.
    fn attention(
        &self,
        store: &Self::Store,
        attention: Attention,
        stories: &Self::Stories,
        projected: &Self::Projected,
    ) -> (Self::Numbers, Self::Softmax);
    /// The gradients of queries, keys and values, given what came out and its gradient.
    #[allow(clippy::too_many_arguments)]
    fn attention_backward(
        &self,
        store: &mut Self::Store,
        attention: Attention,
        stories: &Self::Stories,
        projected: &Self::Projected,
        softmax: &Self::Softmax,
        out: &Self::Numbers,
        d_out: &Self::Numbers,
    ) -> Self::Projected;

    /// Rows of `x`.
    fn gather(&self, x: &Self::Numbers, rows: &Self::Lookups, width: usize) -> Self::Numbers;
    /// Adds the rows of `what` to rows of `to`.
    fn scatter(
        &self,
        what: &Self::Numbers,
        rows: &Self::Lookups,
        to: &mut Self::Numbers,
        width: usize,
    );
    /// The mean of each story's rows.
    fn story_means(
        &self,
        x: &Self::Numbers,
        stories: &Self::Stories,
        width: usize,
    ) -> Self::Numbers;
    /// Adds the gradient of the means to that of the rows.
    fn story_means_backward(
        &self,
        d_means: &Self::Numbers,
        stories: &Self::Stories,
        d_x: &mut Self::Numbers,
        width: usize,
    );

    /// Adds the sum over rows of `weights[r] * -log softmax(logits of row r)[targets[r]]` to sum `loss` of the store,
    /// logits being a linear map of `x`, some rows at a time; returns the gradient of `x`.
    #[allow(clippy::too_many_arguments)]
    fn softmax_loss(
        &self,
        store: &mut Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
        targets: &Self::Indices,
        weights: &Self::Floats,
        loss: usize,
    ) -> Self::Numbers;
    /// Likewise the sum over all logits of `weights[i] * -log` probability of label `labels[i]` under a sigmoid.
    #[allow(clippy::too_many_arguments)]
    fn sigmoid_loss(
        &self,
        store: &mut Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
        labels: &Self::Floats,
        weights: &Self::Floats,
        loss: usize,
    ) -> Self::Numbers;
}
