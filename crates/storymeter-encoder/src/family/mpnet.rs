//! MPNet (Song et al. 2020): RoBERTa's positions and head, and a relative position bias.

use super::{
    Architecture, Attention, BERT_FIELDS, Defaults, Order, Positions, Qkv, ROBERTA_HEAD, Stack,
    bert,
};

pub(super) const MPNET: Architecture = Architecture {
    model_types: &["mpnet"],
    fields: BERT_FIELDS,
    defaults: Defaults {
        activation: "gelu",
        norm_eps: 1e-12,
        padding: 1,
        segments: 0,
        widening: None,
        dropout: 0.1,
    },
    order: Order::After,
    rms: false,
    positions: Positions::AfterPadding,
    biased: true,
    transposed: false,
    words: &["embeddings.word_embeddings.weight"],
    segments: None,
    relative: Some("encoder.relative_attention_bias.weight"),
    encoder: Stack {
        attention: Attention {
            qkv: Qkv::Apart(["attention.attn.q", "attention.attn.k", "attention.attn.v"]),
            output: "attention.attn.o",
            norm: "attention.LayerNorm",
        },
        ..bert::STACK
    },
    decoder: None,
    masked_word: Some(ROBERTA_HEAD),
    next_token: false,
};
