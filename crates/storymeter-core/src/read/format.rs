//! The layouts of stories, their names, and how they are recognised from the name and the content
//! of a file.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::{delimited, hanna};

/// A layout of stories in a file. Any of them may be gzipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object per line. [`Story`](crate::Story) lists its fields.
    Jsonl,
    /// Comma-separated values with a header, quoted as in RFC 4180.
    Csv,
    /// Tab-separated values with a header. A quotation mark is an ordinary character.
    Tsv,
    /// Plain text with blank lines between the stories.
    Paragraphs,
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
    /// Parquet with the fields of the JSONL layout as columns. It needs the feature `parquet`.
    Parquet,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Jsonl,
        Self::Csv,
        Self::Tsv,
        Self::Paragraphs,
        Self::Lines,
        Self::UnionAnnotations,
        Self::RocBlocks,
        Self::WritingPrompts,
        Self::HannaAnnotations,
        Self::Parquet,
    ];

    /// The name by which users ask for the format, such as `jsonl`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Paragraphs => "text",
            Self::Lines => "lines",
            Self::UnionAnnotations => "union",
            Self::RocBlocks => "roc",
            Self::WritingPrompts => "wp",
            Self::HannaAnnotations => "hanna",
            Self::Parquet => "parquet",
        }
    }

    /// Finds the format of a file from its name, without `.gz`, and from its first bytes.
    ///
    /// Returns `None` if neither the name nor the content gives the format away.
    ///
    /// ```
    /// use std::path::Path;
    /// use storymeter_core::read::Format;
    /// let start = b"151 ||| a door opened . ||| 1 0 1 1 1 0 1";
    /// assert_eq!(Format::detect(Path::new("ant.txt"), start), Some(Format::UnionAnnotations));
    /// ```
    pub fn detect(path: &Path, start: &[u8]) -> Option<Self> {
        if start.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        }
        match Kind::from_name(path) {
            Kind::Json => Some(Self::Jsonl),
            Kind::Csv if hanna::is_header(first_line(start)) => Some(Self::HannaAnnotations),
            Kind::Csv => Some(Self::Csv),
            Kind::Tsv => Some(Self::Tsv),
            Kind::WritingPrompts => Some(Self::WritingPrompts),
            Kind::Parquet => Some(Self::Parquet),
            Kind::Text => Some(from_content(start).unwrap_or_else(|| plain_text(start))),
            Kind::Unnamed if start.contains(&0) => None,
            Kind::Unnamed => Some(from_content(start).unwrap_or_else(|| plain_text(start))),
            Kind::Unknown => from_content(start),
        }
    }

    /// Whether the name alone says that a file in a folder has stories.
    pub(super) fn is_recognised(path: &Path) -> bool {
        !matches!(Kind::from_name(path), Kind::Unnamed | Kind::Unknown)
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
    "there is no input format \"{0}\"; there are: jsonl, csv, tsv, text, lines, union, roc, wp, \
     hanna, parquet"
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

/// What the name of a file says about its content.
enum Kind {
    Json,
    Csv,
    Tsv,
    Text,
    WritingPrompts,
    Parquet,
    /// Standard input, or a name without an extension.
    Unnamed,
    /// A name with an extension that is not known.
    Unknown,
}

impl Kind {
    fn from_name(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.') {
            None => Self::Unnamed,
            Some((_, "jsonl" | "ndjson" | "json")) => Self::Json,
            Some((_, "csv")) => Self::Csv,
            Some((_, "tsv" | "tab")) => Self::Tsv,
            Some((_, "txt" | "text")) => Self::Text,
            Some((_, "wp_source" | "wp_target")) => Self::WritingPrompts,
            Some((_, "parquet")) => Self::Parquet,
            Some(_) => Self::Unknown,
        }
    }
}

fn first_line(start: &[u8]) -> &[u8] {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let end = memchr::memchr(b'\n', start).unwrap_or(start.len());
    start[..end].trim_ascii_end()
}

/// The layout that the first lines give away, if they do.
fn from_content(start: &[u8]) -> Option<Format> {
    let first = first_line(start);
    if first.starts_with(b"{") {
        Some(Format::Jsonl)
    } else if memchr::memmem::find_iter(first, b"|||").count() == 2 {
        Some(Format::UnionAnnotations)
    } else if delimited::is_header(first, Format::Tsv) {
        Some(Format::Tsv)
    } else if hanna::is_header(first) {
        Some(Format::HannaAnnotations)
    } else if delimited::is_header(first, Format::Csv) {
        Some(Format::Csv)
    } else if starts_with_roc_block(start) {
        Some(Format::RocBlocks)
    } else {
        None
    }
}

/// Whether the text begins with five lines of words and a line without any. A blank sixth line
/// proves nothing, because it could also end a wrapped paragraph.
fn starts_with_roc_block(start: &[u8]) -> bool {
    let mut lines = start.split(|&b| b == b'\n');
    let has_words = |line: &[u8]| line.iter().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii());
    (0..5).all(|_| lines.next().is_some_and(has_words))
        && lines.next().is_some_and(|line| !line.trim_ascii().is_empty() && !has_words(line))
}

/// Text with blank lines inside is paragraphs. Otherwise every line is a story.
fn plain_text(start: &[u8]) -> Format {
    let blank_inside = start
        .trim_ascii()
        .split(|&b| b == b'\n')
        .any(|line| line.iter().all(u8::is_ascii_whitespace));
    if blank_inside && !start.trim_ascii().is_empty() { Format::Paragraphs } else { Format::Lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(name: &str, content: &str) -> Option<&'static str> {
        Format::detect(Path::new(name), content.as_bytes()).map(Format::name)
    }

    #[test]
    fn names_go_both_ways() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let error = "xml".parse::<Format>().unwrap_err().to_string();
        assert!(Format::ALL.iter().all(|format| error.contains(format.name())), "{error}");
    }

    #[test]
    fn the_name_decides_where_it_can() {
        assert_eq!(detect("a/b.jsonl", ""), Some("jsonl"));
        assert_eq!(detect("b.JSONL.gz", ""), Some("jsonl"));
        assert_eq!(detect("b.csv", "story\nx\n"), Some("csv"));
        assert_eq!(detect("b.tsv.gz", "story\nx\n"), Some("tsv"));
        assert_eq!(detect("valid.wp_source", "[ WP ] A door .\n"), Some("wp"));
        assert_eq!(detect("b.parquet", "PAR1"), Some("parquet"));
    }

    #[test]
    fn the_content_decides_for_text_and_standard_input() {
        for name in ["-", "stories", "stories.txt", "stories.txt.gz"] {
            assert_eq!(detect(name, "{\"story\": \"A door.\"}\n"), Some("jsonl"));
            assert_eq!(detect(name, "7 ||| a door opened . ||| 1 0 1 1 1 0 1\n"), Some("union"));
            assert_eq!(
                detect(name, "form\tsentence1\tsentence2\tsentence3\tsentence4\tsentence5\n"),
                Some("tsv")
            );
            assert_eq!(detect(name, "id,story\n1,A door.\n"), Some("csv"));
            assert_eq!(detect(name, "A.\nB.\nC.\nD.\nE.\n------\nA.\n"), Some("roc"));
            assert_eq!(detect(name, "A.\nB.\nC.\nD.\nE.\n\nA.\n"), Some("text"));
            assert_eq!(detect(name, "A door opened.\r\n\r\nA cat came in.\r\n"), Some("text"));
            assert_eq!(detect(name, "A door opened.\nA cat came in.\n\n"), Some("lines"));
        }
    }

    #[test]
    fn a_strange_file_is_not_taken_for_text() {
        assert_eq!(detect("photo.png", "\u{89}PNG\r\n"), None);
        assert_eq!(detect("photo", "GIF\0\0"), None);
        assert_eq!(detect("stories.dump", "{\"story\": \"A door.\"}\n"), Some("jsonl"));
    }
}
