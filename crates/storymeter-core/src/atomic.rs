//! Output that is complete or not there.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, Place, Result};

/// A file that appears under its name only when [`AtomicFile::commit`] succeeds.
///
/// Until then everything goes to a temporary file in the same folder, which is removed when the value is
/// dropped: an error, a full disk or an interrupted run leaves no half-written output behind, and an older
/// file of that name stays as it was.
///
/// ```
/// # use std::io::Write;
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("scores.jsonl");
/// let mut out = storymeter_core::AtomicFile::create(&path)?;
/// out.write_all(b"{}\n")?;
/// assert!(!path.exists());
/// out.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"{}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AtomicFile {
    out: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl AtomicFile {
    /// Starts writing what will become `path`.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".storymeter-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // What `open` would give; the process's umask still applies.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(|e| Error::io(Place::file(&path), e))?;
        Ok(Self { out: BufWriter::with_capacity(1 << 16, file), path })
    }

    /// Flushes, syncs and gives the file its name.
    pub fn commit(self) -> Result<()> {
        let place = Place::file(&self.path);
        let file = self.out.into_inner().map_err(|e| Error::io(place.clone(), e.into_error()))?;
        file.as_file().sync_all().map_err(|e| Error::io(place.clone(), e))?;
        file.persist(&self.path).map_err(|e| Error::io(place, e.error))?;
        Ok(())
    }

    /// The file being written, for callers that need to seek or map it.
    pub fn as_file(&self) -> &File {
        self.out.get_ref().as_file()
    }
}

impl Write for AtomicFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.out.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
