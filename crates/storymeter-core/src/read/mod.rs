//! Reads stories in any layout of [`Format`], compressed or not, as a stream in input order.
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
//! Memory is bounded by the longest record, not by the size of the input. A program that wants to
//! parse on several threads takes [`RawRecords`], which cuts the input into records on one thread
//! at little cost, and calls [`RawRecord::into_parsed`] on any thread. A [`RecordChecker`] then
//! takes the records in order. It skips bad ones, checks the ids and counts, as [`StoryReader`]
//! does.
//!
//! All text layouts are UTF-8, with or without a byte order mark. Lines end in `\n` or `\r\n`. A
//! record may have at most [`ReadOptions::max_line`] bytes, which are 64 MiB by default. NUL
//! characters are an error, except as `\u0000` in JSON.
//!
//! An input that is read twice must be a file, or be put aside first ([`put_aside`]).
//! [`Unchanged`] tells whether the files were the same both times.

mod ahead;
mod aside;
mod checker;
mod cutter;
mod delimited;
mod document;
mod errors;
mod fields;
mod format;
mod hanna;
mod header;
mod jsonl;
mod lines;
mod mags;
mod names;
mod node;
#[cfg(feature = "parquet")]
mod parquet;
mod raw;
mod rows;
mod sample;
mod scanner;
mod scores;
mod shown;
mod source;
mod summary;
mod text;
mod tools;
mod unchanged;
mod union;
mod utf8;
mod wide;
mod writing_prompts;

use std::io::Read;
use std::path::{Path, PathBuf};

pub use aside::put_aside;
pub use checker::{DuplicateIds, RecordChecker};
pub use errors::{ERROR_CRITERION, NO_ERROR_CRITERION};
pub(crate) use fields::problem as described;
pub use format::{Format, UnknownFormat};
pub use names::{Field, FieldNames, FieldUse};
#[cfg(feature = "parquet")]
pub use parquet::catches_panics;
pub use raw::{Parsed, RawRecord, RawRecords};
pub use rows::{RowFields, RowValue, Rows};
pub use scores::{
    ScoreField, explanations, hanna_metric_name, hanna_scores, is_score_table, join_scores,
    joined_scores, score_fields, scores, scores_from,
};
pub(crate) use shown::listed;
pub use summary::{OneText, Summary};
pub use unchanged::Unchanged;

use crate::{Place, Result, Story};

/// How stories are read.
///
/// ```
/// use storymeter_core::read::{Format, ReadOptions, from_reader};
/// let options = ReadOptions::default().with(|it| it.format = Some(Format::Lines));
/// let stories = from_reader("-", "A door opened.\nA cat came in.\n".as_bytes(), &options);
/// assert_eq!(stories.count(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The layout. `None` finds it from the name and the content of each file.
    pub format: Option<Format>,
    /// The names of fields and columns, where they are not the usual ones.
    pub fields: FieldNames,
    /// Whether tables have one column per system, and each row one story per system. The columns
    /// whose first cells look like stories are the systems; [`Summary`] names the others.
    pub wide: bool,
    /// The columns of a wide table that are the systems. If there are any, tables are wide.
    pub system_columns: Vec<String>,
    /// Whether plain text is a list of stories instead of one story: blocks if it has blank lines,
    /// and lines otherwise. That is how files of references are read.
    pub text_is_list: bool,
    /// What happens to a story whose id another story of the same system has.
    pub duplicates: DuplicateIds,
    /// Skip bad records and count them, instead of stopping at the first one.
    pub skip_bad: bool,
    /// Accept stories without any text, so that a system that wrote nothing is scored too.
    /// Otherwise such a story is a bad record.
    pub allow_empty: bool,
    /// Accept an input without any story, as one part of a larger corpus may be. Otherwise that is
    /// an error.
    pub allow_none: bool,
    /// The largest number of bytes that a record may have. A longer record is bad, and it is never
    /// held in memory.
    pub max_line: usize,
    /// The number of the first record. It is not 0 if the input is a later part of a larger corpus.
    pub record_offset: u64,
    /// WritingPrompts stories are cut at the last end of a sentence within this number of words
    /// (UNION, section 4.2).
    pub max_words: usize,
    /// Inputs that can be read only once, such as `-` or a pipe, and the files that hold copies of
    /// them ([`put_aside`]). The copy is read instead, as often as needed. The format is still
    /// found from the name of the input, and errors show that name.
    pub copies: Vec<(PathBuf, PathBuf)>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            fields: FieldNames::default(),
            wide: false,
            system_columns: Vec::new(),
            text_is_list: false,
            duplicates: DuplicateIds::Refuse,
            skip_bad: false,
            allow_empty: false,
            allow_none: false,
            max_line: 64 << 20,
            record_offset: 0,
            max_words: 200,
            copies: Vec::new(),
        }
    }
}

impl ReadOptions {
    /// The options after a change.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Which of these options decide what the stories are, as keys with values. An option with its
    /// usual value is left out.
    ///
    /// Stories that were read with other settings have other scores, so scores on disk keep the
    /// settings that they were made with. Nothing is said about options that a program sets
    /// according to what it does with the stories, and not according to what the user wants:
    /// whether bad records are skipped, and whether empty texts and empty inputs are accepted.
    ///
    /// ```
    /// use storymeter_core::read::ReadOptions;
    /// let options = ReadOptions::default().with(|it| it.fields.story = Some("tale".into()));
    /// assert_eq!(options.settings(), [("story", "tale".to_owned())]);
    /// ```
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        // All fields are named here, so that a new one cannot be forgotten.
        let Self {
            format,
            fields,
            wide,
            system_columns,
            text_is_list,
            duplicates,
            max_line,
            record_offset,
            max_words,
            skip_bad: _,
            allow_empty: _,
            allow_none: _,
            copies: _,
        } = self;
        let mut settings = Vec::new();
        let mut add = |key: &'static str, value: &str| settings.push((key, value.to_owned()));
        if let Some(format) = format {
            add("input-format", format.name());
        }
        for field in Field::ALL {
            fields.given(field).into_iter().for_each(|name| add(field.names()[0], name));
        }
        system_columns.iter().for_each(|name| add("system-column", name));
        for (key, is_set) in [("wide", *wide), ("text-is-list", *text_is_list)] {
            if is_set {
                add(key, "yes");
            }
        }
        if *duplicates != DuplicateIds::Refuse {
            add("duplicates", duplicates.name());
        }
        for (key, number, usual) in [
            ("max-line", *max_line as u64, usual.max_line as u64),
            ("record-offset", *record_offset, usual.record_offset),
            ("max-words", *max_words as u64, usual.max_words as u64),
        ] {
            if number != usual {
                add(key, &number.to_string());
            }
        }
        settings
    }

    /// Whether each row of a table has one story per system.
    fn is_wide(&self) -> bool {
        self.wide || !self.system_columns.is_empty()
    }
}

/// A story and its place in the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The story. If the input gives no id, the id is the number of the record.
    pub story: Story,
    /// The 0-based number of the record in the whole input. Bad records count too.
    pub number: u64,
    /// The file, and the 1-based line on which the record begins.
    pub place: Place,
}

/// Opens files, folders and standard input (`-`) as one stream of stories.
///
/// A folder stands for the files in it whose names belong to a known format, sorted by name. A
/// folder of such folders stands for their files, and the name of each folder is the system of the
/// stories that name none.
///
/// # Errors
/// Returns an error if a folder cannot be listed, has no file of stories, or has such files beside
/// folders with more of them. What is wrong with a file comes out of the stream; an input without
/// any story is such an error.
pub fn open(inputs: &[PathBuf], options: &ReadOptions) -> Result<StoryReader> {
    Ok(StoryReader::new(RawRecords::open(inputs, options)?, options))
}

/// The files that the inputs stand for, in order, each of which can be read on its own: a folder
/// stands for its files, as in [`open`].
///
/// # Errors
/// Returns an error if a folder cannot be listed, has no file of stories, or says which system
/// wrote them: its files do not know that without it.
pub fn files(inputs: &[PathBuf], format: Option<Format>) -> Result<Vec<PathBuf>> {
    let single = |found: source::Found| match found.system {
        Some(system) if !found.only_text || source::is_text(&found.path) => {
            let problem = format!(
                "the system of its stories is the name of the folder, \"{system}\", which the \
                 file alone does not say; name the system in the file"
            );
            Err(crate::Error::invalid(Place::file(found.path), problem))
        }
        _ => Ok(found.path),
    };
    source::expand(inputs, format)?.into_iter().map(single).collect()
}

/// Reads stories from any stream, compressed or not.
///
/// Errors show the name, and the format is found from it. WritingPrompts cannot be read from a
/// stream, so it is read from the files of that name.
///
/// ```
/// use storymeter_core::read::{ReadOptions, from_reader};
/// let table = "story\nA door opened.\nA cat came in.\n".as_bytes();
/// assert_eq!(from_reader("stories.csv", table, &ReadOptions::default()).count(), 2);
/// ```
pub fn from_reader(
    name: impl AsRef<Path>,
    input: impl Read + Send + 'static,
    options: &ReadOptions,
) -> StoryReader {
    StoryReader::new(RawRecords::from_reader(name.as_ref(), input, options), options)
}

/// Stories in input order, made by [`open`] and [`from_reader`]. The first error is the last item.
pub struct StoryReader {
    raw: RawRecords,
    checker: RecordChecker,
    end: End,
}

impl StoryReader {
    fn new(raw: RawRecords, options: &ReadOptions) -> Self {
        Self { raw, checker: RecordChecker::new(options), end: End::default() }
    }

    /// The bad records that were skipped so far.
    pub fn skipped(&self) -> &Skipped {
        self.checker.skipped()
    }

    /// What was read so far.
    pub fn summary(&self) -> Summary {
        self.checker.summary()
    }

    fn next_record(&mut self) -> Result<Option<Record>> {
        for raw in self.raw.by_ref() {
            if let Some(record) = self.checker.admit(raw?.into_parsed())? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

impl Iterator for StoryReader {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.end.is_reached() {
            return None;
        }
        let next = self.next_record();
        self.end.pass_on(next)
    }
}

/// Whether a stream of results is over: after its last item, or after its first error.
#[derive(Debug, Default)]
struct End(bool);

impl End {
    fn is_reached(&self) -> bool {
        self.0
    }

    /// The item of an iterator, remembering whether it is the last one.
    fn pass_on<T>(&mut self, next: Result<Option<T>>) -> Option<Result<T>> {
        self.0 = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

/// The bad records that were skipped: their number, and what was wrong with the first few.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// The number of skipped records.
    pub count: u64,
    /// The first [`Skipped::REMEMBERED`] errors, as they would have been shown.
    pub messages: Vec<String>,
}

impl Skipped {
    /// The number of messages that are kept.
    pub const REMEMBERED: usize = 5;

    /// Passes a good record on. Counts a bad one if `skip_bad` is set, and returns its error
    /// otherwise.
    ///
    /// # Errors
    /// The error of a bad record that is not to be skipped.
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

    /// Adds the records that were skipped in a later part of the input.
    pub fn merge(&mut self, later: Self) {
        self.count += later.count;
        self.messages.extend(later.messages);
        self.messages.truncate(Self::REMEMBERED);
    }
}
