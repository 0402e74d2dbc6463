//! Blocks with a norm after each part, as BERT has them.

use super::backend::Backend;
use super::network::{Network, Spot, Trace};
use crate::parameters::LayerPlaces;

/// The intermediate results of one layer.
pub(super) struct PostNorm<B: Backend> {
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

impl<B: Backend> Network<B> {
    /// Takes rows through a layer.
    pub(super) fn post_norm(
        &self,
        trace: &Trace<B>,
        layer: usize,
        input: &B::Numbers,
    ) -> (PostNorm<B>, B::Numbers) {
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
            PostNorm { projected, softmax, attention, attention_sum, middle, up, wide, output_sum },
            output,
        )
    }

    /// Adds the gradients of a layer, and returns that of its input.
    pub(super) fn post_norm_backward(
        &mut self,
        trace: &Trace<B>,
        layer: usize,
        input: &B::Numbers,
        inner: PostNorm<B>,
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
        let PostNorm { projected, softmax, attention: out, .. } = inner;
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
}
