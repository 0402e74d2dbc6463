//! BART (Lewis et al. 2020).

use super::{Architecture, Attention, Defaults, FieldNames, Order, Positions, Qkv, Stack};

pub(super) const BART: Architecture = Architecture {
    model_types: &["bart"],
    fields: FieldNames {
        hidden: "d_model",
        layers: "encoder_layers",
        heads: "encoder_attention_heads",
        intermediate: "encoder_ffn_dim",
        positions: "max_position_embeddings",
        activation: "activation_function",
        norm_eps: "layer_norm_eps",
        hidden_dropout: "dropout",
        attention_dropout: "attention_dropout",
    },
    defaults: Defaults {
        activation: "gelu",
        norm_eps: 1e-5,
        padding: 1,
        segments: 0,
        widening: None,
        dropout: 0.1,
    },
    order: Order::After,
    rms: false,
    positions: Positions::AfterTwo,
    biased: true,
    transposed: false,
    words: &["shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"],
    segments: None,
    relative: None,
    encoder: Stack {
        causal: false,
        positions: Some("encoder.embed_positions.weight"),
        norm: Some("encoder.layernorm_embedding"),
        before: "encoder.layers.",
        attention: SELF_ATTENTION,
        cross: None,
        gate: None,
        up: "fc1",
        down: "fc2",
        output_norm: "final_layer_norm",
        last_norm: None,
    },
    decoder: Some(Stack {
        causal: true,
        positions: Some("decoder.embed_positions.weight"),
        norm: Some("decoder.layernorm_embedding"),
        before: "decoder.layers.",
        attention: SELF_ATTENTION,
        cross: Some(Attention {
            qkv: Qkv::Apart(["encoder_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj"]),
            output: "encoder_attn.out_proj",
            norm: "encoder_attn_layer_norm",
        }),
        gate: None,
        up: "fc1",
        down: "fc2",
        output_norm: "final_layer_norm",
        last_norm: None,
    }),
    masked_word: None,
    next_token: true,
};

const SELF_ATTENTION: Attention = Attention {
    qkv: Qkv::Apart(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]),
    output: "self_attn.out_proj",
    norm: "self_attn_layer_norm",
};
