//! Tiny models that need no file: their weights are given by a formula.

use serde_json::{Value, json};
use std::path::Path;
use storymeter_encoder::{Config, Device, Isa, Model, Parameters, Precision, Tensor};

/// The generator of Steele, Lea and Flood (2014).
fn splitmix64(state: u64) -> u64 {
    let z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A model and its weights.
pub struct Tiny {
    pub config: Config,
    pub weights: Parameters,
}

impl Tiny {
    /// Fills the tensors, which are in alphabetical order: element `i` of tensor `k` is
    /// `0.3 (2u - 1)`, or `1 + 0.1 (2u - 1)` in the gain of a norm, where `u` comes from
    /// `k * 2^32 + i`.
    fn new(config: Value, mut shapes: Vec<(String, Vec<usize>)>) -> Tiny {
        shapes.sort();
        let gains = [
            "LayerNorm.weight",
            "layer_norm.weight",
            "layernorm_embedding.weight",
            "layernorm.weight",
            "ln_1.weight",
            "ln_2.weight",
            "ln_f.weight",
            "model.norm.weight",
        ];
        let tensor = |(k, (name, shape)): (usize, (String, Vec<usize>))| {
            let count: usize = shape.iter().product();
            let gain = gains.iter().any(|end| name.ends_with(end));
            let number = |i: usize| {
                let z = splitmix64(((k as u64) << 32) + i as u64);
                let u = (z >> 11) as f64 / (1u64 << 53) as f64;
                (if gain { 1.0 + 0.1 * (2.0 * u - 1.0) } else { 0.3 * (2.0 * u - 1.0) }) as f32
            };
            Tensor { name, shape, data: (0..count).map(number).collect() }
        };
        let tensors = shapes.into_iter().enumerate().map(tensor).collect();
        let bytes = serde_json::to_vec(&config).unwrap();
        let config = Config::from_bytes(Path::new("config.json"), &bytes).unwrap();
        Tiny { config, weights: Parameters { tensors } }
    }

    pub fn model(&self, precision: Precision) -> Model {
        let config = self.config.clone();
        Model::from_tensors(config, &self.weights, Device::Cpu, precision).unwrap()
    }

    pub fn model_on(&self, precision: Precision, isa: Isa) -> Model {
        Model::on_cpu(self.config.clone(), &self.weights, precision, isa).unwrap()
    }
}

/// Names and shapes, with all names after `before`.
fn named<const N: usize>(before: &str, parts: [(&str, &[usize]); N]) -> Vec<(String, Vec<usize>)> {
    parts.iter().map(|(name, shape)| (format!("{before}{name}"), shape.to_vec())).collect()
}

/// The weight and the bias of a linear map.
fn linear(name: &str, outputs: usize, inputs: usize) -> Vec<(String, Vec<usize>)> {
    named(name, [(".weight", &[outputs, inputs]), (".bias", &[outputs])])
}

/// The gain and the shift of a layer norm.
fn norm(name: &str, width: usize) -> Vec<(String, Vec<usize>)> {
    named(name, [(".weight", &[width]), (".bias", &[width])])
}

/// Two blocks of BERT or RoBERTa, 32 wide, and their embeddings.
fn bert_blocks(
    before: &str,
    vocabulary: usize,
    positions: usize,
    segments: usize,
) -> Vec<(String, Vec<usize>)> {
    let mut shapes = named(
        &format!("{before}.embeddings."),
        [
            ("word_embeddings.weight", &[vocabulary, 32]),
            ("position_embeddings.weight", &[positions, 32]),
            ("token_type_embeddings.weight", &[segments, 32]),
        ],
    );
    shapes.extend(norm(&format!("{before}.embeddings.LayerNorm"), 32));
    for i in 0..2 {
        let name = |part: &str| format!("{before}.encoder.layer.{i}.{part}");
        for part in ["query", "key", "value"] {
            shapes.extend(linear(&name(&format!("attention.self.{part}")), 32, 32));
        }
        shapes.extend(linear(&name("attention.output.dense"), 32, 32));
        shapes.extend(norm(&name("attention.output.LayerNorm"), 32));
        shapes.extend(linear(&name("intermediate.dense"), 64, 32));
        shapes.extend(linear(&name("output.dense"), 32, 64));
        shapes.extend(norm(&name("output.LayerNorm"), 32));
    }
    shapes
}

/// `BertForMaskedLM` with a head for answers as well, if `answer`.
pub fn masked_lm(answer: bool) -> Tiny {
    let config = json!({
        "model_type": "bert", "vocab_size": 30522, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 512,
    });
    let mut shapes = bert_blocks("bert", 30522, 512, 2);
    shapes.push(("cls.predictions.bias".into(), vec![30522]));
    shapes.extend(linear("cls.predictions.transform.dense", 32, 32));
    shapes.extend(norm("cls.predictions.transform.LayerNorm", 32));
    if answer {
        shapes.extend(linear("qa_outputs", 2, 32));
    }
    Tiny::new(config, shapes)
}

/// `RobertaForMaskedLM`.
pub fn roberta() -> Tiny {
    let config = json!({
        "model_type": "roberta", "vocab_size": 200, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 66,
        "type_vocab_size": 1, "pad_token_id": 1, "layer_norm_eps": 1e-5,
    });
    let mut shapes = bert_blocks("roberta", 200, 66, 1);
    shapes.push(("lm_head.bias".into(), vec![200]));
    shapes.extend(linear("lm_head.dense", 32, 32));
    shapes.extend(norm("lm_head.layer_norm", 32));
    Tiny::new(config, shapes)
}

/// `GPT2LMHeadModel`, whose matrices have one row per input.
pub fn gpt2() -> Tiny {
    let config = json!({
        "model_type": "gpt2", "vocab_size": 200, "n_embd": 32, "n_layer": 2, "n_head": 4,
        "n_positions": 64,
    });
    let mut shapes = named("transformer.", [("wte.weight", &[200, 32]), ("wpe.weight", &[64, 32])]);
    for i in 0..2 {
        let name = |part: &str| format!("transformer.h.{i}.{part}");
        shapes.extend(norm(&name("ln_1"), 32));
        shapes.extend(norm(&name("ln_2"), 32));
        let maps = [
            ("attn.c_attn", 96, 32),
            ("attn.c_proj", 32, 32),
            ("mlp.c_fc", 128, 32),
            ("mlp.c_proj", 32, 128),
        ];
        for (part, outputs, inputs) in maps {
            let parts = [(".weight", &[inputs, outputs][..]), (".bias", &[outputs])];
            shapes.extend(named(&name(part), parts));
        }
    }
    shapes.extend(norm("transformer.ln_f", 32));
    Tiny::new(config, shapes)
}

/// `BartForConditionalGeneration`.
pub fn bart() -> Tiny {
    let config = json!({
        "model_type": "bart", "vocab_size": 200, "d_model": 32, "encoder_layers": 2,
        "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64,
        "decoder_start_token_id": 2, "pad_token_id": 1,
    });
    let mut shapes = named("model.", [("shared.weight", &[200, 32])]);
    for stack in ["encoder", "decoder"] {
        let before = format!("model.{stack}");
        shapes.push((format!("{before}.embed_positions.weight"), vec![66, 32]));
        shapes.extend(norm(&format!("{before}.layernorm_embedding"), 32));
        for i in 0..2 {
            let name = |part: &str| format!("{before}.layers.{i}.{part}");
            let attentions: &[&str] =
                if stack == "encoder" { &["self_attn"] } else { &["self_attn", "encoder_attn"] };
            for attention in attentions {
                for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
                    shapes.extend(linear(&name(&format!("{attention}.{part}")), 32, 32));
                }
                shapes.extend(norm(&name(&format!("{attention}_layer_norm")), 32));
            }
            shapes.extend(linear(&name("fc1"), 64, 32));
            shapes.extend(linear(&name("fc2"), 32, 64));
            shapes.extend(norm(&name("final_layer_norm"), 32));
        }
    }
    Tiny::new(config, shapes)
}

/// `LlamaForCausalLM` with four heads, of which two share keys and values.
pub fn llama() -> Tiny {
    let config = json!({
        "model_type": "llama", "vocab_size": 200, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64,
        "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": false,
    });
    let mut shapes = named(
        "",
        [
            ("model.embed_tokens.weight", &[200, 32]),
            ("model.norm.weight", &[32]),
            ("lm_head.weight", &[200, 32]),
        ],
    );
    for i in 0..2 {
        shapes.extend(named(
            &format!("model.layers.{i}."),
            [
                ("self_attn.q_proj.weight", &[32, 32]),
                ("self_attn.k_proj.weight", &[16, 32]),
                ("self_attn.v_proj.weight", &[16, 32]),
                ("self_attn.o_proj.weight", &[32, 32]),
                ("mlp.gate_proj.weight", &[64, 32]),
                ("mlp.up_proj.weight", &[64, 32]),
                ("mlp.down_proj.weight", &[32, 64]),
                ("input_layernorm.weight", &[32]),
                ("post_attention_layernorm.weight", &[32]),
            ],
        ));
    }
    Tiny::new(config, shapes)
}
