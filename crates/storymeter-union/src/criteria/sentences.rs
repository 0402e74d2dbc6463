//! A small encoder of sentences that a criteria model carries, to compare stories with prompts.
//!
//! Any encoder of the BERT family will do that was trained for sentence vectors by the mean over
//! all tokens, as sentence-transformers makes them. It is not trained any further. Its weights are
//! packed when it is loaded from its own folder, and stay as they are from then on: in a model
//! folder, in a model file and in memory.
//!
//! In a model folder it has a folder of its own, [`FOLDER`]:
//!
//! | file | content |
//! |---|---|
//! | `config.json` | the encoder, in the layout of Hugging Face |
//! | `packed.safetensors` | the packed weights, one tensor of bytes for each part |
//! | `tokenizer.json` or `vocab.txt`, `tokenizer_config.json` | the tokeniser |

use std::borrow::Cow;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use storymeter_encoder::{
    Config, Device, Grid, LARGEST_CONFIG, LARGEST_TOKENIZER_FILE, Model as Encoder, Precision,
    TOKENIZER_FILES, Tokenizer, load_parameters, read_model_file, read_tensor_file,
    tokenizer_files,
};

use super::SentenceScorer;
#[cfg(feature = "cuda")]
use crate::GpuPrecision;
use crate::engine::Engine;
use crate::error::brief;
use crate::model::{hexadecimal, read};
use crate::{Error, Result};

/// The most tokens of a window, including the special ones. Sentence encoders were trained on texts
/// of about this length.
pub(super) const WINDOW: usize = 128;

/// The folder of the sentence encoder within a model folder.
pub(crate) const FOLDER: &str = "sentences";

const CONFIG: &str = "sentences/config.json";
const WEIGHTS: &str = "sentences/packed.safetensors";
const TOKENIZER: [&str; 4] = [
    "sentences/tokenizer.json",
    "sentences/vocab.txt",
    "sentences/tokenizer_config.json",
    "sentences/special_tokens_map.json",
];

/// The names that the files of a sentence encoder can have in a model folder.
pub(crate) const FILES: [&str; 6] = {
    let [json, vocabulary, settings, special] = TOKENIZER;
    [CONFIG, WEIGHTS, json, vocabulary, settings, special]
};

/// The names and contents of files.
pub(crate) type Files<'a> = Vec<(&'static str, Cow<'a, [u8]>)>;

/// A sentence encoder as data. [`SentenceModel::scorer`] makes it ready to compare texts.
///
/// ```
/// use storymeter_core::Story;
/// use storymeter_union::{Precision, criteria::SentenceModel};
///
/// # // A tiny encoder with random weights takes the place of a trained one.
/// # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
/// # let folder = root.join("../storymeter-encoder/tests/fixtures/bert");
/// let sentences = SentenceModel::load(&folder)?;
/// let scorer = sentences.scorer(Precision::Int8)?;
/// let prompt = Some("A kite that nobody can find".into());
/// let story = Story { prompt, ..Story::from("Ken lost his kite. It hung in the barn.") };
/// let similarity = scorer.similarities(&[&story])?[0].expect("there is a prompt");
/// assert!((-1.0..=1.0).contains(&similarity));
/// # Ok::<(), storymeter_union::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceModel {
    card: SentenceCard,
    config: Config,
    /// The names and bytes of the packed weights, sorted by name.
    parts: Vec<(String, Vec<u8>)>,
    tokenizer_files: Vec<(&'static str, Vec<u8>)>,
}

/// What a model says about its sentence encoder beside the files of the encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SentenceCard {
    /// The name of the encoder, for people.
    pub name: String,
    /// The grid on which the weights are. Without one they have eight bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
}

/// What is known about the sentence encoder of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SentenceDescription {
    /// Its name: that of the folder it came from.
    pub name: String,
    /// The number of its layers.
    pub layers: usize,
    /// The length of its vectors.
    pub width: usize,
    /// The size of its packed weights in bytes.
    pub bytes: usize,
    /// The first 12 hexadecimal digits of the SHA-256 of its packed weights.
    pub fingerprint: String,
}

impl SentenceModel {
    /// The grid that an encoder is rounded to unless another one is asked for.
    pub const GRID: Grid = Grid { layers: 0.35, words: 0.5 };

    /// Reads an encoder from its own folder, in the layout of Hugging Face or
    /// sentence-transformers, and rounds it to [`SentenceModel::GRID`].
    ///
    /// # Errors
    /// Returns an error if the folder is not that of an encoder such as BERT, or if its
    /// `1_Pooling/config.json` asks for something else than the mean over the tokens.
    pub fn load(folder: &Path) -> Result<Self> {
        Self::load_on(folder, Some(Self::GRID))
    }

    /// Reads an encoder as [`SentenceModel::load`] does, and rounds it to another grid, or to eight
    /// bits.
    ///
    /// # Errors
    /// As [`SentenceModel::load`], and if the grid is too fine or too coarse.
    pub fn load_on(folder: &Path, grid: Option<Grid>) -> Result<Self> {
        check_pooling(folder)?;
        let wrong = |problem: &str| in_folder(folder, problem.to_owned());
        if let Some(problem) = grid.and_then(Grid::problem) {
            return Err(wrong(problem));
        }
        let mut config = Config::load(folder)?;
        let mut parameters = load_parameters(folder, &config)?;
        // Longer texts are never read, so the positions beyond the window are left out.
        let positions = WINDOW + config.first_position;
        let table = parameters.tensors.iter_mut().find(|tensor| {
            tensor.name.ends_with("position_embeddings.weight")
                && tensor.shape == [config.positions, config.hidden]
        });
        if let Some(table) = table.filter(|_| config.positions > positions) {
            table.data.truncate(positions * config.hidden);
            table.shape[0] = positions;
            let mut fields = config.source.clone();
            fields.insert("max_position_embeddings".to_owned(), positions.into());
            config = Config::from_fields(fields, folder.join("config.json"))?;
        }
        let mut parts = match grid {
            Some(grid) => parameters.packed(&config, grid),
            None => {
                let (config, precision) = (config.clone(), Precision::Int8);
                Encoder::from_tensors(config, &parameters, Device::Cpu, precision)?
                    .parts()
                    .ok_or_else(|| wrong("the encoder is not int8"))?
            }
        };
        parts.sort();
        let name = folder.canonicalize().ok();
        let name = name.as_deref().unwrap_or(folder).file_name().unwrap_or_default();
        let card = SentenceCard { name: name.to_string_lossy().into_owned(), grid };
        let model = Self { card, config, parts, tokenizer_files: tokenizer_files(folder)? };
        model.tokenizer(folder)?;
        Ok(model)
    }

    /// Puts an encoder together from the parts of a model file.
    pub(crate) fn from_parts(
        card: SentenceCard,
        config: Config,
        mut parts: Vec<(String, Vec<u8>)>,
        tokenizer_files: Vec<(&'static str, Vec<u8>)>,
    ) -> Self {
        parts.sort();
        Self { card, config, parts, tokenizer_files }
    }

    /// Reads the encoder of a model folder. `has` says which files belong to the model, and `check`
    /// compares the content of a file with what was saved.
    pub(crate) fn read(
        folder: &Path,
        card: SentenceCard,
        has: impl Fn(&str) -> bool,
        check: impl Fn(&str, &[u8]) -> Result<()>,
    ) -> Result<Self> {
        let checked = |name: &str, bytes: Vec<u8>| check(name, &bytes).map(|()| bytes);
        let config_path = folder.join(CONFIG);
        let config = checked(CONFIG, read_model_file(&config_path, LARGEST_CONFIG)?)?;
        let config = Config::from_bytes(&config_path, &config)?;
        let path = folder.join(WEIGHTS);
        let weights = checked(WEIGHTS, read_tensor_file(&path)?)?;
        let parts = parts_of(&path, &weights)?;
        let own = TOKENIZER.into_iter().zip(TOKENIZER_FILES).filter(|(path, _)| has(path));
        let tokenizer_files = own
            .map(|(path, name)| {
                Ok((name, checked(path, read(&folder.join(path), LARGEST_TOKENIZER_FILE)?)?))
            })
            .collect::<Result<_>>()?;
        Ok(Self { card, config, parts, tokenizer_files })
    }

    /// The names and contents of the files in a model folder.
    pub(crate) fn files(&self, folder: &Path) -> Result<Files<'_>> {
        let path = folder.join(WEIGHTS);
        let wrong = |e: SafeTensorError| in_folder(&path, e.to_string());
        let views = self.parts.iter().map(|(name, bytes)| {
            Ok((name, TensorView::new(Dtype::U8, vec![bytes.len()], bytes).map_err(wrong)?))
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let weights = safetensors::serialize(views, None).map_err(wrong)?;
        let mut files = vec![
            (CONFIG, Cow::Owned(self.config.to_bytes(&folder.join(CONFIG))?)),
            (WEIGHTS, Cow::Owned(weights)),
        ];
        for (name, bytes) in &self.tokenizer_files {
            let place = TOKENIZER_FILES.iter().position(|known| known == name);
            files.extend(place.map(|place| (TOKENIZER[place], Cow::Borrowed(&bytes[..]))));
        }
        Ok(files)
    }

    /// The encoder ready to compare texts on the CPU. In f32 its weights are the numbers that their
    /// few bits stand for.
    ///
    /// # Errors
    /// Returns an error if the parts do not fit together, which an encoder that was loaded from its
    /// own folder never has.
    pub fn scorer(&self, precision: Precision) -> Result<SentenceScorer> {
        let path = Path::new(FOLDER);
        self.scorer_at(path, precision)
    }

    /// The encoder ready to compare texts on the NVIDIA GPU with this number.
    ///
    /// # Errors
    /// As [`SentenceModel::scorer`], and if there is no such GPU.
    #[cfg(feature = "cuda")]
    pub fn scorer_on(&self, gpu: usize, precision: GpuPrecision) -> Result<SentenceScorer> {
        self.scorer_on_gpu(Path::new(FOLDER), gpu, precision)
    }

    /// As [`SentenceModel::scorer`], with errors that name `path`.
    pub(crate) fn scorer_at(&self, path: &Path, precision: Precision) -> Result<SentenceScorer> {
        let mut encoder = self.encoder(path)?;
        if precision == Precision::F32 {
            // Every int8 encoder has parameters.
            let parameters = encoder.parameters().unwrap_or_default();
            let config = self.config.clone();
            encoder = Encoder::from_tensors(config, &parameters, Device::Cpu, precision)?;
        }
        Ok(SentenceScorer::new(Engine::Cpu(encoder), self.tokenizer(path)?))
    }

    /// The encoder ready to compare texts on an NVIDIA GPU. Errors name `path`.
    #[cfg(feature = "cuda")]
    pub(crate) fn scorer_on_gpu(
        &self,
        path: &Path,
        gpu: usize,
        precision: GpuPrecision,
    ) -> Result<SentenceScorer> {
        let engine = Engine::cuda_of(self.encoder(path)?, false, gpu, precision)?;
        Ok(SentenceScorer::new(engine, self.tokenizer(path)?))
    }

    /// The encoder in eight bits.
    fn encoder(&self, path: &Path) -> Result<Encoder> {
        if let Some(problem) = self.card.grid.and_then(Grid::problem) {
            return Err(in_folder(path, format!("sentence encoder: {problem}")));
        }
        let part = |name: &str| {
            let found = self.parts.iter().find(|(known, _)| known == name)?;
            Some(Cow::Owned(found.1.clone()))
        };
        let config = self.config.clone();
        Ok(match self.card.grid {
            Some(grid) => Encoder::from_packed(config, grid, &part, path)?,
            None => Encoder::from_parts(config, &part, path)?,
        })
    }

    fn tokenizer(&self, path: &Path) -> Result<Tokenizer> {
        let files: Vec<(&str, &[u8])> =
            self.tokenizer_files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
        Ok(Tokenizer::from_files(&files, path, &self.config)?)
    }

    /// Its name, sizes and fingerprint.
    pub fn describe(&self) -> SentenceDescription {
        let mut hash = Sha256::new();
        self.hash(&mut hash);
        SentenceDescription {
            name: self.card.name.clone(),
            layers: self.config.layers,
            width: self.config.hidden,
            bytes: self.parts.iter().map(|(_, bytes)| bytes.len()).sum(),
            fingerprint: hexadecimal(&hash.finalize()[..6]),
        }
    }

    pub(crate) fn card(&self) -> &SentenceCard {
        &self.card
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn parts(&self) -> &[(String, Vec<u8>)] {
        &self.parts
    }

    pub(crate) fn tokenizer_files(&self) -> &[(&'static str, Vec<u8>)] {
        &self.tokenizer_files
    }

    /// Adds everything that changes similarities to a hash.
    pub(crate) fn hash(&self, hash: &mut Sha256) {
        for (name, bytes) in &self.parts {
            hash.update(name.as_bytes());
            hash.update(bytes);
        }
    }
}

/// The parts in the content of a `packed.safetensors`.
fn parts_of(path: &Path, bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>> {
    let wrong = |problem: String| Error::Model { path: path.to_owned(), problem };
    let file = SafeTensors::deserialize(bytes)
        .map_err(|e| wrong(format!("not a complete safetensors file: {}", brief(e))))?;
    let mut parts: Vec<(String, Vec<u8>)> =
        file.iter().map(|(name, view)| (name.to_owned(), view.data().to_vec())).collect();
    parts.sort();
    Ok(parts)
}

/// Checks that the vectors of an encoder are means over tokens, if its folder says what they are.
fn check_pooling(folder: &Path) -> Result<()> {
    #[derive(Deserialize)]
    struct Pooling {
        #[serde(default)]
        pooling_mode_mean_tokens: bool,
    }
    let path = folder.join("1_Pooling/config.json");
    if !path.is_file() {
        return Ok(());
    }
    let wrong = |problem: String| Error::Model { path: path.clone(), problem };
    let pooling: Pooling =
        serde_json::from_slice(&read(&path, LARGEST_CONFIG)?).map_err(|e| wrong(brief(e)))?;
    match pooling.pooling_mode_mean_tokens {
        true => Ok(()),
        false => Err(wrong(
            "the vectors of this encoder are not means over tokens, which are needed here"
                .to_owned(),
        )),
    }
}

fn in_folder(path: &Path, problem: String) -> Error {
    Error::Model { path: path.to_owned(), problem }
}
