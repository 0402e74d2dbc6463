//! A model in one file: its weights (int8 as the kernels read them, or on a grid: [`Card::grid`]), tokeniser, heads
//! and card.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `89 53 4D 51 0D 0A 1A 0A`: a transfer that changes line ends is noticed |
//! | 8..12 | version of the layout, 1 |
//! | 12..16 | length of the header |
//! | 16..24 | length of the file |
//! | 24..56 | SHA-256 of all that follows |
//! | 56.. | the header, JSON: card, the encoder's `config.json`, fingerprint, where the parts are |
//! | | the parts, each at a multiple of 64 |
//!
//! All numbers are little-endian. The file scores exactly like the folder it was made from with `--precision int8`.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use storymeter_core::{AtomicFile, Place};
use storymeter_encoder::{Config, Encoder, Isa, Precision, Tokenizer};

use crate::{Card, Error, Heads, Model, Reconstruction, Result};

const MAGIC: [u8; 8] = *b"\x89SMQ\r\n\x1a\n";
const VERSION: u32 = 1;
/// Where the header begins.
const FIXED: usize = 56;
/// Parts begin at multiples of a cache line.
const ALIGN: usize = 64;
/// Bytes of a tokeniser's file at most: no vocabulary comes near it.
const LARGEST_FILE: u64 = 1 << 26;

/// The model that is part of the program, where the build had one; see `build.rs`.
#[cfg(embedded_model)]
const EMBEDDED: Option<&[u8]> = Some(include_bytes!(env!("STORYMETER_EMBEDDED_FILE")));
#[cfg(not(embedded_model))]
const EMBEDDED: Option<&[u8]> = None;

/// A file's name and its bytes.
type File<'a> = (&'a str, Cow<'static, [u8]>);

/// A model file, its header read.
#[derive(Debug, Clone)]
pub struct StoredModel {
    path: PathBuf,
    bytes: Cow<'static, [u8]>,
    header: Header,
    /// Where the parts begin.
    start: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Header {
    fingerprint: String,
    card: Card,
    config: Map<String, Value>,
    /// Name and place of every part, counted from the first.
    parts: Vec<(String, Range<usize>)>,
}

impl StoredModel {
    /// The model that is part of the program.
    ///
    /// # Errors
    /// [`Error::NoEmbedded`] where the program was built without one.
    pub fn embedded() -> Result<Self> {
        let bytes = EMBEDDED.ok_or(Error::NoEmbedded)?;
        // The tests compare its checksum; a program that was damaged since has other problems.
        Self::read(bytes.into(), PathBuf::from("the embedded model"), false)
    }

    /// Reads a model file and compares its checksum.
    ///
    /// # Errors
    /// Where it cannot be read, is something else, or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes =
            std::fs::read(path).map_err(|e| storymeter_core::Error::io(Place::file(path), e))?;
        Self::read(bytes.into(), path.to_owned(), true)
    }

    fn read(bytes: Cow<'static, [u8]>, path: PathBuf, compare: bool) -> Result<Self> {
        let wrong = |problem: String| Error::Model { path: path.clone(), problem };
        let Some((fixed, rest)) =
            bytes.split_first_chunk::<FIXED>().filter(|(f, _)| f[..8] == MAGIC)
        else {
            return Err(wrong("not a model file of storymeter".to_owned()));
        };
        let number = |at: usize| {
            u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]])
        };
        if number(8) != VERSION {
            let problem =
                format!("layout {} is not known; this version reads {VERSION}", number(8));
            return Err(wrong(problem));
        }
        let length = u64::from(number(16)) | u64::from(number(20)) << 32;
        if length != bytes.len() as u64 {
            return Err(wrong(format!(
                "has {} bytes of {length}: cut short, or changed",
                bytes.len()
            )));
        }
        if compare && Sha256::digest(rest)[..] != fixed[24..] {
            return Err(wrong(
                "damaged: its SHA-256 is not the one it was written with".to_owned(),
            ));
        }
        let header_len = number(12) as usize;
        let header = rest
            .get(..header_len)
            .ok_or_else(|| wrong("its header is longer than it".to_owned()))?;
        let header: Header =
            serde_json::from_slice(header).map_err(|e| wrong(format!("its header: {e}")))?;
        let start = FIXED + header_len;
        if header.parts.iter().any(|(_, r)| r.start > r.end || r.end > bytes.len() - start) {
            return Err(wrong("a part lies beyond its end".to_owned()));
        }
        Ok(Self { path, bytes, header, start })
    }

    /// What the model says of itself.
    pub fn card(&self) -> &Card {
        &self.header.card
    }

    /// The model's name in signatures: that of the folder it was made from.
    pub fn fingerprint(&self) -> &str {
        &self.header.fingerprint
    }

    /// Bytes of the file.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Writes the same weights with another calibration, window or description; returns the file's size. Another calibration
    /// makes another fingerprint, since it makes other scores; the window stands in signatures by itself.
    ///
    /// # Errors
    /// If the card asks for other heads or another way of reading, and what the system says of the file.
    pub fn store_with(&self, card: Card, path: &Path) -> Result<usize> {
        let old = self.card();
        let calibrated = Card {
            temperature: card.temperature,
            bias: card.bias,
            repetition: card.repetition,
            diagnosis_calibration: card.diagnosis_calibration,
            ..old.clone()
        };
        let config = Config::from_fields(self.header.config.clone(), self.path.clone())?;
        if let Some(problem) = card.problem(&config) {
            return Err(Error::Model { path: path.to_owned(), problem });
        }
        let same_reading =
            Card { about: old.about.clone(), max_tokens: old.max_tokens, ..card.clone() };
        if same_reading != calibrated {
            let problem = "only its calibration, window and description can be changed".to_owned();
            return Err(Error::Model { path: self.path.clone(), problem });
        }
        let mut header = Header { card, ..self.header.clone() };
        if calibrated != *old {
            let mut hash = Sha256::new();
            hash.update(&header.fingerprint);
            calibrated.hash_calibration(&mut hash);
            header.fingerprint =
                hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        }
        write(path, &header, &self.bytes[self.start..])
    }

    /// A part's bytes: borrowed where the file is part of the program.
    fn part(&self, name: &str) -> Option<Cow<'static, [u8]>> {
        let (_, range) = self.header.parts.iter().find(|(known, _)| known == name)?;
        let range = self.start + range.start..self.start + range.end;
        Some(match &self.bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[range]),
            Cow::Owned(bytes) => Cow::Owned(bytes[range].to_vec()),
        })
    }

    /// The tokeniser's files, which are kept compressed.
    fn inflated(&self) -> Result<Vec<File<'_>>> {
        let mut files = Vec::new();
        for (part, _) in &self.header.parts {
            let Some((name, packed)) = part.strip_prefix("zlib.").zip(self.part(part)) else {
                continue;
            };
            let mut bytes = Vec::new();
            let read = ZlibDecoder::new(&packed[..]).take(LARGEST_FILE).read_to_end(&mut bytes);
            read.map_err(|e| Error::Model {
                path: self.path.clone(),
                problem: format!("{name}: {e}"),
            })?;
            files.push((name, Cow::Owned(bytes)));
        }
        Ok(files)
    }

    /// The pieces a scorer needs.
    pub(crate) fn open_parts(&self) -> Result<(Encoder, Tokenizer, Heads)> {
        let config = Config::from_fields(self.header.config.clone(), self.path.clone())?;
        let card = self.card();
        if let Some(problem) = card.problem(&config) {
            return Err(Error::Model { path: self.path.clone(), problem });
        }
        let files: Vec<File<'_>> = self
            .header
            .parts
            .iter()
            .filter_map(|(name, _)| Some((name.strip_prefix("file.")?, self.part(name)?)))
            .chain(self.inflated()?)
            .collect();
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
        let tokenizer = Tokenizer::from_files(&files, &self.path, &config)?;
        let heads = self.part("heads").unwrap_or_default();
        let heads = Heads::read(&heads, &self.path, card, config.hidden, config.vocabulary)?;
        let (find, isa) = (|name: &str| self.part(name), Isa::detect());
        let encoder = match card.grid {
            Some(grid) => Encoder::from_packed(config, grid, &find, &self.path, isa)?,
            None => Encoder::from_parts(config, &find, &self.path, isa)?,
        };
        Ok((encoder, tokenizer, heads))
    }
}

impl Model {
    /// Writes the model as one file; returns its size.
    ///
    /// A reconstruction matrix of the model's own is half as large as everything else, and refused: leave it out by
    /// setting [`Card::reconstruction`] to [`Reconstruction::None`] (scores do not change, `--explain` has no edits).
    ///
    /// # Errors
    /// For such a matrix, and what the system says of the file.
    pub fn store(&self, path: &Path) -> Result<usize> {
        let wrong =
            |problem: &str| Error::Model { path: path.to_owned(), problem: problem.to_owned() };
        if self.card.reconstruction == Reconstruction::Own {
            return Err(wrong(
                "the model has a reconstruction matrix of its own, which a model file does not hold",
            ));
        }
        if let Some(problem) = self.card.problem(&self.config) {
            return Err(wrong(&problem));
        }
        let mut parts = match self.card.grid {
            Some(grid) => self.parameters.packed(&self.config, grid),
            None => {
                let encoder = Encoder::new(
                    self.config.clone(),
                    &self.parameters,
                    Precision::Int8,
                    Isa::detect(),
                );
                encoder.parts().ok_or_else(|| wrong("the encoder is not int8"))?
            }
        };
        let heads =
            self.heads.to_bytes(path, &self.card, self.config.hidden, self.config.vocabulary)?;
        parts.push(("heads".to_owned(), heads));
        // A tokenizer.json holds all that a vocab.txt does.
        let json = self.tokenizer_files.iter().any(|(name, _)| *name == "tokenizer.json");
        for (name, bytes) in
            self.tokenizer_files.iter().filter(|(name, _)| !json || *name != "vocab.txt")
        {
            let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
            let written = packed.write_all(bytes).and_then(|()| packed.finish());
            parts.push((format!("zlib.{name}"), written.map_err(|e| wrong(&e.to_string()))?));
        }
        let mut payload: Vec<u8> = Vec::new();
        let mut places = Vec::with_capacity(parts.len());
        for (name, bytes) in &parts {
            payload.resize(payload.len().next_multiple_of(ALIGN), 0);
            places.push((name.clone(), payload.len()..payload.len() + bytes.len()));
            payload.extend_from_slice(bytes);
        }
        let header = Header {
            fingerprint: self.fingerprint(),
            card: self.card.clone(),
            config: self.config.source.clone(),
            parts: places,
        };
        write(path, &header, &payload)
    }
}

/// Writes a model file; returns its size.
fn write(path: &Path, header: &Header, payload: &[u8]) -> Result<usize> {
    let mut header = serde_json::to_vec(header)
        .map_err(|e| Error::Model { path: path.to_owned(), problem: e.to_string() })?;
    // Blanks behind JSON are nothing.
    header.resize((FIXED + header.len()).next_multiple_of(ALIGN) - FIXED, b' ');
    let rest = [header.as_slice(), payload].concat();
    let mut bytes = Vec::with_capacity(FIXED + rest.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(((FIXED + rest.len()) as u64).to_le_bytes());
    bytes.extend(Sha256::digest(&rest));
    bytes.extend(rest);
    let mut file = AtomicFile::create(path)?;
    file.write_all(&bytes).map_err(|e| storymeter_core::Error::io(Place::file(path), e))?;
    file.commit()?;
    Ok(bytes.len())
}
