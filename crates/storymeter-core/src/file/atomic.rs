//! Output files that are either complete or not there.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::Temporary;
use super::folder::folder_of;
use crate::{Error, Place, Result};

/// A file that appears under its name only when [`AtomicFile::commit`] succeeds.
///
/// Until then everything goes to a temporary file in the same folder, which is removed when the
/// value is dropped. An error or a full disk therefore leaves no half-written output behind, and an
/// older file of that name stays as it was. A program that is killed can leave the temporary file,
/// `.storymeter-*.partial`, but it never leaves half a file under the name of the output; see
/// [`Temporary`] for who removes it.
///
/// A file that is replaced passes its permissions on, and one that is read-only is not replaced. A
/// symbolic link stays, and the file that it points to is created or replaced. A device or a pipe,
/// such as `/dev/null`, cannot be replaced, so it is written to directly.
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
    out: BufWriter<Target>,
    path: PathBuf,
    /// Whether everything that was written is on the disk.
    synced: bool,
}

enum Target {
    /// A temporary file, and the path that it gets when it is complete.
    Temporary(Temporary, PathBuf),
    /// A device or pipe.
    Direct(File),
}

impl AtomicFile {
    /// Begins to write a file that will be called `path`.
    ///
    /// # Errors
    /// Returns an error if `path` is a folder or a read-only file, or the temporary file cannot be
    /// created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let target = open(&path)?;
        Ok(Self { out: BufWriter::with_capacity(1 << 16, target), path, synced: false })
    }

    /// A file with this content, which has its name when it is committed.
    ///
    /// # Errors
    /// Fails as [`AtomicFile::create`] does, and if the disk is full.
    pub fn holding(path: &Path, content: &[u8]) -> Result<Self> {
        let mut file = Self::create(path)?;
        let written = file.out.write_all(content).and_then(|()| file.out.flush());
        written.map_err(|e| Error::io(Place::file(path), e))?;
        Ok(file)
    }

    /// The file that [`AtomicFile::commit`] will create or replace; `None` for a device or a pipe.
    pub fn replaces(&self) -> Option<&Path> {
        match self.out.get_ref() {
            Target::Temporary(_, path) => Some(path),
            Target::Direct(_) => None,
        }
    }

    /// The output as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes everything to the disk, so that [`AtomicFile::commit`] will hardly fail.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn sync(&mut self) -> Result<()> {
        if self.synced {
            return Ok(());
        }
        let failed = |e| Error::io(Place::file(&self.path), e);
        self.out.flush().map_err(failed)?;
        match self.out.get_ref() {
            Target::Temporary(file, _) => file.as_file().map_or(Ok(()), File::sync_all),
            Target::Direct(_) => Ok(()),
        }
        .map_err(failed)?;
        self.synced = true;
        Ok(())
    }

    /// Gives the file, which was written to the disk, a second name, by which it can be found if
    /// the program is killed before the file has its own. Returns whether the file system can do
    /// that.
    pub(crate) fn link(&self, path: &Path) -> bool {
        match self.out.get_ref() {
            Target::Temporary(file, _) => std::fs::hard_link(file.path(), path).is_ok(),
            Target::Direct(_) => false,
        }
    }

    /// Writes everything to the disk, unless [`AtomicFile::sync`] did, and gives the file its name.
    ///
    /// # Errors
    /// Returns an error if the disk is full, or the operating system refuses one of the steps.
    pub fn commit(mut self) -> Result<()> {
        self.sync()?;
        match self.target()? {
            Target::Direct(_) => Ok(()),
            Target::Temporary(file, path) => file.persist(&path),
        }
    }

    /// The same for a file that grows on, such as a log. What is written to the handle that is
    /// returned is appended to the file.
    ///
    /// # Errors
    /// Fails as [`AtomicFile::commit`] does.
    pub fn commit_and_append(mut self) -> Result<File> {
        self.sync()?;
        let place = Place::file(&self.path);
        match self.target()? {
            Target::Direct(file) => Ok(file),
            Target::Temporary(file, path) => {
                file.persist(&path)?;
                OpenOptions::new().append(true).open(path).map_err(|e| Error::io(place, e))
            }
        }
    }

    fn target(self) -> Result<Target> {
        let Self { out, path, .. } = self;
        out.into_inner().map_err(|e| Error::io(Place::file(path), e.into_error()))
    }
}

fn open(path: &Path) -> Result<Target> {
    let failed = |e| Error::io(Place::file(path), e);
    let refused = |kind, problem: &str| Err(failed(io::Error::new(kind, problem.to_owned())));
    let bytes = path.as_os_str().as_encoded_bytes();
    if path.file_name().is_none() || bytes.ends_with(std::path::MAIN_SEPARATOR_STR.as_bytes()) {
        return refused(io::ErrorKind::InvalidInput, "this is not the name of a file");
    }
    match path.metadata() {
        Ok(there) if there.is_dir() => {
            refused(io::ErrorKind::IsADirectory, "this is a folder, but the output must be a file")
        }
        // A file that is reached through an open handle (`/dev/stdout`, `/proc/self/fd/3`) is
        // written to through that handle: whoever opened it waits for the bytes there.
        Ok(there) if !there.is_file() || is_handle(path) => {
            OpenOptions::new().write(true).open(path).map(Target::Direct).map_err(failed)
        }
        Ok(there) => {
            check_writable(path, &there).map_err(failed)?;
            let path = path.canonicalize().map_err(failed)?;
            let file = temporary(&path)?;
            let permitted = file.as_file().map(|file| file.set_permissions(there.permissions()));
            permitted.transpose().map_err(failed)?;
            Ok(Target::Temporary(file, path))
        }
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed(e)),
        Err(_) => {
            let path = end_of_links(path).map_err(failed)?;
            Ok(Target::Temporary(temporary(&path)?, path))
        }
    }
}

/// Refuses a file that must not be written to.
pub(super) fn check_writable(path: &Path, there: &Metadata) -> io::Result<()> {
    // The administrator may write to a read-only file, but its owner did not want that.
    if there.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    OpenOptions::new().write(true).open(path).map(drop)
}

/// Whether a path names an open handle of a process.
fn is_handle(path: &Path) -> bool {
    ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"].iter().any(|at| path.starts_with(at))
}

fn temporary(path: &Path) -> Result<Temporary> {
    Temporary::output_in(folder_of(path)).map_err(|error| match error {
        // The folder is where it failed, but the output is what the user knows.
        Error::Io { source, .. } => Error::io(Place::file(path), source),
        other => other,
    })
}

/// The path that a chain of symbolic links ends at, which does not exist; the path itself if it is
/// no link.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        match path.read_link() {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("the symbolic links lead to each other"))
}

impl Write for Target {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Temporary(file, _) => file.write(buf),
            Self::Direct(file) => file.write(buf).map_err(reader_has_left),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Temporary(file, _) => file.flush(),
            Self::Direct(file) => file.flush().map_err(reader_has_left),
        }
    }
}

/// A reader of standard output that goes away wants no more (`| head`). A reader of a pipe that
/// the user named as the output did not get what it was promised, so this error is not called a
/// broken pipe.
fn reader_has_left(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => {
            io::Error::other("the reader of this pipe went away before everything was written")
        }
        _ => error,
    }
}

impl Write for AtomicFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.synced = false;
        self.out.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
