//! Tiny models that give probabilities to texts: GPT-2 and BART whose tokens are single bytes.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};
use storymeter_encoder::Parameters;

use crate::support::filled;

const HIDDEN: usize = 32;
const WIDE: usize = 64;

/// How many tokens both models read.
pub const LONGEST: usize = 64;

/// The character that stands for a byte in the files of byte-level tokenisers: bytes that can be
/// printed stand for themselves, and the others follow from 256 on.
fn character(byte: u8) -> char {
    let printed = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    if printed(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|byte| !printed(*byte)).count() as u32;
    char::from_u32(256 + before).unwrap()
}

/// Writes `vocab.json` and `merges.txt` with the special tokens first, and then all bytes. Returns
/// the number of tokens.
fn write_vocabulary(folder: &Path, special: &[&str]) -> usize {
    let bytes = (0..=255).map(|byte| character(byte).to_string());
    let pieces: Vec<String> =
        special.iter().map(|piece| (*piece).to_owned()).chain(bytes).collect();
    let ids: Map<String, Value> =
        pieces.iter().enumerate().map(|(id, piece)| (piece.clone(), id.into())).collect();
    fs::write(folder.join("vocab.json"), Value::Object(ids).to_string()).unwrap();
    fs::write(folder.join("merges.txt"), "#version: 0.2\n").unwrap();
    pieces.len()
}

fn write_weights(folder: &Path, shapes: Vec<(String, Vec<usize>)>) {
    let path = folder.join("model.safetensors");
    fs::write(&path, Parameters { tensors: filled(shapes) }.to_bytes(&path).unwrap()).unwrap();
}

/// Writes GPT-2 with two layers of width 32. Token 0 is `<|endoftext|>`, and byte b is token 1 + b.
pub fn write_gpt2(folder: &Path) {
    let tokens = write_vocabulary(folder, &["<|endoftext|>"]);
    let config = format!(
        r#"{{"model_type": "gpt2", "vocab_size": {tokens}, "n_positions": {LONGEST},
            "n_embd": {HIDDEN}, "n_layer": 2, "n_head": 4, "bos_token_id": 0, "eos_token_id": 0}}"#
    );
    fs::write(folder.join("config.json"), config).unwrap();
    let mut shapes = vec![
        ("transformer.wte.weight".to_owned(), vec![tokens, HIDDEN]),
        ("transformer.wpe.weight".to_owned(), vec![LONGEST, HIDDEN]),
    ];
    // GPT-2 stores the inputs of a linear map as rows.
    let mut pair = |name: String, shape: &[usize]| {
        shapes.push((format!("{name}.weight"), shape.to_vec()));
        shapes.push((format!("{name}.bias"), shape[shape.len() - 1..].to_vec()));
    };
    pair("transformer.ln_f".to_owned(), &[HIDDEN]);
    for layer in 0..2 {
        let name = |part: &str| format!("transformer.h.{layer}.{part}");
        pair(name("ln_1"), &[HIDDEN]);
        pair(name("attn.c_attn"), &[HIDDEN, 3 * HIDDEN]);
        pair(name("attn.c_proj"), &[HIDDEN, HIDDEN]);
        pair(name("ln_2"), &[HIDDEN]);
        pair(name("mlp.c_fc"), &[HIDDEN, 4 * HIDDEN]);
        pair(name("mlp.c_proj"), &[4 * HIDDEN, HIDDEN]);
    }
    write_weights(folder, shapes);
}

/// Writes BART with two and two layers of width 32. The first tokens are `<s>`, `<pad>` and
/// `</s>`, and byte b is token 3 + b.
pub fn write_bart(folder: &Path) {
    let tokens = write_vocabulary(folder, &["<s>", "<pad>", "</s>"]);
    let config = format!(
        r#"{{"model_type": "bart", "vocab_size": {tokens}, "d_model": {HIDDEN},
            "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
            "decoder_attention_heads": 4, "encoder_ffn_dim": {WIDE}, "decoder_ffn_dim": {WIDE},
            "max_position_embeddings": {LONGEST}, "activation_function": "gelu",
            "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2,
            "decoder_start_token_id": 2}}"#
    );
    fs::write(folder.join("config.json"), config).unwrap();
    let mut shapes = vec![("model.shared.weight".to_owned(), vec![tokens, HIDDEN])];
    for side in ["encoder", "decoder"] {
        let positions = format!("model.{side}.embed_positions.weight");
        shapes.push((positions, vec![LONGEST + 2, HIDDEN]));
        let mut pair = |name: String, shape: &[usize]| {
            shapes.push((format!("{name}.weight"), shape.to_vec()));
            shapes.push((format!("{name}.bias"), shape[..1].to_vec()));
        };
        pair(format!("model.{side}.layernorm_embedding"), &[HIDDEN]);
        for layer in 0..2 {
            let name = |part: &str| format!("model.{side}.layers.{layer}.{part}");
            let attentions: &[&str] = match side {
                "encoder" => &["self_attn"],
                _ => &["self_attn", "encoder_attn"],
            };
            for attention in attentions {
                for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
                    pair(name(&format!("{attention}.{part}")), &[HIDDEN, HIDDEN]);
                }
                pair(name(&format!("{attention}_layer_norm")), &[HIDDEN]);
            }
            pair(name("fc1"), &[WIDE, HIDDEN]);
            pair(name("fc2"), &[HIDDEN, WIDE]);
            pair(name("final_layer_norm"), &[HIDDEN]);
        }
    }
    write_weights(folder, shapes);
}
