//! Notices files that change while they are read several times.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Format, source, writing_prompts};
use crate::{Error, Place, Result};

/// What the files of an input were like before they were read for the first time.
///
/// Work that reads its input twice would otherwise mix two versions of a file.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("stories.txt");
/// # std::fs::write(&path, "A door opened.")?;
/// use storymeter_core::read::Unchanged;
/// let before = Unchanged::new(&[path.clone()], None)?;
/// assert!(before.check().is_ok());
/// std::fs::write(&path, "A cat came in.\n")?;
/// let error = before.check().unwrap_err().to_string();
/// assert!(error.ends_with("stories.txt: the file has changed while it was read"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Unchanged {
    inputs: Vec<PathBuf>,
    format: Option<Format>,
    files: Vec<(PathBuf, State)>,
}

/// What tells one version of a file from another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    length: u64,
    modified: Option<SystemTime>,
    /// Device and number, and when anything about the file was last changed.
    #[cfg(unix)]
    node: (u64, u64, i64, i64),
}

impl State {
    /// `None` for what is not a file, or not there.
    fn of(path: &Path) -> Option<Self> {
        let there = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Self {
            length: there.len(),
            modified: there.modified().ok(),
            #[cfg(unix)]
            node: {
                use std::os::unix::fs::MetadataExt;
                (there.dev(), there.ino(), there.ctime(), there.ctime_nsec())
            },
        })
    }
}

impl Unchanged {
    /// Looks at the files that the inputs stand for. What is not a file is passed over.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be listed or has no file of stories.
    pub fn new(inputs: &[PathBuf], format: Option<Format>) -> Result<Self> {
        let files = files(inputs, format)?;
        Ok(Self { inputs: inputs.to_vec(), format, files })
    }

    /// Checks that all files are still the same, and that no file was added to a folder.
    ///
    /// # Errors
    /// Returns an error if one of them is not. It names the file.
    pub fn check(&self) -> Result<()> {
        let now = files(&self.inputs, self.format)?;
        if now == self.files {
            return Ok(());
        }
        type Files = [(PathBuf, State)];
        let differs = |one: &(PathBuf, State), others: &Files| !others.contains(one);
        let gone = self.files.iter().find(|file| differs(file, &now));
        let path = match gone.or_else(|| now.iter().find(|file| differs(file, &self.files))) {
            Some((path, _)) => path.as_path(),
            None => self.inputs.first().map_or(Path::new(""), PathBuf::as_path),
        };
        let problem = "the file has changed while it was read";
        Err(Error::invalid(Place::file(path), problem))
    }
}

/// The files that the inputs stand for, and both of each pair of WritingPrompts.
fn files(inputs: &[PathBuf], format: Option<Format>) -> Result<Vec<(PathBuf, State)>> {
    let mut files = Vec::new();
    for found in source::expand(inputs, format)? {
        let pair = writing_prompts::pair_of(&found.path).ok();
        let pair = pair.map(|(prompts, stories)| [prompts, stories]);
        files.extend(pair.into_iter().flatten());
        files.push(found.path);
    }
    files.sort();
    files.dedup();
    let known = |path: PathBuf| State::of(&path).map(|state| (path, state));
    Ok(files.into_iter().filter_map(known).collect())
}
