//! Writes the scores of every story to a file with its header, or to standard output.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use anyhow::Context;
use storymeter::core::write::ScoreLines;
use storymeter::core::{AtomicFile, Header};

/// The output of the scores.
pub(super) enum Sink {
    File(AtomicFile),
    /// A temporary file that is copied to standard output at the end, so that an error in the
    /// middle does not leave half of the scores there.
    Spool(BufWriter<File>),
}

impl Sink {
    /// Opens the output and writes what comes before the first line.
    pub(super) fn open(path: Option<&Path>, lines: &ScoreLines) -> anyhow::Result<Self> {
        let mut sink = match path {
            Some(path) => Self::File(AtomicFile::create(path)?),
            None => Self::Spool(BufWriter::new(
                tempfile::tempfile().context("cannot create a temporary file for the scores")?,
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

    /// Gives the file its name and writes its header, or copies all lines to standard output.
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
