//! The errors of a broken model folder say what is wrong: which file, which tensor or field, and
//! what was expected.

use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::BTreeMap;
use std::path::Path;
use storymeter_encoder::{
    Batch, Config, Device, Error, Model, Outputs, Parameters, Precision, Result, Tokenizer,
    load_parameters,
};
use tempfile::TempDir;

/// A copy of the tiny BERT to break.
fn copy() -> TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
    let to = tempfile::tempdir().unwrap();
    for file in
        ["config.json", "model.safetensors", "tokenizer.json", "vocab.txt", "tokenizer_config.json"]
    {
        std::fs::copy(from.join(file), to.path().join(file)).unwrap();
    }
    to
}

fn edit(folder: &TempDir, file: &str, from: &str, to: &str) {
    let path = folder.path().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// Rewrites the weights. `change` returns each tensor (name, type, shape, bytes) as it should be,
/// or `None` to leave it out.
fn rewrite(
    folder: &TempDir,
    mut change: impl FnMut(
        &str,
        Dtype,
        Vec<usize>,
        Vec<u8>,
    ) -> Option<(String, Dtype, Vec<usize>, Vec<u8>)>,
) {
    let path = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let mut kept = BTreeMap::new();
    for (name, view) in file.tensors() {
        if let Some((name, dtype, shape, data)) =
            change(&name, view.dtype(), view.shape().to_vec(), view.data().to_vec())
        {
            kept.insert(name, (dtype, shape, data));
        }
    }
    let views = kept.iter().map(|(name, (dtype, shape, data))| {
        (name.as_str(), TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    std::fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
}

/// The error of loading everything, without the path of the temporary folder.
fn complaint(folder: &TempDir) -> String {
    let load = || -> Result<()> {
        let config = Config::load(folder.path())?;
        Tokenizer::load(folder.path(), &config)?;
        load_parameters(folder.path(), &config)?;
        Ok(())
    };
    let error = load().expect_err("this folder is broken");
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn an_unbroken_copy_loads() {
    let folder = copy();
    assert!(Model::open(folder.path(), Device::Cpu, Precision::Int8).is_ok());
}

#[test]
fn half_precision_weights_load_and_stay_close() {
    type Squeeze = fn(f32) -> [u8; 2];
    let kinds: [(Dtype, Squeeze, f32); 2] = [
        (Dtype::F16, |v| f16::from_f32(v).to_le_bytes(), 0.02),
        (Dtype::BF16, |v| bf16::from_f32(v).to_le_bytes(), 0.15),
    ];
    let batch: Batch = [&[2u32, 30, 31, 32, 33, 3][..]].into_iter().collect();
    let states = |folder: &TempDir| {
        let model = Model::open(folder.path(), Device::Cpu, Precision::F32).unwrap();
        let run = model.run(&batch, &Outputs::new().layers([2])).unwrap();
        run.layer(2).sequence(0).to_vec()
    };
    let full = states(&copy());
    for (dtype, squeeze, tolerance) in kinds {
        let folder = copy();
        rewrite(&folder, |name, _, shape, data| {
            let numbers = data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
            Some((name.into(), dtype, shape, numbers.flat_map(squeeze).collect()))
        });
        let worst =
            states(&folder).iter().zip(&full).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst > 0.0 && worst < tolerance, "{dtype:?}: {worst}");
    }
}

#[test]
fn names_with_the_models_prefix_and_old_layer_norm_names_load() {
    let folder = copy();
    rewrite(&folder, |name, dtype, shape, data| {
        let name = name
            .replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta");
        Some((format!("bert.{name}"), dtype, shape, data))
    });
    let config = Config::load(folder.path()).unwrap();
    let original = load_parameters(copy().path(), &config).unwrap();
    assert_eq!(load_parameters(folder.path(), &config).unwrap(), original);
}

#[test]
fn a_missing_tensor_is_named_with_its_shape() {
    let folder = copy();
    rewrite(&folder, |name, dtype, shape, data| {
        (name != "encoder.layer.1.output.dense.weight").then(|| (name.into(), dtype, shape, data))
    });
    assert_eq!(
        complaint(&folder),
        "model.safetensors: tensor encoder.layer.1.output.dense.weight: is missing (expected shape \
         [36, 70])"
    );
}

#[test]
fn missing_files_and_tensors_can_be_told_from_broken_ones() {
    for file in ["config.json", "model.safetensors"] {
        let folder = copy();
        std::fs::remove_file(folder.path().join(file)).unwrap();
        let error = Model::open(folder.path(), Device::Cpu, Precision::Int8).err().unwrap();
        let Error::MissingFile { path } = &error else { panic!("{error:?}") };
        assert_eq!(*path, folder.path().join(file));
        assert!(error.to_string().contains("this file is missing (a model folder has"), "{error}");
    }
    let folder = copy();
    rewrite(&folder, |name, dtype, shape, data| {
        (name != "embeddings.LayerNorm.bias").then(|| (name.into(), dtype, shape, data))
    });
    let error = Model::open(folder.path(), Device::Cpu, Precision::Int8).err().unwrap();
    let Error::MissingTensor { name, shape, .. } = error else { panic!("{error:?}") };
    assert_eq!((name.as_str(), shape), ("embeddings.LayerNorm.bias", Some(vec![36])));
}

#[test]
fn an_odd_shape_an_odd_type_and_a_layer_too_many_are_named() {
    let folder = copy();
    rewrite(&folder, |name, dtype, shape, data| {
        let turned = name == "encoder.layer.0.intermediate.dense.weight";
        Some((name.into(), dtype, if turned { vec![shape[1], shape[0]] } else { shape }, data))
    });
    assert_eq!(
        complaint(&folder),
        "model.safetensors: tensor encoder.layer.0.intermediate.dense.weight: \
         has shape [36, 70], expected [70, 36] by config.json"
    );
    let folder = copy();
    rewrite(&folder, |name, dtype, shape, data| {
        let odd = name == "embeddings.LayerNorm.bias";
        Some((name.into(), if odd { Dtype::I32 } else { dtype }, shape, data))
    });
    let text = complaint(&folder);
    assert!(
        text.ends_with(
            "tensor embeddings.LayerNorm.bias: has type I32, expected F32, F16, BF16 or F64"
        ),
        "{text}"
    );
    let folder = copy();
    edit(&folder, "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
    let text = complaint(&folder);
    assert!(
        text.contains("tensor encoder.layer.1.") && text.ends_with("has only 1 layers (0 to 0)"),
        "{text}"
    );
}

#[test]
fn weights_that_are_not_numbers_are_found() {
    let folder = copy();
    rewrite(&folder, |name, dtype, shape, mut data| {
        if name == "encoder.layer.1.attention.self.key.weight" {
            data[40..44].copy_from_slice(&f32::NAN.to_le_bytes());
            data[80..84].copy_from_slice(&f32::INFINITY.to_le_bytes());
        }
        Some((name.into(), dtype, shape, data))
    });
    assert_eq!(
        complaint(&folder),
        "model.safetensors: tensor encoder.layer.1.attention.self.key.weight: \
         2 of 1296 numbers are not finite, first NaN at 10"
    );
}

#[test]
fn a_truncated_or_corrupt_file_of_weights_is_an_error_at_every_length() {
    let folder = copy();
    let path = folder.path().join("model.safetensors");
    let whole = std::fs::read(&path).unwrap();
    for len in [0, 1, 7, 8, 9, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..len]).unwrap();
        let text = complaint(&folder);
        assert!(
            text.starts_with("model.safetensors: not a complete safetensors file: "),
            "{len}: {text}"
        );
        assert!(text.ends_with(&format!("({len} bytes)")), "{len}: {text}");
    }
    for place in 0..16 {
        let mut broken = whole.clone();
        broken[place] ^= 0x55;
        std::fs::write(&path, &broken).unwrap();
        assert!(complaint(&folder).starts_with("model.safetensors: "), "byte {place}");
    }
}

#[test]
fn a_tokenizer_of_another_model_is_refused() {
    let folder = copy();
    let pieces: Vec<String> = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
        .map(String::from)
        .into_iter()
        .chain((0..400).map(|i| format!("w{i}")))
        .collect();
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    std::fs::write(folder.path().join("vocab.txt"), pieces.join("\n")).unwrap();
    let text = complaint(&folder);
    assert!(
        text.starts_with(
            "vocab.txt: the vocabulary has 404 entries, but vocab_size in config.json is"
        ),
        "{text}"
    );
    std::fs::write(folder.path().join("vocab.txt"), "[PAD]\nhello\n").unwrap();
    assert_eq!(complaint(&folder), "vocab.txt: the vocabulary lacks the special token \"[UNK]\"");
    let folder = copy();
    edit(&folder, "tokenizer.json", "\"WordPiece\",\"unk", "\"Unigram\",\"unk");
    assert_eq!(complaint(&folder), "tokenizer.json: model is Unigram, expected WordPiece or BPE");
    let folder = copy();
    edit(&folder, "config.json", "\"pad_token_id\": 0", "\"pad_token_id\": 3");
    let text = complaint(&folder);
    assert!(
        text.contains("the padding token has the id 0, but pad_token_id in config.json is 3"),
        "{text}"
    );
}

#[test]
fn an_odd_configuration_names_the_field() {
    for (from, to, expected) in [
        (
            "\"bert\"",
            "\"t5\"",
            "model_type: \"t5\" is not one of bert, bleurt, roberta, distilbert, mpnet, gpt2, llama, \
             mistral, qwen2, bart",
        ),
        (
            "\"hidden_size\": 36",
            "\"hidden_size\": 37",
            "hidden_size: 37 is not a multiple of the 4 attention heads",
        ),
        (
            "\"hidden_size\": 36",
            "\"hidden_size\": -1",
            "hidden_size: expected a positive whole number, found -1",
        ),
        ("\"vocab_size\"", "\"vocab\"", "vocab_size: is missing"),
        (
            "\"gelu_new\"",
            "\"mish\"",
            "hidden_act: \"mish\" is not one of gelu, gelu_new, gelu_pytorch_tanh, relu, silu",
        ),
    ] {
        let folder = copy();
        edit(&folder, "config.json", from, to);
        assert_eq!(complaint(&folder), format!("config.json: {expected}"));
    }
    let folder = copy();
    std::fs::write(folder.path().join("config.json"), "{\"model_type\": ").unwrap();
    assert!(complaint(&folder).starts_with("config.json: not valid JSON for this file: "));
    std::fs::remove_file(folder.path().join("config.json")).unwrap();
    assert!(complaint(&folder).starts_with("config.json: "));
}

#[test]
fn a_sliding_window_that_is_not_used_cuts_nothing() {
    let read = |own: &str| {
        let fields = format!(
            r#"{{"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1,
                "num_attention_heads": 2, "intermediate_size": 8,
                "max_position_embeddings": 32768, {own}}}"#
        );
        Config::from_bytes(Path::new("config.json"), fields.as_bytes())
    };
    // As Qwen2-0.5B says it, and as transformers reads a file that leaves the switch out.
    let qwen2 = r#""model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": false"#;
    assert_eq!(read(qwen2).unwrap().max_tokens(), 32768);
    let silent = r#""model_type": "qwen2", "sliding_window": 4096"#;
    assert_eq!(read(silent).unwrap().max_tokens(), 32768);
    let used = r#""model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": true"#;
    assert!(read(used).unwrap_err().to_string().ends_with("true is not supported"));
    let mistral = r#""model_type": "mistral", "sliding_window": 4096"#;
    assert_eq!(read(mistral).unwrap().max_tokens(), 4096);
}

#[test]
fn a_whole_number_is_the_same_as_that_number_with_a_point() {
    let read = |factor: &str| {
        let fields = format!(
            r#"{{"model_type": "llama", "vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1,
                "num_attention_heads": 2, "intermediate_size": 8, "max_position_embeddings": 64,
                "partial_rotary_factor": {factor}}}"#
        );
        Config::from_bytes(Path::new("config.json"), fields.as_bytes())
    };
    assert!(read("1").is_ok() && read("1.0").is_ok() && read("null").is_ok());
    assert!(read("0.5").unwrap_err().to_string().ends_with("0.5 is not supported"));
}

#[test]
fn a_model_that_is_written_reads_back_bit_for_bit() {
    let from = copy();
    let config = Config::load(from.path()).unwrap();
    let parameters = load_parameters(from.path(), &config).unwrap();
    let path = Path::new("copy");
    let bytes = config.to_bytes(path).unwrap();
    assert_eq!(Config::from_bytes(path, &bytes).unwrap(), config);
    let bytes = parameters.to_bytes(path).unwrap();
    assert_eq!(Parameters::from_bytes(path, &bytes, &config).unwrap(), parameters);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_endless_or_a_pipe_is_not_read() {
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        let folder = copy();
        std::fs::remove_file(folder.path().join(file)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(file)).unwrap();
        let error = complaint(&folder);
        assert_eq!(error, format!("{file}: this is a device or a pipe, not an ordinary file"));
    }
    // A sparse file of a terabyte takes no room on the disk.
    for (file, problem) in [
        (
            "config.json",
            "the file has more than 4194304 bytes, which is the most that is read here",
        ),
        (
            "model.safetensors",
            "not a complete safetensors file: its first bytes are not those of such a file \
             (1099511627776 bytes)",
        ),
        (
            "tokenizer.json",
            "the file has more than 33554432 bytes, which is the most that is read here",
        ),
    ] {
        let folder = copy();
        let sparse = std::fs::File::create(folder.path().join(file)).unwrap();
        sparse.set_len(1 << 40).unwrap();
        assert_eq!(complaint(&folder), format!("{file}: {problem}"));
    }
}

#[test]
fn a_message_has_one_line_of_what_a_file_says() {
    let folder = copy();
    edit(&folder, "config.json", "\"bert\"", &format!("\"{}\"", "b".repeat(100_000)));
    let error = complaint(&folder);
    assert!(error.contains("bbb...") && error.len() < 220, "{}", error.len());
    let folder = copy();
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    let huge = format!("[UNK]\n{}\n", "x".repeat(100_000)).repeat(2);
    std::fs::write(folder.path().join("vocab.txt"), huge).unwrap();
    assert!(complaint(&folder).len() < 200);
}
