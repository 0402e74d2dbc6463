//! Where the data is, and what is said when it is absent.

use std::fmt;
use std::path::{Path, PathBuf};

use storymeter_core::Settings;

/// What a check or a function of this crate returns.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Why a check did not get to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The data is not on this machine, so the check is ignored. The text names what is absent and
    /// how to bring it.
    Absent(String),
    /// Something failed, and so does the check.
    Failed(String),
}

impl Error {
    /// A failure, described in words.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::Failed(text.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(text) | Self::Failed(text) => f.write_str(text),
        }
    }
}

/// Lets `?` turn any error into a failure. This is why [`Error`] itself is no `std::error::Error`.
impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A file or folder of the shared data.
///
/// ```no_run
/// let path = storymeter_checks::shared("data/roc/stories.tsv.gz")?;
/// # Ok::<(), storymeter_checks::Error>(())
/// ```
///
/// # Errors
/// [`Error::Absent`] if it is not there.
pub fn shared(relative: &str) -> Result<PathBuf> {
    let root = match std::env::var_os("STORYMETER_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let path = root.join(relative);
    if path.exists() {
        return Ok(path);
    }
    Err(Error::Absent(format!(
        "{} is absent; set STORYMETER_SHARED to the folder of the shared data",
        path.display()
    )))
}

/// Lets a check run that takes minutes. What it checks hardly changes but with the embedded models,
/// so it is part of `.ci/full`.
///
/// # Errors
/// [`Error::Absent`] unless `STORYMETER_SLOW_CHECKS` is set.
pub fn slow() -> Result<()> {
    match std::env::var_os("STORYMETER_SLOW_CHECKS") {
        Some(_) => Ok(()),
        None => {
            let text = "it takes minutes and is part of .ci/full; set STORYMETER_SLOW_CHECKS=1";
            Err(Error::Absent(text.to_owned()))
        }
    }
}

/// Settings that name the folder of METEOR 1.5's tables, for the metric `meteor`.
///
/// `STORYMETER_METEOR_DATA` names the folder. `pip install pycocoevalcap` brings it as `meteor`;
/// its licence does not let us ship it.
///
/// # Errors
/// [`Error::Absent`] if the variable is not set.
pub fn meteor_settings() -> Result<Settings> {
    let folder =
        std::env::var_os("STORYMETER_METEOR_DATA").map(PathBuf::from).ok_or_else(|| {
            let text = "METEOR 1.5 is absent; set STORYMETER_METEOR_DATA to the folder of \
                    meteor-1.5.jar and its tables";
            Error::Absent(text.to_owned())
        })?;
    Ok(Settings { weights: [("meteor".to_owned(), folder)].into(), ..Settings::default() })
}

/// The weights of a real model that `tools/test_weights.py` fetched, such as `minilm`, inside the
/// folder that `STORYMETER_TEST_WEIGHTS` names.
///
/// # Errors
/// [`Error::Absent`] if the variable is not set or the folder does not have them.
pub fn weights(name: &str) -> Result<PathBuf> {
    let folder = std::env::var_os("STORYMETER_TEST_WEIGHTS").map(PathBuf::from);
    folder.map(|folder| folder.join(name)).filter(|path| path.exists()).ok_or_else(|| {
        Error::Absent(format!(
            "{name} is absent; set STORYMETER_TEST_WEIGHTS to the folder of tools/test_weights.py"
        ))
    })
}

/// The folder of a pre-trained encoder, such as `minilm-l6`, inside the folder that
/// `STORYMETER_MODELS` names.
///
/// # Errors
/// [`Error::Absent`] if the variable is not set or there is no such encoder.
pub fn encoder_weights(name: &str) -> Result<PathBuf> {
    let models = std::env::var_os("STORYMETER_MODELS").map(PathBuf::from);
    let folder = models.map(|models| models.join(name));
    folder.filter(|folder| folder.join("model.safetensors").exists()).ok_or_else(|| {
        Error::Absent(format!(
            "the encoder {name} is absent; set STORYMETER_MODELS to a folder that holds it"
        ))
    })
}
