//! Weights from the files of PyTorch and llama.cpp, with frozen values of their packages.
//!
//! `tools/source_fixtures.py` made the files and the values, and names the versions in them.

use std::path::{Path, PathBuf};

use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;
use storymeter_encoder::source::{self, Opened, open_gguf_bytes, open_torch_bytes};
use storymeter_encoder::{Config, Result, Tensors};
use tempfile::TempDir;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/source").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

fn torch(name: &str) -> Result<Box<dyn Tensors + Send + Sync>> {
    open_torch_bytes(Path::new(name), bytes(name))
}

/// What the tensors of the PyTorch files must be.
fn expected() -> Vec<(String, Vec<usize>, Vec<f32>)> {
    let json: Value = serde_json::from_slice(&bytes("torch.json")).unwrap();
    let tensors = json["tensors"].as_object().unwrap().iter();
    let list = |value: &Value| serde_json::from_value(value.clone()).unwrap();
    let numbers = |value: &Value| serde_json::from_value(value.clone()).unwrap();
    tensors.map(|(name, t)| (name.clone(), list(&t["shape"]), numbers(&t["data"]))).collect()
}

fn assert_expected(tensors: &dyn Tensors) {
    let expected = expected();
    assert_eq!(expected.len(), 11);
    let mut names = tensors.names();
    names.sort();
    let mut known: Vec<_> = expected.iter().map(|(name, ..)| name.clone()).collect();
    known.sort();
    assert_eq!(names, known, "whole numbers are not listed");
    for (name, shape, data) in expected {
        let tensor = tensors.get(&name).unwrap().unwrap();
        assert_eq!((tensor.name, tensor.shape, tensor.data), (name, shape, data));
    }
}

#[test]
fn pytorchs_files_are_read_in_every_protocol_with_views_and_shared_storages() {
    for protocol in 2..=5 {
        assert_expected(&*torch(&format!("protocol{protocol}.bin")).unwrap());
    }
}

#[test]
fn files_from_before_version_1_6_hold_the_same_numbers() {
    for name in ["old.bin", "old4.bin"] {
        assert_expected(&*torch(name).unwrap());
    }
}

#[test]
fn a_pickled_module_and_a_file_of_another_program_are_refused() {
    assert_eq!(
        torch("module.bin").err().unwrap().to_string(),
        "module.bin: these weights cannot be read: the pickle asks for \"Linear\" of the module \
         \"torch.nn.modules.linear\", which does not make tensors; nothing in the file was run"
    );
    // A text, an empty file, a pickled table without PyTorch's frame, and half a magic number.
    for file in [&b"hello"[..], b"", b"\x80\x02}.", &OLD[0][..8]] {
        assert_eq!(
            open_torch_bytes(Path::new("x"), file.to_vec()).err().unwrap().to_string(),
            "x: these weights cannot be read: PyTorch did not write this file: it is neither a zip \
             archive nor in the format from before version 1.6"
        );
    }
}

/// The parts of a file from before version 1.6: the magic number, the version, facts about the
/// machine, the tensor `t` of two numbers in storage 7, the list of storages, and storage 7.
const OLD: [&[u8]; 6] = [
    b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.",
    b"\x80\x02M\xe9\x03.",
    b"\x80\x02}X\x0d\0\0\0little_endian\x88s.",
    b"\x80\x02}X\x01\0\0\0tctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\n\
      FloatStorage\nX\x01\0\0\x007X\x03\0\0\0cpuK\x02NtQK\0K\x02\x85K\x01\x85\x89}tRs.",
    b"\x80\x02]X\x01\0\0\x007a.",
    b"\x02\0\0\0\0\0\0\0\0\0\xc0?\0\0\0\xc0",
];

/// `whole` with the first `from` replaced by `to`.
fn replaced(whole: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = whole.windows(from.len()).position(|window| window == from).unwrap();
    [&whole[..at], to, &whole[at + from.len()..]].concat()
}

/// The file of these parts, one of which is another.
fn old_with(part: usize, bytes: &[u8]) -> Result<Box<dyn Tensors + Send + Sync>> {
    let mut parts = OLD;
    parts[part] = bytes;
    open_torch_bytes(Path::new("x"), parts.concat())
}

#[test]
fn an_old_file_that_lies_is_refused_with_the_reason() {
    let sound = old_with(0, OLD[0]).unwrap();
    assert_eq!(sound.get("t").unwrap().unwrap().data, [1.5, -2.0]);
    // Each change replaces some bytes of one part by others.
    for (part, from, to, expected) in [
        (
            1,
            &b"\xe9\x03"[..],
            &b"\xea\x03"[..],
            "the version of its format is 1002, expected 1001 from PyTorch before 1.6",
        ),
        (
            1,
            b"M\xe9\x03",
            b"N",
            "the version of its format is not a number, expected 1001 from PyTorch before 1.6",
        ),
        (2, b"\x88", b"\x89", "the numbers are not in little-endian order"),
        (2, b"little", b"medium", "the file does not say the byte order of its numbers"),
        (
            3,
            b"K\x02N",
            b"K\x02K\x01",
            "a storage in the pickle is a part of another one, which is not read",
        ),
        (3, b"K\x02N", b"K\x03N", "the storage \"7\" has size 2, but its tensors need size 3"),
        (3, b"FloatS", b"DoubleS", "the storage \"7\" reaches beyond the end of the file"),
        (3, b"FloatS", b"HalfS", "the file goes on after the last storage, bytes: 4"),
        (3, b"torch._utils", b"os", "nothing in the file was run"),
        (4, b"7", b"8", "the storage \"8\" is listed, but no tensor uses it"),
        (4, b"]", b"](NK\x07e", "the list of its storages is not a list of texts"),
        (4, b"]X\x01\0\0\x007a", b"N", "the list of its storages is not a list of texts"),
        (5, b"\x02", b"\x01", "the storage \"7\" has size 1, but its tensors need size 2"),
        (
            5,
            b"\x02\0\0\0\0\0\0\0",
            &[0xff; 8],
            "the storage \"7\" has size 18446744073709551615, but its tensors need size 2",
        ),
        (5, b"\0\xc0?", b"\0\xc0?\0", "the file goes on after the last storage, bytes: 1"),
    ] {
        let error =
            old_with(part, &replaced(OLD[part], from, to)).err().expect(expected).to_string();
        assert!(error.starts_with("x: these weights cannot be read: "), "{error}");
        assert!(error.ends_with(expected), "{error}");
    }
}

#[test]
fn an_old_file_that_ends_in_any_part_is_refused() {
    for (part, expected) in [
        (1, "the pickle is cut off"),
        (2, "the pickle is cut off"),
        (3, "the pickle is cut off"),
        (4, "the pickle is cut off"),
        (5, "the storage \"7\" reaches beyond the end of the file"),
    ] {
        for length in 0..OLD[part].len() {
            let file = [&OLD[..part].concat(), &OLD[part][..length]].concat();
            let error = open_torch_bytes(Path::new("x"), file).err().unwrap().to_string();
            assert!(error.ends_with(expected), "{part} {length}: {error}");
        }
    }
}

#[test]
fn a_storage_of_an_old_file_is_listed_once_and_has_one_type() {
    let error = |parts: [&[u8]; 6]| {
        let read = open_torch_bytes(Path::new("x"), parts.concat()).and_then(|t| t.get("t"));
        read.unwrap_err().to_string()
    };
    let [magic, version, facts, tensor, list, storage] = OLD;
    let list_of_two = b"\x80\x02](X\x01\0\0\x007X\x01\0\0\x007e.";
    let twice = error([magic, version, facts, tensor, list_of_two, &storage.repeat(2)]);
    assert!(twice.ends_with("the storage \"7\" is listed twice"), "{twice}");
    let unlisted = error([magic, version, facts, tensor, b"\x80\x02].", b""]);
    assert_eq!(unlisted, "x: tensor t: its numbers are not in the file");
    // A second tensor reads the same storage as numbers of another type.
    let entry = tensor.strip_prefix(b"\x80\x02}").unwrap().strip_suffix(b".").unwrap();
    let second = replaced(entry, b"FloatS", b"DoubleS");
    let both = [b"\x80\x02}", entry, &second, b"."].concat();
    let two_types = error([magic, version, facts, &both, list, storage]);
    assert!(two_types.ends_with("the storage \"7\" has two types or sizes"), "{two_types}");
}

#[test]
fn only_the_numbers_of_an_old_file_may_lie_beyond_the_first_8_mib() {
    let count = 3 << 20;
    let long = [b"J", &u32::to_le_bytes(count)[..]].concat();
    let tensor = replaced(OLD[3], b"K\x02N", &[&long[..], b"N"].concat());
    let tensor = replaced(&tensor, b"K\x02\x85", &[&long[..], b"\x85"].concat());
    let numbers: Vec<u8> = (0..count).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let storage = [&u64::from(count).to_le_bytes(), &numbers[..]].concat();
    let file = [&OLD[..3].concat(), &tensor, OLD[4], &storage].concat();
    let folder = folder(&[("pytorch_model.bin", file)]);
    let read = source::open(folder.path()).unwrap().tensors.get("t").unwrap().unwrap();
    assert_eq!(read.shape, [count as usize]);
    assert!(read.data.iter().enumerate().all(|(i, number)| *number == i as f32));
    // A text of 8 MiB that is thrown away again.
    let text = [b"X", &u32::to_le_bytes(1 << 23)[..], &[b'x'; 1 << 23], b"0", OLD[4]].concat();
    let error = old_with(4, &text).err().unwrap().to_string();
    assert!(error.ends_with("its pickles have more than 8388608 bytes"), "{error}");
}

/// Reads everything that a file offers.
fn read_all(tensors: &dyn Tensors) {
    for name in tensors.names() {
        let _ = tensors.get(&name);
    }
}

#[test]
fn a_cut_or_changed_file_gives_errors_and_no_panic() {
    for name in ["protocol2.bin", "protocol4.bin", "old.bin", "old4.bin"] {
        let whole = bytes(name);
        for length in 0..whole.len() {
            let cut = open_torch_bytes(Path::new("x"), whole[..length].to_vec());
            assert!(cut.is_err(), "{name} {length}");
        }
        for place in 0..whole.len() {
            for value in [0, 0xff, whole[place] ^ 1] {
                let mut changed = whole.clone();
                changed[place] = value;
                if let Ok(tensors) = open_torch_bytes(Path::new("x"), changed) {
                    read_all(&*tensors);
                }
            }
        }
    }
    let whole = bytes("llama.gguf");
    for length in 0..2000 {
        if let Ok(opened) = open_gguf_bytes(Path::new("x"), whole[..length].to_vec()) {
            read_all(&*opened.tensors);
        }
    }
    for place in 0..2000 {
        for value in [0, 0xff, whole[place] ^ 1] {
            let mut changed = whole.clone();
            changed[place] = value;
            if let Ok(opened) = open_gguf_bytes(Path::new("x"), changed) {
                read_all(&*opened.tensors);
            }
        }
    }
}

#[test]
fn a_view_beyond_its_storage_is_refused_before_anything_is_allocated() {
    let whole = bytes("protocol2.bin");
    // The shape (4, 6) of "matrix" becomes (2^31 - 1, 6): BININT1 is not long enough, but the
    // strides and the offset are bytes too.
    let matrix = whole.windows(4).position(|w| w == b"K\x04K\x06").unwrap();
    let mut changed = whole.clone();
    changed[matrix + 1] = 250;
    let tensors = open_torch_bytes(Path::new("x"), changed).unwrap();
    let error = tensors.get("matrix").unwrap_err().to_string();
    assert_eq!(error, "x: tensor matrix: is larger than its storage");
    let strides =
        matrix + 4 + whole[matrix + 4..].windows(4).position(|w| w == b"K\x06K\x01").unwrap();
    let mut changed = whole;
    changed[strides + 1] = 250;
    let tensors = open_torch_bytes(Path::new("x"), changed).unwrap();
    let error = tensors.get("matrix").unwrap_err().to_string();
    assert_eq!(error, "x: tensor matrix: reaches beyond its storage");
}

#[test]
fn blocks_become_the_numbers_that_ggml_makes_of_them() {
    let json: Value = serde_json::from_slice(&bytes("blocks.json")).unwrap();
    let blocks = json["blocks"].as_object().unwrap();
    assert_eq!(blocks.len(), 10);
    for (kind, block) in blocks {
        let [packed, floats] = ["bytes", "floats"].map(|field| {
            let digits = block[field].as_str().unwrap().as_bytes();
            let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
            digits.chunks(2).map(byte).collect::<Vec<u8>>()
        });
        let floats: Vec<f32> =
            floats.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let file = one_tensor(block["type"].as_u64().unwrap() as u32, floats.len(), &packed);
        let opened = open_gguf_bytes(Path::new(kind), file).unwrap();
        let tensor = opened.tensors.get("model.embed_tokens.weight").unwrap().unwrap();
        assert_eq!(tensor.shape, [1, floats.len()], "{kind}");
        assert_eq!(tensor.data, floats, "{kind}");
    }
}

/// A text as GGUF files write it.
fn gguf_text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

/// A GGUF file of a Llama whose only tensor is a table of one word.
fn one_tensor(kind: u32, width: usize, packed: &[u8]) -> Vec<u8> {
    let mut file = gguf_header(1);
    file.extend(gguf_text("token_embd.weight"));
    file.extend(2u32.to_le_bytes());
    file.extend((width as u64).to_le_bytes());
    file.extend(1u64.to_le_bytes());
    file.extend(kind.to_le_bytes());
    file.extend(0u64.to_le_bytes());
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend(packed);
    file
}

/// What comes before the list of so many tensors in the GGUF file of a Llama.
fn gguf_header(tensors: u64) -> Vec<u8> {
    let text = gguf_text;
    let mut facts = vec![[text("general.architecture"), vec![8, 0, 0, 0], text("llama")].concat()];
    for name in [
        "embedding_length",
        "block_count",
        "feed_forward_length",
        "attention.head_count",
        "context_length",
    ] {
        facts.push([text(&format!("llama.{name}")), vec![4, 0, 0, 0, 1, 0, 0, 0]].concat());
    }
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend(tensors.to_le_bytes());
    file.extend((facts.len() as u64).to_le_bytes());
    file.extend(facts.concat());
    file
}

#[test]
fn a_tensor_without_dimensions_is_refused() {
    let mut file = gguf_header(2);
    for (name, dimensions) in [("token_embd.weight", &[1u64, 1][..]), ("blk.0.attn_q.weight", &[])]
    {
        file.extend(gguf_text(name));
        file.extend((dimensions.len() as u32).to_le_bytes());
        dimensions.iter().for_each(|n| file.extend(n.to_le_bytes()));
        file.extend(0u32.to_le_bytes());
        file.extend(0u64.to_le_bytes());
    }
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend([0; 4]);
    let opened = open_gguf_bytes(Path::new("x"), file).unwrap();
    assert_eq!(
        opened.tensors.get("model.layers.0.self_attn.q_proj.weight").unwrap_err().to_string(),
        "x: tensor blk.0.attn_q.weight: has no dimensions"
    );
}

#[test]
fn unknown_types_odd_rows_and_missing_numbers_are_named() {
    let complaint = |kind, width, packed: &[u8]| {
        let opened = open_gguf_bytes(Path::new("x"), one_tensor(kind, width, packed)).unwrap();
        opened.tensors.get("model.embed_tokens.weight").unwrap_err().to_string()
    };
    assert_eq!(
        complaint(16, 256, &[0; 300]),
        "x: tensor token_embd.weight: has ggml's type 16, expected F32, F16, BF16, F64, Q4_0 to \
         Q8_0 or Q2_K to Q6_K"
    );
    assert_eq!(
        complaint(2, 33, &[0; 300]),
        "x: tensor token_embd.weight: a row of [1, 33] is no whole number of blocks"
    );
    for width in [9, 1 << 40] {
        assert_eq!(
            complaint(0, width, &[0; 32]),
            "x: tensor token_embd.weight: reaches beyond the end of the file"
        );
    }
    assert_eq!(
        complaint(0, 1, &f32::NAN.to_le_bytes()),
        "x: tensor model.embed_tokens.weight: 1 of 1 numbers are not finite, first NaN at 0"
    );
}

#[test]
fn a_forged_header_is_an_error() {
    let whole = one_tensor(0, 1, &[0; 4]);
    let complaint = |place: usize, value: &[u8]| {
        let mut changed = whole.clone();
        changed[place..place + value.len()].copy_from_slice(value);
        open_gguf_bytes(Path::new("x"), changed).err().unwrap().to_string()
    };
    for (place, value, expected) in [
        (0, &b"GGML"[..], "the file does not begin with GGUF"),
        (4, &[1, 0, 0, 0], "this is version 1 of GGUF, expected 2 or 3"),
        (4, &[0, 0, 0, 3], "the numbers are not in little-endian order"),
        (8, &[0xff; 8], "18446744073709551615 tensors do not fit into the file"),
        (16, &[0xff; 8], "18446744073709551615 facts do not fit into the file"),
        (24, &[0xff; 8], "a text in the header has 18446744073709551615 bytes"),
        (24 + 8 + 20, &[77, 0, 0, 0], "general.architecture: is of the unknown type 77"),
        (24 + 8 + 20 + 12, b"bloom", "\"bloom\" is not one of llama, qwen2, gpt2"),
    ] {
        let error = complaint(place, value);
        assert!(error.starts_with("x: these weights cannot be read: "), "{error}");
        assert!(error.ends_with(expected), "{error}");
    }
}

/// The tensors of the tiny GGUF files are numbered in the order of their names.
fn assert_numbered(opened: &Opened, count: usize) {
    let mut names = opened.tensors.names();
    names.sort();
    assert_eq!(names.len(), count);
    for (k, name) in names.iter().enumerate() {
        let tensor = opened.tensors.get(name).unwrap().unwrap();
        let numbers: Vec<f32> = (0..tensor.data.len()).map(|i| (100 * k + i) as f32).collect();
        assert_eq!(tensor.data, numbers, "{name} {:?}", tensor.shape);
        assert_eq!(tensor.shape.iter().product::<usize>(), numbers.len());
    }
}

#[test]
fn gguf_tensors_have_hugging_faces_names_and_layouts() {
    let open = |name: &str| source::open(&fixture(name)).unwrap();
    let (llama, qwen2, gpt2) = (open("llama.gguf"), open("qwen2.gguf"), open("gpt2.gguf"));
    assert_numbered(&llama, 2 * 9 + 2);
    assert_numbered(&qwen2, 2 * 12 + 3);
    assert_numbered(&gpt2, 2 * 12 + 4);
    let shape = |opened: &Opened, name: &str| opened.tensors.get(name).unwrap().unwrap().shape;
    assert_eq!(shape(&llama, "model.layers.1.self_attn.k_proj.weight"), [4, 8]);
    assert_eq!(shape(&qwen2, "lm_head.weight"), [12, 8]);
    assert_eq!(shape(&gpt2, "transformer.h.0.attn.c_attn.weight"), [8, 24]);
    assert_eq!(shape(&gpt2, "transformer.wpe.weight"), [5, 8]);
    assert!(llama.tensors.get("token_embd.weight").unwrap().is_none());
}

#[test]
fn gguf_facts_become_fields_of_config_json() {
    let config = |name: &str| Value::Object(source::open(&fixture(name)).unwrap().config);
    assert_eq!(
        config("llama.gguf"),
        serde_json::json!({
            "hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 6,
            "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 5,
            "rms_norm_eps": 1e-5, "rope_theta": 100_000.0, "hidden_act": "silu",
            "attention_bias": false, "mlp_bias": false, "model_type": "llama", "vocab_size": 12,
            "tie_word_embeddings": true, "bos_token_id": 11
        })
    );
    let qwen2 = config("qwen2.gguf");
    assert_eq!(
        (&qwen2["model_type"], &qwen2["tie_word_embeddings"]),
        (&"qwen2".into(), &false.into())
    );
    assert_eq!(
        config("gpt2.gguf"),
        serde_json::json!({
            "n_embd": 8, "n_layer": 2, "n_head": 2, "n_inner": 6, "n_positions": 5, "n_ctx": 5,
            "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new", "model_type": "gpt2",
            "vocab_size": 12, "tie_word_embeddings": true, "bos_token_id": 11
        })
    );
}

#[test]
fn a_gguf_file_brings_its_tokeniser() {
    let tokenizer = |name: &str| {
        let fields = serde_json::json!({"model_type": "bert", "hidden_size": 8, "vocab_size": 12,
            "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8,
            "max_position_embeddings": 16});
        let fields = serde_json::from_value(fields).unwrap();
        let config = Config::from_fields(fields, PathBuf::new()).unwrap();
        source::open(&fixture(name)).unwrap().tokenizer.load(&config).unwrap()
    };
    // "a b" is the only merge, and there are no pieces for the blank and for z.
    let llama = tokenizer("llama.gguf");
    assert_eq!(llama.encode("ab z<end>ba", 9), (vec![11, 10, 11, 1, 0], 0));
    assert_eq!((llama.bos(), llama.eos(), llama.start()), (Some(11), None, Some(11)));
    assert_eq!(llama.piece(10), Some("ab"));
    assert_eq!(tokenizer("qwen2.gguf").encode("abb", 9), (vec![10, 1], 0));
    assert_eq!(tokenizer("gpt2.gguf").encode("b ab", 9), (vec![1, 10], 0));
}

/// A folder with a configuration, and with the files that `fill` makes.
fn folder(files: &[(&str, Vec<u8>)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.json"), "{\"model_type\": \"bert\"}").unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn safetensors_of(tensors: &[(&str, f32)]) -> Vec<u8> {
    let bytes: Vec<[u8; 4]> = tensors.iter().map(|(_, value)| value.to_le_bytes()).collect();
    let view = |bytes| TensorView::new(Dtype::F32, vec![1], bytes).unwrap();
    let views = tensors.iter().zip(&bytes).map(|((name, _), bytes)| (*name, view(&bytes[..])));
    safetensors::serialize(views, None).unwrap()
}

fn complaint(folder: &TempDir) -> String {
    let error = source::open(folder.path()).err().expect("this folder is broken").to_string();
    error.replace(&folder.path().display().to_string(), "DIR")
}

#[test]
fn weights_in_several_files_are_found_by_their_index() {
    let index =
        br#"{"weight_map": {"a": "1.safetensors", "b": "2.safetensors", "c": "1.safetensors"}}"#;
    let folder = folder(&[
        ("model.safetensors.index.json", index.to_vec()),
        ("1.safetensors", safetensors_of(&[("a", 1.0), ("c", 3.0)])),
        ("2.safetensors", safetensors_of(&[("b", 2.0)])),
    ]);
    let opened = source::open(folder.path()).unwrap();
    assert_eq!(opened.tensors.names(), ["a", "b", "c"]);
    for (name, value) in [("a", 1.0), ("b", 2.0), ("c", 3.0)] {
        assert_eq!(opened.tensors.get(name).unwrap().unwrap().data, [value]);
    }
    assert!(opened.tensors.get("d").unwrap().is_none());
    assert_eq!(opened.fingerprint.len(), 8);
    std::fs::remove_file(folder.path().join("2.safetensors")).unwrap();
    assert!(complaint(&folder).starts_with("DIR/2.safetensors: this file is missing"));
}

#[test]
fn pytorchs_weights_are_found_in_one_or_several_files() {
    for name in ["protocol2.bin", "old.bin"] {
        let one = folder(&[("pytorch_model.bin", bytes(name))]);
        assert_expected(&*source::open(one.path()).unwrap().tensors);
    }
    let map: Vec<String> =
        expected().iter().map(|(name, ..)| format!("{name:?}: \"part-1.bin\"")).collect();
    let index =
        format!("{{\"weight_map\": {{{}, \"position_ids\": \"part-1.bin\"}}}}", map.join(","));
    let sharded = folder(&[
        ("pytorch_model.bin.index.json", index.into_bytes()),
        ("part-1.bin", bytes("protocol4.bin")),
    ]);
    assert_expected(&*source::open(sharded.path()).unwrap().tensors);
}

#[test]
fn an_index_cannot_lead_out_of_the_folder() {
    for (index, expected) in [
        (r#"{"weight_map": {"a": "../../etc/passwd"}}"#, "is no name of a file"),
        (r#"{"weight_map": {"a": 7}}"#, "the tensor \"a\" is in 7, which is no name of a file"),
        (r#"{"weight_map": 7}"#, "the index has no weight_map"),
        ("[", "not valid JSON for this file: EOF while parsing a list at line 1 column 1"),
    ] {
        let folder = folder(&[("model.safetensors.index.json", index.as_bytes().to_vec())]);
        let error = complaint(&folder);
        assert!(error.starts_with("DIR/model.safetensors.index.json: "), "{error}");
        assert!(error.ends_with(expected), "{error}");
    }
}

#[test]
fn a_folder_with_one_gguf_file_is_that_file() {
    let one = folder(&[("tiny.gguf", bytes("llama.gguf"))]);
    let opened = source::open(one.path()).unwrap();
    assert_eq!(opened.config["model_type"], "llama");
    let same = source::open(&one.path().join("tiny.gguf")).unwrap();
    assert_eq!(opened.fingerprint, same.fingerprint);
    std::fs::write(one.path().join("other.GGUF"), b"GGUF").unwrap();
    assert!(complaint(&one).ends_with("the folder has 2 GGUF files: name one of them"));
    // Weights of Hugging Face's kinds come first.
    std::fs::write(one.path().join("model.safetensors"), safetensors_of(&[("a", 1.0)])).unwrap();
    assert_eq!(source::open(one.path()).unwrap().tensors.names(), ["a"]);
}

#[test]
fn an_empty_folder_and_a_file_of_another_kind_say_what_is_missing() {
    let empty = tempfile::tempdir().unwrap();
    assert!(complaint(&empty).starts_with("DIR/config.json: this file is missing"));
    assert!(complaint(&folder(&[])).starts_with("DIR/model.safetensors: this file is missing"));
    let error = source::open(&fixture("torch.json")).err().unwrap().to_string();
    assert!(error.ends_with("the file does not begin with GGUF"), "{error}");
}
