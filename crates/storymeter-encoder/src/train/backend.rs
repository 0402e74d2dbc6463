//! The operations that training is made of: what a device must offer so that the network, which is
//! written once, runs on it.
//!
//! The operations are as coarse as a device needs them to be fast. What belongs together is one
//! operation, nothing goes back to the host unless it is asked for, and weights, gradients and the
//! optimiser's means live in one [`Backend::Store`].

use crate::Result;
use crate::grid::Rounded;
use crate::kernel::Activation;
use crate::random::Stream;
use serde::{Deserialize, Serialize};

/// The number of loss sums that a store keeps.
pub const LOSSES: usize = 8;

/// A linear map: which tensors of a store it consists of, and its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Linear {
    /// The tensor with one row of `inputs` numbers per output.
    pub weight: usize,
    /// The tensor with one number per output, if the map has one.
    pub bias: Option<usize>,
    /// The number of columns of the input.
    pub inputs: usize,
    /// The number of columns of the output.
    pub outputs: usize,
}

/// A layer norm, `(x - mean) / sqrt(variance + eps) * gain + shift`, or without a shift an RMS norm
/// (Zhang and Sennrich 2019), `x / sqrt(mean of squares + eps) * gain`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Norm {
    /// The tensor that the normalised columns are multiplied with.
    pub gain: usize,
    /// The tensor that is added then. Without it, this is an RMS norm.
    pub shift: Option<usize>,
    /// The number of columns.
    pub width: usize,
    /// What is added to the variance, or to the mean of squares.
    pub eps: f32,
}

/// The tables whose rows are added up to the first vector of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tables {
    /// The table with one row per word of the vocabulary.
    pub words: usize,
    /// The table with one row per position.
    pub positions: usize,
    /// The table with one row per segment.
    pub segments: Option<usize>,
}

/// The rows of the [`Tables`] that the tokens of a batch have.
#[derive(Clone, Copy, Debug)]
pub struct TableRows<L> {
    /// The word of every token.
    pub words: L,
    /// The position of every token.
    pub positions: L,
    /// The segment of every token; `None` if all tokens are in the first one.
    pub segments: Option<L>,
}

/// How the outputs of a small head are compared with their labels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabelLoss {
    /// `-log p(label)`, with probabilities by a sigmoid.
    CrossEntropy,
    /// `(output - label)^2`.
    SquaredError,
    /// The loss was computed on the host ([`super::Network::host_loss`]): the label is the gradient
    /// of the output, and the weight is the loss.
    OnHost,
}

/// The shape of attention over packed tokens.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Attention {
    /// The number of attention heads.
    pub heads: usize,
    /// The number of columns of queries, keys and values: all heads side by side.
    pub width: usize,
    /// The length of the longest story that the model takes.
    pub longest: usize,
    /// Whether a token attends only to itself and to the tokens before it.
    pub causal: bool,
    /// The table of a relative position bias, with one row per bucket and one column per head.
    pub relative: Option<usize>,
    /// The dropout of the attention probabilities.
    pub dropout: Dropout,
}

/// How queries and keys are turned by their positions (Su et al. 2021), and how many heads share
/// keys and values (Ainslie et al. 2023).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rotary {
    /// The number of attention heads.
    pub heads: usize,
    /// The number of heads that keys and values have. It divides the number of heads.
    pub key_heads: usize,
    /// The number of columns of one head, an even number. Column `i` of its first half and column
    /// `i` of its second half are turned together.
    pub head_width: usize,
}

impl Rotary {
    /// The columns of the queries of a token.
    pub fn queries(self) -> usize {
        self.heads * self.head_width
    }

    /// The columns of the keys of a token, and of its values.
    pub fn keys(self) -> usize {
        self.key_heads * self.head_width
    }

    /// How many heads share their keys and values.
    pub fn shared(self) -> usize {
        self.heads / self.key_heads
    }
}

/// Dropout: each number is kept with probability `1 - rate`, and is then divided by it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Dropout {
    /// The share of numbers that is dropped; 0 means no dropout.
    pub rate: f32,
    /// Decides by the place of a number whether it is dropped. The backward pass draws the same
    /// again.
    pub stream: Stream,
}

impl Dropout {
    /// No dropout.
    pub fn none() -> Dropout {
        Dropout { rate: 0.0, stream: Stream::new(0) }
    }

    /// The factor of number `place`.
    #[inline(always)]
    pub(crate) fn factor(&self, place: u64) -> f32 {
        if self.stream.uniform(place) < self.rate { 0.0 } else { 1.0 / (1.0 - self.rate) }
    }
}

/// One step of AdamW (Loshchilov and Hutter 2019) on all tensors of a store.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdamStep {
    /// The learning rate of this step.
    pub rate: f32,
    /// The decay of the mean of gradients.
    pub beta1: f32,
    /// The decay of the mean of squared gradients.
    pub beta2: f32,
    /// What is added to the root of the mean of squares.
    pub eps: f32,
    /// The decoupled weight decay, for the tensors that decay.
    pub decay: f32,
    /// `1 - beta1^t`, or 1 without bias correction.
    pub correction1: f32,
    /// `1 - beta2^t`, or 1 without bias correction.
    pub correction2: f32,
    /// Gradients with a larger global norm are scaled down to this one.
    pub clip: f32,
}

/// The steps that were skipped because a gradient was not a finite number. Such a step moves
/// neither weights nor means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Skipped {
    /// All of them.
    pub all: u64,
    /// Those since the last step that was taken.
    pub in_a_row: u64,
}

impl Skipped {
    /// Whether no step was skipped.
    pub fn is_none(&self) -> bool {
        self.all == 0
    }

    /// Counts a step whose gradients have this global norm, and says whether it may be taken. The
    /// kernel `norm_of_parts` does the same on a GPU.
    pub(crate) fn count(&mut self, norm: f64) -> bool {
        let is_taken = norm.is_finite();
        self.all += u64::from(!is_taken);
        self.in_a_row = if is_taken { 0 } else { self.in_a_row + 1 };
        is_taken
    }
}

/// A tensor that a store starts with.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The numbers of the tensor.
    pub data: &'a [f32],
    /// Whether weight decay applies, which it does not for biases and layer norms.
    pub decays: bool,
}

/// What a store has of each tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The weights.
    Weights,
    /// The gradients, summed up since they were last cleared.
    Gradients,
    /// AdamW's mean of the gradient.
    Means,
    /// AdamW's mean of the squared gradient.
    Squares,
}

/// A device that can train.
///
/// Matrices are stored row by row. An argument named `d_x` is the gradient of the loss with respect
/// to `x`. Gradients of weights are added to what the store has, so that several uses of one
/// weight, and several batches, sum up.
///
/// A device may work in the background. If an operation that returns no [`Result`] fails, the next
/// one that returns a [`Result`] gives the error.
///
/// Arguments that do not fit together, such as a tensor of another size than its [`Linear`] says or
/// a row that is not in its table, are a mistake of the caller. An operation then may panic, or
/// make the device fail, but it never reads or writes beyond its buffers.
pub trait Backend {
    /// Activations and their gradients in the memory of the device, in the precision that it trains
    /// in.
    type Numbers;
    /// Numbers in full precision: labels, and the weights of losses.
    type Floats;
    /// Whole numbers: the targets of a loss.
    type Indices;
    /// Rows of a table to look up, in a form in which gradients can be added to the rows without a
    /// race.
    type Lookups;
    /// Where packed stories begin and end.
    type Stories;
    /// Queries, keys and values.
    type Projected;
    /// What attention keeps of its softmax for the backward pass.
    type Softmax;
    /// Weights, gradients, the optimiser's means and the sums of losses.
    type Store;

    /// Copies activations from the host.
    fn upload(&self, numbers: &[f32]) -> Self::Numbers;
    /// Copies activations to the host.
    fn download(&self, numbers: &Self::Numbers) -> Result<Vec<f32>>;
    /// Makes activations that are zero.
    fn zeros(&self, len: usize) -> Self::Numbers;
    /// Copies numbers in full precision from the host.
    fn floats(&self, numbers: &[f32]) -> Self::Floats;
    /// Copies whole numbers from the host.
    fn indices(&self, numbers: &[u32]) -> Self::Indices;
    /// Copies rows to look up from the host.
    fn lookups(&self, rows: &[u32]) -> Self::Lookups;
    /// Copies from the host where each story begins, and where the last one ends.
    fn stories(&self, bounds: &[usize]) -> Self::Stories;

    /// Copies tensors to the device. `order` names each tensor once. Tensors that follow each other
    /// in it also do so in memory, if the device keeps them together.
    fn store(&self, tensors: &[Given<'_>], order: &[usize]) -> Result<Self::Store>;
    /// Copies the numbers of a tensor to the host.
    fn read(&self, store: &Self::Store, part: Part, tensor: usize) -> Result<Vec<f32>>;
    /// Replaces the numbers of a tensor. There must be as many as before.
    fn write(
        &self,
        store: &mut Self::Store,
        part: Part,
        tensor: usize,
        numbers: &[f32],
    ) -> Result<()>;
    /// Rounds weights to a grid ([`crate::Grid`]) until [`Backend::restore`] is called.
    fn round(&self, store: &mut Self::Store, rounded: &[Rounded]);
    /// Brings back the weights as they were before [`Backend::round`].
    fn restore(&self, store: &mut Self::Store);
    /// Sets all gradients to zero.
    fn clear_gradients(&self, store: &mut Self::Store);
    /// Takes one step of AdamW on all tensors, with gradients clipped by their global norm. If that
    /// norm is not finite, the step is skipped and counted.
    fn step(&self, store: &mut Self::Store, step: AdamStep);
    /// The global norm of the gradients at the last step, before clipping, and the steps that were
    /// skipped.
    fn steps(&self, store: &Self::Store) -> Result<(f64, Skipped)>;
    /// Continues counting skipped steps from here.
    fn set_skipped(&self, store: &mut Self::Store, skipped: Skipped);
    /// Takes the sums of losses: returns them and sets them to zero.
    fn take_losses(&self, store: &mut Self::Store) -> Result<[f64; LOSSES]>;

    /// The sum of the rows of the tables, and that sum after layer norm and dropout.
    fn embed(
        &self,
        store: &Self::Store,
        tables: Tables,
        norm: Norm,
        rows: &TableRows<Self::Lookups>,
        dropout: Dropout,
    ) -> [Self::Numbers; 2];
    /// Adds the gradients of the tables and of the norm, given the sum and the gradient of the
    /// result.
    #[allow(clippy::too_many_arguments)]
    fn embed_backward(
        &self,
        store: &mut Self::Store,
        tables: Tables,
        norm: Norm,
        rows: &TableRows<Self::Lookups>,
        sum: &Self::Numbers,
        d_out: Self::Numbers,
        dropout: Dropout,
    );

    /// The sum of `branch` after dropout and `residual`, and that sum after layer norm.
    fn add_norm(
        &self,
        store: &Self::Store,
        norm: Norm,
        branch: Self::Numbers,
        residual: &Self::Numbers,
        dropout: Dropout,
    ) -> [Self::Numbers; 2];
    /// The gradients of `residual` and `branch`, given the sum and the gradient of the result.
    fn add_norm_backward(
        &self,
        store: &mut Self::Store,
        norm: Norm,
        sum: &Self::Numbers,
        d_out: &Self::Numbers,
        dropout: Dropout,
    ) -> [Self::Numbers; 2];

    /// The rows of the table of words, plus those of the table of positions if there is one, after
    /// dropout. Rows have `width` numbers.
    fn embed_plain(
        &self,
        store: &Self::Store,
        tables: (usize, Option<usize>),
        width: usize,
        rows: &TableRows<Self::Lookups>,
        dropout: Dropout,
    ) -> Self::Numbers;
    /// Adds the gradients of the tables, given the gradient of the result.
    fn embed_plain_backward(
        &self,
        store: &mut Self::Store,
        tables: (usize, Option<usize>),
        width: usize,
        rows: &TableRows<Self::Lookups>,
        d_out: Self::Numbers,
        dropout: Dropout,
    );

    /// The rows of `x` after the norm.
    fn norm(&self, store: &Self::Store, norm: Norm, x: &Self::Numbers) -> Self::Numbers;
    /// Adds the gradient of `x`, given that of the result.
    fn norm_backward(
        &self,
        store: &mut Self::Store,
        norm: Norm,
        x: &Self::Numbers,
        d_out: &Self::Numbers,
        d_x: &mut Self::Numbers,
    );

    /// The sum of `branch` after dropout and `residual`.
    fn add(
        &self,
        branch: Self::Numbers,
        residual: &Self::Numbers,
        dropout: Dropout,
    ) -> Self::Numbers;
    /// `x` after dropout. With the dropout of [`Backend::add`] and the gradient of its result, this
    /// is the gradient of its branch.
    fn dropped(&self, x: &Self::Numbers, dropout: Dropout) -> Self::Numbers;

    /// The closing product of a gated feed-forward part (Shazeer 2020): `activation(gate) * up`.
    fn gated(
        &self,
        gate: &Self::Numbers,
        up: &Self::Numbers,
        activation: Activation,
    ) -> Self::Numbers;
    /// The gradients of `gate` and `up`, given that of the result.
    fn gated_backward(
        &self,
        gate: &Self::Numbers,
        up: &Self::Numbers,
        activation: Activation,
        d_out: &Self::Numbers,
    ) -> [Self::Numbers; 2];

    /// `x * weight^T + bias` for `rows` rows.
    fn linear(
        &self,
        store: &Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
    ) -> Self::Numbers;
    /// The gradient of `x`. The gradients of weight and bias are added.
    fn linear_backward(
        &self,
        store: &mut Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
        d_out: &Self::Numbers,
    ) -> Self::Numbers;
    /// The result of the linear map, and its activation.
    fn linear_activate(
        &self,
        store: &Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
        activation: Activation,
    ) -> [Self::Numbers; 2];
    /// Adds the gradient of `x`, given the result of the linear map before the activation.
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

    /// The queries, keys and values of `rows` rows. In memory the three weights follow each other,
    /// and so do the biases.
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
    /// Queries, keys and values as attention takes them: queries and keys are turned by the angles
    /// of their positions, and keys and values are repeated for the heads that share them.
    ///
    /// `angles` has one row of `head_width` numbers per position: the cosines of all angles, then
    /// their sines. `places` has the position of every row of `projected`.
    fn turn(
        &self,
        rotary: Rotary,
        projected: Self::Projected,
        angles: &Self::Floats,
        places: &Self::Lookups,
    ) -> Self::Projected;
    /// The gradients of queries, keys and values before [`Backend::turn`], given those after it.
    fn turn_backward(
        &self,
        rotary: Rotary,
        d: Self::Projected,
        angles: &Self::Floats,
        places: &Self::Lookups,
    ) -> Self::Projected;
    /// Attention within each story.
    fn attention(
        &self,
        store: &Self::Store,
        attention: Attention,
        stories: &Self::Stories,
        projected: &Self::Projected,
    ) -> (Self::Numbers, Self::Softmax);
    /// The gradients of queries, keys and values, given the result of attention and its gradient.
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

    /// Multiplies every number with a factor of its own.
    fn scale(&self, x: &mut Self::Numbers, factors: &Self::Floats);
    /// Copies rows of `x`.
    fn gather(&self, x: &Self::Numbers, rows: &Self::Lookups, width: usize) -> Self::Numbers;
    /// Adds the rows of `what` to rows of `to`.
    fn scatter(
        &self,
        what: &Self::Numbers,
        rows: &Self::Lookups,
        to: &mut Self::Numbers,
        width: usize,
    );
    /// The mean of the rows of each story.
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

    /// Adds the sum over rows of `weights[r] * -log softmax(logits of row r)[targets[r]]` to sum
    /// number `loss` of the store, and returns the gradient of `x`. The logits are a linear map of
    /// `x`, of which only some rows are in memory at a time.
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
    /// Adds the sum over all outputs of a linear map of `weights[i]` times their loss to sum number
    /// `loss` of the store, and returns the gradient of `x`. [`LabelLoss::OnHost`] reads labels and
    /// weights in its own way.
    #[allow(clippy::too_many_arguments)]
    fn label_loss(
        &self,
        store: &mut Self::Store,
        map: Linear,
        x: &Self::Numbers,
        rows: usize,
        labels: &Self::Floats,
        weights: &Self::Floats,
        kind: LabelLoss,
        loss: usize,
    ) -> Self::Numbers;
}
