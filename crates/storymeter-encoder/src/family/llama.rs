//! Llama (Touvron et al. 2023), and Mistral and Qwen 2, which have the same blocks.

use super::{
    Architecture, Attention, BERT_FIELDS, Defaults, FieldNames, Order, Positions, Qkv, Stack,
};

pub(super) const LLAMA: Architecture = Architecture {
    model_types: &["llama", "mistral", "qwen2"],
    fields: FieldNames {
        norm_eps: "rms_norm_eps",
        attention_dropout: "attention_dropout",
        ..BERT_FIELDS
    },
    defaults: Defaults {
        activation: "silu",
        norm_eps: 1e-6,
        padding: 0,
        segments: 0,
        widening: None,
        dropout: 0.0,
    },
    order: Order::Before,
    rms: true,
    positions: Positions::Rotary,
    biased: false,
    transposed: false,
    words: &["embed_tokens.weight"],
    segments: None,
    relative: None,
    encoder: Stack {
        causal: true,
        positions: None,
        norm: None,
        before: "layers.",
        attention: Attention {
            qkv: Qkv::Apart(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]),
            output: "self_attn.o_proj",
            norm: "input_layernorm",
        },
        cross: None,
        gate: Some("mlp.gate_proj"),
        up: "mlp.up_proj",
        down: "mlp.down_proj",
        output_norm: "post_attention_layernorm",
        last_norm: Some("norm"),
    },
    decoder: None,
    masked_word: None,
    next_token: true,
};
