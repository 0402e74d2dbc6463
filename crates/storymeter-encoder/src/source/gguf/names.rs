//! From the names, layouts and facts of GGUF to those of Hugging Face's files.
//!
//! The names are those of llama.cpp's `gguf-py/gguf/constants.py`, and the layouts those that its
//! `convert_hf_to_gguf.py` makes.

use super::header::{Fact, Listed};
use super::text;
use crate::error::excerpt;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What is wrong with the facts of a file.
type Result<T> = std::result::Result<T, String>;

type Facts = BTreeMap<String, Fact>;

/// The architectures that are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    Llama,
    Qwen2,
    Gpt2,
}

/// How the file arranges a tensor differently from Hugging Face's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrangement {
    Same,
    /// The two halves of each of so many heads take turns row by row, because llama.cpp rotates
    /// neighbours where Hugging Face rotates halves.
    Interleaved(usize),
    /// Rows and columns are exchanged.
    Transposed,
}

impl Arrangement {
    /// The shape and the numbers in Hugging Face's layout.
    pub(super) fn undo(
        self,
        shape: Vec<usize>,
        data: Vec<f32>,
    ) -> std::result::Result<(Vec<usize>, Vec<f32>), &'static str> {
        match self {
            Arrangement::Same => Ok((shape, data)),
            // A forged shape may have no numbers, but many rows.
            _ if data.is_empty() => Err("has no numbers"),
            Arrangement::Interleaved(heads) => {
                let Some(&rows) = shape.first() else { return Err("has no dimensions") };
                if heads == 0 || !rows.is_multiple_of(2 * heads) {
                    return Err("has a number of rows that the attention heads do not share");
                }
                let half = rows / heads / 2;
                let width = data.len() / rows;
                let mut turned = Vec::with_capacity(data.len());
                for row in 0..rows {
                    let (head, side, i) = (row / (2 * half), row / half % 2, row % half);
                    let from = (head * 2 * half + 2 * i + side) * width;
                    turned.extend_from_slice(&data[from..from + width]);
                }
                Ok((shape, turned))
            }
            Arrangement::Transposed => {
                let [rows, columns] = shape[..] else { return Err("is not a matrix") };
                let mut turned = Vec::with_capacity(data.len());
                for column in 0..columns {
                    turned.extend((0..rows).map(|row| data[row * columns + column]));
                }
                Ok((vec![columns, rows], turned))
            }
        }
    }
}

impl Family {
    pub(super) fn of(facts: &Facts) -> Result<Family> {
        match text(facts, "general.architecture")? {
            "llama" => Ok(Family::Llama),
            "qwen2" => Ok(Family::Qwen2),
            "gpt2" => Ok(Family::Gpt2),
            other => Err(format!(
                "the architecture {:?} is not one of llama, qwen2, gpt2",
                excerpt(other)
            )),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Family::Llama => "llama",
            Family::Qwen2 => "qwen2",
            Family::Gpt2 => "gpt2",
        }
    }

    /// The fields of a `config.json`.
    pub(super) fn config(self, facts: &Facts, tensors: &[Listed]) -> Result<Map<String, Value>> {
        let read = Reader { facts, architecture: self.name() };
        let has = |name: &str| tensors.iter().any(|tensor| tensor.name == name);
        let words = tensors.iter().find(|tensor| tensor.name == "token_embd.weight");
        let vocabulary = words.and_then(|words| words.dimensions.get(1).copied());
        let vocabulary = vocabulary.ok_or("token_embd.weight is missing or not a matrix")?;
        let mut config = match self {
            Family::Llama | Family::Qwen2 => read.llama(has("rope_freqs.weight"))?,
            Family::Gpt2 => read.gpt2()?,
        };
        if self == Family::Llama {
            config.insert("attention_bias".into(), has("blk.0.attn_q.bias").into());
            config.insert("mlp_bias".into(), has("blk.0.ffn_up.bias").into());
        }
        config.insert("model_type".into(), self.name().into());
        config.insert("vocab_size".into(), vocabulary.into());
        config.insert("tie_word_embeddings".into(), (!has("output.weight")).into());
        for (field, fact) in [("bos_token_id", "bos_token_id"), ("eos_token_id", "eos_token_id")] {
            if let Some(Fact::Whole(id)) = facts.get(&format!("tokenizer.ggml.{fact}")) {
                config.insert(field.into(), (*id).into());
            }
        }
        Ok(config)
    }

    /// The name of a tensor in Hugging Face's files, and how its layout differs; `None` for tensors
    /// that those files do not have.
    pub(super) fn translate(
        self,
        name: &str,
        config: &Map<String, Value>,
    ) -> Option<(String, Arrangement)> {
        let (stem, end) =
            name.rsplit_once('.').filter(|(_, end)| ["weight", "bias"].contains(end))?;
        let heads = |field: &str| config.get(field).and_then(Value::as_u64).unwrap_or(0) as usize;
        let gpt2 = self == Family::Gpt2;
        let outside = match (stem, gpt2) {
            ("token_embd", false) => "model.embed_tokens",
            ("output_norm", false) => "model.norm",
            ("token_embd", true) => "transformer.wte",
            ("position_embd", true) => "transformer.wpe",
            ("output_norm", true) => "transformer.ln_f",
            ("output", _) => "lm_head",
            // Hugging Face computes these factors from `rope_scaling`.
            ("rope_freqs", false) => "rope_freqs",
            _ => "",
        };
        if !outside.is_empty() {
            return Some((format!("{outside}.{end}"), Arrangement::Same));
        }
        let (number, part) = stem.strip_prefix("blk.")?.split_once('.')?;
        // Only plain numbers, so that no two names of the file become one.
        let number: usize = number.parse().ok().filter(|n: &usize| n.to_string() == number)?;
        let turned = match self {
            Family::Llama if part == "attn_q" => {
                Arrangement::Interleaved(heads("num_attention_heads"))
            }
            Family::Llama if part == "attn_k" => {
                Arrangement::Interleaved(heads("num_key_value_heads"))
            }
            Family::Gpt2 if end == "weight" && !part.ends_with("norm") => Arrangement::Transposed,
            _ => Arrangement::Same,
        };
        let part = match (part, gpt2) {
            ("attn_norm", false) => "input_layernorm",
            ("attn_q", false) => "self_attn.q_proj",
            ("attn_k", false) => "self_attn.k_proj",
            ("attn_v", false) => "self_attn.v_proj",
            ("attn_output", false) => "self_attn.o_proj",
            ("ffn_norm", false) => "post_attention_layernorm",
            ("ffn_gate", false) => "mlp.gate_proj",
            ("ffn_up", false) => "mlp.up_proj",
            ("ffn_down", false) => "mlp.down_proj",
            ("attn_norm", true) => "ln_1",
            ("attn_qkv", true) => "attn.c_attn",
            ("attn_output", true) => "attn.c_proj",
            ("ffn_norm", true) => "ln_2",
            ("ffn_up", true) => "mlp.c_fc",
            ("ffn_down", true) => "mlp.c_proj",
            _ => return None,
        };
        let before = if gpt2 { "transformer.h" } else { "model.layers" };
        Some((format!("{before}.{number}.{part}.{end}"), turned))
    }
}

/// Reads facts of one architecture, whose names begin with its name.
struct Reader<'a> {
    facts: &'a Facts,
    architecture: &'static str,
}

impl Reader<'_> {
    fn get(&self, name: &str) -> Option<&Fact> {
        self.facts.get(&format!("{}.{name}", self.architecture))
    }

    fn size(&self, name: &str) -> Result<Option<i64>> {
        match self.get(name) {
            None => Ok(None),
            Some(Fact::Whole(size)) if *size > 0 => Ok(Some(*size)),
            Some(_) => Err(format!("{}.{name} is not a positive whole number", self.architecture)),
        }
    }

    fn needed(&self, name: &str) -> Result<i64> {
        self.size(name)?.ok_or_else(|| format!("{}.{name} is missing", self.architecture))
    }

    fn float(&self, name: &str) -> Result<Option<f64>> {
        match self.get(name) {
            None => Ok(None),
            Some(Fact::Float(number)) if number.is_finite() => Ok(Some(*number)),
            Some(_) => Err(format!("{}.{name} is not a number", self.architecture)),
        }
    }

    fn llama(&self, has_factors: bool) -> Result<Map<String, Value>> {
        if self.size("expert_count")?.is_some_and(|count| count > 1) {
            return Err("models with several experts are not supported".into());
        }
        let heads = self.needed("attention.head_count")?;
        let mut config = fields(json!({
            "hidden_size": self.needed("embedding_length")?,
            "num_hidden_layers": self.needed("block_count")?,
            "intermediate_size": self.needed("feed_forward_length")?,
            "num_attention_heads": heads,
            "num_key_value_heads": self.size("attention.head_count_kv")?.unwrap_or(heads),
            "max_position_embeddings": self.needed("context_length")?,
            "rms_norm_eps": self.float("attention.layer_norm_rms_epsilon")?.unwrap_or(1e-6),
            "rope_theta": self.float("rope.freq_base")?.unwrap_or(10_000.0),
            "hidden_act": "silu",
        }));
        if let Some(width) = self.size("attention.key_length")? {
            config.insert("head_dim".into(), width.into());
        }
        let scaling = match self.get("rope.scaling.type") {
            None => None,
            Some(Fact::Text(kind)) => Some(kind.as_str()).filter(|kind| *kind != "none"),
            Some(_) => return Err("rope.scaling.type is not a text".into()),
        };
        if has_factors {
            // The file has a factor for each frequency. What they were computed from is found
            // when they are read; until then, this says that there is something.
            config.insert("rope_scaling".into(), json!({"rope_type": "factors"}));
        } else if let Some(kind) = scaling {
            let factor = self.float("rope.scaling.factor")?.unwrap_or(1.0);
            config.insert("rope_scaling".into(), json!({"rope_type": kind, "factor": factor}));
        }
        Ok(config)
    }

    fn gpt2(&self) -> Result<Map<String, Value>> {
        let positions = self.needed("context_length")?;
        Ok(fields(json!({
            "n_embd": self.needed("embedding_length")?,
            "n_layer": self.needed("block_count")?,
            "n_head": self.needed("attention.head_count")?,
            "n_inner": self.needed("feed_forward_length")?,
            "n_positions": positions,
            "n_ctx": positions,
            "layer_norm_epsilon": self.float("attention.layer_norm_epsilon")?.unwrap_or(1e-5),
            "activation_function": "gelu_new",
        })))
    }
}

/// `rope_scaling` of Llama 3.1 and later, if it gives these factors of the frequencies. The file
/// has only the factors; the other numbers are the same in all of these models.
pub(super) fn llama3_scaling(factors: &[f32], config: &Map<String, Value>) -> Option<Value> {
    const LOW: f64 = 1.0;
    const HIGH: f64 = 4.0;
    const ORIGINAL: f64 = 8192.0;
    let number = |field: &str| config.get(field).and_then(Value::as_f64);
    let theta = number("rope_theta")?;
    let width = number("head_dim")
        .or_else(|| Some(number("hidden_size")? / number("num_attention_heads")?))?;
    let factor = f64::from(factors.iter().copied().fold(1.0, f32::max));
    let is_expected = |(pair, found): (usize, &f32)| {
        let frequency = theta.powf(-2.0 * pair as f64 / width);
        let turns = ORIGINAL * frequency / std::f64::consts::TAU;
        let mix = ((turns - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
        let expected = 1.0 / ((1.0 - mix) / factor + mix);
        (f64::from(*found) - expected).abs() < 1e-4 * expected
    };
    (factors.len() as f64 * 2.0 == width && factors.iter().enumerate().all(is_expected)).then(
        || {
            json!({"rope_type": "llama3", "factor": factor, "low_freq_factor": LOW,
            "high_freq_factor": HIGH, "original_max_position_embeddings": ORIGINAL})
        },
    )
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the formula in `convert_hf_to_gguf.py`, evaluated in Python.
    const LLAMA_3_2: [f32; 32] = [
        1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.651329,
        3.292262, 9.666729, 32.0, 32.0, 32.0, 32.0, 32.0, 32.0, 32.0, 32.0, 32.0, 32.0, 32.0, 32.0,
        32.0, 32.0,
    ];

    #[test]
    fn halves_of_heads_that_take_turns_are_put_one_after_the_other() {
        // Two heads of four rows with one number each, as llama.cpp's `permute` arranges them.
        let rows = vec![0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0];
        let (shape, data) = Arrangement::Interleaved(2).undo(vec![8, 1], rows).unwrap();
        assert_eq!((shape, data), (vec![8, 1], vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]));
        assert!(Arrangement::Interleaved(3).undo(vec![8], vec![0.0; 8]).is_err());
        assert!(Arrangement::Interleaved(0).undo(vec![8], vec![0.0; 8]).is_err());
        assert_eq!(Arrangement::Interleaved(2).undo(vec![], vec![0.0]), Err("has no dimensions"));
    }

    #[test]
    fn a_transposed_matrix_is_turned_back() {
        let (shape, data) =
            Arrangement::Transposed.undo(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!((shape, data), (vec![3, 2], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
        assert!(Arrangement::Transposed.undo(vec![6], vec![0.0; 6]).is_err());
        assert!(Arrangement::Transposed.undo(vec![0, 1 << 60], Vec::new()).is_err());
    }

    #[test]
    fn the_factors_of_llama_3_2_are_recognised() {
        // Llama-3.2-1B: heads of 64 channels. The first and last factors, and two between them, are
        // what llama.cpp's converter computes.
        let config = fields(json!({"rope_theta": 500_000.0, "head_dim": 64}));
        let mut factors = vec![1.0; 32];
        factors[15..].fill(32.0);
        assert_eq!(llama3_scaling(&factors, &config), None, "no mixture in the middle");
        let scaling = llama3_scaling(&LLAMA_3_2, &config).unwrap();
        assert_eq!((&scaling["rope_type"], &scaling["factor"]), (&"llama3".into(), &32.0.into()));
        assert_eq!(llama3_scaling(&LLAMA_3_2[1..], &config), None);
        assert_eq!(llama3_scaling(&[], &Map::new()), None);
    }

    #[test]
    fn names_become_those_of_hugging_face() {
        let config = fields(json!({"num_attention_heads": 8, "num_key_value_heads": 2}));
        let name = |family: Family, name: &str| family.translate(name, &config);
        assert_eq!(
            name(Family::Llama, "blk.11.attn_k.weight"),
            Some(("model.layers.11.self_attn.k_proj.weight".into(), Arrangement::Interleaved(2)))
        );
        assert_eq!(
            name(Family::Qwen2, "blk.0.attn_q.bias"),
            Some(("model.layers.0.self_attn.q_proj.bias".into(), Arrangement::Same))
        );
        assert_eq!(
            name(Family::Gpt2, "blk.3.attn_qkv.weight"),
            Some(("transformer.h.3.attn.c_attn.weight".into(), Arrangement::Transposed))
        );
        assert_eq!(
            name(Family::Gpt2, "blk.3.ffn_norm.weight"),
            Some(("transformer.h.3.ln_2.weight".into(), Arrangement::Same))
        );
        for odd in ["blk.01.attn_q.weight", "blk.x.attn_q.weight", "x", ""] {
            assert_eq!(name(Family::Llama, odd), None, "{odd}");
        }
    }
}
