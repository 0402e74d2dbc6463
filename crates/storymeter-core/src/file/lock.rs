//! Keeps two programs from writing into one folder.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Place, Result};

/// A folder that this program alone writes to, until the value is dropped or the program ends.
///
/// The lock belongs to the folder itself and leaves no file behind. Where the file system cannot
/// lock folders, the value protects nothing.
#[derive(Debug)]
pub struct FolderLock {
    _folder: Option<File>,
}

impl FolderLock {
    /// Locks a folder that exists.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// use storymeter_core::file::FolderLock;
    /// let first = FolderLock::take(dir.path())?;
    /// assert!(FolderLock::take(dir.path()).is_err());
    /// drop(first);
    /// assert!(FolderLock::take(dir.path()).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if another program, or another part of this one, has the lock.
    pub fn take(folder: &Path) -> Result<Self> {
        let Ok(file) = File::open(folder) else { return Ok(Self { _folder: None }) };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let problem = "another run is writing into this folder; wait until it has ended, \
                               or name another folder";
                Err(Error::invalid(Place::file(folder), problem))
            }
            Ok(()) => Ok(Self { _folder: Some(file) }),
            Err(TryLockError::Error(_)) => Ok(Self { _folder: None }),
        }
    }

    /// Locks a folder as soon as it is free, but at most for as long as `patience` lasts: a program
    /// that holds the lock for hours does something else there.
    pub fn wait(folder: &Path, patience: Duration) -> Option<Self> {
        let start = Instant::now();
        loop {
            match Self::take(folder) {
                Ok(lock) => return Some(lock),
                Err(_) if start.elapsed() >= patience => return None,
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}
