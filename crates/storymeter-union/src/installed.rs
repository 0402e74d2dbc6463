//! Finds models: the embedded ones, and those in the folders where model files are kept.

use std::path::{Path, PathBuf};

use storymeter_core::file;
use storymeter_encoder::Precision;

use crate::criteria::SentenceDescription;
use crate::criteria::sentences::FOLDER;
#[cfg(feature = "cuda")]
use crate::engine::GpuPrecision;
use crate::opened::Opened;
use crate::{Card, Error, Kind, Model, Result, StoredModel, UnionScorer, stored};

/// The name of the embedded model of the metric `union`.
pub const EMBEDDED_NAME: &str = "union-compact";

/// Whether the model [`EMBEDDED_NAME`] is part of this build.
///
/// The model takes 29.7 MB, and a crate of the registry may have 10 MB. So the model is not in the
/// package `storymeter-union`:
///
/// - A build inside the repository finds `models/union-compact.smq` and makes it part of the
///   program. This is the cargo feature `embedded`, which is on by default. The environment
///   variable `STORYMETER_EMBEDDED_MODEL` names another file at build time.
/// - A build of the published crate finds no such file and embeds nothing.
///   [`UnionScorer::embedded`] then reads `union-compact.smq` from one of the [`search_folders`]
///   when it is called.
/// - If the file is in none of them, the error is [`Error::MissingModel`], which holds the folders.
///
/// The model of the metric `criteria` is embedded in the same way ([`EmbeddedModel::Criteria`]).
/// Its file is `models/criteria.smq`, and its variable `STORYMETER_EMBEDDED_CRITERIA`.
pub const HAS_EMBEDDED: bool = cfg!(embedded_model);

/// A model that is part of the program, if the build found its file; see [`HAS_EMBEDDED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddedModel {
    /// `union-compact`, the model of the metric `union`.
    Union,
    /// `criteria`, the model of the metric `criteria`.
    Criteria,
}

impl EmbeddedModel {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Union, Self::Criteria];

    /// The name under which users ask for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Union => EMBEDDED_NAME,
            Self::Criteria => "criteria",
        }
    }

    /// Whether it is part of this build. If it is not, its file is looked for in the
    /// [`search_folders`].
    pub fn is_included(self) -> bool {
        match self {
            Self::Union => HAS_EMBEDDED,
            Self::Criteria => cfg!(embedded_criteria),
        }
    }

    /// What it is called in messages, where other models have a path.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Self::Union => "the embedded model",
            Self::Criteria => "the embedded model of criteria",
        }
    }
}

/// The extension of a model file.
const EXTENSION: &str = "smq";

/// Where a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In the program, or in its own file if the build does not have it ([`HAS_EMBEDDED`]).
    Embedded(EmbeddedModel),
    /// In a file or a folder.
    Path(PathBuf),
}

impl Location {
    /// Finds a model by what a user typed: a path, the name of an [`EmbeddedModel`], or the name of
    /// a model in one of the [`search_folders`].
    ///
    /// # Errors
    /// Returns [`Error::MissingModel`] if there is none.
    pub fn find(typed: &str) -> Result<Self> {
        let path = Path::new(typed);
        if path.exists() {
            return Ok(Self::Path(path.to_owned()));
        }
        if let Some(own) = EmbeddedModel::ALL.into_iter().find(|own| own.name() == typed) {
            return Ok(Self::Embedded(own));
        }
        let folders = search_folders();
        let found = folders.iter().find_map(|folder| model_in(folder, typed));
        found.map(Self::Path).ok_or_else(|| missing(typed, folders))
    }

    /// Loads the model to score on the CPU.
    ///
    /// # Errors
    /// As [`UnionScorer::load`] and [`UnionScorer::embedded`].
    pub fn scorer(&self, precision: Precision) -> Result<UnionScorer> {
        UnionScorer::new(self.open(precision)?)
    }

    /// Loads the model to score on the NVIDIA GPU with this number.
    ///
    /// # Errors
    /// As [`UnionScorer::load_on_gpu`].
    #[cfg(feature = "cuda")]
    pub fn scorer_on_gpu(&self, gpu: usize, precision: GpuPrecision) -> Result<UnionScorer> {
        UnionScorer::new(self.open_on_gpu(gpu, precision)?)
    }

    /// Makes the model ready to compute on the CPU.
    pub(crate) fn open(&self, precision: Precision) -> Result<Opened> {
        match self {
            Self::Path(path) => Opened::load(path, precision),
            Self::Embedded(own) if precision == Precision::F32 => {
                Err(Error::OnlyInt8 { path: PathBuf::from(own.described()) })
            }
            Self::Embedded(own) => Opened::from_stored(&StoredModel::embedded_model(*own)?),
        }
    }

    /// Makes the model ready to compute on the NVIDIA GPU with this number.
    #[cfg(feature = "cuda")]
    pub(crate) fn open_on_gpu(&self, gpu: usize, precision: GpuPrecision) -> Result<Opened> {
        match self {
            Self::Path(path) => Opened::load_on_gpu(path, gpu, precision),
            Self::Embedded(own) => {
                Opened::from_stored_on_gpu(&StoredModel::embedded_model(*own)?, gpu, precision)
            }
        }
    }

    /// What the model was trained for. Only its card is read.
    ///
    /// # Errors
    /// Returns an error if there is no card, or it cannot be understood.
    pub fn kind(&self) -> Result<Kind> {
        match self {
            Self::Embedded(EmbeddedModel::Union) => Ok(Kind::Union),
            Self::Embedded(EmbeddedModel::Criteria) => Ok(Kind::Criteria),
            Self::Path(path) if path.is_file() => stored::kind_of(path),
            Self::Path(folder) => Model::kind_of(folder),
        }
    }

    /// Reads the model's card, size and fingerprint without making it ready to score.
    ///
    /// # Errors
    /// Returns an error if it is not a complete model.
    pub fn describe(&self) -> Result<Description> {
        let stored = match self {
            Self::Embedded(own) => StoredModel::embedded_model(*own)?,
            Self::Path(path) if path.is_file() => StoredModel::open(path)?,
            Self::Path(folder) => {
                let mut model = Model::load(folder)?;
                let fingerprint = model.fingerprint();
                model.card.keep_reference_scores_of(&fingerprint);
                let own = model.sentences.as_ref().map(|_| folder_size(&folder.join(FOLDER)));
                return Ok(Description {
                    location: self.clone(),
                    bytes: folder_size(folder) + own.unwrap_or(0),
                    fingerprint,
                    card: model.card,
                    sentences: model.sentences.map(|own| own.describe()),
                });
            }
        };
        Ok(Description {
            location: self.clone(),
            bytes: stored.size() as u64,
            fingerprint: stored.fingerprint().to_owned(),
            card: stored.card().clone(),
            sentences: stored.sentences()?.map(|own| own.describe()),
        })
    }
}

/// What is known about a model before it is loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Where it is.
    pub location: Location,
    /// Its size in bytes.
    pub bytes: u64,
    /// The hash of its weights, as signatures name it.
    pub fingerprint: String,
    /// Its card.
    pub card: Card,
    /// Its sentence encoder, if it has one.
    pub sentences: Option<SentenceDescription>,
}

/// The folder into which models are installed: the one that the environment variable
/// `STORYMETER_MODELS` names, or else `storymeter/models` in the user's cache folder. `None` if the
/// system has no folder for a user's files.
pub fn models_folder() -> Option<PathBuf> {
    let variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable("STORYMETER_MODELS") {
        return Some(folder);
    }
    let cache = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
    };
    cache.map(|cache| cache.join("storymeter/models"))
}

/// The folders in which a model is looked for by its name, in this order: the [`models_folder`],
/// and the folder of the running program.
pub fn search_folders() -> Vec<PathBuf> {
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(Path::to_owned);
    models_folder().into_iter().chain(beside).collect()
}

/// The names and paths of the models in the [`models_folder`], sorted by name: the files `NAME.smq`
/// and the folders that training wrote.
pub fn installed_paths() -> Vec<(String, PathBuf)> {
    let entries = models_folder().and_then(|folder| file::list(&folder).ok());
    let mut found: Vec<(String, PathBuf)> = entries
        .unwrap_or_default()
        .into_iter()
        .filter_map(|path| {
            let is_file = path.is_file() && path.extension().is_some_and(|end| end == EXTENSION);
            let name = if is_file { path.file_stem()? } else { path.file_name()? };
            let name = name.to_string_lossy().into_owned();
            (is_file || is_model_folder(&path)).then_some((name, path))
        })
        .collect();
    found.sort();
    found
}

/// The file of an embedded model in one of these folders.
///
/// # Errors
/// Returns [`Error::MissingModel`] if none of them has it.
pub(crate) fn embedded_file(model: EmbeddedModel, folders: Vec<PathBuf>) -> Result<PathBuf> {
    let found = folders.iter().map(|folder| file_in(folder, model.name())).find(|f| f.is_file());
    found.ok_or_else(|| missing(model.name(), folders))
}

/// The model of this name in a folder: a file, or else a folder that training wrote.
fn model_in(folder: &Path, name: &str) -> Option<PathBuf> {
    let file = file_in(folder, name);
    if file.is_file() {
        return Some(file);
    }
    Some(folder.join(name)).filter(|path| is_model_folder(path))
}

fn file_in(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{EXTENSION}"))
}

fn is_model_folder(path: &Path) -> bool {
    path.join("storymeter.json").is_file()
}

fn missing(name: &str, searched: Vec<PathBuf>) -> Error {
    let installed = installed_paths().into_iter().map(|(name, _)| name).collect();
    Error::MissingModel { name: name.to_owned(), searched, installed }
}

fn folder_size(folder: &Path) -> u64 {
    let files = file::list(folder).unwrap_or_default();
    files
        .iter()
        .filter_map(|path| path.symlink_metadata().ok())
        .filter(|data| data.is_file())
        .map(|data| data.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_as_a_file_and_then_as_a_folder_of_training() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(model_in(folder.path(), "tiny"), None);
        std::fs::create_dir(folder.path().join("tiny")).unwrap();
        assert_eq!(model_in(folder.path(), "tiny"), None, "a folder without a card");
        std::fs::write(folder.path().join("tiny/storymeter.json"), "{}").unwrap();
        assert_eq!(model_in(folder.path(), "tiny"), Some(folder.path().join("tiny")));
        std::fs::write(folder.path().join("tiny.smq"), "").unwrap();
        assert_eq!(model_in(folder.path(), "tiny"), Some(folder.path().join("tiny.smq")));
    }

    #[test]
    fn the_file_of_the_embedded_model_is_taken_from_the_first_folder_that_has_it() {
        let [first, second] = [0; 2].map(|_| tempfile::tempdir().unwrap());
        let folders = || vec![first.path().to_owned(), second.path().to_owned()];
        for (model, name) in EmbeddedModel::ALL.into_iter().zip(["union-compact", "criteria"]) {
            match embedded_file(model, folders()).unwrap_err() {
                Error::MissingModel { name: missing, searched, .. } => {
                    assert_eq!((missing.as_str(), searched), (name, folders()));
                }
                other => panic!("{other}"),
            }
            for folder in [&second, &first] {
                let file = folder.path().join(format!("{name}.smq"));
                std::fs::write(&file, "").unwrap();
                assert_eq!(embedded_file(model, folders()).unwrap(), file);
            }
        }
    }

    #[test]
    fn the_folder_of_the_program_is_searched() {
        let program = std::env::current_exe().unwrap();
        assert!(search_folders().iter().any(|folder| Some(folder.as_path()) == program.parent()));
    }
}
