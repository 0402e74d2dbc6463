//! The folder of a trained RUBER. It has a copy of the encoder, so that it can be moved and read
//! alone.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use storymeter_core::file::uninterrupted;
use storymeter_core::{AtomicFile, Error as FileError, Place};
use storymeter_encoder::TOKENIZER_FILES;
use storymeter_neural::ruber::{CARD, Card, HEAD, Head};

use crate::folder::{WEIGHTS, remove_leftovers};
use crate::{Error, Result};

const CONFIG: &str = "config.json";

/// All files that such a folder may have.
pub const FILES: [&str; 9] = {
    let [json, vocabulary, settings, special] = TOKENIZER_FILES;
    let [safetensors, torch] = WEIGHTS;
    [CONFIG, safetensors, torch, json, vocabulary, settings, special, HEAD, CARD]
};

/// The file that is written last, so that a folder with it is whole.
pub const LAST_FILE: &str = CARD;

/// The files of an encoder that are copied.
///
/// # Errors
/// Returns an error if the encoder is not a folder with its weights in one file.
pub(super) fn encoder_files(init: &Path) -> Result<Vec<PathBuf>> {
    let there = |name: &&str| init.join(name).is_file();
    let Some(weights) = WEIGHTS.iter().find(|name| there(name)) else {
        let problem = format!(
            "the encoder must be a folder with its weights in one file, {}",
            WEIGHTS.join(" or ")
        );
        return Err(Error::Model { path: init.to_owned(), problem });
    };
    let tokenizer = TOKENIZER_FILES.iter().filter(|name| there(name));
    Ok([CONFIG, weights]
        .into_iter()
        .chain(tokenizer.copied())
        .map(|name| init.join(name))
        .collect())
}

/// The name of an encoder: that of its folder.
pub(super) fn name_of(folder: &Path) -> String {
    let whole = folder.canonicalize();
    let name = whole.as_deref().unwrap_or(folder).file_name();
    name.map_or_else(|| "unnamed".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Writes the encoder, the head and the card into an existing folder.
///
/// All files are written under temporary names first, so that a full disk leaves what was there.
/// The card gets its name last. It has the checksum of the head and the fingerprint of the encoder,
/// so that an interruption cannot leave parts of two models that look like one.
pub(super) fn save(folder: &Path, encoder: &[PathBuf], card: Card, head: &Head) -> Result<()> {
    let wrong = |name: &str, problem: String| Error::Model { path: folder.join(name), problem };
    let head = head.to_bytes().map_err(|problem| wrong(HEAD, problem))?;
    let card = serde_json::to_vec_pretty(&card.sealed(&head))
        .map_err(|error| wrong(CARD, error.to_string()))?;
    let mut files = Vec::new();
    for from in encoder {
        let Some(name) = from.file_name() else { continue };
        let to = folder.join(name);
        let mut file = AtomicFile::create(&to)?;
        let mut source = File::open(from).map_err(|e| FileError::io(Place::file(from), e))?;
        let copied = io::copy(&mut source, &mut file).and_then(|_| file.flush());
        copied.map_err(|e| FileError::io(Place::file(&to), e))?;
        files.push(file);
    }
    files.push(AtomicFile::holding(&folder.join(HEAD), &head)?);
    let card = AtomicFile::holding(&folder.join(CARD), &card)?;
    let has = |name: &str| encoder.iter().any(|file| file.file_name().is_some_and(|n| n == name));
    uninterrupted(|| {
        remove_leftovers(folder, has)?;
        for file in files {
            file.commit()?;
        }
        Ok(card.commit()?)
    })
}
