//! Tiny models whose weights follow from a formula, so that tests need no file of weights.

// Unit tests, benches and storymeter-checks share this module, and each uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::path::Path;

use storymeter_encoder::{Parameters, Tensor};

/// The texts of the golden numbers: three stories and a prompt.
pub const A: &str = "The old lighthouse keeper climbed the stairs every night. One stormy evening \
                     the lamp went dark, and he lit a small candle instead. A lost ship saw the \
                     tiny flame and found its way home.";
pub const B: &str = "Mara found a rusty key on the beach. She tried it on every door in the \
                     village, but nothing opened. At last it fitted the lighthouse, where an old \
                     man was waiting for her.";
pub const C: &str = "A keeper of the lighthouse walked up the steps each night. During a storm the \
                     light failed, so he used a candle. A ship that had lost its way saw the flame \
                     and came home safely.";
pub const Q: &str = "Write about a lighthouse keeper who saves a ship in a storm.";

/// The number of entries of the vocabulary of `bert-base-uncased`.
pub const VOCABULARY: usize = 30522;

/// The pieces of the texts above in the vocabulary of `bert-base-uncased`, and the special tokens.
#[rustfmt::skip]
const PIECES: [(&str, usize); 83] = [
    ("[PAD]", 0), ("[UNK]", 100), ("[CLS]", 101), ("[SEP]", 102), ("[MASK]", 103), ("!", 999),
    (",", 1010), (".", 1012), ("?", 1029), ("a", 1037), ("the", 1996), ("of", 1997),
    ("and", 1998), ("in", 1999), ("to", 2000), ("was", 2001), ("he", 2002), ("for", 2005),
    ("on", 2006), ("that", 2008), ("it", 2009), ("at", 2012), ("her", 2014), ("she", 2016),
    ("had", 2018), ("an", 2019), ("but", 2021), ("one", 2028), ("up", 2039), ("who", 2040),
    ("its", 2049), ("about", 2055), ("so", 2061), ("where", 2073), ("during", 2076),
    ("used", 2109), ("way", 2126), ("man", 2158), ("each", 2169), ("found", 2179),
    ("home", 2188), ("last", 2197), ("old", 2214), ("came", 2234), ("small", 2235),
    ("went", 2253), ("every", 2296), ("night", 2305), ("door", 2341), ("village", 2352),
    ("saw", 2387), ("light", 2422), ("lost", 2439), ("opened", 2441), ("nothing", 2498),
    ("dark", 2601), ("instead", 2612), ("tried", 2699), ("ship", 2911), ("walked", 2939),
    ("key", 3145), ("waiting", 3403), ("failed", 3478), ("beach", 3509), ("evening", 3944),
    ("storm", 4040), ("steps", 4084), ("write", 4339), ("tiny", 4714), ("stairs", 5108),
    ("lit", 5507), ("climbed", 6589), ("fitted", 7130), ("flame", 8457), ("safely", 9689),
    ("lighthouse", 10171), ("lamp", 10437), ("keeper", 10684), ("saves", 13169),
    ("rusty", 13174), ("candle", 13541), ("mara", 13955), ("stormy", 24166),
];

/// Writes the tiny masked-word model to a folder in Hugging Face's layout: BERT with two layers of
/// width 32. Only the words of the texts above are in its vocabulary.
pub fn write_masked_model(folder: &Path) {
    write_masked_model_of(folder, VOCABULARY, 512);
}

/// Writes the same model with another size of the vocabulary and another number of positions.
pub fn write_masked_model_of(folder: &Path, vocabulary: usize, positions: usize) {
    let config = format!(
        r#"{{"model_type": "bert", "vocab_size": {vocabulary}, "hidden_size": 32,
            "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
            "max_position_embeddings": {positions}, "type_vocab_size": 2, "hidden_act": "gelu",
            "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.1,
            "attention_probs_dropout_prob": 0.1, "pad_token_id": 0}}"#
    );
    fs::write(folder.join("config.json"), config).unwrap();
    let mut pieces: Vec<String> = (0..vocabulary).map(|id| format!("[unused{id}]")).collect();
    for (piece, id) in PIECES {
        pieces[id] = piece.to_owned();
    }
    fs::write(folder.join("vocab.txt"), pieces.join("\n")).unwrap();
    let path = folder.join("model.safetensors");
    let tensors = filled(masked_shapes(vocabulary, positions));
    fs::write(&path, Parameters { tensors }.to_bytes(&path).unwrap()).unwrap();
}

/// Replaces the weights of a folder of [`write_masked_model`] by those without the head.
pub fn write_encoder_only(folder: &Path) {
    let path = folder.join("model.safetensors");
    let mut tensors = filled(masked_shapes(VOCABULARY, 512));
    tensors.retain(|tensor| !tensor.name.starts_with("cls."));
    fs::write(&path, Parameters { tensors }.to_bytes(&path).unwrap()).unwrap();
}

/// Writes the same model with a head for answers in place of the one for masked words.
pub fn write_answer_model(folder: &Path) {
    write_masked_model(folder);
    let path = folder.join("model.safetensors");
    let mut shapes = masked_shapes(VOCABULARY, 512);
    shapes.retain(|(name, _)| !name.starts_with("cls."));
    shapes.push(("qa_outputs.weight".to_owned(), vec![2, 32]));
    shapes.push(("qa_outputs.bias".to_owned(), vec![2]));
    let tensors = filled(shapes);
    fs::write(&path, Parameters { tensors }.to_bytes(&path).unwrap()).unwrap();
}

/// Writes the same model with a pooler and a head for labels in place of the one for masked words.
/// The encoder's tensors have the prefix that converted checkpoints of this `model_type` have.
pub fn write_label_model(folder: &Path, model_type: &str, labels: usize) {
    write_masked_model(folder);
    let config = fs::read_to_string(folder.join("config.json")).unwrap();
    let config =
        config.replace(r#""model_type": "bert""#, &format!(r#""model_type": "{model_type}""#));
    fs::write(folder.join("config.json"), config).unwrap();
    let mut shapes = masked_shapes(VOCABULARY, 512);
    shapes.retain(|(name, _)| !name.starts_with("cls."));
    for (name, outputs) in [("bert.pooler.dense", 32), ("classifier", labels)] {
        shapes.push((format!("{name}.weight"), vec![outputs, 32]));
        shapes.push((format!("{name}.bias"), vec![outputs]));
    }
    let mut tensors = filled(shapes);
    for tensor in &mut tensors {
        tensor.name = tensor.name.replacen("bert.", &format!("{model_type}."), 1);
    }
    let path = folder.join("model.safetensors");
    fs::write(&path, Parameters { tensors }.to_bytes(&path).unwrap()).unwrap();
}

/// The names and shapes of the tensors of the tiny masked-word model.
fn masked_shapes(vocabulary: usize, positions: usize) -> Vec<(String, Vec<usize>)> {
    let (hidden, wide) = (32, 64);
    let mut shapes = vec![
        ("bert.embeddings.word_embeddings.weight".to_owned(), vec![vocabulary, hidden]),
        ("bert.embeddings.position_embeddings.weight".to_owned(), vec![positions, hidden]),
        ("bert.embeddings.token_type_embeddings.weight".to_owned(), vec![2, hidden]),
        ("cls.predictions.bias".to_owned(), vec![vocabulary]),
    ];
    let mut pair = |name: &str, shape: &[usize]| {
        shapes.push((format!("{name}.weight"), shape.to_vec()));
        shapes.push((format!("{name}.bias"), shape[..1].to_vec()));
    };
    pair("bert.embeddings.LayerNorm", &[hidden]);
    pair("cls.predictions.transform.dense", &[hidden, hidden]);
    pair("cls.predictions.transform.LayerNorm", &[hidden]);
    for layer in 0..2 {
        let mut pair = |name: &str, shape: &[usize]| {
            pair(&format!("bert.encoder.layer.{layer}.{name}"), shape);
        };
        for name in ["query", "key", "value"] {
            pair(&format!("attention.self.{name}"), &[hidden, hidden]);
        }
        pair("attention.output.dense", &[hidden, hidden]);
        pair("attention.output.LayerNorm", &[hidden]);
        pair("intermediate.dense", &[wide, hidden]);
        pair("output.dense", &[hidden, wide]);
        pair("output.LayerNorm", &[hidden]);
    }
    shapes
}

/// Tensors with the numbers of the formula: in alphabetical order of their names, number `i` of
/// tensor `k` is a function of `k * 2^32 + i`.
pub fn filled(mut shapes: Vec<(String, Vec<usize>)>) -> Vec<Tensor> {
    shapes.sort();
    let tensor = |(k, (name, shape)): (usize, (String, Vec<usize>))| {
        let is_gain = name.ends_with("LayerNorm.weight");
        let number = |i: u64| {
            let spread = 2.0 * (split_mix(((k as u64) << 32) + i) >> 11) as f64 / 2f64.powi(53);
            let spread = spread - 1.0;
            (if is_gain { 1.0 + 0.1 * spread } else { 0.3 * spread }) as f32
        };
        let count = shape.iter().product::<usize>() as u64;
        Tensor { name, shape, data: (0..count).map(number).collect() }
    };
    shapes.into_iter().enumerate().map(tensor).collect()
}

/// SplitMix64 of Steele, Lea and Flood (2014).
fn split_mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
