//! Writes results to standard output, or to a file that is complete or not there.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;

use storymeter::core::AtomicFile;

/// The place that results are written to.
pub enum Output {
    /// Standard output, buffered.
    Stdout(BufWriter<StdoutLock<'static>>),
    /// A file that gets its name at [`Output::finish`].
    File(AtomicFile),
}

impl Output {
    /// The file `path`, or standard output for `None` and `-`.
    pub fn open(path: Option<&Path>) -> storymeter::core::Result<Self> {
        match path {
            Some(path) if path != Path::new("-") => AtomicFile::create(path).map(Self::File),
            _ => Ok(Self::Stdout(BufWriter::with_capacity(1 << 16, io::stdout().lock()))),
        }
    }

    /// Writes what is still buffered, and gives a file its name.
    pub fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout(mut out) => out.flush()?,
            Self::File(file) => file.commit()?,
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(buf),
            Self::File(file) => file.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
        }
    }
}
