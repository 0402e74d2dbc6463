//! What a run is asked for, and what it gives.

use super::Head;
use crate::batch::Batch;
use std::borrow::Cow;

/// Which vector stands for a whole sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pooling {
    /// The state of the first token.
    First,
    /// The mean of the states of all tokens that may be attended to.
    Mean,
}

/// What a run should compute.
///
/// Layer 0 is the output of the embeddings; layer `k` is the output of block `k`, where the last
/// one includes the norm that some architectures have after all blocks. Blocks after the last one
/// that is needed are not computed.
///
/// ```
/// use storymeter_encoder::{Head, Outputs, Pooling};
///
/// let two_layers = Outputs::new().layers([4, 6]);
/// let vectors = Outputs::new().pooled(Pooling::Mean);
/// let words = Outputs::new().logits(Head::MaskedWord, [(0, 2)]);
/// let probabilities = Outputs::new().likelihoods();
/// # let _ = (two_layers, vectors, words, probabilities);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outputs {
    /// Without doubles, and ascending.
    pub(crate) layers: Vec<usize>,
    pub(crate) pooled: Option<Pooling>,
    pub(crate) logits: Option<(Head, Vec<(usize, usize)>)>,
    pub(crate) likelihoods: bool,
}

impl Outputs {
    /// Nothing yet.
    pub fn new() -> Outputs {
        Outputs::default()
    }

    /// The hidden states after these layers. Of an encoder-decoder model, they are the encoder's.
    #[must_use]
    pub fn layers(mut self, layers: impl IntoIterator<Item = usize>) -> Outputs {
        self.layers.extend(layers);
        self.layers.sort_unstable();
        self.layers.dedup();
        self
    }

    /// One vector per sequence, from the last layer that is computed: the largest of
    /// [`layers`](Outputs::layers), or the last of the model.
    #[must_use]
    pub fn pooled(mut self, pooling: Pooling) -> Outputs {
        self.pooled = Some(pooling);
        self
    }

    /// The logits of a head at some tokens, each given by the place of its sequence in the batch
    /// and its own place in the sequence. For the next token of an encoder-decoder model, the
    /// places are those of targets and of what the decoder reads for them.
    #[must_use]
    pub fn logits(
        mut self,
        head: Head,
        positions: impl IntoIterator<Item = (usize, usize)>,
    ) -> Outputs {
        self.logits = Some((head, positions.into_iter().collect()));
        self
    }

    /// The natural logarithm of the probability of each token, given those before it. For an
    /// encoder-decoder model: of each token of each target, given the sequence too.
    #[must_use]
    pub fn likelihoods(mut self) -> Outputs {
        self.likelihoods = true;
        self
    }

    /// The last layer that has to be computed, of a model with `layers` layers.
    pub(crate) fn depth(&self, layers: usize) -> usize {
        if self.logits.is_some() || self.likelihoods {
            return layers;
        }
        self.layers.last().copied().unwrap_or(layers)
    }

    /// Whether the targets have to be read.
    pub(crate) fn needs_decoder(&self) -> bool {
        let next = self.logits.as_ref().is_some_and(|(head, _)| *head == Head::NextToken);
        next || self.likelihoods
    }
}

/// What one forward pass has computed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ForwardPass {
    /// The width of the hidden states.
    pub(crate) width: usize,
    /// Where each sequence begins, and where the last one ends.
    pub(crate) bounds: Vec<usize>,
    /// The layers that were kept, in ascending order.
    pub(crate) layers: Vec<usize>,
    /// One part per sequence, and in it the states of its tokens, one layer after the other.
    pub(crate) states: Vec<f32>,
    pub(crate) pooled: Vec<f32>,
    pub(crate) logits: Vec<f32>,
    /// How many logits a position has.
    pub(crate) choices: usize,
    pub(crate) likelihoods: Vec<f32>,
    pub(crate) likelihood_bounds: Vec<usize>,
}

impl ForwardPass {
    pub(crate) fn new(batch: &Batch, width: usize, layers: &[usize]) -> ForwardPass {
        ForwardPass {
            width,
            bounds: batch.bounds().to_vec(),
            layers: layers.to_vec(),
            ..ForwardPass::default()
        }
    }

    /// Where the state of a token begins, in the last layer that was computed.
    pub(crate) fn last_state(&self, sequence: usize, token: usize) -> usize {
        let ForwardPass { width, bounds, layers, .. } = self;
        let len = bounds[sequence + 1] - bounds[sequence];
        (bounds[sequence] * layers.len() + (layers.len() - 1) * len + token) * width
    }

    /// The states of the last layer, sequence by sequence.
    pub(crate) fn last_layer(&self) -> Cow<'_, [f32]> {
        if self.layers.len() == 1 {
            return Cow::Borrowed(&self.states);
        }
        let states = States { run: self, place: self.layers.len() - 1 };
        (0..self.bounds.len() - 1).flat_map(|i| states.sequence(i)).copied().collect()
    }

    /// Computes one vector per sequence from the states of a layer.
    pub(crate) fn pool(&mut self, batch: &Batch, layer: usize, pooling: Pooling) {
        let width = self.width;
        let mut pooled = vec![0.0; batch.len() * width];
        let mut sums = vec![0f64; width];
        for (i, out) in pooled.chunks_exact_mut(width).enumerate() {
            let states = &self.layer(layer).sequence(i)[..batch.readings()[i].attended * width];
            match pooling {
                _ if states.is_empty() => {}
                Pooling::First => out.copy_from_slice(&states[..width]),
                Pooling::Mean => {
                    sums.fill(0.0);
                    for state in states.chunks_exact(width) {
                        sums.iter_mut().zip(state).for_each(|(sum, x)| *sum += f64::from(*x));
                    }
                    let count = (states.len() / width) as f64;
                    out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = (sum / count) as f32);
                }
            }
        }
        self.pooled = pooled;
    }

    /// The hidden states after a layer.
    ///
    /// # Panics
    /// If this layer was not asked for.
    pub fn layer(&self, layer: usize) -> States<'_> {
        let place = self.layers.iter().position(|kept| *kept == layer);
        States { run: self, place: place.expect("this layer was not asked for") }
    }

    /// The vector of a sequence. It is zero if the sequence has no tokens.
    ///
    /// # Panics
    /// If vectors were not asked for, or there is no such sequence.
    pub fn pooled(&self, sequence: usize) -> &[f32] {
        &self.pooled[sequence * self.width..][..self.width]
    }

    /// The logits at the `n`-th of the positions that were asked for.
    ///
    /// # Panics
    /// If there were not as many.
    pub fn logits(&self, n: usize) -> &[f32] {
        &self.logits[n * self.choices..][..self.choices]
    }

    /// The natural logarithms of the probabilities of the tokens of sequence `i`, from its second
    /// token on; for an encoder-decoder model, of all tokens of target `i`.
    ///
    /// # Panics
    /// If they were not asked for, or there is no such sequence or target.
    pub fn likelihoods(&self, i: usize) -> &[f32] {
        &self.likelihoods[self.likelihood_bounds[i]..self.likelihood_bounds[i + 1]]
    }
}

/// The hidden states after one layer.
#[derive(Clone, Copy, Debug)]
pub struct States<'a> {
    run: &'a ForwardPass,
    place: usize,
}

impl<'a> States<'a> {
    /// The states of the tokens of a sequence, one row of [`width`](States::width) numbers each.
    pub fn sequence(&self, sequence: usize) -> &'a [f32] {
        let ForwardPass { width, bounds, layers, states, .. } = self.run;
        let (from, len) =
            (bounds[sequence] * width, (bounds[sequence + 1] - bounds[sequence]) * width);
        &states[from * layers.len() + self.place * len..][..len]
    }

    /// How many numbers a state has.
    pub fn width(&self) -> usize {
        self.run.width
    }
}
