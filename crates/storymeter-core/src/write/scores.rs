//! Writes the scores of every story, which [`read::scores`](crate::read::scores) reads.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::csv::cells;
use super::parquet;
use crate::file::{Ending, FileName, Hashed};
use crate::spreadsheet::TextCells;
use crate::{
    Absence, AtomicFile, Error, Header, Key, Place, Ratings, Result, Role, ScoreTable, Value,
};

/// The names of the fields that say how many words a text has, and what in it is not story.
pub(crate) const WORDS: &str = "words";
pub(crate) const FLAGS: &str = "flags";

/// The format of a score file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScoreFormat {
    /// One JSON object per line, with everything that is known about the story.
    Jsonl,
    /// One record per story. It has no words, flags, ratings or reasons of absent values, and
    /// scores with explanations are refused.
    Csv,
    /// One row per story, with the same content as JSONL: the columns `id`, `system`, `item`,
    /// `words` (64-bit integers) and `flags`, one column of 64-bit floats per key, and the columns
    /// `absent`, `human` and, where there are explanations, `explanation`. `flags` and these last
    /// ones hold JSON. The [`Header`] is part of the file, under the
    /// key `storymeter` of its metadata. Only programs with the cargo feature `parquet` write it.
    Parquet,
}

impl ScoreFormat {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Jsonl, Self::Csv, Self::Parquet];

    /// Refuses a format that has no room for explanations, so that explanations that were asked for
    /// are never left out.
    ///
    /// # Errors
    /// Returns an error for CSV.
    pub fn check_explained(self) -> io::Result<()> {
        match self {
            Self::Jsonl | Self::Parquet => Ok(()),
            Self::Csv => {
                let problem = "CSV has no explanations; choose JSONL or Parquet";
                Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
            }
        }
    }

    /// The usual ending of the names of such files.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// Whether the file has lines of text.
    pub fn is_text(self) -> bool {
        match self {
            Self::Jsonl | Self::Csv => true,
            Self::Parquet => false,
        }
    }

    /// The format that the ending of a name stands for.
    ///
    /// ```
    /// use storymeter_core::write::ScoreFormat;
    /// assert_eq!(ScoreFormat::of_name("scores.parquet"), Some(ScoreFormat::Parquet));
    /// assert_eq!(ScoreFormat::of_name("scores.txt"), None);
    /// ```
    pub fn of_name(path: impl AsRef<Path>) -> Option<Self> {
        let name = FileName::of(path);
        match name.ending().filter(|_| !name.is_compressed())? {
            Ending::Jsonl | Ending::Json => Some(Self::Jsonl),
            Ending::Csv => Some(Self::Csv),
            Ending::Parquet => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// The line of one story: its id, its values, and what else is known about it.
pub struct ScoreLine<'a> {
    /// The id of the story.
    pub id: &'a str,
    /// Who wrote it.
    pub system: Option<&'a str>,
    /// The item, by which story-level correlation groups the stories.
    pub item: &'a str,
    /// How many words its text has, if that is known. CSV leaves it out.
    pub words: Option<u64>,
    /// The names of what its text has that is not story. CSV leaves them out.
    pub flags: &'a [String],
    /// One value per key.
    pub values: &'a [Value],
    /// Its human ratings. CSV leaves them out.
    pub ratings: &'a Ratings,
    /// The explanation of its score, as JSON in one line, for [`ScoreLines::explained`] only.
    pub explanation: Option<&'a str>,
}

/// Turns stories with their values into the lines or rows of a score file. Threads can share it,
/// and each makes the [`ScorePart`] of its own stories in memory. A [`ScoreWriter`] takes the parts
/// in order.
///
/// ```
/// use storymeter_core::write::{ScoreFormat, ScoreLine, ScoreLines, ScoreWriter};
/// use storymeter_core::{Absence, Header, Ratings};
/// let lines = ScoreLines::new(ScoreFormat::Csv, vec!["bleu".into(), "ter".into()]);
/// let mut part = lines.part();
/// lines.add(&mut part, &ScoreLine {
///     id: "7",
///     system: None,
///     item: "door",
///     words: Some(120),
///     flags: &[],
///     values: &[Ok(20.5), Err(Absence::NotGiven)],
///     ratings: &Ratings::new(),
///     explanation: None,
/// })?;
/// let mut writer = ScoreWriter::new(Vec::new(), &lines)?;
/// writer.write(part)?;
/// let out = writer.finish(&Header::new(1, 0, Vec::new()))?;
/// assert_eq!(out, b"id,system,item,bleu,ter\n7,,door,20.5,\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScoreLines {
    format: ScoreFormat,
    keys: Vec<Key>,
    text: TextCells,
    explained: bool,
}

impl ScoreLines {
    /// Lines in this format, with one value per key.
    pub fn new(format: ScoreFormat, keys: Vec<Key>) -> Self {
        Self { format, keys, text: TextCells::default(), explained: false }
    }

    /// The same lines, whose text cells are marked in CSV or left raw. Numbers are never marked.
    ///
    /// ```
    /// use storymeter_core::Header;
    /// use storymeter_core::spreadsheet::TextCells;
    /// use storymeter_core::write::{ScoreFormat, ScoreLines, ScoreWriter};
    /// let lines = ScoreLines::new(ScoreFormat::Csv, vec!["-x".into()]);
    /// let header = Header::new(0, 0, Vec::new());
    /// let out = ScoreWriter::new(Vec::new(), &lines)?.finish(&header)?;
    /// assert_eq!(out, b"id,system,item,'-x\n");
    /// let lines = lines.text_cells(TextCells::Raw);
    /// let out = ScoreWriter::new(Vec::new(), &lines)?.finish(&header)?;
    /// assert_eq!(out, b"id,system,item,-x\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn text_cells(mut self, text: TextCells) -> Self {
        self.text = text;
        self
    }

    /// The same lines, which may have explanations. Parquet has a column for them only then, and
    /// CSV has none, so that [`ScoreWriter::new`] returns an error.
    #[must_use]
    pub fn explained(mut self, explained: bool) -> Self {
        self.explained = explained;
        self
    }

    /// Whether lines may have explanations.
    pub fn has_explanations(&self) -> bool {
        self.explained
    }

    /// The format.
    pub fn format(&self) -> ScoreFormat {
        self.format
    }

    /// A part without a line.
    pub fn part(&self) -> ScorePart {
        ScorePart(match self.format {
            ScoreFormat::Jsonl | ScoreFormat::Csv => Encoded::Text(Vec::new()),
            ScoreFormat::Parquet => Encoded::Rows(Vec::new()),
        })
    }

    /// Adds the line of a story to a part. Numbers have as many digits as are needed to read them
    /// back unchanged.
    ///
    /// # Errors
    /// Returns an error if the format cannot hold a text (CSV has no NUL characters), or the line
    /// has an explanation and the lines are not [`ScoreLines::explained`].
    pub fn add(&self, part: &mut ScorePart, line: &ScoreLine<'_>) -> io::Result<()> {
        if line.explanation.is_some() && !self.explained {
            let problem = format!(
                "story \"{}\" has an explanation, and the scores were begun without explanations",
                line.id
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        match (&mut part.0, self.format) {
            (Encoded::Rows(rows), _) => {
                rows.push(self.row(line)?);
                Ok(())
            }
            (Encoded::Text(out), ScoreFormat::Csv) => self.record(out, line),
            (Encoded::Text(out), _) => self.object(out, line),
        }
    }

    /// Writes the names of the columns of CSV.
    fn names(&self, out: &mut impl Write) -> io::Result<()> {
        let names = ["id", "system", "item"].into_iter();
        let names = names.chain(self.keys.iter().map(Key::as_str));
        cells(out, names.map(|name| self.text.cell(name)))
    }

    /// Writes a record of CSV.
    fn record(&self, out: &mut impl Write, line: &ScoreLine<'_>) -> io::Result<()> {
        let number = |value: &Value| match value {
            Ok(number) => Cow::Owned(number.to_string()),
            Err(_) => Cow::Borrowed(""),
        };
        let labels = [line.id, line.system.unwrap_or_default(), line.item].into_iter();
        let labels = labels.map(|label| self.text.cell(label));
        cells(out, labels.chain(line.values.iter().map(number)))
    }

    /// Writes a line of JSONL.
    fn object(&self, out: &mut impl Write, line: &ScoreLine<'_>) -> io::Result<()> {
        let object = Object {
            id: line.id,
            system: line.system,
            item: line.item,
            words: line.words,
            flags: line.flags,
            scores: Scores { keys: &self.keys, values: line.values },
            absent: self.absent(line),
            human: human(line),
            explanation: line.explanation.map(serde_json::from_str).transpose()?,
        };
        serde_json::to_writer(&mut *out, &object)?;
        out.write_all(b"\n")
    }

    /// Makes a row of Parquet.
    fn row(&self, line: &ScoreLine<'_>) -> io::Result<Row> {
        let absent = self.absent(line).map(|absent| serde_json::to_string(&absent));
        let human = human(line).map(serde_json::to_string);
        let flags = (!line.flags.is_empty()).then(|| serde_json::to_string(line.flags));
        Ok(Row {
            id: line.id.to_owned(),
            system: line.system.map(str::to_owned),
            item: line.item.to_owned(),
            words: line.words.and_then(|words| i64::try_from(words).ok()),
            flags: flags.transpose()?,
            scores: line.values.iter().map(|value| value.as_ref().ok().copied()).collect(),
            absent: absent.transpose()?,
            human: human.transpose()?,
            explanation: line.explanation.map(str::to_owned),
        })
    }

    fn absent<'a>(&'a self, line: &ScoreLine<'a>) -> Option<Reasons<'a>> {
        let absent = line.values.iter().any(|value| reason(value).is_some());
        absent.then_some(Reasons { keys: &self.keys, values: line.values })
    }
}

fn human<'a>(line: &ScoreLine<'a>) -> Option<&'a Ratings> {
    (!line.ratings.is_empty()).then_some(line.ratings)
}

/// Some lines or rows of a score file, in memory; made by [`ScoreLines`].
pub struct ScorePart(Encoded);

enum Encoded {
    /// Finished lines of text.
    Text(Vec<u8>),
    /// Rows, which only the writer can encode, because it encodes many of them together.
    Rows(Vec<Row>),
}

/// The row of a story in Parquet. `flags`, `absent`, `human` and `explanation` are JSON.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "nobody writes these rows"))]
pub(super) struct Row {
    pub id: String,
    pub system: Option<String>,
    pub item: String,
    pub words: Option<i64>,
    pub flags: Option<String>,
    pub scores: Vec<Option<f64>>,
    pub absent: Option<String>,
    pub human: Option<String>,
    pub explanation: Option<String>,
}

/// Writes a score file part by part.
///
/// The bytes depend on the order of the lines, and not on how they were cut into parts. Memory is
/// bounded: of Parquet, one group of rows is held at a time.
pub struct ScoreWriter<W: Write + Send>(Target<W>);

enum Target<W: Write + Send> {
    Text(W),
    Parquet(Box<parquet::Writer<W>>),
}

impl<W: Write + Send> ScoreWriter<W> {
    /// Begins the file: with the names of the columns in CSV.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, the lines have explanations for which the
    /// format has no room, or the format is Parquet and the cargo feature `parquet` is not there.
    pub fn new(mut out: W, lines: &ScoreLines) -> io::Result<Self> {
        if lines.explained {
            lines.format.check_explained()?;
        }
        Ok(Self(match lines.format {
            ScoreFormat::Jsonl => Target::Text(out),
            ScoreFormat::Csv => {
                lines.names(&mut out)?;
                Target::Text(out)
            }
            ScoreFormat::Parquet => {
                Target::Parquet(Box::new(parquet::Writer::new(out, &lines.keys, lines.explained)?))
            }
        }))
    }

    /// Appends a part, which must come from the [`ScoreLines`] that the writer was made with.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write(&mut self, part: ScorePart) -> io::Result<()> {
        match (&mut self.0, part.0) {
            (Target::Text(out), Encoded::Text(lines)) => out.write_all(&lines),
            (Target::Parquet(out), Encoded::Rows(rows)) => out.write(rows),
            _ => Err(io::Error::other("the part is in another format than the score file")),
        }
    }

    /// Appends all stories of a table, whose metrics are the keys of the lines, in their order.
    ///
    /// # Errors
    /// As [`ScoreLines::add`] and [`ScoreWriter::write`].
    pub fn write_table(&mut self, lines: &ScoreLines, table: &ScoreTable) -> io::Result<()> {
        let metrics = table.of_role(Role::Metric);
        for (at, row) in table.rows().iter().enumerate() {
            let values: Vec<Value> =
                metrics.iter().map(|&column| table.values(column)[at].clone()).collect();
            let line = ScoreLine {
                id: &row.id,
                system: row.system.as_deref(),
                item: &row.item,
                words: row.words,
                flags: &row.flags,
                values: &values,
                ratings: &row.ratings,
                explanation: row.explanation.as_deref(),
            };
            let mut part = lines.part();
            lines.add(&mut part, &line)?;
            self.write(part)?;
        }
        Ok(())
    }

    /// Ends the file and returns the output, for [`Header::commit`]. Parquet also takes the header
    /// in.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(self, header: &Header) -> io::Result<W> {
        match self.0 {
            Target::Text(mut out) => {
                out.flush()?;
                Ok(out)
            }
            Target::Parquet(out) => out.finish(header),
        }
    }
}

impl ScoreTable {
    /// Writes the table in the format that the name ends in ([`ScoreFormat::of_name`]), or else as
    /// JSONL, and its [`Header`] beside it.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("scores.jsonl");
    /// use storymeter_core::{Catalogue, Column, Direction, Row, ScoreTable, read};
    /// let mut table = ScoreTable::new(vec![Row { id: "a".into(), ..Row::default() }]);
    /// table.push(Column::metric("my-metric", Direction::Lower), vec![Ok(0.1 + 0.2)]);
    /// table.write(&path)?;
    /// let again = read::scores(&path, &Catalogue::default())?;
    /// assert_eq!(again.values(0), table.values(0));
    /// assert_eq!(again.columns(), table.columns());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the file system refuses, or the rows have explanations and the format is
    /// CSV.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let format = ScoreFormat::of_name(path).unwrap_or(ScoreFormat::Jsonl);
        let metrics = self.of_role(Role::Metric).into_iter();
        let columns = metrics.map(|at| self.columns()[at].clone()).collect();
        let header = Header::new(self.rows().len() as u64, 0, columns);
        self.write_file(path, format, &header)
    }

    /// Writes the table in this format, and a header that says more about it than the table knows.
    ///
    /// # Errors
    /// As [`ScoreTable::write`].
    pub fn write_file(&self, path: &Path, format: ScoreFormat, header: &Header) -> Result<()> {
        let file = Hashed::new(AtomicFile::create(path)?);
        let written = self.write_to(file, format, header);
        header.commit(written.map_err(|e| Error::io(Place::file(path), e))?)
    }

    /// Writes the table to any output, and returns that. Only Parquet takes the header in.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or the rows have explanations and the
    /// format is CSV.
    pub fn write_to<W: Write + Send>(
        &self,
        out: W,
        format: ScoreFormat,
        header: &Header,
    ) -> io::Result<W> {
        let metrics = self.of_role(Role::Metric).into_iter();
        let keys = metrics.map(|at| self.columns()[at].key.clone());
        let explained = self.rows().iter().any(|row| row.explanation.is_some());
        let lines = ScoreLines::new(format, keys.collect()).explained(explained);
        let mut writer = ScoreWriter::new(out, &lines)?;
        writer.write_table(&lines, self)?;
        writer.finish(header)
    }
}

#[derive(Serialize)]
struct Object<'a> {
    id: &'a str,
    system: Option<&'a str>,
    item: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    flags: &'a [String],
    scores: Scores<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<Reasons<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    human: Option<&'a Ratings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a RawValue>,
}

struct Scores<'a> {
    keys: &'a [Key],
    values: &'a [Value],
}

impl Serialize for Scores<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (key, value) in self.keys.iter().zip(self.values) {
            map.serialize_entry(key, &value.as_ref().ok())?;
        }
        map.end()
    }
}

/// Why a value is absent, in words. A value that was not given has no reason, and is `null` alone.
fn reason(value: &Value) -> Option<String> {
    value.as_ref().err().filter(|&absence| *absence != Absence::NotGiven).map(Absence::to_string)
}

/// The absent values and their reasons.
struct Reasons<'a> {
    keys: &'a [Key],
    values: &'a [Value],
}

impl Serialize for Reasons<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.keys.iter().zip(self.values) {
            if let Some(reason) = reason(value) {
                map.serialize_entry(key, &reason)?;
            }
        }
        map.end()
    }
}
