//! Writes the scores of every story to a file with its header, or to standard output.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use storymeter::core::write::ScoreLines;
use storymeter::core::{AtomicFile, Header};

use crate::output::{Output, Reader};

/// The output of the scores.
pub(super) enum Sink {
    File(AtomicFile),
    Stdout(Output),
}

impl Sink {
    /// Opens the output and writes what comes before the first line.
    pub(super) fn open(path: Option<&Path>, lines: &ScoreLines) -> anyhow::Result<Self> {
        let mut sink = match path {
            Some(path) => Self::File(AtomicFile::create(path)?),
            None => Self::Stdout(Output::open(None, Reader::Program)?),
        };
        let mut begin = Vec::new();
        lines.begin(&mut begin)?;
        sink.write(&begin)?;
        Ok(sink)
    }

    /// Writes finished lines.
    pub(super) fn write(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::File(file) => {
                let written = file.write_all(lines);
                written
                    .with_context(|| format!("{}: cannot write the scores", file.path().display()))
            }
            Self::Stdout(output) => output.write_all(lines).context("cannot write the scores"),
        }
    }

    /// Writes as much as can be written before the end ([`Output::prepare`]).
    pub(super) fn prepare(&mut self) -> anyhow::Result<()> {
        match self {
            Self::File(file) => Ok(file.sync()?),
            Self::Stdout(output) => output.prepare(),
        }
    }

    /// Gives the file its name and writes its header, or writes all lines to standard output.
    pub(super) fn finish(self, header: &Header) -> anyhow::Result<()> {
        match self {
            Self::File(file) => Ok(header.commit(file)?),
            Self::Stdout(output) => output.finish(),
        }
    }
}
