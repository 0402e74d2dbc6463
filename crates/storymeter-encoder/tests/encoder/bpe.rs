//! Byte-level tokenisers make the tokens of Hugging Face's, with frozen values of its packages.
//!
//! `tools/bpe_fixtures.py` made the tokenisers and the values, and names the versions in them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use storymeter_encoder::{Config, Tokenizer};
use unicode_normalization::is_nfc;

fn folder(layout: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bpe").join(layout)
}

fn read(layout: &str, file: &str) -> Vec<u8> {
    std::fs::read(folder(layout).join(file)).unwrap()
}

/// A configuration for these tokenisers. Only the type and the size of the vocabulary matter.
fn config(model_type: &str, vocabulary: usize) -> Config {
    let fields = json!({"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2,
        "num_hidden_layers": 1, "intermediate_size": 8, "max_position_embeddings": 16,
        "vocab_size": vocabulary});
    let fields: Map<String, Value> = serde_json::from_value(fields).unwrap();
    let mut config = Config::from_fields(fields, PathBuf::new()).unwrap();
    config.source.insert("model_type".into(), model_type.into());
    config
}

fn expected() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bpe/expected.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// Compares ids with special tokens, and the spans of the tokens without them.
fn assert_same(name: &str, tokenizer: &Tokenizer, rows: &Value) {
    let rows = rows.as_array().unwrap();
    assert!(rows.len() > 20, "{name}");
    for row in rows {
        let text = row["text"].as_str().unwrap();
        let ids: Vec<u32> = serde_json::from_value(row["ids"].clone()).unwrap();
        assert_eq!(tokenizer.encode(text, usize::MAX), (ids, 0), "{name}: {text:?}");
        if let Some(spans) = row.get("spans") {
            let spans: Vec<(usize, usize)> = serde_json::from_value(spans.clone()).unwrap();
            let ours = tokenizer.tokenize(text);
            let ours: Vec<_> = ours.iter().map(|token| (token.start, token.end)).collect();
            if is_nfc(text) {
                assert_eq!(ours, spans, "{name}: {text:?}");
            }
            // Of characters that are composed, Hugging Face has only the first one in the span.
            let wider = ours.iter().zip(&spans).all(|(a, b)| a.0 <= b.0 && b.1 <= a.1);
            assert!(wider && ours.len() == spans.len(), "{name}: {text:?}: {ours:?} {spans:?}");
        }
    }
}

#[test]
fn tokenizer_json_of_gpt2_roberta_and_bart_gives_hugging_faces_tokens() {
    let expected = expected();
    for layout in ["gpt2", "roberta", "bart"] {
        let tokenizer = Tokenizer::load(&folder(layout), &config(layout, 501)).unwrap();
        assert_same(layout, &tokenizer, &expected["layouts"][layout]);
    }
}

#[test]
fn vocab_json_and_merges_txt_give_the_same_tokens() {
    let expected = expected();
    for layout in ["gpt2", "roberta", "bart"] {
        let all = ["vocab.json", "merges.txt", "tokenizer_config.json", "special_tokens_map.json"];
        // RoBERTa's own settings are in its `tokenizer_config.json`.
        let kept = if layout == "roberta" { &all[..] } else { &all[..2] };
        let files: Vec<_> = kept.iter().map(|file| (*file, read(layout, file))).collect();
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, b)| (*name, &b[..])).collect();
        let config = config(layout, 501);
        let tokenizer = Tokenizer::from_files(&files, Path::new("lists"), &config).unwrap();
        assert_same(layout, &tokenizer, &expected["layouts"][layout]);
    }
}

#[test]
fn the_words_of_other_models_are_hugging_faces() {
    let expected = expected();
    let variants = expected["variants"].as_object().unwrap();
    assert_eq!(variants.len(), 6);
    let base: Value = serde_json::from_slice(&read("gpt2", "tokenizer.json")).unwrap();
    for (name, variant) in variants {
        let mut json = base.clone();
        for (field, value) in variant["fields"].as_object().unwrap() {
            json[field] = value.clone();
        }
        if name == "llama3" {
            json["model"]["ignore_merges"] = true.into();
            json["model"]["vocab"]["Ġworld"] = 501.into();
        }
        let bytes = serde_json::to_vec(&json).unwrap();
        let files = [("tokenizer.json", &bytes[..])];
        let config = config("gpt2", 510);
        let tokenizer = Tokenizer::from_files(&files, Path::new(name), &config).unwrap();
        assert_same(name, &tokenizer, &variant["texts"]);
    }
}

#[test]
fn sentencepiece_in_a_gguf_file_gives_its_tokens() {
    let file = folder("sentencepiece.gguf");
    let tokenizer = storymeter_encoder::source::open(&file).unwrap().tokenizer;
    let tokenizer = tokenizer.load(&config("llama", 600)).unwrap();
    let rows: Value = serde_json::from_slice(&read("", "sentencepiece.json")).unwrap();
    assert_same("sentencepiece", &tokenizer, &rows["texts"]);
    let special = (tokenizer.bos(), tokenizer.eos(), tokenizer.unk(), tokenizer.end());
    assert_eq!(special, (Some(1), Some(2), Some(0), None));
    // Blanks belong to the word after them, and a blank that is not in the text to nothing else.
    let text = "Mara found 2 keys";
    let spans: Vec<_> = tokenizer.tokenize(text).iter().map(|t| &text[t.start..t.end]).collect();
    assert_eq!(spans.concat(), text, "{spans:?}");
    // Control tokens are found, and not made of text.
    assert_eq!(tokenizer.encode_plain("</s>"), [2]);
}

#[test]
fn special_tokens_are_those_of_the_model() {
    let tokenizer = Tokenizer::load(&folder("gpt2"), &config("gpt2", 501)).unwrap();
    let end = Some(500);
    assert_eq!((tokenizer.bos(), tokenizer.eos(), tokenizer.unk()), (end, end, end));
    assert_eq!((tokenizer.cls(), tokenizer.mask(), tokenizer.pad()), (None, None, None));
    assert_eq!((tokenizer.start(), tokenizer.end()), (None, None));
    assert_eq!((tokenizer.piece(500), tokenizer.id("<|endoftext|>")), (Some("<|endoftext|>"), end));
    assert_eq!(tokenizer.piece(501), None);
    for layout in ["roberta", "bart"] {
        let tokenizer = Tokenizer::load(&folder(layout), &config(layout, 501)).unwrap();
        assert_eq!((tokenizer.bos(), tokenizer.eos()), (Some(0), Some(2)), "{layout}");
        assert_eq!((tokenizer.cls(), tokenizer.sep()), (Some(0), Some(2)), "{layout}");
        assert_eq!((tokenizer.pad(), tokenizer.unk()), (Some(1), Some(3)), "{layout}");
        assert_eq!(tokenizer.mask(), Some(500), "{layout}");
        assert_eq!((tokenizer.start(), tokenizer.end()), (Some(0), Some(2)), "{layout}");
    }
}

#[test]
fn a_text_is_cut_to_the_limit_and_what_is_left_out_is_counted() {
    let text = "The old lighthouse keeper's lamp.";
    let roberta = Tokenizer::load(&folder("roberta"), &config("roberta", 501)).unwrap();
    let whole = roberta.encode_plain(text);
    let (ids, left_out) = roberta.encode(text, 5);
    assert_eq!((ids.len(), left_out), (5, whole.len() - 3));
    assert_eq!((ids[0], &ids[1..4], ids[4]), (0, &whole[..3], 2));
    assert_eq!(roberta.encode(text, 0), (vec![0, 2], whole.len()));
    let gpt2 = Tokenizer::load(&folder("gpt2"), &config("gpt2", 501)).unwrap();
    let whole = gpt2.encode_plain(text);
    assert_eq!(gpt2.encode(text, 3), (whole[..3].to_vec(), whole.len() - 3));
}

#[test]
fn a_mask_that_the_model_has_no_row_for_is_not_found_in_texts() {
    // The summariser bart-large-cnn is one row short of its tokeniser.
    let tokenizer = Tokenizer::load(&folder("bart"), &config("bart", 500)).unwrap();
    assert_eq!((tokenizer.mask(), tokenizer.vocabulary()), (None, 500));
    assert!(tokenizer.encode_plain("a <mask> b").iter().all(|id| *id < 500));
}

#[test]
fn placeholders_can_be_added() {
    let mut tokenizer = Tokenizer::load(&folder("gpt2"), &config("gpt2", 501)).unwrap();
    assert!(tokenizer.add_token("[MALE]", 7));
    assert!(!tokenizer.add_token("[MALE]", 501));
    assert!(!tokenizer.add_token("", 7));
    let found = tokenizer.tokenize("a [MALE].");
    let token = found.iter().find(|token| token.id == 7).unwrap();
    assert_eq!((token.start, token.end), (2, 8));
}

/// The error of a `tokenizer.json` with one value changed.
fn complaint(pointer: &str, value: Value) -> String {
    let mut json: Value = serde_json::from_slice(&read("gpt2", "tokenizer.json")).unwrap();
    *json.pointer_mut(pointer).expect(pointer) = value;
    let bytes = serde_json::to_vec(&json).unwrap();
    let files = [("tokenizer.json", &bytes[..])];
    let config = config("gpt2", 501);
    let error = Tokenizer::from_files(&files, Path::new("x"), &config).expect_err(pointer);
    error.to_string()
}

#[test]
fn broken_tokenisers_say_what_is_wrong() {
    for (pointer, value, expected) in [
        ("/model/type", json!("Unigram"), "model is Unigram, expected WordPiece or BPE"),
        ("/model/vocab", json!([]), "the vocabulary is not an object of pieces and ids"),
        ("/model/vocab", json!({}), "the vocabulary has no pieces for single bytes"),
        ("/model/vocab/Ġt", json!(-1), "the id of \"Ġt\" is -1, expected a whole number"),
        ("/model/vocab/Ġt", json!(4_000_000_000u32), "or an id in it is too large"),
        ("/model/vocab/Ġt", json!(501), "has 502 entries, but vocab_size in config.json is 501"),
        ("/model/merges", json!("h e"), "model.merges is not a list"),
        ("/model/merges/0", json!("h  e"), "is not two pieces with a blank between"),
        ("/model/merges/0", json!("he"), "is not two pieces with a blank between"),
        ("/model/merges/0", json!(["h"]), "a merge is not a list of two pieces"),
        ("/model/merges/0", json!(["h", "東"]), "needs \"東\", which the vocabulary lacks"),
        ("/model/byte_fallback", json!(true), "the vocabulary is one of SentencePiece"),
        ("/model/end_of_word_suffix", json!("</w>"), "model.end_of_word_suffix is not supported"),
        ("/normalizer", json!({"type": "NFKC"}), "normalizer is NFKC, expected NFC or nothing"),
        ("/pre_tokenizer", json!(null), "pre_tokenizer is nothing, expected ByteLevel"),
        ("/pre_tokenizer", json!({"type": "Metaspace"}), "pre_tokenizer is Metaspace"),
        ("/pre_tokenizer", json!({"type": "Sequence"}), "pre_tokenizer has no ByteLevel"),
        (
            "/pre_tokenizer",
            json!({"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Isolated"}),
            "pre_tokenizer splits words by an unknown rule (x+)",
        ),
        ("/post_processor", json!({"type": "Odd"}), "post_processor is Odd"),
        (
            "/post_processor",
            json!({"type": "BertProcessing", "cls": ["a", 9000], "sep": ["b", 1]}),
            "a special token has an id that is not in it",
        ),
    ] {
        let error = complaint(pointer, value);
        assert!(error.starts_with("x: ") && error.contains(expected), "{pointer}: {error}");
    }
    let long = complaint("/model/merges/0", json!("x".repeat(100_000)));
    assert!(long.len() < 300, "{}", long.len());
}

#[test]
fn a_vocabulary_without_merges_or_with_broken_lines_is_refused() {
    let vocabulary = read("gpt2", "vocab.json");
    let load = |files: &[(&str, &[u8])]| {
        let config = config("gpt2", 501);
        Tokenizer::from_files(files, Path::new("x"), &config).expect_err("broken").to_string()
    };
    assert_eq!(load(&[("vocab.json", &vocabulary)]), "x: merges.txt is missing beside it");
    let error = load(&[("vocab.json", &vocabulary), ("merges.txt", b"#version: 0.2\nh\n")]);
    assert_eq!(error, "x: the merge \"h\" is not two pieces with a blank between");
    let error = load(&[("vocab.json", &vocabulary), ("merges.txt", b"\xff")]);
    assert_eq!(error, "x: not UTF-8 after byte 0");
}
