//! BERT (Devlin et al. 2019) and MiniLM.

use super::{
    Architecture, Attention, BERT_FIELDS, Defaults, MaskedWord, Order, Positions, Qkv, Stack,
};

pub(super) const BERT: Architecture = Architecture {
    // BLEURT is BERT under another name, except for the versions whose word embeddings are narrower
    // than the layers, which the configuration refuses.
    model_types: &["bert", "bleurt"],
    fields: BERT_FIELDS,
    defaults: Defaults {
        activation: "gelu",
        norm_eps: 1e-12,
        padding: 0,
        segments: 2,
        widening: None,
        dropout: 0.1,
    },
    order: Order::After,
    rms: false,
    positions: Positions::Table,
    biased: true,
    transposed: false,
    words: &["embeddings.word_embeddings.weight"],
    segments: Some("embeddings.token_type_embeddings.weight"),
    relative: None,
    encoder: STACK,
    decoder: None,
    masked_word: Some(MaskedWord {
        dense: "cls.predictions.transform.dense",
        norm: "cls.predictions.transform.LayerNorm",
        words: "cls.predictions.decoder.weight",
        bias: "cls.predictions.bias",
    }),
    next_token: false,
};

/// The blocks, which RoBERTa has too.
pub(super) const STACK: Stack = Stack {
    causal: false,
    positions: Some("embeddings.position_embeddings.weight"),
    norm: Some("embeddings.LayerNorm"),
    before: "encoder.layer.",
    attention: Attention {
        qkv: Qkv::Apart(["attention.self.query", "attention.self.key", "attention.self.value"]),
        output: "attention.output.dense",
        norm: "attention.output.LayerNorm",
    },
    cross: None,
    gate: None,
    up: "intermediate.dense",
    down: "output.dense",
    output_norm: "output.LayerNorm",
    last_norm: None,
};
