//! A model in one file: its weights, tokeniser, heads and card.
//!
//! The weights are int8 in the order in which the kernels read them, or multiples of a step
//! ([`Card::grid`]). The file scores exactly like the folder it was made from does in int8.
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | `89 53 4D 51 0D 0A 1A 0A`, which reveals a transfer that changed line ends |
//! | 8..12 | the version of the layout, 1 |
//! | 12..16 | the length of the header |
//! | 16..24 | the length of the file |
//! | 24..56 | the SHA-256 of everything after it |
//! | 56.. | the header in JSON: card, the encoder's `config.json`, fingerprint, parts and places |
//! | | the parts, each at a multiple of 64 bytes |
//!
//! A sentence encoder ([`SentenceModel`]) has its own `config.json` in the header, and the names of
//! its parts begin with `sentences/`.
//!
//! All numbers are little-endian.

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
use storymeter_core::{AtomicFile, Place, file};
use storymeter_encoder::{
    Config, Device, LARGEST_TOKENIZER_FILE, Model as Encoder, Precision, TOKENIZER_FILES, Tokenizer,
};

use crate::criteria::SentenceModel;
use crate::criteria::sentences::SentenceCard;
use crate::error::brief;
use crate::installed::{EmbeddedModel, embedded_file, search_folders};
use crate::model::{KindOfCard, hexadecimal};
use crate::{About, Card, Error, Heads, Kind, Model, Reconstruction, ReferenceScores, Result};

const MAGIC: [u8; 8] = *b"\x89SMQ\r\n\x1a\n";
const VERSION: u32 = 1;
/// The byte at which the header begins.
const FIXED: usize = 56;
/// Parts begin at multiples of this number of bytes, which is a cache line.
const ALIGN: usize = 64;
/// The largest size of a model file in bytes. The largest encoders have a tenth of it.
const LARGEST_FILE: u64 = 1 << 32;
/// The largest number of parts. An encoder of 1,024 layers, the most that there may be, has fewer.
const MOST_PARTS: usize = 1 << 15;
/// What stands before the name of a compressed file.
const ZLIB: &str = "zlib.";

/// The model files that are part of the program, and the facts beside them, if the build had them;
/// see `build.rs`.
struct Embedded {
    model: Option<&'static [u8]>,
    about: Option<&'static [u8]>,
}

#[cfg(embedded_model)]
const UNION: Option<&[u8]> = Some(include_bytes!(env!("STORYMETER_EMBEDDED_FILE")));
#[cfg(not(embedded_model))]
const UNION: Option<&[u8]> = None;
#[cfg(embedded_about)]
const UNION_ABOUT: Option<&[u8]> = Some(include_bytes!(env!("STORYMETER_EMBEDDED_ABOUT")));
#[cfg(not(embedded_about))]
const UNION_ABOUT: Option<&[u8]> = None;
#[cfg(embedded_criteria)]
const CRITERIA: Option<&[u8]> = Some(include_bytes!(env!("STORYMETER_EMBEDDED_CRITERIA_FILE")));
#[cfg(not(embedded_criteria))]
const CRITERIA: Option<&[u8]> = None;
#[cfg(embedded_criteria_about)]
const CRITERIA_ABOUT: Option<&[u8]> =
    Some(include_bytes!(env!("STORYMETER_EMBEDDED_CRITERIA_ABOUT")));
#[cfg(not(embedded_criteria_about))]
const CRITERIA_ABOUT: Option<&[u8]> = None;

impl Embedded {
    fn of(model: EmbeddedModel) -> Self {
        match model {
            EmbeddedModel::Union => Self { model: UNION, about: UNION_ABOUT },
            EmbeddedModel::Criteria => Self { model: CRITERIA, about: CRITERIA_ABOUT },
        }
    }
}

/// The largest size of the file beside a model file. That of the embedded model has a hundredth.
const LARGEST_ABOUT: u64 = 1 << 20;

/// A model file in memory. Its header has been read; its weights have not.
#[derive(Debug, Clone)]
pub struct StoredModel {
    path: PathBuf,
    bytes: Cow<'static, [u8]>,
    header: Header,
    /// The byte at which the parts begin.
    start: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Header {
    fingerprint: String,
    card: Card,
    config: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sentences: Option<SentenceHeader>,
    /// The name of every part, and its bytes counted from the beginning of the first part.
    parts: Vec<(String, Range<usize>)>,
}

/// What the header says about the sentence encoder.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SentenceHeader {
    #[serde(flatten)]
    card: SentenceCard,
    config: Map<String, Value>,
}

/// What stands before the names of the parts of the sentence encoder.
const OF_SENTENCES: &str = "sentences/";

/// The part of a model file that has the same length in all of them.
struct Fixed {
    /// The length of the header.
    header: usize,
    /// The length of the file.
    length: u64,
    /// The checksum of everything after the fixed part.
    sha256: [u8; 32],
}

impl Fixed {
    /// Reads the beginning of a file. An error is what is wrong with it.
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let Some(fixed) = bytes.first_chunk::<FIXED>().filter(|fixed| fixed[..8] == MAGIC) else {
            return Err("not a model file of storymeter".to_owned());
        };
        let number = |at: usize| {
            u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]])
        };
        if number(8) != VERSION {
            return Err(format!(
                "layout {} is unknown; this version reads layout {VERSION}",
                number(8)
            ));
        }
        Ok(Self {
            header: number(12) as usize,
            length: u64::from(number(16)) | u64::from(number(20)) << 32,
            sha256: std::array::from_fn(|i| fixed[24 + i]),
        })
    }
}

/// Opens a model file and reads its fixed part, which says how long the file is. What does not
/// begin like a model file is not read any further: it may be anything, also an endless device.
fn begin(path: &Path) -> Result<(std::fs::File, Vec<u8>, Fixed)> {
    let failed = |e| storymeter_core::Error::io(Place::file(path), e);
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    (&file).take(FIXED as u64).read_to_end(&mut bytes).map_err(failed)?;
    let fixed = Fixed::read(&bytes).map_err(|problem| in_file(path, problem))?;
    Ok((file, bytes, fixed))
}

/// What the model of a file was trained for. Only the header is read.
pub(crate) fn kind_of(path: &Path) -> Result<Kind> {
    #[derive(Deserialize)]
    struct KindOfHeader {
        card: KindOfCard,
    }
    let (file, _, fixed) = begin(path)?;
    let mut header = Vec::new();
    file.take(fixed.header as u64)
        .read_to_end(&mut header)
        .map_err(|e| storymeter_core::Error::io(Place::file(path), e))?;
    let header: KindOfHeader = serde_json::from_slice(&header)
        .map_err(|e| in_file(path, format!("its header: {}", brief(e))))?;
    Ok(header.card.kind)
}

fn in_file(path: &Path, problem: String) -> Error {
    Error::Model { path: path.to_owned(), problem }
}

impl StoredModel {
    /// The model of the metric `union` that is part of the program. If the program was built
    /// without it ([`crate::HAS_EMBEDDED`]), its file is read from one of the
    /// [`crate::search_folders`].
    ///
    /// # Errors
    /// Returns [`Error::MissingModel`] if the program has no embedded model and no folder has its
    /// file.
    pub fn embedded() -> Result<Self> {
        Self::embedded_model(EmbeddedModel::Union)
    }

    /// A model that is part of the program, as [`StoredModel::embedded`] gives that of `union`.
    ///
    /// # Errors
    /// Returns [`Error::MissingModel`] if the program does not have it and no folder has its file.
    pub fn embedded_model(model: EmbeddedModel) -> Result<Self> {
        Self::embedded_or_in(model, &Embedded::of(model), search_folders())
    }

    /// An embedded model from the bytes in the program, or else from its file in one of the
    /// folders.
    fn embedded_or_in(
        which: EmbeddedModel,
        included: &Embedded,
        folders: Vec<PathBuf>,
    ) -> Result<Self> {
        match included.model {
            // The tests compare its checksum, so that loading it need not.
            Some(bytes) => {
                let path = PathBuf::from(which.described());
                let model = Self::read(bytes.into(), path.clone(), false)?;
                model.with_facts_of(included.about, &path)
            }
            None => Self::open(&embedded_file(which, folders)?),
        }
    }

    /// Reads a model file and compares its checksum.
    ///
    /// If the file beside it, `NAME.about.json` for `NAME.smq`, has
    /// [reference scores](crate::ReferenceScores) of this model and the model file has none, they
    /// are taken from there. So they can be made after the model, which they are made with.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, is not a model file, or is damaged; also if the file
    /// beside it cannot be understood.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |e| storymeter_core::Error::io(Place::file(path), e);
        let (file, mut bytes, fixed) = begin(path)?;
        if fixed.length > LARGEST_FILE {
            let problem = format!("it should have {} bytes, which no model has", fixed.length);
            return Err(in_file(path, problem));
        }
        file.take(fixed.length.saturating_sub(FIXED as u64) + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let model = Self::read(bytes.into(), path.to_owned(), true)?;
        let about = path.with_extension("about.json");
        let facts = about.is_file().then(|| file::read(&about, LARGEST_ABOUT)).transpose()?;
        model.with_facts_of(facts.as_deref(), &about)
    }

    /// The model with the reference scores of the file beside it, unless it has some or that file
    /// is about other weights.
    fn with_facts_of(mut self, about: Option<&[u8]>, path: &Path) -> Result<Self> {
        let Some(bytes) = about.filter(|_| self.card().about.reference_scores.is_none()) else {
            return Ok(self);
        };
        let about: About = serde_json::from_slice(bytes).map_err(|e| in_file(path, brief(e)))?;
        let reference = about.reference_scores.filter(|one| one.weights == self.header.fingerprint);
        if let Some(problem) = reference.as_ref().and_then(ReferenceScores::problem) {
            return Err(in_file(path, problem.to_owned()));
        }
        self.header.card.about.reference_scores = reference;
        Ok(self)
    }

    /// Reads the content of a model file and compares its checksum. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if it is not a model file, or is damaged.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        Self::read(bytes.into(), path.to_owned(), true)
    }

    fn read(bytes: Cow<'static, [u8]>, path: PathBuf, compare: bool) -> Result<Self> {
        let wrong = |problem: String| in_file(&path, problem);
        let fixed = Fixed::read(&bytes).map_err(wrong)?;
        if fixed.length != bytes.len() as u64 {
            return Err(wrong(format!(
                "it has {} bytes and should have {}: it was cut short or changed",
                bytes.len(),
                fixed.length
            )));
        }
        let content = &bytes[FIXED..];
        if compare && Sha256::digest(content)[..] != fixed.sha256 {
            return Err(wrong(
                "damaged: its SHA-256 is not the one it was written with".to_owned(),
            ));
        }
        let header = content
            .get(..fixed.header)
            .ok_or_else(|| wrong("its header is longer than the file".to_owned()))?;
        let mut header: Header = serde_json::from_slice(header)
            .map_err(|e| wrong(format!("its header: {}", brief(e))))?;
        header.card.keep_reference_scores_of(&header.fingerprint);
        let start = FIXED + fixed.header;
        let room = bytes.len() - start;
        if header.parts.iter().any(|(_, r)| r.start > r.end || r.end > room) {
            return Err(wrong("a part lies beyond the end of the file".to_owned()));
        }
        // Every part is copied, so parts that share bytes could take any amount of memory.
        let lengths = header.parts.iter().map(|(_, part)| part.len());
        if header.parts.len() > MOST_PARTS || lengths.fold(0, usize::saturating_add) > room {
            return Err(wrong("it has more parts than the file can hold".to_owned()));
        }
        Ok(Self { path, bytes, header, start })
    }

    /// The model's card.
    pub fn card(&self) -> &Card {
        &self.header.card
    }

    /// The hash of the weights, as signatures name it. It is that of the folder the file was made
    /// from.
    pub fn fingerprint(&self) -> &str {
        &self.header.fingerprint
    }

    /// The size of the file in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Writes the same weights with another calibration, window or description, and returns the
    /// size of the new file.
    ///
    /// A new calibration changes the fingerprint, because it changes the scores. A new window does
    /// not: signatures name the window themselves.
    ///
    /// # Errors
    /// Returns an error if the card differs in anything else, or if the file cannot be written.
    pub fn store_with(&self, card: Card, path: &Path) -> Result<usize> {
        let old = self.card();
        let calibrated = Card {
            temperature: card.temperature,
            bias: card.bias,
            repetition: card.repetition,
            diagnosis_calibration: card.diagnosis_calibration,
            criteria: match (&card.criteria, &old.criteria) {
                (Some(new), Some(old)) if new.calibrates(old) => card.criteria.clone(),
                _ => old.criteria.clone(),
            },
            ..old.clone()
        };
        let config = Config::from_fields(self.header.config.clone(), self.path.clone())?;
        self.check(&card, &config)?;
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
            header.fingerprint = hexadecimal(&hash.finalize()[..6]);
        }
        write(path, &header, &self.bytes[self.start..])
    }

    /// Checks that a card fits the encoders of the file.
    fn check(&self, card: &Card, config: &Config) -> Result<()> {
        let problem = card.problem(config);
        match problem.or(card.sentences_problem(self.header.sentences.is_some())) {
            Some(problem) => Err(in_file(&self.path, problem)),
            None => Ok(()),
        }
    }

    /// The bytes of a part. They are borrowed if the file is part of the program.
    fn part(&self, name: &str) -> Option<Cow<'static, [u8]>> {
        let (_, range) = self.header.parts.iter().find(|(known, _)| known == name)?;
        let range = self.start + range.start..self.start + range.end;
        Some(match &self.bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[range]),
            Cow::Owned(bytes) => Cow::Owned(bytes[range].to_vec()),
        })
    }

    /// The files of the tokeniser whose parts have names that begin with `prefix`. Older model
    /// files have them as they are, newer ones compressed.
    pub(crate) fn tokenizer_files(&self, prefix: &str) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let mut files = Vec::new();
        for name in TOKENIZER_FILES {
            if let Some(bytes) = self.part(&format!("{prefix}file.{name}")) {
                files.push((name, bytes.into_owned()));
            } else if let Some(packed) = self.part(&format!("{prefix}{ZLIB}{name}")) {
                let wrong = |problem: String| in_file(&self.path, format!("{name}: {problem}"));
                let mut bytes = Vec::new();
                let mut unpacked = ZlibDecoder::new(&packed[..]).take(LARGEST_TOKENIZER_FILE + 1);
                unpacked.read_to_end(&mut bytes).map_err(|e| wrong(e.to_string()))?;
                if bytes.len() as u64 > LARGEST_TOKENIZER_FILE {
                    return Err(wrong(format!("has more than {LARGEST_TOKENIZER_FILE} bytes")));
                }
                files.push((name, bytes));
            }
        }
        Ok(files)
    }

    /// The file, or what stands for it in messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The sentence encoder, if the model has one.
    pub(crate) fn sentences(&self) -> Result<Option<SentenceModel>> {
        let Some(SentenceHeader { card, config }) = &self.header.sentences else {
            return Ok(None);
        };
        let config = Config::from_fields(config.clone(), self.path.clone())?;
        let names = self.header.parts.iter().filter_map(|(name, _)| {
            name.strip_prefix(OF_SENTENCES).filter(|own| !own.starts_with(ZLIB))
        });
        let parts = names.filter_map(|name| {
            let bytes = self.part(&format!("{OF_SENTENCES}{name}"))?;
            Some((name.to_owned(), bytes.into_owned()))
        });
        let files = self.tokenizer_files(OF_SENTENCES)?;
        Ok(Some(SentenceModel::from_parts(card.clone(), config, parts.collect(), files)))
    }

    /// Reads the encoder, the tokeniser and the heads.
    pub(crate) fn open_parts(&self) -> Result<(Encoder, Tokenizer, Heads)> {
        let config = Config::from_fields(self.header.config.clone(), self.path.clone())?;
        let card = self.card();
        self.check(card, &config)?;
        let files = self.tokenizer_files("")?;
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
        let tokenizer = Tokenizer::from_files(&files, &self.path, &config)?;
        let heads = self.part("heads").unwrap_or_default();
        let heads = Heads::from_bytes(&self.path, &heads, card, &config)?;
        let find = |name: &str| self.part(name);
        let encoder = match card.grid {
            Some(grid) => Encoder::from_packed(config, grid, &find, &self.path)?,
            None => Encoder::from_parts(config, &find, &self.path)?,
        };
        Ok((encoder, tokenizer, heads))
    }
}

impl Model {
    /// Writes the model as one file, and returns its size in bytes.
    ///
    /// A model with its own reconstruction matrix ([`Reconstruction::Own`]) is refused, because
    /// that matrix is half as large as everything else. Set [`Card::reconstruction`] to
    /// [`Reconstruction::None`] to leave the matrix out: scores stay the same, and explanations
    /// suggest no edits.
    ///
    /// # Errors
    /// Returns an error if the model has such a matrix, or if the file cannot be written.
    pub fn store(&self, path: &Path) -> Result<usize> {
        let wrong = |problem: &str| Error::Pack { problem: problem.to_owned() };
        if self.card.reconstruction == Reconstruction::Own {
            return Err(wrong(
                "the model has its own reconstruction matrix, which a model file cannot hold",
            ));
        }
        let problem = self.card.problem(&self.config);
        if let Some(problem) = problem.or(self.card.sentences_problem(self.sentences.is_some())) {
            return Err(wrong(&problem));
        }
        let mut parts = match self.card.grid {
            Some(grid) => self.parameters.packed(&self.config, grid),
            None => {
                let (config, device) = (self.config.clone(), Device::Cpu);
                let encoder =
                    Encoder::from_tensors(config, &self.parameters, device, Precision::Int8)?;
                encoder.parts().ok_or_else(|| wrong("the encoder is not int8"))?
            }
        };
        let heads = self.heads.to_bytes(path, &self.card, &self.config)?;
        parts.push(("heads".to_owned(), heads));
        parts.extend(compressed(&self.tokenizer_files)?);
        if let Some(sentences) = &self.sentences {
            let own = sentences.parts().iter().cloned();
            let files = compressed(sentences.tokenizer_files())?;
            parts.extend(
                own.chain(files).map(|(name, part)| (OF_SENTENCES.to_owned() + &name, part)),
            );
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
            sentences: self.sentences.as_ref().map(|own| SentenceHeader {
                card: own.card().clone(),
                config: own.config().source.clone(),
            }),
            parts: places,
        };
        write(path, &header, &payload)
    }
}

/// The files of a tokeniser as parts.
fn compressed(files: &[(&'static str, Vec<u8>)]) -> Result<Vec<(String, Vec<u8>)>> {
    // tokenizer.json has everything that vocab.txt has.
    let json = files.iter().any(|(name, _)| *name == "tokenizer.json");
    let kept = files.iter().filter(|(name, _)| !json || *name != "vocab.txt");
    let compress = |(name, bytes): &(&str, Vec<u8>)| {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        let written = packed.write_all(bytes).and_then(|()| packed.finish());
        let bytes = written.map_err(|e| Error::Pack { problem: e.to_string() })?;
        Ok((format!("{ZLIB}{name}"), bytes))
    };
    kept.map(compress).collect()
}

/// Writes a model file, and returns its size in bytes.
fn write(path: &Path, header: &Header, payload: &[u8]) -> Result<usize> {
    let mut header = serde_json::to_vec(header)
        .map_err(|e| Error::Model { path: path.to_owned(), problem: e.to_string() })?;
    // Trailing spaces after the JSON value are ignored.
    header.resize((FIXED + header.len()).next_multiple_of(ALIGN) - FIXED, b' ');
    let content = [header.as_slice(), payload].concat();
    let mut bytes = Vec::with_capacity(FIXED + content.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(((FIXED + content.len()) as u64).to_le_bytes());
    bytes.extend(Sha256::digest(&content));
    bytes.extend(content);
    AtomicFile::holding(path, &bytes)?.commit()?;
    Ok(bytes.len())
}

#[cfg(test)]
mod tests {
    use storymeter_core::Story;
    use storymeter_encoder::load_parameters;

    use super::*;
    use crate::UnionScorer;

    /// A tiny model with constant heads.
    fn tiny_model() -> Model {
        let encoder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures/bert");
        let config = Config::load(&encoder).unwrap();
        let parameters = load_parameters(&encoder, &config).unwrap();
        let heads = Heads { score: vec![0.1; config.hidden], ..Heads::default() };
        let card = Card {
            max_tokens: 32,
            diagnosis: false,
            reconstruction: Reconstruction::None,
            ..Card::default()
        };
        let vocabulary = std::fs::read(encoder.join("vocab.txt")).unwrap();
        let tokenizer_files = vec![("vocab.txt", vocabulary)];
        Model { config, parameters, heads, card, tokenizer_files, sentences: None }
    }

    #[test]
    fn a_build_without_the_embedded_model_scores_with_its_file() {
        let [empty, folder] = [0; 2].map(|_| tempfile::tempdir().unwrap());
        let folders = || [&empty, &folder].map(|folder| folder.path().to_owned()).to_vec();
        let not_included = Embedded { model: None, about: None };
        let load = || StoredModel::embedded_or_in(EmbeddedModel::Union, &not_included, folders());
        let error = load().unwrap_err();
        assert!(matches!(&error, Error::MissingModel { searched, .. } if *searched == folders()));
        assert!(error.to_string().contains("union-compact.smq is not in "), "{error}");

        let model = tiny_model();
        model.store(&folder.path().join("union-compact.smq")).unwrap();
        let stored = load().unwrap();
        assert_eq!(stored.fingerprint(), model.fingerprint());
        let story = Story { text: "the kite was red.".into(), ..Story::default() };
        let scores = UnionScorer::from_stored(&stored).unwrap().score(&[&story]).unwrap();
        assert!(scores[0].probability > 0.0);
    }
}
