//! What the name of a file says about its content. Readers and writers look it up here, for stories
//! and for scores.

use std::path::Path;

/// An ending that is known, in small or capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// `.jsonl` or `.ndjson`.
    Jsonl,
    /// `.json`.
    Json,
    /// `.csv`.
    Csv,
    /// `.tsv` or `.tab`.
    Tsv,
    /// `.txt` or `.text`.
    Text,
    /// `.md` or `.markdown`.
    Markdown,
    /// `.wp_source` or `.wp_target`.
    WritingPrompts,
    /// `.parquet`.
    Parquet,
    /// `.eval`, the logs of Inspect.
    InspectLog,
}

/// The known endings and what they stand for.
const ENDINGS: [(&str, Ending); 14] = [
    ("jsonl", Ending::Jsonl),
    ("ndjson", Ending::Jsonl),
    ("json", Ending::Json),
    ("csv", Ending::Csv),
    ("tsv", Ending::Tsv),
    ("tab", Ending::Tsv),
    ("txt", Ending::Text),
    ("text", Ending::Text),
    ("md", Ending::Markdown),
    ("markdown", Ending::Markdown),
    ("wp_source", Ending::WritingPrompts),
    ("wp_target", Ending::WritingPrompts),
    ("parquet", Ending::Parquet),
    ("eval", Ending::InspectLog),
];

/// What compressed files end in.
const COMPRESSIONS: [&str; 3] = [".gz", ".zst", ".zstd"];

/// The name of a file without its folder, taken apart.
///
/// ```
/// use storymeter_core::file::{Ending, FileName};
/// let name = FileName::of("runs/gpt.JSONL.zst");
/// assert_eq!((name.stem(), name.ending()), ("gpt", Some(Ending::Jsonl)));
/// assert_eq!((name.uncompressed(), name.is_compressed()), ("gpt.JSONL", true));
/// assert_eq!(FileName::of("gpt-3.5").ending(), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName {
    name: String,
    /// Where the ending of the compression begins.
    uncompressed: usize,
    /// Where the dot of the ending is.
    dot: Option<usize>,
}

impl FileName {
    /// Takes the name of a path apart.
    pub fn of(path: impl AsRef<Path>) -> Self {
        let name = path.as_ref().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let begin = |ending: &&str| {
            let (begin, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
            end.eq_ignore_ascii_case(ending).then_some(begin.len())
        };
        let uncompressed = COMPRESSIONS.iter().find_map(begin).unwrap_or(name.len());
        let dot = name[..uncompressed].rfind('.');
        Self { name, uncompressed, dot }
    }

    /// Whether the name ends in `.gz`, `.zst` or `.zstd`.
    pub fn is_compressed(&self) -> bool {
        self.uncompressed < self.name.len()
    }

    /// The name without the ending of the compression.
    pub fn uncompressed(&self) -> &str {
        &self.name[..self.uncompressed]
    }

    /// What stands between the last dot and the ending of the compression, in any case.
    pub fn extension(&self) -> Option<&str> {
        self.dot.map(|dot| &self.name[dot + 1..self.uncompressed])
    }

    /// The ending, if it is a known one.
    pub fn ending(&self) -> Option<Ending> {
        let extension = self.extension()?;
        let known = ENDINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension));
        known.map(|&(_, ending)| ending)
    }

    /// The name without any ending. A dot at its start is a part of it.
    pub fn stem(&self) -> &str {
        &self.name[..self.dot.filter(|&dot| dot > 0).unwrap_or(self.uncompressed)]
    }

    /// What a system is called of which this is the file: the name without known endings.
    pub fn system(&self) -> &str {
        match self.uncompressed() {
            "" => &self.name,
            _ if self.ending().is_some() => self.stem(),
            plain => plain,
        }
    }
}
