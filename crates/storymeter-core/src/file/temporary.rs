//! Files and folders that go away by themselves.
//!
//! A value removes its file when it is dropped. That is not enough for a program that is
//! interrupted or killed:
//!
//! - All temporaries of the process are listed here, so that the program's handler of signals can
//!   remove them ([`remove_temporaries`]).
//! - Each one is locked while its program lives. A temporary without a lock was left by a program
//!   that was killed, and whoever next makes a temporary in that folder removes it.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

use super::folder::{list as list_of, remove};
use crate::{Error, Place, Result};

/// How often a temporary is made again that vanishes at once.
const TRIES: usize = 100;

/// How the names of temporaries begin and end.
const NAME: (&str, &str) = (".storymeter-", ".partial");

/// The temporaries of this process, and the folders that were searched for those of others.
static LIST: Mutex<List> = Mutex::new(List { paths: BTreeSet::new(), swept: BTreeSet::new() });

struct List {
    paths: BTreeSet<PathBuf>,
    swept: BTreeSet<PathBuf>,
}

fn list() -> MutexGuard<'static, List> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files and folders of this process, and lets nobody make new ones.
///
/// This is for a program that ends at once, because the user interrupted it. Outputs that are not
/// complete are gone, and older files of the same names are as they were. Any thread that makes or
/// drops a temporary afterwards waits for ever, so the caller must end the process.
///
/// Whoever gives names to files that belong together ([`uninterrupted`]) is waited for.
pub fn remove_temporaries() {
    let committing = COMMITTING.lock().unwrap_or_else(PoisonError::into_inner);
    let list = list();
    for path in &list.paths {
        // Another thread may still write into a folder while it is removed.
        let mut tries = 0..100;
        while !removed(path) && tries.next().is_some() {
            thread::sleep(Duration::from_millis(5));
        }
    }
    std::mem::forget((committing, list));
}

/// Removes a file or a folder. Returns whether it is gone.
fn removed(path: &Path) -> bool {
    remove(path).is_ok() || !path.exists()
}

/// Held by whoever must not be interrupted.
static COMMITTING: Mutex<()> = Mutex::new(());

thread_local! {
    /// Whether this thread holds [`COMMITTING`].
    static COMMITS: Cell<bool> = const { Cell::new(false) };
}

/// Does something that an interruption of the program ([`remove_temporaries`]) must wait for: the
/// few renames that give names to files that belong together. It must be short, and may call
/// itself.
pub fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    /// Lets others in, also after a panic.
    struct Over;
    impl Drop for Over {
        fn drop(&mut self) {
            COMMITS.set(false);
        }
    }
    if COMMITS.get() {
        return work();
    }
    let _committing = COMMITTING.lock().unwrap_or_else(PoisonError::into_inner);
    COMMITS.set(true);
    let _over = Over;
    work()
}

/// A temporary file or folder that is removed when it is dropped, when the program is interrupted
/// or, if the program was killed, by the next one that works in the same folder.
///
/// ```
/// # use std::io::Write;
/// # let dir = tempfile::tempdir()?;
/// use storymeter_core::file::Temporary;
/// let mut copy = Temporary::file_in(dir.path())?;
/// copy.write_all(b"kept for a second pass")?;
/// let path = copy.path().to_owned();
/// assert!(path.exists());
/// drop(copy);
/// assert!(!path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Temporary {
    kind: Kind,
    /// Dropped after the file is gone.
    listed: Listed,
}

enum Kind {
    File(NamedTempFile),
    /// The folder, and the handle that holds its lock.
    Folder(Folder, #[allow(dead_code, reason = "held for its lock")] Option<File>),
}

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        removed(&self.0);
    }
}

/// An entry of the list, which ends with the value.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        list().paths.remove(&self.0);
    }
}

impl Temporary {
    /// A file in a folder, which only this user can read. It is for copies of what the user has,
    /// which may be private.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created there.
    pub fn file_in(folder: &Path) -> Result<Self> {
        Self::file_with(folder, 0o600)
    }

    /// A file with the permissions of an ordinary new one. The umask still applies.
    pub(super) fn output_in(folder: &Path) -> Result<Self> {
        Self::file_with(folder, 0o666)
    }

    #[cfg_attr(not(unix), allow(unused_variables))]
    fn file_with(folder: &Path, mode: u32) -> Result<Self> {
        Self::make(folder, |builder| {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                builder.permissions(fs::Permissions::from_mode(mode));
            }
            let file = builder.tempfile_in(folder)?;
            // Without locks, the file is safe too: nobody removes what cannot be locked.
            let _ = file.as_file().lock();
            Ok(Kind::File(file))
        })
    }

    /// A folder in a folder.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created there.
    pub fn folder_in(folder: &Path) -> Result<Self> {
        Self::make(folder, |builder| {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                builder.permissions(fs::Permissions::from_mode(0o777));
            }
            let made = Folder(builder.tempdir_in(folder)?.keep());
            let lock = File::open(&made.0).ok();
            let _ = lock.as_ref().map(File::lock);
            Ok(Kind::Folder(made, lock))
        })
    }

    fn make(
        folder: &Path,
        create: impl Fn(&mut Builder<'_, '_>) -> io::Result<Kind>,
    ) -> Result<Self> {
        // The list stays locked, so that no signal comes between the creation and the entry.
        let mut list = list();
        if list.swept.insert(folder.to_owned()) {
            sweep(folder);
        }
        let failed = |e| Error::io(Place::file(folder), bare(e));
        for _ in 0..TRIES {
            let mut builder = Builder::new();
            builder.prefix(NAME.0).suffix(NAME.1);
            let kind = create(&mut builder).map_err(failed)?;
            let path = kind.path().to_owned();
            // Another program may have removed the file in the moment before it was locked.
            if path.try_exists().map_err(failed)? {
                list.paths.insert(path.clone());
                return Ok(Self { kind, listed: Listed(path) });
            }
        }
        Err(failed(io::Error::other("new files in this folder vanish at once")))
    }

    /// Where the file or folder is.
    pub fn path(&self) -> &Path {
        self.kind.path()
    }

    /// The file, if it is one.
    pub(super) fn as_file(&self) -> Option<&File> {
        match &self.kind {
            Kind::File(file) => Some(file.as_file()),
            Kind::Folder(..) => None,
        }
    }

    /// Gives the file or folder a name of its own in one step, so that it stays. A file of that
    /// name is replaced.
    ///
    /// # Errors
    /// Returns an error if the file system refuses. The temporary is removed then.
    pub fn persist(self, path: &Path) -> Result<()> {
        let failed = |e| Error::io(Place::file(path), e);
        let Self { kind, listed } = self;
        match kind {
            Kind::File(file) => {
                file.persist(path).map_err(|e| failed(e.error))?;
            }
            Kind::Folder(folder, _) => {
                fs::rename(&folder.0, path).map_err(failed)?;
                // Nothing is there any more that could be removed.
                std::mem::forget(folder);
            }
        }
        drop(listed);
        Ok(())
    }
}

impl Kind {
    fn path(&self) -> &Path {
        match self {
            Self::File(file) => file.path(),
            Self::Folder(folder, _) => &folder.0,
        }
    }
}

impl Write for Temporary {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::File(file) => file.as_file_mut().write(buffer),
            Kind::Folder(..) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::File(file) => file.as_file_mut().flush(),
            Kind::Folder(..) => Ok(()),
        }
    }
}

/// The error without the name of the temporary file, which means nothing to the user. The tempfile
/// crate adds it, and keeps the error of the system to itself.
fn bare(error: io::Error) -> io::Error {
    let message = error.to_string();
    match message.split_once(" at path ") {
        Some((problem, _)) => io::Error::new(error.kind(), problem.to_owned()),
        None => error,
    }
}

/// Removes the temporaries of programs that were killed: those whose lock is free.
fn sweep(folder: &Path) {
    for path in list_of(folder).unwrap_or_default() {
        let ours = path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(NAME.0) && name.ends_with(NAME.1));
        let real = path.symlink_metadata().is_ok_and(|there| there.is_file() || there.is_dir());
        if ours && real && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            removed(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_together_is_not_interrupted_and_may_have_parts() {
        use std::sync::mpsc::channel;
        let (begun, has_begun) = channel();
        let (interrupt, interrupted) = channel();
        let worker = thread::spawn(move || {
            uninterrupted(|| {
                uninterrupted(|| begun.send(()).unwrap());
                // The interruption waits, although the inner part is over.
                thread::sleep(Duration::from_millis(50));
                assert!(interrupted.try_recv().is_err());
            });
        });
        has_begun.recv().unwrap();
        let committing = COMMITTING.lock().unwrap();
        interrupt.send(()).ok();
        drop(committing);
        worker.join().unwrap();
    }

    #[test]
    fn a_folder_whose_files_vanish_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let vanishing = |builder: &mut Builder<'_, '_>| {
            let file = builder.tempfile_in(dir.path())?;
            fs::remove_file(file.path())?;
            Ok(Kind::File(file))
        };
        let error = Temporary::make(dir.path(), vanishing).err().unwrap().to_string();
        assert!(error.ends_with("new files in this folder vanish at once"), "{error}");
        // A folder that cannot be looked into, although files can be made in it.
        let file = |builder: &mut Builder<'_, '_>| {
            let file = builder.tempfile_in(dir.path())?;
            let long = dir.path().join("x".repeat(300));
            let (file, _) = file.into_parts();
            Ok(Kind::File(NamedTempFile::from_parts(
                file,
                tempfile::TempPath::try_from_path(long)?,
            )))
        };
        let error = Temporary::make(dir.path(), file).err().unwrap().to_string();
        assert!(error.contains("File name too long"), "{error}");
    }
}
