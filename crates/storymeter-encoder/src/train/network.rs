//! The encoder forward and backward, written once over the operations of a [`Backend`].

use super::backend::{
    Attention, Backend, Dropout, Given, LOSSES, Linear, Norm, Part, TableRows, Tables,
};
use super::exchange::Exchange;
use crate::batch::Batch;
use crate::config::Config;
use crate::grid::Grid;
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

/// An encoder, and the heads on top of it, whose weights and gradients are on a device.
pub struct Network<B: Backend> {
    pub(super) backend: B,
    pub(super) store: B::Store,
    config: Config,
    layout: Layout,
    /// The name and shape of every tensor of the heads.
    heads: Vec<(String, Vec<usize>)>,
}

/// What the forward pass keeps for the backward pass.
pub struct Trace<B: Backend> {
    tokens: usize,
    count: usize,
    rows: TableRows<B::Lookups>,
    pub(super) stories: B::Stories,
    pub(super) options: ForwardOptions,
    embedded: B::Numbers,
    layers: Vec<Kept<B>>,
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
struct Kept<B: Backend> {
    input: B::Numbers,
    inner: Option<Inner<B>>,
}

/// The intermediate results of one layer.
struct Inner<B: Backend> {
    projected: B::Projected,
    softmax: B::Softmax,
    attention: B::Numbers,
    /// The input plus the result of attention, before the first layer norm.
    attention_sum: B::Numbers,
    middle: B::Numbers,
    up: B::Numbers,
    wide: B::Numbers,
    /// The middle plus the result of the feed-forward part, before the second layer norm.
    output_sum: B::Numbers,
}

/// The places of a layer that have dropout.
#[derive(Clone, Copy)]
enum Spot {
    Attention = 0,
    AttentionOutput = 1,
    Output = 2,
    Embeddings = 3,
    /// BERT's pooler, which is in no layer either.
    Pooler = 4,
}

impl<B: Backend> Network<B> {
    /// Copies the weights of an encoder, and of heads on top of it, to the device.
    ///
    /// # Errors
    /// If a tensor does not have as many numbers as the configuration says, or if the device fails.
    pub fn new(
        backend: B,
        config: Config,
        parameters: &Parameters,
        heads: &[Tensor],
    ) -> Result<Network<B>> {
        config.check_encoder()?;
        let layout = Layout::of(&config);
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
        Ok(Network { backend, store, config, layout, heads })
    }

    /// The device.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Copies the weights of the encoder back from the device.
    ///
    /// # Errors
    /// If the device fails.
    pub fn parameters(&self) -> Result<Parameters> {
        Ok(Parameters { tensors: self.named(Part::Weights, &self.layout.expected, 0)? })
    }

    /// Copies the weights of the heads back from the device.
    ///
    /// # Errors
    /// If the device fails.
    pub fn heads(&self) -> Result<Vec<Tensor>> {
        self.named(Part::Weights, &self.heads, self.layout.expected.len())
    }

    /// Copies the gradients of the encoder and then of the heads back from the device. They are
    /// sums since they were last cleared.
    ///
    /// # Errors
    /// If the device fails.
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
    /// If the device fails.
    pub fn take_losses(&mut self) -> Result<[f64; LOSSES]> {
        self.backend.take_losses(&mut self.store)
    }

    /// Replaces the gradients by their sums over the devices that train together.
    ///
    /// # Errors
    /// If the exchange fails.
    pub fn sum_gradients(&mut self, exchange: &dyn Exchange<B>) -> Result<()> {
        let tensors = self.tensor_count();
        exchange.sum_gradients(&self.backend, &mut self.store, tensors)
    }

    /// The global norm of the gradients at the last step of the optimiser, before clipping.
    ///
    /// # Errors
    /// If the device fails.
    pub fn gradient_norm(&self) -> Result<f64> {
        self.backend.gradient_norm(&self.store)
    }

    /// A linear map on the hidden states, made of tensors `weight` and `bias` of the heads.
    ///
    /// # Panics
    /// If there are no such tensors.
    pub fn head(&self, weight: usize, bias: usize) -> Linear {
        let first = self.layout.expected.len();
        let outputs = self.heads[bias].1[0];
        Linear { weight: first + weight, bias: first + bias, inputs: self.config.hidden, outputs }
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

    /// The number of tensors of encoder and heads.
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
    /// If a story is too long, or a token is not in the vocabulary.
    pub fn forward(&self, batch: &Batch, options: ForwardOptions) -> Result<Trace<B>> {
        self.run(batch, options, true)
    }

    /// Computes the last hidden states of a batch, one row per token, without dropout. Nothing is
    /// kept.
    ///
    /// # Errors
    /// If a story is too long, or a token is not in the vocabulary.
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
        let norm = self.norm(self.layout.norm);
        let [embedded, hidden] = b.embed(&self.store, self.tables(), norm, &rows, dropout);
        let (tokens, count, stories) = (batch.ids().len(), batch.len(), b.stories(batch.bounds()));
        let layers = Vec::with_capacity(self.config.layers);
        let mut trace = Trace { tokens, count, rows, stories, options, embedded, layers, hidden };
        for layer in 0..self.config.layers {
            let (inner, output) = self.layer(&trace, layer, &trace.hidden);
            let input = std::mem::replace(&mut trace.hidden, output);
            if keep {
                let inner = (!options.recompute).then_some(inner);
                trace.layers.push(Kept { input, inner });
            }
        }
        Ok(trace)
    }

    /// Adds the gradients of all weights, given that of the last hidden states.
    pub fn backward(&mut self, mut trace: Trace<B>, d_hidden: B::Numbers) {
        let mut d = d_hidden;
        while let Some(kept) = trace.layers.pop() {
            let layer = trace.layers.len();
            let inner = match kept.inner {
                Some(inner) => inner,
                None => self.layer(&trace, layer, &kept.input).0,
            };
            d = self.layer_backward(&trace, layer, &kept.input, inner, d);
        }
        let (tables, norm) = (self.tables(), self.norm(self.layout.norm));
        let dropout = self.dropout(trace.options, self.config.layers, Spot::Embeddings);
        let Trace { rows, embedded, .. } = &trace;
        self.backend.embed_backward(&mut self.store, tables, norm, rows, embedded, d, dropout);
    }

    fn layer(&self, trace: &Trace<B>, layer: usize, input: &B::Numbers) -> (Inner<B>, B::Numbers) {
        let (b, store, places, rows) =
            (&self.backend, &self.store, self.layout.layers[layer], trace.tokens);
        let projected = b.project(store, self.projection(layer), input, rows);
        let (attention, softmax) =
            b.attention(store, self.attention(trace, layer), &trace.stories, &projected);
        let branch = b.linear(store, self.linear(places.output), &attention, rows);
        let dropout = self.dropout(trace.options, layer, Spot::AttentionOutput);
        let [attention_sum, middle] =
            b.add_norm(store, self.norm(places.attention_norm), branch, input, dropout);
        let [up, wide] =
            b.linear_activate(store, self.linear(places.up), &middle, rows, self.config.activation);
        let branch = b.linear(store, self.linear(places.down), &wide, rows);
        let dropout = self.dropout(trace.options, layer, Spot::Output);
        let [output_sum, output] =
            b.add_norm(store, self.norm(places.output_norm), branch, &middle, dropout);
        (
            Inner { projected, softmax, attention, attention_sum, middle, up, wide, output_sum },
            output,
        )
    }

    fn layer_backward(
        &mut self,
        trace: &Trace<B>,
        layer: usize,
        input: &B::Numbers,
        inner: Inner<B>,
        d_output: B::Numbers,
    ) -> B::Numbers {
        let LayerPlaces { output, attention_norm, up, down, output_norm, .. } =
            self.layout.layers[layer];
        let [output, up, down] = [output, up, down].map(|place| self.linear(place));
        let [attention_norm, output_norm] =
            [attention_norm, output_norm].map(|place| self.norm(place));
        let (projection, attention) = (self.projection(layer), self.attention(trace, layer));
        let (activation, rows) = (self.config.activation, trace.tokens);
        let [first_dropout, second_dropout] = [Spot::AttentionOutput, Spot::Output]
            .map(|spot| self.dropout(trace.options, layer, spot));
        let (b, store) = (&self.backend, &mut self.store);

        // The feed-forward part. The sum before the norm passes its gradient on to both of its
        // parts.
        let [mut d_middle, d_branch] =
            b.add_norm_backward(store, output_norm, &inner.output_sum, &d_output, second_dropout);
        drop(d_output);
        let d_wide = b.linear_backward(store, down, &inner.wide, rows, &d_branch);
        drop((d_branch, inner.output_sum, inner.wide));
        b.linear_activate_backward(
            store,
            up,
            &inner.middle,
            rows,
            &inner.up,
            activation,
            d_wide,
            &mut d_middle,
        );
        drop((inner.middle, inner.up));

        // The attention part.
        let [mut d_input, d_branch] = b.add_norm_backward(
            store,
            attention_norm,
            &inner.attention_sum,
            &d_middle,
            first_dropout,
        );
        drop((d_middle, inner.attention_sum));
        let d_attention = b.linear_backward(store, output, &inner.attention, rows, &d_branch);
        drop(d_branch);
        let Inner { projected, softmax, attention: out, .. } = inner;
        let stories = &trace.stories;
        let d = b.attention_backward(
            store,
            attention,
            stories,
            &projected,
            &softmax,
            &out,
            &d_attention,
        );
        drop((projected, softmax, out, d_attention));
        b.project_backward(store, projection, input, rows, d, &mut d_input);
        d_input
    }

    fn tables(&self) -> Tables {
        let Layout { words, positions, segments, .. } = self.layout;
        Tables { words, positions, segments }
    }

    fn attention(&self, trace: &Trace<B>, layer: usize) -> Attention {
        Attention {
            heads: self.config.heads,
            width: self.config.hidden,
            longest: self.config.max_tokens(),
            relative: self.layout.relative,
            dropout: self.dropout(trace.options, layer, Spot::Attention),
        }
    }

    /// The dropout of BERT's pooler. Number `i` of the pooled vector of row `r` has place
    /// `r * hidden + i`.
    pub(super) fn pooler_dropout(&self, options: ForwardOptions) -> Dropout {
        self.dropout(options, self.config.layers, Spot::Pooler)
    }

    fn dropout(&self, options: ForwardOptions, layer: usize, spot: Spot) -> Dropout {
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

    fn norm(&self, place: Pair) -> Norm {
        Norm {
            gain: place.weight,
            shift: place.bias,
            width: self.config.hidden,
            eps: self.config.norm_eps,
        }
    }

    fn projection(&self, layer: usize) -> [Linear; 3] {
        let LayerPlaces { query, key, value, .. } = self.layout.layers[layer];
        [query, key, value].map(|place| self.linear(place))
    }

    /// A linear map of the encoder, with the sizes that its weight should have.
    fn linear(&self, place: Pair) -> Linear {
        let shape = &self.layout.expected[place.weight].1;
        Linear { weight: place.weight, bias: place.bias, inputs: shape[1], outputs: shape[0] }
    }
}
