//! Reads the files of a model folder, none of which may be endless.

use crate::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes that `config.json` may have. Real ones have a few thousand.
pub const LARGEST_CONFIG: u64 = 1 << 22;
/// The most bytes of a file of weights. The largest encoders of the BERT family have 1.4 GB.
const LARGEST_WEIGHTS: u64 = 1 << 33;
/// The most bytes of the header of a file of weights, as in the library that reads it.
pub(crate) const LARGEST_HEADER: u64 = 100_000_000;

/// Reads a file of a model folder.
///
/// Only an ordinary file is read, because a device or a pipe may have no end.
///
/// # Errors
/// Returns an error if the file is missing, cannot be read, is no ordinary file, or has more than
/// `most` bytes.
pub fn read_model_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    let failed = |source| Error::reading(path, source);
    // This is asked before the file is opened, because opening a pipe waits for its writer.
    let there = path.metadata().map_err(failed)?;
    if !there.is_file() {
        let what = if there.is_dir() { "a folder" } else { "a device or a pipe" };
        return Err(failed(io::Error::other(format!("this is {what}, not an ordinary file"))));
    }
    let mut bytes = Vec::new();
    if there.len() <= most {
        let file = File::open(path).map_err(failed)?;
        bytes.try_reserve_exact(there.len() as usize).map_err(|e| failed(e.into()))?;
        file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 <= most {
            return Ok(bytes);
        }
    }
    let problem =
        format!("the file has more than {most} bytes, which is the most that is read here");
    Err(failed(io::Error::new(io::ErrorKind::InvalidData, problem)))
}

/// Reads a file of tensors (safetensors) of a model folder.
///
/// The beginning is looked at first, so that a large file of another kind is not read.
///
/// # Errors
/// As [`read_model_file`], and if the file does not begin like a file of tensors.
pub fn read_tensor_file(path: &Path) -> Result<Vec<u8>> {
    let mut beginning = Vec::new();
    if let Some(there) = path.metadata().ok().filter(std::fs::Metadata::is_file) {
        let file = File::open(path).map_err(|e| Error::reading(path, e))?;
        file.take(9).read_to_end(&mut beginning).map_err(|e| Error::reading(path, e))?;
        let header = beginning.first_chunk().map(|length| u64::from_le_bytes(*length));
        let fits = header.is_some_and(|length| length <= LARGEST_HEADER);
        if !fits || beginning.get(8) != Some(&b'{') {
            let problem =
                format!("its first bytes are not those of such a file ({} bytes)", there.len());
            return Err(Error::Safetensors { path: path.into(), problem });
        }
    }
    read_model_file(path, LARGEST_WEIGHTS)
}
