//! What a folder of a trained RUBER has beside its encoder: the head and the card.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use storymeter_core::file;
use storymeter_core::terminal::excerpt;
use storymeter_encoder::read_tensor_file;

use super::head::Head;
use super::vectors::Pool;

/// The file of the card, which is written last.
pub const CARD: &str = "ruber.json";

/// The file of the head.
pub const HEAD: &str = "ruber.safetensors";

/// The largest size of a card in bytes.
const LARGEST_CARD: u64 = 1 << 22;

/// The version of the format.
const FORMAT: u32 = 1;

/// The smallest number of tokens that are read of a text.
pub const LEAST_TOKENS: usize = 8;

/// How a trained RUBER reads texts, and which files belong to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The version of the format.
    pub format: u32,
    /// The name of the encoder.
    pub encoder: String,
    /// The fingerprint of its weights.
    pub encoder_weights: String,
    /// The number of columns of its vectors.
    pub width: usize,
    /// The vector of a text that the head reads.
    pub pooling: Pool,
    /// Whether person names are masked before a text is read.
    pub delexicalise: bool,
    /// The most tokens of a text, special ones included.
    pub max_tokens: usize,
    /// The SHA-256 of the file of the head.
    pub head_sha256: String,
    /// How it was trained: settings, stories, losses and signature.
    pub training: serde_json::Value,
}

impl Card {
    /// A card of the present format for the bytes of a head.
    #[must_use]
    pub fn sealed(self, head: &[u8]) -> Self {
        Self { format: FORMAT, head_sha256: sha256(head), ..self }
    }

    /// Reads the card and the head of a folder, whose encoder has vectors of this width and weights
    /// of this fingerprint.
    ///
    /// # Errors
    /// Returns an error if a file is missing, too large or not what it should be, or if the files
    /// do not belong together.
    pub fn load(folder: &Path, width: usize, weights: &str) -> Result<(Self, Head), String> {
        let path = folder.join(CARD);
        let wrong = |problem: &str| format!("{}: {problem}", path.display());
        let bytes = file::read(&path, LARGEST_CARD).map_err(|error| error.to_string())?;
        let card: Self = serde_json::from_slice(&bytes)
            .map_err(|error| wrong(&excerpt(&error.to_string(), 300)))?;
        if card.format != FORMAT {
            return Err(wrong("it was written by another version of storymeter"));
        }
        if (card.width, card.encoder_weights.as_str()) != (width, weights) {
            return Err(wrong("it was trained with another encoder than the one in this folder"));
        }
        if card.max_tokens < LEAST_TOKENS || card.pooling == Pool::Min {
            return Err(wrong("max_tokens or pooling has a value that cannot be used"));
        }
        let path = folder.join(HEAD);
        let bytes = read_tensor_file(&path).map_err(|error| error.to_string())?;
        if sha256(&bytes) != card.head_sha256 {
            return Err(format!("{}: the file does not belong to {CARD}", path.display()));
        }
        let head = Head::from_bytes(&path, &bytes, card.width)?;
        Ok((card, head))
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_encoder::Stream;

    #[test]
    fn a_folder_with_files_of_two_trainings_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let save = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes);
        let load = |width, weights| Card::load(folder.path(), width, weights);
        assert!(load(4, "ab").expect_err("empty").contains("ruber.json"));
        let head = Head::random(4, Stream::new(1));
        let bytes = head.to_bytes().unwrap();
        let card = Card {
            format: 0,
            encoder: "tiny".to_owned(),
            encoder_weights: "ab".to_owned(),
            width: 4,
            pooling: Pool::Max,
            delexicalise: true,
            max_tokens: 100,
            head_sha256: String::new(),
            training: serde_json::Value::Null,
        };
        let card = card.sealed(&bytes);
        save(CARD, &serde_json::to_vec(&card).unwrap()).unwrap();
        save(HEAD, &bytes).unwrap();
        assert_eq!(load(4, "ab"), Ok((card, head)));
        for (width, weights) in [(5, "ab"), (4, "cd")] {
            let error = load(width, weights).expect_err("another encoder");
            assert!(error.contains("another encoder"), "{error}");
        }
        save(HEAD, &Head::random(4, Stream::new(2)).to_bytes().unwrap()).unwrap();
        let error = load(4, "ab").expect_err("another head");
        assert!(error.ends_with("does not belong to ruber.json"), "{error}");
    }
}
