//! Weights and tokenisers of other programs: PyTorch, llama.cpp and Hugging Face.

use std::path::Path;
use std::sync::LazyLock;

use storymeter_encoder::source::{open, open_gguf_bytes, open_torch_bytes};
use storymeter_encoder::{Config, Tensors, Tokenizer};

use crate::model::{CONFIG, TINY, WEIGHTS};
use crate::{FOLDER, parts, written};

const NAME: &str = "fuzz";

/// A configuration whose vocabulary has room for every byte.
static BYTES: LazyLock<Config> = LazyLock::new(|| Config { vocabulary: 600, ..TINY.clone() });

/// What is listed is there, has the numbers of its shape and no others than finite ones, or gives
/// an error.
fn read_all(tensors: &dyn Tensors) {
    for name in tensors.names() {
        if let Ok(tensor) = tensors.get(&name) {
            let tensor = tensor.expect("what is listed is there");
            assert_eq!(tensor.shape.iter().product::<usize>(), tensor.data.len());
            assert!(tensor.data.iter().all(|number| number.is_finite()));
        }
    }
}

/// Every token is in the vocabulary and stands for whole characters.
fn tokenize(tokenizer: &Tokenizer) {
    for text in ["Mia's 12 kites\n\n  it  rained é\u{301}.", "", "<s> <mask>x", " \t\u{3000}"] {
        for token in tokenizer.tokenize(text) {
            assert!((token.id as usize) < tokenizer.vocabulary());
            assert!(text.get(token.start..token.end).is_some());
        }
        let (ids, _) = tokenizer.encode(text, 8);
        assert!(ids.iter().all(|id| (*id as usize) < tokenizer.vocabulary()));
    }
}

/// How a file of PyTorch before version 1.6 begins, up to the pickle with the tensors: the magic
/// number, the version of the format, and facts about the machine.
const OLD_BEGINNING: &[u8] = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\
    \x80\x02}X\x0d\0\0\0little_endian\x88s.";

/// `pytorch_model.bin`: the whole file, the pickle of an archive that is right, or what follows a
/// beginning of the old format that is right.
pub fn torch_weights(bytes: &[u8]) {
    for file in [bytes.to_vec(), archive(bytes), [OLD_BEGINNING, bytes].concat()] {
        if let Ok(tensors) = open_torch_bytes(Path::new(NAME), file) {
            read_all(&*tensors);
        }
    }
}

/// A zip archive with a pickle and two storages.
fn archive(pickle: &[u8]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    let files = [("a/data.pkl", pickle), ("a/data/0", &[0; 96]), ("a/data/1", &[0; 16])];
    for (name, content) in files {
        let start = bytes.len() as u32;
        let (length, name_length) = (content.len() as u32, name.len() as u16);
        let sizes = [[0; 4], length.to_le_bytes(), length.to_le_bytes()].concat();
        let (names, zeros) = (name_length.to_le_bytes(), [0; 12]);
        bytes.extend([b"PK\x03\x04", &zeros[..10], &sizes, &names, &[0, 0]].concat());
        bytes.extend([name.as_bytes(), content].concat());
        list.extend([b"PK\x01\x02", &zeros[..], &sizes, &names, &zeros].concat());
        list.extend([&start.to_le_bytes()[..], name.as_bytes()].concat());
    }
    let (start, size) = (bytes.len() as u32, list.len() as u32);
    bytes.extend(list);
    bytes.extend(b"PK\x05\x06\0\0\0\0\x03\0\x03\0");
    bytes.extend([size.to_le_bytes(), start.to_le_bytes()].concat());
    bytes.extend([0, 0]);
    bytes
}

/// A GGUF file. Its tensors and its tokeniser are read.
pub fn gguf(bytes: &[u8]) {
    let Ok(opened) = open_gguf_bytes(Path::new(NAME), bytes.to_vec()) else { return };
    read_all(&*opened.tensors);
    let vocabulary = opened.config["vocab_size"].as_u64().unwrap_or(0).min(1 << 20) as usize;
    let config = Config { vocabulary, ..TINY.clone() };
    if let Ok(tokenizer) = opened.tokenizer.load(&config) {
        tokenize(&tokenizer);
    }
}

/// The index of weights in several files, of which `model.safetensors` is the only one.
pub fn weights_index(bytes: &[u8]) {
    // Another target of this program may have used the folder, so the file has a folder of its own.
    let folder = FOLDER.join("sharded");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, content) in [
        ("sharded/config.json", CONFIG),
        ("sharded/part.safetensors", WEIGHTS),
        ("sharded/model.safetensors.index.json", bytes),
    ] {
        written(name, content);
    }
    if let Ok(opened) = open(&folder) {
        read_all(&*opened.tensors);
    }
}

/// `tokenizer.json` or, if the input begins with `v`, `vocab.json` and `merges.txt`.
/// `tokenizer_config.json` follows. Zero bytes separate the files.
pub fn byte_pairs(bytes: &[u8]) {
    let files: Vec<(&str, &[u8])> = match bytes.strip_prefix(b"v") {
        Some(lists) => {
            let names = ["vocab.json", "merges.txt", "tokenizer_config.json"];
            let contents: [Option<&[u8]>; 3] = parts(lists);
            names.into_iter().zip(contents).filter_map(|(n, c)| Some((n, c?))).collect()
        }
        None => {
            let contents: [Option<&[u8]>; 2] = parts(bytes);
            let names = ["tokenizer.json", "tokenizer_config.json"];
            names.into_iter().zip(contents).filter_map(|(n, c)| Some((n, c?))).collect()
        }
    };
    if let Ok(tokenizer) = Tokenizer::from_files(&files, Path::new(NAME), &BYTES) {
        tokenize(&tokenizer);
    }
}
