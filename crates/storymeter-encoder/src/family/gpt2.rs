//! GPT-2 (Radford et al. 2019).

use super::{Architecture, Attention, Defaults, FieldNames, Order, Positions, Qkv, Stack};

pub(super) const GPT2: Architecture = Architecture {
    model_types: &["gpt2"],
    fields: FieldNames {
        hidden: "n_embd",
        layers: "n_layer",
        heads: "n_head",
        intermediate: "n_inner",
        positions: "n_positions",
        activation: "activation_function",
        norm_eps: "layer_norm_epsilon",
        hidden_dropout: "resid_pdrop",
        attention_dropout: "attn_pdrop",
    },
    defaults: Defaults {
        activation: "gelu_new",
        norm_eps: 1e-5,
        padding: 0,
        segments: 0,
        widening: Some(4),
        dropout: 0.1,
    },
    order: Order::Before,
    rms: false,
    positions: Positions::Table,
    biased: true,
    transposed: true,
    words: &["wte.weight"],
    segments: None,
    relative: None,
    encoder: Stack {
        causal: true,
        positions: Some("wpe.weight"),
        norm: None,
        before: "h.",
        attention: Attention {
            qkv: Qkv::Together("attn.c_attn"),
            output: "attn.c_proj",
            norm: "ln_1",
        },
        cross: None,
        gate: None,
        up: "mlp.c_fc",
        down: "mlp.c_proj",
        output_norm: "ln_2",
        last_norm: Some("ln_f"),
    },
    decoder: None,
    masked_word: None,
    next_token: true,
};
