//! Where the scores of every story go: a file with its header, or standard output.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use anyhow::Context;
use storymeter::core::write::ScoreLines;
use storymeter::core::{AtomicFile, Header};

/// A file, or standard output once all lines are there.
pub(super) enum Sink {
    File(AtomicFile),
    /// What goes to standard output waits here: an error in the middle must not leave half of it.
    Spool(BufWriter<File>),
}

impl Sink {
    /// Opens the output and writes what stands before the first line.
    pub(super) fn open(path: Option<&Path>, lines: &ScoreLines) -> anyhow::Result<Self> {
        let mut sink = match path {
            Some(path) if path != Path::new("-") => Self::File(AtomicFile::create(path)?),
            _ => Self::Spool(BufWriter::new(
                tempfile::tempfile().context("cannot put the scores aside")?,
            )),
        };
        let mut begin = Vec::new();
        lines.begin(&mut begin)?;
        sink.write(&begin)?;
        Ok(sink)
    }

    /// Writes finished lines.
    pub(super) fn write(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        let out: &mut dyn Write = match self {
            Self::File(file) => file,
            Self::Spool(spool) => spool,
        };
        out.write_all(lines).context("cannot write the scores")
    }

    /// Gives the file its name and writes its header, or writes everything to standard output.
    pub(super) fn finish(self, header: &Header) -> anyhow::Result<()> {
        match self {
            Self::File(file) => header.commit(file)?,
            Self::Spool(spool) => {
                let mut file = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.rewind()?;
                io::copy(&mut file, &mut io::stdout().lock())?;
            }
        }
        Ok(())
    }
}
