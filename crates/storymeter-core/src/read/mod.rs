//! Reading stories: any of the layouts in [`Format`], gzipped or not, as a stream in input order.
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("stories.jsonl");
//! # std::fs::write(&path, "{\"story\": \"A door opened.\"}\n")?;
//! use storymeter_core::read::{ReadOptions, open};
//! for record in open(&[path], &ReadOptions::default())? {
//!     let record = record?;
//!     assert_eq!((record.story.id.as_str(), record.story.text.as_str()), ("0", "A door opened."));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Memory is bounded by the longest record, not by the input. A pipeline that wants to parse on several
//! threads takes [`RawRecords`] (cutting, sequential and cheap) and calls [`RawRecord::parse`] where it likes;
//! [`Skipped::admit`] then decides about bad records as [`StoryReader`] would.
//!
//! Common to all text layouts: UTF-8, with or without a byte order mark; lines end in `\n` or `\r\n`; a line,
//! or a record of several lines, has at most [`ReadOptions::max_line`] bytes (64 MiB unless said otherwise).

mod delimited;
mod format;
mod hanna;
mod jsonl;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod raw;
mod scores;
mod source;
mod text;
mod union;
mod writing_prompts;

use std::io::Read;
use std::path::{Path, PathBuf};

pub use format::{Format, UnknownFormat};
pub use raw::{RawRecord, RawRecords};
pub use scores::{hanna_metric_name, hanna_scores, scores, scores_from};

use crate::{Place, Result, Story};

/// How to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The layout; `None` finds it from each file's name and content.
    pub format: Option<Format>,
    /// Pass over bad records and count them, instead of stopping at the first one.
    pub skip_bad: bool,
    /// Let stories without any text pass: a system that wrote nothing is scored, too. They are bad otherwise.
    pub allow_empty: bool,
    /// The most bytes a record may have. A longer one is bad, and is never held in memory.
    pub max_line: usize,
    /// The number of the first record: not 0 where a corpus is worked on in parts.
    pub record_offset: u64,
    /// WritingPrompts stories are cut at the last sentence end within so many words (UNION, section 4.2).
    pub max_words: usize,
    /// Where standard input was put aside, if it was: `-` is read from there, as often as needed, and is still
    /// called standard input.
    pub spooled_stdin: Option<PathBuf>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            skip_bad: false,
            allow_empty: false,
            max_line: 64 << 20,
            record_offset: 0,
            max_words: 200,
            spooled_stdin: None,
        }
    }
}

/// A story and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The story; its id is the record number where the input gives none.
    pub story: Story,
    /// The 0-based number of the record in the whole input, bad ones counted.
    pub number: u64,
    /// The file, and the 1-based line the record begins on.
    pub place: Place,
}

/// Opens files, folders and standard input (`-`) as one stream of stories.
///
/// A folder stands for the files in it that have the name of a known format, sorted by name. An input without
/// any story is an error.
pub fn open(inputs: &[PathBuf], options: &ReadOptions) -> Result<StoryReader> {
    Ok(StoryReader::new(RawRecords::open(inputs, options)?, options))
}

/// Reads stories from any stream, under a name that stands in errors and helps to find the format. It may be
/// gzipped. WritingPrompts and Parquet, which are not one stream, are read from files of that name.
///
/// ```
/// use storymeter_core::read::{ReadOptions, from_reader};
/// let text = "A door opened.\n\nA cat came in.\n".as_bytes();
/// assert_eq!(from_reader("stories.txt", text, &ReadOptions::default()).count(), 2);
/// ```
pub fn from_reader(
    name: impl AsRef<Path>,
    input: impl Read + Send + 'static,
    options: &ReadOptions,
) -> StoryReader {
    StoryReader::new(RawRecords::from_reader(name.as_ref(), input, options), options)
}

/// Stories in input order; made by [`open`] and [`from_reader`]. The first error is the last item.
pub struct StoryReader {
    raw: RawRecords,
    skip_bad: bool,
    skipped: Skipped,
    ended: bool,
}

impl StoryReader {
    fn new(raw: RawRecords, options: &ReadOptions) -> Self {
        Self { raw, skip_bad: options.skip_bad, skipped: Skipped::default(), ended: false }
    }

    /// The bad records passed over so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn next_record(&mut self) -> Result<Option<Record>> {
        for raw in self.raw.by_ref() {
            if let Some(record) = self.skipped.admit(raw?.parse(), self.skip_bad)? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

impl Iterator for StoryReader {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_record().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// What was passed over: how many records, and what was wrong with the first few.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub count: u64,
    /// The first [`Skipped::REMEMBERED`] errors, as they would have been shown.
    pub messages: Vec<String>,
}

impl Skipped {
    /// How many messages are kept.
    pub const REMEMBERED: usize = 5;

    /// Lets a good record pass; a bad one is counted where `skip_bad` says so, and is the error otherwise.
    pub fn admit(&mut self, record: Result<Record>, skip_bad: bool) -> Result<Option<Record>> {
        match record {
            Ok(record) => Ok(Some(record)),
            Err(e) if skip_bad => {
                self.count += 1;
                if self.messages.len() < Self::REMEMBERED {
                    self.messages.push(e.to_string());
                }
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Adds what was passed over in a later part of the input.
    pub fn merge(&mut self, later: Self) {
        self.count += later.count;
        self.messages.extend(later.messages);
        self.messages.truncate(Self::REMEMBERED);
    }
}
