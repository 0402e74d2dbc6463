//! Writes stories and scores: as JSONL, which is read back without loss, or as CSV for
//! spreadsheets. Scores are also written as Parquet, without loss.
//!
//! In CSV, texts that a spreadsheet would run as formulas are marked, unless the caller asks for
//! raw cells ([`spreadsheet`](crate::spreadsheet)).
//!
//! Everything goes to any [`Write`], and numbers have full precision. With an
//! [`AtomicFile`](crate::AtomicFile) the output is complete or not there.

mod csv;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod scores;

pub(crate) use csv::STORY_HEADER;
#[cfg(feature = "parquet")]
pub(crate) use parquet::{ABSENT, EXPLANATION, HEADER_KEY};
pub(crate) use scores::{FLAGS, WORDS};
pub use scores::{ScoreFormat, ScoreLine, ScoreLines, ScorePart, ScoreWriter};

use std::io::{self, Write};

use crate::Story;
use crate::spreadsheet::TextCells;

/// A layout that stories are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One JSON object per line, with everything that is known about the story.
    Jsonl,
    /// One record per story. It has no ratings, and only the first of several references.
    Csv,
}

/// Writes stories one after the other.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use storymeter_core::Story;
/// use storymeter_core::write::{Layout, StoryWriter};
/// let mut writer = StoryWriter::new(Vec::new(), Layout::Jsonl)?;
/// writer.write(&Story { id: "7".into(), text: "A door opened.".into(), ..Story::default() })?;
/// assert_eq!(writer.finish()?, b"{\"id\":\"7\",\"story\":\"A door opened.\"}\n");
/// # Ok(())
/// # }
/// ```
pub struct StoryWriter<W: Write> {
    out: W,
    layout: Layout,
    text: TextCells,
}

impl<W: Write> StoryWriter<W> {
    /// Begins the output. CSV begins with the names of the columns.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn new(mut out: W, layout: Layout) -> io::Result<Self> {
        if layout == Layout::Csv {
            writeln!(out, "{STORY_HEADER}")?;
        }
        Ok(Self { out, layout, text: TextCells::default() })
    }

    /// The same writer, which marks text cells of CSV or leaves them raw.
    #[must_use]
    pub fn text_cells(mut self, text: TextCells) -> Self {
        self.text = text;
        self
    }

    /// Appends a story.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write(&mut self, story: &Story) -> io::Result<()> {
        match self.layout {
            Layout::Jsonl => jsonl::write(&mut self.out, story),
            Layout::Csv => csv::write(&mut self.out, story, self.text),
        }
    }

    /// Flushes the output and returns it, for [`AtomicFile::commit`](crate::AtomicFile::commit).
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
