//! Opens an input: finds its format, and decides how it is cut into records and how these are
//! parsed.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Feed, Input, Layout, OpenFile, Origin};
use crate::file::FileName;
use crate::read::cutter::{Cutter, first_record};
use crate::read::delimited::Dialect;
use crate::read::document::Document;
use crate::read::header::{self, Header};
use crate::read::lines::LineReader;
use crate::read::source::{ByteCount, Found, Source, is_stdin};
use crate::read::tools::{ARCHIVE_MAGIC, Samples};
use crate::read::wide::{self, Wide};
use crate::read::{Format, ReadOptions, format, hanna, mags, writing_prompts};
use crate::{Error, Place, Result};

/// Opens an input. An empty file that should have a header has no records. `first` are the numbers
/// of the first record and of the first row.
pub(super) fn open_input(
    input: Input,
    options: &Arc<ReadOptions>,
    first: (u64, u64),
    count: &ByteCount,
) -> Result<Option<OpenFile>> {
    let (found, source) = match input {
        Input::File(found) => {
            let source = Source::open_counted(&found.path, &options.copies, count)?;
            (found, source)
        }
        Input::Stream(name, stream) => {
            let source = Source::from_reader(&name, stream)?;
            (Found::file(name), source)
        }
        Input::Rows(path, rows) => {
            let (layout, format, options) = (Layout::Jsonl, Format::Jsonl, Arc::clone(options));
            let origin = Origin { path, format, layout, options, system: None, first };
            return Ok(Some(OpenFile { origin: Arc::new(origin), feed: Feed::Memory(rows, 0) }));
        }
        Input::Text(path, text) => {
            let stream = Box::new(Cursor::new(text.into_bytes()));
            let lines = LineReader::new(stream, &path, options.max_line);
            let feed = Feed::Lines(lines, Cutter::Whole { named: false, done: false });
            let (layout, format) = (Layout::Whole { name: None }, Format::Text);
            let options = Arc::clone(options);
            let origin = Origin { path, format, layout, options, system: None, first };
            return Ok(Some(OpenFile { origin: Arc::new(origin), feed }));
        }
    };
    let Found { path, system, only_text } = found;
    let format = options
        .format
        .or_else(|| Format::detect_named(&path, &source.start, &options.fields, options.is_wide()));
    let format = match format {
        Some(Format::Text) if options.text_is_list && options.format.is_none() => {
            Some(format::list_of(&source.start))
        }
        format => format,
    };
    let is_archive = format == Some(Format::Inspect) && source.start.starts_with(ARCHIVE_MAGIC);
    if format != Some(Format::Parquet) && !is_archive {
        source.check_text(&path)?;
    }
    let Some(format) = format else {
        return Err(Error::FormatNotRecognised { place: Place::file(path) });
    };
    if options.is_wide() && !matches!(format, Format::Csv | Format::Tsv) {
        let problem = format!(
            "one column per system is read from CSV and TSV, but the format of this is {format}"
        );
        return Err(Error::invalid(Place::file(path), problem));
    }
    let Some((path, layout, feed)) = feed(source, path, format, options, count)? else {
        return Ok(None);
    };
    let system = system.filter(|_| !only_text || format == Format::Text);
    let options = Arc::clone(options);
    let origin = Arc::new(Origin { path, format, layout, options, system, first });
    Ok(Some(OpenFile { origin, feed }))
}

/// How a file is cut into records and how these are parsed, and the file that errors name. An empty
/// file that should have a header has no records.
fn feed(
    source: Source,
    path: PathBuf,
    format: Format,
    options: &Arc<ReadOptions>,
    count: &ByteCount,
) -> Result<Option<(PathBuf, Layout, Feed)>> {
    let lines =
        |source: Source, path: &Path| LineReader::new(source.into_stream(), path, options.max_line);
    let one_line = Cutter::Line { blank: false };
    let (layout, feed) = match format {
        Format::Jsonl => (Layout::Jsonl, Feed::Lines(lines(source, &path), one_line)),
        Format::Json => {
            (Layout::Json, Feed::Document(Document::new(source.into_stream(), &path, options)))
        }
        Format::Mags => {
            let items = mags::Items::new(source.into_stream(), &path, options.max_line);
            (Layout::Jsonl, Feed::Items(items))
        }
        Format::LmEval
        | Format::Promptfoo
        | Format::Inspect
        | Format::EqBench
        | Format::OpenAi
        | Format::ShareGpt => {
            let samples = Samples::open(source, &path, format, options, count)?;
            (Layout::Jsonl, Feed::Samples(Box::new(samples)))
        }
        Format::UnionAnnotations => (Layout::Union, Feed::Lines(lines(source, &path), one_line)),
        Format::Text => {
            let name = (!is_stdin(&path)).then(|| FileName::of(&path).stem().to_owned());
            let cutter = Cutter::Whole { named: name.is_some(), done: false };
            (Layout::Whole { name }, Feed::Lines(lines(source, &path), cutter))
        }
        Format::Lines => {
            (Layout::Verbatim, Feed::Lines(lines(source, &path), Cutter::Line { blank: true }))
        }
        Format::Blocks => (Layout::Verbatim, Feed::Lines(lines(source, &path), Cutter::Block)),
        Format::RocBlocks => {
            (Layout::RocBlocks, Feed::Lines(lines(source, &path), Cutter::RocBlock))
        }
        Format::HannaAnnotations => {
            let mut lines = lines(source, &path);
            let Some((header, place)) = first_record(&mut lines, Dialect::CSV, &path)? else {
                return Ok(None);
            };
            let columns = hanna::Columns::new(&header, &place)?;
            let cutter = Cutter::Hanna(hanna::Grouper::new(columns.clone()));
            (Layout::Hanna(columns), Feed::Lines(lines, cutter))
        }
        Format::Tsv | Format::Csv => {
            let first = format::first_line(&source.start);
            let dialect = header::dialect(first, format, &options.fields, options.is_wide());
            let mut source = source;
            let wide = match options.is_wide() {
                true => {
                    source.look_further(wide::BYTES, &path)?;
                    Some(Wide::new(&source.start, dialect, &options.system_columns, &path))
                }
                false => None,
            };
            let mut lines = lines(source, &path);
            let Some((header, place)) = first_record(&mut lines, dialect, &path)? else {
                return Ok(None);
            };
            let header = Header::new(&header, dialect, &options.fields, wide.as_ref(), &place)?;
            (Layout::Delimited(header), Feed::Lines(lines, Cutter::of(dialect)))
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
        Format::Parquet => {
            let rows =
                crate::read::parquet::Rows::open(source, &path, &options.fields, options.max_line)?;
            (Layout::Jsonl, Feed::Rows(rows))
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            let problem = "this program was built without the feature `parquet`, so it cannot read \
                           Parquet";
            return Err(Error::invalid(Place::file(path), problem));
        }
    };
    Ok(Some((path, layout, feed)))
}
