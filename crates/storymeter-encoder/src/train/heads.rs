//! Losses on top of the last hidden states. Each adds to the gradient of the states that it reads.

use super::backend::{Backend, Dropout, LabelLoss, Linear, Norm, Part};
use super::network::{Network, Trace};
use crate::Result;
use crate::batch::Batch;
use crate::kernel::Activation;

/// The last hidden states of a batch and the gradient of the loss with respect to them.
pub struct States<'a, B: Backend> {
    trace: &'a Trace<B>,
    d_hidden: B::Numbers,
}

impl<B: Backend> States<'_, B> {
    /// The gradient, for [`Network::backward`].
    pub fn into_gradient(self) -> B::Numbers {
        self.d_hidden
    }
}

/// Which vectors a head reads.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// These rows of the hidden states.
    Rows(&'a [u32]),
    /// The mean over the tokens of each story.
    StoryMeans,
}

/// The head with which BERT predicts hidden words ([`Network::masked_word_head`]): a linear map
/// with the activation of the encoder, a layer norm, and the table of words as a second linear map.
#[derive(Clone, Copy, Debug)]
pub struct MaskedWordHead {
    transform: Linear,
    norm: Norm,
    words: Linear,
}

/// A head on BERT's pooler ([`Network::pooled_head`]): a linear map with the hyperbolic tangent,
/// dropout in training, and a second linear map to one or more labels.
#[derive(Clone, Copy, Debug)]
pub struct PooledHead {
    pooler: Linear,
    label: Linear,
    dropout: bool,
}

impl PooledHead {
    /// The same head without dropout of the pooled vectors.
    #[must_use]
    pub fn without_dropout(self) -> PooledHead {
        PooledHead { dropout: false, ..self }
    }
}

/// A loss that was computed on the host, from the outputs of a head.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostLoss {
    /// The loss of each output. Only their sum counts.
    pub losses: Vec<f32>,
    /// The gradient of the whole loss with respect to each output.
    pub gradients: Vec<f32>,
}

/// A selection on the device.
enum Selected<B: Backend> {
    Rows(B::Lookups),
    StoryMeans,
}

impl<B: Backend> Network<B> {
    /// Prepares the states of a forward pass for losses, with a gradient of zero.
    pub fn states<'a>(&self, trace: &'a Trace<B>) -> States<'a, B> {
        States { trace, d_hidden: self.backend.zeros(trace.tokens() * self.config().hidden) }
    }

    /// Adds the softmax cross-entropy over a vocabulary at selected rows to loss sum number `loss`:
    /// the sum of `weights[i] * -log p(targets[i] | states[rows[i]])`.
    ///
    /// Only these rows are multiplied with the vocabulary, and only some thousand of them at a
    /// time.
    ///
    /// # Panics
    /// If `rows`, `targets` and `weights` differ in length, or a row or target is out of range.
    pub fn token_loss(
        &mut self,
        states: &mut States<'_, B>,
        head: Linear,
        (rows, targets, weights): (&[u32], &[u32], &[f32]),
        loss: usize,
    ) {
        assert_fit((rows, targets, weights), head.outputs);
        if rows.is_empty() {
            return;
        }
        let (targets, weights) = (self.backend.indices(targets), self.backend.floats(weights));
        self.through_head(states, Selection::Rows(rows), |backend, store, x| {
            backend.softmax_loss(store, head, x, rows.len(), &targets, &weights, loss)
        });
    }

    /// Adds a loss of one or more outputs per selected vector to loss sum number `loss`: the sum of
    /// `weights[i]` times the loss of output `i` compared with `labels[i]`. The labels of one
    /// vector stand side by side.
    ///
    /// # Panics
    /// If there is not one label and one weight per output and vector, or a row is out of range.
    pub fn label_loss(
        &mut self,
        states: &mut States<'_, B>,
        head: Linear,
        selection: Selection<'_>,
        (labels, weights): (&[f32], &[f32]),
        kind: LabelLoss,
        loss: usize,
    ) {
        let rows = match selection {
            Selection::Rows(rows) => rows.len(),
            Selection::StoryMeans => states.trace.stories(),
        };
        assert!(
            labels.len() == weights.len() && labels.len() == rows * head.outputs,
            "one label and one weight per output and vector"
        );
        if rows == 0 {
            return;
        }
        let (labels, weights) = (self.backend.floats(labels), self.backend.floats(weights));
        self.through_head(states, selection, |backend, store, x| {
            backend.label_loss(store, head, x, rows, &labels, &weights, kind, loss)
        });
    }

    /// Adds any other loss of the outputs of a head to loss sum number `loss`.
    ///
    /// `compute` is given the outputs of the selected vectors, those of one vector side by side,
    /// and returns the losses and gradients. The outputs of a head are few, so they are computed on
    /// the host, and a loss is a plain function:
    ///
    /// ```
    /// use storymeter_encoder::train::HostLoss;
    ///
    /// /// How far every output is from 1.
    /// fn distance(outputs: &[f32]) -> HostLoss {
    ///     HostLoss {
    ///         losses: outputs.iter().map(|output| (output - 1.0).abs()).collect(),
    ///         gradients: outputs.iter().map(|output| (output - 1.0).signum()).collect(),
    ///     }
    /// }
    /// assert_eq!(distance(&[3.0]).gradients, [1.0]);
    /// ```
    ///
    /// # Errors
    /// Returns an error if the device fails.
    ///
    /// # Panics
    /// If a row is out of range, or `compute` does not return one loss and one gradient per output.
    pub fn host_loss(
        &mut self,
        states: &mut States<'_, B>,
        head: Linear,
        selection: Selection<'_>,
        loss: usize,
        compute: impl FnOnce(&[f32]) -> HostLoss,
    ) -> Result<()> {
        let (b, width) = (&self.backend, self.config().hidden);
        let vectors = match selection {
            Selection::Rows(rows) => b.gather(states.trace.hidden(), &b.lookups(rows), width),
            Selection::StoryMeans => {
                b.story_means(states.trace.hidden(), &states.trace.stories, width)
            }
        };
        let outputs = self.outputs_of(head, &b.download(&vectors)?)?;
        let HostLoss { losses, gradients } = compute(&outputs);
        assert!(
            losses.len() == outputs.len() && gradients.len() == outputs.len(),
            "one loss and one gradient per output"
        );
        let given = (&gradients[..], &losses[..]);
        self.label_loss(states, head, selection, given, LabelLoss::OnHost, loss);
        Ok(())
    }

    /// The outputs of a small head for some vectors, computed on the host: they are too few for a
    /// product on a GPU, whose rows are multiples of eight.
    fn outputs_of(&self, head: Linear, vectors: &[f32]) -> Result<Vec<f32>> {
        let (b, store) = (&self.backend, &self.store);
        let weight = b.read(store, Part::Weights, head.weight)?;
        let bias = match head.bias {
            Some(bias) => b.read(store, Part::Weights, bias)?,
            None => vec![0.0; head.outputs],
        };
        let output = |vector: &[f32], (weight, bias): (&[f32], &f32)| {
            let products = vector.iter().zip(weight).map(|(x, w)| f64::from(*x) * f64::from(*w));
            (products.sum::<f64>() + f64::from(*bias)) as f32
        };
        let maps = || weight.chunks_exact(head.inputs).zip(&bias);
        let vectors = vectors.chunks_exact(head.inputs);
        Ok(vectors.flat_map(|vector| maps().map(move |map| output(vector, map))).collect())
    }

    /// The head that reads BERT's pooled vectors. It is made of four tensors of the heads, from
    /// number `first` on: weight and bias of the pooler, and weight and bias of the labels.
    ///
    /// # Panics
    /// If there are no such tensors.
    pub fn pooled_head(&self, first: usize) -> PooledHead {
        let (pooler, label) = (self.head(first, first + 1), self.head(first + 2, first + 3));
        PooledHead { pooler, label, dropout: true }
    }

    /// Adds a loss of one or more outputs per row, computed from the pooled vectors of these rows
    /// of the hidden states, to loss sum number `loss`: the sum of `weights[i]` times the loss of
    /// output `i` compared with `labels[i]`. The labels of one row stand side by side.
    ///
    /// If the forward pass had dropout, the pooled vectors have it too, at the same rate, unless
    /// the head is [without](PooledHead::without_dropout).
    ///
    /// # Panics
    /// If there is not one label and one weight per output and row, or a row is out of range.
    pub fn pooled_loss(
        &mut self,
        states: &mut States<'_, B>,
        head: PooledHead,
        rows: &[u32],
        (labels, weights): (&[f32], &[f32]),
        kind: LabelLoss,
        loss: usize,
    ) {
        let PooledHead { pooler, label, dropout } = head;
        let count = rows.len();
        assert!(
            labels.len() == weights.len() && labels.len() == count * label.outputs,
            "one label and one weight per output and row"
        );
        if count == 0 {
            return;
        }
        let drops = dropout.then(|| self.dropout_factors(states.trace, rows, pooler.outputs));
        let factors = drops.flatten();
        let (labels, weights) = (self.backend.floats(labels), self.backend.floats(weights));
        self.through_head(states, Selection::Rows(rows), |b, store, x| {
            let [before, mut pooled] = b.linear_activate(store, pooler, x, count, Activation::Tanh);
            if let Some(factors) = &factors {
                b.scale(&mut pooled, factors);
            }
            let mut d = b.label_loss(store, label, &pooled, count, &labels, &weights, kind, loss);
            if let Some(factors) = &factors {
                b.scale(&mut d, factors);
            }
            let mut d_x = b.zeros(count * pooler.inputs);
            let tanh = Activation::Tanh;
            b.linear_activate_backward(store, pooler, x, count, &before, tanh, d, &mut d_x);
            d_x
        });
    }

    /// The outputs of a pooled head at some rows of a batch, without dropout. Those of one row
    /// stand side by side.
    ///
    /// # Errors
    /// Returns an error if a story is too long, a token is not in the vocabulary, or the device
    /// fails.
    ///
    /// # Panics
    /// If a row is not a token of the batch.
    pub fn pooled_outputs(
        &self,
        batch: &Batch,
        PooledHead { pooler, label, .. }: PooledHead,
        rows: &[u32],
    ) -> Result<Vec<f32>> {
        let (b, store) = (&self.backend, &self.store);
        assert!(rows.iter().all(|row| (*row as usize) < batch.ids().len()), "rows are tokens");
        let hidden = self.encode(batch)?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let x = b.gather(&hidden, &b.lookups(rows), pooler.inputs);
        let [_, pooled] = b.linear_activate(store, pooler, &x, rows.len(), Activation::Tanh);
        self.outputs_of(label, &b.download(&pooled)?)
    }

    /// The factors of the pooler's dropout, or `None` without dropout. They depend on the place of
    /// a row in the whole batch, so that a part of a batch has those of the whole.
    fn dropout_factors(&self, trace: &Trace<B>, rows: &[u32], width: usize) -> Option<B::Floats> {
        let dropout = self.pooler_dropout(trace.options);
        let places = |row: u32| (0..width).map(move |i| row as u64 * width as u64 + i as u64);
        let factors = || -> Vec<f32> {
            rows.iter().flat_map(|row| places(*row)).map(|place| dropout.factor(place)).collect()
        };
        (dropout.rate > 0.0).then(|| self.backend.floats(&factors()))
    }

    /// The head that predicts hidden words. It is made of five tensors of the heads, from number
    /// `first` on: weight and bias of the linear map, gain and shift of the layer norm, and the
    /// bias of the vocabulary.
    ///
    /// # Panics
    /// If there are no such tensors.
    pub fn masked_word_head(&self, first: usize) -> MaskedWordHead {
        let transform = self.head(first, first + 1);
        let (gain, shift) = (transform.weight + 2, transform.weight + 3);
        let norm = Norm {
            gain,
            shift: Some(shift),
            width: transform.outputs,
            eps: self.config().norm_eps,
        };
        MaskedWordHead { transform, norm, words: self.tied_head(first + 4) }
    }

    /// Adds the softmax cross-entropy of hidden words at selected rows to loss sum number `loss`:
    /// the sum of `weights[i] * -log p(targets[i] | states[rows[i]])`.
    ///
    /// # Panics
    /// If `rows`, `targets` and `weights` differ in length, or a row or target is out of range.
    pub fn masked_word_loss(
        &mut self,
        states: &mut States<'_, B>,
        head: MaskedWordHead,
        (rows, targets, weights): (&[u32], &[u32], &[f32]),
        loss: usize,
    ) {
        assert_fit((rows, targets, weights), head.words.outputs);
        if rows.is_empty() {
            return;
        }
        let (targets, weights) = (self.backend.indices(targets), self.backend.floats(weights));
        let (activation, count) = (self.config().activation, rows.len());
        self.through_head(states, Selection::Rows(rows), |b, store, x| {
            let MaskedWordHead { transform, norm, words } = head;
            let width = norm.width;
            let [before, wide] = b.linear_activate(store, transform, x, count, activation);
            // The layer norm of the head adds nothing to its input.
            let nothing = b.zeros(count * width);
            let [sum, vectors] = b.add_norm(store, norm, wide, &nothing, Dropout::none());
            let d = b.softmax_loss(store, words, &vectors, count, &targets, &weights, loss);
            let [d_wide, _] = b.add_norm_backward(store, norm, &sum, &d, Dropout::none());
            let mut d_x = b.zeros(count * transform.inputs);
            b.linear_activate_backward(
                store, transform, x, count, &before, activation, d_wide, &mut d_x,
            );
            d_x
        });
    }

    /// The logits of all words at some rows of a batch, without dropout, one after the other.
    ///
    /// # Errors
    /// Returns an error if a story is too long, a token is not in the vocabulary, or the device
    /// fails.
    ///
    /// # Panics
    /// If a row is not a token of the batch.
    pub fn masked_word_logits(
        &self,
        batch: &Batch,
        head: MaskedWordHead,
        rows: &[u32],
    ) -> Result<Vec<f32>> {
        let (b, store, activation) = (&self.backend, &self.store, self.config().activation);
        assert!(rows.iter().all(|row| (*row as usize) < batch.ids().len()), "rows are tokens");
        let hidden = self.encode(batch)?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let MaskedWordHead { transform, norm, words } = head;
        let x = b.gather(&hidden, &b.lookups(rows), transform.inputs);
        let [_, wide] = b.linear_activate(store, transform, &x, rows.len(), activation);
        let nothing = b.zeros(rows.len() * norm.width);
        let [_, vectors] = b.add_norm(store, norm, wide, &nothing, Dropout::none());
        b.download(&b.linear(store, words, &vectors, rows.len()))
    }

    /// Takes selected vectors through a head, and their gradient back to where they came from.
    fn through_head(
        &mut self,
        states: &mut States<'_, B>,
        selection: Selection<'_>,
        head: impl FnOnce(&B, &mut B::Store, &B::Numbers) -> B::Numbers,
    ) {
        let (trace, width) = (states.trace, self.config().hidden);
        let selected: Selected<B> = match selection {
            Selection::Rows(rows) => {
                assert!(rows.iter().all(|row| (*row as usize) < trace.tokens()), "rows are tokens");
                Selected::Rows(self.backend.lookups(rows))
            }
            Selection::StoryMeans => Selected::StoryMeans,
        };
        let x = match &selected {
            Selected::Rows(rows) => self.backend.gather(trace.hidden(), rows, width),
            Selected::StoryMeans => self.backend.story_means(trace.hidden(), &trace.stories, width),
        };
        let d_x = head(&self.backend, &mut self.store, &x);
        let d_hidden = &mut states.d_hidden;
        match &selected {
            Selected::Rows(rows) => self.backend.scatter(&d_x, rows, d_hidden, width),
            Selected::StoryMeans => {
                self.backend.story_means_backward(&d_x, &trace.stories, d_hidden, width)
            }
        }
    }
}

/// Checks that every row has a target among the outputs, and a weight.
fn assert_fit((rows, targets, weights): (&[u32], &[u32], &[f32]), outputs: usize) {
    assert!(
        rows.len() == targets.len() && rows.len() == weights.len(),
        "one target and one weight per row"
    );
    assert!(targets.iter().all(|target| (*target as usize) < outputs), "targets are outputs");
}
