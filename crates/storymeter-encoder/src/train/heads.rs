//! Losses on top of the last hidden states. Each adds to the gradient of the states that it reads.

use super::backend::{Backend, Linear};
use super::network::{Network, Trace};

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
        assert!(
            rows.len() == targets.len() && rows.len() == weights.len(),
            "one target and one weight per row"
        );
        assert!(
            targets.iter().all(|target| (*target as usize) < head.outputs),
            "targets are outputs"
        );
        if rows.is_empty() {
            return;
        }
        let (targets, weights) = (self.backend.indices(targets), self.backend.floats(weights));
        self.through_head(states, Selection::Rows(rows), |backend, store, x| {
            backend.softmax_loss(store, head, x, rows.len(), &targets, &weights, loss)
        });
    }

    /// Adds the sigmoid cross-entropy of one or more logits per selected vector to loss sum number
    /// `loss`: the sum of `weights[i] * -log p(labels[i])`. The labels of one vector stand side by
    /// side.
    ///
    /// # Panics
    /// If there is not one label and one weight per output and vector, or a row is out of range.
    pub fn label_loss(
        &mut self,
        states: &mut States<'_, B>,
        head: Linear,
        selection: Selection<'_>,
        (labels, weights): (&[f32], &[f32]),
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
            backend.sigmoid_loss(store, head, x, rows, &labels, &weights, loss)
        });
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
