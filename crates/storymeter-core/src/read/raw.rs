//! The first stage of reading: one thread cuts the input into records, which is cheap. Any thread
//! may parse them.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::delimited::Header;
use super::lines::{Line, LineReader, is_blank};
use super::source::{ByteCount, Source};
use super::{
    End, Format, ReadOptions, Record, delimited, hanna, jsonl, source, text, union, writing_prompts,
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

/// What all records of a file have in common.
#[derive(Debug)]
struct Origin {
    path: PathBuf,
    layout: Layout,
    allow_empty: bool,
}

/// How to parse a record.
#[derive(Debug)]
enum Layout {
    Jsonl,
    Delimited(Header),
    Verbatim,
    RocBlocks,
    Union,
    WritingPrompts { max_words: usize },
    Hanna(hanna::Columns),
}

/// The content of a record.
#[derive(Debug)]
pub(super) enum Body {
    Bytes(Vec<u8>),
    /// A row of a layout that is not text.
    #[cfg(feature = "parquet")]
    Row(serde_json::Value),
    /// Why the record could not be cut out.
    Broken(String),
}

/// A record cut out of lines: the line on which it begins, and its bytes or what is wrong with it.
pub(super) struct Cut {
    pub line: u64,
    pub body: std::result::Result<Vec<u8>, String>,
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

    /// Parses the record. The result depends on nothing else, so records may be parsed in any
    /// order.
    ///
    /// # Errors
    /// If the record is bad. The error names the file, the line and, where it can, the field.
    pub fn parse(self) -> Result<Record> {
        let place = self.place();
        let mut story = match self.body {
            Body::Bytes(bytes) => self.file.layout.parse(bytes, &place)?,
            #[cfg(feature = "parquet")]
            Body::Row(row) => jsonl::parse_value(row, &place)?,
            Body::Broken(problem) => return Err(Error::invalid(place, problem)),
        };
        if story.text.trim().is_empty() && !self.file.allow_empty {
            return Err(Error::invalid(place.in_field("story"), "the story is empty"));
        }
        if story.id.is_empty() {
            story.id = self.number.to_string();
        }
        Ok(Record { story, number: self.number, place })
    }
}

impl Layout {
    fn parse(&self, bytes: Vec<u8>, place: &Place) -> Result<Story> {
        let text = |bytes| utf8(bytes, place);
        match self {
            Self::Jsonl => jsonl::parse(&text(bytes)?, place),
            Self::Delimited(header) => header.parse(&text(bytes)?, place),
            Self::Verbatim => Ok(Story { text: text(bytes)?, ..Story::default() }),
            Self::RocBlocks => text::roc_story(&text(bytes)?, place),
            Self::Union => union::parse(&text(bytes)?, place),
            Self::WritingPrompts { max_words } => writing_prompts::parse(bytes, *max_words, place),
            Self::Hanna(columns) => columns.parse(&text(bytes)?, place),
        }
    }
}

/// The bytes as text, which must be UTF-8 without NUL. An error names the byte, and its line within
/// a record of several lines.
pub(super) fn utf8(bytes: Vec<u8>, place: &Place) -> Result<String> {
    let wrong = |before: &[u8], problem: &str| {
        let lines = memchr::memchr_iter(b'\n', before).count() as u64;
        let start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
        let place = Place { line: place.line.map(|line| line + lines), ..place.clone() };
        let byte = before.len() - start + 1;
        Error::invalid(place, format!("byte {byte} of the line is {problem}"))
    };
    if let Some(nul) = memchr::memchr(0, &bytes) {
        let problem = "a NUL, which no text has; if the file is UTF-16, save it as UTF-8";
        return Err(wrong(&bytes[..nul], problem));
    }
    String::from_utf8(bytes)
        .map_err(|e| wrong(&e.as_bytes()[..e.utf8_error().valid_up_to()], "not UTF-8"))
}

/// Cuts the whole input, file after file, into [`RawRecord`]s, in order.
///
/// A file that cannot be read at all is an error, which ends the iteration. A bad record comes out
/// like any other, and [`RawRecord::parse`] says what is wrong with it. One place can therefore
/// decide whether bad records are skipped.
pub struct RawRecords {
    inputs: VecDeque<Input>,
    options: ReadOptions,
    current: Option<OpenFile>,
    number: u64,
    /// The first input that was named, for the error about an input without stories.
    named: PathBuf,
    end: End,
    /// The bytes that were read so far, and all that there are, if that is known.
    bytes: (ByteCount, Option<u64>),
}

/// An input that is not open yet.
enum Input {
    File(PathBuf),
    /// A stream and its name.
    Stream(PathBuf, Box<dyn Read + Send>),
}

struct OpenFile {
    origin: Arc<Origin>,
    feed: Feed,
}

/// The open file that records are cut from.
enum Feed {
    Lines(LineReader, Cutter),
    #[cfg(feature = "parquet")]
    Rows(super::parquet::Rows),
}

impl Feed {
    /// The next record and its line.
    fn next(&mut self) -> Result<Option<(u64, Body)>> {
        match self {
            Self::Lines(lines, cutter) => Ok(cutter
                .next(lines)?
                .map(|Cut { line, body }| (line, body.map_or_else(Body::Broken, Body::Bytes)))),
            #[cfg(feature = "parquet")]
            Self::Rows(rows) => Ok(rows.next()),
        }
    }
}

/// How the lines of a file become records.
enum Cutter {
    /// One record per line. Blank lines count in a layout whose records are joined with others by
    /// their order.
    Line {
        blank: bool,
    },
    Csv,
    Paragraph,
    RocBlock,
    Pair(LineReader),
    Hanna(hanna::Grouper),
}

impl RawRecords {
    /// Opens files, folders and standard input (`-`), as [`open`](super::open) does.
    ///
    /// # Errors
    /// Those of [`open`](super::open).
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

    fn new(named: PathBuf, inputs: VecDeque<Input>, options: &ReadOptions) -> Self {
        let number = options.record_offset;
        let (end, bytes) = (End::default(), (ByteCount::default(), None));
        Self { inputs, options: options.clone(), current: None, number, named, end, bytes }
    }

    fn next_record(&mut self) -> Result<Option<RawRecord>> {
        loop {
            if self.current.is_none() {
                let Some(input) = self.inputs.pop_front() else { break };
                self.current = open_input(input, &self.options, &self.bytes.0)?;
            }
            let Some(file) = &mut self.current else { continue };
            match file.feed.next()? {
                Some((line, body)) => {
                    let number = self.number;
                    self.number = number.checked_add(1).ok_or_else(|| {
                        let place = Place::file(&file.origin.path).at_line(line);
                        let most = u64::MAX - 1;
                        Error::invalid(
                            place,
                            format!(
                                "the number of this record would be {number}, and the largest is \
                             {most}; number the records from a smaller one"
                            ),
                        )
                    })?;
                    return Ok(Some(RawRecord {
                        number,
                        line,
                        file: Arc::clone(&file.origin),
                        body,
                    }));
                }
                None => self.current = None,
            }
        }
        if self.number == self.options.record_offset {
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

fn open_input(input: Input, options: &ReadOptions, count: &ByteCount) -> Result<Option<OpenFile>> {
    let (path, source) = match input {
        Input::File(path) => (path.clone(), Source::open_counted(&path, &options.copies, count)?),
        Input::Stream(name, stream) => (name.clone(), Source::from_reader(&name, stream)?),
    };
    let format = options.format.or_else(|| Format::detect(&path, &source.start));
    if format != Some(Format::Parquet) {
        source.check_text(&path)?;
    }
    let Some(format) = format else {
        return Err(Error::FormatNotRecognised { place: Place::file(path) });
    };
    let Some((path, layout, feed)) = feed(source, path, format, options, count)? else {
        return Ok(None);
    };
    let origin = Arc::new(Origin { path, layout, allow_empty: options.allow_empty });
    Ok(Some(OpenFile { origin, feed }))
}

/// How a file is cut into records and how these are parsed, and the file that errors name. An empty
/// file that should have a header has no records.
fn feed(
    source: Source,
    path: PathBuf,
    format: Format,
    options: &ReadOptions,
    count: &ByteCount,
) -> Result<Option<(PathBuf, Layout, Feed)>> {
    let lines =
        |source: Source, path: &Path| LineReader::new(source.into_stream(), path, options.max_line);
    let one_line = Cutter::Line { blank: false };
    let (layout, feed) = match format {
        Format::Jsonl => (Layout::Jsonl, Feed::Lines(lines(source, &path), one_line)),
        Format::UnionAnnotations => (Layout::Union, Feed::Lines(lines(source, &path), one_line)),
        Format::Lines => {
            (Layout::Verbatim, Feed::Lines(lines(source, &path), Cutter::Line { blank: true }))
        }
        Format::Paragraphs => {
            (Layout::Verbatim, Feed::Lines(lines(source, &path), Cutter::Paragraph))
        }
        Format::RocBlocks => {
            (Layout::RocBlocks, Feed::Lines(lines(source, &path), Cutter::RocBlock))
        }
        Format::Tsv | Format::Csv | Format::HannaAnnotations => {
            let mut lines = lines(source, &path);
            let Some((header, place)) = first_record(&mut lines, format, &path)? else {
                return Ok(None);
            };
            if format == Format::HannaAnnotations {
                let columns = hanna::Columns::new(&header, &place)?;
                let cutter = Cutter::Hanna(hanna::Grouper::new(columns.clone()));
                (Layout::Hanna(columns), Feed::Lines(lines, cutter))
            } else {
                let header = Header::new(&header, format, &place)?;
                let cutter = if format == Format::Csv { Cutter::Csv } else { one_line };
                (Layout::Delimited(header), Feed::Lines(lines, cutter))
            }
        }
        Format::WritingPrompts => {
            let (prompts, stories) = writing_prompts::pair_of(&path)?;
            let open = |path: &Path| -> Result<LineReader> {
                let source = Source::open_counted(path, &[], count)?;
                source.check_text(path)?;
                Ok(lines(source, path))
            };
            let feed = Feed::Lines(open(&stories)?, Cutter::Pair(open(&prompts)?));
            let layout = Layout::WritingPrompts { max_words: options.max_words };
            return Ok(Some((stories, layout, feed)));
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => (Layout::Jsonl, Feed::Rows(super::parquet::Rows::open(source, &path)?)),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let problem = "this program was built without the feature `parquet`, so it cannot read \
                           Parquet";
            return Err(Error::invalid(Place::file(path), problem));
        }
    };
    Ok(Some((path, layout, feed)))
}

/// The header of a file and its place; `None` for an empty file.
fn first_record(
    lines: &mut LineReader,
    format: Format,
    path: &Path,
) -> Result<Option<(String, Place)>> {
    let cut =
        if format == Format::Tsv { one_line(lines, false)? } else { delimited::cut_csv(lines)? };
    let Some(Cut { line, body }) = cut else { return Ok(None) };
    let place = Place::file(path).at_line(line);
    match body {
        Ok(bytes) => Ok(Some((utf8(bytes, &place)?, place))),
        Err(problem) => Err(Error::invalid(place, problem)),
    }
}

impl Cutter {
    fn next(&mut self, lines: &mut LineReader) -> Result<Option<Cut>> {
        match self {
            Self::Line { blank } => one_line(lines, *blank),
            Self::Csv => delimited::cut_csv(lines),
            Self::Paragraph => text::cut_paragraph(lines),
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
