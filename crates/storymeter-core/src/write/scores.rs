//! Writes scores with one line per story, which [`read::scores`](crate::read::scores) reads.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::Layout;
use super::csv::cells;
use crate::spreadsheet::TextCells;
use crate::{
    Absence, AtomicFile, Error, Header, Key, Place, Ratings, Result, Role, ScoreTable, Value,
};

/// The line of one story: its id, its values, and what else is known about it.
pub struct ScoreLine<'a> {
    /// The id of the story.
    pub id: &'a str,
    /// Who wrote it.
    pub system: Option<&'a str>,
    /// The item, by which story-level correlation groups the stories.
    pub item: &'a str,
    /// One value per key.
    pub values: &'a [Value],
    /// Its human ratings. CSV leaves them out.
    pub ratings: &'a Ratings,
    /// The explanation of its score. CSV leaves it out.
    pub explanation: Option<serde_json::Value>,
}

/// Writes the lines of a score file. Threads can share it, and each writes the lines of its own
/// stories to memory.
///
/// ```
/// use storymeter_core::write::{Layout, ScoreLine, ScoreLines};
/// use storymeter_core::{Absence, Ratings};
/// let lines = ScoreLines::new(Layout::Csv, vec!["bleu".into(), "ter".into()]);
/// let mut out = Vec::new();
/// lines.begin(&mut out)?;
/// lines.line(&mut out, &ScoreLine {
///     id: "7",
///     system: None,
///     item: "door",
///     values: &[Ok(20.5), Err(Absence::NotGiven)],
///     ratings: &Ratings::new(),
///     explanation: None,
/// })?;
/// assert_eq!(out, b"id,system,item,bleu,ter\n7,,door,20.5,\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScoreLines {
    layout: Layout,
    keys: Vec<Key>,
    text: TextCells,
}

impl ScoreLines {
    /// Lines in this layout, with one value per key.
    pub fn new(layout: Layout, keys: Vec<Key>) -> Self {
        Self { layout, keys, text: TextCells::default() }
    }

    /// The same lines, whose text cells are marked in CSV or left raw. Numbers are never marked.
    ///
    /// ```
    /// use storymeter_core::spreadsheet::TextCells;
    /// use storymeter_core::write::{Layout, ScoreLines};
    /// let mut out = Vec::new();
    /// let lines = ScoreLines::new(Layout::Csv, vec!["-x".into()]);
    /// lines.begin(&mut out)?;
    /// lines.text_cells(TextCells::Raw).begin(&mut out)?;
    /// assert_eq!(out, b"id,system,item,'-x\nid,system,item,-x\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn text_cells(mut self, text: TextCells) -> Self {
        self.text = text;
        self
    }

    /// Writes what comes before the first line: in CSV the names of the columns, in JSONL nothing.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn begin(&self, out: &mut impl Write) -> io::Result<()> {
        if self.layout == Layout::Csv {
            let names = ["id", "system", "item"].into_iter();
            let names = names.chain(self.keys.iter().map(Key::as_str));
            cells(out, names.map(|name| self.text.cell(name)))?;
        }
        Ok(())
    }

    /// Writes one line. Numbers have as many digits as are needed to read them back unchanged.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn line(&self, out: &mut impl Write, line: &ScoreLine<'_>) -> io::Result<()> {
        if self.layout == Layout::Csv {
            let number = |value: &Value| match value {
                Ok(number) => Cow::Owned(number.to_string()),
                Err(_) => Cow::Borrowed(""),
            };
            let labels = [line.id, line.system.unwrap_or_default(), line.item].into_iter();
            let labels = labels.map(|label| self.text.cell(label));
            return cells(out, labels.chain(line.values.iter().map(number)));
        }
        let absent = line.values.iter().any(|value| reason(value).is_some());
        let object = Object {
            id: line.id,
            system: line.system,
            item: line.item,
            scores: Scores { keys: &self.keys, values: line.values },
            absent: absent.then_some(Reasons { keys: &self.keys, values: line.values }),
            human: (!line.ratings.is_empty()).then_some(line.ratings),
            explanation: line.explanation.as_ref(),
        };
        serde_json::to_writer(&mut *out, &object)?;
        out.write_all(b"\n")
    }
}

impl ScoreTable {
    /// Writes the table as JSONL, or as CSV if the name ends in `.csv`, and its [`Header`] beside
    /// it.
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
    /// If the file system refuses.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let csv = path.extension().is_some_and(|extension| extension == "csv");
        let metrics = self.of_role(Role::Metric);
        let columns: Vec<_> = metrics.iter().map(|&at| self.columns()[at].clone()).collect();
        let keys = columns.iter().map(|column| column.key.clone()).collect();
        let lines = ScoreLines::new(if csv { Layout::Csv } else { Layout::Jsonl }, keys);
        let mut file = AtomicFile::create(path)?;
        let failed = |e| Error::io(Place::file(path), e);
        lines.begin(&mut file).map_err(failed)?;
        for (at, row) in self.rows().iter().enumerate() {
            let values: Vec<Value> =
                metrics.iter().map(|&column| self.values(column)[at].clone()).collect();
            let line = ScoreLine {
                id: &row.id,
                system: row.system.as_deref(),
                item: &row.item,
                values: &values,
                ratings: &row.ratings,
                explanation: None,
            };
            lines.line(&mut file, &line).map_err(failed)?;
        }
        Header::new(self.rows().len() as u64, 0, columns).commit(file)
    }
}

#[derive(Serialize)]
struct Object<'a> {
    id: &'a str,
    system: Option<&'a str>,
    item: &'a str,
    scores: Scores<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<Reasons<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    human: Option<&'a Ratings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a serde_json::Value>,
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
