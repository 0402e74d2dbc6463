//! Writes the scores of every story to a file with its header, or to standard output.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use storymeter::core::file::Hashed;
use storymeter::core::write::{ScoreFormat, ScoreLines, ScorePart, ScoreWriter};
use storymeter::core::{AtomicFile, Header};

use crate::output::{Output, Reader};

/// The output of the scores, to which parts are added.
pub(super) enum Sink {
    File(ScoreWriter<Hashed<AtomicFile>>, String),
    Stdout(ScoreWriter<Output>),
}

impl Sink {
    /// Opens the output and begins the file.
    pub(super) fn open(path: Option<&Path>, lines: &ScoreLines) -> anyhow::Result<Self> {
        let Some(path) = path else {
            if lines.format() == ScoreFormat::Parquet && io::stdout().is_terminal() {
                bail!("Parquet is not made for terminals; name a file with -o");
            }
            let output = Output::open(None, Reader::Program)?;
            return Ok(Self::Stdout(ScoreWriter::new(output, lines)?));
        };
        let name = path.display().to_string();
        let file = ScoreWriter::new(Hashed::new(AtomicFile::create(path)?), lines);
        Ok(Self::File(file.with_context(|| failed(&name))?, name))
    }

    /// Writes finished lines.
    pub(super) fn write(&mut self, part: ScorePart) -> anyhow::Result<()> {
        match self {
            Self::File(file, name) => file.write(part).with_context(|| failed(name)),
            Self::Stdout(output) => output.write(part).context("cannot write the scores"),
        }
    }

    /// Ends the file and writes as much as can be written before it gets its name
    /// ([`Output::prepare`]).
    pub(super) fn complete(self, header: &Header) -> anyhow::Result<Complete> {
        match self {
            Self::File(file, name) => {
                let mut file = file.finish(header).with_context(|| failed(&name))?;
                file.get_mut().sync()?;
                Ok(Complete::File(file))
            }
            Self::Stdout(output) => {
                let mut output = output.finish(header).context("cannot write the scores")?;
                output.prepare()?;
                Ok(Complete::Stdout(output))
            }
        }
    }
}

fn failed(name: &str) -> String {
    format!("{name}: cannot write the scores")
}

/// An output to which all scores were written.
pub(super) enum Complete {
    File(Hashed<AtomicFile>),
    Stdout(Output),
}

impl Complete {
    /// Gives the file its name and writes its header, or writes everything to standard output.
    pub(super) fn finish(self, header: &Header) -> anyhow::Result<()> {
        match self {
            Self::File(file) => Ok(header.commit(file)?),
            Self::Stdout(output) => output.finish(),
        }
    }
}
