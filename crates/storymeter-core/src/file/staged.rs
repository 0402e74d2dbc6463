//! A set of files that replace older ones together.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::atomic::check_writable;
use super::folder::folder_of;
use super::{AtomicFile, FolderLock, Temporary, distinct, uninterrupted};
use crate::{Error, Place, Result};

/// Files that are written to a temporary folder first, and then get their names in one folder.
///
/// Everything that can be refused is refused before any file of the folder changes: a full disk, a
/// folder or a file that is read-only, an output that is an input. A folder that does not exist yet
/// gets its name, with all files in it, in one step. In a folder that exists, each file is replaced
/// in one step and keeps its permissions; symbolic links stay.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let out = dir.path().join("out");
/// use storymeter_core::file::StagedFolder;
/// let mut files = StagedFolder::new(&out)?;
/// files.write("a.csv", b"1\n")?;
/// assert!(!out.exists());
/// let paths = files.commit(&[])?;
/// assert_eq!(paths, [out.join("a.csv")]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StagedFolder {
    folder: PathBuf,
    temporary: Temporary,
    /// Whether the folder exists, so that the temporary one is inside it.
    inside: bool,
    names: Vec<String>,
}

impl StagedFolder {
    /// Begins to write files that will be in a folder. Folders above it are made.
    ///
    /// # Errors
    /// Returns an error if the folder is a file or cannot be written to.
    pub fn new(folder: &Path) -> Result<Self> {
        let parent = folder_of(folder);
        let inside = folder.exists();
        if inside && !folder.is_dir() {
            let problem = "this is a file, but the output must be a folder";
            let error = io::Error::new(io::ErrorKind::NotADirectory, problem);
            return Err(Error::io(Place::file(folder), error));
        }
        fs::create_dir_all(parent).map_err(|e| Error::io(Place::file(parent), e))?;
        // Inside the folder, the files are on its file system, so that they can be moved.
        let temporary = Temporary::folder_in(if inside { folder } else { parent })?;
        Ok(Self { folder: folder.to_owned(), temporary, inside, names: Vec::new() })
    }

    /// Writes one file. Files get their names in the order in which they are written.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn write(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let mut file = self.create(name)?;
        file.write(content)?;
        file.finish()
    }

    /// Begins a file that is written piece by piece. [`StagedFile::finish`] completes it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be made.
    pub fn create(&mut self, name: &str) -> Result<StagedFile> {
        let place = Place::file(self.folder.join(name));
        let file = File::create_new(self.temporary.path().join(name))
            .map_err(|e| Error::io(place.clone(), e))?;
        self.names.push(name.to_owned());
        Ok(StagedFile { file: BufWriter::new(file), place })
    }

    /// The paths that the files will have.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.names.iter().map(|name| self.folder.join(name)).collect()
    }

    /// Gives the files their names, and returns their paths.
    ///
    /// `older` names files of the folder that belong to what is replaced. They are removed before
    /// anything else happens, in this order, unless they are among the files that are written; the
    /// first of them is removed in any case. If the first is the mark that says that the folder is
    /// complete, and it is written last, then a program that is killed in between leaves a folder
    /// without the mark, and never a mixture that looks complete.
    ///
    /// # Errors
    /// Returns an error if a file is read-only or not a file, in which case nothing has changed, if
    /// another program is writing into the folder, or if the file system refuses a step.
    pub fn commit(self, older: &[String]) -> Result<Vec<PathBuf>> {
        let paths = self.paths();
        if !self.inside {
            self.temporary.persist(&self.folder)?;
            return Ok(paths);
        }
        let _lock = FolderLock::take(&self.folder)?;
        self.check_targets(older)?;
        for (name, path) in self.names.iter().zip(&paths) {
            if let Ok(there) = path.metadata() {
                fs::set_permissions(self.temporary.path().join(name), there.permissions())
                    .map_err(|e| Error::io(Place::file(path), e))?;
            }
        }
        uninterrupted(|| -> Result<()> {
            for path in &self.removed(older) {
                // A link stays, because the file that it points to is written again or is not ours.
                if !path.is_symlink() {
                    fs::remove_file(path).map_err(|e| Error::io(Place::file(path), e))?;
                }
            }
            for (name, path) in self.names.iter().zip(&paths) {
                place(&self.temporary.path().join(name), path)?;
            }
            Ok(())
        })?;
        Ok(paths)
    }

    /// The files that are removed before others get their names.
    fn removed(&self, older: &[String]) -> Vec<PathBuf> {
        let removed = older.iter().enumerate();
        let removed = removed.filter(|(at, name)| *at == 0 || !self.names.contains(name));
        removed.map(|(_, name)| self.folder.join(name)).filter(|path| path.is_file()).collect()
    }

    /// Refuses to replace or to remove what is read-only or not a file. [`StagedFolder::commit`]
    /// does the same; a caller who has other things to do before can ask earlier.
    ///
    /// # Errors
    /// Returns an error about the first such file.
    pub fn check_targets(&self, older: &[String]) -> Result<()> {
        self.paths().iter().chain(&self.removed(older)).try_for_each(|path| check_replaceable(path))
    }

    /// Refuses to replace or to remove files that are also inputs.
    ///
    /// # Errors
    /// Returns an error about the first file that is an input, also under another name.
    pub fn check_inputs(&self, inputs: &[&Path], older: &[String]) -> Result<()> {
        let mut outputs = self.paths();
        let removed = older.iter().filter(|name| !self.names.contains(name));
        outputs.extend(removed.map(|name| self.folder.join(name)));
        let outputs: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
        distinct(&outputs, inputs)
    }
}

/// A file of a [`StagedFolder`] that is written piece by piece.
pub struct StagedFile {
    file: BufWriter<File>,
    place: Place,
}

impl StagedFile {
    /// Appends to the file.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn write(&mut self, content: &[u8]) -> Result<()> {
        self.file.write_all(content).map_err(|e| Error::io(self.place.clone(), e))
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn finish(self) -> Result<()> {
        let Self { mut file, place } = self;
        let synced = file.flush().and_then(|()| file.get_ref().sync_all());
        synced.map_err(|e| Error::io(place, e))
    }
}

/// Refuses a path that is there and is no file, or a file that must not be written to.
fn check_replaceable(path: &Path) -> Result<()> {
    let failed = |e| Error::io(Place::file(path), e);
    match path.metadata() {
        Ok(there) if there.is_file() => check_writable(path, &there).map_err(failed),
        Ok(_) => Err(failed(io::Error::other("this is not a file, so it cannot be replaced"))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(failed(e)),
    }
}

/// Moves a complete file to its place. Through a link, the content goes to the file that the link
/// points to, which may be on another file system.
fn place(staged: &Path, path: &Path) -> Result<()> {
    let failed = |e| Error::io(Place::file(path), e);
    if !path.is_symlink() {
        return fs::rename(staged, path).map_err(failed);
    }
    let mut out = AtomicFile::create(path)?;
    let mut content = File::open(staged).map_err(failed)?;
    io::copy(&mut content, &mut out).map_err(failed)?;
    out.commit()
}
