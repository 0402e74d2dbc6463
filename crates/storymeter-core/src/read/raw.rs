//! The first stage of reading: one thread cuts the input into records, which is cheap. Any thread
//! may parse them.

mod open;

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use self::open::open_input;
use super::cutter::{Cut, Cutter};
use super::delimited::Dialect;
use super::document::Document;
use super::header::Header;
use super::lines::LineReader;
use super::names::{FieldNames, UsedNames};
use super::rows::Rows;
use super::sample::{self, Sample};
use super::source::{ByteCount, Found};
use super::tools::Samples;
use super::utf8::{utf8, utf8_in};
use super::{
    End, Format, ReadOptions, Record, hanna, jsonl, mags, source, text, union, writing_prompts,
};
use crate::{Error, Place, Result, Story};

/// A record that was cut out of its file and is not parsed yet.
///
/// It owns its bytes, so it can be sent to the thread that parses it.
///
/// ```
/// use storymeter_core::read::{RawRecords, ReadOptions};
/// let lines = "{\"story\": \"A door opened.\"}\n{\"story\": 7}\n".as_bytes();
/// let records = RawRecords::from_reader("stories.jsonl", lines, &ReadOptions::default());
/// let parsed: Vec<_> = records.map(|raw| raw.and_then(|raw| raw.parse())).collect();
/// assert!(parsed[0].is_ok());
/// let error = parsed[1].as_ref().unwrap_err().to_string();
/// assert!(error.starts_with("stories.jsonl:2: field \"story\""), "{error}");
/// ```
#[derive(Debug)]
pub struct RawRecord {
    number: u64,
    line: u64,
    file: Arc<Origin>,
    body: Body,
}

/// A record that was parsed, for [`RecordChecker`](super::RecordChecker).
#[derive(Debug)]
pub struct Parsed {
    pub(super) record: Result<Record>,
    pub(super) file: Arc<Origin>,
    pub(super) used: UsedNames,
    /// Whether the id is the number of the record.
    pub(super) is_numbered: bool,
    /// Why the tool that wrote the file has no text for this story.
    pub(super) missing: Option<String>,
}

/// What all records of a file have in common.
#[derive(Debug)]
pub(super) struct Origin {
    pub path: PathBuf,
    pub format: Format,
    layout: Layout,
    options: Arc<ReadOptions>,
    /// The system of stories that name none.
    system: Option<String>,
    /// The numbers of the first record and of the first row, which differ after a wide table.
    first: (u64, u64),
}

impl Origin {
    /// The columns of a wide table that are no systems.
    pub fn left_out(&self) -> &[String] {
        match &self.layout {
            Layout::Delimited(header) => header.left_out(),
            _ => &[],
        }
    }

    /// The delimiter, if it is not the usual one of the format.
    pub fn unusual_delimiter(&self) -> Option<char> {
        let Layout::Delimited(header) = &self.layout else { return None };
        let delimiter = header.dialect().delimiter;
        (delimiter != Dialect::from(self.format).delimiter).then(|| char::from(delimiter))
    }
}

/// How to parse a record.
#[derive(Debug)]
enum Layout {
    Jsonl,
    /// Records of a JSON document.
    Json,
    Delimited(Header),
    /// The whole file is a story. It has the name of the file, which standard input has not.
    Whole {
        name: Option<String>,
    },
    Verbatim,
    RocBlocks,
    Union,
    WritingPrompts {
        max_words: usize,
    },
    Hanna(hanna::Columns),
}

/// The content of a record.
#[derive(Debug)]
pub(super) enum Body {
    Bytes(Vec<u8>),
    /// A row of a wide table, which is several records.
    Shared(Arc<Vec<u8>>),
    /// A row of a layout that is not text.
    Row(serde_json::Value),
    /// A generated text of OpenMEVA.
    Generation(Box<mags::Generation>),
    /// One story of a record that has several.
    Sample(Box<Sample>),
    /// Why the record could not be cut out.
    Broken(String),
    /// The same, with a place of its own.
    Refused(Box<Error>),
}

impl RawRecord {
    /// The 0-based number of the record in the whole input.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The file, and the 1-based line on which the record begins.
    pub fn place(&self) -> Place {
        Place::file(&self.file.path).at_line(self.line)
    }

    /// About how many bytes the record takes, now or when it is parsed. What several records share
    /// counts for each of them, because each has its own copy when it is parsed.
    ///
    /// ```
    /// use storymeter_core::read::{RawRecords, ReadOptions};
    /// let line = "{\"story\": \"A door opened.\"}".as_bytes();
    /// let mut records = RawRecords::from_reader("a.jsonl", line, &ReadOptions::default());
    /// assert!(records.next().unwrap()?.size() >= line.len());
    /// # Ok::<(), storymeter_core::Error>(())
    /// ```
    pub fn size(&self) -> usize {
        let content = match &self.body {
            Body::Bytes(bytes) => bytes.len(),
            Body::Shared(bytes) => bytes.len(),
            Body::Row(row) => size_of_value(row),
            Body::Generation(text) => text.size(),
            Body::Sample(sample) => sample.size(),
            Body::Broken(problem) => problem.len(),
            Body::Refused(_) => 0,
        };
        size_of::<Record>() + content
    }

    /// Parses the record. The result depends on nothing else, so records may be parsed in any
    /// order.
    ///
    /// # Errors
    /// Returns an error if the record is bad. The error names the file, the line and, where it can,
    /// the field.
    pub fn parse(self) -> Result<Record> {
        self.into_parsed().record
    }

    /// Parses the record for a [`RecordChecker`](super::RecordChecker), which needs to know more
    /// about it.
    pub fn into_parsed(self) -> Parsed {
        let file = Arc::clone(&self.file);
        let missing = self.missing().map(str::to_owned);
        let (record, used, is_numbered) = match self.read() {
            Ok((record, used, is_numbered)) => (Ok(record), used, is_numbered),
            Err(e) => (Err(e), UsedNames::default(), false),
        };
        Parsed { record, file, used, is_numbered, missing }
    }

    /// Why there is no text, if the tool that wrote the file says so. A
    /// [`RecordChecker`](super::RecordChecker) counts such a record and leaves it out, and for
    /// [`RawRecord::parse`] it is an error.
    pub fn missing(&self) -> Option<&str> {
        match &self.body {
            Body::Sample(sample) => sample.missing(),
            _ => None,
        }
    }

    fn read(self) -> Result<(Record, UsedNames, bool)> {
        let place = self.place();
        let Self { number, file, body, .. } = self;
        // In a wide table, each row has the same number of records.
        let parts = file.layout.stories_per_row() as u64;
        let (rows, part) = ((number - file.first.0) / parts, (number - file.first.0) % parts);
        let names = &file.options.fields;
        let at = (file.first.1 + rows, part as usize);
        let read = match body {
            Body::Bytes(bytes) => file.layout.parse(bytes, at, &place, names),
            Body::Shared(bytes) => match &file.layout {
                Layout::Delimited(header) => in_row(header, &bytes, at, &place),
                layout => layout.parse(bytes.to_vec(), at, &place, names),
            },
            Body::Row(row) => jsonl::parse_value(row, &place, names),
            Body::Generation(text) => text.parse(&place).map(|story| (story, UsedNames::default())),
            Body::Sample(sample) => sample.parse(number, &place),
            Body::Broken(problem) => Err(Error::invalid(place.clone(), problem)),
            Body::Refused(e) => Err(*e),
        };
        // A document may have a single line, so its errors count the records.
        let in_document = matches!(file.layout, Layout::Json);
        let (mut story, used) = read.map_err(|e| match e {
            Error::Invalid { place, problem } if in_document => {
                Error::invalid(place, format!("record {}: {problem}", rows + 1))
            }
            e => e,
        })?;
        if story.text.trim().is_empty() && !file.options.allow_empty {
            return Err(Error::invalid(place.in_field("story"), "the story is empty"));
        }
        let is_numbered = story.id.is_empty();
        if is_numbered {
            story.id = number.to_string();
        }
        if story.system.is_none() {
            story.system.clone_from(&file.system);
        }
        Ok((Record { story, number, place }, used, is_numbered))
    }
}

impl Layout {
    fn parse(
        &self,
        bytes: Vec<u8>,
        at: (u64, usize),
        place: &Place,
        names: &FieldNames,
    ) -> Result<(Story, UsedNames)> {
        let text = |bytes| utf8(bytes, place);
        let story = match self {
            Self::Jsonl => return jsonl::parse(&text(bytes)?, place, names),
            Self::Json => return jsonl::parse_element(&text(bytes)?, place, names),
            Self::Delimited(header) => return in_row(header, &bytes, at, place),
            Self::Whole { name } => Story {
                id: name.clone().unwrap_or_default(),
                item: name.clone(),
                text: text(bytes)?,
                ..Story::default()
            },
            Self::Verbatim => Story { text: text(bytes)?, ..Story::default() },
            Self::RocBlocks => text::roc_story(&text(bytes)?, place)?,
            Self::Union => union::parse(&text(bytes)?, place)?,
            Self::WritingPrompts { max_words } => writing_prompts::parse(bytes, *max_words, place)?,
            Self::Hanna(columns) => columns.parse(&text(bytes)?, place)?,
        };
        Ok((story, UsedNames::default()))
    }

    /// The number of stories that a record has.
    fn stories_per_row(&self) -> usize {
        match self {
            Self::Delimited(header) => header.stories_per_row(),
            _ => 1,
        }
    }
}

/// The story in a row of a table, at the position of the row and of the story in it.
fn in_row(
    header: &Header,
    bytes: &[u8],
    (row, part): (u64, usize),
    place: &Place,
) -> Result<(Story, UsedNames)> {
    Ok((header.parse(utf8_in(bytes, place)?, part, row, place)?, header.used))
}

/// About how many bytes a value takes.
fn size_of_value(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    let content = match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(size_of_value).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + size_of_value(value)).sum(),
        _ => 0,
    };
    size_of::<Value>() + content
}

/// Cuts the whole input, file after file, into [`RawRecord`]s, in order.
///
/// A file that cannot be read at all is an error, which ends the iteration. A bad record comes out
/// like any other, and [`RawRecord::parse`] says what is wrong with it. One place can therefore
/// decide whether bad records are skipped.
pub struct RawRecords {
    inputs: VecDeque<Input>,
    options: Arc<ReadOptions>,
    current: Option<OpenFile>,
    number: u64,
    /// The number of the next row.
    row: u64,
    /// The stories of the current row that were not given yet.
    pending: VecDeque<RawRecord>,
    /// The first input that was named, for the error about an input without stories.
    named: PathBuf,
    end: End,
    /// The bytes that were read so far, and all that there are, if that is known.
    bytes: (ByteCount, Option<u64>),
    /// The number of records, if it is known from the beginning.
    known: Option<u64>,
}

/// An input that is not open yet.
enum Input {
    File(Found),
    /// A stream and its name.
    Stream(PathBuf, Box<dyn Read + Send>),
    /// A story and its name.
    Text(PathBuf, String),
    /// Rows in memory and their name.
    Rows(PathBuf, Arc<dyn Rows>),
}

struct OpenFile {
    origin: Arc<Origin>,
    feed: Feed,
}

/// The open file that records are cut from.
enum Feed {
    Lines(LineReader, Cutter),
    Document(Document),
    Items(mags::Items),
    Samples(Box<Samples>),
    #[cfg(feature = "parquet")]
    Rows(super::parquet::Rows),
    /// Rows in memory, and how many were given.
    Memory(Arc<dyn Rows>, usize),
}

impl Feed {
    /// The next record and its line.
    fn next(&mut self) -> Result<Option<(u64, Body)>> {
        match self {
            Self::Lines(lines, cutter) => Ok(cutter
                .next(lines)?
                .map(|Cut { line, body }| (line, body.map_or_else(Body::Broken, Body::Bytes)))),
            Self::Document(document) => document.next(),
            Self::Items(items) => items.next(),
            Self::Samples(samples) => samples.next(),
            #[cfg(feature = "parquet")]
            Self::Rows(rows) => Ok(rows.next()),
            Self::Memory(rows, given) if *given == rows.count() => Ok(None),
            Self::Memory(rows, given) => {
                let row = rows.row(*given);
                *given += 1;
                Ok(Some((*given as u64, Body::Row(row.0))))
            }
        }
    }
}

impl RawRecords {
    /// Opens files, folders and standard input (`-`), as [`open`](super::open) does.
    ///
    /// # Errors
    /// Fails as [`open`](super::open) does.
    pub fn open(inputs: &[PathBuf], options: &ReadOptions) -> Result<Self> {
        let files = source::expand(inputs, options.format)?;
        let size = source::size_of(&files, &options.copies);
        let files = files.into_iter().map(Input::File).collect();
        let records = Self::new(inputs.first().cloned().unwrap_or_default(), files, options);
        Ok(Self { bytes: (records.bytes.0, size), ..records })
    }

    /// How many records the whole input has: known at its end, and estimated before that from the
    /// share of the bytes that were read. `None` as long as there is nothing to go by.
    pub fn expected(&self) -> Option<u64> {
        if self.known.is_some() {
            return self.known;
        }
        let cut = self.number - self.options.record_offset;
        if self.end.is_reached() {
            return Some(cut);
        }
        let (read, all) = (self.bytes.0.load(Ordering::Relaxed), self.bytes.1?);
        // Compressed bytes are counted as such, on both sides.
        (read > 0).then(|| (cut as f64 * (all as f64 / read as f64).max(1.0)) as u64)
    }

    /// Takes any stream and its name, as [`from_reader`](super::from_reader) does.
    pub fn from_reader(
        name: impl AsRef<Path>,
        input: impl Read + Send + 'static,
        options: &ReadOptions,
    ) -> Self {
        let name = name.as_ref();
        let stream = Input::Stream(name.to_owned(), Box::new(input));
        Self::new(name.to_owned(), VecDeque::from([stream]), options)
    }

    /// Takes texts that are one story each. Errors count them: `text 1`.
    ///
    /// ```
    /// use storymeter_core::read::{RawRecords, ReadOptions};
    /// let texts = vec!["A door opened.".to_owned(), "A cat came in.".to_owned()];
    /// let records = RawRecords::from_texts(texts, &ReadOptions::default());
    /// let ids: Vec<String> = records.map(|raw| raw.unwrap().parse().unwrap().story.id).collect();
    /// assert_eq!(ids, ["0", "1"]);
    /// ```
    pub fn from_texts(texts: Vec<String>, options: &ReadOptions) -> Self {
        let named = |number: usize| PathBuf::from(format!("text {}", number + 1));
        let texts = texts.into_iter().enumerate();
        let inputs = texts.map(|(number, text)| Input::Text(named(number), text)).collect();
        Self::new(named(0), inputs, options)
    }

    /// Takes rows that are in memory. Errors name the number of the row, from 1. Unlike in a file,
    /// there may be none.
    pub fn from_rows(name: impl AsRef<Path>, rows: &Arc<dyn Rows>, options: &ReadOptions) -> Self {
        let name = name.as_ref().to_owned();
        let inputs = VecDeque::from([Input::Rows(name.clone(), Arc::clone(rows))]);
        let known = Some(rows.count() as u64);
        Self { known, ..Self::new(name, inputs, options) }
    }

    fn new(named: PathBuf, inputs: VecDeque<Input>, options: &ReadOptions) -> Self {
        Self {
            inputs,
            options: Arc::new(options.clone()),
            current: None,
            number: options.record_offset,
            row: options.record_offset,
            pending: VecDeque::new(),
            named,
            end: End::default(),
            bytes: (ByteCount::default(), None),
            known: None,
        }
    }

    fn next_record(&mut self) -> Result<Option<RawRecord>> {
        if let Some(record) = self.pending.pop_front() {
            return Ok(Some(record));
        }
        loop {
            if self.current.is_none() {
                let Some(input) = self.inputs.pop_front() else { break };
                self.current =
                    open_input(input, &self.options, (self.number, self.row), &self.bytes.0)?;
            }
            let Some(file) = &mut self.current else { continue };
            let Some((line, body)) = file.feed.next()? else {
                self.current = None;
                continue;
            };
            let (origin, number) = (Arc::clone(&file.origin), self.number);
            let parts = origin.layout.stories_per_row();
            let Some(next) = number.checked_add(parts as u64) else {
                let most = u64::MAX - 1;
                let problem = format!(
                    "the number of this record would be {number}, and the largest is {most}; \
                     number the records from a smaller one"
                );
                return Err(Error::invalid(Place::file(&origin.path).at_line(line), problem));
            };
            (self.number, self.row) = (next, self.row.saturating_add(1));
            let body = match body {
                Body::Bytes(bytes) if matches!(origin.layout, Layout::Jsonl | Layout::Json) => {
                    let place = Place::file(&origin.path).at_line(line);
                    match sample::rewritten(&bytes, &place, &self.options.fields) {
                        None => Body::Bytes(bytes),
                        Some(Err(e)) => Body::Refused(Box::new(e)),
                        Some(Ok(bodies)) => {
                            let mut bodies = bodies.into_iter();
                            let first = bodies.next().unwrap_or_else(|| Body::Bytes(bytes));
                            for body in bodies {
                                let (number, file) = (self.number, Arc::clone(&origin));
                                self.number = number.saturating_add(1);
                                self.pending.push_back(RawRecord { number, line, file, body });
                            }
                            first
                        }
                    }
                }
                Body::Bytes(bytes) if parts > 1 => {
                    let row = Arc::new(bytes);
                    self.pending.extend((number + 1..next).map(|number| {
                        let body = Body::Shared(Arc::clone(&row));
                        RawRecord { number, line, file: Arc::clone(&origin), body }
                    }));
                    Body::Shared(row)
                }
                body => body,
            };
            return Ok(Some(RawRecord { number, line, file: origin, body }));
        }
        let may_be_empty = self.options.allow_none || self.known.is_some();
        if self.number == self.options.record_offset && !may_be_empty {
            return Err(Error::invalid(Place::file(&self.named), "the input has no story"));
        }
        Ok(None)
    }
}

impl Iterator for RawRecords {
    type Item = Result<RawRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.end.is_reached() {
            return None;
        }
        let next = self.next_record();
        self.end.pass_on(next)
    }
}
