//! DistilBERT (Sanh et al. 2019).

use super::{
    Architecture, Attention, Defaults, FieldNames, MaskedWord, Order, Positions, Qkv, Stack,
};

pub(super) const DISTILBERT: Architecture = Architecture {
    model_types: &["distilbert"],
    fields: FieldNames {
        hidden: "dim",
        layers: "n_layers",
        heads: "n_heads",
        intermediate: "hidden_dim",
        positions: "max_position_embeddings",
        activation: "activation",
        norm_eps: "layer_norm_eps",
        hidden_dropout: "dropout",
        attention_dropout: "attention_dropout",
    },
    defaults: Defaults {
        activation: "gelu",
        norm_eps: 1e-12,
        padding: 0,
        segments: 0,
        widening: None,
        dropout: 0.1,
    },
    order: Order::After,
    rms: false,
    positions: Positions::Table,
    biased: true,
    transposed: false,
    words: &["embeddings.word_embeddings.weight"],
    segments: None,
    relative: None,
    encoder: Stack {
        causal: false,
        positions: Some("embeddings.position_embeddings.weight"),
        norm: Some("embeddings.LayerNorm"),
        before: "transformer.layer.",
        attention: Attention {
            qkv: Qkv::Apart(["attention.q_lin", "attention.k_lin", "attention.v_lin"]),
            output: "attention.out_lin",
            norm: "sa_layer_norm",
        },
        cross: None,
        gate: None,
        up: "ffn.lin1",
        down: "ffn.lin2",
        output_norm: "output_layer_norm",
        last_norm: None,
    },
    decoder: None,
    masked_word: Some(MaskedWord {
        dense: "vocab_transform",
        norm: "vocab_layer_norm",
        words: "vocab_projector.weight",
        bias: "vocab_projector.bias",
    }),
    next_token: false,
};
