//! The layouts of stories, their names, and how they are recognised from the name and the content
//! of a file.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::names::FieldNames;
use super::{document, hanna, header, tools};
use crate::file::{Ending, FileName};

/// A layout of stories in a file. Any of them may be compressed with gzip or Zstandard, except
/// Parquet, which is compressed already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object per line. [`Story`](crate::Story) lists its fields.
    Jsonl,
    /// A JSON document: an array of objects or of texts, such an array in an object (`{"data":
    /// [...]}`), or one list per field (`{"story": [...], "system": [...]}`).
    Json,
    /// Comma-separated values with a header, quoted as in RFC 4180. The delimiter may also be a
    /// semicolon, a tab or a vertical bar.
    Csv,
    /// Tab-separated values with a header. A quotation mark is an ordinary character.
    Tsv,
    /// Plain text that is one story.
    Text,
    /// Plain text with blank lines between the stories.
    Blocks,
    /// Plain text with one story per line.
    Lines,
    /// UNION's annotations: `ID ||| story ||| r1 .. r7`.
    UnionAnnotations,
    /// UNION's ROCStories: five lines with one sentence each, and a separator line.
    RocBlocks,
    /// WritingPrompts: line N of `NAME.wp_source` is the prompt of line N of `NAME.wp_target`.
    WritingPrompts,
    /// HANNA's annotations: a CSV file with one row per rater. The rows of a story stand together.
    HannaAnnotations,
    /// OpenMEVA's rated stories: `{ID: {"prompt", "gold_response", "gen": {MODEL: {"text",
    /// "score"}}}}`.
    Mags,
    /// lm-evaluation-harness's samples: `samples_TASK_DATE.jsonl`.
    LmEval,
    /// promptfoo's results: `output.json` or `output.jsonl`.
    Promptfoo,
    /// Inspect's logs: `.json` or `.eval`.
    Inspect,
    /// Runs of EQ-Bench's creative-writing benchmark.
    EqBench,
    /// What OpenAI's interface writes: the results of a batch, answers, or conversations
    /// (`{"messages": [...]}`).
    OpenAi,
    /// Conversations of the layout of ShareGPT: `{"conversations": [{"from", "value"}]}`.
    ShareGpt,
    /// Parquet with the fields of the JSONL layout as columns. It needs the feature `parquet`.
    Parquet,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: [Self; 19] = [
        Self::Jsonl,
        Self::Json,
        Self::Csv,
        Self::Tsv,
        Self::Text,
        Self::Blocks,
        Self::Lines,
        Self::UnionAnnotations,
        Self::RocBlocks,
        Self::WritingPrompts,
        Self::HannaAnnotations,
        Self::Mags,
        Self::LmEval,
        Self::Promptfoo,
        Self::Inspect,
        Self::EqBench,
        Self::OpenAi,
        Self::ShareGpt,
        Self::Parquet,
    ];

    /// The name by which users ask for the format, such as `jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Text => "text",
            Self::Blocks => "blocks",
            Self::Lines => "lines",
            Self::UnionAnnotations => "union",
            Self::RocBlocks => "roc",
            Self::WritingPrompts => "wp",
            Self::HannaAnnotations => "hanna",
            Self::Mags => "mags",
            Self::LmEval => "lm-eval",
            Self::Promptfoo => "promptfoo",
            Self::Inspect => "inspect",
            Self::EqBench => "eq-bench",
            Self::OpenAi => "openai",
            Self::ShareGpt => "sharegpt",
            Self::Parquet => "parquet",
        }
    }

    /// Finds the format of a file from its name, without `.gz` or `.zst`, and from its first bytes.
    ///
    /// Returns `None` if neither the name nor the content gives the format away.
    ///
    /// ```
    /// use std::path::Path;
    /// use storymeter_core::read::Format;
    /// let start = b"151 ||| a door opened . ||| 1 0 1 1 1 0 1";
    /// assert_eq!(Format::detect(Path::new("ant.txt"), start), Some(Format::UnionAnnotations));
    /// assert_eq!(Format::detect(Path::new("ant.txt"), b"An ant."), Some(Format::Text));
    /// ```
    pub fn detect(path: &Path, start: &[u8]) -> Option<Self> {
        Self::detect_named(path, start, &FieldNames::default(), false)
    }

    /// The same where the user gives names to fields or says that a table is wide.
    pub(super) fn detect_named(
        path: &Path,
        start: &[u8],
        names: &FieldNames,
        wide: bool,
    ) -> Option<Self> {
        if start.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        }
        if tools::is_archive(start) {
            return Some(Self::Inspect);
        }
        let from_content = || from_content(start, names, wide);
        let name = FileName::of(path);
        match name.ending() {
            Some(ending @ (Ending::Jsonl | Ending::Json)) => {
                let lines = ending == Ending::Jsonl;
                Some(document::shape(start, names, lines).unwrap_or(Self::Jsonl))
            }
            Some(Ending::Csv) if hanna::is_header(first_line(start)) => {
                Some(Self::HannaAnnotations)
            }
            Some(Ending::Csv) => Some(Self::Csv),
            Some(Ending::Tsv) => Some(Self::Tsv),
            Some(Ending::WritingPrompts) => Some(Self::WritingPrompts),
            Some(Ending::Parquet) => Some(Self::Parquet),
            Some(Ending::InspectLog) => start
                .starts_with(tools::ARCHIVE_MAGIC)
                .then_some(Self::Inspect)
                .or_else(from_content),
            Some(Ending::Text | Ending::Markdown) => Some(from_content().unwrap_or(Self::Text)),
            None if name.extension().is_some() => from_content(),
            // Standard input, or a name without an extension.
            None if start.contains(&0) => None,
            None => Some(from_content().unwrap_or(Self::Text)),
        }
    }
}

/// A format is written as its name.
impl serde::Serialize for Format {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> serde::Deserialize<'de> for Format {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not the name of a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no input format \"{0}\"; there are: jsonl, json, csv, tsv, text, blocks, lines, union, \
     roc, wp, hanna, mags, lm-eval, promptfoo, inspect, eq-bench, openai, sharegpt, parquet"
)]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// The first line, without a byte order mark.
pub(super) fn first_line(start: &[u8]) -> &[u8] {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let end = memchr::memchr(b'\n', start).unwrap_or(start.len());
    start[..end].trim_ascii_end()
}

/// How plain text is a list of stories. With blank lines inside, it has blocks. Otherwise every
/// line is a story.
pub(super) fn list_of(start: &[u8]) -> Format {
    let text = start.trim_ascii();
    let blank_inside =
        text.split(|&b| b == b'\n').any(|line| line.iter().all(u8::is_ascii_whitespace));
    if blank_inside && !text.is_empty() { Format::Blocks } else { Format::Lines }
}

/// The layout that the first lines give away, if they do.
fn from_content(start: &[u8], names: &FieldNames, wide: bool) -> Option<Format> {
    let first = first_line(start);
    if let Some(json) = document::shape(start, names, false) {
        Some(json)
    } else if memchr::memmem::find_iter(first, b"|||").count() == 2 {
        Some(Format::UnionAnnotations)
    } else if hanna::is_header(first) {
        Some(Format::HannaAnnotations)
    } else if let Some(dialect) = header::recognise(first, names, wide) {
        Some(if dialect.quoted { Format::Csv } else { Format::Tsv })
    } else if starts_with_roc_block(start) {
        Some(Format::RocBlocks)
    } else {
        None
    }
}

/// Whether the text begins with five lines of words and a line of hyphens. A blank sixth line
/// proves nothing, because it could also end a paragraph, and a line of stars is a pause in a
/// story.
fn starts_with_roc_block(start: &[u8]) -> bool {
    let mut lines = start.split(|&b| b == b'\n');
    let has_words = |line: &[u8]| line.iter().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii());
    let is_separator = |line: &[u8]| {
        let line = line.trim_ascii();
        line.len() >= 3 && line.iter().all(|&b| b == b'-')
    };
    (0..5).all(|_| lines.next().is_some_and(has_words)) && lines.next().is_some_and(is_separator)
}
