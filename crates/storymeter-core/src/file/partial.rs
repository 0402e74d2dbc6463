//! Files that are fetched piece by piece, over several runs of a program.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Place, Result};

/// The beginning of a file that a later run can continue, under a name of its own.
///
/// Unlike a [`Temporary`](super::Temporary), it stays when the program ends. It gets the name of
/// the whole file when its content was checked.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # use std::io::Write as _;
/// use storymeter_core::file::PartialFile;
/// let part = PartialFile::at(dir.path().join("model.part"));
/// part.write_from(0)?.write_all(b"be")?;
/// part.write_from(part.bytes())?.write_all(b"gun")?;
/// part.persist(&dir.path().join("model"))?;
/// assert_eq!(std::fs::read(dir.path().join("model"))?, b"begun");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PartialFile {
    path: PathBuf,
}

impl PartialFile {
    /// The part that is at a path, or will be there.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where the part is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of bytes that are there already.
    pub fn bytes(&self) -> u64 {
        self.path.metadata().map_or(0, |there| there.len())
    }

    /// Opens the part, so that what is written next stands after its first `bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be made or written to.
    pub fn write_from(&self, bytes: u64) -> Result<impl Write> {
        let open = || -> io::Result<File> {
            let mut options = OpenOptions::new();
            let mut file = options.create(true).write(true).truncate(false).open(&self.path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::Start(bytes))?;
            Ok(file)
        };
        open().map_err(|e| self.failed(e))
    }

    /// Removes a part that cannot become the file.
    ///
    /// # Errors
    /// Returns an error if it is there and cannot be removed.
    pub fn remove(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(self.failed(e)),
            _ => Ok(()),
        }
    }

    /// Writes the part to the disk and gives it the name of the whole file.
    ///
    /// # Errors
    /// Returns an error if the file system refuses.
    pub fn persist(self, path: &Path) -> Result<()> {
        let synced = OpenOptions::new().write(true).open(&self.path).and_then(|f| f.sync_all());
        synced.map_err(|e| self.failed(e))?;
        fs::rename(&self.path, path).map_err(|e| Error::io(Place::file(path), e))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(Place::file(&self.path), error)
    }
}
