//! How the lines of a file are cut into records.

use std::path::Path;

use super::delimited::{self, Dialect};
use super::lines::{Line, LineReader, is_blank};
use super::utf8::utf8;
use super::{hanna, text, writing_prompts};
use crate::{Error, Place, Result};

/// A record cut out of lines: the line on which it begins, and its bytes or what is wrong with it.
pub(super) struct Cut {
    pub line: u64,
    pub body: std::result::Result<Vec<u8>, String>,
}

/// How the lines of a file become records.
pub(super) enum Cutter {
    /// One record per line. Blank lines count in a layout whose records are joined with others by
    /// their order.
    Line {
        blank: bool,
    },
    /// Fields in quotation marks may span lines.
    Quoted {
        delimiter: u8,
    },
    /// The whole file is one record. An empty file is an empty story if it has a name.
    Whole {
        named: bool,
        done: bool,
    },
    Block,
    RocBlock,
    Pair(LineReader),
    Hanna(hanna::Grouper),
}

/// The header of a file and its place; `None` for an empty file.
pub(super) fn first_record(
    lines: &mut LineReader,
    dialect: Dialect,
    path: &Path,
) -> Result<Option<(String, Place)>> {
    let cut = Cutter::of(dialect).next(lines)?;
    let Some(Cut { line, body }) = cut else { return Ok(None) };
    let place = Place::file(path).at_line(line);
    match body {
        Ok(bytes) => Ok(Some((utf8(bytes, &place)?, place))),
        Err(problem) => Err(Error::invalid(place, problem)),
    }
}

impl Cutter {
    /// How a table is cut.
    pub fn of(dialect: Dialect) -> Self {
        if dialect.quoted {
            Self::Quoted { delimiter: dialect.delimiter }
        } else {
            Self::Line { blank: false }
        }
    }

    pub fn next(&mut self, lines: &mut LineReader) -> Result<Option<Cut>> {
        match self {
            Self::Line { blank } => one_line(lines, *blank),
            Self::Quoted { delimiter } => delimited::cut_quoted(lines, *delimiter),
            Self::Whole { done: true, .. } => Ok(None),
            Self::Whole { named, done } => {
                *done = true;
                let empty = || Cut { line: 1, body: Ok(Vec::new()) };
                Ok(text::cut_whole(lines)?.or_else(|| named.then(empty)))
            }
            Self::Block => text::cut_block(lines),
            Self::RocBlock => text::cut_roc_block(lines),
            Self::Pair(prompts) => writing_prompts::cut_pair(prompts, lines),
            Self::Hanna(grouper) => grouper.next(lines),
        }
    }
}

/// The next line as a record. Blank lines are skipped unless `blank` is set.
fn one_line(lines: &mut LineReader, blank: bool) -> Result<Option<Cut>> {
    loop {
        let body = match lines.next()? {
            None => return Ok(None),
            Some(Line::Broken(problem)) => Err(problem),
            Some(Line::Text(bytes)) if !blank && is_blank(&bytes) => continue,
            Some(Line::Text(bytes)) => Ok(bytes),
        };
        return Ok(Some(Cut { line: lines.number(), body }));
    }
}
