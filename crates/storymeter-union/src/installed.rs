//! Which models there are: the embedded one, and those in the folder of installed models.

use std::path::{Path, PathBuf};

use storymeter_encoder::Precision;

#[cfg(feature = "cuda")]
use crate::engine::GpuPrecision;
use crate::{Card, Error, Model, Result, Scorer, StoredModel};

/// The name of the embedded model.
pub const EMBEDDED_NAME: &str = "union-compact";

/// The ending of a model file.
const ENDING: &str = "smq";

/// Where a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In the program.
    Embedded,
    /// A file or a folder.
    Path(PathBuf),
}

impl Location {
    /// Finds a model by what a user typed: a path, `union-compact`, or the name of an installed model.
    ///
    /// # Errors
    /// Where there is none; the error says which there are.
    pub fn of(typed: &str) -> Result<Self> {
        let path = Path::new(typed);
        if path.exists() {
            return Ok(Self::Path(path.to_owned()));
        }
        if typed == EMBEDDED_NAME {
            return Ok(Self::Embedded);
        }
        let found = installed_paths().into_iter().find(|(name, _)| name == typed);
        found.map(|(_, path)| Self::Path(path)).ok_or_else(|| Error::UnknownModel {
            name: typed.to_owned(),
            known: {
                let names: Vec<String> =
                    installed_paths().into_iter().map(|(name, _)| name).collect();
                if names.is_empty() {
                    "none is installed".to_owned()
                } else {
                    format!("installed are {}", names.join(", "))
                }
            },
        })
    }

    /// Gets the model ready to score.
    ///
    /// # Errors
    /// As [`Scorer::load`] and [`Scorer::embedded`].
    pub fn scorer(&self, precision: Precision) -> Result<Scorer> {
        match self {
            Self::Path(path) => Scorer::load(path, precision),
            Self::Embedded if precision == Precision::F32 => {
                Err(Error::OnlyInt8 { path: PathBuf::from("the embedded model") })
            }
            Self::Embedded => Scorer::embedded(),
        }
    }

    /// Gets the model ready to score on an NVIDIA GPU, by its number.
    ///
    /// # Errors
    /// As [`Scorer::load_on_gpu`].
    #[cfg(feature = "cuda")]
    pub fn scorer_on_gpu(&self, gpu: usize, precision: GpuPrecision) -> Result<Scorer> {
        match self {
            Self::Path(path) => Scorer::load_on_gpu(path, gpu, precision),
            Self::Embedded => Scorer::from_stored_on_gpu(&StoredModel::embedded()?, gpu, precision),
        }
    }

    /// What is known of the model without getting it ready.
    ///
    /// # Errors
    /// Where it is not a complete model.
    pub fn describe(&self) -> Result<Description> {
        let stored = match self {
            Self::Embedded => StoredModel::embedded()?,
            Self::Path(path) if path.is_file() => StoredModel::open(path)?,
            Self::Path(folder) => {
                let model = Model::load(folder)?;
                return Ok(Description {
                    location: self.clone(),
                    bytes: folder_size(folder),
                    fingerprint: model.fingerprint(),
                    card: model.card,
                });
            }
        };
        Ok(Description {
            location: self.clone(),
            bytes: stored.size() as u64,
            fingerprint: stored.fingerprint().to_owned(),
            card: stored.card().clone(),
        })
    }
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Where it is.
    pub location: Location,
    /// Its size.
    pub bytes: u64,
    /// Its name in signatures.
    pub fingerprint: String,
    /// What it says of itself.
    pub card: Card,
}

/// The folder of installed models: `STORYMETER_MODELS`, or `storymeter/models` in the user's cache; `None` where the
/// system has no place for a user's files.
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

/// The installed models by name, in the order of their names: files `NAME.smq` and folders that training wrote.
pub fn installed_paths() -> Vec<(String, PathBuf)> {
    let Some(entries) = models_folder().and_then(|folder| folder.read_dir().ok()) else {
        return Vec::new();
    };
    let mut found: Vec<(String, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let file = path.is_file() && path.extension().is_some_and(|ending| ending == ENDING);
            let folder = path.join("storymeter.json").is_file();
            let name = if file { path.file_stem()? } else { path.file_name()? };
            (file || folder).then(|| (name.to_string_lossy().into_owned(), path.clone()))
        })
        .collect();
    found.sort();
    found
}

fn folder_size(folder: &Path) -> u64 {
    let files = folder.read_dir().into_iter().flatten().flatten();
    files
        .filter_map(|file| file.metadata().ok())
        .filter(|data| data.is_file())
        .map(|data| data.len())
        .sum()
}
