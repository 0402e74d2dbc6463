//! Models of any size that need no file, for tests and timings on a GPU.

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

/// A GPT-2, or with heads of keys a Llama, of these sizes with a small vocabulary.
#[allow(dead_code, reason = "not every test that has models needs language models")]
pub fn language_model(
    layers: usize,
    hidden: usize,
    heads: usize,
    key_heads: Option<usize>,
    intermediate: usize,
) -> Config {
    let fields = match key_heads {
        None => serde_json::json!({
            "model_type": "gpt2", "n_embd": hidden, "n_layer": layers, "n_head": heads,
            "n_inner": intermediate, "n_positions": 512, "vocab_size": 1003,
        }),
        Some(key_heads) => serde_json::json!({
            "model_type": "llama", "hidden_size": hidden, "num_hidden_layers": layers,
            "num_attention_heads": heads, "num_key_value_heads": key_heads,
            "intermediate_size": intermediate, "max_position_embeddings": 512, "vocab_size": 1003,
            "attention_dropout": 0.1, "hidden_dropout_prob": 0.1,
        }),
    };
    let fields = fields.as_object().expect("an object").clone();
    Config::from_fields(fields, "config.json".into()).expect("sound sizes")
}
