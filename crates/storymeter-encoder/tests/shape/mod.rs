//! Encoders of any size that need no file, for tests and timings on a GPU.

use storymeter_encoder::{Activation, Config, Family};

/// A BERT or an MPNet of these sizes with a small vocabulary. Everything else is as in the
/// published models.
pub fn config(
    family: Family,
    layers: usize,
    hidden: usize,
    heads: usize,
    intermediate: usize,
) -> Config {
    let mpnet = family == Family::Mpnet;
    Config {
        family,
        vocabulary: 1003,
        hidden,
        layers,
        heads,
        shared_heads: 1,
        wide_heads: None,
        intermediate,
        positions: if mpnet { 514 } else { 512 },
        first_position: if mpnet { 2 } else { 0 },
        segments: if mpnet { 0 } else { 2 },
        relative_buckets: if mpnet { 32 } else { 0 },
        activation: Activation::GeluErf,
        norm_eps: 1e-12,
        padding: 0,
        hidden_dropout: 0.1,
        attention_dropout: 0.1,
        rope: None,
        decoder: None,
        source: serde_json::Map::new(),
    }
}
