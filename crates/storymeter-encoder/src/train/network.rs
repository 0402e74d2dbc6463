//! A model forward and backward, written once over the operations of a [`Backend`].
//!
//! There are two kinds of blocks: those of encoders such as BERT, with a norm after each part
//! ([`post_norm`](super::post_norm)), and those of language models, with a norm before each part
//! ([`pre_norm`](super::pre_norm)). Everything else in which models differ is data: the [`Layout`]
//! says which tensors there are.

use super::backend::{
    Attention, Backend, Dropout, Given, LOSSES, Linear, Norm, Part, Rotary, Skipped, TableRows,
    Tables,
};
use super::exchange::Exchange;
use super::optimiser::MOST_SKIPPED;
use super::post_norm::PostNorm;
use super::pre_norm::PreNorm;
use crate::batch::Batch;
use crate::config::Config;
use crate::grid::Grid;
use crate::kernel::rotary::Angles;
use crate::parameters::{LayerPlaces, Layout, Pair, Parameters, Tensor};
use crate::random::Stream;
use crate::{Error, Result};

/// How a batch goes through the network.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ForwardOptions {
    /// The random numbers of dropout; `None` turns dropout off.
    pub dropout: Option<Stream>,
    /// Whether to keep only the input of each layer, and to compute everything else again in the
    /// backward pass. This needs about a tenth of the memory and a third more time.
    pub recompute: bool,
    /// How many rows of the whole batch come before these. Dropout then is what it would be in the
    /// whole batch.
    pub first_row: usize,
}

/// An encoder or a causal language model, and the heads on top of it, whose weights and gradients
/// are on a device.
pub struct Network<B: Backend> {
    pub(super) backend: B,
    pub(super) store: B::Store,
    pub(super) config: Config,
    pub(super) layout: Layout,
    ends: Ends,
    /// The name and shape of every tensor of the heads.
    heads: Vec<(String, Vec<usize>)>,
}

/// What stands before the first block and after the last one.
#[derive(Clone, Copy)]
enum Ends {
    /// With norms after the parts of a block, the embeddings have a norm of their own.
    After { tables: Tables, norm: Pair },
    /// With norms before the parts of a block, the last hidden states have a norm of their own.
    Before { tables: (usize, Option<usize>), last_norm: Pair },
}

impl Ends {
    fn of(layout: &Layout) -> Result<Ends> {
        let Layout { words, positions, segments, norm, last_norm, .. } = *layout;
        match (norm, positions, last_norm) {
            (Some(norm), Some(positions), None) => {
                Ok(Ends::After { tables: Tables { words, positions, segments }, norm })
            }
            (None, positions, Some(last_norm)) => {
                Ok(Ends::Before { tables: (words, positions), last_norm })
            }
            _ => Err(Error::Mismatch("the norms are neither BERT's nor a language model's".into())),
        }
    }
}

/// What the forward pass keeps for the backward pass.
pub struct Trace<B: Backend> {
    pub(super) tokens: usize,
    count: usize,
    pub(super) rows: TableRows<B::Lookups>,
    pub(super) stories: B::Stories,
    /// How queries and keys are turned, and the angles of all positions.
    pub(super) turning: Option<(Rotary, B::Floats)>,
    pub(super) options: ForwardOptions,
    /// What the norm at one of the ends was applied to: the embeddings, or the states after the
    /// last block.
    before_norm: Option<B::Numbers>,
    layers: Vec<LayerTrace<B>>,
    hidden: B::Numbers,
}

impl<B: Backend> Trace<B> {
    /// The last hidden states, one row per token.
    pub fn hidden(&self) -> &B::Numbers {
        &self.hidden
    }

    /// The number of tokens of the batch.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The number of stories of the batch.
    pub fn stories(&self) -> usize {
        self.count
    }
}

/// The input of a layer, and what was computed from it unless that is to be done again.
struct LayerTrace<B: Backend> {
    input: B::Numbers,
    inner: Option<Inner<B>>,
}

/// The intermediate results of one layer.
enum Inner<B: Backend> {
    After(PostNorm<B>),
    Before(PreNorm<B>),
}

/// The places of a layer that have dropout.
#[derive(Clone, Copy)]
pub(super) enum Spot {
    Attention = 0,
    AttentionOutput = 1,
    Output = 2,
    Embeddings = 3,
    /// BERT's pooler, which is in no layer either.
    Pooler = 4,
}

impl<B: Backend> Network<B> {
    /// Copies the weights of a model, and of heads on top of it, to the device.
    ///
    /// # Errors
    /// Returns an error if a tensor does not have as many numbers as the configuration says, or if
    /// the device fails.
    pub fn new(
        backend: B,
        config: Config,
        parameters: &Parameters,
        heads: &[Tensor],
    ) -> Result<Network<B>> {
        config.check_trained()?;
        let layout = Layout::among(&config, &|name| parameters.has(name));
        let ends = Ends::of(&layout)?;
        let lengths = layout.expected.iter().map(|(_, shape)| shape.iter().product::<usize>());
        let found = parameters.tensors.iter().map(|tensor| tensor.data.len());
        if !lengths.eq(found) {
            return Err(Error::Mismatch("the weights are not those of the configuration".into()));
        }
        let given = |tensor| {
            let Tensor { shape, data, .. }: &Tensor = tensor;
            Given { data, decays: shape.len() > 1 }
        };
        let tensors: Vec<Given<'_>> = parameters.tensors.iter().chain(heads).map(given).collect();
        let store = backend.store(&tensors, &layout.memory_order(tensors.len()))?;
        let heads =
            heads.iter().map(|tensor| (tensor.name.clone(), tensor.shape.clone())).collect();
        Ok(Network { backend, store, config, layout, ends, heads })
    }

    /// The device.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Copies the weights of the model back from the device.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn parameters(&self) -> Result<Parameters> {
        Ok(Parameters { tensors: self.named(Part::Weights, &self.layout.expected, 0)? })
    }

    /// Copies the weights of the heads back from the device.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn heads(&self) -> Result<Vec<Tensor>> {
        self.named(Part::Weights, &self.heads, self.layout.expected.len())
    }

    /// Copies the gradients of the model and then of the heads back from the device. They are
    /// sums since they were last cleared.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn gradients(&self) -> Result<Parameters> {
        let mut tensors = self.named(Part::Gradients, &self.layout.expected, 0)?;
        tensors.extend(self.named(Part::Gradients, &self.heads, tensors.len())?);
        Ok(Parameters { tensors })
    }

    /// Rounds the weights to a grid until [`Network::restore`] is called. Forward and backward
    /// passes compute with the rounded weights.
    pub fn round(&mut self, grid: Grid) {
        self.backend.round(&mut self.store, &grid.of(&self.layout));
    }

    /// Brings back the exact weights, which the optimiser moves by the gradients of the rounded
    /// ones.
    pub fn restore(&mut self) {
        self.backend.restore(&mut self.store);
    }

    /// Sets all gradients to zero.
    pub fn clear_gradients(&mut self) {
        self.backend.clear_gradients(&mut self.store);
    }

    /// Takes the sums of losses: returns them and sets them to zero. Waits for a device that works
    /// in the background.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn take_losses(&mut self) -> Result<[f64; LOSSES]> {
        self.backend.take_losses(&mut self.store)
    }

    /// Replaces the gradients by their sums over the devices that train together.
    ///
    /// # Errors
    /// Returns an error if the exchange fails.
    pub fn sum_gradients(&mut self, exchange: &dyn Exchange<B>) -> Result<()> {
        let tensors = self.tensor_count();
        exchange.sum_gradients(&self.backend, &mut self.store, tensors)
    }

    /// The global norm of the gradients at the last step of the optimiser, before clipping, and the
    /// steps that were skipped because it was not finite. Waits for a device that works in the
    /// background.
    ///
    /// # Errors
    /// Returns [`Error::GradientsNotFinite`] if [`MOST_SKIPPED`] steps in a row or more were
    /// skipped, and any error of the device.
    pub fn steps(&self) -> Result<(f64, Skipped)> {
        let (norm, skipped) = self.backend.steps(&self.store)?;
        if skipped.in_a_row >= MOST_SKIPPED {
            return Err(Error::GradientsNotFinite { steps: skipped.in_a_row });
        }
        Ok((norm, skipped))
    }

    /// A linear map on the hidden states, made of tensors `weight` and `bias` of the heads.
    ///
    /// # Panics
    /// If there are no such tensors.
    pub fn head(&self, weight: usize, bias: usize) -> Linear {
        let first = self.layout.expected.len();
        let outputs = self.heads[bias].1[0];
        let (weight, bias) = (first + weight, Some(first + bias));
        Linear { weight, bias, inputs: self.config.hidden, outputs }
    }

    /// The head whose tensors have this name and `.weight` or `.bias` behind it, if there is one.
    pub fn head_named(&self, name: &str) -> Option<Linear> {
        let place = |part: &str| {
            self.heads.iter().position(|(known, _)| {
                known.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')) == Some(part)
            })
        };
        Some(self.head(place("weight")?, place("bias")?))
    }

    /// The table of words as a linear map on the hidden states, with tensor `bias` of the heads.
    ///
    /// # Panics
    /// If there is no such tensor.
    pub fn tied_head(&self, bias: usize) -> Linear {
        Linear {
            weight: self.layout.words,
            outputs: self.config.vocabulary,
            ..self.head(bias, bias)
        }
    }

    /// The map from the last hidden states of a language model to the logits of the next token: a
    /// matrix of its own, or the table of words.
    pub fn next_token_head(&self) -> Linear {
        Linear {
            weight: self.layout.next_token.unwrap_or(self.layout.words),
            bias: None,
            inputs: self.config.hidden,
            outputs: self.config.vocabulary,
        }
    }

    /// The number of tensors of model and heads.
    pub(super) fn tensor_count(&self) -> usize {
        self.layout.expected.len() + self.heads.len()
    }

    fn named(
        &self,
        part: Part,
        list: &[(String, Vec<usize>)],
        first: usize,
    ) -> Result<Vec<Tensor>> {
        let tensor = |(i, (name, shape)): (usize, &(String, Vec<usize>))| {
            let data = self.backend.read(&self.store, part, first + i)?;
            Ok(Tensor { name: name.clone(), shape: shape.clone(), data })
        };
        list.iter().enumerate().map(tensor).collect()
    }

    /// Computes the last hidden states of a batch, and keeps what the backward pass needs.
    ///
    /// # Errors
    /// Returns an error if a story is too long, or a token is not in the vocabulary.
    pub fn forward(&self, batch: &Batch, options: ForwardOptions) -> Result<Trace<B>> {
        self.run(batch, options, true)
    }

    /// Computes the last hidden states of a batch, one row per token, without dropout. Nothing is
    /// kept.
    ///
    /// # Errors
    /// Returns an error if a story is too long, or a token is not in the vocabulary.
    pub fn encode(&self, batch: &Batch) -> Result<B::Numbers> {
        Ok(self.run(batch, ForwardOptions::default(), false)?.hidden)
    }

    fn run(&self, batch: &Batch, options: ForwardOptions, keep: bool) -> Result<Trace<B>> {
        batch.check(&self.config)?;
        let b = &self.backend;
        let stories = batch.bounds().windows(2);
        let first = self.config.first_position;
        let places: Vec<u32> =
            stories.flat_map(|s| (0..s[1] - s[0]).map(move |i| (first + i) as u32)).collect();
        let segments = batch.segments().map(|segments| b.lookups(&segments));
        let rows =
            TableRows { words: b.lookups(batch.ids()), positions: b.lookups(&places), segments };
        let dropout = self.dropout(options, self.config.layers, Spot::Embeddings);
        let (before_norm, hidden) = match self.ends {
            Ends::After { tables, norm } => {
                let [embedded, hidden] =
                    b.embed(&self.store, tables, self.norm(norm), &rows, dropout);
                (Some(embedded), hidden)
            }
            Ends::Before { tables, .. } => {
                (None, b.embed_plain(&self.store, tables, self.config.hidden, &rows, dropout))
            }
        };
        let (tokens, count, stories) = (batch.ids().len(), batch.len(), b.stories(batch.bounds()));
        let (layers, turning) = (Vec::with_capacity(self.config.layers), self.turning(batch));
        let mut trace =
            Trace { tokens, count, rows, stories, turning, options, before_norm, layers, hidden };
        for layer in 0..self.config.layers {
            let (inner, output) = self.layer(&trace, layer, &trace.hidden);
            let input = std::mem::replace(&mut trace.hidden, output);
            if keep {
                let inner = (!options.recompute).then_some(inner);
                trace.layers.push(LayerTrace { input, inner });
            }
        }
        if let Ends::Before { last_norm, .. } = self.ends {
            let normed = b.norm(&self.store, self.norm(last_norm), &trace.hidden);
            trace.before_norm = Some(std::mem::replace(&mut trace.hidden, normed));
        }
        Ok(trace)
    }

    /// How queries and keys are turned, with the angles of all positions of a batch.
    fn turning(&self, batch: &Batch) -> Option<(Rotary, B::Floats)> {
        let Config { heads, shared_heads, rope, .. } = &self.config;
        let head_width = self.config.head_width();
        let rotary = Rotary { heads: *heads, key_heads: heads / shared_heads, head_width };
        let mut angles = Angles::new(rope.as_ref()?.frequencies(head_width));
        let lengths = batch.bounds().windows(2).map(|story| story[1] - story[0]);
        angles.fit(lengths.max().unwrap_or_default());
        Some((rotary, self.backend.floats(angles.table())))
    }

    /// Adds the gradients of all weights, given that of the last hidden states.
    pub fn backward(&mut self, mut trace: Trace<B>, d_hidden: B::Numbers) {
        let mut d = d_hidden;
        if let (Ends::Before { last_norm, .. }, Some(x)) = (self.ends, &trace.before_norm) {
            let mut d_x = self.backend.zeros(trace.tokens * self.config.hidden);
            let norm = self.norm(last_norm);
            self.backend.norm_backward(&mut self.store, norm, x, &d, &mut d_x);
            d = d_x;
        }
        while let Some(kept) = trace.layers.pop() {
            let layer = trace.layers.len();
            let inner = match kept.inner {
                Some(inner) => inner,
                None => self.layer(&trace, layer, &kept.input).0,
            };
            d = self.layer_backward(&trace, layer, &kept.input, inner, d);
        }
        let dropout = self.dropout(trace.options, self.config.layers, Spot::Embeddings);
        let Trace { rows, before_norm, .. } = &trace;
        let (b, width) = (&self.backend, self.config.hidden);
        match (self.ends, before_norm) {
            (Ends::After { tables, norm }, Some(embedded)) => {
                let norm = self.norm(norm);
                b.embed_backward(&mut self.store, tables, norm, rows, embedded, d, dropout);
            }
            (Ends::Before { tables, .. }, _) => {
                b.embed_plain_backward(&mut self.store, tables, width, rows, d, dropout);
            }
            (Ends::After { .. }, None) => unreachable!("the forward pass keeps the embeddings"),
        }
    }

    fn layer(&self, trace: &Trace<B>, layer: usize, input: &B::Numbers) -> (Inner<B>, B::Numbers) {
        match self.ends {
            Ends::After { .. } => {
                let (inner, output) = self.post_norm(trace, layer, input);
                (Inner::After(inner), output)
            }
            Ends::Before { .. } => {
                let (inner, output) = self.pre_norm(trace, layer, input);
                (Inner::Before(inner), output)
            }
        }
    }

    fn layer_backward(
        &mut self,
        trace: &Trace<B>,
        layer: usize,
        input: &B::Numbers,
        inner: Inner<B>,
        d_output: B::Numbers,
    ) -> B::Numbers {
        match inner {
            Inner::After(inner) => self.post_norm_backward(trace, layer, input, inner, d_output),
            Inner::Before(inner) => self.pre_norm_backward(trace, layer, input, inner, d_output),
        }
    }

    pub(super) fn attention(&self, trace: &Trace<B>, layer: usize) -> Attention {
        Attention {
            heads: self.config.heads,
            width: self.config.heads * self.config.head_width(),
            longest: self.config.max_tokens(),
            causal: self.config.is_causal(),
            relative: self.layout.relative,
            dropout: self.dropout(trace.options, layer, Spot::Attention),
        }
    }

    /// The dropout of BERT's pooler. Number `i` of the pooled vector of row `r` has place
    /// `r * hidden + i`.
    pub(super) fn pooler_dropout(&self, options: ForwardOptions) -> Dropout {
        self.dropout(options, self.config.layers, Spot::Pooler)
    }

    pub(super) fn dropout(&self, options: ForwardOptions, layer: usize, spot: Spot) -> Dropout {
        let Config { attention_dropout, hidden_dropout, heads, hidden, .. } = self.config;
        // How many numbers per row are dropped or kept. Attention has one probability per head and
        // token of the longest story.
        let (rate, width) = match spot {
            Spot::Attention => (attention_dropout, heads * self.config.max_tokens()),
            _ => (hidden_dropout, hidden),
        };
        match options.dropout {
            Some(stream) => {
                let stream = stream.child(layer as u64).child(spot as u64);
                Dropout { rate, stream: stream.skip((options.first_row * width) as u64) }
            }
            None => Dropout::none(),
        }
    }

    pub(super) fn norm(&self, place: Pair) -> Norm {
        Norm {
            gain: place.weight,
            shift: place.bias,
            width: self.config.hidden,
            eps: self.config.norm_eps,
        }
    }

    pub(super) fn projection(&self, layer: usize) -> [Linear; 3] {
        let LayerPlaces { query, key, value, .. } = self.layout.layers[layer];
        [query, key, value].map(|place| self.linear(place))
    }

    /// A linear map of the encoder, with the sizes that its weight should have.
    pub(super) fn linear(&self, place: Pair) -> Linear {
        let shape = &self.layout.expected[place.weight].1;
        Linear { weight: place.weight, bias: place.bias, inputs: shape[1], outputs: shape[0] }
    }
}
