//! Whether two paths name the same file.

use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Place, Result};

/// What makes a file or folder itself, whatever it is called: the same through symbolic links and
/// hard links.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    #[cfg(not(unix))]
    path: PathBuf,
}

impl Identity {
    /// The identity of an ordinary file or a folder. Devices and pipes cannot be overwritten, so
    /// they have none, and neither has a file that does not exist.
    fn of(path: &Path) -> Option<Self> {
        // Standard input may come from a file (`< stories.jsonl`).
        let path = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
        let there = path.metadata().ok()?;
        if !there.is_file() && !there.is_dir() {
            return None;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Self { device_and_inode: (there.dev(), there.ino()) })
        }
        #[cfg(not(unix))]
        Some(Self { path: path.canonicalize().ok()? })
    }
}

/// Refuses outputs that are also inputs, and two outputs that are one file.
///
/// Symbolic links and hard links are seen through. A folder among the inputs stands for itself and
/// for the files in it, and `-` for the file that standard input comes from, if it is one. Outputs that do not exist yet, devices and pipes are never refused; only
/// two outputs of the same name are.
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
        outputs.iter().map(|output| (*output, Identity::of(output))).collect();
    for (at, (output, identity)) in real.iter().enumerate() {
        let same = |(other, its): &&(&Path, Option<Identity>)| match identity {
            Some(_) => identity == its,
            // A device may be written to twice.
            None => output == other && !output.exists(),
        };
        if let Some((first, _)) = real[..at].iter().find(same) {
            return Err(Error::SameOutput { first: (*first).into(), second: (*output).into() });
        }
    }
    if real.iter().all(|(_, identity)| identity.is_none()) {
        return Ok(());
    }
    let clash = |input: &Path| {
        let own = Identity::of(input)?;
        real.iter().find(|(_, identity)| identity.as_ref() == Some(&own)).map(|(output, _)| *output)
    };
    for input in inputs {
        let mut all = vec![PathBuf::from(input)];
        if input.is_dir() {
            let failed = |e: io::Error| Error::io(Place::file(input), e);
            for entry in std::fs::read_dir(input).map_err(failed)? {
                all.push(entry.map_err(failed)?.path());
            }
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
        std::fs::write(&a, "").unwrap();
        std::fs::hard_link(&a, &b).unwrap();
        assert!(matches!(distinct(&[&a, &b], &[]), Err(Error::SameOutput { .. })));
    }
}
