//! What is in a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The paths of all files and folders in a folder, sorted by name.
///
/// The standard library panics if a folder cannot be closed, which happens on network file systems.
/// What was listed is right in any case, so here that is no error.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// for name in ["b", "a", ".hidden"] {
///     std::fs::write(dir.path().join(name), "")?;
/// }
/// let found = storymeter_core::file::list(dir.path())?;
/// assert_eq!(found, [".hidden", "a", "b"].map(|name| dir.path().join(name)));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Returns an error if it is no folder or cannot be read.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = names(folder)?;
    found.sort();
    Ok(found)
}

/// The folder that a path is in, which is the current one for a bare name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Gives a file another name. Where a symbolic link has that name, the link stays, and the file
/// that it points to is replaced.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to.canonicalize().unwrap_or_else(|_| to.to_owned()))
}

/// Removes a file, or a folder with everything in it. Links are removed and not followed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    if !path.symlink_metadata()?.is_dir() {
        return fs::remove_file(path);
    }
    names(path)?.iter().try_for_each(|inside| remove(inside))?;
    fs::remove_dir(path)
}

#[cfg(unix)]
fn names(folder: &Path) -> io::Result<Vec<PathBuf>> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::fs::{Dir, Mode, OFlags, open};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entries = Dir::new(open(folder, flags, Mode::empty())?)?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            found.push(folder.join(OsStr::from_bytes(name)));
        }
    }
    Ok(found)
}

#[cfg(not(unix))]
fn names(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}
