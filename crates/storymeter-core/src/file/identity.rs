//! Whether two paths name the same file.

use std::path::{Path, PathBuf};

use super::list;
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
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Self::Number(there.dev(), there.ino()))
        }
        #[cfg(not(unix))]
        Some(Self::Path(path.canonicalize().ok()?))
    }

    /// The identity of an output, which may not exist yet.
    fn of_output(path: &Path) -> Option<Self> {
        if path.exists() {
            return Self::of(path);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let real = folder.unwrap_or(Path::new(".")).canonicalize().ok();
        let real = real.zip(path.file_name()).map(|(folder, name)| folder.join(name));
        Some(Self::Path(real.unwrap_or_else(|| path.to_owned())))
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses inputs that can be read only once and are named twice: standard input (`-`), pipes and
/// devices. The second reader would find nothing, or wait for ever.
///
/// # Errors
/// [`Error::NamedTwice`].
pub fn named_once(inputs: &[&Path]) -> Result<()> {
    let once = |path: &Path| {
        is_stdin(path) || path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir())
    };
    for (at, input) in inputs.iter().enumerate() {
        if inputs[..at].contains(input) && once(input) {
            return Err(Error::NamedTwice { place: Place::file(input) });
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_recognised_under_all_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("folder")).unwrap();
        let (file, other) = (at("folder/a"), at("b"));
        std::fs::write(&file, "a").unwrap();
        std::fs::write(&other, "b").unwrap();
        std::fs::hard_link(&file, at("hard")).unwrap();
        let mut names = vec![file.clone(), at("folder/../folder/a"), at("hard")];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&file, at("soft")).unwrap();
            names.push(at("soft"));
        }
        for name in &names {
            for input in [file.as_path(), &at("folder")] {
                let error = distinct(&[&at("new"), name], &[&other, input]).unwrap_err();
                assert!(matches!(error, Error::OverInput { .. }), "{error}");
            }
            assert!(distinct(&[name], &[&other]).is_ok());
        }
        assert!(distinct(&[&at("folder/new")], &[&at("folder")]).is_ok());
        assert!(distinct(&[&at("folder")], &[&at("folder")]).is_err());
    }

    #[test]
    fn two_outputs_are_not_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        assert!(distinct(&[&a, &b], &[]).is_ok());
        assert!(matches!(distinct(&[&a, &a], &[]), Err(Error::SameOutput { .. })));
        let long = dir.path().join(".").join("a");
        assert!(matches!(distinct(&[&a, &long], &[]), Err(Error::SameOutput { .. })));
        std::fs::write(&a, "").unwrap();
        std::fs::hard_link(&a, &b).unwrap();
        assert!(matches!(distinct(&[&a, &b], &[]), Err(Error::SameOutput { .. })));
    }

    #[test]
    fn standard_input_is_named_once_and_a_file_as_often_as_one_likes() {
        let (dash, file) = (Path::new("-"), Path::new(file!()));
        assert!(named_once(&[dash, file, file]).is_ok());
        let error = named_once(&[dash, file, dash]).unwrap_err().to_string();
        assert_eq!(error, "standard input: it is named twice, but it can be read only once");
    }
}
