//! The header that is about to get its name, so that a program that is killed while it replaces a
//! score file and its header leaves a pair that belongs together.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Header;
use crate::file::{FolderLock, folder_of, rename};
use crate::{Error, Place, Result};

/// How its name ends. It is shorter than that of a header, so that no name is too long.
const ENDING: &str = ".meta.new";

/// How long one program waits until another has given its files their names.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where the header is that is about to belong to a score file.
pub(super) fn path_of(scores: &Path) -> PathBuf {
    let mut name = scores.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// Lets programs that write the same file take turns, as long as the value lives.
pub(super) fn turn(scores: &Path) -> Option<FolderLock> {
    FolderLock::wait(folder_of(scores), PATIENCE)
}

/// A header that was about to get its name, and whether it belongs to the score file.
fn found(scores: &Path) -> Option<(Header, bool)> {
    let next = Header::read_at(&path_of(scores)).ok().flatten()?;
    let belongs = next.sha256.is_some() && next.belongs_to(scores).unwrap_or(false);
    Some((next, belongs))
}

/// Ends what a program that was killed had begun: the header that belongs to the score file gets
/// its name, and one that belongs to no file is removed. A file of the user is left alone.
pub(super) fn finish_interrupted(scores: &Path) -> Result<()> {
    let (path, header) = (path_of(scores), Header::path_of(scores));
    let finished = match found(scores) {
        // If the header has both names already, renaming it does nothing, so the second name is
        // removed in any case.
        Some((_, true)) => rename(&path, &header).and_then(|()| fs::remove_file(&path)),
        Some((_, false)) => fs::remove_file(&path),
        None => Ok(()),
    };
    match finished {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io(Place::file(path), e)),
        _ => Ok(()),
    }
}

impl Header {
    /// Ends what a program that was killed had begun: if it had replaced a score file, its header
    /// gets its name.
    ///
    /// # Errors
    /// Returns an error if the file system refuses.
    pub fn finish_interrupted(scores: &Path) -> Result<()> {
        if !path_of(scores).exists() {
            return Ok(());
        }
        let _turn = turn(scores);
        finish_interrupted(scores)
    }

    /// The header that was about to get its name when a program was killed, if it belongs to the
    /// score file.
    pub(super) fn read_next(scores: &Path) -> Option<Self> {
        found(scores).filter(|(_, belongs)| *belongs).map(|(next, _)| next)
    }
}
