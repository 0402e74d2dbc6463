//! The encoder forward and backward, written once over the operations of a [`Backend`].

use super::backend::{AttentionShape, Backend, Dropout, LinearShape};
use crate::batch::Batch;
use crate::config::Config;
use crate::parameters::{LayerPlaces, Layout, Pair, Parameters, Tensor};
use crate::random::Stream;

/// How a batch goes through the network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ForwardOptions {
    /// The random numbers of dropout; `None` turns dropout off.
    pub dropout: Option<Stream>,
    /// Keep only each layer's input, and compute the rest again in the backward pass: about a tenth of the memory for
    /// a third more time.
    pub recompute: bool,
}

/// An encoder whose weights and gradients are on a device.
pub struct Network<B: Backend> {
    backend: B,
    config: Config,
    layout: Layout,
    weights: Vec<B::Buffer>,
    gradients: Vec<B::Buffer>,
}

/// What the forward pass keeps for the backward pass.
pub struct Trace<B: Backend> {
    ids: Vec<u32>,
    bounds: Vec<usize>,
    places: Vec<u32>,
    options: ForwardOptions,
    embedded: B::Buffer,
    layers: Vec<Kept<B>>,
    hidden: B::Buffer,
}

impl<B: Backend> Trace<B> {
    /// The last hidden states, one row a token.
    pub fn hidden(&self) -> &B::Buffer {
        &self.hidden
    }
}

/// A layer's input, and what was computed from it unless that is to be done again.
struct Kept<B: Backend> {
    input: B::Buffer,
    inner: Option<Inner<B>>,
}

/// The intermediate results of one layer.
struct Inner<B: Backend> {
    query: B::Buffer,
    key: B::Buffer,
    value: B::Buffer,
    attention: B::Buffer,
    /// Input plus attention's output, before the first layer norm.
    attention_sum: B::Buffer,
    middle: B::Buffer,
    up: B::Buffer,
    wide: B::Buffer,
    /// Middle plus the feed-forward part's output, before the second layer norm.
    output_sum: B::Buffer,
}

/// Which of a layer's places for dropout.
#[derive(Clone, Copy)]
enum Spot {
    Attention = 0,
    AttentionOutput = 1,
    Output = 2,
    Embeddings = 3,
}

impl<B: Backend> Network<B> {
    /// Takes weights to the device.
    pub fn new(backend: B, config: Config, parameters: &Parameters) -> Network<B> {
        let layout = Layout::of(&config);
        let weights = parameters.tensors.iter().map(|tensor| backend.upload(&tensor.data)).collect();
        let gradients = parameters.tensors.iter().map(|tensor| backend.zeros(tensor.data.len())).collect();
        Network { backend, config, layout, weights, gradients }
    }

    /// The device.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The weights, back from the device.
    pub fn parameters(&self) -> Parameters {
        self.named(&self.weights)
    }

    /// The gradients summed up since they were last cleared, back from the device.
    pub fn gradients(&self) -> Parameters {
        self.named(&self.gradients)
    }

    /// Sets all gradients to zero.
    pub fn clear_gradients(&mut self) {
        self.gradients.iter_mut().for_each(|gradient| self.backend.clear(gradient));
    }

    /// Weights, gradients and whether weight decay applies (not to biases and layer norms), tensor by tensor.
    pub fn tensors(&mut self) -> impl Iterator<Item = (&mut B::Buffer, &B::Buffer, bool)> {
        let decays = self.layout.expected.iter().map(|(_, shape)| shape.len() > 1);
        self.weights.iter_mut().zip(&self.gradients).zip(decays).map(|((w, g), decays)| (w, g, decays))
    }

    /// The device, the table of words and the table's gradient: for a head tied to it.
    pub fn words(&mut self) -> (&B, &B::Buffer, &mut B::Buffer) {
        let place = self.layout.words;
        (&self.backend, &self.weights[place], &mut self.gradients[place])
    }

    fn named(&self, buffers: &[B::Buffer]) -> Parameters {
        let tensors = self.layout.expected.iter().zip(buffers);
        let tensor = |((name, shape), buffer): (&(String, Vec<usize>), &B::Buffer)| Tensor {
            name: name.clone(),
            shape: shape.clone(),
            data: self.backend.download(buffer),
        };
        Parameters { tensors: tensors.map(tensor).collect() }
    }

    /// The last hidden states of a batch, with what the backward pass needs.
    pub fn forward(&self, batch: &Batch, options: ForwardOptions) -> Trace<B> {
        let (b, h) = (&self.backend, self.config.hidden);
        let stories = batch.bounds().windows(2);
        let first = self.config.first_position;
        let places = stories.flat_map(|s| (0..s[1] - s[0]).map(move |i| (first + i) as u32)).collect();
        let mut trace = Trace {
            ids: batch.ids().to_vec(),
            bounds: batch.bounds().to_vec(),
            places,
            options,
            embedded: b.zeros(0),
            layers: Vec::with_capacity(self.config.layers),
            hidden: b.zeros(0),
        };
        let layout = &self.layout;
        let segments = layout.segments.map(|place| &self.weights[place]);
        let tables = (&self.weights[layout.words], &self.weights[layout.positions], segments);
        trace.embedded = b.embed(&trace.ids, &trace.places, tables, h);
        let mut x = self.norm(layout.norm, &trace.embedded);
        b.dropout(&mut x, self.dropout(&trace, self.config.layers, Spot::Embeddings));
        for layer in 0..self.config.layers {
            let (inner, output) = self.layer(&trace, layer, &x);
            let inner = (!options.recompute).then_some(inner);
            trace.layers.push(Kept { input: std::mem::replace(&mut x, output), inner });
        }
        trace.hidden = x;
        trace
    }

    /// Adds the gradients of all weights, given that of the last hidden states.
    pub fn backward(&mut self, mut trace: Trace<B>, d_hidden: B::Buffer) {
        let mut d = d_hidden;
        while let Some(kept) = trace.layers.pop() {
            let layer = trace.layers.len();
            let inner = match kept.inner {
                Some(inner) => inner,
                None => self.layer(&trace, layer, &kept.input).0,
            };
            d = self.layer_backward(&trace, layer, &kept.input, inner, d);
        }
        self.backend.dropout(&mut d, self.dropout(&trace, self.config.layers, Spot::Embeddings));
        let d = self.norm_backward(self.layout.norm, &trace.embedded, &d);
        let layout = &self.layout;
        // Words, positions and segments are the first tensors, in this order (see `Layout::of`).
        let (words, rest) = self.gradients.split_at_mut(layout.positions);
        let (positions, rest) = rest.split_at_mut(1);
        let segments = layout.segments.map(|_| &mut rest[0]);
        let tables = (&mut words[layout.words], &mut positions[0], segments);
        self.backend.embed_backward(&trace.ids, &trace.places, &d, tables, self.config.hidden);
    }

    fn layer(&self, trace: &Trace<B>, layer: usize, input: &B::Buffer) -> (Inner<B>, B::Buffer) {
        let (b, places, rows) = (&self.backend, self.layout.layers[layer], trace.ids.len());
        let query = self.linear(places.query, input, rows);
        let key = self.linear(places.key, input, rows);
        let value = self.linear(places.value, input, rows);
        let relative = self.layout.relative.map(|place| &self.weights[place]);
        let attention = b.attention(&query, &key, &value, relative, self.attention_shape(trace, layer));
        let mut attention_sum = self.linear(places.output, &attention, rows);
        b.dropout(&mut attention_sum, self.dropout(trace, layer, Spot::AttentionOutput));
        b.add(&mut attention_sum, input);
        let middle = self.norm(places.attention_norm, &attention_sum);
        let up = self.linear(places.up, &middle, rows);
        let wide = b.activate(&up, self.config.activation);
        let mut output_sum = self.linear(places.down, &wide, rows);
        b.dropout(&mut output_sum, self.dropout(trace, layer, Spot::Output));
        b.add(&mut output_sum, &middle);
        let output = self.norm(places.output_norm, &output_sum);
        (Inner { query, key, value, attention, attention_sum, middle, up, wide, output_sum }, output)
    }

    fn layer_backward(
        &mut self,
        trace: &Trace<B>,
        layer: usize,
        input: &B::Buffer,
        inner: Inner<B>,
        d_output: B::Buffer,
    ) -> B::Buffer {
        let LayerPlaces { query, key, value, output, attention_norm, up, down, output_norm } =
            self.layout.layers[layer];
        let rows = trace.ids.len();
        let (hidden, intermediate) = (rows * self.config.hidden, rows * self.config.intermediate);

        // The feed-forward part; the sum before the norm passes its gradient to both of its parts.
        let mut d_middle = self.norm_backward(output_norm, &inner.output_sum, &d_output);
        let mut d_down = self.backend.copy(&d_middle);
        self.backend.dropout(&mut d_down, self.dropout(trace, layer, Spot::Output));
        let mut d_wide = self.backend.zeros(intermediate);
        self.linear_backward(down, &inner.wide, &d_down, &mut d_wide, rows);
        self.backend.activate_backward(&inner.up, self.config.activation, &mut d_wide);
        self.linear_backward(up, &inner.middle, &d_wide, &mut d_middle, rows);

        // The attention part.
        let mut d_input = self.norm_backward(attention_norm, &inner.attention_sum, &d_middle);
        let mut d_out = self.backend.copy(&d_input);
        self.backend.dropout(&mut d_out, self.dropout(trace, layer, Spot::AttentionOutput));
        let mut d_attention = self.backend.zeros(hidden);
        self.linear_backward(output, &inner.attention, &d_out, &mut d_attention, rows);
        let shape = self.attention_shape(trace, layer);
        let relative = self.layout.relative.map(|place| (&self.weights[place], &mut self.gradients[place]));
        let parts = (&inner.query, &inner.key, &inner.value);
        let d = self.backend.attention_backward(parts.0, parts.1, parts.2, relative, shape, &d_attention);
        for (place, d) in [query, key, value].into_iter().zip(&d) {
            self.linear_backward(place, input, d, &mut d_input, rows);
        }
        d_input
    }

    fn attention_shape<'a>(&self, trace: &'a Trace<B>, layer: usize) -> AttentionShape<'a> {
        AttentionShape {
            bounds: &trace.bounds,
            heads: self.config.heads,
            width: self.config.hidden,
            longest: self.config.max_tokens(),
            dropout: self.dropout(trace, layer, Spot::Attention),
        }
    }

    fn dropout(&self, trace: &Trace<B>, layer: usize, spot: Spot) -> Dropout {
        let rate = match spot {
            Spot::Attention => self.config.attention_dropout,
            _ => self.config.hidden_dropout,
        };
        match trace.options.dropout {
            Some(stream) => Dropout { rate, stream: stream.child(layer as u64).child(spot as u64) },
            None => Dropout::none(),
        }
    }

    fn norm(&self, place: Pair, x: &B::Buffer) -> B::Buffer {
        let (gain, shift) = (&self.weights[place.weight], &self.weights[place.bias]);
        self.backend.norm(x, gain, shift, self.config.norm_eps)
    }

    fn norm_backward(&mut self, place: Pair, x: &B::Buffer, d_out: &B::Buffer) -> B::Buffer {
        let [d_gain, d_shift] = pair_mut(&mut self.gradients, place);
        let gain = &self.weights[place.weight];
        self.backend.norm_backward(x, gain, self.config.norm_eps, d_out, d_gain, d_shift)
    }

    fn linear(&self, place: Pair, x: &B::Buffer, rows: usize) -> B::Buffer {
        let (weight, bias) = (&self.weights[place.weight], &self.weights[place.bias]);
        self.backend.linear(x, weight, bias, self.shape(place, rows))
    }

    /// Adds the gradients of weight, bias and input.
    fn linear_backward(
        &mut self,
        place: Pair,
        x: &B::Buffer,
        d_out: &B::Buffer,
        d_x: &mut B::Buffer,
        rows: usize,
    ) {
        let shape = self.shape(place, rows);
        let [d_weight, d_bias] = pair_mut(&mut self.gradients, place);
        let weight = &self.weights[place.weight];
        self.backend.linear_backward(x, weight, shape, d_out, Some(d_x), d_weight, d_bias);
    }

    /// The shape of a linear map of the encoder, by its weight's expected shape.
    fn shape(&self, place: Pair, rows: usize) -> LinearShape {
        let shape = &self.layout.expected[place.weight].1;
        LinearShape { rows, inputs: shape[1], outputs: shape[0] }
    }
}

/// Gradients of a weight and of its bias, which follows it.
fn pair_mut<T>(tensors: &mut [T], place: Pair) -> [&mut T; 2] {
    tensors
        .get_disjoint_mut([place.weight, place.bias])
        .expect("a weight and its bias are two different tensors")
}
