//! Checksums of files: whether the bytes are still those that were written.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{Error, Place, Result};

/// The number of bytes of a file and their SHA-256 sum, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checksum {
    /// The number of bytes.
    pub bytes: u64,
    /// The sum.
    pub sha256: String,
}

impl Checksum {
    /// Reads a file to its end.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// let path = dir.path().join("a.txt");
    /// std::fs::write(&path, "abc")?;
    /// let sum = storymeter_core::file::Checksum::of(&path)?;
    /// assert_eq!(sum.bytes, 3);
    /// assert!(sum.sha256.starts_with("ba7816bf8f01cfea"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if it is not an ordinary file or cannot be read.
    pub fn of(path: &Path) -> Result<Self> {
        let failed = |e| Error::io(Place::file(path), e);
        // A pipe would be waited for.
        if !path.metadata().map_err(failed)?.is_file() {
            return Err(Error::invalid(Place::file(path), "this is not an ordinary file"));
        }
        let mut file = Hashed::new(File::open(path).map_err(failed)?);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(file.finish().1),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(failed(e)),
            }
        }
    }
}

/// A reader or writer whose bytes are counted and hashed as they pass.
///
/// ```
/// use std::io::Write;
/// use storymeter_core::file::Hashed;
/// let mut out = Hashed::new(Vec::new());
/// out.write_all(b"abc")?;
/// let (written, sum) = out.finish();
/// assert_eq!((written.as_slice(), sum.bytes), (b"abc".as_slice(), 3));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Hashed<T> {
    inner: T,
    bytes: u64,
    hash: Sha256,
}

impl<T> Hashed<T> {
    /// Nothing has passed yet.
    pub fn new(inner: T) -> Self {
        Self { inner, bytes: 0, hash: Sha256::new() }
    }

    /// The reader or writer itself. What is read or written there does not count.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// The reader or writer, and the checksum of what passed.
    pub fn finish(self) -> (T, Checksum) {
        let sha256 = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        (self.inner, Checksum { bytes: self.bytes, sha256 })
    }

    fn pass(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.pass(&buffer[..read]);
        Ok(read)
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.pass(&buffer[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
