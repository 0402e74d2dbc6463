//! Whether two paths name the same file.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::folder::{folder_of, list};
use crate::{Error, Place, Result};

/// What makes a file or folder itself, whatever it is called: the same through symbolic links and
/// hard links.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Identity {
    /// The device and the number of the file on it.
    #[cfg(unix)]
    Number(u64, u64),
    /// The real folder, and the name in it.
    Path(PathBuf),
}

impl Identity {
    /// The identity of an ordinary file or a folder that exists. Devices and pipes cannot be
    /// overwritten, so they have none.
    fn of(path: &Path) -> Option<Self> {
        // Standard input may come from a file (`< stories.jsonl`).
        let path = if is_stdin(path) { Path::new("/dev/stdin") } else { path };
        let there = path.metadata().ok()?;
        if !there.is_file() && !there.is_dir() {
            return None;
        }
        Self::of_metadata(path, &there)
    }

    /// The identity of what can be read only once: standard input, a pipe or a device.
    fn of_pipe(path: &Path) -> Option<Self> {
        let real = if is_stdin(path) { Path::new("/dev/stdin") } else { path };
        match real.metadata() {
            Ok(there) if !there.is_file() && !there.is_dir() => Self::of_metadata(real, &there),
            _ => is_stdin(path).then(|| Self::Path(path.to_owned())),
        }
    }

    #[cfg(unix)]
    fn of_metadata(_: &Path, there: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        Some(Self::Number(there.dev(), there.ino()))
    }

    #[cfg(not(unix))]
    fn of_metadata(path: &Path, _: &Metadata) -> Option<Self> {
        Some(Self::Path(path.canonicalize().ok()?))
    }

    /// The identity of an output, which may not exist yet.
    fn of_output(path: &Path) -> Option<Self> {
        if path.exists() {
            return Self::of(path);
        }
        let real = folder_of(path).canonicalize().ok();
        let real = real.zip(path.file_name()).map(|(folder, name)| folder.join(name));
        Some(Self::Path(real.unwrap_or_else(|| path.to_owned())))
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses inputs that can be read only once and are named twice, under whatever names: standard
/// input (`-`), pipes and devices. The second reader would find nothing, or wait for ever.
///
/// # Errors
/// [`Error::NamedTwice`].
pub fn named_once(inputs: &[&Path]) -> Result<()> {
    let mut seen = Vec::new();
    for input in inputs {
        let Some(own) = Identity::of_pipe(input) else { continue };
        if seen.contains(&own) {
            return Err(Error::NamedTwice { place: Place::file(input) });
        }
        seen.push(own);
    }
    Ok(())
}

/// Refuses outputs that are also inputs, and two outputs that are one file.
///
/// Symbolic links and hard links are seen through. A folder among the inputs stands for itself and
/// for the files in it, and `-` for the file that standard input comes from, if it is one. Devices
/// and pipes are never refused.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// let stories = dir.path().join("stories.jsonl");
/// std::fs::write(&stories, "{\"story\": \"Rain fell.\"}\n")?;
/// let scores = dir.path().join("scores.jsonl");
/// storymeter_core::file::distinct(&[&scores], &[&stories])?;
/// assert!(storymeter_core::file::distinct(&[&stories], &[&stories]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::OverInput`] or [`Error::SameOutput`].
pub fn distinct(outputs: &[&Path], inputs: &[&Path]) -> Result<()> {
    let real: Vec<(&Path, Option<Identity>)> =
        outputs.iter().map(|output| (*output, Identity::of_output(output))).collect();
    for (at, (output, identity)) in real.iter().enumerate() {
        let same =
            |(_, other): &&(&Path, Option<Identity>)| identity.is_some() && identity == other;
        if let Some((first, _)) = real[..at].iter().find(same) {
            return Err(Error::SameOutput { first: (*first).into(), second: (*output).into() });
        }
    }
    if outputs.iter().all(|output| !output.exists()) {
        return Ok(());
    }
    let clash = |input: &Path| {
        let own = Identity::of(input)?;
        real.iter().find(|(_, identity)| identity.as_ref() == Some(&own)).map(|(output, _)| *output)
    };
    for input in inputs {
        let mut all = vec![PathBuf::from(input)];
        if input.is_dir() {
            all.extend(list(input).map_err(|e| Error::io(Place::file(input), e))?);
        }
        for path in all {
            if let Some(output) = clash(&path) {
                return Err(Error::OverInput { output: output.into(), input: path });
            }
        }
    }
    Ok(())
}
