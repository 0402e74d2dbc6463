//! What is predicted from hidden states: logits, and the likelihoods of tokens.

use super::rows::Indices;
use super::steps::{Linear, Norm, Steps, Weight};
use crate::Activation;
use crate::cuda::Number;
use crate::cuda::memory::{Buffer, View};

/// The most logits that are in memory at one time.
const LOGITS: usize = 1 << 26;

/// Products with the rows of a matrix: one logit per row.
pub(super) struct Head<N> {
    pub(super) words: Weight<N>,
    pub(super) bias: Option<Buffer<f32>>,
}

/// The head for masked words: a linear map, a norm, and the products with all words.
pub(super) struct MaskedWord<N> {
    pub(super) dense: Linear<N>,
    pub(super) activation: Activation,
    pub(super) norm: Norm,
    pub(super) words: Head<N>,
}

impl<N: Number> Head<N> {
    /// The number of logits, and the distance from one row of them to the next.
    pub(super) fn choices(&self) -> [usize; 2] {
        [self.words.outputs, self.words.outputs.next_multiple_of(8)]
    }

    fn products(&self, steps: &Steps<N>, x: View<'_, N>) -> Buffer<f32> {
        let rows = x.len() / self.words.inputs;
        steps.products(&self.words, (x, rows), self.choices()[1])
    }

    /// The logits of some rows.
    pub(super) fn logits(&self, steps: &Steps<N>, x: View<'_, N>) -> Buffer<f32> {
        let mut logits = self.products(steps, x);
        if let Some(bias) = &self.bias {
            steps.add_bias(&mut logits, bias, self.choices()[1]);
        }
        logits
    }

    /// The logarithm of the probability of one target for each of some rows of states.
    pub(super) fn likelihoods(
        &self,
        steps: &Steps<N>,
        states: &Buffer<f32>,
        rows: &[u32],
        targets: &[u32],
    ) -> Buffer<f32> {
        let [outputs, stride] = self.choices();
        let out: Buffer<f32> = steps.device.alloc(rows.len());
        let each = (LOGITS / stride).max(1);
        let mut first = 0;
        for (rows, targets) in rows.chunks(each).zip(targets.chunks(each)) {
            let indices = Indices::new(&steps.device, rows);
            let x = steps.gather(states, &indices, self.words.inputs);
            let logits = self.products(steps, x.view());
            let targets = Indices::new(&steps.device, targets);
            let to = out.slice(first..first + rows.len());
            let bias = self.bias.as_ref();
            steps.log_likelihoods((&logits, stride), outputs, bias, &targets, to);
            first += rows.len();
        }
        out
    }
}

impl<N: Number> MaskedWord<N> {
    /// The logits of some rows of states.
    pub(super) fn logits(&self, steps: &Steps<N>, states: &Buffer<N>) -> Buffer<f32> {
        let rows = states.len() / self.dense.weight.inputs;
        let mut dense = steps.linear(&self.dense, states.view(), rows);
        steps.activate(&mut dense, self.activation);
        let floats = steps.floats(&dense);
        let normed = steps.norm(&floats, None, &self.norm, [false, false, true]);
        match normed.active {
            Some(active) => self.words.logits(steps, active.view()),
            None => floats,
        }
    }
}
