//! Blocks with a norm before each part, as GPT-2 and models of Llama's type have them. The result
//! of a part is added to its input, so that the hidden states are a sum to which every part adds.

use super::backend::{Backend, Dropout, Linear, Norm};
use super::network::{Network, Spot, Trace};
use crate::parameters::LayerPlaces;

/// The intermediate results of one layer.
pub(super) struct PreNorm<B: Backend> {
    /// The input after the first norm.
    normed: B::Numbers,
    /// Queries, keys and values as attention takes them.
    projected: B::Projected,
    softmax: B::Softmax,
    attention: B::Numbers,
    /// The input plus the result of attention.
    middle: B::Numbers,
    /// The middle after the second norm.
    normed_middle: B::Numbers,
    gate: Option<B::Numbers>,
    up: B::Numbers,
    wide: B::Numbers,
}

/// The maps and norms of one layer.
struct Places {
    projection: [Linear; 3],
    output: Linear,
    gate: Option<Linear>,
    up: Linear,
    down: Linear,
    attention_norm: Norm,
    output_norm: Norm,
    /// The dropout of the result of attention, and of the feed-forward part.
    dropouts: [Dropout; 2],
}

impl<B: Backend> Network<B> {
    fn places(&self, trace: &Trace<B>, layer: usize) -> Places {
        let LayerPlaces { output, attention_norm, gate, up, down, output_norm, .. } =
            self.layout.layers[layer];
        let [output, up, down] = [output, up, down].map(|place| self.linear(place));
        let [attention_norm, output_norm] =
            [attention_norm, output_norm].map(|place| self.norm(place));
        Places {
            projection: self.projection(layer),
            output,
            gate: gate.map(|place| self.linear(place)),
            up,
            down,
            attention_norm,
            output_norm,
            dropouts: [Spot::AttentionOutput, Spot::Output]
                .map(|spot| self.dropout(trace.options, layer, spot)),
        }
    }

    /// Takes rows through a layer.
    pub(super) fn pre_norm(
        &self,
        trace: &Trace<B>,
        layer: usize,
        input: &B::Numbers,
    ) -> (PreNorm<B>, B::Numbers) {
        let (b, store, rows) = (&self.backend, &self.store, trace.tokens);
        let places = self.places(trace, layer);
        let [first_dropout, second_dropout] = places.dropouts;
        let normed = b.norm(store, places.attention_norm, input);
        let mut projected = b.project(store, places.projection, &normed, rows);
        if let Some((rotary, angles)) = &trace.turning {
            projected = b.turn(*rotary, projected, angles, &trace.rows.positions);
        }
        let (attention, softmax) =
            b.attention(store, self.attention(trace, layer), &trace.stories, &projected);
        let branch = b.linear(store, places.output, &attention, rows);
        let middle = b.add(branch, input, first_dropout);
        let normed_middle = b.norm(store, places.output_norm, &middle);
        let activation = self.config.activation;
        let (gate, up, wide) = match places.gate {
            None => {
                let [up, wide] =
                    b.linear_activate(store, places.up, &normed_middle, rows, activation);
                (None, up, wide)
            }
            Some(gate) => {
                let gate = b.linear(store, gate, &normed_middle, rows);
                let up = b.linear(store, places.up, &normed_middle, rows);
                let wide = b.gated(&gate, &up, activation);
                (Some(gate), up, wide)
            }
        };
        let branch = b.linear(store, places.down, &wide, rows);
        let output = b.add(branch, &middle, second_dropout);
        (
            PreNorm {
                normed,
                projected,
                softmax,
                attention,
                middle,
                normed_middle,
                gate,
                up,
                wide,
            },
            output,
        )
    }

    /// Adds the gradients of a layer, and returns that of its input.
    pub(super) fn pre_norm_backward(
        &mut self,
        trace: &Trace<B>,
        layer: usize,
        input: &B::Numbers,
        inner: PreNorm<B>,
        d_output: B::Numbers,
    ) -> B::Numbers {
        let places = self.places(trace, layer);
        let [first_dropout, second_dropout] = places.dropouts;
        let (attention, activation) = (self.attention(trace, layer), self.config.activation);
        let (rows, hidden) = (trace.tokens, self.config.hidden);
        let (b, store) = (&self.backend, &mut self.store);

        // The gradient of the sum goes on to the input of each part as it is, and that through the
        // part is added to it.
        let mut d = d_output;
        let d_branch = b.dropped(&d, second_dropout);
        let d_wide = b.linear_backward(store, places.down, &inner.wide, rows, &d_branch);
        drop((d_branch, inner.wide));
        let d_normed = match (places.gate, &inner.gate) {
            (Some(map), Some(gate)) => {
                let [d_gate, d_up] = b.gated_backward(gate, &inner.up, activation, &d_wide);
                let x = &inner.normed_middle;
                let d_x = b.linear_backward(store, map, x, rows, &d_gate);
                let more = b.linear_backward(store, places.up, x, rows, &d_up);
                b.add(more, &d_x, Dropout::none())
            }
            _ => {
                let (x, mut d_x) = (&inner.normed_middle, b.zeros(rows * hidden));
                b.linear_activate_backward(
                    store, places.up, x, rows, &inner.up, activation, d_wide, &mut d_x,
                );
                d_x
            }
        };
        drop((inner.normed_middle, inner.gate, inner.up));
        b.norm_backward(store, places.output_norm, &inner.middle, &d_normed, &mut d);
        drop((d_normed, inner.middle));

        let d_branch = b.dropped(&d, first_dropout);
        let d_attention =
            b.linear_backward(store, places.output, &inner.attention, rows, &d_branch);
        drop(d_branch);
        let PreNorm { normed, projected, softmax, attention: out, .. } = inner;
        let stories = &trace.stories;
        let mut d_projected = b.attention_backward(
            store,
            attention,
            stories,
            &projected,
            &softmax,
            &out,
            &d_attention,
        );
        drop((projected, softmax, out, d_attention));
        if let Some((rotary, angles)) = &trace.turning {
            d_projected = b.turn_backward(*rotary, d_projected, angles, &trace.rows.positions);
        }
        let mut d_normed = b.zeros(rows * hidden);
        b.project_backward(store, places.projection, &normed, rows, d_projected, &mut d_normed);
        b.norm_backward(store, places.attention_norm, input, &d_normed, &mut d);
        d
    }
}
