//! Writes results to standard output or to a file, whole or not at all.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Seek as _, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use storymeter_core::file::uninterrupted;
use storymeter_core::{AtomicFile, terminal};
use tempfile::SpooledTempFile;

use crate::{closed_stdout, progress};

/// As much of an output as is kept in memory until it is complete. More goes to a temporary file
/// without a name.
const IN_MEMORY: usize = 1 << 20;

/// The place that results are written to.
///
/// Nothing appears there before [`Output::finish`], so that an error in the middle leaves no half
/// of a result behind.
pub enum Output {
    /// Standard output.
    Stdout(SpooledTempFile, Reader),
    /// A file that gets its name at the end.
    File(AtomicFile),
}

/// Whom an output on standard output is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// People. Texts of users in it are already [`terminal::plain`].
    Person,
    /// Programs, which get texts of users as they are. On a terminal they are made plain.
    Program,
}

impl Output {
    /// The file `path`, or standard output for `None` and its names.
    pub fn open(path: Option<&Path>, reader: Reader) -> anyhow::Result<Self> {
        match path {
            Some(path) if !is_stdout(path) => Ok(Self::File(AtomicFile::create(path)?)),
            _ if closed_stdout::was_closed() => bail!("standard output is closed"),
            _ => Ok(Self::Stdout(SpooledTempFile::new(IN_MEMORY), reader)),
        }
    }

    /// Prints a text for people.
    pub fn print(text: &str) -> anyhow::Result<()> {
        let mut output = Self::open(None, Reader::Person)?;
        output.write_all(text.as_bytes())?;
        output.finish()
    }

    /// Prints data for programs.
    pub fn print_data(text: &str) -> anyhow::Result<()> {
        let mut output = Self::open(None, Reader::Program)?;
        output.write_all(text.as_bytes())?;
        output.finish()
    }

    /// Writes as much as can be written before the end, so that [`Output::finish`] will hardly
    /// fail. A verb with several outputs does this with all of them before it finishes the first,
    /// so that a full disk leaves none.
    pub fn prepare(&mut self) -> anyhow::Result<()> {
        match self {
            Self::File(file) => Ok(file.sync()?),
            Self::Stdout(..) => Ok(()),
        }
    }

    /// Does the same as [`Output::finish`], together with what gives other files their names. An
    /// interruption comes before all of them have their names or after that. If standard output
    /// cannot be written, the others get no names.
    pub fn finish_with(self, others: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
        match self {
            Self::File(file) => uninterrupted(|| {
                others()?;
                Ok(file.commit()?)
            }),
            // Nobody knows how long its reader takes.
            Self::Stdout(..) => {
                let written = self.finish();
                if !failed(&written) {
                    others()?;
                }
                written
            }
        }
    }

    /// Writes everything, and gives a file its name.
    pub fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::File(file) => Ok(file.commit()?),
            Self::Stdout(mut spool, reader) => {
                spool.rewind().context(SPOOL)?;
                let stdout = io::stdout().lock();
                let shown = reader == Reader::Program && stdout.is_terminal();
                let written = progress::beside(|| match shown {
                    true => copy_plain(spool, stdout),
                    false => copy(spool, stdout),
                });
                match written {
                    Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(ReaderHasLeft.into()),
                    written => written.context("standard output"),
                }
            }
        }
    }
}

/// Whether a path is a name of standard output. Opened by one of its names, a standard output that
/// is a file would be written to from its beginning, over what is there.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// The name by which the file that standard output was sent to (`> FILE`) can be compared with
/// inputs.
pub fn stdout_path() -> &'static Path {
    Path::new("/dev/stdout")
}

/// Standard output as a file, for lines that must appear at once.
pub fn stdout_file() -> io::Result<File> {
    #[cfg(unix)]
    let handle = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    #[cfg(windows)]
    let handle = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    Ok(File::from(handle))
}

const SPOOL: &str = "the temporary file for standard output";

fn copy(mut from: SpooledTempFile, mut to: impl Write) -> io::Result<()> {
    io::copy(&mut from, &mut to)?;
    to.flush()
}

/// Copies lines to a terminal, which must not obey what is in them.
fn copy_plain(from: SpooledTempFile, mut to: impl Write) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(terminal::plain_lines(&String::from_utf8_lossy(&line)).as_bytes())?;
        line.clear();
    }
    to.flush()
}

impl Write for Output {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(spool, _) => spool.write(buffer),
            Self::File(file) => file.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(spool, _) => spool.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// Whether an output on standard output failed. A reader that has left has what it wanted, so the
/// other outputs are still kept.
pub fn failed(printed: &anyhow::Result<()>) -> bool {
    printed.as_ref().is_err_and(|error| !error.is::<ReaderHasLeft>())
}

/// The reader of standard output went away before it had everything, as `| head` does. It has what
/// it wanted, so this is not an error of the program.
#[derive(Debug)]
pub struct ReaderHasLeft;

impl std::fmt::Display for ReaderHasLeft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the reader of standard output has left")
    }
}

impl std::error::Error for ReaderHasLeft {}
