//! Model folders: the files of a model, and a record of how it was trained.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use storymeter_core::file::uninterrupted;
use storymeter_core::{AtomicFile, Place, Story};
use storymeter_encoder::{TOKENIZER_FILES, Tensor};

use crate::Result;

/// The file with the record of the training and the checksums of the other files. It is written
/// last, so that a folder with it is complete.
pub const RECORD: &str = "training.json";

/// The files of weights, in the order in which the engine looks for them.
pub(crate) const WEIGHTS: [&str; 2] = ["model.safetensors", "pytorch_model.bin"];

/// The files that byte-level tokenisers have instead of `tokenizer.json`.
const BYTE_LEVEL_FILES: [&str; 3] = ["vocab.json", "merges.txt", "added_tokens.json"];

/// Writes the files of a model and then the record into an existing folder. Every file is either
/// complete or not there.
///
/// All files are written under temporary names first, so that a full disk leaves the previous model
/// as it was. The record gets the SHA-256 of every other file under "files".
///
/// # Errors
/// Returns an error if a file cannot be written, for example because the disk is full or the folder
/// is missing.
pub fn save(
    folder: &Path,
    files: &[(&str, Vec<u8>)],
    mut record: Map<String, Value>,
) -> Result<()> {
    let sums: BTreeMap<&str, String> =
        files.iter().map(|(name, bytes)| (*name, sha256(bytes))).collect();
    record.insert("files".to_owned(), serde_json::json!(sums));
    let record = format!("{:#}\n", Value::Object(record));
    let record = AtomicFile::holding(&folder.join(RECORD), record.as_bytes())?;
    let is_new = |name: &str| files.iter().any(|(new, _)| *new == name);
    let written = files.iter().map(|(name, bytes)| AtomicFile::holding(&folder.join(name), bytes));
    let temporary = written.collect::<storymeter_core::Result<Vec<_>>>()?;
    uninterrupted(|| {
        remove_leftovers(folder, is_new)?;
        for file in temporary {
            file.commit()?;
        }
        Ok(record.commit()?)
    })
}

/// Removes the weights and the tokeniser of an earlier model that the new one has no file for. They
/// would be read before its files, or beside them.
pub(crate) fn remove_leftovers(folder: &Path, is_new: impl Fn(&str) -> bool) -> Result<()> {
    let names = WEIGHTS.into_iter().chain(TOKENIZER_FILES).chain(BYTE_LEVEL_FILES);
    for path in names.filter(|name| !is_new(name)).map(|name| folder.join(name)) {
        if path.is_file() {
            let removed = std::fs::remove_file(&path);
            removed.map_err(|e| storymeter_core::Error::io(Place::file(&path), e))?;
        }
    }
    Ok(())
}

/// The SHA-256 of the names and numbers of tensors.
pub fn tensors_hash<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> String {
    let mut digest = Sha256::new();
    for tensor in tensors {
        digest.update(tensor.name.as_bytes());
        // Many numbers are hashed together, because every call of the hash has a cost.
        for chunk in tensor.data.chunks(1 << 14) {
            digest.update(chunk.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        }
    }
    hexadecimal(&digest.finalize())
}

/// The SHA-256 of everything in stories that is learned from: prompts, texts, references and
/// ratings.
pub fn stories_hash(stories: &[Story]) -> String {
    let mut digest = Sha256::new();
    let mut add = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    };
    for story in stories {
        add(story.prompt.as_deref().unwrap_or_default().as_bytes());
        add(story.text.as_bytes());
        story.references.iter().for_each(|reference| add(reference.as_bytes()));
        add(format!("{:?}", story.ratings).as_bytes());
    }
    hexadecimal(&digest.finalize())
}

/// The SHA-256 of some bytes in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
