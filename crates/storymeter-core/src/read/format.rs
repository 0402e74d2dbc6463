//! The layouts of stories, their names, and how they are recognised from the name and the content
//! of a file.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::names::FieldNames;
use super::{document, hanna, header};

/// A layout of stories in a file. Any of them may be compressed with gzip or Zstandard, except
/// Parquet, which is compressed already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// Parquet with the fields of the JSONL layout as columns. It needs the feature `parquet`.
    Parquet,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: [Self; 13] = [
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
        let from_content = || from_content(start, names, wide);
        match Kind::from_name(path) {
            Kind::Json { lines } => {
                Some(document::shape(start, names, lines).unwrap_or(Self::Jsonl))
            }
            Kind::Csv if hanna::is_header(first_line(start)) => Some(Self::HannaAnnotations),
            Kind::Csv => Some(Self::Csv),
            Kind::Tsv => Some(Self::Tsv),
            Kind::WritingPrompts => Some(Self::WritingPrompts),
            Kind::Parquet => Some(Self::Parquet),
            Kind::Unnamed if start.contains(&0) => None,
            Kind::Text | Kind::Unnamed => Some(from_content().unwrap_or(Self::Text)),
            Kind::Unknown => from_content(),
        }
    }

    /// Whether the name alone says that a file in a folder has stories.
    pub(super) fn is_recognised(path: &Path) -> bool {
        !matches!(Kind::from_name(path), Kind::Unnamed | Kind::Unknown)
    }

    /// Whether the name says that a file is a table: CSV or TSV.
    pub(super) fn is_table_name(path: &Path) -> bool {
        matches!(Kind::from_name(path), Kind::Csv | Kind::Tsv)
    }

    /// Whether the name says that a file is plain text.
    pub(super) fn is_text_name(path: &Path) -> bool {
        matches!(Kind::from_name(path), Kind::Text)
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
     roc, wp, hanna, mags, parquet"
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
    Json {
        /// Whether each line should be an object.
        lines: bool,
    },
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
        let name = without_compression(&name);
        match name.rsplit_once('.') {
            None => Self::Unnamed,
            Some((_, "jsonl" | "ndjson")) => Self::Json { lines: true },
            Some((_, "json")) => Self::Json { lines: false },
            Some((_, "csv")) => Self::Csv,
            Some((_, "tsv" | "tab")) => Self::Tsv,
            Some((_, "txt" | "text" | "md" | "markdown")) => Self::Text,
            Some((_, "wp_source" | "wp_target")) => Self::WritingPrompts,
            Some((_, "parquet")) => Self::Parquet,
            Some(_) => Self::Unknown,
        }
    }
}

/// The first line, without a byte order mark.
pub(super) fn first_line(start: &[u8]) -> &[u8] {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let end = memchr::memchr(b'\n', start).unwrap_or(start.len());
    start[..end].trim_ascii_end()
}

/// The name of a file without the ending of its compression.
pub fn without_compression(name: &str) -> &str {
    let stem = |ending: &&str| {
        let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
        end.eq_ignore_ascii_case(ending).then_some(stem)
    };
    [".gz", ".zst", ".zstd"].iter().find_map(stem).unwrap_or(name)
}

/// The name of a file without its folder, its compression and the ending of a known format: a file
/// of one system is named after the system.
pub(super) fn known_stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = without_compression(&name);
    match plain.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() && Format::is_recognised(path) => stem.to_owned(),
        _ if plain.is_empty() => name.into_owned(),
        _ => plain.to_owned(),
    }
}

/// The name of a file of which every story is a file: without endings.
pub(super) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = without_compression(&name);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_named_after_its_file_without_known_endings() {
        for (name, stem) in [
            ("gpt.parquet", "gpt"),
            ("runs/gpt.jsonl.zst", "gpt"),
            ("GPT.CSV.GZ", "GPT"),
            ("gpt.ndjson.zstd", "gpt"),
            ("gpt-3.5", "gpt-3.5"),
            ("gpt-3.5.tab", "gpt-3.5"),
            (".jsonl", ".jsonl"),
        ] {
            assert_eq!(known_stem(Path::new(name)), stem);
        }
    }

    #[test]
    fn a_story_has_the_name_of_its_file() {
        for name in ["a/key.txt", "key.md", "key.txt.gz", "key.md.zst", "key"] {
            assert_eq!(stem(Path::new(name)), "key");
        }
        assert_eq!(stem(Path::new(".txt")), ".txt");
        assert_eq!(stem(Path::new("a.b.txt")), "a.b");
    }

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
        assert_eq!(detect("b.jsonl.zst", ""), Some("jsonl"));
        assert_eq!(detect("b.jsonl", "[{\"story\": \"x\"}]"), Some("json"));
        assert_eq!(detect("b.jsonl", "{\n\"story\": \"x\"}"), Some("json"));
        assert_eq!(detect("b.jsonl", "{\"story\": \"x\"\n"), Some("jsonl"));
        assert_eq!(detect("b.json", "{\"data\": [\"x\"]}"), Some("json"));
        assert_eq!(detect("b.json", "{\"story\": \"x\"}\n{\"story\": \"y\"}\n"), Some("jsonl"));
        assert_eq!(detect("b.md", "# A door\n\nIt opened.\n"), Some("text"));
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
            assert_eq!(detect(name, "[{\"story\": \"A door.\"}]"), Some("json"));
            assert_eq!(detect(name, "{\"data\": [{\"story\": \"A door.\"}]}\n"), Some("json"));
            assert_eq!(detect(name, "{\"story\": [\"A door.\"]}\n"), Some("json"));
            assert_eq!(detect(name, "{\n  \"story\": \"A door.\"\n}\n"), Some("json"));
            assert_eq!(detect(name, "id;text\n1;A door.\n"), Some("csv"));
            assert_eq!(detect(name, "model|output\nM|A door.\n"), Some("csv"));
            assert_eq!(detect(name, "A.\nB.\nC.\nD.\nE.\n\nA.\n"), Some("text"));
            assert_eq!(detect(name, "A.\nB.\nC.\nD.\nE.\n* * *\nA.\n"), Some("text"));
            assert_eq!(detect(name, "A door opened.\r\n\r\nA cat came in.\r\n"), Some("text"));
            assert_eq!(detect(name, "A door opened.\nA cat came in.\n\n"), Some("text"));
            assert_eq!(detect(name, "[ WP ] A door .\n"), Some("text"));
            assert_eq!(detect(name, "\"Come in,\" she said.\n"), Some("text"));
            // Prose in which a word between commas is the name of a column.
            let prose = "He gave her no answer, text, call or letter.\n";
            assert_eq!(detect(name, prose), Some("text"));
        }
    }

    #[test]
    fn a_strange_file_is_not_taken_for_text() {
        assert_eq!(detect("photo.png", "\u{89}PNG\r\n"), None);
        assert_eq!(detect("photo", "GIF\0\0"), None);
        assert_eq!(detect("stories.dump", "{\"story\": \"A door.\"}\n"), Some("jsonl"));
    }
}
